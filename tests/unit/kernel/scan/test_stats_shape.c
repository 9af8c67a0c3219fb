/* Shapes of statistics: what matches is valid JSON of the same members, and gives the wanted values. */
#include "kernel/scan/stats_shape.h"

#include <stdlib.h>
#include <string.h>

#include "test_env.h"

static struct test_env t;
static struct sl_stats_shape shape;

static const char lesson[] =
    "{\"numRecords\":10,\"minValues\":{\"x\":1,\"s\":\"ab\"},\"tight\":true,\"list\":[1,\"q\"] }";

static int set_up(void **state)
{
    (void)state;
    test_env_init(&t);
    sl_stats_shape_init(&shape, &t.env);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sl_stats_shape_release(&shape);
    test_env_check(&t);
    return 0;
}

static size_t place_of(const char *text, const char *value)
{
    const char *found = strstr(text, value);
    assert_non_null(found);
    return (size_t)(found - text);
}

/* x and s are wanted. */
static void learn_lesson(void)
{
    const size_t wanted[] = {place_of(lesson, "1,\"s\""), place_of(lesson, "ab")};
    assert_true(sl_stats_shape_learn(&shape, SL_STR(lesson), wanted, 2));
}

static void texts_that_differ_in_values_match(void **state)
{
    (void)state;
    struct sl_json_token tokens[2];
    learn_lesson();
    assert_true(sl_stats_shape_match(&shape, SL_STR(lesson), tokens));
    assert_true(sl_str_eq_c(tokens[0].raw, "1"));
    assert_true(sl_str_eq_c(tokens[1].raw, "ab"));
    static const char other[] =
        "{\"numRecords\":0,\"minValues\":{\"x\":-1234567890123.5E-7,\"s\":\"\"},\"tight\":true,\"list\":[0.5,\"\\\"\\u00e9\xc3\xa9\"] }";
    assert_true(sl_stats_shape_match(&shape, SL_STR(other), tokens));
    assert_true(sl_str_eq_c(tokens[0].raw, "-1234567890123.5E-7"));
    assert_int_equal(tokens[0].kind, SL_JSON_NUMBER);
    assert_int_equal(tokens[1].raw.len, 0);
    assert_int_equal(tokens[1].kind, SL_JSON_STRING);
}

static void other_members_kinds_and_faults_do_not_match(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "{",
        "{\"numRecords\":10,\"minValues\":{\"y\":1,\"s\":\"ab\"},\"tight\":true,\"list\":[1,\"q\"] }",
        "{\"numRecords\":10,\"minValues\":{\"x\":\"1\",\"s\":\"ab\"},\"tight\":true,\"list\":[1,\"q\"] }",
        "{\"numRecords\":10,\"minValues\":{\"x\":null,\"s\":\"ab\"},\"tight\":true,\"list\":[1,\"q\"] }",
        "{\"numRecords\":10,\"minValues\":{\"x\":1,\"s\":\"ab\"},\"tight\":false,\"list\":[1,\"q\"] }",
        "{\"numRecords\":10,\"minValues\":{\"x\":1,\"s\":\"ab\"},\"tight\":true,\"list\":[1,\"q\"] } ",
        "{\"numRecords\":10,\"minValues\":{\"x\":1,\"s\":\"ab\"},\"tight\":true,\"list\":[1,\"q\"]",
        "{\"numRecords\":01,\"minValues\":{\"x\":1,\"s\":\"ab\"},\"tight\":true,\"list\":[1,\"q\"] }",
        "{\"numRecords\":-,\"minValues\":{\"x\":1,\"s\":\"ab\"},\"tight\":true,\"list\":[1,\"q\"] }",
        "{\"numRecords\":1.,\"minValues\":{\"x\":1,\"s\":\"ab\"},\"tight\":true,\"list\":[1,\"q\"] }",
        "{\"numRecords\":1e,\"minValues\":{\"x\":1,\"s\":\"ab\"},\"tight\":true,\"list\":[1,\"q\"] }",
        "{\"numRecords\":NaN,\"minValues\":{\"x\":1,\"s\":\"ab\"},\"tight\":true,\"list\":[1,\"q\"] }",
        "{\"numRecords\":10,\"minValues\":{\"x\":1,\"s\":\"a\\q\"},\"tight\":true,\"list\":[1,\"q\"] }",
        "{\"numRecords\":10,\"minValues\":{\"x\":1,\"s\":\"a\xff\"},\"tight\":true,\"list\":[1,\"q\"] }",
        "{\"numRecords\":10,\"minValues\":{\"x\":1,\"s\":\"a\n\"},\"tight\":true,\"list\":[1,\"q\"] }",
        "{\"numRecords\":10,\"minValues\":{\"x\":1,\"s\":\"ab",
    };
    struct sl_json_token tokens[2];
    learn_lesson();
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (sl_stats_shape_match(&shape, sl_str_from(texts[i]), tokens)) {
            fail_msg("matched: %s", texts[i]);
        }
    }
}

static void every_prefix_of_a_text_is_read_within_its_bounds(void **state)
{
    (void)state;
    struct sl_json_token tokens[2];
    learn_lesson();
    for (size_t len = 0; len < sizeof(lesson) - 1; len++) {
        char *exact = malloc(len + 1); /* so that a sanitizer sees what lies beyond */
        memcpy(exact, lesson, len);
        assert_false(sl_stats_shape_match(&shape, sl_str_make(exact, len), tokens));
        free(exact);
    }
}

static void nothing_learnt_matches_nothing(void **state)
{
    (void)state;
    struct sl_json_token tokens[2];
    assert_false(sl_stats_shape_match(&shape, SL_STR(""), tokens));
    assert_false(sl_stats_shape_match(&shape, SL_STR("{}"), tokens));
    /* A wanted place that is none: the shape cannot be used. */
    const size_t wanted[] = {3};
    assert_false(sl_stats_shape_learn(&shape, SL_STR(lesson), wanted, 1));
    assert_false(sl_stats_shape_match(&shape, SL_STR(lesson), tokens));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(texts_that_differ_in_values_match, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_members_kinds_and_faults_do_not_match, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_prefix_of_a_text_is_read_within_its_bounds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_learnt_matches_nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
