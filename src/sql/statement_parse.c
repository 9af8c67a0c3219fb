/*
 * Tells the statements apart and parses the short ones. Whatever is not a statement of Delta's goes to the data plane as a
 * query; statements of Delta that silt does not support are named, so that they are refused and never run as something else.
 */
#include "sql/statement.h"

#include "base/error.h"
#include "sql/cursor.h"

/* Leading words of statements that Delta defines and silt does not support. Longest first where one begins another. */
static const char *const unsupported[][2] = {
    {"ALTER", "TABLE"}, {"ANALYZE", "TABLE"}, {"CACHE", NULL},  {"CLONE", NULL},  {"CONVERT", "TO"},  {"DELETE", NULL},
    {"FSCK", NULL},     {"GENERATE", NULL},   {"MERGE", NULL},  {"MSCK", NULL},   {"OPTIMIZE", NULL}, {"REORG", NULL},
    {"REFRESH", NULL},  {"RESTORE", NULL},    {"UPDATE", NULL}, {"VACUUM", NULL}, {"UNDROP", NULL},
};

/* The data plane has schemas of its own, in which no Delta table can be. */
static const char *const schemas[][2] = {
    {"CREATE", "SCHEMA"},
    {"CREATE", "DATABASE"},
    {"DROP", "SCHEMA"},
    {"DROP", "DATABASE"},
};

/* Statements of other databases that would run in the data plane and do nothing to Delta tables. */
static const char *const no_transactions[][2] = {
    {"BEGIN", NULL}, {"START", "TRANSACTION"}, {"COMMIT", NULL}, {"ROLLBACK", NULL}, {"ABORT", NULL},
};

/* The entry of a list of leading words that stands at the cursor, NULL if none. */
static const char *const *find_words(const struct sl_cursor *cursor, const char *const (*list)[2], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (sl_cursor_at(cursor, list[i][0]) && (list[i][1] == NULL || sl_token_is(&cursor->after, list[i][1]))) {
            return list[i];
        }
    }
    return NULL;
}

static bool at_query_start(const struct sl_cursor *cursor)
{
    static const char *const starts[] = {"SELECT", "WITH", "FROM", "VALUES", "TABLE", "("};
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        if (sl_cursor_at(cursor, starts[i])) {
            return true;
        }
    }
    return false;
}

/* DESCRIBE [HISTORY | DETAIL | TABLE] [EXTENDED | FORMATTED] table; DESCRIBE query is the data plane's. */
static silt_status parse_describe(struct sl_cursor *cursor, struct sl_statement *out)
{
    out->kind = SL_STMT_DESCRIBE_TABLE;
    out->name = "DESCRIBE TABLE";
    if (sl_cursor_accept(cursor, "HISTORY")) {
        out->kind = SL_STMT_DESCRIBE_HISTORY;
        out->name = "DESCRIBE HISTORY";
    } else if (sl_cursor_accept(cursor, "DETAIL")) {
        out->kind = SL_STMT_DESCRIBE_DETAIL;
        out->name = "DESCRIBE DETAIL";
    } else if (sl_cursor_at(cursor, "QUERY") || at_query_start(cursor)) {
        bool is_table_word = sl_cursor_at(cursor, "TABLE");
        if (!is_table_word) {
            out->kind = SL_STMT_QUERY;
            return SILT_OK;
        }
        sl_cursor_advance(cursor);
    }
    if (out->kind == SL_STMT_DESCRIBE_TABLE &&
        (sl_cursor_at(cursor, "EXTENDED") || sl_cursor_at(cursor, "FORMATTED")) && cursor->after.kind != SL_TOK_END &&
        !sl_token_is(&cursor->after, ".")) {
        out->extended = true;
        sl_cursor_advance(cursor);
    }
    SL_TRY(sl_cursor_table(cursor, &out->table));
    if (out->kind == SL_STMT_DESCRIBE_HISTORY && sl_cursor_accept(cursor, "LIMIT")) {
        const bool zero = sl_str_eq_c(cursor->token.text, "0"); /* would mean all */
        SL_TRY(zero ? sl_cursor_fail(cursor, "a number of versions from 1 on")
                    : sl_cursor_integer(cursor, "a number of versions", &out->limit));
    }
    return sl_cursor_expect_end(cursor);
}

