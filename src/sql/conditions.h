/*
 * Which conditions of a SELECT every row of a table fulfils that the query uses. Private to the walk of refs.c. Pure.
 */
#ifndef SL_SQL_CONDITIONS_H
#define SL_SQL_CONDITIONS_H

#include "base/arena.h"
#include "base/vec.h"
#include "json/json.h"

/* Of a base table right under the FROM of a SELECT. */
struct sl_condition {
    const sl_json *table; /* its node */
    const sl_json *const *conjuncts;
    size_t n;
    bool only_item;  /* as in struct sl_table_ref */
    bool bare_names; /* likewise */
};

/* Appends struct sl_condition for the tables of a SELECT_NODE that have any. */
silt_status sl_conditions_note(struct sl_arena *arena, const sl_json *select, struct sl_vec *out, silt_error *err);

#endif
