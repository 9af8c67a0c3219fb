/*
 * Commits to a table in local folders that another removes at the worst moment: nothing is made anew for a commit that is not a table's first,
 * so that no empty folder and no half of a table is left where one was dropped.
 */
#include "silt/silt.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "temp_dir.h"
#include "test_env.h"

#define SCHEMA \
    "{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}"

struct fixture {
    struct test_env env;
    char dir[512];
    char root[600];
    silt_storage *local;
    silt_engine *engine;
    silt_table *table;
    silt_error err;
    silt_commit_result result;
    bool counts;         /* from now on */
    const char *goes_at; /* the table goes before the first operation of this name on a commit */
    bool is_gone;        /* it did */
    bool came_back;      /* a folder of it was seen after that */
    bool loses_answers;  /* to puts of commits, which are done */
    unsigned n_puts;     /* of commits */
};

static struct fixture f;

static bool table_has_folder(void)
{
    struct stat found = {0};
    return stat(f.root, &found) == 0;
}

static silt_fault_action decide(void *ctx, uint64_t number, const char *operation, const char *path)
{
    (void)ctx;
    (void)number;
    f.came_back = f.came_back || (f.is_gone && table_has_folder());
    if (!f.counts || strstr(path, ".json") == NULL) {
        return SILT_FAULT_NONE;
    }
    if (f.goes_at != NULL && strcmp(operation, f.goes_at) == 0) {
        f.goes_at = NULL;
        f.is_gone = true;
        assert_int_equal(silt_storage_remove_tree(f.local, NULL, f.root, &f.err), SILT_OK);
    }
    const bool is_put = strcmp(operation, "put_if_absent") == 0;
    f.n_puts += is_put ? 1 : 0;
    return is_put && f.loses_answers ? SILT_FAULT_AFTER : SILT_FAULT_NONE;
}

static int set_up(void **state)
{
    silt_storage *faulty = NULL;
    silt_storage_registry *stores = NULL;
    (void)state;
    memset(&f, 0, sizeof(f));
    test_env_init(&f.env);
    f.err = (silt_error)SILT_ERROR_INIT;
    const silt_env *env = &f.env.env;
    assert_true(temp_dir_make(f.dir, sizeof(f.dir)));
    (void)snprintf(f.root, sizeof(f.root), "%s/t", f.dir);
    const silt_local_options quick = {.size = sizeof(quick), .no_sync = true};
    assert_int_equal(silt_storage_local_new(env, &quick, &f.local, &f.err), SILT_OK);
    assert_int_equal(silt_storage_fault_new(env, f.local, decide, NULL, &faulty, NULL), SILT_OK);
    assert_int_equal(silt_storage_registry_new(env, &stores, NULL), SILT_OK);
    assert_int_equal(silt_storage_registry_add(stores, "file", faulty, NULL), SILT_OK);
    silt_storage_unref(faulty);
    const silt_engine_options options = {
        .size = sizeof(options), .abi_version = SILT_ABI_VERSION, .env = env, .stores = stores};
    assert_int_equal(silt_engine_new(&options, &f.engine, NULL), SILT_OK);
    assert_int_equal(silt_table_for_path(f.engine, f.root, &f.table, &f.err), SILT_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    silt_table_unref(f.table);
    silt_engine_unref(f.engine);
    silt_storage_unref(f.local);
    assert_true(temp_dir_remove(f.dir));
    test_env_check(&f.env);
    return 0;
}

static silt_txn *begin_create(void)
{
    silt_schema *schema = NULL;
    silt_txn *txn = NULL;
    assert_int_equal(silt_schema_from_json(&f.env.env, SCHEMA, strlen(SCHEMA), &schema, NULL), SILT_OK);
    const silt_create_options options = {.size = sizeof(options), .schema = schema};
    assert_int_equal(silt_txn_begin_create(f.table, NULL, &options, "CREATE TABLE", &txn, &f.err), SILT_OK);
    silt_schema_unref(schema);
    return txn;
}

static silt_status end(silt_txn *txn)
{
    f.result = (silt_commit_result){.size = sizeof(f.result)};
    const silt_status status = silt_txn_commit(txn, NULL, &f.result, &f.err);
    silt_txn_free(txn);
    return status;
}

/* An append to a table that was made. */
static silt_txn *begin_append(void)
{
    const silt_add_file file = {
        .size = sizeof(file), .path = "a.parquet", .size_bytes = 10, .modified_ms = 1, .data_change = true};
    silt_txn *txn = NULL;
    assert_int_equal(end(begin_create()), SILT_OK);
    assert_int_equal(silt_txn_begin(f.table, NULL, "WRITE", &txn, &f.err), SILT_OK);
    assert_int_equal(silt_txn_add_file(txn, &file, &f.err), SILT_OK);
    f.counts = true;
    return txn;
}

static void expect_dropped(silt_txn *txn)
{
    assert_int_equal(end(txn), SILT_ECONFLICT);
    assert_string_equal(f.err.code_name, "DELTA_CONCURRENT_WRITE");
    assert_non_null(strstr(f.err.message, "dropped"));
    assert_int_equal(f.result.outcome, SILT_COMMIT_CONFLICT);
    assert_int_equal(f.result.conflict, SILT_CONFLICT_CONCURRENT_WRITE);
    assert_false(f.came_back);
    assert_false(table_has_folder());
}

static void commit_into_a_folder_that_went_is_refused_and_makes_none(void **state)
{
    (void)state;
    silt_txn *txn = begin_append();
    f.goes_at = "put_if_absent";
    expect_dropped(txn);
    assert_int_equal(f.n_puts, 1);
}

/* What a request without an answer may have left went with the folder: nothing can come of it any more, and nothing is waited for. */
static void commit_without_an_answer_whose_folder_went_is_refused_at_once(void **state)
{
    (void)state;
    silt_txn *txn = begin_append();
    f.loses_answers = true;
    f.goes_at = "read"; /* which was to tell whether it is there */
    expect_dropped(txn);
    assert_int_equal(f.n_puts, 2);
    assert_true(f.env.slept_us < 1000000);
}

static void first_commit_of_a_table_makes_its_folders(void **state)
{
    (void)state;
    silt_txn *txn = begin_create();
    f.counts = true;
    f.goes_at = "put_if_absent";
    assert_int_equal(end(txn), SILT_OK);
    assert_int_equal(f.result.version, 0);
    assert_true(table_has_folder());
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(commit_into_a_folder_that_went_is_refused_and_makes_none),
        TEST(commit_without_an_answer_whose_folder_went_is_refused_at_once),
        TEST(first_commit_of_a_table_makes_its_folders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
