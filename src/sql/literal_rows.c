/*
 * Rows of constants; see literal_rows.h. What is read: integers and decimal fractions that fit their column exactly, texts without
 * backslashes for text columns, TRUE, FALSE, NULL, and DATE '2020-01-31'. One thread a call.
 */
#include "sql/literal_rows.h"

#include "base/arrow.h"
#include "base/error.h"
#include "base/time.h"
#include "schema/type.h"
#include "schema/value.h"
#include "sql/lexer.h"

/* Longer texts are worth the data plane's threads. */
#define MAX_TEXT ((size_t)64 << 10)
#define MAX_COLUMNS 256
/* What 64 bits hold, and what a double and a float hold exactly. */
#define MAX_INTEGER_DIGITS 18
#define MAX_DOUBLE_DIGITS 15
#define MAX_FLOAT_INTEGER ((int64_t)1 << 24)

struct reading {
    const struct sl_literal_rows *request;
    struct sl_lexer lexer;
    struct sl_token token; /* the one that is looked at */
    size_t columns[MAX_COLUMNS];
    size_t n_columns;
    silt_schema *schema; /* of the listed columns */
    struct sl_arrow_builder *builder;
    silt_error *err;
};

static void step(struct reading *r)
{
    r->token = sl_lex(&r->lexer);
}

static bool take(struct reading *r, const char *word)
{
    const bool is = sl_token_is(&r->token, word);
    if (is) {
        step(r);
    }
    return is;
}

/* ---- the columns ---- */

static bool column_is_plain(const struct silt_field *field)
{
    const struct silt_type *type = field->type;
    return !sl_type_is_nested(type) && type->kind != SILT_TYPE_VARIANT && type->kind != SILT_TYPE_VOID &&
           type->json.ptr == NULL && sl_field_meta_text(field, SL_STR("__CHAR_VARCHAR_TYPE_STRING")).ptr == NULL;
}

/* False for columns that are not to be written here, or lists that are at fault. */
static bool choose_columns(struct reading *r)
{
    const struct silt_type *root = &r->request->schema->root;
    const struct sl_str_list *listed = r->request->listed;
    bool given[MAX_COLUMNS] = {false};
    if (root->n_fields == 0 || root->n_fields > MAX_COLUMNS || listed->n > root->n_fields) {
        return false;
    }
    r->n_columns = listed->n > 0 ? listed->n : root->n_fields;
    for (size_t i = 0; i < r->n_columns; i++) {
        r->columns[i] = i;
        if ((listed->n > 0 && sl_type_find(root, listed->items[i], &r->columns[i]) == NULL) || given[r->columns[i]]) {
            return false;
        }
        given[r->columns[i]] = true;
    }
    for (size_t i = 0; i < root->n_fields; i++) {
        if (!column_is_plain(&root->fields[i]) || (!given[i] && !root->fields[i].nullable)) {
            return false;
        }
    }
    return true;
}

static silt_status open_builder(struct reading *r)
{
    struct ArrowSchema schema = {0};
    SL_TRY(sl_schema_project(r->request->schema, r->columns, r->n_columns, &r->schema, r->err));
    SL_TRY(silt_schema_to_arrow(r->schema, &schema, r->err));
    const silt_status status = sl_arrow_builder_new(r->request->env, &schema, &r->builder, r->err);
    sl_arrow_schema_release(&schema);
    return status;
}

/* ---- constants ---- */

static bool is_digits(struct sl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return false;
        }
    }
    return text.len > 0;
}

static bool integer_value(struct sl_str digits, bool negative, const struct silt_type *type, silt_value *out)
{
    int64_t number = 0;
    if (digits.len > MAX_INTEGER_DIGITS || !sl_str_to_i64(digits, &number)) {
        return false;
    }
    const int64_t signed_number = negative ? -number : number;
    if ((type->kind == SILT_TYPE_FLOAT && number > MAX_FLOAT_INTEGER) ||
        (type->kind == SILT_TYPE_DOUBLE && digits.len > MAX_DOUBLE_DIGITS) ||
        (!sl_kind_is_integer(type->kind) && type->kind != SILT_TYPE_FLOAT && type->kind != SILT_TYPE_DOUBLE &&
         type->kind != SILT_TYPE_DECIMAL)) {
        return false;
    }
    const silt_value value = sl_value_i64(SILT_TYPE_LONG, signed_number);
    return sl_value_cast(NULL, &value, type, out);
}

static bool fraction_value(struct sl_arena *arena, struct sl_str text, bool negative, const struct silt_type *type,
                           silt_value *out)
{
    sl_i128 unscaled = 0;
    int scale = 0;
    const size_t dot = sl_str_find(text, SL_STR("."));
    if (dot == SIZE_MAX || !is_digits(sl_str_sub(text, 0, dot)) || !is_digits(sl_str_sub(text, dot + 1, text.len)) ||
        !sl_decimal_parse(text, &unscaled, &scale) || scale < 0 || text.len - 1 > SL_DECIMAL_MAX_PRECISION ||
        (type->kind == SILT_TYPE_DOUBLE && text.len - 1 > MAX_DOUBLE_DIGITS) ||
        (type->kind != SILT_TYPE_DOUBLE && type->kind != SILT_TYPE_DECIMAL)) {
        return false;
    }
    const silt_value value = sl_value_decimal(negative ? -unscaled : unscaled, (uint8_t)(text.len - 1), (uint8_t)scale);
    return sl_value_cast(arena, &value, type, out);
}

