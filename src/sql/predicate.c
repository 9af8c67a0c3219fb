/*
 * Conditions as kernel predicates. See predicate.h. A condition is printed as a Spark expression and parsed by the expression layer, so
 * that there is one way to build predicates. Pairs of column and constant types whose comparison could mean something else in the data
 * plane (a float against a decimal, a number against text) are left out.
 */
#include "sql/predicate.h"

#include "base/error.h"
#include "base/time.h"
#include "expr/expr.h"
#include "schema/value.h"

#define MAX_DEPTH 64

struct printer {
    const struct sl_table_ref *ref;
    const silt_schema *schema;
    const struct sl_dataplane_params *params;
    bool utc;
    struct sl_arena arena;
    struct sl_buf out;
};

enum constant_kind {
    CONST_NULL,
    CONST_INTEGER,
    CONST_DECIMAL,
    CONST_DOUBLE,
    CONST_TEXT,
    CONST_BOOL,
    CONST_OTHER
};

struct constant {
    enum constant_kind kind;
    struct sl_str text; /* digits, or the text */
    struct sl_str cast; /* type that text is cast to, absent if none */
};

static bool is(const sl_json *node, const char *key, const char *value)
{
    return sl_str_eq_c(sl_json_member_text(node, key), value);
}

static const sl_json *child_at(const sl_json *node, size_t index)
{
    struct sl_json_iter iter = sl_json_iterate(sl_json_member(node, "children"));
    struct sl_str key;
    const sl_json *child = NULL;
    for (size_t i = 0; sl_json_next(&iter, &key, &child); i++) {
        if (i == index) {
            return child;
        }
    }
    return NULL;
}

static bool copied_text(struct printer *p, const struct sl_buf *buf, struct sl_str *out)
{
    *out = sl_arena_copy(&p->arena, sl_buf_view(buf));
    return buf->status == SILT_OK && out->ptr != NULL;
}

/* 25 with scale 1 → 2.5 */
static bool decimal_text(struct printer *p, const sl_json *value, const sl_json *type, struct sl_str *out)
{
    struct sl_buf buf;
    int64_t unscaled = 0;
    int64_t scale = 0;
    bool good;
    const sl_json *info = sl_json_member(type, "type_info");

    if (!sl_json_to_i64(value, &unscaled)) {
        return false;
    }
    (void)sl_json_to_i64(sl_json_member(info, "scale"), &scale); /* a default of 0 is left out of the tree */
    if (scale < 0 || scale > SL_DECIMAL_MAX_PRECISION) {
        return false;
    }
    sl_buf_init(&buf, p->arena.env);
    sl_decimal_format(&buf, (sl_i128)unscaled, (int)scale);
    good = copied_text(p, &buf, out);
    sl_buf_release(&buf);
    return good;
}

static bool literal_constant(struct printer *p, const sl_json *value_node, struct constant *out)
{
    const sl_json *type = sl_json_member(value_node, "type");
    const sl_json *value = sl_json_member(value_node, "value");
    bool is_null = false;

    *out = (struct constant){.kind = CONST_OTHER};
    (void)sl_json_to_bool(sl_json_member(value_node, "is_null"), &is_null); /* left out: not null */
    if (is_null) {
        out->kind = CONST_NULL;
        return true;
    }
    if (is(type, "id", "VARCHAR")) {
        out->kind = CONST_TEXT;
        return sl_json_to_str(value, &out->text);
    }
    if (is(type, "id", "BOOLEAN")) {
        bool b = false;
        out->kind = CONST_BOOL;
        out->text = sl_json_to_bool(value, &b) && b ? SL_STR("TRUE") : SL_STR("FALSE");
        return true;
    }
    if (is(type, "id", "DECIMAL")) {
        out->kind = CONST_DECIMAL;
        return decimal_text(p, value, type, &out->text);
    }
    if (is(type, "id", "DOUBLE")) {
        out->kind = CONST_DOUBLE;
        return sl_json_to_number_text(value, &out->text);
    }
    if (is(type, "id", "INTEGER") || is(type, "id", "BIGINT") || is(type, "id", "SMALLINT") ||
        is(type, "id", "TINYINT")) {
        out->kind = CONST_INTEGER;
        return sl_json_to_number_text(value, &out->text);
    }
    return false;
}

