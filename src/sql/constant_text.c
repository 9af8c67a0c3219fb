/*
 * Constant expressions of a parse tree as text again, so that the data plane can be asked for their value. Only what has one value
 * whenever it is asked for is printed: no clocks, no random numbers, no functions but those listed here.
 *
 * Called by the making of predicates. Pure but for the asking; one owner.
 */
#include "base/quote.h"
#include "sql/predicate_int.h"

static const struct {
    const char *id; /* as the tree and typeof() name it */
    enum sl_operand_class cls;
    silt_type_kind kind; /* of a column of it; VOID: there is none */
} types[] = {
    {"NULL", SL_OPERAND_NULL, SILT_TYPE_VOID},
    {"BOOLEAN", SL_OPERAND_BOOLEAN, SILT_TYPE_BOOLEAN},
    {"TINYINT", SL_OPERAND_EXACT, SILT_TYPE_BYTE},
    {"SMALLINT", SL_OPERAND_EXACT, SILT_TYPE_SHORT},
    {"INTEGER", SL_OPERAND_EXACT, SILT_TYPE_INTEGER},
    {"BIGINT", SL_OPERAND_EXACT, SILT_TYPE_LONG},
    {"HUGEINT", SL_OPERAND_EXACT, SILT_TYPE_VOID},
    {"UTINYINT", SL_OPERAND_EXACT, SILT_TYPE_VOID},
    {"USMALLINT", SL_OPERAND_EXACT, SILT_TYPE_VOID},
    {"UINTEGER", SL_OPERAND_EXACT, SILT_TYPE_VOID},
    {"UBIGINT", SL_OPERAND_EXACT, SILT_TYPE_VOID},
    {"DECIMAL", SL_OPERAND_EXACT, SILT_TYPE_DECIMAL},
    {"FLOAT", SL_OPERAND_FLOAT, SILT_TYPE_FLOAT},
    {"DOUBLE", SL_OPERAND_DOUBLE, SILT_TYPE_DOUBLE},
    {"DATE", SL_OPERAND_DATE, SILT_TYPE_DATE},
    {"TIMESTAMP", SL_OPERAND_CLOCK, SILT_TYPE_TIMESTAMP_NTZ},
    {"TIMESTAMP WITH TIME ZONE", SL_OPERAND_INSTANT, SILT_TYPE_TIMESTAMP},
    {"BLOB", SL_OPERAND_BINARY, SILT_TYPE_BINARY},
    {"VARCHAR", SL_OPERAND_TEXT, SILT_TYPE_STRING},
};

/* Functions of the same value for the same arguments, whatever the time and the row. */
static const char *const functions[] = {"+",
                                        "-",
                                        "*",
                                        "/",
                                        "//",
                                        "%",
                                        "||",
                                        "to_years",
                                        "to_months",
                                        "to_weeks",
                                        "to_days",
                                        "to_hours",
                                        "to_minutes",
                                        "to_seconds",
                                        "trunc",
                                        "abs",
                                        "round",
                                        "floor",
                                        "ceil",
                                        "lower",
                                        "upper",
                                        "concat",
                                        "repeat",
                                        "make_date",
                                        "last_day",
                                        "date_trunc",
                                        "datetrunc",
                                        "make_timestamp",
                                        "to_milliseconds",
                                        "to_microseconds"};

const sl_json *sl_node_child(const sl_json *node, size_t index)
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

static bool decimal_shape(const sl_json *type_node, int64_t *width, int64_t *scale)
{
    const sl_json *info = sl_json_member(type_node, "type_info");
    *width = 0;
    *scale = 0;
    (void)sl_json_to_i64(sl_json_member(info, "scale"), scale); /* a default of 0 is left out of the tree */
    return sl_json_to_i64(sl_json_member(info, "width"), width) && *width > 0 && *width <= SL_DECIMAL_MAX_PRECISION &&
           *scale >= 0 && *scale <= *width;
}

static enum sl_operand_class find_type(struct sl_str name, silt_type_kind *kind)
{
    *kind = SILT_TYPE_VOID;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (sl_str_eq_c(name, types[i].id)) {
            *kind = types[i].kind;
            return types[i].cls;
        }
    }
    return SL_OPERAND_OTHER;
}

