/*
 * Rounds that statements take on a store far away: how many answers are waited for one after the other, and what is asked for. The store is one
 * in memory that has no local paths.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "rounds_store.h"
#include "sql_fixture.h"

/* Longer than a thread can take to come, however busy the machine; who waits in vain waits so long. */
#define PATIENCE_MS 2000

#define TABLE "'memory://w/t'"

struct rig {
    struct rounds rounds;
    silt_storage *memory;
    struct sql_fixture writer, reader; /* sessions of their own on the same store */
};

static void open_session(struct rig *rig, struct sql_fixture *sql)
{
    silt_storage_registry *stores = NULL;
    silt_storage *far = NULL;
    silt_error err = SILT_ERROR_INIT;
    const silt_env *env = silt_env_default();
    assert_int_equal(rounds_store_new(env, rig->memory, &rig->rounds, &far, &err), SILT_OK);
    assert_int_equal(silt_storage_registry_new(env, &stores, &err), SILT_OK);
    assert_int_equal(silt_storage_registry_add(stores, "memory", far, &err), SILT_OK);
    silt_storage_unref(far);
    const struct sql_options options = {.warehouse = "memory://w", .stores = stores};
    assert_true(sql_open(sql, &options));
}

/* A table of three versions in a store that two sessions see. */
static int set_up(void **state)
{
    struct rig *rig = calloc(1, sizeof(*rig));
    silt_error err = SILT_ERROR_INIT;
    rounds_init(&rig->rounds);
    assert_int_equal(silt_storage_memory_new(silt_env_default(), &rig->memory, &err), SILT_OK);
    open_session(rig, &rig->writer);
    open_session(rig, &rig->reader);
    assert_true(sql_run(&rig->writer, "CREATE TABLE " TABLE " (a BIGINT) USING delta"));
    assert_true(sql_run(&rig->writer, "INSERT INTO " TABLE " VALUES (1)"));
    assert_true(sql_run(&rig->writer, "INSERT INTO " TABLE " VALUES (2)"));
    rounds_reset(&rig->rounds);
    *state = rig;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *rig = *state;
    sql_close(&rig->writer);
    sql_close(&rig->reader);
    silt_storage_unref(rig->memory);
    rounds_destroy(&rig->rounds);
    free(rig);
    return 0;
}

static void expect_sum(struct rig *rig, const char *from, int64_t sum)
{
    int64_t got = 0;
    assert_true(sql_number(&rig->reader, &got, "SELECT sum(a) FROM %s", from));
    assert_int_equal(got, sum);
}

/* Hint, listing, commits, data: no listing before to see whether there is a table, by whatever name; no version checksum. */
static void a_first_query_lists_once(void **state)
{
    struct rig *rig = *state;
    expect_sum(rig, TABLE, 3);
    assert_int_equal(rig->rounds.n_lists, 1);
    assert_int_equal(rig->rounds.n_reads, 1 + 3 + 2);
    assert_int_equal(rig->rounds.rounds, 4);
}

static void a_first_query_by_name_lists_once(void **state)
{
    struct rig *rig = *state;
    expect_sum(rig, "t", 3);
    assert_int_equal(rig->rounds.n_lists, 1);
    assert_int_equal(rig->rounds.rounds, 4);
    rounds_reset(&rig->rounds);
    rig->rounds.patience_ms = PATIENCE_MS;
    expect_sum(rig, "t", 3);
    assert_int_equal(rig->rounds.rounds, 2);
    rig->rounds.patience_ms = 0;
    assert_int_not_equal(sql_try(&rig->reader, "SELECT * FROM absent"), SILT_OK);
}

/* The listing and the commits that may have come go together, and then the data. */
static void what_came_since_takes_one_round(void **state)
{
    struct rig *rig = *state;
    expect_sum(rig, TABLE, 3);
    rounds_reset(&rig->rounds);
    rig->rounds.patience_ms = PATIENCE_MS;
    expect_sum(rig, TABLE, 3);
    assert_int_equal(rig->rounds.n_lists, 1);
    assert_int_equal(rig->rounds.rounds, 2);
    rig->rounds.patience_ms = 0;
    assert_true(sql_run(&rig->writer, "INSERT INTO " TABLE " VALUES (3)"));
    rounds_reset(&rig->rounds);
    rig->rounds.patience_ms = PATIENCE_MS;
    expect_sum(rig, TABLE, 6);
    assert_int_equal(rig->rounds.n_lists, 1);
    assert_int_equal(rig->rounds.n_reads, 1 + 3);
    assert_int_equal(rig->rounds.rounds, 2);
    rig->rounds.patience_ms = 0;
    assert_true(sql_run(&rig->writer, "INSERT INTO " TABLE " VALUES (4)"));
    assert_true(sql_run(&rig->writer, "INSERT INTO " TABLE " VALUES (5)"));
    rounds_reset(&rig->rounds);
    rig->rounds.patience_ms = PATIENCE_MS;
    expect_sum(rig, TABLE, 15); /* one more than came before is asked for */
    assert_int_equal(rig->rounds.n_lists, 1);
    assert_int_equal(rig->rounds.n_reads, 2 + 5);
    assert_int_equal(rig->rounds.rounds, 2);
    rig->rounds.patience_ms = 0;
    for (int i = 6; i < 11; i++) { /* more than are asked for ahead */
        assert_true(sql_run(&rig->writer, "INSERT INTO " TABLE " VALUES (%d)", i));
    }
    expect_sum(rig, TABLE, 55);
}

