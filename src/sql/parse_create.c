/*
 * CREATE TABLE [IF NOT EXISTS], CREATE OR REPLACE TABLE or REPLACE TABLE name [(columns)] [USING delta] [clauses in any order] [AS query],
 * as Spark SQL spells it. CREATE VIEW, CREATE TEMP TABLE, CREATE MACRO … are left to the data plane.
 */
#include "base/error.h"
#include "base/vec.h"
#include "json/writer.h"
#include "sql/cursor.h"

/* End of a type's text: the token before the first word that cannot belong to a type, brackets balanced. */
static size_t type_end(struct sl_cursor *cursor)
{
    size_t depth = 0;
    size_t end = cursor->token.begin;
    while (!sl_cursor_at_end(cursor)) {
        struct sl_str t = cursor->token.text;
        if (depth == 0 &&
            (sl_cursor_at(cursor, ",") || sl_cursor_at(cursor, ")") || sl_cursor_at(cursor, "NOT") ||
             sl_cursor_at(cursor, "NULL") || sl_cursor_at(cursor, "COMMENT") || sl_cursor_at(cursor, "DEFAULT") ||
             sl_cursor_at(cursor, "GENERATED") || sl_cursor_at(cursor, "CHECK") || sl_cursor_at(cursor, "COLLATE"))) {
            break;
        }
        /* ">>" closes two levels; the lexer may give it as one token */
        for (size_t i = 0; cursor->token.kind == SL_TOK_OP && i < t.len; i++) {
            if (t.ptr[i] == '<' || t.ptr[i] == '(') {
                depth++;
            } else if ((t.ptr[i] == '>' || t.ptr[i] == ')') && depth > 0) {
                depth--;
            }
        }
        end = cursor->token.end;
        sl_cursor_advance(cursor);
    }
    return end;
}

/* Adds a metadata entry whose value is a JSON string. */
static silt_status add_text_meta(struct sl_cursor *cursor, struct silt_field *field, const char *key,
                                 struct sl_str value)
{
    struct sl_json_writer w;
    struct sl_buf buf;
    struct sl_field_meta *all = NULL;
    silt_status status = SILT_OK;

    sl_buf_init(&buf, cursor->arena->env);
    sl_json_writer_init(&w, &buf);
    sl_json_put_str(&w, value);
    status = sl_buf_status(&buf, cursor->err);
    if (status != SILT_OK) {
        goto out;
    }
    all = sl_arena_alloc_array(cursor->arena, field->n_metadata + 1, sizeof(*all));
    if (all == NULL) {
        status = sl_fail_nomem(cursor->err);
        goto out;
    }
    if (field->n_metadata > 0) {
        memcpy(all, field->metadata, field->n_metadata * sizeof(*all));
    }
    all[field->n_metadata].key = sl_str_from(key);
    all[field->n_metadata].json = sl_arena_copy(cursor->arena, sl_buf_view(&buf));
    if (all[field->n_metadata].json.ptr == NULL) {
        status = sl_fail_nomem(cursor->err);
        goto out;
    }
    field->metadata = all;
    field->n_metadata++;
out:
    sl_buf_release(&buf);
    return status;
}

static silt_status refuse_option(struct sl_cursor *cursor, const char *what)
{
    silt_status status = sl_fail(cursor->err, SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_SYNTAX", "%s is not supported",
                                 what);
    sl_error_position(cursor->err, cursor->token.begin);
    return status;
}

/* NOT NULL, NULL and COMMENT behind a column's type, in any order. */
static silt_status column_options(struct sl_cursor *cursor, struct silt_field *field)
{
    struct sl_str comment;
    for (;;) {
        if (sl_cursor_accept_two(cursor, "NOT", "NULL")) {
            field->nullable = false;
        } else if (sl_cursor_accept(cursor, "NULL")) {
            field->nullable = true;
        } else if (sl_cursor_accept(cursor, "COMMENT")) {
            SL_TRY(sl_cursor_string(cursor, "a comment in quotes", &comment));
            SL_TRY(add_text_meta(cursor, field, "comment", comment));
        } else if (sl_cursor_at(cursor, "DEFAULT")) {
            return refuse_option(cursor, "a DEFAULT of a column");
        } else if (sl_cursor_at(cursor, "GENERATED")) {
            return refuse_option(cursor, "a GENERATED column");
        } else if (sl_cursor_at(cursor, "CHECK")) {
            return refuse_option(cursor, "a CHECK of a column");
        } else if (sl_cursor_at(cursor, "COLLATE")) {
            return refuse_option(cursor, "a COLLATE of a column");
        } else {
            return SILT_OK;
        }
    }
}

