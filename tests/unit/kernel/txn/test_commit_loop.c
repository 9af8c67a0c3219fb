/* The commit loop on a store in memory whose answers get lost. */
#include "kernel/txn/commit_loop.h"

#include <stdio.h>

#include "silt/version.h"
#include "test_env.h"

#define ROOT "memory://t"
#define OURS "{\"commitInfo\":{\"operation\":\"WRITE\",\"isBlindAppend\":true,\"txnId\":\"ours\"}}\n"
#define THEIRS "{\"commitInfo\":{\"operation\":\"WRITE\",\"isBlindAppend\":true,\"txnId\":\"theirs\"}}\n"
#define THEIR_METADATA                                                                                          \
    "{\"metaData\":{\"id\":\"x\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":\"{}\"," \
    "\"partitionColumns\":[],\"configuration\":{},\"createdTime\":1}}\n"

enum {
    MOST_STEPS = 8
};

/* What the store does to the n-th put_if_absent and the n-th read. */
struct fixture {
    struct test_env env;
    silt_storage *memory;
    silt_storage *faulty;
    silt_fault_action on_put[MOST_STEPS];
    silt_fault_action on_read[MOST_STEPS];
    size_t puts;
    size_t reads;
    size_t operations; /* of reads */
    bool ghost;        /* the first version's name is always taken, and never has a file */
    const char *rival; /* put as the first version before our first put reaches the store */
    struct sl_arena arena;
    struct sl_protocol protocol;
    struct sl_metadata metadata;
    struct sl_action actions[2];
    int64_t rows[2];
    struct sl_rebase rebase;
    struct sl_commit_place place;
    struct sl_commit_job job;
    struct sl_buf bytes;
    struct sl_commit_end end;
    bool long_file;  /* of more than one line */
    bool by_version; /* the file names its version */
    size_t renders;
    int64_t step_us; /* that a call of the store takes */
    silt_error err;
};

static struct fixture f;

static const char *path_of(int64_t version)
{
    static char path[128];
    (void)snprintf(path, sizeof(path), ROOT "/_delta_log/%020lld.json", (long long)version);
    return path;
}

static void put(int64_t version, const char *text)
{
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    assert_int_equal(silt_storage_put_if_absent(f.memory, NULL, path_of(version), text, strlen(text), &outcome, NULL),
                     SILT_OK);
    assert_int_equal(outcome, SILT_PUT_DONE);
}

static void expect_content(int64_t version, const char *text)
{
    void *data = NULL;
    size_t len = 0;
    assert_int_equal(silt_storage_read(f.memory, NULL, path_of(version), &data, &len, NULL), SILT_OK);
    assert_int_equal(len, strlen(text));
    assert_memory_equal(data, text, len);
    silt_storage_free(f.memory, data, len);
}

static void expect_missing(int64_t version)
{
    void *data = NULL;
    size_t len = 0;
    assert_int_equal(silt_storage_read(f.memory, NULL, path_of(version), &data, &len, NULL), SILT_ENOTFOUND);
}

static silt_fault_action decide(void *ctx, uint64_t number, const char *operation, const char *path)
{
    (void)ctx;
    (void)number;
    (void)path;
    const bool is_put = strcmp(operation, "put_if_absent") == 0;
    /* A read is two requests at once: the bytes, and how many there are. */
    if (strcmp(operation, "list") == 0 || (!is_put && f.operations++ % 2 != 0)) {
        return SILT_FAULT_NONE;
    }
    f.env.monotonic_us += f.step_us;
    if (is_put) {
        const size_t at = f.puts++;
        if (f.ghost) {
            put(1, THEIRS);
        }
        if (at == 0 && f.rival != NULL) {
            put(1, f.rival);
        }
        return at < MOST_STEPS ? f.on_put[at] : f.on_put[MOST_STEPS - 1];
    }
    const size_t at = f.reads++;
    if (f.ghost) {
        assert_int_equal(silt_storage_remove(f.memory, NULL, path_of(1), NULL), SILT_OK);
    }
    return at < MOST_STEPS ? f.on_read[at] : f.on_read[MOST_STEPS - 1];
}