/* Column of the parameters by its number or name. */
static int64_t param_index(const struct ArrowSchema *schema, struct sl_str identifier)
{
    int64_t number = 0;
    for (int64_t i = 0; i < schema->n_children; i++) {
        const char *name = schema->children[i]->name;
        if (name != NULL && sl_str_eq_nocase(identifier, sl_str_from(name))) {
            return i;
        }
    }
    if (sl_str_to_i64(identifier, &number) && number >= 1 && number <= schema->n_children) {
        return number - 1;
    }
    return -1;
}

static bool param_constant(struct printer *p, const sl_json *node, struct constant *out)
{
    const struct ArrowSchema *schema = p->params != NULL ? p->params->schema : NULL;
    int64_t index = schema != NULL ? param_index(schema, sl_json_member_text(node, "identifier")) : -1;
    silt_value value;
    struct sl_buf buf;
    bool good;

    if (index < 0 || index >= p->params->row->n_children || p->params->row->offset != 0 ||
        !sl_value_from_arrow(schema->children[index], p->params->row->children[index], 0, &value)) {
        return false;
    }
    *out = (struct constant){.kind = CONST_OTHER};
    if (value.is_null) {
        out->kind = CONST_NULL;
        return true;
    }
    switch (value.kind) {
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_LONG: out->kind = CONST_INTEGER; break;
    case SILT_TYPE_DOUBLE: out->kind = CONST_DOUBLE; break;
    case SILT_TYPE_DECIMAL: out->kind = CONST_DECIMAL; break;
    case SILT_TYPE_STRING: out->kind = CONST_TEXT; break;
    case SILT_TYPE_DATE:
        out->kind = CONST_TEXT;
        out->cast = SL_STR("DATE");
        break;
    default: return false;
    }
    sl_buf_init(&buf, p->arena.env);
    sl_value_print(&buf, &value);
    good = copied_text(p, &buf, &out->text);
    sl_buf_release(&buf);
    return good;
}

static bool read_constant(struct printer *p, const sl_json *node, struct constant *out)
{
    if (is(node, "class", "CONSTANT")) {
        return literal_constant(p, sl_json_member(node, "value"), out);
    }
    if (is(node, "class", "PARAMETER")) {
        return param_constant(p, node, out);
    }
    if (is(node, "class", "CAST") && is(sl_json_member(node, "child"), "class", "CONSTANT")) {
        const sl_json *cast_type = sl_json_member(node, "cast_type");
        if (!literal_constant(p, sl_json_member(sl_json_member(node, "child"), "value"), out) ||
            out->kind != CONST_TEXT) {
            return false;
        }
        out->cast = sl_json_member_text(cast_type, "id");
        if (sl_str_eq_c(out->cast, "BOOLEAN")) {
            bool yes = sl_str_eq_c(out->text, "t") || sl_str_eq_nocase(out->text, SL_STR("true"));
            bool no = sl_str_eq_c(out->text, "f") || sl_str_eq_nocase(out->text, SL_STR("false"));
            *out = (struct constant){.kind = CONST_BOOL, .text = yes ? SL_STR("TRUE") : SL_STR("FALSE")};
            return yes || no;
        }
        return out->cast.ptr != NULL;
    }
    return false;
}

