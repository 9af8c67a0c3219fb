/*
 * The functions that read variants (duck_variant.c):
 *
 *   silt_variant_is_null(struct) → BOOLEAN   a variant that is null, as against no variant
 *   silt_variant_bytes(struct) → BLOB        metadata and value in one, put together and checked, for variant_bytes_to_variant
 *   silt_variant_null(BOOLEAN) → VARIANT     a null variant, which DuckDB has but does not make: its own functions turn it into NULL
 *
 * DuckDB calls them on its threads with flat vectors. No state but the instance's environment.
 */
#include "duck_variant.h"

#include <string.h>

#include "base/error.h"
#include "duck_function.h"
#include "schema/variant.h"

static bool row_is_null(duckdb_vector vector, idx_t row)
{
    uint64_t *validity = duckdb_vector_get_validity(vector);
    return validity != NULL && !duckdb_validity_row_is_valid(validity, row);
}

static void set_null(duckdb_vector output, idx_t row)
{
    duckdb_vector_ensure_validity_writable(output);
    duckdb_validity_set_row_invalid(duckdb_vector_get_validity(output), row);
}

static void give_is_null(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const struct sl_dataplane *dp = duckdb_scalar_function_get_extra_info(info);
    duckdb_vector variants = duckdb_data_chunk_get_vector(input, 0);
    const idx_t n = duckdb_data_chunk_get_size(input);
    struct sl_arena arena;
    sl_arena_init(&arena, dp->env);
    const struct sl_shredded *shredded = sl_shredded_open(&arena, variants);
    if (shredded == NULL) {
        duckdb_scalar_function_set_error(info, "a variant is not stored as metadata and value");
    }
    for (idx_t row = 0; row < n && shredded != NULL; row++) {
        if (row_is_null(variants, row)) {
            set_null(output, row);
        } else {
            ((bool *)duckdb_vector_get_data(output))[row] = sl_shredded_is_null(shredded, row);
        }
    }
    sl_arena_release(&arena);
}

/* What DuckDB's VARIANT cannot hold is refused: it would drop the digits. */
static silt_status put_row(const struct sl_shredded *shredded, idx_t row, struct sl_buf *value, struct sl_buf *out,
                           silt_error *err)
{
    struct sl_str metadata;
    bool below_us = false;
    sl_buf_clear(value);
    SL_TRY(sl_shredded_put(shredded, row, &metadata, value, err));
    SL_TRY(sl_variant_check(metadata, sl_buf_view(value), &below_us, err));
    if (below_us) {
        return sl_fail(err, SILT_EUNSUPPORTED, NULL,
                       "a variant holds an instant with nanoseconds, which cannot be read without loss");
    }
    sl_buf_clear(out);
    sl_buf_put_str(out, metadata);
    sl_buf_put_str(out, sl_buf_view(value));
    return sl_buf_status(out, err);
}

static void give_bytes(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const struct sl_dataplane *dp = duckdb_scalar_function_get_extra_info(info);
    duckdb_vector variants = duckdb_data_chunk_get_vector(input, 0);
    const idx_t n = duckdb_data_chunk_get_size(input);
    struct sl_arena arena;
    struct sl_buf value;
    struct sl_buf out;
    silt_error err = SILT_ERROR_INIT;
    sl_arena_init(&arena, dp->env);
    sl_buf_init(&value, dp->env);
    sl_buf_init(&out, dp->env);
    const struct sl_shredded *shredded = sl_shredded_open(&arena, variants);
    silt_status status = shredded != NULL
                             ? SILT_OK
                             : sl_fail(&err, SILT_ECORRUPT, NULL, "a variant is not stored as metadata and value");
    for (idx_t row = 0; row < n && status == SILT_OK; row++) {
        if (row_is_null(variants, row)) {
            set_null(output, row);
            continue;
        }
        status = put_row(shredded, row, &value, &out, &err);
        if (status == SILT_OK) {
            duckdb_vector_assign_string_element_len(output, row, sl_buf_cstr(&out), out.len);
        }
    }
    if (status != SILT_OK) {
        duckdb_scalar_function_set_error(info, err.message);
    }
    sl_buf_release(&out);
    sl_buf_release(&value);
    sl_arena_release(&arena);
}

/*
 * DuckDB's layout of a VARIANT: a struct of keys (list of text), children (list of pairs), values (list of type number and place) and
 * data. A null is one value of type 0.
 */
static void give_null(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    (void)info;
    const idx_t n = duckdb_data_chunk_get_size(input);
    duckdb_vector values = duckdb_struct_vector_get_child(output, 2);
    duckdb_vector data = duckdb_struct_vector_get_child(output, 3);
    for (idx_t list = 0; list < 2; list++) {
        duckdb_list_entry *entries = duckdb_vector_get_data(duckdb_struct_vector_get_child(output, list));
        memset(entries, 0, n * sizeof(*entries));
    }
    duckdb_list_vector_reserve(values, n);
    duckdb_list_vector_set_size(values, n);
    duckdb_list_entry *entries = duckdb_vector_get_data(values);
    duckdb_vector value = duckdb_list_vector_get_child(values);
    uint8_t *types = duckdb_vector_get_data(duckdb_struct_vector_get_child(value, 0));
    uint32_t *places = duckdb_vector_get_data(duckdb_struct_vector_get_child(value, 1));
    for (idx_t row = 0; row < n; row++) {
        entries[row] = (duckdb_list_entry){.offset = row, .length = 1};
        types[row] = 0;
        places[row] = 0;
        duckdb_vector_assign_string_element_len(data, row, "", 0);
    }
}

static bool register_function(struct sl_dataplane *dp, duckdb_connection handle, const char *name,
                              duckdb_logical_type result, duckdb_scalar_function_t run)
{
    const struct sl_duck_function function = {.name = name,
                                              .arguments = {run != give_null ? DUCKDB_TYPE_ANY : DUCKDB_TYPE_BOOLEAN},
                                              .n_arguments = 1,
                                              .result_type = result,
                                              .extra = dp,
                                              .run = run};
    return sl_duck_function_register(handle, &function);
}

bool sl_variant_register(struct sl_dataplane *dp, duckdb_connection handle)
{
    duckdb_logical_type boolean = duckdb_create_logical_type(DUCKDB_TYPE_BOOLEAN);
    duckdb_logical_type blob = duckdb_create_logical_type(DUCKDB_TYPE_BLOB);
    duckdb_prepared_statement stmt = NULL;
    bool fine = register_function(dp, handle, "silt_variant_is_null", boolean, give_is_null) &&
                register_function(dp, handle, "silt_variant_bytes", blob, give_bytes);
    /* The C interface has no name for the type: a statement's column has it. */
    fine = fine && duckdb_prepare(handle, "SELECT NULL::VARIANT", &stmt) == DuckDBSuccess;
    if (fine) {
        duckdb_logical_type variant = duckdb_prepared_statement_column_logical_type(stmt, 0);
        fine = register_function(dp, handle, "silt_variant_null", variant, give_null);
        duckdb_destroy_logical_type(&variant);
    }
    duckdb_destroy_prepare(&stmt);
    duckdb_destroy_logical_type(&blob);
    duckdb_destroy_logical_type(&boolean);
    return fine;
}
