/*
 * Which columns a statement may read, by the names that are said anywhere in it: so that no other columns of remote files are brought. To name
 * one too many costs time only; a column that is read all the same is an error of the data plane, never a wrong row.
 *
 * Called by prepare.c and prepare_scans.c. Pure; the tree is JSON as json_serialize_sql makes it.
 */
#ifndef SL_SQL_MENTIONED_H
#define SL_SQL_MENTIONED_H

#include "base/arena.h"
#include "base/map.h"
#include "json/json.h"
#include "silt/engine.h"

struct sl_mentioned {
    bool all;              /* every column: by a star, a row as a whole, a place */
    struct sl_map texts;   /* every text of the tree; keys are copies in the arena */
    const sl_json *unread; /* a tree whose texts are still to be added; NULL: none */
};

void sl_mentioned_init(struct sl_mentioned *mentioned, const silt_env *env);
void sl_mentioned_release(struct sl_mentioned *mentioned);
/* The statement's tree, which must live for as long as columns are asked for. all: it does not say everything. */
void sl_mentioned_in(struct sl_mentioned *mentioned, const sl_json *root, bool all);
/* Flags for the columns of a plan, in the arena; NULL when all may be read, or no file of it is remote and no
 * column is nested deeply. */
silt_status sl_mentioned_columns(struct sl_arena *arena, struct sl_mentioned *mentioned, const silt_scan_plan *plan,
                                 const bool **out, silt_error *err);

#endif
