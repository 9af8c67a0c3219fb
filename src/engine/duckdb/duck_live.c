/*
 * Deletion vectors in a scan: silt_live(file_index, file_row_number, id) is true for the rows that the vectors of a plan's files leave
 * (PROTOCOL.md "Reader Requirements for Deletion Vectors"). DuckDB keeps such a filter of two columns above the scan, where it costs
 * one to two nanoseconds a row; UNION ALL of files with and without vectors would spare that for the latter, but takes from
 * DuckDB what it does for plain scans: counts without reading a column, and rows of a top-N fetched late.
 *
 * What lies dead in long stretches is not read at all: silt_kept(file_index, id) drops whole files, and a file that loses row groups
 * is read by a SELECT of its own with conditions on file_row_number, which DuckDB compares with the bounds of row groups. That is done
 * only where it spares a good part of the scan.
 *
 * As with partition values (duck_part.c), the functions are registered once a database and look the id up when a query is bound; bound
 * data keeps the rows alive. Functions run on DuckDB's threads; a set of rows is immutable.
 */
#include "duck.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum {
    MIN_RUN = 8192, /* rows in a row that must be gone for their stretch to be told to DuckDB */
    MAX_RUNS = 8,   /* such stretches of a file, the longest ones */
    MAX_ALONE = 16, /* files read by SELECTs of their own */
    MIN_SHARE = 16, /* they are if that spares one part in so many of the scan's bytes */
    WINDOW = 2048   /* rows that are looked up together where not all are asked for */
};

/* Rows [first, end) are gone. */
struct run {
    int64_t first;
    int64_t end;
};

/* A file that may be read alone. */
struct alone {
    size_t file;
    int64_t spared; /* bytes, about */
    struct run runs[MAX_RUNS];
    size_t n_runs;
};

struct sl_duck_live {
    atomic_uint refs;
    struct sl_dataplane *dp;
    struct sl_duck_live *next; /* guarded by dp->lock */
    uint64_t id;
    silt_rows **rows; /* [file]; NULL: all rows are wanted */
    bool *gone;       /* [file]: no row is left */
    size_t n_files;
    struct alone alone[MAX_ALONE]; /* by file */
    size_t n_alone;
};

static void live_unref(struct sl_duck_live *live)
{
    if (live == NULL || atomic_fetch_sub(&live->refs, 1) != 1) {
        return;
    }
    const silt_env *env = live->dp->env;
    for (size_t i = 0; i < live->n_files && live->rows != NULL; i++) {
        live->dp->host->rows_free(live->rows[i]);
    }
    sl_release(env, live->rows, live->n_files * sizeof(silt_rows *));
    sl_release(env, live->gone, live->n_files);
    sl_release(env, live, sizeof(*live));
}

/* ---- the functions ---- */

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

/* False if a file is none of the scan's. */
static bool fill_live(const struct sl_duck_live *live, const uint64_t *file, const int64_t *row, idx_t n, uint8_t *out)
{
    const struct sl_dataplane_host *host = live->dp->host;
    uint8_t window[WINDOW];
    idx_t step = 0;
    for (idx_t i = 0; i < n; i += step) {
        if (file[i] >= live->n_files || row[i] < 0) {
            return false;
        }
        step = window_length(file, row, i, n);
        const silt_rows *rows = live->rows[file[i]];
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
    const struct sl_duck_live *live = duckdb_scalar_function_get_bind_data(info);
    const idx_t n = duckdb_data_chunk_get_size(input);
    const uint64_t *file = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 0));
    const int64_t *row = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 1));
    uint8_t *out = duckdb_vector_get_data(output);
    bool fine = true;
    if (n > 0 && is_dense(file, row, n) && file[0] < live->n_files && row[0] >= 0) {
        if (live->rows[file[0]] == NULL) {
            memset(out, 1, n);
        } else {
            live->dp->host->rows_mask(live->rows[file[0]], row[0], n, out);
        }
    } else {
        fine = fill_live(live, file, row, n, out);
    }
    if (!fine) {
        duckdb_scalar_function_set_error(info, "a row's place is outside of the scan");
    }
}

