/*
 * DuckDB's errors as silt's. The database runs with errors_as_json, so that the kind, the position and the names come apart;
 * what arrives before or outside a statement is plain text ("Kind Error: message") and is taken apart here as well.
 *
 * A message raised by SQL's error() that begins with "[CLASS] " keeps that class: this is how checks that are written into
 * a query (NOT NULL, constraints) report themselves.
 */
#include "duck.h"

#include <limits.h>

#include "base/env.h"
#include "base/error.h"
#include "base/utf8.h"
#include "json/json.h"
#include "duck_fetch.h"

struct kind_row {
    const char *kind;
    silt_status status;
    const char *code;
};

static const struct kind_row KINDS[] = {
    {"Conversion", SILT_ESCHEMA, "CAST_INVALID_INPUT"},
    {"Out of Range", SILT_ESCHEMA, "ARITHMETIC_OVERFLOW"},
    {"Decimal", SILT_ESCHEMA, "ARITHMETIC_OVERFLOW"},
    {"Divide by Zero", SILT_ESCHEMA, "DIVIDE_BY_ZERO"},
    {"Mismatch Type", SILT_ESCHEMA, "DATATYPE_MISMATCH"},
    {"Invalid type", SILT_ESCHEMA, "DATATYPE_MISMATCH"},
    {"Invalid Type", SILT_ESCHEMA, "DATATYPE_MISMATCH"},
    {"Parser", SILT_ESYNTAX, "PARSE_SYNTAX_ERROR"},
    {"Syntax", SILT_ESYNTAX, "PARSE_SYNTAX_ERROR"},
    {"Binder", SILT_ESYNTAX, "UNRESOLVED_EXPRESSION"},
    {"Catalog", SILT_ESYNTAX, "UNRESOLVED_NAME"},
    {"Expression", SILT_ESYNTAX, "UNRESOLVED_EXPRESSION"},
    {"Parameter Not Resolved", SILT_ESYNTAX, "UNBOUND_SQL_PARAMETER"},
    {"Parameter Not Allowed", SILT_ESYNTAX, "UNBOUND_SQL_PARAMETER"},
    {"Not implemented", SILT_EUNSUPPORTED, "UNSUPPORTED_FEATURE"},
    {"Missing Extension", SILT_EUNSUPPORTED, "UNSUPPORTED_FEATURE"},
    {"Extension Autoloading", SILT_EUNSUPPORTED, "UNSUPPORTED_FEATURE"},
    {"Permission", SILT_EACCESS, NULL},
    {"Constraint", SILT_ECONSTRAINT, NULL},
    {"Out of Memory", SILT_ENOMEM, "OUT_OF_MEMORY"},
};

/* An error taken apart; views into the JSON document or the text. */
struct fault {
    struct sl_str kind;
    struct sl_str message;
    struct sl_str subtype;
    struct sl_str object;     /* kind of a missing catalog entry */
    struct sl_str name;       /* that was not found */
    struct sl_str candidates; /* names like it, with commas between them */
    int64_t position;         /* -1 if none */
    struct sl_str sql;        /* of the statement that failed; absent if not known */
};

static void read_json(const sl_json *root, struct fault *fault)
{
    fault->kind = sl_json_member_text(root, "exception_type");
    fault->message = sl_json_member_text(root, "exception_message");
    fault->subtype = sl_json_member_text(root, "error_subtype");
    fault->object = sl_json_member_text(root, "type");
    fault->name = sl_json_member_text(root, "name");
    fault->candidates = sl_json_member_text(root, "candidates");
    const struct sl_str position = sl_json_member_text(root, "position");
    if (position.ptr == NULL || !sl_str_to_i64(position, &fault->position)) {
        fault->position = -1;
    }
}

