/*
 * What the parts of the program share: the command line, the session, where results go. One struct of this kind lives in
 * main for as long as the process; everything runs on its thread.
 */
#ifndef SL_CLI_CLI_H
#define SL_CLI_CLI_H

#include "base/arena.h"
#include "cli/options.h"
#include "cli/out.h"
#include "cli/progress.h"
#include "silt/env.h"
#include "silt/session.h"

/* Exit codes are part of the interface: scripts decide by them. */
enum sl_exit {
    SL_EXIT_DONE = 0,
    SL_EXIT_FAILED = 1,
    SL_EXIT_USAGE = 2,
    SL_EXIT_CONFLICT = 3,
    SL_EXIT_UNREADABLE = 4,
    SL_EXIT_STORE = 5
};

struct sl_cli {
    const silt_env *env;
    const struct sl_command *command;
    struct sl_args args;
    struct sl_arena arena; /* lives as long as the process */
    struct sl_out out;
    struct sl_progress_bar progress;
    silt_call call;
    silt_session *session; /* NULL before sl_cli_session */
};

/* Opens the session at the first call. The session is borrowed. */
silt_status sl_cli_session(struct sl_cli *cli, silt_session **out, silt_error *err);
/* The pairs of --store-option, args.n_store_options of them, in the program's arena; NULL for none. */
silt_status sl_cli_store_options(struct sl_cli *cli, silt_store_option **out, silt_error *err);
/* The format asked for by -o, else `table` on a terminal and csv elsewhere. */
enum sl_format sl_cli_format(const struct sl_cli *cli);
/* The warehouse as the session will take it; as typed. */
const char *sl_cli_warehouse(const struct sl_cli *cli);

#endif
