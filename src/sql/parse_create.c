/*
 * CREATE [OR REPLACE] TABLE [IF NOT EXISTS] name [(columns)] [USING delta] [clauses in any order] [AS query], as Spark SQL
 * spells it. CREATE VIEW, CREATE TEMP TABLE, CREATE MACRO … are left to the data plane.
 */
#include "base/error.h"
#include "base/vec.h"
#include "json/writer.h"
#include "sql/parser.h"

/* End of a type's text: the token before the first word that cannot belong to a type, brackets balanced. */
static size_t type_end(struct sl_parser *parser)
{
    size_t depth = 0;
    size_t end = parser->token.begin;
    while (!sl_parser_at_end(parser)) {
        struct sl_str t = parser->token.text;
        if (depth == 0 &&
            (sl_parser_at(parser, ",") || sl_parser_at(parser, ")") || sl_parser_at(parser, "NOT") ||
             sl_parser_at(parser, "NULL") || sl_parser_at(parser, "COMMENT") || sl_parser_at(parser, "DEFAULT") ||
             sl_parser_at(parser, "GENERATED") || sl_parser_at(parser, "CHECK") || sl_parser_at(parser, "COLLATE"))) {
            break;
        }
        /* ">>" closes two levels; the lexer may give it as one token */
        for (size_t i = 0; parser->token.kind == SL_TOK_OP && i < t.len; i++) {
            if (t.ptr[i] == '<' || t.ptr[i] == '(') {
                depth++;
            } else if ((t.ptr[i] == '>' || t.ptr[i] == ')') && depth > 0) {
                depth--;
            }
        }
        end = parser->token.end;
        sl_parser_advance(parser);
    }
    return end;
}

/* Adds a metadata entry whose value is a JSON string. */
static silt_status add_text_meta(struct sl_parser *parser, struct silt_field *field, const char *key,
                                 struct sl_str value)
{
    struct sl_json_writer w;
    struct sl_buf buf;
    struct sl_field_meta *all = NULL;
    silt_status status = SILT_OK;

    sl_buf_init(&buf, parser->arena->env);
    sl_json_writer_init(&w, &buf);
    sl_json_put_str(&w, value);
    status = sl_buf_status(&buf, parser->err);
    if (status != SILT_OK) {
        goto out;
    }
    all = sl_arena_alloc_array(parser->arena, field->n_metadata + 1, sizeof(*all));
    if (all == NULL) {
        status = sl_fail_nomem(parser->err);
        goto out;
    }
    if (field->n_metadata > 0) {
        memcpy(all, field->metadata, field->n_metadata * sizeof(*all));
    }
    all[field->n_metadata].key = sl_str_from(key);
    all[field->n_metadata].json = sl_arena_copy(parser->arena, sl_buf_view(&buf));
    if (all[field->n_metadata].json.ptr == NULL) {
        status = sl_fail_nomem(parser->err);
        goto out;
    }
    field->metadata = all;
    field->n_metadata++;
out:
    sl_buf_release(&buf);
    return status;
}

/* CHAR(n) and VARCHAR(n) are strings that remember how they were declared, as Spark stores them. */
static silt_status note_char_type(struct sl_parser *parser, struct silt_field *field, struct sl_str text)
{
    struct sl_str word = text;
    struct sl_buf lower;
    silt_status status = SILT_OK;

    while (word.len > 0 && word.ptr[word.len - 1] != '(') {
        word.len--;
    }
    if (word.len < 2) {
        return SILT_OK;
    }
    word = sl_str_trim(sl_str_sub(word, 0, word.len - 1));
    if (!sl_str_eq_nocase(word, SL_STR("CHAR")) && !sl_str_eq_nocase(word, SL_STR("VARCHAR")) &&
        !sl_str_eq_nocase(word, SL_STR("CHARACTER"))) {
        return SILT_OK;
    }
    sl_buf_init(&lower, parser->arena->env);
    sl_buf_put_c(&lower, sl_str_eq_nocase(word, SL_STR("VARCHAR")) ? "varchar" : "char");
    for (size_t i = word.len; i < text.len; i++) {
        if (text.ptr[i] != ' ') {
            sl_buf_put_char(&lower, text.ptr[i]);
        }
    }
    status = sl_buf_status(&lower, parser->err);
    if (status == SILT_OK) {
        status = add_text_meta(parser, field, "__CHAR_VARCHAR_TYPE_STRING", sl_buf_view(&lower));
    }
    sl_buf_release(&lower);
    return status;
}

