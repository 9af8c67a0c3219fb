/*
 * Reading and judging `_last_checkpoint`; see hint.h. What it embeds of a V2 checkpoint (nonFileActions, sidecarFiles) is not used in
 * the place of the checkpoint: the top file is small, is read anyway, and is what the protocol calls the state. Any thread.
 */
#include "kernel/log/hint.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "json/json.h"
#include "kernel/engine/storage_wrap.h"
#include "kernel/log/json_checksum.h"

/* A hint is small, but may carry the checkpoint's schema and the small actions of a V2 checkpoint. */
#define HINT_MAX_BYTES ((size_t)16 * 1024 * 1024)
#define MAX_PARTS INT32_MAX

static silt_status wrong(silt_error *err, const char *member, const char *expected)
{
    return sl_fail(err, SILT_ECORRUPT, NULL, "its member %s is not %s", member, expected);
}

/* An optional number; -1 when it is absent. */
static silt_status take_number(const sl_json *object, const char *name, int64_t least, int64_t *out, silt_error *err)
{
    *out = -1;
    const sl_json *value = sl_json_member(object, name);
    int64_t number = 0;
    if (sl_json_is_null(value)) {
        return SILT_OK;
    }
    if (!sl_json_to_i64(value, &number) || number < least) {
        return wrong(err, name, least > 0 ? "a number of 1 or more" : "a number of 0 or more");
    }
    *out = number;
    return SILT_OK;
}

static silt_status check_sum(const silt_env *env, const sl_json *root, silt_error *err)
{
    static const enum sl_checksum_order orders[] = {SL_CHECKSUM_BY_PATH, SL_CHECKSUM_BY_TEXT};
    const sl_json *member = sl_json_member(root, "checksum");
    struct sl_str stored = {NULL, 0};
    char made[SL_JSON_CHECKSUM_SIZE];
    if (!sl_json_is_null(member) && !sl_json_to_str(member, &stored)) {
        return wrong(err, "checksum", "text");
    }
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        SL_TRY(sl_json_checksum(env, root, orders[i], made, err)); /* also finds keys that are there twice */
        if (stored.ptr == NULL || sl_str_eq_c(stored, made)) {
            return SILT_OK;
        }
    }
    return sl_fail(err, SILT_ECORRUPT, NULL, "its checksum is %.*s where its content makes %s", SL_FMT(stored), made);
}

static silt_status take_sidecars(const sl_json *list, struct sl_hint *out, silt_error *err)
{
    if (sl_json_is_null(list)) {
        return SILT_OK;
    }
    if (!sl_json_is_array(list)) {
        return wrong(err, "v2Checkpoint.sidecarFiles", "a list");
    }
    out->n_sidecars = 0;
    struct sl_json_iter iter = sl_json_iterate(list);
    const sl_json *sidecar = NULL;
    while (sl_json_next(&iter, NULL, &sidecar)) {
        int64_t size = -1;
        if (!sl_json_to_i64(sl_json_member(sidecar, "sizeInBytes"), &size) || size < 0 ||
            !sl_add_i64(out->sidecar_bytes, size, &out->sidecar_bytes)) {
            return wrong(err, "v2Checkpoint.sidecarFiles", "a list of files with their sizes");
        }
        out->n_sidecars++;
    }
    return SILT_OK;
}

