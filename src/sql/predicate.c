/*
 * Conditions as kernel predicates: logic, LIKE, truth values. See predicate.h.
 *
 * A part of an AND may be left out where the predicate only has to be true wherever the condition is, a part of an OR where it only has to be
 * false wherever the condition is, as below a NOT. Everywhere else a whole condition falls with its part.
 */
#include "sql/predicate.h"

#include "base/error.h"
#include "sql/predicate_int.h"

enum mode {
    EXACT,   /* true, false and null alike */
    WEAKER,  /* true wherever the condition is */
    STRONGER /* false wherever the condition is */
};

static const struct sl_expr_node *make(struct sl_predicate_maker *maker, const sl_json *node, enum mode mode,
                                       unsigned depth);

/* ---- LIKE ---- */

/* A pattern of the data plane, where only `escape` (0: nothing) escapes, as one of the kernel's, where '\' does. */
static bool kernel_pattern(struct sl_arena *arena, struct sl_str pattern, char escape, bool is_prefix,
                           struct sl_str *out)
{
    char *text = sl_arena_alloc(arena, pattern.len * 2 + 2);
    size_t len = 0;
    if (text == NULL) {
        return false;
    }
    for (size_t i = 0; i < pattern.len; i++) {
        const bool escaped = escape != '\0' && pattern.ptr[i] == escape;
        i += escaped ? 1 : 0;
        if (i == pattern.len) {
            return false; /* an error of the data plane's */
        }
        const char c = pattern.ptr[i];
        if (c == '\\' || ((escaped || is_prefix) && (c == '%' || c == '_'))) {
            text[len++] = '\\';
        }
        text[len++] = c;
    }
    if (is_prefix) {
        text[len++] = '%';
    }
    *out = sl_str_make(text, len);
    return true;
}

static bool read_text(struct sl_predicate_maker *maker, const sl_json *node, unsigned depth, struct sl_str *out)
{
    struct sl_operand constant;
    silt_value value;
    if (!sl_constant_read(maker, node, depth, &constant) || !sl_constant_classify(maker, &constant) ||
        constant.cls != SL_OPERAND_TEXT || !sl_constant_value(maker, &constant, SL_OPERAND_TEXT, NULL, &value) ||
        value.is_null) {
        return false;
    }
    *out = sl_value_get_str(&value);
    return true;
}

enum like_kind {
    LIKE,
    LIKE_ESCAPE,
    PREFIX
};

static const struct {
    const char *name;
    enum like_kind kind;
    bool negated;
} likes[] = {
    {"~~", LIKE, false},
    {"!~~", LIKE, true},
    {"like_escape", LIKE_ESCAPE, false},
    {"not_like_escape", LIKE_ESCAPE, true},
    {"^@", PREFIX, false},
    {"starts_with", PREFIX, false},
    {"prefix", PREFIX, false},
};

static size_t find_like(const sl_json *node)
{
    for (size_t i = 0; i < sizeof(likes) / sizeof(likes[0]); i++) {
        if (sl_node_is(node, "class", "FUNCTION") && sl_node_is(node, "function_name", likes[i].name)) {
            return i;
        }
    }
    return SIZE_MAX;
}

static const struct sl_expr_node *make_like(struct sl_predicate_maker *maker, const sl_json *node, unsigned depth)
{
    const size_t which = find_like(node);
    const enum like_kind kind = likes[which].kind;
    struct sl_operand text;
    struct sl_str pattern;
    struct sl_str escape = SL_STR("");
    if (!maker->source->may_call || (sl_node_child(node, 2) != NULL) != (kind == LIKE_ESCAPE) ||
        !sl_operand_read(maker, sl_node_child(node, 0), depth + 1, &text) || text.node == NULL ||
        text.cls != SL_OPERAND_TEXT || !read_text(maker, sl_node_child(node, 1), depth, &pattern) ||
        (kind == LIKE_ESCAPE && !read_text(maker, sl_node_child(node, 2), depth, &escape)) || escape.len > 1 ||
        !kernel_pattern(&maker->arena, pattern, escape.len == 1 ? escape.ptr[0] : '\0', kind == PREFIX, &pattern)) {
        return NULL;
    }
    const silt_value value = sl_value_bytes(SILT_TYPE_STRING, pattern);
    const struct sl_expr_node *const args[2] = {text.node, sl_predicate_literal(maker, &value)};
    const struct sl_expr_node *like = args[1] != NULL ? sl_predicate_node(maker, SL_EXPR_LIKE, args, 2) : NULL;
    return likes[which].negated ? sl_predicate_negate(maker, like) : like;
}

/* ---- logic ---- */

static const struct sl_expr_node *make_null_test(struct sl_predicate_maker *maker, const sl_json *node, unsigned depth)
{
    const bool wants_null = sl_node_is(node, "type", "OPERATOR_IS_NULL");
    struct sl_operand operand;
    if (!sl_operand_read(maker, sl_node_child(node, 0), depth + 1, &operand) || operand.node == NULL) {
        return NULL;
    }
    return sl_predicate_node(maker, wants_null ? SL_EXPR_IS_NULL : SL_EXPR_IS_NOT_NULL, &operand.node, 1);
}

