/*
 * A batch of rows handed out in stretches, without copying: stretches share its buffers, which live until the last is released.
 */
#ifndef SL_KERNEL_SCAN_SHARED_BATCH_H
#define SL_KERNEL_SCAN_SHARED_BATCH_H

#include <stdint.h>

#include "silt/arrow.h"
#include "silt/env.h"
#include "silt/status.h"

struct sl_shared_batch;

/* Takes a struct array (moved, with offset 0) in every case. */
silt_status sl_shared_batch_new(const silt_env *env, struct ArrowArray *batch, struct sl_shared_batch **out,
                                silt_error *err);
void sl_shared_batch_unref(struct sl_shared_batch *shared); /* NULL is legal */
/* The rows [first, first + n) as a struct array of its own, usable from any thread. */
silt_status sl_shared_batch_slice(struct sl_shared_batch *shared, int64_t first, int64_t n, struct ArrowArray *out,
                                  silt_error *err);

/* The batch itself, where no stretch of it was handed out: a copy of its structs is saved. Takes the reference. */
void sl_shared_batch_give(struct sl_shared_batch *shared, struct ArrowArray *out);

#endif
