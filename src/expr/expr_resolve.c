/*
 * Resolving an expression against a schema: column names get their stored spelling and type, literals the type that they are
 * compared with.
 *
 * Called by the parser when it has a schema, by scans and DML. A literal is only cast where the comparison then means exactly
 * what Spark's would; elsewhere it stays, and whoever evaluates without rows finds the comparison undecidable. Pure; any
 * thread.
 */
#include "base/error.h"
#include "expr/node.h"
#include "expr/zone.h"

#define EXACT_IN_DOUBLE (INT64_C(1) << 53)
#define EXACT_IN_FLOAT (INT64_C(1) << 24)
#define MAX_SUGGESTION_DISTANCE 3
#define MAX_SUGGESTIONS 10000

struct resolver {
    struct sl_arena *arena;
    const silt_schema *schema;
    const struct sl_expr_zone *zone; /* NULL: UTC */
    silt_error *err;
};

/* Names the nearest field in the hint, if one is near; among equals one of the same length. */
static void suggest(const struct resolver *r, const struct silt_type *type, struct sl_str name)
{
    size_t best = SIZE_MAX;
    struct sl_str nearest = {NULL, 0};
    for (size_t i = 0; i < type->n_fields && i < MAX_SUGGESTIONS; i++) {
        const struct sl_str other = type->fields[i].name;
        const size_t distance = sl_str_distance(other, name, MAX_SUGGESTION_DISTANCE);
        const size_t score = 2 * distance + (other.len != name.len ? 1 : 0);
        if (distance <= MAX_SUGGESTION_DISTANCE && distance < name.len && score < best) {
            best = score;
            nearest = other;
        }
    }
    if (nearest.ptr != NULL) {
        sl_error_hint(r->err, "did you mean '%.*s'?", SL_FMT(nearest));
    }
}

/* Part `level` of the path is not in the type that the parts before it lead to. */
static silt_status fail_unknown(const struct resolver *r, const struct sl_expr_node *column, size_t level,
                                const struct silt_type *type)
{
    const struct sl_str name = column->path[level];
    const silt_status status = level == 0
                                   ? sl_fail(r->err, SILT_ESCHEMA, "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
                                             "there is no column '%.*s'", SL_FMT(name))
                                   : sl_fail(r->err, SILT_ESCHEMA, "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
                                             "column '%.*s' (%s) has no field '%.*s'", SL_FMT(column->path[level - 1]),
                                             sl_type_kind_name(type->kind), SL_FMT(name));
    sl_error_position(r->err, column->position);
    suggest(r, type, name);
    return status;
}

static silt_status resolve_column(struct resolver *r, const struct sl_expr_node *src, struct sl_expr_node *node)
{
    const struct silt_type *type = &r->schema->root;
    struct sl_str *path = sl_arena_alloc_array(r->arena, src->path_len, sizeof *path);
    if (path == NULL) {
        return sl_fail_nomem(r->err);
    }
    for (size_t i = 0; i < src->path_len; i++) {
        const struct silt_field *field = type->kind == SILT_TYPE_STRUCT ? sl_type_find(type, src->path[i], NULL) : NULL;
        if (field == NULL) {
            return fail_unknown(r, src, i, type);
        }
        path[i] = field->name;
        type = field->type;
    }
    node->path = path;
    node->path_len = src->path_len;
    node->type = type;
    return SILT_OK;
}

static bool within(const silt_value *v, int64_t limit)
{
    if (sl_kind_is_integer(v->kind)) {
        return v->as.i64 <= limit && v->as.i64 >= -limit;
    }
    return v->as.f64 <= (double)limit && v->as.f64 >= (double)-limit;
}

/* An integer column: a fraction or a number out of range stays, and is compared as the number that it is. */
static bool to_integer_column(struct sl_arena *arena, const silt_value *v, const struct silt_type *type,
                              silt_value *out)
{
    const struct silt_type wide = {.kind = SILT_TYPE_LONG};
    switch (v->kind) {
    case SILT_TYPE_FLOAT: return within(v, EXACT_IN_FLOAT) && sl_value_cast(arena, v, type, out);
    case SILT_TYPE_DOUBLE: return within(v, EXACT_IN_DOUBLE) && sl_value_cast(arena, v, type, out);
    case SILT_TYPE_STRING: return sl_value_cast(arena, v, type, out) || sl_value_cast(arena, v, &wide, out);
    case SILT_TYPE_BOOLEAN: return false;
    default: return sl_value_cast(arena, v, type, out);
    }
}

