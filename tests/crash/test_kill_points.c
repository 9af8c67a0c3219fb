/*
 * Everything that writes to a table is killed as it enters a system call that changes the disk: each in turn. Then the table opens, holds
 * what it held or all of the change, its check finds no fault, no file that a reader may take for data is half written, and the same
 * again succeeds.
 *
 * A few calls of each job by default; all of them, on all kinds of tables, with SILT_SWEEP=all in the environment.
 */
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "deadly_process.h"
#include "process_fixture.h"
#include "storage/local_int.h"
#include "sweep_jobs.h"
#include "temp_dir.h"

/* More than any job here has; a job that never ends would be a fault of its own. */
#define MAX_POINTS 1000

/* One job on one kind of table; in memory that parent and children share. */
struct sweep {
    const struct sweep_job *job;
    enum sweep_kind kind;
    char dir[256];
    char before[SWEEP_TEXT];
    char after[SWEEP_TEXT];
    char twice[SWEEP_TEXT]; /* after it is run once more */
    silt_status status;     /* of the first run */
    silt_status again;      /* of the second */
    unsigned points[MAX_POINTS];
    unsigned n_points;
    unsigned at; /* index of the point at hand */
    unsigned n_after;
    char call[MAX_POINTS][32]; /* where it was killed; "": it was not */
};

static void name_table(const struct sweep *sweep, const char *name, unsigned number, struct sweep_bench *bench)
{
    (void)snprintf(bench->table, sizeof(bench->table), "%s/%s%u", sweep->dir, name, number);
}

/* ---- in children ---- */

static bool learn(struct sweep *sweep, struct sweep_bench *bench)
{
    char command[1100];
    name_table(sweep, "base", 0, bench);
    if (!sweep_prepare(bench, sweep->job, sweep->kind) || !sweep_look(bench, sweep->before)) {
        return false;
    }
    (void)snprintf(command, sizeof(command), "test ! -d %s || cp -a %s %s/model0", bench->table, bench->table,
                   sweep->dir);
    name_table(sweep, "model", 0, bench);
    if (system(command) != 0) {
        return false;
    }
    sweep->status = sweep_run(bench, sweep->job, sweep->kind);
    bool good = (sweep->status != SILT_OK) == sweep->job->fails && sweep_look(bench, sweep->after);
    if (!good) {
        (void)fprintf(stderr, "%s\n", bench->sql.err.message);
    }
    sweep->again = sweep_run(bench, sweep->job, sweep->kind);
    good = good && sweep_look(bench, sweep->twice) && (!sweep->job->once || strcmp(sweep->after, sweep->twice) == 0);
    return good && (strcmp(sweep->before, sweep->after) == 0) == sweep->job->stays;
}

/* What the table is before the job, after it, and after it was run twice. */
static bool learn_states(void *arg)
{
    struct sweep *sweep = arg;
    struct sweep_bench bench;
    sweep_env_init(&bench);
    const bool good = sweep_open(&bench, sweep->dir, NULL, NULL) && learn(sweep, &bench);
    if (!good) {
        (void)fprintf(stderr, "%s: before:\n%s\nafter:\n%s\n", sweep->job->name, sweep->before, sweep->after);
    }
    sweep_close(&bench);
    return good;
}

static ssize_t write_half(int fd, const void *data, size_t size)
{
    return sl_local_system_calls()->write(fd, data, size > 1 ? size / 2 : size);
}

/* A store that writes piecemeal, so that a kill meets half a file. */
static silt_storage_registry *piecemeal_stores(const silt_env *env)
{
    static struct sl_local_calls calls;
    silt_storage_registry *stores = NULL;
    silt_storage *store = NULL;
    calls = *sl_local_system_calls();
    calls.write = write_half;
    if (silt_storage_registry_new(env, &stores, NULL) != SILT_OK ||
        sl_local_new_with(env, NULL, &calls, &store, NULL) != SILT_OK ||
        silt_storage_registry_add(stores, "file", store, NULL) != SILT_OK) {
        return NULL;
    }
    silt_storage_unref(store);
    return stores;
}