/* The field that a column reference means if it is one of our table, NULL else. Appends its text to p->out. */
static const struct silt_field *print_column(struct printer *p, const sl_json *node)
{
    struct sl_str path[16];
    size_t n = 0;
    size_t first = 0;
    struct sl_json_iter iter = sl_json_iterate(sl_json_member(node, "column_names"));
    struct sl_str key;
    const sl_json *part = NULL;
    struct sl_str own = p->ref->alias.ptr != NULL ? p->ref->alias : p->ref->table;
    const struct silt_field *field = NULL;

    while (sl_json_next(&iter, &key, &part)) {
        if (n == 16 || !sl_json_to_str(part, &path[n])) {
            return NULL;
        }
        n++;
    }
    if (n > 1 && sl_str_eq_nocase(path[0], own)) {
        first = 1;
    } else if (n == 0 || !p->ref->only_item) {
        return NULL;
    }
    field = sl_schema_find_path(p->schema, path + first, n - first);
    if (field == NULL) {
        return NULL;
    }
    for (size_t i = first; i < n; i++) {
        sl_buf_put_c(&p->out, i > first ? ".`" : "`");
        for (size_t k = 0; k < path[i].len; k++) {
            sl_buf_put_c(&p->out, path[i].ptr[k] == '`' ? "`" : "");
            sl_buf_put_char(&p->out, path[i].ptr[k]);
        }
        sl_buf_put_char(&p->out, '`');
    }
    return field;
}

static bool small_integer(struct sl_str text, int64_t limit)
{
    int64_t v = 0;
    return sl_str_to_i64(text, &v) && v >= -limit && v <= limit;
}

static bool print_value(struct printer *p, const silt_value *value)
{
    sl_value_print_sql(&p->out, value);
    return true;
}

/* A constant that is compared with a time: only forms that both sides read alike. */
static bool print_time(struct printer *p, const struct constant *c, silt_type_kind kind)
{
    silt_value value = {.kind = kind};
    int32_t days = 0;
    int64_t us = 0;
    bool has_zone = false;
    bool date_cast = sl_str_eq_c(c->cast, "DATE");

    if (c->kind != CONST_TEXT) {
        return false;
    }
    if (kind == SILT_TYPE_DATE) {
        if ((c->cast.ptr != NULL && !date_cast) || !sl_date_parse(c->text, &days)) {
            return false;
        }
        value.as.i64 = days;
        return print_value(p, &value);
    }
    if (c->cast.ptr != NULL && !date_cast && !sl_str_starts_with(c->cast, SL_STR("TIMESTAMP"))) {
        return false;
    }
    if (!sl_timestamp_parse(c->text, &us, &has_zone) || (date_cast && c->text.len != 10)) {
        return false;
    }
    if (kind == SILT_TYPE_TIMESTAMP_NTZ ? has_zone : (!has_zone && !p->utc)) {
        return false;
    }
    if (has_zone && sl_str_eq_c(c->cast, "TIMESTAMP")) {
        return false; /* the data plane drops the zone there */
    }
    value.as.i64 = us;
    return print_value(p, &value);
}

static bool print_float_constant(struct printer *p, const struct constant *c, silt_type_kind kind)
{
    silt_value value = {.kind = SILT_TYPE_DOUBLE};
    bool exact_integer = c->kind == CONST_INTEGER && small_integer(c->text, INT64_C(1) << 24);
    if (exact_integer) {
        sl_buf_put_str(&p->out, c->text);
        return true;
    }
    /* The data plane turns the constant into the column's type; a double of the same digits is the same number. */
    if (kind != SILT_TYPE_DOUBLE || (c->kind != CONST_DOUBLE && c->kind != CONST_DECIMAL) ||
        !sl_str_to_f64(c->text, &value.as.f64)) {
        return false;
    }
    return print_value(p, &value);
}

static bool print_constant(struct printer *p, const struct constant *c, const struct silt_type *type)
{
    silt_value text = sl_value_bytes(SILT_TYPE_STRING, c->text);

    if (c->kind == CONST_NULL) {
        sl_buf_put_c(&p->out, "NULL");
        return true;
    }
    switch (type->kind) {
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_LONG:
    case SILT_TYPE_DECIMAL:
        if (c->kind != CONST_INTEGER && c->kind != CONST_DECIMAL) {
            return false;
        }
        sl_buf_put_str(&p->out, c->text);
        return true;
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE: return print_float_constant(p, c, type->kind);
    case SILT_TYPE_STRING:
        return c->kind == CONST_TEXT && (c->cast.ptr == NULL || sl_str_eq_c(c->cast, "VARCHAR")) &&
               print_value(p, &text);
    case SILT_TYPE_BOOLEAN: sl_buf_put_str(&p->out, c->text); return c->kind == CONST_BOOL;
    case SILT_TYPE_DATE:
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: return print_time(p, c, type->kind);
    default: return false;
    }
}

