/* The columns of plans: mapped ones, "_metadata", row tracking. Covers metadata_column.c as well. */
#include "log_fixture.h"

#include <stdio.h>

#define PROTOCOL(reader, writer) "{\"protocol\":{\"minReaderVersion\":" reader ",\"minWriterVersion\":" writer "}}"
#define TRACKING_PROTOCOL \
    "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"rowTracking\",\"domainMetadata\"]}}"
#define FIELD(name, type, meta) \
    "{\\\"name\\\":\\\"" name "\\\",\\\"type\\\":" type ",\\\"nullable\\\":true,\\\"metadata\\\":{" meta "}}"
#define TEXT "\\\"string\\\""
#define LONG "\\\"long\\\""
#define MAPPED(physical, id) \
    "\\\"delta.columnMapping.physicalName\\\":\\\"" physical "\\\",\\\"delta.columnMapping.id\\\":" id
#define STRUCT(fields) "{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[" fields "]}"
#define METADATA(fields, partitions, configuration)                                                                \
    "{\"metaData\":{\"id\":\"m\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":\"" STRUCT( \
        fields) "\",\"partitionColumns\":[" partitions "],\"configuration\":{" configuration "}}}"
#define ADD(path, values, more)                                    \
    "{\"add\":{\"path\":\"" path "\",\"partitionValues\":{" values \
    "},\"size\":5,\"modificationTime\":9,\"dataChange\":"          \
    "true" more "}}"

#define MAPPED_FIELDS                                                                                           \
    FIELD("BATCH_ID", "\\\"integer\\\"", MAPPED("col-p", "1"))                                                  \
    "," FIELD("a.b", LONG, MAPPED("col-x", "2")) "," FIELD("a", STRUCT(FIELD("b", LONG, MAPPED("col-z", "4"))), \
                                                           MAPPED("col-y", "3"))
#define TRACKED                                                            \
    "\"delta.enableRowTracking\":\"true\","                                \
    "\"delta.rowTracking.materializedRowIdColumnName\":\"_row-id-col-1\"," \
    "\"delta.rowTracking.materializedRowCommitVersionColumnName\":\"_row-commit-version-col-1\""

static silt_status plan(struct log_fixture *f, const char *const *columns, size_t n, const char *filter,
                        silt_scan **out)
{
    silt_snapshot *snapshot = log_open(f, -1);
    silt_scan_builder *builder = NULL;
    silt_expr *predicate = NULL;
    *out = NULL;
    assert_int_equal(silt_scan_builder_new(snapshot, &builder, &f->err), SILT_OK);
    silt_status status = SILT_OK;
    if (columns != NULL) {
        status = silt_scan_builder_project(builder, columns, n, &f->err);
    }
    if (status == SILT_OK && filter != NULL) {
        assert_int_equal(silt_expr_parse(&f->test.env, filter, strlen(filter), NULL, &predicate, &f->err), SILT_OK);
        status = silt_scan_builder_filter(builder, predicate, &f->err);
    }
    if (status == SILT_OK) {
        status = silt_scan_builder_build(builder, NULL, out, &f->err);
    }
    silt_expr_unref(predicate);
    silt_scan_builder_free(builder);
    silt_snapshot_unref(snapshot);
    return status;
}

static silt_scan *planned(struct log_fixture *f, const char *const *columns, size_t n, const char *filter)
{
    silt_scan *scan = NULL;
    if (plan(f, columns, n, filter, &scan) != SILT_OK) {
        fail_msg("%s", f->err.message);
    }
    return scan;
}

static void assert_names(const silt_schema *schema, const char *expected)
{
    char names[512] = "";
    for (size_t i = 0; i < silt_schema_field_count(schema); i++) {
        const silt_field *field = silt_schema_field(schema, i);
        (void)snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i > 0 ? "," : "",
                       silt_field_name(field));
        const silt_type *type = silt_field_type(field);
        for (size_t k = 0; k < silt_type_field_count(type); k++) {
            (void)snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", k > 0 ? " " : ":",
                           silt_field_name(silt_type_field(type, k)));
        }
    }
    assert_string_equal(names, expected);
}

/* ---- column mapping ---- */

