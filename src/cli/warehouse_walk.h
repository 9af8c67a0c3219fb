/*
 * Looks for the tables of a warehouse in a store: folders with a log in them, TABLE and SCHEMA/TABLE.
 *
 *   warehouse_folders.c  where folders are things of their own: one folder after the other, never those of a table
 *   warehouse_names.c    where they are only how names begin: through the names of all files, with jumps
 */
#ifndef SL_CLI_WAREHOUSE_WALK_H
#define SL_CLI_WAREHOUSE_WALK_H

#include <stdbool.h>

#include "base/str.h"
#include "silt/storage.h"

#define SL_WAREHOUSE_LOG "_delta_log"

struct sl_warehouse_walk {
    const silt_env *env;
    silt_storage *storage;
    const silt_call *call;
    const char *folder; /* of the warehouse, a URI */
    void (*on_table)(void *ctx, const char *name);
    /* A folder (relative) that may not be read, and is left out. */
    void (*on_denied)(void *ctx, const char *name, const silt_error *why);
    void *ctx;
    bool cut; /* there is more than is looked at, and there may be more tables */
};

/* Hidden, or a partition: no table's name. */
bool sl_warehouse_is_odd(struct sl_str folder);
/* SILT_EUNSUPPORTED, with nothing told: the store has no folders. SILT_ENOTFOUND: the warehouse is not there. */
silt_status sl_warehouse_walk_folders(struct sl_warehouse_walk *walk, silt_error *err);
/* SILT_ENOTFOUND: the warehouse is not there. */
silt_status sl_warehouse_walk_names(struct sl_warehouse_walk *walk, silt_error *err);

#endif
