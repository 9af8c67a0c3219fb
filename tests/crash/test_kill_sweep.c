/*
 * Writers in a loop of appends are killed at random moments, each by the next. Every commit that was acknowledged is in the table
 * exactly once, none is there in part, at most the one in flight is there without an acknowledgement, and the next writer goes on.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "process_fixture.h"
#include "sql_fixture.h"
#include "temp_dir.h"

#define SEED UINT64_C(20260131)
#define N_TABLES 10
#define KILLS_PER_TABLE 20
#define BATCH 7
/* A writer numbers its commits from here on, so that nobody else's number is taken. */
#define COMMITS_PER_WRITER 10000
#define LONGEST_LIFE_US 60000

struct sweep {
    char dir[300];  /* of the table at hand */
    int64_t writer; /* number of the writer at hand, from 0 */
    int64_t *acknowledged;
    size_t n_acknowledged;
    size_t capacity;
    int out; /* where the writer acknowledges to */
    uint64_t chance;
};

static bool tell(const struct sweep *sweep, int64_t commit)
{
    return write(sweep->out, &commit, sizeof(commit)) == (ssize_t)sizeof(commit);
}

static bool has(const struct sweep *sweep, int64_t commit)
{
    for (size_t i = 0; i < sweep->n_acknowledged; i++) {
        if (sweep->acknowledged[i] == commit) {
            return true;
        }
    }
    return false;
}

/* One line of the check: a commit, its rows, its distinct ids, the first and the last. */
static bool check_commit(const struct sweep *sweep, const char *line, size_t *n_known)
{
    long long f[5] = {0};
    char *end = NULL;
    const char *at = line;
    for (size_t i = 0; i < 5; i++) {
        f[i] = strtoll(at, &end, 10);
        at = end + 1;
    }
    if (f[1] != BATCH || f[2] != BATCH || f[3] != f[0] * BATCH || f[4] != f[0] * BATCH + BATCH - 1) {
        (void)fprintf(stderr, "commit %lld has %lld rows, %lld ids from %lld to %lld\n", f[0], f[1], f[2], f[3], f[4]);
        return false;
    }
    *n_known += has(sweep, f[0]);
    return true;
}

/* The table against what was acknowledged. Each earlier writer may have left one commit more. */
static bool check_table(struct sql_fixture *sql, const struct sweep *sweep)
{
    if (!sql_run(sql, "SELECT c, count(*), count(DISTINCT id), min(id), max(id) FROM t GROUP BY c ORDER BY c")) {
        return false;
    }
    size_t n_commits = 0;
    size_t n_known = 0;
    for (const char *line = sl_buf_cstr(&sql->text); *line != '\0'; line = strchr(line, '\n') + 1) {
        n_commits++;
        if (!check_commit(sweep, line, &n_known)) {
            return false;
        }
    }
    if (n_known != sweep->n_acknowledged || n_commits - n_known > (size_t)sweep->writer) {
        (void)fprintf(stderr, "%zu commits are in the table, %zu of %zu acknowledged ones, after %lld writers\n",
                      n_commits, n_known, sweep->n_acknowledged, (long long)sweep->writer);
        return false;
    }
    /* Each commit is a version, after the one that made the table. */
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    silt_status status = silt_session_table(sql->session, "t", &table, &sql->err);
    if (status == SILT_OK) {
        status = silt_table_latest_snapshot(table, NULL, &snapshot, &sql->err);
    }
    const bool good = status == SILT_OK && silt_snapshot_version(snapshot) == (int64_t)n_commits;
    if (!good) {
        (void)fprintf(stderr, "the table is not at version %zu: %s\n", n_commits, sql->err.message);
    }
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    return good;
}

static bool open_and_check(struct sql_fixture *sql, const struct sweep *sweep)
{
    const struct sql_options options = {.warehouse = sweep->dir};
    return sql_open(sql, &options) && sql_run(sql, "CREATE TABLE IF NOT EXISTS t (id BIGINT, c BIGINT)") &&
           check_table(sql, sweep);
}

/* Looks, says that it begins, and appends until it is killed. */
static bool write_for_ever(void *arg)
{
    const struct sweep *sweep = arg;
    struct sql_fixture sql;
    if (!open_and_check(&sql, sweep) || !tell(sweep, -1)) {
        return false;
    }
    for (int64_t i = 0; i < COMMITS_PER_WRITER; i++) {
        const long long c = (long long)(sweep->writer * COMMITS_PER_WRITER + i);
        if (!sql_run(&sql, "INSERT INTO t SELECT %lld * %d + i, %lld FROM range(%d) r(i)", c, BATCH, c, BATCH) ||
            !tell(sweep, (int64_t)c)) {
            return false;
        }
    }
    return false; /* nobody killed it */
}

static bool look_only(void *arg)
{
    struct sql_fixture sql;
    const bool good = open_and_check(&sql, arg);
    sql_close(&sql);
    return good;
}

static void sleep_us(uint64_t us)
{
    const struct timespec time = {.tv_sec = 0, .tv_nsec = (long)us * 1000};
    (void)nanosleep(&time, NULL);
}

static void keep(struct sweep *sweep, int64_t commit)
{
    if (sweep->n_acknowledged == sweep->capacity) {
        sweep->capacity = sweep->capacity * 2 + 64;
        int64_t *grown = realloc(sweep->acknowledged, sweep->capacity * sizeof(*grown));
        assert_non_null(grown);
        sweep->acknowledged = grown;
    }
    sweep->acknowledged[sweep->n_acknowledged++] = commit;
}

/* Lets one writer live for a while, kills it, and takes what it acknowledged. */
static void live_and_die(struct sweep *sweep)
{
    int ends[2];
    int killed_by = 0;
    int64_t commit = 0;
    assert_int_equal(pipe(ends), 0);
    sweep->out = ends[1];
    const pid_t pid = process_start(write_for_ever, sweep);
    assert_true(pid > 0);
    assert_int_equal(close(ends[1]), 0);
    if (read(ends[0], &commit, sizeof(commit)) != (ssize_t)sizeof(commit) || commit != -1) {
        fail_msg("writer %d did not begin", (int)sweep->writer);
    }
    sleep_us(process_random(&sweep->chance) % LONGEST_LIFE_US);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_false(process_wait(pid, &killed_by));
    assert_int_equal(killed_by, SIGKILL);
    while (read(ends[0], &commit, sizeof(commit)) == (ssize_t)sizeof(commit)) {
        keep(sweep, commit);
    }
    assert_int_equal(close(ends[0]), 0);
}

static void acknowledged_commits_survive_two_hundred_kills(void **state)
{
    (void)state;
    struct sweep sweep = {.chance = SEED};
    char dir[256];
    size_t n_all = 0;
    assert_true(temp_dir_make(dir, sizeof(dir)));
    for (unsigned i = 0; i < N_TABLES; i++) {
        (void)snprintf(sweep.dir, sizeof(sweep.dir), "%s/%u", dir, i);
        assert_int_equal(mkdir(sweep.dir, 0777), 0);
        sweep.n_acknowledged = 0;
        for (sweep.writer = 0; sweep.writer < KILLS_PER_TABLE; sweep.writer++) {
            live_and_die(&sweep);
        }
        assert_true(process_run(look_only, &sweep, NULL));
        n_all += sweep.n_acknowledged;
    }
    print_message("%zu commits were acknowledged\n", n_all);
    assert_true(n_all > 0); /* else every writer died before its first commit */
    free(sweep.acknowledged);
    (void)temp_dir_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(acknowledged_commits_survive_two_hundred_kills),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