static void arm(void *ctx, bool begins)
{
    (void)ctx;
    if (begins && !deadly_arm()) {
        (void)raise(SIGABRT); /* not to be taken for a job that was never killed */
    }
}

static bool write_and_die(void *arg)
{
    const struct sweep *sweep = arg;
    struct sweep_bench bench;
    sweep_env_init(&bench);
    silt_storage_registry *stores = piecemeal_stores(&bench.env);
    if (stores == NULL || !sweep_open(&bench, sweep->dir, NULL, stores)) {
        return false;
    }
    name_table(sweep, "t", sweep->points[sweep->at], &bench);
    bench.around = arm;
    const bool good = sql_run(&bench.sql, "SELECT 1"); /* has the data plane loaded */
    return good && sweep_run(&bench, sweep->job, sweep->kind) == sweep->status;
}

static int check_file(const char *path, const struct stat *info, int type, struct FTW *place)
{
    (void)info;
    const char *name = path + place->base;
    if (place->level > 0 && (name[0] == '.' || name[0] == '_')) {
        return type == FTW_D ? FTW_SKIP_SUBTREE : FTW_CONTINUE; /* hidden from all readers */
    }
    if (type != FTW_F) {
        return FTW_CONTINUE;
    }
    char end[4] = {0};
    FILE *file = fopen(path, "rb");
    const bool whole = file != NULL && fseek(file, -4, SEEK_END) == 0 && fread(end, 1, 4, file) == 4 &&
                       memcmp(end, "PAR1", 4) == 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    if (!whole) {
        (void)fprintf(stderr, "%s is no whole data file, and not hidden\n", path);
    }
    return whole ? FTW_CONTINUE : FTW_STOP;
}

static bool look_at_table(struct sweep *sweep, struct sweep_bench *bench)
{
    char now[SWEEP_TEXT];
    if (!sweep_look(bench, now)) {
        (void)fprintf(stderr, "cannot be read: %s\n", now);
        return false;
    }
    const bool is_after = strcmp(now, sweep->after) == 0;
    if (!is_after && strcmp(now, sweep->before) != 0) {
        (void)fprintf(stderr, "is neither as before nor as after:\n%s\n", now);
        return false;
    }
    sweep->n_after += is_after;
    if (!sweep_check(bench) || nftw(bench->table, check_file, 16, FTW_PHYS | FTW_ACTIONRETVAL) > 0) {
        return false;
    }
    const silt_status status = sweep_run(bench, sweep->job, sweep->kind);
    const bool twice = is_after && !sweep->job->stays;
    const silt_error err = bench->sql.err;
    if (status != (twice ? sweep->again : sweep->status)) {
        (void)fprintf(stderr, "run again: %s [%s] %s\n", silt_status_name(status), err.code_name, err.message);
        return false;
    }
    if (!sweep_look(bench, now) || strcmp(now, twice ? sweep->twice : sweep->after) != 0) {
        (void)fprintf(stderr, "is wrong after it was run again:\n%s\n", now);
        return false;
    }
    return sweep_check(bench);
}

static bool look_at_all(void *arg)
{
    struct sweep *sweep = arg;
    struct sweep_bench bench;
    sweep_env_init(&bench);
    bool good = sweep_open(&bench, sweep->dir, NULL, NULL);
    for (unsigned i = 0; good && i < sweep->n_points; i++) {
        name_table(sweep, "t", sweep->points[i], &bench);
        good = look_at_table(sweep, &bench);
        if (!good) {
            (void)fprintf(stderr, "%s, table kind %d, killed at call %u (%s); its folder: %s\n", sweep->job->name,
                          (int)sweep->kind, sweep->points[i], sweep->call[i], bench.table);
        }
    }
    sweep_close(&bench);
    return good;
}

/* ---- in the parent ---- */

/* Runs the job on a table of its own; kill_at is the point at hand, 0 for none. */
static void run_point(struct sweep *sweep, struct deadly_end *end)
{
    char command[1100];
    const unsigned kill_at = sweep->points[sweep->at];
    (void)snprintf(command, sizeof(command), "test ! -d %s/base0 || cp -a %s/base0 %s/t%u", sweep->dir, sweep->dir,
                   sweep->dir, kill_at);
    assert_int_equal(system(command), 0);
    assert_true(deadly_run(write_and_die, sweep, kill_at, end));
    if (!end->killed && !end->good) {
        fail_msg("%s: the writer of point %u failed by itself", sweep->job->name, kill_at);
    }
    (void)snprintf(sweep->call[sweep->at], sizeof(sweep->call[0]), "%s", end->call);
}

