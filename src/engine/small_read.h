/*
 * Reading of the files that small_write.h writes, without the data plane. Any thread.
 */
#ifndef SL_ENGINE_SMALL_READ_H
#define SL_ENGINE_SMALL_READ_H

#include <stdbool.h>

#include "silt/engine.h"

/*
 * As the slot of silt_parquet_handler_vtable; of what could be left out, only rows are that any_of does not name. *done false: the file is another one, or
 * something is wrong with it, and nothing was given out.
 */
silt_status sl_small_read(const silt_env *env, const silt_call *call, const silt_parquet_read *request,
                          struct ArrowArrayStream *out, bool *done, silt_error *err);

#endif
