/*
 * Files of a given name with many rows: page by page and by COPY the rows are those that were given, in their order, and the bounds of row groups
 * are theirs.
 */
#include "duck_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arrow.h"
#include "base/error.h"
#include "kernel/engine/engine.h"

#define N_ROWS "20000"
#define GROUP_ROWS 4096

/* As in checkpoints: structs that are null in all rows, in some and in none, lists, maps, bounds. */
static const char rows_sql[] =
    "SELECT CASE WHEN i > 0 THEN {'path': 'p' || (i * 7919 % 20011), 'parts': MAP {'day': CASE WHEN i % 5 > 0 THEN 'd' || "
    "(i % 40) END, 'k': 'v'}, 'size': i * 5000000011 - 7, 'yes': i % 3 = 0, 'stats': CASE WHEN i % 11 <> 4 THEN "
    "repeat('x', (i % 90)::INTEGER) END, 'deep': CASE WHEN i % 2 = 0 THEN {'n': CASE WHEN i % 4 = 0 THEN i::INTEGER END, 'd': "
    "DATE '1999-12-31' + i::INTEGER, 't': TIMESTAMP '2020-01-01' + to_microseconds(i), 'z': (TIMESTAMP '2020-01-01' + "
    "to_microseconds(i))::TIMESTAMPTZ, 'f': i / 7::DOUBLE, 'dec': (i / 8)::DECIMAL(20, 3), 'w': (i % 100)::SMALLINT, 'y': "
    "(i % 100)::TINYINT, 'b': ('b' || i)::BLOB, 'r': (i * 0.5)::FLOAT} END, 'tags': CASE WHEN i < 9000 THEN NULL ELSE "
    "MAP {'a': i::VARCHAR} END, 'list': CASE WHEN i % 3 = 0 THEN [] WHEN i % 3 = 1 THEN [i, NULL, i + 1] END} END AS \"add\", "
    "CASE WHEN i = 0 THEN {'id': 'x', 'names': ['a', 'b'], 'number': 3::BIGINT} END AS \"other\" FROM range(" N_ROWS
    ") r(i)";

static void write_rows(struct duck_fixture *fx, const char *codec, const char *name, char *path, size_t size)
{
    struct ArrowArrayStream rows = {0};
    (void)snprintf(path, size, "%s/%s.parquet", fx->dir, name);
    silt_parquet_write_file request = {.size = sizeof(request),
                                       .storage = fx->storage,
                                       .dir = fx->dir,
                                       .path = path,
                                       .codec = codec,
                                       .row_group_rows = GROUP_ROWS};
    if (fx->plane.vtable->query(fx->plane.dp, NULL, sl_str_from(rows_sql), NULL, &rows, &fx->err) != SILT_OK ||
        sl_parquet_write_file(fx->engine, NULL, &request, &rows, &fx->err) != SILT_OK) {
        fail_msg("%s", fx->err.message);
    }
    assert_true(request.size_bytes > 0);
}

/* Place by place, so that the order counts. */
static void expect_rows(struct duck_fixture *fx, const char *path)
{
    char sql[6000];
    (void)snprintf(
        sql, sizeof(sql),
        "SELECT count(*), count(*) FILTER (a IS DISTINCT FROM b OR oa IS DISTINCT FROM ob) FROM (SELECT \"add\" AS a, "
        "\"other\" AS oa, row_number() OVER () AS n FROM (%s)) JOIN (SELECT \"add\" AS b, \"other\" AS ob, "
        "file_row_number + 1 AS m FROM read_parquet('%s')) ON n = m",
        rows_sql, path);
    assert_string_equal(duck_text(fx, sql), N_ROWS "|0\n");
}

