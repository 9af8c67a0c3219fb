/*
 * silt help, silt version, and --help at every level.
 */
#include "cli/commands.h"

#include "cli/report_error.h"
#include "base/error.h"
#include "silt/version.h"

static void put_program(struct sl_buf *out)
{
    const struct sl_command *command = NULL;

    sl_buf_put_c(out, "silt: Delta Lake tables from the shell\n\n"
                      "usage: silt [options] COMMAND ...\n"
                      "       silt [options]            start the shell, or run SQL from standard input\n\n"
                      "commands:\n");
    for (size_t i = 0; (command = sl_command_at(i)) != NULL; i++) {
        sl_buf_printf(out, "  %-11s %s\n", command->name, command->summary);
    }
    sl_buf_put_c(out, "\noptions:\n");
    sl_options_describe(out, &sl_command_none);
    sl_buf_put_c(
        out, "\nexamples:\n"
             "  silt\n"
             "  silt sql \"SELECT count(*) FROM '/data/rentals'\"\n"
             "  silt read /data/rentals --limit 10\n"
             "  silt history /data/rentals\n"
             "  silt help sql\n\n"
             "Results go to standard output: as a table on a terminal, else as CSV with a header. Exit codes: 0 done,\n"
             "1 failed, 2 wrong usage, 3 conflict (a retry may help), 4 no Delta table or not readable, 5 store\n"
             "unreachable or refused.\n");
}

void sl_help_put(struct sl_buf *out, const struct sl_command *command)
{
    if (command == &sl_command_none) {
        put_program(out);
        return;
    }
    sl_buf_printf(out, "silt %s: %s\n\nusage: silt %s\n", command->name, command->summary, command->usage);
    if (command->details != NULL) {
        sl_buf_printf(out, "\n%s", command->details);
    }
    sl_buf_put_c(out, "\noptions:\n");
    sl_options_describe(out, command);
    if (command->examples != NULL) {
        sl_buf_printf(out, "\nexamples:\n%s", command->examples);
    }
}

int sl_cmd_help(struct sl_cli *cli)
{
    const struct sl_command *command = &sl_command_none;
    if (cli->args.n_words > 0) {
        const char *name = cli->args.words[0];
        command = sl_command_find(name);
        if (command == NULL) {
            silt_error err = SILT_ERROR_INIT;
            const char *near = sl_command_suggest(name);
            (void)sl_fail(&err, SILT_EINVALID, "SILT_USAGE", "there is no command %s", name);
            sl_error_hint(&err, "%s%s%s", near != NULL ? "did you mean " : "silt help lists the commands",
                          near != NULL ? near : "", near != NULL ? "?" : "");
            return sl_report_error(cli, &err, (struct sl_str){0});
        }
    }
    sl_help_put(&cli->out.buf, command);
    return SL_EXIT_DONE;
}

int sl_cmd_version(struct sl_cli *cli)
{
    sl_buf_put_c(&cli->out.buf, "silt " SILT_VERSION_STRING "\n");
    return SL_EXIT_DONE;
}
