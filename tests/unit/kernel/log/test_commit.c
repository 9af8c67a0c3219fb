/*
 * Whole commits: lines, line ends, actions that exclude each other.
 */
#include "log_fixture.h"

#include <string.h>

#include "kernel/log/commit.h"

struct parsed {
    struct sl_arena arena;
    struct sl_commit commit;
};

static silt_status parse(struct log_fixture *f, const char *bytes, struct parsed *out)
{
    sl_arena_init(&out->arena, &f->test.env);
    silt_error_reset(&f->err);
    return sl_commit_parse(&f->test.env, &out->arena, 7, sl_str_from(bytes), &out->commit, &f->err);
}

static void blank_lines_and_any_line_end_are_taken(void **state)
{
    struct log_fixture *f = *state;
    struct parsed p;
    assert_int_equal(
        parse(f, "\r\n" LOG_ADD("a b") "\r\n\n  \n{\"commitInfo\":{\"operation\":\"X\"}}\n" LOG_ADD("c"), &p), SILT_OK);
    assert_int_equal(p.commit.n_actions, 3);
    assert_int_equal(p.commit.version, 7);
    assert_non_null(p.commit.commit_info);
    assert_true(sl_str_eq_c(p.commit.commit_info->operation, "X"));
    sl_arena_release(&p.arena);
    assert_int_equal(parse(f, "", &p), SILT_OK);
    assert_int_equal(p.commit.n_actions, 0);
    sl_arena_release(&p.arena);
}

static void expect_refused(struct log_fixture *f, const char *bytes, const char *in_message)
{
    struct parsed p;
    assert_int_equal(parse(f, bytes, &p), SILT_ECORRUPT);
    assert_int_equal(f->err.version, 7);
    if (strstr(f->err.message, in_message) == NULL) {
        print_error("told: %s\n", f->err.message);
    }
    assert_non_null(strstr(f->err.message, in_message));
    sl_arena_release(&p.arena);
}

static void actions_that_reconcile_with_each_other_are_refused(void **state)
{
    struct log_fixture *f = *state;
    expect_refused(f, LOG_ADD("a") "\n" LOG_ADD("a"), "commit 7, line 2: file a has more than one action");
    expect_refused(f, LOG_ADD("a") "\n\n" LOG_REMOVE("a"), "commit 7, line 3");
    expect_refused(f, LOG_METADATA "\n" LOG_METADATA, "more than one metaData");
    expect_refused(f, LOG_PROTOCOL "\n" LOG_PROTOCOL, "more than one protocol");
    expect_refused(f, "{\"txn\":{\"appId\":\"x\",\"version\":1}}\n{\"txn\":{\"appId\":\"x\",\"version\":2}}", "txn x");
}

#define DV(id)                                                            \
    ",\"deletionVector\":{\"storageType\":\"u\",\"pathOrInlineDv\":\"" id \
    "\",\"offset\":1,\"sizeInBytes\":1,\"cardinality\":1}"

static void one_path_with_different_vectors_is_legal(void **state)
{
    struct log_fixture *f = *state;
    struct parsed p;
    assert_int_equal(parse(f,
                           "{\"remove\":{\"path\":\"a\",\"dataChange\":true" DV(
                               "x") "}}\n"
                                    "{\"add\":{\"path\":\"a\",\"partitionValues\":{},\"size\":1,\"modificationTime\":1,"
                                    "\"dataChange\":true" DV("y") "}}\n{\"cdc\":{\"path\":\"a\",\"partitionValues\":{},"
                                                                  "\"size\":1,\"dataChange\":false}}\n",
                           &p),
                     SILT_OK);
    assert_int_equal(p.commit.n_actions, 3);
    sl_arena_release(&p.arena);
    expect_refused(f,
                   "{\"remove\":{\"path\":\"a\",\"dataChange\":true" DV("x") "}}\n{\"remove\":{\"path\":\"a\","
                                                                             "\"dataChange\":true" DV("x") "}}\n",
                   "file a");
}

static void a_torn_line_is_refused(void **state)
{
    struct log_fixture *f = *state;
    expect_refused(f, LOG_ADD("a") "\n{\"add\":{\"path", "commit 7, line 2");
}

static void reading_tells_a_missing_version(void **state)
{
    struct log_fixture *f = *state;
    struct sl_arena arena;
    struct sl_commit commit;
    sl_arena_init(&arena, &f->test.env);
    log_commit(f, 0, LOG_PROTOCOL, NULL);
    assert_int_equal(sl_commit_read(f->engine, f->store, NULL, SL_STR(LOG_ROOT), 0, &arena, &commit, &f->err), SILT_OK);
    assert_int_equal(commit.n_actions, 1);
    assert_int_equal(sl_commit_read(f->engine, f->store, NULL, SL_STR(LOG_ROOT), 1, &arena, &commit, &f->err),
                     SILT_ENOTFOUND);
    sl_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(blank_lines_and_any_line_end_are_taken),
        LOG_TEST(actions_that_reconcile_with_each_other_are_refused),
        LOG_TEST(one_path_with_different_vectors_is_legal),
        LOG_TEST(a_torn_line_is_refused),
        LOG_TEST(reading_tells_a_missing_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
