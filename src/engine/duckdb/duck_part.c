/*
 * Partition values as C functions of a scan's file_index: silt_part_<type>(file_index, 'id:column'). The values of a plan are
 * registered with the instance under an id; the functions themselves are registered once a database (those of decimals at first
 * use, one for each precision and scale) and look the id up when a query is bound, so that plans come and go without leaving
 * anything in DuckDB's catalog.
 *
 * DuckDB calls such a function once a file when it filters, and prunes the file. Bound data keeps the values alive after the
 * plan is dropped. Functions run on DuckDB's threads; values are immutable.
 */
#include "duck_bound.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/utf8.h"
#include "duck_function.h"
#include "schema/value.h"

struct sl_duck_parts {
    struct sl_duck_object object;
    struct sl_arena arena;
    size_t n_files;
    size_t n_columns;
    silt_value *values; /* [file * n_columns + column] */
};

static const struct {
    silt_type_kind kind;
    const char *name;
    duckdb_type type;
} FUNCTIONS[] = {
    {SILT_TYPE_BOOLEAN, "silt_part_boolean", DUCKDB_TYPE_BOOLEAN},
    {SILT_TYPE_BYTE, "silt_part_byte", DUCKDB_TYPE_TINYINT},
    {SILT_TYPE_SHORT, "silt_part_short", DUCKDB_TYPE_SMALLINT},
    {SILT_TYPE_INTEGER, "silt_part_integer", DUCKDB_TYPE_INTEGER},
    {SILT_TYPE_LONG, "silt_part_long", DUCKDB_TYPE_BIGINT},
    {SILT_TYPE_FLOAT, "silt_part_float", DUCKDB_TYPE_FLOAT},
    {SILT_TYPE_DOUBLE, "silt_part_double", DUCKDB_TYPE_DOUBLE},
    {SILT_TYPE_STRING, "silt_part_string", DUCKDB_TYPE_VARCHAR},
    {SILT_TYPE_BINARY, "silt_part_binary", DUCKDB_TYPE_BLOB},
    {SILT_TYPE_DATE, "silt_part_date", DUCKDB_TYPE_DATE},
    {SILT_TYPE_TIMESTAMP, "silt_part_timestamp", DUCKDB_TYPE_TIMESTAMP_TZ},
    {SILT_TYPE_TIMESTAMP_NTZ, "silt_part_timestamp_ntz", DUCKDB_TYPE_TIMESTAMP},
};

static void free_parts(struct sl_duck_object *object)
{
    struct sl_duck_parts *parts = (struct sl_duck_parts *)object;
    const silt_env *env = object->dp->env;
    sl_arena_release(&parts->arena);
    sl_release(env, parts, sizeof(*parts));
}

/* A place is a column. */
static size_t places_of(const struct sl_duck_object *object)
{
    return ((const struct sl_duck_parts *)object)->n_columns;
}

static const struct sl_duck_object_class parts_class = {.free = free_parts, .places = places_of};

/* ---- writing values into vectors ---- */

static void put_decimal(duckdb_vector vector, void *data, idx_t row, const silt_value *value)
{
    duckdb_logical_type type = duckdb_vector_get_column_type(vector);
    const sl_i128 v = sl_value_get_i128(value);
    switch (duckdb_decimal_internal_type(type)) {
    case DUCKDB_TYPE_SMALLINT: ((int16_t *)data)[row] = (int16_t)v; break;
    case DUCKDB_TYPE_INTEGER: ((int32_t *)data)[row] = (int32_t)v; break;
    case DUCKDB_TYPE_BIGINT: ((int64_t *)data)[row] = (int64_t)v; break;
    default:
        ((duckdb_hugeint *)data)[row] = (duckdb_hugeint){.lower = value->as.decimal.lo, .upper = value->as.decimal.hi};
    }
    duckdb_destroy_logical_type(&type);
}

static void put_value(duckdb_vector vector, idx_t row, const silt_value *value)
{
    if (value->is_null) {
        duckdb_vector_ensure_validity_writable(vector);
        duckdb_validity_set_row_invalid(duckdb_vector_get_validity(vector), row);
        return;
    }
    void *data = duckdb_vector_get_data(vector);
    switch (value->kind) {
    case SILT_TYPE_BOOLEAN: ((bool *)data)[row] = value->as.boolean; break;
    case SILT_TYPE_BYTE: ((int8_t *)data)[row] = (int8_t)value->as.i64; break;
    case SILT_TYPE_SHORT: ((int16_t *)data)[row] = (int16_t)value->as.i64; break;
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_DATE: ((int32_t *)data)[row] = (int32_t)value->as.i64; break;
    case SILT_TYPE_LONG:
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: ((int64_t *)data)[row] = value->as.i64; break;
    case SILT_TYPE_FLOAT: ((float *)data)[row] = (float)value->as.f64; break;
    case SILT_TYPE_DOUBLE: ((double *)data)[row] = value->as.f64; break;
    case SILT_TYPE_DECIMAL: put_decimal(vector, data, row, value); break;
    default: duckdb_vector_assign_string_element_len(vector, row, value->as.bytes.ptr, value->as.bytes.len);
    }
}