/* name type [options]; the type may be missing in PARTITIONED BY only. */
static silt_status parse_column(struct sl_cursor *cursor, struct silt_field *field)
{
    struct sl_str text;
    size_t begin;
    silt_status status;

    *field = (struct silt_field){.nullable = true};
    SL_TRY(sl_cursor_identifier(cursor, "a column name", &field->name));
    begin = cursor->token.begin;
    (void)sl_cursor_accept(cursor, ":");
    text = sl_str_sub(cursor->text, begin, type_end(cursor));
    if (text.len == 0) {
        return sl_cursor_fail(cursor, "the type of the column");
    }
    status = sl_type_parse_column(cursor->arena, text, field, cursor->err);
    if (status != SILT_OK) {
        if (cursor->err != NULL && cursor->err->position >= 0) {
            sl_error_position(cursor->err, begin + (size_t)cursor->err->position);
        } else {
            sl_error_position(cursor->err, begin);
        }
        return status;
    }
    return column_options(cursor, field);
}

/* "(a INT, b STRING)" appended to a vector of fields. */
static silt_status parse_columns(struct sl_cursor *cursor, struct sl_vec *fields)
{
    SL_TRY(sl_cursor_expect(cursor, "("));
    do {
        struct silt_field *field = sl_vec_push(fields);
        if (field == NULL) {
            return sl_fail_nomem(cursor->err);
        }
        if (sl_cursor_at(cursor, "CONSTRAINT") || sl_cursor_at_two(cursor, "PRIMARY", "KEY") ||
            sl_cursor_at_two(cursor, "FOREIGN", "KEY")) {
            return refuse_option(cursor, "a table constraint in CREATE TABLE");
        }
        SL_TRY(parse_column(cursor, field));
    } while (sl_cursor_accept(cursor, ","));
    return sl_cursor_expect(cursor, ")");
}

/* PARTITIONED BY (a, b), or (c INT) as Hive has it: the column is then added to the table. */
static silt_status parse_partitioning(struct sl_cursor *cursor, struct sl_vec *fields, struct sl_vec *columns)
{
    SL_TRY(sl_cursor_expect(cursor, "("));
    do {
        struct sl_str *name = sl_vec_push(columns);
        if (name == NULL) {
            return sl_fail_nomem(cursor->err);
        }
        if (sl_token_is(&cursor->after, ",") || sl_token_is(&cursor->after, ")")) {
            SL_TRY(sl_cursor_identifier(cursor, "a partition column", name));
        } else if (sl_token_is(&cursor->after, "(")) {
            return refuse_option(cursor, "a partition transform");
        } else {
            struct silt_field *field = sl_vec_push(fields);
            if (field == NULL) {
                return sl_fail_nomem(cursor->err);
            }
            SL_TRY(parse_column(cursor, field));
            *name = field->name;
        }
    } while (sl_cursor_accept(cursor, ","));
    return sl_cursor_expect(cursor, ")");
}

/* One clause behind the columns. *found is false when none stands here. */
static silt_status parse_clause(struct sl_cursor *cursor, struct sl_create_table *create, struct sl_vec *fields,
                                struct sl_vec *columns, bool *found)
{
    *found = true;
    if (sl_cursor_accept(cursor, "USING")) {
        return sl_cursor_identifier(cursor, "a format", &create->provider);
    }
    if (sl_cursor_accept_two(cursor, "PARTITIONED", "BY")) {
        return parse_partitioning(cursor, fields, columns);
    }
    if (sl_cursor_accept(cursor, "TBLPROPERTIES")) {
        return sl_cursor_properties(cursor, &create->properties);
    }
    if (sl_cursor_accept(cursor, "COMMENT")) {
        return sl_cursor_string(cursor, "a comment in quotes", &create->comment);
    }
    if (sl_cursor_accept(cursor, "LOCATION")) {
        return sl_cursor_string(cursor, "a path in quotes", &create->location);
    }
    if (sl_cursor_at_two(cursor, "CLUSTER", "BY")) {
        return refuse_option(cursor, "CLUSTER BY");
    }
    if (sl_cursor_at(cursor, "OPTIONS")) {
        return refuse_option(cursor, "OPTIONS");
    }
    *found = false;
    return SILT_OK;
}

