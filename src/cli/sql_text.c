/*
 * Quoting and cutting of SQL; see sql_text.h.
 */
#include "cli/sql_text.h"

#include "base/error.h"
#include "base/quote.h"
#include "silt/session.h"

void sl_sql_put_name(struct sl_buf *out, struct sl_str name)
{
    sl_quote_put(out, name, '`');
}

void sl_sql_put_string(struct sl_buf *out, struct sl_str text)
{
    sl_quote_put(out, text, '\'');
}

/* The name of a column; "_metadata.row_index" is a field of that struct, all other dots are part of a name. */
static void put_column(struct sl_buf *out, struct sl_str name)
{
    const struct sl_str metadata = SL_STR("_metadata.");
    if (sl_str_starts_with(name, metadata)) {
        sl_buf_put_str(out, metadata);
        name = sl_str_sub(name, metadata.len, name.len);
    }
    sl_sql_put_name(out, name);
}

silt_status sl_sql_put_names(struct sl_buf *out, const char *option, const char *list, silt_error *err)
{
    struct sl_str rest = sl_str_from(list);
    bool more = true;

    for (bool first = true; more; first = false) {
        const size_t comma = sl_str_find(rest, SL_STR(","));
        more = comma != SIZE_MAX;
        const struct sl_str name = sl_str_trim(sl_str_sub(rest, 0, more ? comma : rest.len));
        if (name.len == 0) {
            return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "--%s has an empty name in it: %s", option, list);
        }
        sl_buf_put_c(out, first ? "" : ", ");
        put_column(out, name);
        rest = more ? sl_str_sub(rest, comma + 1, rest.len) : rest;
    }
    return SILT_OK;
}

/* Whether the semicolon behind `before` ends a statement, rather than stand in quotes or a comment. */
static bool ends_statement(struct sl_str before)
{
    if (!silt_sql_is_complete(before.ptr, before.len + 1)) {
        return false; /* in quotes, or in an open comment */
    }
    if (!silt_sql_is_complete(before.ptr, before.len)) {
        return true; /* there is something that it ends */
    }
    /* Only blanks and comments stand before it: the last line tells whether a comment goes on. */
    size_t line = before.len;
    while (line > 0 && before.ptr[line - 1] != '\n') {
        line--;
    }
    return sl_str_find(sl_str_sub(before, line, before.len), SL_STR("--")) == SIZE_MAX;
}

silt_status sl_sql_single(struct sl_str text, struct sl_str *out, silt_error *err)
{
    size_t n_statements = 0;
    size_t begin = 0;

    *out = (struct sl_str){0};
    for (size_t i = 0; i <= text.len; i++) {
        const bool at_end = i == text.len;
        if (!at_end && (text.ptr[i] != ';' || !ends_statement(sl_str_sub(text, begin, i)))) {
            continue;
        }
        const struct sl_str part = sl_str_trim(sl_str_sub(text, begin, i));
        /* What is complete without a semicolon is blank or a comment. */
        if (part.len > 0 && !silt_sql_is_complete(part.ptr, part.len)) {
            n_statements++;
            *out = part;
        }
        begin = i + 1;
    }
    if (n_statements != 1) {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "expected one query, not %zu statements", n_statements);
    }
    return SILT_OK;
}
