/*
 * commitInfo as Delta Spark writes it: parameters and metrics are strings, members that do not apply are left out. Called once a
 * commit. PROTOCOL.md "Commit Provenance Information".
 */
#include "kernel/txn/commit_info.h"

#include "json/writer.h"

struct metric_list {
    struct sl_json_writer *w;
    const silt_txn *txn;
};

static bool caller_gave(const silt_txn *txn, const char *key)
{
    for (size_t i = 0; i < txn->metrics.len; i++) {
        if (sl_str_eq_c(((const struct sl_txn_metric *)sl_vec_at(&txn->metrics, i))->key, key)) {
            return true;
        }
    }
    return false;
}

static void put_number_text(struct sl_json_writer *w, int64_t value)
{
    sl_buf_put_char(w->out, '"');
    sl_buf_put_i64(w->out, value);
    sl_buf_put_char(w->out, '"');
    w->need_comma = true;
}

static void put_metric(const struct metric_list *list, const char *key, int64_t value)
{
    if (value < 0 || caller_gave(list->txn, key)) {
        return;
    }
    sl_json_key_c(list->w, key);
    put_number_text(list->w, value);
}

static void write_metrics(struct sl_json_writer *w, const silt_txn *txn)
{
    const struct metric_list list = {w, txn};
    sl_json_key_c(w, "operationMetrics");
    sl_json_begin_object(w);
    if (txn->adds.len > 0 || txn->removes.len > 0) {
        put_metric(&list, "numFiles", (int64_t)txn->adds.len);
        put_metric(&list, "numOutputRows", txn->rows_added);
        put_metric(&list, "numOutputBytes", txn->bytes_added);
    }
    if (txn->removes.len > 0) {
        put_metric(&list, "numRemovedFiles", (int64_t)txn->removes.len);
        put_metric(&list, "numRemovedBytes", txn->bytes_removed);
    }
    for (size_t i = 0; i < txn->metrics.len; i++) {
        const struct sl_txn_metric *metric = sl_vec_at(&txn->metrics, i);
        sl_json_key(w, metric->key);
        put_number_text(w, metric->value);
    }
    sl_json_end_object(w);
}

static void write_parameters(struct sl_json_writer *w, const silt_txn *txn)
{
    sl_json_key_c(w, "operationParameters");
    sl_json_begin_object(w);
    for (size_t i = 0; i < txn->parameters.len; i++) {
        const struct sl_kv *pair = sl_vec_at(&txn->parameters, i);
        sl_json_key(w, pair->key);
        sl_json_put_str(w, pair->value);
    }
    sl_json_end_object(w);
}

silt_status sl_commit_info_write(struct sl_buf *out, const silt_txn *txn, const struct sl_commit_facts *facts,
                                 silt_error *err)
{
    struct sl_json_writer w;
    sl_json_writer_init(&w, out);
    sl_json_begin_object(&w);
    if (facts->in_commit_timestamp_ms != SL_NO_I64) {
        sl_json_key_c(&w, "inCommitTimestamp");
        sl_json_put_i64(&w, facts->in_commit_timestamp_ms);
    }
    sl_json_key_c(&w, "timestamp");
    sl_json_put_i64(&w, facts->timestamp_ms);
    sl_json_key_c(&w, "operation");
    sl_json_put_str(&w, txn->operation);
    write_parameters(&w, txn);
    if (txn->read_version >= 0) {
        sl_json_key_c(&w, "readVersion");
        sl_json_put_i64(&w, txn->read_version);
    }
    sl_json_key_c(&w, "isolationLevel");
    sl_json_put_c(&w, facts->isolation);
    sl_json_key_c(&w, "isBlindAppend");
    sl_json_put_bool(&w, facts->is_blind_append);
    write_metrics(&w, txn);
    if (txn->user_metadata.ptr != NULL) {
        sl_json_key_c(&w, "userMetadata");
        sl_json_put_str(&w, txn->user_metadata);
    }
    sl_json_key_c(&w, "engineInfo");
    sl_json_put_str(&w, txn->engine_info);
    sl_json_key_c(&w, "txnId");
    sl_json_put_c(&w, facts->txn_id);
    sl_json_end_object(&w);
    return sl_buf_status(out, err);
}