/* Of two comments or lists of properties one would be lost. */
static silt_status note_clause(struct sl_cursor *cursor, unsigned *seen)
{
    static const char *const clauses[] = {"USING", "PARTITIONED", "TBLPROPERTIES", "COMMENT", "LOCATION"};
    for (unsigned i = 0; i < sizeof(clauses) / sizeof(clauses[0]); i++) {
        if (!sl_cursor_at(cursor, clauses[i])) {
            continue;
        }
        if ((*seen & (1U << i)) != 0) {
            const silt_status status = sl_fail(cursor->err, SILT_ESYNTAX, "DUPLICATE_CLAUSES",
                                               "the clause %s is given twice", clauses[i]);
            sl_error_position(cursor->err, cursor->token.begin);
            return status;
        }
        *seen |= 1U << i;
    }
    return SILT_OK;
}

static silt_status parse_as_query(struct sl_cursor *cursor, struct sl_create_table *create)
{
    if (!sl_cursor_accept(cursor, "AS")) {
        return sl_cursor_expect_end(cursor);
    }
    if (sl_cursor_at_end(cursor)) {
        return sl_cursor_fail(cursor, "a query");
    }
    create->has_query = true;
    create->query_begin = cursor->token.begin;
    create->query_end = cursor->text.len;
    return SILT_OK;
}

static silt_status parse_create_body(struct sl_cursor *cursor, struct sl_create_table *create, struct sl_vec *fields,
                                     struct sl_vec *columns)
{
    bool found = true;
    unsigned seen = 0;

    SL_TRY(sl_cursor_table(cursor, &create->table));
    if (sl_cursor_at(cursor, "(")) {
        SL_TRY(parse_columns(cursor, fields));
    }
    if (sl_cursor_at(cursor, "SHALLOW") || sl_cursor_at(cursor, "DEEP") || sl_cursor_at(cursor, "CLONE") ||
        sl_cursor_at(cursor, "LIKE")) {
        return refuse_option(cursor, "CREATE TABLE … CLONE or LIKE");
    }
    while (found) {
        SL_TRY(note_clause(cursor, &seen));
        SL_TRY(parse_clause(cursor, create, fields, columns, &found));
    }
    return parse_as_query(cursor, create);
}

/* TEMP tables, views, macros, schemas and the like belong to the data plane. */
static bool is_delta_create(struct sl_cursor *cursor, struct sl_create_table *create)
{
    if (sl_cursor_accept_two(cursor, "OR", "REPLACE")) {
        create->or_replace = true;
    }
    (void)sl_cursor_accept(cursor, "EXTERNAL");
    return sl_cursor_accept(cursor, "TABLE");
}

silt_status sl_create_parse(struct sl_cursor *cursor, struct sl_statement *out)
{
    struct sl_create_table *create = &out->create;
    struct sl_vec fields;
    struct sl_vec columns;
    struct sl_str *names = NULL;
    silt_status status = SILT_OK;

    if (!is_delta_create(cursor, create)) {
        out->kind = SL_STMT_QUERY;
        return SILT_OK;
    }
    out->kind = SL_STMT_CREATE_TABLE;
    out->name = "CREATE TABLE";
    if (!create->or_replace && !create->replace && sl_cursor_accept(cursor, "IF")) {
        SL_TRY(sl_cursor_expect(cursor, "NOT"));
        SL_TRY(sl_cursor_expect(cursor, "EXISTS"));
        create->if_not_exists = true;
    }
    sl_vec_init(&fields, cursor->arena->env, sizeof(struct silt_field));
    sl_vec_init(&columns, cursor->arena->env, sizeof(struct sl_str));
    status = parse_create_body(cursor, create, &fields, &columns);
    if (status != SILT_OK) {
        goto out;
    }
    create->n_fields = fields.len;
    create->fields = sl_arena_alloc_array(cursor->arena, fields.len + 1, sizeof(struct silt_field));
    names = sl_arena_alloc_array(cursor->arena, columns.len + 1, sizeof(struct sl_str));
    if (create->fields == NULL || names == NULL) {
        status = sl_fail_nomem(cursor->err);
        goto out;
    }
    if (fields.len > 0) {
        memcpy(create->fields, fields.data, fields.len * sizeof(struct silt_field));
    }
    if (columns.len > 0) {
        memcpy(names, columns.data, columns.len * sizeof(struct sl_str));
    }
    create->partition_columns = (struct sl_str_list){names, columns.len};
out:
    sl_vec_release(&columns);
    sl_vec_release(&fields);
    return status;
}
