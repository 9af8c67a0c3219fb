/*
 * A thin layer over libedit; see line_editor.h. While a line is edited the terminal makes no signals: Ctrl-C is a key like others, and
 * nothing is interrupted at the wrong moment.
 */
#include "cli/line_editor.h"

#include <errno.h>
#include <histedit.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"
#include "cli/text_width.h"

#define HISTORY_LINES 2000
#define LISTED_MAX 200
#define USUAL_WIDTH 80

struct sl_line_editor {
    const silt_env *env;
    struct sl_line_editor_options options;
    EditLine *el;
    History *history;
    const char *prompt;
    bool cancelled;
};

struct sl_completions {
    struct sl_arena arena;
    struct sl_vec words; /* struct sl_str */
};

void sl_completions_add(struct sl_completions *completions, struct sl_str word)
{
    struct sl_str *slot = NULL;
    for (size_t i = 0; i < completions->words.len; i++) {
        if (sl_str_eq(*(struct sl_str *)sl_vec_at(&completions->words, i), word)) {
            return;
        }
    }
    const struct sl_str copy = sl_arena_copy(&completions->arena, word);
    slot = copy.ptr != NULL ? sl_vec_push(&completions->words) : NULL;
    if (slot != NULL) {
        *slot = copy; /* out of memory: one suggestion less */
    }
}

static char *get_prompt(EditLine *el)
{
    struct sl_line_editor *editor = NULL;
    (void)el_get(el, EL_CLIENTDATA, &editor);
    return (char *)(uintptr_t)editor->prompt; /* libedit does not write to it */
}

static unsigned char on_cancel(EditLine *el, int key)
{
    struct sl_line_editor *editor = NULL;
    (void)key;
    (void)el_get(el, EL_CLIENTDATA, &editor);
    editor->cancelled = true;
    return CC_NEWLINE;
}

static unsigned char on_suspend(EditLine *el, int key)
{
    (void)key;
    (void)el_set(el, EL_PREP_TERM, 0);
    (void)raise(SIGTSTP); /* goes on here when the program is continued */
    (void)el_set(el, EL_PREP_TERM, 1);
    return CC_REDISPLAY;
}

/* Bytes that all words have in common at their beginning. */
static size_t common_len(const struct sl_vec *words)
{
    const struct sl_str first = *(struct sl_str *)sl_vec_at(words, 0);
    size_t len = first.len;
    for (size_t i = 1; i < words->len; i++) {
        const struct sl_str word = *(struct sl_str *)sl_vec_at(words, i);
        size_t same = 0;
        while (same < len && same < word.len && word.ptr[same] == first.ptr[same]) {
            same++;
        }
        len = same;
    }
    while (len > 0 && len < first.len && ((unsigned char)first.ptr[len] & 0xC0) == 0x80) {
        len--; /* not within a character */
    }
    return len;
}

/* The words below the line, in columns. */
static void list_words(const struct sl_vec *words)
{
    size_t widest = 0;
    size_t column = 0;
    const size_t n = words->len < LISTED_MAX ? words->len : LISTED_MAX;

    for (size_t i = 0; i < n; i++) {
        const size_t width = sl_text_width(*(struct sl_str *)sl_vec_at(words, i));
        widest = width > widest ? width : widest;
    }
    (void)fputc('\n', stdout);
    for (size_t i = 0; i < n; i++) {
        const struct sl_str word = *(struct sl_str *)sl_vec_at(words, i);
        const bool ends_line = column + 2 * (widest + 2) > USUAL_WIDTH || i + 1 == n;
        (void)fprintf(stdout, "%.*s", SL_FMT(word));
        column = ends_line ? 0 : column + widest + 2;
        (void)fprintf(stdout, "%*s", ends_line ? 0 : (int)(widest + 2 - sl_text_width(word)), "");
        (void)fputs(ends_line ? "\n" : "", stdout);
    }
    if (words->len > n) {
        (void)fprintf(stdout, "and %zu more\n", words->len - n);
    }
    (void)fflush(stdout);
}

/* Replaces the word before the cursor. */
static void replace_word(EditLine *el, size_t typed_len, struct sl_str word, bool whole)
{
    char text[512];
    const int len = snprintf(text, sizeof(text), "%.*s%s", SL_FMT(word), whole ? " " : "");
    if (len > 0 && (size_t)len < sizeof(text)) {
        el_deletestr(el, (int)typed_len);
        (void)el_insertstr(el, text);
    }
}

static unsigned char complete_word(struct sl_line_editor *editor, struct sl_completions *completions)
{
    const LineInfo *line = el_line(editor->el);
    const struct sl_str before = sl_str_make(line->buffer, (size_t)(line->cursor - line->buffer));
    size_t begin = before.len;

    editor->options.complete(editor->options.ctx, before, &begin, completions);
    if (completions->words.len == 0) {
        return CC_REFRESH_BEEP;
    }
    const struct sl_str first = *(struct sl_str *)sl_vec_at(&completions->words, 0);
    const size_t typed_len = before.len - begin;
    const size_t common = common_len(&completions->words);
    if (completions->words.len == 1) {
        replace_word(editor->el, typed_len, first, first.len > 0 && first.ptr[first.len - 1] != '.');
        return CC_REFRESH;
    }
    if (common > typed_len) {
        replace_word(editor->el, typed_len, sl_str_sub(first, 0, common), false);
        return CC_REFRESH;
    }
    list_words(&completions->words);
    return CC_REDISPLAY;
}

