/*
 * Loading snapshots, for table/ (time travel, latest).
 */
#ifndef SL_KERNEL_SNAPSHOT_LOAD_H
#define SL_KERNEL_SNAPSHOT_LOAD_H

#include "kernel/log/segment.h"
#include "silt/snapshot.h"
#include "silt/table.h"

/* Loads a version, SL_VERSION_LATEST for the newest. */
silt_status sl_snapshot_load(silt_table *table, const silt_call *call, int64_t version, silt_snapshot **out,
                             silt_error *err);

/* SILT_ENOTTABLE: says whether there is a folder at all. */
silt_status sl_table_absent(silt_table *table, const silt_call *call, silt_error *err);

#endif