/* Ours, and with by_version what the rebase says. */
static silt_status render(void *ctx, const struct sl_rebase *rebase, struct sl_buf *out, silt_error *err)
{
    (void)ctx;
    f.renders++;
    sl_buf_clear(out);
    sl_buf_put_c(out, OURS);
    sl_buf_put_c(out, f.long_file ? "{\"txn\":{\"appId\":\"a\",\"version\":1}}\n" : "");
    if (f.by_version) {
        sl_buf_printf(out, "{\"at\":{\"version\":%lld,\"floor\":%lld,\"rows\":%lld}}\n", (long long)rebase->version,
                      (long long)rebase->floor_ms, (long long)rebase->row_id_high_water);
    }
    return sl_buf_status(out, err);
}

static int set_up(void **state)
{
    (void)state;
    memset(&f, 0, sizeof(f));
    test_env_init(&f.env);
    f.err = (silt_error)SILT_ERROR_INIT;
    if (silt_storage_memory_new(&f.env.env, &f.memory, NULL) != SILT_OK ||
        silt_storage_fault_new(&f.env.env, f.memory, decide, NULL, &f.faulty, NULL) != SILT_OK) {
        return 1;
    }
    static const struct sl_str_list no_partitions = {NULL, 0};
    sl_arena_init(&f.arena, &f.env.env);
    sl_buf_init(&f.bytes, &f.env.env);
    f.protocol = (struct sl_protocol){.min_reader_version = 1, .min_writer_version = 2};
    f.place = (struct sl_commit_place){.env = &f.env.env, .storage = f.faulty, .root = SL_STR(ROOT)};
    f.job = (struct sl_commit_job){.env = &f.env.env,
                                   .place = &f.place,
                                   .render = render,
                                   .txn_id = "11-22",
                                   .rebase = &f.rebase,
                                   .facts = {.is_blind_append = true, .partition_columns = &no_partitions},
                                   .max_attempts = 10,
                                   .resolve_us = 60 * 1000000};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sl_buf_release(&f.bytes);
    sl_arena_release(&f.arena);
    silt_storage_unref(f.faulty);
    silt_storage_unref(f.memory);
    test_env_check(&f.env);
    return 0;
}

static silt_status run_for(const silt_call *call)
{
    f.rebase = (struct sl_rebase){.arena = &f.arena,
                                  .version = 1,
                                  .floor_ms = 100,
                                  .row_id_high_water = -1,
                                  .protocol = &f.protocol,
                                  .metadata = &f.metadata,
                                  .actions = f.actions,
                                  .rows = f.rows,
                                  .n_actions = f.actions[0].kind != SL_ACTION_ADD ? 1 : 0};
    sl_buf_clear(&f.bytes);
    return sl_commit_run(&f.job, call, &f.bytes, &f.end, &f.err);
}

static silt_status run(void)
{
    return run_for(NULL);
}

static void free_version_is_taken_at_once(void **state)
{
    (void)state;
    assert_int_equal(run(), SILT_OK);
    assert_int_equal(f.end.outcome, SILT_COMMIT_COMMITTED);
    assert_int_equal(f.end.version, 1);
    assert_int_equal(f.end.attempts, 1);
    assert_int_equal(f.reads, 0);
    expect_content(1, OURS);
}

static void winners_are_checked_once_each_and_the_next_version_is_taken(void **state)
{
    (void)state;
    put(1, THEIRS);
    put(2, THEIRS);
    put(3, THEIRS);
    assert_int_equal(run(), SILT_OK);
    assert_int_equal(f.end.version, 4);
    assert_int_equal(f.end.attempts, 2);
    assert_int_equal(f.reads, 4); /* three winners, and the end of the log */
    expect_content(3, THEIRS);
    expect_content(4, OURS);
}

/* A request for a version that has an owner could land when that one has expired. */
static void version_that_was_seen_is_never_asked_for(void **state)
{
    (void)state;
    put(1, THEIRS);
    put(2, THEIRS);
    f.job.is_behind = true;
    assert_int_equal(run(), SILT_OK);
    assert_int_equal(f.end.version, 3);
    assert_int_equal(f.end.attempts, 1);
    assert_int_equal(f.puts, 1);
    assert_int_equal(f.rebase.winners, 2);
    expect_content(1, THEIRS);
    expect_content(3, OURS);
}

