/*
 * Table references in a parse tree. See refs.h. The tree of a long query is deep, so the walk has a stack of its own.
 *
 * Conditions: a conjunct of WHERE may prune a table of the same FROM unless an outer join can supply nulls for the table's rows,
 * or the join depends on how many rows there are (positional, as-of) or which (a sample), or its columns are renamed where it is
 * named. Everything not known to be harmless keeps its table from being pruned.
 */
#include "sql/refs.h"

#include "base/error.h"

/* Names that a query sees as CTEs; a list towards the outside. */
struct scope {
    struct sl_str name;
    const struct scope *outer;
};

struct frame {
    const sl_json *value;
    const struct scope *scope;
};

/* Conditions of a SELECT for the base tables right under its FROM. */
struct pending {
    const sl_json *table;
    const sl_json *const *conjuncts;
    size_t n;
    bool only_item;
};

struct walk {
    struct sl_arena *arena;
    struct sl_vec stack;   /* struct frame */
    struct sl_vec pending; /* struct pending */
    struct sl_vec *refs;
    silt_error *err;
};

static bool type_is(const sl_json *object, const char *type)
{
    return sl_str_eq_c(sl_json_member_text(object, "type"), type);
}

static silt_status push(struct walk *walk, const sl_json *value, const struct scope *scope)
{
    struct frame *frame = NULL;
    if (!sl_json_is_object(value) && !sl_json_is_array(value)) {
        return SILT_OK;
    }
    frame = sl_vec_push(&walk->stack);
    if (frame == NULL) {
        return sl_fail_nomem(walk->err);
    }
    *frame = (struct frame){value, scope};
    return SILT_OK;
}

static const struct scope *extend(struct walk *walk, const struct scope *outer, struct sl_str name)
{
    struct scope *scope = sl_arena_alloc(walk->arena, sizeof(*scope));
    if (scope != NULL) {
        *scope = (struct scope){name, outer};
    }
    return scope;
}

static bool in_scope(const struct scope *scope, struct sl_str name)
{
    for (; scope != NULL; scope = scope->outer) {
        if (sl_str_eq_nocase(scope->name, name)) {
            return true;
        }
    }
    return false;
}

static silt_status add_ref(struct walk *walk, const sl_json *node, const struct scope *scope)
{
    struct sl_table_ref *ref = NULL;
    struct sl_table_ref made = {.node = node,
                                .schema = sl_json_member_text(node, "schema_name"),
                                .catalog = sl_json_member_text(node, "catalog_name"),
                                .table = sl_json_member_text(node, "table_name"),
                                .alias = sl_json_member_text(node, "alias"),
                                .location = SIZE_MAX};
    int64_t location = 0;
    const sl_json *at_clause = sl_json_member(node, "at_clause");

    if (made.table.ptr == NULL || (made.schema.ptr == NULL && in_scope(scope, made.table))) {
        return SILT_OK;
    }
    if (sl_json_to_i64(sl_json_member(node, "query_location"), &location) && location >= 0) {
        made.location = (size_t)location;
    }
    made.at_clause = sl_json_is_object(at_clause) ? at_clause : NULL;
    for (size_t i = 0; i < walk->pending.len; i++) {
        const struct pending *p = sl_vec_at(&walk->pending, i);
        if (p->table == node) {
            made.conjuncts = p->conjuncts;
            made.n_conjuncts = p->n;
            made.only_item = p->only_item;
        }
    }
    ref = sl_vec_push(walk->refs);
    if (ref == NULL) {
        return sl_fail_nomem(walk->err);
    }
    *ref = made;
    return SILT_OK;
}

