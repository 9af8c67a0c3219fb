/*
 * The members of an add that only some readers want, as one record: statistics, tags, clustering provider, unknown members.
 * Called by file sets. Pure.
 */
#ifndef SL_KERNEL_REPLAY_FILE_DETAILS_H
#define SL_KERNEL_REPLAY_FILE_DETAILS_H

#include "base/arena.h"
#include "base/buf.h"
#include "kernel/action/action.h"

void sl_file_details_encode(struct sl_buf *out, const struct sl_add *add);
/* Fills the members of add; text is borrowed from the record, lists lie in the arena. dv: the add's own. false: out of memory. */
bool sl_file_details_decode(struct sl_str record, struct sl_arena *arena, struct sl_add *add,
                            struct sl_dv_descriptor *dv);

#endif