/* A float column: Spark compares with decimals, doubles and their texts as doubles, with small integers either way. */
static bool to_float_column(struct sl_arena *arena, const silt_value *v, const struct silt_type *type, silt_value *out)
{
    const struct silt_type wide = {.kind = SILT_TYPE_DOUBLE};
    silt_value narrow;
    int order = 0;
    if (sl_kind_is_integer(v->kind)) {
        return within(v, type->kind == SILT_TYPE_FLOAT ? EXACT_IN_FLOAT : EXACT_IN_DOUBLE) &&
               sl_value_cast(arena, v, type, out);
    }
    if (v->kind == SILT_TYPE_BOOLEAN || !sl_value_cast(arena, v, &wide, out)) {
        return false;
    }
    if (v->kind == SILT_TYPE_STRING && type->kind == SILT_TYPE_FLOAT) {
        /* Versions differ in whether the text becomes a float or a double. */
        return sl_value_cast(arena, v, type, &narrow) && sl_value_compare(&narrow, out, &order) && order == 0;
    }
    return true;
}

/*
 * The literal as it is compared with a value of the type. False where no exact cast exists: *bad then tells whether the
 * literal is a text that the type cannot read, which Spark's ANSI mode makes an error.
 */
static bool adapt(struct sl_arena *arena, const silt_value *v, const struct silt_type *type, silt_value *out, bool *bad)
{
    *bad = false;
    if (sl_type_is_nested(type) || type->kind == SILT_TYPE_VARIANT || type->kind == SILT_TYPE_VOID) {
        return false;
    }
    const bool is_text = v->kind == SILT_TYPE_STRING;
    bool ok = false;
    switch (type->kind) {
    case SILT_TYPE_STRING: return v->is_null && sl_value_cast(arena, v, type, out); /* Spark casts the column instead */
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_LONG:
        ok = v->is_null ? sl_value_cast(arena, v, type, out) : to_integer_column(arena, v, type, out);
        break;
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE:
        ok = v->is_null ? sl_value_cast(arena, v, type, out) : to_float_column(arena, v, type, out);
        break;
    case SILT_TYPE_DECIMAL:
        ok = (is_text || v->is_null || sl_kind_is_integer(v->kind) || v->kind == SILT_TYPE_DECIMAL) &&
             sl_value_cast(arena, v, type, out);
        break;
    case SILT_TYPE_DATE:
        ok = v->kind != SILT_TYPE_TIMESTAMP && v->kind != SILT_TYPE_TIMESTAMP_NTZ && sl_value_cast(arena, v, type, out);
        break;
    case SILT_TYPE_BOOLEAN: ok = (is_text || v->is_null) && sl_value_cast(arena, v, type, out); break;
    default: ok = sl_value_cast(arena, v, type, out);
    }
    if (!ok && is_text) {
        /* A number that the type cannot hold is still a number: only what is none is an error. */
        silt_value number;
        const struct silt_type wide = {.kind = SILT_TYPE_DOUBLE};
        const bool numeric = type->kind == SILT_TYPE_DECIMAL || type->kind == SILT_TYPE_FLOAT;
        *bad = !numeric || !sl_value_cast(arena, v, &wide, &number);
    }
    return ok;
}

static silt_status adapt_literal(struct resolver *r, const struct sl_expr_node *src, const struct silt_type *type,
                                 const struct sl_expr_node **out)
{
    silt_value value;
    bool bad = false;
    *out = src;
    if (src->kind != SL_EXPR_LITERAL || type == NULL) {
        return SILT_OK;
    }
    if (!adapt(r->arena, &src->value, type, &value, &bad)) {
        if (!bad) {
            return SILT_OK;
        }
        const silt_status status = sl_fail(r->err, SILT_ESCHEMA, "DELTA_CANNOT_RESOLVE_EXPRESSION",
                                           "'%.*s' cannot be read as %s", SL_FMT(sl_value_get_str(&src->value)),
                                           sl_type_kind_name(type->kind));
        sl_error_position(r->err, src->position);
        return status;
    }
    SL_TRY(sl_zone_apply(r->zone, &src->value, &value, r->err));
    struct sl_expr_node *node = sl_node_new(r->arena, SL_EXPR_LITERAL);
    if (node == NULL) {
        return sl_fail_nomem(r->err);
    }
    node->position = src->position;
    node->value = value;
    *out = node;
    return SILT_OK;
}

/* The type that a literal beside this operand takes; NULL for literals and for what has no known type. */
static const struct silt_type *operand_type(const struct sl_expr_node *node)
{
    static const struct silt_type boolean = {.kind = SILT_TYPE_BOOLEAN};
    switch (node->kind) {
    case SL_EXPR_LITERAL: return NULL;
    case SL_EXPR_COLUMN:
    case SL_EXPR_CAST:
    case SL_EXPR_ADD:
    case SL_EXPR_SUBTRACT: return node->type;
    default: return &boolean;
    }
}

