/*
 * The error record: texts are brought to one line of valid UTF-8 and cut between characters, whatever a path or a foreign
 * message holds. Every part of silt reports through here. Nothing allocates; any thread.
 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mask.h"
#include "base/str.h"
#include "base/utf8.h"

struct status_entry {
    const char *name;
    const char *code_name; /* the class of an error that names none */
};

static const struct status_entry statuses[] = {
    [SILT_OK] = {"OK", ""},
    [SILT_EINVALID] = {"EINVALID", "SILT_INVALID_ARGUMENT"},
    [SILT_ENOMEM] = {"ENOMEM", "SILT_OUT_OF_MEMORY"},
    [SILT_EIO] = {"EIO", "SILT_IO"},
    [SILT_ENOTFOUND] = {"ENOTFOUND", "SILT_NOT_FOUND"},
    [SILT_EEXISTS] = {"EEXISTS", "SILT_ALREADY_EXISTS"},
    [SILT_EACCESS] = {"EACCESS", "SILT_ACCESS_DENIED"},
    [SILT_ENOTTABLE] = {"ENOTTABLE", "DELTA_MISSING_DELTA_TABLE"},
    [SILT_ECORRUPT] = {"ECORRUPT", "SILT_CORRUPT"},
    [SILT_EUNSUPPORTED] = {"EUNSUPPORTED", "SILT_UNSUPPORTED"},
    [SILT_ESCHEMA] = {"ESCHEMA", "DELTA_SCHEMA_MISMATCH"},
    [SILT_ECONSTRAINT] = {"ECONSTRAINT", "DELTA_VIOLATE_CONSTRAINT"},
    [SILT_ECONFLICT] = {"ECONFLICT", "DELTA_CONCURRENT_WRITE"},
    [SILT_EUNKNOWN] = {"EUNKNOWN", "SILT_COMMIT_OUTCOME_UNKNOWN"},
    [SILT_ECANCELLED] = {"ECANCELLED", "SILT_CANCELLED"},
    [SILT_EDEADLINE] = {"EDEADLINE", "SILT_DEADLINE_EXCEEDED"},
    [SILT_ESYNTAX] = {"ESYNTAX", "PARSE_SYNTAX_ERROR"},
    [SILT_EENGINE] = {"EENGINE", "SILT_ENGINE_FAILURE"},
    [SILT_ENOSPACE] = {"ENOSPACE", "SILT_NO_SPACE"},
    [SILT_ELIMIT] = {"ELIMIT", "SILT_LIMIT_EXCEEDED"},
};

#define N_STATUSES (sizeof(statuses) / sizeof(statuses[0]))

const char *silt_status_name(silt_status status)
{
    return (size_t)status < N_STATUSES ? statuses[status].name : "?";
}

static const char *default_code_name(silt_status status)
{
    return (size_t)status < N_STATUSES ? statuses[status].code_name : "SILT_UNKNOWN";
}

/*
 * Whether the record can be filled. A record of an unknown, smaller layout is left alone; size 0 is a record that was zeroed
 * instead of initialised, of the layout that there always was.
 */
static bool is_usable(const silt_error *err)
{
    return err != NULL && (err->size == 0 || err->size >= sizeof(*err));
}

void silt_error_reset(silt_error *err)
{
    if (!is_usable(err)) {
        return;
    }
    const uint32_t size = err->size == 0 ? (uint32_t)sizeof(*err) : err->size;
    *err = (silt_error)SILT_ERROR_INIT;
    err->size = size;
}

static bool breaks_line(uint32_t code_point)
{
    return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0) || code_point == 0x2028 ||
           code_point == 0x2029;
}

/* Copies text into a field of `size` bytes: one line, valid UTF-8, cut between characters, NUL-terminated. */
static void put_text(char *field, size_t size, struct sl_str text)
{
    size_t len = 0;
    size_t pos = 0;
    while (pos < text.len) {
        uint32_t code_point = 0;
        char bytes[4] = {'?'};
        size_t n = 1;
        if (text.ptr[pos] >= 0x20 && text.ptr[pos] < 0x7F && len + 1 < size) {
            field[len++] = text.ptr[pos++]; /* nearly all; files that are looked for in vain make many a text */
            continue;
        }
        if (!sl_utf8_next(text, &pos, &code_point)) {
            pos++;
        } else if (breaks_line(code_point)) {
            bytes[0] = ' ';
        } else {
            n = sl_utf8_encode(code_point, bytes);
        }
        if (len + n >= size) {
            break;
        }
        memcpy(field + len, bytes, n);
        len += n;
    }
    field[len] = '\0';
}

/* Formats into a buffer of its own, since arguments may point into the record that is to be filled; secrets in URLs are masked. */
static struct sl_str format_text(char *buffer, size_t size, const char *format, va_list args)
{
    const int len = vsnprintf(buffer, size, format, args);
    if (len < 0) {
        return SL_STR("(message could not be formatted)");
    }
    return sl_str_make(buffer, sl_mask_secrets(buffer, (size_t)len < size ? (size_t)len : size - 1));
}

