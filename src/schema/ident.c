/*
 * SQL identifiers: which names need quoting, and how they are quoted.
 *
 * Called by the printers of types and expressions. Spark reserves few words outside ANSI mode; what is listed here is what
 * some version of Spark, in some mode, would not take as a column's name. Quoting one too many is harmless, one too
 * few is not. Pure; any thread.
 */
#include "schema/ident.h"

#include <stddef.h>

#include "base/quote.h"

/* clang-format off */
static const char *const reserved_words[] = {
    "all", "and", "anti", "any", "as", "authorization", "between", "both", "by", "case", "cast", "check", "collate",
    "constraint", "create", "cross", "current_date", "current_time", "current_timestamp", "current_user",
    "distinct", "div", "else", "end", "escape", "except", "exists", "false", "fetch", "filter", "for", "foreign",
    "from", "full", "grant", "group", "having", "ilike", "in", "inner", "intersect", "interval", "into", "is",
    "join", "lateral", "leading", "left", "like", "minus", "natural", "not", "null", "on", "only", "or", "order",
    "outer", "overlaps", "primary", "references", "regexp", "right", "rlike", "select", "semi", "session_user",
    "some", "table", "then", "to", "trailing", "true", "try_cast", "union", "unique", "unknown", "user", "using",
    "when", "where", "with"
};
/* clang-format on */

bool sl_ident_is_reserved(struct sl_str word)
{
    for (size_t i = 0; i < sizeof reserved_words / sizeof reserved_words[0]; i++) {
        if (sl_str_eq_nocase(word, sl_str_from(reserved_words[i]))) {
            return true;
        }
    }
    return false;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_plain(struct sl_str name)
{
    if (name.len == 0 || !is_letter(name.ptr[0])) {
        return false;
    }
    for (size_t i = 1; i < name.len; i++) {
        if (!is_letter(name.ptr[i]) && !sl_is_digit(name.ptr[i])) {
            return false;
        }
    }
    return !sl_ident_is_reserved(name);
}

void sl_ident_print(struct sl_buf *out, struct sl_str name)
{
    if (is_plain(name)) {
        sl_buf_put_str(out, name);
    } else {
        sl_quote_put(out, name, '`');
    }
}
