/*
 * Writes of few rows, without the data plane: a statement of DuckDB costs a millisecond of processor time, a row a few microseconds. Tried
 * before the data plane's own slots, which keep all that is large, of several partitions, cast, nested in data files, or at fault. Any
 * thread.
 */
#ifndef SL_ENGINE_SMALL_WRITE_H
#define SL_ENGINE_SMALL_WRITE_H

#include <stdbool.h>

#include "silt/engine.h"

/* As the slots of silt_parquet_handler_vtable. *done false: nothing was written, and `rows` gives out all rows from the first one on. */
silt_status sl_small_write(const silt_env *env, const silt_call *call, const silt_parquet_write *request,
                           struct ArrowArrayStream *rows, bool *done, silt_error *err);
silt_status sl_small_write_file(const silt_env *env, const silt_call *call, silt_parquet_write_file *request,
                                struct ArrowArrayStream *rows, bool *done, silt_error *err);

#endif
