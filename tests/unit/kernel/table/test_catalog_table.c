/*
 * Tables opened through a catalog: staged and inline commits, the catalog's version as the last one, refusal by a bare path.
 */
#include "log_fixture.h"

#include <string.h>

#define UUID1 "016ae953-37a9-438e-8683-9a9a4a79a395"
#define UUID2 "7d17ac10-5cc3-401b-bd1a-9c82dd2ea032"
#define PROTOCOL                                                                                            \
    "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"catalogManaged\"]," \
    "\"writerFeatures\":[\"catalogManaged\",\"inCommitTimestamp\"]}}"
#define METADATA                                                                                                        \
    "{\"metaData\":{\"id\":\"m\",\"format\":{\"provider\":\"parquet\"},\"schemaString\":\"{\\\"type\\\":\\\"struct\\\"" \
    ",\\\"fields\\\":[]}\",\"partitionColumns\":[],\"configuration\":{\"delta.enableInCommitTimestamps\":\"true\"}}}"
#define INFO(ms) "{\"commitInfo\":{\"inCommitTimestamp\":" ms ",\"operation\":\"WRITE\"}}"
#define INLINE3 INFO("3000") "\n" LOG_ADD("c") "\n"

/* Published are 0 and 1 (and a rival 2), staged 1 and 2 and a rejected 3, inline is 3. */
static void make_table(struct log_fixture *f)
{
    log_commit(f, 0, INFO("0"), PROTOCOL, METADATA, NULL);
    log_commit(f, 1, INFO("1000"), LOG_ADD("a"), NULL);
    log_commit(f, 2, INFO("2000"), LOG_ADD("rival"), NULL);
    log_commit(f, 4, INFO("4000"), LOG_ADD("late"), NULL);
    log_put(f, "_staged_commits/00000000000000000001." UUID1 ".json", INFO("1000") "\n" LOG_ADD("a") "\n");
    log_put(f, "_staged_commits/00000000000000000002." UUID1 ".json", INFO("2000") "\n" LOG_ADD("b") "\n");
    log_put(f, "_staged_commits/00000000000000000003." UUID2 ".json", INFO("3000") "\n" LOG_ADD("rejected") "\n");
}

static silt_catalog_commit staged(int64_t version, const char *name)
{
    return (silt_catalog_commit){.size = sizeof(silt_catalog_commit), .version = version, .staged_name = name};
}

static silt_table *open_table(struct log_fixture *f, int64_t latest, const silt_catalog_commit *commits, size_t n)
{
    const silt_catalog_state state = {
        .size = sizeof(state), .latest_version = latest, .commits = commits, .n_commits = n};
    silt_table *table = NULL;
    assert_int_equal(silt_table_for_catalog(f->engine, LOG_ROOT, &state, &table, &f->err), SILT_OK);
    return table;
}

static const silt_catalog_commit inline3 = {
    .size = sizeof(silt_catalog_commit), .version = 3, .content = INLINE3, .content_len = sizeof(INLINE3) - 1};

static void make_tail(silt_catalog_commit out[3])
{
    out[0] = staged(1, "00000000000000000001." UUID1 ".json");
    out[1] = staged(2, "00000000000000000002." UUID1 ".json");
    out[2] = inline3;
}

static void the_catalogs_commits_make_the_table(void **state)
{
    struct log_fixture *f = *state;
    silt_catalog_commit tail[3];
    make_table(f);
    make_tail(tail);
    silt_table *table = open_table(f, 3, tail, 3);
    silt_snapshot *snapshot = NULL;
    assert_int_equal(silt_table_latest_snapshot(table, NULL, &snapshot, &f->err), SILT_OK);
    assert_int_equal(silt_snapshot_version(snapshot), 3);
    assert_int_equal(silt_snapshot_timestamp_ms(snapshot), 3000);
    assert_string_equal(log_files(f, snapshot), "a b c");
    silt_snapshot *same = NULL;
    assert_int_equal(silt_snapshot_refresh(snapshot, NULL, &same, &f->err), SILT_OK);
    assert_ptr_equal(same, snapshot);
    silt_snapshot_unref(same);
    silt_snapshot_unref(snapshot);
    assert_int_equal(silt_table_snapshot_at_version(table, NULL, 2, &snapshot, &f->err), SILT_OK);
    assert_string_equal(log_files(f, snapshot), "a b");
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
}

