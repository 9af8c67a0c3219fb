/*
 * Actions to lines: what was read is written back, optional members only when present.
 */
#include "test_env.h"

#include <string.h>

#include "kernel/action/action.h"

static void expect_line(struct test_env *t, const struct sl_action *action, const char *expected)
{
    struct sl_buf out;
    silt_error err = SILT_ERROR_INIT;
    sl_buf_init(&out, &t->env);
    assert_int_equal(sl_action_write(&out, action, &err), SILT_OK);
    assert_string_equal(sl_buf_cstr(&out), expected);
    sl_buf_release(&out);
}

static void lines_come_back_as_they_were(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "{\"add\":{\"path\":\"p=1/a%20b\",\"partitionValues\":{\"p\":\"1\",\"q\":null},\"size\":9,\"modificationTime\":5,"
        "\"dataChange\":false,\"stats\":\"{\\\"numRecords\\\":2}\",\"tags\":{\"t\":\"x\"},\"deletionVector\":{"
        "\"storageType\":\"u\",\"pathOrInlineDv\":\"ab\",\"offset\":4,\"sizeInBytes\":40,\"cardinality\":6},\"baseRowId\":"
        "7,\"defaultRowCommitVersion\":3,\"clusteringProvider\":\"liquid\",\"later\":{\"x\":1.10}}}\n",
        "{\"remove\":{\"path\":\"a\",\"dataChange\":true}}\n",
        "{\"remove\":{\"path\":\"a\",\"deletionTimestamp\":9,\"dataChange\":true,\"extendedFileMetadata\":true,"
        "\"partitionValues\":{},\"size\":0}}\n",
        "{\"cdc\":{\"path\":\"c\",\"partitionValues\":{},\"size\":1,\"dataChange\":false}}\n",
        "{\"metaData\":{\"id\":\"x\",\"name\":\"n\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":"
        "\"{}\",\"partitionColumns\":[\"p\"],\"configuration\":{\"k\":\"v\"},\"createdTime\":3}}\n",
        "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n",
        "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[],\"writerFeatures\":[\"a\"]}}\n",
        "{\"txn\":{\"appId\":\"a\",\"version\":-3,\"lastUpdated\":4}}\n",
        "{\"domainMetadata\":{\"domain\":\"d\",\"configuration\":\"\",\"removed\":true}}\n",
        "{\"commitInfo\":{\"z\":1,\"timestamp\":5}}\n",
        "{\"sidecar\":{\"path\":\"s\",\"sizeInBytes\":1,\"modificationTime\":2}}\n",
        "{\"checkpointMetadata\":{\"version\":4,\"tags\":{\"a\":\"b\"}}}\n",
    };
    struct test_env t;
    test_env_init(&t);
    struct sl_arena arena;
    sl_arena_init(&arena, &t.env);
    silt_error err = SILT_ERROR_INIT;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct sl_action action;
        assert_int_equal(sl_action_parse(&t.env, &arena, sl_str_trim(sl_str_from(lines[i])), &action, &err), SILT_OK);
        expect_line(&t, &action, lines[i]);
    }
    sl_arena_release(&arena);
    test_env_check(&t);
}

static void a_commit_info_is_written_from_its_members(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    const struct sl_action action = {.kind = SL_ACTION_COMMIT_INFO,
                                     .u.commit_info = {.timestamp = 5,
                                                       .in_commit_timestamp = SL_NO_I64,
                                                       .read_version = SL_NO_I64,
                                                       .is_blind_append = SL_FLAG_TRUE,
                                                       .operation = SL_STR("WRITE"),
                                                       .operation_parameters = SL_STR("{\"mode\":\"Append\"}")}};
    expect_line(
        &t, &action,
        "{\"commitInfo\":{\"timestamp\":5,\"operation\":\"WRITE\",\"operationParameters\":{\"mode\":\"Append\"},"
        "\"isBlindAppend\":true}}\n");
    test_env_check(&t);
}

static void a_required_member_that_is_not_set_is_refused(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_buf out;
    silt_error err = SILT_ERROR_INIT;
    sl_buf_init(&out, &t.env);
    const struct sl_action action = {.kind = SL_ACTION_ADD, .u.add = {.size = 1}};
    assert_int_equal(sl_action_write(&out, &action, &err), SILT_EINVALID);
    assert_non_null(strstr(err.message, "add.path"));
    sl_buf_release(&out);
    test_env_check(&t);
}

static void a_tombstone_repeats_the_file(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    const struct sl_dv_descriptor dv = {.storage_type = SL_STR("u"),
                                        .path_or_inline_dv = SL_STR("ab"),
                                        .offset = SL_NO_I64,
                                        .size_in_bytes = 4,
                                        .cardinality = 1};
    const struct sl_add add = {.path = SL_STR("a"),
                               .size = 3,
                               .deletion_vector = &dv,
                               .base_row_id = SL_NO_I64,
                               .default_row_commit_version = SL_NO_I64};
    struct sl_action action = {.kind = SL_ACTION_REMOVE};
    sl_remove_from_add(&add, 77, true, &action.u.remove);
    expect_line(
        &t, &action,
        "{\"remove\":{\"path\":\"a\",\"deletionTimestamp\":77,\"dataChange\":true,\"extendedFileMetadata\":true,"
        "\"partitionValues\":{},\"size\":3,\"deletionVector\":{\"storageType\":\"u\",\"pathOrInlineDv\":\"ab\","
        "\"sizeInBytes\":4,\"cardinality\":1}}}\n");
    test_env_check(&t);
}

static void copies_live_on_their_own(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_arena from;
    struct sl_arena to;
    sl_arena_init(&from, &t.env);
    sl_arena_init(&to, &t.env);
    silt_error err = SILT_ERROR_INIT;
    static const char line[] =
        "{\"add\":{\"path\":\"a\",\"partitionValues\":{\"p\":null},\"size\":9,\"modificationTime\":5,"
        "\"dataChange\":false,\"tags\":{\"t\":\"x\"},\"x\":[1]}}\n";
    struct sl_action action;
    struct sl_action copy = {.kind = SL_ACTION_ADD};
    assert_int_equal(sl_action_parse(&t.env, &from, SL_STR(line), &action, &err), SILT_OK);
    assert_true(sl_add_copy(&to, &action.u.add, &copy.u.add));
    sl_arena_release(&from);
    expect_line(&t, &copy, line);
    sl_arena_release(&to);
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_come_back_as_they_were),
        cmocka_unit_test(a_commit_info_is_written_from_its_members),
        cmocka_unit_test(a_required_member_that_is_not_set_is_refused),
        cmocka_unit_test(a_tombstone_repeats_the_file),
        cmocka_unit_test(copies_live_on_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
