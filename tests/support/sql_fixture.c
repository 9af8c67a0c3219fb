/*
 * Sessions of tests, see sql_fixture.h.
 */
#include "sql_fixture.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrow.h"
#include "schema/value.h"

bool sql_open(struct sql_fixture *sql, const struct sql_options *options)
{
    memset(sql, 0, sizeof(*sql));
    sql->env = options->env != NULL ? options->env : silt_env_default();
    sql->err = (silt_error)SILT_ERROR_INIT;
    sl_buf_init(&sql->text, sql->env);
    const silt_default_engine_options engine = {.size = sizeof(engine),
                                                .env = options->env,
                                                .threads = 2,
                                                .temp_dir = options->temp_dir,
                                                .stores = options->stores};
    const silt_session_options session = {.size = sizeof(session), .engine = &engine, .warehouse = options->warehouse};
    if (silt_session_open(&session, &sql->session, &sql->err) != SILT_OK) {
        (void)fprintf(stderr, "cannot open a session: %s\n", sql->err.message);
        silt_storage_registry_free(options->stores);
        return false;
    }
    return true;
}

void sql_close(struct sql_fixture *sql)
{
    silt_session_close(sql->session);
    sl_buf_release(&sql->text);
    sql->session = NULL;
}

static void put_batch(const struct ArrowSchema *schema, const struct ArrowArray *batch, struct sl_buf *out)
{
    for (int64_t row = 0; row < batch->length; row++) {
        for (int64_t i = 0; i < schema->n_children; i++) {
            silt_value value;
            sl_buf_put_c(out, i == 0 ? "" : "|");
            if (!sl_value_from_arrow(schema->children[i], batch->children[i], batch->offset + row, &value)) {
                sl_buf_printf(out, "<%s>", schema->children[i]->format);
            } else if (value.is_null) {
                sl_buf_put_c(out, "NULL");
            } else {
                sl_value_print(out, &value);
            }
        }
        sl_buf_put_char(out, '\n');
    }
}

static silt_status drain(struct sql_fixture *sql, struct ArrowArrayStream *stream)
{
    struct ArrowSchema schema = {0};
    silt_status status = sl_arrow_stream_schema(stream, &schema, &sql->err);
    bool done = false;
    while (status == SILT_OK && !done) {
        struct ArrowArray batch = {0};
        status = sl_arrow_stream_next(stream, &batch, &done, &sql->err);
        if (status == SILT_OK && !done) {
            put_batch(&schema, &batch, &sql->text);
        }
        sl_arrow_array_release(&batch);
    }
    sl_arrow_schema_release(&schema);
    sl_arrow_stream_release(stream);
    return status;
}

static silt_status run_text(struct sql_fixture *sql, struct sl_str text)
{
    silt_execution *execution = NULL;
    bool done = false;
    sql->err = (silt_error)SILT_ERROR_INIT;
    sql->version = -1;
    silt_status status = silt_session_execute(sql->session, text.ptr, text.len, NULL, NULL, &execution, &sql->err);
    while (status == SILT_OK && !done) {
        silt_result result = {.size = sizeof(result), .version = -1};
        status = silt_execution_next(execution, NULL, &result, &done, &sql->err);
        if (status == SILT_OK && !done) {
            sql->version = result.version;
            sl_buf_clear(&sql->text);
            status = result.stream.release != NULL ? drain(sql, &result.stream) : SILT_OK;
        }
    }
    silt_execution_free(execution);
    return status;
}

static silt_status run_format(struct sql_fixture *sql, const char *format, va_list args)
{
    const int n = vsnprintf(sql->statement, sizeof(sql->statement), format, args);
    if (n < 0 || (size_t)n >= sizeof(sql->statement)) {
        (void)fprintf(stderr, "the statement is too long for the test's buffer\n");
        return SILT_ELIMIT;
    }
    return run_text(sql, sl_str_make(sql->statement, (size_t)n));
}

silt_status sql_try(struct sql_fixture *sql, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const silt_status status = run_format(sql, format, args);
    va_end(args);
    return status;
}

static bool told(const struct sql_fixture *sql, silt_status status)
{
    if (status != SILT_OK) {
        (void)fprintf(stderr, "%s: %s [%s] %s\n", sql->statement, silt_status_name(status), sql->err.code_name,
                      sql->err.message);
    }
    return status == SILT_OK;
}

bool sql_run(struct sql_fixture *sql, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const silt_status status = run_format(sql, format, args);
    va_end(args);
    return told(sql, status);
}

bool sql_number(struct sql_fixture *sql, int64_t *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const silt_status status = run_format(sql, format, args);
    va_end(args);
    if (!told(sql, status)) {
        return false;
    }
    char *end = NULL;
    const char *text = sl_buf_cstr(&sql->text);
    *out = strtoll(text, &end, 10);
    if (end == text || strcmp(end, "\n") != 0) {
        (void)fprintf(stderr, "%s: one number was expected, not \"%s\"\n", sql->statement, text);
        return false;
    }
    return true;
}
