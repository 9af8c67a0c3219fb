/*
 * The versions of a range of changes: its bounds, by number or by time, and its commits; see changes_int.h.
 */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "kernel/changes/changes_int.h"
#include "kernel/log/commit_batch.h"
#include "kernel/snapshot/load.h"
#include "kernel/table/commit_times.h"

/* The first version at or after a time; before the table's first version that one counts, as in Delta Spark. */
static silt_status first_at(silt_table *table, const silt_call *call, int64_t timestamp_us, int64_t *version,
                            silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    silt_snapshot *snapshot = NULL;
    const silt_status status = silt_table_snapshot_at_timestamp(table, call, timestamp_us, &snapshot, &found);
    if (status == SILT_OK) {
        const int64_t at_ms = silt_snapshot_timestamp_ms(snapshot);
        const int64_t at = silt_snapshot_version(snapshot);
        int64_t at_us = INT64_MAX;
        *version = sl_mul_i64(at_ms, 1000, &at_us) && at_us < timestamp_us ? at + 1 : at;
        silt_snapshot_unref(snapshot);
        return SILT_OK;
    }
    if (strcmp(found.code_name, "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION") == 0) {
        *version = 0;
        return SILT_OK;
    }
    if (err != NULL) {
        *err = found;
    }
    return status;
}

static silt_status find_last(const struct sl_changes_request *request, const silt_call *call, silt_snapshot **out,
                             silt_error *err)
{
    const silt_changes_options *options = request->options;
    const int64_t newest = silt_snapshot_version(request->newest);
    if (options->to_version == SILT_CHANGES_BY_TIME) {
        SL_TRY(silt_table_snapshot_at_timestamp(request->table, call, options->to_timestamp_us, out, err));
        if (silt_snapshot_version(*out) > newest) {
            silt_snapshot_unref(*out);
            *out = silt_snapshot_ref(request->newest);
        }
        return SILT_OK;
    }
    if (options->to_version == SILT_CHANGES_LATEST || options->to_version >= newest) {
        *out = silt_snapshot_ref(request->newest);
        return SILT_OK;
    }
    return silt_table_snapshot_at_version(request->table, call, options->to_version, out, err);
}

static silt_status check_bounds(silt_snapshot *latest, const silt_changes_options *options, int64_t from,
                                silt_error *err)
{
    if (from > silt_snapshot_version(latest)) {
        return sl_fail(err, SILT_ENOTFOUND, "DELTA_CDC_START_VERSION_AFTER_LATEST",
                       "changes are wanted from version %" PRId64
                       " on, but the newest version of the table is %" PRId64,
                       from, silt_snapshot_version(latest));
    }
    if (options->to_version >= 0 && options->to_version < from) {
        return sl_fail(err, SILT_EINVALID, "DELTA_INVALID_CDC_RANGE",
                       "changes are wanted from version %" PRId64 " to %" PRId64 ": the end cannot be before the start",
                       from, options->to_version);
    }
    return SILT_OK;
}

silt_status sl_changes_range(const struct sl_changes_request *request, const silt_call *call, int64_t *from,
                             silt_snapshot **snapshot, silt_error *err)
{
    const silt_changes_options *options = request->options;
    *snapshot = NULL;
    *from = options->from_version;
    if (options->from_version == SILT_CHANGES_BY_TIME) {
        SL_TRY(first_at(request->table, call, options->from_timestamp_us, from, err));
    }
    SL_TRY(check_bounds(request->newest, options, *from, err));
    SL_TRY(find_last(request, call, snapshot, err));
    if (silt_snapshot_version(*snapshot) >= *from) {
        return SILT_OK;
    }
    const silt_status status = sl_fail(err, SILT_EINVALID, "DELTA_INVALID_CDC_RANGE",
                                       "changes are wanted from version %" PRId64 " to %" PRId64
                                       ": the end cannot be before the start",
                                       *from, silt_snapshot_version(*snapshot));
    silt_snapshot_unref(*snapshot);
    *snapshot = NULL;
    return status;
}

/* ---- commits ---- */

/* earliest: the first that is there, -1 if none is. */
static silt_status missing(silt_table *table, int64_t version, int64_t earliest, silt_error *err)
{
    const silt_status status = sl_fail(
        err, SILT_ENOTFOUND, "DELTA_VERSION_NOT_FOUND",
        "the commit of version %" PRId64 ", whose changes are wanted, is not in the log any more", version);
    if (earliest > version) {
        sl_error_hint(err, "the log begins with version %" PRId64 ": earlier changes are gone", earliest);
    }
    sl_error_path(err, silt_table_uri(table));
    sl_error_version(err, version);
    return status;
}

silt_status sl_changes_commits(silt_table *table, const silt_call *call, int64_t from, int64_t to,
                               silt_status (*visit)(void *ctx, const struct sl_commit *commit, bool *stop,
                                                    silt_error *err),
                               void *ctx, silt_error *err)
{
    const silt_env *env = silt_engine_env(silt_table_engine(table));
    struct sl_arena names;
    struct sl_vec files;
    sl_arena_init(&names, env);
    sl_vec_init(&files, env, sizeof(struct sl_log_file));
    bool exists = false;
    /* From the beginning: times are made to grow over the whole log, as the history shows them. */
    silt_status status = sl_table_list_log(table, call, 0, &names, &files, &exists, err);
    if (status == SILT_OK) {
        struct sl_log_file *commits = files.data;
        const size_t n = sl_commit_times_filter(commits, files.len, 0);
        sl_commit_times_adjust(commits, n);
        size_t first = 0;
        while (first < n && commits[first].version < from) {
            first++;
        }
        size_t end = first;
        while (end < n && commits[end].version <= to && commits[end].version == from + (int64_t)(end - first)) {
            end++;
        }
        const int64_t found = (int64_t)(end - first);
        if (found != to - from + 1) {
            status = missing(table, from + found, n > 0 ? commits[0].version : -1, err);
        } else {
            const struct sl_log_source source = {
                .engine = silt_table_engine(table), .storage = sl_table_storage(table), .root = sl_table_root(table)};
            const struct sl_commits_request request = {
                .source = &source, .files = commits + first, .n = end - first, .missing = SL_MISSING_FAILS};
            status = sl_commits_each(&request, call, visit, ctx, err);
        }
    }
    sl_vec_release(&files);
    sl_arena_release(&names);
    return status;
}
