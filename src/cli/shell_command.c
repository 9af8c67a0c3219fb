/*
 * The backslash commands of the shell.
 */
#include "cli/shell.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/report_error.h"
#include "cli/row_stream.h"
#include "cli/run_sql.h"
#include "cli/table_arg.h"
#include "cli/warehouse.h"

struct command {
    const char *name;
    const char *usage;
    const char *help;
    silt_status (*run)(struct sl_shell *shell, const char *argument, silt_error *err);
};

static silt_status run_quit(struct sl_shell *shell, const char *argument, silt_error *err)
{
    (void)argument;
    (void)err;
    shell->quit = true;
    return SILT_OK;
}

static silt_status run_timing(struct sl_shell *shell, const char *argument, silt_error *err)
{
    if (argument[0] == '\0') {
        shell->timing = !shell->timing;
    } else if (strcmp(argument, "on") == 0 || strcmp(argument, "off") == 0) {
        shell->timing = strcmp(argument, "on") == 0;
    } else {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "\\timing takes on or off, not %s", argument);
    }
    sl_report_note(shell->cli, "timing is %s", shell->timing ? "on" : "off");
    return SILT_OK;
}

static silt_status run_format(struct sl_shell *shell, const char *argument, silt_error *err)
{
    enum sl_format format = shell->format;
    if (argument[0] != '\0' && (!sl_format_by_name(argument, &format) || format == SL_FORMAT_PARQUET)) {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "\\o takes table, csv, json or jsonl, not %s", argument);
    }
    shell->format = format;
    sl_report_note(shell->cli, "the format is %s", sl_format_name(format));
    return SILT_OK;
}

/* Another warehouse needs another session: temporary tables and settings go. */
static silt_status run_warehouse(struct sl_shell *shell, const char *argument, silt_error *err)
{
    struct sl_cli *cli = shell->cli;
    if (argument[0] != '\0') {
        const char *copy = sl_arena_strdup(&cli->arena, sl_str_from(argument));
        if (copy == NULL) {
            return sl_fail_nomem(err);
        }
        silt_session_close(cli->session);
        cli->session = NULL;
        cli->args.warehouse = copy;
    }
    sl_report_note(cli, "the warehouse is %s%s", sl_cli_warehouse(cli),
                   sl_warehouse_is_missing(cli) ? ", a folder that does not exist yet" : "");
    return SILT_OK;
}

static silt_status run_file(struct sl_shell *shell, const char *argument, silt_error *err)
{
    struct sl_buf text;
    silt_status status;

    if (argument[0] == '\0') {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "\\i needs the name of a file");
    }
    sl_buf_init(&text, shell->cli->env);
    status = sl_input_read(argument, &text, err);
    if (status == SILT_OK) {
        const struct sl_run_sql options = {
            .format = shell->format, .show_time = shell->timing, .shown = sl_str_make(sl_buf_cstr(&text), text.len)};
        (void)sl_run_sql_buf(shell->cli, &text, &options); /* its errors are reported */
    }
    sl_buf_release(&text);
    return status;
}

struct names {
    struct sl_arena arena;
    struct sl_vec list; /* const char * */
};

