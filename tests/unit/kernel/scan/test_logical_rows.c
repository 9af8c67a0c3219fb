/* Rows of tables through an engine that only reads files: deletion vectors, "_metadata", row ids, mapped columns. */
#include <stdio.h>
#include <string.h>

#include "dv_fixture.h"
#include "mini_rows.h"
#include "mini_table.h"
#include "test_env.h"

#define ROOT "memory://t"
#define N_ROWS 8

static struct test_env t;
static struct mini_engine mini;
static silt_error err;
static struct sl_buf payload;
static struct sl_buf file;

static int set_up(void **state)
{
    (void)state;
    err = (silt_error)SILT_ERROR_INIT;
    test_env_init(&t);
    sl_buf_init(&payload, &t.env);
    sl_buf_init(&file, &t.env);
    return mini_engine_init(&mini, &t.env, 0, &err) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    mini_engine_release(&mini);
    sl_buf_release(&payload);
    sl_buf_release(&file);
    test_env_check(&t);
    return 0;
}

/* A vector of these rows as the descriptor's JSON, inline. */
static const char *descriptor(const int64_t *rows, size_t n)
{
    static char json[1024];
    struct sl_buf text;
    sl_buf_init(&text, &t.env);
    sl_buf_clear(&payload);
    dv_payload(&payload, rows, n, 0);
    dv_text(&text, &payload);
    (void)snprintf(json, sizeof(json),
                   "{\"storageType\":\"i\",\"pathOrInlineDv\":\"%s\",\"sizeInBytes\":%zu,\"cardinality\":%zu}",
                   sl_buf_cstr(&text), payload.len, n);
    sl_buf_release(&text);
    return json;
}

/* Table (id long, p integer) of the files a and b with 8 rows each, a with this vector. */
static void make_table(const int64_t *deleted, size_t n)
{
    static const struct mini_field fields[] = {{"id", "long"}, {"name", "string"}, {"p", "integer"}};
    static const char *const names[] = {"id", "name"};
    static const char *const texts[] = {"zero", "one", "two", "three", "four", "five", "six", "seven"};
    char add[2048];
    (void)snprintf(add, sizeof(add),
                   "{\"add\":{\"path\":\"a\",\"partitionValues\":{\"p\":\"7\"},\"size\":5,\"modificationTime\":7,"
                   "\"dataChange\":true,\"stats\":\"{\\\"numRecords\\\":8}\",\"deletionVector\":%s}}",
                   descriptor(deleted, n));
    const char *const lines[] = {add, "{\"add\":{\"path\":\"b\",\"partitionValues\":{\"p\":null},\"size\":6,"
                                      "\"modificationTime\":8,\"dataChange\":true}}"};
    assert_true(mini_table_make(&mini, ROOT, fields, 3, "[\"p\"]", lines, 2));
    silt_value cells[2 * N_ROWS];
    for (int64_t base = 0; base <= 100; base += 100) {
        for (int64_t i = 0; i < N_ROWS; i++) {
            cells[2 * i] = mini_long(base + i);
            cells[2 * i + 1] = mini_text(texts[i]);
        }
        mini_engine_can(&mini, base == 0 ? ROOT "/a" : ROOT "/b", names, 2, cells, N_ROWS);
    }
}

static silt_status read_text(const char *const *columns, size_t n, const char *filter, char *text, size_t size)
{
    struct ArrowArrayStream rows;
    silt_scan *scan = NULL;
    silt_status status = mini_table_scan(&mini, ROOT, columns, n, filter, &scan, &err);
    if (status == SILT_OK) {
        status = silt_scan_read(scan, NULL, &rows, &err);
        silt_scan_unref(scan);
    }
    if (status == SILT_OK && mini_rows_text(&rows, text, size) < 0) {
        status = SILT_EENGINE;
    }
    return status;
}

