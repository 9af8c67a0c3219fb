/*
 * The conflict matrix: histories of two or three transactions on a small table, committed through silt's public functions, and what
 * silt answers to each commit against what a brute force over serial orders says.
 *
 *  - matrix_model.c runs operations on a model of the table: rows in files, with partition values and statistics.
 *  - matrix_orders.c is the brute force: is there a serial order that the isolation level permits, in which the operations give
 *    the table that these commits give? Once by rows (what may never be allowed), once by files (what the check can see of it).
 *  - matrix_stage.c does the same operations to a table in memory through silt_txn_*.
 *  - matrix_cases.c makes the histories and compares; matrix_bugs.c plants faults into the check.
 *
 * Nothing here looks at the check's own tables. One thread.
 */
#ifndef SILT_MATRIX_H
#define SILT_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "silt/silt.h"

enum {
    MX_MAX_ROWS = 32,
    MX_MAX_FILES = 24,
    MX_MAX_OPS = 4,
    MX_MAX_REASONS = 16
};

/* MX_OP(identifier, name in the log, what it does): see matrix_ops.def. */
enum mx_kind {
#define MX_OP(id, name, what) MX_##id,
#include "matrix_ops.def"
#undef MX_OP
    MX_KIND_COUNT
};

/* Where an operation works, as seen from rows 1 and 5 of partition a. MX_WHERE(identifier, text). */
enum mx_where {
    MX_SAME,      /* the same rows */
    MX_SAME_FILE, /* other rows of the same file; what it adds spans the range of ours */
    MX_UNKNOWN,   /* other rows of the same partition; what it adds has no statistics */
    MX_STATS,     /* other files of the same partition */
    MX_PARTITION, /* another partition */
    MX_WHERE_COUNT
};

struct mx_op {
    enum mx_kind kind;
    enum mx_where where;
    int id;                         /* of the operation in its history, from 1 */
    int begins_after;               /* so many operations of the history were committed or refused when it began */
    bool lists_files;               /* tells its reads as a scan, with its files, instead of a predicate */
    uint64_t sources[MX_MAX_FILES]; /* what OPTIMIZE chose; set when it begins */
    size_t n_sources;
};

struct mx_row {
    int id;
    int64_t value;
};

struct mx_file {
    uint64_t lineage; /* what it came from: made by whom, from which files, under which metadata */
    int path;         /* number in its name */
    char part;
    bool no_stats;
    struct mx_row rows[MX_MAX_ROWS];
    size_t n_rows;
};

enum {
    MX_APPS = 2,
    MX_DOMAINS = 2,
    MX_FEATURE_HARMLESS = 1, /* asks nothing of a commit that does not know it */
    MX_FEATURE_BINDING = 2
};

/* A thing that is written as a whole: its value, and what it was made from. */
struct mx_cell {
    uint64_t value;
    uint64_t lineage;
};

struct mx_state {
    struct mx_file files[MX_MAX_FILES];
    size_t n_files;
    struct mx_cell metadata; /* bits of operations that changed it */
    struct mx_cell protocol; /* bits of features */
    struct mx_cell apps[MX_APPS];
    struct mx_cell domains[MX_DOMAINS];
    uint64_t marks[MX_MAX_OPS +
                   1]; /* lineage of each operation that ran, by its id: what it rests on, even if it left nothing */
    bool constraint;   /* every row has an id below MX_LIMIT */
};

#define MX_LIMIT 50

/* What a transaction commits: from its snapshot, whatever came in between. */
struct mx_effect {
    bool nothing; /* its application id is recorded already */
    uint64_t reads[MX_MAX_FILES];
    size_t n_reads;
    uint64_t removes[MX_MAX_FILES];
    size_t n_removes;
    struct mx_file adds[MX_MAX_FILES];
    size_t n_adds;
    bool readds;                                    /* the adds are files that are there */
    bool moves;                                     /* without a change of data */
    struct mx_cell metadata, protocol, app, domain; /* lineage 0: not written */
    uint64_t mark;
    int app_index, domain_index;
    bool constraint;
};

/* ---- matrix_model.c ---- */