static void version_that_was_seen_and_cannot_be_read_ends_the_run(void **state)
{
    (void)state;
    f.job.is_behind = true;
    f.job.facts.read_version = 0;
    assert_int_equal(run(), SILT_ECONFLICT); /* it has expired since */
    assert_string_equal(f.err.code_name, "DELTA_CONCURRENT_WRITE");
    assert_int_equal(f.end.conflict, SILT_CONFLICT_CONCURRENT_WRITE);
    put(1, THEIRS THEIR_METADATA);
    f.on_read[1] = SILT_FAULT_BEFORE;
    assert_int_equal(run(), SILT_EIO);
    assert_int_equal(run(), SILT_ECONFLICT);
    assert_string_equal(f.err.code_name, "DELTA_METADATA_CHANGED");
    assert_int_equal(f.puts, 0);
    expect_missing(2);
}

static void conflicting_winner_ends_the_run(void **state)
{
    (void)state;
    put(1, THEIRS);
    put(2, THEIRS THEIR_METADATA);
    assert_int_equal(run(), SILT_ECONFLICT);
    assert_int_equal(f.end.outcome, SILT_COMMIT_CONFLICT);
    assert_int_equal(f.end.conflict, SILT_CONFLICT_METADATA_CHANGED);
    assert_int_equal(f.end.version, 2);
    assert_string_equal(f.err.code_name, "DELTA_METADATA_CHANGED");
    expect_missing(3);
}

static void lost_answer_of_a_write_that_landed_is_committed(void **state)
{
    (void)state;
    f.on_put[0] = SILT_FAULT_AFTER;
    assert_int_equal(run(), SILT_OK);
    assert_int_equal(f.end.outcome, SILT_COMMIT_COMMITTED);
    assert_int_equal(f.end.version, 1);
    assert_int_equal(f.puts, 1);
    expect_missing(2);
}

static void lost_answer_of_a_write_that_lost_goes_on_with_the_next_version(void **state)
{
    (void)state;
    put(1, THEIRS);
    f.on_put[0] = SILT_FAULT_AFTER;
    assert_int_equal(run(), SILT_OK);
    assert_int_equal(f.end.version, 2);
    expect_content(1, THEIRS);
    expect_content(2, OURS);
}

static void unreadable_read_back_sends_the_same_bytes_to_the_same_name(void **state)
{
    (void)state;
    f.on_put[0] = SILT_FAULT_AFTER;   /* it landed … */
    f.on_read[0] = SILT_FAULT_BEFORE; /* … but that cannot be seen yet */
    assert_int_equal(run(), SILT_OK);
    assert_int_equal(f.end.outcome, SILT_COMMIT_COMMITTED);
    assert_int_equal(f.end.version, 1); /* EXISTS is read back and found to be ours */
    assert_int_equal(f.puts, 2);
    expect_missing(2);
}

static void version_without_any_answer_is_unknown_after_the_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < MOST_STEPS; i++) {
        f.on_put[i] = i == 0 ? SILT_FAULT_AFTER : SILT_FAULT_BEFORE;
        f.on_read[i] = SILT_FAULT_BEFORE;
    }
    assert_int_equal(run(), SILT_EUNKNOWN);
    assert_int_equal(f.end.outcome, SILT_COMMIT_UNKNOWN);
    assert_non_null(strstr(f.err.message, "whether version 1 holds this transaction (txnId 11-22)"));
    assert_int_equal(f.end.version, 1);
    assert_true(f.env.slept_us >= 59 * 1000000);
    expect_content(1, OURS);
    expect_missing(2); /* never planned around */
}

