/*
 * A table is dropped while others write to it. Whatever the order of their requests: a commit that was acknowledged went with the table or
 * is in it, one that was refused left nothing, and no log is left that begins in the middle.
 */
#include <stdio.h>
#include <string.h>

#include "silt/commands.h"
#include "silt/silt.h"
#include "test_env.h"

#define ROOT "memory://store/t"
#define SCHEMA                          \
    "{\"type\":\"struct\",\"fields\":[" \
    "{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}"
#define STRAGGLER "{\"commitInfo\":{\"operation\":\"WRITE\"}}\n"

struct fixture {
    struct test_env env;
    silt_storage *memory;
    silt_engine *engine;
    silt_table *table;
    silt_error err;
    const char *fail_operation; /* this one fails, before or after it was done */
    silt_fault_action fail_how;
    bool dropping;          /* the folder was removed: what follows happens before the next request */
    const char *comes_then; /* a file of the log */
    silt_commit_result result;
};

static struct fixture f;

static void put(const char *name, const char *text)
{
    char path[256];
    (void)snprintf(path, sizeof(path), ROOT "/_delta_log/%s", name);
    assert_int_equal(silt_storage_put(f.memory, NULL, path, text, strlen(text), &f.err), SILT_OK);
}

static bool has(const char *name)
{
    char path[256];
    int64_t size = 0;
    int64_t modified_ms = 0;
    (void)snprintf(path, sizeof(path), ROOT "/_delta_log/%s", name);
    return silt_storage_stat(f.memory, NULL, path, &size, &modified_ms, NULL) == SILT_OK;
}

