/* Column mapping within a transaction: of new tables, switched on, kept through changes of the schema; and features that files must bear. */
#include "kernel/txn/txn_int.h"

#include <string.h>

#include "txn_fixture.h"

#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":\"" type "\",\"nullable\":true,\"metadata\":{}}"
#define TABLE(fields) "{\"type\":\"struct\",\"fields\":[" fields "]}"
#define BASE FIELD("id", "long") "," FIELD("name", "string") "," FIELD("p", "string")

static const silt_property by_name = {"delta.columnMapping.mode", "name"};
static const silt_property by_id = {"delta.columnMapping.mode", "id"};

static silt_status set(struct txn_fixture *f, silt_txn *txn, const char *key, const char *value)
{
    silt_error_reset(&f->err);
    return silt_txn_set_property(txn, key, value, &f->err);
}

static silt_status set_schema(struct txn_fixture *f, silt_txn *txn, const char *json)
{
    silt_schema *schema = txn_schema(f, json);
    silt_error_reset(&f->err);
    const silt_status status = silt_txn_set_schema(txn, schema, &f->err);
    silt_schema_unref(schema);
    return status;
}

/* The physical name and id of a top-level column, as "name#id" in JSON's spelling. */
static void assert_column(const silt_txn *txn, const char *column, const char *name, const char *id)
{
    const silt_field *field = silt_schema_find(silt_txn_schema(txn), column);
    assert_non_null(field);
    const char *physical = silt_field_metadata(field, "delta.columnMapping.physicalName");
    assert_non_null(physical);
    if (name != NULL) {
        assert_string_equal(physical, name);
    } else {
        assert_int_equal(strncmp(physical, "\"col-", 5), 0);
        assert_int_equal(strlen(physical), 42);
    }
    assert_string_equal(silt_field_metadata(field, "delta.columnMapping.id"), id);
}

static void new_table_in_either_mode_gets_names_and_ids(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, "p", &by_id);
    assert_non_null(strstr(txn_log(f, 0), "{\"protocol\":{\"minReaderVersion\":2,\"minWriterVersion\":7,"
                                          "\"writerFeatures\":[\"appendOnly\",\"invariants\",\"columnMapping\"]}}"));
    assert_non_null(strstr(f->text, "\"delta.columnMapping.maxColumnId\":\"3\""));
    assert_non_null(strstr(f->text, "\"partitionColumns\":[\"p\"]"));
    silt_txn *txn = txn_begin(f);
    assert_column(txn, "id", NULL, "1");
    assert_column(txn, "name", NULL, "2");
    assert_column(txn, "p", NULL, "3");
    const silt_field *file_column = silt_schema_field(silt_txn_physical_schema(txn), 0);
    assert_int_equal(strncmp(silt_field_name(file_column), "col-", 4), 0);
    assert_string_equal(silt_field_metadata(file_column, "parquet.field.id"), "1");
    silt_txn_free(txn);
}

static void partition_values_are_logged_under_physical_names(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, "p", &by_name);
    txn_append(f, "a", "x");
    assert_non_null(strstr(txn_log(f, 1), "\"partitionValues\":{\"col-"));
    assert_null(strstr(f->text, "\"p\":\"x\""));
}

static void switching_on_keeps_the_names_that_files_have(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, "p", NULL);
    txn_append(f, "a", "x");
    silt_txn *txn = txn_begin(f);
    assert_int_equal(set(f, txn, "delta.columnMapping.mode", "name"), SILT_OK);
    assert_column(txn, "id", "\"id\"", "1");
    assert_column(txn, "p", "\"p\"", "3");
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_non_null(strstr(txn_log(f, 2), "\"minReaderVersion\":2,\"minWriterVersion\":7,"));
    assert_non_null(strstr(f->text, "\"delta.columnMapping.mode\":\"name\",\"delta.columnMapping.maxColumnId\":\"3\""));
    txn_append(f, "b", "y");
    assert_non_null(strstr(txn_log(f, 3), "\"partitionValues\":{\"p\":\"y\"}"));
    assert_int_equal(txn_count_files(f), 2);
}

