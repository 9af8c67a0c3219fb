/*
 * Table references in a parse tree. See refs.h. The tree of a long query is deep, so the walk has a stack of its own.
 */
#include "sql/refs.h"

#include "base/error.h"
#include "sql/conditions.h"

/* Names that a query sees as CTEs; a list towards the outside. */
struct scope {
    struct sl_str name;
    const struct scope *outer;
};

struct frame {
    const sl_json *value;
    const struct scope *scope;
};

struct walk {
    struct sl_arena *arena;
    struct sl_vec stack;   /* struct frame */
    struct sl_vec pending; /* struct sl_condition */
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
        const struct sl_condition *p = sl_vec_at(&walk->pending, i);
        if (p->table == node) {
            made.conjuncts = p->conjuncts;
            made.n_conjuncts = p->n;
            made.only_item = p->only_item;
            made.bare_names = p->bare_names;
        }
    }
    ref = sl_vec_push(walk->refs);
    if (ref == NULL) {
        return sl_fail_nomem(walk->err);
    }
    *ref = made;
    return SILT_OK;
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
        SL_TRY(sl_conditions_note(walk->arena, frame.value, &walk->pending, walk->err));
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
    sl_vec_init(&walk.pending, arena->env, sizeof(struct sl_condition));
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