static silt_status adapt_operands(struct resolver *r, const struct sl_expr_node **args, size_t n)
{
    const struct silt_type *type = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct silt_type *other = operand_type(args[i]);
        if (other != NULL && type != NULL && !sl_type_equal(type, other, false)) {
            return SILT_OK; /* what is exact beside one of them need not be beside the other */
        }
        type = other != NULL ? other : type;
    }
    for (size_t i = 0; i < n; i++) {
        SL_TRY(adapt_literal(r, args[i], type, &args[i]));
    }
    return SILT_OK;
}

/* Spark matches the text of whatever stands before LIKE. */
static silt_status text_of(struct resolver *r, const struct sl_expr_node **arg)
{
    static const struct silt_type string = {.kind = SILT_TYPE_STRING};
    const struct silt_type *type = operand_type(*arg);
    if (type == NULL || type->kind == SILT_TYPE_STRING) {
        return SILT_OK;
    }
    struct sl_expr_node *cast = sl_node_new(r->arena, SL_EXPR_CAST);
    if (cast == NULL || !sl_node_set_args(r->arena, cast, arg, 1)) {
        return sl_fail_nomem(r->err);
    }
    cast->position = (*arg)->position;
    cast->type = &string;
    *arg = cast;
    return SILT_OK;
}

/* Integers give the wider of both. Of other sums the type is left open: nothing is cast to it. */
static const struct silt_type *sum_type(const struct sl_expr_node *const *args)
{
    static const struct silt_type types[] = {
        {.kind = SILT_TYPE_BYTE}, {.kind = SILT_TYPE_SHORT}, {.kind = SILT_TYPE_INTEGER}, {.kind = SILT_TYPE_LONG}};
    silt_type_kind widest = SILT_TYPE_BYTE;
    for (size_t i = 0; i < 2; i++) {
        const struct silt_type *type = operand_type(args[i]);
        const silt_type_kind kind = args[i]->kind == SL_EXPR_LITERAL ? args[i]->value.kind
                                    : type != NULL                   ? type->kind
                                                                     : SILT_TYPE_VOID;
        if (!sl_kind_is_integer(kind)) {
            return NULL;
        }
        widest = kind > widest ? kind : widest;
    }
    return &types[widest - SILT_TYPE_BYTE];
}

static silt_status resolve_node(struct resolver *r, const struct sl_expr_node *src, unsigned depth,
                                const struct sl_expr_node **out)
{
    if (depth > SL_EXPR_MAX_DEPTH) {
        return sl_fail(r->err, SILT_ELIMIT, NULL, "an expression is nested deeper than %d levels", SL_EXPR_MAX_DEPTH);
    }
    struct sl_expr_node *node = sl_node_new(r->arena, src->kind);
    const struct sl_expr_node **args = sl_arena_alloc_array(r->arena, src->n_args + 1, sizeof(*args));
    if (node == NULL || args == NULL) {
        return sl_fail_nomem(r->err);
    }
    *node = *src;
    for (size_t i = 0; i < src->n_args; i++) {
        SL_TRY(resolve_node(r, src->args[i], depth + 1, &args[i]));
    }
    node->args = args;
    *out = node;
    switch (src->kind) {
    case SL_EXPR_COLUMN: return resolve_column(r, src, node);
    case SL_EXPR_COMPARE:
    case SL_EXPR_IN:
    case SL_EXPR_BETWEEN: return adapt_operands(r, args, src->n_args);
    case SL_EXPR_LIKE: return text_of(r, &args[0]);
    case SL_EXPR_ADD:
    case SL_EXPR_SUBTRACT: node->type = sum_type(args); return SILT_OK;
    case SL_EXPR_CAST:
        if (args[0]->kind == SL_EXPR_LITERAL) {
            silt_value value;
            if (sl_value_cast(r->arena, &args[0]->value, src->type, &value)) {
                SL_TRY(sl_zone_apply(r->zone, &args[0]->value, &value, r->err));
                node->kind = SL_EXPR_LITERAL;
                node->value = value;
                node->type = NULL;
                node->n_args = 0;
            }
        }
        return SILT_OK;
    default: return SILT_OK;
    }
}

silt_status sl_expr_resolve_in_zone(const silt_expr *expr, const silt_schema *schema, const struct sl_expr_zone *zone,
                                    silt_expr **out, silt_error *err)
{
    struct sl_arena scratch;
    const struct sl_expr_node *root = NULL;
    *out = NULL;
    sl_arena_init(&scratch, expr->env);
    struct resolver r = {&scratch, schema, zone, err};
    silt_status status = resolve_node(&r, expr->root, 0, &root);
    if (status == SILT_OK) {
        status = sl_expr_from_node(expr->env, root, out, err);
    }
    sl_arena_release(&scratch);
    return status;
}

silt_status sl_expr_resolve(const silt_expr *expr, const silt_schema *schema, silt_expr **out, silt_error *err)
{
    return sl_expr_resolve_in_zone(expr, schema, NULL, out, err);
}