/* NULL where DuckDB has no value for it: a null needs its type, a text must be UTF-8. */
static duckdb_value make_value(const silt_value *value)
{
    if (value->is_null) {
        return NULL;
    }
    switch (value->kind) {
    case SILT_TYPE_BOOLEAN: return duckdb_create_bool(value->as.boolean);
    case SILT_TYPE_BYTE: return duckdb_create_int8((int8_t)value->as.i64);
    case SILT_TYPE_SHORT: return duckdb_create_int16((int16_t)value->as.i64);
    case SILT_TYPE_INTEGER: return duckdb_create_int32((int32_t)value->as.i64);
    case SILT_TYPE_LONG: return duckdb_create_int64(value->as.i64);
    case SILT_TYPE_DATE: return duckdb_create_date((duckdb_date){.days = (int32_t)value->as.i64});
    case SILT_TYPE_TIMESTAMP: return duckdb_create_timestamp_tz((duckdb_timestamp){.micros = value->as.i64});
    case SILT_TYPE_TIMESTAMP_NTZ: return duckdb_create_timestamp((duckdb_timestamp){.micros = value->as.i64});
    case SILT_TYPE_FLOAT: return duckdb_create_float((float)value->as.f64);
    case SILT_TYPE_DOUBLE: return duckdb_create_double(value->as.f64);
    case SILT_TYPE_DECIMAL:
        return duckdb_create_decimal(
            (duckdb_decimal){.width = value->precision,
                             .scale = value->scale,
                             .value = {.lower = value->as.decimal.lo, .upper = value->as.decimal.hi}});
    case SILT_TYPE_BINARY: return duckdb_create_blob((const uint8_t *)value->as.bytes.ptr, value->as.bytes.len);
    default: break;
    }
    return sl_utf8_valid(sl_value_get_str(value))
               ? duckdb_create_varchar_length(value->as.bytes.ptr, value->as.bytes.len)
               : NULL;
}

/*
 * A chunk of a scan holds rows of one file: then the result is one value for all of them, which what follows takes as such. For texts
 * that is 25 times cheaper than a value a row.
 */
static bool give_constant(duckdb_vector output, const silt_value *value)
{
    duckdb_value made = make_value(value);
    if (made == NULL) {
        return false;
    }
    duckdb_vector_reference_value(output, made);
    duckdb_destroy_value(&made);
    return true;
}

static bool are_equal(const uint64_t *file_index, idx_t n)
{
    uint64_t differs = 0;
    for (idx_t row = 1; row < n; row++) {
        differs |= file_index[row] ^ file_index[0];
    }
    return differs == 0;
}

static void give_values(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const struct sl_duck_bound *bound = sl_duck_bound_of(info);
    if (bound == NULL) {
        return;
    }
    const struct sl_duck_parts *parts = (const struct sl_duck_parts *)bound->object;
    const idx_t n = duckdb_data_chunk_get_size(input);
    const uint64_t *file_index = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 0));
    if (n > 1 && file_index[0] < parts->n_files && are_equal(file_index, n) &&
        give_constant(output, &parts->values[(size_t)file_index[0] * parts->n_columns + bound->place])) {
        return;
    }
    for (idx_t row = 0; row < n; row++) {
        if (file_index[row] >= parts->n_files) {
            duckdb_scalar_function_set_error(info, "file index is outside of the scan");
            return;
        }
        put_value(output, row, &parts->values[(size_t)file_index[row] * parts->n_columns + bound->place]);
    }
}

static void bind_values(duckdb_bind_info info)
{
    (void)sl_duck_bind_argument(info, &parts_class, 1); /* or an error is set */
}

/* ---- registration ---- */

static bool register_function(struct sl_dataplane *dp, duckdb_connection handle, const char *name,
                              duckdb_logical_type result)
{
    const struct sl_duck_function function = {.name = name,
                                              .arguments = {DUCKDB_TYPE_UBIGINT, DUCKDB_TYPE_VARCHAR},
                                              .n_arguments = 2,
                                              .result_type = result,
                                              .extra = dp,
                                              .bind = bind_values,
                                              .run = give_values};
    return sl_duck_function_register(handle, &function);
}

static bool register_decimal(struct sl_dataplane *dp, duckdb_connection handle, unsigned precision, unsigned scale)
{
    char name[48];
    (void)snprintf(name, sizeof(name), "silt_part_decimal_%u_%u", precision, scale); /* fits: two small numbers */
    duckdb_logical_type type = duckdb_create_decimal_type((uint8_t)precision, (uint8_t)scale);
    const bool fine = register_function(dp, handle, name, type);
    duckdb_destroy_logical_type(&type);
    return fine;
}

