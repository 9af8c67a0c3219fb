/* Many writers of one table at once: every version has one owner, nothing that was committed is lost. */
#include "silt/silt.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test_env.h"

#define ROOT "memory://store/t"
#define SCHEMA \
    "{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}"

enum {
    WRITERS = 4,
    APPENDS = 50
};

static silt_engine *make_engine(silt_storage *store)
{
    silt_storage_registry *stores = NULL;
    silt_engine *engine = NULL;
    assert_int_equal(silt_storage_registry_new(silt_env_default(), &stores, NULL), SILT_OK);
    assert_int_equal(silt_storage_registry_add(stores, "memory", store, NULL), SILT_OK);
    const silt_engine_options options = {
        .size = sizeof(options), .abi_version = SILT_ABI_VERSION, .env = silt_env_default(), .stores = stores};
    assert_int_equal(silt_engine_new(&options, &engine, NULL), SILT_OK);
    return engine;
}

static void create_table(silt_table *table)
{
    silt_schema *schema = NULL;
    silt_txn *txn = NULL;
    assert_int_equal(silt_schema_from_json(silt_env_default(), SCHEMA, strlen(SCHEMA), &schema, NULL), SILT_OK);
    const silt_create_options options = {.size = sizeof(options), .schema = schema};
    assert_int_equal(silt_txn_begin_create(table, NULL, &options, "CREATE TABLE", &txn, NULL), SILT_OK);
    assert_int_equal(silt_txn_commit(txn, NULL, NULL, NULL), SILT_OK);
    silt_txn_free(txn);
    silt_schema_unref(schema);
}

struct writer {
    silt_table *table;
    int number;
    int64_t versions[APPENDS];
    silt_error err;
    bool failed;
};

/* Each writer begins at a snapshot of its own, which others overtake all the time. */
static bool append_once(struct writer *w, int i)
{
    char path[64];
    silt_txn *txn = NULL;
    silt_commit_result result = {.size = sizeof(result)};
    (void)snprintf(path, sizeof(path), "w%d-%d.parquet", w->number, i);
    const silt_add_file file = {.size = sizeof(file),
                                .path = path,
                                .size_bytes = 1,
                                .modified_ms = 1,
                                .data_change = true,
                                .checks_held = true};
    silt_status status = silt_txn_begin(w->table, NULL, "WRITE", &txn, &w->err);
    if (status == SILT_OK) {
        status = silt_txn_add_file(txn, &file, &w->err);
    }
    if (status == SILT_OK) {
        status = silt_txn_commit(txn, NULL, &result, &w->err);
    }
    silt_txn_free(txn);
    w->versions[i] = result.version;
    return status == SILT_OK && result.outcome == SILT_COMMIT_COMMITTED;
}

static void *write_all(void *arg)
{
    struct writer *w = arg;
    for (int i = 0; i < APPENDS && !w->failed; i++) {
        w->failed = !append_once(w, i);
    }
    return NULL;
}

static void concurrent_appends_are_all_there_in_contiguous_versions(void **state)
{
    (void)state;
    silt_storage *store = NULL;
    silt_table *table = NULL;
    assert_int_equal(silt_storage_memory_new(silt_env_default(), &store, NULL), SILT_OK);
    silt_engine *engine = make_engine(store);
    assert_int_equal(silt_table_for_path(engine, ROOT, &table, NULL), SILT_OK);
    create_table(table);

    static struct writer writers[WRITERS];
    pthread_t threads[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){.table = table, .number = i, .err = SILT_ERROR_INIT};
        assert_int_equal(pthread_create(&threads[i], NULL, write_all, &writers[i]), 0);
    }
    bool seen[WRITERS * APPENDS + 1] = {false};
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        if (writers[i].failed) {
            fail_msg("writer %d: [%s] %s", i, writers[i].err.code_name, writers[i].err.message);
        }
        for (int j = 0; j < APPENDS; j++) {
            const int64_t version = writers[i].versions[j];
            assert_in_range(version, 1, WRITERS * APPENDS);
            assert_false(seen[version]); /* one owner a version */
            seen[version] = true;
        }
    }
    silt_snapshot *snapshot = NULL;
    int64_t files = 0;
    int64_t bytes = 0;
    assert_int_equal(silt_table_latest_snapshot(table, NULL, &snapshot, NULL), SILT_OK);
    assert_int_equal(silt_snapshot_version(snapshot), WRITERS * APPENDS);
    assert_int_equal(silt_snapshot_totals(snapshot, NULL, &files, &bytes, NULL), SILT_OK);
    assert_int_equal(files, WRITERS * APPENDS);
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    silt_engine_unref(engine);
    silt_storage_unref(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(concurrent_appends_are_all_there_in_contiguous_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
