/*
 * Conditions of a query, as predicates with which the kernel can prune files. Only what has the same meaning in the kernel as in the data
 * plane is taken; the data plane evaluates the whole condition in any case. One owner.
 */
#ifndef SL_SQL_PREDICATE_H
#define SL_SQL_PREDICATE_H

#include "engine/dataplane.h"
#include "json/json.h"
#include "schema/type.h"
#include "schema/value.h"
#include "silt/expr.h"
#include "sql/refs.h"

/*
 * Asks the data plane for the value of an expression of its SQL that names no columns. *known is false when it has none, or one of a type
 * that is no scalar here. The value's bytes go to the arena.
 */
typedef silt_status (*sl_constant_ask)(void *ctx, struct sl_str expr, struct sl_arena *arena, silt_value *out,
                                       bool *known, silt_error *err);

/* Of what a condition speaks, and what is known beside it. */
struct sl_predicate_source {
    const silt_env *env;
    const struct sl_table_ref *ref;
    const silt_schema *schema; /* of the table, with "_metadata" where the query may name that */
    const struct sl_dataplane_params *params;
    bool utc;            /* the session's zone is UTC, and its calendar the usual one */
    bool may_call;       /* functions of constants are those of the data plane, not macros of the user's */
    sl_constant_ask ask; /* NULL: constants that are not read without help are left */
    void *ask_ctx;
    unsigned asks_left; /* each costs a query of the data plane: counted down, over all conditions of the table */
};

/* The predicate of a conjunct over columns of the referenced table, NULL when it says nothing that can be used. */
silt_status sl_predicate_from_conjunct(struct sl_predicate_source *source, const sl_json *conjunct, silt_expr **out,
                                       silt_error *err);

#endif