static void mapped_columns_are_planned_by_their_physical_names(void **state)
{
    struct log_fixture *f = *state;
    log_commit(
        f, 0, PROTOCOL("2", "5"), METADATA(MAPPED_FIELDS, "\"BATCH_ID\"", "\"delta.columnMapping.mode\":\"name\""),
        ADD("f7", "\"col-p\":\"7\"", ""), ADD("f8", "\"col-p\":\"8\"", ""), ADD("f9", "\"BATCH_ID\":\"7\"", ""), NULL);
    silt_scan *scan = planned(f, NULL, 0, NULL);
    const silt_scan_plan *p = silt_scan_get_plan(scan);
    assert_names(p->logical, "BATCH_ID,a.b,a:b");
    assert_names(p->physical, "col-p,col-x,col-y:col-z");
    assert_false(p->match_by_field_id);
    assert_int_equal(p->columns[0].source, SILT_FROM_PARTITION);
    assert_int_equal(p->columns[1].source, SILT_FROM_FILE);
    assert_int_equal(p->files[0].partition_values[0].as.i64, 7);
    assert_true(p->files[2].partition_values[0].is_null); /* a logical name is no key in a mapped table */
    silt_scan_unref(scan);

    scan = planned(f, NULL, 0, "batch_id = 7");
    assert_int_equal(silt_scan_get_plan(scan)->n_files, 1);
    assert_null(silt_scan_remaining_filter(scan));
    silt_scan_unref(scan);
}

static void statistics_are_found_by_physical_path(void **state)
{
    struct log_fixture *f = *state;
    log_commit(
        f, 0, PROTOCOL("2", "5"), METADATA(MAPPED_FIELDS, "", "\"delta.columnMapping.mode\":\"id\""),
        ADD("low", "",
            ",\"stats\":\"{\\\"numRecords\\\":1,\\\"minValues\\\":{\\\"col-x\\\":1,\\\"col-y\\\":{\\\"col-z\\\":1}},"
            "\\\"maxValues\\\":{\\\"col-x\\\":5,\\\"col-y\\\":{\\\"col-z\\\":5}}}\""),
        ADD("high", "",
            ",\"stats\":\"{\\\"numRecords\\\":1,\\\"minValues\\\":{\\\"col-x\\\":10,\\\"col-y\\\":{\\\"col-z\\\":1}},"
            "\\\"maxValues\\\":{\\\"col-x\\\":50,\\\"col-y\\\":{\\\"col-z\\\":5}}}\""),
        ADD("logical", "",
            ",\"stats\":\"{\\\"numRecords\\\":1,\\\"minValues\\\":{\\\"a.b\\\":100},\\\"maxValues\\\":{\\\"a.b\\\":101}}\""),
        NULL);
    silt_scan *scan = planned(f, NULL, 0, "`a.b` < 6");
    assert_int_equal(silt_scan_get_plan(scan)->n_files, 2); /* names that mean nothing rule nothing out */
    assert_true(silt_scan_get_plan(scan)->match_by_field_id);
    const silt_field *nested = silt_type_field(
        silt_field_type(silt_schema_field(silt_scan_get_plan(scan)->physical, 2)), 0);
    assert_string_equal(silt_field_metadata(nested, "parquet.field.id"), "4");
    silt_scan_unref(scan);
    scan = planned(f, NULL, 0, "a.b > 6");
    assert_int_equal(silt_scan_get_plan(scan)->n_files, 1);
    silt_scan_unref(scan);
}

/* Delta Spark once wrote such tables: the mode is gone, the names are not. */
static void what_is_left_of_a_mapping_does_not_count(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, PROTOCOL("1", "2"), METADATA(MAPPED_FIELDS, "\"BATCH_ID\"", ""),
               ADD("f7", "\"BATCH_ID\":\"7\"", ""), ADD("f8", "\"col-p\":\"8\"", ""),
               ADD("f9", "\"BATCH_ID\":null,\"col-p\":\"9\"", ""), NULL);
    silt_scan *scan = planned(f, NULL, 0, NULL);
    const silt_scan_plan *p = silt_scan_get_plan(scan);
    assert_names(p->physical, "BATCH_ID,a.b,a:b");
    assert_int_equal(p->files[0].partition_values[0].as.i64, 7);
    assert_int_equal(p->files[1].partition_values[0].as.i64, 8);
    assert_true(p->files[2].partition_values[0].is_null);
    silt_scan_unref(scan);
}

