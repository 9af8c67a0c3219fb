/*
 * Error lines and exit codes; see report_error.h.
 */
#include "cli/report_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/utf8.h"

/*
 * Messages quote what came from files and stores. Control characters in them would break the promise of one line, and could
 * talk to the terminal.
 */
static void put_line_text(struct sl_buf *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        const unsigned char byte = (unsigned char)*c;
        sl_buf_put_char(out, byte < 0x20 || byte == 0x7F ? ' ' : *c);
    }
}

/* Line and column, both from 1, of a byte offset. */
static void find_place(struct sl_str text, size_t offset, size_t *line, size_t *column)
{
    size_t line_begin = 0;
    *line = 1;
    for (size_t i = 0; i < offset; i++) {
        if (text.ptr[i] == '\n') {
            *line += 1;
            line_begin = i + 1;
        }
    }
    *column = 1;
    for (size_t i = line_begin; i < offset; i++) {
        *column += ((unsigned char)text.ptr[i] & 0xC0) != 0x80; /* continuation bytes are no characters */
    }
}

static void write_stderr(struct sl_cli *cli, const struct sl_buf *buf)
{
    sl_out_flush(&cli->out); /* what was printed before comes before it on a terminal */
    sl_progress_wipe(&cli->progress);
    size_t done = 0;
    while (done < buf->len) {
        const ssize_t n = write(STDERR_FILENO, buf->data + done, buf->len - done);
        if (n <= 0) {
            return; /* there is nowhere to report it to */
        }
        done += (size_t)n;
    }
}

/* Who gave up after some attempts knows no more than that; silt doctor finds out more. */
static void put_hint(const struct sl_cli *cli, const silt_error *err, struct sl_buf *out)
{
    const bool is_store = sl_exit_code(err) == SL_EXIT_STORE;
    const bool is_doctor = cli->command != NULL && strcmp(cli->command->name, "doctor") == 0;
    const bool gave_up = strncmp(err->hint, "gave up after ", strlen("gave up after ")) == 0;
    if (err->hint[0] == '\0') {
        return;
    }
    sl_buf_put_c(out, "hint: ");
    put_line_text(out, err->hint);
    if (is_store && gave_up && !is_doctor) {
        sl_buf_put_c(out, "; silt doctor TABLE says step by step what fails");
    }
    sl_buf_put_char(out, '\n');
}

int sl_report_error(struct sl_cli *cli, const silt_error *err, struct sl_str text)
{
    struct sl_buf line;
    size_t row = 0;
    size_t column = 0;

    sl_buf_init(&line, cli->env);
    sl_buf_printf(&line, "error: [%s] ", err->code_name[0] != '\0' ? err->code_name : silt_status_name(err->status));
    put_line_text(&line, err->message);
    if (text.ptr != NULL && err->position >= 0 && (size_t)err->position <= text.len) {
        find_place(text, (size_t)err->position, &row, &column);
        sl_buf_printf(&line, " (line %zu, column %zu)", row, column);
    }
    sl_buf_put_char(&line, '\n');
    put_hint(cli, err, &line);
    write_stderr(cli, &line);
    sl_buf_release(&line);
    return sl_exit_code(err);
}

/* A table that is not there by its name in SQL, or a file of one that is gone: as a table that is not there by its path, or a broken file. */
static bool is_absent(const silt_error *err)
{
    return sl_error_is(err, "TABLE_OR_VIEW_NOT_FOUND") ||
           (err->status == SILT_ENOTFOUND &&
            (sl_error_is(err, "DELTA_FILE_NOT_FOUND") || sl_error_is(err, "DELTA_LOG_FILE_NOT_FOUND")));
}

/* A statement that silt lacks, or a table that it may not write, says nothing about reading. */
static bool is_of_reading(const char *code_name)
{
    static const char *const codes[] = {
        "DELTA_UNSUPPORTED_FEATURES_FOR_READ",
        "DELTA_INVALID_PROTOCOL_VERSION",
        "DELTA_UNSUPPORTED_TYPE_CHANGE_IN_SCHEMA",
        "DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH",
    };
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (strcmp(code_name, codes[i]) == 0) {
            return true;
        }
    }
    return false;
}

int sl_exit_code(const silt_error *err)
{
    if (strcmp(err->code_name, "SILT_USAGE") == 0) {
        return SL_EXIT_USAGE;
    }
    if (strcmp(err->code_name, SL_OUTPUT_CODE) == 0) {
        return SL_EXIT_FAILED; /* the result's place is no store of tables */
    }
    if (sl_error_is(err, SL_BUCKET_NOT_FOUND) || sl_error_is(err, SL_CONDITIONS_CODE)) {
        return SL_EXIT_STORE;
    }
    if (is_absent(err)) {
        return SL_EXIT_UNREADABLE;
    }
    switch (err->status) {
    case SILT_OK: return SL_EXIT_DONE;
    case SILT_ECONFLICT: return SL_EXIT_CONFLICT;
    case SILT_ENOTTABLE:
    case SILT_ECORRUPT: return SL_EXIT_UNREADABLE;
    case SILT_EUNSUPPORTED: return is_of_reading(err->code_name) ? SL_EXIT_UNREADABLE : SL_EXIT_FAILED;
    case SILT_EIO:
    case SILT_EACCESS:
    case SILT_ENOSPACE:
    case SILT_EDEADLINE:
    case SILT_EUNKNOWN: return SL_EXIT_STORE;
    default: return SL_EXIT_FAILED;
    }
}

void sl_report_note(struct sl_cli *cli, const char *format, ...)
{
    struct sl_buf line;
    char text[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    sl_buf_init(&line, cli->env);
    put_line_text(&line, text);
    sl_buf_put_char(&line, '\n');
    write_stderr(cli, &line);
    sl_buf_release(&line);
}
