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
#include "duck_function.h"

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

static bool register_conversion(duckdb_connection handle, const struct conversion *conversion)
{
    const struct sl_duck_function function = {.name = conversion->name,
                                              .arguments = {conversion->from, DUCKDB_TYPE_BIGINT},
                                              .n_arguments = conversion->has_zone ? 2 : 1,
                                              .result = conversion->to,
                                              .extra = conversion,
                                              .run = convert_vector};
    return sl_duck_function_register(handle, &function);
}

bool sl_leaf_register(duckdb_connection handle)
{
    const struct sl_duck_function dates = {.name = "silt_rebase_date",
                                           .arguments = {DUCKDB_TYPE_DATE},
                                           .n_arguments = 1,
                                           .result = DUCKDB_TYPE_DATE,
                                           .run = rebase_dates};
    bool fine = sl_duck_function_register(handle, &dates);
    for (size_t i = 0; i < sizeof(CONVERSIONS) / sizeof(CONVERSIONS[0]) && fine; i++) {
        fine = register_conversion(handle, &CONVERSIONS[i]);
    }
    return fine;
}