static void nothing_beyond_the_catalogs_version_is_seen(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    silt_table *table = open_table(f, 1, NULL, 0); /* all is published; 2 and 4 are not ratified */
    silt_snapshot *snapshot = NULL;
    assert_int_equal(silt_table_latest_snapshot(table, NULL, &snapshot, &f->err), SILT_OK);
    assert_int_equal(silt_snapshot_version(snapshot), 1);
    assert_string_equal(log_files(f, snapshot), "a");
    silt_snapshot_unref(snapshot);
    assert_int_equal(silt_table_snapshot_at_version(table, NULL, 2, &snapshot, &f->err), SILT_ENOTFOUND);
    silt_table_unref(table);
}

static void a_checkpoint_of_a_later_version_does_not_count(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    log_checkpoint(f, 4, PROTOCOL, METADATA, LOG_ADD("late"), NULL);
    log_put(f, "_last_checkpoint", "{\"version\":4,\"size\":3}");
    silt_table *table = open_table(f, 1, NULL, 0);
    silt_snapshot *snapshot = NULL;
    assert_int_equal(silt_table_latest_snapshot(table, NULL, &snapshot, &f->err), SILT_OK);
    assert_string_equal(log_files(f, snapshot), "a");
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
}

static void commits_that_the_catalog_has_and_nobody_shows_are_missed(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, INFO("0"), PROTOCOL, METADATA, NULL);
    log_commit(f, 1, INFO("1000"), LOG_ADD("a"), NULL);
    silt_table *table = open_table(f, 3, NULL, 0);
    silt_snapshot *snapshot = NULL;
    assert_int_equal(silt_table_latest_snapshot(table, NULL, &snapshot, &f->err), SILT_ENOTFOUND);
    assert_non_null(strstr(f->err.message, "version 3"));
    silt_table_unref(table);
    table = open_table(f, 3, &inline3, 1);
    assert_int_equal(silt_table_latest_snapshot(table, NULL, &snapshot, &f->err), SILT_ECORRUPT);
    assert_string_equal(f->err.code_name, "DELTA_VERSIONS_NOT_CONTIGUOUS");
    silt_table_unref(table);
}