bool sl_duck_parts_register(struct sl_dataplane *dp, duckdb_connection handle)
{
    bool fine = true;
    for (size_t i = 0; i < sizeof(FUNCTIONS) / sizeof(FUNCTIONS[0]) && fine; i++) {
        duckdb_logical_type type = duckdb_create_logical_type(FUNCTIONS[i].type);
        fine = register_function(dp, handle, FUNCTIONS[i].name, type);
        duckdb_destroy_logical_type(&type);
    }
    for (unsigned p = 1; p <= SL_DECIMAL_MAX_PRECISION && fine; p++) {
        for (unsigned s = 0; s <= p && fine; s++) {
            fine = (dp->decimals[p] >> s & 1) == 0 || register_decimal(dp, handle, p, s);
        }
    }
    return fine;
}

static silt_status need_decimal(struct sl_duck_conn *conn, const struct silt_type *type, silt_error *err)
{
    struct sl_dataplane *dp = conn->dp;
    bool fine = type->precision >= 1 && type->precision <= SL_DECIMAL_MAX_PRECISION && type->scale <= type->precision;
    if (!fine) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "decimal(%u,%u) is no type", type->precision, type->scale);
    }
    const uint64_t bit = UINT64_C(1) << type->scale;
    pthread_mutex_lock(&dp->lock);
    if ((dp->decimals[type->precision] & bit) == 0) {
        fine = register_decimal(dp, conn->handle, type->precision, type->scale);
        dp->decimals[type->precision] |= fine ? bit : 0;
    }
    pthread_mutex_unlock(&dp->lock);
    return fine ? SILT_OK : sl_fail(err, SILT_EENGINE, NULL, "silt's functions cannot be registered with DuckDB");
}

silt_status sl_duck_parts_put(struct sl_duck_conn *conn, struct sl_buf *sql, const struct sl_duck_parts *parts,
                              size_t column, const struct silt_type *type, silt_error *err)
{
    if (type->kind == SILT_TYPE_DECIMAL) {
        SL_TRY(need_decimal(conn, type, err));
        sl_buf_printf(sql, "silt_part_decimal_%u_%u", type->precision, type->scale);
    } else {
        const char *name = NULL;
        for (size_t i = 0; i < sizeof(FUNCTIONS) / sizeof(FUNCTIONS[0]); i++) {
            name = FUNCTIONS[i].kind == type->kind ? FUNCTIONS[i].name : name;
        }
        if (name == NULL) {
            return sl_fail(err, SILT_ECORRUPT, "DELTA_INVALID_PARTITION_COLUMN_TYPE",
                           "a partition column must have a plain type");
        }
        sl_buf_put_c(sql, name);
    }
    sl_buf_printf(sql, "(file_index, '%" PRIu64 ":%zu')", parts->object.id, column);
    return SILT_OK;
}

/* ---- values of a plan ---- */

/* A decimal must have the scale of its column's type: the function gives out unscaled numbers. */
static silt_status copy_value(struct sl_duck_parts *parts, const silt_value *from, const struct silt_type *type,
                              silt_value *to, silt_error *err)
{
    if (!from->is_null && from->kind != type->kind) {
        return sl_fail(err, SILT_EINVALID, NULL, "a partition value is not of its column's type");
    }
    if (!sl_value_copy(&parts->arena, from, to)) {
        return sl_fail_nomem(err);
    }
    if (!to->is_null && type->kind == SILT_TYPE_DECIMAL) {
        sl_i128 scaled = 0;
        if (!sl_decimal_rescale(sl_value_get_i128(from), from->scale, type->scale, &scaled) ||
            sl_i128_digits(scaled) > type->precision) {
            return sl_fail(err, SILT_ECORRUPT, NULL, "a partition value does not fit decimal(%u,%u)", type->precision,
                           type->scale);
        }
        *to = sl_value_decimal(scaled, type->precision, type->scale);
    }
    return SILT_OK;
}

silt_status sl_duck_parts_new(struct sl_dataplane *dp, const struct sl_duck_parts_input *input,
                              struct sl_duck_parts **out, silt_error *err)
{
    *out = NULL;
    struct sl_duck_parts *parts = sl_alloc_zero(dp->env, sizeof(*parts));
    if (parts == NULL) {
        return sl_fail_nomem(err);
    }
    sl_duck_object_init(&parts->object, dp, &parts_class);
    parts->n_files = input->n_files;
    parts->n_columns = input->n_columns;
    sl_arena_init(&parts->arena, dp->env);
    size_t n = 0;
    silt_status status = SILT_OK;
    if (sl_mul_size(input->n_files, input->n_columns, &n)) {
        parts->values = sl_arena_alloc_array(&parts->arena, n, sizeof(*parts->values));
    }
    if (parts->values == NULL) {
        status = sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n && status == SILT_OK; i++) {
        const size_t column = i % input->n_columns;
        if (input->types[column] != NULL) {
            status = copy_value(parts, &input->values[i / input->n_columns][column], input->types[column],
                                &parts->values[i], err);
        }
    }
    if (status != SILT_OK) {
        sl_duck_object_drop(&parts->object);
        return status;
    }
    sl_duck_object_list(&parts->object);
    *out = parts;
    return SILT_OK;
}

void sl_duck_parts_drop(struct sl_duck_parts *parts)
{
    sl_duck_object_drop(parts != NULL ? &parts->object : NULL);
}
