/*
 * Change data of a range of versions (silt/changes.h): planning from the commits, and reading. Planning runs on the caller's thread; the
 * object is immutable afterwards.
 */
#include "kernel/changes/changes.h"
#include "kernel/changes/changes_int.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arrow.h"
#include "base/error.h"
#include "kernel/feature/feature.h"
#include "kernel/snapshot/load.h"

/* ---- planning ---- */

struct planning {
    silt_changes *changes;
    struct sl_str root;
    struct sl_changes_rule rule;
    bool by_catalog;
    bool redefined; /* a commit behind the first has metadata or a protocol */
};

/* A feature that came and went within the range may be one that the files from then need. */
static silt_status check_protocol(const struct planning *planning, const struct sl_protocol *protocol, int64_t version,
                                  silt_error *err)
{
    static const struct sl_metadata bare = {0}; /* the protocol alone is judged: what it announces may come later */
    silt_schema *empty = NULL;
    SL_TRY(sl_schema_from_fields(planning->changes->env, NULL, 0, &empty, err));
    const silt_status status = planning->by_catalog ? sl_gate_read_by_catalog(protocol, &bare, empty, err)
                                                    : sl_gate_read(protocol, &bare, empty, err);
    silt_schema_unref(empty);
    if (status != SILT_OK) {
        sl_error_context(err, "version %" PRId64, version);
        sl_error_version(err, version);
    }
    return status;
}

static silt_status take_commit(void *ctx, const struct sl_commit *commit, bool *stop, silt_error *err)
{
    (void)stop;
    struct planning *planning = ctx;
    for (size_t i = 0; i < commit->n_actions; i++) {
        const struct sl_action *action = &commit->actions[i];
        planning->redefined = planning->redefined ||
                              (commit->version > planning->changes->from &&
                               (action->kind == SL_ACTION_METADATA || action->kind == SL_ACTION_PROTOCOL));
        if (action->kind == SL_ACTION_METADATA) {
            SL_TRY(sl_changes_check_metadata(&planning->rule, &action->u.metadata, commit->version, err));
        } else if (action->kind == SL_ACTION_PROTOCOL) {
            SL_TRY(check_protocol(planning, &action->u.protocol, commit->version, err));
        }
    }
    return sl_changes_of_commit(planning->changes, planning->root, commit, err);
}

/*
 * The metadata that holds as the range begins; later ones are in its commits. Where these have none, and no protocol, what holds at the end
 * held at the begin, and no snapshot of that is opened.
 */
static silt_status check_first(silt_table *table, const silt_call *call, const struct planning *planning,
                               silt_error *err)
{
    const silt_changes *changes = planning->changes;
    if (!planning->redefined) {
        return sl_changes_check_metadata(&planning->rule, sl_snapshot_get_metadata(changes->snapshot), changes->from,
                                         err);
    }
    silt_snapshot *first = NULL;
    SL_TRY(silt_table_snapshot_at_version(table, call, changes->from, &first, err));
    const silt_status status = sl_changes_check_metadata(&planning->rule, sl_snapshot_get_metadata(first),
                                                         changes->from, err);
    silt_snapshot_unref(first);
    return status;
}

static silt_status plan(const struct sl_changes_request *request, const silt_call *call, silt_changes *changes,
                        silt_error *err)
{
    silt_table *table = request->table;
    SL_TRY(sl_changes_range(request, call, &changes->from, &changes->snapshot, err));
    changes->to = silt_snapshot_version(changes->snapshot);
    SL_TRY(sl_changes_make_schema(changes, err));
    struct planning planning = {.changes = changes,
                                .root = sl_snapshot_root(changes->snapshot),
                                .rule = {.env = changes->env,
                                         .logical = silt_snapshot_schema(changes->snapshot),
                                         .physical = silt_snapshot_physical_schema(changes->snapshot),
                                         .last = sl_snapshot_get_metadata(changes->snapshot),
                                         .from = changes->from,
                                         .to = changes->to},
                                .by_catalog = sl_table_is_catalog(table)};
    silt_error found = SILT_ERROR_INIT;
    const silt_status status = sl_changes_commits(table, call, changes->from, changes->to, take_commit, &planning,
                                                  &found);
    if (status == SILT_OK || planning.redefined) { /* what is wrong at the begin is told before what is later */
        SL_TRY(check_first(table, call, &planning, err));
    }
    if (status != SILT_OK) {
        return sl_error_take(err, &found);
    }
    return sl_changes_make_scans(changes, request->options, err);
}

silt_status sl_table_changes_until(silt_table *table, silt_snapshot *newest, const silt_call *call,
                                   const silt_changes_options *options, silt_changes **out, silt_error *err)
{
    *out = NULL;
    if (options->size < sizeof(*options) || options->from_version < SILT_CHANGES_BY_TIME ||
        options->to_version < SILT_CHANGES_LATEST) {
        return sl_fail(err, SILT_EINVALID, "DELTA_NO_START_FOR_CDC_READ",
                       "a range of changes begins at a version from 0 on, or at a timestamp");
    }
    const silt_env *env = silt_engine_env(silt_table_engine(table));
    silt_changes *changes = sl_alloc_zero(env, sizeof(*changes));
    if (changes == NULL) {
        return sl_fail_nomem(err);
    }
    atomic_init(&changes->refs, 1);
    changes->env = env;
    sl_arena_init(&changes->arena, env);
    sl_vec_init(&changes->entries, env, sizeof(struct sl_change_entry));
    const struct sl_changes_request request = {table, newest, options};
    const silt_status status = plan(&request, call, changes, err);
    if (status != SILT_OK) {
        silt_changes_unref(changes);
        return status;
    }
    *out = changes;
    return SILT_OK;
}

