/*
 * The columns that a table is clustered by (PROTOCOL.md "Clustered Table"). Any thread.
 */
#ifndef SL_COMMANDS_CLUSTERING_H
#define SL_COMMANDS_CLUSTERING_H

#include "base/arena.h"
#include "kernel/action/action.h"
#include "silt/snapshot.h"

/* Logical names, nested ones joined with dots, in back-quotes where needed; texts in the arena. None: an empty list. */
silt_status sl_clustering_columns(const silt_snapshot *snapshot, struct sl_arena *arena, struct sl_str_list *out,
                                  silt_error *err);

#endif
