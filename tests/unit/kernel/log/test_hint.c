/*
 * The checkpoint hint: what is one, what is none, and what of it the listing must bear out.
 */
#include "log_fixture.h"

#include <string.h>

#include "kernel/log/hint.h"

struct judged {
    silt_status status;
    struct sl_hint hint;
    silt_error err;
};

static struct judged parse(struct log_fixture *f, const char *json)
{
    struct judged out = {.err = SILT_ERROR_INIT};
    struct sl_arena arena;
    sl_arena_init(&arena, &f->test.env);
    out.status = sl_hint_parse(&f->test.env, &arena, sl_str_from(json), &out.hint, &out.err);
    out.hint.v2_path = (struct sl_str){NULL, 0}; /* goes with the arena */
    sl_arena_release(&arena);
    return out;
}

static void expect_bad(struct log_fixture *f, const char *json, const char *in_message)
{
    const struct judged out = parse(f, json);
    assert_int_equal(out.status, SILT_ECORRUPT);
    assert_int_equal(out.hint.version, -1);
    if (strstr(out.err.message, in_message) == NULL) {
        print_error("%s: %s\n", json, out.err.message);
    }
    assert_non_null(strstr(out.err.message, in_message));
}

static void members_are_taken(void **state)
{
    struct log_fixture *f = *state;
    const struct judged out = parse(f, "{\"version\":10,\"size\":13,\"parts\":2,\"sizeInBytes\":77,\"numOfAddFiles\":6,"
                                       "\"tags\":{\"a\":\"b\"},\"future\":[1]}");
    assert_int_equal(out.status, SILT_OK);
    assert_int_equal(out.hint.version, 10);
    assert_int_equal(out.hint.size, 13);
    assert_int_equal(out.hint.parts, 2);
    assert_int_equal(out.hint.size_in_bytes, 77);
    assert_int_equal(out.hint.n_adds, 6);
    assert_int_equal(out.hint.n_sidecars, -1);
    const struct judged least = parse(f, "{\"version\":0,\"size\":-1}"); /* Delta Spark's "not known" */
    assert_int_equal(least.status, SILT_OK);
    assert_int_equal(least.hint.size, -1);
    assert_int_equal(least.hint.size_in_bytes, -1);
}

static void what_is_no_hint_is_told(void **state)
{
    struct log_fixture *f = *state;
    expect_bad(f, "", "");
    expect_bad(f, "[]", "not a JSON object");
    expect_bad(f, "{\"size\":1}", "version");
    expect_bad(f, "{\"version\":-1,\"size\":1}", "version");
    expect_bad(f, "{\"version\":\"1\",\"size\":1}", "version");
    expect_bad(f, "{\"version\":1.5,\"size\":1}", "version");
    expect_bad(f, "{\"version\":1,\"size\":-2}", "size");
    expect_bad(f, "{\"version\":1,\"parts\":0}", "parts");
    expect_bad(f, "{\"version\":1,\"parts\":3000000000}", "parts");
    expect_bad(f, "{\"version\":1,\"sizeInBytes\":-5}", "sizeInBytes");
    expect_bad(f, "{\"version\":1,\"size\":3,\"numOfAddFiles\":4}", "numOfAddFiles");
    expect_bad(f, "{\"version\":1,\"version\":2}", "twice");
    expect_bad(f, "{\"version\":1,\"checkpointSchema\":{\"type\":\"struct\",\"fields\":[{\"name\":\"x\"}]}}",
               "checkpointSchema");
    expect_bad(f, "{\"version\":1,\"checkpointSchema\":7}", "checkpointSchema");
    expect_bad(f, "{\"version\":1,\"amtCheckpoint\":{}}", "adaptiveMetadata");
    expect_bad(f, "{\"version\":1,\"v2Checkpoint\":{\"path\":\"../x\"}}", "v2Checkpoint.path");
    expect_bad(f, "{\"version\":1,\"v2Checkpoint\":{}}", "v2Checkpoint.path");
    expect_bad(f, "{\"version\":1,\"v2Checkpoint\":{\"path\":\"00000000000000000002.checkpoint.parquet\"}}",
               "v2Checkpoint.path");
}

static void the_checksum_must_fit(void **state)
{
    struct log_fixture *f = *state;
    expect_bad(f, "{\"version\":2,\"size\":5,\"checksum\":\"00000000000000000000000000000000\"}", "checksum");
    expect_bad(f, "{\"version\":2,\"size\":5,\"checksum\":7}", "checksum");
    /* md5 of "size"=5,"version"=2 */
    assert_int_equal(parse(f, "{\"version\":2,\"size\":5,\"checksum\":\"d7c4f321fa1f90982706aa68c3e14d54\"}").status,
                     SILT_OK);
}

