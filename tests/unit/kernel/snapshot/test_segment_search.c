/*
 * Ways to a version as a snapshot finds them: hints that lie, compacted files, bad checkpoints, each told once.
 */
#include "log_fixture.h"

#include <string.h>

#define COMPACTED_1_3 "00000000000000000001.00000000000000000003.compacted.json"
#define COMPACTED_0_3 "00000000000000000000.00000000000000000003.compacted.json"
#define COMMIT(v) "0000000000000000000" v ".json"

static void make_commits(struct log_fixture *f)
{
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_commit(f, 1, LOG_ADD("b"), NULL);
    log_commit(f, 2, LOG_REMOVE("a"), LOG_ADD("x"), NULL);
    log_commit(f, 3, LOG_REMOVE("x"), "{\"txn\":{\"appId\":\"app\",\"version\":5}}", NULL);
    log_commit(f, 4, LOG_ADD("c"), NULL);
}

static void expect_table(struct log_fixture *f, const char *files, size_t n_notes)
{
    f->test.n_logs = 0;
    silt_snapshot *snapshot = log_open(f, -1);
    assert_int_equal(silt_snapshot_version(snapshot), 4);
    assert_string_equal(log_files(f, snapshot), files);
    assert_int_equal(silt_snapshot_app_version(snapshot, "app"), 5);
    if (f->test.n_logs != n_notes) {
        print_error("%zu notes, the last: %s\n", f->test.n_logs, f->test.last_log);
    }
    assert_int_equal(f->test.n_logs, n_notes);
    silt_snapshot_unref(snapshot);
}

static void a_compacted_file_is_read_in_the_place_of_its_commits(void **state)
{
    struct log_fixture *f = *state;
    make_commits(f);
    log_put(f, COMPACTED_1_3,
            LOG_ADD("b") "\n" LOG_REMOVE("a") "\n" LOG_REMOVE("x") "\n{\"txn\":{\"appId\":\"app\",\"version\":5}}\n");
    f->n_reads = 0;
    expect_table(f, "b c", 0);
    assert_int_equal(f->n_reads, 4); /* the hint that is not there, 0, 1-3, 4 */
}

static void a_version_within_a_compacted_file_is_made_of_commits(void **state)
{
    struct log_fixture *f = *state;
    make_commits(f);
    log_put(f, COMPACTED_1_3, LOG_ADD("b") "\n" LOG_REMOVE("a") "\n" LOG_REMOVE("x") "\n");
    silt_snapshot *snapshot = log_open(f, 2);
    assert_string_equal(log_files(f, snapshot), "b x");
    silt_snapshot_unref(snapshot);
}

static void a_broken_compacted_file_costs_a_note(void **state)
{
    struct log_fixture *f = *state;
    make_commits(f);
    log_put(f, COMPACTED_1_3, "{\"add\":{\"path\"");
    expect_table(f, "b c", 1);
    assert_non_null(strstr(f->test.last_log, "compacted"));
}

/* What a crash leaves of one: nothing at all, or no beginning where the table begins. */
static void a_torn_compacted_file_is_gone_around(void **state)
{
    struct log_fixture *f = *state;
    make_commits(f);
    log_put(f, COMPACTED_1_3, "");
    expect_table(f, "b c", 0);
    log_put(f, COMPACTED_0_3, "");
    expect_table(f, "b c", 0);
    log_put(f, COMPACTED_0_3, "\n");
    expect_table(f, "b c", 1);
    assert_non_null(strstr(f->test.last_log, "compacted"));
    log_put(f, COMPACTED_0_3, LOG_PROTOCOL "\n" LOG_ADD("b") "\n");
    expect_table(f, "b c", 1);
    assert_non_null(strstr(f->test.last_log, "no metaData"));
}

/* Not reconciled: two actions of one file say that it is no compacted file (PROTOCOL.md "Log Compaction Files"). */
static void a_mere_concatenation_is_no_compacted_file(void **state)
{
    struct log_fixture *f = *state;
    make_commits(f);
    log_put(f, COMPACTED_1_3, LOG_REMOVE("x") "\n" LOG_ADD("x") "\n" LOG_REMOVE("a") "\n" LOG_ADD("b") "\n");
    expect_table(f, "b c", 1);
}

static void a_lying_hint_costs_a_note(void **state)
{
    struct log_fixture *f = *state;
#define V2_HINT                                                                               \
    "{\"version\":2,\"size\":4,\"v2Checkpoint\":{\"path\":\"00000000000000000002.checkpoint." \
    "80a083e8-7026-4e79-81be-64bd76c43a11.parquet\",\"sizeInBytes\":7}}"
    static const char *const hints[] = {
        "{\"version\":2,\"size\":4,\"parts\":2}",
        "{\"version\":2,\"size\":4,\"sizeInBytes\":3}",
        "{\"version\":2,\"size\":4,\"checksum\":\"0123\"}",
        "{\"version\":2,\"size\":4,\"size\":4}",
        "{\"version\":3,\"size\":4}",
        V2_HINT,
        "{",
    };
    make_commits(f);
    log_checkpoint(f, 2, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("b"), LOG_ADD("x"), NULL);
    log_put(f, "_last_checkpoint", "{\"version\":2,\"size\":4}");
    expect_table(f, "b c", 0);
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
        log_put(f, "_last_checkpoint", hints[i]);
        /* A classic name does for a V2 hint: the same checkpoint. */
        expect_table(f, "b c", strstr(hints[i], "v2Checkpoint") != NULL ? 0 : 1);
    }
}

static void an_older_checkpoint_stands_in_for_a_bad_one(void **state)
{
    struct log_fixture *f = *state;
    make_commits(f);
    log_checkpoint(f, 1, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), LOG_ADD("b"), NULL);
    log_put(f, "00000000000000000003.checkpoint.parquet", "torn");
    log_put(f, "_last_checkpoint", "{\"version\":3,\"size\":4}");
    log_remove(f, COMMIT("0"));
    expect_table(f, "b c", 1);
    assert_non_null(strstr(f->test.last_log, "checkpoint of version 3"));
    log_put(f, "00000000000000000001.checkpoint.parquet", "torn too");
    log_expect_failure(f, -1, SILT_ECORRUPT, NULL, "checkpoint of version 3");
}

static void strays_are_not_part_of_the_log(void **state)
{
    struct log_fixture *f = *state;
    static const char *const names[] = {
        "_staged_commits/00000000000000000005.80a083e8-7026-4e79-81be-64bd76c43a11.json",
        "00000000000000000005.80a083e8-7026-4e79-81be-64bd76c43a11.json",
        ".tmp/00000000000000000005.json",
        "5.json",
        "00000000000000000005.json.bak",
        "00000000000000000005.crc",
        "00000000000000000005.00000000000000000006.compacted.json",
        "00000000000000000003.00000000000000000002.compacted.json",
        "_sidecars/00000000000000000009.checkpoint.parquet",
    };
    make_commits(f);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        log_put(f, names[i], "stray");
    }
    expect_table(f, "b c", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(a_compacted_file_is_read_in_the_place_of_its_commits),
        LOG_TEST(a_version_within_a_compacted_file_is_made_of_commits),
        LOG_TEST(a_broken_compacted_file_costs_a_note),
        LOG_TEST(a_torn_compacted_file_is_gone_around),
        LOG_TEST(a_mere_concatenation_is_no_compacted_file),
        LOG_TEST(a_lying_hint_costs_a_note),
        LOG_TEST(an_older_checkpoint_stands_in_for_a_bad_one),
        LOG_TEST(strays_are_not_part_of_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
