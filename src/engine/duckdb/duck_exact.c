/*
 * Whether files hold exactly what is wanted, so that a scan needs no schema map. DuckDB plans such a scan better: it knows the number
 * of rows and, of a single file, bounds and nulls of its columns, which decide on the order of joins and spare overflow checks; and it
 * reads a single file with all threads. Stricter than duck_match.c, whose judgement comes first. Pure; any thread.
 */
#include "duck_footer.h"

#include "base/map.h"

bool sl_footer_leaf_is_exact(const struct sl_footer_node *leaf, const struct silt_type *wanted)
{
    if (leaf->n_children > 0 || leaf->repeated) {
        return false;
    }
    if (wanted->kind == SILT_TYPE_DECIMAL) {
        int64_t precision = 0;
        int64_t scale = 0;
        return sl_footer_decimal(leaf->type, &precision, &scale) && precision == wanted->precision &&
               scale == wanted->scale;
    }
    const char *name = sl_duck_type_name(wanted->kind);
    return name != NULL && sl_str_eq_c(leaf->type, name);
}

/* A repeated group in the middle. */
bool sl_footer_layout_is_exact(const struct sl_footer_node *node)
{
    const struct sl_footer_node *middle = node + 1;
    if (node->repeated || node->n_children != 1 || !middle->repeated) {
        return false;
    }
    return (node->shape == SL_SHAPE_LIST && middle->n_children == 1 && sl_str_eq_c(middle->name, "list")) ||
           (node->shape == SL_SHAPE_MAP && middle->n_children == 2);
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