static void add_name(void *ctx, const char *name)
{
    struct names *names = ctx;
    const char *copy = sl_arena_strdup(&names->arena, sl_str_from(name));
    const char **slot = copy != NULL ? sl_vec_push(&names->list) : NULL;
    if (slot != NULL) {
        *slot = copy;
    }
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static silt_status print_names(struct sl_shell *shell, const struct names *names, silt_error *err)
{
    static const struct sl_row_stream_column columns[] = {{"table", "u"}};
    struct ArrowArrayStream stream = {0};
    struct sl_row_stream rows = {0};
    silt_status status = sl_row_stream_open(&rows, shell->cli->env, columns, 1, err);

    for (size_t i = 0; status == SILT_OK && i < names->list.len; i++) {
        status = sl_row_stream_text(&rows, sl_str_from(*(const char **)sl_vec_at(&names->list, i)), err);
    }
    if (status == SILT_OK) {
        status = sl_row_stream_take(&rows, &stream, err);
    }
    if (status == SILT_OK) {
        status = sl_print_stream(shell->cli, shell->format, &stream, NULL, err);
    }
    sl_row_stream_close(&rows);
    return status;
}

static silt_status list_tables(struct sl_shell *shell, silt_error *err)
{
    struct names names;
    bool cut = false;

    sl_arena_init(&names.arena, shell->cli->env);
    sl_vec_init(&names.list, shell->cli->env, sizeof(const char *));
    silt_status status = sl_warehouse_list(shell->cli, add_name, &names, &cut, err);
    if (status == SILT_OK && names.list.len == 0 && !cut) {
        sl_report_note(shell->cli, "there are no tables in %s", sl_cli_warehouse(shell->cli));
    } else if (status == SILT_OK) {
        qsort(names.list.data, names.list.len, sizeof(const char *), compare_names);
        status = print_names(shell, &names, err);
    }
    if (status == SILT_OK && cut) {
        sl_report_note(shell->cli, "%s has more files than are looked at: there may be more tables",
                       sl_cli_warehouse(shell->cli));
    }
    sl_vec_release(&names.list);
    sl_arena_release(&names.arena);
    return status;
}

static silt_status run_describe(struct sl_shell *shell, const char *argument, silt_error *err)
{
    const struct sl_table_arg table = {.typed = argument, .name = argument, .version = -1};
    struct sl_buf sql;
    silt_status status;

    if (argument[0] == '\0') {
        return list_tables(shell, err);
    }
    sl_buf_init(&sql, shell->cli->env);
    sl_buf_put_c(&sql, "DESCRIBE TABLE ");
    status = sl_table_arg_put_sql(shell->cli, &table, &sql, err);
    if (status == SILT_OK) {
        const struct sl_run_sql options = {.format = shell->format, .table = &table};
        (void)sl_run_sql_buf(shell->cli, &sql, &options); /* its errors are reported */
    }
    sl_buf_release(&sql);
    return status;
}

static silt_status run_help(struct sl_shell *shell, const char *argument, silt_error *err);

static const struct command COMMANDS[] = {
    {"?", "\\?", "show this list", run_help},
    {"d", "\\d [TABLE]", "list the tables of the warehouse, or the columns of a table", run_describe},
    {"i", "\\i FILE", "run the statements of a file", run_file},
    {"o", "\\o [FORMAT]", "show or set the format of results: table, csv, json, jsonl", run_format},
    {"timing", "\\timing [on|off]", "show how long statements take, or not", run_timing},
    {"w", "\\w [DIR]", "show the warehouse, or go to another one", run_warehouse},
    {"q", "\\q", "leave", run_quit},
};

#define N_COMMANDS (sizeof(COMMANDS) / sizeof(COMMANDS[0]))

static silt_status run_help(struct sl_shell *shell, const char *argument, silt_error *err)
{
    struct sl_buf *buf = &shell->cli->out.buf;
    (void)argument;
    (void)err;
    sl_buf_put_c(buf, "Statements end with a semicolon and may take several lines; tab completes, Ctrl-C stops.\n");
    for (size_t i = 0; i < N_COMMANDS; i++) {
        sl_buf_printf(buf, "  %-17s %s\n", COMMANDS[i].usage, COMMANDS[i].help);
    }
    return SILT_OK;
}

static silt_status unknown(struct sl_str name, silt_error *err)
{
    const silt_status status = sl_fail(err, SILT_EINVALID, "SILT_USAGE", "there is no command \\%.*s", SL_FMT(name));
    sl_error_hint(err, "\\? lists the commands");
    return status;
}

void sl_shell_command(struct sl_shell *shell, struct sl_str line)
{
    struct sl_cli *cli = shell->cli;
    silt_error err = SILT_ERROR_INIT;
    size_t end = 1;
    silt_status status = SILT_OK;
    bool found = false;

    while (end < line.len && line.ptr[end] != ' ' && line.ptr[end] != '\t') {
        end++;
    }
    const struct sl_str name = sl_str_sub(line, 1, end);
    struct sl_str rest = sl_str_trim(sl_str_sub(line, end, line.len));
    if (rest.len > 0 && rest.ptr[rest.len - 1] == ';') {
        rest = sl_str_trim(sl_str_sub(rest, 0, rest.len - 1)); /* habit */
    }
    const char *argument = sl_arena_strdup(&cli->arena, rest.ptr != NULL ? rest : SL_STR(""));
    for (size_t i = 0; i < N_COMMANDS && !found && argument != NULL; i++) {
        found = sl_str_eq_c(name, COMMANDS[i].name);
        status = found ? COMMANDS[i].run(shell, argument, &err) : SILT_OK;
    }
    if (argument == NULL) {
        status = sl_fail_nomem(&err);
    } else if (!found) {
        status = unknown(name, &err);
    }
    sl_out_flush(&cli->out);
    if (status != SILT_OK) {
        (void)sl_report_error(cli, &err, (struct sl_str){0}); /* the shell goes on */
    }
}