static void expect_groups(struct duck_fixture *fx, const char *path, const char *codec, const char *writer)
{
    char sql[3000];
    char expected[128];
    (void)snprintf(
        sql, sizeof(sql),
        "SELECT count(DISTINCT row_group_id), max(row_group_num_rows), min(compression), max(compression) FROM "
        "parquet_metadata('%s')",
        path);
    (void)snprintf(expected, sizeof(expected), "5|%d|%s|%s\n", GROUP_ROWS, codec, codec);
    assert_string_equal(duck_text(fx, sql), expected);
    (void)snprintf(sql, sizeof(sql), "SELECT created_by LIKE '%s%%' FROM parquet_file_metadata('%s')", writer, path);
    assert_string_equal(duck_text(fx, sql), "true\n");
    /* What the footer says of a group is what is in it. */
    (void)snprintf(
        sql, sizeof(sql),
        "SELECT count(*) FROM (SELECT row_group_id AS g, stats_min_value AS least, stats_max_value AS most, "
        "stats_null_count AS nulls, num_values AS n FROM parquet_metadata('%s') WHERE path_in_schema = 'add, path') "
        "JOIN (SELECT file_row_number // %d AS g, min(\"add\".path) AS least, max(\"add\".path) AS most, count(*) - "
        "count(\"add\".path) AS nulls, count(*) AS n FROM read_parquet('%s') GROUP BY ALL) USING (g, least, most, "
        "nulls, n)",
        path, GROUP_ROWS, path);
    assert_string_equal(duck_text(fx, sql), "5\n");
}

static void rows_are_read_as_they_were_written(void **state)
{
    struct duck_fixture *fx = *state;
    char path[400];
    write_rows(fx, "zstd", "pages", path, sizeof(path));
    expect_rows(fx, path);
    expect_groups(fx, path, "ZSTD", "silt");
    assert_int_equal(duck_count_files(fx->dir), 1); /* nothing hidden is left */
}

static void with_another_codec_copy_writes_the_same(void **state)
{
    struct duck_fixture *fx = *state;
    char path[400];
    write_rows(fx, "snappy", "copied", path, sizeof(path));
    expect_rows(fx, path);
    expect_groups(fx, path, "SNAPPY", "DuckDB");
}

static void a_group_of_large_rows_ends_early(void **state)
{
    struct duck_fixture *fx = *state;
    char path[400];
    char sql[1000];
    struct ArrowArrayStream rows = {0};
    (void)snprintf(path, sizeof(path), "%s/large.parquet", fx->dir);
    silt_parquet_write_file request = {.size = sizeof(request),
                                       .storage = fx->storage,
                                       .dir = fx->dir,
                                       .path = path,
                                       .codec = "zstd",
                                       .row_group_rows = 20480};
    static const char query[] = "SELECT i AS i, repeat('0123456789abcdef', 1000) AS x FROM range(9000) r(i)";
    assert_int_equal(fx->plane.vtable->query(fx->plane.dp, NULL, sl_str_from(query), NULL, &rows, &fx->err), SILT_OK);
    if (sl_parquet_write_file(fx->engine, NULL, &request, &rows, &fx->err) != SILT_OK) {
        fail_msg("%s", fx->err.message);
    }
    (void)snprintf(sql, sizeof(sql),
                   "SELECT count(*), count(*) FILTER (i = file_row_number), sum(length(x)) FROM read_parquet('%s')",
                   path);
    assert_string_equal(duck_text(fx, sql), "9000|9000|144000000\n");
    (void)snprintf(sql, sizeof(sql), "SELECT count(DISTINCT row_group_id) > 1 FROM parquet_metadata('%s')", path);
    assert_string_equal(duck_text(fx, sql), "true\n");
}

/* Its first row group ends while no other batch is there. */
static void a_batch_may_hold_several_groups(void **state)
{
    struct duck_fixture *fx = *state;
    char path[400];
    char sql[1000];
    struct ArrowArrayStream rows = {0};
    (void)snprintf(path, sizeof(path), "%s/short.parquet", fx->dir);
    silt_parquet_write_file request = {.size = sizeof(request),
                                       .storage = fx->storage,
                                       .dir = fx->dir,
                                       .path = path,
                                       .codec = "zstd",
                                       .row_group_rows = 100};
    static const char query[] = "SELECT i AS i FROM range(20050) r(i)";
    assert_int_equal(fx->plane.vtable->query(fx->plane.dp, NULL, sl_str_from(query), NULL, &rows, &fx->err), SILT_OK);
    if (fx->plane.vtable->parquet->write_file(fx->plane.dp, NULL, &request, &rows, &fx->err) != SILT_OK) {
        fail_msg("%s", fx->err.message);
    }
    (void)snprintf(sql, sizeof(sql), "SELECT count(*), count(*) FILTER (i = file_row_number) FROM read_parquet('%s')",
                   path);
    assert_string_equal(duck_text(fx, sql), "20050|20050\n");
    (void)snprintf(sql, sizeof(sql), "SELECT count(DISTINCT row_group_id) FROM parquet_metadata('%s')", path);
    assert_string_equal(duck_text(fx, sql), "201\n");
}

