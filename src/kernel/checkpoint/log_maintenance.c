/*
 * The maintenance of a log as users ask for it; see silt/log_maintenance.h. Any thread.
 */
#include "silt/log_maintenance.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "kernel/checkpoint/cleanup.h"
#include "kernel/checkpoint/compact_log.h"
#include "kernel/engine/engine.h"
#include "kernel/feature/feature.h"
#include "kernel/log/segment_checkpoint.h"
#include "kernel/snapshot/load.h"
#include "kernel/snapshot/state.h"

/* A compacted file is written in one piece. */
#define MAX_COMPACTED_BYTES ((size_t)1024 * 1024 * 1024)

struct compact {
    silt_table *table;
    const silt_call *call;
    const silt_env *env;
    struct sl_log_source source;
    int64_t from, to;
    struct sl_arena arena;
    struct sl_vec files;         /* of struct sl_log_file */
    struct sl_log_file *commits; /* of the range */
    size_t n_commits;
    bool is_there; /* the compacted file */
};

/* Unpublished commits have no file of their own name that the compacted one could stand for. */
static silt_status check_published(const struct sl_log_file *commit, silt_error *err)
{
    if (commit->content.ptr == NULL && sl_log_name_parse(commit->name).kind == SL_LOG_COMMIT) {
        return SILT_OK;
    }
    const silt_status status = sl_fail(err, SILT_EUNSUPPORTED, NULL,
                                       "commit %" PRId64 " is not published: only published ones are compacted",
                                       commit->version);
    sl_error_version(err, commit->version);
    return status;
}

static silt_status take_commits(struct compact *c, silt_error *err)
{
    c->commits = sl_arena_alloc_array(&c->arena, c->files.len, sizeof(*c->commits));
    if (c->commits == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < c->files.len; i++) {
        const struct sl_log_file *file = sl_vec_at(&c->files, i);
        c->is_there |= file->kind == SL_LOG_COMPACTED && file->version == c->from && file->end_version == c->to;
        if (file->kind != SL_LOG_COMMIT || file->version != c->from + (int64_t)c->n_commits || file->version > c->to) {
            continue;
        }
        SL_TRY(check_published(file, err));
        c->commits[c->n_commits++] = *file;
    }
    if (c->from + (int64_t)c->n_commits <= c->to) {
        const int64_t missing = c->from + (int64_t)c->n_commits;
        const silt_status status = sl_fail(err, SILT_ENOTFOUND, "DELTA_VERSION_NOT_FOUND",
                                           "the log has no commit of version %" PRId64 ", which is to be compacted",
                                           missing);
        sl_error_version(err, missing);
        return status;
    }
    return SILT_OK;
}

