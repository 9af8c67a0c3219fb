/*
 * The course of a clean-up; see cleanup.h. A version's age is its in-commit timestamp, where the table has such, else the time of its
 * file. The checkpoint that everything will rest on is opened before anything goes. Any thread.
 */
#include "kernel/checkpoint/cleanup.h"

#include <inttypes.h>
#include <string.h>

#include "base/env.h"
#include "base/error.h"
#include "base/uri.h"
#include "kernel/checkpoint/cleanup_plan.h"
#include "kernel/engine/engine.h"
#include "kernel/feature/feature.h"
#include "kernel/log/list.h"
#include "kernel/replay/checkpoint.h"
#include "kernel/snapshot/load.h"
#include "kernel/snapshot/state.h"
#include "kernel/table/commit_search.h"
#include "kernel/table/commit_times.h"

/* How many bad checkpoints are passed over in the search for one to keep. */
#define MAX_BAD 8

struct cleaner {
    const struct sl_cleanup_request *request;
    const silt_call *call;
    const silt_env *env;
    struct sl_log_source source;
    const struct sl_kv_list *properties;
    struct sl_ict ict;
    int64_t now_ms;
    int64_t cutoff_ms;
    struct sl_arena arena;
    struct sl_vec files; /* of struct sl_log_file: the whole log */
    struct sl_vec names; /* of struct sl_str: staged commits or sidecars that may go */
    struct sl_str bad[MAX_BAD];
    size_t n_bad;
    struct sl_cleanup_plan plan;
    struct sl_cleanup_result *result;
};

/* ---- what there is ---- */

static bool is_oldest_commit(void *ctx, const silt_file_entry *entry)
{
    int64_t *time = ctx;
    const struct sl_log_file file = sl_log_name_parse(sl_str_make(entry->name, entry->name_len));
    *time = entry->modified_ms;
    return file.kind != SL_LOG_COMMIT;
}

/*
 * Mostly nothing has expired, which the oldest commit tells: file times of later ones count as later. Only then is the rest of the log
 * not listed.
 */
