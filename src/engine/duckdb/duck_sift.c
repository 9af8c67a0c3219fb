/*
 * A caller's judgement of rows by a text of theirs as a condition of the scan: silt_sifted(text, handle). The texts are then judged where
 * DuckDB has decoded them, on all its threads, and what is not wanted is neither copied into a result nor made into Arrow: of a million
 * statistics of 180 bytes that is the larger half of the time.
 *
 * A filter is registered under an id for as long as the read is open; bound queries keep its entry alive. Called by duck_read.c. Any
 * thread; the function runs on DuckDB's threads.
 */
#include "duck_bound.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"
#include "duck_function.h"

/* Texts that are judged at once: as many as a vector of DuckDB has rows. */
#define AT_ONCE 2048

/* Immutable once it is registered. */
struct sl_duck_sift {
    struct sl_duck_object object;
    void (*judge)(void *ctx, const silt_text *texts, size_t n, bool *wanted);
    void *ctx;
};

static void free_sift(struct sl_duck_object *object)
{
    sl_release(object->dp->env, object, sizeof(struct sl_duck_sift));
}

static size_t places_of(const struct sl_duck_object *object)
{
    (void)object;
    return 1;
}

static const struct sl_duck_object_class sift_class = {.free = free_sift, .places = places_of};

silt_status sl_duck_sift_new(struct sl_dataplane *dp, const silt_text_filter *filter, struct sl_duck_sift **out,
                             silt_error *err)
{
    struct sl_duck_sift *sift = sl_alloc_zero(dp->env, sizeof(*sift));
    *out = sift;
    if (sift == NULL) {
        return sl_fail_nomem(err);
    }
    sl_duck_object_init(&sift->object, dp, &sift_class);
    sift->judge = filter->judge;
    sift->ctx = filter->ctx;
    sl_duck_object_list(&sift->object);
    return SILT_OK;
}

void sl_duck_sift_drop(struct sl_duck_sift *sift)
{
    sl_duck_object_drop(sift != NULL ? &sift->object : NULL);
}

void sl_duck_put_sifted(struct sl_buf *sql, const struct sl_duck_sift *sift, const silt_parquet_leaf *leaf)
{
    sl_buf_put_c(sql, "silt_sifted(");
    for (size_t i = 0; i + 1 < leaf->path_len; i++) {
        sl_buf_put_char(sql, '(');
    }
    for (size_t i = 0; i < leaf->path_len; i++) {
        sl_buf_put_c(sql, i == 0 ? "" : ").");
        sl_duck_put_ident(sql, sl_str_from(leaf->path[i]));
    }
    sl_buf_printf(sql, ", '%" PRIu64 ":0')", sift->object.id);
}

/* ---- the function ---- */

static void judge_some(const struct sl_duck_sift *sift, duckdb_string_t *strings, const uint64_t *valid, idx_t first,
                       idx_t n, bool *wanted)
{
    silt_text texts[AT_ONCE];
    for (idx_t i = 0; i < n; i++) {
        const idx_t row = first + i;
        const bool is_there = valid == NULL || (valid[row / 64] >> (row % 64) & 1) != 0;
        texts[i].ptr = is_there ? duckdb_string_t_data(&strings[row]) : NULL;
        texts[i].len = is_there ? duckdb_string_t_length(strings[row]) : 0;
    }
    sift->judge(sift->ctx, texts, n, wanted);
}

static void sifted_rows(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const struct sl_duck_bound *bound = sl_duck_bound_of(info);
    if (bound == NULL) {
        return;
    }
    const struct sl_duck_sift *sift = (const struct sl_duck_sift *)bound->object;
    const idx_t n = duckdb_data_chunk_get_size(input);
    duckdb_vector vector = duckdb_data_chunk_get_vector(input, 0);
    duckdb_string_t *strings = duckdb_vector_get_data(vector);
    const uint64_t *valid = duckdb_vector_get_validity(vector);
    bool *wanted = duckdb_vector_get_data(output);
    for (idx_t first = 0; first < n; first += AT_ONCE) {
        judge_some(sift, strings, valid, first, n - first < AT_ONCE ? n - first : AT_ONCE, wanted + first);
    }
}

static void bind_sift(duckdb_bind_info info)
{
    (void)sl_duck_bind_argument(info, &sift_class, 1); /* or an error is set */
}

bool sl_duck_sift_register(struct sl_dataplane *dp, duckdb_connection handle)
{
    const struct sl_duck_function function = {.name = "silt_sifted",
                                              .arguments = {DUCKDB_TYPE_VARCHAR, DUCKDB_TYPE_VARCHAR},
                                              .n_arguments = 2,
                                              .result = DUCKDB_TYPE_BOOLEAN,
                                              .extra = dp,
                                              .bind = bind_sift,
                                              .run = sifted_rows};
    return sl_duck_function_register(handle, &function);
}
