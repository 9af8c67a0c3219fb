/*
 * Sessions of tests; see session_fixture.h.
 */
#include "session_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows_text.h"
#include "temp_dir.h"

int session_set_up(void **state)
{
    struct session_fixture *s = calloc(1, sizeof(*s));
    silt_session_options options = {.size = sizeof(options)};
    assert_non_null(s);
    sl_buf_init(&s->out, silt_env_default());
    sl_buf_init(&s->sql, silt_env_default());
    sl_arena_init(&s->arena, silt_env_default());
    assert_true(temp_dir_make(s->dir, sizeof(s->dir)));
    options.warehouse = s->dir;
    assert_int_equal(silt_session_open(&options, &s->session, &s->err), SILT_OK);
    *state = s;
    return 0;
}

int session_tear_down(void **state)
{
    struct session_fixture *s = *state;
    silt_session_close(s->session);
    assert_true(temp_dir_remove(s->dir));
    sl_buf_release(&s->out);
    sl_buf_release(&s->sql);
    sl_arena_release(&s->arena);
    free(s);
    return 0;
}

silt_status session_try_with(struct session_fixture *s, const char *sql, const struct ArrowSchema *params_schema,
                             const struct ArrowArray *params)
{
    struct rows_result result = {.rows = &s->out};
    s->err = (silt_error)SILT_ERROR_INIT;
    const silt_status status = rows_run(s->session, sl_str_from(sql), params_schema, params, &result, &s->err);
    s->kind = result.kind;
    s->version = result.version;
    s->skipped = result.skipped;
    return status;
}

silt_status session_try(struct session_fixture *s, const char *sql)
{
    return session_try_with(s, sql, NULL, NULL);
}

void session_expect_done(struct session_fixture *s, const char *sql)
{
    if (session_try(s, sql) != SILT_OK) {
        fail_msg("%s: [%s] %s", sql, s->err.code_name, s->err.message);
    }
}

void session_expect_rows(struct session_fixture *s, const char *sql, const char *rows)
{
    session_expect_done(s, sql);
    if (strcmp(sl_buf_cstr(&s->out), rows) != 0) {
        fail_msg("%s gave\n%sexpected\n%s", sql, sl_buf_cstr(&s->out), rows);
    }
}

void session_expect_fault(struct session_fixture *s, const char *sql, silt_status status, const char *code,
                          int position)
{
    const silt_status got = session_try(s, sql);
    if (got != status || strcmp(s->err.code_name, code != NULL ? code : "") != 0 ||
        (position >= 0 && s->err.position != position)) {
        fail_msg("%s: got %s [%s] at %d: %s", sql, silt_status_name(got), s->err.code_name, s->err.position,
                 s->err.message);
    }
}

const char *session_with_dir(struct session_fixture *s, const char *text)
{
    sl_buf_clear(&s->sql);
    for (; *text != '\0'; text++) {
        if (text[0] == '%' && text[1] == 'D') {
            sl_buf_put_c(&s->sql, s->dir);
            text++;
        } else {
            sl_buf_put_char(&s->sql, *text);
        }
    }
    return sl_buf_cstr(&s->sql);
}

const char *session_format(struct session_fixture *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    assert_true(n >= 0);
    char *text = malloc((size_t)n + 1);
    assert_non_null(text);
    va_start(args, format);
    (void)vsnprintf(text, (size_t)n + 1, format, args);
    va_end(args);
    sl_buf_clear(&s->sql);
    sl_buf_put(&s->sql, text, (size_t)n);
    free(text);
    return sl_buf_cstr(&s->sql);
}
