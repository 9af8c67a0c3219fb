/*
 * The first rows of a stream, looked at before it is known who writes them. They are kept, so that they can be given out again with the
 * rest. One owner, one thread.
 */
#ifndef SL_ENGINE_SMALL_ROWS_H
#define SL_ENGINE_SMALL_ROWS_H

#include <stdbool.h>

#include "base/vec.h"
#include "silt/arrow.h"
#include "silt/env.h"
#include "silt/status.h"

struct sl_small_rows {
    const silt_env *env;
    struct ArrowArrayStream in;
    struct ArrowSchema schema;
    struct sl_vec batches; /* struct ArrowArray */
    bool at_end;           /* of the stream */
};

/* Takes the stream and its schema. Close it in any case. */
silt_status sl_small_rows_open(const silt_env *env, struct ArrowArrayStream *rows, struct sl_small_rows *out,
                               silt_error *err);
void sl_small_rows_close(struct sl_small_rows *rows);
/* The next batch, which stays the stream's; *batch NULL at the end. */
silt_status sl_small_rows_next(struct sl_small_rows *rows, const struct ArrowArray **batch, silt_error *err);
/* A stream of all rows from the first one on; nothing is left to close then. */
silt_status sl_small_rows_rewind(struct sl_small_rows *rows, struct ArrowArrayStream *out, silt_error *err);

#endif
