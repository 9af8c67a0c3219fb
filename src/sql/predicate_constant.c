/*
 * Constants of conditions: their type in the data plane and their value in the type in which it compares them. Plain forms are read here; for
 * all others the data plane is asked, which knows its own rounding and the session's zone.
 *
 * Called by predicate.c, predicate_compare.c and predicate_operand.c. One owner.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/time.h"
#include "sql/predicate_int.h"

#define EXACT_IN_FLOAT (INT64_C(1) << 24)
#define EXACT_IN_DOUBLE (INT64_C(1) << 53)
#define MAX_EXACT_POWER 22 /* of ten, in a double */

/* ---- reading ---- */

static silt_value number_value(const silt_value *decimal)
{
    const sl_i128 v = sl_value_get_i128(decimal);
    const bool is_long = decimal->scale == 0 && v >= INT64_MIN && v <= INT64_MAX;
    return is_long ? sl_value_i64(SILT_TYPE_LONG, (int64_t)v) : *decimal;
}

static void read_literal(const sl_json *value_node, struct sl_operand *out)
{
    const sl_json *type = sl_json_member(value_node, "type");
    const sl_json *value = sl_json_member(value_node, "value");
    struct sl_str text = {0};
    bool is_null = false;
    bool yes = false;
    (void)sl_json_to_bool(sl_json_member(value_node, "is_null"), &is_null); /* left out: not null */
    out->cls = is_null ? SL_OPERAND_NULL : sl_node_class(type, NULL);
    out->has_class = true;
    switch (out->cls) {
    case SL_OPERAND_NULL:
        out->has_value = true;
        out->value = sl_value_null(SILT_TYPE_VOID);
        break;
    case SL_OPERAND_BOOLEAN:
        out->has_value = sl_json_to_bool(value, &yes);
        out->value = sl_value_bool(yes);
        break;
    case SL_OPERAND_EXACT:
        out->has_value = sl_constant_decimal(value, type, &out->value);
        out->value = out->has_value ? number_value(&out->value) : out->value;
        break;
    case SL_OPERAND_DOUBLE:
        out->value.kind = SILT_TYPE_DOUBLE;
        out->has_value = sl_json_to_number_text(value, &text) && sl_str_to_f64(text, &out->value.as.f64);
        break;
    case SL_OPERAND_TEXT:
        out->has_value = sl_json_to_str(value, &text);
        out->value = sl_value_bytes(SILT_TYPE_STRING, text);
        break;
    default: break;
    }
}

/* Column of the parameters by its name or number. */
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

static bool read_param(const struct sl_predicate_maker *maker, const sl_json *node, struct sl_operand *out)
{
    const struct sl_dataplane_params *params = maker->source->params;
    const struct ArrowSchema *schema = params != NULL ? params->schema : NULL;
    const int64_t index = schema != NULL ? param_index(schema, sl_json_member_text(node, "identifier")) : -1;
    if (index < 0 || params->row == NULL || index >= params->row->n_children || params->row->length < 1 ||
        !sl_value_from_arrow(schema->children[index], params->row->children[index], params->row->offset, &out->value)) {
        return false;
    }
    out->has_class = out->has_value = true;
    out->cls = out->value.is_null ? SL_OPERAND_NULL : sl_operand_class_of(out->value.kind);
    return out->cls != SL_OPERAND_OTHER;
}

static bool digits_at(struct sl_str text, size_t begin, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (begin + i >= text.len || !sl_is_digit(text.ptr[begin + i])) {
            return false;
        }
    }
    return true;
}

/* YYYY-MM-DD, which nobody reads otherwise. */
static bool plain_date(struct sl_str text, silt_value *out)
{
    int32_t days = 0;
    if (text.len != 10 || !digits_at(text, 0, 4) || !digits_at(text, 5, 2) || !digits_at(text, 8, 2) ||
        text.ptr[0] == '0' || !sl_date_parse(text, &days)) {
        return false;
    }
    *out = sl_value_i64(SILT_TYPE_DATE, days);
    return true;
}

/* Behind the day: nothing, or " HH:MM:SS" with up to six digits of a fraction. */
static bool is_plain_time(struct sl_str text)
{
    if (text.len == 10) {
        return true;
    }
    const size_t fraction = text.len > 20 ? text.len - 20 : 0;
    const bool has_fraction = fraction > 0 && fraction <= 6 && text.ptr[19] == '.' && digits_at(text, 20, fraction);
    return (text.len == 19 || has_fraction) && text.ptr[10] == ' ' && digits_at(text, 11, 2) &&
           digits_at(text, 14, 2) && digits_at(text, 17, 2);
}

