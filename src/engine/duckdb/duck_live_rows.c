/*
 * The functions of deletion vectors that DuckDB calls:
 *
 *   silt_live(file_index, file_row_number, handle)  is the row left?
 *   silt_kept(file_index, handle)                   has the file any row left? Files without are pruned by it
 *
 * As with partition values (duck_part.c), they are registered once a database and look the handle's id up when a query is bound; bound
 * data keeps the rows alive. They run on DuckDB's threads; a set of rows is immutable.
 */
#include "duck_live.h"

#include <string.h>

#include "base/alloc.h"
#include "duck_function.h"

enum {
    WINDOW = 2048 /* rows that are looked up together where not all are asked for */
};

static const struct sl_duck_live *live_of(const struct sl_duck_bound *bound)
{
    return (const struct sl_duck_live *)bound->object;
}

/* Rows of one file in ascending order without gaps; true for most chunks. */
static bool is_dense(const uint64_t *file, const int64_t *row, idx_t n)
{
    uint64_t differs = 0;
    for (idx_t i = 0; i < n; i++) {
        differs |= (file[i] ^ file[0]) | ((uint64_t)row[i] - (uint64_t)row[0] - i);
    }
    return differs == 0;
}

/* How many rows from `from` on are of one file, ascending, and within a window. */
static idx_t window_length(const uint64_t *file, const int64_t *row, idx_t from, idx_t n)
{
    idx_t to = from + 1;
    while (to < n && file[to] == file[from] && row[to] > row[to - 1] && row[to] - row[from] < WINDOW) {
        to++;
    }
    return to - from;
}

/* The file of a row; n_files for one that is none of the scan's. */
static size_t file_of(const struct sl_duck_bound *bound, uint64_t index)
{
    const size_t n = live_of(bound)->n_files;
    return index < n - bound->place ? bound->place + (size_t)index : n;
}

/* False if a file is none of the scan's. */
static bool fill_live(const struct sl_duck_bound *bound, const uint64_t *file, const int64_t *row, idx_t n,
                      uint8_t *out)
{
    const struct sl_duck_live *live = live_of(bound);
    const struct sl_dataplane_host *host = live->dp->host;
    uint8_t window[WINDOW];
    idx_t step = 0;
    for (idx_t i = 0; i < n; i += step) {
        const size_t place = file_of(bound, file[i]);
        if (place == live->n_files || row[i] < 0) {
            return false;
        }
        step = window_length(file, row, i, n);
        const silt_rows *rows = live->rows[place];
        if (rows == NULL) {
            memset(out + i, 1, step);
            continue;
        }
        host->rows_mask(rows, row[i], (size_t)(row[i + step - 1] - row[i] + 1), window);
        for (idx_t j = i; j < i + step; j++) {
            out[j] = window[row[j] - row[i]];
        }
    }
    return true;
}

static void live_rows(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const struct sl_duck_bound *bound = sl_duck_bound_of(info);
    if (bound == NULL) {
        return;
    }
    const struct sl_duck_live *live = live_of(bound);
    const idx_t n = duckdb_data_chunk_get_size(input);
    const uint64_t *file = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 0));
    const int64_t *row = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 1));
    uint8_t *out = duckdb_vector_get_data(output);
    const size_t place = n > 0 ? file_of(bound, file[0]) : live->n_files;
    bool fine = true;
    if (place == live->n_files || row[0] < 0 || !is_dense(file, row, n)) {
        fine = fill_live(bound, file, row, n, out);
    } else if (live->rows[place] == NULL) {
        memset(out, 1, n);
    } else {
        live->dp->host->rows_mask(live->rows[place], row[0], n, out);
    }
    if (!fine) {
        duckdb_scalar_function_set_error(info, "a row's place is outside of the scan");
    }
}

static void kept_files(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const struct sl_duck_bound *bound = sl_duck_bound_of(info);
    if (bound == NULL) {
        return;
    }
    const idx_t n = duckdb_data_chunk_get_size(input);
    const uint64_t *file = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 0));
    bool *out = duckdb_vector_get_data(output);
    for (idx_t i = 0; i < n; i++) {
        const size_t place = file_of(bound, file[i]);
        if (place == live_of(bound)->n_files) {
            duckdb_scalar_function_set_error(info, "file index is outside of the scan");
            return;
        }
        out[i] = !live_of(bound)->gone[place];
    }
}

/* ---- binding ---- */

/* The number that argument `index` always is; false if it is no constant. */
static bool read_number(duckdb_bind_info info, idx_t index, uint64_t *number)
{
    duckdb_value value = NULL;
    const bool fine = sl_duck_fold_argument(info, index, &value);
    *number = fine ? duckdb_get_uint64(value) : 0;
    duckdb_destroy_value(&value);
    return fine;
}

static void bind_function(duckdb_bind_info info)
{
    uint64_t handle = 0;
    const idx_t last = duckdb_scalar_function_bind_get_argument_count(info) - 1;
    if (!read_number(info, last, &handle)) {
        handle = 0; /* nothing has this id */
    }
    (void)sl_duck_bind_object(info, &sl_live_class, handle >> 32, handle & UINT32_MAX); /* or an error is set */
}

bool sl_duck_live_register(struct sl_dataplane *dp, duckdb_connection handle)
{
    /* The file's index, the row, the id. */
    const struct sl_duck_function live = {.name = "silt_live",
                                          .arguments = {DUCKDB_TYPE_UBIGINT, DUCKDB_TYPE_BIGINT, DUCKDB_TYPE_UBIGINT},
                                          .n_arguments = 3,
                                          .result = DUCKDB_TYPE_BOOLEAN,
                                          .extra = dp,
                                          .bind = bind_function,
                                          .run = live_rows};
    const struct sl_duck_function kept = {.name = "silt_kept",
                                          .arguments = {DUCKDB_TYPE_UBIGINT, DUCKDB_TYPE_UBIGINT},
                                          .n_arguments = 2,
                                          .result = DUCKDB_TYPE_BOOLEAN,
                                          .extra = dp,
                                          .bind = bind_function,
                                          .run = kept_files};
    return sl_duck_function_register(handle, &live) && sl_duck_function_register(handle, &kept);
}
