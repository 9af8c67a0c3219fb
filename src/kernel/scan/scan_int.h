/*
 * The scan object, shared by the files of this folder. Immutable once built.
 *
 * The plan's columns are the projected ones, then those that only the filter names, so that an engine can apply the filter
 * fully; silt_scan_read hands out the first n_projected of them.
 */
#ifndef SL_KERNEL_SCAN_INT_H
#define SL_KERNEL_SCAN_INT_H

#include <stdatomic.h>

#include "base/vec.h"
#include "kernel/scan/metadata_column.h"
#include "kernel/scan/scan_build.h"
#include "kernel/scan/scan_filter.h"
#include "kernel/snapshot/state.h"
#include "silt/scan.h"

struct silt_scan {
    atomic_size_t refs;
    const silt_env *env;
    silt_snapshot *snapshot;      /* a reference */
    struct sl_arena arena;        /* partition values, paths, arrays of the plan */
    silt_schema *schema;          /* as projected */
    silt_schema *plan_schema;     /* of the plan: schema, then columns for the filter */
    silt_schema *physical_schema; /* of plan_schema's shape, in the names of files */
    size_t n_projected;
    size_t metadata_column; /* place of "_metadata" in plan_schema, SIZE_MAX if it is not there */
    size_t
        n_metadata_projected; /* fields of it that were asked for; those that only the filter names come after them */
    silt_expr *filter;        /* all of it, resolved; NULL: none */
    silt_expr *remaining;     /* what pruning did not answer; NULL: nothing */
    silt_expr *file_filter;   /* members of remaining that name only stored columns, in physical names; NULL: none */
    struct sl_scan_filter facts; /* of filter */
    struct sl_vec files;         /* silt_plan_file */
    /*
     * int64_t, one a file: by what it is found again when the snapshot's files are visited in their order. Its place in that order, or with
     * marks_names what sl_scan_file_name gives.
     */
    struct sl_vec marks;
    bool marks_names;
    silt_scan_plan plan;
};

/* How the files of a checkpoint that is not in memory are gone through. Both ways find the same. */
enum sl_plan_way {
    SL_PLAN_AS_FITS, /* selectively when it is large */
    SL_PLAN_VISITS,  /* all of them are loaded or visited */
    SL_PLAN_SELECTS  /* selectively, whatever its size, if it can be done */
};

/* What a builder was told. */
struct sl_scan_wish {
    const size_t *columns; /* places in the table's schema; the number of its columns stands for "_metadata" */
    size_t n_columns;
    bool all_columns;                 /* no projection: columns does not matter */
    struct sl_metadata_pick metadata; /* with "_metadata" among columns: its fields */
    silt_local_time local_time;       /* of partition values without a zone; NULL: UTC */
    void *local_time_ctx;
    enum sl_plan_way plan_way;
};

/* Fills in everything of a new scan (scan_build.h) whose filter is set. */
silt_status sl_scan_assemble(silt_scan *scan, const silt_call *call, const struct sl_scan_wish *wish, silt_error *err);

/* A hash of path and deletion vector, as they stand in the log. */
int64_t sl_scan_file_name(const struct sl_add *add);

/* Fills files and marks; answered[i] tells whether pruning answered AND member i for every file that is left. */
silt_status sl_scan_plan_files(silt_scan *scan, const silt_call *call, const struct sl_scan_wish *wish, bool *answered,
                               silt_error *err);

/* The columns of the plan: schemas, where each comes from, row tracking. After scan->remaining is set. (scan_columns.c) */
silt_status sl_scan_choose_columns(silt_scan *scan, const struct sl_scan_wish *wish, silt_error *err);

#endif
