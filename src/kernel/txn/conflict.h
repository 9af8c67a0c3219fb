/*
 * The conflict check: a pure function over plain structs. (transaction, one winning commit, isolation level) → verdict.
 */
#ifndef SL_KERNEL_TXN_CONFLICT_H
#define SL_KERNEL_TXN_CONFLICT_H

#include "expr/expr.h"
#include "kernel/action/action.h"
#include "kernel/log/commit.h"
#include "silt/transaction.h"

enum sl_isolation {
    SL_ISOLATION_SERIALIZABLE,
    SL_ISOLATION_WRITE_SERIALIZABLE,
    SL_ISOLATION_SNAPSHOT
};

/* What a transaction read and wants to write, as the check needs it. Borrowed. */
struct sl_txn_facts {
    int64_t read_version;
    enum sl_isolation isolation;
    bool read_whole_table;
    const silt_expr *const *read_predicates; /* resolved against schema */
    size_t n_read_predicates;
    const struct sl_str *read_files; /* log paths of files whose rows it rests on; none: the predicates say which */
    size_t n_read_files;
    const silt_schema *schema;
    const silt_schema *physical; /* the same shape in the names of partition values and statistics; NULL: schema */
    const struct sl_str_list *partition_columns;
    const struct sl_action *actions; /* what it will write, commitInfo apart */
    size_t n_actions;
    bool is_blind_append;         /* adds only, read nothing */
    bool exclusive;               /* admits no commit in between (CREATE, RESTORE, CLONE …) */
    bool changes_data;            /* false: every action has dataChange = false */
    int64_t first_skipped_append; /* version of the first blind append that was let pass although its rows could
                                                have been read (see skipped_append); 0: none so far */
};

struct sl_conflict_verdict {
    silt_conflict_kind kind; /* SILT_CONFLICT_NONE: compatible */
    int64_t winner_version;
    struct sl_str winner_operation; /* borrowed from the winner */
    struct sl_str path;             /* the file concerned, absent if none */
    bool skip;                      /* our application id and version are already recorded by the winner */
    bool skipped_append;            /* a blind append whose rows could have been read was let pass: the caller keeps the
                                       first such version in first_skipped_append for the winners after it */
};

/* Judges one winner; never fails. scratch is for evaluating predicates. */
void sl_conflict_check(const struct sl_txn_facts *txn, const struct sl_commit *winner, struct sl_arena *scratch,
                       struct sl_conflict_verdict *out);

/* Sets err to the class and text of a verdict: winning version, its operation, the file, what to do. */
silt_status sl_conflict_fail(const struct sl_conflict_verdict *verdict, silt_error *err);

#endif
