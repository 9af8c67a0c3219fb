/*
 * The commands of the program: what each takes, and the functions that run them. A function reports its own errors and returns the
 * exit code.
 */
#ifndef SL_CLI_COMMANDS_H
#define SL_CLI_COMMANDS_H

#include "cli/cli.h"

/* Of `silt` without a command: the shell, or SQL from standard input. */
extern const struct sl_command sl_command_none;

/* NULL if there is none of this name. */
const struct sl_command *sl_command_find(const char *name);
const struct sl_command *sl_command_at(size_t index); /* NULL past the end */
const char *sl_command_suggest(const char *typed);    /* NULL if none is near */

int sl_cmd_none(struct sl_cli *cli);
int sl_cmd_sql(struct sl_cli *cli);
int sl_cmd_read(struct sl_cli *cli);
int sl_cmd_changes(struct sl_cli *cli);
int sl_cmd_append(struct sl_cli *cli);
int sl_cmd_schema(struct sl_cli *cli);
int sl_cmd_history(struct sl_cli *cli);
int sl_cmd_detail(struct sl_cli *cli);
int sl_cmd_files(struct sl_cli *cli);
int sl_cmd_log(struct sl_cli *cli);
int sl_cmd_fsck(struct sl_cli *cli);
int sl_cmd_clean_log(struct sl_cli *cli);
int sl_cmd_compact_log(struct sl_cli *cli);
int sl_cmd_checkpoint(struct sl_cli *cli);
int sl_cmd_cache(struct sl_cli *cli);
int sl_cmd_doctor(struct sl_cli *cli);
int sl_cmd_version(struct sl_cli *cli);
int sl_cmd_help(struct sl_cli *cli);

/* The help of the program, or of one command. */
void sl_help_put(struct sl_buf *out, const struct sl_command *command);

#endif