static bool plain_clock(struct sl_str text, silt_value *out)
{
    int64_t us = 0;
    bool has_zone = false;
    if (text.len < 10 || !plain_date(sl_str_sub(text, 0, 10), out) || !is_plain_time(text) ||
        !sl_timestamp_parse(text, &us, &has_zone) || has_zone) {
        return false;
    }
    *out = sl_value_i64(SILT_TYPE_TIMESTAMP_NTZ, us);
    return true;
}

static bool plain_boolean(struct sl_str text, silt_value *out)
{
    const bool yes = sl_str_eq_c(text, "t") || sl_str_eq_c(text, "true");
    *out = sl_value_bool(yes);
    return yes || sl_str_eq_c(text, "f") || sl_str_eq_c(text, "false");
}

/* Plain texts as the class, without asking. */
static bool plain_text(const struct sl_predicate_maker *maker, struct sl_str text, enum sl_operand_class cls,
                       silt_value *out)
{
    switch (cls) {
    case SL_OPERAND_BOOLEAN: return plain_boolean(text, out);
    case SL_OPERAND_DATE: return plain_date(text, out);
    case SL_OPERAND_CLOCK: return plain_clock(text, out);
    case SL_OPERAND_INSTANT:
        if (!maker->source->utc || !plain_clock(text, out)) {
            return false;
        }
        out->kind = SILT_TYPE_TIMESTAMP;
        return true;
    case SL_OPERAND_TEXT: *out = sl_value_bytes(SILT_TYPE_STRING, text); return true;
    default: return false;
    }
}

static void read_cast(struct sl_predicate_maker *maker, const sl_json *node, struct sl_operand *out)
{
    const sl_json *child = sl_json_member(node, "child");
    struct sl_operand inner = {.node = NULL};
    out->cls = sl_node_class(sl_json_member(node, "cast_type"), NULL);
    out->has_class = true;
    if (!sl_node_is(child, "class", "CONSTANT")) {
        return;
    }
    read_literal(sl_json_member(child, "value"), &inner);
    out->has_value = inner.has_value && inner.cls == SL_OPERAND_TEXT &&
                     plain_text(maker, sl_value_get_str(&inner.value), out->cls, &out->value);
}

bool sl_constant_read(struct sl_predicate_maker *maker, const sl_json *node, unsigned depth, struct sl_operand *out)
{
    struct sl_buf text;
    *out = (struct sl_operand){.json = node, .cls = SL_OPERAND_OTHER};
    if (sl_node_is(node, "class", "CONSTANT")) {
        read_literal(sl_json_member(node, "value"), out);
        return out->cls != SL_OPERAND_OTHER;
    }
    if (sl_node_is(node, "class", "PARAMETER")) {
        return read_param(maker, node, out);
    }
    sl_buf_init(&text, maker->arena.env);
    const bool is_constant = sl_constant_print(maker, node, depth, &text);
    sl_buf_release(&text);
    if (is_constant && sl_node_is(node, "class", "CAST")) {
        read_cast(maker, node, out);
    }
    return is_constant && (!out->has_class || out->cls != SL_OPERAND_OTHER);
}

/* ---- converting ---- */

/*
 * Conversions whose result is beyond doubt: the number is one of the other type, or a quotient of two that are, so that one division rounds
 * once.
 */
static bool convert_number(const silt_value *from, enum sl_operand_class cls, silt_value *out)
{
    const bool narrow = cls == SL_OPERAND_FLOAT;
    const int64_t limit = narrow ? EXACT_IN_FLOAT : EXACT_IN_DOUBLE;
    const bool is_integer = sl_kind_is_integer(from->kind);
    const sl_i128 digits = is_integer ? from->as.i64 : sl_value_get_i128(from);
    double power = 1;
    if (digits > limit || digits < -limit || (!is_integer && (narrow || from->scale > MAX_EXACT_POWER))) {
        return false;
    }
    for (int i = 0; !is_integer && i < from->scale; i++) {
        power *= 10;
    }
    *out = sl_value_f64(narrow ? SILT_TYPE_FLOAT : SILT_TYPE_DOUBLE, (double)(int64_t)digits / power);
    return true;
}

/* A wall clock of UTC is an instant; a day begins with its midnight. */
static bool convert_time(const struct sl_predicate_maker *maker, const silt_value *from, enum sl_operand_class cls,
                         silt_value *out)
{
    int64_t us = from->as.i64;
    if ((cls == SL_OPERAND_INSTANT && !maker->source->utc) ||
        (from->kind == SILT_TYPE_DATE && !sl_mul_i64(us, SL_US_PER_DAY, &us))) {
        return false;
    }
    *out = sl_value_i64(cls == SL_OPERAND_INSTANT ? SILT_TYPE_TIMESTAMP : SILT_TYPE_TIMESTAMP_NTZ, us);
    return true;
}