static silt_status take_v2(struct sl_arena *arena, const sl_json *root, struct sl_hint *out, silt_error *err)
{
    const sl_json *v2 = sl_json_member(root, "v2Checkpoint");
    if (sl_json_is_null(v2)) {
        return SILT_OK;
    }
    const struct sl_str path = sl_json_member_text(v2, "path");
    const struct sl_log_file named = sl_log_name_parse(path);
    if (path.ptr == NULL || named.version != out->version ||
        (named.kind != SL_LOG_CHECKPOINT_V2 && named.kind != SL_LOG_CHECKPOINT)) {
        return wrong(err, "v2Checkpoint.path", "the name of a checkpoint of its version");
    }
    out->v2_path = sl_arena_copy(arena, path);
    if (out->v2_path.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    SL_TRY(take_number(v2, "sizeInBytes", 0, &out->v2_size, err));
    return take_sidecars(sl_json_member(v2, "sidecarFiles"), out, err);
}

/* Every checkpoint has the columns protocol and metaData: a schema without them describes something else. */
static silt_status take_schema(const sl_json *root, struct sl_hint *out, silt_error *err)
{
    const sl_json *schema = sl_json_member(root, "checkpointSchema");
    if (sl_json_is_null(schema)) {
        return SILT_OK;
    }
    bool has_protocol = false;
    bool has_metadata = false;
    struct sl_json_iter iter = sl_json_iterate(sl_json_member(schema, "fields"));
    const sl_json *field = NULL;
    while (!iter.is_object && sl_json_next(&iter, NULL, &field)) {
        const struct sl_str name = sl_json_member_text(field, "name");
        has_protocol = has_protocol || sl_str_eq(name, SL_STR("protocol"));
        has_metadata = has_metadata || sl_str_eq(name, SL_STR("metaData"));
    }
    if (!sl_str_eq(sl_json_member_text(schema, "type"), SL_STR("struct")) || !has_protocol || !has_metadata) {
        return wrong(err, "checkpointSchema", "the schema of a checkpoint");
    }
    out->has_schema = true;
    return SILT_OK;
}

static silt_status take_members(const silt_env *env, struct sl_arena *arena, const sl_json *root, struct sl_hint *out,
                                silt_error *err)
{
    if (!sl_json_is_object(root)) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "it is not a JSON object");
    }
    SL_TRY(check_sum(env, root, err));
    if (!sl_json_to_i64(sl_json_member(root, "version"), &out->version) || out->version < 0) {
        return wrong(err, "version", "a version");
    }
    if (!sl_json_is_null(sl_json_member(root, "amtCheckpoint"))) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "it names a checkpoint of the feature adaptiveMetadata");
    }
    SL_TRY(take_number(root, "size", -1, &out->size, err)); /* Delta Spark writes -1 when it does not know */
    SL_TRY(take_number(root, "parts", 1, &out->parts, err));
    SL_TRY(take_number(root, "sizeInBytes", 0, &out->size_in_bytes, err));
    SL_TRY(take_number(root, "numOfAddFiles", 0, &out->n_adds, err));
    if (out->parts > MAX_PARTS) {
        return wrong(err, "parts", "a number of files that can be");
    }
    out->parts = out->parts > 0 ? out->parts : 0;
    if (out->size >= 0 && out->n_adds > out->size) {
        return wrong(err, "numOfAddFiles", "at most its size");
    }
    SL_TRY(take_schema(root, out, err));
    return take_v2(arena, root, out, err);
}

silt_status sl_hint_parse(const silt_env *env, struct sl_arena *arena, struct sl_str bytes, struct sl_hint *out,
                          silt_error *err)
{
    *out = (struct sl_hint){.version = -1};
    if (bytes.len > HINT_MAX_BYTES) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "it has %zu bytes, more than %zu", bytes.len, HINT_MAX_BYTES);
    }
    struct sl_json_doc *doc = NULL;
    SL_TRY(sl_json_parse(env, bytes, &doc, err));
    struct sl_hint hint = {.version = -1, .v2_size = -1, .n_sidecars = -1};
    const silt_status status = take_members(env, arena, sl_json_root(doc), &hint, err);
    sl_json_free(doc);
    if (status == SILT_OK) {
        *out = hint;
    }
    return status;
}

int64_t sl_hint_version(const silt_env *env, struct sl_str bytes)
{
    struct sl_json_doc *doc = NULL;
    int64_t version = -1;
    if (bytes.len > HINT_MAX_BYTES || sl_json_parse(env, bytes, &doc, NULL) != SILT_OK ||
        !sl_json_to_i64(sl_json_member(sl_json_root(doc), "version"), &version)) {
        version = -1;
    }
    sl_json_free(doc);
    return version;
}

