/* Transactions that rest on old snapshots, whose next version came, expired and was deleted: its name is free again, and not to be taken. */
#include <stdio.h>
#include <string.h>

#include "txn_fixture.h"

#define HOUR_US (INT64_C(3600) * 1000000)

/* Holds version 0 while versions 1 to 3 come. */
static silt_snapshot *make_old_snapshot(struct txn_fixture *f)
{
    silt_snapshot *snapshot = NULL;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    assert_int_equal(silt_table_latest_snapshot(f->table, NULL, &snapshot, &f->err), SILT_OK);
    txn_append(f, "a", NULL);
    txn_append(f, "b", NULL);
    txn_append(f, "c", NULL);
    return snapshot;
}

static void delete_commit(struct txn_fixture *f, int version)
{
    char path[256];
    (void)snprintf(path, sizeof(path), TXN_ROOT "/_delta_log/%020d.json", version);
    assert_int_equal(silt_storage_remove(f->mini.store, NULL, path, &f->err), SILT_OK);
}

static bool has_commit(struct txn_fixture *f, int version)
{
    char path[256];
    int64_t size_bytes = 0;
    int64_t modified_ms = 0;
    (void)snprintf(path, sizeof(path), TXN_ROOT "/_delta_log/%020d.json", version);
    return silt_storage_stat(f->mini.store, NULL, path, &size_bytes, &modified_ms, NULL) == SILT_OK;
}

static silt_status append_at(struct txn_fixture *f, silt_snapshot *snapshot)
{
    silt_txn *txn = NULL;
    assert_int_equal(silt_txn_begin_at(f->table, snapshot, "WRITE", &txn, &f->err), SILT_OK);
    assert_int_equal(txn_add(f, txn, "late", NULL), SILT_OK);
    return txn_end(f, txn);
}

static void expired_version_is_not_taken_again(void **state)
{
    struct txn_fixture *f = *state;
    silt_snapshot *snapshot = make_old_snapshot(f);
    delete_commit(f, 0);
    delete_commit(f, 1);
    f->test.monotonic_us += HOUR_US;
    f->test.wall_us += HOUR_US;
    assert_int_equal(append_at(f, snapshot), SILT_ECONFLICT);
    assert_string_equal(f->err.code_name, "DELTA_CONCURRENT_WRITE");
    assert_int_equal(f->result.outcome, SILT_COMMIT_CONFLICT);
    assert_int_equal(f->result.conflict, SILT_CONFLICT_CONCURRENT_WRITE);
    assert_int_equal(f->result.version, 3);
    assert_false(has_commit(f, 1));
    silt_snapshot_unref(snapshot);
}

static void either_clock_makes_a_snapshot_old(void **state)
{
    struct txn_fixture *f = *state;
    silt_snapshot *snapshot = make_old_snapshot(f);
    delete_commit(f, 0);
    delete_commit(f, 1);
    f->test.wall_us += HOUR_US; /* the machine slept: the other clock stood still */
    assert_int_equal(append_at(f, snapshot), SILT_ECONFLICT);
    f->test.wall_us -= 2 * HOUR_US; /* set back */
    f->test.monotonic_us += HOUR_US;
    assert_int_equal(append_at(f, snapshot), SILT_ECONFLICT);
    assert_false(has_commit(f, 1));
    silt_snapshot_unref(snapshot);
}

static void old_snapshot_commits_while_its_log_is_there(void **state)
{
    struct txn_fixture *f = *state;
    silt_snapshot *snapshot = make_old_snapshot(f);
    f->test.monotonic_us += HOUR_US;
    assert_int_equal(append_at(f, snapshot), SILT_OK);
    assert_int_equal(f->result.version, 4);
    assert_int_equal(f->result.winners, 3);
    assert_int_equal(f->result.attempts, 1); /* nothing was asked of the versions that are others' */
    silt_snapshot_unref(snapshot);
}

static void old_snapshot_that_is_still_the_newest_commits(void **state)
{
    struct txn_fixture *f = *state;
    silt_snapshot *snapshot = NULL;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    assert_int_equal(silt_table_latest_snapshot(f->table, NULL, &snapshot, &f->err), SILT_OK);
    f->test.monotonic_us += HOUR_US;
    assert_int_equal(append_at(f, snapshot), SILT_OK);
    assert_int_equal(f->result.version, 1);
    silt_snapshot_unref(snapshot);
}

/* A snapshot of an earlier version says nothing of what came after it, however young it is. */
static void travelled_snapshot_is_always_looked_after(void **state)
{
    struct txn_fixture *f = *state;
    silt_snapshot *snapshot = NULL;
    silt_snapshot_unref(make_old_snapshot(f));
    assert_int_equal(silt_table_snapshot_at_version(f->table, NULL, 1, &snapshot, &f->err), SILT_OK);
    delete_commit(f, 0);
    delete_commit(f, 1);
    delete_commit(f, 2);
    assert_int_equal(append_at(f, snapshot), SILT_ECONFLICT);
    assert_false(has_commit(f, 2));
    silt_snapshot_unref(snapshot);
}

static void refresh_makes_a_snapshot_young_again(void **state)
{
    struct txn_fixture *f = *state;
    silt_snapshot *snapshot = make_old_snapshot(f);
    silt_snapshot *newer = NULL;
    f->test.monotonic_us += HOUR_US;
    assert_int_equal(silt_snapshot_refresh(snapshot, NULL, &newer, &f->err), SILT_OK);
    delete_commit(f, 0);
    assert_int_equal(append_at(f, newer), SILT_OK);
    assert_int_equal(f->result.version, 4);
    silt_snapshot_unref(newer);
    silt_snapshot_unref(snapshot);
}

/* Takes version 0 away, or puts another table in its place. */
static void table_that_is_gone_is_not_written_to(void **state)
{
    struct txn_fixture *f = *state;
    silt_snapshot *snapshot = NULL;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    assert_int_equal(silt_table_latest_snapshot(f->table, NULL, &snapshot, &f->err), SILT_OK);
    delete_commit(f, 0);
    f->test.monotonic_us += 2000000;
    f->test.wall_us += 2000000;
    assert_int_equal(append_at(f, snapshot), SILT_ECONFLICT);
    assert_string_equal(f->err.code_name, "DELTA_CONCURRENT_WRITE");
    assert_false(has_commit(f, 1));
    txn_create(f, TXN_STRICT_SCHEMA, NULL, NULL);
    assert_int_equal(append_at(f, snapshot), SILT_ECONFLICT);
    assert_non_null(strstr(f->err.message, "replaced by another one"));
    assert_false(has_commit(f, 1));
    silt_snapshot_unref(snapshot);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, txn_setup, txn_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(expired_version_is_not_taken_again),          TEST(either_clock_makes_a_snapshot_old),
        TEST(old_snapshot_commits_while_its_log_is_there), TEST(old_snapshot_that_is_still_the_newest_commits),
        TEST(travelled_snapshot_is_always_looked_after),   TEST(refresh_makes_a_snapshot_young_again),
        TEST(table_that_is_gone_is_not_written_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
