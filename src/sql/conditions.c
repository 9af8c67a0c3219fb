/*
 * Conditions above the tables of a SELECT. See conditions.h.
 *
 * A conjunct of WHERE may prune a table of the same FROM unless an outer join can supply nulls for the table's rows, or the join depends on
 * how many rows there are (positional, as-of) or which (a sample), or its columns are renamed where it is named. A conjunct of ON may
 * prune the tables of the sides whose rows go when it is not true. One of HAVING is a condition on rows if it speaks of what the rows are
 * grouped by and of nothing else. Everything not known to be harmless keeps its table from being pruned.
 */
#include "sql/conditions.h"

#include "base/error.h"
#include "sql/tree.h"

/* Conjuncts of one clause, and those of the clauses around it that reach as far. */
struct clause {
    const sl_json *const *conjuncts;
    size_t n;
    const struct clause *outer;
};

struct item {
    const sl_json *node;
    const struct clause *clauses; /* that prune it */
};

static bool type_is(const sl_json *object, const char *type)
{
    return sl_str_eq_c(sl_json_member_text(object, "type"), type);
}

/* A condition taken apart at its ANDs. */
static bool split(struct sl_arena *arena, const sl_json *condition, struct clause *out)
{
    struct sl_vec todo;
    struct sl_vec found;
    sl_vec_init(&todo, arena->env, sizeof(const sl_json *));
    sl_vec_init(&found, arena->env, sizeof(const sl_json *));
    bool good = sl_tree_push(&todo, condition);
    while (good && todo.len > 0) {
        const sl_json *node = sl_tree_pop(&todo);
        good = type_is(node, "CONJUNCTION_AND") ? sl_tree_push_children(&todo, sl_json_member(node, "children"))
                                                : sl_tree_push(&found, node);
    }
    const sl_json **all = good ? sl_arena_alloc_array(arena, found.len + 1, sizeof(*all)) : NULL;
    if (all != NULL && found.len > 0) {
        memcpy(all, found.data, found.len * sizeof(*all));
    }
    out->conjuncts = all;
    out->n = found.len;
    sl_vec_release(&todo);
    sl_vec_release(&found);
    return all != NULL;
}

/* The clauses with one more, unless there is none (NULL: no condition). False when out of memory. */
static bool add_clause(struct sl_arena *arena, const sl_json *condition, const struct clause *outer,
                       const struct clause **out)
{
    *out = outer;
    if (!sl_json_is_object(condition)) {
        return true;
    }
    struct clause *clause = sl_arena_alloc_zero(arena, sizeof(*clause));
    if (clause == NULL || !split(arena, condition, clause)) {
        return false;
    }
    clause->outer = outer;
    *out = clause;
    return true;
}

/* ---- joins ---- */

struct reach {
    bool left;
    bool right;
};

struct join {
    struct reach where; /* sides that a condition above the join prunes */
    struct reach on;    /* sides that its own condition prunes */
};

static struct join judge_join(const sl_json *node)
{
    static const struct {
        const char *type;
        struct join join;
    } table[] = {
        {"INNER", {{true, true}, {true, true}}},   {"LEFT", {{true, false}, {false, true}}},
        {"RIGHT", {{false, true}, {true, false}}}, {"SEMI", {{true, false}, {true, true}}},
        {"ANTI", {{true, false}, {false, true}}},
    };
    const struct sl_str kind = sl_json_member_text(node, "ref_type");
    const struct sl_str type = sl_json_member_text(node, "join_type");
    const bool is_plain = kind.ptr == NULL || sl_str_eq_c(kind, "REGULAR") || sl_str_eq_c(kind, "CROSS") ||
                          sl_str_eq_c(kind, "NATURAL");
    for (size_t i = 0; is_plain && i < sizeof(table) / sizeof(table[0]); i++) {
        if (sl_str_eq_c(type, table[i].type) || (type.ptr == NULL && i == 0)) {
            return table[i].join;
        }
    }
    return (struct join){{false, false}, {false, false}};
}

