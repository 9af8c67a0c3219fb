/*
 * Every call of the store fails in turn, before it did anything or after it did all (a lost answer), while statements create,
 * append, overwrite and read through the data plane. A statement that fails, fails cleanly and leaves the table as it was;
 * one that succeeds left its whole change, once; neither leaves files behind; and the next one works.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/str.h"
#include "process_fixture.h"
#include "sql_fixture.h"
#include "temp_dir.h"

#define MAX_CALLS 200
#define MAX_FILES 128

struct job {
    const char *name;
    const char *before; /* sets the table %s up; NULL: there is none */
    const char *statement;
    const char *old_rows; /* of CONTENTS before it; NULL: no table */
    const char *new_rows;
};

#define CONTENTS "SELECT count(*), sum(id), count(DISTINCT part) FROM delta.`%s`"

#define NUMBERS \
    "CREATE TABLE delta.`%s` PARTITIONED BY (part) AS SELECT i AS id, 'p' || (i % 2) AS part FROM range(4) r(i)"

static const struct job jobs[] = {
    {"create", NULL, "CREATE TABLE delta.`%s` (id BIGINT, part STRING) PARTITIONED BY (part)", NULL, "0|NULL|0\n"},
    {"create as", NULL,
     "CREATE TABLE delta.`%s` PARTITIONED BY (part) AS SELECT 5 AS id, 'a' AS part UNION ALL SELECT 6, 'b'", NULL,
     "2|11|2\n"},
    {"append", "CREATE TABLE delta.`%s` AS SELECT 1 AS id, 'a' AS part", "INSERT INTO delta.`%s` VALUES (10, 'b')",
     "1|1|1\n", "2|11|2\n"},
    {"append to partitions", "CREATE TABLE delta.`%s` PARTITIONED BY (part) AS SELECT 1 AS id, 'a' AS part",
     "INSERT INTO delta.`%s` VALUES (10, 'b'), (20, 'c')", "1|1|1\n", "3|31|3\n"},
    {"overwrite", "CREATE TABLE delta.`%s` AS SELECT i AS id, 'a' AS part FROM range(5) r(i)",
     "INSERT OVERWRITE delta.`%s` VALUES (7, 'x'), (8, 'y')", "5|10|1\n", "2|15|2\n"},
    {"replace rows", NUMBERS, "INSERT INTO delta.`%s` REPLACE WHERE id = 1 VALUES (1, 'q')", "4|6|2\n", "4|6|3\n"},
    {"replace by what does not fit", NUMBERS, "INSERT INTO delta.`%s` REPLACE WHERE id = 1 VALUES (2, 'q')", "4|6|2\n",
     NULL},
    {"replace the table", NUMBERS, "CREATE OR REPLACE TABLE delta.`%s` AS SELECT 9 AS id, 'z' AS part", "4|6|2\n",
     "1|9|1\n"},
    {"evolve", NUMBERS, "INSERT WITH SCHEMA EVOLUTION INTO delta.`%s` VALUES (10, 'p0', 1)", "4|6|2\n", "5|16|2\n"},
    {"append that fails", "CREATE TABLE delta.`%s` (id BIGINT NOT NULL, part STRING)",
     "INSERT INTO delta.`%s` VALUES (1, 'a'), (NULL, 'b')", "0|NULL|0\n", NULL},
    {"read", NUMBERS, CONTENTS, "4|6|2\n", "4|6|2\n"},
    {"read what may be a file", NUMBERS, "SELECT count(*), sum(id), count(DISTINCT part) FROM '%s'", "4|6|2\n",
     "4|6|2\n"},
};

/* ---- the store ---- */

struct plan {
    bool armed;
    uint64_t calls; /* so far */
    uint64_t at;
    bool and_all_after;
    silt_fault_action action;
    char operation[32]; /* that failed */
};

static silt_fault_action decide(void *ctx, uint64_t number, const char *operation, const char *path)
{
    struct plan *plan = ctx;
    (void)number;
    (void)path;
    if (!plan->armed) {
        return SILT_FAULT_NONE;
    }
    const uint64_t call = plan->calls++;
    if (call != plan->at && !(plan->and_all_after && call > plan->at)) {
        return SILT_FAULT_NONE;
    }
    if (call == plan->at) {
        (void)snprintf(plan->operation, sizeof(plan->operation), "%s", operation);
    }
    return plan->action;
}

