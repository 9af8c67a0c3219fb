/*
 * Data skipping over a batch of files: statistics to bounds, bounds to an answer (PROTOCOL.md "Per-file Statistics"). A file is dropped
 * only if an AND member is certainly not true for any of its rows; whatever is unknown keeps it.
 *
 * Called by planning. Reading the statistics is what costs, so it is spread over the engine's executor; each piece of work has
 * an arena of its own and shares only what is immutable.
 */
#include "kernel/scan/data_skip.h"

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "kernel/engine/engine.h"
#include "kernel/scan/stats_reader.h"
#include "schema/value.h"

/* Files a piece of work. */
#define CHUNK_FILES 1024

/* Fewer files are judged on the caller's thread. */
#define PARALLEL_FROM 4096

/* ---- one file ---- */

struct file_view {
    const struct sl_scan_filter *filter;
    const struct sl_partition_tuple *tuple;
    const struct sl_bounds *bounds; /* one for each of filter->columns */
};

/* A partition column has one value in the whole file. Its counts are those of a single row: "all null" or "none". */
static struct sl_bounds partition_bounds(const silt_value *value)
{
    struct sl_bounds bounds = {.has_null_count = true, .has_row_count = true, .row_count = 1};
    if (value->is_null) {
        bounds.null_count = 1;
        return bounds;
    }
    bounds.has_min = true;
    bounds.has_max = true;
    bounds.min = *value;
    bounds.max = *value;
    return bounds;
}

static bool find_bounds(void *ctx, const struct sl_str *path, size_t path_len, struct sl_bounds *out)
{
    const struct file_view *view = ctx;
    size_t partition = path_len == 1 ? sl_scan_filter_partition(view->filter, path[0]) : SIZE_MAX;
    if (partition != SIZE_MAX && view->filter->partitions[partition].collated) {
        return false;
    }
    if (partition != SIZE_MAX) {
        *out = partition_bounds(&view->tuple->values[partition]);
        return true;
    }
    for (size_t i = 0; i < view->filter->n_columns; i++) {
        const struct sl_skip_column *column = &view->filter->columns[i];
        if (sl_path_equal(column->path, column->path_len, path, path_len)) {
            *out = view->bounds[i];
            return true;
        }
    }
    return false;
}

bool sl_data_skip_may_match(const struct sl_scan_filter *filter, const struct sl_partition_tuple *tuple,
                            const struct sl_bounds *bounds, struct sl_arena *scratch)
{
    struct file_view view = {filter, tuple, bounds};
    if (filter->n_columns > 0 && bounds[0].has_row_count && bounds[0].row_count == 0) {
        return false; /* no rows at all */
    }
    for (size_t i = 0; i < filter->n_conjuncts; i++) {
        if (filter->conjuncts[i].uses_data && tuple->truths[i] != SL_TRUE &&
            !sl_eval_may_match(filter->conjuncts[i].node, find_bounds, &view, scratch)) {
            return false;
        }
    }
    return true;
}

/* ---- many files ---- */

struct run {
    const silt_env *env;
    const silt_call *call;
    const struct sl_scan_filter *filter;
    struct sl_skip_file *files;
    size_t n;
    silt_status *statuses; /* one for each chunk */
};

/* Judges files [begin, end). */
static silt_status judge(const struct run *run, size_t begin, size_t end)
{
    struct sl_arena arena;
    sl_arena_init(&arena, run->env);
    silt_status status = sl_call_check(run->env, run->call, NULL);
    size_t n_columns = run->filter->n_columns;
    struct sl_bounds *bounds = sl_alloc_array(run->env, n_columns + 1, sizeof(*bounds));
    struct sl_stats_reader *reader = NULL;
    if (status == SILT_OK) {
        status = bounds != NULL ? sl_stats_reader_new(run->env, run->filter->columns, n_columns, &reader, NULL)
                                : SILT_ENOMEM;
    }
    for (size_t i = begin; i < end && status == SILT_OK; i++) {
        struct sl_skip_file *file = &run->files[i];
        status = sl_stats_reader_bounds(reader, file->stats, &arena, bounds, NULL);
        if (status == SILT_OK) {
            file->keep = sl_data_skip_may_match(run->filter, file->tuple, bounds, &arena);
            sl_arena_reset(&arena);
        }
    }
    sl_stats_reader_free(reader);
    sl_release(run->env, bounds, (n_columns + 1) * sizeof(*bounds));
    sl_arena_release(&arena);
    return status;
}

static void judge_chunk(void *arg, size_t index)
{
    struct run *run = arg;
    size_t begin = index * CHUNK_FILES;
    size_t end = run->n - begin < CHUNK_FILES ? run->n : begin + CHUNK_FILES;
    run->statuses[index] = judge(run, begin, end);
}

/* The chunks only keep statuses: says the first failure in words. */
static silt_status fail_chunk(const struct run *run, silt_status status, silt_error *err)
{
    if (status == SILT_ENOMEM) {
        return sl_fail_nomem(err);
    }
    silt_status again = status != SILT_OK ? sl_call_check(run->env, run->call, err) : SILT_OK;
    if (status == SILT_OK || again != SILT_OK) {
        return again;
    }
    return sl_fail(err, status, NULL, "planning stopped while reading file statistics");
}

static silt_status judge_parallel(struct run *run, const silt_executor *executor, silt_error *err)
{
    size_t n_chunks = (run->n + CHUNK_FILES - 1) / CHUNK_FILES;
    run->statuses = sl_alloc_zero(run->env, n_chunks * sizeof(*run->statuses));
    if (run->statuses == NULL) {
        return sl_fail_nomem(err);
    }
    sl_parallel_for(executor, n_chunks, judge_chunk, run);
    silt_status status = SILT_OK;
    for (size_t i = 0; i < n_chunks && status == SILT_OK; i++) {
        status = run->statuses[i];
    }
    sl_release(run->env, run->statuses, n_chunks * sizeof(*run->statuses));
    return fail_chunk(run, status, err);
}

silt_status sl_data_skip(silt_engine *engine, const silt_call *call, const struct sl_scan_filter *filter,
                         struct sl_skip_file *files, size_t n, silt_error *err)
{
    struct run run = {.env = silt_engine_env(engine), .call = call, .filter = filter, .files = files, .n = n};
    if (n == 0) {
        return SILT_OK;
    }
    if (n >= PARALLEL_FROM) {
        return judge_parallel(&run, sl_engine_executor(engine), err);
    }
    return fail_chunk(&run, judge(&run, 0, n), err);
}