static void kept_files(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output)
{
    const struct sl_duck_live *live = duckdb_scalar_function_get_bind_data(info);
    const idx_t n = duckdb_data_chunk_get_size(input);
    const uint64_t *file = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 0));
    bool *out = duckdb_vector_get_data(output);
    for (idx_t i = 0; i < n; i++) {
        if (file[i] >= live->n_files) {
            duckdb_scalar_function_set_error(info, "file index is outside of the scan");
            return;
        }
        out[i] = !live->gone[file[i]];
    }
}

/* ---- binding ---- */

static void free_bound(void *data)
{
    live_unref(data);
}

static void *copy_bound(void *data)
{
    struct sl_duck_live *live = data;
    atomic_fetch_add(&live->refs, 1);
    return live;
}

static struct sl_duck_live *find_live(struct sl_dataplane *dp, uint64_t id)
{
    pthread_mutex_lock(&dp->lock);
    struct sl_duck_live *live = dp->live;
    while (live != NULL && live->id != id) {
        live = live->next;
    }
    if (live != NULL) {
        atomic_fetch_add(&live->refs, 1);
    }
    pthread_mutex_unlock(&dp->lock);
    return live;
}

/* The number that argument `index` always is; false if it is no constant. */
static bool read_id(duckdb_bind_info info, idx_t index, uint64_t *id)
{
    duckdb_client_context context = NULL;
    duckdb_value value = NULL;
    duckdb_expression argument = duckdb_scalar_function_bind_get_argument(info, index);
    duckdb_scalar_function_get_client_context(info, &context);
    bool fine = false;
    if (duckdb_expression_is_foldable(argument)) {
        duckdb_error_data fault = duckdb_expression_fold(context, argument, &value);
        fine = (fault == NULL || !duckdb_error_data_has_error(fault)) && !duckdb_is_null_value(value);
        *id = fine ? duckdb_get_uint64(value) : 0;
        duckdb_destroy_error_data(&fault);
    }
    duckdb_destroy_value(&value);
    duckdb_destroy_client_context(&context);
    duckdb_destroy_expression(&argument);
    return fine;
}

static void bind_function(duckdb_bind_info info)
{
    struct sl_dataplane *dp = duckdb_scalar_function_bind_get_extra_info(info);
    uint64_t id = 0;
    const idx_t last = duckdb_scalar_function_bind_get_argument_count(info) - 1;
    struct sl_duck_live *live = read_id(info, last, &id) ? find_live(dp, id) : NULL;
    if (live == NULL) {
        duckdb_scalar_function_bind_set_error(info, "the scan that this query reads was closed");
        return;
    }
    duckdb_scalar_function_set_bind_data(info, live, free_bound);
    duckdb_scalar_function_set_bind_data_copy(info, copy_bound);
}

static bool register_function(struct sl_dataplane *dp, duckdb_connection handle, const char *name, bool by_row,
                              duckdb_scalar_function_t run)
{
    duckdb_scalar_function function = duckdb_create_scalar_function();
    duckdb_logical_type index_type = duckdb_create_logical_type(DUCKDB_TYPE_UBIGINT); /* of a file, and of an id */
    duckdb_logical_type row_type = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT);
    duckdb_logical_type result_type = duckdb_create_logical_type(DUCKDB_TYPE_BOOLEAN);
    duckdb_scalar_function_set_name(function, name);
    duckdb_scalar_function_add_parameter(function, index_type);
    if (by_row) {
        duckdb_scalar_function_add_parameter(function, row_type);
    }
    duckdb_scalar_function_add_parameter(function, index_type);
    duckdb_scalar_function_set_return_type(function, result_type);
    duckdb_scalar_function_set_extra_info(function, dp, NULL);
    duckdb_scalar_function_set_bind(function, bind_function);
    duckdb_scalar_function_set_function(function, run);
    const bool fine = duckdb_register_scalar_function(handle, function) == DuckDBSuccess;
    duckdb_destroy_logical_type(&index_type);
    duckdb_destroy_logical_type(&row_type);
    duckdb_destroy_logical_type(&result_type);
    duckdb_destroy_scalar_function(&function);
    return fine;
}

bool sl_duck_live_register(struct sl_dataplane *dp, duckdb_connection handle)
{
    return register_function(dp, handle, "silt_live", true, live_rows) &&
           register_function(dp, handle, "silt_kept", false, kept_files);
}

/* ---- what need not be read ---- */

