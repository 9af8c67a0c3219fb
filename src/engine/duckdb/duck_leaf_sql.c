/*
 * The C functions that readings of leaves use (duck_leaf.c), over whole vectors:
 *
 *   silt_instant(TIMESTAMP) → TIMESTAMPTZ, silt_wall(TIMESTAMPTZ) → TIMESTAMP   the same number: a cast would take the session's zone
 *   silt_whole_us(TIMESTAMP_NS) → TIMESTAMP                                     an error where digits would be lost
 *   silt_rebase_date(DATE), silt_rebase_wall(TIMESTAMP, zone), silt_rebase_instant(TIMESTAMPTZ, zone)   from the Julian calendar
 *
 * DuckDB calls them on its threads with vectors that are flat; NULL stays NULL. No state.
 */
#include "duck_leaf.h"

#include "base/julian.h"

/* The validity of the input as the output's; NULL when all rows are valid. */
static uint64_t *copy_validity(duckdb_vector input, duckdb_vector output, idx_t n)
{
    const uint64_t *from = duckdb_vector_get_validity(input);
    if (from == NULL) {
        return NULL;
    }
    duckdb_vector_ensure_validity_writable(output);
    uint64_t *to = duckdb_vector_get_validity(output);
    for (idx_t i = 0; i < (n + 63) / 64; i++) {
        to[i] = from[i];
    }
    return to;
}

/* Turns one value into another; false: it has no counterpart. */
typedef bool (*convert_fn)(int64_t from, int64_t zone, int64_t *to);

struct conversion {
    const char *name;
    duckdb_type from;
    duckdb_type to;
    bool has_zone;
    convert_fn convert;
    const char *failure;
};

static bool keep(int64_t from, int64_t zone, int64_t *to)
{
    (void)zone; /* it has none */
    *to = from;
    return true;
}

static bool to_whole_us(int64_t from, int64_t zone, int64_t *to)
{
    (void)zone; /* it has none */
    *to = from / 1000;
    return from % 1000 == 0;
}

static bool rebase_us(int64_t from, int64_t zone, int64_t *to)
{
    return sl_julian_us(from, zone, to);
}

static const struct conversion CONVERSIONS[] = {
    {"silt_instant", DUCKDB_TYPE_TIMESTAMP, DUCKDB_TYPE_TIMESTAMP_TZ, false, keep, NULL},
    {"silt_wall", DUCKDB_TYPE_TIMESTAMP_TZ, DUCKDB_TYPE_TIMESTAMP, false, keep, NULL},
    {"silt_whole_us", DUCKDB_TYPE_TIMESTAMP_NS, DUCKDB_TYPE_TIMESTAMP, false, to_whole_us,
     "a timestamp has nanoseconds, which cannot be read without loss"},
    {"silt_rebase_wall", DUCKDB_TYPE_TIMESTAMP, DUCKDB_TYPE_TIMESTAMP_TZ, true, rebase_us,
     "a timestamp of the legacy calendar is out of range"},
    {"silt_rebase_instant", DUCKDB_TYPE_TIMESTAMP_TZ, DUCKDB_TYPE_TIMESTAMP_TZ, true, rebase_us,
     "a timestamp of the legacy calendar is out of range"},
};

static void convert_vector(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const struct conversion *conversion = duckdb_scalar_function_get_extra_info(info);
    const idx_t n = duckdb_data_chunk_get_size(input);
    duckdb_vector values = duckdb_data_chunk_get_vector(input, 0);
    const int64_t *from = duckdb_vector_get_data(values);
    const int64_t *zones = conversion->has_zone ? duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 1)) : NULL;
    int64_t *to = duckdb_vector_get_data(output);
    uint64_t *validity = copy_validity(values, output, n);
    for (idx_t row = 0; row < n; row++) {
        if (validity != NULL && !duckdb_validity_row_is_valid(validity, row)) {
            continue;
        }
        if (!conversion->convert(from[row], zones != NULL ? zones[row] : 0, &to[row])) {
            duckdb_scalar_function_set_error(info, conversion->failure);
            return;
        }
    }
}

static void rebase_dates(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const idx_t n = duckdb_data_chunk_get_size(input);
    duckdb_vector values = duckdb_data_chunk_get_vector(input, 0);
    const int32_t *from = duckdb_vector_get_data(values);
    int32_t *to = duckdb_vector_get_data(output);
    uint64_t *validity = copy_validity(values, output, n);
    for (idx_t row = 0; row < n; row++) {
        if (validity != NULL && !duckdb_validity_row_is_valid(validity, row)) {
            continue;
        }
        const int64_t days = sl_julian_days(from[row]);
        if (days < INT32_MIN) {
            duckdb_scalar_function_set_error(info, "a date of the legacy calendar is out of range");
            return;
        }
        to[row] = (int32_t)days;
    }
}

static duckdb_scalar_function new_function(const char *name, duckdb_type from, duckdb_type to)
{
    duckdb_scalar_function function = duckdb_create_scalar_function();
    duckdb_logical_type argument = duckdb_create_logical_type(from);
    duckdb_logical_type result = duckdb_create_logical_type(to);
    duckdb_scalar_function_set_name(function, name);
    duckdb_scalar_function_add_parameter(function, argument);
    duckdb_scalar_function_set_return_type(function, result);
    duckdb_destroy_logical_type(&argument);
    duckdb_destroy_logical_type(&result);
    return function;
}

static bool register_conversion(duckdb_connection handle, const struct conversion *conversion)
{
    duckdb_scalar_function function = new_function(conversion->name, conversion->from, conversion->to);
    if (conversion->has_zone) {
        duckdb_logical_type zone = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT);
        duckdb_scalar_function_add_parameter(function, zone);
        duckdb_destroy_logical_type(&zone);
    }
    /* A table entry of this file: nothing is ever written through the pointer. */
    duckdb_scalar_function_set_extra_info(function, (void *)(uintptr_t)conversion, NULL);
    duckdb_scalar_function_set_function(function, convert_vector);
    const bool fine = duckdb_register_scalar_function(handle, function) == DuckDBSuccess;
    duckdb_destroy_scalar_function(&function);
    return fine;
}

bool sl_leaf_register(duckdb_connection handle)
{
    duckdb_scalar_function dates = new_function("silt_rebase_date", DUCKDB_TYPE_DATE, DUCKDB_TYPE_DATE);
    duckdb_scalar_function_set_function(dates, rebase_dates);
    bool fine = duckdb_register_scalar_function(handle, dates) == DuckDBSuccess;
    duckdb_destroy_scalar_function(&dates);
    for (size_t i = 0; i < sizeof(CONVERSIONS) / sizeof(CONVERSIONS[0]) && fine; i++) {
        fine = register_conversion(handle, &CONVERSIONS[i]);
    }
    return fine;
}
