/*
 * Rows of a Parquet file by their places, as a condition of the scan. DuckDB leaves out row groups by ranges of file_row_number; for
 * scattered rows a bit a row is looked up by a function, silt_picked(file_row_number, handle), at a nanosecond. As a constant of the text the
 * bits would be parsed, copied and probed at 20 ns. A list costs more still and is compared by a join, which gives rows in any
 * order and may be turned round, with a hash table of the whole file.
 *
 * Bits are registered under an id for as long as the read is open; bound queries keep them alive. Called by duck_read.c. Any thread; the
 * function runs on DuckDB's threads.
 */
#include "duck.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"

/* Rows that are nearer to each other than this make one range: DuckDB reads by vectors of 2,048 rows. */
#define NEAR_ROWS 512
/* With more ranges they are no longer compared one by one. */
#define MAX_RANGES 32
/* 128 MB: no file of a log has so many rows. */
#define MAX_BITS (INT64_C(1) << 30)

static size_t count_ranges(const int64_t *rows, size_t n)
{
    size_t n_ranges = 1;
    for (size_t i = 1; i < n && n_ranges <= MAX_RANGES; i++) {
        n_ranges += rows[i] - rows[i - 1] > NEAR_ROWS ? 1 : 0;
    }
    return n_ranges;
}

static void put_ranges(struct sl_buf *sql, const int64_t *rows, size_t n)
{
    size_t begin = 0;
    sl_buf_put_char(sql, '(');
    for (size_t i = 1; i <= n; i++) {
        if (i < n && rows[i] - rows[i - 1] <= NEAR_ROWS) {
            continue;
        }
        sl_buf_put_c(sql, begin > 0 ? " OR file_row_number BETWEEN " : "file_row_number BETWEEN ");
        sl_buf_put_i64(sql, rows[begin]);
        sl_buf_put_c(sql, " AND ");
        sl_buf_put_i64(sql, rows[i - 1]);
        begin = i;
    }
    sl_buf_put_char(sql, ')');
}

/* ---- scattered rows ---- */

/* Immutable once it is registered. */
struct sl_duck_pick {
    atomic_uint refs; /* of the read and of what is bound */
    struct sl_dataplane *dp;
    struct sl_duck_pick *next; /* guarded by dp->lock */
    uint64_t id;
    int64_t first, n_bits; /* bit i is row first + i */
    uint64_t *words;
    size_t n_words;
};

static void unref(struct sl_duck_pick *pick)
{
    if (pick != NULL && atomic_fetch_sub(&pick->refs, 1) == 1) {
        const silt_env *env = pick->dp->env;
        sl_release(env, pick->words, pick->n_words * sizeof(*pick->words));
        sl_release(env, pick, sizeof(*pick));
    }
}

static struct sl_duck_pick *make_pick(struct sl_dataplane *dp, const int64_t *rows, size_t n)
{
    struct sl_duck_pick *pick = sl_alloc_zero(dp->env, sizeof(*pick));
    if (pick == NULL) {
        return NULL;
    }
    atomic_init(&pick->refs, 1);
    pick->dp = dp;
    pick->first = rows[0];
    pick->n_bits = rows[n - 1] - rows[0] + 1;
    pick->n_words = (size_t)((pick->n_bits + 63) / 64);
    pick->words = sl_alloc_zero(dp->env, pick->n_words * sizeof(*pick->words));
    if (pick->words == NULL) {
        unref(pick);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t bit = (uint64_t)(rows[i] - pick->first);
        pick->words[bit / 64] |= UINT64_C(1) << (bit % 64);
    }
    return pick;
}

silt_status sl_duck_pick_new(struct sl_dataplane *dp, const int64_t *rows, size_t n, struct sl_duck_pick **out,
                             silt_error *err)
{
    *out = NULL;
    if (count_ranges(rows, n) <= MAX_RANGES) {
        return SILT_OK;
    }
    if (rows[0] < 0 || rows[n - 1] - rows[0] >= MAX_BITS) {
        return sl_fail(err, SILT_ELIMIT, NULL, "rows are asked for that lie %" PRIu64 " from each other",
                       (uint64_t)rows[n - 1] - (uint64_t)rows[0]);
    }
    struct sl_duck_pick *pick = make_pick(dp, rows, n);
    if (pick == NULL) {
        return sl_fail_nomem(err);
    }
    pick->id = sl_duck_next_id(dp);
    pthread_mutex_lock(&dp->lock);
    pick->next = dp->picks;
    dp->picks = pick;
    pthread_mutex_unlock(&dp->lock);
    *out = pick;
    return SILT_OK;
}

