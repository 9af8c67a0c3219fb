/*
 * Lines of a commit to actions: what is taken, what is kept, what is refused.
 */
#include "test_env.h"

#include <string.h>

#include "kernel/action/action.h"

struct fixture {
    struct test_env test;
    struct sl_arena arena;
    struct sl_action action;
    silt_error err;
};

static int setup(void **state)
{
    static struct fixture f;
    f = (struct fixture){.err = SILT_ERROR_INIT};
    test_env_init(&f.test);
    sl_arena_init(&f.arena, &f.test.env);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    sl_arena_release(&f->arena);
    test_env_check(&f->test);
    return 0;
}

static silt_status parse(struct fixture *f, const char *line)
{
    silt_error_reset(&f->err);
    return sl_action_parse(&f->test.env, &f->arena, sl_str_from(line), &f->action, &f->err);
}

static void expect_refused(struct fixture *f, const char *line, const char *in_message)
{
    assert_int_equal(parse(f, line), SILT_ECORRUPT);
    if (strstr(f->err.message, in_message) == NULL) {
        print_error("told: %s\n", f->err.message);
    }
    assert_non_null(strstr(f->err.message, in_message));
    assert_int_equal(f->action.kind, SL_ACTION_UNKNOWN);
}

static void assert_text(struct sl_str found, const char *expected)
{
    assert_non_null(found.ptr);
    assert_int_equal(found.len, strlen(expected));
    assert_memory_equal(found.ptr, expected, found.len);
}

static void an_add_is_read_whole(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(
        parse(f,
              "{\"add\":{\"dataChange\":true,\"path\":\"p=1/a%20b\",\"partitionValues\":{\"p\":\"1\",\"q\":null},"
              "\"size\":9007199254740993,\"modificationTime\":5,\"stats\":\"{\\\"numRecords\\\":2}\",\"tags\":{"
              "\"t\":\"x\",\"n\":1,\"o\":{\"k\":[1.50]}},\"baseRowId\":7,\"defaultRowCommitVersion\":3,"
              "\"clusteringProvider\":\"liquid\",\"deletionVector\":{\"storageType\":\"u\",\"pathOrInlineDv\":"
              "\"ab\",\"offset\":4,\"sizeInBytes\":40,\"cardinality\":6,\"maxRowIndex\":9},\"later\":{\"x\":1.10}}}"),
        SILT_OK);
    const struct sl_add *add = &f->action.u.add;
    assert_int_equal(f->action.kind, SL_ACTION_ADD);
    assert_text(add->path, "p=1/a%20b");
    assert_int_equal(add->partition_values.n, 2);
    assert_text(add->partition_values.items[0].value, "1");
    assert_null(add->partition_values.items[1].value.ptr);
    assert_true(add->size == INT64_C(9007199254740993));
    assert_text(add->stats, "{\"numRecords\":2}");
    assert_true(add->has_tags);
    assert_text(add->tags.items[1].value, "1");
    assert_text(add->tags.items[2].value, "{\"k\":[1.50]}");
    assert_int_equal(add->deletion_vector->offset, 4);
    assert_int_equal(add->deletion_vector->extra.n, 1);
    assert_int_equal(add->extra.n, 1);
    assert_text(add->extra.items[0].value, "{\"x\":1.10}");
}

static void absent_members_are_absent(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(parse(f, "{\"remove\":{\"path\":\"a\",\"dataChange\":false,\"size\":null}}"), SILT_OK);
    const struct sl_remove *gone = &f->action.u.remove;
    assert_true(gone->deletion_timestamp == SL_NO_I64);
    assert_true(gone->size == SL_NO_I64);
    assert_int_equal(gone->extended_file_metadata, SL_FLAG_ABSENT);
    assert_false(gone->has_partition_values);
    assert_null(gone->deletion_vector);
    assert_null(gone->stats.ptr);
}

static void scalars_serve_as_texts_in_maps(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(parse(f, "{\"add\":{\"path\":\"a\",\"partitionValues\":{\"i\":12345678901234567890,\"b\":true},"
                              "\"size\":1,\"modificationTime\":1,\"dataChange\":true}}"),
                     SILT_OK);
    assert_text(f->action.u.add.partition_values.items[0].value, "12345678901234567890");
    assert_text(f->action.u.add.partition_values.items[1].value, "true");
    expect_refused(f,
                   "{\"add\":{\"path\":\"a\",\"partitionValues\":{\"i\":[]},\"size\":1,\"modificationTime\":1,"
                   "\"dataChange\":true}}",
                   "add.partitionValues");
}

static void a_wrong_or_missing_member_is_named(void **state)
{
    struct fixture *f = *state;
    expect_refused(f, "{\"add\":{\"path\":1}}", "add.path is not a text");
    expect_refused(f, "{\"add\":{\"path\":\"a\",\"partitionValues\":{},\"size\":1.5}}", "add.size");
    expect_refused(f, "{\"add\":{\"path\":\"a\",\"partitionValues\":{},\"size\":-1}}", "add.size");
    expect_refused(f, "{\"add\":{\"path\":\"a\",\"partitionValues\":{}}}", "add lacks the required member size");
    expect_refused(f, "{\"txn\":{\"appId\":\"a\",\"version\":\"1\"}}", "txn.version");
    expect_refused(f, "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2,\"writerFeatures\":[1]}}",
                   "protocol.writerFeatures");
    expect_refused(f, "{\"metaData\":{\"id\":\"x\",\"format\":\"parquet\"}}", "format is not an object");
    expect_refused(f, "{\"add\":[]}", "add is not an object");
}