static bool number_value(struct reading *r, bool negative, const struct silt_type *type, silt_value *out)
{
    const struct sl_str text = r->token.text;
    if (r->token.kind != SL_TOK_NUMBER) {
        return false;
    }
    return is_digits(text) ? integer_value(text, negative, type, out)
                           : fraction_value(r->request->arena, text, negative, type, out);
}

/* Backslashes are read by some as they are and by others as escapes. */
static bool text_of(struct reading *r, struct sl_str *out)
{
    const struct sl_token *token = &r->token;
    if (token->kind != SL_TOK_STRING || token->text.len < 2 || token->text.ptr[0] != '\'' ||
        sl_str_find(token->text, SL_STR("\\")) != SIZE_MAX) {
        return false;
    }
    *out = sl_token_name(r->request->arena, token);
    return out->ptr != NULL;
}

static bool date_value(struct reading *r, silt_value *out)
{
    struct sl_str text;
    int32_t days = 0;
    step(r);
    if (!text_of(r, &text) || text.len != strlen("2020-01-31") || text.ptr[4] != '-' || text.ptr[7] != '-' ||
        !sl_date_parse(text, &days)) {
        return false;
    }
    *out = sl_value_i64(SILT_TYPE_DATE, days);
    return true;
}

static bool constant_value(struct reading *r, const struct silt_field *field, silt_value *out)
{
    const struct silt_type *type = field->type;
    const bool is_true = sl_token_is(&r->token, "TRUE");
    struct sl_str text;
    if (sl_token_is(&r->token, "NULL")) {
        *out = sl_value_null(type->kind);
        return field->nullable;
    }
    if (is_true || sl_token_is(&r->token, "FALSE")) {
        *out = sl_value_bool(is_true);
        return type->kind == SILT_TYPE_BOOLEAN;
    }
    if (sl_token_is(&r->token, "DATE")) {
        return type->kind == SILT_TYPE_DATE && date_value(r, out);
    }
    if (sl_token_is(&r->token, "-")) {
        step(r);
        return number_value(r, true, type, out);
    }
    if (r->token.kind == SL_TOK_STRING) {
        const bool good = type->kind == SILT_TYPE_STRING && text_of(r, &text);
        *out = good ? sl_value_bytes(SILT_TYPE_STRING, text) : sl_value_null(SILT_TYPE_STRING);
        return good;
    }
    return number_value(r, false, type, out);
}

/* ---- rows ---- */

/* "(1, 'a')"; *good false: something else stands there. */
static silt_status read_row(struct reading *r, bool *good)
{
    *good = take(r, "(");
    for (size_t i = 0; *good && i < r->n_columns; i++) {
        silt_value value;
        *good = constant_value(r, &r->schema->root.fields[i], &value);
        if (!*good) {
            return SILT_OK;
        }
        SL_TRY(sl_value_append(sl_arrow_builder_child(r->builder, i), &value, r->err));
        step(r);
        *good = take(r, i + 1 < r->n_columns ? "," : ")");
    }
    return *good ? sl_arrow_append_nested(r->builder, r->err) : SILT_OK;
}

static silt_status read_rows(struct reading *r, struct ArrowArrayStream *out)
{
    struct ArrowSchema schema = {0};
    struct ArrowArray rows = {0};
    bool good = false;
    do {
        SL_TRY(read_row(r, &good));
    } while (good && take(r, ","));
    if (!good || r->token.kind != SL_TOK_END) {
        return SILT_OK;
    }
    SL_TRY(sl_arrow_builder_finish(r->builder, &rows, r->err));
    silt_status status = silt_schema_to_arrow(r->schema, &schema, r->err);
    if (status == SILT_OK) {
        status = sl_arrow_stream_from_batches(r->request->env, &schema, &rows, 1, out, r->err);
    }
    sl_arrow_schema_release(&schema);
    sl_arrow_array_release(&rows);
    return status;
}

silt_status sl_literal_rows_read(const struct sl_literal_rows *request, struct ArrowArrayStream *out, silt_error *err)
{
    struct reading r = {.request = request, .lexer = {.text = request->query}, .err = err};
    *out = (struct ArrowArrayStream){0};
    step(&r);
    if (request->query.len > MAX_TEXT || !take(&r, "VALUES") || !choose_columns(&r)) {
        return SILT_OK;
    }
    silt_status status = open_builder(&r);
    if (status == SILT_OK) {
        status = read_rows(&r, out);
    }
    sl_arrow_builder_free(r.builder);
    silt_schema_unref(r.schema);
    return status;
}