/* Who sets a limit does not wait for a minute beyond it, nor is a request that is under way given up at once. */
static void time_limit_bounds_the_follow_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < MOST_STEPS; i++) {
        f.on_put[i] = SILT_FAULT_AFTER;
        f.on_read[i] = SILT_FAULT_BEFORE;
    }
    const int64_t begin_us = f.env.monotonic_us;
    f.job.time_limit_us = 20 * 1000000;
    assert_int_equal(run(), SILT_EUNKNOWN);
    assert_in_range(f.env.monotonic_us - begin_us, 19 * 1000000, 22 * 1000000);
    f.puts = f.reads = 0;
    f.job.time_limit_us = 1000;
    f.on_read[2] = SILT_FAULT_NONE;
    f.step_us = 2000000;
    assert_int_equal(run(), SILT_OK);
    assert_int_equal(f.end.outcome, SILT_COMMIT_COMMITTED);
}

static void failed_put_is_not_committed(void **state)
{
    (void)state;
    f.on_put[0] = SILT_FAULT_BEFORE;
    assert_int_equal(run(), SILT_EIO);
    assert_int_equal(f.puts, 1);
    assert_true(f.err.message[0] != '\0');
    expect_missing(1);
}

static void exists_that_is_really_ours_is_committed(void **state)
{
    (void)state;
    put(1, OURS); /* a retry below us sent it twice */
    assert_int_equal(run(), SILT_OK);
    assert_int_equal(f.end.outcome, SILT_COMMIT_COMMITTED);
    assert_int_equal(f.end.version, 1);
    expect_missing(2);
}

static void rival_between_lost_answer_and_retry_is_seen(void **state)
{
    (void)state;
    f.rival = THEIRS;
    f.on_put[0] = SILT_FAULT_AFTER;
    assert_int_equal(run(), SILT_OK);
    assert_int_equal(f.end.version, 2);
    expect_content(2, OURS);
}

static void winner_that_cannot_be_read_at_first_is_passed(void **state)
{
    (void)state;
    put(1, THEIRS);
    f.on_read[0] = SILT_FAULT_BEFORE;
    assert_int_equal(run(), SILT_OK);
    assert_int_equal(f.end.version, 2);
    expect_content(2, OURS);
}

/* It would pass for a version that changes nothing. */
static void winner_whose_bytes_do_not_come_is_read_again(void **state)
{
    (void)state;
    put(1, THEIRS THEIR_METADATA);
    f.on_read[0] = SILT_FAULT_EMPTY;
    f.on_read[1] = SILT_FAULT_SHORT; /* as far as the end of a line */
    assert_int_equal(run(), SILT_ECONFLICT);
    assert_int_equal(f.end.conflict, SILT_CONFLICT_METADATA_CHANGED);
    assert_int_equal(f.reads, 3);
    expect_missing(2);
}

/* Nor is our own commit another's because its end is missing. */
static void own_commit_that_is_read_back_short_is_ours(void **state)
{
    (void)state;
    f.long_file = true;
    f.on_put[0] = SILT_FAULT_AFTER;
    f.on_read[0] = SILT_FAULT_SHORT;
    assert_int_equal(run(), SILT_OK);
    assert_int_equal(f.end.outcome, SILT_COMMIT_COMMITTED);
    assert_int_equal(f.end.version, 1);
    expect_missing(2);
}

static void winner_without_a_byte_is_passed(void **state)
{
    (void)state;
    put(1, "");
    assert_int_equal(run(), SILT_OK);
    assert_int_equal(f.end.version, 2);
    expect_content(2, OURS);
}

static void exists_that_cannot_be_read_back_is_unknown(void **state)
{
    (void)state;
    put(1, OURS); /* a retry below us sent it twice: a failure would say that nothing is there */
    for (size_t i = 0; i < MOST_STEPS; i++) {
        f.on_read[i] = SILT_FAULT_BEFORE;
    }
    assert_int_equal(run(), SILT_EUNKNOWN);
    assert_int_equal(f.end.outcome, SILT_COMMIT_UNKNOWN);
    assert_int_equal(f.end.version, 1);
    expect_missing(2);
}

static void later_winner_that_cannot_be_read_fails_without_a_commit(void **state)
{
    (void)state;
    put(1, THEIRS);
    put(2, THEIRS);
    f.on_read[1] = SILT_FAULT_BEFORE;
    assert_int_equal(run(), SILT_EIO);
    expect_missing(3);
}

