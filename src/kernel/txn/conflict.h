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

/* Rows that a transaction read. */
struct sl_read {
    const silt_expr *predicate; /* resolved against the schema: rows for which it can be true */
    bool
        files_listed; /* the files that it was read from are among read_files; else every file that can hold such rows */
};

/* What a transaction read and wants to write, as the check needs it. Borrowed. */
struct sl_txn_facts {
    int64_t read_version;
    enum sl_isolation isolation;
    bool read_whole_table;
    const struct sl_read *reads;
    size_t n_reads;
    const struct sl_str *read_files; /* log paths of files whose rows it rests on */
    size_t n_read_files;
    const silt_schema *schema;   /* that was read */
    const silt_schema *physical; /* the same shape in the names of partition values and statistics; NULL: schema */
    const struct sl_str_list *partition_columns;
    const struct sl_protocol *protocol; /* that was read, or that a winner left; NULL: every change of it conflicts */
    const struct sl_metadata *metadata;
    const struct sl_action *actions; /* what it will write, commitInfo apart */
    size_t n_actions;
    bool is_blind_append;         /* adds only, read nothing */
    bool is_backfill;             /* of row tracking: the rebase leaves out files that the winner touched */
    bool by_catalog;              /* commits through the catalog of the table */
    bool exclusive;               /* admits no commit in between (CREATE, RESTORE, CLONE …) */
    int64_t first_skipped_append; /* version of the first blind append that was let pass although its rows could
                                     have been read (see skipped_append); 0: none so far */
};

struct sl_conflict_verdict {
    silt_conflict_kind kind; /* SILT_CONFLICT_NONE: compatible */
    int64_t winner_version;
    struct sl_str winner_operation;     /* borrowed from the winner */
    struct sl_str path;                 /* the file concerned, the domain or the application id; absent if none */
    const struct sl_kv_list *partition; /* of the file; NULL: not known, or the table is not partitioned */
    const silt_schema *schema;          /* with physical: what the columns of the partition are called; borrowed */
    const silt_schema *physical;        /* NULL: as in schema */
    int64_t read_append; /* > 0: the winner may have read the blind append of this version, which was let pass */
    bool skip;           /* our application id and version are already recorded by the winner */
    bool skipped_append; /* a blind append whose rows could have been read was let pass: the caller keeps the
                                       first such version in first_skipped_append for the winners after it */
};

/* Judges one winner; never fails. scratch is for evaluating predicates. */
void sl_conflict_check(const struct sl_txn_facts *txn, const struct sl_commit *winner, struct sl_arena *scratch,
                       struct sl_conflict_verdict *out);

/* SILT_ECONFLICT: the table was dropped under a transaction that had read this version of it. */
silt_status sl_conflict_dropped(int64_t read_version, silt_error *err);

/* SILT_ECONFLICT: the version after the one that the transaction had read came, and has expired since. */
silt_status sl_conflict_expired(int64_t read_version, silt_error *err);

/* Sets err to the class and text of a verdict: winning version, its operation, the file, what to do. */
silt_status sl_conflict_fail(const struct sl_conflict_verdict *verdict, struct sl_arena *scratch, silt_error *err);

/* "[p=x, q=null]" of the verdict's partition, in the names of the schema; absent without one, or for want of memory. */
struct sl_str sl_conflict_partition_text(const struct sl_conflict_verdict *verdict, struct sl_arena *arena);

#endif
