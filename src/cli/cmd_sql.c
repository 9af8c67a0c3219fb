/*
 * silt sql, and silt alone: statements from the command line, a file or standard input, or the shell.
 */
#include "cli/commands.h"

#include <unistd.h>

#include "base/error.h"
#include "cli/input.h"
#include "cli/parquet.h"
#include "cli/report_error.h"
#include "cli/run_sql.h"
#include "cli/shell.h"

static int run_text(struct sl_cli *cli, struct sl_str text)
{
    const struct sl_run_sql options = {.format = sl_cli_format(cli), .keep_going = cli->args.keep_going, .shown = text};
    if (options.format == SL_FORMAT_PARQUET) {
        return sl_parquet_run(cli, text, text);
    }
    return sl_run_sql(cli, text, &options);
}

static int run_file(struct sl_cli *cli, const char *path)
{
    silt_error err = SILT_ERROR_INIT;
    struct sl_buf text;
    int code;

    sl_buf_init(&text, cli->env);
    if (sl_input_read(path, &text, &err) == SILT_OK) {
        code = run_text(cli, sl_str_make(sl_buf_cstr(&text), text.len));
    } else {
        code = sl_report_error(cli, &err, (struct sl_str){0});
    }
    sl_buf_release(&text);
    return code;
}

int sl_cmd_sql(struct sl_cli *cli)
{
    const struct sl_args *args = &cli->args;
    const bool has_text = args->n_words > 0 && !sl_str_eq_c(sl_str_from(args->words[0]), "-");
    silt_error err = SILT_ERROR_INIT;

    if (args->file != NULL && args->n_words > 0) {
        (void)sl_fail(&err, SILT_EINVALID, "SILT_USAGE",
                      "statements come from --file or from the command line, not both");
        return sl_report_error(cli, &err, (struct sl_str){0});
    }
    if (args->file != NULL) {
        return run_file(cli, args->file);
    }
    if (has_text) {
        return run_text(cli, sl_str_from(args->words[0]));
    }
    if (args->n_words == 0 && isatty(STDIN_FILENO) == 1) {
        (void)sl_fail(&err, SILT_EINVALID, "SILT_USAGE", "there are no statements to run");
        sl_error_hint(&err, "silt sql \"SELECT ...\" runs some; silt alone starts the shell");
        return sl_report_error(cli, &err, (struct sl_str){0});
    }
    return run_file(cli, "-");
}

int sl_cmd_none(struct sl_cli *cli)
{
    silt_error err = SILT_ERROR_INIT;
    if (cli->args.file != NULL || isatty(STDIN_FILENO) != 1) {
        return run_file(cli, cli->args.file != NULL ? cli->args.file : "-");
    }
    if (cli->args.format == SL_FORMAT_PARQUET) {
        (void)sl_fail(&err, SILT_EINVALID, "SILT_USAGE", "the shell has no use for -o parquet");
        return sl_report_error(cli, &err, (struct sl_str){0});
    }
    return sl_shell_run(cli);
}