silt_status silt_table_changes(silt_table *table, const silt_call *call, const silt_changes_options *options,
                               silt_changes **out, silt_error *err)
{
    if (table == NULL || options == NULL || out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_table_changes needs a table, options and an out parameter");
    }
    *out = NULL;
    silt_snapshot *newest = NULL;
    SL_TRY(silt_table_latest_snapshot(table, call, &newest, err));
    const silt_status status = sl_table_changes_until(table, newest, call, options, out, err);
    silt_snapshot_unref(newest);
    return status;
}

silt_changes *silt_changes_ref(silt_changes *changes)
{
    if (changes != NULL) {
        atomic_fetch_add_explicit(&changes->refs, 1, memory_order_relaxed);
    }
    return changes;
}

void silt_changes_unref(silt_changes *changes)
{
    if (changes == NULL || atomic_fetch_sub_explicit(&changes->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    for (size_t i = 0; i < changes->n_scans; i++) {
        silt_scan_unref(changes->scans[i]);
    }
    silt_schema_unref(changes->schema);
    silt_schema_unref(changes->physical);
    sl_vec_release(&changes->entries);
    sl_arena_release(&changes->arena);
    silt_snapshot_unref(changes->snapshot);
    sl_release(changes->env, changes, sizeof(*changes));
}

/* ---- what it tells ---- */

int64_t silt_changes_from_version(const silt_changes *changes)
{
    return changes != NULL ? changes->from : -1;
}

int64_t silt_changes_to_version(const silt_changes *changes)
{
    return changes != NULL ? changes->to : -1;
}

const silt_schema *silt_changes_schema(const silt_changes *changes)
{
    return changes != NULL ? changes->schema : NULL;
}

size_t silt_changes_plan_count(const silt_changes *changes)
{
    return changes != NULL ? changes->n_scans : 0;
}

const silt_scan_plan *silt_changes_plan(const silt_changes *changes, size_t index)
{
    return changes != NULL && index < changes->n_scans ? silt_scan_get_plan(changes->scans[index]) : NULL;
}

silt_scan *sl_changes_scan(const silt_changes *changes, size_t index)
{
    return index < changes->n_scans ? changes->scans[index] : NULL;
}

/* The version stands with the constants of a file, behind its partition values. */
static int64_t version_of(const silt_scan_plan *plan, const silt_plan_file *file)
{
    const silt_value *told = file->partition_values + (plan->n_partition_columns - SL_CHANGES_COLUMNS);
    return told[SL_CHANGES_VERSION].as.i64;
}

void sl_changes_name_version(const silt_changes *changes, silt_error *err)
{
    if (err == NULL || err->path[0] == '\0' || err->version >= 0) {
        return;
    }
    for (size_t i = 0; i < changes->n_scans; i++) {
        const silt_scan_plan *plan = silt_scan_get_plan(changes->scans[i]);
        for (size_t k = 0; k < plan->n_files; k++) {
            silt_error named = SILT_ERROR_INIT;
            sl_ignore(sl_fail(&named, err->status, NULL, "as an error has it"));
            sl_error_path(&named, plan->files[k].path);
            if (strcmp(named.path, err->path) == 0) {
                const int64_t version = version_of(plan, &plan->files[k]);
                sl_error_context(err, "version %" PRId64, version);
                sl_error_version(err, version);
                return;
            }
        }
    }
}

/* ---- reading: the scans, one after the other ---- */

struct reader {
    silt_changes *changes; /* a reference */
    silt_call call;        /* a copy; has_call tells if it counts */
    bool has_call;
    struct ArrowArrayStream rows; /* of scan `at` */
    size_t at;
};

static void close_reader(void *ctx)
{
    struct reader *reader = ctx;
    const silt_env *env = reader->changes->env;
    sl_arrow_stream_release(&reader->rows);
    silt_changes_unref(reader->changes);
    sl_release(env, reader, sizeof(*reader));
}

static silt_status reader_schema(void *ctx, struct ArrowSchema *out, silt_error *err)
{
    const struct reader *reader = ctx;
    return silt_schema_to_arrow(reader->changes->schema, out, err);
}

static silt_status next_batch(struct reader *reader, struct ArrowArray *out, silt_error *err)
{
    memset(out, 0, sizeof(*out));
    while (reader->at < reader->changes->n_scans) {
        if (reader->rows.release == NULL) {
            const silt_call *call = reader->has_call ? &reader->call : NULL;
            SL_TRY(silt_scan_read(reader->changes->scans[reader->at], call, &reader->rows, err));
        }
        bool done = false;
        SL_TRY(sl_arrow_stream_next(&reader->rows, out, &done, err));
        if (!done) {
            return SILT_OK;
        }
        sl_arrow_stream_release(&reader->rows);
        reader->at++;
    }
    return SILT_OK;
}

static silt_status reader_next(void *ctx, struct ArrowArray *out, silt_error *err)
{
    struct reader *reader = ctx;
    const silt_status status = next_batch(reader, out, err);
    if (status != SILT_OK) {
        sl_changes_name_version(reader->changes, err);
    }
    return status;
}

silt_status silt_changes_read(silt_changes *changes, const silt_call *call, struct ArrowArrayStream *out,
                              silt_error *err)
{
    static const struct sl_arrow_source source = {reader_schema, reader_next, close_reader};
    if (changes == NULL || out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "changes and a place for the stream are required");
    }
    memset(out, 0, sizeof(*out));
    struct reader *reader = sl_alloc_zero(changes->env, sizeof(*reader));
    if (reader == NULL) {
        return sl_fail_nomem(err);
    }
    reader->changes = silt_changes_ref(changes);
    reader->has_call = call != NULL;
    if (call != NULL) {
        reader->call = *call;
    }
    return sl_arrow_stream_new(changes->env, &source, reader, out, err);
}
