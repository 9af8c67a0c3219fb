/*
 * What of one SELECT in a tree of the data plane concerns the column "_metadata": tables under its FROM, natural joins among them, stars, and
 * the columns that name it. Pure; the tree is JSON as json_serialize_sql makes it. One owner, one thread.
 */
#ifndef SL_SQL_SELECT_PARTS_H
#define SL_SQL_SELECT_PARTS_H

#include "base/vec.h"
#include "json/json.h"
#include "sql/refs.h"

/* Something under the FROM of a SELECT that is no join. */
struct sl_select_leaf {
    const sl_json *node;
    struct sl_table_ref *ref; /* NULL: no table that could be ours */
    bool hidden;              /* the right side of a SEMI or ANTI join: stars do not show it */
};

/* A column reference that names "_metadata", or "_metadata.*". */
struct sl_metadata_use {
    const sl_json *node;
    struct sl_str table; /* absent if it is not behind the name of one */
    struct sl_str field; /* absent if it is the whole column */
};

struct sl_select_parts {
    struct sl_vec *refs;  /* struct sl_table_ref: all of the query; borrowed */
    struct sl_vec leaves; /* struct sl_select_leaf */
    struct sl_vec uses;   /* struct sl_metadata_use */
    struct sl_vec stars;  /* const sl_json * */
    struct sl_vec joins;  /* const sl_json *: the natural ones */
    struct sl_vec todo;
};

void sl_select_parts_init(struct sl_select_parts *parts, struct sl_vec *refs, const silt_env *env);
void sl_select_parts_release(struct sl_select_parts *parts);
/* Reads one SELECT_NODE. Nothing but uses is looked for where there are none. False when out of memory. */
bool sl_select_parts_read(struct sl_select_parts *parts, const sl_json *select);
/* Appends the leaves under a part of a FROM. False when out of memory. */
bool sl_select_leaves(const struct sl_select_parts *parts, const sl_json *from, struct sl_vec *leaves);
/* Does a use, or the name before a star (absent: all), mean this table? */
bool sl_select_names(struct sl_str table, const struct sl_table_ref *ref);

#endif
