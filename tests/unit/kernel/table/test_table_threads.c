/*
 * One engine, one table and its newest snapshot, shared by eight threads that refresh, plan, read and commit at the same time. Each sees
 * every writer's first commits without a gap, and in the end all are there. Meant for ThreadSanitizer (make tsan).
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mini_engine.h"

#define N_THREADS 8
#define N_COMMITS 12
#define ROOT "memory://store/t"

struct party {
    struct mini_engine mini; /* its store, and its files, which are all made before the threads begin */
    silt_engine *engine;
    silt_table *table;
    pthread_barrier_t start;
    pthread_mutex_t lock; /* of what follows */
    silt_snapshot *newest;
};

struct worker {
    struct party *party;
    int64_t number;
    char fault[256]; /* "": none; only the main thread may end the test */
};

/* ---- an engine whose Parquet handler counts under a lock; its streams only read ---- */

static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;

static silt_status locked_read(void *impl, const silt_call *call, const silt_parquet_read *request,
                               struct ArrowArrayStream *out, silt_error *err)
{
    (void)pthread_mutex_lock(&reading);
    const silt_status status = mini_parquet.read(impl, call, request, out, err);
    (void)pthread_mutex_unlock(&reading);
    return status;
}

static void open_engine(struct party *party, silt_parquet_handler_vtable *locked)
{
    silt_storage_registry *stores = NULL;
    assert_true(mini_engine_init(&party->mini, NULL, 0, NULL));
    *locked = mini_parquet;
    locked->read = locked_read;
    assert_int_equal(silt_storage_registry_new(silt_env_default(), &stores, NULL), SILT_OK);
    assert_int_equal(silt_storage_registry_add(stores, "memory", party->mini.store, NULL), SILT_OK);
    const silt_engine_options options = {.size = sizeof(options),
                                         .abi_version = SILT_ABI_VERSION,
                                         .stores = stores,
                                         .parquet = {locked, &party->mini},
                                         .expression = {&mini_expression, &party->mini}};
    assert_int_equal(silt_engine_new(&options, &party->engine, NULL), SILT_OK);
    assert_int_equal(silt_table_for_path(party->engine, ROOT, &party->table, NULL), SILT_OK);
}

/* A file of one row: its writer and the commit's number. */
static void name_file(char out[64], int64_t writer, int64_t commit)
{
    (void)snprintf(out, 64, "w%d-%d.parquet", (int)writer, (int)commit);
}

static void make_table(struct party *party)
{
    static const char schema_json[] =
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"w\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"
        "{\"name\":\"k\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}";
    static const char *const names[] = {"w", "k"};
    silt_schema *schema = NULL;
    silt_txn *txn = NULL;
    for (int64_t writer = 0; writer < N_THREADS; writer++) {
        for (int64_t commit = 0; commit < N_COMMITS; commit++) {
            char name[64];
            char path[128];
            const silt_value cells[] = {mini_long(writer), mini_long(commit)};
            name_file(name, writer, commit);
            (void)snprintf(path, sizeof(path), ROOT "/%s", name);
            mini_engine_can(&party->mini, path, names, 2, cells, 1);
        }
    }
    assert_int_equal(silt_schema_from_json(silt_env_default(), schema_json, strlen(schema_json), &schema, NULL),
                     SILT_OK);
    const silt_property interval = {"delta.checkpointInterval", "1000"}; /* the engine cannot write checkpoints */
    const silt_create_options options = {
        .size = sizeof(options), .schema = schema, .properties = &interval, .n_properties = 1};
    assert_int_equal(silt_txn_begin_create(party->table, NULL, &options, "CREATE TABLE", &txn, NULL), SILT_OK);
    assert_int_equal(silt_txn_commit(txn, NULL, NULL, NULL), SILT_OK);
    silt_txn_free(txn);
    silt_schema_unref(schema);
    assert_int_equal(silt_table_latest_snapshot(party->table, NULL, &party->newest, NULL), SILT_OK);
}

/* ---- in threads ---- */

static bool complain(struct worker *worker, const char *what, const silt_error *err)
{
    (void)snprintf(worker->fault, sizeof(worker->fault), "%s: %.200s", what, err->message);
    return false;
}

/* A reference to the newest snapshot that anybody has seen, brought up to date. */
static silt_snapshot *refresh(struct worker *worker, silt_error *err)
{
    struct party *party = worker->party;
    silt_snapshot *now = NULL;
    (void)pthread_mutex_lock(&party->lock);
    silt_snapshot *shared = silt_snapshot_ref(party->newest);
    (void)pthread_mutex_unlock(&party->lock);
    const silt_status status = silt_snapshot_refresh(shared, NULL, &now, err);
    silt_snapshot_unref(shared);
    if (status != SILT_OK) {
        return NULL;
    }
    (void)pthread_mutex_lock(&party->lock);
    if (silt_snapshot_version(now) > silt_snapshot_version(party->newest)) {
        silt_snapshot *old = party->newest;
        party->newest = silt_snapshot_ref(now);
        silt_snapshot_unref(old);
    }
    (void)pthread_mutex_unlock(&party->lock);
    return now;
}

