/*
 * The commit loop against writers that are faster time and again: how long it pauses before it tries once more, and what it says when it
 * gives up.
 */
#include "kernel/txn/commit_loop.h"

#include <stdio.h>

#include "test_env.h"

#define ROOT "memory://t"
#define OURS "{\"commitInfo\":{\"operation\":\"WRITE\",\"isBlindAppend\":true,\"txnId\":\"ours\"}}\n"
#define THEIRS "{\"commitInfo\":{\"operation\":\"MERGE\",\"isBlindAppend\":false,\"txnId\":\"theirs\"}}\n"
#define LONGEST_US 4999 /* of a pause */

static struct fixture {
    struct test_env env;
    silt_storage *memory;
    silt_storage *raced;
    unsigned winners; /* so many of our requests come a moment after another's */
    unsigned puts;
    struct sl_arena arena;
    struct sl_protocol protocol;
    struct sl_metadata metadata;
    struct sl_action action;
    int64_t rows;
    struct sl_rebase rebase;
    struct sl_commit_place place;
    struct sl_buf bytes;
    struct sl_commit_end end;
    silt_error err;
} f;

static silt_fault_action be_faster(void *ctx, uint64_t number, const char *operation, const char *path)
{
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    (void)ctx;
    (void)number;
    if (strcmp(operation, "put_if_absent") == 0 && f.puts++ < f.winners) {
        assert_int_equal(silt_storage_put_if_absent(f.memory, NULL, path, THEIRS, sizeof(THEIRS) - 1, &outcome, NULL),
                         SILT_OK);
        assert_int_equal(outcome, SILT_PUT_DONE);
    }
    return SILT_FAULT_NONE;
}

static silt_status render(void *ctx, const struct sl_rebase *rebase, struct sl_buf *out, silt_error *err)
{
    (void)ctx;
    (void)rebase;
    sl_buf_clear(out);
    sl_buf_put_c(out, OURS);
    return sl_buf_status(out, err);
}

static int set_up(void **state)
{
    (void)state;
    memset(&f, 0, sizeof(f));
    test_env_init(&f.env);
    const silt_env *env = &f.env.env;
    sl_arena_init(&f.arena, env);
    sl_buf_init(&f.bytes, env);
    f.protocol = (struct sl_protocol){.min_reader_version = 1, .min_writer_version = 2};
    return silt_storage_memory_new(env, &f.memory, NULL) == SILT_OK &&
                   silt_storage_fault_new(env, f.memory, be_faster, NULL, &f.raced, NULL) == SILT_OK
               ? 0
               : 1;
}

static int tear_down(void **state)
{
    (void)state;
    sl_buf_release(&f.bytes);
    sl_arena_release(&f.arena);
    silt_storage_unref(f.raced);
    silt_storage_unref(f.memory);
    test_env_check(&f.env);
    return 0;
}

/* On a log of its own. */
static silt_status run(unsigned winners, uint32_t max_attempts)
{
    static const struct sl_str_list no_partitions = {NULL, 0};
    static char root[64];
    static unsigned n_runs;
    const silt_env *env = &f.env.env;
    const int len = snprintf(root, sizeof(root), ROOT "/%u", n_runs++);
    f.place = (struct sl_commit_place){.env = env, .storage = f.raced, .root = sl_str_make(root, (size_t)len)};
    f.rebase = (struct sl_rebase){.arena = &f.arena,
                                  .version = 1,
                                  .floor_ms = 100,
                                  .row_id_high_water = -1,
                                  .protocol = &f.protocol,
                                  .metadata = &f.metadata,
                                  .actions = &f.action,
                                  .rows = &f.rows};
    const struct sl_commit_job job = {.env = env,
                                      .place = &f.place,
                                      .render = render,
                                      .txn_id = "ours",
                                      .rebase = &f.rebase,
                                      .facts = {.is_blind_append = true, .partition_columns = &no_partitions},
                                      .max_attempts = max_attempts,
                                      .resolve_us = 1000000};
    f.winners = winners;
    f.puts = 0;
    f.err = (silt_error)SILT_ERROR_INIT;
    sl_buf_clear(&f.bytes);
    return sl_commit_run(&job, NULL, &f.bytes, &f.end, &f.err);
}

/* In all, in microseconds, when it comes right behind so many winners. */
static int64_t pauses_behind(unsigned winners, uint64_t chance)
{
    const int64_t slept_us = f.env.slept_us;
    const size_t n_sleeps = f.env.n_sleeps;
    f.env.random_state = chance;
    assert_int_equal(run(winners, 100), SILT_OK);
    assert_int_equal(f.end.outcome, SILT_COMMIT_COMMITTED);
    assert_int_equal(f.end.version, winners + 1);
    assert_int_equal(f.end.attempts, winners + 1);
    assert_int_equal(f.rebase.winners, winners);
    /* To lose a few times is normal; from then on there is a pause before each try. */
    assert_int_equal(f.env.n_sleeps - n_sleeps, winners > 3 ? winners - 3 : 0);
    return f.env.slept_us - slept_us;
}

/* Who lost to the same winner must not come back together with others, nor wait for long. */
static void pauses_are_random_and_short(void **state)
{
    (void)state;
    int64_t least_us = INT64_MAX;
    int64_t most_us = 0;
    assert_int_equal(pauses_behind(3, 1), 0);
    for (uint64_t chance = 1; chance <= 20; chance++) {
        const int64_t pause_us = pauses_behind(4, chance);
        least_us = pause_us < least_us ? pause_us : least_us;
        most_us = pause_us > most_us ? pause_us : most_us;
    }
    assert_in_range(least_us, 0, LONGEST_US / 4);
    assert_in_range(most_us, LONGEST_US - LONGEST_US / 4, LONGEST_US);
    assert_in_range(pauses_behind(9, 5), 1, 6 * LONGEST_US);
}

static void who_gives_up_names_the_last_winner_and_what_to_do(void **state)
{
    (void)state;
    assert_int_equal(run(7, 5), SILT_ECONFLICT);
    assert_int_equal(f.end.outcome, SILT_COMMIT_CONFLICT);
    assert_int_equal(f.end.conflict, SILT_CONFLICT_RETRIES_EXHAUSTED);
    assert_int_equal(f.end.attempts, 5);
    assert_int_equal(f.end.version, 5);
    assert_true(sl_str_eq_c(f.end.operation, "MERGE"));
    assert_string_equal(f.err.code_name, "DELTA_MAX_COMMIT_RETRIES_EXCEEDED");
    assert_string_equal(f.err.message, "version 5 (MERGE) and others before it came first until the attempts or the "
                                       "time of this transaction were used up");
    assert_int_equal(f.err.version, 5);
    assert_int_equal(strncmp(f.err.hint, "run the operation again", 23), 0);
    assert_int_equal(f.puts, 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pauses_are_random_and_short),
        TEST(who_gives_up_names_the_last_winner_and_what_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
