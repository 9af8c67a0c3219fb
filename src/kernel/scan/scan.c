/*
 * The scan object: its count and what it tells. Immutable once built, so that any thread may use it.
 */
#include "kernel/scan/scan_int.h"

#include "base/alloc.h"
#include "base/error.h"

silt_status sl_scan_new(silt_snapshot *snapshot, silt_scan **out, silt_error *err)
{
    const silt_env *env = silt_engine_env(sl_snapshot_engine(snapshot));
    silt_scan *scan = sl_alloc_zero(env, sizeof(*scan));
    if (scan == NULL) {
        return sl_fail_nomem(err);
    }
    atomic_init(&scan->refs, 1);
    scan->env = env;
    scan->snapshot = silt_snapshot_ref(snapshot);
    sl_arena_init(&scan->arena, env);
    sl_vec_init(&scan->files, env, sizeof(silt_plan_file));
    sl_vec_init(&scan->marks, env, sizeof(int64_t));
    *out = scan;
    return SILT_OK;
}

silt_scan *silt_scan_ref(silt_scan *scan)
{
    if (scan != NULL) {
        atomic_fetch_add_explicit(&scan->refs, 1, memory_order_relaxed);
    }
    return scan;
}

void silt_scan_unref(silt_scan *scan)
{
    if (scan == NULL || atomic_fetch_sub_explicit(&scan->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    silt_expr_unref(scan->file_filter);
    silt_expr_unref(scan->remaining);
    silt_expr_unref(scan->filter);
    silt_schema_unref(scan->schema);
    silt_schema_unref(scan->plan_schema);
    silt_schema_unref(scan->physical_schema);
    sl_vec_release(&scan->files);
    sl_vec_release(&scan->marks);
    sl_arena_release(&scan->arena);
    silt_snapshot_unref(scan->snapshot);
    sl_release(scan->env, scan, sizeof(*scan));
}

const silt_schema *silt_scan_schema(const silt_scan *scan)
{
    return scan != NULL ? scan->schema : NULL;
}

const silt_scan_plan *silt_scan_get_plan(const silt_scan *scan)
{
    return scan != NULL ? &scan->plan : NULL;
}

const silt_snapshot *sl_scan_snapshot(const silt_scan *scan)
{
    return scan->snapshot;
}

const silt_expr *sl_scan_filter(const silt_scan *scan)
{
    return scan->filter;
}

const silt_expr *silt_scan_remaining_filter(const silt_scan *scan)
{
    return scan != NULL ? scan->remaining : NULL;
}
