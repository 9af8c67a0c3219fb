/*
 * Scans and reads of files as they are found: other physical types, missing columns and files, many files, odd names, real
 * checkpoints, and the filter handler.
 */
#include "duck_fixture.h"
#include "rows_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arrow.h"

#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{}}"
#define FLAT(name, type) FIELD(name, "\"" type "\"")
#define STRUCT(fields) "{\"type\":\"struct\",\"fields\":[" fields "]}"
#define MAP "{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":\"string\",\"valueContainsNull\":true}"

/* Makes a file with DuckDB itself and notes it as if it had been written. */
static void make_file(struct duck_fixture *fx, const char *name, const char *select)
{
    char sql[4096];
    struct duck_written *file = sl_vec_push(&fx->files);
    file->full = sl_arena_printf(&fx->arena, "%s/%s", fx->dir, name);
    (void)snprintf(sql, sizeof(sql), "COPY (%s) TO '%s' (FORMAT parquet)", select, file->full);
    (void)duck_text(fx, sql);
    struct stat info;
    assert_int_equal(0, stat(file->full, &info));
    file->size_bytes = info.st_size;
}

static void narrower_types_are_widened(void **state)
{
    struct duck_fixture *fx = *state;
    make_file(
        fx, "a.parquet",
        "SELECT 1::INTEGER AS l, 1.5::FLOAT AS d, 2.5::DECIMAL(5,2) AS e, DATE '2020-01-01' AS n, 7::SMALLINT AS i");
    make_file(
        fx, "b.parquet",
        "SELECT 2::BIGINT AS l, 2.5::DOUBLE AS d, 3.5::DECIMAL(20,4) AS e, TIMESTAMP '2021-01-01' AS n, 8::INTEGER AS i");
    silt_schema *schema = duck_schema(fx,
                                      FLAT("l", "long") "," FLAT("d", "double") "," FLAT("e", "decimal(20,4)") "," FLAT(
                                          "n", "timestamp_ntz") "," FLAT("i", "integer"));
    assert_string_equal("1|1.5|2.5000|2020-01-01 00:00:00|7\n2|2.5|3.5000|2021-01-01 00:00:00|8\n",
                        duck_scan_text(fx, duck_plan(fx, schema, NULL, NULL), "*", "ORDER BY l"));
    silt_schema_unref(schema);
}

static void contradicting_types_are_named(void **state)
{
    static const struct {
        const char *select;
        const char *fields;
    } cases[] = {
        {"SELECT '12' AS a", FLAT("a", "long")},
        {"SELECT 12.5::DOUBLE AS a", FLAT("a", "long")},
        {"SELECT 12::BIGINT AS a", FLAT("a", "integer")},
        {"SELECT 12 AS a", FLAT("a", "string")},
        {"SELECT 1.55::DECIMAL(10,2) AS a", FLAT("a", "decimal(10,1)")},
        {"SELECT 1.5::DECIMAL(20,2) AS a", FLAT("a", "decimal(10,2)")},
        {"SELECT TIMESTAMP '2020-01-01 10:00:00' AS a", FLAT("a", "date")},
        {"SELECT {b: '1'} AS a", FIELD("a", STRUCT(FLAT("b", "long")))},
        {"SELECT 1 AS a", FIELD("a", STRUCT(FLAT("b", "long")))},
        {"SELECT {b: 1} AS a", FLAT("a", "long")},
        {"SELECT ['1'] AS a", FIELD("a", "{\"type\":\"array\",\"elementType\":\"long\",\"containsNull\":true}")},
        {"SELECT map{'k': 1} AS a", FIELD("a", MAP)},
        {"SELECT true AS a", FLAT("a", "long")},
        {"SELECT uuid() AS a", FLAT("a", "string")},
    };
    struct duck_fixture *fx = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "%zu.parquet", i);
        fx->files.len = 0;
        make_file(fx, name, cases[i].select);
        silt_schema *schema = duck_schema(fx, cases[i].fields);
        assert_int_equal(SILT_ESCHEMA, duck_try_scan(fx, duck_plan(fx, schema, NULL, NULL)));
        assert_non_null(strstr(fx->err.message, name));
        assert_non_null(strstr(fx->err.message, "column a"));
        /* The second time from what is known of the file. */
        assert_int_equal(SILT_ESCHEMA, duck_try_scan(fx, duck_plan(fx, schema, NULL, NULL)));
        silt_schema_unref(schema);
    }
}