/* Lists and maps of texts: in most stretches of rows all have items and none is null, in others some have none, or some items are null. */
static void items_are_read_as_they_were_written(void **state)
{
    static const char query[] =
        "SELECT i AS i, {'m': CASE WHEN i // 4096 = 1 AND i % 9 = 0 THEN NULL WHEN i // 4096 = 2 AND i % 5 = 0 THEN "
        "MAP([]::VARCHAR[], []::VARCHAR[]) ELSE MAP(list_transform(range(i % 3 + 1), lambda x: 'k' || x), "
        "list_transform(range(i % 3 + 1), lambda x: CASE WHEN i // 4096 <> 3 OR x <> 1 THEN repeat('v', (i % 7)::INTEGER) END)) "
        "END} AS s, list_transform(range(i % 4 + CASE WHEN i // 4096 = 4 THEN 0 ELSE 1 END), lambda x: 'l' || (i * x)) AS l, "
        "i % 3 = 0 AS yes FROM range(30000) r(i)";
    struct duck_fixture *fx = *state;
    char path[400];
    char sql[3000];
    struct ArrowArrayStream rows = {0};
    (void)snprintf(path, sizeof(path), "%s/items.parquet", fx->dir);
    silt_parquet_write_file request = {.size = sizeof(request),
                                       .storage = fx->storage,
                                       .dir = fx->dir,
                                       .path = path,
                                       .codec = "zstd",
                                       .row_group_rows = 3000};
    assert_int_equal(fx->plane.vtable->query(fx->plane.dp, NULL, sl_str_from(query), NULL, &rows, &fx->err), SILT_OK);
    if (sl_parquet_write_file(fx->engine, NULL, &request, &rows, &fx->err) != SILT_OK) {
        fail_msg("%s", fx->err.message);
    }
    (void)snprintf(
        sql, sizeof(sql),
        "SELECT count(*), count(*) FILTER (a.s IS DISTINCT FROM b.s OR a.l IS DISTINCT FROM b.l OR a.yes <> b.yes), "
        "sum(len(b.l)), sum(cardinality(b.s.m)) FROM (%s) a JOIN read_parquet('%s') b USING (i)",
        query, path);
    assert_string_equal(duck_text(fx, sql), "30000|0|70904|57907\n");
    (void)snprintf(sql, sizeof(sql), "SELECT created_by LIKE 'silt%%' FROM parquet_file_metadata('%s')", path);
    assert_string_equal(duck_text(fx, sql), "true\n");
}

static silt_status fail_soon(void *ctx, struct ArrowArray *batch, silt_error *err)
{
    (void)ctx;
    (void)batch;
    return sl_fail(err, SILT_ECORRUPT, NULL, "the rows end in a fault");
}

static silt_status number_schema(void *ctx, struct ArrowSchema *out, silt_error *err)
{
    struct duck_fixture *fx = ctx;
    silt_schema *schema = duck_schema(fx, "{\"name\":\"n\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}");
    const silt_status status = silt_schema_to_arrow(schema, out, err);
    silt_schema_unref(schema);
    return status;
}

static void close_nothing(void *ctx)
{
    (void)ctx;
}

static void rows_that_fail_leave_nothing(void **state)
{
    static const struct sl_arrow_source source = {number_schema, fail_soon, close_nothing};
    struct duck_fixture *fx = *state;
    struct ArrowArrayStream rows = {0};
    char path[400];
    (void)snprintf(path, sizeof(path), "%s/none.parquet", fx->dir);
    silt_parquet_write_file request = {
        .size = sizeof(request), .storage = fx->storage, .dir = fx->dir, .path = path, .codec = "zstd"};
    assert_int_equal(sl_arrow_stream_new(fx->env, &source, fx, &rows, &fx->err), SILT_OK);
    assert_int_equal(fx->plane.vtable->parquet->write_file(fx->plane.dp, NULL, &request, &rows, &fx->err),
                     SILT_ECORRUPT);
    assert_non_null(strstr(fx->err.message, "the rows end in a fault"));
    assert_int_equal(duck_count_files(fx->dir), 0);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, duck_setup, duck_teardown)
    const struct CMUnitTest tests[] = {
        TEST(rows_are_read_as_they_were_written),  TEST(with_another_codec_copy_writes_the_same),
        TEST(a_group_of_large_rows_ends_early),    TEST(a_batch_may_hold_several_groups),
        TEST(items_are_read_as_they_were_written), TEST(rows_that_fail_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
