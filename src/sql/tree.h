/*
 * Walking a parse tree of the data plane without recursion: a stack of nodes that are still to be looked at, in a vector of const sl_json *.
 * Pure; the tree is JSON as json_serialize_sql makes it.
 */
#ifndef SL_SQL_TREE_H
#define SL_SQL_TREE_H

#include "base/vec.h"
#include "json/json.h"

bool sl_tree_push(struct sl_vec *nodes, const sl_json *node); /* false: out of memory */
const sl_json *sl_tree_pop(struct sl_vec *nodes);             /* there must be one */
const sl_json *sl_tree_at(const struct sl_vec *nodes, size_t i);
/* Pushes the objects and arrays in an object or array; anything else has none. */
bool sl_tree_push_children(struct sl_vec *nodes, const sl_json *container);
/* Whether a text is one of the words, which end with NULL. */
bool sl_tree_is_any(struct sl_str text, const char *const *words);

#endif
