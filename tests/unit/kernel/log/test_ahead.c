/*
 * Commits that are asked for before they are listed: what came is found only for the very commit that is listed.
 */
#include "log_fixture.h"

#include <string.h>

#include "kernel/log/ahead.h"

static struct sl_log_file commit_file(int64_t version, int64_t size)
{
    return (struct sl_log_file){.kind = SL_LOG_COMMIT, .version = version, .end_version = version, .size = size};
}

static void what_came_is_found_by_version_and_size(void **state)
{
    struct log_fixture *f = *state;
    const struct sl_log_source source = {f->engine, f->traced, SL_STR(LOG_ROOT)};
    struct sl_ahead ahead;
    log_put(f, "00000000000000000003.json", "three");
    sl_ahead_read(&ahead, &source, NULL, 2, 2);
    assert_int_equal(f->n_reads, 2);
    struct sl_log_file file = commit_file(3, 5);
    assert_true(sl_str_eq_c(sl_ahead_find(&ahead, &file), "three"));
    file.size = 6; /* it was replaced, or is not all that was asked for */
    assert_null(sl_ahead_find(&ahead, &file).ptr);
    file = commit_file(4, 5); /* not there when it was asked for */
    assert_null(sl_ahead_find(&ahead, &file).ptr);
    file = commit_file(2, 5);
    assert_null(sl_ahead_find(&ahead, &file).ptr);
    file = commit_file(5, 5);
    assert_null(sl_ahead_find(&ahead, &file).ptr); /* not asked for */
    file = commit_file(3, 5);
    file.content = SL_STR("catalog"); /* a catalog's word counts */
    assert_null(sl_ahead_find(&ahead, &file).ptr);
    file = commit_file(3, 5);
    file.kind = SL_LOG_COMPACTED;
    assert_null(sl_ahead_find(&ahead, &file).ptr);
    sl_ahead_release(&ahead);
}

static void no_more_are_asked_for_than_there_is_room(void **state)
{
    struct log_fixture *f = *state;
    const struct sl_log_source source = {f->engine, f->traced, SL_STR(LOG_ROOT)};
    struct sl_ahead ahead;
    sl_ahead_read(&ahead, &source, NULL, 2, 1000);
    assert_int_equal(f->n_reads, SL_AHEAD_COMMITS);
    sl_ahead_release(&ahead);
}

static void a_failure_is_nothing(void **state)
{
    struct log_fixture *f = *state;
    const struct sl_log_source source = {f->engine, f->traced, SL_STR(LOG_ROOT)};
    struct sl_ahead ahead;
    log_put(f, "00000000000000000003.json", "three");
    const int cancelled = 1;
    const silt_call call = {.size = sizeof(call), .abi_version = SILT_ABI_VERSION, .cancel = &cancelled};
    const struct sl_log_file file = commit_file(3, 5);
    sl_ahead_read(&ahead, &source, &call, 2, 2);
    assert_null(sl_ahead_find(&ahead, &file).ptr);
    sl_ahead_release(&ahead);
    sl_ahead_read(&ahead, &source, NULL, INT64_MAX - 1, 2);
    assert_null(sl_ahead_find(&ahead, &file).ptr);
    sl_ahead_release(&ahead);
}

int main(void)
{
    const struct CMUnitTest tests[] = {LOG_TEST(what_came_is_found_by_version_and_size),
                                       LOG_TEST(no_more_are_asked_for_than_there_is_room),
                                       LOG_TEST(a_failure_is_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
