/*
 * The rows that INSERT and CREATE … AS write: a query inside the statement, its columns mapped onto the table's by a query around
 * it, so that the data plane streams from its source straight into files.
 */
#include "base/alloc.h"
#include "base/arrow.h"
#include "base/env.h"
#include "base/error.h"
#include "base/quote.h"
#include "commands/row_set.h"
#include "kernel/txn/null_check.h"
#include "kernel/txn/txn_write.h"
#include "schema/type.h"
#include "schema/value.h"
#include "silt/transaction.h"
#include "sql/plane_row.h"
#include "sql/reshape.h"
#include "sql/run.h"

#include <stdio.h>

silt_status sl_row_source_open(struct sl_run *run, size_t begin, size_t end, struct sl_row_source *out, silt_error *err)
{
    struct sl_statement_text text = {sl_str_sub(run->text, begin, end), run->offset + begin};
    silt_status status;

    *out = (struct sl_row_source){0};
    SL_TRY(sl_query_prepare(run->session, run->call, &text, &run->params, &out->query, err));
    status = out->query.plane.vtable->describe(out->query.plane.dp, sl_buf_view(&out->query.sql), &run->params,
                                               &out->columns, err);
    if (status != SILT_OK) {
        sl_query_map_error(&out->query, err);
        sl_row_source_close(out);
    }
    return status;
}

void sl_row_source_close(struct sl_row_source *source)
{
    sl_arrow_schema_release(&source->columns);
    sl_query_release(&source->query);
}

/* "(query) AS silt_rows(c0, c1, …)"; returns where the query's own text begins. */
static size_t put_rows(const struct sl_row_source *source, struct sl_buf *sql)
{
    sl_buf_put_char(sql, '(');
    const size_t begin = sql->len;
    sl_buf_put_str(sql, sl_buf_view(&source->query.sql));
    sl_buf_put_c(sql, "\n) AS silt_rows("); /* the line break ends a comment at the query's end */
    for (int64_t i = 0; i < source->columns.n_children; i++) {
        sl_buf_printf(sql, "%sc%lld", i > 0 ? ", " : "", (long long)i);
    }
    sl_buf_put_char(sql, ')');
    return begin;
}

/* One item of the SELECT list. */
static silt_status put_column(const struct sl_row_source *source, const silt_field *field, size_t target, size_t from,
                              struct sl_buf *sql, silt_error *err)
{
    char name[48];
    const int len = snprintf(name, sizeof(name), "silt_rows.c%zu", from);
    if (from == SL_COLUMN_GIVEN) {
        sl_buf_put_str(sql, source->constants[target]);
        return SILT_OK;
    }
    if (from == SIZE_MAX) {
        sl_buf_put_c(sql, "CAST(NULL AS ");
        sl_type_print_duckdb(sql, field->type);
        sl_buf_put_char(sql, ')');
        return SILT_OK;
    }
    if (source->shape != NULL) {
        return sl_reshape_put(sql, sl_str_make(name, (size_t)len), silt_schema_field(source->shape, from)->type,
                              field->type, err);
    }
    sl_buf_put_str(sql, sl_str_make(name, (size_t)len));
    return SILT_OK;
}

silt_status sl_row_source_wrap(struct sl_row_source *source, const silt_schema *target, const size_t *mapping,
                               struct sl_buf *sql, silt_error *err)
{
    sl_buf_put_c(sql, "SELECT ");
    for (size_t i = 0; i < silt_schema_field_count(target); i++) {
        sl_buf_put_c(sql, i > 0 ? ", " : "");
        SL_TRY(put_column(source, silt_schema_field(target, i), i, mapping[i], sql, err));
        sl_buf_put_c(sql, " AS ");
        sl_quote_put(sql, silt_schema_field(target, i)->name, '"');
    }
    sl_buf_put_c(sql, " FROM ");
    source->prefix_len = put_rows(source, sql);
    return sl_buf_status(sql, err);
}

/* SELECT typeof(c0), … over the query without its rows: the outer join makes one row of nulls, which keep their types. */
static void put_typeof_query(const struct sl_row_source *source, struct sl_buf *sql)
{
    size_t n = (size_t)source->columns.n_children;
    sl_buf_put_c(sql, "SELECT ");
    for (size_t i = 0; i < n; i++) {
        sl_buf_printf(sql, "%stypeof(silt_rows.c%zu)", i > 0 ? ", " : "", i);
    }
    sl_buf_put_c(sql, " FROM (SELECT 1) LEFT JOIN (SELECT * FROM ");
    (void)put_rows(source, sql);
    sl_buf_put_c(sql, " LIMIT 0) AS silt_rows ON true");
}

silt_status sl_row_source_untyped(struct sl_run *run, struct sl_row_source *source, bool *untyped, silt_error *err)
{
    struct sl_plane_row row = {0};
    struct sl_buf sql;
    silt_value value;
    silt_status status;

    sl_buf_init(&sql, run->session->env);
    put_typeof_query(source, &sql);
    status = sl_buf_status(&sql, err);
    if (status == SILT_OK) {
        status = sl_plane_row_get(&source->query.plane, run->call, sl_buf_view(&sql), &run->params, &row, err);
    }
    for (int64_t i = 0; status == SILT_OK && i < source->columns.n_children; i++) {
        untyped[i] = sl_plane_row_value(&row, (size_t)i, &value) && sl_str_eq_c(sl_value_get_str(&value), "\"NULL\"");
    }
    sl_plane_row_release(&row);
    sl_buf_release(&sql);
    return status;
}

