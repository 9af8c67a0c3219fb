/*
 * What a commit file depends on besides its transaction: the version that is tried and what the versions before it left behind. Every
 * commit that won against the transaction moves it on. Pure.
 */
#ifndef SL_KERNEL_TXN_REBASE_H
#define SL_KERNEL_TXN_REBASE_H

#include "base/arena.h"
#include "kernel/action/action.h"
#include "kernel/log/commit.h"
#include "silt/transaction.h"

#define SL_ROW_TRACKING_DOMAIN "delta.rowTracking"
#define SL_BACKFILL_OPERATION "ROW TRACKING BACKFILL"

struct sl_rebase {
    struct sl_arena *arena;             /* of what is taken from winners; borrowed */
    int64_t version;                    /* to be tried */
    int64_t floor_ms;                   /* time of the version before it; SL_NO_I64: there is none */
    int64_t row_id_high_water;          /* highest row id that was given; -1: none */
    const struct sl_protocol *protocol; /* that holds for the commit: the transaction's, or a winner's */
    const struct sl_metadata *metadata;
    struct sl_action *actions; /* of the transaction, commitInfo apart; without the row ids that it gives itself */
    int64_t *rows;             /* numRecords of adds, one for each action; SL_NO_I64: not known, or no add */
    size_t n_actions;
    bool is_backfill;      /* of row tracking: adds files again only to give them ids */
    uint32_t winners;      /* passed so far */
    uint32_t changes;      /* of enum silt_rebase */
    bool needs_file_times; /* the time of a winner without an in-commit timestamp is that of its file */
};

/* Moves on past a winner that does not conflict. SILT_ELIMIT when there is no next version. */
silt_status sl_rebase_pass(struct sl_rebase *rebase, const struct sl_commit *winner, silt_error *err);

/* The high-water mark in the configuration of the domain of row tracking; -1 for an absent one. SILT_ECORRUPT if it says none. */
silt_status sl_row_id_high_water(const silt_env *env, struct sl_str configuration, int64_t *out, silt_error *err);

#endif
