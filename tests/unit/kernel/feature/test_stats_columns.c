/* Which leaves get statistics. */
#include "kernel/feature/feature.h"

#include "test_env.h"

/* Leaves: x, z.z (one name), s.f, s.g.h, arr, m, `q (a back-quote in its name) */
static const char schema_json[] =
    "{\"type\":\"struct\",\"fields\":["
    "{\"name\":\"x\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"z.z\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"s\",\"type\":{\"type\":\"struct\",\"fields\":["
    "{\"name\":\"f\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"g\",\"type\":{\"type\":\"struct\",\"fields\":["
    "{\"name\":\"h\",\"type\":\"date\",\"nullable\":true,\"metadata\":{}}]},\"nullable\":true,\"metadata\":{}}]},"
    "\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"arr\",\"type\":{\"type\":\"array\",\"elementType\":\"long\",\"containsNull\":true},"
    "\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":\"long\",\"valueContainsNull\":true},"
    "\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"`q\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}";

/* One digit for each leaf. */
static void expect(const char *key, const char *value, const char *flags)
{
    struct test_env env;
    test_env_init(&env);
    struct sl_arena arena;
    sl_arena_init(&arena, &env.env);
    silt_schema *schema = NULL;
    assert_int_equal(silt_schema_from_json(&env.env, schema_json, strlen(schema_json), &schema, NULL), SILT_OK);
    const struct sl_kv pair = {sl_str_from(key), sl_str_from(value)};
    const struct sl_kv_list config = {&pair, key != NULL ? 1 : 0};
    bool *selected = NULL;
    size_t n = 0;
    assert_int_equal(sl_stats_columns(&config, schema, &arena, &selected, &n, NULL), SILT_OK);
    assert_int_equal(n, strlen(flags));
    for (size_t i = 0; i < n; i++) {
        if (selected[i] != (flags[i] == '1')) {
            fail_msg("%s: leaf %zu is %d", value, i, (int)selected[i]);
        }
    }
    silt_schema_unref(schema);
    sl_arena_release(&arena);
    test_env_check(&env);
}

static void first_leaves_are_taken_by_number(void **state)
{
    (void)state;
    expect(NULL, "", "1111111");
    expect("delta.dataSkippingNumIndexedCols", "3", "1110000");
    expect("delta.dataSkippingNumIndexedCols", "0", "0000000");
    expect("delta.dataSkippingNumIndexedCols", "-1", "1111111");
}

static void named_columns_win_over_the_number(void **state)
{
    (void)state;
    expect("delta.dataSkippingStatsColumns", "x,`z.z`", "1100000");
    expect("delta.dataSkippingStatsColumns", "S", "0011000");
    expect("delta.dataSkippingStatsColumns", "s.g", "0001000");
    expect("delta.dataSkippingStatsColumns", " s . f , arr ", "0010100");
    expect("delta.dataSkippingStatsColumns", "```q`", "0000001");
    expect("delta.dataSkippingStatsColumns", "nothing,x.y,s.f.z", "0000000");
}

static void list_that_does_not_parse_gives_the_default(void **state)
{
    (void)state;
    expect("delta.dataSkippingStatsColumns", "x,", "1111111");
    expect("delta.dataSkippingStatsColumns", "`x", "1111111");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_leaves_are_taken_by_number),
        cmocka_unit_test(named_columns_win_over_the_number),
        cmocka_unit_test(list_that_does_not_parse_gives_the_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
