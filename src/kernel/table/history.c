/*
 * The history of a table, newest first (silt/table.h). Reads commits; no snapshot is needed, so a table whose features
 * silt lacks has a history too. commitInfo is free-form: what it does not say stays empty. A version's time is its
 * in-commit timestamp where that counts, else its file's, made to grow with the versions. Any thread.
 */
#include <inttypes.h>

#include "base/env.h"
#include "base/error.h"
#include "kernel/engine/engine.h"
#include "kernel/log/commit_batch.h"
#include "kernel/snapshot/load.h"
#include "kernel/snapshot/state.h"
#include "kernel/table/commit_times.h"
#include "kernel/table/ict.h"
#include "silt/table.h"

struct telling {
    silt_table *table;
    const silt_call *call;
    bool knows_ict;        /* ict_version is known: it is looked for when a commit first has such a time */
    int64_t ict_version;   /* from which on in-commit timestamps count */
    struct sl_arena texts; /* NUL-terminated copies for one entry */
    bool (*on_entry)(void *ctx, const silt_history_entry *entry);
    void *ctx;
    int64_t left; /* entries still wanted */
    bool out_of_memory;
};

static const char *text(struct telling *telling, struct sl_str value)
{
    if (value.ptr == NULL) {
        return NULL;
    }
    const char *copy = sl_arena_strdup(&telling->texts, value);
    telling->out_of_memory = telling->out_of_memory || copy == NULL;
    return copy;
}

static void fill_entry(struct telling *telling, const struct sl_commit_info *info, silt_history_entry *entry)
{
    if (info->in_commit_timestamp != SL_NO_I64 && entry->version >= telling->ict_version) {
        entry->timestamp_ms = info->in_commit_timestamp;
    }
    entry->user_id = text(telling, info->user_id);
    entry->user_name = text(telling, info->user_name);
    entry->operation = text(telling, info->operation);
    entry->operation_parameters = text(telling, info->operation_parameters);
    entry->job = text(telling, info->job);
    entry->notebook = text(telling, info->notebook);
    entry->cluster_id = text(telling, info->cluster_id);
    entry->read_version = info->read_version != SL_NO_I64 ? info->read_version : -1;
    entry->isolation_level = text(telling, info->isolation_level);
    entry->is_blind_append = (int32_t)info->is_blind_append;
    entry->operation_metrics = text(telling, info->operation_metrics);
    entry->user_metadata = text(telling, info->user_metadata);
    entry->engine_info = text(telling, info->engine_info);
}

/*
 * A table on which in-commit timestamps were switched off and on again has commits with such times that do not count. A table that
 * cannot be opened shows what its commits say.
 */
static silt_status find_ict(struct telling *telling, const struct sl_commit *commit, silt_error *err)
{
    const bool has_time = commit->commit_info != NULL && commit->commit_info->in_commit_timestamp != SL_NO_I64;
    if (telling->knows_ict || !has_time) {
        return SILT_OK;
    }
    silt_snapshot *latest = NULL;
    const silt_status status = sl_snapshot_load(telling->table, telling->call, SL_VERSION_LATEST, &latest, err);
    if (status == SILT_ENOMEM || status == SILT_ECANCELLED || status == SILT_EDEADLINE) {
        return status;
    }
    silt_error_reset(err);
    telling->ict_version = status == SILT_OK ? sl_ict_of(latest).version : 0;
    telling->knows_ict = true;
    silt_snapshot_unref(latest);
    return SILT_OK;
}

static silt_status tell_commit(void *ctx, const struct sl_commit *commit, bool *stop, silt_error *err)
{
    struct telling *telling = ctx;
    SL_TRY(find_ict(telling, commit, err));
    silt_history_entry entry = {.size = sizeof(entry),
                                .version = commit->version,
                                .timestamp_ms = commit->modified_ms,
                                .read_version = -1,
                                .is_blind_append = -1};
    if (commit->commit_info != NULL) {
        fill_entry(telling, commit->commit_info, &entry);
    }
    if (telling->out_of_memory) {
        return sl_fail_nomem(err);
    }
    telling->left--;
    *stop = !telling->on_entry(telling->ctx, &entry) || telling->left == 0;
    sl_arena_release(&telling->texts);
    return SILT_OK;
}

/* A history has no need of the commits that are missing; whoever reads it has. */
static void warn_of_gap(silt_table *table, const struct sl_log_file *commits, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        const int64_t before = commits[i - 2].version;
        const int64_t after = commits[i - 1].version;
        if (after - before > 1) {
            sl_log(silt_engine_env(silt_table_engine(table)), SILT_LOG_WARN,
                   "%s: the log has a gap between versions %" PRId64 " and %" PRId64 ": the history is not whole",
                   silt_table_uri(table), before, after);
            return;
        }
    }
}

static silt_status tell(silt_table *table, const silt_call *call, int64_t limit, struct sl_vec *files,
                        struct telling *telling, silt_error *err)
{
    const struct sl_log_source source = {
        .engine = silt_table_engine(table), .storage = sl_table_storage(table), .root = sl_table_root(table)};
    struct sl_log_file *commits = files->data;
    const size_t n = sl_commit_times_filter(commits, files->len, 0);
    sl_commit_times_adjust(commits, n);
    const size_t wanted = limit > 0 && (uint64_t)limit < n ? (size_t)limit : n;
    warn_of_gap(table, commits + (n - wanted), wanted);
    const struct sl_commits_request request = {.source = &source,
                                               .files = commits + (n - wanted),
                                               .n = wanted,
                                               .missing = SL_MISSING_IS_PAST,
                                               .info_only = true};
    return sl_commits_each(&request, call, tell_commit, telling, err);
}

silt_status silt_table_history(silt_table *table, const silt_call *call, int64_t limit,
                               bool (*on_entry)(void *ctx, const silt_history_entry *entry), void *ctx, silt_error *err)
{
    if (table == NULL || on_entry == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_table_history needs a table and a callback");
    }
    const silt_env *env = silt_engine_env(silt_table_engine(table));
    struct sl_arena names;
    struct sl_vec files;
    sl_arena_init(&names, env);
    sl_vec_init(&files, env, sizeof(struct sl_log_file));
    struct telling telling = {
        .table = table, .call = call, .on_entry = on_entry, .ctx = ctx, .left = limit > 0 ? limit : INT64_MAX};
    sl_arena_init(&telling.texts, env);
    bool exists = false;
    silt_status status = sl_table_list_log(table, call, 0, &names, &files, &exists, err);
    if (status == SILT_OK) {
        status = exists && files.len > 0 ? tell(table, call, limit, &files, &telling, err)
                                         : sl_table_absent(table, call, err);
    }
    sl_arena_release(&telling.texts);
    sl_vec_release(&files);
    sl_arena_release(&names);
    return status;
}
