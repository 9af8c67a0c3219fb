/*
 * The interactive shell: statements over several lines, backslash commands, history, completion. Ctrl-C forgets the line or stops the
 * statement; errors do not end the shell.
 */
#ifndef SL_CLI_SHELL_H
#define SL_CLI_SHELL_H

#include "base/buf.h"
#include "cli/cli.h"
#include "cli/line_editor.h"

struct sl_shell {
    struct sl_cli *cli;
    struct sl_line_editor *editor;
    enum sl_format format;
    bool timing;
    bool quit;
    struct sl_buf text; /* the statements being typed */
};

/* Runs until \q or Ctrl-D; returns the exit code. */
int sl_shell_run(struct sl_cli *cli);

/* A line that begins with a backslash. Errors are reported. */
void sl_shell_command(struct sl_shell *shell, struct sl_str line);
/* Completion of the shell's lines; ctx is the shell. */
void sl_shell_complete(void *ctx, struct sl_str before, size_t *begin, struct sl_completions *completions);

#endif