static void missing_columns_and_fields_are_null(void **state)
{
    struct duck_fixture *fx = *state;
    make_file(fx, "a.parquet", "SELECT 1::BIGINT AS id, {x: 1::BIGINT} AS s, [{x: 1::BIGINT}] AS l");
    make_file(fx, "b.parquet", "SELECT 2::BIGINT AS id, 'new' AS c, {y: 'z', x: 2::BIGINT} AS s");
    silt_schema *schema = duck_schema(
        fx,
        FLAT("id", "long") "," FLAT("c", "string") "," FIELD(
            "s", STRUCT(FLAT("x", "long") "," FLAT(
                     "y", "string"))) "," FIELD("l",
                                                "{\"type\":\"array\",\"elementType\":" STRUCT(FLAT(
                                                    "x", "long") "," FLAT("y", "string")) ",\"containsNull\":true}"));
    assert_string_equal(
        "1|NULL|{'x': 1, 'y': NULL}|[{'x': 1, 'y': NULL}]\n2|new|{'x': 2, 'y': z}|NULL\n",
        duck_scan_text(fx, duck_plan(fx, schema, NULL, NULL), "id, c, s::VARCHAR, l::VARCHAR", "ORDER BY id"));
    silt_schema_unref(schema);
}

static void columns_named_as_virtual_ones_are_data(void **state)
{
    struct duck_fixture *fx = *state;
    struct duck_write_options options = {.partition_columns = {"p"}, .n_partition_columns = 1};
    silt_schema *schema = duck_schema(fx, FLAT("file_index", "string") "," FLAT("File_Row_Number", "long") "," FLAT(
                                              "filename", "long") "," FLAT("p", "long"));
    duck_write(fx, "SELECT 'fi' || i, i * 10, i * 100, i % 2 FROM range(2) t(i)", schema, &options);
    const silt_scan_plan *plan = duck_plan(fx, schema, &options, "file_index = 'fi1'");
    assert_string_equal("fi1|10|100|1\n", duck_scan_text(fx, plan, "*", ""));
    silt_schema_unref(schema);
}

static void paths_with_special_characters_are_literal(void **state)
{
    static const char *const names[] = {"a b.parquet",   "it's.parquet", "g*?.parquet", "[x].parquet",
                                        "{a,b}.parquet", "%20é.parquet", "k=v.parquet"};
    struct duck_fixture *fx = *state;
    make_file(fx, "gxx.parquet", "SELECT 100::BIGINT AS a");
    fx->files.len = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char plain[64];
        char select[64];
        (void)snprintf(plain, sizeof(plain), "plain%zu.parquet", i);
        (void)snprintf(select, sizeof(select), "SELECT %zu::BIGINT AS a", i);
        make_file(fx, plain, select);
        struct duck_written *file = sl_vec_at(&fx->files, i);
        const char *renamed = sl_arena_printf(&fx->arena, "%s/%s", fx->dir, names[i]);
        assert_int_equal(0, rename(file->full, renamed));
        file->full = renamed;
    }
    silt_schema *schema = duck_schema(fx, FLAT("a", "long"));
    assert_string_equal("7|21\n",
                        duck_scan_text(fx, duck_plan(fx, schema, NULL, NULL), "count(*), sum(a)::BIGINT", ""));
    silt_schema_unref(schema);
}

static void missing_file_is_named(void **state)
{
    struct duck_fixture *fx = *state;
    make_file(fx, "there.parquet", "SELECT 1::BIGINT AS a");
    make_file(fx, "gone.parquet", "SELECT 1::BIGINT AS a");
    silt_schema *schema = duck_schema(fx, FLAT("a", "long"));
    const silt_scan_plan *plan = duck_plan(fx, schema, NULL, NULL);
    assert_int_equal(SILT_OK, duck_try_scan(fx, plan));
    assert_int_equal(0, unlink(duck_file(fx, 1)->full));
    assert_int_equal(SILT_ENOTFOUND, duck_try_scan(fx, plan));
    assert_string_equal("DELTA_FILE_NOT_FOUND", fx->err.code_name);
    assert_non_null(strstr(fx->err.path, "gone.parquet"));
    silt_schema_unref(schema);
}

