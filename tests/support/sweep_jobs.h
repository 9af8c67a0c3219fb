/*
 * Everything that writes to a table, as jobs for the sweeps of tests/crash: each can be run on a table of each kind, and tells what the table
 * is like before and after, as text. Like sql_fixture.h nothing here ends the test.
 */
#ifndef SILT_SWEEP_JOBS_H
#define SILT_SWEEP_JOBS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sql_fixture.h"

/* The kinds of tables: their properties. */
enum sweep_kind {
    SWEEP_PLAIN,
    SWEEP_MAPPED,  /* columns mapped by name */
    SWEEP_TRACKED, /* row tracking and in-commit timestamps */
    SWEEP_KINDS
};

/* In texts @ is the table, % its path, # stands for TBLPROPERTIES. */
struct sweep_job {
    const char *name;
    const char *properties; /* NULL, or of the table, besides its kind's */
    const char *table;      /* makes it; NULL: there is none, "": a small one, partitioned by `part` */
    const char *option;     /* NULL, or set while the statement runs */
    const char *statement;  /* NULL: it is `upkeep` */
    silt_status (*upkeep)(silt_table *table, silt_error *err);
    bool checkpointed; /* a checkpoint is made before */
    bool expired;      /* it runs when what the log holds has expired */
    bool fails;        /* it is refused, whatever the store does */
    bool stays;        /* the table says the same after it */
    bool may_lie;      /* a failure may come when it is done: the store answers for one act, and nothing tells */
    bool not_tracked;  /* tables with row tracking refuse it */
    bool once;         /* it runs under an application id: after it, the same again changes nothing */
    const char *rows;  /* NULL, or it only reads, and this is what the statement gives */
};

extern const struct sweep_job sweep_jobs[];
extern const size_t sweep_n_jobs;

#define SWEEP_TEXT 2048

/* A session whose clock can be put forward, and the table at hand. */
struct sweep_bench {
    struct sql_fixture sql;
    silt_env env; /* the session's */
    int64_t ahead_us;
    _Atomic int64_t readings; /* of the clock */
    char table[400];          /* path or URI */
    /* NULL, or called as the job itself begins and when it has ended, so that faults meet nothing else. */
    void (*around)(void *ctx, bool begins);
    void *ctx;
    char text[SWEEP_TEXT];
};

/* The process's environment with that clock; the rest of it may be changed until sweep_open. Not to be moved. */
void sweep_env_init(struct sweep_bench *bench);
/* stores are consumed. */
bool sweep_open(struct sweep_bench *bench, const char *warehouse, const char *temp_dir, silt_storage_registry *stores);
void sweep_close(struct sweep_bench *bench);

/* Whether every case is wanted, not a sample: SILT_SWEEP=all in the environment. */
bool sweep_all(void);

/* Whether the job is wanted: all are, unless SILT_SWEEP_JOBS names some, one after the other with commas, or with ! before them the others. */
bool sweep_wants(const struct sweep_job *job);

/* Makes bench->table, as it is before the job. */
bool sweep_prepare(struct sweep_bench *bench, const struct sweep_job *job, enum sweep_kind kind);
/* Makes bench->table a copy of another table of the same store. */
bool sweep_copy(const struct sweep_bench *bench, silt_storage *store, const char *from);
/* Whether it has the files of another table of the same store: the same names with the same bytes. */
bool sweep_same(const struct sweep_bench *bench, silt_storage *store, const char *other);
/* Runs the job; what went wrong is in bench->sql.err. */
silt_status sweep_run(struct sweep_bench *bench, const struct sweep_job *job, enum sweep_kind kind);
/*
 * What the table is now: version, columns, rows; "none" if there is none. False when it cannot be read as a table and is not missing either: the text
 * says why.
 */
bool sweep_look(struct sweep_bench *bench, char out[SWEEP_TEXT]);
/* The first line of that, or all if there is no table. */
bool sweep_look_at_version(struct sweep_bench *bench, char out[SWEEP_TEXT]);
/* The check of the table; faults that it finds go to stderr. What is odd but misleads nobody is let pass: files of no version. */
bool sweep_check(struct sweep_bench *bench);

#endif
