/* Creating tables. */
#include "kernel/txn/txn_int.h"

#include "txn_fixture.h"

static void expect_refusal(struct txn_fixture *f, const char *schema, const char *partition,
                           const silt_property *property, silt_status status, const char *code)
{
    silt_txn *txn = NULL;
    const silt_status got = txn_create_begin(f, schema, partition, property, &txn);
    if (got != status || strcmp(f->err.code_name, code) != 0) {
        fail_msg("%s: [%s] %s", silt_status_name(got), f->err.code_name, f->err.message);
    }
    assert_null(txn);
}

static void new_table_has_protocol_metadata_and_provenance(void **state)
{
    struct txn_fixture *f = *state;
    const silt_property property = {"delta.APPENDONLY", "true"};
    txn_create(f, TXN_SCHEMA, "P", &property);
    assert_int_equal(f->result.outcome, SILT_COMMIT_COMMITTED);
    assert_int_equal(f->result.version, 0);
    const char *log = txn_log(f, 0);
    assert_int_equal(strncmp(log, "{\"commitInfo\":{\"timestamp\":1577836800000,\"operation\":\"CREATE TABLE\"", 66),
                     0);
    assert_null(strstr(log, "readVersion"));
    assert_non_null(strstr(log, "\"isBlindAppend\":true"));
    assert_non_null(strstr(log, "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}"));
    assert_non_null(strstr(log, "\"partitionColumns\":[\"p\"]")); /* the schema's spelling */
    assert_non_null(strstr(log, "\"configuration\":{\"delta.appendOnly\":\"true\"}"));
    assert_non_null(strstr(log, "\"format\":{\"provider\":\"parquet\",\"options\":{}}"));
    assert_int_equal(txn_count_files(f), 0);
}

static void existing_table_is_refused(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    expect_refusal(f, TXN_SCHEMA, NULL, NULL, SILT_EEXISTS, "DELTA_TABLE_ALREADY_EXISTS");
}

static void folder_with_other_files_is_refused(void **state)
{
    struct txn_fixture *f = *state;
    assert_int_equal(silt_storage_put(f->mini.store, NULL, TXN_ROOT "/sub/x.csv", "a", 1, NULL), SILT_OK);
    expect_refusal(f, TXN_SCHEMA, NULL, NULL, SILT_EEXISTS, "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION");
    assert_non_null(strstr(f->err.message, "sub/x.csv"));
}

static void hidden_files_do_not_count(void **state)
{
    struct txn_fixture *f = *state;
    assert_int_equal(silt_storage_put(f->mini.store, NULL, TXN_ROOT "/_SUCCESS", "a", 1, NULL), SILT_OK);
    txn_create(f, TXN_SCHEMA, NULL, NULL);
}

static void bad_definitions_leave_no_trace(void **state)
{
    struct txn_fixture *f = *state;
    const silt_property unknown = {"delta.nonsense", "1"};
    const silt_property compat = {"delta.enableIcebergCompatV3", "true"};
    const silt_property max_id = {"delta.columnMapping.maxColumnId", "7"};
    silt_txn *txn = NULL;
    assert_int_equal(txn_create_begin(f, TXN_SCHEMA, "nothing", NULL, &txn), SILT_ESCHEMA);
    expect_refusal(f, TXN_SCHEMA, NULL, &unknown, SILT_EINVALID, "DELTA_UNKNOWN_CONFIGURATION");
    expect_refusal(f, TXN_SCHEMA, NULL, &compat, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE");
    expect_refusal(f, TXN_SCHEMA, NULL, &max_id, SILT_EINVALID, "DELTA_CANNOT_MODIFY_TABLE_PROPERTY");
    const silt_create_options none = {.size = sizeof(none)};
    assert_int_equal(silt_txn_begin_create(f->table, NULL, &none, "CREATE TABLE", &txn, &f->err), SILT_EINVALID);
    void *data = NULL;
    size_t len = 0;
    assert_int_equal(
        silt_storage_read(f->mini.store, NULL, TXN_ROOT "/_delta_log/00000000000000000000.json", &data, &len, NULL),
        SILT_ENOTFOUND);
}

static void second_of_two_creators_conflicts(void **state)
{
    struct txn_fixture *f = *state;
    silt_txn *first = NULL;
    silt_txn *second = NULL;
    assert_int_equal(txn_create_begin(f, TXN_SCHEMA, NULL, NULL, &first), SILT_OK);
    assert_int_equal(txn_create_begin(f, TXN_SCHEMA, NULL, NULL, &second), SILT_OK);
    assert_int_equal(txn_end(f, first), SILT_OK);
    assert_int_equal(txn_end(f, second), SILT_ECONFLICT);
    assert_int_equal(f->result.conflict, SILT_CONFLICT_CONCURRENT_WRITE);
    assert_int_equal(f->result.version, 0);
}

static void table_may_be_created_with_its_first_rows(void **state)
{
    struct txn_fixture *f = *state;
    silt_txn *txn = NULL;
    assert_int_equal(txn_create_begin(f, TXN_SCHEMA, NULL, NULL, &txn), SILT_OK);
    assert_int_equal(silt_txn_read_version(txn), -1);
    assert_int_equal(txn_add(f, txn, "a.parquet", NULL), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_int_equal(txn_count_files(f), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, txn_setup, txn_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(new_table_has_protocol_metadata_and_provenance),
        TEST(existing_table_is_refused),
        TEST(folder_with_other_files_is_refused),
        TEST(hidden_files_do_not_count),
        TEST(bad_definitions_leave_no_trace),
        TEST(second_of_two_creators_conflicts),
        TEST(table_may_be_created_with_its_first_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
