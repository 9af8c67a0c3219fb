/*
 * Sessions of tests, see sql_fixture.h.
 */
#include "sql_fixture.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows_text.h"

bool sql_open(struct sql_fixture *sql, const struct sql_options *options)
{
    memset(sql, 0, sizeof(*sql));
    sql->env = options->env != NULL ? options->env : silt_env_default();
    sql->err = (silt_error)SILT_ERROR_INIT;
    sl_buf_init(&sql->text, silt_env_default()); /* the test's, not part of what is tested */
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

static silt_status run_text(struct sql_fixture *sql, struct sl_str text)
{
    struct rows_result result = {.rows = &sql->text};
    sql->err = (silt_error)SILT_ERROR_INIT;
    const silt_status status = rows_run(sql->session, text, NULL, NULL, &result, &sql->err);
    sql->version = result.version;
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