static silt_fault_action decide(void *ctx, uint64_t number, const char *operation, const char *path)
{
    (void)ctx;
    (void)number;
    (void)path;
    if (f.dropping && f.comes_then != NULL) {
        const char *name = f.comes_then;
        f.comes_then = NULL;
        put(name, STRAGGLER);
    }
    f.dropping = f.dropping || strcmp(operation, "remove_tree") == 0;
    return f.fail_operation != NULL && strcmp(f.fail_operation, operation) == 0 ? f.fail_how : SILT_FAULT_NONE;
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
    assert_int_equal(silt_storage_memory_new(env, &f.memory, NULL), SILT_OK);
    assert_int_equal(silt_storage_fault_new(env, f.memory, decide, NULL, &faulty, NULL), SILT_OK);
    assert_int_equal(silt_storage_registry_new(env, &stores, NULL), SILT_OK);
    assert_int_equal(silt_storage_registry_add(stores, "memory", faulty, NULL), SILT_OK);
    silt_storage_unref(faulty);
    const silt_engine_options options = {
        .size = sizeof(options), .abi_version = SILT_ABI_VERSION, .env = env, .stores = stores};
    assert_int_equal(silt_engine_new(&options, &f.engine, NULL), SILT_OK);
    assert_int_equal(silt_table_for_path(f.engine, ROOT, &f.table, &f.err), SILT_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    silt_table_unref(f.table);
    silt_engine_unref(f.engine);
    silt_storage_unref(f.memory);
    test_env_check(&f.env);
    return 0;
}

static void create_table(void)
{
    silt_schema *schema = NULL;
    silt_txn *txn = NULL;
    assert_int_equal(silt_schema_from_json(&f.env.env, SCHEMA, strlen(SCHEMA), &schema, NULL), SILT_OK);
    const silt_create_options options = {.size = sizeof(options), .schema = schema};
    assert_int_equal(silt_txn_begin_create(f.table, NULL, &options, "CREATE TABLE", &txn, &f.err), SILT_OK);
    assert_int_equal(silt_txn_commit(txn, NULL, NULL, &f.err), SILT_OK);
    silt_txn_free(txn);
    silt_schema_unref(schema);
}

static silt_txn *begin_append(void)
{
    static int n_files;
    char name[32];
    silt_txn *txn = NULL;
    (void)snprintf(name, sizeof(name), "%d.parquet", n_files++);
    const silt_add_file file = {
        .size = sizeof(file), .path = name, .size_bytes = 10, .modified_ms = 1, .data_change = true};
    assert_int_equal(silt_txn_begin(f.table, NULL, "WRITE", &txn, &f.err), SILT_OK);
    assert_int_equal(silt_txn_add_file(txn, &file, &f.err), SILT_OK);
    return txn;
}

static silt_status end(silt_txn *txn)
{
    f.result = (silt_commit_result){.size = sizeof(f.result)};
    const silt_status status = silt_txn_commit(txn, NULL, &f.result, &f.err);
    silt_txn_free(txn);
    return status;
}

static bool count_entry(void *ctx, const silt_file_entry *entry)
{
    size_t *n = ctx;
    (void)entry;
    (*n)++;
    return true;
}

static size_t count_files(void)
{
    const silt_list_options options = {.size = sizeof(options), .recursive = true};
    size_t n = 0;
    silt_error ignored = SILT_ERROR_INIT;
    const silt_status status = silt_storage_list(f.memory, NULL, ROOT, &options, count_entry, &n, &ignored);
    assert_true(status == SILT_OK || status == SILT_ENOTFOUND);
    return n;
}

static void expect_dropped(silt_txn *txn)
{
    assert_int_equal(end(txn), SILT_ECONFLICT);
    assert_string_equal(f.err.code_name, "DELTA_CONCURRENT_WRITE");
    assert_non_null(strstr(f.err.message, "dropped"));
    assert_int_equal(f.result.outcome, SILT_COMMIT_CONFLICT);
    assert_int_equal(f.result.conflict, SILT_CONFLICT_CONCURRENT_WRITE);
    assert_int_equal(count_files(), 0);
}

static void commit_behind_a_drop_is_taken_back(void **state)
{
    (void)state;
    create_table();
    silt_txn *txn = begin_append();
    assert_int_equal(silt_table_drop(f.table, NULL, &f.err), SILT_OK);
    expect_dropped(txn);
}

/* Neither takes the other for a sign that the table is there. */
static void commits_of_several_behind_a_drop_are_taken_back(void **state)
{
    (void)state;
    create_table();
    silt_txn *txn = begin_append();
    silt_txn *other = begin_append();
    assert_int_equal(silt_table_drop(f.table, NULL, &f.err), SILT_OK);
    put("00000000000000000002.json", STRAGGLER);
    assert_int_equal(end(txn), SILT_ECONFLICT);
    assert_string_equal(f.err.code_name, "DELTA_CONCURRENT_WRITE");
    assert_false(has("00000000000000000001.json"));
    put("00000000000000000001.json", STRAGGLER);
    assert_int_equal(silt_storage_remove(f.memory, NULL, ROOT "/_delta_log/00000000000000000002.json", &f.err),
                     SILT_OK);
    assert_int_equal(end(other), SILT_ECONFLICT);
    assert_false(has("00000000000000000002.json"));
    assert_int_equal(count_files(), 1); /* the one that somebody else is about to take back */
}

static void commit_whose_answer_was_lost_is_taken_back_too(void **state)
{
    (void)state;
    create_table();
    silt_txn *txn = begin_append();
    assert_int_equal(silt_table_drop(f.table, NULL, &f.err), SILT_OK);
    f.fail_operation = "put_if_absent";
    f.fail_how = SILT_FAULT_AFTER;
    expect_dropped(txn);
}

static void commit_that_cannot_be_taken_back_is_unknown(void **state)
{
    (void)state;
    create_table();
    silt_txn *txn = begin_append();
    assert_int_equal(silt_table_drop(f.table, NULL, &f.err), SILT_OK);
    f.fail_operation = "remove";
    f.fail_how = SILT_FAULT_BEFORE;
    assert_int_equal(end(txn), SILT_EUNKNOWN);
    assert_int_equal(f.result.outcome, SILT_COMMIT_UNKNOWN);
}

/* It is in the log, and nothing says that the table is not there. */
static void commit_stands_when_the_look_behind_it_fails(void **state)
{
    (void)state;
    create_table();
    silt_txn *txn = begin_append();
    f.fail_operation = "stat";
    f.fail_how = SILT_FAULT_BEFORE;
    assert_int_equal(end(txn), SILT_OK);
    assert_int_equal(f.result.version, 1);
    assert_true(has("00000000000000000001.json"));
}

/* What a checkpoint stands for may expire under a transaction. */
static void commit_on_a_base_that_expired_stands(void **state)
{
    (void)state;
    create_table();
    assert_int_equal(end(begin_append()), SILT_OK);
    silt_txn *txn = begin_append();
    assert_int_equal(silt_storage_remove(f.memory, NULL, ROOT "/_delta_log/00000000000000000001.json", &f.err),
                     SILT_OK);
    assert_int_equal(end(txn), SILT_OK);
    assert_int_equal(f.result.version, 2);
    assert_true(has("00000000000000000002.json"));
}

/* Versions go behind a checkpoint, of which the name does here. */
static void expire(int from, int to, const char *checkpoint)
{
    char path[256];
    put(checkpoint, STRAGGLER);
    for (int version = from; version <= to; version++) {
        (void)snprintf(path, sizeof(path), ROOT "/_delta_log/%020d.json", version);
        assert_int_equal(silt_storage_remove(f.memory, NULL, path, &f.err), SILT_OK);
    }
}

/* A writer that was held up until its version had come, expired and been deleted: the name is free, but no reader looks there. */
static void commit_below_what_expired_is_unknown(void **state)
{
    (void)state;
    for (int last = 2; last <= 3; last++) {
        create_table();
        assert_int_equal(end(begin_append()), SILT_OK);
        silt_txn *txn = begin_append();
        for (int i = 2; i <= 4; i++) {
            assert_int_equal(end(begin_append()), SILT_OK);
            assert_int_equal(f.result.version, i);
        }
        expire(0, last, "00000000000000000004.checkpoint.parquet");
        assert_int_equal(end(txn), SILT_EUNKNOWN);
        assert_int_equal(f.result.outcome, SILT_COMMIT_UNKNOWN);
        assert_int_equal(f.result.version, 2);
        assert_non_null(strstr(f.err.message, "expired"));
        assert_int_equal(silt_table_drop(f.table, NULL, &f.err), SILT_OK);
    }
}

/* A transaction's base may expire while it passes those after it. */
static void commit_on_top_of_what_is_left_stands(void **state)
{
    (void)state;
    create_table();
    silt_txn *txn = begin_append();
    assert_int_equal(end(begin_append()), SILT_OK);
    assert_int_equal(end(begin_append()), SILT_OK);
    expire(0, 0, "00000000000000000002.checkpoint.parquet");
    assert_int_equal(end(txn), SILT_OK);
    assert_int_equal(f.result.version, 3);
}

/* Another table took the place within a moment: whose the commit is cannot be said. */
static void commit_on_another_table_is_unknown(void **state)
{
    (void)state;
    create_table();
    silt_txn *txn = begin_append();
    put("00000000000000000000.json", STRAGGLER);
    assert_int_equal(end(txn), SILT_EUNKNOWN);
    assert_non_null(strstr(f.err.message, "is another one now"));
    assert_true(has("00000000000000000001.json"));
}

static void commit_that_comes_while_a_table_is_dropped_goes_with_it(void **state)
{
    (void)state;
    create_table();
    f.comes_then = "00000000000000000001.json";
    assert_int_equal(silt_table_drop(f.table, NULL, &f.err), SILT_OK);
    assert_null(f.comes_then);
    assert_int_equal(count_files(), 0);
}

static void drop_stands_when_what_came_meanwhile_cannot_be_removed(void **state)
{
    (void)state;
    create_table();
    f.comes_then = "00000000000000000001.json";
    f.fail_operation = "remove";
    f.fail_how = SILT_FAULT_BEFORE;
    assert_int_equal(silt_table_drop(f.table, NULL, &f.err), SILT_OK);
    assert_true(has("00000000000000000001.json"));
    assert_false(has("00000000000000000000.json"));
    assert_non_null(strstr(f.env.last_log, "is dropped, but"));
}

static void checkpoint_that_comes_while_a_table_is_dropped_goes_with_it(void **state)
{
    (void)state;
    create_table();
    f.comes_then = "00000000000000000000.checkpoint.parquet";
    assert_int_equal(silt_table_drop(f.table, NULL, &f.err), SILT_OK);
    assert_int_equal(count_files(), 0);
}

static void table_that_is_made_anew_meanwhile_stays(void **state)
{
    (void)state;
    create_table();
    f.comes_then = "00000000000000000000.json";
    assert_int_equal(silt_table_drop(f.table, NULL, &f.err), SILT_OK);
    assert_null(f.comes_then);
    assert_int_equal(count_files(), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(commit_behind_a_drop_is_taken_back),
        TEST(commits_of_several_behind_a_drop_are_taken_back),
        TEST(commit_whose_answer_was_lost_is_taken_back_too),
        TEST(commit_that_cannot_be_taken_back_is_unknown),
        TEST(commit_stands_when_the_look_behind_it_fails),
        TEST(commit_on_a_base_that_expired_stands),
        TEST(commit_below_what_expired_is_unknown),
        TEST(commit_on_top_of_what_is_left_stands),
        TEST(commit_on_another_table_is_unknown),
        TEST(commit_that_comes_while_a_table_is_dropped_goes_with_it),
        TEST(checkpoint_that_comes_while_a_table_is_dropped_goes_with_it),
        TEST(drop_stands_when_what_came_meanwhile_cannot_be_removed),
        TEST(table_that_is_made_anew_meanwhile_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
