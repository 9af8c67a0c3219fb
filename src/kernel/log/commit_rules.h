/*
 * What one commit must not hold twice (PROTOCOL.md "Delta Log Entries", "Action Reconciliation"): metaData, protocol, a txn of an
 * application, a domain, an action of a logical file. Files are told apart by 64-bit hashes first and exactly where those are
 * equal, at the end of the commit, so that millions of them cost neither their text's memory nor an allocation each. One owner.
 */
#ifndef SL_KERNEL_LOG_COMMIT_RULES_H
#define SL_KERNEL_LOG_COMMIT_RULES_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "kernel/action/action.h"

/* A file action of the commit. */
struct sl_file_mark {
    uint64_t hash;
    uint64_t place; /* where its line is, in ascending order */
};

struct sl_commit_rules {
    const silt_env *env;
    struct sl_arena arena; /* of names */
    struct sl_map names;
    struct sl_vec marks; /* of struct sl_file_mark */
    bool has_metadata, has_protocol;
};

void sl_commit_rules_init(struct sl_commit_rules *rules, const silt_env *env); /* allocates nothing */
void sl_commit_rules_release(struct sl_commit_rules *rules);

/* Has the commit to have only one of this action, by something else than its file? */
static inline bool sl_action_is_unique(enum sl_action_kind kind)
{
    return kind == SL_ACTION_METADATA || kind == SL_ACTION_PROTOCOL || kind == SL_ACTION_APP_TXN ||
           kind == SL_ACTION_DOMAIN_METADATA;
}
/* One of those; SILT_ECORRUPT (DELTA_DUPLICATE_ACTIONS_FOUND) for the second. The action is borrowed during the call. */
silt_status sl_commit_rules_check(struct sl_commit_rules *rules, const struct sl_action *action, silt_error *err);

/* The file of an add or remove; false for other actions. A seed that nobody can guess keeps others from making equal hashes. */
bool sl_file_hash(const struct sl_action *action, uint64_t seed, uint64_t *hash);
silt_status sl_commit_rules_add_marks(struct sl_commit_rules *rules, const struct sl_file_mark *marks, size_t n,
                                      silt_error *err);

/* Do two actions (adds or removes) name the same logical file: path and vector? */
bool sl_same_file(const struct sl_action *a, const struct sl_action *b);

/* Two places whose files may be the same; `same` looks at them. */
struct sl_file_twins {
    silt_status (*same)(void *ctx, uint64_t first, uint64_t second, bool *is_same, silt_error *err);
    void *ctx;
};
/* *found: two marks are of the same file; *second is the place of the earliest that repeats another. Reorders the marks. */
silt_status sl_commit_rules_find_twice(struct sl_commit_rules *rules, const struct sl_file_twins *twins, bool *found,
                                       uint64_t *second, silt_error *err);

#endif