static void read_plain(struct sl_str text, struct fault *fault)
{
    const struct sl_str mark = SL_STR(" Error: ");
    const size_t at = sl_str_find(text, mark);
    if (at != SIZE_MAX && at < 40) {
        fault->kind = sl_str_sub(text, 0, at);
        fault->message = sl_str_sub(text, at + mark.len, text.len);
    } else {
        fault->message = text;
    }
}

/* The first line: what follows are excerpts of the query and advice about DuckDB's own options. */
static struct sl_str first_line(struct sl_str text)
{
    const size_t end = sl_str_find(text, SL_STR("\n"));
    return sl_str_trim(end == SIZE_MAX ? text : sl_str_sub(text, 0, end));
}

static bool contains(struct sl_str text, const char *part)
{
    return sl_str_find(text, sl_str_from(part)) != SIZE_MAX;
}

/* "[SOME_CLASS] text" → class into code, the text returned. */
static struct sl_str split_class(struct sl_str message, char code[SILT_ERROR_CODE_SIZE])
{
    code[0] = '\0';
    if (message.len < 3 || message.ptr[0] != '[') {
        return message;
    }
    const size_t end = sl_str_find(message, SL_STR("] "));
    if (end == SIZE_MAX || end - 1 >= SILT_ERROR_CODE_SIZE || end < 2) {
        return message;
    }
    for (size_t i = 1; i < end; i++) {
        const char c = message.ptr[i];
        if (!((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.')) {
            return message;
        }
    }
    memcpy(code, message.ptr + 1, end - 1);
    code[end - 1] = '\0';
    return sl_str_sub(message, end + 2, message.len);
}

/* A table by a name of several parts of which the first is not there: DuckDB gives these no subtype. */
static bool is_absent_table(const struct fault *fault)
{
    const struct sl_str message = first_line(fault->message);
    if (sl_str_eq_c(fault->kind, "Catalog")) {
        return sl_str_starts_with(message, SL_STR("Table with name ")) && contains(message, "does not exist");
    }
    return sl_str_eq_c(fault->kind, "Binder") && sl_str_starts_with(message, SL_STR("Catalog \"")) &&
           sl_str_ends_with(message, SL_STR("\" does not exist!"));
}

static const char *refine_code(const struct fault *fault, const char *code)
{
    if (is_absent_table(fault)) {
        return "TABLE_OR_VIEW_NOT_FOUND";
    }
    if (sl_str_eq_c(fault->subtype, "COLUMN_NOT_FOUND")) {
        return "UNRESOLVED_COLUMN";
    }
    if (sl_str_eq_c(fault->subtype, "MISSING_ENTRY")) {
        if (sl_str_eq_c(fault->object, "Table") || sl_str_eq_c(fault->object, "View")) {
            return "TABLE_OR_VIEW_NOT_FOUND";
        }
        return contains(fault->object, "Function") ? "UNRESOLVED_ROUTINE" : code;
    }
    return code;
}

/* The path in quotes that a message about a file names, else absent. */
static struct sl_str quoted_path(struct sl_str message)
{
    const size_t begin = sl_str_find(message, SL_STR("\""));
    if (begin == SIZE_MAX) {
        return (struct sl_str){NULL, 0};
    }
    const struct sl_str rest = sl_str_sub(message, begin + 1, message.len);
    const size_t end = sl_str_find(rest, SL_STR("\""));
    return end == SIZE_MAX ? (struct sl_str){NULL, 0} : sl_str_sub(rest, 0, end);
}

/* Takes the escapes of sl_duck_put_path out again; keeps the end of what is too long. */
static void plain_path(struct sl_str path, char out[SILT_ERROR_PATH_SIZE])
{
    char buffer[4 * SILT_ERROR_PATH_SIZE];
    const struct sl_str tail = sl_str_sub(path, path.len > sizeof(buffer) ? path.len - sizeof(buffer) : 0, path.len);
    size_t n = 0;
    for (size_t i = 0; i < tail.len; i++) {
        const bool escape = tail.len - i > 2 && tail.ptr[i] == '[' && tail.ptr[i + 2] == ']';
        i += escape ? 1 : 0;
        buffer[n++] = tail.ptr[i];
        i += escape ? 1 : 0;
    }
    const size_t keep = n < SILT_ERROR_PATH_SIZE - 1 ? n : SILT_ERROR_PATH_SIZE - 1;
    memcpy(out, buffer + (n - keep), keep);
    out[keep] = '\0';
}

/* What the reader of Parquet says of bytes that it cannot make out: it has no kind of error for that. */
static bool is_broken_file(const struct fault *fault)
{
    static const char *const signs[] = {
        "magic bytes",
        "to be a Parquet file",
        "TProtocol",
        "TType",
        "footer",
        "Footer",
        "Failed to read file",
        "Decompression failure",
        "don't know what type",
        "Out of buffer",
        "Could not read enough bytes",
        "likely corrupted",
        "negative number of rows",
        "Mismatch in parquet read",
        "Variable-length int over",
        "Negative size",
        "Exceeded size limit",
        "found in Parquet file", /* text that is no UTF-8 */
    };
    if (sl_str_starts_with(fault->message, SL_STR("["))) {
        return false; /* an error class of ours, with data in its text */
    }
    if (fault->message.len > 0 && sl_str_find(fault->sql, fault->message) != SIZE_MAX) {
        return false; /* the statement's own words, as in error('...') */
    }
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        if (contains(fault->message, signs[i])) {
            return true;
        }
    }
    return false;
}

/* The rest of the first line of a message that begins so; absent if none does. */
static struct sl_str line_after(struct sl_str message, struct sl_str begin)
{
    while (message.len > 0) {
        if (sl_str_starts_with(message, begin)) {
            return first_line(sl_str_sub(message, begin.len, message.len));
        }
        const size_t end = sl_str_find(message, SL_STR("\n"));
        message = sl_str_sub(message, end == SIZE_MAX ? message.len : end + 1, message.len);
    }
    return (struct sl_str){NULL, 0};
}

/* What DuckDB says below its first line, which has no more than a number. */
static silt_status fail_csv(const struct fault *fault, silt_error *err)
{
    static const struct sl_str head = {"CSV Error on Line: ", 19};
    const struct sl_str file = line_after(fault->message, SL_STR("  file = "));
    const struct sl_str number = line_after(fault->message, head);
    struct sl_str rest = fault->message;
    struct sl_str reason;
    do {
        const size_t end = sl_str_find(rest, SL_STR("\n"));
        rest = sl_str_sub(rest, end == SIZE_MAX ? rest.len : end + 1, rest.len);
        reason = first_line(rest);
    } while (sl_str_starts_with(reason, SL_STR("Original Line:")));
    /* A value that does not fit a column is no fault of the file. */
    const bool fits_not = sl_str_eq_c(fault->kind, "Conversion");
    return sl_fail(err, fits_not ? SILT_ESCHEMA : SILT_ECORRUPT,
                   fits_not ? "CAST_INVALID_INPUT" : "FAILED_READ_FILE.NO_HINT", "file %.*s, line %.*s: %.*s",
                   SL_FMT(file), SL_FMT(number), SL_FMT(reason));
}

/* By the beginning of the message: a text of the user's can hold the same words. */
static bool tells_no_parquet(struct sl_str message)
{
    return sl_str_starts_with(message, SL_STR("No magic bytes found at end of file '")) ||
           sl_str_starts_with(message, SL_STR("Footer length error in file '")) ||
           (sl_str_starts_with(message, SL_STR("File '")) && contains(message, "' too small to be a Parquet file"));
}

/*
 * Files that a query names itself. Those of tables do not come here: silt has read their footers before, so that what DuckDB says of footers is about
 * others. SILT_OK: the fault is another.
 */
static silt_status fail_named_file(const struct fault *fault, silt_error *err)
{
    const struct sl_str message = first_line(fault->message);
    const bool is_input = sl_str_eq_c(fault->kind, "Invalid Input");
    if (sl_str_starts_with(fault->message, SL_STR("CSV Error on Line: ")) &&
        line_after(fault->message, SL_STR("  file = ")).ptr != NULL) {
        return fail_csv(fault, err);
    }
    if ((is_input && sl_str_starts_with(message, SL_STR("Malformed JSON in file"))) ||
        (sl_str_eq_c(fault->kind, "IO") && contains(message, "is not a GZIP stream"))) {
        return sl_fail(err, SILT_ECORRUPT, "FAILED_READ_FILE.NO_HINT", "a file is broken: %.*s", SL_FMT(message));
    }
    if (is_input && sl_str_starts_with(message, SL_STR("File '")) && contains(message, "' is encrypted, but")) {
        return sl_fail(err, SILT_EUNSUPPORTED, "UNSUPPORTED_FEATURE", "file %.*s is encrypted",
                       SL_FMT(sl_str_sub(message, 6, sl_str_find(message, SL_STR("' is encrypted, but")))));
    }
    if (is_input && tells_no_parquet(message)) {
        return sl_fail(err, SILT_ECORRUPT, "FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER",
                       "a file is no Parquet file, or is broken: %.*s", SL_FMT(message));
    }
    return SILT_OK;
}

/* A URL that no file system of DuckDB takes. */
static silt_status fail_url(struct sl_str url, silt_error *err)
{
    const silt_status status = sl_fail(err, SILT_EUNSUPPORTED, "UNSUPPORTED_FEATURE",
                                       "%.*s: plain files are read and written on local file systems only; stores are "
                                       "for tables",
                                       SL_FMT(url));
    sl_error_hint(err, "copy the file to this machine first");
    return status;
}

static bool is_url(struct sl_str path)
{
    return sl_str_find(path, SL_STR("://")) != SIZE_MAX && !sl_str_starts_with(path, SL_STR("file:"));
}

static silt_status fail_io(const struct fault *fault, silt_error *err)
{
    const struct sl_str message = first_line(fault->message);
    silt_status status = SILT_EIO;
    if (contains(message, "No files found that match") || contains(message, "No such file or directory")) {
        const struct sl_str path = quoted_path(message);
        if (path.ptr != NULL) {
            char text[SILT_ERROR_PATH_SIZE];
            plain_path(path, text);
            if (is_url(sl_str_from(text))) {
                return fail_url(sl_str_from(text), err);
            }
            status = sl_fail(err, SILT_ENOTFOUND, "DELTA_FILE_NOT_FOUND", "file %s is not there", text);
            sl_error_path(err, text);
            return status;
        }
        status = SILT_ENOTFOUND;
    } else if (contains(message, "No space left")) {
        status = SILT_ENOSPACE;
    } else if (contains(message, "Permission denied")) {
        status = SILT_EACCESS;
    }
    return sl_fail(err, status, NULL, "%.*s", SL_FMT(message));
}

static silt_status fail_interrupt(struct sl_duck_conn *conn, const silt_call *call, silt_error *err)
{
    SL_TRY(sl_call_check(conn->dp->env, call, err));
    return sl_fail(err, SILT_ECANCELLED, NULL, "the statement was interrupted");
}

static silt_status fail_input(const struct fault *fault, silt_error *err)
{
    char code[SILT_ERROR_CODE_SIZE];
    const struct sl_str message = split_class(first_line(fault->message), code);
    if (code[0] != '\0') {
        const bool shape = strncmp(code, "CAST_", 5) == 0 || strncmp(code, "ARITHMETIC_", 11) == 0;
        return sl_fail(err, shape ? SILT_ESCHEMA : SILT_ECONSTRAINT, code, "%.*s", SL_FMT(message));
    }
    return sl_fail(err, SILT_EENGINE, "INVALID_INPUT", "%.*s", SL_FMT(message));
}

static void set_position(const struct fault *fault, struct sl_str sql, silt_error *err)
{
    if (fault->position < 0) {
        return;
    }
    size_t at = (size_t)fault->position;
    /* The parser counts characters, all later stages bytes. */
    if (sl_str_eq_c(fault->kind, "Parser")) {
        at = sl_utf8_prefix(sql, at);
    }
    if (at <= sql.len && at <= INT32_MAX) {
        sl_error_position(err, at);
    }
}

/* The database lists what it has; only a name that could have been meant is advice. */
static void hint_candidate(const struct fault *fault, silt_error *err)
{
    const size_t cap = fault->name.len < 4 ? 1 : 3;
    struct sl_str rest = fault->candidates;

    while (fault->name.len > 0 && rest.len > 0) {
        const size_t comma = sl_str_find(rest, SL_STR(","));
        struct sl_str name = sl_str_trim(sl_str_sub(rest, 0, comma == SIZE_MAX ? rest.len : comma));
        const size_t dot = sl_str_find(name, SL_STR("."));
        name = dot == SIZE_MAX ? name : sl_str_sub(name, dot + 1, name.len); /* alias.column */
        if (name.len > 0 && sl_str_distance(fault->name, name, cap) <= cap) {
            sl_error_hint(err, "did you mean %.*s?", SL_FMT(name));
            return;
        }
        rest = comma == SIZE_MAX ? (struct sl_str){NULL, 0} : sl_str_sub(rest, comma + 1, rest.len);
    }
    if (sl_str_eq_c(fault->subtype, "COLUMN_NOT_FOUND") && fault->name.len > 0) {
        sl_error_hint(err, "if a text is meant, write it in single quotes: '%.*s'", SL_FMT(fault->name));
    }
}

/* What files hold that cannot be read: DuckDB and the functions that are registered with it can only say so by text. */
static const struct {
    struct sl_str words;
    silt_status status;
    const char *code;
} FINDINGS[] = {
    {{"Unsupported compression codec", 29}, SILT_EUNSUPPORTED, NULL},
    {{"variant is malformed", 20}, SILT_ECORRUPT, "MALFORMED_VARIANT"},
    {{"a variant is nested more than", 29}, SILT_ELIMIT, NULL},
    {{"a variant has version", 21}, SILT_EUNSUPPORTED, NULL},
    {{"which cannot be read without loss", 33}, SILT_EUNSUPPORTED, NULL},
    {{"BYTE_STREAM_SPLIT encoding is only supported for", 48}, SILT_EUNSUPPORTED, NULL},
    {{"of the legacy calendar is out of range", 38}, SILT_ECORRUPT, NULL},
};

static silt_status finding_of(const struct fault *fault, const char **code)
{
    /* A function of ours, bound or run, in the words of sl_fail_nomem; DuckDB's own words are others. */
    if (sl_str_eq_c(first_line(fault->message), "out of memory")) {
        return SILT_ENOMEM;
    }
    if (!sl_str_eq_c(fault->kind, "Invalid Input") && !sl_str_eq_c(fault->kind, "IO") &&
        !sl_str_eq_c(fault->kind, "Invalid")) {
        return SILT_OK;
    }
    for (size_t i = 0; i < sizeof(FINDINGS) / sizeof(FINDINGS[0]); i++) {
        if (sl_str_find(fault->message, FINDINGS[i].words) != SIZE_MAX) {
            *code = FINDINGS[i].code;
            return FINDINGS[i].status;
        }
    }
    return SILT_OK;
}

/*
 * A store may have sent damaged bytes, which are not kept. DuckDB keeps what it read of a file, too, and takes it for the same file if it changed within
 * the same second; opening another database costs a few milliseconds.
 */
static void withdraw(struct sl_duck_conn *conn)
{
    if (sl_duck_fetch_withdraw(conn->dp)) {
        atomic_store(&conn->db->dead, true);
    }
}

static silt_status fail_fault(struct sl_duck_conn *conn, const silt_call *call, const struct fault *fault,
                              silt_error *err)
{
    /* An internal error may have killed the database without saying so; opening another costs a few milliseconds. */
    if (sl_str_eq_c(fault->kind, "FATAL") || sl_str_eq_c(fault->kind, "INTERNAL")) {
        atomic_store(&conn->db->dead, true);
    }
    /* The second in the words of sl_call_check: a function of ours that waited was told. */
    if (sl_str_eq_c(fault->kind, "INTERRUPT") || sl_str_eq_c(first_line(fault->message), "cancelled by the caller")) {
        return fail_interrupt(conn, call, err);
    }
    const struct sl_str message = first_line(fault->message);
    SL_TRY(sl_duck_fetch_failure(conn->dp, message, err)); /* which the store has told already */
    const char *code = NULL;
    const silt_status finding = finding_of(fault, &code);
    if (finding == SILT_ECORRUPT) {
        withdraw(conn);
    }
    if (finding != SILT_OK) {
        return finding == SILT_ENOMEM
                   ? sl_fail_nomem(err)
                   : sl_fail(err, finding, code, SL_SOME_DATA_FILE "cannot be read: %.*s", SL_FMT(message));
    }
    SL_TRY(fail_named_file(fault, err));
    const bool is_io = sl_str_eq_c(fault->kind, "IO");
    const bool is_input = sl_str_eq_c(fault->kind, "Invalid Input");
    if ((is_io || is_input || sl_str_eq_c(fault->kind, "Invalid")) && is_broken_file(fault)) {
        withdraw(conn);
        const silt_status broken = sl_fail(err, SILT_ECORRUPT, NULL, SL_SOME_DATA_FILE "is broken: %.*s",
                                           SL_FMT(message));
        sl_error_hint(err,
                      "silt fsck TABLE names the broken files of a table; it may be another file that the query reads");
        return broken;
    }
    if (sl_str_eq_c(fault->kind, "Missing Extension")) {
        const struct sl_str url = line_after(message, SL_STR("File "));
        const size_t end = sl_str_find(url, SL_STR(" requires the extension"));
        if (end != SIZE_MAX && is_url(url)) {
            return fail_url(sl_str_sub(url, 0, end), err);
        }
    }
    if (is_io) {
        return fail_io(fault, err);
    }
    if (is_input) {
        return fail_input(fault, err);
    }
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
        if (sl_str_eq_c(fault->kind, KINDS[i].kind)) {
            return sl_fail(err, KINDS[i].status, refine_code(fault, KINDS[i].code), "%.*s", SL_FMT(message));
        }
    }
    return sl_fail(err, SILT_EENGINE, NULL, "%.*s%s%.*s", SL_FMT(fault->kind), fault->kind.len > 0 ? ": " : "",
                   SL_FMT(message));
}

silt_status sl_duck_fail(struct sl_duck_conn *conn, const silt_call *call, struct sl_str sql, const char *text,
                         silt_error *err)
{
    struct fault fault = {.position = -1, .sql = sql};
    struct sl_json_doc *doc = NULL;
    struct sl_str view = sl_str_from(text != NULL ? text : "no message");
    const size_t brace = sl_str_find(view, SL_STR("{\"exception_type\""));
    const bool is_json = brace != SIZE_MAX && brace < 64;
    const silt_status parsed = is_json ? sl_json_parse(conn->dp->env, sl_str_sub(view, brace, view.len), &doc, NULL)
                                       : SILT_EINVALID;
    if (parsed == SILT_ENOMEM) {
        return sl_fail_nomem(err);
    }
    if (parsed == SILT_OK) {
        read_json(sl_json_root(doc), &fault);
    } else {
        read_plain(view, &fault);
    }
    const silt_status status = fail_fault(conn, call, &fault, err);
    hint_candidate(&fault, err);
    set_position(&fault, sql, err);
    sl_json_free(doc);
    return status;
}
