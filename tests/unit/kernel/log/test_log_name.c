/*
 * Names of the files of a log: only the exact forms count.
 */
#include "test_env.h"

#include <inttypes.h>
#include <stdio.h>

#include "kernel/log/commit.h"

static void each_form_is_known(void **state)
{
    (void)state;
    struct sl_log_file file = sl_log_name_parse(SL_STR("00000000000000000042.json"));
    assert_int_equal(file.kind, SL_LOG_COMMIT);
    assert_int_equal(file.version, 42);
    file = sl_log_name_parse(SL_STR("00000000000000000042.checkpoint.parquet"));
    assert_int_equal(file.kind, SL_LOG_CHECKPOINT);
    file = sl_log_name_parse(SL_STR("00000000000000000042.checkpoint.0000000002.0000000003.parquet"));
    assert_int_equal(file.kind, SL_LOG_CHECKPOINT_PART);
    assert_int_equal(file.part, 2);
    assert_int_equal(file.n_parts, 3);
    file = sl_log_name_parse(SL_STR("00000000000000000042.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json"));
    assert_int_equal(file.kind, SL_LOG_CHECKPOINT_V2);
    file = sl_log_name_parse(SL_STR("00000000000000000042.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.parquet"));
    assert_int_equal(file.kind, SL_LOG_CHECKPOINT_V2);
    file = sl_log_name_parse(SL_STR("00000000000000000004.00000000000000000006.compacted.json"));
    assert_int_equal(file.kind, SL_LOG_COMPACTED);
    assert_int_equal(file.version, 4);
    assert_int_equal(file.end_version, 6);
    assert_int_equal(sl_log_name_parse(SL_STR("00000000000000000042.crc")).kind, SL_LOG_CRC);
    assert_int_equal(sl_log_name_parse(SL_STR("_last_checkpoint")).kind, SL_LOG_LAST_CHECKPOINT);
    assert_true(sl_log_name_parse(SL_STR("09223372036854775807.json")).version == INT64_MAX);
}

static void names_are_made_as_they_are_read(void **state)
{
    (void)state;
    static const int64_t versions[] = {0, 9, 10, 42, 1234567890123, INT64_MAX};
    struct test_env t;
    struct sl_arena arena;
    test_env_init(&t);
    sl_arena_init(&arena, &t.env);
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        char expected[64];
        (void)snprintf(expected, sizeof(expected), "%020" PRId64 ".crc", versions[i]);
        assert_string_equal(sl_log_name_make(&arena, versions[i], SL_STR(".crc")), expected);
        (void)snprintf(expected, sizeof(expected), "s3://b/t/_delta_log/%020" PRId64 ".json", versions[i]);
        assert_string_equal(sl_log_commit_path(&arena, SL_STR("s3://b/t"), versions[i]).ptr, expected);
    }
    assert_string_equal(sl_log_name_make(&arena, 7, SL_STR("")), "00000000000000000007");
    sl_arena_release(&arena);
    test_env_check(&t);
}

static void all_else_is_passed_over(void **state)
{
    (void)state;
    static const char *const names[] = {"",
                                        "3.json",
                                        "0000000000000000042.json",
                                        "000000000000000000042.json",
                                        "00000000000000000042.JSON",
                                        "00000000000000000042.json.tmp",
                                        "00000000000000000003.json.bak",
                                        ".00000000000000000003.json.crc",
                                        "09223372036854775808.json",
                                        "99999999999999999999.json",
                                        "+0000000000000000042.json",
                                        "00000000000000000007.d9c1b3c8-0a0f-4f9c-9b7e-3a4f5b6c7d8e.json",
                                        "00000000000000000042.checkpoint",
                                        "00000000000000000042.checkpoint.json",
                                        "00000000000000000042.checkpoint.0000000000.0000000003.parquet",
                                        "00000000000000000042.checkpoint.0000000004.0000000003.parquet",
                                        "00000000000000000042.checkpoint.1.3.parquet",
                                        "00000000000000000042.checkpoint.0000000001.9999999999.parquet",
                                        "00000000000000000042.checkpoint.80a083e8x7026-4e79-81be-64bd76c43a11.json",
                                        "00000000000000000006.00000000000000000006.compacted.json",
                                        "00000000000000000006.00000000000000000004.compacted.json",
                                        "_commit_d9c1b3c8.json.tmp",
                                        "00000000000000000009.json/x"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct sl_log_file file = sl_log_name_parse(sl_str_from(names[i]));
        if (file.kind != SL_LOG_OTHER) {
            print_error("taken: %s\n", names[i]);
        }
        assert_int_equal(file.kind, SL_LOG_OTHER);
    }
}

static void paths_are_padded(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_arena arena;
    sl_arena_init(&arena, &t.env);
    assert_string_equal(sl_log_commit_path(&arena, SL_STR("s3://b/t"), 7).ptr,
                        "s3://b/t/_delta_log/00000000000000000007.json");
    assert_string_equal(sl_log_path(&arena, SL_STR("/"), SL_STR("x")).ptr, "/_delta_log/x");
    sl_arena_release(&arena);
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_form_is_known),
                                       cmocka_unit_test(names_are_made_as_they_are_read),
                                       cmocka_unit_test(all_else_is_passed_over), cmocka_unit_test(paths_are_padded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