const char *mx_kind_name(enum mx_kind kind);
const char *mx_where_name(enum mx_where where);
/* The predicate of what the operation reads; NULL: nothing, "": the whole table. */
const char *mx_reads(const struct mx_op *op);
bool mx_is_blind_append(const struct mx_op *op);
bool mx_only_moves(const struct mx_op *op); /* changes no row */
bool mx_rests_on_rows(const struct mx_op *op);
bool mx_changes_metadata(const struct mx_op *op);
/* Could a file, by partition and statistics, hold rows that the operation reads? */
bool mx_file_may_match(const struct mx_op *op, const struct mx_file *file);
int mx_app(const struct mx_op *op, int64_t *version); /* -1: none */
int mx_domain(const struct mx_op *op);                /* -1: none */
void mx_first_state(struct mx_state *state);
void mx_choose_sources(struct mx_op *op, const struct mx_state *snapshot);
void mx_run(const struct mx_op *op, const struct mx_state *snapshot, struct mx_effect *out);
/* As a reader of the log does it: removes by path, then adds by path. */
void mx_apply(const struct mx_op *op, const struct mx_effect *effect, struct mx_state *state);
/* Does a row violate the constraint? Then no engine would have committed what led to it. */
bool mx_breaks_constraint(const struct mx_state *state);
bool mx_same_rows(const struct mx_state *a, const struct mx_state *b);
bool mx_same_files(const struct mx_state *a, const struct mx_state *b);
const struct mx_file *mx_find(const struct mx_state *state, uint64_t lineage);

/* ---- matrix_orders.c ---- */

/* An operation that committed, or asks to. */
struct mx_commit {
    struct mx_op op;
    struct mx_effect effect;
    int64_t read_version;
    int64_t version; /* that it got, or would get */
};

struct mx_history {
    bool serializable;
    bool tracked; /* row tracking is supported, and the first files have no ids yet */
    struct mx_state first;
    int64_t first_version;
    struct mx_state now;
    struct mx_commit commits[MX_MAX_OPS];
    size_t n_commits;
};

struct mx_expected {
    bool by_rows;  /* there is a serial order that gives these rows */
    bool by_files; /* and one as far as files, metadata and commitInfo can tell */
    silt_commit_outcome outcome;
    silt_conflict_kind kind;
    int64_t winner; /* version */
    enum mx_kind winner_kind;
    int path;           /* -1: none is named */
    bool needless;      /* refused although by_files is true */
    const char *reason; /* why the answer is stricter than by_rows */
};

/* Number in the name of a file of the history; -1 if no commit of it added one. */
int mx_path_of(const struct mx_history *history, uint64_t lineage);
void mx_expect(const struct mx_history *history, const struct mx_commit *candidate, struct mx_expected *out);

/* ---- matrix_stage.c ---- */

struct mx_stage;

/* Fails loudly on anything that must succeed. */
struct mx_stage *mx_stage_new(const struct mx_history *history);
void mx_stage_free(struct mx_stage *stage);
/* What silt answered; texts are empty where there was none. */
struct mx_answer {
    silt_status status;
    silt_commit_outcome outcome;
    silt_conflict_kind kind;
    int64_t version;
    char operation[64];
    char file[64];
    char partition[64];
    silt_error err;
};

/* Begins and says everything that the operation does; the commit comes later. */
silt_txn *mx_stage_begin(struct mx_stage *stage, const struct mx_op *op, const struct mx_state *snapshot,
                         const struct mx_effect *effect);
/* Commits and frees. */
void mx_stage_commit(silt_txn *txn, struct mx_answer *answer);
/* Is the table what the model says? *why tells what differs. */
bool mx_stage_agrees(struct mx_stage *stage, const struct mx_state *state, int64_t version, char *why, size_t size);
int mx_next_path(void);

/* ---- matrix_bugs.c ---- */

enum mx_bug {
    MX_BUG_NONE,
#define MX_BUG(id, name, what) MX_BUG_##id,
#include "matrix_bugs.def"
#undef MX_BUG
    MX_BUG_COUNT
};

const char *mx_bug_name(enum mx_bug bug);
const char *mx_bug_text(enum mx_bug bug);
void mx_bugs_use(enum mx_bug bug);
/* The next checks are of a transaction that admits no commit in between. */
void mx_bugs_exclusive(bool exclusive);

/* ---- matrix_cases.c ---- */

struct mx_totals {
    size_t cases;
    size_t commits;
    size_t allowed;
    size_t refused;
    size_t skipped;
    size_t stricter; /* refused although some order gives the rows */
    size_t needless; /* refused although some order is there even by files */
    size_t wrong;
    size_t unsafe; /* of those: allowed, although no order gives the rows */
    struct {
        const char *text; /* NULL: none */
        size_t n;
    } reasons[MX_MAX_REASONS]; /* of those that are stricter */
};

enum mx_report {
    MX_REPORT_WRONG,    /* prints what went wrong */
    MX_REPORT_FEW,      /* ends with the third case that went wrong */
    MX_REPORT_NOTHING,  /* only counts */
    MX_REPORT_STRICTER, /* also every refusal that rows alone do not ask for */
    MX_REPORT_ALL
};

void mx_run_pairs(enum mx_report report, struct mx_totals *totals);
void mx_run_chains(enum mx_report report, struct mx_totals *totals);

#endif