static void broken_winner_is_corruption_not_a_conflict(void **state)
{
    (void)state;
    put(1, "{\"add\":");
    assert_int_equal(run(), SILT_ECORRUPT);
    expect_missing(2);
    f.on_put[0] = SILT_FAULT_AFTER;
    f.puts = 0;
    assert_int_equal(run(), SILT_ECORRUPT); /* also when our answer was lost: the name is another's */
    assert_int_equal(f.env.n_sleeps, 0);
}

static void recorded_application_version_is_skipped(void **state)
{
    (void)state;
    f.actions[0].kind = SL_ACTION_APP_TXN;
    f.actions[0].u.app_txn.app_id = SL_STR("job");
    f.actions[0].u.app_txn.version = 7;
    put(1, THEIRS);
    put(2, THEIRS "{\"txn\":{\"appId\":\"job\",\"version\":7}}\n");
    assert_int_equal(run(), SILT_OK);
    assert_int_equal(f.end.outcome, SILT_COMMIT_SKIPPED);
    assert_int_equal(f.end.version, 2);
    expect_missing(3);
}

static void attempts_run_out(void **state)
{
    (void)state;
    put(1, THEIRS);
    f.job.max_attempts = 1;
    assert_int_equal(run(), SILT_ECONFLICT);
    assert_int_equal(f.end.conflict, SILT_CONFLICT_RETRIES_EXHAUSTED);
    assert_string_equal(f.err.code_name, "DELTA_MAX_COMMIT_RETRIES_EXCEEDED");
    expect_missing(2);
}

static void cancelled_call_leaves_an_open_version_unknown(void **state)
{
    (void)state;
    int cancel = 0;
    const silt_call call = {.size = sizeof(call),
                            .abi_version = SILT_ABI_VERSION,
                            .cancel = &cancel,
                            .deadline_us = f.env.monotonic_us + 1000};
    for (size_t i = 0; i < MOST_STEPS; i++) {
        f.on_put[i] = SILT_FAULT_AFTER;
        f.on_read[i] = SILT_FAULT_BEFORE;
    }
    assert_int_equal(run_for(&call), SILT_EUNKNOWN);
    assert_int_equal(f.end.outcome, SILT_COMMIT_UNKNOWN);
}

static void file_is_made_anew_for_each_version(void **state)
{
    (void)state;
    f.by_version = true;
    put(1, "{\"commitInfo\":{\"inCommitTimestamp\":500,\"isBlindAppend\":true}}\n");
    put(2,
        "{\"domainMetadata\":{\"domain\":\"delta.rowTracking\",\"configuration\":\"{\\\"rowIdHighWaterMark\\\":41}\","
        "\"removed\":false}}\n");
    assert_int_equal(run(), SILT_OK);
    assert_int_equal(f.end.version, 3);
    assert_int_equal(f.renders, 2); /* for the first version, and for the one after all winners */
    assert_int_equal(f.rebase.winners, 2);
    expect_content(3, OURS "{\"at\":{\"version\":3,\"floor\":500,\"rows\":41}}\n");
}

static void file_stays_the_same_while_a_request_has_no_answer(void **state)
{
    (void)state;
    f.by_version = true;
    f.on_put[0] = SILT_FAULT_AFTER;
    f.on_read[0] = SILT_FAULT_BEFORE;
    f.on_read[1] = SILT_FAULT_BEFORE;
    assert_int_equal(run(), SILT_OK);
    assert_int_equal(f.end.version, 1);
    assert_int_equal(f.renders, 1);
    assert_true(f.puts > 1);
}

static void time_for_winning_a_version_runs_out(void **state)
{
    (void)state;
    put(1, THEIRS);
    f.job.time_limit_us = 1;
    f.step_us = 10;
    assert_int_equal(run(), SILT_ECONFLICT);
    assert_int_equal(f.end.conflict, SILT_CONFLICT_RETRIES_EXHAUSTED);
    expect_missing(2);
}