/* ---- an environment whose sleeps take no time ---- */

static int64_t slept_us;

static int64_t skipping_monotonic(void *ctx)
{
    (void)ctx;
    const silt_env *real = silt_env_default();
    return real->monotonic_us(real->ctx) + __atomic_load_n(&slept_us, __ATOMIC_RELAXED);
}

static void skip_time(void *ctx, int64_t duration_us)
{
    (void)ctx;
    (void)__atomic_fetch_add(&slept_us, duration_us, __ATOMIC_RELAXED);
}

static silt_status pass_random(void *ctx, void *out, size_t size)
{
    (void)ctx;
    return silt_env_default()->random_bytes(silt_env_default()->ctx, out, size);
}

static int64_t pass_wall(void *ctx)
{
    (void)ctx;
    return silt_env_default()->wall_time_us(silt_env_default()->ctx);
}

/* ---- a run ---- */

struct fixture {
    char dir[256];
    char temp_dir[300];
    silt_env env;
    struct plan plan;
    bool in_memory;
    silt_storage *store; /* sound; the sessions' is the same with faults in it */
    struct sql_fixture sql;
    unsigned n_tables;
    char table[400];
};

static void open_fixture(struct fixture *f, bool in_memory)
{
    memset(f, 0, sizeof(*f));
    assert_true(temp_dir_make(f->dir, sizeof(f->dir)));
    (void)snprintf(f->temp_dir, sizeof(f->temp_dir), "%s/tmp", f->dir);
    assert_int_equal(mkdir(f->temp_dir, 0777), 0);
    f->env = *silt_env_default();
    f->env.ctx = NULL;
    f->env.monotonic_us = skipping_monotonic;
    f->env.wall_time_us = pass_wall;
    f->env.random_bytes = pass_random;
    f->env.sleep_us = skip_time;
    f->env.log = NULL;
    f->in_memory = in_memory;
    silt_storage_registry *stores = NULL;
    silt_storage *faulty = NULL;
    assert_int_equal(silt_storage_registry_new(&f->env, &stores, NULL), SILT_OK);
    if (in_memory) {
        assert_int_equal(silt_storage_memory_new(&f->env, &f->store, NULL), SILT_OK);
    } else {
        assert_int_equal(silt_storage_local_new(&f->env, NULL, &f->store, NULL), SILT_OK);
    }
    assert_int_equal(silt_storage_fault_new(&f->env, f->store, decide, &f->plan, &faulty, NULL), SILT_OK);
    assert_int_equal(silt_storage_registry_add(stores, in_memory ? "memory" : "file", faulty, NULL), SILT_OK);
    silt_storage_unref(faulty);
    const struct sql_options options = {.warehouse = f->dir, .temp_dir = f->temp_dir, .env = &f->env, .stores = stores};
    assert_true(sql_open(&f->sql, &options));
}

static void close_fixture(struct fixture *f)
{
    sql_close(&f->sql);
    silt_storage_unref(f->store);
    (void)temp_dir_remove(f->dir);
}

static void new_table(struct fixture *f)
{
    (void)snprintf(f->table, sizeof(f->table), "%s/t%u", f->in_memory ? "memory://m" : f->dir, f->n_tables++);
}

/* The format is one of the jobs', with one %s for the table. */
static silt_status run(struct fixture *f, const char *format)
{
    char text[2048];
    const char *at = strstr(format, "%s");
    assert_non_null(at);
    (void)snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - format), format, f->table, at + 2);
    return sql_try(&f->sql, "%s", text);
}

static void say_where(const struct fixture *f, const struct job *job)
{
    print_error("%s, %s store, call %d (%s%s) failed %s it was done:\n", job->name, f->in_memory ? "memory" : "local",
                (int)f->plan.at, f->plan.operation, f->plan.and_all_after ? " and all that follow" : "",
                f->plan.action == SILT_FAULT_BEFORE ? "before" : "after");
}

#define FAIL(f, job, ...)      \
    do {                       \
        say_where((f), (job)); \
        fail_msg(__VA_ARGS__); \
    } while (0)

