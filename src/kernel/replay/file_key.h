/*
 * The key of a logical file in replay (PROTOCOL.md "Action Reconciliation": path and unique id of the deletion vector).
 * Writers spell one file differently (escapes, file: prefix, absolute under the table's root), so the key is the
 * decoded path, relative to the root where it lies below it. Pure.
 */
#ifndef SL_KERNEL_REPLAY_FILE_KEY_H
#define SL_KERNEL_REPLAY_FILE_KEY_H

#include "base/arena.h"
#include "kernel/action/action.h"

/*
 * The key; absent (ptr NULL) when out of memory. It is the path's own bytes where nothing has to be done to them, else
 * text in the arena. A path whose escapes are broken is its own key: only reading that file fails.
 */
struct sl_str sl_file_key(struct sl_arena *arena, struct sl_str root, struct sl_str path,
                          const struct sl_dv_descriptor *dv);

#endif
