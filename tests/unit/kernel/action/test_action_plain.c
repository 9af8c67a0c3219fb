/*
 * The fast way of reading a line: which lines it takes, and that what it takes is what the general parser makes of them.
 */
#include "kernel/action/action_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "action_random.h"
#include "base/alloc.h"
#include "silt/env.h"

struct fixture {
    struct sl_arena arena;
    struct sl_action_reader reader;
    struct sl_action action;
};

static int setup(void **state)
{
    static struct fixture fixture;
    sl_arena_init(&fixture.arena, silt_env_default());
    sl_action_reader_init(&fixture.reader, silt_env_default(), &fixture.arena);
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    sl_arena_release(&f->arena);
    return 0;
}

static bool takes(struct fixture *f, const char *line)
{
    const struct sl_str text = sl_str_from(line);
    return sl_action_read_plain(&f->reader, text, text.ptr + text.len, &f->action);
}

static void lines_as_writers_write_them_are_taken(void **state)
{
    struct fixture *f = *state;
    assert_true(takes(
        f, "{\"add\":{\"path\":\"p=1/a%20b.parquet\",\"partitionValues\":{\"p\":\"1\",\"q\":null},\"size\":12345678901,"
           "\"modificationTime\":1700000000000,\"dataChange\":true,\"stats\":\"{\\\"numRecords\\\":1,"
           "\\\"minValues\\\":{\\\"a\\\":\\\"x\\\\\\\\y\\\"}}\",\"tags\":{},\"deletionVector\":{\"storageType\":\"u\","
           "\"pathOrInlineDv\":\"ab\",\"offset\":1,\"sizeInBytes\":36,\"cardinality\":2},\"baseRowId\":-3}}"));
    const struct sl_add *add = &f->action.u.add;
    assert_true(sl_str_eq_c(add->path, "p=1/a%20b.parquet"));
    assert_int_equal(add->partition_values.n, 2);
    assert_null(add->partition_values.items[1].value.ptr);
    assert_true(add->size == 12345678901 && add->modification_time == 1700000000000 && add->base_row_id == -3);
    assert_true(sl_str_eq_c(add->stats, "{\"numRecords\":1,\"minValues\":{\"a\":\"x\\\\y\"}}"));
    assert_true(add->has_tags && add->tags.n == 0);
    assert_int_equal(add->deletion_vector->cardinality, 2);
    assert_true(
        takes(f, "{\"remove\":{\"dataChange\":false,\"path\":\"é\",\"extendedFileMetadata\":true,\"size\":null}}"));
    assert_int_equal(f->action.u.remove.extended_file_metadata, SL_FLAG_TRUE);
    assert_true(f->action.u.remove.size == SL_NO_I64);
    assert_true(takes(
        f,
        "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"a\"],\"writerFeatures\":[]}}"));
    assert_true(takes(f, "{\"sidecar\":{\"path\":\"x.parquet\",\"sizeInBytes\":1,\"modificationTime\":2}}"));
    assert_true(takes(f, "{\"checkpointMetadata\":{\"version\":364475}}"));
    assert_true(takes(f, "{\"txn\":{\"appId\":\"a\",\"version\":123456789012345678}}"));
    assert_true(f->action.u.app_txn.version == 123456789012345678);
}

static void whatever_is_odd_is_left_alone(void **state)
{
    struct fixture *f = *state;
    static const char *const lines[] = {
        "",
        "{}",
        "{\"commitInfo\":{}}",
        "{\"fooBar\":{}}",
        "{\"txn\":{\"appId\":\"a\",\"version\":1}} x",
        "{\"txn\":{\"appId\":\"a\",\"version\":1},\"cdc\":null}",
        "{\"txn\":{\"appId\":\"a\",\"version\":1,\"appId\":\"b\"}}",
        "{\"txn\":{\"appId\":\"a\",\"version\":1,}}",
        "{\"txn\":{\"appId\":\"a\",\"version\":1,\"x\":1}}",
        "{\"txn\":{\"appId\":\"a\",\"version\":01}}",
        "{\"txn\":{\"appId\":\"a\",\"version\":1.0}}",
        "{\"txn\":{\"appId\":\"a\",\"version\":1234567890123456789}}",
        "{\"txn\":{\"appId\":\"a\",\"version\":-}}",
        "{\"txn\":{\"appId\":\"a\"}}",
        "{\"txn\":{\"appId\":\"\\ud800\",\"version\":1}}",
        "{\"txn\":{\"appId\":\"a\tb\",\"version\":1}}",
        "{\"txn\":{\"appId\":\"\xff\",\"version\":1}}",
        "{\"txn\":{\"appId\":\"a\",\"version\":nul}}",
        "{\"checkpointMetadata\":{\"version\":1",
        "{\"add\":{\"path\":\"a\",\"partitionValues\":{\"p\":1},\"size\":1,\"modificationTime\":1,\"dataChange\":true}}",
        "{\"add\":{\"path\":\"a\",\"partitionValues\":{},\"size\":-1,\"modificationTime\":1,\"dataChange\":true}}",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        if (takes(f, lines[i])) {
            fail_msg("taken: %s", lines[i]);
        }
    }
}

