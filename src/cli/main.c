/*
 * The program `silt`: finds the command, parses its options, runs it, and ends with its exit code.
 */
#include <string.h>
#include <sys/resource.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/report_error.h"
#include "cli/signals.h"
#include "cli/warnings.h"
#include "silt/version.h"

#define MOST_FILES ((rlim_t)1 << 20)

/* A word that starts like SQL was meant for `silt sql`. */
static bool looks_like_sql(const char *word)
{
    static const char *const starts[] = {"select", "insert", "create", "with", "describe",
                                         "show",   "from",   "values", "copy"};
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        if (sl_str_eq_nocase(sl_str_from(word), sl_str_from(starts[i]))) {
            return true;
        }
    }
    return strpbrk(word, " ;\n") != NULL;
}

static silt_status unknown_command(const char *word, silt_error *err)
{
    const char *near = sl_command_suggest(word);
    if (looks_like_sql(word)) {
        (void)sl_fail(err, SILT_EINVALID, "SILT_USAGE", "this looks like SQL, not like a command");
        sl_error_hint(err, "silt sql \"...\" runs it");
        return SILT_EINVALID;
    }
    (void)sl_fail(err, SILT_EINVALID, "SILT_USAGE", "there is no command %s", word);
    if (sl_str_ends_with(sl_str_from(word), SL_STR(".sql"))) {
        sl_error_hint(err, "silt sql -f %s runs the statements of a file", word);
    } else {
        sl_error_hint(err, "%s%s%s", near != NULL ? "did you mean silt " : "silt help lists the commands",
                      near != NULL ? near : "", near != NULL ? "?" : "");
    }
    return SILT_EINVALID;
}

/* The words of the program: a command, and all but its name. */
struct words {
    const struct sl_command *command;
    int argc;
    char **argv;
};

/* Options may stand before the command as well as behind it; an unknown command is an error. */
static silt_status find_command(struct sl_arena *arena, int argc, char **argv, struct words *out, silt_error *err)
{
    const bool asks_version = argc == 2 && strcmp(argv[1], "--version") == 0;
    const int place = asks_version ? 1 : sl_options_skip(argc, argv, 1);

    *out = (struct words){.command = &sl_command_none};
    out->argv = sl_arena_alloc_array(arena, (size_t)argc + 1, sizeof(*out->argv));
    if (out->argv == NULL) {
        return sl_fail_nomem(err);
    }
    const bool named = place < argc && (asks_version || argv[place][0] != '-');
    for (int i = 1; i < argc; i++) {
        if (!named || i != place) {
            out->argv[out->argc++] = argv[i];
        }
    }
    if (!named) {
        return SILT_OK;
    }
    const struct sl_command *found = sl_command_find(asks_version ? "version" : argv[place]);
    if (found == NULL) {
        return unknown_command(argv[place], err);
    }
    out->command = found;
    return SILT_OK;
}

static silt_status check_format(const struct sl_cli *cli, silt_error *err)
{
    const unsigned query = SL_OPTS_ENGINE; /* what takes the engine's options runs queries */
    if (cli->args.format == SL_FORMAT_PARQUET && (cli->command->options & query) == 0) {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "-o parquet is for sql, read and changes");
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
    struct words words;
    silt_status status = find_command(&cli->arena, argc, argv, &words, &err);

    cli->command = words.command;
    if (status == SILT_OK) {
        status = sl_options_parse(&cli->arena, words.command, words.argc, words.argv, &cli->args, &err);
    }
    if (status != SILT_OK) {
        return sl_report_error(cli, &err, (struct sl_str){0});
    }
    if (cli->args.help) {
        sl_help_put(&cli->out.buf, cli->command);
        return SL_EXIT_DONE;
    }
    return run_command(cli, &err);
}

/*
 * A scan holds two descriptors of each remote file. The soft limit is mostly low, for programs that cannot count further; whoever can is meant
 * to raise it.
 */
static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max < MOST_FILES || limit.rlim_cur > MOST_FILES ? limit.rlim_max : MOST_FILES;
        (void)setrlimit(RLIMIT_NOFILE, &limit); /* without it there is what there was */
    }
}

int main(int argc, char **argv)
{
    struct sl_warnings warnings;
    struct sl_cli cli = {.env = &warnings.env};
    silt_error err = SILT_ERROR_INIT;
    int code;

    sl_warnings_init(&warnings);
    sl_signals_install();
    raise_file_limit();
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
