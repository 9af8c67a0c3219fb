/*
 * INSERT [WITH SCHEMA EVOLUTION] INTO | OVERWRITE [TABLE] name [PARTITION (p = 1, q)] [(columns)] [BY NAME] [REPLACE WHERE condition]
 * query. Other forms are refused by name.
 */
#include "base/error.h"
#include "base/vec.h"
#include "sql/cursor.h"

static silt_status refuse(struct sl_cursor *cursor, const char *what)
{
    silt_status status = sl_fail(cursor->err, SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_SYNTAX", "%s is not supported",
                                 what);
    sl_error_position(cursor->err, cursor->token.begin);
    return status;
}

static bool begins_query(const struct sl_token *token)
{
    return sl_token_is(token, "SELECT") || sl_token_is(token, "WITH") || sl_token_is(token, "FROM") ||
           sl_token_is(token, "VALUES") || sl_token_is(token, "TABLE");
}

/* A column list and a query in brackets both begin with '(': a list holds identifiers only and a query follows it. */
static bool at_column_list(const struct sl_cursor *cursor)
{
    return sl_cursor_at(cursor, "(") && !begins_query(&cursor->after) && !sl_token_is(&cursor->after, "(");
}

/* p = literal, or p. */
static silt_status parse_partition_value(struct sl_cursor *cursor, struct sl_partition_spec *out)
{
    size_t end;
    *out = (struct sl_partition_spec){.value = {NULL, 0}};
    SL_TRY(sl_cursor_identifier(cursor, "a partition column", &out->column));
    if (!sl_cursor_accept(cursor, "=")) {
        return SILT_OK;
    }
    out->value_begin = cursor->token.begin;
    end = out->value_begin;
    while (!sl_cursor_at_end(cursor) && !sl_cursor_at(cursor, ",") && !sl_cursor_at(cursor, ")") &&
           !sl_cursor_at(cursor, "(")) {
        end = cursor->token.end;
        sl_cursor_advance(cursor);
    }
    if (end == out->value_begin) {
        return sl_cursor_fail(cursor, "a literal");
    }
    out->value = sl_str_sub(cursor->text, out->value_begin, end);
    return SILT_OK;
}

static silt_status parse_partition(struct sl_cursor *cursor, struct sl_insert *insert)
{
    struct sl_vec specs;
    silt_status status = sl_cursor_expect(cursor, "(");
    sl_vec_init(&specs, cursor->arena->env, sizeof(struct sl_partition_spec));
    while (status == SILT_OK) {
        struct sl_partition_spec *slot = sl_vec_push(&specs);
        status = slot != NULL ? parse_partition_value(cursor, slot) : sl_fail_nomem(cursor->err);
        if (status == SILT_OK && !sl_cursor_accept(cursor, ",")) {
            status = sl_cursor_expect(cursor, ")");
            break;
        }
    }
    if (status == SILT_OK) {
        insert->partition = sl_arena_alloc_array(cursor->arena, specs.len, sizeof(struct sl_partition_spec));
        insert->n_partition = specs.len;
        insert->has_partition = true;
        status = insert->partition != NULL ? SILT_OK : sl_fail_nomem(cursor->err);
    }
    if (status == SILT_OK) {
        memcpy(insert->partition, specs.data, specs.len * sizeof(struct sl_partition_spec));
    }
    sl_vec_release(&specs);
    if (status == SILT_OK && sl_cursor_at_two(cursor, "IF", "NOT")) {
        return refuse(cursor, "INSERT … PARTITION … IF NOT EXISTS");
    }
    return status;
}

/* The condition goes up to where a query begins outside of brackets. */
static silt_status parse_replace(struct sl_cursor *cursor, struct sl_insert *insert)
{
    size_t depth = 0;
    bool after_distinct = false; /* IS DISTINCT FROM */
    size_t end;
    if (!sl_cursor_accept(cursor, "WHERE")) {
        return refuse(cursor, "INSERT … REPLACE without WHERE");
    }
    insert->mode = SL_INSERT_REPLACE_WHERE;
    insert->condition_begin = cursor->token.begin;
    end = insert->condition_begin;
    while (!sl_cursor_at_end(cursor)) {
        const bool in_brackets = sl_cursor_at(cursor, "(") && begins_query(&cursor->after);
        if (depth == 0 && !after_distinct && (begins_query(&cursor->token) || in_brackets)) {
            break;
        }
        depth += sl_cursor_at(cursor, "(") ? 1u : 0u;
        depth -= sl_cursor_at(cursor, ")") && depth > 0 ? 1u : 0u;
        after_distinct = sl_cursor_at(cursor, "DISTINCT");
        end = cursor->token.end;
        sl_cursor_advance(cursor);
    }
    if (end == insert->condition_begin) {
        return sl_cursor_fail(cursor, "a condition");
    }
    insert->condition = sl_str_sub(cursor->text, insert->condition_begin, end);
    return SILT_OK;
}

static silt_status parse_target(struct sl_cursor *cursor, struct sl_insert *insert)
{
    if (sl_cursor_accept(cursor, "WITH")) {
        SL_TRY(sl_cursor_expect(cursor, "SCHEMA"));
        SL_TRY(sl_cursor_expect(cursor, "EVOLUTION"));
        insert->evolves = true;
    }
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
    return sl_cursor_table(cursor, &insert->table);
}

silt_status sl_insert_parse(struct sl_cursor *cursor, struct sl_statement *out)
{
    struct sl_insert *insert = &out->insert;

    out->kind = SL_STMT_INSERT;
    out->name = "INSERT";
    SL_TRY(parse_target(cursor, insert));
    if (sl_cursor_accept(cursor, "PARTITION")) {
        SL_TRY(parse_partition(cursor, insert));
    }
    if (at_column_list(cursor)) {
        SL_TRY(sl_cursor_identifier_list(cursor, "a column name", &insert->columns));
    }
    if (sl_cursor_accept_two(cursor, "BY", "NAME")) {
        insert->by_name = true;
    }
    if (sl_cursor_at(cursor, "REPLACE") && (insert->mode == SL_INSERT_OVERWRITE || insert->has_partition)) {
        return refuse(cursor, "REPLACE in INSERT OVERWRITE or beside PARTITION");
    }
    if (sl_cursor_accept(cursor, "REPLACE")) {
        SL_TRY(parse_replace(cursor, insert));
    }
    if (sl_cursor_at_end(cursor)) {
        return sl_cursor_fail(cursor, "VALUES or a query");
    }
    insert->query_begin = cursor->token.begin;
    insert->query_end = cursor->text.len;
    return SILT_OK;
}