static void renamed_column_is_the_same_and_a_new_one_of_its_name_is_not(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, PROTOCOL("2", "5"),
               METADATA(FIELD("a", LONG, MAPPED("a", "1")) "," FIELD("b", LONG, MAPPED("b", "2")), "",
                        "\"delta.columnMapping.mode\":\"name\""),
               ADD("f", "", ""), NULL);
    log_commit(f, 1,
               METADATA(FIELD("c", LONG, MAPPED("a", "1")) "," FIELD("b", LONG, MAPPED("col-new", "3")), "",
                        "\"delta.columnMapping.mode\":\"name\""),
               NULL);
    silt_scan *scan = planned(f, NULL, 0, NULL);
    assert_names(silt_scan_get_plan(scan)->logical, "c,b");
    assert_names(silt_scan_get_plan(scan)->physical, "a,col-new");
    silt_scan_unref(scan);
}

static void broken_mapping_is_refused_when_the_table_is_opened(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, PROTOCOL("2", "5"),
               METADATA(FIELD("a", LONG, MAPPED("p", "1")) "," FIELD("b", LONG, ""), "",
                        "\"delta.columnMapping.mode\":\"name\""),
               NULL);
    log_expect_failure(f, 0, SILT_ECORRUPT, NULL, "column b has no physical name");
    log_commit(f, 1, METADATA(FIELD("a", LONG, MAPPED("p", "1")), "", "\"delta.columnMapping.mode\":\"both\""), NULL);
    log_expect_failure(f, 1, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_READ",
                       "delta.columnMapping.mode is both");
}

static void change_of_type_outside_the_list_is_refused_when_the_table_is_opened(void **state)
{
    struct log_fixture *f = *state;
    log_commit(
        f, 0, PROTOCOL("1", "2"),
        METADATA(FIELD("a", LONG,
                       "\\\"delta.typeChanges\\\":[{\\\"fromType\\\":\\\"string\\\",\\\"toType\\\":\\\"long\\\"}]"),
                 "", ""),
        NULL);
    log_expect_failure(f, 0, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_TYPE_CHANGE_IN_SCHEMA", "column a was changed");
}

/* ---- _metadata ---- */

static void whole_metadata_has_what_the_table_offers(void **state)
{
    struct log_fixture *f = *state;
    static const char *const columns[] = {"_METADATA", "id"};
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("f"), NULL);
    silt_scan *scan = planned(f, columns, 2, NULL);
    assert_names(silt_scan_schema(scan),
                 "_metadata:file_path file_name file_size file_block_start file_block_length file_modification_time "
                 "row_index,id");
    assert_int_equal(silt_scan_get_plan(scan)->columns[0].source, SILT_FROM_METADATA);
    assert_int_equal(silt_scan_get_plan(scan)->files[0].modified_ms, 1);
    silt_scan_unref(scan);
}

static void fields_are_in_the_order_of_asking_in_one_column(void **state)
{
    struct log_fixture *f = *state;
    static const char *const columns[] = {"_metadata.row_index", "id", "_metadata.File_Name"};
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("f"), NULL);
    silt_scan *scan = planned(f, columns, 3, NULL);
    assert_names(silt_scan_schema(scan), "_metadata:row_index file_name,id");
    silt_scan_unref(scan);
}

static void filter_on_metadata_reaches_the_plan_and_not_the_rows(void **state)
{
    struct log_fixture *f = *state;
    static const char *const columns[] = {"_metadata.file_name"};
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("f"), NULL);
    silt_scan *scan = planned(f, columns, 1, "_metadata.row_index > 3 AND id = 1");
    assert_names(silt_scan_schema(scan), "_metadata:file_name");
    assert_names(silt_scan_get_plan(scan)->logical, "_metadata:file_name row_index,id");
    assert_string_equal(silt_expr_text(silt_scan_remaining_filter(scan)), "(_metadata.row_index > 3L) AND (id = 1L)");
    silt_scan_unref(scan);
    scan = planned(f, NULL, 0, "_metadata.file_size = 10");
    assert_names(silt_scan_schema(scan), "id");
    assert_names(silt_scan_get_plan(scan)->logical, "id,_metadata:file_size");
    silt_scan_unref(scan);
}