static void expect_clean_error(struct fixture *f, const struct job *job, silt_status status)
{
    const silt_error *err = &f->sql.err;
    if (err->status != status || err->code_name[0] == '\0' || err->message[0] == '\0' ||
        strchr(err->message, '\n') != NULL) {
        FAIL(f, job, "no clean error: %s [%s] \"%s\"", silt_status_name(status), err->code_name, err->message);
    }
    const bool own = job->new_rows == NULL && status == SILT_ECONSTRAINT;
    if (status != SILT_EIO && status != SILT_EUNKNOWN && !own) {
        FAIL(f, job, "the store's failure became %s [%s] \"%s\"", silt_status_name(status), err->code_name,
             err->message);
    }
}

/* Old rows, or new ones. */
static bool is_new(struct fixture *f, const struct job *job)
{
    const silt_status status = run(f, CONTENTS);
    const char *rows = sl_buf_cstr(&f->sql.text);
    if (status == SILT_OK && job->new_rows != NULL && strcmp(rows, job->new_rows) == 0) {
        return true;
    }
    if (job->old_rows == NULL ? status != SILT_ENOTTABLE : status != SILT_OK || strcmp(rows, job->old_rows) != 0) {
        FAIL(f, job, "the table is neither as before nor as after: %s [%s] %s %s", silt_status_name(status),
             f->sql.err.code_name, f->sql.err.message, rows);
    }
    return false;
}

/* ---- what is left behind ---- */

struct listing {
    size_t n_data;  /* Parquet files */
    size_t n_marks; /* of a creation */
    size_t n_odd;   /* what belongs to no table */
    char odd[256];
};

static bool note_file(void *ctx, const silt_file_entry *entry)
{
    struct listing *listing = ctx;
    const struct sl_str name = sl_str_make(entry->name, entry->name_len);
    if (sl_str_starts_with(name, SL_STR("_delta_log/")) &&
        (sl_str_ends_with(name, SL_STR(".json")) || sl_str_ends_with(name, SL_STR(".crc")))) {
        return true;
    }
    if (sl_str_ends_with(name, SL_STR(".parquet")) && name.ptr[0] == 'p') {
        listing->n_data++;
        return true;
    }
    if (sl_str_eq_c(name, "_delta_log/.silt-create")) {
        listing->n_marks++;
        return true;
    }
    listing->n_odd++;
    (void)snprintf(listing->odd, sizeof(listing->odd), "%.*s", (int)name.len, name.ptr);
    return true;
}

/* Files that commits added: each has a name of its own. */
static int64_t count_named(struct fixture *f)
{
    static const struct sl_str add = {"{\"add\":{", 8};
    int64_t n = 0;
    for (int64_t version = 0;; version++) {
        char path[512];
        void *data = NULL;
        size_t len = 0;
        (void)snprintf(path, sizeof(path), "%s/_delta_log/%020lld.json", f->table, (long long)version);
        if (silt_storage_read(f->store, NULL, path, &data, &len, NULL) != SILT_OK) {
            return n;
        }
        struct sl_str rest = sl_str_make(data, len);
        for (size_t at = sl_str_find(rest, add); at != SIZE_MAX; at = sl_str_find(rest, add)) {
            rest = sl_str_sub(rest, at + add.len, rest.len);
            n++;
        }
        silt_storage_free(f->store, data, len);
    }
}

/* Files that the log never named: all there are but those that some version had; and marks of a creation. */
static size_t count_orphans(struct fixture *f, const struct job *job)
{
    const silt_list_options options = {.size = sizeof(options), .recursive = true};
    struct listing listing = {0};
    const silt_status status = silt_storage_list(f->store, NULL, f->table, &options, note_file, &listing, NULL);
    if (status != SILT_OK && status != SILT_ENOTFOUND) {
        FAIL(f, job, "the folder cannot be listed");
    }
    if (listing.n_odd > 0) {
        FAIL(f, job, "%s was left behind", listing.odd);
    }
    const int64_t n_named = count_named(f);
    if ((int64_t)listing.n_data < n_named) {
        FAIL(f, job, "%d files are named, %zu are there", (int)n_named, listing.n_data);
    }
    return listing.n_data - (size_t)n_named + listing.n_marks;
}

/* Whether a folder of the machine has any file or folder; staging and scratch folders must be gone. */
static bool has_entry(const char *dir, const char *prefix)
{
    char command[512];
    (void)snprintf(command, sizeof(command), "test -z \"$(find '%s' -mindepth 1 -maxdepth 1 -name '%s*' 2>/dev/null)\"",
                   dir, prefix);
    return system(command) != 0;
}

