/*
 * Scalar functions of ours in the data plane's SQL. Called once a connection when it is opened, and when a query is bound. Any thread.
 */
#ifndef SL_ENGINE_DUCKDB_DUCK_FUNCTION_H
#define SL_ENGINE_DUCKDB_DUCK_FUNCTION_H

#include "duck.h"

#define SL_DUCK_MAX_ARGUMENTS 3

struct sl_duck_function {
    const char *name;
    duckdb_type arguments[SL_DUCK_MAX_ARGUMENTS];
    size_t n_arguments;
    duckdb_type result;
    duckdb_logical_type result_type;    /* borrowed; NULL: the plain one of `result` */
    bool is_volatile;                   /* called for each chunk, though its arguments are constants */
    const void *extra;                  /* that `run` and `bind` find; never written through. Outlives the connection */
    duckdb_scalar_function_bind_t bind; /* NULL: none */
    duckdb_scalar_function_t run;
};

/* False: the data plane refused it. */
bool sl_duck_function_register(duckdb_connection handle, const struct sl_duck_function *function);

/* The constant that a function is called with; false where it is none, or NULL. The caller destroys *value in either case. */
bool sl_duck_fold_argument(duckdb_bind_info info, idx_t index, duckdb_value *value);

#endif
