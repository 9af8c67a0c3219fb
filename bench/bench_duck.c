/*
 * The limit of what silt can reach on its data plane: the same as bench_query, by libduckdb's C API alone. Results become Arrow
 * in the same way, so that what is fetched costs the same.
 *
 *     bench_duck [--threads N] [--repeat N] [--sync FILE] "STATEMENT"
 */
#include <duckdb.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arrow.h"
#include "base/error.h"
#include "support/bench_rows.h"

static silt_status fail_duck(silt_error *err, const char *what, const char *message)
{
    return sl_fail(err, SILT_EENGINE, NULL, "%s: %s", what, message != NULL ? message : "no message");
}

static silt_status get_schema(duckdb_result *result, duckdb_arrow_options arrow, struct ArrowSchema *out,
                              silt_error *err)
{
    enum {
        MAX_COLUMNS = 64
    };
    const idx_t n = duckdb_column_count(result);
    const char *names[MAX_COLUMNS];
    duckdb_logical_type types[MAX_COLUMNS];
    if (n > MAX_COLUMNS) {
        return sl_fail(err, SILT_ELIMIT, NULL, "the result has more than %d columns", MAX_COLUMNS);
    }
    for (idx_t i = 0; i < n; i++) {
        names[i] = duckdb_column_name(result, i);
        types[i] = duckdb_column_logical_type(result, i);
    }
    duckdb_error_data fault = duckdb_to_arrow_schema(arrow, types, names, n, out);
    silt_status status = SILT_OK;
    if (fault != NULL && duckdb_error_data_has_error(fault)) {
        status = fail_duck(err, "schema", duckdb_error_data_message(fault));
    }
    duckdb_destroy_error_data(&fault);
    for (idx_t i = 0; i < n; i++) {
        duckdb_destroy_logical_type(&types[i]);
    }
    return status;
}

static silt_status drain(duckdb_result *result, struct bench_rows *rows, silt_error *err)
{
    struct ArrowSchema schema = {0};
    duckdb_arrow_options arrow = duckdb_result_get_arrow_options(result);
    silt_status status = get_schema(result, arrow, &schema, err);
    bench_rows_clear(rows);
    while (status == SILT_OK) {
        struct ArrowArray batch = {0};
        duckdb_data_chunk chunk = duckdb_fetch_chunk(*result);
        if (chunk == NULL) {
            break;
        }
        duckdb_error_data fault = duckdb_data_chunk_to_arrow(arrow, chunk, &batch);
        status = fault != NULL && duckdb_error_data_has_error(fault)
                     ? fail_duck(err, "batch", duckdb_error_data_message(fault))
                     : bench_rows_take(rows, &schema, &batch, err);
        duckdb_destroy_error_data(&fault);
        duckdb_destroy_data_chunk(&chunk);
        sl_arrow_array_release(&batch);
    }
    sl_arrow_schema_release(&schema);
    duckdb_destroy_arrow_options(&arrow);
    return status;
}

static silt_status sync_file(const char *path, silt_error *err)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fsync(file) != 0) {
        if (file >= 0) {
            (void)close(file);
        }
        return sl_fail(err, SILT_EIO, NULL, "%s cannot be flushed to the disk", path);
    }
    (void)close(file);
    return SILT_OK;
}

static silt_status open_duck(const struct bench_options *options, duckdb_database *database,
                             duckdb_connection *connection, silt_error *err)
{
    duckdb_config config = NULL;
    char *message = NULL;
    char threads[16];
    silt_status status = SILT_OK;
    (void)snprintf(threads, sizeof(threads), "%u", (unsigned)options->threads); /* fits: at most 256 */
    if (duckdb_create_config(&config) != DuckDBSuccess ||
        duckdb_set_config(config, "threads", threads) != DuckDBSuccess ||
        duckdb_set_config(config, "autoload_known_extensions", "false") != DuckDBSuccess) {
        status = fail_duck(err, "settings", NULL);
    } else if (duckdb_open_ext(NULL, database, config, &message) != DuckDBSuccess) {
        status = fail_duck(err, "open", message);
    } else if (duckdb_connect(*database, connection) != DuckDBSuccess) {
        status = fail_duck(err, "connect", NULL);
    }
    duckdb_free(message);
    duckdb_destroy_config(&config);
    return status;
}

static silt_status run_once(duckdb_connection connection, const struct bench_options *options, int repetition,
                            struct bench_rows *rows, struct bench_time *time, silt_error *err)
{
    struct sl_buf text;
    duckdb_result result = {0};
    sl_buf_init(&text, silt_env_default());
    silt_status status = bench_numbered(&text, options->text, repetition);
    const struct bench_time begin = bench_now();
    if (status == SILT_OK && duckdb_query(connection, sl_buf_cstr(&text), &result) != DuckDBSuccess) {
        status = fail_duck(err, "query", duckdb_result_error(&result));
    }
    if (status == SILT_OK) {
        status = drain(&result, rows, err);
    }
    duckdb_destroy_result(&result);
    if (status == SILT_OK && options->sync != NULL) {
        status = bench_numbered(&text, options->sync, repetition);
        if (status == SILT_OK) {
            status = sync_file(sl_buf_cstr(&text), err);
        }
    }
    *time = bench_since(begin);
    sl_buf_release(&text);
    return status;
}

int main(int argc, char **argv)
{
    static struct bench_time times[BENCH_MAX_REPEAT];
    struct bench_options options;
    silt_error err = SILT_ERROR_INIT;
    duckdb_database database = NULL;
    duckdb_connection connection = NULL;
    struct bench_rows rows;
    if (!bench_options_parse(argc, argv, &options)) {
        return EXIT_FAILURE;
    }
    bench_rows_init(&rows, silt_env_default());
    const int64_t start_us = bench_now_us();
    silt_status status = open_duck(&options, &database, &connection, &err);
    const int64_t open_us = bench_now_us() - start_us;
    for (int i = 0; status == SILT_OK && i < options.repeat; i++) {
        status = run_once(connection, &options, i, &rows, &times[i], &err);
    }
    if (status == SILT_OK) {
        bench_report(open_us, times, options.repeat, &rows);
    } else {
        (void)fprintf(stderr, "bench_duck: %s\n", err.message);
    }
    duckdb_disconnect(&connection);
    duckdb_close(&database);
    bench_rows_release(&rows);
    return status == SILT_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
