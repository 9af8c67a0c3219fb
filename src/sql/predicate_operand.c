/*
 * What conditions compare: columns and fields of structs, casts that keep the order, sums of integers, constants, and predicates that stand
 * as a value.
 *
 * Called by predicate.c and predicate_compare.c. One owner.
 */
#include "base/error.h"
#include "sql/predicate_int.h"

/* ---- nodes ---- */

struct sl_expr_node *sl_predicate_node(struct sl_predicate_maker *maker, enum sl_expr_kind kind,
                                       const struct sl_expr_node *const *args, size_t n)
{
    struct sl_expr_node *node = sl_node_new(&maker->arena, kind);
    if (node == NULL || !sl_node_set_args(&maker->arena, node, args, n)) {
        maker->status = sl_fail_nomem(maker->err);
        return NULL;
    }
    return node;
}

struct sl_expr_node *sl_predicate_literal(struct sl_predicate_maker *maker, const silt_value *value)
{
    struct sl_expr_node *node = sl_predicate_node(maker, SL_EXPR_LITERAL, NULL, 0);
    if (node != NULL) {
        node->value = *value;
    }
    return node;
}

struct sl_expr_node *sl_predicate_cast(struct sl_predicate_maker *maker, const struct sl_expr_node *arg,
                                       const struct silt_type *type)
{
    struct silt_type *copy = sl_arena_alloc_zero(&maker->arena, sizeof(*copy));
    struct sl_expr_node *node = sl_predicate_node(maker, SL_EXPR_CAST, &arg, 1);
    if (copy == NULL || node == NULL) {
        maker->status = sl_fail_nomem(maker->err);
        return NULL;
    }
    *copy = (struct silt_type){.kind = type->kind, .precision = type->precision, .scale = type->scale};
    node->type = copy;
    return node;
}

const struct sl_expr_node *sl_predicate_negate(struct sl_predicate_maker *maker, const struct sl_expr_node *node)
{
    return node != NULL ? sl_predicate_node(maker, SL_EXPR_NOT, &node, 1) : NULL;
}

/* ---- columns ---- */

struct path {
    struct sl_str parts[SL_SCHEMA_MAX_DEPTH];
    size_t n;
    const struct silt_field *field; /* that it leads to */
};