/* Every refused change leaves the transaction, and with it the table, as it was. */
static void other_changes_of_the_mode_are_refused(void **state)
{
    struct txn_fixture *f = *state;
    static const char *const from[] = {"name", "id", NULL};
    static const char *const to[][3] = {{"none", "id", NULL}, {"none", "name", NULL}, {"id", "id", "id"}};
    for (size_t i = 0; i < 3; i++) {
        const silt_property mode = {"delta.columnMapping.mode", from[i]};
        if (i > 0) {
            txn_teardown(state);
            assert_int_equal(txn_setup(state), 0);
            f = *state;
        }
        txn_create(f, TXN_SCHEMA, NULL, from[i] != NULL ? &mode : NULL);
        silt_txn *txn = txn_begin(f);
        for (size_t k = 0; k < 3; k++) {
            assert_int_equal(set(f, txn, "delta.columnMapping.mode", to[i][k]), SILT_EUNSUPPORTED);
            assert_string_equal(f->err.code_name, "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE");
        }
        assert_int_equal(set(f, txn, "delta.columnMapping.maxColumnId", "99"), SILT_EINVALID);
        assert_string_equal(f->err.code_name, "DELTA_CANNOT_MODIFY_TABLE_PROPERTY");
        assert_int_equal(txn_end(f, txn), SILT_OK);
        assert_null(strstr(txn_log(f, 1), "metaData"));
        assert_null(strstr(f->text, "protocol"));
    }
}

static void new_columns_get_fresh_ids_and_old_ones_stay(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    txn_append(f, "a", NULL);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(set(f, txn, "delta.columnMapping.mode", "name"), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    txn = txn_begin(f);
    assert_int_equal(set_schema(f, txn, TABLE(BASE "," FIELD("odd name, (new)", "date"))), SILT_OK);
    assert_column(txn, "id", "\"id\"", "1");
    assert_column(txn, "odd name, (new)", NULL, "4");
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_non_null(strstr(txn_log(f, 3), "\"delta.columnMapping.maxColumnId\":\"4\""));
}

/* PROTOCOL: Column Mapping: ids are never given twice, so that files of older versions cannot be taken for those of a new column. */
static void ids_go_on_rising_when_the_table_is_replaced(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, &by_name);
    silt_schema *schema = txn_schema(f, TABLE(FIELD("id", "long")));
    const silt_create_options options = {
        .size = sizeof(options), .schema = schema, .properties = &by_id, .n_properties = 1};
    silt_txn *txn = NULL;
    assert_int_equal(silt_txn_begin_replace(f->table, NULL, &options, "REPLACE TABLE", &txn, &f->err), SILT_OK);
    assert_column(txn, "id", NULL, "4");
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_non_null(strstr(txn_log(f, 1), "\"delta.columnMapping.maxColumnId\":\"4\""));
    silt_schema_unref(schema);
}

static void odd_names_need_mapping(void **state)
{
    struct txn_fixture *f = *state;
    silt_txn *txn = NULL;
    static const char odd[] = TABLE(FIELD("a b", "long"));
    assert_int_equal(txn_create_begin(f, odd, NULL, NULL, &txn), SILT_ESCHEMA);
    assert_string_equal(f->err.code_name, "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES");
    assert_int_equal(txn_create_begin(f, TABLE(FIELD("", "long")), NULL, &by_name, &txn), SILT_ESCHEMA);
    assert_int_equal(txn_create_begin(f, TABLE(FIELD("a", "long") "," FIELD("A", "long")), NULL, &by_name, &txn),
                     SILT_ESCHEMA);
    assert_string_equal(f->err.code_name, "DELTA_DUPLICATE_COLUMNS_FOUND");
    txn_create(f, odd, NULL, &by_name);
}

/* A schema that another table's mapping clings to must not bring it along. */
static void mapping_of_another_table_is_not_taken_over_without_a_mode(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f,
               "{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{"
               "\"delta.columnMapping.id\":1,\"delta.columnMapping.physicalName\":\"x\",\"comment\":\"kept\"}}]}",
               NULL, NULL);
    assert_null(strstr(txn_log(f, 0), "columnMapping"));
    assert_non_null(strstr(f->text, "kept"));
}