static void assert_read(const char *columns, const char *filter, const char *expected)
{
    char text[4096];
    const char *names[4];
    char copy[128];
    size_t n = 0;
    (void)snprintf(copy, sizeof(copy), "%s", columns);
    for (char *at = copy; at != NULL && n < 4;) {
        names[n++] = at;
        at = strchr(at, ' ');
        if (at != NULL) {
            *at++ = '\0';
        }
    }
    if (read_text(names, n, filter, text, sizeof(text)) != SILT_OK) {
        fail_msg("%s %s", err.message, text);
    }
    assert_string_equal(text, expected);
}

static void deleted_rows_are_not_handed_out(void **state)
{
    (void)state;
    const int64_t deleted[] = {1, 2, 4, 7};
    make_table(deleted, 4);
    assert_read("id p", NULL,
                "0,7;3,7;5,7;6,7;100,null;101,null;102,null;103,null;104,null;105,null;106,null;107,null;");
    assert_true(mini.had_row_index);
    assert_read("name", "p = 7", "zero;three;five;six;");
    assert_read("name id", "id = 4 OR id = 5 OR id = 104", "five,5;four,104;");
}

static void file_without_rows_left_gives_none(void **state)
{
    (void)state;
    const int64_t deleted[] = {0, 1, 2, 3, 4, 5, 6, 7};
    make_table(deleted, 8);
    assert_read("id", "id < 102", "100;101;");
}

static void vector_without_rows_leaves_all(void **state)
{
    (void)state;
    make_table(NULL, 0);
    assert_read("id", "id < 101", "0;1;2;3;4;5;6;7;100;");
}

static void tables_without_vectors_ask_for_no_places(void **state)
{
    (void)state;
    const int64_t deleted[] = {1};
    make_table(deleted, 1);
    assert_read("id", "p IS NULL AND id < 101", "100;");
    assert_false(mini.had_row_index);
    assert_false(mini.matched_by_id);
}

static void rows_that_the_handler_leaves_out_shift_nothing(void **state)
{
    (void)state;
    const int64_t deleted[] = {2, 5};
    make_table(deleted, 2);
    mini.leaves_rows_out = true; /* 1, 4, 7 */
    assert_read("id", NULL, "0;3;6;100;102;103;105;106;");
}

static void metadata_is_made_of_file_and_place(void **state)
{
    (void)state;
    const int64_t deleted[] = {0, 1, 3, 4, 5};
    make_table(deleted, 5);
    assert_read("_metadata.row_index id", "p = 7", "{2},2;{6},6;{7},7;");
    assert_read("id _metadata.file_name _metadata.file_size", "p = 7", "2,{a,5};6,{a,5};7,{a,5};");
    assert_read("_metadata.file_path _metadata.file_block_start", "p = 7",
                "{memory://t/a,0};{memory://t/a,0};{memory://t/a,0};");
    assert_read("_metadata.file_block_length _metadata.file_modification_time", "p = 7", "{5,7000};{5,7000};{5,7000};");
}

static void vectors_faults_stop_the_read(void **state)
{
    (void)state;
    char text[64];
    const int64_t deleted[] = {1};
    make_table(deleted, 1);
    const char *const broken[] = {
        "{\"add\":{\"path\":\"a\",\"partitionValues\":{\"p\":\"7\"},\"size\":5,\"modificationTime\":7,"
        "\"dataChange\":true,\"deletionVector\":{\"storageType\":\"p\",\"pathOrInlineDv\":\"memory://t/gone.bin\","
        "\"offset\":1,\"sizeInBytes\":38,\"cardinality\":1}}}"};
    assert_true(mini_engine_commit(&mini, ROOT, 1, broken, 1));
    assert_int_equal(read_text(NULL, 0, NULL, text, sizeof(text)), SILT_ENOTFOUND);
    assert_string_equal(
        err.message, "deletion vector at 1 of memory://t/gone.bin, of file memory://t/a: the vector file is missing");
}