/* Where a run that holds `row` begins, which is behind the last live row of the MIN_RUN rows before. */
static int64_t run_begin(const struct sl_dataplane_host *host, const silt_rows *rows, int64_t row)
{
    uint8_t before[MIN_RUN];
    const int64_t from = row > MIN_RUN ? row - MIN_RUN : 0;
    host->rows_mask(rows, from, (size_t)(row - from), before);
    while (row > from && before[row - 1 - from] == 0) {
        row--;
    }
    return row;
}

/* Keeps the longest runs. */
static void add_run(struct alone *alone, struct run run)
{
    if (alone->n_runs < MAX_RUNS) {
        alone->runs[alone->n_runs++] = run;
        return;
    }
    struct run *least = &alone->runs[0];
    for (size_t i = 1; i < MAX_RUNS; i++) {
        if (alone->runs[i].end - alone->runs[i].first < least->end - least->first) {
            least = &alone->runs[i];
        }
    }
    if (run.end - run.first > least->end - least->first) {
        *least = run;
    }
}

/* Looks at every MIN_RUN-th row only: a long run holds one of them. */
static void find_runs(const struct sl_dataplane_host *host, const silt_rows *rows, int64_t n, struct alone *alone)
{
    alone->n_runs = 0;
    for (int64_t row = 0; row < n;) {
        const int64_t live = host->rows_next_live(rows, row);
        if (live == row) {
            const int64_t dead = host->rows_next_dead(
                rows, row); /* what lies between may be as large as a file claims to be */
            if (dead >= n || n - row <= MIN_RUN) {
                return;
            }
            row = dead - row > MIN_RUN ? dead / MIN_RUN * MIN_RUN : row + MIN_RUN;
            continue;
        }
        const struct run run = {run_begin(host, rows, row), live < n ? live : n};
        if (run.end - run.first >= MIN_RUN) {
            add_run(alone, run);
        }
        row = run.end % MIN_RUN == 0 ? run.end : run.end + (MIN_RUN - run.end % MIN_RUN);
    }
}

static int64_t bytes_spared(const silt_plan_file *file, const struct alone *alone)
{
    int64_t rows = 0;
    for (size_t i = 0; i < alone->n_runs; i++) {
        rows += alone->runs[i].end - alone->runs[i].first;
    }
    return (int64_t)((double)rows / (double)file->num_records * (double)(file->size_bytes > 0 ? file->size_bytes : 0));
}

static int compare_files(const void *a, const void *b)
{
    const size_t x = ((const struct alone *)a)->file;
    const size_t y = ((const struct alone *)b)->file;
    return x < y ? -1 : x > y;
}

/* Keeps the files that spare most. */
static void add_alone(struct sl_duck_live *live, const struct alone *alone)
{
    if (live->n_alone < MAX_ALONE) {
        live->alone[live->n_alone++] = *alone;
        return;
    }
    struct alone *least = &live->alone[0];
    for (size_t i = 1; i < MAX_ALONE; i++) {
        least = live->alone[i].spared < least->spared ? &live->alone[i] : least;
    }
    if (alone->spared > least->spared) {
        *least = *alone;
    }
}

static void find_dead(struct sl_duck_live *live, const silt_scan_plan *plan)
{
    const struct sl_dataplane_host *host = live->dp->host;
    double total = 0;
    double spared = 0;
    for (size_t i = 0; i < plan->n_files; i++) {
        const silt_plan_file *file = &plan->files[i];
        total += (double)(file->size_bytes > 0 ? file->size_bytes : 0);
        if (live->rows[i] == NULL || file->num_records < 0) {
            continue;
        }
        struct alone alone = {.file = i};
        live->gone[i] = host->rows_next_live(live->rows[i], 0) >= file->num_records;
        if (!live->gone[i]) {
            find_runs(host, live->rows[i], file->num_records, &alone);
        }
        alone.spared = alone.n_runs > 0 ? bytes_spared(file, &alone) : 0;
        if (alone.spared > 0) {
            add_alone(live, &alone);
        }
    }
    for (size_t i = 0; i < live->n_alone; i++) {
        spared += (double)live->alone[i].spared;
    }
    if (spared * MIN_SHARE < total) {
        live->n_alone = 0;
    }
    qsort(live->alone, live->n_alone, sizeof(live->alone[0]), compare_files);
}

