/*
 * Files that an older checkpoint names twice, by path and deletion vector, while its rows pass to a new one: a checkpoint names each file
 * once (PROTOCOL.md "Action Reconciliation"), and a reader that believes the new one would return rows twice. Only hashes are noted at first,
 * since nearly no checkpoint has doubles; where one has, its rows pass a second time and all but the first of a file are left
 * out, as by silt's readers (file_again.c). One owner.
 */
#ifndef SL_KERNEL_CHECKPOINT_CHECKPOINT_DOUBLES_H
#define SL_KERNEL_CHECKPOINT_CHECKPOINT_DOUBLES_H

#include "kernel/replay/key_set.h"

struct sl_doubles {
    bool is_settled;      /* it is known which hashes come twice */
    struct sl_vec hashes; /* uint64_t: of all rows so far; once settled those that come twice, in their order */
    struct sl_key_set seen;
    struct sl_key_maker others; /* scratch of look-ups */
};

void sl_doubles_init(struct sl_doubles *doubles, const silt_env *env, struct sl_str root);
void sl_doubles_release(struct sl_doubles *doubles); /* safe on a zeroed one */

/* Nothing is to be noted: keys need not be made. */
static inline bool sl_doubles_are_none(const struct sl_doubles *doubles)
{
    return doubles->is_settled && doubles->hashes.len == 0;
}

/* Before the first row of a pass. */
void sl_doubles_rewind(struct sl_doubles *doubles);
/* A row, in the order of the checkpoint. *again: the file came before in this pass; never true before it is settled. */
silt_status sl_doubles_note(struct sl_doubles *doubles, const struct sl_file_key *key, bool *again, silt_error *err);
/* After the last row of a pass that was not settled. */
silt_status sl_doubles_settle(struct sl_doubles *doubles, silt_error *err);

#endif
