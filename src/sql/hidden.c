/*
 * Which columns a tree compares in a way that the data plane gets wrong. See hidden.h.
 *
 * Such a comparison has a constant on one side; names of values that a query makes itself may stand for one. The columns are those named in
 * it, and where a name is an alias, those behind the alias. Where columns get other names in ways that are not followed here, all are
 * hidden. To hide one too many costs time only.
 */
#include "sql/hidden.h"

#include "base/error.h"
#include "base/quote.h"
#include "schema/type.h"
#include "sql/tree.h"

/* Aliases of aliases are followed so far; then all columns are hidden. */
#define MAX_ROUNDS 16

struct search {
    struct sl_vec stack;    /* const sl_json *, of the walk */
    struct sl_vec distinct; /* the nodes IS DISTINCT FROM */
    struct sl_vec same;     /* the nodes IS NOT DISTINCT FROM */
    struct sl_vec aliased;  /* expressions with an alias */
    bool negates;           /* something may turn one into the other */
    bool joins;             /* OR, or what may become one */
    bool renames;           /* columns get names in ways that are not followed */
};

/* Notes what one node is; false when out of memory. */
static bool note(struct search *search, const sl_json *node)
{
    static const char *const renaming[] = {
        "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "PIVOT", "POSITIONAL_REFERENCE", "LAMBDA", NULL};
    static const char *const joining[] = {"CONJUNCTION_OR", "OPERATOR_NOT", "CASE_EXPR", NULL};
    const struct sl_str type = sl_json_member_text(node, "type");
    const bool is_expression = sl_json_member_text(node, "class").ptr != NULL;
    search->renames = search->renames || sl_tree_is_any(type, renaming) ||
                      sl_json_count(sl_json_member(node, "column_name_alias")) > 0 ||
                      sl_json_count(sl_json_member(node, "aliases")) > 0 ||
                      sl_json_count(sl_json_member(node, "rename_list")) > 0;
    search->joins = search->joins || sl_tree_is_any(type, joining);
    search->negates = search->negates || sl_str_eq_c(type, "OPERATOR_NOT") || sl_str_eq_c(type, "CASE_EXPR") ||
                      sl_str_eq_c(sl_json_member_text(node, "id"), "BOOLEAN");
    if (sl_str_eq_c(type, "COMPARE_DISTINCT_FROM") && !sl_tree_push(&search->distinct, node)) {
        return false;
    }
    if (sl_str_eq_c(type, "COMPARE_NOT_DISTINCT_FROM") && !sl_tree_push(&search->same, node)) {
        return false;
    }
    return !is_expression || sl_json_member_text(node, "alias").ptr == NULL || sl_tree_push(&search->aliased, node);
}

static bool walk(struct search *search, const sl_json *root)
{
    bool good = sl_tree_push(&search->stack, root);
    while (good && search->stack.len > 0) {
        const sl_json *node = sl_tree_pop(&search->stack);
        good = (!sl_json_is_object(node) || note(search, node)) && sl_tree_push_children(&search->stack, node);
    }
    return good;
}

static bool has_name(const struct sl_vec *names, struct sl_str name)
{
    for (size_t i = 0; i < names->len; i++) {
        if (sl_str_eq_nocase(*(const struct sl_str *)sl_vec_at(names, i), name)) {
            return true;
        }
    }
    return false;
}

static bool add_names(struct sl_vec *names, const sl_json *column)
{
    struct sl_json_iter iter = sl_json_iterate(sl_json_member(column, "column_names"));
    struct sl_str key;
    const sl_json *part = NULL;
    while (sl_json_next(&iter, &key, &part)) {
        struct sl_str name;
        if (!sl_json_to_str(part, &name) || has_name(names, name)) {
            continue;
        }
        struct sl_str *slot = sl_vec_push(names);
        if (slot == NULL) {
            return false;
        }
        *slot = name;
    }
    return true;
}

/* All names of columns in an expression. *others: something in it stands for columns without naming them. */
static bool gather(struct search *search, const sl_json *expression, struct sl_vec *names, bool *others)
{
    bool good = sl_tree_push(&search->stack, expression);
    while (good && search->stack.len > 0) {
        const sl_json *node = sl_tree_pop(&search->stack);
        const struct sl_str type = sl_json_is_object(node) ? sl_json_member_text(node, "type")
                                                           : (struct sl_str){NULL, 0};
        *others = *others || sl_str_eq_c(type, "STAR") || sl_str_eq_c(type, "SUBQUERY");
        good = (!sl_str_eq_c(type, "COLUMN_REF") || add_names(names, node)) &&
               sl_tree_push_children(&search->stack, node);
    }
    return good;
}

static bool is_alias(const struct search *search, struct sl_str name)
{
    for (size_t i = 0; i < search->aliased.len; i++) {
        if (sl_str_eq_nocase(sl_json_member_text(sl_tree_at(&search->aliased, i), "alias"), name)) {
            return true;
        }
    }
    return false;
}

/* Can it be the same for all rows? Not if it names columns, and nothing that the query made. */
static bool may_be_constant(struct search *search, const sl_json *expression, bool *out)
{
    struct sl_vec names;
    bool others = false;
    sl_vec_init(&names, search->stack.env, sizeof(struct sl_str));
    const bool good = gather(search, expression, &names, &others);
    *out = names.len == 0 || others;
    for (size_t i = 0; i < names.len; i++) {
        *out = *out || is_alias(search, *(const struct sl_str *)sl_vec_at(&names, i));
    }
    sl_vec_release(&names);
    return good;
}

static bool add_comparisons(struct search *search, const struct sl_vec *nodes, struct sl_hidden *hidden)
{
    for (size_t i = 0; i < nodes->len; i++) {
        const sl_json *node = sl_tree_at(nodes, i);
        bool left = false;
        bool right = false;
        if (!may_be_constant(search, sl_json_member(node, "left"), &left) ||
            !may_be_constant(search, sl_json_member(node, "right"), &right)) {
            return false;
        }
        if ((left || right) && !gather(search, node, &hidden->names, &hidden->all)) {
            return false;
        }
    }
    return true;
}

/* Names behind aliases, until there are no more. */
static bool follow_aliases(struct search *search, struct sl_hidden *hidden)
{
    size_t before = 0;
    for (size_t round = 0; before != hidden->names.len; round++) {
        before = hidden->names.len;
        hidden->all = hidden->all || round == MAX_ROUNDS;
        for (size_t i = 0; i < search->aliased.len && !hidden->all; i++) {
            const sl_json *node = sl_tree_at(&search->aliased, i);
            if (has_name(&hidden->names, sl_json_member_text(node, "alias")) &&
                !gather(search, node, &hidden->names, &hidden->all)) {
                return false;
            }
        }
    }
    return true;
}

void sl_hidden_init(struct sl_hidden *hidden, const silt_env *env)
{
    *hidden = (struct sl_hidden){0};
    sl_vec_init(&hidden->names, env, sizeof(struct sl_str));
}

void sl_hidden_release(struct sl_hidden *hidden)
{
    sl_vec_release(&hidden->names);
}

silt_status sl_hidden_find(const sl_json *root, struct sl_hidden *hidden, silt_error *err)
{
    const silt_env *env = hidden->names.env;
    struct search search = {0};
    sl_vec_init(&search.stack, env, sizeof(const sl_json *));
    sl_vec_init(&search.distinct, env, sizeof(const sl_json *));
    sl_vec_init(&search.same, env, sizeof(const sl_json *));
    sl_vec_init(&search.aliased, env, sizeof(const sl_json *));
    bool good = walk(&search, root);
    if (good && search.joins) {
        good = add_comparisons(&search, &search.distinct, hidden) &&
               (!search.negates || add_comparisons(&search, &search.same, hidden)) && follow_aliases(&search, hidden);
        hidden->all = hidden->all || (hidden->names.len > 0 && search.renames);
    }
    sl_vec_release(&search.stack);
    sl_vec_release(&search.distinct);
    sl_vec_release(&search.same);
    sl_vec_release(&search.aliased);
    return good ? SILT_OK : sl_fail_nomem(err);
}

/* ---- the SQL ---- */

/* Conditions on parts of nested columns are not pushed in that form. */
static bool is_hidden(const struct sl_hidden *hidden, const silt_scan_plan *plan, size_t column)
{
    const struct silt_field *field = &plan->logical->root.fields[column];
    return plan->columns[column].source == SILT_FROM_FILE && !sl_type_is_nested(field->type) &&
           field->type->kind != SILT_TYPE_VOID && field->type->kind != SILT_TYPE_VARIANT &&
           (hidden->all || has_name(&hidden->names, field->name));
}

/* greatest() of one value is that value. */
static void put_hidden(struct sl_buf *sql, const struct silt_field *field)
{
    sl_buf_put_c(sql, "system.main.greatest(");
    sl_quote_put(sql, field->name, '"');
    sl_buf_put_c(sql, ") AS ");
    sl_quote_put(sql, field->name, '"');
}

void sl_hidden_put_scan(struct sl_buf *sql, const struct sl_hidden *hidden, struct sl_str scan,
                        const silt_scan_plan *plan)
{
    bool any = false;
    for (size_t i = 0; i < plan->logical->root.n_fields; i++) {
        if (is_hidden(hidden, plan, i)) {
            sl_buf_put_c(sql, any ? ", " : "SELECT * REPLACE (");
            put_hidden(sql, &plan->logical->root.fields[i]);
            any = true;
        }
    }
    sl_buf_put_c(sql, any ? ") FROM (" : "");
    sl_buf_put_str(sql, scan);
    sl_buf_put_c(sql, any ? ")" : "");
}
