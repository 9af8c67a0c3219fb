/* Several writers on one table of files: overwrites against each other, appends, replays of one application's batch. */
#include "hand_table.h"

#include <string.h>

#include "base/arrow.h"

/* A transaction of another handle that begins at the newest version. */
static silt_txn *begin(struct session_fixture *s, silt_table **table)
{
    silt_txn *txn = NULL;
    assert_int_equal(silt_session_table(s->session, "t", table, &s->err), SILT_OK);
    assert_int_equal(silt_txn_begin(*table, NULL, "WRITE", &txn, &s->err), SILT_OK);
    return txn;
}

/* Writes the rows of a query in it. */
static void write_rows(struct session_fixture *s, silt_txn *txn, const char *query)
{
    silt_execution *execution = NULL;
    silt_result result = {.size = sizeof(result)};
    bool done = false;
    assert_int_equal(silt_session_execute(s->session, query, strlen(query), NULL, NULL, &execution, &s->err), SILT_OK);
    assert_int_equal(silt_execution_next(execution, NULL, &result, &done, &s->err), SILT_OK);
    if (silt_txn_write(txn, NULL, &result.stream, &s->err) != SILT_OK) {
        fail_msg("%s: %s", query, s->err.message);
    }
    silt_execution_free(execution);
}

static silt_commit_result end(struct session_fixture *s, silt_txn *txn, silt_table *table)
{
    silt_commit_result result = {.size = sizeof(result)};
    const silt_status status = silt_txn_commit(txn, NULL, &result, &s->err);
    if (status != SILT_OK && status != SILT_ECONFLICT) {
        fail_msg("commit: %s %s", silt_status_name(status), s->err.message);
    }
    silt_txn_free(txn);
    silt_table_unref(table);
    return result;
}

static void make(struct session_fixture *s)
{
    session_expect_done(s, "CREATE TABLE t (v INT, p STRING) PARTITIONED BY (p)");
    session_expect_done(s, "INSERT INTO t VALUES (1, 'a'), (2, 'a'), (3, 'a')");
}

/* How many Parquet files lie in the table's folder, of live rows or not. */
static void expect_files(struct session_fixture *s, const char *count)
{
    session_expect_rows(s, session_with_dir(s, "SELECT count(*) FROM glob('%D/t/**/*.parquet')"), count);
}

static void the_second_of_two_overwrites_fails(void **state)
{
    struct session_fixture *s = *state;
    silt_table *table = NULL;
    make(s);
    silt_txn *b = begin(s, &table);
    assert_int_equal(silt_txn_remove_all(b, NULL, &s->err), SILT_OK);
    write_rows(s, b, "SELECT 200 AS v, 'a' AS p");
    session_expect_done(s, "INSERT OVERWRITE t VALUES (100, 'a')");
    const silt_commit_result result = end(s, b, table);
    assert_int_equal(result.outcome, SILT_COMMIT_CONFLICT);
    assert_int_equal(result.conflict, SILT_CONFLICT_CONCURRENT_APPEND);
    assert_non_null(strstr(s->err.code_name, "DELTA_CONCURRENT_APPEND"));
    session_expect_rows(s, "SELECT v FROM t", "100\n");
    expect_files(s, "2\n"); /* of version 1 and of the winner */
}

static void an_append_passes_an_overwrite(void **state)
{
    struct session_fixture *s = *state;
    silt_table *table = NULL;
    make(s);
    silt_txn *b = begin(s, &table);
    write_rows(s, b, "SELECT 200 AS v, 'b' AS p");
    session_expect_done(s, "INSERT OVERWRITE t VALUES (100, 'a')");
    const silt_commit_result result = end(s, b, table);
    assert_int_equal(result.outcome, SILT_COMMIT_COMMITTED);
    assert_int_equal(result.version, 3);
    session_expect_rows(s, "SELECT v FROM t ORDER BY v", "100\n200\n");
}

static void an_overwrite_removes_only_what_it_saw(void **state)
{
    struct session_fixture *s = *state;
    silt_table *table = NULL;
    make(s);
    silt_txn *b = begin(s, &table);
    assert_int_equal(silt_txn_remove_all(b, NULL, &s->err), SILT_OK);
    write_rows(s, b, "SELECT 200 AS v, 'a' AS p");
    session_expect_done(s, "INSERT INTO t VALUES (4, 'a')");
    /* WriteSerializable: the blind append counts as later, so that its row stays. */
    assert_int_equal(end(s, b, table).outcome, SILT_COMMIT_COMMITTED);
    session_expect_rows(s, "SELECT v FROM t ORDER BY v", "4\n200\n");
}

static void a_serializable_table_refuses_that(void **state)
{
    struct session_fixture *s = *state;
    silt_table *table = NULL;
    session_expect_done(s, "CREATE TABLE t (v INT, p STRING) PARTITIONED BY (p) "
                           "TBLPROPERTIES ('delta.isolationLevel' = 'Serializable'); INSERT INTO t VALUES (1, 'a')");
    silt_txn *b = begin(s, &table);
    assert_int_equal(silt_txn_remove_all(b, NULL, &s->err), SILT_OK);
    write_rows(s, b, "SELECT 200 AS v, 'a' AS p");
    session_expect_done(s, "INSERT INTO t VALUES (4, 'a')");
    const silt_commit_result result = end(s, b, table);
    assert_int_equal(result.outcome, SILT_COMMIT_CONFLICT);
    assert_int_equal(result.conflict, SILT_CONFLICT_CONCURRENT_APPEND);
    session_expect_rows(s, "SELECT v FROM t ORDER BY v", "1\n4\n");
}

