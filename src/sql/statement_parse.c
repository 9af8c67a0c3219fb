/*
 * Tells the statements apart and parses the short ones. Whatever is not a statement of Delta's goes to the data plane as a
 * query; statements of Delta that silt does not do yet are named, so that they are refused and never run as something else.
 */
#include "sql/statement.h"

#include "base/error.h"
#include "sql/parser.h"

/* Leading words of statements that Delta defines and silt does not build yet. Longest first where one begins another. */
static const char *const unsupported[][2] = {
    {"ALTER", "TABLE"}, {"ANALYZE", "TABLE"}, {"CACHE", NULL},      {"CLONE", NULL},   {"CONVERT", "TO"},
    {"DELETE", NULL},   {"FSCK", NULL},       {"GENERATE", NULL},   {"MERGE", NULL},   {"MSCK", NULL},
    {"OPTIMIZE", NULL}, {"REORG", NULL},      {"REFRESH", NULL},    {"RESTORE", NULL}, {"TRUNCATE", NULL},
    {"UPDATE", NULL},   {"VACUUM", NULL},     {"REPLACE", "TABLE"}, {"UNDROP", NULL},
};

/* The entry of `unsupported` that stands at the cursor, NULL if none. */
static const char *const *find_unsupported(const struct sl_parser *parser)
{
    for (size_t i = 0; i < sizeof(unsupported) / sizeof(unsupported[0]); i++) {
        if (sl_parser_at(parser, unsupported[i][0]) &&
            (unsupported[i][1] == NULL || sl_token_is(&parser->after, unsupported[i][1]))) {
            return unsupported[i];
        }
    }
    return NULL;
}

static bool at_query_start(const struct sl_parser *parser)
{
    static const char *const starts[] = {"SELECT", "WITH", "FROM", "VALUES", "TABLE", "("};
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        if (sl_parser_at(parser, starts[i])) {
            return true;
        }
    }
    return false;
}

/* DESCRIBE [HISTORY | DETAIL | TABLE] [EXTENDED | FORMATTED] table; DESCRIBE query is the data plane's. */
static silt_status parse_describe(struct sl_parser *parser, struct sl_statement *out)
{
    out->kind = SL_STMT_DESCRIBE_TABLE;
    out->name = "DESCRIBE TABLE";
    if (sl_parser_accept(parser, "HISTORY")) {
        out->kind = SL_STMT_DESCRIBE_HISTORY;
        out->name = "DESCRIBE HISTORY";
    } else if (sl_parser_accept(parser, "DETAIL")) {
        out->kind = SL_STMT_DESCRIBE_DETAIL;
        out->name = "DESCRIBE DETAIL";
    } else if (sl_parser_at(parser, "QUERY") || at_query_start(parser)) {
        bool is_table_word = sl_parser_at(parser, "TABLE");
        if (!is_table_word) {
            out->kind = SL_STMT_QUERY;
            return SILT_OK;
        }
        sl_parser_advance(parser);
    }
    if (out->kind == SL_STMT_DESCRIBE_TABLE &&
        (sl_parser_at(parser, "EXTENDED") || sl_parser_at(parser, "FORMATTED")) && parser->after.kind != SL_TOK_END &&
        !sl_token_is(&parser->after, ".")) {
        out->extended = true;
        sl_parser_advance(parser);
    }
    SL_TRY(sl_parser_table(parser, &out->table));
    if (out->kind == SL_STMT_DESCRIBE_HISTORY && sl_parser_accept(parser, "LIMIT")) {
        SL_TRY(sl_parser_integer(parser, "a number of versions", &out->limit));
    }
    return sl_parser_expect_end(parser);
}

/* SHOW TBLPROPERTIES t ['(' 'key' ')'] | SHOW COLUMNS (IN | FROM) t; other SHOWs are the data plane's. */
static silt_status parse_show(struct sl_parser *parser, struct sl_statement *out)
{
    if (sl_parser_accept(parser, "TBLPROPERTIES")) {
        out->kind = SL_STMT_SHOW_PROPERTIES;
        out->name = "SHOW TBLPROPERTIES";
        SL_TRY(sl_parser_table(parser, &out->table));
        if (sl_parser_accept(parser, "(")) {
            SL_TRY(sl_parser_string(parser, "a property name in quotes", &out->key));
            SL_TRY(sl_parser_expect(parser, ")"));
        }
        return sl_parser_expect_end(parser);
    }
    if (sl_parser_accept(parser, "COLUMNS")) {
        out->kind = SL_STMT_SHOW_COLUMNS;
        out->name = "SHOW COLUMNS";
        if (!sl_parser_accept(parser, "IN")) {
            SL_TRY(sl_parser_expect(parser, "FROM"));
        }
        SL_TRY(sl_parser_table(parser, &out->table));
        return sl_parser_expect_end(parser);
    }
    if (sl_parser_at_two(parser, "CREATE", "TABLE")) {
        out->kind = SL_STMT_UNSUPPORTED;
        out->name = "SHOW CREATE TABLE";
        return SILT_OK;
    }
    out->kind = SL_STMT_QUERY;
    return SILT_OK;
}