static void unknown_and_repeated_fields_are_refused(void **state)
{
    struct log_fixture *f = *state;
    silt_scan *scan = NULL;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("f"), NULL);
    assert_int_equal(plan(f, (const char *[]){"_metadata.nothing"}, 1, NULL, &scan), SILT_ESCHEMA);
    assert_non_null(strstr(f->err.message, "nothing"));
    assert_int_equal(plan(f, (const char *[]){"_metadata.row_id"}, 1, NULL, &scan), SILT_ESCHEMA);
    assert_non_null(strstr(f->err.message, "row tracking"));
    assert_int_equal(plan(f, (const char *[]){"_metadata", "_metadata.row_index"}, 2, NULL, &scan), SILT_ESCHEMA);
    assert_int_equal(plan(f, (const char *[]){"_metadata.row_index", "_metadata"}, 2, NULL, &scan), SILT_ESCHEMA);
    assert_int_equal(plan(f, NULL, 0, "_metadata.row_id = 1", &scan), SILT_ESCHEMA);
}

static void column_of_the_table_goes_before(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL,
               METADATA(FIELD("_Metadata", LONG, "") "," FIELD("_metadata.row_index", TEXT, ""), "", ""),
               ADD("f", "", ""), NULL);
    silt_scan *scan = planned(f, (const char *[]){"_metadata", "_metadata.row_index"}, 2, "_metadata > 3");
    assert_names(silt_scan_schema(scan), "_Metadata,_metadata.row_index");
    assert_int_equal(silt_scan_get_plan(scan)->columns[0].source, SILT_FROM_FILE);
    silt_scan_unref(scan);
    assert_int_equal(plan(f, (const char *[]){"_metadata.file_path"}, 1, NULL, &scan), SILT_ESCHEMA);
}

static void tracked_rows_have_ids_and_their_stored_columns(void **state)
{
    struct log_fixture *f = *state;
    static const char *const columns[] = {"_metadata.row_id", "_metadata.row_commit_version"};
    log_commit(f, 0, TRACKING_PROTOCOL, METADATA(FIELD("id", LONG, ""), "", TRACKED),
               ADD("f", "", ",\"baseRowId\":0,\"defaultRowCommitVersion\":0"), NULL);
    silt_scan *scan = planned(f, columns, 2, NULL);
    const silt_scan_plan *p = silt_scan_get_plan(scan);
    assert_string_equal(p->row_id_column, "_row-id-col-1");
    assert_string_equal(p->row_commit_version_column, "_row-commit-version-col-1");
    assert_int_equal(p->files[0].base_row_id, 0);
    assert_int_equal(p->files[0].row_commit_version, 0);
    silt_scan_unref(scan);
    scan = planned(f, (const char *[]){"_metadata"}, 1, NULL);
    assert_names(silt_scan_schema(scan),
                 "_metadata:file_path file_name file_size file_block_start file_block_length file_modification_time "
                 "row_index row_id base_row_id default_row_commit_version row_commit_version");
    silt_scan_unref(scan);
}

static void file_without_a_base_id_fails_only_those_who_ask_for_ids(void **state)
{
    struct log_fixture *f = *state;
    silt_scan *scan = NULL;
    log_commit(f, 0, TRACKING_PROTOCOL, METADATA(FIELD("id", LONG, ""), "", TRACKED), ADD("no-id", "", ""), NULL);
    silt_scan_unref(planned(f, (const char *[]){"id"}, 1, NULL));
    assert_int_equal(plan(f, (const char *[]){"_metadata.row_id"}, 1, NULL, &scan), SILT_ECORRUPT);
    assert_non_null(strstr(f->err.message, "no-id"));
    assert_non_null(strstr(f->err.message, "baseRowId"));
}

static void tracking_without_names_of_stored_columns_fails_by_sparks_class(void **state)
{
    struct log_fixture *f = *state;
    silt_scan *scan = NULL;
    log_commit(f, 0, TRACKING_PROTOCOL, METADATA(FIELD("id", LONG, ""), "", "\"delta.enableRowTracking\":\"true\""),
               ADD("f", "", ",\"baseRowId\":0,\"defaultRowCommitVersion\":0"), NULL);
    assert_int_equal(plan(f, (const char *[]){"_metadata.row_id"}, 1, NULL, &scan), SILT_ECORRUPT);
    assert_string_equal(f->err.code_name, "DELTA_MATERIALIZED_ROW_TRACKING_COLUMN_NAME_MISSING");
}

