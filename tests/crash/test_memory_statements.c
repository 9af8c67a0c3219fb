/*
 * Memory runs out at each request in turn while tables are written, kept up and read through the data plane: the answer is
 * SILT_ENOMEM or success, the table is as before or has the whole change, as the answer says, and no memory is lost.
 *
 * A few requests of each job by default; all of them, on all kinds of tables, with SILT_SWEEP=all in the environment. Tables are in the
 * memory store, or, with SILT_SWEEP_STORE=local, on disk, where silt reads and writes small files by itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sweep_jobs.h"
#include "temp_dir.h"

#define MAX_REQUESTS 200000
/* Of a job, when only samples are taken. */
#define FEW_REQUESTS 8
/* Of tables that no byte of was changed, one in so many is read all the same; of the others the session tells the version. */
#define READ_EVERY 16

/* ---- memory that runs out; the data plane's threads ask for it too ---- */

union head {
    size_t size;
    max_align_t align;
};

struct memory {
    atomic_size_t n_requests;
    atomic_size_t fail_at; /* counted from 1; 0: none */
    atomic_bool for_good;  /* and all that follow */
    atomic_llong live_bytes;
    atomic_size_t n_wrong_sizes;
};

static void *take(void *ctx, size_t size)
{
    struct memory *memory = ctx;
    const size_t number = atomic_fetch_add(&memory->n_requests, 1) + 1;
    const size_t fail_at = atomic_load(&memory->fail_at);
    if (fail_at != 0 && (number == fail_at || (atomic_load(&memory->for_good) && number > fail_at))) {
        return NULL;
    }
    union head *head = malloc(sizeof(*head) + size);
    if (head == NULL) {
        return NULL;
    }
    head->size = size;
    (void)atomic_fetch_add(&memory->live_bytes, (long long)size);
    return head + 1;
}

static void give_back(void *ctx, void *block, size_t size)
{
    struct memory *memory = ctx;
    union head *head = (union head *)block - 1;
    (void)atomic_fetch_add(&memory->n_wrong_sizes, head->size != size);
    (void)atomic_fetch_sub(&memory->live_bytes, (long long)head->size);
    free(head);
}

static void *resize(void *ctx, void *block, size_t old_size, size_t new_size)
{
    void *moved = take(ctx, new_size);
    if (moved != NULL) {
        memcpy(moved, block, old_size < new_size ? old_size : new_size);
        give_back(ctx, block, old_size);
    }
    return moved;
}

/* ---- a run ---- */

struct fixture {
    char dir[256];
    struct memory memory;
    bool on_disk; /* where small files are read and written without the data plane */
    silt_storage *store;
    struct sweep_bench bench;
    const struct sweep_job *job;
    enum sweep_kind kind;
    unsigned n_tables;
    unsigned n_runs;
    char base[400]; /* the table before the job; each run works on a copy */
    char before[SWEEP_TEXT];
    char after[SWEEP_TEXT];
    silt_status failure; /* of a job that fails by itself */
    size_t fail_at;      /* of the run at hand */
    size_t n_requests;   /* of the last run */
};

static void arm(void *ctx, bool begins)
{
    struct fixture *f = ctx;
    if (!begins) {
        f->n_requests = atomic_load(&f->memory.n_requests);
    }
    atomic_store(&f->memory.n_requests, 0);
    atomic_store(&f->memory.fail_at, begins ? f->fail_at : 0);
}

static void open_fixture(struct fixture *f)
{
    silt_storage_registry *stores = NULL;
    memset(f, 0, sizeof(*f));
    assert_true(temp_dir_make(f->dir, sizeof(f->dir)));
    const char *store = getenv("SILT_SWEEP_STORE");
    f->on_disk = store != NULL && strcmp(store, "local") == 0;
    sweep_env_init(&f->bench);
    f->bench.env.allocator = (silt_allocator){.ctx = &f->memory, .alloc = take, .resize = resize, .release = give_back};
    assert_int_equal(silt_storage_registry_new(&f->bench.env, &stores, NULL), SILT_OK);
    if (f->on_disk) {
        assert_int_equal(silt_storage_local_new(&f->bench.env, NULL, &f->store, NULL), SILT_OK);
    } else {
        assert_int_equal(silt_storage_memory_new(&f->bench.env, &f->store, NULL), SILT_OK);
    }
    assert_int_equal(silt_storage_registry_add(stores, f->on_disk ? "file" : "memory", f->store, NULL), SILT_OK);
    assert_true(sweep_open(&f->bench, f->dir, f->dir, stores));
    f->bench.around = arm;
    f->bench.ctx = f;
}

static void close_fixture(struct fixture *f)
{
    sweep_close(&f->bench);
    silt_storage_unref(f->store);
    (void)temp_dir_remove(f->dir);
    assert_int_equal(atomic_load(&f->memory.live_bytes), 0);
    assert_int_equal(atomic_load(&f->memory.n_wrong_sizes), 0);
}

