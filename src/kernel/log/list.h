/*
 * Listing a log and its hint (PROTOCOL.md "Last Checkpoint File"). The listing is of names that parse only; the hint is
 * checked and never trusted. Called by snapshot loading, refresh, history.
 */
#ifndef SL_KERNEL_LOG_LIST_H
#define SL_KERNEL_LOG_LIST_H

#include "base/arena.h"
#include "base/vec.h"
#include "kernel/log/commit.h"
#include "silt/storage.h"

/*
 * Appends the commits and checkpoints from a version on, in the order of their names, to a vector of struct sl_log_file;
 * names are copied to the arena. A log that does not exist is SILT_OK with *exists false.
 */
silt_status sl_log_list(silt_storage *storage, const silt_call *call, struct sl_str root, int64_t from_version,
                        struct sl_arena *arena, struct sl_vec *files, bool *exists, silt_error *err);

/*
 * The version that _last_checkpoint names, -1 if there is no usable hint: no such file, or one that is not what the
 * protocol describes (then a warning is logged). Only failures of the store that a listing would meet as well are errors.
 */
silt_status sl_log_read_hint(const silt_env *env, silt_storage *storage, const silt_call *call, struct sl_str root,
                             int64_t *version, silt_error *err);

#endif
