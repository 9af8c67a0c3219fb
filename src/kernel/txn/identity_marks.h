/*
 * Changes of metadata that are none for a transaction which does not change it. Pure, any thread.
 */
#ifndef SL_KERNEL_TXN_IDENTITY_MARKS_H
#define SL_KERNEL_TXN_IDENTITY_MARKS_H

#include "kernel/action/action.h"
#include "silt/env.h"

/* Are the two alike but for the high-water marks of identity columns? False as well when memory runs out. */
bool sl_only_moves_identity_marks(const silt_env *env, const struct sl_metadata *before,
                                  const struct sl_metadata *after);

#endif
