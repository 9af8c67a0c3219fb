/*
 * Scans of files that have exactly the table's columns do without the schema map, so that DuckDB plans with what the files say of
 * themselves; all others keep it. Either way the rows are the same.
 */
#include "duck_fixture.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{}}"
#define FLAT(name, type) FIELD(name, "\"" type "\"")
#define STRUCT(fields) "{\"type\":\"struct\",\"fields\":[" fields "]}"
#define ARRAY(type) "{\"type\":\"array\",\"elementType\":" type ",\"containsNull\":true}"
#define MAP "{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":\"long\",\"valueContainsNull\":true}"

/* Makes a file with DuckDB itself and notes it as if it had been written. */
static void make_file(struct duck_fixture *fx, const char *name, const char *select)
{
    char sql[2048];
    struct duck_written *file = sl_vec_push(&fx->files);
    file->full = sl_arena_printf(&fx->arena, "%s/%s", fx->dir, name);
    (void)snprintf(sql, sizeof(sql), "COPY (%s) TO '%s' (FORMAT parquet)", select, file->full);
    (void)duck_text(fx, sql);
    struct stat info;
    assert_int_equal(0, stat(file->full, &info));
    file->size_bytes = info.st_size;
}

/* Whether the scan's text has a schema map. */
static bool has_map(struct duck_fixture *fx, const silt_scan_plan *plan)
{
    struct sl_dataplane_scan *scan = NULL;
    struct sl_buf sql;
    sl_buf_init(&sql, fx->env);
    assert_int_equal(SILT_OK, fx->plane.vtable->scan_open(fx->plane.dp, plan, &scan, &sql, &fx->err));
    const bool found = strstr(sl_buf_cstr(&sql), "schema = map") != NULL;
    fx->plane.vtable->scan_close(fx->plane.dp, scan);
    sl_buf_release(&sql);
    return found;
}

static void files_of_the_tables_columns_need_no_map(void **state)
{
    struct duck_fixture *fx = *state;
    const char *select = "SELECT 1::BIGINT AS id, 1.25::DECIMAL(10,2) AS d, 'x' AS s, DATE '2020-01-01' AS t, "
                         "{x: 1::BIGINT, y: 'z'} AS st, [1::BIGINT] AS l, map{'k': 1::BIGINT} AS m, "
                         "TIMESTAMPTZ '2020-01-01 00:00:00+00' AS ts, 'not in the table' AS more";
    make_file(fx, "a.parquet", select);
    make_file(fx, "b.parquet", select);
    silt_schema *schema = duck_schema(
        fx, FLAT("d", "decimal(10,2)") "," FLAT("id", "long") "," FLAT("s", "string") "," FLAT("t", "date") "," FIELD(
                "st", STRUCT(FLAT("x", "long") "," FLAT(
                          "y", "string"))) "," FIELD("l", ARRAY("\"long\"")) "," FIELD("m", MAP) "," FLAT("ts",
                                                                                                          "timestamp"));
    const silt_scan_plan *plan = duck_plan(fx, schema, NULL, NULL);
    assert_false(has_map(fx, plan));
    assert_string_equal(
        "1.25|1|x|2020-01-01|{'x': 1, 'y': z}|[1]|{k=1}|1577836800\n"
        "1.25|1|x|2020-01-01|{'x': 1, 'y': z}|[1]|{k=1}|1577836800\n",
        duck_scan_text(fx, plan, "d, id, s, t, st::VARCHAR, l::VARCHAR, m::VARCHAR, epoch(ts)::BIGINT", ""));
    silt_schema_unref(schema);
}

static void files_with_other_types_keep_the_map(void **state)
{
    static const struct {
        const char *select;
        const char *fields;
        const char *rows;
        bool map;
    } cases[] = {
        {"SELECT 1::INTEGER AS a", FLAT("a", "long"), "1\n", true},
        {"SELECT 1.5::DECIMAL(5,2) AS a", FLAT("a", "decimal(6,2)"), "1.50\n", true},
        {"SELECT 1::BIGINT AS \"A\"", FLAT("a", "long"), "1\n", false},
        {"SELECT 1::BIGINT AS b", FLAT("a", "long"), "NULL\n", false},
        {"SELECT 1::BIGINT AS file_index, 2::BIGINT AS a", FLAT("a", "long"), "2\n", true},
        {"SELECT {y: 2::BIGINT, x: 1::BIGINT} AS a", FIELD("a", STRUCT(FLAT("x", "long") "," FLAT("y", "long"))),
         "{'x': 1, 'y': 2}\n", true},
        {"SELECT {x: 1::BIGINT} AS a", FIELD("a", STRUCT(FLAT("x", "long") "," FLAT("y", "long"))),
         "{'x': 1, 'y': NULL}\n", true},
        {"SELECT [1::INTEGER] AS a", FIELD("a", ARRAY("\"long\"")), "[1]\n", true},
        {"SELECT map{'k': 1::INTEGER} AS a", FIELD("a", MAP), "{k=1}\n", true},
    };
    struct duck_fixture *fx = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "%zu.parquet", i);
        fx->files.len = 0;
        make_file(fx, name, cases[i].select);
        silt_schema *schema = duck_schema(fx, cases[i].fields);
        const silt_scan_plan *plan = duck_plan(fx, schema, NULL, NULL);
        assert_int_equal(has_map(fx, plan), cases[i].map);
        assert_string_equal(cases[i].rows, duck_scan_text(fx, plan, "a::VARCHAR", ""));
        silt_schema_unref(schema);
    }
}

static void files_that_differ_from_each_other_keep_the_map(void **state)
{
    struct duck_fixture *fx = *state;
    make_file(fx, "a.parquet", "SELECT 1::BIGINT AS a, 'x' AS b");
    make_file(fx, "b.parquet", "SELECT 2::BIGINT AS a");
    silt_schema *schema = duck_schema(fx, FLAT("a", "long"));
    const silt_scan_plan *plan = duck_plan(fx, schema, NULL, NULL);
    assert_true(has_map(fx, plan));
    assert_string_equal("1\n2\n", duck_scan_text(fx, plan, "*", "ORDER BY a"));
    silt_schema_unref(schema);
}

static void folders_named_like_values_add_no_column(void **state)
{
    struct duck_fixture *fx = *state;
    struct duck_write_options options = {.partition_columns = {"p"}, .n_partition_columns = 1};
    silt_schema *schema = duck_schema(fx, FLAT("a", "long") "," FLAT("p", "long"));
    duck_write(fx, "SELECT i, i % 2 FROM range(4) t(i)", schema, &options);
    const silt_scan_plan *plan = duck_plan(fx, schema, &options, NULL);
    assert_false(has_map(fx, plan));
    assert_string_equal("0|0\n1|1\n2|0\n3|1\n", duck_scan_text(fx, plan, "*", "ORDER BY a"));
    silt_schema_unref(schema);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, duck_setup, duck_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(files_of_the_tables_columns_need_no_map),
        TEST(files_with_other_types_keep_the_map),
        TEST(files_that_differ_from_each_other_keep_the_map),
        TEST(folders_named_like_values_add_no_column),
    };
    return cmocka_run_group_tests_name("exact scans", tests, NULL, NULL);
}