static void broken_file_is_named(void **state)
{
    struct duck_fixture *fx = *state;
    make_file(fx, "broken.parquet", "SELECT 1::BIGINT AS a");
    FILE *file = fopen(duck_file(fx, 0)->full, "w");
    assert_non_null(file);
    assert_true(fputs("this is no Parquet file, though long enough", file) >= 0);
    assert_int_equal(0, fclose(file));
    silt_schema *schema = duck_schema(fx, FLAT("a", "long"));
    assert_int_equal(SILT_ECORRUPT, duck_try_scan(fx, duck_plan(fx, schema, NULL, NULL)));
    assert_non_null(strstr(fx->err.message, "broken.parquet"));
    silt_schema_unref(schema);
}

static void broken_footers_are_named(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        silt_status status;
        const char *words;
    } cases[] = {
        {"PAR1PAR1", 8, SILT_ECORRUPT, "too short"},
        {"PAR1\x15\x02\x00\x00\x04\x00\x00\x00PARX", 16, SILT_ECORRUPT, "PAR1"},
        {"PAR1\x15\x02\x00\x00\x04\x00\x00\x00PARE", 16, SILT_EUNSUPPORTED, "encrypted"},
        {"PAR1\x15\x02\x00\x00\x05\x00\x00\x00PAR1", 16, SILT_ECORRUPT, "length"},
        {"PAR1\x15\x02\x00\x00\x00\x00\x00\x00PAR1", 16, SILT_ECORRUPT, "length"},
        {"PAR1\x15\x02\x00\x00\xff\xff\xff\xffPAR1", 16, SILT_ECORRUPT, "length"},
        {"PAR1\x15\x02\x00\x00\x04\x00\x00\x00PAR1", 16, SILT_ECORRUPT, "understood"},
        {"PAR1\x29\xfc\xff\x7f\x04\x00\x00\x00PAR1", 16, SILT_ECORRUPT, "understood"},
    };
    struct duck_fixture *fx = *state;
    silt_schema *schema = duck_schema(fx, FLAT("a", "long"));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fx->files.len = 0;
        struct duck_written *written = sl_vec_push(&fx->files);
        written->full = sl_arena_printf(&fx->arena, "%s/broken%zu.parquet", fx->dir, i);
        written->size_bytes = (int64_t)cases[i].n;
        FILE *file = fopen(written->full, "wb");
        assert_non_null(file);
        assert_int_equal(cases[i].n, fwrite(cases[i].bytes, 1, cases[i].n, file));
        assert_int_equal(0, fclose(file));
        assert_int_equal(cases[i].status, duck_try_scan(fx, duck_plan(fx, schema, NULL, NULL)));
        assert_non_null(strstr(fx->err.message, cases[i].words));
        assert_non_null(strstr(fx->err.message, "broken"));
    }
    silt_schema_unref(schema);
}

static void no_files_give_typed_columns(void **state)
{
    struct duck_fixture *fx = *state;
    silt_schema *schema = duck_schema(
        fx, FLAT("a", "decimal(10,2)") "," FIELD("s", STRUCT(FLAT("x", "timestamp"))) "," FLAT("v", "void"));
    assert_string_equal("0\n", duck_scan_text(fx, duck_plan(fx, schema, NULL, "a > 1"), "count(*)", ""));
    struct ArrowArrayStream stream = {0};
    struct ArrowSchema arrow = {0};
    assert_int_equal(SILT_OK, fx->plane.vtable->parquet->scan(fx->plane.dp, NULL, duck_plan(fx, schema, NULL, NULL),
                                                              &stream, &fx->err));
    assert_int_equal(SILT_OK, sl_arrow_stream_schema(&stream, &arrow, &fx->err));
    assert_int_equal(0, strncmp("d:10,2", arrow.children[0]->format, 6));
    assert_string_equal("tsu:UTC", arrow.children[1]->children[0]->format);
    sl_arrow_schema_release(&arrow);
    sl_arrow_stream_release(&stream);
    silt_schema_unref(schema);
}

static void many_files_are_one_scan(void **state)
{
    struct duck_fixture *fx = *state;
    const struct duck_write_options options = {.partition_columns = {"p"}, .n_partition_columns = 1};
    silt_schema *schema = duck_schema(fx, FLAT("a", "long") "," FLAT("p", "long"));
    duck_write(fx, "SELECT i, i % 500 FROM range(5000) t(i)", schema, &options);
    assert_int_equal(500, fx->files.len);
    const silt_scan_plan *plan = duck_plan(fx, schema, &options, NULL);
    assert_string_equal("5000|0\n", duck_scan_text(fx, plan, "count(*), count(*) FILTER (a % 500 <> p)", ""));
    assert_string_equal("10\n", duck_scan_text(fx, plan, "count(*)", "WHERE p = 499"));
    silt_schema_unref(schema);
}