/* ---- against the listing ---- */

static bool is_named(const struct sl_hint *hint, const struct sl_log_file *file)
{
    if (file->version != hint->version) {
        return false;
    }
    if (hint->v2_path.ptr != NULL) {
        return sl_str_eq(file->name, hint->v2_path);
    }
    return hint->parts > 0 ? file->kind == SL_LOG_CHECKPOINT_PART && file->n_parts == hint->parts
                           : file->kind == SL_LOG_CHECKPOINT;
}

/* A classic name can stand for the same checkpoint as the V2 name that the hint has. */
static bool has_classic(const struct sl_hint *hint, const struct sl_log_file *files, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (files[i].version == hint->version && files[i].kind == SL_LOG_CHECKPOINT) {
            return true;
        }
    }
    return false;
}

silt_status sl_hint_check(const struct sl_hint *hint, const struct sl_log_file *files, size_t n, silt_error *err)
{
    int64_t n_found = 0;
    int64_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_named(hint, &files[i])) {
            n_found++;
            bytes += files[i].size > 0 && files[i].size < INT64_MAX - bytes ? files[i].size : 0;
        }
    }
    const int64_t expected = hint->parts > 0 ? hint->parts : 1;
    if (hint->v2_path.ptr != NULL && n_found == 0 && has_classic(hint, files, n)) {
        return SILT_OK;
    }
    if (n_found != expected) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "%" PRId64 " of the %" PRId64 " files of the checkpoint are there",
                       n_found, expected);
    }
    /* sizeInBytes counts the sidecars, which this listing does not show. */
    const bool is_v2 = hint->v2_path.ptr != NULL;
    const int64_t size = is_v2 ? hint->v2_size : hint->size_in_bytes;
    if (size >= 0 && bytes != size && (is_v2 || bytes > size)) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "the checkpoint has %" PRId64 " bytes where the hint says %" PRId64,
                       bytes, size);
    }
    const bool whole = !is_v2 || hint->n_sidecars < 0 || hint->size_in_bytes < 0;
    if (!whole && hint->size_in_bytes - bytes != hint->sidecar_bytes) {
        return sl_fail(err, SILT_ECORRUPT, NULL,
                       "top file and sidecars have %" PRId64 " and %" PRId64 " bytes where the hint says %" PRId64
                       " in all",
                       bytes, hint->sidecar_bytes, hint->size_in_bytes);
    }
    return SILT_OK;
}

/* ---- reading ---- */

silt_status sl_hint_read(const silt_env *env, silt_storage *storage, const silt_call *call, struct sl_str root,
                         struct sl_arena *arena, struct sl_hint *out, silt_error *err)
{
    *out = (struct sl_hint){.version = -1};
    void *data = NULL;
    size_t len = 0;
    const struct sl_str path = sl_log_path(arena, root, SL_STR("_last_checkpoint"));
    if (path.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    /* The hint is what is read first of a table. */
    silt_status status = sl_storage_read_first(storage, call, root, path.ptr, &data, &len, err);
    if (status == SILT_OK) {
        silt_error found = SILT_ERROR_INIT;
        status = sl_hint_parse(env, arena, sl_str_make(data, len), out, &found);
        silt_storage_free(storage, data, len);
        if (status == SILT_ENOMEM) {
            return sl_fail_nomem(err);
        }
        if (status != SILT_OK) {
            sl_log(env, SILT_LOG_WARN, "%s is ignored, the whole log is listed instead: %s", path.ptr, found.message);
        }
        return SILT_OK;
    }
    /* A hint that is not there, or is no file, is no hint. A store that is out of reach or refuses would do the same to a listing. */
    if (status == SILT_ENOTFOUND || status == SILT_ECORRUPT) {
        silt_error_reset(err);
        return SILT_OK;
    }
    return status;
}