static void expect_nothing_left(struct fixture *f, const struct job *job, silt_status status)
{
    const size_t n_orphans = count_orphans(f, job);
    const bool may_leave = status == SILT_EUNKNOWN || f->plan.and_all_after || strcmp(f->plan.operation, "remove") == 0;
    if (n_orphans > 0 && !may_leave) {
        FAIL(f, job, "%zu files were left behind", n_orphans);
    }
    if (!f->in_memory && has_entry(f->table, ".silt-")) {
        FAIL(f, job, "a staging folder was left behind");
    }
    if (has_entry(f->temp_dir, "silt-")) {
        FAIL(f, job, "a scratch folder was left behind");
    }
}

/* One statement with one fault. False when the statement made fewer calls than that. */
static bool run_once(struct fixture *f, const struct job *job, const struct plan *plan)
{
    new_table(f);
    f->plan = (struct plan){.armed = false};
    if (job->before != NULL && run(f, job->before) != SILT_OK) {
        FAIL(f, job, "cannot begin: %s", f->sql.err.message);
    }
    f->plan = *plan;
    f->plan.armed = true;
    const silt_status status = run(f, job->statement);
    f->plan.armed = false;
    const bool reached = f->plan.calls > plan->at;
    if (status != SILT_OK) {
        expect_clean_error(f, job, status);
    } else if (job->new_rows == NULL) {
        FAIL(f, job, "it should have failed");
    }
    const silt_error failure = f->sql.err;
    const bool changed = is_new(f, job);
    const bool reads = strncmp(job->name, "read", 4) == 0;
    if (!reads && ((status == SILT_OK && !changed) || (status != SILT_OK && status != SILT_EUNKNOWN && changed))) {
        FAIL(f, job, "the answer was %s [%s] %s, but the table %s", silt_status_name(status), failure.code_name,
             failure.message, changed ? "has the change" : "lacks the change");
    }
    expect_nothing_left(f, job, status);
    if (status != SILT_OK && !changed && job->new_rows != NULL &&
        (run(f, job->statement) != SILT_OK || !is_new(f, job))) {
        FAIL(f, job, "it does not work afterwards: [%s] %s", f->sql.err.code_name, f->sql.err.message);
    }
    return reached;
}

static void sweep(bool in_memory, silt_fault_action action, bool and_all_after)
{
    struct fixture f;
    open_fixture(&f, in_memory);
    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        uint64_t at = 0;
        struct plan plan = {.action = action, .and_all_after = and_all_after};
        do {
            plan.at = at;
        } while (run_once(&f, &jobs[i], &plan) && at++ < MAX_CALLS);
        assert_true(at > 0 && at < MAX_CALLS);
    }
    close_fixture(&f);
}

static void local_store_fails_before_each_call(void **state)
{
    (void)state;
    sweep(false, SILT_FAULT_BEFORE, false);
}

static void local_store_loses_each_answer(void **state)
{
    (void)state;
    sweep(false, SILT_FAULT_AFTER, false);
}

static void local_store_fails_from_each_call_on(void **state)
{
    (void)state;
    sweep(false, SILT_FAULT_BEFORE, true);
}

static void local_store_loses_every_answer_from_each_call_on(void **state)
{
    (void)state;
    sweep(false, SILT_FAULT_AFTER, true);
}

static void memory_store_fails_before_each_call(void **state)
{
    (void)state;
    sweep(true, SILT_FAULT_BEFORE, false);
}

static void memory_store_loses_each_answer(void **state)
{
    (void)state;
    sweep(true, SILT_FAULT_AFTER, false);
}

static void memory_store_fails_from_each_call_on(void **state)
{
    (void)state;
    sweep(true, SILT_FAULT_BEFORE, true);
}

static void memory_store_loses_every_answer_from_each_call_on(void **state)
{
    (void)state;
    sweep(true, SILT_FAULT_AFTER, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(local_store_fails_before_each_call),
        cmocka_unit_test(local_store_loses_each_answer),
        cmocka_unit_test(local_store_fails_from_each_call_on),
        cmocka_unit_test(local_store_loses_every_answer_from_each_call_on),
        cmocka_unit_test(memory_store_fails_before_each_call),
        cmocka_unit_test(memory_store_loses_each_answer),
        cmocka_unit_test(memory_store_fails_from_each_call_on),
        cmocka_unit_test(memory_store_loses_every_answer_from_each_call_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
