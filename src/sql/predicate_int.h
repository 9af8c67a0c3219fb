/*
 * Private to the making of predicates: logic (predicate.c), comparisons (predicate_compare.c), what is compared (predicate_operand.c),
 * constants (predicate_constant.c) and their text for the data plane (constant_text.c). One owner.
 */
#ifndef SL_SQL_PREDICATE_INT_H
#define SL_SQL_PREDICATE_INT_H

#include "expr/node.h"
#include "sql/predicate.h"

#define SL_PREDICATE_MAX_DEPTH 64

struct sl_predicate_maker {
    struct sl_predicate_source *source;
    struct sl_arena arena;
    silt_status status; /* a failure that is more than "not usable": out of memory, a cancelled call */
    silt_error *err;
};

/* Types of the data plane, as far as it matters how two of them are compared. Of two numbers or two times the data plane takes the later. */
enum sl_operand_class {
    SL_OPERAND_NULL,
    SL_OPERAND_BOOLEAN,
    SL_OPERAND_EXACT, /* integers of any width, decimals: what it compares them as loses nothing, or fails */
    SL_OPERAND_FLOAT,
    SL_OPERAND_DOUBLE,
    SL_OPERAND_DATE,
    SL_OPERAND_CLOCK,   /* TIMESTAMP: no zone */
    SL_OPERAND_INSTANT, /* TIMESTAMP WITH TIME ZONE */
    SL_OPERAND_BINARY,
    SL_OPERAND_TEXT,
    SL_OPERAND_OTHER
};

/* One side of a comparison. */
struct sl_operand {
    enum sl_operand_class cls;
    /* Of columns: */
    const struct sl_expr_node *node; /* NULL: a constant */
    const struct silt_type *type;    /* of the node; NULL: that of a predicate */
    bool is_sum;                     /* type is one of the integers, not which */
    /* Of constants: */
    const sl_json *json;
    bool has_class; /* cls is known */
    bool has_value; /* so is the value, which is of that class */
    silt_value value;
};

/* ---- the tree ---- */

static inline bool sl_node_is(const sl_json *node, const char *key, const char *value)
{
    return sl_str_eq_c(sl_json_member_text(node, key), value);
}
const sl_json *sl_node_child(const sl_json *node, size_t index);
/* The class of a type's node ("type", "cast_type"); *type, unless it is NULL: what a column of it has, of kind VOID if none can. */
enum sl_operand_class sl_node_class(const sl_json *type_node, struct silt_type *type);
/* The same of a type as typeof() names it. */
enum sl_operand_class sl_operand_class_named(struct sl_str name);
enum sl_operand_class sl_operand_class_of(silt_type_kind kind);

/* ---- nodes; NULL when out of memory, which the status then says ---- */

struct sl_expr_node *sl_predicate_node(struct sl_predicate_maker *maker, enum sl_expr_kind kind,
                                       const struct sl_expr_node *const *args, size_t n);
struct sl_expr_node *sl_predicate_literal(struct sl_predicate_maker *maker, const silt_value *value);
struct sl_expr_node *sl_predicate_cast(struct sl_predicate_maker *maker, const struct sl_expr_node *arg,
                                       const struct silt_type *type);
/* NULL for NULL. */
const struct sl_expr_node *sl_predicate_negate(struct sl_predicate_maker *maker, const struct sl_expr_node *node);

/* ---- what is compared ---- */

/* False when it is nothing that the kernel knows; then the status may say why. */
bool sl_operand_read(struct sl_predicate_maker *maker, const sl_json *node, unsigned depth, struct sl_operand *out);
/* A predicate that is true, false and null where the condition is. NULL: there is none. (predicate.c) */
const struct sl_expr_node *sl_predicate_exact(struct sl_predicate_maker *maker, const sl_json *node, unsigned depth);

/* ---- comparisons: exact predicates, NULL where there is none (predicate_compare.c) ---- */

const struct sl_expr_node *sl_predicate_compare(struct sl_predicate_maker *maker, const sl_json *node, unsigned depth);
const struct sl_expr_node *sl_predicate_in(struct sl_predicate_maker *maker, const sl_json *node, unsigned depth);
const struct sl_expr_node *sl_predicate_between(struct sl_predicate_maker *maker, const sl_json *node, unsigned depth);

/* ---- constants ---- */

/* Takes a constant, whose class and value may be left open. False for anything that may be none. */
bool sl_constant_read(struct sl_predicate_maker *maker, const sl_json *node, unsigned depth, struct sl_operand *out);
/* Makes the class known; false when it cannot be found out. */
bool sl_constant_classify(struct sl_predicate_maker *maker, struct sl_operand *constant);
/*
 * The value as the data plane casts it to a class. exact: with SL_OPERAND_EXACT, the type that a text is cast to; NULL: texts are refused.
 */
bool sl_constant_value(struct sl_predicate_maker *maker, const struct sl_operand *constant, enum sl_operand_class cls,
                       const struct silt_type *exact, silt_value *out);
/* Appends the constant in the data plane's SQL. False for what is none, or might have another value when it is asked for again. */
bool sl_constant_print(const struct sl_predicate_maker *maker, const sl_json *node, unsigned depth, struct sl_buf *out);
/* 25 with scale 1 → 2.5; also the large numbers that the tree has in two halves. */
bool sl_constant_decimal(const sl_json *value, const sl_json *type, silt_value *out);
/* Asks the data plane. */
bool sl_constant_ask_for(struct sl_predicate_maker *maker, const struct sl_buf *expr, silt_value *out);

#endif
