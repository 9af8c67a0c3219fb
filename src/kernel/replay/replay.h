/*
 * Action reconciliation (PROTOCOL.md "Action Reconciliation"), newest first: commits are given from the newest to the
 * oldest, then the rows of the checkpoint, and what was seen before wins. Policies say what is wanted: the state beside the
 * files, the files, the tombstones. Called by snapshot loading, refresh, checkpoints and vacuum. One owner.
 */
#ifndef SL_KERNEL_REPLAY_REPLAY_H
#define SL_KERNEL_REPLAY_REPLAY_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "kernel/action/action.h"
#include "kernel/log/commit.h"
#include "kernel/replay/file_build.h"
#include "kernel/replay/key_set.h"

/* What a table has beside files. Text lies in the arena that the replay was given. */
struct sl_replay_state {
    bool has_protocol;
    struct sl_protocol protocol;
    bool has_metadata;
    struct sl_metadata metadata;
    struct sl_vec app_txns;     /* of struct sl_app_txn, one an application */
    struct sl_vec domains;      /* of struct sl_domain_metadata, one a domain, removed ones too */
    struct sl_map app_index;    /* application id to index */
    struct sl_map domain_index; /* domain to index */
};

void sl_replay_state_init(struct sl_replay_state *state, const silt_env *env);
void sl_replay_state_release(struct sl_replay_state *state); /* safe on a zeroed state */

/* Where the files go. NULL: not wanted. Actions are borrowed during the call. */
struct sl_replay_sink {
    silt_status (*on_add)(void *ctx, const struct sl_add *add, silt_error *err);
    silt_status (*on_remove)(void *ctx, const struct sl_remove *remove, silt_error *err);
    void *ctx;
    struct sl_file_set_builder *adds; /* in the place of on_add: live files are put here, and keys refer to it */
};

struct sl_replay {
    const silt_env *env;
    struct sl_replay_state *state; /* NULL: not wanted */
    struct sl_arena *arena;        /* of the state's text */
    struct sl_replay_sink sink;
    bool want_files;            /* false: adds and removes are passed over */
    struct sl_key_maker keys;   /* of the action at hand */
    struct sl_key_maker others; /* of those it is compared with */
    struct sl_key_set decided;  /* files that newer commits decided about; positions are of sink.adds */
    struct sl_key_probe newer;  /* decided about before this replay; keys NULL: none */
    /*
     * The commit after which nothing older comes: what it decides need not be remembered, and `decided` is then not
     * complete. -1, as at first: not known.
     */
    int64_t last_version;
};

/* state and arena: both or neither. sink NULL: files are not wanted. root: of the table, for keys; borrowed. */
void sl_replay_init(struct sl_replay *replay, const silt_env *env, struct sl_str root, struct sl_replay_state *state,
                    struct sl_arena *arena, const struct sl_replay_sink *sink);
void sl_replay_release(struct sl_replay *replay); /* the state is the caller's */

/* The next older commit. */
silt_status sl_replay_commit(struct sl_replay *replay, const struct sl_commit *commit, silt_error *err);
/* One action of a checkpoint, after all commits: its files probe what was decided and are not recorded. */
silt_status sl_replay_checkpoint_action(struct sl_replay *replay, const struct sl_action *action, silt_error *err);
/* Marks a file as decided by something newer, if it is not yet. */
silt_status sl_replay_mark(struct sl_replay *replay, const struct sl_file_key *key, silt_error *err);
/* One live file that lies under what was replayed so far and decides about nothing older but itself. */
silt_status sl_replay_older_add(struct sl_replay *replay, const struct sl_add *add, silt_error *err);

#endif
