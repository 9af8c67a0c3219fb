/*
 * Options of writes; see write_options.h. An application id and its version make a write idempotent: what the table has recorded already is
 * not done again (PROTOCOL.md "Transaction Identifiers").
 */
#include "sql/write_options.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"
#include "kernel/txn/txn_write.h"

#define TXN_VERSION "spark.databricks.delta.write.txnversion"
#define TXN_VERSION_NAME "spark.databricks.delta.write.txnVersion"
#define TXN_APP_ID_NAME "spark.databricks.delta.write.txnAppId"

static bool is_on(const silt_session *session, const char *key)
{
    return sl_str_eq_nocase(sl_session_option(session, key), SL_STR("true"));
}

silt_status sl_write_options_get(const silt_session *session, struct sl_write_options *out, silt_error *err)
{
    const struct sl_str version = sl_session_option(session, TXN_VERSION);
    const struct sl_str attempts = sl_session_option(session, "spark.databricks.delta.maxcommitattempts");
    const struct sl_str limit = sl_session_option(session, "silt.write.committimelimit");
    int64_t number = 0;
    *out = (struct sl_write_options){
        .app_id = sl_session_option(session, "spark.databricks.delta.write.txnappid"),
        .auto_reset = is_on(session, TXN_VERSION ".autoreset.enabled"),
        .merges_schema = is_on(session, "spark.databricks.delta.schema.automerge.enabled"),
        .overwrites_schema = is_on(session, "silt.write.overwriteschema"),
        .dynamic = sl_str_eq_nocase(sl_session_option(session, "spark.sql.sources.partitionoverwritemode"),
                                    SL_STR("dynamic")),
        .replace_where = sl_session_option(session, "silt.write.replacewhere"),
        .partition_by = sl_session_option(session, "silt.write.partitionby"),
    };
    if (attempts.ptr != NULL && sl_str_to_i64(attempts, &number)) {
        out->max_attempts = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
    }
    if (limit.ptr != NULL && sl_str_to_i64(limit, &number)) {
        out->time_limit_ms = number;
    }
    out->has_app_version = version.ptr != NULL;
    if (out->has_app_version && !sl_str_to_i64(version, &out->app_version)) {
        return sl_fail(err, SILT_EINVALID, NULL, "the version of an application id is no number");
    }
    return SILT_OK;
}

/* Who sets one of them means to write once: without the other the write would be repeated. */
static silt_status check_app_id(const struct sl_write_options *options, silt_error *err)
{
    const bool has_id = options->app_id.ptr != NULL;
    if (has_id == options->has_app_version) {
        return SILT_OK;
    }
    const silt_status status = sl_fail(
        err, SILT_EINVALID, "DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS.MISSING_SESSION_CONFS",
        "spark.databricks.delta.write.txnAppId and spark.databricks.delta.write.txnVersion must both be set for "
        "writes that are done once: %s is not",
        has_id ? "the version" : "the application id");
    sl_error_hint(err, "SET %s, or RESET the other one", has_id ? TXN_VERSION_NAME : TXN_APP_ID_NAME);
    return status;
}

silt_status sl_write_begin(struct sl_run *run, const struct sl_write_options *options, silt_txn *txn, bool *recorded,
                           silt_error *err)
{
    const struct sl_str user = sl_session_option(run->session, "spark.databricks.delta.commitinfo.usermetadata");
    *recorded = false;
    SL_TRY(check_app_id(options, err));
    SL_TRY(sl_txn_set_engine_info(txn, run->session->engine_info, err));
    if (user.ptr != NULL) {
        SL_TRY(silt_txn_set_user_metadata(txn, user.ptr, err));
    }
    if (options->max_attempts > 0 || options->time_limit_ms > 0) {
        silt_commit_options limits = {.size = sizeof(limits), .max_attempts = options->max_attempts};
        if (!sl_mul_i64(options->time_limit_ms, 1000, &limits.time_limit_us)) {
            limits.time_limit_us = INT64_MAX;
        }
        SL_TRY(silt_txn_set_commit_options(txn, &limits, err));
    }
    if (options->app_id.ptr == NULL) {
        return SILT_OK;
    }
    SL_TRY(silt_txn_set_app_id(txn, options->app_id.ptr, options->app_version, err));
    *recorded = sl_txn_is_recorded(txn);
    return SILT_OK;
}

silt_status sl_write_check_target(struct sl_run *run, const struct sl_table_name *name, const char *only,
                                  silt_error *err)
{
    bool is_temporary = false;
    if (name->travel != SL_TRAVEL_NONE) {
        return sl_fail(err, SILT_EINVALID, "DELTA_TIME_TRAVEL_INVALID_WRITE", "cannot write to an older version of %s",
                       sl_table_name_text(run, name));
    }
    SL_TRY(sl_session_is_temporary(run->session, run->call, name, &is_temporary, err));
    if (is_temporary && !name->is_path) {
        silt_status status = sl_fail(err, SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_STATEMENT",
                                     "%s is a temporary table or view: %s", sl_table_name_text(run, name), only);
        sl_error_hint(err, "a Delta table of the same name can be named by its path: delta.`/path/to/table`");
        return status;
    }
    return SILT_OK;
}

void sl_write_end(struct sl_run *run, const struct sl_write_options *options)
{
    if (options->app_id.ptr != NULL && options->auto_reset) {
        (void)sl_map_remove(&run->session->options, SL_STR(TXN_VERSION)); /* it was set, or there would be no id */
    }
}