static silt_status write_compacted(struct compact *c, struct sl_buf *bytes, silt_compact_log_result *result,
                                   silt_error *err)
{
    const struct sl_compaction compaction = {&c->source, c->commits, c->n_commits};
    const char *name = sl_arena_printf(&c->arena, "%020" PRId64 ".%020" PRId64 ".compacted.json", c->from, c->to);
    const struct sl_str path = name != NULL ? sl_log_path(&c->arena, c->source.root, sl_str_from(name))
                                            : (struct sl_str){NULL, 0};
    if (path.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    SL_TRY(sl_compaction_write(&compaction, c->call, bytes, &result->actions, err));
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    SL_TRY(silt_storage_put_beside(c->source.storage, c->call, path.ptr, bytes->data, bytes->len, &outcome, err));
    if (outcome == SILT_PUT_AMBIGUOUS) {
        return sl_fail(err, SILT_EIO, NULL, "the store did not tell whether %s was written", name);
    }
    result->written = outcome == SILT_PUT_DONE;
    result->size_bytes = (int64_t)bytes->len;
    return SILT_OK;
}

/* Fills in the end of the range that was not given, and lists it. */
static silt_status find_range(struct compact *c, silt_error *err)
{
    bool exists = false;
    SL_TRY(sl_table_list_log(c->table, c->call, c->from < 0 ? 0 : c->from, &c->arena, &c->files, &exists, err));
    if (c->from < 0) {
        c->from = sl_checkpoint_find(c->files.data, c->files.len, c->to, NULL).version + 1;
    }
    return SILT_OK;
}

/* The actions of the range are kept as silt understands them: so it must be able to write the table. */
static silt_status check_table(struct compact *c, silt_error *err)
{
    silt_snapshot *snapshot = NULL;
    silt_status status = c->to < 0 ? silt_table_latest_snapshot(c->table, c->call, &snapshot, err)
                                   : silt_table_snapshot_at_version(c->table, c->call, c->to, &snapshot, err);
    if (status == SILT_OK) {
        c->to = silt_snapshot_version(snapshot);
        status = sl_gate_write(sl_snapshot_protocol(snapshot), sl_snapshot_get_metadata(snapshot),
                               silt_snapshot_schema(snapshot), err);
    }
    silt_snapshot_unref(snapshot);
    return status;
}

static silt_status compact(struct compact *c, silt_compact_log_result *result, silt_error *err)
{
    const bool open_end = c->from < 0;
    SL_TRY(check_table(c, err));
    SL_TRY(find_range(c, err));
    if (c->from >= c->to) {
        return open_end ? SILT_OK
                        : sl_fail(err, SILT_EINVALID, NULL,
                                  "versions %" PRId64 " to %" PRId64 " are no range of two versions or more", c->from,
                                  c->to);
    }
    SL_TRY(take_commits(c, err));
    result->from_version = c->from;
    result->to_version = c->to;
    if (c->is_there) {
        return SILT_OK;
    }
    struct sl_buf bytes;
    sl_buf_init(&bytes, c->env);
    bytes.max = MAX_COMPACTED_BYTES;
    const silt_status status = write_compacted(c, &bytes, result, err);
    sl_buf_release(&bytes);
    return status;
}

silt_status silt_table_compact_log(silt_table *table, const silt_call *call, int64_t from_version, int64_t to_version,
                                   silt_compact_log_result *result, silt_error *err)
{
    silt_compact_log_result made = {.size = sizeof(made), .from_version = -1, .to_version = -1};
    if (table == NULL || from_version < -1 || to_version < -1) {
        return sl_fail(err, SILT_EINVALID, NULL,
                       "silt_table_compact_log needs a table and versions of 0 or more, or -1");
    }
    silt_engine *engine = silt_table_engine(table);
    struct compact c = {.table = table,
                        .call = call,
                        .env = silt_engine_env(engine),
                        .source = {.engine = engine, .storage = sl_table_storage(table), .root = sl_table_root(table)},
                        .from = from_version,
                        .to = to_version};
    sl_arena_init(&c.arena, c.env);
    sl_vec_init(&c.files, c.env, sizeof(struct sl_log_file));
    const silt_status status = compact(&c, &made, err);
    sl_vec_release(&c.files);
    sl_arena_release(&c.arena);
    if (status == SILT_OK && result != NULL) {
        *result = made;
    } else if (status != SILT_OK) {
        sl_error_path(err, silt_table_uri(table));
    }
    return status;
}

/* ---- clean-up ---- */

struct teller {
    const silt_clean_log_options *options;
    char name[256]; /* NUL-terminated; names of a log are shorter */
};

static bool tell_file(void *ctx, struct sl_str name)
{
    struct teller *teller = ctx;
    (void)snprintf(teller->name, sizeof(teller->name), "%.*s", SL_FMT(name));
    return teller->options->on_file(teller->options->ctx, teller->name);
}

silt_status silt_table_clean_log(silt_table *table, const silt_call *call, const silt_clean_log_options *options,
                                 silt_clean_log_result *result, silt_error *err)
{
    static const silt_clean_log_options defaults = {.size = sizeof(defaults)};
    struct sl_cleanup_result cleaned = {.checkpoint_version = -1};
    silt_status status = SILT_OK;
    if (table == NULL) {
        status = sl_fail(err, SILT_EINVALID, NULL, "silt_table_clean_log needs a table");
    } else {
        struct teller teller = {.options = options != NULL ? options : &defaults};
        struct sl_cleanup_request request = {.table = table,
                                             .only_look = teller.options->dry_run,
                                             .always_sidecars = true,
                                             .on_file = teller.options->on_file != NULL ? tell_file : NULL,
                                             .ctx = &teller};
        status = silt_table_latest_snapshot(table, call, &request.snapshot, err);
        if (status == SILT_OK) {
            status = sl_log_clean_up(&request, call, &cleaned, err);
        }
        silt_snapshot_unref(request.snapshot);
        if (status != SILT_OK) {
            sl_error_path(err, silt_table_uri(table));
        }
    }
    if (result != NULL) {
        *result = (silt_clean_log_result){.size = sizeof(*result),
                                          .reason = cleaned.why_not,
                                          .oldest_version = cleaned.checkpoint_version,
                                          .deleted = cleaned.n_deleted,
                                          .failed = cleaned.n_failed};
    }
    return status;
}