/* WHERE taken apart at its ANDs. */
static silt_status split_conjuncts(struct walk *walk, const sl_json *where, const sl_json *const **out, size_t *n)
{
    struct sl_vec todo;
    struct sl_vec found;
    const sl_json **slot = NULL;
    const sl_json **all = NULL;
    silt_status status = SILT_OK;

    sl_vec_init(&todo, walk->arena->env, sizeof(const sl_json *));
    sl_vec_init(&found, walk->arena->env, sizeof(const sl_json *));
    slot = sl_vec_push(&todo);
    if (slot != NULL) {
        *slot = where;
    }
    while (slot != NULL && todo.len > 0) {
        const sl_json *node = *(const sl_json **)sl_vec_at(&todo, --todo.len);
        bool is_and = type_is(node, "CONJUNCTION_AND");
        struct sl_json_iter iter = sl_json_iterate(is_and ? sl_json_member(node, "children") : NULL);
        const sl_json *child = NULL;
        struct sl_str key;
        if (!is_and) {
            slot = sl_vec_push(&found);
            if (slot != NULL) {
                *slot = node;
            }
        }
        while (slot != NULL && sl_json_next(&iter, &key, &child)) {
            slot = sl_vec_push(&todo);
            if (slot != NULL) {
                *slot = child;
            }
        }
    }
    all = slot != NULL ? sl_arena_alloc_array(walk->arena, found.len + 1, sizeof(*all)) : NULL;
    if (all == NULL) {
        status = sl_fail_nomem(walk->err);
    } else {
        if (found.len > 0) {
            memcpy(all, found.data, found.len * sizeof(*all));
        }
        *out = all;
        *n = found.len;
    }
    sl_vec_release(&todo);
    sl_vec_release(&found);
    return status;
}

/* Sides of a join whose rows a WHERE above it may prune. */
static void prunable_sides(const sl_json *join, bool *left, bool *right)
{
    struct sl_str kind = sl_json_member_text(join, "ref_type");
    struct sl_str type = sl_json_member_text(join, "join_type");
    bool plain = kind.ptr == NULL || sl_str_eq_c(kind, "REGULAR") || sl_str_eq_c(kind, "CROSS") ||
                 sl_str_eq_c(kind, "NATURAL");
    bool inner = type.ptr == NULL || sl_str_eq_c(type, "INNER");

    *left = plain && (inner || sl_str_eq_c(type, "LEFT"));
    *right = plain && (inner || sl_str_eq_c(type, "RIGHT"));
}

struct from_item {
    const sl_json *node;
    bool prunable;
};

/* A base table whose rows are all looked at, under its own column names: no sample, no t AS x(b, a). */
static bool is_plain_table(const sl_json *node)
{
    struct sl_json_iter renamed = sl_json_iterate(sl_json_member(node, "column_name_alias"));
    struct sl_str key;
    const sl_json *name = NULL;
    return type_is(node, "BASE_TABLE") && sl_json_is_null(sl_json_member(node, "sample")) &&
           !sl_json_next(&renamed, &key, &name);
}

/* Notes the base tables right under a FROM with the conditions of the WHERE above them. */
static silt_status note_conditions(struct walk *walk, const sl_json *select)
{
    const sl_json *where = sl_json_member(select, "where_clause");
    const sl_json *const *conjuncts = NULL;
    size_t n = 0;
    size_t leaves = 0;
    size_t first = walk->pending.len;
    struct sl_vec todo;
    struct from_item *item = NULL;
    silt_status status = SILT_OK;

    if (!sl_json_is_object(where)) {
        return SILT_OK;
    }
    SL_TRY(split_conjuncts(walk, where, &conjuncts, &n));
    sl_vec_init(&todo, walk->arena->env, sizeof(struct from_item));
    item = sl_vec_push(&todo);
    if (item != NULL) {
        *item = (struct from_item){sl_json_member(select, "from_table"), true};
    }
    while (item != NULL && todo.len > 0) {
        struct from_item current = *(struct from_item *)sl_vec_at(&todo, --todo.len);
        if (type_is(current.node, "JOIN")) {
            bool left = false;
            bool right = false;
            prunable_sides(current.node, &left, &right);
            item = sl_vec_push(&todo);
            if (item != NULL) {
                *item = (struct from_item){sl_json_member(current.node, "left"), current.prunable && left};
                item = sl_vec_push(&todo);
            }
            if (item != NULL) {
                *item = (struct from_item){sl_json_member(current.node, "right"), current.prunable && right};
            }
            continue;
        }
        leaves++;
        if (current.prunable && is_plain_table(current.node)) {
            struct pending *p = sl_vec_push(&walk->pending);
            if (p == NULL) {
                item = NULL;
                break;
            }
            *p = (struct pending){current.node, conjuncts, n, false};
        }
    }
    status = item != NULL ? SILT_OK : sl_fail_nomem(walk->err);
    for (size_t i = first; i < walk->pending.len; i++) {
        ((struct pending *)sl_vec_at(&walk->pending, i))->only_item = leaves == 1;
    }
    sl_vec_release(&todo);
    return status;
}

