/*
 * Lines from a person at a terminal: editing, history and completion by libedit. One owner; nothing of it runs while statements do.
 */
#ifndef SL_CLI_LINE_EDITOR_H
#define SL_CLI_LINE_EDITOR_H

#include "base/buf.h"
#include "base/str.h"
#include "silt/env.h"
#include "silt/status.h"

enum sl_line_end {
    SL_LINE_DONE,   /* a line */
    SL_LINE_CANCEL, /* Ctrl-C: what was typed is to be forgotten */
    SL_LINE_CLOSED  /* Ctrl-D, or the terminal went away */
};

/* Completions of one word. */
struct sl_completions;
void sl_completions_add(struct sl_completions *completions, struct sl_str word);

struct sl_line_editor_options {
    const char *history_path; /* NULL: history is not kept */
    /* Adds what can stand at the end of `before` (the line up to the cursor); *begin: where the word starts. */
    void (*complete)(void *ctx, struct sl_str before, size_t *begin, struct sl_completions *completions);
    void *ctx;
};

struct sl_line_editor;
silt_status sl_line_editor_open(const silt_env *env, const struct sl_line_editor_options *options,
                                struct sl_line_editor **out, silt_error *err);
/* Saves the history. NULL is legal. */
void sl_line_editor_close(struct sl_line_editor *editor);
/* Appends one line, with its line break. prompt is borrowed during the call. */
enum sl_line_end sl_line_editor_read(struct sl_line_editor *editor, const char *prompt, struct sl_buf *line);
void sl_line_editor_remember(struct sl_line_editor *editor, const char *text);

#endif