static void a_change_of_metadata_stops_every_other_writer(void **state)
{
    struct session_fixture *s = *state;
    silt_table *table = NULL;
    silt_table *changed = NULL;
    make(s);
    silt_txn *b = begin(s, &table);
    write_rows(s, b, "SELECT 200 AS v, 'b' AS p");
    silt_txn *a = begin(s, &changed);
    assert_int_equal(silt_txn_set_property(a, "delta.checkpointInterval", "20", &s->err), SILT_OK);
    assert_int_equal(end(s, a, changed).outcome, SILT_COMMIT_COMMITTED);
    const silt_commit_result result = end(s, b, table);
    assert_int_equal(result.outcome, SILT_COMMIT_CONFLICT);
    assert_int_equal(result.conflict, SILT_CONFLICT_METADATA_CHANGED);
    session_expect_rows(s, "SELECT count(*) FROM t", "3\n");
    expect_files(s, "1\n");
}

/* Appends the value under an application's id and version. */
static silt_commit_outcome batch(struct session_fixture *s, const char *app, int64_t version, const char *query)
{
    silt_table *table = NULL;
    silt_txn *txn = begin(s, &table);
    assert_int_equal(silt_txn_set_app_id(txn, app, version, &s->err), SILT_OK);
    write_rows(s, txn, query);
    return end(s, txn, table).outcome;
}

static void a_batch_is_written_once(void **state)
{
    struct session_fixture *s = *state;
    const int64_t late = INT64_C(1) << 40;
    make(s);
    assert_int_equal(batch(s, "A", 5, "SELECT 10 AS v, 'a' AS p"), SILT_COMMIT_COMMITTED);
    assert_int_equal(batch(s, "A", 5, "SELECT 11 AS v, 'a' AS p"), SILT_COMMIT_SKIPPED);
    assert_int_equal(batch(s, "A", 4, "SELECT 12 AS v, 'a' AS p"), SILT_COMMIT_SKIPPED);
    assert_int_equal(batch(s, "A", 6, "SELECT 13 AS v, 'a' AS p"), SILT_COMMIT_COMMITTED);
    assert_int_equal(batch(s, "B", 1, "SELECT 14 AS v, 'a' AS p"), SILT_COMMIT_COMMITTED);
    assert_int_equal(batch(s, "A", late, "SELECT 15 AS v, 'a' AS p"), SILT_COMMIT_COMMITTED);
    assert_int_equal(batch(s, "A", 7, "SELECT 16 AS v, 'a' AS p"), SILT_COMMIT_SKIPPED);
    session_expect_rows(s, "SELECT v FROM t WHERE v >= 10 ORDER BY v", "10\n13\n14\n15\n");
    expect_files(s, "5\n");
}

static void a_rival_with_the_same_batch_wins_once(void **state)
{
    struct session_fixture *s = *state;
    silt_table *table = NULL;
    make(s);
    silt_txn *b = begin(s, &table);
    assert_int_equal(silt_txn_set_app_id(b, "A", 6, &s->err), SILT_OK);
    write_rows(s, b, "SELECT 20 AS v, 'a' AS p");
    assert_int_equal(batch(s, "A", 6, "SELECT 10 AS v, 'a' AS p"), SILT_COMMIT_COMMITTED);
    assert_int_not_equal(end(s, b, table).outcome, SILT_COMMIT_COMMITTED);
    session_expect_rows(s, "SELECT v FROM t WHERE v >= 10", "10\n");
}

static void a_batch_is_known_from_the_checkpoint(void **state)
{
    struct session_fixture *s = *state;
    hand_commit(s, "t", 3, "{\"commitInfo\":{}}", NULL);
    hand_parquet(
        s, "t/_delta_log/00000000000000000003.checkpoint.parquet",
        "SELECT {'minReaderVersion': 1::INT, 'minWriterVersion': 2::INT} AS protocol UNION ALL BY NAME "
        "SELECT {'id': 'm', 'format': {'provider': 'parquet'}, 'schemaString': "
        "'{\"type\":\"struct\",\"fields\":[" HAND_FIELD(
            "v",
            "integer") "]}', 'partitionColumns': "
                       "[]::VARCHAR[], 'configuration': MAP([]::VARCHAR[], []::VARCHAR[])} AS \"metaData\" UNION ALL BY NAME "
                       "SELECT {'appId': 'A', 'version': 9::BIGINT} AS txn");
    assert_int_equal(batch(s, "A", 9, "SELECT 1 AS v"), SILT_COMMIT_SKIPPED);
    assert_int_equal(batch(s, "A", 10, "SELECT 2 AS v"), SILT_COMMIT_COMMITTED);
    session_expect_rows(s, "SELECT v FROM t", "2\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(the_second_of_two_overwrites_fails),
        SESSION_TEST(an_append_passes_an_overwrite),
        SESSION_TEST(an_overwrite_removes_only_what_it_saw),
        SESSION_TEST(a_serializable_table_refuses_that),
        SESSION_TEST(a_change_of_metadata_stops_every_other_writer),
        SESSION_TEST(a_batch_is_written_once),
        SESSION_TEST(a_rival_with_the_same_batch_wins_once),
        SESSION_TEST(a_batch_is_known_from_the_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
