/*
 * A catalog's commits within a listing, as plain data.
 */
#include "test_env.h"

#include <stdio.h>
#include <string.h>

#include "kernel/log/catalog_tail.h"

static struct sl_log_file published(int64_t version, enum sl_log_file_kind kind)
{
    return (struct sl_log_file){.kind = kind, .version = version, .end_version = version, .name = SL_STR("p")};
}

static struct sl_log_file staged(int64_t version)
{
    return (struct sl_log_file){.kind = SL_LOG_COMMIT, .version = version, .end_version = version, .name = SL_STR("s")};
}

/* "p0 c0 s1": names and versions of what is left, checkpoints as c. */
static void expect_merged(const struct sl_catalog_tail *tail, int64_t from, const struct sl_log_file *listed, size_t n,
                          const char *expected)
{
    struct test_env test;
    test_env_init(&test);
    struct sl_vec files;
    sl_vec_init(&files, &test.env, sizeof(struct sl_log_file));
    for (size_t i = 0; i < n; i++) {
        *(struct sl_log_file *)sl_vec_push(&files) = listed[i];
    }
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_catalog_tail_merge(tail, from, &files, &err), SILT_OK);
    char text[256] = "";
    for (size_t i = 0; i < files.len; i++) {
        const struct sl_log_file *file = sl_vec_at(&files, i);
        const char *kind = file->kind == SL_LOG_CHECKPOINT ? "c" : file->name.ptr;
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s%d", i > 0 ? " " : "", kind,
                       (int)file->version);
    }
    assert_string_equal(text, expected);
    sl_vec_release(&files);
    test_env_check(&test);
}

static void the_catalogs_commit_stands_before_a_published_one(void **state)
{
    (void)state;
    const struct sl_log_file listed[] = {published(0, SL_LOG_COMMIT), published(1, SL_LOG_CHECKPOINT),
                                         published(1, SL_LOG_COMMIT), published(2, SL_LOG_COMMIT),
                                         published(3, SL_LOG_COMMIT)};
    const struct sl_log_file commits[] = {staged(1), staged(2), staged(3), staged(4)};
    const struct sl_catalog_tail tail = {.commits = commits, .n = 4, .latest_version = 4};
    expect_merged(&tail, 0, listed, 5, "p0 c1 s1 s2 s3 s4");
    expect_merged(&tail, 3, &listed[4], 1, "s3 s4");
    expect_merged(&tail, 5, NULL, 0, "");
}

static void nothing_newer_than_the_catalogs_version_counts(void **state)
{
    (void)state;
    const struct sl_log_file listed[] = {published(0, SL_LOG_COMMIT), published(1, SL_LOG_COMMIT),
                                         published(2, SL_LOG_CHECKPOINT), published(2, SL_LOG_COMMIT),
                                         published(3, SL_LOG_COMMIT)};
    const struct sl_catalog_tail tail = {.latest_version = 1};
    expect_merged(&tail, 0, listed, 5, "p0 p1");
}

static void impossible_states_are_refused(void **state)
{
    (void)state;
    silt_error err = SILT_ERROR_INIT;
    const struct sl_log_file gap[] = {staged(1), staged(3)};
    struct sl_catalog_tail tail = {.commits = gap, .n = 2, .latest_version = 3};
    assert_int_equal(sl_catalog_tail_check(&tail, &err), SILT_EINVALID);
    assert_non_null(strstr(err.message, "version 3 where 2"));
    tail = (struct sl_catalog_tail){.commits = gap, .n = 1, .latest_version = 0};
    assert_int_equal(sl_catalog_tail_check(&tail, &err), SILT_EINVALID);
    tail = (struct sl_catalog_tail){.latest_version = -1};
    assert_int_equal(sl_catalog_tail_check(&tail, &err), SILT_EINVALID);
    tail = (struct sl_catalog_tail){.commits = gap, .n = 1, .latest_version = 1};
    assert_int_equal(sl_catalog_tail_check(&tail, &err), SILT_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_catalogs_commit_stands_before_a_published_one),
        cmocka_unit_test(nothing_newer_than_the_catalogs_version_counts),
        cmocka_unit_test(impossible_states_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