static void closed_scan_cannot_be_queried(void **state)
{
    struct duck_fixture *fx = *state;
    const struct duck_write_options options = {.partition_columns = {"p"}, .n_partition_columns = 1};
    silt_schema *schema = duck_schema(fx, FLAT("a", "long") "," FLAT("p", "long"));
    duck_write(fx, "SELECT 1, 2", schema, &options);
    struct sl_dataplane_scan *scan = NULL;
    struct sl_buf sql;
    sl_buf_init(&sql, fx->env);
    assert_int_equal(SILT_OK, fx->plane.vtable->scan_open(fx->plane.dp, duck_plan(fx, schema, &options, NULL), &scan,
                                                          &sql, &fx->err));
    fx->plane.vtable->scan_close(fx->plane.dp, scan);
    assert_int_not_equal(SILT_OK, duck_try_query(fx, sl_buf_cstr(&sql)));
    assert_non_null(strstr(fx->err.message, "was closed"));
    sl_buf_release(&sql);
    silt_schema_unref(schema);
}

/* ---- reading by the parquet handler ---- */

static silt_status read_files(struct duck_fixture *fx, const silt_schema *schema, const char *predicate)
{
    silt_parquet_file *files = sl_arena_alloc_array(&fx->arena, fx->files.len, sizeof(*files));
    silt_expr *expr = NULL;
    for (size_t i = 0; i < fx->files.len; i++) {
        files[i] = (silt_parquet_file){
            .path = duck_file(fx, i)->full, .local_path = duck_file(fx, i)->full, .size_bytes = -1};
    }
    if (predicate != NULL) {
        assert_int_equal(SILT_OK, silt_expr_parse(fx->env, predicate, strlen(predicate), NULL, &expr, &fx->err));
    }
    const silt_parquet_read request = {.size = sizeof(request),
                                       .storage = fx->storage,
                                       .files = files,
                                       .n_files = fx->files.len,
                                       .schema = schema,
                                       .with_file_index = true,
                                       .with_row_index = true,
                                       .predicate = expr};
    struct ArrowArrayStream stream = {0};
    sl_buf_clear(&fx->text);
    silt_error_reset(&fx->err);
    const silt_status status = fx->plane.vtable->parquet->read(fx->plane.dp, NULL, &request, &stream, &fx->err);
    silt_expr_unref(expr);
    return status == SILT_OK ? rows_drain(&stream, &fx->text, &fx->err) : status;
}

static void read_gives_files_in_order_with_places(void **state)
{
    struct duck_fixture *fx = *state;
    make_file(fx, "a.parquet", "SELECT i::INTEGER AS a FROM range(3) t(i)");
    make_file(fx, "b.parquet", "SELECT 1 AS x WHERE false");
    make_file(fx, "c.parquet", "SELECT i::BIGINT AS a, 'x' AS file_index FROM range(5, 7) t(i)");
    silt_schema *schema = duck_schema(fx, FLAT("file_index", "string") "," FLAT("a", "long"));
    assert_int_equal(SILT_OK, read_files(fx, schema, NULL));
    assert_string_equal("NULL|0|0|0\nNULL|1|0|1\nNULL|2|0|2\nx|5|2|0\nx|6|2|1\n", sl_buf_cstr(&fx->text));
    assert_int_equal(SILT_OK, read_files(fx, schema, "a >= 2 AND a <> 5"));
    assert_string_equal("NULL|2|0|2\nx|6|2|1\n", sl_buf_cstr(&fx->text));
    assert_int_equal(SILT_OK, read_files(fx, schema, "not_read = 1 AND a = 2"));
    assert_non_null(strstr(sl_buf_cstr(&fx->text), "x|5|2|0\n"));
    fx->files.len = 0;
    assert_int_equal(SILT_OK, read_files(fx, schema, NULL));
    assert_string_equal("", sl_buf_cstr(&fx->text));
    silt_schema_unref(schema);
}

