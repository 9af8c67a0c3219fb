/*
 * INSERT INTO | OVERWRITE [TABLE] name [(columns)] [BY NAME] query. Forms that need more than an append or a whole overwrite
 * are refused by name.
 */
#include "base/error.h"
#include "sql/parser.h"

static silt_status refuse(struct sl_parser *parser, const char *what)
{
    silt_status status = sl_fail(parser->err, SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_SYNTAX", "%s is not supported",
                                 what);
    sl_error_position(parser->err, parser->token.begin);
    return status;
}

/* A column list and a query in brackets both begin with '(': a list holds identifiers only and a query follows it. */
static bool at_column_list(const struct sl_parser *parser)
{
    return sl_parser_at(parser, "(") && !sl_token_is(&parser->after, "SELECT") &&
           !sl_token_is(&parser->after, "WITH") && !sl_token_is(&parser->after, "FROM") &&
           !sl_token_is(&parser->after, "VALUES") && !sl_token_is(&parser->after, "(") &&
           !sl_token_is(&parser->after, "TABLE");
}

silt_status sl_parse_insert(struct sl_parser *parser, struct sl_statement *out)
{
    struct sl_insert *insert = &out->insert;

    out->kind = SL_STMT_INSERT;
    out->name = "INSERT";
    if (sl_parser_accept(parser, "OVERWRITE")) {
        insert->mode = SL_INSERT_OVERWRITE;
        (void)sl_parser_accept(parser, "INTO");
        if (sl_parser_at(parser, "DIRECTORY") || sl_parser_at_two(parser, "LOCAL", "DIRECTORY")) {
            return refuse(parser, "INSERT OVERWRITE DIRECTORY");
        }
    } else if (!sl_parser_accept(parser, "INTO")) {
        return sl_parser_fail(parser, "INTO or OVERWRITE");
    }
    (void)sl_parser_accept(parser, "TABLE"); /* Spark's optional word */
    SL_TRY(sl_parser_table(parser, &insert->table));
    if (sl_parser_at(parser, "PARTITION")) {
        return refuse(parser, "INSERT … PARTITION");
    }
    if (sl_parser_at(parser, "REPLACE")) {
        return refuse(parser, "INSERT … REPLACE");
    }
    if (at_column_list(parser)) {
        SL_TRY(sl_parser_identifier_list(parser, "a column name", &insert->columns));
    }
    if (sl_parser_accept_two(parser, "BY", "NAME")) {
        insert->by_name = true;
    }
    if (sl_parser_at_end(parser)) {
        return sl_parser_fail(parser, "VALUES or a query");
    }
    insert->query_begin = parser->token.begin;
    insert->query_end = parser->text.len;
    return SILT_OK;
}