static silt_status refuse_option(struct sl_parser *parser, const char *what)
{
    silt_status status = sl_fail(parser->err, SILT_EUNSUPPORTED, "SILT_UNSUPPORTED_SYNTAX", "%s is not supported",
                                 what);
    sl_error_position(parser->err, parser->token.begin);
    return status;
}

/* NOT NULL, NULL and COMMENT behind a column's type, in any order. */
static silt_status column_options(struct sl_parser *parser, struct silt_field *field)
{
    struct sl_str comment;
    for (;;) {
        if (sl_parser_accept_two(parser, "NOT", "NULL")) {
            field->nullable = false;
        } else if (sl_parser_accept(parser, "NULL")) {
            field->nullable = true;
        } else if (sl_parser_accept(parser, "COMMENT")) {
            SL_TRY(sl_parser_string(parser, "a comment in quotes", &comment));
            SL_TRY(add_text_meta(parser, field, "comment", comment));
        } else if (sl_parser_at(parser, "DEFAULT")) {
            return refuse_option(parser, "a DEFAULT of a column");
        } else if (sl_parser_at(parser, "GENERATED")) {
            return refuse_option(parser, "a GENERATED column");
        } else if (sl_parser_at(parser, "CHECK")) {
            return refuse_option(parser, "a CHECK of a column");
        } else if (sl_parser_at(parser, "COLLATE")) {
            return refuse_option(parser, "a COLLATE of a column");
        } else {
            return SILT_OK;
        }
    }
}

/* name type [options]; the type may be missing in PARTITIONED BY only. */
static silt_status parse_column(struct sl_parser *parser, struct silt_field *field)
{
    struct sl_str text;
    size_t begin;
    silt_status status;

    *field = (struct silt_field){.nullable = true};
    SL_TRY(sl_parser_identifier(parser, "a column name", &field->name));
    begin = parser->token.begin;
    (void)sl_parser_accept(parser, ":");
    text = sl_str_sub(parser->text, begin, type_end(parser));
    if (text.len == 0) {
        return sl_parser_fail(parser, "the type of the column");
    }
    status = sl_type_parse(parser->arena, text, &field->type, parser->err);
    if (status != SILT_OK) {
        if (parser->err != NULL && parser->err->position >= 0) {
            sl_error_position(parser->err, begin + (size_t)parser->err->position);
        } else {
            sl_error_position(parser->err, begin);
        }
        return status;
    }
    SL_TRY(note_char_type(parser, field, text));
    return column_options(parser, field);
}

/* "(a INT, b STRING)" appended to a vector of fields. */
static silt_status parse_columns(struct sl_parser *parser, struct sl_vec *fields)
{
    SL_TRY(sl_parser_expect(parser, "("));
    do {
        struct silt_field *field = sl_vec_push(fields);
        if (field == NULL) {
            return sl_fail_nomem(parser->err);
        }
        if (sl_parser_at(parser, "CONSTRAINT") || sl_parser_at_two(parser, "PRIMARY", "KEY") ||
            sl_parser_at_two(parser, "FOREIGN", "KEY")) {
            return refuse_option(parser, "a table constraint in CREATE TABLE");
        }
        SL_TRY(parse_column(parser, field));
    } while (sl_parser_accept(parser, ","));
    return sl_parser_expect(parser, ")");
}

/* PARTITIONED BY (a, b), or (c INT) as Hive has it: the column is then added to the table. */
static silt_status parse_partitioning(struct sl_parser *parser, struct sl_vec *fields, struct sl_vec *columns)
{
    SL_TRY(sl_parser_expect(parser, "("));
    do {
        struct sl_str *name = sl_vec_push(columns);
        if (name == NULL) {
            return sl_fail_nomem(parser->err);
        }
        if (sl_token_is(&parser->after, ",") || sl_token_is(&parser->after, ")")) {
            SL_TRY(sl_parser_identifier(parser, "a partition column", name));
        } else if (sl_token_is(&parser->after, "(")) {
            return refuse_option(parser, "a partition transform");
        } else {
            struct silt_field *field = sl_vec_push(fields);
            if (field == NULL) {
                return sl_fail_nomem(parser->err);
            }
            SL_TRY(parse_column(parser, field));
            *name = field->name;
        }
    } while (sl_parser_accept(parser, ","));
    return sl_parser_expect(parser, ")");
}