static bool push_item(struct sl_vec *items, const sl_json *node, const struct clause *clauses)
{
    struct item *item = sl_vec_push(items);
    if (item != NULL) {
        *item = (struct item){node, clauses};
    }
    return item != NULL;
}

static bool enter_join(struct sl_arena *arena, const struct item *join, struct sl_vec *items)
{
    const sl_json *on = sl_json_member(join->node, "condition");
    const struct join judged = judge_join(join->node);
    const struct clause *left = judged.where.left ? join->clauses : NULL;
    const struct clause *right = judged.where.right ? join->clauses : NULL;
    return add_clause(arena, judged.on.left ? on : NULL, left, &left) &&
           add_clause(arena, judged.on.right ? on : NULL, right, &right) &&
           push_item(items, sl_json_member(join->node, "left"), left) &&
           push_item(items, sl_json_member(join->node, "right"), right);
}

/* Makes one column of two: which of them a bare name means would have to be known. */
static bool merges_columns(const sl_json *join)
{
    return sl_str_eq_c(sl_json_member_text(join, "ref_type"), "NATURAL") ||
           sl_json_count(sl_json_member(join, "using_columns")) > 0;
}

/* A base table whose rows are all looked at, under its own column names: no sample, no t AS x(b, a). */
static bool is_plain_table(const sl_json *node)
{
    return type_is(node, "BASE_TABLE") && sl_json_is_null(sl_json_member(node, "sample")) &&
           sl_json_count(sl_json_member(node, "column_name_alias")) == 0;
}

static bool add_condition(struct sl_arena *arena, const struct item *item, struct sl_vec *out)
{
    size_t n = 0;
    for (const struct clause *c = item->clauses; c != NULL; c = c->outer) {
        n += c->n;
    }
    const sl_json **all = sl_arena_alloc_array(arena, n + 1, sizeof(*all));
    struct sl_condition *found = all != NULL ? sl_vec_push(out) : NULL;
    if (found == NULL) {
        return false;
    }
    *found = (struct sl_condition){.table = item->node, .conjuncts = all, .n = n};
    for (const struct clause *c = item->clauses; c != NULL; c = c->outer) {
        memcpy(all, c->conjuncts, c->n * sizeof(*all));
        all += c->n;
    }
    return true;
}

/* ---- HAVING ---- */

static bool same_column(const sl_json *a, const sl_json *b)
{
    struct sl_json_iter of_a = sl_json_iterate(sl_json_member(a, "column_names"));
    struct sl_json_iter of_b = sl_json_iterate(sl_json_member(b, "column_names"));
    struct sl_str key;
    const sl_json *name = NULL;
    const sl_json *other = NULL;
    struct sl_str x;
    struct sl_str y;
    while (sl_json_next(&of_a, &key, &name)) {
        if (!sl_json_next(&of_b, &key, &other) || !sl_json_to_str(name, &x) || !sl_json_to_str(other, &y) ||
            !sl_str_eq(x, y)) {
            return false;
        }
    }
    return !sl_json_next(&of_b, &key, &other);
}

static bool is_group_key(const sl_json *select, const sl_json *column)
{
    struct sl_json_iter iter = sl_json_iterate(sl_json_member(select, "group_expressions"));
    struct sl_str key;
    const sl_json *group = NULL;
    while (sl_json_next(&iter, &key, &group)) {
        if (type_is(group, "COLUMN_REF") && same_column(group, column)) {
            return true;
        }
    }
    return false;
}

/* Every row belongs to one group, by all of the keys: no ROLLUP and the like; and no name in the SELECT list can hide a column's. */
static bool is_plain_grouping(const sl_json *select)
{
    const sl_json *sets = sl_json_member(select, "group_sets");
    struct sl_json_iter iter = sl_json_iterate(sets);
    struct sl_json_iter items = sl_json_iterate(sl_json_member(select, "select_list"));
    struct sl_str key;
    const sl_json *set = NULL;
    const sl_json *item = NULL;
    while (sl_json_next(&items, &key, &item)) {
        if (sl_json_member_text(item, "alias").ptr != NULL) {
            return false;
        }
    }
    return sl_json_count(sets) == 1 && sl_json_next(&iter, &key, &set) &&
           sl_json_count(set) == sl_json_count(sl_json_member(select, "group_expressions"));
}

