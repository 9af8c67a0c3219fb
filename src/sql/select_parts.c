/* The parts of one SELECT that concern "_metadata". See select_parts.h. The tree of a long query is deep, so the walks have stacks. */
#include "sql/select_parts.h"

#include "kernel/scan/metadata_column.h"

/* A node that is still to be looked at. */
struct pending {
    const sl_json *node;
    bool flag; /* uses: within a query with tables of its own; leaves: hidden from stars */
};

void sl_select_parts_init(struct sl_select_parts *parts, struct sl_vec *refs, const silt_env *env)
{
    parts->refs = refs;
    sl_vec_init(&parts->leaves, env, sizeof(struct sl_select_leaf));
    sl_vec_init(&parts->uses, env, sizeof(struct sl_metadata_use));
    sl_vec_init(&parts->stars, env, sizeof(const sl_json *));
    sl_vec_init(&parts->joins, env, sizeof(const sl_json *));
    sl_vec_init(&parts->todo, env, sizeof(struct pending));
}

void sl_select_parts_release(struct sl_select_parts *parts)
{
    sl_vec_release(&parts->leaves);
    sl_vec_release(&parts->uses);
    sl_vec_release(&parts->stars);
    sl_vec_release(&parts->joins);
    sl_vec_release(&parts->todo);
}

bool sl_select_names(struct sl_str table, const struct sl_table_ref *ref)
{
    const struct sl_str name = ref->alias.ptr != NULL ? ref->alias : ref->table;
    return table.ptr == NULL || sl_str_eq_nocase(table, name);
}

static bool type_is(const sl_json *object, const char *type)
{
    return sl_str_eq_c(sl_json_member_text(object, "type"), type);
}

static bool push(struct sl_vec *todo, const sl_json *node, bool flag)
{
    if (!sl_json_is_object(node) && !sl_json_is_array(node)) {
        return true;
    }
    struct pending *slot = sl_vec_push(todo);
    if (slot != NULL) {
        *slot = (struct pending){node, flag};
    }
    return slot != NULL;
}

static struct pending pop(struct sl_vec *todo)
{
    return *(struct pending *)sl_vec_at(todo, --todo->len);
}

static bool push_children(struct sl_vec *todo, const sl_json *node, bool flag)
{
    struct sl_json_iter iter = sl_json_iterate(node);
    struct sl_str key;
    const sl_json *child = NULL;
    while (sl_json_next(&iter, &key, &child)) {
        if (!push(todo, child, flag)) {
            return false;
        }
    }
    return true;
}

/* ---- the FROM ---- */

static struct sl_table_ref *ref_of(const struct sl_select_parts *parts, const sl_json *node)
{
    for (size_t i = 0; i < parts->refs->len; i++) {
        struct sl_table_ref *ref = sl_vec_at(parts->refs, i);
        if (ref->node == node && ref->kind == SL_REF_TABLE) {
            return ref;
        }
    }
    return NULL;
}

static bool is_semi(const sl_json *join)
{
    const struct sl_str type = sl_json_member_text(join, "join_type");
    return sl_str_eq_c(type, "SEMI") || sl_str_eq_c(type, "ANTI");
}

/* joins: receives the natural ones; NULL: nobody asks. */
static bool walk_from(const struct sl_select_parts *parts, const sl_json *from, struct sl_vec *leaves,
                      struct sl_vec *joins)
{
    struct sl_vec todo;
    sl_vec_init(&todo, parts->refs->env, sizeof(struct pending));
    bool good = push(&todo, from, false);
    while (good && todo.len > 0) {
        const struct pending at = pop(&todo);
        if (!type_is(at.node, "JOIN")) {
            struct sl_select_leaf *leaf = sl_vec_push(leaves);
            good = leaf != NULL;
            if (good) {
                *leaf = (struct sl_select_leaf){at.node, ref_of(parts, at.node), at.flag};
            }
            continue;
        }
        if (joins != NULL && sl_str_eq_c(sl_json_member_text(at.node, "ref_type"), "NATURAL")) {
            const sl_json **join = sl_vec_push(joins);
            good = join != NULL;
            if (good) {
                *join = at.node;
            }
        }
        good = good && push(&todo, sl_json_member(at.node, "right"), at.flag || is_semi(at.node)) &&
               push(&todo, sl_json_member(at.node, "left"), at.flag);
    }
    sl_vec_release(&todo);
    return good;
}

bool sl_select_leaves(const struct sl_select_parts *parts, const sl_json *from, struct sl_vec *leaves)
{
    return walk_from(parts, from, leaves, NULL);
}

