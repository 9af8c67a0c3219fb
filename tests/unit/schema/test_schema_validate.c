/* What new schemas must obey. */
#include "model_fixture.h"

#include <string.h>

static silt_status validate(struct model *m, const char *columns)
{
    silt_schema *schema = model_schema(m, columns);
    m->err = (silt_error)SILT_ERROR_INIT;
    const silt_status status = sl_schema_validate(schema, &m->err);
    silt_schema_unref(schema);
    return status;
}

static void plain_schemas_pass(void **state)
{
    struct model *m = *state;
    assert_int_equal(
        validate(m, "id: int, `größe`: double, `a.b`: string, a: struct<b: int>, `日付`: date, `日記`: int"), SILT_OK);
}

static void names_equal_but_for_case_are_refused_at_any_level(void **state)
{
    struct model *m = *state;
    assert_int_equal(validate(m, "id: int, ID: int"), SILT_ESCHEMA);
    assert_string_equal(m->err.code_name, "DELTA_DUPLICATE_COLUMNS_FOUND");
    assert_int_equal(validate(m, "s: struct<Ä: int, ä: int>"), SILT_ESCHEMA);
    assert_non_null(strstr(m->err.message, "'s'"));
    assert_int_equal(validate(m, "l: array<struct<x: int, b: int, X: int>>"), SILT_ESCHEMA);
    assert_int_equal(validate(m, "m: map<struct<x: int, X: int>, int>"), SILT_ESCHEMA);
    assert_int_equal(validate(m, "`\xe2\x84\xaa`: int, a: int, k: int"), SILT_ESCHEMA); /* the Kelvin sign folds to k */
}

static void names_that_parquet_cannot_carry_are_refused(void **state)
{
    struct model *m = *state;
    static const char *const bad[] = {"`a b`: int",
                                      "`a,b`: int",
                                      "`a;b`: int",
                                      "`a{`: int",
                                      "`a}`: int",
                                      "`a(`: int",
                                      "`a)`: int",
                                      "`a\n`: int",
                                      "`a\t`: int",
                                      "`a=`: int",
                                      "s: struct<`x y`: int>"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(validate(m, bad[i]), SILT_ESCHEMA);
        assert_string_equal(m->err.code_name, "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES");
    }
}

static void empty_names_are_refused(void **state)
{
    struct model *m = *state;
    struct silt_type flat = {.kind = SILT_TYPE_LONG};
    const struct silt_field field = {.name = SL_STR(""), .type = &flat};
    silt_schema *schema = NULL;
    assert_int_equal(sl_schema_from_fields(&m->test.env, &field, 1, &schema, &m->err), SILT_OK);
    assert_int_equal(sl_schema_validate(schema, &m->err), SILT_ESCHEMA);
    silt_schema_unref(schema);
}

static silt_status partition(struct model *m, const char *columns, const struct sl_str *names, size_t n)
{
    silt_schema *schema = model_schema(m, columns);
    m->err = (silt_error)SILT_ERROR_INIT;
    const silt_status status = sl_schema_validate_partitioning(schema, names, n, &m->err);
    silt_schema_unref(schema);
    return status;
}

static void partition_columns_are_checked(void **state)
{
    struct model *m = *state;
    const struct sl_str two[2] = {SL_STR("p"), SL_STR("Q")};
    const struct sl_str twice[2] = {SL_STR("p"), SL_STR("P")};
    assert_int_equal(partition(m, "p: int, q: date, v: int", two, 2), SILT_OK);
    assert_int_equal(partition(m, "p: int, v: int", NULL, 0), SILT_OK);
    assert_int_equal(partition(m, "p: int, v: int", two, 2), SILT_ESCHEMA);
    assert_string_equal(m->err.code_name, "DELTA_PARTITION_COLUMN_NOT_FOUND");
    assert_int_equal(partition(m, "p: int, q: date", two, 2), SILT_ESCHEMA);
    assert_string_equal(m->err.code_name, "DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION");
    assert_int_equal(partition(m, "p: int, q: date, v: int", twice, 2), SILT_ESCHEMA);
    assert_int_equal(partition(m, "p: array<int>, v: int", two, 1), SILT_ESCHEMA);
    assert_string_equal(m->err.code_name, "DELTA_INVALID_PARTITION_COLUMN_TYPE");
    assert_int_equal(partition(m, "p: variant, v: int", two, 1), SILT_ESCHEMA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(plain_schemas_pass),
        MODEL_TEST(names_equal_but_for_case_are_refused_at_any_level),
        MODEL_TEST(names_that_parquet_cannot_carry_are_refused),
        MODEL_TEST(empty_names_are_refused),
        MODEL_TEST(partition_columns_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
