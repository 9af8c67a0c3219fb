/*
 * Listing a log (PROTOCOL.md "Delta Log Entries"): names that parse only. Called through sl_table_list_log (load.h), which knows
 * whether a catalog adds commits.
 */
#ifndef SL_KERNEL_LOG_LIST_H
#define SL_KERNEL_LOG_LIST_H

#include "base/arena.h"
#include "base/vec.h"
#include "kernel/log/commit.h"
#include "silt/storage.h"

/*
 * Appends commits, checkpoints, compacted files and version checksums from a version on, in the order of their names, to a
 * vector of struct sl_log_file; names are copied to the arena. A log that does not exist is SILT_OK with *exists false.
 */
silt_status sl_log_list(silt_storage *storage, const silt_call *call, struct sl_str root, int64_t from_version,
                        struct sl_arena *arena, struct sl_vec *files, bool *exists, silt_error *err);

/*
 * The commits from a version on, each asked for by its name, which in a store that is near costs less than to read the names of a long log.
 * *told false: the first is not there, or `most` are, or the store failed; then only a listing tells what there is. One that is told does
 * not show a version behind a gap, so that it is for who knows that none can have expired.
 */
silt_status sl_log_look_ahead(silt_storage *storage, const silt_call *call, struct sl_str root, int64_t from_version,
                              size_t most, struct sl_arena *arena, struct sl_vec *files, bool *told, silt_error *err);

#endif
