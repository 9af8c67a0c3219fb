/*
 * Parsing of version checksums; see crc.h. Their members protocol, metadata, setTransactions, domainMetadata and allFiles have
 * the form of actions, so the parser of actions reads them, with all its checks. One thread a call.
 */
#include "kernel/log/crc.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"
#include "json/json.h"

struct parser {
    const silt_env *env;
    struct sl_arena *arena;
    silt_error *err;
};

static silt_status wrong(struct parser *p, const char *member, const char *expected)
{
    return sl_fail(p->err, SILT_ECORRUPT, NULL, "its member %s is not %s", member, expected);
}

/* A number of 0 or more; SL_NO_I64 when it is absent and may be. */
static silt_status take_count(struct parser *p, const sl_json *root, const char *name, bool required, int64_t *out)
{
    const sl_json *value = sl_json_member(root, name);
    *out = SL_NO_I64;
    if (!required && sl_json_is_null(value)) {
        return SILT_OK;
    }
    if (!sl_json_to_i64(value, out) || *out < 0) {
        return wrong(p, name, "a number of 0 or more");
    }
    return SILT_OK;
}

static silt_status take_one(struct parser *p, const sl_json *root, const char *name)
{
    int64_t n = 0;
    if (!sl_json_to_i64(sl_json_member(root, name), &n) || n != 1) {
        return wrong(p, name, "1");
    }
    return SILT_OK;
}

/* `value` as the action that a commit would have it as. */
static silt_status parse_action(struct parser *p, const char *action, enum sl_action_kind kind, const sl_json *value,
                                struct sl_action *out)
{
    if (!sl_json_is_object(value)) {
        return wrong(p, action, "an object");
    }
    out->kind = kind;
    return sl_action_parse_body(p->env, p->arena, value, out, p->err);
}

/* Elements of a list, each an action; *n of them are visited. Absent: *has false. */
static silt_status each_action(struct parser *p, const sl_json *list, const char *action, enum sl_action_kind kind,
                               silt_status (*take)(void *ctx, size_t index, const struct sl_action *action), void *ctx)
{
    struct sl_action *parsed = sl_arena_alloc_zero(p->arena, sizeof(*parsed));
    if (parsed == NULL) {
        return sl_fail_nomem(p->err);
    }
    struct sl_json_iter iter = sl_json_iterate(list);
    const sl_json *value = NULL;
    for (size_t i = 0; sl_json_next(&iter, NULL, &value); i++) {
        SL_TRY(parse_action(p, action, kind, value, parsed));
        SL_TRY(take(ctx, i, parsed));
    }
    return SILT_OK;
}

/* *n elements, room for them in *items when there are any; *has false for an absent list. */
static silt_status begin_list(struct parser *p, const sl_json *root, const char *name, size_t item_size, bool *has,
                              void **items)
{
    const sl_json *list = sl_json_member(root, name);
    *has = !sl_json_is_null(list);
    *items = NULL;
    if (!*has) {
        return SILT_OK;
    }
    if (!sl_json_is_array(list)) {
        return wrong(p, name, "a list");
    }
    *items = sl_arena_alloc_array(p->arena, sl_json_count(list), item_size);
    return *items == NULL ? sl_fail_nomem(p->err) : SILT_OK;
}

static silt_status take_txn(void *ctx, size_t index, const struct sl_action *action)
{
    ((struct sl_app_txn *)ctx)[index] = action->u.app_txn;
    return SILT_OK;
}

static silt_status take_domain(void *ctx, size_t index, const struct sl_action *action)
{
    ((struct sl_domain_metadata *)ctx)[index] = action->u.domain;
    return SILT_OK;
}

static silt_status take_lists(struct parser *p, const sl_json *root, struct sl_crc *out)
{
    void *items = NULL;
    SL_TRY(begin_list(p, root, "setTransactions", sizeof(*out->txns), &out->has_txns, &items));
    const sl_json *list = sl_json_member(root, "setTransactions");
    SL_TRY(each_action(p, list, "txn", SL_ACTION_APP_TXN, take_txn, items));
    out->txns = items;
    out->n_txns = sl_json_count(list);
    SL_TRY(begin_list(p, root, "domainMetadata", sizeof(*out->domains), &out->has_domains, &items));
    list = sl_json_member(root, "domainMetadata");
    SL_TRY(each_action(p, list, "domainMetadata", SL_ACTION_DOMAIN_METADATA, take_domain, items));
    out->domains = items;
    out->n_domains = sl_json_count(list);
    return SILT_OK;
}