static void names_or_ids_that_are_there_twice_are_refused(void **state)
{
    struct txn_fixture *f = *state;
    silt_txn *txn = NULL;
    static const char json[] =
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":{"
        "\"delta.columnMapping.id\":1,\"delta.columnMapping.physicalName\":\"x\"}},"
        "{\"name\":\"b\",\"type\":\"long\",\"nullable\":true,\"metadata\":{"
        "\"delta.columnMapping.id\":1,\"delta.columnMapping.physicalName\":\"y\"}}]}";
    assert_int_equal(txn_create_begin(f, json, NULL, &by_name, &txn), SILT_ECORRUPT);
    assert_non_null(strstr(f->err.message, "same id 1"));
}

/* ---- features that live files must bear ---- */

static void iceberg_compatibility_needs_mapping_and_an_empty_table(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(set(f, txn, "delta.enableIcebergCompatV2", "true"), SILT_EUNSUPPORTED);
    assert_string_equal(f->err.code_name, "DELTA_ICEBERG_COMPAT_VIOLATION.WRONG_REQUIRED_TABLE_PROPERTY");
    silt_txn_free(txn);
    txn_append(f, "a", NULL);
    txn = txn_begin(f);
    assert_int_equal(set(f, txn, "delta.columnMapping.mode", "name"), SILT_OK);
    assert_int_equal(set(f, txn, "delta.enableIcebergCompatV2", "true"), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_EUNSUPPORTED);
    assert_string_equal(f->err.code_name, "DELTA_ICEBERG_COMPAT_VIOLATION.FILES_NOT_ICEBERG_COMPAT");
    txn = txn_begin(f);
    assert_int_equal(silt_txn_read_version(txn), 1);
    assert_int_equal(silt_txn_remove_all(txn, NULL, &f->err), SILT_OK);
    assert_int_equal(set(f, txn, "delta.columnMapping.mode", "name"), SILT_OK);
    assert_int_equal(set(f, txn, "delta.enableIcebergCompatV2", "true"), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
}

static void iceberg_compatibility_needs_row_counts(void **state)
{
    struct txn_fixture *f = *state;
    const silt_property compat = {"delta.enableIcebergCompatV1", "true"};
    txn_create(f, TXN_SCHEMA, NULL, &compat);
    assert_non_null(strstr(txn_log(f, 0), "\"delta.columnMapping.mode\":\"name\""));
    silt_txn *txn = txn_begin(f);
    const silt_add_file file = {.size = sizeof(file), .path = "a", .size_bytes = 1, .data_change = true};
    assert_int_equal(silt_txn_add_file(txn, &file, &f->err), SILT_ECONSTRAINT);
    assert_non_null(strstr(f->err.message, "numRecords"));
    assert_int_equal(txn_add(f, txn, "a", NULL), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
}

/* A table that was empty when it was looked at need not be when the commit comes. */
static void iceberg_compatibility_sees_files_that_others_add(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, &by_name);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(set(f, txn, "delta.enableIcebergCompatV2", "true"), SILT_OK);
    txn_append(f, "a", NULL);
    assert_int_equal(txn_end(f, txn), SILT_ECONFLICT);
    assert_int_equal(f->result.conflict, SILT_CONFLICT_CONCURRENT_APPEND);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, txn_setup, txn_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(new_table_in_either_mode_gets_names_and_ids),
        TEST(partition_values_are_logged_under_physical_names),
        TEST(switching_on_keeps_the_names_that_files_have),
        TEST(other_changes_of_the_mode_are_refused),
        TEST(new_columns_get_fresh_ids_and_old_ones_stay),
        TEST(ids_go_on_rising_when_the_table_is_replaced),
        TEST(odd_names_need_mapping),
        TEST(mapping_of_another_table_is_not_taken_over_without_a_mode),
        TEST(names_or_ids_that_are_there_twice_are_refused),
        TEST(iceberg_compatibility_needs_mapping_and_an_empty_table),
        TEST(iceberg_compatibility_needs_row_counts),
        TEST(iceberg_compatibility_sees_files_that_others_add),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