/* The data plane ignores the case of ASCII only: a name that it does not take for this one may be another table's. */
static bool same_name(struct sl_str a, struct sl_str b)
{
    for (size_t i = 0; a.len == b.len && i < a.len; i++) {
        const char x = a.ptr[i];
        const char y = b.ptr[i];
        const bool letter = (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z');
        if (x != y && !(letter && (x ^ y) == 0x20)) {
            return false;
        }
    }
    return a.len == b.len;
}

/* Takes parts[first..n) as a path of the table's columns; the names become those of the schema. */
static bool follow(const silt_schema *schema, struct path *path, size_t first)
{
    const struct silt_type *type = &schema->root;
    const struct silt_field *field = NULL;
    struct sl_str names[SL_SCHEMA_MAX_DEPTH];
    const size_t n = path->n - first;
    for (size_t i = 0; i < n; i++) {
        field = type->kind == SILT_TYPE_STRUCT ? sl_type_find(type, path->parts[first + i], NULL) : NULL;
        if (field == NULL || !same_name(field->name, path->parts[first + i])) {
            return false;
        }
        names[i] = field->name;
        type = field->type;
    }
    if (n == 0) {
        return false;
    }
    memcpy(path->parts, names, n * sizeof(names[0]));
    path->n = n;
    path->field = field;
    return true;
}

/* A name behind the table's, or one that can be no other table's. */
static bool read_names(const struct sl_predicate_maker *maker, const sl_json *node, struct path *out)
{
    const struct sl_table_ref *ref = maker->source->ref;
    const silt_schema *schema = maker->source->schema;
    const struct sl_str own = ref->alias.ptr != NULL ? ref->alias : ref->table;
    struct sl_json_iter iter = sl_json_iterate(sl_json_member(node, "column_names"));
    struct sl_str key;
    const sl_json *part = NULL;
    out->n = 0;
    while (sl_json_next(&iter, &key, &part)) {
        if (out->n == SL_SCHEMA_MAX_DEPTH || !sl_json_to_str(part, &out->parts[out->n])) {
            return false;
        }
        out->n++;
    }
    if (out->n > 1 && same_name(out->parts[0], own) && follow(schema, out, 1)) {
        return true;
    }
    return (ref->only_item || (ref->bare_names && out->n == 1)) && follow(schema, out, 0);
}

static bool is_field_access(const struct sl_predicate_maker *maker, const sl_json *node)
{
    return sl_node_is(node, "type", "STRUCT_EXTRACT") || sl_node_is(node, "type", "ARRAY_EXTRACT") ||
           (maker->source->may_call && sl_node_is(node, "class", "FUNCTION") &&
            sl_node_is(node, "function_name", "struct_extract"));
}

/* s.a, s['a'], (s).a, struct_extract(s, 'a') */
static bool read_path(const struct sl_predicate_maker *maker, const sl_json *node, unsigned depth, struct path *out)
{
    const sl_json *name = sl_json_member(sl_node_child(node, 1), "value");
    if (sl_node_is(node, "class", "COLUMN_REF")) {
        return read_names(maker, node, out);
    }
    if (depth > SL_PREDICATE_MAX_DEPTH || !is_field_access(maker, node) || sl_node_child(node, 2) != NULL ||
        !sl_node_is(sl_json_member(name, "type"), "id", "VARCHAR") ||
        !read_path(maker, sl_node_child(node, 0), depth + 1, out) || out->n == SL_SCHEMA_MAX_DEPTH ||
        !sl_json_to_str(sl_json_member(name, "value"), &out->parts[out->n])) {
        return false;
    }
    out->n++;
    return follow(maker->source->schema, out, 0);
}

static bool read_column(struct sl_predicate_maker *maker, const sl_json *node, unsigned depth, struct sl_operand *out)
{
    struct path path;
    if (!read_path(maker, node, depth, &path)) {
        return false;
    }
    struct sl_str *parts = sl_arena_alloc_array(&maker->arena, path.n, sizeof(*parts));
    struct sl_expr_node *column = sl_predicate_node(maker, SL_EXPR_COLUMN, NULL, 0);
    if (parts == NULL || column == NULL) {
        maker->status = sl_fail_nomem(maker->err);
        return false;
    }
    memcpy(parts, path.parts, path.n * sizeof(*parts));
    column->path = parts;
    column->path_len = path.n;
    column->type = path.field->type;
    *out = (struct sl_operand){.node = column,
                               .type = path.field->type,
                               .cls = sl_operand_class_of(path.field->type->kind),
                               .has_class = true};
    return true;
}

/* ---- casts and sums ---- */

static bool is_integer(const struct sl_operand *operand)
{
    return operand->cls == SL_OPERAND_EXACT && operand->type != NULL && sl_kind_is_integer(operand->type->kind);
}

static bool is_time(enum sl_operand_class cls)
{
    return cls == SL_OPERAND_DATE || cls == SL_OPERAND_CLOCK || cls == SL_OPERAND_INSTANT;
}

/*
 * Casts of columns in which the kernel and the data plane agree, as far as the kernel decides anything by them: those that keep the order.
 * TRY_CAST as well, since the kernel takes what does not fit for anything.
 */
static bool read_cast(struct sl_predicate_maker *maker, const sl_json *node, unsigned depth, struct sl_operand *out)
{
    struct silt_type type = {.kind = SILT_TYPE_VOID};
    const enum sl_operand_class cls = sl_node_class(sl_json_member(node, "cast_type"), &type);
    if (!sl_operand_read(maker, sl_json_member(node, "child"), depth + 1, out) || out->node == NULL) {
        return false;
    }
    if (cls == out->cls && cls != SL_OPERAND_EXACT && cls != SL_OPERAND_OTHER) {
        return true;
    }
    const bool number = cls == SL_OPERAND_EXACT || cls == SL_OPERAND_FLOAT || cls == SL_OPERAND_DOUBLE;
    const bool to_number = is_integer(out) && number && type.kind != SILT_TYPE_VOID;
    const bool wider = out->cls == SL_OPERAND_FLOAT && cls == SL_OPERAND_DOUBLE;
    const bool times = is_time(out->cls) && is_time(cls);
    const bool decimals = out->cls == SL_OPERAND_EXACT && type.kind == SILT_TYPE_DECIMAL;
    if (!to_number && !wider && !times && !decimals) {
        return false;
    }
    struct sl_expr_node *cast = sl_predicate_cast(maker, out->node, &type);
    if (cast == NULL) {
        return false;
    }
    *out = (struct sl_operand){.node = cast, .type = cast->type, .cls = cls, .has_class = true};
    return true;
}

/* An integer of a sum, as a node. Constants are as wide as can be: what overflows in the data plane is an error there. */
static const struct sl_expr_node *addend(struct sl_predicate_maker *maker, struct sl_operand *operand)
{
    silt_value value;
    if (operand->node != NULL) {
        return is_integer(operand) ? operand->node : NULL;
    }
    if (!sl_constant_classify(maker, operand) || operand->cls != SL_OPERAND_EXACT ||
        !sl_constant_value(maker, operand, SL_OPERAND_EXACT, NULL, &value) || value.kind != SILT_TYPE_LONG) {
        return NULL;
    }
    return sl_predicate_literal(maker, &value);
}

/* a + b, a - b, -a */
static bool read_sum(struct sl_predicate_maker *maker, const sl_json *node, unsigned depth, struct sl_operand *out)
{
    static const struct silt_type type = {.kind = SILT_TYPE_LONG};
    const silt_value zero = sl_value_i64(SILT_TYPE_LONG, 0);
    const bool is_minus = sl_node_is(node, "function_name", "-");
    const sl_json *first = sl_node_child(node, 0);
    const sl_json *second = sl_node_child(node, 1);
    struct sl_operand a = {.node = NULL};
    struct sl_operand b = {.node = NULL};
    const struct sl_expr_node *args[2] = {NULL, NULL};
    if (sl_node_child(node, 2) != NULL || !sl_operand_read(maker, first, depth + 1, &a) ||
        (second != NULL && !sl_operand_read(maker, second, depth + 1, &b)) || (a.node == NULL && b.node == NULL)) {
        return false;
    }
    if (second == NULL) {
        args[0] = is_minus ? sl_predicate_literal(maker, &zero) : NULL;
        args[1] = addend(maker, &a);
    } else {
        args[0] = addend(maker, &a);
        args[1] = addend(maker, &b);
    }
    if (args[0] == NULL || args[1] == NULL) {
        return false;
    }
    struct sl_expr_node *sum = sl_predicate_node(maker, is_minus ? SL_EXPR_SUBTRACT : SL_EXPR_ADD, args, 2);
    *out = (struct sl_operand){.node = sum, .type = &type, .is_sum = true, .cls = SL_OPERAND_EXACT, .has_class = true};
    return sum != NULL;
}

static bool is_sum(const struct sl_predicate_maker *maker, const sl_json *node)
{
    return maker->source->may_call && sl_node_is(node, "class", "FUNCTION") &&
           (sl_node_is(node, "function_name", "+") || sl_node_is(node, "function_name", "-"));
}

bool sl_operand_read(struct sl_predicate_maker *maker, const sl_json *node, unsigned depth, struct sl_operand *out)
{
    *out = (struct sl_operand){.node = NULL};
    if (node == NULL || depth > SL_PREDICATE_MAX_DEPTH || maker->status != SILT_OK) {
        return false;
    }
    if (sl_constant_read(maker, node, depth, out) || read_column(maker, node, depth, out)) {
        return true;
    }
    if (sl_node_is(node, "class", "CAST")) {
        return read_cast(maker, node, depth, out);
    }
    if (is_sum(maker, node)) {
        return read_sum(maker, node, depth, out);
    }
    *out = (struct sl_operand){.cls = SL_OPERAND_BOOLEAN, .has_class = true};
    out->node = sl_predicate_exact(maker, node, depth + 1);
    return out->node != NULL;
}
