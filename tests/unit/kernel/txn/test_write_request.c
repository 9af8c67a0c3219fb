/* Requests for writers that are not fed through silt_txn_write, and what is checked of the files that they report. */
#include "kernel/txn/txn_write.h"

#include <string.h>

#include "txn_fixture.h"

static const char *const id_path[] = {"id"};

static silt_written_file file_with_nulls(const silt_column_stats *stats, size_t n)
{
    return (silt_written_file){.size = sizeof(silt_written_file),
                               .path = "part-1.parquet",
                               .size_bytes = 5,
                               .modified_ms = 3,
                               .num_rows = 9,
                               .stats = stats,
                               .n_stats = n};
}

static void request_follows_the_tables_properties(void **state)
{
    struct txn_fixture *f = *state;
    const silt_property property = {"delta.parquet.compression.codec", "UNCOMPRESSED"};
    txn_create(f, TXN_SCHEMA, "p", &property);
    silt_txn *txn = txn_begin(f);
    silt_parquet_write request;
    assert_int_equal(sl_txn_write_request(txn, &request, &f->err), SILT_OK);
    assert_string_equal(request.codec, "none");
    assert_int_equal(request.target_file_size, 128 * 1024 * 1024);
    assert_string_equal(request.dir, TXN_ROOT);
    assert_int_equal(request.n_partition_columns, 1);
    assert_string_equal(request.partition_columns[0], "p");
    assert_int_equal(silt_txn_set_property(txn, "delta.targetFileSize", "1mb", &f->err), SILT_OK);
    assert_int_equal(silt_txn_set_property(txn, "delta.parquet.compression.codec", NULL, &f->err), SILT_OK);
    assert_int_equal(sl_txn_write_request(txn, &request, &f->err), SILT_OK);
    assert_string_equal(request.codec, "zstd");
    assert_int_equal(request.target_file_size, 1024 * 1024);
    silt_txn_free(txn);
}

static void reported_file_becomes_an_add(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_STRICT_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    silt_parquet_write request;
    const silt_column_stats stats = {.path = id_path, .path_len = 1};
    const silt_written_file file = file_with_nulls(&stats, 1);
    assert_int_equal(sl_txn_write_request(txn, &request, &f->err), SILT_OK);
    assert_true(request.on_file(request.on_file_ctx, &file));
    assert_int_equal(sl_txn_write_finish(txn, &f->err), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_int_equal(f->result.rows_added, 9);
    assert_non_null(strstr(txn_log(f, 1), "\"path\":\"part-1.parquet\",\"partitionValues\":{},\"size\":5,"
                                          "\"modificationTime\":3,\"dataChange\":true"));
}

static void count_of_nulls_in_a_required_column_is_a_violation(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_STRICT_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    silt_parquet_write request;
    const silt_column_stats stats = {.path = id_path, .path_len = 1, .null_count = 2};
    const silt_written_file file = file_with_nulls(&stats, 1);
    assert_int_equal(silt_storage_put(f->mini.store, NULL, TXN_ROOT "/part-1.parquet", "x", 1, NULL), SILT_OK);
    assert_int_equal(sl_txn_write_request(txn, &request, &f->err), SILT_OK);
    assert_true(request.on_file(request.on_file_ctx, &file)); /* goes on: the reason is told at the end */
    silt_written_file later = file_with_nulls(NULL, 0);
    later.path = "part-2.parquet";
    assert_int_equal(silt_storage_put(f->mini.store, NULL, TXN_ROOT "/part-2.parquet", "x", 1, NULL), SILT_OK);
    assert_true(request.on_file(request.on_file_ctx, &later));
    assert_int_equal(sl_txn_write_finish(txn, &f->err), SILT_ECONSTRAINT);
    assert_string_equal(f->err.code_name, "DELTA_NOT_NULL_CONSTRAINT_VIOLATED");
    assert_int_equal(txn_end(f, txn), SILT_ECONSTRAINT);
    assert_string_equal(txn_data_files(f), "");
}

static void nulls_under_a_nullable_parent_prove_nothing(void **state)
{
    struct txn_fixture *f = *state;
    static const char *const path[] = {"s", "x"};
    txn_create(
        f,
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"s\",\"type\":{\"type\":\"struct\",\"fields\":["
        "{\"name\":\"x\",\"type\":\"long\",\"nullable\":false,\"metadata\":{}}]},\"nullable\":true,\"metadata\":{}}]}",
        NULL, NULL);
    silt_txn *txn = txn_begin(f);
    silt_parquet_write request;
    const silt_column_stats stats = {.path = path, .path_len = 2, .null_count = 2};
    const silt_written_file file = file_with_nulls(&stats, 1);
    assert_int_equal(sl_txn_write_request(txn, &request, &f->err), SILT_OK);
    assert_true(request.on_file(request.on_file_ctx, &file));
    silt_txn_free(txn);
}

static void file_without_facts_is_the_handlers_fault(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    silt_parquet_write request;
    silt_written_file file = file_with_nulls(NULL, 0);
    file.num_rows = -1;
    assert_int_equal(sl_txn_write_request(txn, &request, &f->err), SILT_OK);
    assert_true(request.on_file(request.on_file_ctx, &file));
    assert_int_equal(sl_txn_write_finish(txn, &f->err), SILT_EENGINE);
    silt_txn_free(txn);
}

static void clustering_columns_get_statistics_wherever_they_are(void **state)
{
    struct txn_fixture *f = *state;
    static const char *const lines[] = {
        "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"domainMetadata\","
        "\"clustering\"]}}",
        "{\"metaData\":{\"id\":\"m\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":"
        "\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":["
        "{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"long\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}},"
        "{\\\"name\\\":\\\"c\\\",\\\"type\\\":\\\"long\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}}]}\","
        "\"partitionColumns\":[],\"configuration\":{\"delta.dataSkippingNumIndexedCols\":\"1\"},\"createdTime\":1}}",
        "{\"domainMetadata\":{\"domain\":\"delta.clustering\",\"configuration\":"
        "\"{\\\"clusteringColumns\\\":[[\\\"c\\\"]]}\",\"removed\":false}}"};
    static const char *const c_path[] = {"c"};
    assert_true(mini_engine_commit(&f->mini, TXN_ROOT, 0, lines, 3));
    silt_txn *txn = txn_begin(f);
    silt_parquet_write request;
    const silt_column_stats stats[] = {{.path = id_path, .path_len = 1}, {.path = c_path, .path_len = 1}};
    const silt_written_file file = file_with_nulls(stats, 2);
    assert_int_equal(sl_txn_write_request(txn, &request, &f->err), SILT_OK);
    assert_true(request.on_file(request.on_file_ctx, &file));
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_non_null(strstr(txn_log(f, 1), "\\\"nullCount\\\":{\\\"id\\\":0,\\\"c\\\":0}"));
}