/* One clause behind the columns. *found is false when none stands here. */
static silt_status parse_clause(struct sl_parser *parser, struct sl_create_table *create, struct sl_vec *fields,
                                struct sl_vec *columns, bool *found)
{
    *found = true;
    if (sl_parser_accept(parser, "USING")) {
        return sl_parser_identifier(parser, "a format", &create->provider);
    }
    if (sl_parser_accept_two(parser, "PARTITIONED", "BY")) {
        return parse_partitioning(parser, fields, columns);
    }
    if (sl_parser_accept(parser, "TBLPROPERTIES")) {
        return sl_parser_properties(parser, &create->properties);
    }
    if (sl_parser_accept(parser, "COMMENT")) {
        return sl_parser_string(parser, "a comment in quotes", &create->comment);
    }
    if (sl_parser_accept(parser, "LOCATION")) {
        return sl_parser_string(parser, "a path in quotes", &create->location);
    }
    if (sl_parser_at_two(parser, "CLUSTER", "BY")) {
        return refuse_option(parser, "CLUSTER BY");
    }
    if (sl_parser_at(parser, "OPTIONS")) {
        return refuse_option(parser, "OPTIONS");
    }
    *found = false;
    return SILT_OK;
}

static silt_status parse_as_query(struct sl_parser *parser, struct sl_create_table *create)
{
    if (!sl_parser_accept(parser, "AS")) {
        return sl_parser_expect_end(parser);
    }
    if (sl_parser_at_end(parser)) {
        return sl_parser_fail(parser, "a query");
    }
    create->has_query = true;
    create->query_begin = parser->token.begin;
    create->query_end = parser->text.len;
    return SILT_OK;
}

static silt_status parse_create_body(struct sl_parser *parser, struct sl_create_table *create, struct sl_vec *fields,
                                     struct sl_vec *columns)
{
    bool found = true;

    SL_TRY(sl_parser_table(parser, &create->table));
    if (sl_parser_at(parser, "(")) {
        SL_TRY(parse_columns(parser, fields));
    }
    if (sl_parser_at(parser, "SHALLOW") || sl_parser_at(parser, "DEEP") || sl_parser_at(parser, "CLONE") ||
        sl_parser_at(parser, "LIKE")) {
        return refuse_option(parser, "CREATE TABLE … CLONE or LIKE");
    }
    while (found) {
        SL_TRY(parse_clause(parser, create, fields, columns, &found));
    }
    return parse_as_query(parser, create);
}

/* TEMP tables, views, macros, schemas and the like belong to the data plane. */
static bool is_delta_create(struct sl_parser *parser, struct sl_create_table *create)
{
    if (sl_parser_accept_two(parser, "OR", "REPLACE")) {
        create->or_replace = true;
    }
    (void)sl_parser_accept(parser, "EXTERNAL");
    return sl_parser_accept(parser, "TABLE");
}

silt_status sl_parse_create(struct sl_parser *parser, struct sl_statement *out)
{
    struct sl_create_table *create = &out->create;
    struct sl_vec fields;
    struct sl_vec columns;
    struct sl_str *names = NULL;
    silt_status status = SILT_OK;

    if (!is_delta_create(parser, create)) {
        out->kind = SL_STMT_QUERY;
        return SILT_OK;
    }
    out->kind = SL_STMT_CREATE_TABLE;
    out->name = "CREATE TABLE";
    if (sl_parser_accept(parser, "IF")) {
        SL_TRY(sl_parser_expect(parser, "NOT"));
        SL_TRY(sl_parser_expect(parser, "EXISTS"));
        create->if_not_exists = true;
    }
    sl_vec_init(&fields, parser->arena->env, sizeof(struct silt_field));
    sl_vec_init(&columns, parser->arena->env, sizeof(struct sl_str));
    status = parse_create_body(parser, create, &fields, &columns);
    if (status != SILT_OK) {
        goto out;
    }
    create->n_fields = fields.len;
    create->fields = sl_arena_alloc_array(parser->arena, fields.len + 1, sizeof(struct silt_field));
    names = sl_arena_alloc_array(parser->arena, columns.len + 1, sizeof(struct sl_str));
    if (create->fields == NULL || names == NULL) {
        status = sl_fail_nomem(parser->err);
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
