/*
 * The SELECT behind the commands that show rows: columns, condition and limit are the command line's. The command puts the source in.
 */
#ifndef SL_CLI_SELECT_H
#define SL_CLI_SELECT_H

#include "cli/cli.h"
#include "cli/table_arg.h"

struct sl_select {
    struct sl_buf sql;
    size_t where_begin; /* where --where starts in it */
};

void sl_select_init(struct sl_select *select, const silt_env *env);
/* "SELECT … FROM "; the source is to follow. */
silt_status sl_select_begin(struct sl_cli *cli, struct sl_select *select, silt_error *err);
/* " WHERE (…)", then `order` (NULL: none), then " LIMIT n". SILT_EINVALID when the condition is more than one. */
silt_status sl_select_end(struct sl_cli *cli, struct sl_select *select, const char *order, silt_error *err);
/* Runs it and shows the rows; reports what fails. Returns the exit code. Releases the text. */
int sl_select_run(struct sl_cli *cli, struct sl_select *select, const struct sl_table_arg *table, silt_status status,
                  const silt_error *err);

#endif
