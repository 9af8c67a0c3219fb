/*
 * Eight processes append to one table at the same time while others checkpoint it, clean its log and read it: nothing is lost, every
 * commit has a version of its own, and readers only ever see each writer's first commits, whole.
 *
 * The cleaner makes commits look old when they are far behind the newest one. Far, because a log must never be cleaned as far as anybody
 * who is still at work with it: a writer that slept for that long would find the name of its next version free again. 20 commits of each
 * writer by default; 500 with SILT_SWEEP=all in the environment.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "process_fixture.h"
#include "sweep_jobs.h"
#include "temp_dir.h"

#define N_WRITERS 8
#define N_READERS 2
#define N_HELPERS (N_READERS + 2)
#define BATCH 3
#define SECONDS_OLD (400 * 86400)
#define PAUSE_US 20000

struct party {
    char dir[256];
    int64_t writer;
    int64_t n_commits; /* of each writer */
    int done[2];       /* a pipe: the helpers go on until its other end is closed */
};

static bool make_table(void *arg)
{
    const struct party *party = arg;
    const struct sql_options options = {.warehouse = party->dir};
    struct sql_fixture sql;
    /* Checkpoints are the checkpointer's, but now and then a writer's too. */
    const bool good = sql_open(&sql, &options) &&
                      sql_run(&sql,
                              "CREATE TABLE t (w BIGINT, k BIGINT, i BIGINT) TBLPROPERTIES "
                              "('delta.checkpointInterval' = '37', 'delta.logRetentionDuration' = 'interval 1 day')");
    sql_close(&sql);
    return good;
}