silt_status sl_failv(silt_error *err, silt_status status, const char *code_name, const char *format, va_list args)
{
    if (!is_usable(err)) {
        return status;
    }
    char buffer[SILT_ERROR_MESSAGE_SIZE * 2];
    char code[SILT_ERROR_CODE_SIZE];
    const struct sl_str text = format_text(buffer, sizeof(buffer), format, args);
    if (code_name == NULL || code_name[0] == '\0') {
        code_name = default_code_name(status);
    }
    put_text(code, sizeof(code), sl_str_from(code_name));
    silt_error_reset(err);
    err->status = status;
    memcpy(err->code_name, code, sizeof(code));
    put_text(err->message, sizeof(err->message), text);
    return status;
}

silt_status sl_fail(silt_error *err, silt_status status, const char *code_name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sl_failv(err, status, code_name, format, args);
    va_end(args);
    return status;
}

silt_status sl_fail_nomem(silt_error *err)
{
    return sl_fail(err, SILT_ENOMEM, NULL, "out of memory");
}

static silt_status status_of_errno(int errnum)
{
    switch (errnum) {
    case ENOENT:
    case ENOTDIR: return SILT_ENOTFOUND;
    case EACCES:
    case EPERM:
    case EROFS: return SILT_EACCESS;
    case ENOSPC:
    case EDQUOT: return SILT_ENOSPACE;
    case EEXIST: return SILT_EEXISTS;
    case ENOMEM: return SILT_ENOMEM;
    default: return SILT_EIO;
    }
}

/* The system's words for an errno value, in English where the C library can be asked for that. */
static void describe_errno(int errnum, char *out, size_t size)
{
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 32)
    const char *text = strerrordesc_np(errnum);
    (void)snprintf(out, size, "%s", text != NULL ? text : "unknown error");
#else
    if (strerror_r(errnum, out, size) != 0) {
        (void)snprintf(out, size, "unknown error");
    }
#endif
    /* "No such file" → "no such file", but "I/O error" stays. */
    if (out[0] >= 'A' && out[0] <= 'Z' && out[1] >= 'a' && out[1] <= 'z') {
        out[0] = (char)(out[0] - 'A' + 'a');
    }
}

silt_status sl_fail_errno(silt_error *err, int errnum, const char *operation, const char *path)
{
    char text[128];
    describe_errno(errnum, text, sizeof(text));
    const silt_status status = status_of_errno(errnum);
    if (path != NULL) {
        sl_fail(err, status, NULL, "cannot %s %s: %s (errno %d)", operation, path, text, errnum);
        sl_error_path(err, path);
    } else {
        sl_fail(err, status, NULL, "cannot %s: %s (errno %d)", operation, text, errnum);
    }
    if (is_usable(err)) {
        err->sys_code = errnum;
    }
    if (errnum == EMFILE) {
        sl_error_hint(err,
                      "raise the limit of open files of a process (ulimit -n); a scan takes two for each remote file");
    }
    return status;
}

bool sl_error_is(const silt_error *err, const char *code_name)
{
    return err != NULL && strcmp(err->code_name, code_name) == 0;
}

void sl_error_hint(silt_error *err, const char *format, ...)
{
    if (!is_usable(err)) {
        return;
    }
    char buffer[SILT_ERROR_HINT_SIZE * 2];
    va_list args;
    va_start(args, format);
    const struct sl_str text = format_text(buffer, sizeof(buffer), format, args);
    va_end(args);
    put_text(err->hint, sizeof(err->hint), text);
}

void sl_error_path(silt_error *err, const char *path)
{
    if (!is_usable(err) || path == NULL) {
        return;
    }
    char copy[SILT_ERROR_PATH_SIZE];
    struct sl_str tail = sl_str_from(path);
    if (tail.len >= sizeof(copy)) {
        tail = sl_str_sub(tail, tail.len - (sizeof(copy) - 1), tail.len);
        /* Do not start inside a character. */
        while (tail.len > 0 && ((unsigned char)tail.ptr[0] & 0xC0u) == 0x80u) {
            tail = sl_str_sub(tail, 1, tail.len);
        }
    }
    put_text(copy, sizeof(copy), tail);
    copy[sl_mask_secrets(copy, strlen(copy))] = '\0';
    memcpy(err->path, copy, sizeof(copy));
}

void sl_error_version(silt_error *err, int64_t version)
{
    if (is_usable(err)) {
        err->version = version;
    }
}

void sl_error_position(silt_error *err, size_t position)
{
    if (is_usable(err)) {
        err->position = position <= INT32_MAX ? (int32_t)position : -1;
    }
}

void sl_error_context(silt_error *err, const char *format, ...)
{
    if (!is_usable(err)) {
        return;
    }
    char buffer[SILT_ERROR_MESSAGE_SIZE * 3];
    va_list args;
    va_start(args, format);
    const struct sl_str context = format_text(buffer, SILT_ERROR_MESSAGE_SIZE, format, args);
    va_end(args);
    if (context.ptr != buffer) {
        return;
    }
    const size_t len = context.len;
    (void)snprintf(buffer + len, sizeof(buffer) - len, ": %s", err->message); /* cut by put_text anyway */
    put_text(err->message, sizeof(err->message), sl_str_from(buffer));
    err->position = -1;
}

silt_status sl_error_take(silt_error *err, const silt_error *from)
{
    if (err != NULL) {
        const uint32_t size = err->size;
        *err = *from;
        err->size = size;
    }
    return from->status;
}