static unsigned char on_complete(EditLine *el, int key)
{
    struct sl_line_editor *editor = NULL;
    struct sl_completions completions;
    (void)key;
    (void)el_get(el, EL_CLIENTDATA, &editor);
    sl_arena_init(&completions.arena, editor->env);
    sl_vec_init(&completions.words, editor->env, sizeof(struct sl_str));
    const unsigned char answer = complete_word(editor, &completions);
    sl_vec_release(&completions.words);
    sl_arena_release(&completions.arena);
    return answer;
}

/* All of these fail only for arguments that libedit does not know. */
static void configure(struct sl_line_editor *editor)
{
    EditLine *el = editor->el;
    (void)el_set(el, EL_CLIENTDATA, editor);
    (void)el_set(el, EL_PROMPT, get_prompt);
    (void)el_set(el, EL_EDITOR, "emacs");
    (void)el_set(el, EL_HIST, history, editor->history);
    (void)el_set(el, EL_ADDFN, "silt-cancel", "forget the line", on_cancel);
    (void)el_set(el, EL_ADDFN, "silt-suspend", "stop the program", on_suspend);
    (void)el_set(el, EL_ADDFN, "silt-complete", "complete the word", on_complete);
    (void)el_set(el, EL_BIND, "^I", "silt-complete", NULL);
    (void)el_set(el, EL_BIND, "^R", "em-inc-search-prev", NULL);
    (void)el_set(el, EL_BIND, "\\e[3~", "ed-delete-next-char", NULL);
    (void)el_set(el, EL_SETTY, "-d", "-isig", NULL);
    /* While a statement runs, Ctrl-C must not throw away what waits for output, such as the message that it stopped. */
    (void)el_set(el, EL_SETTY, "-x", "+noflsh", NULL);
    (void)el_set(el, EL_BIND, "^C", "silt-cancel", NULL);
    (void)el_set(el, EL_BIND, "^Z", "silt-suspend", NULL);
}

silt_status sl_line_editor_open(const silt_env *env, const struct sl_line_editor_options *options,
                                struct sl_line_editor **out, silt_error *err)
{
    struct sl_line_editor *editor = sl_alloc_zero(env, sizeof(*editor));
    HistEvent event;

    *out = NULL;
    if (editor == NULL) {
        return sl_fail_nomem(err);
    }
    editor->env = env;
    editor->options = *options;
    editor->prompt = "";
    sl_text_use_utf8(); /* libedit needs it to step over characters */
    editor->history = history_init();
    editor->el = editor->history != NULL ? el_init("silt", stdin, stdout, stderr) : NULL;
    if (editor->el == NULL) {
        sl_line_editor_close(editor);
        return sl_fail(err, SILT_EIO, "SILT_TERMINAL", "the terminal cannot be used for editing");
    }
    (void)history(editor->history, &event, H_SETSIZE, HISTORY_LINES);
    (void)history(editor->history, &event, H_SETUNIQUE, 1);
    if (options->history_path != NULL) {
        (void)history(editor->history, &event, H_LOAD, options->history_path); /* there is none at the first start */
    }
    configure(editor);
    *out = editor;
    return SILT_OK;
}

void sl_line_editor_close(struct sl_line_editor *editor)
{
    HistEvent event;
    if (editor == NULL) {
        return;
    }
    if (editor->el != NULL) {
        el_end(editor->el);
    }
    if (editor->history != NULL) {
        if (editor->options.history_path != NULL) {
            (void)history(editor->history, &event, H_SAVE, editor->options.history_path); /* made with mode 0600 */
        }
        history_end(editor->history);
    }
    sl_release(editor->env, editor, sizeof(*editor));
}

enum sl_line_end sl_line_editor_read(struct sl_line_editor *editor, const char *prompt, struct sl_buf *line)
{
    int len = 0;
    editor->prompt = prompt;
    editor->cancelled = false;
    /* Before the prompt is shown: a key that is pressed as soon as it stands there must not meet the terminal's own Ctrl-C. */
    (void)el_set(editor->el, EL_PREP_TERM, 1);
    errno = 0;
    const char *text = el_gets(editor->el, &len);
    editor->prompt = "";
    if (editor->cancelled || (text == NULL && errno == EINTR)) {
        (void)fputs("^C\n", stdout);
        (void)fflush(stdout);
        return SL_LINE_CANCEL;
    }
    if (text == NULL || len <= 0) {
        (void)fputc('\n', stdout);
        (void)fflush(stdout);
        return SL_LINE_CLOSED;
    }
    sl_buf_put(line, text, (size_t)len);
    return SL_LINE_DONE;
}

void sl_line_editor_remember(struct sl_line_editor *editor, const char *text)
{
    HistEvent event;
    (void)history(editor->history, &event, H_ENTER, text); /* a line less in the history is no failure */
}