/* Unpacks a reference table; false if the folder is not there. */
static bool unpack(struct duck_fixture *fx, const char *name)
{
    const char *folder = getenv("SILT_CONFORMANCE");
    char command[1024];
    (void)snprintf(command, sizeof(command),
                   "test -f '%s/golden/%s.tar.zst' && tar --zstd -xf '%s/golden/%s.tar.zst' -C '%s'",
                   folder != NULL ? folder : "", name, folder != NULL ? folder : "", name, fx->dir);
    return folder != NULL && system(command) == 0;
}

static void add_found(struct duck_fixture *fx, const char *pattern)
{
    char sql[1024];
    (void)snprintf(sql, sizeof(sql), "SELECT file FROM glob('%s/%s') ORDER BY 1", fx->dir, pattern);
    char *names = sl_arena_strdup(&fx->arena, sl_str_from(duck_text(fx, sql)));
    for (char *line = names; *line != '\0';) {
        char *end = strchr(line, '\n');
        *end = '\0';
        struct duck_written *file = sl_vec_push(&fx->files);
        file->full = line;
        file->size_bytes = -1;
        line = end + 1;
    }
}

static void real_checkpoint_is_read_as_actions(void **state)
{
    struct duck_fixture *fx = *state;
    if (!unpack(fx, "checkpoint")) {
        print_message("the reference tables are not here (SILT_CONFORMANCE)\n");
        skip();
    }
    add_found(fx, "**/*.checkpoint.parquet");
    assert_true(fx->files.len > 0);
    /* One field of the checkpoint a line; the formatter would make a staircase of it. */
    /* clang-format off */
    silt_schema *schema = duck_schema(fx,
        FIELD("add", STRUCT(FLAT("path", "string") "," FIELD("partitionValues", MAP) "," FLAT("size", "long") ","
            FLAT("modificationTime", "long") "," FLAT("dataChange", "boolean") "," FLAT("stats", "string") ","
            FIELD("tags", MAP) "," FLAT("baseRowId", "long"))) ","
        FIELD("remove", STRUCT(FLAT("path", "string") "," FLAT("deletionTimestamp", "long") ","
            FLAT("extendedFileMetadata", "boolean"))) ","
        FIELD("metaData", STRUCT(FLAT("id", "string") "," FIELD("format", STRUCT(FLAT("provider", "string") ","
            FIELD("options", MAP))) "," FLAT("schemaString", "string") ","
            FIELD("partitionColumns", "{\"type\":\"array\",\"elementType\":\"string\",\"containsNull\":true}") ","
            FIELD("configuration", MAP))) ","
        FIELD("protocol", STRUCT(FLAT("minReaderVersion", "integer") "," FLAT("minWriterVersion", "integer") ","
            FIELD("readerFeatures", "{\"type\":\"array\",\"elementType\":\"string\",\"containsNull\":true}"))) ","
        FIELD("txn", STRUCT(FLAT("appId", "string") "," FLAT("version", "long"))) ","
        FIELD("sidecar", STRUCT(FLAT("path", "string"))));
    /* clang-format on */
    assert_int_equal(SILT_OK, read_files(fx, schema, NULL));
    silt_schema_unref(schema);
    const char *text = sl_buf_cstr(&fx->text);
    assert_non_null(strstr(text, "NULL|NULL|NULL|<+s>|NULL|NULL|0|0\n"));  /* protocol */
    assert_non_null(strstr(text, "NULL|NULL|<+s>|NULL|NULL|NULL|0|1\n"));  /* metaData */
    assert_non_null(strstr(text, "<+s>|NULL|NULL|NULL|NULL|NULL|0|7\n"));  /* add */
    assert_non_null(strstr(text, "NULL|<+s>|NULL|NULL|NULL|NULL|0|12\n")); /* remove */
}

