/*
 * A writer is killed at every call of its store and at every system call that decides whether a commit is safe: before it and
 * after it. Then the table opens, holds what it held or all of the statement's change, and the same statement works again.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "process_fixture.h"
#include "sql_fixture.h"
#include "temp_dir.h"
#include "storage/local_int.h"

/* More than any job here has; a job that never ends would be a fault of its own. */
#define MAX_POINTS 400

struct job {
    const char *name;
    const char *before;    /* sets the table up; NULL: there is none */
    const char *statement; /* its writer is killed */
    const char *contents;  /* a query; what it gives: */
    const char *old_rows;  /* NULL: there is no table */
    const char *new_rows;
    const char *again; /* after the statement is run once more on the old rows, or on the new ones */
    const char *again_on_new;
};

#define BASE "CREATE TABLE t (id BIGINT, part STRING) PARTITIONED BY (part); INSERT INTO t VALUES (1, 'a'), (2, 'b');"
#define CONTENTS "SELECT count(*), sum(id), count(DISTINCT part) FROM t"

static const struct job create_job = {
    .name = "create",
    .statement =
        "CREATE TABLE IF NOT EXISTS t PARTITIONED BY (part) AS SELECT 5 AS id, 'a' AS part UNION ALL SELECT 6, 'b'",
    .contents = CONTENTS,
    .new_rows = "2|11|2\n",
    .again = "2|11|2\n",
    .again_on_new = "2|11|2\n",
};
static const struct job append_job = {
    .name = "append",
    .before = BASE,
    .statement = "INSERT INTO t VALUES (10, 'b'), (20, 'c')",
    .contents = CONTENTS,
    .old_rows = "2|3|2\n",
    .new_rows = "4|33|3\n",
    .again = "4|33|3\n",
    .again_on_new = "6|63|3\n",
};
static const struct job overwrite_job = {
    .name = "overwrite",
    .before = BASE "INSERT INTO t VALUES (3, 'c')",
    .statement = "INSERT OVERWRITE t SELECT id * 100, part FROM t WHERE id < 3",
    .contents = CONTENTS,
    .old_rows = "3|6|3\n",
    .new_rows = "2|300|2\n",
    .again = "2|300|2\n",
    .again_on_new = "0|NULL|0\n",
};

struct sweep {
    const struct job *job;
    char dir[256];
    unsigned n_points; /* of the run at hand: the call that kills; after the sweep: how many there are */
};

/* ---- in the child that is killed ---- */

static unsigned points;
static unsigned deadly_point; /* 0: none */

static void pass_point(void)
{
    if (deadly_point != 0 && ++points == deadly_point) {
        (void)raise(SIGKILL);
    }
}

static int deadly_link(const char *from, const char *to)
{
    pass_point();
    const int result = sl_local_system_calls()->link(from, to);
    pass_point();
    return result;
}

static ssize_t deadly_write(int fd, const void *data, size_t size)
{
    pass_point();
    const size_t part = size > 1 ? size / 2 : size; /* so that a kill meets half a file */
    return sl_local_system_calls()->write(fd, data, part);
}

static int deadly_sync(int fd)
{
    pass_point();
    return sl_local_system_calls()->sync(fd);
}

static silt_fault_action decide(void *ctx, uint64_t number, const char *operation, const char *path)
{
    (void)ctx;
    (void)number;
    (void)operation;
    (void)path;
    pass_point();
    return SILT_FAULT_NONE;
}

static silt_storage_registry *deadly_stores(void)
{
    static struct sl_local_calls calls;
    silt_storage_registry *stores = NULL;
    silt_storage *local = NULL;
    silt_storage *store = NULL;
    calls = *sl_local_system_calls();
    calls.link = deadly_link;
    calls.write = deadly_write;
    calls.sync = deadly_sync;
    const silt_env *env = silt_env_default();
    if (silt_storage_registry_new(env, &stores, NULL) != SILT_OK ||
        sl_local_new_with(env, NULL, &calls, &local, NULL) != SILT_OK ||
        silt_storage_fault_new(env, local, decide, NULL, &store, NULL) != SILT_OK ||
        silt_storage_registry_add(stores, "file", store, NULL) != SILT_OK) {
        return NULL;
    }
    silt_storage_unref(local);
    silt_storage_unref(store);
    return stores;
}

static void point_dir(const struct sweep *sweep, unsigned point, char out[300])
{
    (void)snprintf(out, 300, "%s/%u", sweep->dir, point);
}