static bool append(void *arg)
{
    const struct party *party = arg;
    const struct sql_options options = {.warehouse = party->dir};
    struct sql_fixture sql;
    bool good = sql_open(&sql, &options) && sql_run(&sql, "SET spark.databricks.delta.maxCommitAttempts = 1000");
    int64_t last = 0;
    for (int64_t k = 0; good && k < party->n_commits; k++) {
        good = sql_run(&sql, "INSERT INTO t SELECT %d, %d, i FROM range(%d) r(i)", (int)party->writer, (int)k, BATCH);
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
    *n_rows = 0;
    if (!sql_run(
            sql,
            "SELECT w, count(*), count(DISTINCT k), min(k), max(k) FROM t GROUP BY w HAVING count(*) <> %d * (max(k) + 1) "
            "OR count(DISTINCT k) <> max(k) + 1 OR min(k) <> 0",
            BATCH)) {
        return false;
    }
    if (sql->text.len > 0) {
        (void)fprintf(stderr, "writer, rows, commits, first, last:\n%s", sl_buf_cstr(&sql->text));
        return false;
    }
    return sql_number(sql, n_rows, "SELECT count(*) FROM t");
}

static bool writers_are_done(const struct party *party)
{
    char byte = 0;
    return read(party->done[0], &byte, 1) == 0;
}

/* Only the helpers look at the pipe, each after it has closed the end that is written to. */
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

typedef bool (*upkeep)(const struct party *party, silt_table *table, int64_t *done, silt_error *err);

/* Does something to the table again and again. At the end something must have come of it. */
static bool keep_up(const struct party *party, upkeep once)
{
    struct sweep_bench bench;
    silt_table *table = NULL;
    int64_t done = 0;
    sweep_env_init(&bench);
    silt_error *err = &bench.sql.err;
    bool good = close(party->done[1]) == 0 && sweep_open(&bench, party->dir, NULL, NULL) &&
                silt_session_table(bench.sql.session, "t", &table, err) == SILT_OK;
    while (good && !writers_are_done(party)) {
        good = once(party, table, &done, err);
        bench.env.sleep_us(bench.env.ctx, PAUSE_US);
    }
    if (!good || done == 0) {
        (void)fprintf(stderr, "upkeep failed, or came to nothing: %s\n", err->message);
    }
    silt_table_unref(table);
    sweep_close(&bench);
    return good && done > 0;
}

static bool checkpoint_once(const struct party *party, silt_table *table, int64_t *done, silt_error *err)
{
    silt_checkpoint_result result = {.size = sizeof(result)};
    (void)party;
    const silt_status status = silt_table_checkpoint(table, NULL, NULL, &result, err);
    *done += status == SILT_OK && result.written;
    return status == SILT_OK;
}

/* Makes all commits before a version look old, each a second younger than the one before it. */
static void age(const struct party *party, int64_t end)
{
    const time_t begin = time(NULL) - SECONDS_OLD;
    for (int64_t version = end - 1; version >= 0; version--) {
        char path[400];
        (void)snprintf(path, sizeof(path), "%s/t/_delta_log/%020lld.json", party->dir, (long long)version);
        const struct timespec then = {.tv_sec = begin + (time_t)version};
        const struct timespec times[2] = {then, then};
        if (utimensat(AT_FDCWD, path, times, 0) != 0) {
            return; /* cleaned already */
        }
    }
}

static bool clean_once(const struct party *party, silt_table *table, int64_t *done, silt_error *err)
{
    silt_clean_log_result result = {.size = sizeof(result)};
    silt_snapshot *snapshot = NULL;
    silt_status status = silt_table_latest_snapshot(table, NULL, &snapshot, err);
    if (status == SILT_OK) {
        age(party, silt_snapshot_version(snapshot) - N_WRITERS * party->n_commits / 2);
        status = silt_table_clean_log(table, NULL, NULL, &result, err);
    }
    silt_snapshot_unref(snapshot);
    *done += result.deleted;
    return status == SILT_OK && result.failed == 0;
}

static bool checkpoint_on(void *arg)
{
    return keep_up(arg, checkpoint_once);
}

static bool clean_on(void *arg)
{
    return keep_up(arg, clean_once);
}

/* All rows once; the versions are those of the commits and of CREATE, and what the log still holds has no gap. */
static bool check_versions(struct sql_fixture *sql, const struct party *party)
{
    const int64_t last = N_WRITERS * party->n_commits;
    int64_t oldest = last + 1;
    int64_t n_read = 0;
    for (int64_t version = last; version >= 0 && oldest == version + 1; version--) {
        char path[400];
        (void)snprintf(path, sizeof(path), "%s/t/_delta_log/%020lld.json", party->dir, (long long)version);
        oldest = access(path, F_OK) == 0 ? version : oldest;
    }
    for (int64_t version = oldest; version <= last; version += 1 + (last - oldest) / 10) {
        const silt_status status = sql_try(sql, "SELECT count(*) FROM t VERSION AS OF %d", (int)version);
        char expected[32];
        (void)snprintf(expected, sizeof(expected), "%lld\n", (long long)version * BATCH);
        if (status != SILT_OK || strcmp(sl_buf_cstr(&sql->text), expected) != 0) {
            (void)fprintf(stderr, "version %lld of %lld to %lld: %s %s\n", (long long)version, (long long)oldest,
                          (long long)last, sql->err.message, sl_buf_cstr(&sql->text));
            return false;
        }
    }
    (void)printf("versions %lld to %lld are still there\n", (long long)oldest, (long long)last);
    return oldest <= last && sql_number(sql, &n_read, "SELECT count(*) FROM t") && n_read == last * BATCH &&
           sql_try(sql, "SELECT 1 FROM t VERSION AS OF %d", (int)last + 1) == SILT_ENOTFOUND;
}

static bool check_end(void *arg)
{
    const struct party *party = arg;
    struct sweep_bench bench;
    int64_t n_rows = 0;
    int64_t n_distinct = 0;
    sweep_env_init(&bench);
    bool good = sweep_open(&bench, party->dir, NULL, NULL) && check_prefixes(&bench.sql, &n_rows) &&
                sql_number(&bench.sql, &n_distinct, "SELECT count(*) FROM (SELECT DISTINCT w, k, i FROM t)");
    if (good && (n_rows != N_WRITERS * party->n_commits * BATCH || n_distinct != n_rows)) {
        (void)fprintf(stderr, "%lld rows, %lld different ones\n", (long long)n_rows, (long long)n_distinct);
        good = false;
    }
    (void)snprintf(bench.table, sizeof(bench.table), "%s/t", party->dir);
    good = good && check_versions(&bench.sql, party) && sweep_check(&bench);
    sweep_close(&bench);
    return good;
}

static void concurrent_appends_are_all_there_and_readers_see_prefixes(void **state)
{
    (void)state;
    static bool (*const help[N_HELPERS])(void *arg) = {read_on, read_on, checkpoint_on, clean_on};
    struct party party = {.n_commits = sweep_all() ? 500 : 20};
    pid_t writers[N_WRITERS];
    pid_t helpers[N_HELPERS];
    assert_true(temp_dir_make(party.dir, sizeof(party.dir)));
    assert_true(process_run(make_table, &party, NULL));
    for (; party.writer < N_WRITERS; party.writer++) {
        writers[party.writer] = process_start(append, &party);
        assert_true(writers[party.writer] > 0);
    }
    assert_int_equal(pipe(party.done), 0);
    assert_int_equal(fcntl(party.done[0], F_SETFL, O_NONBLOCK), 0);
    for (size_t i = 0; i < N_HELPERS; i++) {
        helpers[i] = process_start(help[i], &party);
        assert_true(helpers[i] > 0);
    }
    bool good = true;
    for (size_t i = 0; i < N_WRITERS; i++) {
        good = process_wait(writers[i], NULL) && good;
    }
    assert_int_equal(close(party.done[1]), 0);
    for (size_t i = 0; i < N_HELPERS; i++) {
        int killed_by = 0;
        const bool helped = process_wait(helpers[i], &killed_by);
        if (!helped) {
            print_error("helper %zu failed; killed by %d\n", i, killed_by);
        }
        good = helped && good;
    }
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
