/*
 * The result of one query as a Parquet file: -o parquet.
 */
#ifndef SL_CLI_PARQUET_H
#define SL_CLI_PARQUET_H

#include "base/str.h"
#include "cli/cli.h"

/* Runs the query, which is the only statement of `text`; errors are placed in `shown`, a part of it. Returns the exit code. */
int sl_parquet_run(struct sl_cli *cli, struct sl_str text, struct sl_str shown);

#endif