/* What only asks which hint is the newer one trusts none of them. */
static void the_version_is_told_unchecked(void **state)
{
    struct log_fixture *f = *state;
    const silt_env *env = &f->test.env;
    assert_int_equal(sl_hint_version(env, SL_STR("{\"version\":2,\"checksum\":7}")), 2);
    assert_int_equal(sl_hint_version(env, SL_STR("{\"version\":\"2\"}")), -1);
    assert_int_equal(sl_hint_version(env, SL_STR("[2]")), -1);
    assert_int_equal(sl_hint_version(env, SL_STR("{\"version\":2")), -1);
    assert_int_equal(sl_hint_version(env, SL_STR("")), -1);
}

#define UUID "6374b053-df23-479b-b2cf-c9c550132b49"

static struct sl_log_file file(const char *name, int64_t size)
{
    struct sl_log_file out = sl_log_name_parse(sl_str_from(name));
    out.size = size;
    return out;
}

static silt_status check(const struct sl_hint *hint, const struct sl_log_file *files, size_t n)
{
    silt_error err = SILT_ERROR_INIT;
    return sl_hint_check(hint, files, n, &err);
}

static void the_listing_must_have_the_checkpoint_in_its_size(void **state)
{
    (void)state;
    const struct sl_log_file single = file("00000000000000000005.checkpoint.parquet", 100);
    struct sl_hint hint = {.version = 5, .size_in_bytes = 100, .v2_size = -1, .n_sidecars = -1};
    assert_int_equal(check(&hint, &single, 1), SILT_OK);
    assert_int_equal(check(&hint, &single, 0), SILT_ECORRUPT);
    hint.size_in_bytes = 99;
    assert_int_equal(check(&hint, &single, 1), SILT_ECORRUPT);
    hint.size_in_bytes = 300; /* a classic name can have sidecars, which count */
    assert_int_equal(check(&hint, &single, 1), SILT_OK);
    hint.size_in_bytes = -1;
    hint.parts = 2;
    assert_int_equal(check(&hint, &single, 1), SILT_ECORRUPT);
}

static void parts_must_all_be_there(void **state)
{
    (void)state;
    const struct sl_log_file parts[] = {file("00000000000000000005.checkpoint.0000000001.0000000002.parquet", 10),
                                        file("00000000000000000005.checkpoint.0000000002.0000000002.parquet", 20)};
    struct sl_hint hint = {.version = 5, .parts = 2, .size_in_bytes = 30, .v2_size = -1, .n_sidecars = -1};
    assert_int_equal(check(&hint, parts, 2), SILT_OK);
    assert_int_equal(check(&hint, parts, 1), SILT_ECORRUPT);
    hint.parts = 3;
    assert_int_equal(check(&hint, parts, 2), SILT_ECORRUPT);
}

static void a_top_file_is_found_by_its_name(void **state)
{
    (void)state;
    const struct sl_log_file top = file("00000000000000000005.checkpoint." UUID ".json", 50);
    struct sl_hint hint = {.version = 5,
                           .v2_path = SL_STR("00000000000000000005.checkpoint." UUID ".json"),
                           .v2_size = 50,
                           .size_in_bytes = 150,
                           .n_sidecars = 2,
                           .sidecar_bytes = 100};
    assert_int_equal(check(&hint, &top, 1), SILT_OK);
    hint.sidecar_bytes = 90;
    assert_int_equal(check(&hint, &top, 1), SILT_ECORRUPT);
    hint.sidecar_bytes = 100;
    hint.v2_size = 49;
    assert_int_equal(check(&hint, &top, 1), SILT_ECORRUPT);
    hint.v2_path = SL_STR("00000000000000000005.checkpoint." UUID ".parquet");
    assert_int_equal(check(&hint, &top, 1), SILT_ECORRUPT);
    const struct sl_log_file classic = file("00000000000000000005.checkpoint.parquet", 7);
    assert_int_equal(check(&hint, &classic, 1), SILT_OK); /* the same checkpoint under its other name */
}

static void every_failed_allocation_is_reported(void **state)
{
    struct log_fixture *f = *state;
    for (size_t n = 1;; n++) {
        test_env_fail_at(&f->test, n);
        const struct judged out = parse(
            f, "{\"version\":5,\"size\":5,\"v2Checkpoint\":{\"path\":\"00000000000000000005.checkpoint." UUID
               ".json\",\"sizeInBytes\":50,\"sidecarFiles\":[{\"path\":\"a\",\"sizeInBytes\":7}]}}");
        if (out.status == SILT_OK) {
            assert_int_equal(out.hint.n_sidecars, 1);
            break;
        }
        assert_int_equal(out.status, SILT_ENOMEM);
    }
    test_env_fail_at(&f->test, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(members_are_taken),
        LOG_TEST(what_is_no_hint_is_told),
        LOG_TEST(the_checksum_must_fit),
        LOG_TEST(the_version_is_told_unchecked),
        LOG_TEST(the_listing_must_have_the_checkpoint_in_its_size),
        LOG_TEST(parts_must_all_be_there),
        LOG_TEST(a_top_file_is_found_by_its_name),
        LOG_TEST(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