#define FAIL(f, ...)                                                                                     \
    do {                                                                                                 \
        print_error("%s, table kind %d, request %zu%s:\n", (f)->job->name, (int)(f)->kind, (f)->fail_at, \
                    atomic_load(&(f)->memory.for_good) ? " and all that follow" : "");                   \
        fail_msg(__VA_ARGS__);                                                                           \
    } while (0)

static void new_table(struct fixture *f)
{
    (void)snprintf(f->bench.table, sizeof(f->bench.table), "%s/t%u", f->on_disk ? f->dir : "memory://m", f->n_tables++);
}

static void copy_base(struct fixture *f)
{
    new_table(f);
    assert_true(f->job->table == NULL || sweep_copy(&f->bench, f->store, f->base));
}

/* What the table is before the job and after it; answers the number of requests. */
static size_t learn(struct fixture *f)
{
    new_table(f);
    memcpy(f->base, f->bench.table, sizeof(f->base));
    if (!sweep_prepare(&f->bench, f->job, f->kind) || !sweep_look(&f->bench, f->before)) {
        FAIL(f, "cannot begin: %s", f->bench.sql.err.message);
    }
    copy_base(f);
    f->fail_at = 0;
    f->failure = sweep_run(&f->bench, f->job, f->kind);
    const size_t n = f->n_requests;
    if ((f->failure != SILT_OK) != f->job->fails || !sweep_look(&f->bench, f->after)) {
        FAIL(f, "it does not do what it should: %s", f->bench.sql.err.message);
    }
    return n;
}

/*
 * Fills now with what the table says. The queries cost more than most runs: they are spared where the files are those of the base, which
 * has been read before. A run of a few requests asks all of them.
 */
static bool look(struct fixture *f, char now[SWEEP_TEXT])
{
    if (!sweep_all() || f->n_runs % READ_EVERY == 0 || !sweep_same(&f->bench, f->store, f->base)) {
        return sweep_look(&f->bench, now);
    }
    if (!sweep_look_at_version(&f->bench, now)) {
        return false;
    }
    const bool same = strncmp(now, f->before, strlen(now)) == 0;
    if (same) {
        memcpy(now, f->before, SWEEP_TEXT);
    }
    return same;
}

/* False when there was memory for all. */
static bool run_once(struct fixture *f, size_t fail_at)
{
    char now[SWEEP_TEXT];
    copy_base(f);
    f->fail_at = fail_at;
    const silt_status status = sweep_run(&f->bench, f->job, f->kind);
    const bool reached = f->n_requests >= fail_at;
    const silt_error err = f->bench.sql.err;
    const bool readable = look(f, now);
    const bool changed = readable && strcmp(now, f->after) == 0;
    f->n_runs++;
    if (status != SILT_ENOMEM && status != f->failure) {
        FAIL(f, "want of memory became %s [%s] %s", silt_status_name(status), err.code_name, err.message);
    }
    if (!changed && (!readable || strcmp(now, f->before) != 0)) {
        FAIL(f, "the table is neither as before nor as after:\n%s", now);
    }
    if (!f->job->stays && (status == SILT_OK) != changed) {
        FAIL(f, "the answer was %s [%s] %s, but the table %s", silt_status_name(status), err.code_name, err.message,
             changed ? "has the change" : "lacks the change");
    }
    return reached;
}

static void sweep_job(struct fixture *f)
{
    const size_t n = learn(f);
    assert_true(n > 0 && n < MAX_REQUESTS);
    const size_t few = sweep_all() ? n : FEW_REQUESTS;
    const size_t step = n > few ? n / few : 1;
    size_t at = 1 + (size_t)(f->job - sweep_jobs) * 37 % step;
    while (run_once(f, at)) {
        at += step;
    }
    if (!sweep_check(&f->bench)) {
        FAIL(f, "its check finds faults");
    }
}

static void sweep(bool for_good)
{
    struct fixture f;
    open_fixture(&f);
    atomic_store(&f.memory.for_good, for_good);
    for (size_t i = 0; i < sweep_n_jobs; i++) {
        for (f.kind = SWEEP_PLAIN; f.kind < SWEEP_KINDS; f.kind++) {
            f.job = &sweep_jobs[i];
            const bool its_turn = (i + for_good) % SWEEP_KINDS == (size_t)f.kind;
            if ((its_turn || sweep_all()) && sweep_wants(f.job) && !(f.job->not_tracked && f.kind == SWEEP_TRACKED)) {
                sweep_job(&f);
                if (sweep_all()) {
                    print_message("  %u runs with %s, table kind %d\n", f.n_runs, f.job->name, (int)f.kind);
                }
            }
        }
    }
    print_message("%u runs\n", f.n_runs);
    close_fixture(&f);
}

static void statements_survive_want_of_memory_at_each_request(void **state)
{
    (void)state;
    sweep(false);
}

static void statements_survive_the_end_of_memory_at_each_request(void **state)
{
    (void)state;
    sweep(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_survive_want_of_memory_at_each_request),
        cmocka_unit_test(statements_survive_the_end_of_memory_at_each_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
