/* Every call of the store fails in turn, before or after it did its work: the table stands before or after each commit. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "silt/silt.h"
#include "test_env.h"

#define ROOT "memory://store/t"
#define SCHEMA \
    "{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}"

/* One call of the store fails, or every one from it on. */
struct fault_plan {
    uint64_t at;
    bool from_there_on;
    silt_fault_action action;
    bool reached;
};

struct fixture {
    struct test_env test;
    silt_storage *memory;
    silt_engine *sound;
    silt_engine *faulty;
    struct fault_plan plan;
};

static silt_fault_action decide(void *ctx, uint64_t number, const char *operation, const char *path)
{
    struct fault_plan *plan = ctx;
    (void)operation;
    (void)path;
    if (number != plan->at && !(plan->from_there_on && number > plan->at)) {
        return SILT_FAULT_NONE;
    }
    plan->reached = true;
    return plan->action;
}

static silt_engine *make_engine(struct fixture *f, silt_storage *store)
{
    silt_storage_registry *stores = NULL;
    silt_engine *engine = NULL;
    assert_int_equal(silt_storage_registry_new(&f->test.env, &stores, NULL), SILT_OK);
    assert_int_equal(silt_storage_registry_add(stores, "memory", store, NULL), SILT_OK);
    const silt_engine_options options = {
        .size = sizeof(options), .abi_version = SILT_ABI_VERSION, .env = &f->test.env, .stores = stores};
    assert_int_equal(silt_engine_new(&options, &engine, NULL), SILT_OK);
    return engine;
}

static silt_status create(silt_table *table, const silt_env *env)
{
    silt_schema *schema = NULL;
    silt_txn *txn = NULL;
    assert_int_equal(silt_schema_from_json(env, SCHEMA, strlen(SCHEMA), &schema, NULL), SILT_OK);
    const silt_create_options options = {.size = sizeof(options), .schema = schema};
    silt_status status = silt_txn_begin_create(table, NULL, &options, "CREATE TABLE", &txn, NULL);
    if (status == SILT_OK) {
        status = silt_txn_commit(txn, NULL, NULL, NULL);
    }
    silt_txn_free(txn);
    silt_schema_unref(schema);
    return status;
}

static void open_fixture(struct fixture *f, struct fault_plan plan)
{
    silt_storage *broken = NULL;
    silt_table *table = NULL;
    memset(f, 0, sizeof(*f));
    test_env_init(&f->test);
    f->plan = plan;
    assert_int_equal(silt_storage_memory_new(&f->test.env, &f->memory, NULL), SILT_OK);
    assert_int_equal(silt_storage_fault_new(&f->test.env, f->memory, decide, &f->plan, &broken, NULL), SILT_OK);
    f->sound = make_engine(f, f->memory);
    f->faulty = make_engine(f, broken);
    silt_storage_unref(broken);
    assert_int_equal(silt_table_for_path(f->sound, ROOT, &table, NULL), SILT_OK);
    assert_int_equal(create(table, &f->test.env), SILT_OK);
    silt_table_unref(table);
}

static void close_fixture(struct fixture *f)
{
    silt_engine_unref(f->faulty);
    silt_engine_unref(f->sound);
    silt_storage_unref(f->memory);
    test_env_check(&f->test);
}

static silt_status append(silt_table *table, const char *path, silt_commit_result *result)
{
    silt_txn *txn = NULL;
    const silt_add_file file = {.size = sizeof(file),
                                .path = path,
                                .size_bytes = 1,
                                .modified_ms = 1,
                                .data_change = true,
                                .checks_held = true};
    silt_status status = silt_txn_begin(table, NULL, "WRITE", &txn, NULL);
    if (status != SILT_OK) {
        return status;
    }
    const silt_commit_options options = {.size = sizeof(options), .max_attempts = 5, .resolve_us = 1000000};
    assert_int_equal(silt_txn_set_commit_options(txn, &options, NULL), SILT_OK);
    assert_int_equal(silt_txn_add_file(txn, &file, NULL), SILT_OK);
    status = silt_txn_commit(txn, NULL, result, NULL);
    silt_txn_free(txn);
    return status;
}

static int64_t live_files(struct fixture *f, int64_t *version)
{
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    int64_t files = 0;
    int64_t bytes = 0;
    assert_int_equal(silt_table_for_path(f->sound, ROOT, &table, NULL), SILT_OK);
    assert_int_equal(silt_table_latest_snapshot(table, NULL, &snapshot, NULL), SILT_OK);
    assert_int_equal(silt_snapshot_totals(snapshot, NULL, &files, &bytes, NULL), SILT_OK);
    *version = silt_snapshot_version(snapshot);
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    return files;
}

/* An append through the faulty store. What it is told must be true. False when the fault came after the end. */
static bool append_with(struct fault_plan plan)
{
    struct fixture f;
    silt_table *table = NULL;
    silt_commit_result result = {.size = sizeof(result)};
    int64_t version = -1;
    open_fixture(&f, plan);
    assert_int_equal(silt_table_for_path(f.faulty, ROOT, &table, NULL), SILT_OK);
    const silt_status status = append(table, "a", &result);
    const int64_t files = live_files(&f, &version);
    assert_int_equal(files, version); /* one file a version after the first */
    if (status == SILT_OK) {
        assert_int_equal(result.outcome, SILT_COMMIT_COMMITTED);
        assert_int_equal(files, 1);
    } else if (status == SILT_EUNKNOWN) {
        assert_int_equal(result.outcome, SILT_COMMIT_UNKNOWN);
        assert_in_range(files, 0, 1);
    } else {
        assert_int_equal(files, 0);
    }
    silt_table_unref(table);
    const bool reached = f.plan.reached;
    close_fixture(&f);
    return reached;
}

static void sweep(bool from_there_on, silt_fault_action action)
{
    uint64_t at = 0;
    while (append_with((struct fault_plan){.at = at, .from_there_on = from_there_on, .action = action})) {
        at++;
        assert_true(at < 100);
    }
    assert_true(at >= 2); /* opening and the commit at least */
}

static void single_failures_leave_before_or_after(void **state)
{
    (void)state;
    sweep(false, SILT_FAULT_BEFORE);
    sweep(false, SILT_FAULT_AFTER);
}

static void store_that_stays_broken_leaves_before_or_after(void **state)
{
    (void)state;
    sweep(true, SILT_FAULT_BEFORE);
    sweep(true, SILT_FAULT_AFTER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_failures_leave_before_or_after),
        cmocka_unit_test(store_that_stays_broken_leaves_before_or_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
