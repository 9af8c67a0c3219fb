/*
 * A version checksum as the text of its file; see crc.h. Names and kinds of members are those that Delta Spark reads. Pure.
 */
#include "base/error.h"
#include "json/writer.h"
#include "kernel/log/crc.h"

static void put_count(struct sl_json_writer *w, const char *name, int64_t count)
{
    if (count != SL_NO_I64) {
        sl_json_key_c(w, name);
        sl_json_put_i64(w, count);
    }
}

/* Most are 0, and there are hundreds of them. */
static void put_counts(struct sl_json_writer *w, const char *name, const int64_t *counts, size_t n)
{
    sl_json_key_c(w, name);
    sl_json_begin_array(w);
    char *begin = sl_buf_reserve(w->out, n * (SL_U64_DIGITS + 2));
    char *at = begin;
    for (size_t i = 0; begin != NULL && i < n; i++) {
        if (i > 0) {
            *at++ = ',';
        }
        if (counts[i] < 0) {
            *at++ = '-';
        }
        at = sl_u64_print(sl_magnitude(counts[i]), at);
    }
    w->out->len += begin != NULL ? (size_t)(at - begin) : 0;
    sl_json_end_array(w);
}

static void put_histograms(struct sl_json_writer *w, const struct sl_crc *crc)
{
    if (crc->has_sizes) {
        sl_json_key_c(w, "fileSizeHistogram");
        sl_json_begin_object(w);
        put_counts(w, "sortedBinBoundaries", crc->sizes.bounds, crc->sizes.n);
        put_counts(w, "fileCounts", crc->sizes.files, crc->sizes.n);
        put_counts(w, "totalBytes", crc->sizes.bytes, crc->sizes.n);
        sl_json_end_object(w);
    }
    if (crc->has_deleted_bins) {
        sl_json_key_c(w, "deletedRecordCountsHistogramOpt");
        sl_json_begin_object(w);
        put_counts(w, "deletedRecordCounts", crc->deleted_bins, SL_DELETED_BINS);
        sl_json_end_object(w);
    }
}

/* Element i of a list as an action, so that the writer of actions can write it. */
typedef void element_fn(const struct sl_crc *crc, size_t i, struct sl_action *out);

static void get_txn(const struct sl_crc *crc, size_t i, struct sl_action *out)
{
    out->kind = SL_ACTION_APP_TXN;
    out->u.app_txn = crc->txns[i];
}

static void get_domain(const struct sl_crc *crc, size_t i, struct sl_action *out)
{
    out->kind = SL_ACTION_DOMAIN_METADATA;
    out->u.domain = crc->domains[i];
}

static void get_file(const struct sl_crc *crc, size_t i, struct sl_action *out)
{
    out->kind = SL_ACTION_ADD;
    out->u.add = crc->all_files[i];
}

struct list {
    const struct sl_crc *crc;
    size_t n;
    element_fn *get;
};

static silt_status put_elements(struct sl_json_writer *w, const struct list *list, size_t first, silt_error *err)
{
    for (size_t i = first; i < list->n; i++) {
        struct sl_action action;
        list->get(list->crc, i, &action);
        SL_TRY(sl_action_write_body(w, &action, err));
    }
    return SILT_OK;
}

static silt_status put_list(struct sl_json_writer *w, const struct list *list, silt_error *err)
{
    sl_json_begin_array(w);
    SL_TRY(put_elements(w, list, 0, err));
    sl_json_end_array(w);
    return SILT_OK;
}

/* Where the elements of allFiles stand in the buffer; len 0: they are left out. */
struct span {
    size_t at, len;
};

/* A list that became too long is taken back. */
static silt_status put_files(struct sl_json_writer *w, const struct sl_crc *crc, struct span *elements, silt_error *err)
{
    const size_t before = w->out->len;
    const bool comma = w->need_comma;
    sl_json_key_c(w, "allFiles");
    sl_json_begin_array(w);
    elements->at = w->out->len;
    if (crc->n_listed > 0) {
        sl_json_put_raw(w, crc->listed);
    }
    SL_TRY(put_elements(w, &(struct list){crc, crc->n_all_files, get_file}, crc->n_listed, err));
    elements->len = w->out->len - elements->at;
    sl_json_end_array(w);
    if (w->out->len - before > SL_CRC_MAX_FILES_BYTES && w->out->status == SILT_OK) {
        w->out->len = before;
        w->need_comma = comma;
        elements->len = 0;
    }
    return SILT_OK;
}

static silt_status put_state(struct sl_json_writer *w, const struct sl_crc *crc, silt_error *err)
{
    if (crc->has_txns) {
        sl_json_key_c(w, "setTransactions");
        SL_TRY(put_list(w, &(struct list){crc, crc->n_txns, get_txn}, err));
    }
    if (crc->has_domains) {
        sl_json_key_c(w, "domainMetadata");
        SL_TRY(put_list(w, &(struct list){crc, crc->n_domains, get_domain}, err));
    }
    struct sl_action action = {.kind = SL_ACTION_METADATA, .u.metadata = crc->metadata};
    sl_json_key_c(w, "metadata");
    SL_TRY(sl_action_write_body(w, &action, err));
    action = (struct sl_action){.kind = SL_ACTION_PROTOCOL, .u.protocol = crc->protocol};
    sl_json_key_c(w, "protocol");
    return sl_action_write_body(w, &action, err);
}

silt_status sl_crc_write(struct sl_buf *out, const struct sl_crc *crc, struct sl_str *listed, silt_error *err)
{
    struct sl_json_writer w;
    struct span files = {0, 0};
    sl_json_writer_init(&w, out);
    sl_json_begin_object(&w);
    if (crc->txn_id.ptr != NULL) {
        sl_json_key_c(&w, "txnId");
        sl_json_put_str(&w, crc->txn_id);
    }
    put_count(&w, "tableSizeBytes", crc->table_size);
    put_count(&w, "numFiles", crc->n_files);
    put_count(&w, "numDeletedRecordsOpt", crc->n_deleted_records);
    put_count(&w, "numDeletionVectorsOpt", crc->n_deletion_vectors);
    put_count(&w, "numMetadata", 1);
    put_count(&w, "numProtocol", 1);
    put_count(&w, "inCommitTimestampOpt", crc->in_commit_timestamp);
    SL_TRY(put_state(&w, crc, err));
    put_histograms(&w, crc);
    if (crc->has_all_files) {
        SL_TRY(put_files(&w, crc, &files, err));
    }
    sl_json_end_object(&w);
    sl_buf_put_char(out, '\n');
    SL_TRY(sl_buf_status(out, err));
    if (listed != NULL) {
        *listed = files.len > 0 ? sl_str_make(out->data + files.at, files.len) : (struct sl_str){NULL, 0};
    }
    return SILT_OK;
}

const char *sl_crc_name(struct sl_arena *arena, int64_t version)
{
    return sl_log_name_make(arena, version, SL_STR(".crc"));
}
