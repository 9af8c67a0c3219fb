/*
 * Several threads use one snapshot at once: the first to load the files publishes them, all see the same.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/snapshot/state.h"
#include "log_fixture.h"
#include "silt/version.h"

#define N_THREADS 4

struct shared {
    silt_snapshot *snapshot;
    atomic_int n_right;
};

static silt_status count_file(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    (void)add;
    (void)stop;
    (void)err;
    ++*(int64_t *)ctx;
    return SILT_OK;
}

static void *use_snapshot(void *arg)
{
    struct shared *shared = arg;
    int64_t n = 0;
    int64_t seen = 0;
    silt_snapshot *newer = NULL;
    bool right = silt_snapshot_totals(shared->snapshot, NULL, &n, NULL, NULL) == SILT_OK && n == 2;
    right = sl_snapshot_each_file(shared->snapshot, NULL, SL_FILES_STATS, count_file, &seen, NULL) == SILT_OK &&
            seen == 2 && right;
    right = silt_snapshot_refresh(shared->snapshot, NULL, &newer, NULL) == SILT_OK && right;
    silt_snapshot_unref(newer);
    if (right) {
        (void)atomic_fetch_add(&shared->n_right, 1);
    }
    return NULL;
}

static silt_engine *make_engine(silt_error *err)
{
    const silt_env *env = silt_env_default();
    silt_storage *store = NULL;
    silt_storage_registry *stores = NULL;
    assert_int_equal(silt_storage_memory_new(env, &store, err), SILT_OK);
    assert_int_equal(silt_storage_registry_new(env, &stores, err), SILT_OK);
    assert_int_equal(silt_storage_registry_add(stores, "memory", store, err), SILT_OK);
    static const char *const lines[] = {LOG_PROTOCOL "\n" LOG_METADATA "\n" LOG_ADD("a") "\n", LOG_ADD("b") "\n"};
    static const char *const names[] = {LOG_ROOT "/_delta_log/00000000000000000000.json",
                                        LOG_ROOT "/_delta_log/00000000000000000001.json"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(silt_storage_put(store, NULL, names[i], lines[i], strlen(lines[i]), err), SILT_OK);
    }
    silt_storage_unref(store);
    const silt_engine_options options = {
        .size = sizeof(options), .abi_version = SILT_ABI_VERSION, .env = env, .stores = stores};
    silt_engine *engine = NULL;
    assert_int_equal(silt_engine_new(&options, &engine, err), SILT_OK);
    return engine;
}

static void threads_share_a_snapshot(void **state)
{
    (void)state;
    silt_error err = SILT_ERROR_INIT;
    silt_engine *engine = make_engine(&err);
    silt_table *table = NULL;
    assert_int_equal(silt_table_for_path(engine, LOG_ROOT, &table, &err), SILT_OK);
    silt_snapshot *first = NULL;
    assert_int_equal(silt_table_snapshot_at_version(table, NULL, 0, &first, &err), SILT_OK);
    /* A refreshed snapshot builds its list at first use, from what it shares with the older one. */
    struct shared shared = {.snapshot = NULL};
    assert_int_equal(silt_snapshot_refresh(first, NULL, &shared.snapshot, &err), SILT_OK);
    silt_snapshot_unref(first);
    pthread_t threads[N_THREADS];
    for (size_t i = 0; i < N_THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, use_snapshot, &shared), 0);
    }
    for (size_t i = 0; i < N_THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(atomic_load(&shared.n_right), N_THREADS);
    silt_snapshot_unref(shared.snapshot);
    silt_table_unref(table);
    silt_engine_unref(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_share_a_snapshot)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