#define MAPPED(name, physical, id)                                                                      \
    "{\\\"name\\\":\\\"" name "\\\",\\\"type\\\":\\\"long\\\",\\\"nullable\\\":true,\\\"metadata\\\":{" \
    "\\\"delta.columnMapping.id\\\":" id ",\\\"delta.columnMapping.physicalName\\\":\\\"" physical "\\\"}}"

/* PROTOCOL: the domain has physical names; the property has those that users know. */
static void statistics_of_mapped_columns_go_by_both_names(void **state)
{
    struct txn_fixture *f = *state;
    static const char *const lines[] = {
        "{\"protocol\":{\"minReaderVersion\":2,\"minWriterVersion\":7,\"writerFeatures\":[\"domainMetadata\","
        "\"clustering\",\"columnMapping\"]}}",
        "{\"metaData\":{\"id\":\"m\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":"
        "\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[" MAPPED("a", "p1", "1") "," MAPPED("b", "p2", "2") "," MAPPED(
            "c", "p3", "3") "]}\","
                            "\"partitionColumns\":[],\"configuration\":{\"delta.columnMapping.mode\":\"name\","
                            "\"delta.dataSkippingStatsColumns\":\"a\"},\"createdTime\":1}}",
        "{\"domainMetadata\":{\"domain\":\"delta.clustering\",\"configuration\":"
        "\"{\\\"clusteringColumns\\\":[[\\\"p3\\\"]]}\",\"removed\":false}}"};
    static const char *const paths[] = {"p1", "p2", "p3"};
    assert_true(mini_engine_commit(&f->mini, TXN_ROOT, 0, lines, 3));
    silt_txn *txn = txn_begin(f);
    silt_parquet_write request;
    const silt_column_stats stats[] = {
        {.path = &paths[0], .path_len = 1}, {.path = &paths[1], .path_len = 1}, {.path = &paths[2], .path_len = 1}};
    const silt_written_file file = file_with_nulls(stats, 3);
    assert_int_equal(sl_txn_write_request(txn, &request, &f->err), SILT_OK);
    assert_int_equal(request.random_prefix_length, 2);
    assert_string_equal(silt_field_name(silt_schema_field(request.schema, 0)), "p1");
    assert_string_equal(silt_field_name(silt_schema_field(request.logical, 0)), "a");
    assert_true(request.on_file(request.on_file_ctx, &file));
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_non_null(strstr(txn_log(f, 1), "\\\"nullCount\\\":{\\\"p1\\\":0,\\\"p3\\\":0}"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, txn_setup, txn_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(request_follows_the_tables_properties),
        TEST(reported_file_becomes_an_add),
        TEST(count_of_nulls_in_a_required_column_is_a_violation),
        TEST(nulls_under_a_nullable_parent_prove_nothing),
        TEST(file_without_facts_is_the_handlers_fault),
        TEST(clustering_columns_get_statistics_wherever_they_are),
        TEST(statistics_of_mapped_columns_go_by_both_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
