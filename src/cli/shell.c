/*
 * The shell's loop; see shell.h.
 */
#include "cli/shell.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/str.h"
#include "cli/report_error.h"
#include "cli/run_sql.h"
#include "cli/signals.h"
#include "silt/version.h"

#define PRIVATE_FOLDER 0700

/* Words that say that a statement holds a secret: it is not kept. */
static const char *const SECRET_WORDS[] = {"secret",    "password", "token",     "access_key",
                                           "accesskey", "sas_",     "credential"};

static bool holds_secret(struct sl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        for (size_t j = 0; j < sizeof(SECRET_WORDS) / sizeof(SECRET_WORDS[0]); j++) {
            const struct sl_str word = sl_str_from(SECRET_WORDS[j]);
            if (i + word.len <= text.len && sl_str_eq_nocase(sl_str_sub(text, i, i + word.len), word)) {
                return true;
            }
        }
    }
    return false;
}

/* $XDG_STATE_HOME/silt/history, the folders made if need be; NULL when there is no place for it. */
static const char *history_path(struct sl_cli *cli)
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    char *path = NULL;

    if (state != NULL && state[0] == '/') {
        path = sl_arena_printf(&cli->arena, "%s/silt/history", state);
    } else if (home != NULL && home[0] == '/') {
        path = sl_arena_printf(&cli->arena, "%s/.local/state/silt/history", home);
    }
    for (char *c = path != NULL ? path + 1 : NULL; c != NULL && *c != '\0'; c++) {
        if (*c != '/') {
            continue;
        }
        *c = '\0';
        const bool there = mkdir(path, PRIVATE_FOLDER) == 0 || errno == EEXIST;
        *c = '/';
        if (!there) {
            return NULL;
        }
    }
    return path;
}

/* Keeps what was typed as one line; a comment to the end of a line would swallow what follows it. */
static void remember(struct sl_shell *shell)
{
    const struct sl_str text = sl_str_trim(sl_buf_view(&shell->text));
    char *line = NULL;

    if (text.len == 0 || holds_secret(text)) {
        return;
    }
    line = sl_arena_strdup(&shell->cli->arena, text);
    if (line == NULL) {
        return;
    }
    if (sl_str_find(text, SL_STR("--")) == SIZE_MAX) {
        for (char *c = line; *c != '\0'; c++) {
            *c = *c == '\n' ? ' ' : *c;
        }
    }
    sl_line_editor_remember(shell->editor, line);
}

static void run_statements(struct sl_shell *shell)
{
    const struct sl_str text = sl_str_make(sl_buf_cstr(&shell->text), shell->text.len);
    const struct sl_run_sql options = {.format = shell->format, .show_time = shell->timing, .shown = text};
    sl_signals_reset();
    (void)sl_run_sql(shell->cli, text, &options); /* errors are on the screen */
    sl_signals_reset();
}

/* The command that a first line without a backslash means, out of habit of other shells; ptr NULL if none. */
static struct sl_str habit(struct sl_str line)
{
    static const char *const words[][2] = {{"quit", "\\q"}, {"exit", "\\q"}, {"help", "\\?"}};
    const size_t len = line.len > 0 && line.ptr[line.len - 1] == ';' ? line.len - 1 : line.len;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (sl_str_eq_nocase(sl_str_sub(line, 0, len), sl_str_from(words[i][0]))) {
            return sl_str_from(words[i][1]);
        }
    }
    return (struct sl_str){0};
}

/* A whole line has been typed: runs it, or goes on when more is to come. */
static void take_line(struct sl_shell *shell, size_t begin)
{
    struct sl_str line = sl_str_trim(sl_str_sub(sl_buf_view(&shell->text), begin, shell->text.len));

    if (begin == 0 && habit(line).ptr != NULL) {
        line = habit(line);
    }
    if (begin == 0 && line.len > 0 && line.ptr[0] == '\\') {
        remember(shell);
        sl_signals_reset();
        sl_shell_command(shell, line);
        sl_signals_reset();
    } else if (sl_str_trim(sl_buf_view(&shell->text)).len == 0) {
        /* nothing typed */
    } else if (!silt_sql_is_complete(shell->text.data, shell->text.len)) {
        return;
    } else {
        remember(shell);
        run_statements(shell);
    }
    sl_buf_clear(&shell->text);
}

static void read_lines(struct sl_shell *shell)
{
    while (!shell->quit && !sl_out_is_broken(&shell->cli->out)) {
        const size_t begin = shell->text.len;
        switch (sl_line_editor_read(shell->editor, begin == 0 ? "silt> " : "  ...> ", &shell->text)) {
        case SL_LINE_DONE: take_line(shell, begin); break;
        case SL_LINE_CANCEL: sl_buf_clear(&shell->text); break;
        case SL_LINE_CLOSED: shell->quit = true; break;
        }
        if (shell->text.status != SILT_OK) {
            sl_report_note(shell->cli, "the statement is too long and was forgotten");
            sl_buf_clear(&shell->text);
        }
        sl_signals_reset();
    }
}

int sl_shell_run(struct sl_cli *cli)
{
    struct sl_shell shell = {.cli = cli, .format = sl_cli_format(cli), .timing = true};
    const struct sl_line_editor_options options = {
        .history_path = history_path(cli), .complete = sl_shell_complete, .ctx = &shell};
    silt_error err = SILT_ERROR_INIT;

    if (sl_line_editor_open(cli->env, &options, &shell.editor, &err) != SILT_OK) {
        return sl_report_error(cli, &err, (struct sl_str){0});
    }
    sl_buf_init(&shell.text, cli->env);
    sl_report_note(cli, "silt %s. Statements end with a semicolon; \\? is for help, \\q leaves.", SILT_VERSION_STRING);
    read_lines(&shell);
    sl_buf_release(&shell.text);
    sl_line_editor_close(shell.editor);
    return SL_EXIT_DONE;
}