struct counts {
    size_t taken, valid, refused;
};

/* Both ways with the same line, in a block of exactly its size. */
static void compare(struct sl_str line, struct counts *counts)
{
    const silt_env *env = silt_env_default();
    struct sl_arena arena;
    struct sl_action_reader reader;
    struct sl_action fast;
    struct sl_action general;
    char *exact = sl_alloc(env, line.len + 1);
    assert_non_null(exact);
    memcpy(exact, line.ptr, line.len);
    exact[line.len] = '\n';
    const struct sl_str copy = sl_str_trim(sl_str_make(exact, line.len));
    sl_arena_init(&arena, env);
    sl_action_reader_init(&reader, env, &arena);
    const bool taken = sl_action_read_plain(&reader, copy, exact + line.len + 1, &fast);
    const silt_status status = sl_action_parse(env, &arena, copy, &general, NULL);
    if (taken && status != SILT_OK) {
        fail_msg("only the fast way takes it: %.*s", SL_FMT(copy));
    }
    if (taken && action_difference(&fast, &general) != NULL) {
        fail_msg("%s differs: %.*s", action_difference(&fast, &general), SL_FMT(copy));
    }
    counts->taken += taken ? 1 : 0;
    counts->valid += status == SILT_OK ? 1 : 0;
    counts->refused += status != SILT_OK ? 1 : 0;
    sl_arena_release(&arena);
    sl_release(env, exact, line.len + 1);
}

static void both_ways_agree_on_random_lines(void **state)
{
    (void)state;
    struct counts counts = {0};
    struct sl_buf line;
    sl_buf_init(&line, silt_env_default());
    uint64_t seed = 4711;
    for (size_t i = 0; i < 200000; i++) {
        sl_buf_clear(&line);
        action_random_line(&line, &seed);
        compare(sl_buf_view(&line), &counts);
    }
    sl_buf_release(&line);
    print_message("taken %zu, valid %zu, refused %zu\n", counts.taken, counts.valid, counts.refused);
    /* All three must be there in numbers, or the comparison says little. */
    assert_true(counts.taken > 50000);
    assert_true(counts.valid > counts.taken + 10000);
    assert_true(counts.refused > 30000);
}

static void lines_are_taken_one_after_the_other(void **state)
{
    struct fixture *f = *state;
    struct sl_str rest = SL_STR(
        "\r\n{\"txn\":{\"appId\":\"a\",\"version\":1}}\r\n  \n {\"cdc\":null,\"txn\":{\"appId\":\"b\",\"version\":2}}");
    size_t line = 0;
    bool done = false;
    assert_int_equal(sl_action_reader_next(&f->reader, &rest, &line, &f->action, &done, NULL), SILT_OK);
    assert_true(!done && line == 2 && sl_str_eq_c(f->action.u.app_txn.app_id, "a"));
    assert_int_equal(f->reader.n_general, 0);
    assert_int_equal(sl_action_reader_next(&f->reader, &rest, &line, &f->action, &done, NULL), SILT_OK);
    assert_true(!done && line == 4 && sl_str_eq_c(f->action.u.app_txn.app_id, "b"));
    assert_int_equal(f->reader.n_general, 1);
    assert_int_equal(sl_action_reader_next(&f->reader, &rest, &line, &f->action, &done, NULL), SILT_OK);
    assert_true(done);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lines_as_writers_write_them_are_taken),
        TEST(whatever_is_odd_is_left_alone),
        TEST(both_ways_agree_on_random_lines),
        TEST(lines_are_taken_one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
