/*
 * Scans of files that were not found by planning a query, made by other parts of the kernel: change data. The maker gives the parts of the
 * plan; silt_scan_read and the engine treat the scan as any other. One thread until sl_scan_finish, immutable afterwards.
 */
#ifndef SL_KERNEL_SCAN_SCAN_BUILD_H
#define SL_KERNEL_SCAN_SCAN_BUILD_H

#include "base/arena.h"
#include "silt/scan.h"

/* What the maker knows of all files. Everything must live as long as the scan: in its arena, or as references that the scan takes. */
struct sl_scan_parts {
    silt_schema *logical;            /* the columns of the rows */
    silt_schema *physical;           /* of the same shape, in the names of files */
    const silt_plan_column *sources; /* one for each column, none from "_metadata" */
    size_t n_constants;              /* of each file: its partition_values */
    silt_expr *filter;               /* only rows for which it is true; resolved against `logical`. NULL: all */
};

/* An empty scan with one reference; it holds the snapshot, which says how columns are found in files. */
silt_status sl_scan_new(silt_snapshot *snapshot, silt_scan **out, silt_error *err);
/* Memory that lives as long as the scan. */
struct sl_arena *sl_scan_arena(silt_scan *scan);
/* What the file points to lives in the arena. */
silt_status sl_scan_add_file(silt_scan *scan, const silt_plan_file *file, silt_error *err);
/* After the last file. Without it the scan can only be given back. */
void sl_scan_finish(silt_scan *scan, const struct sl_scan_parts *parts);

/* For whoever is told of a scan: what it is of, and the whole of its filter (NULL: none). Borrowed. */
const silt_snapshot *sl_scan_snapshot(const silt_scan *scan);
const silt_expr *sl_scan_filter(const silt_scan *scan);

#endif
