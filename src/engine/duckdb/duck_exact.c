/*
 * Whether a file's columns are, name by name and type by type, the wanted ones, so that a scan needs no schema map. DuckDB plans
 * such a scan better: it knows the number of rows and, of a single file, bounds and nulls of its columns, which decide on the order
 * of joins and spare overflow checks. Stricter than duck_match.c, whose judgement comes first. Pure; any thread.
 */
#include "duck_footer.h"

#include "base/map.h"

static bool leaf_is(struct sl_str found, const struct silt_type *wanted)
{
    if (wanted->kind == SILT_TYPE_DECIMAL) {
        int64_t precision = 0;
        int64_t scale = 0;
        return sl_footer_decimal(found, &precision, &scale) && precision == wanted->precision && scale == wanted->scale;
    }
    const char *name = sl_duck_type_name(wanted->kind);
    return name != NULL && sl_str_eq_c(found, name);
}

static bool node_is(const struct sl_footer_node *node, const struct silt_type *wanted);

/* The same fields in the same order. */
static bool struct_is(const struct sl_footer_node *node, const struct silt_type *wanted)
{
    if (node->shape != SL_SHAPE_PLAIN || node->n_children == 0 || node->n_children != wanted->n_fields) {
        return false;
    }
    const struct sl_footer_node *child = node + 1;
    for (size_t i = 0; i < wanted->n_fields; i++, child += child->n_nodes) {
        if (!sl_str_eq(child->name, wanted->fields[i].name) || !node_is(child, wanted->fields[i].type)) {
            return false;
        }
    }
    return true;
}

/* The standard layouts only: a repeated group in the middle. */
static bool list_is(const struct sl_footer_node *node, const struct silt_type *wanted)
{
    const struct sl_footer_node *middle = node + 1;
    return node->shape == SL_SHAPE_LIST && node->n_children == 1 && middle->repeated && middle->n_children == 1 &&
           sl_str_eq_c(middle->name, "list") && node_is(middle + 1, wanted->element);
}

static bool map_is(const struct sl_footer_node *node, const struct silt_type *wanted)
{
    const struct sl_footer_node *middle = node + 1;
    return node->shape == SL_SHAPE_MAP && node->n_children == 1 && middle->repeated && middle->n_children == 2 &&
           node_is(middle + 1, wanted->key) && node_is(middle + 1 + (middle + 1)->n_nodes, wanted->element);
}

/* Recursion is bounded by the depth of the wanted schema. */
static bool node_is(const struct sl_footer_node *node, const struct silt_type *wanted)
{
    if (node->repeated) {
        return false;
    }
    switch (wanted->kind) {
    case SILT_TYPE_STRUCT: return struct_is(node, wanted);
    case SILT_TYPE_ARRAY: return list_is(node, wanted);
    case SILT_TYPE_MAP: return map_is(node, wanted);
    default: return node->n_children == 0 && leaf_is(node->type, wanted);
    }
}

static const struct sl_footer_node *find(const struct sl_footer_node *root, struct sl_str name)
{
    const struct sl_footer_node *child = root + 1;
    for (uint32_t i = 0; i < root->n_children; i++, child += child->n_nodes) {
        if (sl_str_eq(child->name, name)) {
            return child;
        }
    }
    return NULL;
}

bool sl_footer_is_exact(const struct sl_footer_node *root, const struct silt_type *wanted)
{
    const struct sl_footer_node *const end = root + root->n_nodes;
    const struct sl_footer_node *next = root + 1; /* files mostly have the table's order */
    for (size_t i = 0; i < wanted->n_fields; i++) {
        const struct silt_field *field = &wanted->fields[i];
        const struct sl_footer_node *node = next != end && sl_str_eq(next->name, field->name) ? next
                                                                                              : find(root, field->name);
        if (node == NULL || !node_is(node, field->type)) {
            return false;
        }
        next = node + node->n_nodes;
    }
    return true;
}

/* A copy in lower case; absent when out of memory. */
static struct sl_str lower(struct sl_arena *arena, struct sl_str text)
{
    char *copy = sl_arena_alloc(arena, text.len);
    for (size_t i = 0; copy != NULL && i < text.len; i++) {
        const char c = text.ptr[i];
        copy[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return sl_str_make(copy, copy != NULL ? text.len : 0);
}

bool sl_footer_names_are_plain(const silt_env *env, const struct sl_footer_node *root)
{
    struct sl_arena arena;
    struct sl_map names;
    sl_arena_init(&arena, env);
    sl_map_init(&names, env);
    bool fine = true;
    const struct sl_footer_node *child = root + 1;
    for (uint32_t i = 0; i < root->n_children && fine; i++, child += child->n_nodes) {
        const struct sl_str name = lower(&arena, child->name);
        bool inserted = false;
        /* Out of memory counts as not plain: the answer only chooses between two right ways. */
        fine = name.ptr != NULL && !sl_duck_is_virtual_name(name) && sl_map_put(&names, name, &inserted) != NULL &&
               inserted;
    }
    sl_map_release(&names);
    sl_arena_release(&arena);
    return fine;
}