enum sl_operand_class sl_operand_class_named(struct sl_str name)
{
    silt_type_kind kind = SILT_TYPE_VOID;
    const size_t shape = sl_str_find(name, SL_STR("("));
    return sl_str_eq_c(name, "\"NULL\"") ? SL_OPERAND_NULL
                                         : find_type(shape != SIZE_MAX ? sl_str_sub(name, 0, shape) : name, &kind);
}

enum sl_operand_class sl_operand_class_of(silt_type_kind kind)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (types[i].kind == kind && kind != SILT_TYPE_VOID) {
            return types[i].cls;
        }
    }
    return SL_OPERAND_OTHER;
}

enum sl_operand_class sl_node_class(const sl_json *type_node, struct silt_type *type)
{
    struct silt_type found = {.kind = SILT_TYPE_VOID};
    const enum sl_operand_class cls = find_type(sl_json_member_text(type_node, "id"), &found.kind);
    if (found.kind == SILT_TYPE_DECIMAL) {
        int64_t width = 0;
        int64_t scale = 0;
        if (!decimal_shape(type_node, &width, &scale)) {
            return SL_OPERAND_OTHER;
        }
        found.precision = (uint8_t)width;
        found.scale = (uint8_t)scale;
    }
    if (type != NULL) {
        *type = found;
    }
    return cls;
}

bool sl_constant_decimal(const sl_json *value, const sl_json *type, silt_value *out)
{
    int64_t small = 0;
    int64_t upper = 0;
    uint64_t lower = 0;
    int64_t width = 0;
    int64_t scale = 0;
    struct sl_str digits = {0};
    sl_i128 unscaled = 0;
    if (sl_json_to_i64(value, &small)) {
        unscaled = small;
    } else if (sl_json_to_i64(sl_json_member(value, "upper"), &upper) &&
               sl_json_to_number_text(sl_json_member(value, "lower"), &digits) && sl_str_to_u64(digits, &lower)) {
        unscaled = sl_i128_make(upper, lower);
    } else {
        return false;
    }
    (void)decimal_shape(type, &width, &scale); /* integers have none */
    if (scale < 0 || scale > SL_DECIMAL_MAX_PRECISION || sl_i128_digits(unscaled) > SL_DECIMAL_MAX_PRECISION) {
        return false;
    }
    *out = sl_value_decimal(unscaled, SL_DECIMAL_MAX_PRECISION, (uint8_t)scale);
    return true;
}

static bool is_listed(struct sl_str name)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (sl_str_eq_c(name, functions[i])) {
            return true;
        }
    }
    return false;
}

/* The type's name in SQL. */
static bool print_type(const sl_json *type_node, struct sl_buf *out)
{
    const struct sl_str id = sl_json_member_text(type_node, "id");
    int64_t width = 0;
    int64_t scale = 0;
    if (sl_str_eq_c(id, "INTERVAL")) {
        sl_buf_put_str(out, id);
        return true;
    }
    const enum sl_operand_class cls = sl_node_class(type_node, NULL);
    if (cls == SL_OPERAND_OTHER || cls == SL_OPERAND_NULL) {
        return false;
    }
    sl_buf_put_str(out, id);
    if (sl_str_eq_c(id, "DECIMAL") && decimal_shape(type_node, &width, &scale)) {
        sl_buf_printf(out, "(%d,%d)", (int)width, (int)scale);
    }
    return true;
}

