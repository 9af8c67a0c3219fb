/*
 * The struct "_metadata" of scans: what Spark says of a row's file, of its place in it and of its id.
 */
#include "duck_fixture.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{}}"
#define FLAT(name, type) FIELD(name, "\"" type "\"")
#define META(fields) FIELD("_metadata", "{\"type\":\"struct\",\"fields\":[" fields "]}")

static void make_file(struct duck_fixture *fx, const char *name, const char *select)
{
    char sql[1024];
    struct duck_written *file = sl_vec_push(&fx->files);
    file->full = sl_arena_printf(&fx->arena, "%s/%s", fx->dir, name);
    (void)snprintf(sql, sizeof(sql), "COPY (%s) TO '%s' (FORMAT parquet)", select, file->full);
    (void)duck_text(fx, sql);
    struct stat info;
    assert_int_equal(0, stat(file->full, &info));
    file->size_bytes = info.st_size;
}

struct meta_plan {
    silt_schema *schema;
    silt_scan_plan plan;
    silt_plan_file files[8];
    silt_plan_column columns[8];
};

/* The last field of the schema is _metadata. */
static void open_plan(struct duck_fixture *fx, struct meta_plan *out, const char *fields, const char *filter)
{
    out->schema = duck_schema(fx, fields);
    out->plan = *duck_plan(fx, out->schema, NULL, filter);
    const size_t n = silt_schema_field_count(out->schema);
    assert_true(n <= 8 && out->plan.n_files <= 8);
    for (size_t i = 0; i < n; i++) {
        out->columns[i] = (silt_plan_column){i + 1 < n ? SILT_FROM_FILE : SILT_FROM_METADATA, -1};
    }
    for (size_t i = 0; i < out->plan.n_files; i++) {
        out->files[i] = out->plan.files[i];
        out->files[i].modified_ms = 1600000000000 + (int64_t)i;
        out->files[i].base_row_id = (int64_t)i * 1000;
        out->files[i].row_commit_version = (int64_t)i + 5;
    }
    out->plan.columns = out->columns;
    out->plan.files = out->files;
}

static void files_are_described_as_by_spark(void **state)
{
    struct duck_fixture *fx = *state;
    make_file(fx, "a b%25\xc3\xbc;=+.parquet", "SELECT 1 AS a");
    struct meta_plan meta;
    open_plan(fx, &meta,
              META(FLAT("file_path", "string") "," FLAT("file_name", "string") "," FLAT("file_size", "long") "," FLAT(
                  "file_block_start", "long") "," FLAT("file_block_length", "long") "," FLAT("file_modification_time",
                                                                                             "timestamp")),
              NULL);
    char wanted[1024];
    (void)snprintf(wanted, sizeof(wanted),
                   "file:%s/a%%20b%%2525\xc3\xbc;=+.parquet|a%%20b%%2525\xc3\xbc;=+.parquet|%lld|0|%lld|2020-09-13 "
                   "12:26:40\n",
                   fx->dir, (long long)meta.files[0].size_bytes, (long long)meta.files[0].size_bytes);
    assert_string_equal(wanted, duck_scan_text(fx, &meta.plan, "unnest(_metadata)", ""));
    silt_schema_unref(meta.schema);
}

static void other_stores_keep_their_scheme(void **state)
{
    struct duck_fixture *fx = *state;
    make_file(fx, "a.parquet", "SELECT 1 AS a");
    struct meta_plan meta;
    open_plan(fx, &meta, META(FLAT("file_path", "string")), NULL);
    meta.files[0].path = "s3://bucket/t/x y.parquet";
    assert_string_equal("s3://bucket/t/x%20y.parquet\n", duck_scan_text(fx, &meta.plan, "_metadata.file_path", ""));
    meta.files[0].path = "file:///t/x.parquet";
    assert_string_equal("file:/t/x.parquet\n", duck_scan_text(fx, &meta.plan, "_metadata.file_path", ""));
    silt_schema_unref(meta.schema);
}

#define ROW_FIELDS                                                                                              \
    FLAT("row_index", "long")                                                                                   \
    "," FLAT("row_id", "long") "," FLAT("row_commit_version", "long") "," FLAT("base_row_id", "long") "," FLAT( \
        "default_row_commit_version", "long")

static void stored_row_ids_come_first(void **state)
{
    struct duck_fixture *fx = *state;
    make_file(fx, "plain.parquet", "SELECT i AS a FROM range(3) t(i)");
    make_file(
        fx, "stored.parquet",
        "SELECT i + 10 AS a, CASE WHEN i = 1 THEN 77 END::BIGINT AS \"_row-id\", CASE WHEN i = 2 THEN 3 END::BIGINT "
        "AS \"_row-version\" FROM range(3) t(i)");
    struct meta_plan meta;
    open_plan(fx, &meta, FLAT("a", "long") "," META(ROW_FIELDS), NULL);
    meta.plan.row_id_column = "_row-id";
    meta.plan.row_commit_version_column = "_row-version";
    assert_string_equal(
        "0|0|0|5|0|5\n1|1|1|5|0|5\n2|2|2|5|0|5\n10|0|1000|6|1000|6\n11|1|77|6|1000|6\n12|2|1002|3|1000|6\n",
        duck_scan_text(fx, &meta.plan, "a, unnest(_metadata)", "ORDER BY a"));
    assert_string_equal("11\n", duck_scan_text(fx, &meta.plan, "a", "WHERE _metadata.row_id = 77"));
    assert_string_equal("", duck_scan_text(fx, &meta.plan, "a", "WHERE _metadata.row_id = 1001"));
    silt_schema_unref(meta.schema);
}

static void files_without_base_ids_have_no_row_ids(void **state)
{
    struct duck_fixture *fx = *state;
    make_file(fx, "a.parquet", "SELECT 1::BIGINT AS a");
    struct meta_plan meta;
    open_plan(fx, &meta, FLAT("a", "long") "," META(ROW_FIELDS), NULL);
    meta.files[0].base_row_id = -1;
    meta.files[0].row_commit_version = -1;
    assert_string_equal("1|0|NULL|NULL|NULL|NULL\n", duck_scan_text(fx, &meta.plan, "a, unnest(_metadata)", ""));
    silt_schema_unref(meta.schema);
}

static void metadata_alone_counts_rows_and_can_be_filtered(void **state)
{
    struct duck_fixture *fx = *state;
    make_file(fx, "a.parquet", "SELECT i AS a FROM range(5000) t(i)");
    make_file(fx, "b.parquet", "SELECT i AS b FROM range(100) t(i)");
    struct meta_plan meta;
    open_plan(fx, &meta, META(FLAT("file_name", "string") "," FLAT("row_index", "long")), "_metadata.row_index >= 98");
    assert_string_equal("4904|2\n",
                        duck_scan_text(fx, &meta.plan, "count(*), count(DISTINCT _metadata.file_name)", ""));
    assert_string_equal("2\n", duck_scan_text(fx, &meta.plan, "count(*)", "WHERE _metadata.file_name = 'b.parquet'"));
    silt_schema_unref(meta.schema);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, duck_setup, duck_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(files_are_described_as_by_spark),
        TEST(other_stores_keep_their_scheme),
        TEST(stored_row_ids_come_first),
        TEST(files_without_base_ids_have_no_row_ids),
        TEST(metadata_alone_counts_rows_and_can_be_filtered),
    };
    return cmocka_run_group_tests_name("duck_metadata", tests, NULL, NULL);
}
