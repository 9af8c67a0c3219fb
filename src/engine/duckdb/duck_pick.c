/*
 * Rows of a Parquet file by their places, as a condition of the scan. DuckDB leaves out row groups by ranges of file_row_number; for
 * scattered rows a bit a row is looked up by a function, silt_picked(file_row_number, handle), at a nanosecond. As a constant of the text the
 * bits would be parsed, copied and probed at 20 ns. A list costs more still and is compared by a join, which gives rows in any
 * order and may be turned round, with a hash table of the whole file.
 *
 * Bits are registered under an id for as long as the read is open; bound queries keep them alive. Called by duck_read.c. Any thread; the
 * function runs on DuckDB's threads.
 */
#include "duck_bound.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"
#include "duck_function.h"

/* Rows that are nearer to each other than this make one range: DuckDB reads by vectors of 2,048 rows. */
#define NEAR_ROWS 512
/* With more ranges they are no longer compared one by one. What lies between wanted rows of a range becomes rows for nothing. */
#define MAX_RANGES 32
/* 128 MB: no file of a log has so many rows. */
#define MAX_BITS (INT64_C(1) << 30)

/* Few ranges, and most of what lies in them is wanted? */
static bool are_ranges(const int64_t *rows, size_t n)
{
    size_t n_ranges = 1;
    uint64_t n_between = 0;
    for (size_t i = 1; i < n && n_ranges <= MAX_RANGES; i++) {
        const int64_t step = rows[i] - rows[i - 1];
        n_ranges += step > NEAR_ROWS ? 1 : 0;
        n_between += step > NEAR_ROWS ? 0 : (uint64_t)step - 1;
    }
    return n_ranges <= MAX_RANGES && n_between <= n + NEAR_ROWS;
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
    struct sl_duck_object object;
    int64_t first, n_bits; /* bit i is row first + i */
    uint64_t *words;
    size_t n_words;
};

static void free_pick(struct sl_duck_object *object)
{
    struct sl_duck_pick *pick = (struct sl_duck_pick *)object;
    const silt_env *env = object->dp->env;
    sl_release(env, pick->words, pick->n_words * sizeof(*pick->words));
    sl_release(env, pick, sizeof(*pick));
}

static size_t places_of(const struct sl_duck_object *object)
{
    (void)object;
    return 1;
}

static const struct sl_duck_object_class pick_class = {.free = free_pick, .places = places_of};

static struct sl_duck_pick *make_pick(struct sl_dataplane *dp, const int64_t *rows, size_t n)
{
    struct sl_duck_pick *pick = sl_alloc_zero(dp->env, sizeof(*pick));
    if (pick == NULL) {
        return NULL;
    }
    sl_duck_object_init(&pick->object, dp, &pick_class);
    pick->first = rows[0];
    pick->n_bits = rows[n - 1] - rows[0] + 1;
    pick->n_words = (size_t)((pick->n_bits + 63) / 64);
    pick->words = sl_alloc_zero(dp->env, pick->n_words * sizeof(*pick->words));
    if (pick->words == NULL) {
        sl_duck_object_drop(&pick->object);
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
    if (are_ranges(rows, n)) {
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
    sl_duck_object_list(&pick->object);
    *out = pick;
    return SILT_OK;
}

void sl_duck_pick_drop(struct sl_duck_pick *pick)
{
    sl_duck_object_drop(pick != NULL ? &pick->object : NULL);
}

void sl_duck_put_picked(struct sl_buf *sql, const int64_t *rows, size_t n, const struct sl_duck_pick *pick)
{
    if (pick == NULL) {
        put_ranges(sql, rows, n);
        return;
    }
    sl_buf_printf(
        sql, "(file_row_number BETWEEN %" PRId64 " AND %" PRId64 " AND silt_picked(file_row_number, '%" PRIu64 ":0'))",
        rows[0], rows[n - 1], pick->object.id);
}

/* ---- the function ---- */

static void picked_rows(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const struct sl_duck_bound *bound = sl_duck_bound_of(info);
    if (bound == NULL) {
        return;
    }
    const struct sl_duck_pick *pick = (const struct sl_duck_pick *)bound->object;
    const idx_t n = duckdb_data_chunk_get_size(input);
    const int64_t *row = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 0));
    uint8_t *out = duckdb_vector_get_data(output);
    for (idx_t i = 0; i < n; i++) {
        const uint64_t bit = (uint64_t)row[i] - (uint64_t)pick->first;
        out[i] = bit < (uint64_t)pick->n_bits ? pick->words[bit / 64] >> (bit % 64) & 1 : 0;
    }
}

static void bind_pick(duckdb_bind_info info)
{
    (void)sl_duck_bind_argument(info, &pick_class, 1); /* or an error is set */
}

bool sl_duck_pick_register(struct sl_dataplane *dp, duckdb_connection handle)
{
    const struct sl_duck_function function = {.name = "silt_picked",
                                              .arguments = {DUCKDB_TYPE_BIGINT, DUCKDB_TYPE_VARCHAR},
                                              .n_arguments = 2,
                                              .result = DUCKDB_TYPE_BOOLEAN,
                                              .extra = dp,
                                              .bind = bind_pick,
                                              .run = picked_rows};
    return sl_duck_function_register(handle, &function);
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
