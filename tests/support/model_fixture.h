/*
 * What tests of schemas, values and expressions share: an environment that counts memory, an arena, short ways to make types,
 * values, schemas and expressions. Everything that is made with these is checked to succeed.
 */
#ifndef SILT_TEST_MODEL_FIXTURE_H
#define SILT_TEST_MODEL_FIXTURE_H

#include "test_env.h"

#include "expr/expr.h"
#include "schema/type.h"
#include "schema/value.h"

struct model {
    struct test_env test;
    struct sl_arena arena;
    silt_error err;
};

/* For cmocka_unit_test_setup_teardown; *state is the struct model. Teardown fails on leaks. */
int model_setup(void **state);
int model_teardown(void **state);
#define MODEL_TEST(name) cmocka_unit_test_setup_teardown(name, model_setup, model_teardown)

const struct silt_type *model_type(struct model *m, const char *text);
/* A value of the type by a cast from text; text NULL gives null. */
silt_value model_value(struct model *m, const char *type, const char *text);
/* A schema of "name type, …"; names plain. */
silt_schema *model_schema(struct model *m, const char *columns);
/* An expression; schema may be NULL. */
silt_expr *model_expr(struct model *m, const char *text, const silt_schema *schema);
/* A buffer's text, kept in the arena; the buffer is released. */
const char *model_text(struct model *m, struct sl_buf *buf);
struct sl_buf model_buf(struct model *m);

/* Runs with every memory request failing in turn until a run needs fewer; each must report SILT_ENOMEM and leave nothing. */
void model_sweep(silt_status (*run)(struct model *m, silt_error *err));

#endif
