/*
 * The part of the conflict check that looks at files: which that a winner added could hold rows that a transaction read.
 */
#ifndef SL_KERNEL_TXN_CONFLICT_FILES_H
#define SL_KERNEL_TXN_CONFLICT_FILES_H

#include "kernel/txn/conflict.h"

/*
 * The first add with dataChange of the winner whose rows the transaction could have read; NULL if there is none. What cannot be
 * judged (lack of memory, values that do not parse) counts as read.
 */
const struct sl_add *sl_conflict_find_read_add(const struct sl_txn_facts *txn, const struct sl_commit *winner,
                                               struct sl_arena *scratch);

/*
 * The same for files that it removed, with or without a change of data. Reads whose files are listed do not count: the list says
 * it better.
 */
const struct sl_remove *sl_conflict_find_read_remove(const struct sl_txn_facts *txn, const struct sl_commit *winner,
                                                     struct sl_arena *scratch);

/* The first that the winner removed of the paths; NULL if none. */
const struct sl_remove *sl_conflict_find_removed(const struct sl_commit *winner, const struct sl_str *paths, size_t n,
                                                 const silt_env *env);

#endif