static silt_status anything_expired(struct cleaner *c, bool *expired, silt_error *err)
{
    *expired = true;
    if (c->ict.version != INT64_MAX) {
        return SILT_OK; /* files may be younger than their commits */
    }
    const struct sl_str dir = sl_uri_join(&c->arena, c->source.root, SL_STR(SL_LOG_DIR));
    if (dir.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    int64_t oldest = INT64_MIN;
    const silt_list_options options = {.size = sizeof(options), .start_from = "0"};
    SL_TRY(silt_storage_list(c->source.storage, c->call, dir.ptr, &options, is_oldest_commit, &oldest, err));
    *expired = oldest <= c->cutoff_ms;
    return SILT_OK;
}

/* The newest commit that is not newer than the cutoff, -1 if there is none. */
static silt_status find_cutoff(struct cleaner *c, int64_t *version, silt_error *err)
{
    *version = -1;
    struct sl_log_file *commits = sl_arena_alloc_array(&c->arena, c->files.len, sizeof(*commits));
    if (commits == NULL) {
        return sl_fail_nomem(err);
    }
    memcpy(commits, c->files.data, c->files.len * sizeof(*commits));
    const size_t n = sl_commit_times_filter(commits, c->files.len, 0);
    if (n == 0) {
        return SILT_OK;
    }
    const struct sl_commit_search search = {.source = &c->source, .ict = c->ict, .at_ms = c->cutoff_ms};
    struct sl_commit_found found;
    SL_TRY(sl_commit_search_run(&search, c->call, commits, n, &found, err));
    *version = found.index < found.n ? found.commits[found.index].version : -1;
    return SILT_OK;
}

/* ---- what may go ---- */

/* Can the checkpoint be opened? If not, it becomes one of the bad ones. */
static silt_status try_checkpoint(struct cleaner *c, bool *good, silt_error *err)
{
    struct sl_log_file *files = NULL;
    const size_t n = sl_checkpoint_files(c->files.data, c->files.len, &c->plan.checkpoint, &c->arena, &files);
    if (files == NULL) {
        return sl_fail_nomem(err);
    }
    const struct sl_log_segment segment = {.version = c->plan.checkpoint_version,
                                           .checkpoint_version = c->plan.checkpoint_version,
                                           .checkpoint = files,
                                           .n_checkpoint = n};
    const struct sl_checkpoint_opening opening = {.source = &c->source, .segment = &segment, .arena = &c->arena};
    struct sl_checkpoint checkpoint;
    silt_error found = SILT_ERROR_INIT;
    const silt_status status = sl_checkpoint_open(&opening, c->call, &checkpoint, &found);
    *good = status == SILT_OK;
    if (sl_checkpoint_is_bad(status) && c->n_bad < MAX_BAD) {
        c->bad[c->n_bad++] = files[0].name;
        sl_log(c->env, SILT_LOG_WARN,
               "%s: the clean-up of the log keeps what is before the checkpoint of version %" PRId64 ": %s",
               silt_table_uri(c->request->table), c->plan.checkpoint_version, found.message);
        return SILT_OK;
    }
    if (status != SILT_OK && err != NULL) {
        *err = found;
    }
    return status;
}

static silt_status make_plan(struct cleaner *c, silt_error *err)
{
    struct sl_cleanup_facts facts = {
        .files = c->files.data,
        .n_files = c->files.len,
        .first_timed_version = c->ict.version,
        .protected_before = sl_property_int(c->properties, "delta.requireCheckpointProtectionBeforeVersion")};
    SL_TRY(find_cutoff(c, &facts.cutoff_version, err));
    bool good = false;
    while (!good) {
        facts.bad = (struct sl_bad_checkpoints){c->bad, c->n_bad};
        SL_TRY(sl_cleanup_plan_make(&facts, &c->arena, &c->plan, err));
        good = c->plan.verdict != SL_CLEANUP_FILES;
        if (!good) {
            SL_TRY(try_checkpoint(c, &good, err));
        }
    }
    return SILT_OK;
}

/* ---- deleting ---- */

/* *deleted false: it could not be, and is told once. Fails when the whole is to end. */
static silt_status delete_file(struct cleaner *c, struct sl_str name, bool *deleted, silt_error *err)
{
    *deleted = false;
    SL_TRY(sl_call_check(c->env, c->call, err));
    const struct sl_str path = sl_log_path(&c->arena, c->source.root, name);
    if (path.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    if (c->request->on_file != NULL && !c->request->on_file(c->request->ctx, name)) {
        return sl_fail(err, SILT_ECANCELLED, NULL, "the clean-up of the log was ended by its caller");
    }
    silt_error found = SILT_ERROR_INIT;
    const silt_status status = c->request->only_look
                                   ? SILT_OK
                                   : silt_storage_remove(c->source.storage, c->call, path.ptr, &found);
    *deleted = status == SILT_OK;
    c->result->n_deleted += *deleted ? 1 : 0;
    if (!*deleted && c->result->n_failed++ == 0) {
        sl_log(c->env, SILT_LOG_WARN, "%s: an expired file of the log stays: %s", silt_table_uri(c->request->table),
               found.message);
    }
    return SILT_OK;
}

/* *whole false: something stayed that the rest stays for: newer commits for a commit, sidecars for a checkpoint. */
static silt_status delete_planned(struct cleaner *c, bool *whole, silt_error *err)
{
    *whole = true;
    for (size_t i = 0; i < c->plan.n_files && *whole; i++) {
        bool deleted = false;
        SL_TRY(delete_file(c, c->plan.files[i].name, &deleted, err));
        *whole = deleted || i < c->plan.n_extras;
    }
    return SILT_OK;
}

static silt_status delete_names(struct cleaner *c, silt_error *err)
{
    for (size_t i = 0; i < c->names.len; i++) {
        bool deleted = false;
        SL_TRY(delete_file(c, *(const struct sl_str *)sl_vec_at(&c->names, i), &deleted, err));
    }
    c->names.len = 0;
    return SILT_OK;
}

/* Commits that a catalog once staged and published. */
static bool take_staged(void *ctx, const silt_file_entry *entry)
{
    struct cleaner *c = ctx;
    const struct sl_str name = sl_str_make(entry->name, entry->name_len);
    const int64_t version = sl_log_name_parse(name).version;
    if (version < 0 || version > c->plan.checkpoint_version || !sl_log_is_staged_name(name, version)) {
        return true;
    }
    struct sl_str *slot = sl_vec_push(&c->names);
    if (slot != NULL) {
        *slot = sl_uri_join(&c->arena, SL_STR(SL_LOG_STAGED_DIR), name);
    }
    return slot != NULL && slot->ptr != NULL;
}

static silt_status delete_staged(struct cleaner *c, silt_error *err)
{
    const struct sl_str dir = sl_log_path(&c->arena, c->source.root, SL_STR(SL_LOG_STAGED_DIR));
    if (dir.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    const silt_list_options options = {.size = sizeof(options)};
    const silt_status status = silt_storage_list(c->source.storage, c->call, dir.ptr, &options, take_staged, c, err);
    if (status == SILT_ENOTFOUND) {
        silt_error_reset(err);
        return SILT_OK;
    }
    SL_TRY(status);
    for (size_t i = 0; i < c->names.len; i++) {
        if (((const struct sl_str *)sl_vec_at(&c->names, i))->ptr == NULL) {
            return sl_fail_nomem(err);
        }
    }
    return delete_names(c, err);
}

/* Sidecars that are younger than a day, as of midnight, may belong to a checkpoint that is being written. */
static silt_status delete_sidecars(struct cleaner *c, silt_error *err)
{
    const struct sl_sidecar_request request = {.source = &c->source,
                                               .files = c->files.data,
                                               .n_files = c->files.len,
                                               .checkpoint_version = c->plan.checkpoint_version,
                                               .older_than_ms = sl_cleanup_cutoff(c->now_ms, INT64_C(86400000))};
    silt_error found = SILT_ERROR_INIT;
    const silt_status status = sl_cleanup_find_sidecars(&request, c->call, &c->arena, &c->names, &found);
    if (sl_checkpoint_is_bad(status)) {
        sl_log(c->env, SILT_LOG_WARN, "%s: no sidecar is cleaned up, since a checkpoint cannot be read: %s",
               silt_table_uri(c->request->table), found.message);
        return SILT_OK;
    }
    if (status != SILT_OK) {
        if (err != NULL) {
            *err = found;
        }
        return status;
    }
    return delete_names(c, err);
}

/* ---- the course ---- */

static const char *why_not(const struct cleaner *c)
{
    const struct sl_protocol *protocol = sl_snapshot_protocol(c->request->snapshot);
    if (sl_table_is_catalog(c->request->table) || sl_protocol_has_feature(protocol, "catalogManaged") ||
        sl_protocol_has_feature(protocol, "catalogOwned-preview")) {
        return "the log of a table that a catalog manages is the catalog's to clean up";
    }
    return sl_property_bool(c->properties, "delta.enableExpiredLogCleanup") ? NULL
                                                                            : "delta.enableExpiredLogCleanup is false";
}

static const char *verdict_text(enum sl_cleanup_verdict verdict)
{
    switch (verdict) {
    case SL_CLEANUP_NO_CHECKPOINT: return "no checkpoint at or before the newest expired commit could stand for it";
    case SL_CLEANUP_NOT_ALONE:
        return "file times do not ascend: without the commits before them, those of the checkpoints that are old enough "
               "would change their times";
    case SL_CLEANUP_PROTECTED:
        return "not all versions before delta.requireCheckpointProtectionBeforeVersion have expired";
    case SL_CLEANUP_NOTHING:
    case SL_CLEANUP_FILES: break;
    }
    return NULL;
}

static silt_status clean(struct cleaner *c, silt_error *err)
{
    bool expired = false;
    SL_TRY(anything_expired(c, &expired, err));
    if (!expired) {
        return SILT_OK;
    }
    bool exists = false;
    SL_TRY(sl_log_list(c->source.storage, c->call, c->source.root, 0, &c->arena, &c->files, &exists, err));
    SL_TRY(make_plan(c, err));
    c->result->why_not = verdict_text(c->plan.verdict);
    if (c->result->why_not != NULL || c->plan.checkpoint_version < 0) {
        return SILT_OK;
    }
    c->result->checkpoint_version = c->plan.checkpoint_version;
    bool whole = false;
    SL_TRY(delete_planned(c, &whole, err));
    const bool checkpoints_went = c->plan.n_files > c->plan.n_extras + c->plan.n_commits;
    if (whole && c->plan.n_files > 0) {
        SL_TRY(delete_staged(c, err));
    }
    return whole && (checkpoints_went || c->request->always_sidecars) ? delete_sidecars(c, err) : SILT_OK;
}

silt_status sl_log_clean_up(const struct sl_cleanup_request *request, const silt_call *call,
                            struct sl_cleanup_result *out, silt_error *err)
{
    silt_engine *engine = silt_table_engine(request->table);
    const struct sl_metadata *metadata = sl_snapshot_get_metadata(request->snapshot);
    struct cleaner c = {.request = request,
                        .call = call,
                        .env = silt_engine_env(engine),
                        .source = {.engine = engine,
                                   .storage = sl_table_storage(request->table),
                                   .root = sl_table_root(request->table)},
                        .properties = &metadata->configuration,
                        .ict = sl_ict_of(request->snapshot),
                        .plan = {.checkpoint_version = -1},
                        .result = out};
    *out = (struct sl_cleanup_result){.checkpoint_version = -1, .why_not = why_not(&c)};
    if (out->why_not != NULL) {
        return SILT_OK;
    }
    SL_TRY(
        sl_gate_write(sl_snapshot_protocol(request->snapshot), metadata, silt_snapshot_schema(request->snapshot), err));
    c.now_ms = sl_now_ms(c.env);
    c.cutoff_ms = sl_cleanup_cutoff(c.now_ms, sl_property_interval_ms(c.properties, "delta.logRetentionDuration"));
    sl_arena_init(&c.arena, c.env);
    sl_vec_init(&c.files, c.env, sizeof(struct sl_log_file));
    sl_vec_init(&c.names, c.env, sizeof(struct sl_str));
    const silt_status status = clean(&c, err);
    sl_vec_release(&c.names);
    sl_vec_release(&c.files);
    sl_arena_release(&c.arena);
    return status;
}