static void written_files_are_not_asked_for_their_time(void **state)
{
    struct rig *rig = *state;
    assert_true(sql_run(&rig->writer, "INSERT INTO " TABLE " VALUES (3)"));
    assert_int_equal(rig->rounds.n_stats, 1); /* of the version that the commit rests on */
    assert_int_equal(rig->rounds.n_lists, 1);
    int64_t got = 0;
    assert_true(
        sql_number(&rig->reader, &got,
                   "SELECT max(date_diff('minute', _metadata.file_modification_time, now()))::BIGINT FROM " TABLE));
    assert_in_range(got, 0, 60);
}

/* The listing and what may have come since, the data, the commit; then the version checksum, for which nothing is read, and with it a look. */
static void an_append_after_another_takes_three_rounds_to_its_commit(void **state)
{
    struct rig *rig = *state;
    assert_true(sql_run(&rig->writer, "INSERT INTO " TABLE " VALUES (3)"));
    rounds_reset(&rig->rounds);
    rig->rounds.patience_ms = PATIENCE_MS;
    assert_true(sql_run(&rig->writer, "INSERT INTO " TABLE " VALUES (4)"));
    assert_int_equal(rig->rounds.n_lists, 1);
    assert_int_equal(rig->rounds.n_reads, 2);
    assert_int_equal(rig->rounds.n_puts, 3);
    assert_int_equal(rig->rounds.n_stats, 1);
    assert_int_equal(rig->rounds.rounds, 4);
    rig->rounds.patience_ms = 0;
    expect_sum(rig, TABLE, 10);
}

/* Hint, listing, the commits and the whole of a small checkpoint together, data; statistics ask for nothing a second time. */
static void a_small_checkpoint_comes_with_the_commits(void **state)
{
    struct rig *rig = *state;
    assert_true(sql_run(&rig->writer, "CREATE TABLE 'memory://w/c' (a BIGINT) USING delta TBLPROPERTIES "
                                      "('delta.checkpointInterval' = '3')"));
    for (int i = 1; i < 6; i++) { /* a checkpoint of version 3, two commits behind it */
        assert_true(sql_run(&rig->writer, "INSERT INTO 'memory://w/c' VALUES (%d)", i));
    }
    rounds_reset(&rig->rounds);
    expect_sum(rig, "'memory://w/c' WHERE a > 4", 5);
    assert_int_equal(rig->rounds.n_lists, 1);
    assert_int_equal(rig->rounds.n_stats, 0);
    assert_int_equal(rig->rounds.n_reads, 1 + (2 + 1) + 1);
    assert_int_equal(rig->rounds.rounds, 4);
}

/* The same with sidecars, which are asked for together once the top file has named them. */
static void sidecars_are_a_round_more(void **state)
{
    struct rig *rig = *state;
    assert_true(sql_run(&rig->writer, "CREATE TABLE 'memory://w/c' (a BIGINT) USING delta TBLPROPERTIES "
                                      "('delta.checkpointInterval' = '3', 'delta.checkpointPolicy' = 'v2')"));
    for (int i = 1; i < 6; i++) {
        assert_true(sql_run(&rig->writer, "INSERT INTO 'memory://w/c' VALUES (%d)", i));
    }
    rounds_reset(&rig->rounds);
    expect_sum(rig, "'memory://w/c' WHERE a > 4", 5);
    assert_int_equal(rig->rounds.n_lists, 1);
    assert_int_equal(rig->rounds.n_stats, 0);
    assert_int_equal(rig->rounds.n_reads, 1 + (2 + 1) + 1 + 1);
    assert_int_equal(rig->rounds.rounds, 5);
}

/* A table that was dropped and made anew by somebody else is not taken for the one that was read. */
static void a_table_made_anew_is_another_one(void **state)
{
    struct rig *rig = *state;
    expect_sum(rig, "t", 3);
    assert_true(sql_run(&rig->writer, "DROP TABLE t"));
    assert_int_not_equal(sql_try(&rig->reader, "SELECT * FROM t"), SILT_OK);
    assert_true(sql_run(&rig->writer, "CREATE TABLE t (a BIGINT, other STRING) USING delta"));
    assert_true(sql_run(&rig->writer, "INSERT INTO t VALUES (40, 'x')"));
    expect_sum(rig, "t", 40);
    assert_true(sql_run(&rig->writer, "DROP TABLE t"));
    assert_true(sql_run(&rig->writer, "CREATE TABLE t (a BIGINT, something STRING) USING delta"));
    assert_true(sql_run(&rig->writer, "INSERT INTO t VALUES (50, 'x'), (60, 'y')"));
    expect_sum(rig, "t", 110);
}

/* More tables than a session keeps. */
static void many_tables_are_read_in_turn(void **state)
{
    struct rig *rig = *state;
    for (int i = 0; i < 7; i++) {
        assert_true(sql_run(&rig->writer, "CREATE TABLE t%d USING delta AS SELECT %d AS a", i, i));
    }
    for (int i = 0; i < 21; i++) {
        int64_t got = -1;
        assert_true(sql_number(&rig->reader, &got, "SELECT a FROM t%d", i % 7));
        assert_int_equal(got, i % 7);
    }
    int64_t got = -1;
    assert_true(sql_number(&rig->reader, &got,
                           "SELECT t0.a + t1.a + t2.a + t3.a + t4.a + t5.a + t6.a FROM t0, t1, t2, "
                           "t3, t4, t5, t6"));
    assert_int_equal(got, 21);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_first_query_lists_once),
        TEST(a_first_query_by_name_lists_once),
        TEST(what_came_since_takes_one_round),
        TEST(a_small_checkpoint_comes_with_the_commits),
        TEST(sidecars_are_a_round_more),
        TEST(a_table_made_anew_is_another_one),
        TEST(an_append_after_another_takes_three_rounds_to_its_commit),
        TEST(written_files_are_not_asked_for_their_time),
        TEST(many_tables_are_read_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
