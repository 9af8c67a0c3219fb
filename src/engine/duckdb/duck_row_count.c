/*
 * Numbers of rows as footers of files tell them, for files whose deletion vectors are checked against them. About 0.2 ms a file. One
 * owner a request.
 */
#include "duck.h"

#include "base/error.h"

static void put_query(struct sl_buf *sql, const struct sl_duck_files *files, const size_t *which, size_t n)
{
    sl_buf_put_c(sql, "SELECT file_name, num_rows::BIGINT FROM parquet_file_metadata([");
    for (size_t i = 0; i < n; i++) {
        sl_buf_put_c(sql, i == 0 ? "" : ",");
        sl_duck_put_path(sql, files->local[which[i]]);
    }
    sl_buf_put_c(sql, "])");
}

silt_status sl_duck_count_rows(struct sl_duck_conn *conn, const silt_call *call, const struct sl_duck_files *files,
                               const size_t *which, size_t n, int64_t *counts, silt_error *err)
{
    duckdb_result result = {0};
    duckdb_data_chunk chunk = NULL;
    size_t done = 0;
    struct sl_buf sql;
    sl_buf_init(&sql, conn->dp->env);
    put_query(&sql, files, which, n);
    silt_status status = sl_duck_exec(conn, call, &sql, &result, err);
    while (status == SILT_OK) {
        status = sl_duck_fetch(conn, call, &result, &chunk, err);
        if (status != SILT_OK || chunk == NULL) {
            break;
        }
        const idx_t rows = duckdb_data_chunk_get_size(chunk);
        for (idx_t row = 0; row < rows && status == SILT_OK; row++) {
            /* Files come in the order in which they were named. */
            if (done == n || !sl_str_eq_c(sl_duck_cell_str(chunk, 0, row), files->local[which[done]]) ||
                !sl_duck_cell_i64(chunk, 1, row, &counts[which[done]])) {
                status = sl_fail(err, SILT_EENGINE, NULL, "DuckDB told of the rows of other files than were asked for");
            }
            done++;
        }
        duckdb_destroy_data_chunk(&chunk);
    }
    if (status == SILT_OK && done != n) {
        status = sl_fail(err, SILT_EENGINE, NULL, "DuckDB told of the rows of %zu files instead of %zu", done, n);
    }
    duckdb_destroy_result(&result);
    sl_buf_release(&sql);
    return status;
}