static bool convert(const struct sl_predicate_maker *maker, const struct sl_operand *constant,
                    enum sl_operand_class cls, silt_value *out)
{
    if (constant->cls == cls) {
        *out = constant->value;
        if (sl_kind_is_integer(out->kind)) {
            out->kind = SILT_TYPE_LONG;
        }
        return true;
    }
    switch (constant->cls) {
    case SL_OPERAND_TEXT: return plain_text(maker, sl_value_get_str(&constant->value), cls, out);
    case SL_OPERAND_EXACT: return convert_number(&constant->value, cls, out);
    case SL_OPERAND_DATE:
    case SL_OPERAND_CLOCK: return convert_time(maker, &constant->value, cls, out);
    default: return false;
    }
}

/* ---- asking ---- */

bool sl_constant_classify(struct sl_predicate_maker *maker, struct sl_operand *constant)
{
    struct sl_buf expr;
    silt_value name;
    if (constant->has_class) {
        return true;
    }
    sl_buf_init(&expr, maker->arena.env);
    sl_buf_put_c(&expr, "typeof(");
    const bool printed = sl_constant_print(maker, constant->json, 0, &expr);
    sl_buf_put_char(&expr, ')');
    const bool known = printed && sl_constant_ask_for(maker, &expr, &name) && name.kind == SILT_TYPE_STRING &&
                       !name.is_null;
    sl_buf_release(&expr);
    if (!known) {
        return false;
    }
    constant->cls = sl_operand_class_named(sl_value_get_str(&name));
    constant->has_class = true;
    return constant->cls != SL_OPERAND_OTHER;
}

/* Exact numbers come as text, since not all of the data plane's types are ours. */
static const char *asked_type(enum sl_operand_class cls)
{
    switch (cls) {
    case SL_OPERAND_BOOLEAN: return "BOOLEAN";
    case SL_OPERAND_FLOAT: return "FLOAT";
    case SL_OPERAND_DOUBLE: return "DOUBLE";
    case SL_OPERAND_DATE: return "DATE";
    case SL_OPERAND_CLOCK: return "TIMESTAMP";
    case SL_OPERAND_INSTANT: return "TIMESTAMP WITH TIME ZONE";
    case SL_OPERAND_BINARY: return "BLOB";
    default: return "VARCHAR";
    }
}

static bool parse_exact(struct sl_str text, silt_value *out)
{
    sl_i128 unscaled = 0;
    int scale = 0;
    if (!sl_decimal_parse(text, &unscaled, &scale) || scale < 0 || scale > SL_DECIMAL_MAX_PRECISION) {
        return false;
    }
    *out = sl_value_decimal(unscaled, SL_DECIMAL_MAX_PRECISION, (uint8_t)scale);
    *out = number_value(out);
    return true;
}

/* Is the answer of the class? "infinity" is a time of the data plane alone. */
static bool accept(enum sl_operand_class cls, silt_value *value)
{
    if (value->is_null) {
        *value = sl_value_null(SILT_TYPE_VOID);
        return true;
    }
    if (cls == SL_OPERAND_EXACT) {
        return value->kind == SILT_TYPE_STRING && parse_exact(sl_value_get_str(value), value);
    }
    if (value->kind == SILT_TYPE_DATE && (value->as.i64 >= INT32_MAX || value->as.i64 <= -INT32_MAX)) {
        return false;
    }
    if ((value->kind == SILT_TYPE_TIMESTAMP || value->kind == SILT_TYPE_TIMESTAMP_NTZ) &&
        (value->as.i64 == INT64_MAX || value->as.i64 <= -INT64_MAX)) {
        return false;
    }
    return sl_operand_class_of(value->kind) == cls;
}

bool sl_constant_value(struct sl_predicate_maker *maker, const struct sl_operand *constant, enum sl_operand_class cls,
                       const struct silt_type *exact, silt_value *out)
{
    struct sl_buf expr;
    const bool by_type = cls == SL_OPERAND_EXACT && constant->cls == SL_OPERAND_TEXT;
    if (constant->cls == SL_OPERAND_NULL) {
        *out = sl_value_null(SILT_TYPE_VOID);
        return true;
    }
    if (by_type && exact == NULL) {
        return false;
    }
    if (constant->has_value && convert(maker, constant, cls, out)) {
        return true;
    }
    sl_buf_init(&expr, maker->arena.env);
    sl_buf_put_c(&expr, by_type ? "CAST(CAST(" : "CAST(");
    const bool printed = sl_constant_print(maker, constant->json, 0, &expr);
    if (by_type) {
        sl_buf_put_c(&expr, " AS ");
        sl_type_print_duckdb(&expr, exact);
        sl_buf_put_char(&expr, ')');
    }
    sl_buf_printf(&expr, " AS %s)", asked_type(cls));
    const bool known = printed && sl_constant_ask_for(maker, &expr, out) && accept(cls, out);
    sl_buf_release(&expr);
    return known;
}
