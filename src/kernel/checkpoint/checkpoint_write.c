/*
 * The course of writing a checkpoint; see checkpoint_write.h.
 */
#include "kernel/checkpoint/checkpoint_write.h"

#include "base/error.h"

silt_status sl_checkpoint_write(silt_snapshot *snapshot, const silt_call *call,
                                const struct sl_checkpoint_options *options, silt_error *err)
{
    (void)snapshot;
    (void)call;
    (void)options;
    return sl_fail(err, SILT_EUNSUPPORTED, "UNSUPPORTED_FEATURE", "checkpoints cannot be written yet");
}
