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
        sl_sql_put_name(out, name);
        rest = more ? sl_str_sub(rest, comma + 1, rest.len) : rest;
    }
    return SILT_OK;
}

silt_status sl_sql_single(struct sl_str text, struct sl_str *out, silt_error *err)
{
    size_t n_statements = 0;
    size_t begin = 0;

    *out = (struct sl_str){0};
    for (size_t i = 0; i <= text.len; i++) {
        const bool at_end = i == text.len;
        /* A semicolon ends a statement if the text up to it is complete: then it is in no quotes and no comment. */
        if (!at_end && (text.ptr[i] != ';' || !silt_sql_is_complete(text.ptr + begin, i + 1 - begin))) {
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