static void conflict_says_who_won_and_where(void **state)
{
    (void)state;
    put(1, "{\"commitInfo\":{\"operation\":\"DELETE\"}}\n"
           "{\"remove\":{\"path\":\"p=x/a\",\"deletionTimestamp\":1,\"dataChange\":true,\"extendedFileMetadata\":true,"
           "\"partitionValues\":{\"p\":\"x\"},\"size\":1}}\n");
    f.job.facts.is_blind_append = false;
    f.job.facts.read_whole_table = true;
    assert_int_equal(run(), SILT_ECONFLICT);
    assert_true(sl_str_eq_c(f.end.operation, "DELETE"));
    assert_true(sl_str_eq_c(f.end.path, "p=x/a"));
    assert_true(sl_str_eq_c(f.end.partition, "[p=x]"));
    assert_non_null(strstr(f.err.hint, "DELTA_CONCURRENT_DELETE_READ.WITH_PARTITION_HINT"));
}

/* As a folder has it on stores that have folders: waiting for a minute would not make a commit of it. */
static void name_that_is_taken_by_no_file_is_told_soon(void **state)
{
    (void)state;
    f.ghost = true;
    assert_int_equal(run(), SILT_EUNKNOWN);
    assert_int_equal(f.end.outcome, SILT_COMMIT_UNKNOWN);
    assert_int_equal(f.end.version, 1);
    assert_non_null(strstr(f.err.message, "says that the name is taken, but has no file there"));
    assert_true(f.env.slept_us < 5 * 1000000);
    assert_true(f.puts > 3); /* a file may only be on its way */
    expect_missing(2);
}

static void running_out_of_memory_never_breaks_the_log(void **state)
{
    (void)state;
    put(1, THEIRS);
    for (size_t n = 1; n < 200; n++) {
        f.puts = 0;
        f.reads = 0;
        test_env_fail_at(&f.env, n);
        const silt_status status = run();
        test_env_fail_at(&f.env, 0);
        if (status == SILT_OK) {
            assert_int_equal(f.end.outcome, SILT_COMMIT_COMMITTED);
            expect_content(2, OURS);
            return;
        }
        assert_int_equal(status, SILT_ENOMEM);
        expect_missing(3);
    }
    fail_msg("never enough memory");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(free_version_is_taken_at_once),
        TEST(winners_are_checked_once_each_and_the_next_version_is_taken),
        TEST(version_that_was_seen_is_never_asked_for),
        TEST(version_that_was_seen_and_cannot_be_read_ends_the_run),
        TEST(conflicting_winner_ends_the_run),
        TEST(lost_answer_of_a_write_that_landed_is_committed),
        TEST(lost_answer_of_a_write_that_lost_goes_on_with_the_next_version),
        TEST(unreadable_read_back_sends_the_same_bytes_to_the_same_name),
        TEST(version_without_any_answer_is_unknown_after_the_time),
        TEST(time_limit_bounds_the_follow_up),
        TEST(failed_put_is_not_committed),
        TEST(exists_that_is_really_ours_is_committed),
        TEST(rival_between_lost_answer_and_retry_is_seen),
        TEST(winner_that_cannot_be_read_at_first_is_passed),
        TEST(winner_whose_bytes_do_not_come_is_read_again),
        TEST(own_commit_that_is_read_back_short_is_ours),
        TEST(winner_without_a_byte_is_passed),
        TEST(exists_that_cannot_be_read_back_is_unknown),
        TEST(later_winner_that_cannot_be_read_fails_without_a_commit),
        TEST(broken_winner_is_corruption_not_a_conflict),
        TEST(recorded_application_version_is_skipped),
        TEST(attempts_run_out),
        TEST(cancelled_call_leaves_an_open_version_unknown),
        TEST(file_is_made_anew_for_each_version),
        TEST(file_stays_the_same_while_a_request_has_no_answer),
        TEST(time_for_winning_a_version_runs_out),
        TEST(conflict_says_who_won_and_where),
        TEST(name_that_is_taken_by_no_file_is_told_soon),
        TEST(running_out_of_memory_never_breaks_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
