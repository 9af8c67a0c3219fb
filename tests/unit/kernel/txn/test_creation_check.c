/*
 * A creation that was held up until another had made a table in the place, written to it, checkpointed it and deleted its first versions: the
 * name of version 0 is free for the second time. No such commit is acknowledged.
 */
#include <stdio.h>
#include <string.h>

#include "log_fixture.h"

#define SCHEMA \
    "{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}"

static silt_txn *begin_create(struct log_fixture *f)
{
    silt_schema *schema = NULL;
    silt_txn *txn = NULL;
    assert_int_equal(silt_schema_from_json(&f->test.env, SCHEMA, strlen(SCHEMA), &schema, &f->err), SILT_OK);
    const silt_create_options options = {.size = sizeof(options), .schema = schema};
    assert_int_equal(silt_txn_begin_create(f->table, NULL, &options, "CREATE TABLE", &txn, &f->err), SILT_OK);
    silt_schema_unref(schema);
    return txn;
}

static silt_status end(struct log_fixture *f, silt_txn *txn, silt_commit_result *result)
{
    *result = (silt_commit_result){.size = sizeof(*result)};
    const silt_status status = silt_txn_commit(txn, NULL, result, &f->err);
    silt_txn_free(txn);
    return status;
}

static bool has(struct log_fixture *f, const char *name)
{
    char path[256];
    int64_t size = 0;
    int64_t time = 0;
    (void)snprintf(path, sizeof(path), LOG_ROOT "/_delta_log/%s", name);
    return silt_storage_stat(f->store, NULL, path, &size, &time, NULL) == SILT_OK;
}

/* What is left of a table of which versions before `first` expired. */
static void make_other_table(struct log_fixture *f, int64_t first)
{
    log_checkpoint(f, first, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    log_commit(f, first, LOG_ADD("a"), NULL);
    log_commit(f, first + 1, LOG_ADD("b"), NULL);
}

static void creation_below_what_expired_is_taken_back(void **state)
{
    struct log_fixture *f = *state;
    silt_commit_result result;
    silt_txn *txn = begin_create(f);
    make_other_table(f, 4);
    assert_int_equal(end(f, txn, &result), SILT_ECONFLICT);
    assert_string_equal(f->err.code_name, "DELTA_CONCURRENT_WRITE");
    assert_non_null(strstr(f->err.message, "another table was made here"));
    assert_int_equal(result.outcome, SILT_COMMIT_CONFLICT);
    assert_false(has(f, "00000000000000000000.json"));
    assert_false(has(f, "00000000000000000000.crc"));
    silt_snapshot *snapshot = log_open(f, -1);
    assert_string_equal(log_files(f, snapshot), "a b");
    silt_snapshot_unref(snapshot);
}

static void creation_below_what_expired_that_cannot_be_taken_back_is_unknown(void **state)
{
    struct log_fixture *f = *state;
    silt_commit_result result;
    silt_txn *txn = begin_create(f);
    make_other_table(f, 4);
    f->fail_operation = "remove";
    f->fail_path = "00000000000000000000.json";
    assert_int_equal(end(f, txn, &result), SILT_EUNKNOWN);
    assert_int_equal(result.outcome, SILT_COMMIT_UNKNOWN);
    assert_int_equal(result.version, 0);
}

/* Version 1 may rest on either of the two. */
static void creation_before_another_table_is_unknown(void **state)
{
    struct log_fixture *f = *state;
    silt_commit_result result;
    silt_txn *txn = begin_create(f);
    make_other_table(f, 1);
    assert_int_equal(end(f, txn, &result), SILT_EUNKNOWN);
    assert_non_null(strstr(f->err.message, "another one now"));
    assert_int_equal(result.outcome, SILT_COMMIT_UNKNOWN);
    assert_true(has(f, "00000000000000000000.json"));
}

/* Others write to a table as soon as it is there. */
static void creation_that_others_built_on_at_once_stands(void **state)
{
    struct log_fixture *f = *state;
    silt_commit_result result;
    silt_txn *txn = begin_create(f);
    log_commit(f, 1, LOG_ADD("a"), NULL);
    assert_int_equal(end(f, txn, &result), SILT_OK);
    assert_int_equal(result.version, 0);
    assert_true(has(f, "00000000000000000000.json"));
}

static void creation_stands_when_the_look_behind_it_fails(void **state)
{
    struct log_fixture *f = *state;
    silt_commit_result result;
    silt_txn *txn = begin_create(f);
    make_other_table(f, 4);
    f->fail_operation = "list";
    f->fail_path = "_delta_log";
    assert_int_equal(end(f, txn, &result), SILT_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(creation_below_what_expired_is_taken_back),
        LOG_TEST(creation_below_what_expired_that_cannot_be_taken_back_is_unknown),
        LOG_TEST(creation_before_another_table_is_unknown),
        LOG_TEST(creation_that_others_built_on_at_once_stands),
        LOG_TEST(creation_stands_when_the_look_behind_it_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