static void a_bare_path_is_refused_by_feature(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    log_remove(f, "00000000000000000004.json");
    log_expect_failure(f, -1, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_READ", "catalogManaged");
    assert_non_null(strstr(f->err.hint, "catalog"));
    log_commit(
        f, 0, INFO("0"),
        "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"catalogOwned-preview\"],"
        "\"writerFeatures\":[\"catalogOwned-preview\"]}}",
        METADATA, NULL);
    log_expect_failure(f, -1, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_READ", "catalogOwned-preview");
}

static void nothing_is_written_past_the_catalog(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, NULL);
    silt_table *table = open_table(f, 0, NULL, 0);
    silt_txn *txn = NULL;
    assert_int_equal(silt_txn_begin(table, NULL, "WRITE", &txn, &f->err), SILT_EUNSUPPORTED);
    assert_non_null(strstr(f->err.message, "catalog"));
    silt_table_unref(table);
}

struct told {
    size_t n;
    int64_t times[8];
};

static bool take(void *ctx, const silt_history_entry *entry)
{
    struct told *told = ctx;
    told->times[told->n++] = entry->timestamp_ms;
    return true;
}

static void history_and_time_travel_see_the_catalogs_commits(void **state)
{
    struct log_fixture *f = *state;
    silt_catalog_commit tail[3];
    make_table(f);
    make_tail(tail);
    silt_table *table = open_table(f, 3, tail, 3);
    struct told told = {.n = 0};
    assert_int_equal(silt_table_history(table, NULL, 0, take, &told, &f->err), SILT_OK);
    assert_int_equal(told.n, 4);
    assert_int_equal(told.times[0], 3000);
    assert_int_equal(told.times[1], 2000);
    silt_snapshot *snapshot = NULL;
    assert_int_equal(silt_table_snapshot_at_timestamp(table, NULL, 2500000, &snapshot, &f->err), SILT_OK);
    assert_int_equal(silt_snapshot_version(snapshot), 2);
    silt_snapshot_unref(snapshot);
    assert_int_equal(silt_table_snapshot_at_timestamp(table, NULL, 3001000, &snapshot, &f->err), SILT_ENOTFOUND);
    assert_string_equal(f->err.code_name, "DELTA_TIMESTAMP_GREATER_THAN_COMMIT");
    silt_table_unref(table);
}

static void expect_invalid(struct log_fixture *f, int64_t latest, silt_catalog_commit commit, const char *in_message)
{
    const silt_catalog_state state = {
        .size = sizeof(state), .latest_version = latest, .commits = &commit, .n_commits = 1};
    silt_table *table = NULL;
    assert_int_equal(silt_table_for_catalog(f->engine, LOG_ROOT, &state, &table, &f->err), SILT_EINVALID);
    assert_null(table);
    assert_non_null(strstr(f->err.message, in_message));
}

static void impossible_states_are_refused(void **state)
{
    struct log_fixture *f = *state;
    expect_invalid(f, 1, staged(1, "../00000000000000000001." UUID1 ".json"), "not the name of a staged commit");
    expect_invalid(f, 1, staged(1, "00000000000000000002." UUID1 ".json"), "not the name of a staged commit");
    expect_invalid(f, 1, staged(1, "00000000000000000001.json"), "not the name of a staged commit");
    expect_invalid(f, 1, staged(1, NULL), "neither staged nor inline");
    expect_invalid(f, 0, staged(1, "00000000000000000001." UUID1 ".json"), "not among its versions");
    silt_catalog_commit both = inline3;
    both.staged_name = "x";
    expect_invalid(f, 3, both, "both staged and inline");
    silt_table *table = NULL;
    assert_int_equal(silt_table_for_catalog(f->engine, LOG_ROOT, NULL, &table, &f->err), SILT_EINVALID);
}

static void a_torn_inline_commit_is_refused_with_version_and_line(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, INFO("0"), PROTOCOL, METADATA, NULL);
    static const char torn[] = INFO("1000") "\n{\"add\":{";
    const silt_catalog_commit commit = {
        .size = sizeof(commit), .version = 1, .content = torn, .content_len = sizeof(torn) - 1};
    silt_table *table = open_table(f, 1, &commit, 1);
    silt_snapshot *snapshot = NULL;
    assert_int_equal(silt_table_latest_snapshot(table, NULL, &snapshot, &f->err), SILT_ECORRUPT);
    assert_non_null(strstr(f->err.message, "commit 1, line 2"));
    silt_table_unref(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(the_catalogs_commits_make_the_table),
        LOG_TEST(nothing_beyond_the_catalogs_version_is_seen),
        LOG_TEST(a_checkpoint_of_a_later_version_does_not_count),
        LOG_TEST(commits_that_the_catalog_has_and_nobody_shows_are_missed),
        LOG_TEST(a_bare_path_is_refused_by_feature),
        LOG_TEST(nothing_is_written_past_the_catalog),
        LOG_TEST(history_and_time_travel_see_the_catalogs_commits),
        LOG_TEST(impossible_states_are_refused),
        LOG_TEST(a_torn_inline_commit_is_refused_with_version_and_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