static bool write_and_die(void *arg)
{
    const struct sweep *sweep = arg;
    struct sql_fixture sql;
    char dir[300];
    point_dir(sweep, sweep->n_points, dir);
    const struct sql_options options = {.warehouse = dir, .stores = deadly_stores()};
    if (options.stores == NULL || mkdir(dir, 0777) != 0 || !sql_open(&sql, &options)) {
        return false;
    }
    bool good = sweep->job->before == NULL || sql_run(&sql, "%s", sweep->job->before);
    if (good) {
        deadly_point = sweep->n_points;
        good = sql_run(&sql, "%s", sweep->job->statement);
    }
    deadly_point = 0;
    sql_close(&sql);
    return good;
}

/* ---- in the child that looks ---- */

static bool is_missing(const struct sql_fixture *sql, silt_status status)
{
    return status != SILT_OK && (strcmp(sql->err.code_name, "TABLE_OR_VIEW_NOT_FOUND") == 0 ||
                                 strcmp(sql->err.code_name, "DELTA_PATH_DOES_NOT_EXIST") == 0 ||
                                 strcmp(sql->err.code_name, "DELTA_TABLE_NOT_FOUND") == 0);
}

/* One table: before or after, never between; then the statement works. */
static bool look_at_table(struct sql_fixture *sql, const struct job *job, unsigned point, bool *was_new)
{
    silt_status status = sql_try(sql, "%s", job->contents);
    const char *rows = sl_buf_cstr(&sql->text);
    *was_new = status == SILT_OK && strcmp(rows, job->new_rows) == 0;
    const bool was_old = job->old_rows == NULL ? is_missing(sql, status)
                                               : status == SILT_OK && strcmp(rows, job->old_rows) == 0;
    if (!*was_new && !was_old) {
        (void)fprintf(stderr, "%s, killed at %u: %s [%s] %s %s\n", job->name, point, silt_status_name(status),
                      sql->err.code_name, sql->err.message, rows);
        return false;
    }
    if (!sql_run(sql, "%s", job->statement) || !sql_run(sql, "%s", job->contents)) {
        return false;
    }
    if (strcmp(sl_buf_cstr(&sql->text), *was_new ? job->again_on_new : job->again) != 0) {
        (void)fprintf(stderr, "%s, killed at %u and run again: %s\n", job->name, point, sl_buf_cstr(&sql->text));
        return false;
    }
    return true;
}

static bool look_at_all(void *arg)
{
    const struct sweep *sweep = arg;
    bool good = true;
    unsigned n_new = 0;
    for (unsigned point = 1; good && point <= sweep->n_points; point++) {
        struct sql_fixture sql;
        bool was_new = false;
        char dir[300];
        point_dir(sweep, point, dir);
        const struct sql_options options = {.warehouse = dir};
        if (!sql_open(&sql, &options)) {
            return false;
        }
        good = look_at_table(&sql, sweep->job, point, &was_new);
        n_new += was_new;
        sql_close(&sql);
    }
    /* The last run was not killed; kills between the commit and the answer leave the change as well. */
    if (good && (n_new < 2 || n_new == sweep->n_points)) {
        (void)fprintf(stderr, "%s: %u of %u kills came after the commit; the sweep does not reach both sides\n",
                      sweep->job->name, n_new, sweep->n_points);
        return false;
    }
    return good;
}

static void sweep_job(const struct job *job)
{
    struct sweep sweep = {.job = job};
    assert_true(temp_dir_make(sweep.dir, sizeof(sweep.dir)));
    bool finished = false;
    while (!finished && sweep.n_points < MAX_POINTS) {
        int killed_by = 0;
        sweep.n_points++;
        finished = process_run(write_and_die, &sweep, &killed_by);
        if (!finished && killed_by != SIGKILL) {
            fail_msg("%s: the writer of point %u failed by itself", job->name, sweep.n_points);
        }
    }
    assert_true(finished);
    assert_true(process_run(look_at_all, &sweep, NULL));
    (void)temp_dir_remove(sweep.dir);
}

static void killed_create_leaves_no_table_or_a_whole_one(void **state)
{
    (void)state;
    sweep_job(&create_job);
}

static void killed_append_leaves_the_old_rows_or_all_of_the_new(void **state)
{
    (void)state;
    sweep_job(&append_job);
}

static void killed_overwrite_leaves_the_old_rows_or_only_the_new(void **state)
{
    (void)state;
    sweep_job(&overwrite_job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_create_leaves_no_table_or_a_whole_one),
        cmocka_unit_test(killed_append_leaves_the_old_rows_or_all_of_the_new),
        cmocka_unit_test(killed_overwrite_leaves_the_old_rows_or_only_the_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