/* Numbers keep their types: an integer stands as it is, and adapts to what is beside it as it does in the query. */
static bool print_literal(const sl_json *value_node, struct sl_buf *out)
{
    const sl_json *type = sl_json_member(value_node, "type");
    const sl_json *value = sl_json_member(value_node, "value");
    struct sl_str text = {0};
    bool is_null = false;
    bool yes = false;
    silt_value number;
    (void)sl_json_to_bool(sl_json_member(value_node, "is_null"), &is_null); /* left out: not null */
    if (is_null) {
        sl_buf_put_c(out, "NULL");
        return true;
    }
    switch (sl_node_class(type, NULL)) {
    case SL_OPERAND_TEXT:
        if (!sl_json_to_str(value, &text)) {
            return false;
        }
        sl_quote_put(out, text, '\'');
        return true;
    case SL_OPERAND_BOOLEAN: sl_buf_put_c(out, sl_json_to_bool(value, &yes) && yes ? "true" : "false"); return true;
    case SL_OPERAND_EXACT:
        if (!sl_constant_decimal(value, type, &number)) {
            return false;
        }
        sl_buf_put_c(out, "(");
        sl_decimal_format(out, sl_value_get_i128(&number), number.scale);
        sl_buf_put_c(out, ")");
        return true;
    case SL_OPERAND_DOUBLE:
        if (!sl_json_to_number_text(value, &text)) {
            return false;
        }
        sl_buf_printf(out, "CAST('%.*s' AS DOUBLE)", SL_FMT(text));
        return true;
    default: return false;
    }
}

static bool print_call(const struct sl_predicate_maker *maker, const sl_json *node, unsigned depth, struct sl_buf *out)
{
    const struct sl_str name = sl_json_member_text(node, "function_name");
    struct sl_json_iter iter = sl_json_iterate(sl_json_member(node, "children"));
    const sl_json *orders = sl_json_member(sl_json_member(node, "order_bys"), "orders");
    struct sl_str key;
    const sl_json *child = NULL;
    if (!is_listed(name) || !maker->source->may_call || sl_json_member(node, "filter") != NULL || orders != NULL ||
        sl_json_member(node, "distinct") != NULL || sl_json_member(node, "catalog") != NULL) {
        return false;
    }
    sl_quote_put(out, name, '"');
    sl_buf_put_char(out, '(');
    for (size_t i = 0; sl_json_next(&iter, &key, &child); i++) {
        sl_buf_put_c(out, i > 0 ? ", " : "");
        if (!sl_constant_print(maker, child, depth + 1, out)) {
            return false;
        }
    }
    sl_buf_put_char(out, ')');
    return true;
}

static bool print_cast(const struct sl_predicate_maker *maker, const sl_json *node, unsigned depth, struct sl_buf *out)
{
    bool is_try = false;
    (void)sl_json_to_bool(sl_json_member(node, "try_cast"), &is_try); /* left out: false */
    sl_buf_put_c(out, is_try ? "TRY_CAST(" : "CAST(");
    if (!sl_constant_print(maker, sl_json_member(node, "child"), depth + 1, out)) {
        return false;
    }
    sl_buf_put_c(out, " AS ");
    if (!print_type(sl_json_member(node, "cast_type"), out)) {
        return false;
    }
    sl_buf_put_char(out, ')');
    return true;
}

bool sl_constant_print(const struct sl_predicate_maker *maker, const sl_json *node, unsigned depth, struct sl_buf *out)
{
    if (depth > SL_PREDICATE_MAX_DEPTH) {
        return false;
    }
    if (sl_node_is(node, "class", "CONSTANT")) {
        return print_literal(sl_json_member(node, "value"), out);
    }
    if (sl_node_is(node, "class", "PARAMETER")) {
        const struct sl_str name = sl_json_member_text(node, "identifier");
        sl_buf_printf(out, "$%.*s", SL_FMT(name));
        return name.len > 0;
    }
    if (sl_node_is(node, "class", "CAST")) {
        return print_cast(maker, node, depth, out);
    }
    return sl_node_is(node, "class", "FUNCTION") && print_call(maker, node, depth, out);
}

bool sl_constant_ask_for(struct sl_predicate_maker *maker, const struct sl_buf *expr, silt_value *out)
{
    struct sl_predicate_source *source = maker->source;
    bool known = false;
    if (expr->status != SILT_OK) {
        maker->status = sl_buf_status(expr, maker->err);
        return false;
    }
    if (source->ask == NULL || source->asks_left == 0 || maker->status != SILT_OK) {
        return false;
    }
    source->asks_left--;
    maker->status = source->ask(source->ask_ctx, sl_buf_view(expr), &maker->arena, out, &known, maker->err);
    return maker->status == SILT_OK && known;
}