void sl_duck_pick_drop(struct sl_dataplane *dp, struct sl_duck_pick *pick)
{
    if (pick == NULL) {
        return;
    }
    pthread_mutex_lock(&dp->lock);
    struct sl_duck_pick **link = &dp->picks;
    while (*link != NULL && *link != pick) {
        link = &(*link)->next;
    }
    if (*link == pick) {
        *link = pick->next;
    }
    pthread_mutex_unlock(&dp->lock);
    unref(pick);
}

void sl_duck_put_picked(struct sl_buf *sql, const int64_t *rows, size_t n, const struct sl_duck_pick *pick)
{
    if (pick == NULL) {
        put_ranges(sql, rows, n);
        return;
    }
    sl_buf_printf(
        sql, "(file_row_number BETWEEN %" PRId64 " AND %" PRId64 " AND silt_picked(file_row_number, '%" PRIu64 ":0'))",
        rows[0], rows[n - 1], pick->id);
}

/* ---- the function ---- */

static void picked_rows(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const struct sl_duck_pick *pick = duckdb_scalar_function_get_bind_data(info);
    const idx_t n = duckdb_data_chunk_get_size(input);
    const int64_t *row = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 0));
    uint8_t *out = duckdb_vector_get_data(output);
    for (idx_t i = 0; i < n; i++) {
        const uint64_t bit = (uint64_t)row[i] - (uint64_t)pick->first;
        out[i] = bit < (uint64_t)pick->n_bits ? pick->words[bit / 64] >> (bit % 64) & 1 : 0;
    }
}

static void free_bound(void *data)
{
    unref(data);
}

static void *copy_bound(void *data)
{
    struct sl_duck_pick *pick = data;
    atomic_fetch_add(&pick->refs, 1);
    return pick;
}

static struct sl_duck_pick *find_pick(struct sl_dataplane *dp, uint64_t id)
{
    pthread_mutex_lock(&dp->lock);
    struct sl_duck_pick *pick = dp->picks;
    while (pick != NULL && pick->id != id) {
        pick = pick->next;
    }
    if (pick != NULL) {
        atomic_fetch_add(&pick->refs, 1);
    }
    pthread_mutex_unlock(&dp->lock);
    return pick;
}

static void bind_pick(duckdb_bind_info info)
{
    struct sl_dataplane *dp = duckdb_scalar_function_bind_get_extra_info(info);
    uint64_t id = 0;
    uint64_t unused = 0;
    struct sl_duck_pick *pick = sl_duck_bind_handle(info, 1, &id, &unused) ? find_pick(dp, id) : NULL;
    if (pick == NULL) {
        duckdb_scalar_function_bind_set_error(info, "the read that asks for these rows was closed");
        return;
    }
    duckdb_scalar_function_set_bind_data(info, pick, free_bound);
    duckdb_scalar_function_set_bind_data_copy(info, copy_bound);
}

bool sl_duck_pick_register(struct sl_dataplane *dp, duckdb_connection handle)
{
    duckdb_scalar_function function = duckdb_create_scalar_function();
    duckdb_logical_type row_type = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT);
    duckdb_logical_type text_type = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
    duckdb_logical_type result_type = duckdb_create_logical_type(DUCKDB_TYPE_BOOLEAN);
    duckdb_scalar_function_set_name(function, "silt_picked");
    duckdb_scalar_function_add_parameter(function, row_type);
    duckdb_scalar_function_add_parameter(function, text_type);
    duckdb_scalar_function_set_return_type(function, result_type);
    duckdb_scalar_function_set_extra_info(function, dp, NULL);
    duckdb_scalar_function_set_bind(function, bind_pick);
    duckdb_scalar_function_set_function(function, picked_rows);
    const bool fine = duckdb_register_scalar_function(handle, function) == DuckDBSuccess;
    duckdb_destroy_logical_type(&row_type);
    duckdb_destroy_logical_type(&text_type);
    duckdb_destroy_logical_type(&result_type);
    duckdb_destroy_scalar_function(&function);
    return fine;
}

/* ---- ranges ---- */

void sl_duck_put_row_ranges(struct sl_buf *sql, const silt_row_range *ranges, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sl_buf_put_c(sql, i > 0 ? " OR file_row_number BETWEEN " : "(file_row_number BETWEEN ");
        sl_buf_put_i64(sql, ranges[i].begin);
        sl_buf_put_c(sql, " AND ");
        sl_buf_put_i64(sql, ranges[i].end - 1);
    }
    sl_buf_put_char(sql, ')');
}