static bool print_node(struct printer *p, const sl_json *node, unsigned depth);

static const char *compare_text(struct sl_str type, bool swapped)
{
    static const struct {
        const char *type;
        const char *straight;
        const char *swapped;
    } table[] = {
        {"COMPARE_EQUAL", " = ", " = "},
        {"COMPARE_NOTEQUAL", " <> ", " <> "},
        {"COMPARE_LESSTHAN", " < ", " > "},
        {"COMPARE_GREATERTHAN", " > ", " < "},
        {"COMPARE_LESSTHANOREQUALTO", " <= ", " >= "},
        {"COMPARE_GREATERTHANOREQUALTO", " >= ", " <= "},
        {"COMPARE_NOT_DISTINCT_FROM", " <=> ", " <=> "},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (sl_str_eq_c(type, table[i].type)) {
            return swapped ? table[i].swapped : table[i].straight;
        }
    }
    return NULL;
}

static bool print_compare(struct printer *p, const sl_json *node)
{
    const sl_json *left = sl_json_member(node, "left");
    const sl_json *right = sl_json_member(node, "right");
    bool swapped = !is(left, "class", "COLUMN_REF");
    const sl_json *column = swapped ? right : left;
    const char *op = compare_text(sl_json_member_text(node, "type"), swapped);
    const struct silt_field *field = NULL;
    struct constant constant;

    if (op == NULL || !is(column, "class", "COLUMN_REF") || !read_constant(p, swapped ? left : right, &constant)) {
        return false;
    }
    field = print_column(p, column);
    if (field == NULL) {
        return false;
    }
    sl_buf_put_c(&p->out, op);
    return print_constant(p, &constant, field->type);
}

static bool print_in(struct printer *p, const sl_json *node)
{
    struct sl_json_iter iter = sl_json_iterate(sl_json_member(node, "children"));
    struct sl_str key;
    const sl_json *child = NULL;
    const struct silt_field *field = NULL;
    struct constant constant;

    if (!sl_json_next(&iter, &key, &child) || !is(child, "class", "COLUMN_REF")) {
        return false;
    }
    field = print_column(p, child);
    if (field == NULL) {
        return false;
    }
    sl_buf_put_c(&p->out, is(node, "type", "COMPARE_NOT_IN") ? " NOT IN (" : " IN (");
    for (size_t i = 0; sl_json_next(&iter, &key, &child); i++) {
        sl_buf_put_c(&p->out, i > 0 ? ", " : "");
        if (!read_constant(p, child, &constant) || !print_constant(p, &constant, field->type)) {
            return false;
        }
    }
    sl_buf_put_char(&p->out, ')');
    return true;
}

static bool print_between(struct printer *p, const sl_json *node)
{
    const struct silt_field *field = NULL;
    struct constant lower;
    struct constant upper;

    if (!is(sl_json_member(node, "input"), "class", "COLUMN_REF") ||
        !read_constant(p, sl_json_member(node, "lower"), &lower) ||
        !read_constant(p, sl_json_member(node, "upper"), &upper)) {
        return false;
    }
    field = print_column(p, sl_json_member(node, "input"));
    if (field == NULL) {
        return false;
    }
    sl_buf_put_c(&p->out, " BETWEEN ");
    if (!print_constant(p, &lower, field->type)) {
        return false;
    }
    sl_buf_put_c(&p->out, " AND ");
    return print_constant(p, &upper, field->type);
}

