/*
 * The tables of the warehouse: for suggestions and completion as far as it is a folder of this machine, for the shell's list wherever it is.
 */
#ifndef SL_CLI_WAREHOUSE_H
#define SL_CLI_WAREHOUSE_H

#include "cli/cli.h"

/* A folder of this machine that is not there; what is elsewhere is not asked. */
bool sl_warehouse_is_missing(const struct sl_cli *cli);
/* Calls on_table with each name, in no order: "events", "sales.events". Returns at once for a warehouse elsewhere. */
void sl_warehouse_each(const struct sl_cli *cli, void (*on_table)(void *ctx, const char *name), void *ctx);
/*
 * As sl_warehouse_each, for a warehouse elsewhere as well, which is asked for its folders or the names of its files. *cut: there are more of them than are looked
 * at, and there may be more tables.
 */
silt_status sl_warehouse_list(struct sl_cli *cli, void (*on_table)(void *ctx, const char *name), void *ctx, bool *cut,
                              silt_error *err);
/* The name nearest to what was typed, in the program's arena; NULL if none is near. */
const char *sl_warehouse_suggest(struct sl_cli *cli, const char *typed);

#endif