static silt_status take_state(struct parser *p, const sl_json *root, struct sl_crc *out)
{
    struct sl_action *action = sl_arena_alloc_zero(p->arena, sizeof(*action));
    if (action == NULL) {
        return sl_fail_nomem(p->err);
    }
    SL_TRY(parse_action(p, "protocol", SL_ACTION_PROTOCOL, sl_json_member(root, "protocol"), action));
    out->protocol = action->u.protocol;
    SL_TRY(parse_action(p, "metaData", SL_ACTION_METADATA, sl_json_member(root, "metadata"), action));
    out->metadata = action->u.metadata;
    return SILT_OK;
}

/* ---- what must agree within the file ---- */

struct file_sum {
    struct parser *parser;
    struct sl_add *kept; /* NULL: only counted */
    int64_t bytes;
};

static silt_status add_file(void *ctx, size_t index, const struct sl_action *action)
{
    struct file_sum *sum = ctx;
    if (sum->kept != NULL) {
        sum->kept[index] = action->u.add;
    }
    if (!sl_add_i64(sum->bytes, action->u.add.size, &sum->bytes)) {
        return wrong(sum->parser, "allFiles", "a list of files with sizes that can be");
    }
    return SILT_OK;
}

static silt_status take_files(struct parser *p, const sl_json *root, bool keep, struct sl_crc *out)
{
    const sl_json *list = sl_json_member(root, "allFiles");
    if (sl_json_is_null(list)) {
        return SILT_OK;
    }
    if (!sl_json_is_array(list) || (uint64_t)sl_json_count(list) != (uint64_t)out->n_files) {
        return wrong(p, "allFiles", "a list of as many files as numFiles says");
    }
    struct file_sum sum = {.parser = p};
    if (keep) {
        sum.kept = sl_arena_alloc_array(p->arena, sl_json_count(list), sizeof(*sum.kept));
        if (sum.kept == NULL) {
            return sl_fail_nomem(p->err);
        }
        SL_TRY(each_action(p, list, "add", SL_ACTION_ADD, add_file, &sum));
        if (sum.bytes != out->table_size) {
            return wrong(p, "allFiles", "a list of files that together have tableSizeBytes");
        }
    }
    out->has_all_files = keep;
    out->all_files = sum.kept;
    out->n_all_files = keep ? sl_json_count(list) : 0;
    return SILT_OK;
}

/* A list of n counts and their sum; false when it is not one. */
static bool take_counts(const sl_json *list, size_t n, int64_t *counts, int64_t *sum)
{
    *sum = 0;
    if (!sl_json_is_array(list) || sl_json_count(list) != n) {
        return false;
    }
    struct sl_json_iter iter = sl_json_iterate(list);
    const sl_json *value = NULL;
    for (size_t i = 0; sl_json_next(&iter, NULL, &value); i++) {
        if (!sl_json_to_i64(value, &counts[i]) || counts[i] < 0 || !sl_add_i64(*sum, counts[i], sum)) {
            return false;
        }
    }
    return true;
}

/* Lower ends of the bins: 0 first, then ascending. */
static bool take_bounds(const sl_json *list, size_t n, int64_t *bounds)
{
    struct sl_json_iter iter = sl_json_iterate(list);
    const sl_json *value = NULL;
    for (size_t i = 0; sl_json_next(&iter, NULL, &value) && i < n; i++) {
        if (!sl_json_to_i64(value, &bounds[i]) || (i == 0 ? bounds[i] != 0 : bounds[i] <= bounds[i - 1])) {
            return false;
        }
    }
    return n > 0;
}

/* Delta Spark of old wrote the histogram as histogramOpt. */
static silt_status take_histogram(struct parser *p, const sl_json *root, struct sl_crc *crc)
{
    const sl_json *histogram = sl_json_member(root, "fileSizeHistogram");
    if (sl_json_is_null(histogram)) {
        histogram = sl_json_member(root, "histogramOpt");
    }
    if (sl_json_is_null(histogram)) {
        return SILT_OK;
    }
    const sl_json *list = sl_json_member(histogram, "sortedBinBoundaries");
    const size_t n = sl_json_count(list);
    int64_t files = 0;
    int64_t bytes = 0;
    if (!sl_size_histogram_room(p->arena, n, &crc->sizes)) {
        return sl_fail_nomem(p->err);
    }
    if (!take_bounds(list, n, crc->sizes.bounds) ||
        !take_counts(sl_json_member(histogram, "fileCounts"), n, crc->sizes.files, &files) ||
        !take_counts(sl_json_member(histogram, "totalBytes"), n, crc->sizes.bytes, &bytes)) {
        return wrong(p, "fileSizeHistogram", "a histogram");
    }
    if (files != crc->n_files || bytes != crc->table_size) {
        return wrong(p, "fileSizeHistogram", "one of numFiles and tableSizeBytes");
    }
    crc->has_sizes = true;
    return SILT_OK;
}

