/*
 * From a path in the log to a file of a plan: absolute, in the table's own store, with its local name where there is one. Called
 * while plans are made, on one thread.
 */
#ifndef SL_KERNEL_SCAN_PLAN_PATH_H
#define SL_KERNEL_SCAN_PLAN_PATH_H

#include "kernel/snapshot/state.h"
#include "silt/engine.h"

#define SL_PLAN_PATH_SIZE 8192

struct sl_plan_paths {
    silt_snapshot *snapshot; /* borrowed */
    struct sl_arena *arena;  /* borrowed; of the paths */
    bool no_local_paths;     /* the store said so */
    char local[SL_PLAN_PATH_SIZE];
};

void sl_plan_paths_init(struct sl_plan_paths *paths, silt_snapshot *snapshot, struct sl_arena *arena);
/*
 * Sets out->path and out->local_path. SILT_EUNSUPPORTED for a file in another store than its table (PROTOCOL.md allows absolute paths;
 * a plan has one store to read from).
 */
silt_status sl_plan_paths_find(struct sl_plan_paths *paths, struct sl_str log_path, silt_plan_file *out,
                               silt_error *err);

#endif
