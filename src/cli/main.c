/*
 * The program `silt`: finds the command, parses its options, runs it, and ends with its exit code.
 */
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/report_error.h"
#include "cli/signals.h"
#include "silt/version.h"

/* A word that starts like SQL was meant for `silt sql`. */
static bool looks_like_sql(const char *word)
{
    return strpbrk(word, " ;\n") != NULL;
}

/* The command that is meant, and where its words begin; an unknown one is an error. */
static silt_status find_command(int argc, char **argv, const struct sl_command **command, int *first, silt_error *err)
{
    *command = &sl_command_none;
    *first = 1;
    if (argc < 2 || argv[1][0] == '-') {
        if (argc == 2 && strcmp(argv[1], "--version") == 0) {
            *command = sl_command_find("version");
            *first = 2;
        }
        return SILT_OK;
    }
    *command = sl_command_find(argv[1]);
    *first = 2;
    if (*command != NULL) {
        return SILT_OK;
    }
    *command = &sl_command_none;
    const char *near = sl_command_suggest(argv[1]);
    if (looks_like_sql(argv[1])) {
        (void)sl_fail(err, SILT_EINVALID, "SILT_USAGE", "this looks like SQL, not like a command");
        sl_error_hint(err, "silt sql \"...\" runs it");
    } else {
        (void)sl_fail(err, SILT_EINVALID, "SILT_USAGE", "there is no command %s", argv[1]);
        sl_error_hint(err, "%s%s%s", near != NULL ? "did you mean silt " : "silt help lists the commands",
                      near != NULL ? near : "", near != NULL ? "?" : "");
    }
    return SILT_EINVALID;
}

static silt_status check_format(const struct sl_cli *cli, silt_error *err)
{
    const unsigned query = SL_OPTS_ENGINE; /* what takes the engine's options runs queries */
    if (cli->args.format == SL_FORMAT_PARQUET && (cli->command->options & query) == 0) {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "-o parquet is for sql and read");
    }
    return SILT_OK;
}

static int run_command(struct sl_cli *cli, silt_error *err)
{
    silt_status status = check_format(cli, err);

    if (status == SILT_OK && cli->args.output != NULL) {
        status = sl_out_open_file(&cli->out, &cli->arena, cli->args.output, err);
    }
    if (status != SILT_OK) {
        return sl_report_error(cli, err, (struct sl_str){0});
    }
    return cli->command->run(cli);
}

static int run(struct sl_cli *cli, int argc, char **argv)
{
    silt_error err = SILT_ERROR_INIT;
    int first = 1;

    if (find_command(argc, argv, &cli->command, &first, &err) != SILT_OK ||
        sl_options_parse(&cli->arena, cli->command, argc - first, argv + first, &cli->args, &err) != SILT_OK) {
        return sl_report_error(cli, &err, (struct sl_str){0});
    }
    if (cli->args.help) {
        sl_help_put(&cli->out.buf, cli->command);
        return SL_EXIT_DONE;
    }
    return run_command(cli, &err);
}

int main(int argc, char **argv)
{
    struct sl_cli cli = {.env = silt_env_default()};
    silt_error err = SILT_ERROR_INIT;
    int code;

    sl_signals_install();
    sl_arena_init(&cli.arena, cli.env);
    sl_progress_init(&cli.progress, cli.env);
    sl_out_init(&cli.out, cli.env, &cli.progress);
    cli.call = (silt_call){.size = sizeof(cli.call),
                           .abi_version = SILT_ABI_VERSION,
                           .cancel = sl_signals_cancel_flag(),
                           .progress = cli.progress.enabled ? sl_progress_update : NULL,
                           .progress_ctx = &cli.progress};
    code = run(&cli, argc, argv);
    silt_session_close(cli.session);
    const bool abandoned = sl_out_is_abandoned(&cli.out);
    if (sl_out_close(&cli.out, code == SL_EXIT_DONE || cli.args.keep_going, &err) != SILT_OK) {
        const int failed = sl_report_error(&cli, &err, (struct sl_str){0});
        code = code == SL_EXIT_DONE ? failed : code;
    }
    sl_arena_release(&cli.arena);
    sl_signals_raise();
    if (abandoned || sl_out_is_abandoned(&cli.out)) {
        sl_signals_raise_pipe();
    }
    return code;
}