/* At most `wanted` of the calls, spread over all; the first of the points is the run that was not killed. */
static void choose_points(struct sweep *sweep, unsigned n_calls, unsigned wanted, unsigned phase)
{
    wanted = wanted < n_calls ? wanted : n_calls;
    for (unsigned i = 0; i < wanted; i++) {
        const unsigned begin = i * n_calls / wanted;
        const unsigned end = (i + 1) * n_calls / wanted;
        sweep->points[sweep->n_points++] = 1 + begin + phase % (end - begin);
    }
}

static unsigned sweep_job(struct sweep *sweep, const struct sweep_job *job, enum sweep_kind kind, unsigned wanted)
{
    struct deadly_end end;
    memset(sweep, 0, sizeof(*sweep));
    sweep->job = job;
    sweep->kind = kind;
    sweep->n_points = 1;
    assert_true(temp_dir_make(sweep->dir, sizeof(sweep->dir)));
    assert_true(process_run(learn_states, sweep, NULL));
    run_point(sweep, &end);
    assert_true(end.n_calls > 0 && end.n_calls < MAX_POINTS - 1);
    choose_points(sweep, end.n_calls, wanted, (unsigned)(job - sweep_jobs) * 7 + (unsigned)kind);
    for (sweep->at = 1; sweep->at < sweep->n_points; sweep->at++) {
        run_point(sweep, &end);
    }
    assert_true(process_run(look_at_all, sweep, NULL));
    /* Kills between the commit and the answer leave the change as well; the run that was not killed counts too. */
    if (wanted >= MAX_POINTS && !job->stays && (sweep->n_after < 3 || sweep->n_after == sweep->n_points)) {
        fail_msg("%s: after %u of %u kills the change was there: both sides are not reached", job->name,
                 sweep->n_after - 1, sweep->n_points - 1);
    }
    (void)temp_dir_remove(sweep->dir);
    return sweep->n_points - 1;
}

static void sweep_kind(enum sweep_kind kind, unsigned wanted)
{
    const int flags = MAP_SHARED | MAP_ANONYMOUS;
    struct sweep *sweep = mmap(NULL, sizeof(*sweep), PROT_READ | PROT_WRITE, flags, -1, 0);
    unsigned n = 0;
    assert_true(sweep != MAP_FAILED);
    for (size_t i = 0; i < sweep_n_jobs; i++) {
        const bool refused = sweep_jobs[i].rows != NULL || (sweep_jobs[i].not_tracked && kind == SWEEP_TRACKED);
        const bool its_turn = !refused && sweep_wants(&sweep_jobs[i]) && (wanted > 1 || i % 4 == (unsigned)kind);
        n += its_turn ? sweep_job(sweep, &sweep_jobs[i], kind, wanted) : 0;
    }
    print_message("%u writers were killed\n", n);
    assert_int_equal(munmap(sweep, sizeof(*sweep)), 0);
}

static void killed_writers_of_plain_tables_leave_before_or_after(void **state)
{
    (void)state;
    sweep_kind(SWEEP_PLAIN, sweep_all() ? MAX_POINTS : 3);
}

static void killed_writers_of_mapped_tables_leave_before_or_after(void **state)
{
    (void)state;
    sweep_kind(SWEEP_MAPPED, sweep_all() ? MAX_POINTS : 1);
}

static void killed_writers_of_tracked_tables_leave_before_or_after(void **state)
{
    (void)state;
    sweep_kind(SWEEP_TRACKED, sweep_all() ? MAX_POINTS : 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_writers_of_plain_tables_leave_before_or_after),
        cmocka_unit_test(killed_writers_of_mapped_tables_leave_before_or_after),
        cmocka_unit_test(killed_writers_of_tracked_tables_leave_before_or_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