/* True if the query reads the table that is written: then the write is no blind append. */
static bool reads_table(const struct sl_row_source *source, const char *uri)
{
    for (size_t i = 0; i < source->query.n_scans; i++) {
        const silt_scan_plan *plan = silt_scan_get_plan(source->query.kernel_scans[i]);
        if (plan->table != NULL && strcmp(plan->table, uri) == 0) {
            return true;
        }
    }
    return false;
}

/* Is something below a nested column NOT NULL? That is judged on Arrow rows alone, not where rows stream inside of the data plane. */
static bool has_nested_not_null(const silt_schema *schema)
{
    for (size_t i = 0; i < silt_schema_field_count(schema); i++) {
        struct silt_field field = *silt_schema_field(schema, i);
        field.nullable = true; /* the column itself is judged either way */
        if (sl_null_check_needed(&field)) {
            return true;
        }
    }
    return false;
}

/* Out of the data plane as Arrow and back: past the checks of silt_txn_write. */
static silt_status write_as_arrow(struct sl_run *run, struct sl_row_source *source, struct sl_str sql, silt_txn *txn,
                                  silt_error *err)
{
    struct ArrowArrayStream rows = {0};
    SL_TRY(source->query.plane.vtable->query(source->query.plane.dp, run->call, sql, &run->params, &rows, err));
    return silt_txn_write(txn, run->call, &rows, err);
}

/* Straight into files. */
static silt_status write_inside(struct sl_run *run, struct sl_row_source *source, struct sl_str sql, silt_txn *txn,
                                silt_error *err)
{
    silt_parquet_write request = {.size = sizeof(request)};
    SL_TRY(sl_txn_write_request(txn, &request, err));
    const silt_status status = source->query.plane.vtable->write_query(source->query.plane.dp, run->call, sql,
                                                                       &run->params, &request, err);
    return status == SILT_OK ? sl_txn_write_finish(txn, err) : sl_txn_write_failed(txn, run->call, status, err);
}

silt_status sl_row_source_write(struct sl_run *run, struct sl_row_source *source, const size_t *mapping, silt_txn *txn,
                                silt_error *err)
{
    const silt_schema *schema = silt_txn_schema(txn);
    struct sl_buf sql;
    silt_status status;

    sl_buf_init(&sql, run->session->env);
    status = sl_row_source_wrap(source, schema, mapping, &sql, err);
    if (status != SILT_OK) {
        goto out;
    }
    if (reads_table(source, sl_txn_table_uri(txn))) {
        status = silt_txn_read_predicate(txn, NULL, err);
        if (status != SILT_OK) {
            goto out;
        }
    }
    status = has_nested_not_null(schema) ? write_as_arrow(run, source, sl_buf_view(&sql), txn, err)
                                         : write_inside(run, source, sl_buf_view(&sql), txn, err);
    if (status != SILT_OK) {
        sl_query_name_file(&source->query, run->call, err);
    }
    if (status != SILT_OK && err != NULL && err->position >= 0) {
        if ((size_t)err->position < source->prefix_len) {
            err->position = -1;
        } else {
            err->position -= (int32_t)source->prefix_len;
            sl_query_map_error(&source->query, err);
        }
    }
out:
    sl_buf_release(&sql);
    return status;
}

/* num_affected_rows and num_inserted_rows, as Delta's INSERT shows them; -1: not known. */
static silt_status put_metrics(struct sl_run *run, int64_t rows_added, silt_error *err)
{
    static const struct sl_row_column columns[] = {{"num_affected_rows", "bigint"}, {"num_inserted_rows", "bigint"}};
    struct sl_row_set rows;
    struct ArrowArrayStream stream = {0};

    SL_TRY(sl_row_set_init(&rows, run->session->env, columns, 2, err));
    for (int i = 0; i < 2; i++) {
        if (rows_added < 0) {
            sl_row_null(&rows);
        } else {
            sl_row_i64(&rows, rows_added);
        }
    }
    sl_row_end(&rows);
    SL_TRY(sl_row_set_finish(&rows, &stream));
    run->result->kind = SILT_RESULT_METRICS;
    sl_arrow_stream_move(&run->result->stream, &stream);
    return SILT_OK;
}

silt_status sl_run_skip(struct sl_run *run, bool rows_metric, silt_error *err)
{
    run->result->skipped = true;
    run->result->kind = SILT_RESULT_NONE;
    return rows_metric ? put_metrics(run, 0, err) : SILT_OK;
}

silt_status sl_run_commit(struct sl_run *run, silt_txn *txn, bool rows_metric, silt_error *err)
{
    silt_commit_result commit = {.size = sizeof(commit)};

    SL_TRY(silt_txn_commit(txn, run->call, &commit, err));
    if (commit.outcome == SILT_COMMIT_SKIPPED) {
        return sl_run_skip(run, rows_metric, err);
    }
    run->result->version = commit.version;
    if (!rows_metric) {
        run->result->kind = SILT_RESULT_NONE;
        return SILT_OK;
    }
    /* The change is there: what cannot be told of it must not read as its failure. */
    silt_error untold = SILT_ERROR_INIT;
    if (put_metrics(run, commit.rows_added, &untold) != SILT_OK) {
        run->result->kind = SILT_RESULT_NONE;
        sl_log(run->session->env, SILT_LOG_WARN, "version %lld was committed, but its counts cannot be told: %s",
               (long long)commit.version, untold.message);
    }
    return SILT_OK;
}
