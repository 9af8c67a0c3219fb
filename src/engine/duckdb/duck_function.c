/* Scalar functions of ours; see duck_function.h. */
#include "duck_function.h"

#include <stdint.h>

bool sl_duck_function_register(duckdb_connection handle, const struct sl_duck_function *function)
{
    duckdb_scalar_function made = duckdb_create_scalar_function();
    duckdb_logical_type plain = function->result_type == NULL ? duckdb_create_logical_type(function->result) : NULL;
    duckdb_scalar_function_set_name(made, function->name);
    for (size_t i = 0; i < function->n_arguments; i++) {
        duckdb_logical_type type = duckdb_create_logical_type(function->arguments[i]);
        duckdb_scalar_function_add_parameter(made, type);
        duckdb_destroy_logical_type(&type);
    }
    duckdb_scalar_function_set_return_type(made, plain != NULL ? plain : function->result_type);
    if (function->is_volatile) {
        duckdb_scalar_function_set_volatile(made);
    }
    duckdb_scalar_function_set_extra_info(made, (void *)(uintptr_t)function->extra, NULL);
    if (function->bind != NULL) {
        duckdb_scalar_function_set_bind(made, function->bind);
    }
    duckdb_scalar_function_set_function(made, function->run);
    const bool fine = duckdb_register_scalar_function(handle, made) == DuckDBSuccess;
    duckdb_destroy_logical_type(&plain); /* NULL is legal */
    duckdb_destroy_scalar_function(&made);
    return fine;
}

bool sl_duck_fold_argument(duckdb_bind_info info, idx_t index, duckdb_value *value)
{
    duckdb_client_context context = NULL;
    duckdb_expression argument = duckdb_scalar_function_bind_get_argument(info, index);
    duckdb_scalar_function_get_client_context(info, &context);
    *value = NULL;
    bool fine = false;
    if (duckdb_expression_is_foldable(argument)) {
        duckdb_error_data fault = duckdb_expression_fold(context, argument, value);
        fine = (fault == NULL || !duckdb_error_data_has_error(fault)) && !duckdb_is_null_value(*value);
        duckdb_destroy_error_data(&fault);
    }
    duckdb_destroy_client_context(&context);
    duckdb_destroy_expression(&argument);
    return fine;
}
