/*
 * Hashes that come twice among many that nearly never do: a checkpoint names each file once (PROTOCOL.md "Action Reconciliation"), and who
 * reads one that does not must notice at next to no cost. Called when file sets are finished and by scan planning. Pure but for memory.
 */
#ifndef SL_KERNEL_REPLAY_REPEATED_H
#define SL_KERNEL_REPLAY_REPEATED_H

#include <stdint.h>

#include "base/vec.h"
#include "silt/status.h"

/* One of n hashes, by its place among them. */
struct sl_repeated {
    uint64_t hash;
    uint64_t place;
};

/*
 * Appends to `out` (of struct sl_repeated) every hash that is there more than once, by hash and then by place; nothing, as a rule. Equal
 * hashes are not yet equal keys.
 */
silt_status sl_repeated_find(const uint64_t *hashes, size_t n, struct sl_vec *out, silt_error *err);

#endif
