/*
 * Every call of the store fails in turn, before it did anything or after it did all (a lost answer), and every read is answered with too little
 * that looks like all, while tables are written, kept up and read through the data plane. What fails, fails cleanly and leaves the table as it was; what succeeds left its whole change, once; neither
 * leaves files behind; the table's check finds no fault; and the next try works.
 *
 * A few calls of each job by default; all of them, on all kinds of tables, with SILT_SWEEP=all in the environment. SILT_SWEEP_TESTS names
 * the tests, with * for any letters.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/str.h"
#include "sweep_jobs.h"
#include "temp_dir.h"

#define MAX_CALLS 400
/* Of a job, when only samples are taken. */
#define FEW_CALLS 3
/* Of tables that no byte of was changed, one in so many is read and checked all the same; of the others the session tells the version. */
#define READ_EVERY 16

/* ---- the store ---- */

struct plan {
    bool wanted;
    bool armed;     /* while the job runs */
    uint64_t calls; /* so far */
    uint64_t at;
    bool and_all_after;
    silt_fault_action action;
    char operation[256]; /* that failed, and its file */
};

static bool cuts(const struct plan *plan)
{
    return plan->action == SILT_FAULT_SHORT || plan->action == SILT_FAULT_EMPTY;
}

static silt_fault_action decide(void *ctx, uint64_t number, const char *operation, const char *path)
{
    struct plan *plan = ctx;
    (void)number;
    if (!plan->armed) {
        return SILT_FAULT_NONE;
    }
    if (cuts(plan) && strcmp(operation, "read") != 0) {
        return SILT_FAULT_NONE;
    }
    const uint64_t call = plan->calls++;
    if (call != plan->at && !(plan->and_all_after && call > plan->at)) {
        return SILT_FAULT_NONE;
    }
    if (call == plan->at) {
        (void)snprintf(plan->operation, sizeof(plan->operation), "%s of %s", operation, path);
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

/* ---- a run ---- */

struct fixture {
    char dir[256];
    char temp_dir[300];
    struct plan plan;
    bool in_memory;
    silt_storage *store; /* sound; the session's is the same with faults in it */
    struct sweep_bench bench;
    unsigned n_tables;
    unsigned n_runs;
    const struct sweep_job *job;
    enum sweep_kind kind;
    char base[400]; /* the table before the job; each run works on a copy */
    char before[SWEEP_TEXT];
    char after[SWEEP_TEXT];
    silt_status failure; /* of a job that fails by itself */
};

static void arm(void *ctx, bool begins)
{
    struct fixture *f = ctx;
    f->plan.armed = begins && f->plan.wanted;
}

static void open_fixture(struct fixture *f, bool in_memory)
{
    memset(f, 0, sizeof(*f));
    assert_true(temp_dir_make(f->dir, sizeof(f->dir)));
    (void)snprintf(f->temp_dir, sizeof(f->temp_dir), "%s/tmp", f->dir);
    assert_int_equal(mkdir(f->temp_dir, 0777), 0);
    sweep_env_init(&f->bench);
    f->bench.env.monotonic_us = skipping_monotonic;
    f->bench.env.sleep_us = skip_time;
    f->in_memory = in_memory;
    const silt_env *env = &f->bench.env;
    silt_storage_registry *stores = NULL;
    silt_storage *faulty = NULL;
    assert_int_equal(silt_storage_registry_new(env, &stores, NULL), SILT_OK);
    if (in_memory) {
        assert_int_equal(silt_storage_memory_new(env, &f->store, NULL), SILT_OK);
    } else {
        assert_int_equal(silt_storage_local_new(env, NULL, &f->store, NULL), SILT_OK);
    }
    assert_int_equal(silt_storage_fault_new(env, f->store, decide, &f->plan, &faulty, NULL), SILT_OK);
    assert_int_equal(silt_storage_registry_add(stores, in_memory ? "memory" : "file", faulty, NULL), SILT_OK);
    silt_storage_unref(faulty);
    assert_true(sweep_open(&f->bench, f->dir, f->temp_dir, stores));
    f->bench.around = arm;
    f->bench.ctx = f;
}

static void close_fixture(struct fixture *f)
{
    sweep_close(&f->bench);
    silt_storage_unref(f->store);
    (void)temp_dir_remove(f->dir);
}

static void new_table(struct fixture *f)
{
    (void)snprintf(f->bench.table, sizeof(f->bench.table), "%s/t%u", f->in_memory ? "memory://m" : f->dir,
                   f->n_tables++);
}

static void say_where(const struct fixture *f)
{
    static const char *const happenings[] = {"went well", "failed before it was done", "failed after it was done",
                                             "came without its last line", "came without a byte"};
    print_error("%s, table kind %d, %s store, call %d (%s%s) %s:\n", f->job->name, (int)f->kind,
                f->in_memory ? "memory" : "local", (int)f->plan.at, f->plan.operation,
                f->plan.and_all_after ? " and all that follow" : "", happenings[f->plan.action]);
}

#define FAIL(f, ...)           \
    do {                       \
        say_where(f);          \
        fail_msg(__VA_ARGS__); \
    } while (0)

static void copy_base(struct fixture *f)
{
    new_table(f);
    assert_true(f->job->table == NULL || sweep_copy(&f->bench, f->store, f->base));
}

/* What the table is before the job, and after it. */
static void learn_states(struct fixture *f)
{
    f->plan = (struct plan){.wanted = false};
    new_table(f);
    memcpy(f->base, f->bench.table, sizeof(f->base));
    if (!sweep_prepare(&f->bench, f->job, f->kind) || !sweep_look(&f->bench, f->before)) {
        FAIL(f, "cannot begin: %s", f->bench.sql.err.message);
    }
    copy_base(f);
    f->failure = sweep_run(&f->bench, f->job, f->kind);
    if ((f->failure != SILT_OK) != f->job->fails || !sweep_look(&f->bench, f->after) ||
        (strcmp(f->before, f->after) == 0) != f->job->stays) {
        FAIL(f, "it does not do what it should without any fault: %s", f->bench.sql.err.message);
    }
}

static void expect_clean_error(struct fixture *f, silt_status status)
{
    const silt_error *err = &f->bench.sql.err;
    if (err->status != status || err->code_name[0] == '\0' || err->message[0] == '\0' ||
        strchr(err->message, '\n') != NULL) {
        FAIL(f, "no clean error: %s [%s] \"%s\"", silt_status_name(status), err->code_name, err->message);
    }
    const bool own = (f->job->fails && status == f->failure) || (cuts(&f->plan) && status == SILT_ECORRUPT);
    if (status != SILT_EIO && status != SILT_EUNKNOWN && !own) {
        FAIL(f, "the store's failure became %s [%s] \"%s\"", silt_status_name(status), err->code_name, err->message);
    }
}

/*
 * Whether queries about the table can be spared: its files are those of the base, which was read before. They cost more than most runs. A
 * run of a few calls asks all of them.
 */
static bool is_untouched(const struct fixture *f)
{
    return sweep_all() && f->n_runs % READ_EVERY != 0 && sweep_same(&f->bench, f->store, f->base);
}

static void expect_version_before(struct fixture *f)
{
    char now[SWEEP_TEXT];
    if (!sweep_look_at_version(&f->bench, now) || strncmp(now, f->before, strlen(now)) != 0) {
        FAIL(f, "its files are as before, but not what is said of it:\n%s", now);
    }
}

/* Whether it is as after the job; else it must be as before. */
static bool is_changed(struct fixture *f)
{
    char now[SWEEP_TEXT];
    const bool readable = sweep_look(&f->bench, now);
    if (readable && strcmp(now, f->after) == 0) {
        return !f->job->stays;
    }
    if (!readable || strcmp(now, f->before) != 0) {
        FAIL(f, "the table is neither as before nor as after:\n%s", now);
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
    const bool parquet = sl_str_ends_with(name, SL_STR(".parquet"));
    const bool log = sl_str_starts_with(name, SL_STR("_delta_log/"));
    if (log && (parquet || sl_str_ends_with(name, SL_STR(".json")) || sl_str_ends_with(name, SL_STR(".crc")) ||
                sl_str_eq_c(name, "_delta_log/_last_checkpoint"))) {
        return true;
    }
    if (parquet && sl_str_find(name, SL_STR("part-")) != SIZE_MAX) {
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
        (void)snprintf(path, sizeof(path), "%s/_delta_log/%020lld.json", f->bench.table, (long long)version);
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
static size_t count_orphans(struct fixture *f)
{
    const silt_list_options options = {.size = sizeof(options), .recursive = true};
    struct listing listing = {0};
    const silt_status status = silt_storage_list(f->store, NULL, f->bench.table, &options, note_file, &listing, NULL);
    if (status != SILT_OK && status != SILT_ENOTFOUND) {
        FAIL(f, "the folder cannot be listed");
    }
    if (listing.n_odd > 0) {
        FAIL(f, "%s was left behind", listing.odd);
    }
    const int64_t n_named = count_named(f);
    if ((int64_t)listing.n_data < n_named) {
        FAIL(f, "%d files are named, %zu are there", (int)n_named, listing.n_data);
    }
    return listing.n_data - (size_t)n_named + listing.n_marks;
}

/* Whether a folder of the machine has any file or folder; staging and scratch folders must be gone. */
static bool has_entry(const char *path, const char *prefix)
{
    DIR *dir = opendir(path);
    bool found = false;
    for (const struct dirent *entry = NULL; dir != NULL && !found && (entry = readdir(dir)) != NULL;) {
        found = strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return found;
}

static void expect_nothing_left(struct fixture *f, silt_status status)
{
    const bool torn = strncmp(f->plan.operation, "remove", 6) == 0; /* the clean-up itself failed */
    const bool may_leave = status == SILT_EUNKNOWN || f->plan.and_all_after || torn;
    /* A log whose beginning has expired does not name all files that it had. */
    if (!f->job->expired) {
        const size_t n_orphans = count_orphans(f);
        if (n_orphans > 0 && !may_leave) {
            FAIL(f, "%zu files were left behind", n_orphans);
        }
    }
    if (!f->in_memory && has_entry(f->bench.table, ".silt-")) {
        FAIL(f, "a staging folder was left behind");
    }
    if (has_entry(f->temp_dir, "silt-")) {
        FAIL(f, "a scratch folder was left behind");
    }
}

/* One run with one fault. False when it made fewer calls than that. */
static bool run_once(struct fixture *f, const struct plan *plan)
{
    f->plan = (struct plan){.wanted = false};
    copy_base(f);
    f->plan = *plan;
    f->plan.wanted = true;
    const silt_status status = sweep_run(&f->bench, f->job, f->kind);
    f->plan.wanted = false;
    const bool reached = f->plan.calls > plan->at;
    f->n_runs++;
    if (status != SILT_OK) {
        expect_clean_error(f, status);
    } else if (f->job->fails) {
        FAIL(f, "it should have failed");
    }
    const silt_error failure = f->bench.sql.err;
    const bool untouched = is_untouched(f);
    if (untouched) {
        expect_version_before(f);
    }
    const bool changed = !untouched && is_changed(f);
    if (!f->job->stays && ((status == SILT_OK && !changed) ||
                           (status != SILT_OK && status != SILT_EUNKNOWN && changed && !f->job->may_lie))) {
        FAIL(f, "the answer was %s [%s] %s, but the table %s", silt_status_name(status), failure.code_name,
             failure.message, changed ? "has the change" : "lacks the change");
    }
    expect_nothing_left(f, status);
    if (!untouched && !sweep_check(&f->bench)) {
        FAIL(f, "its check finds faults");
    }
    if (status != SILT_OK && (!changed || f->job->once) && !f->job->fails &&
        (sweep_run(&f->bench, f->job, f->kind) != SILT_OK || is_changed(f) == f->job->stays)) {
        FAIL(f, "it does not work afterwards: [%s] %s", f->bench.sql.err.code_name, f->bench.sql.err.message);
    }
    return reached;
}

/* The number of calls comes from a run without a fault: they are not always the same ones, but near enough. */
static void sweep_job(struct fixture *f, const struct plan *like)
{
    struct plan plan = *like;
    plan.at = UINT64_MAX;
    (void)run_once(f, &plan);
    const uint64_t n = f->plan.calls;
    assert_true((n > 0 || cuts(&plan)) && n < MAX_CALLS);
    const uint64_t few = sweep_all() ? n : FEW_CALLS;
    const uint64_t step = n > few ? n / few : 1;
    for (plan.at = (uint64_t)(f->job - sweep_jobs + 1) * 3 % step; run_once(f, &plan); plan.at += step) {
    }
}

static void sweep(bool in_memory, silt_fault_action action, bool and_all_after)
{
    struct fixture f;
    const struct plan plan = {.action = action, .and_all_after = and_all_after};
    const unsigned turn = (unsigned)in_memory * 4 + (unsigned)and_all_after * 2 + (unsigned)action - 1;
    open_fixture(&f, in_memory);
    for (size_t i = 0; i < sweep_n_jobs; i++) {
        for (f.kind = SWEEP_PLAIN; f.kind < SWEEP_KINDS; f.kind++) {
            const bool its_turn = (f.kind == SWEEP_PLAIN && (i + turn) % 4 == 0) || (i + turn) % 16 == (size_t)f.kind;
            f.job = &sweep_jobs[i];
            if ((its_turn || sweep_all()) && sweep_wants(f.job) && !(f.job->not_tracked && f.kind == SWEEP_TRACKED)) {
                learn_states(&f);
                sweep_job(&f, &plan);
                if (sweep_all()) {
                    print_message("  %u runs with %s, table kind %d\n", f.n_runs, f.job->name, (int)f.kind);
                }
            }
        }
    }
    print_message("%u runs\n", f.n_runs);
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

static void local_store_gives_no_last_line(void **state)
{
    (void)state;
    sweep(false, SILT_FAULT_SHORT, false);
}

static void local_store_gives_no_byte(void **state)
{
    (void)state;
    sweep(false, SILT_FAULT_EMPTY, false);
}

static void memory_store_gives_no_last_line(void **state)
{
    (void)state;
    sweep(true, SILT_FAULT_SHORT, false);
}

static void memory_store_gives_no_byte(void **state)
{
    (void)state;
    sweep(true, SILT_FAULT_EMPTY, false);
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
        cmocka_unit_test(local_store_gives_no_last_line),
        cmocka_unit_test(local_store_gives_no_byte),
        cmocka_unit_test(memory_store_gives_no_last_line),
        cmocka_unit_test(memory_store_gives_no_byte),
    };
    cmocka_set_test_filter(getenv("SILT_SWEEP_TESTS"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
