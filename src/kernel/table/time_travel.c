/*
 * Snapshots by time: which version was the table's at a moment. As in Delta Spark, a time after the newest version is refused,
 * not taken for the newest. Any thread.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/env.h"
#include "base/error.h"
#include "base/time.h"
#include "kernel/engine/engine.h"
#include "kernel/log/commit_batch.h"
#include "kernel/snapshot/load.h"
#include "kernel/snapshot/state.h"
#include "kernel/table/commit_search.h"
#include "kernel/table/commit_times.h"
#include "silt/table.h"

#define TIME_TEXT_SIZE 48

struct search {
    silt_table *table;
    const silt_call *call;
    const silt_env *env;
    struct sl_arena arena;
    struct sl_vec files; /* of struct sl_log_file, commits that can be rebuilt */
    silt_snapshot *latest;
    int64_t at_ms;
    struct sl_ict ict;
};

static void print_time(const struct search *search, int64_t ms, char *out, size_t size)
{
    struct sl_buf buf;
    sl_buf_init(&buf, search->env);
    int64_t us = 0;
    if (sl_mul_i64(ms, 1000, &us)) {
        sl_timestamp_format(&buf, us, ' ', 3);
    } else {
        sl_buf_put_i64(&buf, ms);
    }
    (void)snprintf(out, size, "%s", sl_buf_cstr(&buf)); /* cut text is still a usable message */
    sl_buf_release(&buf);
}

static silt_status too_early(const struct search *search, const struct sl_log_file *earliest, silt_error *err)
{
    char wanted[TIME_TEXT_SIZE];
    char first[TIME_TEXT_SIZE];
    print_time(search, search->at_ms, wanted, sizeof(wanted));
    print_time(search, earliest->modified_ms, first, sizeof(first));
    const silt_status status = sl_fail(err, SILT_ENOTFOUND, "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION",
                                       "%s is before the earliest version of the table (%" PRId64 ", %s UTC)", wanted,
                                       earliest->version, first);
    sl_error_hint(err, "use a timestamp at or after %s", first);
    return status;
}

static silt_status too_late(const struct search *search, int64_t latest_ms, silt_error *err)
{
    char wanted[TIME_TEXT_SIZE];
    char last[TIME_TEXT_SIZE];
    print_time(search, search->at_ms, wanted, sizeof(wanted));
    print_time(search, latest_ms, last, sizeof(last));
    const silt_status status = sl_fail(err, SILT_ENOTFOUND, "DELTA_TIMESTAMP_GREATER_THAN_COMMIT",
                                       "%s is after the latest version of the table (%" PRId64 ", %s UTC)", wanted,
                                       silt_snapshot_version(search->latest), last);
    sl_error_hint(err, "use a timestamp at or before %s", last);
    return status;
}

/* ---- the search ---- */

static silt_status list_commits(struct search *search, silt_error *err)
{
    bool exists = false;
    SL_TRY(sl_table_list_log(search->table, search->call, 0, &search->arena, &search->files, &exists, err));
    const int64_t earliest = sl_segment_earliest(search->files.data, search->files.len);
    search->files.len = sl_commit_times_filter(search->files.data, search->files.len, earliest >= 0 ? earliest : 0);
    /* What was committed after the latest snapshot was loaded is not looked at. */
    const int64_t latest = silt_snapshot_version(search->latest);
    while (search->files.len > 0 &&
           ((struct sl_log_file *)sl_vec_at(&search->files, search->files.len - 1))->version > latest) {
        search->files.len--;
    }
    if (search->files.len == 0) {
        return sl_fail(err, SILT_ENOTFOUND, "DELTA_NO_COMMITS_FOUND",
                       "%s has no commits left that tell the times of its versions", silt_table_uri(search->table));
    }
    return SILT_OK;
}

static silt_status find_version(struct search *search, int64_t *version, silt_error *err)
{
    SL_TRY(list_commits(search, err));
    const struct sl_log_source source = {.engine = silt_table_engine(search->table),
                                         .storage = sl_table_storage(search->table),
                                         .root = sl_table_root(search->table)};
    const struct sl_commit_search request = {.source = &source, .ict = search->ict, .at_ms = search->at_ms};
    struct sl_commit_found found;
    SL_TRY(sl_commit_search_run(&request, search->call, search->files.data, search->files.len, &found, err));
    if (found.index == found.n) {
        return too_early(search, &found.commits[0], err);
    }
    const struct sl_log_file *commit = &found.commits[found.index];
    if (commit->version == silt_snapshot_version(search->latest) && commit->modified_ms < search->at_ms) {
        return too_late(search, commit->modified_ms, err);
    }
    *version = commit->version;
    return SILT_OK;
}

silt_status silt_table_snapshot_at_timestamp(silt_table *table, const silt_call *call, int64_t timestamp_us,
                                             silt_snapshot **out, silt_error *err)
{
    if (table == NULL || out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_table_snapshot_at_timestamp needs a table and an out parameter");
    }
    *out = NULL;
    struct search search = {.table = table,
                            .call = call,
                            .env = silt_engine_env(silt_table_engine(table)),
                            .at_ms = sl_floor_div(timestamp_us, 1000)};
    SL_TRY(sl_snapshot_load(table, call, SL_VERSION_LATEST, &search.latest, err));
    sl_arena_init(&search.arena, search.env);
    sl_vec_init(&search.files, search.env, sizeof(struct sl_log_file));
    search.ict = sl_ict_of(search.latest);
    int64_t version = -1;
    silt_status status = find_version(&search, &version, err);
    if (status == SILT_OK) {
        if (version == silt_snapshot_version(search.latest)) {
            *out = silt_snapshot_ref(search.latest);
        } else {
            status = sl_snapshot_load(table, call, version, out, err);
        }
    }
    silt_snapshot_unref(search.latest);
    sl_vec_release(&search.files);
    sl_arena_release(&search.arena);
    return status;
}