static void a_line_holds_one_action(void **state)
{
    struct fixture *f = *state;
    expect_refused(f, "{\"txn\":{\"appId\":\"a\",\"version\":1},\"remove\":{\"path\":\"a\",\"dataChange\":true}}",
                   "more than one action");
    expect_refused(f, "[1]", "not a JSON object");
    assert_int_equal(parse(f, "{\"add\":null,\"txn\":{\"appId\":\"a\",\"version\":1099511627776}}"), SILT_OK);
    assert_int_equal(f->action.kind, SL_ACTION_APP_TXN);
    assert_true(f->action.u.app_txn.version == INT64_C(1099511627776));
    assert_true(f->action.u.app_txn.last_updated == SL_NO_I64);
}

static void unknown_actions_are_passed_over(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(parse(f, "{\"fooBar\":{\"x\":[1,2]}}"), SILT_OK);
    assert_int_equal(f->action.kind, SL_ACTION_UNKNOWN);
    assert_int_equal(parse(f, "{}"), SILT_OK);
    assert_int_equal(f->action.kind, SL_ACTION_UNKNOWN);
}

static void commit_info_is_free_form(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(parse(f,
                           "{\"commitInfo\":{\"timestamp\":\"soon\",\"operation\":\"WRITE\",\"operationParameters\":{"
                           "\"auto\":false,\"by\":[],\"p\":null},\"operationMetrics\":[1.50],\"isBlindAppend\":1,"
                           "\"readVersion\":4,\"x\":{}}}"),
                     SILT_OK);
    const struct sl_commit_info *info = &f->action.u.commit_info;
    assert_true(info->timestamp == SL_NO_I64);
    assert_text(info->operation, "WRITE");
    assert_text(info->operation_parameters, "{\"auto\":false,\"by\":[],\"p\":null}");
    assert_text(info->operation_metrics, "[1.50]");
    assert_int_equal(info->is_blind_append, SL_FLAG_ABSENT);
    assert_int_equal(info->read_version, 4);
    assert_int_equal(parse(f, "{\"commitInfo\":null}"), SILT_OK);
    assert_int_equal(f->action.kind, SL_ACTION_COMMIT_INFO);
    assert_int_equal(parse(f, "{\"commitInfo\":7}"), SILT_OK);
}

/* Whatever else the line holds, the text is that of the object alone. */
static void the_text_of_commit_info_is_kept(void **state)
{
    static const char *const lines[][2] = {
        {"{\"commitInfo\":{\"a\":\"}\",\"b\":{ \"c\":1.50}}}", "{\"a\":\"}\",\"b\":{ \"c\":1.50}}"},
        {" {\"commitInfo\":{\"a\":1} }\t", "{\"a\":1} "},
        {"{ \"commitInfo\": {\"a\": 1}}", "{\"a\":1}"},
        {"{\"commitInfo\":{\"a\": 1},\"add\":null}", "{\"a\":1}"},
        {"{\"add\":null,\"commitInfo\":{\"a\":1}}", "{\"a\":1}"},
        {"{\"commitInfo\":null}", "null"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        assert_int_equal(parse(f, lines[i][0]), SILT_OK);
        assert_text(f->action.u.commit_info.json, lines[i][1]);
    }
}

static void a_quoted_number_of_commit_info_is_a_number(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(parse(f, "{\"commitInfo\":{\"timestamp\":\"1700000000000\",\"readVersion\":\"7\",\"x\":1e999}}"),
                     SILT_OK);
    assert_true(f->action.u.commit_info.timestamp == INT64_C(1700000000000));
    assert_true(f->action.u.commit_info.read_version == 7);
}

static void what_format_holds_beside_what_is_known_is_kept(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(parse(f, "{\"metaData\":{\"id\":\"x\",\"format\":{\"version\":[1,{\"a\":12345678901234567890}],"
                              "\"provider\":\"parquet\"},\"partitionColumns\":[]}}"),
                     SILT_OK);
    assert_int_equal(f->action.u.metadata.format_extra.n, 1);
    assert_text(f->action.u.metadata.format_extra.items[0].value, "[1,{\"a\":12345678901234567890}]");
}

static void counts_are_limited(void **state)
{
    struct fixture *f = *state;
    struct sl_buf line;
    sl_buf_init(&line, &f->test.env);
    sl_buf_put_c(&line, "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"a\"");
    for (size_t i = 0; i < SL_ACTION_MAX_MEMBERS; i++) {
        sl_buf_put_c(&line, ",\"\"");
    }
    sl_buf_put_c(&line, "]}}");
    assert_int_equal(parse(f, sl_buf_cstr(&line)), SILT_ELIMIT);
    assert_non_null(strstr(f->err.message, "readerFeatures has 100001 members"));
    sl_buf_release(&line);
    /* Nothing of a line that is too long is looked at. */
    assert_int_equal(
        sl_action_parse(&f->test.env, &f->arena, sl_str_make("{", SL_ACTION_MAX_LINE + 1), &f->action, &f->err),
        SILT_ELIMIT);
}

static void torn_lines_are_refused(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(parse(f, "{\"add\":{\"path\":\"a"), SILT_ECORRUPT);
    assert_int_equal(parse(f, "{\"txn\":{\"appId\":\"a\",\"version\":1}} x"), SILT_ECORRUPT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_add_is_read_whole),
        TEST(absent_members_are_absent),
        TEST(scalars_serve_as_texts_in_maps),
        TEST(a_wrong_or_missing_member_is_named),
        TEST(a_line_holds_one_action),
        TEST(unknown_actions_are_passed_over),
        TEST(commit_info_is_free_form),
        TEST(the_text_of_commit_info_is_kept),
        TEST(torn_lines_are_refused),
        TEST(a_quoted_number_of_commit_info_is_a_number),
        TEST(what_format_holds_beside_what_is_known_is_kept),
        TEST(counts_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