static const struct alone *find_alone(const struct sl_duck_live *live, size_t file)
{
    for (size_t i = 0; i < live->n_alone; i++) {
        if (live->alone[i].file == file) {
            return &live->alone[i];
        }
    }
    return NULL;
}

/* ---- text ---- */

size_t sl_duck_live_piece(const struct sl_duck_live *live, size_t first, size_t end)
{
    if (live == NULL) {
        return end - first;
    }
    if (find_alone(live, first) != NULL) {
        return 1;
    }
    for (size_t i = 0; i < live->n_alone; i++) {
        if (live->alone[i].file > first && live->alone[i].file < end) {
            return live->alone[i].file - first; /* they are in order */
        }
    }
    return end - first;
}

void sl_duck_live_put(struct sl_buf *sql, const struct sl_duck_live *live, size_t first, size_t n)
{
    bool any = false;
    bool any_gone = false;
    for (size_t i = first; live != NULL && i < first + n; i++) {
        any = any || live->rows[i] != NULL;
        any_gone = any_gone || live->gone[i];
    }
    if (!any) {
        return;
    }
    sl_buf_printf(sql, " WHERE silt_live(file_index, file_row_number, %" PRIu64 "::UBIGINT)", live->id);
    if (any_gone) {
        sl_buf_printf(sql, " AND silt_kept(file_index, %" PRIu64 "::UBIGINT)", live->id);
    }
    const struct alone *alone = find_alone(live, first);
    for (size_t i = 0; alone != NULL && i < alone->n_runs; i++) {
        sl_buf_printf(sql, " AND (file_row_number < %" PRId64 " OR file_row_number >= %" PRId64 ")",
                      alone->runs[i].first, alone->runs[i].end);
    }
}

/* ---- the rows of a plan ---- */

static silt_status load_rows(struct sl_duck_live *live, const silt_call *call, const silt_scan_plan *plan,
                             silt_error *err)
{
    silt_rows_request *requests = sl_alloc_array(live->dp->env, plan->n_files, sizeof(*requests));
    if (requests == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < plan->n_files; i++) {
        const silt_plan_file *file = &plan->files[i];
        requests[i] = (silt_rows_request){
            .file = file->path, .num_records = file->num_records, .deleted = file->deleted, .selected = file->selected};
    }
    const silt_status status = live->dp->host->rows_load(plan->storage, call, requests, plan->n_files, live->rows, err);
    sl_release(live->dp->env, requests, plan->n_files * sizeof(*requests));
    return status;
}

silt_status sl_duck_live_new(struct sl_dataplane *dp, const silt_call *call, const silt_scan_plan *plan,
                             struct sl_duck_live **out, silt_error *err)
{
    *out = NULL;
    if (!plan->has_row_sets || plan->n_files == 0) {
        return SILT_OK;
    }
    struct sl_duck_live *live = sl_alloc_zero(dp->env, sizeof(*live));
    if (live == NULL) {
        return sl_fail_nomem(err);
    }
    atomic_init(&live->refs, 1);
    live->dp = dp;
    live->n_files = plan->n_files;
    live->rows = sl_alloc_zero(dp->env, plan->n_files * sizeof(silt_rows *));
    live->gone = sl_alloc_zero(dp->env, plan->n_files);
    silt_status status = live->rows != NULL && live->gone != NULL ? load_rows(live, call, plan, err)
                                                                  : sl_fail_nomem(err);
    if (status != SILT_OK) {
        live_unref(live);
        return status;
    }
    find_dead(live, plan);
    live->id = sl_duck_next_id(dp);
    pthread_mutex_lock(&dp->lock);
    live->next = dp->live;
    dp->live = live;
    pthread_mutex_unlock(&dp->lock);
    *out = live;
    return SILT_OK;
}

void sl_duck_live_drop(struct sl_dataplane *dp, struct sl_duck_live *live)
{
    if (live == NULL) {
        return;
    }
    pthread_mutex_lock(&dp->lock);
    struct sl_duck_live **link = &dp->live;
    while (*link != NULL && *link != live) {
        link = &(*link)->next;
    }
    if (*link == live) {
        *link = live->next;
    }
    pthread_mutex_unlock(&dp->lock);
    live_unref(live);
}