/* ---- uses ---- */

/* "_metadata", "_metadata.row_id" or "t._metadata.row_id". */
static bool read_use(const sl_json *column, struct sl_metadata_use *out)
{
    struct sl_json_iter iter = sl_json_iterate(sl_json_member(column, "column_names"));
    struct sl_str names[3] = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
    struct sl_str key;
    const sl_json *part = NULL;
    for (size_t i = 0; i < 3 && sl_json_next(&iter, &key, &part); i++) {
        (void)sl_json_to_str(part, &names[i]); /* what is no text stays absent */
    }
    const struct sl_str wanted = SL_STR(SL_METADATA_NAME);
    *out = (struct sl_metadata_use){.node = column};
    if (names[0].ptr != NULL && sl_str_eq_nocase(names[0], wanted)) {
        out->field = names[1];
        return true;
    }
    if (names[1].ptr != NULL && sl_str_eq_nocase(names[1], wanted)) {
        out->table = names[0];
        out->field = names[2];
        return true;
    }
    return false;
}

/* Has a query within this one tables that may be meant before ours? */
static bool has_own_tables(struct sl_select_parts *parts, const sl_json *select, bool *out)
{
    parts->leaves.len = 0;
    const bool good = walk_from(parts, sl_json_member(select, "from_table"), &parts->leaves, NULL);
    *out = false;
    for (size_t i = 0; i < parts->leaves.len; i++) {
        *out = *out || ((struct sl_select_leaf *)sl_vec_at(&parts->leaves, i))->ref != NULL;
    }
    return good;
}

/* "_metadata.*", its fields as columns: the data plane takes it for a star of a table, and of a struct where there is no such table. */
static bool is_star_of_it(const sl_json *node)
{
    return type_is(node, "STAR") &&
           sl_str_eq_nocase(sl_json_member_text(node, "relation_name"), SL_STR(SL_METADATA_NAME));
}

/* What a node says of the column; false if it is no use of it. */
static bool use_of(const sl_json *node, struct sl_metadata_use *out)
{
    if (is_star_of_it(node)) {
        *out = (struct sl_metadata_use){.node = node};
        return true;
    }
    return type_is(node, "COLUMN_REF") && read_use(node, out);
}

static bool find_uses(struct sl_select_parts *parts, const sl_json *select)
{
    bool good = push_children(&parts->todo, select, false);
    while (good && parts->todo.len > 0) {
        struct pending at = pop(&parts->todo);
        struct sl_metadata_use use;
        if (use_of(at.node, &use) && (use.table.ptr != NULL || !at.flag)) {
            struct sl_metadata_use *slot = sl_vec_push(&parts->uses);
            good = slot != NULL;
            if (good) {
                *slot = use;
            }
        }
        if (good && !at.flag && type_is(at.node, "SELECT_NODE")) {
            good = has_own_tables(parts, at.node, &at.flag);
        }
        good = good && push_children(&parts->todo, at.node, at.flag);
    }
    parts->todo.len = 0;
    return good;
}

/* ---- stars: of the SELECT itself, wherever they stand in it ---- */

static bool find_stars(struct sl_select_parts *parts, const sl_json *select)
{
    struct sl_json_iter iter = sl_json_iterate(select);
    struct sl_str key;
    const sl_json *child = NULL;
    bool good = true;
    while (good && sl_json_next(&iter, &key, &child)) {
        good = sl_str_eq_c(key, "from_table") || sl_str_eq_c(key, "cte_map") || push(&parts->todo, child, false);
    }
    while (good && parts->todo.len > 0) {
        const sl_json *node = pop(&parts->todo).node;
        if (type_is(node, "STAR")) {
            const sl_json **slot = sl_vec_push(&parts->stars);
            good = slot != NULL;
            if (good) {
                *slot = node;
            }
        } else if (!type_is(node, "SELECT_NODE")) {
            good = push_children(&parts->todo, node, false);
        }
    }
    parts->todo.len = 0;
    return good;
}

bool sl_select_parts_read(struct sl_select_parts *parts, const sl_json *select)
{
    parts->uses.len = 0;
    parts->stars.len = 0;
    parts->joins.len = 0;
    bool good = find_uses(parts, select);
    parts->leaves.len = 0;
    if (!good || parts->uses.len == 0) {
        return good;
    }
    return walk_from(parts, sl_json_member(select, "from_table"), &parts->leaves, &parts->joins) &&
           find_stars(parts, select);
}
