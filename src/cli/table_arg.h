/*
 * TABLE on the command line: a path or URI, or a name in the warehouse; with @v12 or @20261129120000000 behind it, or --version or
 * --timestamp, the table as it was.
 */
#ifndef SL_CLI_TABLE_ARG_H
#define SL_CLI_TABLE_ARG_H

#include "cli/cli.h"
#include "silt/snapshot.h"
#include "silt/table.h"

struct sl_table_arg {
    const char *typed;     /* all of it */
    const char *name;      /* without the suffix */
    int64_t version;       /* -1: not given */
    const char *timestamp; /* text, NULL: not given */
};

/* Takes the first word and the options. SILT_EINVALID when a version is given in two ways. */
silt_status sl_table_arg_read(struct sl_cli *cli, struct sl_table_arg *out, silt_error *err);
/* For commands to which versions mean nothing. */
silt_status sl_table_arg_no_travel(const struct sl_table_arg *arg, silt_error *err);
silt_status sl_table_arg_table(struct sl_cli *cli, const struct sl_table_arg *arg, silt_table **out, silt_error *err);
/* The snapshot; table is optional. An unknown name gets a near one as its hint. */
silt_status sl_table_arg_snapshot(struct sl_cli *cli, const struct sl_table_arg *arg, silt_snapshot **out,
                                  silt_error *err);
/* delta.`/path` VERSION AS OF 3 */
silt_status sl_table_arg_put_sql(struct sl_cli *cli, const struct sl_table_arg *arg, struct sl_buf *out,
                                 silt_error *err);
/* Puts a near name of the warehouse into the hint of an error about a table that is not there. */
void sl_table_arg_hint(struct sl_cli *cli, const struct sl_table_arg *arg, silt_error *err);

#endif