/* Does a conjunct name group keys only? What it calls does not matter: an aggregate is nothing that prunes. */
static bool speaks_of_keys(struct sl_arena *arena, const sl_json *select, const sl_json *conjunct, bool *out)
{
    struct sl_vec todo;
    sl_vec_init(&todo, arena->env, sizeof(const sl_json *));
    bool good = sl_tree_push(&todo, conjunct);
    *out = true;
    while (good && *out && todo.len > 0) {
        const sl_json *node = sl_tree_pop(&todo);
        *out = !type_is(node, "COLUMN_REF") || is_group_key(select, node);
        good = sl_tree_push_children(&todo, node);
    }
    sl_vec_release(&todo);
    return good;
}

static bool add_having(struct sl_arena *arena, const sl_json *select, const struct clause **clauses)
{
    const sl_json *having = sl_json_member(select, "having");
    if (!sl_json_is_object(having) || !is_plain_grouping(select)) {
        return true;
    }
    struct clause *clause = sl_arena_alloc_zero(arena, sizeof(*clause));
    if (clause == NULL || !split(arena, having, clause)) {
        return false;
    }
    const sl_json **kept = sl_arena_alloc_array(arena, clause->n + 1, sizeof(*kept));
    size_t n = 0;
    for (size_t i = 0; kept != NULL && i < clause->n; i++) {
        bool good = false;
        if (!speaks_of_keys(arena, select, clause->conjuncts[i], &good)) {
            return false;
        }
        kept[n] = clause->conjuncts[i];
        n += good ? 1 : 0;
    }
    *clause = (struct clause){.conjuncts = kept, .n = n, .outer = *clauses};
    *clauses = clause;
    return kept != NULL;
}

/* ---- a SELECT ---- */

/* Appends the tables of a FROM; *n_items: all that stands in it. */
static bool walk_from(struct sl_arena *arena, struct sl_vec *items, struct sl_vec *out, size_t *n_items, bool *merges)
{
    bool good = true;
    while (good && items->len > 0) {
        const struct item item = *(struct item *)sl_vec_at(items, --items->len);
        if (type_is(item.node, "JOIN")) {
            *merges = *merges || merges_columns(item.node);
            good = enter_join(arena, &item, items);
            continue;
        }
        ++*n_items;
        if (item.clauses != NULL && is_plain_table(item.node)) {
            good = add_condition(arena, &item, out);
        }
    }
    return good;
}

silt_status sl_conditions_note(struct sl_arena *arena, const sl_json *select, struct sl_vec *out, silt_error *err)
{
    const struct clause *clauses = NULL;
    const size_t first = out->len;
    size_t n_items = 0;
    bool merges = false;
    struct sl_vec items;
    if (!sl_json_is_null(sl_json_member(select, "sample"))) {
        return SILT_OK; /* a sample of what FROM gives, taken before WHERE looks at it */
    }
    sl_vec_init(&items, arena->env, sizeof(struct item));
    const bool good = add_clause(arena, sl_json_member(select, "where_clause"), NULL, &clauses) &&
                      add_having(arena, select, &clauses) &&
                      push_item(&items, sl_json_member(select, "from_table"), clauses) &&
                      walk_from(arena, &items, out, &n_items, &merges);
    for (size_t i = first; good && i < out->len; i++) {
        struct sl_condition *condition = sl_vec_at(out, i);
        condition->only_item = n_items == 1;
        condition->bare_names = !merges;
    }
    sl_vec_release(&items);
    return good ? SILT_OK : sl_fail_nomem(err);
}