/* The CTEs of a query node: each sees those before it; the node sees all. Returns the node's scope. */
static silt_status enter_ctes(struct walk *walk, const sl_json *node, const struct scope **scope)
{
    struct sl_json_iter iter = sl_json_iterate(sl_json_member(sl_json_member(node, "cte_map"), "map"));
    struct sl_str key;
    const sl_json *entry = NULL;

    while (sl_json_next(&iter, &key, &entry)) {
        SL_TRY(push(walk, sl_json_member(entry, "value"), *scope));
        *scope = extend(walk, *scope, sl_json_member_text(entry, "key"));
        if (*scope == NULL) {
            return sl_fail_nomem(walk->err);
        }
    }
    return SILT_OK;
}

/* A call of one of our table functions; any other is the data plane's. */
static silt_status add_function(struct walk *walk, const sl_json *node)
{
    const sl_json *function = sl_json_member(node, "function");
    const struct sl_str name = sl_json_member_text(function, "function_name");
    const bool by_path = sl_str_eq_nocase(name, SL_STR("table_changes_by_path"));
    int64_t location = 0;
    if ((!by_path && !sl_str_eq_nocase(name, SL_STR("table_changes"))) ||
        !sl_json_to_i64(sl_json_member(node, "query_location"), &location) || location < 0) {
        return SILT_OK;
    }
    struct sl_table_ref *ref = sl_vec_push(walk->refs);
    if (ref == NULL) {
        return sl_fail_nomem(walk->err);
    }
    *ref = (struct sl_table_ref){.node = node,
                                 .kind = by_path ? SL_REF_CHANGES_BY_PATH : SL_REF_CHANGES,
                                 .table = name,
                                 .alias = sl_json_member_text(node, "alias"),
                                 .location = (size_t)location};
    return SILT_OK;
}

static silt_status visit_object(struct walk *walk, struct frame frame)
{
    struct sl_json_iter iter = sl_json_iterate(frame.value);
    const struct scope *scope = frame.scope;
    struct sl_str key;
    const sl_json *child = NULL;

    if (type_is(frame.value, "BASE_TABLE")) {
        SL_TRY(add_ref(walk, frame.value, scope));
    } else if (type_is(frame.value, "TABLE_FUNCTION")) {
        SL_TRY(add_function(walk, frame.value));
    } else if (type_is(frame.value, "SELECT_NODE")) {
        SL_TRY(note_conditions(walk, frame.value));
    } else if (type_is(frame.value, "RECURSIVE_CTE_NODE")) {
        scope = extend(walk, scope, sl_json_member_text(frame.value, "cte_name"));
        if (scope == NULL) {
            return sl_fail_nomem(walk->err);
        }
    }
    SL_TRY(enter_ctes(walk, frame.value, &scope));
    while (sl_json_next(&iter, &key, &child)) {
        if (!sl_str_eq_c(key, "cte_map")) {
            SL_TRY(push(walk, child, scope));
        }
    }
    return SILT_OK;
}

silt_status sl_refs_collect(struct sl_arena *arena, const sl_json *root, struct sl_vec *refs, silt_error *err)
{
    struct walk walk = {.arena = arena, .refs = refs, .err = err};
    silt_status status;

    sl_vec_init(&walk.stack, arena->env, sizeof(struct frame));
    sl_vec_init(&walk.pending, arena->env, sizeof(struct pending));
    status = push(&walk, root, NULL);
    while (status == SILT_OK && walk.stack.len > 0) {
        struct frame frame = *(struct frame *)sl_vec_at(&walk.stack, --walk.stack.len);
        struct sl_json_iter iter;
        struct sl_str key;
        const sl_json *child = NULL;
        if (sl_json_is_object(frame.value)) {
            status = visit_object(&walk, frame);
            continue;
        }
        iter = sl_json_iterate(frame.value);
        while (status == SILT_OK && sl_json_next(&iter, &key, &child)) {
            status = push(&walk, child, frame.scope);
        }
    }
    sl_vec_release(&walk.pending);
    sl_vec_release(&walk.stack);
    return status;
}