static void running_out_of_memory_is_told(void **state)
{
    (void)state;
    char text[4096];
    const int64_t deleted[] = {1, 4};
    make_table(deleted, 2);
    static const char *const columns[] = {"id", "name", "_metadata.row_index"};
    for (size_t i = 1;; i++) {
        test_env_fail_at(&t, i);
        const silt_status status = read_text(columns, 3, "p = 7", text, sizeof(text));
        test_env_fail_at(&t, 0);
        if (status == SILT_OK) {
            assert_string_equal(text, "0,zero,{0};2,two,{2};3,three,{3};5,five,{5};6,six,{6};7,seven,{7};");
            break;
        }
        assert_true(i < 10000);
    }
}

/* ---- row tracking and column mapping ---- */

#define TRACKED_METADATA(configuration)                                                                     \
    "{\"metaData\":{\"id\":\"m\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":"    \
    "\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"shown\\\",\\\"type\\\":\\\"long\\\"," \
    "\\\"nullable\\\":true,\\\"metadata\\\":{\\\"delta.columnMapping.id\\\":1,"                             \
    "\\\"delta.columnMapping.physicalName\\\":\\\"stored\\\"}}]}\",\"partitionColumns\":[],"                \
    "\"configuration\":{" configuration "},\"createdTime\":0}}"

static void make_tracked(const char *metadata)
{
    static const char *const names[] = {"stored", "ids", "versions"};
    const silt_value cells[] = {mini_long(10), mini_null(),   mini_null(), mini_long(11), mini_long(77),
                                mini_long(3),  mini_long(12), mini_null(), mini_long(4)};
    const char *const lines[] = {
        "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"columnMapping\"],"
        "\"writerFeatures\":[\"columnMapping\",\"rowTracking\",\"domainMetadata\"]}}",
        metadata,
        "{\"add\":{\"path\":\"a\",\"partitionValues\":{},\"size\":5,\"modificationTime\":7,\"dataChange\":true,"
        "\"stats\":\"{\\\"numRecords\\\":3}\",\"baseRowId\":1000,\"defaultRowCommitVersion\":9}}"};
    assert_true(mini_engine_commit(&mini, ROOT, 0, lines, 3));
    mini_engine_can(&mini, ROOT "/a", names, 3, cells, 3);
}

#define TRACKING                                                                                      \
    "\"delta.enableRowTracking\":\"true\",\"delta.rowTracking.materializedRowIdColumnName\":\"ids\"," \
    "\"delta.rowTracking.materializedRowCommitVersionColumnName\":\"versions\""

static void stored_row_ids_go_before_those_of_the_file(void **state)
{
    (void)state;
    make_tracked(TRACKED_METADATA(TRACKING ",\"delta.columnMapping.mode\":\"name\""));
    assert_read("shown _metadata.row_id _metadata.row_commit_version", NULL, "10,{1000,9};11,{77,3};12,{1002,4};");
    assert_read("_metadata.base_row_id _metadata.default_row_commit_version", NULL, "{1000,9};{1000,9};{1000,9};");
    assert_false(mini.matched_by_id);
}

static void columns_are_asked_for_by_their_physical_names(void **state)
{
    (void)state;
    make_tracked(TRACKED_METADATA("\"delta.columnMapping.mode\":\"id\",\"delta.columnMapping.maxColumnId\":\"1\""));
    assert_read("shown", "shown > 10", "11;12;");
    assert_true(mini.matched_by_id);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(deleted_rows_are_not_handed_out),
        TEST(file_without_rows_left_gives_none),
        TEST(vector_without_rows_leaves_all),
        TEST(tables_without_vectors_ask_for_no_places),
        TEST(rows_that_the_handler_leaves_out_shift_nothing),
        TEST(metadata_is_made_of_file_and_place),
        TEST(vectors_faults_stop_the_read),
        TEST(running_out_of_memory_is_told),
        TEST(stored_row_ids_go_before_those_of_the_file),
        TEST(columns_are_asked_for_by_their_physical_names),
    };
    return cmocka_run_group_tests_name("logical rows", tests, NULL, NULL);
}
