/*
 * The expression handler: rows of a stream for which a predicate is true. The stream becomes a table, the predicate a WHERE
 * clause; order is kept. One owner a stream.
 */
#include "duck.h"

#include "base/alloc.h"
#include "base/arrow.h"
#include "base/error.h"
#include "expr/expr.h"

struct filter {
    const silt_env *env;
    struct sl_duck_conn conn; /* of the rows; the reader has its own */
    struct sl_duck_rows rows;
    struct sl_duck_reader reader;
};

static void close_filter(void *ctx)
{
    struct filter *filter = ctx;
    sl_duck_reader_close(&filter->reader);
    sl_duck_rows_close(&filter->rows);
    sl_duck_disconnect(&filter->conn);
    sl_release(filter->env, filter, sizeof(*filter));
}

static silt_status filter_schema(void *ctx, struct ArrowSchema *out, silt_error *err)
{
    struct filter *filter = ctx;
    return sl_duck_reader_schema(&filter->reader, out, err);
}

static silt_status filter_next(void *ctx, struct ArrowArray *batch, silt_error *err)
{
    struct filter *filter = ctx;
    return sl_duck_rows_error(&filter->rows, sl_duck_reader_next(&filter->reader, batch, err), err);
}

static silt_status start(struct filter *filter, const silt_call *call, const silt_expr *predicate, silt_error *err)
{
    struct sl_buf sql;
    sl_buf_init(&sql, filter->env);
    sl_buf_put_c(&sql, "SELECT * FROM ");
    sl_buf_put_str(&sql, sl_buf_view(&filter->rows.table));
    sl_buf_put_c(&sql, " AS silt_rows WHERE ");
    silt_status status = sl_expr_print_duckdb(&sql, predicate->root, err);
    if (status == SILT_OK) {
        status = sl_buf_status(&sql, err);
    }
    if (status == SILT_OK) {
        const struct sl_duck_run run = {.sql = sl_buf_view(&sql), .streaming = true, .in_utc = true};
        status = sl_duck_reader_open(filter->conn.dp, call, &run, &filter->reader, err);
        status = sl_duck_rows_error(&filter->rows, status, err);
    }
    sl_buf_release(&sql);
    return status;
}

silt_status sl_duck_filter(void *impl, const silt_call *call, struct ArrowArrayStream *in, const silt_expr *predicate,
                           struct ArrowArrayStream *out, silt_error *err)
{
    static const struct sl_arrow_source source = {filter_schema, filter_next, close_filter};
    struct sl_dataplane *dp = impl;
    *out = (struct ArrowArrayStream){0};
    if (predicate == NULL) {
        sl_arrow_stream_move(out, in);
        return SILT_OK;
    }
    struct filter *filter = sl_alloc_zero(dp->env, sizeof(*filter));
    if (filter == NULL) {
        sl_arrow_stream_release(in);
        return sl_fail_nomem(err);
    }
    filter->env = dp->env;
    silt_status status = sl_duck_connect(dp, &filter->conn, err);
    if (status == SILT_OK) {
        status = sl_duck_rows_open(&filter->conn, call, in, &filter->rows, err);
    } else {
        sl_arrow_stream_release(in);
    }
    if (status == SILT_OK) {
        status = start(filter, call, predicate, err);
    }
    if (status != SILT_OK) {
        close_filter(filter);
        return status;
    }
    return sl_arrow_stream_new(dp->env, &source, filter, out, err);
}