/* A dotted option name up to '=' or the end, as written without blanks. */
static silt_status parse_option_name(struct sl_parser *parser, struct sl_str *out)
{
    size_t begin = parser->token.begin;
    size_t end = begin;
    while (parser->token.kind == SL_TOK_WORD || parser->token.kind == SL_TOK_BACKTICK ||
           parser->token.kind == SL_TOK_DQUOTE) {
        end = parser->token.end;
        sl_parser_advance(parser);
        if (!sl_parser_at(parser, ".") && !sl_parser_at(parser, "-")) {
            break;
        }
        sl_parser_advance(parser);
    }
    if (end == begin) {
        return sl_parser_fail(parser, "the name of an option");
    }
    *out = sl_str_sub(parser->text, begin, end);
    return SILT_OK;
}

/* SET; SET key; SET key = value; SET TIME ZONE 'x'. The value is the rest of the statement, quotes taken off. */
static silt_status parse_set(struct sl_parser *parser, struct sl_statement *out)
{
    out->kind = SL_STMT_SET;
    out->name = "SET";
    if (sl_parser_at_end(parser)) {
        return SILT_OK;
    }
    if (sl_parser_accept_two(parser, "TIME", "ZONE")) {
        out->key = SL_STR("timezone");
        return sl_parser_string(parser, "a time zone in quotes", &out->value);
    }
    if (sl_parser_at_two(parser, "VARIABLE", "=") == false && sl_parser_at(parser, "VARIABLE")) {
        out->kind = SL_STMT_QUERY; /* a variable of the data plane */
        return SILT_OK;
    }
    SL_TRY(parse_option_name(parser, &out->key));
    if (sl_parser_at_end(parser)) {
        return SILT_OK;
    }
    if (!sl_parser_accept(parser, "=")) {
        SL_TRY(sl_parser_expect(parser, "TO"));
    }
    if (sl_parser_at_end(parser)) {
        return sl_parser_fail(parser, "a value");
    }
    if (parser->token.kind == SL_TOK_STRING && parser->after.kind == SL_TOK_END) {
        return sl_parser_string(parser, "a value", &out->value);
    }
    out->value = sl_str_trim(sl_str_sub(parser->text, parser->token.begin, parser->text.len));
    return SILT_OK;
}

static silt_status parse_reset(struct sl_parser *parser, struct sl_statement *out)
{
    out->kind = SL_STMT_RESET;
    out->name = "RESET";
    if (!sl_parser_at_end(parser)) {
        SL_TRY(parse_option_name(parser, &out->key));
    }
    return sl_parser_expect_end(parser);
}

static silt_status refuse_statement(struct sl_parser *parser, const char *const *words, struct sl_statement *out)
{
    out->kind = SL_STMT_UNSUPPORTED;
    out->name = words[1] == NULL ? words[0] : sl_arena_printf(parser->arena, "%s %s", words[0], words[1]);
    return out->name != NULL ? SILT_OK : sl_fail_nomem(parser->err);
}

/* DROP TABLE [IF EXISTS] name; other DROPs are the data plane's. */
static silt_status parse_drop(struct sl_parser *parser, struct sl_statement *out)
{
    out->kind = SL_STMT_QUERY;
    if (!sl_parser_accept(parser, "TABLE")) {
        return SILT_OK;
    }
    out->kind = SL_STMT_DROP_TABLE;
    out->name = "DROP TABLE";
    if (sl_parser_accept(parser, "IF")) {
        SL_TRY(sl_parser_expect(parser, "EXISTS"));
    }
    SL_TRY(sl_parser_table(parser, &out->table));
    return sl_parser_expect_end(parser);
}

silt_status sl_statement_parse(struct sl_arena *arena, struct sl_str text, struct sl_statement *out, silt_error *err)
{
    struct sl_parser parser;

    *out = (struct sl_statement){.kind = SL_STMT_QUERY, .name = "query"};
    sl_parser_init(&parser, arena, text, err);
    if (parser.token.kind == SL_TOK_BAD) {
        return sl_parser_fail(&parser, "a statement");
    }
    if (sl_parser_accept(&parser, "CREATE")) {
        return sl_parse_create(&parser, out);
    }
    if (sl_parser_accept(&parser, "INSERT")) {
        return sl_parse_insert(&parser, out);
    }
    if (sl_parser_accept(&parser, "DESCRIBE") || sl_parser_accept(&parser, "DESC")) {
        return parse_describe(&parser, out);
    }
    if (sl_parser_accept(&parser, "SHOW")) {
        return parse_show(&parser, out);
    }
    if (sl_parser_accept(&parser, "SET")) {
        return parse_set(&parser, out);
    }
    if (sl_parser_accept(&parser, "RESET")) {
        return parse_reset(&parser, out);
    }
    if (sl_parser_accept(&parser, "DROP")) {
        return parse_drop(&parser, out);
    }
    const char *const *words = find_unsupported(&parser);
    return words != NULL ? refuse_statement(&parser, words, out) : SILT_OK;
}
