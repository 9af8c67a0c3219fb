/*
 * silt_partition_text(value): a partition value as the log spells it, as a C function, so that what a file is grouped by is
 * exactly what its add action says. NULL stays NULL. Runs on DuckDB's threads.
 *
 * PROTOCOL: Partition Value Serialization.
 */
#include "duck.h"

#include "base/error.h"
#include "schema/value.h"

static silt_value text_value(silt_type_kind kind, void *data, idx_t row)
{
    duckdb_string_t *cell = (duckdb_string_t *)data + row;
    return sl_value_bytes(kind, sl_str_make(duckdb_string_t_data(cell), duckdb_string_t_length(*cell)));
}

static silt_value decimal_value(duckdb_logical_type type, const void *data, idx_t row)
{
    const uint8_t precision = duckdb_decimal_width(type);
    const uint8_t scale = duckdb_decimal_scale(type);
    switch (duckdb_decimal_internal_type(type)) {
    case DUCKDB_TYPE_SMALLINT: return sl_value_decimal(((const int16_t *)data)[row], precision, scale);
    case DUCKDB_TYPE_INTEGER: return sl_value_decimal(((const int32_t *)data)[row], precision, scale);
    case DUCKDB_TYPE_BIGINT: return sl_value_decimal(((const int64_t *)data)[row], precision, scale);
    default: break;
    }
    const duckdb_hugeint v = ((const duckdb_hugeint *)data)[row];
    return sl_value_decimal(sl_i128_make(v.upper, v.lower), precision, scale);
}

/* The value of a cell; false for a type that no partition column has. */
static bool read_value(duckdb_logical_type type, void *data, idx_t row, silt_value *out)
{
    switch (duckdb_get_type_id(type)) {
    case DUCKDB_TYPE_BOOLEAN: *out = sl_value_bool(((bool *)data)[row]); return true;
    case DUCKDB_TYPE_TINYINT: *out = sl_value_i64(SILT_TYPE_BYTE, ((int8_t *)data)[row]); return true;
    case DUCKDB_TYPE_SMALLINT: *out = sl_value_i64(SILT_TYPE_SHORT, ((int16_t *)data)[row]); return true;
    case DUCKDB_TYPE_INTEGER: *out = sl_value_i64(SILT_TYPE_INTEGER, ((int32_t *)data)[row]); return true;
    case DUCKDB_TYPE_BIGINT: *out = sl_value_i64(SILT_TYPE_LONG, ((int64_t *)data)[row]); return true;
    case DUCKDB_TYPE_FLOAT: *out = sl_value_f64(SILT_TYPE_FLOAT, (double)((float *)data)[row]); return true;
    case DUCKDB_TYPE_DOUBLE: *out = sl_value_f64(SILT_TYPE_DOUBLE, ((double *)data)[row]); return true;
    case DUCKDB_TYPE_DECIMAL: *out = decimal_value(type, data, row); return true;
    case DUCKDB_TYPE_VARCHAR: *out = text_value(SILT_TYPE_STRING, data, row); return true;
    case DUCKDB_TYPE_BLOB: *out = text_value(SILT_TYPE_BINARY, data, row); return true;
    case DUCKDB_TYPE_DATE: *out = sl_value_i64(SILT_TYPE_DATE, ((int32_t *)data)[row]); return true;
    case DUCKDB_TYPE_TIMESTAMP: *out = sl_value_i64(SILT_TYPE_TIMESTAMP_NTZ, ((int64_t *)data)[row]); return true;
    case DUCKDB_TYPE_TIMESTAMP_TZ: *out = sl_value_i64(SILT_TYPE_TIMESTAMP, ((int64_t *)data)[row]); return true;
    default: return false;
    }
}

static void give_text(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const struct sl_dataplane *dp = duckdb_scalar_function_get_extra_info(info);
    duckdb_vector vector = duckdb_data_chunk_get_vector(input, 0);
    duckdb_logical_type type = duckdb_vector_get_column_type(vector);
    void *data = duckdb_vector_get_data(vector);
    uint64_t *validity = duckdb_vector_get_validity(vector);
    silt_error err = SILT_ERROR_INIT;
    struct sl_buf text;
    sl_buf_init(&text, dp->env);
    const idx_t n = duckdb_data_chunk_get_size(input);
    for (idx_t row = 0; row < n && err.status == SILT_OK; row++) {
        silt_value value;
        if (validity != NULL && !duckdb_validity_row_is_valid(validity, row)) {
            duckdb_vector_ensure_validity_writable(output);
            duckdb_validity_set_row_invalid(duckdb_vector_get_validity(output), row);
            continue;
        }
        sl_buf_clear(&text);
        if (!read_value(type, data, row, &value)) {
            sl_fail(&err, SILT_ESCHEMA, NULL, "a column of this type cannot partition a table");
        } else if (sl_partition_value_format(&text, &value, &err) == SILT_OK && sl_buf_status(&text, &err) == SILT_OK) {
            duckdb_vector_assign_string_element_len(output, row, sl_buf_cstr(&text), text.len);
        }
    }
    if (err.status != SILT_OK) {
        duckdb_scalar_function_set_error(info, err.message);
    }
    sl_buf_release(&text);
    duckdb_destroy_logical_type(&type);
}

bool sl_duck_text_register(struct sl_dataplane *dp, duckdb_connection handle)
{
    duckdb_scalar_function function = duckdb_create_scalar_function();
    duckdb_logical_type any = duckdb_create_logical_type(DUCKDB_TYPE_ANY);
    duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
    duckdb_scalar_function_set_name(function, "silt_partition_text");
    duckdb_scalar_function_add_parameter(function, any);
    duckdb_scalar_function_set_return_type(function, text);
    duckdb_scalar_function_set_extra_info(function, dp, NULL);
    duckdb_scalar_function_set_function(function, give_text);
    const bool fine = duckdb_register_scalar_function(handle, function) == DuckDBSuccess;
    duckdb_destroy_logical_type(&any);
    duckdb_destroy_logical_type(&text);
    duckdb_destroy_scalar_function(&function);
    return fine;
}
