/*
 * Reading of the files that small_write.h writes, without the data plane. Any thread.
 */
#ifndef SL_ENGINE_SMALL_READ_H
#define SL_ENGINE_SMALL_READ_H

#include <stdatomic.h>
#include <stdbool.h>

#include "silt/engine.h"

/*
 * A checkpoint is read several times in a row, of other columns each time: the one that was read last is kept as it was taken apart, and used
 * while the file has the same bytes. NULL: none is kept.
 */
struct sl_small_kept;
typedef _Atomic(struct sl_small_kept *) sl_small_kept_slot;

void sl_small_kept_free(const silt_env *env, struct sl_small_kept *kept); /* NULL is legal */

/*
 * As the slot of silt_parquet_handler_vtable; of what could be left out, only rows are that any_of does not name. *done false: the file is another one, or
 * something is wrong with it, and nothing was given out. kept may be NULL.
 */
silt_status sl_small_read(const silt_env *env, const silt_call *call, const silt_parquet_read *request,
                          sl_small_kept_slot *kept, struct ArrowArrayStream *out, bool *done, silt_error *err);

#endif