/* SHOW TBLPROPERTIES t ['(' 'key' ')'] | SHOW COLUMNS (IN | FROM) t; other SHOWs are the data plane's. */
static silt_status parse_show(struct sl_cursor *cursor, struct sl_statement *out)
{
    if (sl_cursor_accept(cursor, "TBLPROPERTIES")) {
        out->kind = SL_STMT_SHOW_PROPERTIES;
        out->name = "SHOW TBLPROPERTIES";
        SL_TRY(sl_cursor_table(cursor, &out->table));
        if (sl_cursor_accept(cursor, "(")) {
            SL_TRY(sl_cursor_string(cursor, "a property name in quotes", &out->key));
            SL_TRY(sl_cursor_expect(cursor, ")"));
        }
        return sl_cursor_expect_end(cursor);
    }
    if (sl_cursor_accept(cursor, "COLUMNS")) {
        out->kind = SL_STMT_SHOW_COLUMNS;
        out->name = "SHOW COLUMNS";
        if (!sl_cursor_accept(cursor, "IN")) {
            SL_TRY(sl_cursor_expect(cursor, "FROM"));
        }
        SL_TRY(sl_cursor_table(cursor, &out->table));
        return sl_cursor_expect_end(cursor);
    }
    if (sl_cursor_at_two(cursor, "CREATE", "TABLE")) {
        out->kind = SL_STMT_UNSUPPORTED;
        out->name = "SHOW CREATE TABLE";
        return SILT_OK;
    }
    if (sl_cursor_at(cursor, "TABLES")) {
        out->kind = SL_STMT_UNSUPPORTED;
        out->name = "SHOW TABLES";
        out->hint = "tables are folders of the warehouse; \\d lists them in the shell";
        return SILT_OK;
    }
    out->kind = SL_STMT_QUERY;
    return SILT_OK;
}

/* A dotted option name up to '=' or the end, as written without blanks. */
static silt_status parse_option_name(struct sl_cursor *cursor, struct sl_str *out)
{
    size_t begin = cursor->token.begin;
    size_t end = begin;
    while (cursor->token.kind == SL_TOK_WORD || cursor->token.kind == SL_TOK_BACKTICK ||
           cursor->token.kind == SL_TOK_DQUOTE) {
        end = cursor->token.end;
        sl_cursor_advance(cursor);
        if (!sl_cursor_at(cursor, ".") && !sl_cursor_at(cursor, "-")) {
            break;
        }
        sl_cursor_advance(cursor);
    }
    if (end == begin) {
        return sl_cursor_fail(cursor, "the name of an option");
    }
    *out = sl_str_sub(cursor->text, begin, end);
    return SILT_OK;
}

/* SET; SET key; SET key = value; SET TIME ZONE 'x'. The value is the rest of the statement, quotes taken off. */
static silt_status parse_set(struct sl_cursor *cursor, struct sl_statement *out)
{
    out->kind = SL_STMT_SET;
    out->name = "SET";
    if (sl_cursor_at_end(cursor)) {
        return SILT_OK;
    }
    if (sl_cursor_accept_two(cursor, "TIME", "ZONE")) {
        out->key = SL_STR("timezone");
        return sl_cursor_string(cursor, "a time zone in quotes", &out->value);
    }
    if (sl_cursor_at_two(cursor, "VARIABLE", "=") == false && sl_cursor_at(cursor, "VARIABLE")) {
        out->kind = SL_STMT_QUERY; /* a variable of the data plane */
        return SILT_OK;
    }
    SL_TRY(parse_option_name(cursor, &out->key));
    if (sl_cursor_at_end(cursor)) {
        return SILT_OK;
    }
    if (!sl_cursor_accept(cursor, "=")) {
        SL_TRY(sl_cursor_expect(cursor, "TO"));
    }
    if (sl_cursor_at_end(cursor)) {
        return sl_cursor_fail(cursor, "a value");
    }
    if (cursor->token.kind == SL_TOK_STRING && cursor->after.kind == SL_TOK_END) {
        return sl_cursor_string(cursor, "a value", &out->value);
    }
    out->value = sl_str_trim(sl_str_sub(cursor->text, cursor->token.begin, cursor->text.len));
    return SILT_OK;
}

static silt_status parse_reset(struct sl_cursor *cursor, struct sl_statement *out)
{
    out->kind = SL_STMT_RESET;
    out->name = "RESET";
    if (!sl_cursor_at_end(cursor)) {
        SL_TRY(parse_option_name(cursor, &out->key));
    }
    return sl_cursor_expect_end(cursor);
}