/* Each writer's commits that are there, as bits. */
static bool gather(struct ArrowArrayStream *rows, uint64_t seen[N_THREADS])
{
    struct ArrowSchema schema = {0};
    bool good = rows->get_schema(rows, &schema) == 0;
    while (good) {
        struct ArrowArray batch = {0};
        good = rows->get_next(rows, &batch) == 0;
        if (!good || batch.release == NULL) {
            break;
        }
        for (int64_t row = 0; row < batch.length; row++) {
            silt_value w;
            silt_value k;
            good = good && mini_cell(schema.children[0], batch.children[0], row, &w) &&
                   mini_cell(schema.children[1], batch.children[1], row, &k);
            seen[good ? w.as.i64 : 0] |= good ? UINT64_C(1) << k.as.i64 : 0;
        }
        batch.release(&batch);
    }
    if (schema.release != NULL) {
        schema.release(&schema);
    }
    rows->release(rows);
    return good;
}

/* Reads what has k < `below`, and looks for gaps. */
static bool read_rows(struct worker *worker, silt_snapshot *snapshot, int below, uint64_t seen[N_THREADS])
{
    char text[32];
    silt_error err = SILT_ERROR_INIT;
    silt_expr *filter = NULL;
    silt_scan_builder *builder = NULL;
    silt_scan *scan = NULL;
    struct ArrowArrayStream rows = {0};
    (void)snprintf(text, sizeof(text), "k < %d", below);
    silt_status status = silt_expr_parse(silt_env_default(), text, strlen(text), NULL, &filter, &err);
    status = status == SILT_OK ? silt_scan_builder_new(snapshot, &builder, &err) : status;
    status = status == SILT_OK ? silt_scan_builder_filter(builder, filter, &err) : status;
    status = status == SILT_OK ? silt_scan_builder_build(builder, NULL, &scan, &err) : status;
    status = status == SILT_OK ? silt_scan_read(scan, NULL, &rows, &err) : status;
    bool good = status == SILT_OK && gather(&rows, seen);
    for (size_t i = 0; good && i < N_THREADS; i++) {
        good = (seen[i] & (seen[i] + 1)) == 0;
    }
    silt_scan_unref(scan);
    silt_scan_builder_free(builder);
    silt_expr_unref(filter);
    return good || complain(worker, "a gap, or no rows", &err);
}

static bool commit(struct worker *worker, silt_snapshot *snapshot, int64_t number)
{
    char path[64];
    char stats[128];
    silt_error err = SILT_ERROR_INIT;
    silt_txn *txn = NULL;
    name_file(path, worker->number, number);
    (void)snprintf(stats, sizeof(stats),
                   "{\"numRecords\":1,\"minValues\":{\"w\":%d,\"k\":%d},\"maxValues\":{\"w\":%d,\"k\":%d},"
                   "\"nullCount\":{\"w\":0,\"k\":0}}",
                   (int)worker->number, (int)number, (int)worker->number, (int)number);
    const silt_add_file file = {.size = sizeof(file),
                                .path = path,
                                .size_bytes = 10,
                                .modified_ms = 1,
                                .stats = stats,
                                .data_change = true,
                                .checks_held = true};
    silt_status status = silt_txn_begin_at(worker->party->table, snapshot, "WRITE", &txn, &err);
    status = status == SILT_OK ? silt_txn_add_file(txn, &file, &err) : status;
    status = status == SILT_OK ? silt_txn_commit(txn, NULL, NULL, &err) : status;
    silt_txn_free(txn);
    return status == SILT_OK || complain(worker, "a commit", &err);
}

static void *work(void *arg)
{
    struct worker *worker = arg;
    (void)pthread_barrier_wait(&worker->party->start);
    for (int64_t i = 0; i < N_COMMITS && worker->fault[0] == '\0'; i++) {
        uint64_t seen[N_THREADS] = {0};
        silt_error err = SILT_ERROR_INIT;
        silt_snapshot *snapshot = refresh(worker, &err);
        bool good = snapshot != NULL || complain(worker, "a refresh", &err);
        good = good && read_rows(worker, snapshot, i % 2 == 0 ? N_COMMITS : 3, seen) && commit(worker, snapshot, i);
        silt_snapshot_unref(snapshot);
        if (!good) {
            break;
        }
    }
    return NULL;
}

static void threads_share_an_engine_a_table_and_a_snapshot(void **state)
{
    (void)state;
    struct party party = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct worker workers[N_THREADS];
    pthread_t threads[N_THREADS];
    silt_parquet_handler_vtable locked;
    uint64_t seen[N_THREADS] = {0};
    silt_snapshot *last = NULL;
    open_engine(&party, &locked);
    make_table(&party);
    assert_int_equal(pthread_barrier_init(&party.start, NULL, N_THREADS), 0);
    for (size_t i = 0; i < N_THREADS; i++) {
        workers[i] = (struct worker){.party = &party, .number = (int64_t)i};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < N_THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_string_equal(workers[i].fault, "");
    }
    assert_int_equal(silt_table_latest_snapshot(party.table, NULL, &last, NULL), SILT_OK);
    assert_int_equal(silt_snapshot_version(last), N_THREADS * N_COMMITS);
    assert_true(read_rows(&workers[0], last, N_COMMITS, seen));
    for (size_t i = 0; i < N_THREADS; i++) {
        assert_true(seen[i] == (UINT64_C(1) << N_COMMITS) - 1);
    }
    silt_snapshot_unref(last);
    silt_snapshot_unref(party.newest);
    silt_table_unref(party.table);
    silt_engine_unref(party.engine);
    (void)pthread_barrier_destroy(&party.start);
    mini_engine_release(&party.mini);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_share_an_engine_a_table_and_a_snapshot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
