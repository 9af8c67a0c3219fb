/*
 * The tables of the warehouse, as far as it is a folder of this machine: for suggestions, completion and the shell's list.
 */
#ifndef SL_CLI_WAREHOUSE_H
#define SL_CLI_WAREHOUSE_H

#include "cli/cli.h"

/* A folder of this machine that is not there; what is elsewhere is not asked. */
bool sl_warehouse_is_missing(const struct sl_cli *cli);
/* Calls on_table with each name, in no order: "events", "sales.events". Returns at once for a warehouse elsewhere. */
void sl_warehouse_each(const struct sl_cli *cli, void (*on_table)(void *ctx, const char *name), void *ctx);
/* The name nearest to what was typed, in the program's arena; NULL if none is near. */
const char *sl_warehouse_suggest(struct sl_cli *cli, const char *typed);

#endif