static const struct sl_expr_node *make_junction(struct sl_predicate_maker *maker, const sl_json *node, enum mode mode,
                                                unsigned depth)
{
    const bool is_and = sl_node_is(node, "type", "CONJUNCTION_AND");
    const bool may_drop = mode == (is_and ? WEAKER : STRONGER);
    const sl_json *children = sl_json_member(node, "children");
    const struct sl_expr_node **args = sl_arena_alloc_array(&maker->arena, sl_json_count(children) + 1, sizeof(*args));
    struct sl_json_iter iter = sl_json_iterate(children);
    struct sl_str key;
    const sl_json *child = NULL;
    size_t n = 0;
    if (args == NULL) {
        maker->status = sl_fail_nomem(maker->err);
        return NULL;
    }
    while (sl_json_next(&iter, &key, &child)) {
        args[n] = make(maker, child, mode, depth + 1);
        if (args[n] != NULL) {
            n++;
        } else if (!may_drop || maker->status != SILT_OK) {
            return NULL;
        }
    }
    if (n <= 1) {
        return n == 1 ? args[0] : NULL;
    }
    return sl_predicate_node(maker, is_and ? SL_EXPR_AND : SL_EXPR_OR, args, n);
}

/* A column or constant that is a truth value. */
static const struct sl_expr_node *make_boolean(struct sl_predicate_maker *maker, const sl_json *node, unsigned depth)
{
    struct sl_operand operand;
    silt_value value;
    if (!sl_operand_read(maker, node, depth, &operand) || !sl_constant_classify(maker, &operand)) {
        return NULL;
    }
    if (operand.node != NULL) {
        return operand.cls == SL_OPERAND_BOOLEAN ? operand.node : NULL;
    }
    if ((operand.cls != SL_OPERAND_BOOLEAN && operand.cls != SL_OPERAND_NULL) ||
        !sl_constant_value(maker, &operand, SL_OPERAND_BOOLEAN, NULL, &value)) {
        return NULL;
    }
    if (value.is_null) {
        value = sl_value_null(SILT_TYPE_BOOLEAN);
    }
    return sl_predicate_literal(maker, &value);
}

static bool is_predicate(const sl_json *node)
{
    return sl_node_is(node, "class", "COMPARISON") || sl_node_is(node, "class", "BETWEEN") ||
           sl_node_is(node, "class", "CONJUNCTION") || sl_node_is(node, "type", "COMPARE_IN") ||
           sl_node_is(node, "type", "COMPARE_NOT_IN") || sl_node_is(node, "type", "OPERATOR_IS_NULL") ||
           sl_node_is(node, "type", "OPERATOR_IS_NOT_NULL") || sl_node_is(node, "type", "OPERATOR_NOT") ||
           find_like(node) != SIZE_MAX;
}

static const struct sl_expr_node *make(struct sl_predicate_maker *maker, const sl_json *node, enum mode mode,
                                       unsigned depth)
{
    if (depth > SL_PREDICATE_MAX_DEPTH || maker->status != SILT_OK) {
        return NULL;
    }
    if (!is_predicate(node)) {
        return make_boolean(maker, node, depth + 1);
    }
    if (sl_node_is(node, "class", "COMPARISON")) {
        return sl_predicate_compare(maker, node, depth);
    }
    if (sl_node_is(node, "class", "BETWEEN")) {
        return sl_predicate_between(maker, node, depth);
    }
    if (sl_node_is(node, "class", "CONJUNCTION")) {
        return make_junction(maker, node, mode, depth);
    }
    if (sl_node_is(node, "type", "OPERATOR_NOT")) {
        const enum mode inner = mode == WEAKER ? STRONGER : mode == STRONGER ? WEAKER : EXACT;
        return sl_predicate_negate(maker, make(maker, sl_node_child(node, 0), inner, depth + 1));
    }
    if (sl_node_is(node, "class", "FUNCTION")) {
        return make_like(maker, node, depth);
    }
    const bool is_list = sl_node_is(node, "type", "COMPARE_IN") || sl_node_is(node, "type", "COMPARE_NOT_IN");
    return is_list ? sl_predicate_in(maker, node, depth) : make_null_test(maker, node, depth);
}

const struct sl_expr_node *sl_predicate_exact(struct sl_predicate_maker *maker, const sl_json *node, unsigned depth)
{
    return is_predicate(node) ? make(maker, node, EXACT, depth) : NULL;
}

static bool is_true(const struct sl_expr_node *node)
{
    return node->kind == SL_EXPR_LITERAL && !node->value.is_null && node->value.as.boolean;
}

silt_status sl_predicate_from_conjunct(struct sl_predicate_source *source, const sl_json *conjunct, silt_expr **out,
                                       silt_error *err)
{
    struct sl_predicate_maker maker = {.source = source, .err = err};
    *out = NULL;
    sl_arena_init(&maker.arena, source->env);
    const struct sl_expr_node *root = make(&maker, conjunct, WEAKER, 0);
    silt_status status = maker.status;
    if (status == SILT_OK && root != NULL && !is_true(root)) {
        status = sl_expr_from_node(source->env, root, out, err);
        if (status != SILT_OK && status != SILT_ENOMEM) {
            silt_error_reset(err); /* a condition that the kernel cannot take does not prune */
            status = SILT_OK;
        }
    }
    sl_arena_release(&maker.arena);
    return status;
}