static silt_status take_deleted_bins(struct parser *p, const sl_json *root, struct sl_crc *crc)
{
    const sl_json *histogram = sl_json_member(root, "deletedRecordCountsHistogramOpt");
    if (sl_json_is_null(histogram)) {
        return SILT_OK;
    }
    int64_t files = 0;
    if (!take_counts(sl_json_member(histogram, "deletedRecordCounts"), SL_DELETED_BINS, crc->deleted_bins, &files) ||
        files != crc->n_files) {
        return wrong(p, "deletedRecordCountsHistogramOpt", "a histogram of numFiles");
    }
    crc->has_deleted_bins = true;
    return SILT_OK;
}

/* ---- the whole ---- */

static silt_status take_members(struct parser *p, const sl_json *root, bool all_files, struct sl_crc *out)
{
    if (!sl_json_is_object(root)) {
        return sl_fail(p->err, SILT_ECORRUPT, NULL, "it is not a JSON object");
    }
    SL_TRY(take_count(p, root, "tableSizeBytes", true, &out->table_size));
    SL_TRY(take_count(p, root, "numFiles", true, &out->n_files));
    SL_TRY(take_one(p, root, "numMetadata"));
    SL_TRY(take_one(p, root, "numProtocol"));
    if (out->n_files == 0 && out->table_size != 0) {
        return wrong(p, "tableSizeBytes", "0 for a table without files");
    }
    SL_TRY(take_count(p, root, "inCommitTimestampOpt", false, &out->in_commit_timestamp));
    SL_TRY(take_count(p, root, "numDeletedRecordsOpt", false, &out->n_deleted_records));
    SL_TRY(take_count(p, root, "numDeletionVectorsOpt", false, &out->n_deletion_vectors));
    const struct sl_str txn_id = sl_json_member_text(root, "txnId");
    if (txn_id.ptr != NULL) {
        out->txn_id = sl_arena_copy(p->arena, txn_id);
        if (out->txn_id.ptr == NULL) {
            return sl_fail_nomem(p->err);
        }
    }
    SL_TRY(take_state(p, root, out));
    SL_TRY(take_lists(p, root, out));
    SL_TRY(take_histogram(p, root, out));
    SL_TRY(take_deleted_bins(p, root, out));
    return take_files(p, root, all_files, out);
}

silt_status sl_crc_parse(const silt_env *env, struct sl_arena *arena, int64_t version, struct sl_str bytes,
                         bool all_files, struct sl_crc *out, silt_error *err)
{
    *out = (struct sl_crc){.version = version};
    struct sl_json_doc *doc = NULL;
    silt_status status = sl_json_parse(env, bytes, &doc, err);
    if (status == SILT_OK) {
        struct parser p = {.env = env, .arena = arena, .err = err};
        status = take_members(&p, sl_json_root(doc), all_files, out);
        sl_json_free(doc);
    }
    if (status != SILT_OK && status != SILT_ENOMEM) {
        sl_error_context(err, "version checksum of version %" PRId64, version);
        sl_error_version(err, version);
    }
    return status;
}

silt_status sl_crc_read(const struct sl_log_source *source, const silt_call *call, const struct sl_log_file *file,
                        bool all_files, struct sl_arena *arena, struct sl_crc *out, silt_error *err)
{
    *out = (struct sl_crc){.version = file->version};
    if (file->size > SL_CRC_MAX_BYTES) {
        return sl_fail(err, SILT_ELIMIT, NULL,
                       "version checksum of version %" PRId64 " has %" PRId64 " bytes: at most %" PRId64 " are read",
                       file->version, file->size, SL_CRC_MAX_BYTES);
    }
    const struct sl_str path = sl_log_path(arena, source->root, file->name);
    if (path.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    void *data = NULL;
    size_t len = 0;
    SL_TRY(silt_storage_read(source->storage, call, path.ptr, &data, &len, err));
    const silt_status status = sl_crc_parse(silt_engine_env(source->engine), arena, file->version,
                                            sl_str_make(data, len), all_files, out, err);
    silt_storage_free(source->storage, data, len);
    return status;
}
