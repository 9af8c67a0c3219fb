/*
 * The shared parts of tests of schemas, values and expressions.
 */
#include "model_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int model_setup(void **state)
{
    struct model *m = calloc(1, sizeof *m);
    if (m == NULL) {
        return -1;
    }
    test_env_init(&m->test);
    sl_arena_init(&m->arena, &m->test.env);
    m->err = (silt_error)SILT_ERROR_INIT;
    *state = m;
    return 0;
}

int model_teardown(void **state)
{
    struct model *m = *state;
    sl_arena_release(&m->arena);
    test_env_check(&m->test);
    free(m);
    return 0;
}

static void must(struct model *m, silt_status status, const char *text)
{
    if (status != SILT_OK) {
        print_error("%s: %s\n", text, m->err.message);
    }
    assert_int_equal(status, SILT_OK);
}

const struct silt_type *model_type(struct model *m, const char *text)
{
    const struct silt_type *type = NULL;
    must(m, sl_type_parse(&m->arena, sl_str_from(text), &type, &m->err), text);
    return type;
}

silt_value model_value(struct model *m, const char *type, const char *text)
{
    const struct silt_type *to = model_type(m, type);
    if (text == NULL) {
        return sl_value_null(to->kind);
    }
    const silt_value from = sl_value_bytes(SILT_TYPE_STRING, sl_str_from(text));
    silt_value out;
    assert_true(sl_value_cast(&m->arena, &from, to, &out));
    return out;
}

silt_schema *model_schema(struct model *m, const char *columns)
{
    char *text = sl_arena_printf(&m->arena, "struct<%s>", columns);
    silt_schema *schema = NULL;
    assert_non_null(text);
    const struct silt_type *type = model_type(m, text);
    must(m, sl_schema_from_fields(&m->test.env, type->fields, type->n_fields, &schema, &m->err), columns);
    return schema;
}

silt_expr *model_expr(struct model *m, const char *text, const silt_schema *schema)
{
    silt_expr *expr = NULL;
    must(m, silt_expr_parse(&m->test.env, text, strlen(text), schema, &expr, &m->err), text);
    return expr;
}

struct sl_buf model_buf(struct model *m)
{
    struct sl_buf buf;
    sl_buf_init(&buf, &m->test.env);
    return buf;
}

const char *model_text(struct model *m, struct sl_buf *buf)
{
    assert_int_equal(buf->status, SILT_OK);
    const char *text = sl_arena_strdup(&m->arena, sl_str_make(sl_buf_cstr(buf), buf->len));
    assert_non_null(text);
    sl_buf_release(buf);
    return text;
}

void model_sweep(silt_status (*run)(struct model *m, silt_error *err))
{
    for (size_t n = 1;; n++) {
        void *state = NULL;
        assert_int_equal(model_setup(&state), 0);
        struct model *m = state;
        test_env_fail_at(&m->test, n);
        const silt_status status = run(m, &m->err);
        const bool reached = m->test.n_requests >= n;
        test_env_fail_at(&m->test, 0);
        assert_int_equal(status, reached ? SILT_ENOMEM : SILT_OK);
        model_teardown(&state);
        if (!reached) {
            return;
        }
        assert_true(n < 100000);
    }
}