static silt_status refuse_known(struct sl_cursor *cursor, struct sl_statement *out)
{
    const char *const *words = find_words(cursor, unsupported, sizeof(unsupported) / sizeof(unsupported[0]));
    if (words == NULL) {
        words = find_words(cursor, no_transactions, sizeof(no_transactions) / sizeof(no_transactions[0]));
        out->hint = "each statement is a transaction of its own";
    }
    if (words == NULL) {
        words = find_words(cursor, schemas, sizeof(schemas) / sizeof(schemas[0]));
        out->hint =
            "a schema is a folder of the warehouse; CREATE TABLE sales.events makes sales/events and the folders to it";
    }
    if (words == NULL) {
        out->hint = NULL;
        return SILT_OK;
    }
    out->kind = SL_STMT_UNSUPPORTED;
    out->name = words[1] == NULL ? words[0] : sl_arena_printf(cursor->arena, "%s %s", words[0], words[1]);
    return out->name != NULL ? SILT_OK : sl_fail_nomem(cursor->err);
}

/* TRUNCATE TABLE name; as Delta Spark, no partitions of it. */
static silt_status parse_truncate(struct sl_cursor *cursor, struct sl_statement *out)
{
    out->kind = SL_STMT_TRUNCATE;
    out->name = "TRUNCATE TABLE";
    SL_TRY(sl_cursor_expect(cursor, "TABLE"));
    SL_TRY(sl_cursor_table(cursor, &out->table));
    if (sl_cursor_at(cursor, "PARTITION")) {
        const silt_status status = sl_fail(cursor->err, SILT_EUNSUPPORTED,
                                           "DELTA_TRUNCATE_TABLE_PARTITION_NOT_SUPPORTED",
                                           "partitions of a Delta table cannot be truncated");
        sl_error_position(cursor->err, cursor->token.begin);
        return status;
    }
    return sl_cursor_expect_end(cursor);
}

/* DROP TABLE [IF EXISTS] name; other DROPs are the data plane's. */
static silt_status parse_drop(struct sl_cursor *cursor, struct sl_statement *out)
{
    out->kind = SL_STMT_QUERY;
    if (!sl_cursor_accept(cursor, "TABLE")) {
        return SILT_OK;
    }
    out->kind = SL_STMT_DROP_TABLE;
    out->name = "DROP TABLE";
    if (sl_cursor_accept(cursor, "IF")) {
        SL_TRY(sl_cursor_expect(cursor, "EXISTS"));
        out->if_exists = true;
    }
    SL_TRY(sl_cursor_table(cursor, &out->table));
    (void)sl_cursor_accept(cursor, "PURGE"); /* there is no trash that it could pass by */
    return sl_cursor_expect_end(cursor);
}

silt_status sl_statement_parse(struct sl_arena *arena, struct sl_str text, struct sl_statement *out, silt_error *err)
{
    struct sl_cursor cursor;

    *out = (struct sl_statement){.kind = SL_STMT_QUERY, .name = "query"};
    sl_cursor_init(&cursor, arena, text, err);
    if (cursor.token.kind == SL_TOK_BAD) {
        return sl_cursor_fail(&cursor, "a statement");
    }
    if (find_words(&cursor, schemas, sizeof(schemas) / sizeof(schemas[0])) != NULL) {
        return refuse_known(&cursor, out);
    }
    if (sl_cursor_accept(&cursor, "CREATE")) {
        return sl_create_parse(&cursor, out);
    }
    if (sl_cursor_at_two(&cursor, "REPLACE", "TABLE")) {
        out->create.replace = true;
        sl_cursor_advance(&cursor);
        return sl_create_parse(&cursor, out);
    }
    if (sl_cursor_accept(&cursor, "INSERT")) {
        return sl_insert_parse(&cursor, out);
    }
    if (sl_cursor_accept(&cursor, "DESCRIBE") || sl_cursor_accept(&cursor, "DESC")) {
        return parse_describe(&cursor, out);
    }
    if (sl_cursor_accept(&cursor, "SHOW")) {
        return parse_show(&cursor, out);
    }
    if (sl_cursor_accept(&cursor, "SET")) {
        return parse_set(&cursor, out);
    }
    if (sl_cursor_accept(&cursor, "RESET")) {
        return parse_reset(&cursor, out);
    }
    if (sl_cursor_accept(&cursor, "DROP")) {
        return parse_drop(&cursor, out);
    }
    if (sl_cursor_accept(&cursor, "TRUNCATE")) {
        return parse_truncate(&cursor, out);
    }
    return refuse_known(&cursor, out);
}