static void int96_and_millis_timestamps_are_instants(void **state)
{
    static const char *const tables[] = {"kernel-timestamp-int96", "kernel-timestamp-timestamp_millis",
                                         "kernel-timestamp-timestamp_micros"};
    struct duck_fixture *fx = *state;
    silt_schema *schema = duck_schema(fx, FLAT("id", "integer") "," FLAT("time", "timestamp"));
    const char *zones[] = {"UTC", "Asia/Tokyo"};
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        if (!unpack(fx, tables[i])) {
            print_message("the reference tables are not here (SILT_CONFORMANCE)\n");
            silt_schema_unref(schema); /* skip() does not come back */
            skip();
        }
        char pattern[128];
        (void)snprintf(pattern, sizeof(pattern), "%s/**/*.parquet", tables[i]);
        const char *first = NULL;
        for (size_t z = 0; z < 2; z++) {
            fx->files.len = 0;
            add_found(fx, pattern);
            assert_true(fx->files.len > 0);
            assert_int_equal(SILT_OK, fx->plane.vtable->set_option(fx->plane.dp, SL_STR("TimeZone"),
                                                                   sl_str_from(zones[z]), &fx->err));
            assert_int_equal(SILT_OK, read_files(fx, schema, NULL));
            if (z == 0) {
                first = sl_arena_strdup(&fx->arena, sl_str_from(sl_buf_cstr(&fx->text)));
            }
            assert_string_equal(first, sl_buf_cstr(&fx->text));
        }
    }
    silt_schema_unref(schema);
}

/* ---- filtering ---- */

static void filter_keeps_order_and_columns(void **state)
{
    struct duck_fixture *fx = *state;
    struct ArrowArrayStream in = {0};
    struct ArrowArrayStream out = {0};
    silt_expr *predicate = NULL;
    const char *const wanted = "a >= 10 AND (b = 'k1' OR b IS NULL)";
    assert_int_equal(SILT_OK, silt_expr_parse(fx->env, wanted, strlen(wanted), NULL, &predicate, &fx->err));
    assert_int_equal(
        SILT_OK,
        fx->plane.vtable->query(
            fx->plane.dp, NULL,
            SL_STR("SELECT i AS a, CASE WHEN i % 3 < 2 THEN 'k' || (i % 3) END AS b, [i] AS l FROM range(300000) t(i)"),
            NULL, &in, &fx->err));
    assert_int_equal(SILT_OK, fx->plane.vtable->expression->filter(fx->plane.dp, NULL, &in, predicate, &out, &fx->err));
    assert_null(in.release);
    int64_t rows = 0;
    int64_t last = -1;
    bool done = false;
    while (!done) {
        struct ArrowArray batch = {0};
        assert_int_equal(SILT_OK, sl_arrow_stream_next(&out, &batch, &done, &fx->err));
        for (int64_t i = 0; !done && i < batch.length; i++) {
            const int64_t a = ((const int64_t *)batch.children[0]->buffers[1])[batch.children[0]->offset + i];
            assert_true(a > last && a >= 10 && a % 3 != 0);
            last = a;
            rows++;
        }
        sl_arrow_array_release(&batch);
    }
    assert_int_equal(199994, rows);
    sl_arrow_stream_release(&out);
    silt_expr_unref(predicate);
}

static void unread_filter_is_released(void **state)
{
    struct duck_fixture *fx = *state;
    struct ArrowArrayStream in = {0};
    struct ArrowArrayStream out = {0};
    silt_expr *predicate = NULL;
    assert_int_equal(SILT_OK, silt_expr_parse(fx->env, "a > 1", 5, NULL, &predicate, &fx->err));
    assert_int_equal(SILT_OK,
                     fx->plane.vtable->query(fx->plane.dp, NULL, SL_STR("SELECT i AS a FROM range(10000000) t(i)"),
                                             NULL, &in, &fx->err));
    assert_int_equal(SILT_OK, fx->plane.vtable->expression->filter(fx->plane.dp, NULL, &in, predicate, &out, &fx->err));
    sl_arrow_stream_release(&out);
    silt_expr_unref(predicate);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, duck_setup, duck_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(narrower_types_are_widened),
        TEST(contradicting_types_are_named),
        TEST(missing_columns_and_fields_are_null),
        TEST(columns_named_as_virtual_ones_are_data),
        TEST(paths_with_special_characters_are_literal),
        TEST(missing_file_is_named),
        TEST(broken_file_is_named),
        TEST(broken_footers_are_named),
        TEST(no_files_give_typed_columns),
        TEST(many_files_are_one_scan),
        TEST(closed_scan_cannot_be_queried),
        TEST(read_gives_files_in_order_with_places),
        TEST(real_checkpoint_is_read_as_actions),
        TEST(int96_and_millis_timestamps_are_instants),
        TEST(filter_keeps_order_and_columns),
        TEST(unread_filter_is_released),
    };
    return cmocka_run_group_tests_name("duck_scan", tests, NULL, NULL);
}
