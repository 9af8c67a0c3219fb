/*
 * Running a text of statements and printing what they yield.
 */
#ifndef SL_CLI_RUN_SQL_H
#define SL_CLI_RUN_SQL_H

#include "base/str.h"
#include "cli/cli.h"
#include "cli/table_arg.h"

struct sl_run_sql {
    enum sl_format format;
    bool keep_going;                  /* after a statement that failed */
    bool show_time;                   /* on standard error, after each statement */
    const struct sl_table_arg *table; /* the table that the text is about, for hints; NULL: none */
    bool discard_rows;                /* results are not printed */
    const char *hint_columns;         /* how columns are added that the table lacks; NULL: as SQL says it */
    struct sl_str
        shown; /* the part of the text that the user wrote: errors are placed in it; absent: the text is ours */
};

/* Runs all statements; errors are reported. Returns the exit code: that of the first failure, 0 without one. */
int sl_run_sql(struct sl_cli *cli, struct sl_str text, const struct sl_run_sql *options);
/* The same, of the text that a buffer holds, if it holds one. */
int sl_run_sql_buf(struct sl_cli *cli, const struct sl_buf *text, const struct sl_run_sql *options);

#endif
