/*
 * Walking a parse tree of the data plane; see tree.h.
 */
#include "sql/tree.h"

bool sl_tree_push(struct sl_vec *nodes, const sl_json *node)
{
    const sl_json **slot = sl_vec_push(nodes);
    if (slot != NULL) {
        *slot = node;
    }
    return slot != NULL;
}

const sl_json *sl_tree_at(const struct sl_vec *nodes, size_t i)
{
    return *(const sl_json *const *)sl_vec_at(nodes, i);
}

const sl_json *sl_tree_pop(struct sl_vec *nodes)
{
    return sl_tree_at(nodes, --nodes->len);
}

bool sl_tree_push_children(struct sl_vec *nodes, const sl_json *container)
{
    struct sl_json_iter iter = sl_json_iterate(container);
    struct sl_str key;
    const sl_json *child = NULL;
    while (sl_json_next(&iter, &key, &child)) {
        if ((sl_json_is_object(child) || sl_json_is_array(child)) && !sl_tree_push(nodes, child)) {
            return false;
        }
    }
    return true;
}

bool sl_tree_is_any(struct sl_str text, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (sl_str_eq_c(text, *words)) {
            return true;
        }
    }
    return false;
}