/* ---- collations, clocks ---- */

static void nothing_is_decided_by_bytes_about_collated_text(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL,
               METADATA(FIELD("p", TEXT,
                              "\\\"__COLLATIONS\\\":{\\\"p\\\":\\\"spark.UTF8_LCASE\\\"}") "," FIELD("id", LONG, ""),
                        "\"p\"", ""),
               ADD("f", "\"p\":\"ABC\"", ""), NULL);
    silt_scan *scan = planned(f, NULL, 0, "p = 'abc'");
    assert_int_equal(silt_scan_get_plan(scan)->n_files, 1);
    assert_non_null(silt_scan_remaining_filter(scan));
    silt_scan_unref(scan);
}

static silt_status two_hours_east(void *ctx, int64_t wall_us, int64_t *instant_us, silt_error *err)
{
    (void)err;
    ++*(int *)ctx;
    *instant_us = wall_us - INT64_C(7200000000);
    return SILT_OK;
}

static void one_clock_counts_for_values_and_for_pruning(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, METADATA(FIELD("t", "\\\"timestamp\\\"", "") "," FIELD("id", LONG, ""), "\"t\"", ""),
               ADD("local", "\"t\":\"2020-05-05 02:00:00\"", ""), ADD("again", "\"t\":\"2020-05-05 02:00:00\"", ""),
               ADD("utc", "\"t\":\"2020-05-05T00:00:00.000000Z\"", ""), NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    silt_scan_builder *builder = NULL;
    silt_expr *predicate = NULL;
    silt_scan *scan = NULL;
    int calls = 0;
    static const char filter[] = "t = TIMESTAMP '2020-05-05 00:00:00Z'";
    assert_int_equal(silt_scan_builder_new(snapshot, &builder, &f->err), SILT_OK);
    assert_int_equal(silt_scan_builder_local_time(builder, two_hours_east, &calls, &f->err), SILT_OK);
    assert_int_equal(silt_expr_parse(&f->test.env, filter, sizeof filter - 1, NULL, &predicate, &f->err), SILT_OK);
    assert_int_equal(silt_scan_builder_filter(builder, predicate, &f->err), SILT_OK);
    assert_int_equal(silt_scan_builder_build(builder, NULL, &scan, &f->err), SILT_OK);
    const silt_scan_plan *p = silt_scan_get_plan(scan);
    assert_int_equal(p->n_files, 3);
    assert_int_equal(p->files[0].partition_values[0].as.i64, p->files[2].partition_values[0].as.i64);
    assert_int_equal(calls, 1);
    silt_scan_unref(scan);
    silt_expr_unref(predicate);
    silt_scan_builder_free(builder);
    silt_snapshot_unref(snapshot);
    scan = planned(f, NULL, 0, filter);
    assert_int_equal(silt_scan_get_plan(scan)->n_files, 1); /* by UTC only one is that instant */
    silt_scan_unref(scan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(mapped_columns_are_planned_by_their_physical_names),
        LOG_TEST(statistics_are_found_by_physical_path),
        LOG_TEST(what_is_left_of_a_mapping_does_not_count),
        LOG_TEST(renamed_column_is_the_same_and_a_new_one_of_its_name_is_not),
        LOG_TEST(broken_mapping_is_refused_when_the_table_is_opened),
        LOG_TEST(change_of_type_outside_the_list_is_refused_when_the_table_is_opened),
        LOG_TEST(whole_metadata_has_what_the_table_offers),
        LOG_TEST(fields_are_in_the_order_of_asking_in_one_column),
        LOG_TEST(filter_on_metadata_reaches_the_plan_and_not_the_rows),
        LOG_TEST(unknown_and_repeated_fields_are_refused),
        LOG_TEST(column_of_the_table_goes_before),
        LOG_TEST(tracked_rows_have_ids_and_their_stored_columns),
        LOG_TEST(file_without_a_base_id_fails_only_those_who_ask_for_ids),
        LOG_TEST(tracking_without_names_of_stored_columns_fails_by_sparks_class),
        LOG_TEST(nothing_is_decided_by_bytes_about_collated_text),
        LOG_TEST(one_clock_counts_for_values_and_for_pruning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
