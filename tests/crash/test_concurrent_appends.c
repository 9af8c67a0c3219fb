/*
 * Eight processes append to one table at the same time while a ninth reads it: nothing is lost, every commit has a version of its
 * own, and the reader only ever sees each writer's first commits, whole.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "process_fixture.h"
#include "sql_fixture.h"
#include "temp_dir.h"

#define N_WRITERS 8
#define N_COMMITS 25
#define BATCH 3

struct party {
    char dir[256];
    int64_t writer;
    int done[2]; /* a pipe: the reader goes on until its other end is closed */
};

static bool make_table(void *arg)
{
    const struct party *party = arg;
    const struct sql_options options = {.warehouse = party->dir};
    struct sql_fixture sql;
    const bool good = sql_open(&sql, &options) && sql_run(&sql, "CREATE TABLE t (w BIGINT, k BIGINT, i BIGINT)");
    sql_close(&sql);
    return good;
}

static bool append(void *arg)
{
    const struct party *party = arg;
    const struct sql_options options = {.warehouse = party->dir};
    struct sql_fixture sql;
    bool good = sql_open(&sql, &options);
    int64_t last = 0;
    for (int k = 0; good && k < N_COMMITS; k++) {
        good = sql_run(&sql, "INSERT INTO t SELECT %d, %d, i FROM range(%d) r(i)", (int)party->writer, k, BATCH);
        if (good && sql.version <= last) {
            (void)fprintf(stderr, "version %lld came after %lld\n", (long long)sql.version, (long long)last);
            good = false;
        }
        last = sql.version;
    }
    sql_close(&sql);
    return good;
}

/* Rows that break a writer's order: a commit in part, or one without those before it. */
static bool check_prefixes(struct sql_fixture *sql, int64_t *n_rows)
{
    int64_t bad = -1;
    return sql_number(sql, &bad,
                      "SELECT count(*) FROM (SELECT w FROM t GROUP BY w HAVING count(*) <> %d * (max(k) + 1) OR "
                      "count(DISTINCT k) <> max(k) + 1 OR min(k) <> 0)",
                      BATCH) &&
           bad == 0 && sql_number(sql, n_rows, "SELECT count(*) FROM t");
}

static bool writers_are_done(const struct party *party)
{
    char byte = 0;
    return read(party->done[0], &byte, 1) == 0;
}

static bool read_on(void *arg)
{
    const struct party *party = arg;
    const struct sql_options options = {.warehouse = party->dir};
    struct sql_fixture sql;
    bool good = close(party->done[1]) == 0 && sql_open(&sql, &options);
    int64_t seen = 0;
    do {
        int64_t now = 0;
        good = good && check_prefixes(&sql, &now);
        if (good && (now < seen || now % BATCH != 0)) {
            (void)fprintf(stderr, "%lld rows were seen after %lld\n", (long long)now, (long long)seen);
            good = false;
        }
        seen = now;
    } while (good && !writers_are_done(party));
    sql_close(&sql);
    return good;
}

/* All rows once; the versions are those of the commits and of CREATE, without a gap. */
static bool check_end(void *arg)
{
    const struct party *party = arg;
    const struct sql_options options = {.warehouse = party->dir};
    struct sql_fixture sql;
    int64_t n_rows = 0;
    int64_t n_distinct = 0;
    int64_t n_read = 0;
    bool good = sql_open(&sql, &options) && check_prefixes(&sql, &n_rows) &&
                sql_number(&sql, &n_distinct, "SELECT count(*) FROM (SELECT DISTINCT w, k, i FROM t)");
    if (good && (n_rows != N_WRITERS * N_COMMITS * BATCH || n_distinct != n_rows)) {
        (void)fprintf(stderr, "%lld rows, %lld different ones\n", (long long)n_rows, (long long)n_distinct);
        good = false;
    }
    for (int version = 0; good && version <= N_WRITERS * N_COMMITS; version += 10) {
        good = sql_number(&sql, &n_read, "SELECT count(*) FROM t VERSION AS OF %d", version) &&
               n_read == (int64_t)version * BATCH;
    }
    good = good && sql_try(&sql, "SELECT 1 FROM t VERSION AS OF %d", N_WRITERS * N_COMMITS + 1) == SILT_ENOTFOUND;
    sql_close(&sql);
    return good;
}

static void concurrent_appends_are_all_there_and_readers_see_prefixes(void **state)
{
    (void)state;
    struct party party = {.writer = 0};
    pid_t writers[N_WRITERS];
    assert_true(temp_dir_make(party.dir, sizeof(party.dir)));
    assert_true(process_run(make_table, &party, NULL));
    for (; party.writer < N_WRITERS; party.writer++) {
        writers[party.writer] = process_start(append, &party);
        assert_true(writers[party.writer] > 0);
    }
    assert_int_equal(pipe(party.done), 0);
    assert_int_equal(fcntl(party.done[0], F_SETFL, O_NONBLOCK), 0);
    const pid_t reader = process_start(read_on, &party);
    assert_true(reader > 0);
    bool good = true;
    for (size_t i = 0; i < N_WRITERS; i++) {
        good = process_wait(writers[i], NULL) && good;
    }
    assert_int_equal(close(party.done[1]), 0);
    good = process_wait(reader, NULL) && good;
    assert_true(good);
    assert_true(process_run(check_end, &party, NULL));
    assert_int_equal(close(party.done[0]), 0);
    (void)temp_dir_remove(party.dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(concurrent_appends_are_all_there_and_readers_see_prefixes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