static bool print_null_test(struct printer *p, const sl_json *node)
{
    const sl_json *child = child_at(node, 0);
    if (!is(child, "class", "COLUMN_REF") || print_column(p, child) == NULL) {
        return false;
    }
    sl_buf_put_c(&p->out, is(node, "type", "OPERATOR_IS_NULL") ? " IS NULL" : " IS NOT NULL");
    return true;
}

/* LIKE without escape characters, which the two sides treat differently. */
static bool print_like(struct printer *p, const sl_json *node)
{
    const sl_json *column = child_at(node, 0);
    const struct silt_field *field = NULL;
    struct constant pattern;

    if (!is(column, "class", "COLUMN_REF") || child_at(node, 2) != NULL ||
        !read_constant(p, child_at(node, 1), &pattern) || pattern.kind != CONST_TEXT ||
        memchr(pattern.text.ptr, '\\', pattern.text.len) != NULL) {
        return false;
    }
    field = print_column(p, column);
    if (field == NULL || field->type->kind != SILT_TYPE_STRING) {
        return false;
    }
    sl_buf_put_c(&p->out, " LIKE ");
    return print_constant(p, &pattern, field->type);
}

static bool print_conjunction(struct printer *p, const sl_json *node, const char *word, unsigned depth)
{
    struct sl_json_iter iter = sl_json_iterate(sl_json_member(node, "children"));
    struct sl_str key;
    const sl_json *child = NULL;

    for (size_t i = 0; sl_json_next(&iter, &key, &child); i++) {
        sl_buf_put_c(&p->out, i > 0 ? word : "");
        sl_buf_put_char(&p->out, '(');
        if (!print_node(p, child, depth + 1)) {
            return false;
        }
        sl_buf_put_char(&p->out, ')');
    }
    return true;
}

static bool print_node(struct printer *p, const sl_json *node, unsigned depth)
{
    if (depth > MAX_DEPTH) {
        return false;
    }
    if (is(node, "class", "COMPARISON")) {
        return print_compare(p, node);
    }
    if (is(node, "class", "BETWEEN")) {
        return print_between(p, node);
    }
    if (is(node, "type", "COMPARE_IN") || is(node, "type", "COMPARE_NOT_IN")) {
        return print_in(p, node);
    }
    if (is(node, "type", "OPERATOR_IS_NULL") || is(node, "type", "OPERATOR_IS_NOT_NULL")) {
        return print_null_test(p, node);
    }
    if (is(node, "type", "OPERATOR_NOT")) {
        sl_buf_put_c(&p->out, "NOT (");
        bool good = print_node(p, child_at(node, 0), depth + 1);
        sl_buf_put_char(&p->out, ')');
        return good;
    }
    if (is(node, "type", "CONJUNCTION_AND")) {
        return print_conjunction(p, node, " AND ", depth);
    }
    if (is(node, "type", "CONJUNCTION_OR")) {
        return print_conjunction(p, node, " OR ", depth);
    }
    if (is(node, "class", "FUNCTION") && is(node, "function_name", "~~")) {
        return print_like(p, node);
    }
    return false;
}

silt_status sl_predicate_from_conjunct(const silt_env *env, const struct sl_table_ref *ref, const sl_json *conjunct,
                                       const silt_schema *schema, const struct sl_dataplane_params *params, bool utc,
                                       silt_expr **out, silt_error *err)
{
    struct printer p = {.ref = ref, .schema = schema, .params = params, .utc = utc};
    silt_status status = SILT_OK;

    *out = NULL;
    sl_arena_init(&p.arena, env);
    sl_buf_init(&p.out, env);
    if (print_node(&p, conjunct, 0) && p.out.status == SILT_OK) {
        status = silt_expr_parse(env, sl_buf_cstr(&p.out), p.out.len, schema, out, err);
        if (status != SILT_OK && status != SILT_ENOMEM) {
            silt_error_reset(err); /* a condition that the kernel cannot take does not prune */
            status = SILT_OK;
        }
    } else if (p.out.status != SILT_OK) {
        status = sl_buf_status(&p.out, err);
    }
    sl_buf_release(&p.out);
    sl_arena_release(&p.arena);
    return status;
}
