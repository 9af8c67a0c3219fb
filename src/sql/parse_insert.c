/*
 * INSERT INTO | OVERWRITE [TABLE] name [(columns)] [BY NAME] query. Forms that need more than an append or a whole overwrite
 * are refused by name.
 */
#include "base/error.h"
#include "sql/cursor.h"

static silt_status refuse(struct sl_cursor *cursor, const char *what)
{
    silt_status status = sl_fail(cursor->err, SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_SYNTAX", "%s is not supported",
                                 what);
    sl_error_position(cursor->err, cursor->token.begin);
    return status;
}

/* A column list and a query in brackets both begin with '(': a list holds identifiers only and a query follows it. */
static bool at_column_list(const struct sl_cursor *cursor)
{
    return sl_cursor_at(cursor, "(") && !sl_token_is(&cursor->after, "SELECT") &&
           !sl_token_is(&cursor->after, "WITH") && !sl_token_is(&cursor->after, "FROM") &&
           !sl_token_is(&cursor->after, "VALUES") && !sl_token_is(&cursor->after, "(") &&
           !sl_token_is(&cursor->after, "TABLE");
}

silt_status sl_insert_parse(struct sl_cursor *cursor, struct sl_statement *out)
{
    struct sl_insert *insert = &out->insert;

    out->kind = SL_STMT_INSERT;
    out->name = "INSERT";
    if (sl_cursor_accept(cursor, "OVERWRITE")) {
        insert->mode = SL_INSERT_OVERWRITE;
        (void)sl_cursor_accept(cursor, "INTO");
        if (sl_cursor_at(cursor, "DIRECTORY") || sl_cursor_at_two(cursor, "LOCAL", "DIRECTORY")) {
            return refuse(cursor, "INSERT OVERWRITE DIRECTORY");
        }
    } else if (!sl_cursor_accept(cursor, "INTO")) {
        return sl_cursor_fail(cursor, "INTO or OVERWRITE");
    }
    (void)sl_cursor_accept(cursor, "TABLE"); /* Spark's optional word */
    SL_TRY(sl_cursor_table(cursor, &insert->table));
    if (sl_cursor_at(cursor, "PARTITION")) {
        return refuse(cursor, "INSERT … PARTITION");
    }
    if (sl_cursor_at(cursor, "REPLACE")) {
        return refuse(cursor, "INSERT … REPLACE");
    }
    if (at_column_list(cursor)) {
        SL_TRY(sl_cursor_identifier_list(cursor, "a column name", &insert->columns));
    }
    if (sl_cursor_accept_two(cursor, "BY", "NAME")) {
        insert->by_name = true;
    }
    if (sl_cursor_at_end(cursor)) {
        return sl_cursor_fail(cursor, "VALUES or a query");
    }
    insert->query_begin = cursor->token.begin;
    insert->query_end = cursor->text.len;
    return SILT_OK;
}
