/*
 * Scans from parts; see scan_build.h. Called by change data and by writes that replace rows, on one thread.
 */
#include "kernel/scan/scan_build.h"

#include "base/error.h"
#include "kernel/scan/scan_int.h"

struct sl_arena *sl_scan_arena(silt_scan *scan)
{
    return &scan->arena;
}

silt_status sl_scan_add_file(silt_scan *scan, const silt_plan_file *file, silt_error *err)
{
    silt_plan_file *kept = sl_vec_push(&scan->files);
    if (kept == NULL) {
        return sl_fail_nomem(err);
    }
    *kept = *file;
    scan->plan.has_row_sets = scan->plan.has_row_sets || file->deleted != NULL || file->selected != NULL;
    return SILT_OK;
}

void sl_scan_finish(silt_scan *scan, const struct sl_scan_parts *parts)
{
    const struct sl_str root = sl_snapshot_root(scan->snapshot);
    scan->schema = silt_schema_ref(parts->logical);
    scan->plan_schema = silt_schema_ref(parts->logical);
    scan->physical_schema = silt_schema_ref(parts->physical);
    scan->n_projected = parts->logical->root.n_fields;
    scan->metadata_column = SIZE_MAX;
    scan->filter = silt_expr_ref(parts->filter);
    scan->remaining = silt_expr_ref(parts->filter);
    scan->plan = (silt_scan_plan){
        .size = sizeof(silt_scan_plan),
        .storage = sl_snapshot_storage(scan->snapshot),
        .logical = scan->plan_schema,
        .physical = scan->physical_schema,
        .columns = parts->sources,
        .n_partition_columns = parts->n_constants,
        .match_by_field_id = sl_snapshot_mapping(scan->snapshot) == SL_MAPPING_ID,
        .files = scan->files.data,
        .n_files = scan->files.len,
        .has_row_sets = scan->plan.has_row_sets,
        .filter = parts->filter,
        .table = root.ptr,
        .version = silt_snapshot_version(scan->snapshot),
        .root = root.ptr,
    };
}
