/*
 * Writing: statistics, splitting, names, empty results, constraints, and what a failure leaves behind.
 */
#include "duck_fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arrow.h"

#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{}}"
#define FLAT(name, type) FIELD(name, "\"" type "\"")
#define REQUIRED(name, type) "{\"name\":\"" name "\",\"type\":\"" type "\",\"nullable\":false,\"metadata\":{}}"

/* ---- statistics ---- */

static void statistics_are_exact_for_every_type(void **state)
{
    struct duck_fixture *fx = *state;
    silt_schema *schema = duck_schema(
        fx,
        FLAT("i", "integer") "," FLAT("d", "decimal(38,4)") "," FLAT("s", "string") "," FLAT("t", "date") "," FLAT(
            "z", "timestamp") "," FLAT("n", "timestamp_ntz") "," FLAT("f",
                                                                      "double") "," FLAT("o",
                                                                                         "boolean") "," FLAT("x",
                                                                                                             "binary"));
    duck_write(
        fx,
        "SELECT * FROM (VALUES "
        "(3, 1.5, 'b', DATE '2020-02-01', TIMESTAMPTZ '2020-01-01 00:00:00.000001+00', TIMESTAMP '1900-01-01', 1e308, true, 'q'::BLOB), "
        "(-7, -9999999999999999999999999999999999.9999, 'é', DATE '0001-01-01', TIMESTAMPTZ '1969-01-01 00:00:00+00', "
        " TIMESTAMP '9999-12-31 23:59:59.999999', -5e-324, false, 'r'::BLOB), "
        "(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL))",
        schema, NULL);
    assert_string_equal("-7..3 1", duck_stats_text(fx, 0, "i"));
    assert_string_equal("-9999999999999999999999999999999999.9999..1.5000 1", duck_stats_text(fx, 0, "d"));
    assert_string_equal("b..é 1", duck_stats_text(fx, 0, "s"));
    assert_string_equal("0001-01-01..2020-02-01 1", duck_stats_text(fx, 0, "t"));
    assert_string_equal("1969-01-01 00:00:00..2020-01-01 00:00:00.000001 1", duck_stats_text(fx, 0, "z"));
    assert_string_equal("1900-01-01 00:00:00..9999-12-31 23:59:59.999999 1", duck_stats_text(fx, 0, "n"));
    assert_true(duck_stats(fx, 0, "f")->min.as.f64 == -5e-324);
    assert_true(duck_stats(fx, 0, "f")->max.as.f64 == 1e308);
    assert_string_equal("-..- 1", duck_stats_text(fx, 0, "x"));
    silt_schema_unref(schema);
}

static void nan_takes_bounds_away_whichever_row_group_it_is_in(void **state)
{
    struct duck_fixture *fx = *state;
    const struct duck_write_options options = {.row_group_rows = 2048};
    silt_schema *schema = duck_schema(fx, FLAT("a", "double") "," FLAT("b", "double") "," FLAT("c", "float"));
    duck_write(
        fx,
        "SELECT CASE WHEN i = 10 THEN 'nan'::DOUBLE ELSE i END, CASE WHEN i = 9999 THEN 'nan'::DOUBLE ELSE i END, "
        "i::FLOAT FROM range(10000) t(i)",
        schema, &options);
    assert_string_equal("-..- 0", duck_stats_text(fx, 0, "a"));
    assert_string_equal("-..- 0", duck_stats_text(fx, 0, "b"));
    assert_true(duck_stats(fx, 0, "c")->max.as.f64 == 9999.0);
    silt_schema_unref(schema);
}

static void null_row_groups_do_not_take_bounds_away(void **state)
{
    struct duck_fixture *fx = *state;
    const struct duck_write_options options = {.row_group_rows = 2048};
    silt_schema *schema = duck_schema(fx, FLAT("a", "long") "," FLAT("b", "string") "," FLAT("n", "long"));
    duck_write(
        fx, "SELECT CASE WHEN i >= 6000 THEN i END, CASE WHEN i < 100 THEN 'k' || i END, NULL FROM range(10000) t(i)",
        schema, &options);
    assert_string_equal("6000..9999 6000", duck_stats_text(fx, 0, "a"));
    assert_string_equal("k0..k99 9900", duck_stats_text(fx, 0, "b"));
    assert_string_equal("-..- 10000", duck_stats_text(fx, 0, "n"));
    silt_schema_unref(schema);
}

static void zeros_get_the_signs_of_bounds(void **state)
{
    struct duck_fixture *fx = *state;
    silt_schema *schema = duck_schema(fx, FLAT("a", "double"));
    duck_write(fx, "SELECT '-0.0'::DOUBLE UNION ALL SELECT 0.0::DOUBLE", schema, NULL);
    assert_true(signbit(duck_stats(fx, 0, "a")->min.as.f64) != 0);
    assert_false(signbit(duck_stats(fx, 0, "a")->max.as.f64) != 0);
    silt_schema_unref(schema);
}

static void long_texts_have_a_lower_bound_only(void **state)
{
    struct duck_fixture *fx = *state;
    silt_schema *schema = duck_schema(fx, FLAT("a", "string") "," FLAT("b", "string"));
    duck_write(fx, "SELECT repeat('x', 1000) || i, repeat('é', 200) || i FROM range(3) t(i)", schema, NULL);
    const silt_column_stats *a = duck_stats(fx, 0, "a");
    assert_true(a->has_min);
    assert_true(a->min.as.bytes.len <= 1000);
    assert_int_equal('x', a->min.as.bytes.ptr[a->min.as.bytes.len - 1]);
    assert_false(a->has_max);
    assert_false(duck_stats(fx, 0, "b")->has_max);
    silt_schema_unref(schema);
}

static void leaves_of_structs_have_statistics_those_of_lists_not(void **state)
{
    struct duck_fixture *fx = *state;
    silt_schema *schema = duck_schema(
        fx,
        FIELD(
            "l",
            "{\"type\":\"array\",\"elementType\":{\"type\":\"struct\",\"fields\":[" FLAT("p", "long") "," FLAT(
                "q",
                "long") "]},"
                        "\"containsNull\":true}") "," FIELD("m",
                                                            "{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":\"long\",\"valueContainsNull\":"
                                                            "true}") "," FIELD("s",
                                                                               "{\"type\":\"struct\",\"fields\":[" FLAT("a", "long") "," FIELD(
                                                                                   "t",
                                                                                   "{\"type\":\"struct\",\"fields\":[" FLAT(
                                                                                       "b.c",
                                                                                       "string") "]}") "]}") "," FLAT("z",
                                                                                                                      "long"));
    duck_write(fx,
               "SELECT [{p: 1, q: 2}], map{'k': 1}, {a: 5, t: {'b.c': 'x'}}, 9 UNION ALL SELECT NULL, NULL, NULL, 8",
               schema, NULL);
    assert_int_equal(3, duck_file(fx, 0)->n_stats);
    assert_string_equal("5..5 1", duck_stats_text(fx, 0, "s.a"));
    assert_string_equal("x..x 1", duck_stats_text(fx, 0, "s.t.b.c"));
    assert_string_equal("8..9 0", duck_stats_text(fx, 0, "z"));
    silt_schema_unref(schema);
}

/* ---- files ---- */

static void empty_result_writes_no_file(void **state)
{
    struct duck_fixture *fx = *state;
    const struct duck_write_options options = {.partition_columns = {"p"}, .n_partition_columns = 1};
    silt_schema *schema = duck_schema(fx, FLAT("a", "long") "," FLAT("p", "long"));
    duck_write(fx, "SELECT 1, 2 WHERE false", schema, NULL);
    assert_int_equal(0, fx->files.len);
    duck_write(fx, "SELECT 1, 2 WHERE false", schema, &options);
    assert_int_equal(0, fx->files.len);
    assert_int_equal(0, duck_count_files(fx->root));
    silt_schema_unref(schema);
}

static void large_file_is_split_in_order(void **state)
{
    struct duck_fixture *fx = *state;
    const struct duck_write_options options = {.target_file_size = 100000};
    silt_schema *schema = duck_schema(fx, FLAT("a", "long") "," FLAT("b", "string"));
    duck_write(fx, "SELECT i, md5(i::VARCHAR) FROM range(20000) t(i)", schema, &options);
    assert_in_range(fx->files.len, 4, 9);
    int64_t rows = 0;
    int64_t next = 0;
    for (size_t i = 0; i < fx->files.len; i++) {
        rows += duck_file(fx, i)->num_rows;
        assert_in_range(duck_file(fx, i)->size_bytes, 20000, 140000);
        assert_int_equal(next, duck_stats(fx, i, "a")->min.as.i64);
        next = duck_stats(fx, i, "a")->max.as.i64 + 1;
    }
    assert_int_equal(20000, rows);
    const silt_scan_plan *plan = duck_plan(fx, schema, NULL, NULL);
    assert_string_equal("20000|199990000\n",
                        duck_scan_text(fx, plan, "count(*), sum(a)::BIGINT", "WHERE b = md5(a::VARCHAR)"));
    silt_schema_unref(schema);
}

static void large_result_goes_to_several_files_at_once(void **state)
{
    struct duck_fixture *fx = *state;
    const struct duck_write_options options = {.target_file_size = INT64_C(16) << 20};
    silt_schema *schema = duck_schema(fx, FLAT("a", "long") "," FLAT("b", "string"));
    duck_write(fx, "SELECT i, md5(i::VARCHAR) FROM range(2000000) t(i)", schema, &options);
    assert_in_range(fx->files.len, 3, 8);
    for (size_t i = 0; i < fx->files.len; i++) {
        assert_true(duck_file(fx, i)->size_bytes < INT64_C(22) << 20);
    }
    const silt_scan_plan *plan = duck_plan(fx, schema, NULL, NULL);
    assert_string_equal("2000000|1999999000000\n",
                        duck_scan_text(fx, plan, "count(*), sum(a)::BIGINT", "WHERE b = md5(a::VARCHAR)"));
    silt_schema_unref(schema);
}

static void large_sorted_result_keeps_its_order_over_files(void **state)
{
    struct duck_fixture *fx = *state;
    const struct duck_write_options options = {.target_file_size = INT64_C(16) << 20};
    silt_schema *schema = duck_schema(fx, FLAT("a", "long") "," FLAT("b", "string"));
    duck_write(fx, "SELECT i, md5(i::VARCHAR) FROM range(2000000) t(i) ORDER BY i DESC", schema, &options);
    assert_in_range(fx->files.len, 3, 8);
    int64_t next = 1999999;
    for (size_t i = 0; i < fx->files.len; i++) {
        assert_int_equal(next, duck_stats(fx, i, "a")->max.as.i64);
        next = duck_stats(fx, i, "a")->min.as.i64 - 1;
    }
    assert_int_equal(-1, next);
    silt_schema_unref(schema);
}

static void statistics_do_not_hang_on_the_session_zone(void **state)
{
    struct duck_fixture *fx = *state;
    silt_schema *schema = duck_schema(fx, FLAT("z", "timestamp") "," FLAT("n", "timestamp_ntz"));
    assert_int_equal(SILT_OK,
                     fx->plane.vtable->set_option(fx->plane.dp, SL_STR("TimeZone"), SL_STR("Asia/Tokyo"), &fx->err));
    duck_write(fx, "SELECT TIMESTAMPTZ '2020-01-01 00:00:00+00', TIMESTAMP '2020-01-01 00:00:00'", schema, NULL);
    assert_string_equal("2020-01-01 00:00:00..2020-01-01 00:00:00 0", duck_stats_text(fx, 0, "z"));
    assert_string_equal("2020-01-01 00:00:00..2020-01-01 00:00:00 0", duck_stats_text(fx, 0, "n"));
    silt_schema_unref(schema);
}

static void rows_of_a_query_keep_their_order(void **state)
{
    struct duck_fixture *fx = *state;
    silt_schema *schema = duck_schema(fx, FLAT("a", "long"));
    duck_write(fx, "SELECT i FROM range(1000000) t(i) ORDER BY hash(i)", schema, NULL);
    assert_int_equal(1, fx->files.len);
    char sql[512];
    (void)snprintf(sql, sizeof(sql),
                   "SELECT count(*) FROM (SELECT hash(a) < lag(hash(a)) OVER (ORDER BY file_row_number) AS x "
                   "FROM read_parquet('%s')) WHERE x",
                   duck_file(fx, 0)->full);
    assert_string_equal("0\n", duck_text(fx, sql));
    silt_schema_unref(schema);
}

static void names_follow_prefix_partition_and_codec(void **state)
{
    struct duck_fixture *fx = *state;
    struct duck_write_options options = {
        .partition_columns = {"p"}, .n_partition_columns = 1, .prefix = "_change_data/", .codec = "snappy"};
    silt_schema *schema = duck_schema(fx, FLAT("a", "long") "," FLAT("p", "string"));
    duck_write(fx, "SELECT 1, 'x y'", schema, &options);
    const char *path = duck_file(fx, 0)->path;
    assert_int_equal(0, strncmp(path, "_change_data/p=x y/part-00000-", 30));
    assert_non_null(strstr(path, "-c000.snappy.parquet"));
    options.prefix = "ab-";
    options.codec = "none";
    duck_write(fx, "SELECT 1, NULL", schema, &options);
    assert_int_equal(0, strncmp(duck_file(fx, 0)->path, "p=__HIVE_DEFAULT_PARTITION__/ab-part-", 37));
    options.codec = "lzo";
    assert_int_equal(SILT_EINVALID, duck_try_write(fx, "SELECT 1, NULL", schema, &options));
    silt_schema_unref(schema);
}

static void every_codec_writes_what_can_be_read(void **state)
{
    static const char *const codecs[] = {"zstd", "snappy", "gzip", "lz4", "brotli", "uncompressed"};
    struct duck_fixture *fx = *state;
    silt_schema *schema = duck_schema(fx, FLAT("a", "long"));
    for (size_t i = 0; i < sizeof(codecs) / sizeof(codecs[0]); i++) {
        const struct duck_write_options options = {.codec = codecs[i]};
        duck_write(fx, "SELECT i FROM range(1000) t(i)", schema, &options);
        const silt_scan_plan *plan = duck_plan(fx, schema, NULL, NULL);
        assert_string_equal("499500\n", duck_scan_text(fx, plan, "sum(a)::BIGINT", ""));
    }
    silt_schema_unref(schema);
}

static void nulls_in_required_columns_are_refused(void **state)
{
    struct duck_fixture *fx = *state;
    const struct duck_write_options options = {.partition_columns = {"p"}, .n_partition_columns = 1};
    silt_schema *flat = duck_schema(fx, REQUIRED("a", "long") "," FLAT("b", "long"));
    assert_int_equal(SILT_ECONSTRAINT, duck_try_write(fx, "SELECT 1, 2 UNION ALL SELECT NULL, 3", flat, NULL));
    assert_string_equal("DELTA_NOT_NULL_CONSTRAINT_VIOLATED", fx->err.code_name);
    silt_schema *part = duck_schema(fx, REQUIRED("p", "long") "," FLAT("b", "long"));
    assert_int_equal(SILT_ECONSTRAINT, duck_try_write(fx, "SELECT 1, 2 UNION ALL SELECT NULL, 3", part, &options));
    silt_schema *nested = duck_schema(
        fx, "{\"name\":\"l\",\"type\":{\"type\":\"array\",\"elementType\":\"long\",\"containsNull\":true},"
            "\"nullable\":false,\"metadata\":{}}");
    assert_int_equal(SILT_ECONSTRAINT, duck_try_write(fx, "SELECT [1::BIGINT] UNION ALL SELECT NULL", nested, NULL));
    assert_string_equal("DELTA_NOT_NULL_CONSTRAINT_VIOLATED", fx->err.code_name);
    assert_int_equal(0, duck_count_files(fx->root));
    silt_schema_unref(nested);
    silt_schema_unref(part);
    silt_schema_unref(flat);
}

/* ---- failures ---- */

static void refused_file_takes_all_files_with_it(void **state)
{
    struct duck_fixture *fx = *state;
    const struct duck_write_options options = {.partition_columns = {"p"}, .n_partition_columns = 1};
    silt_schema *schema = duck_schema(fx, FLAT("a", "long") "," FLAT("p", "long"));
    fx->fail_after = 2;
    assert_int_equal(SILT_ENOMEM, duck_try_write(fx, "SELECT i, i % 5 FROM range(100) t(i)", schema, &options));
    assert_int_equal(0, duck_count_files(fx->root));
    assert_int_equal(0, duck_count_files(fx->dir));
    silt_schema_unref(schema);
}

static void cancelled_write_leaves_nothing(void **state)
{
    struct duck_fixture *fx = *state;
    silt_schema *schema = duck_schema(fx, FLAT("a", "long"));
    const silt_call late = {.size = sizeof(late),
                            .abi_version = SILT_ABI_VERSION,
                            .deadline_us = fx->env->monotonic_us(fx->env->ctx) + 200000};
    fx->call = &late;
    assert_int_equal(SILT_EDEADLINE, duck_try_write(fx, "SELECT i FROM range(10000000000) t(i)", schema, NULL));
    assert_int_equal(0, duck_count_files(fx->root));
    silt_schema_unref(schema);
}

static void error_positions_point_into_the_query(void **state)
{
    struct duck_fixture *fx = *state;
    silt_schema *schema = duck_schema(fx, FLAT("a", "long"));
    const char *const sql = "SELECT 1 + nope FROM range(3)";
    assert_int_equal(SILT_ESYNTAX, duck_try_write(fx, sql, schema, NULL));
    assert_int_equal(strstr(sql, "nope") - sql, fx->err.position);
    silt_schema_unref(schema);
}

/* ---- streams ---- */

static bool count_file(void *ctx, const silt_written_file *file)
{
    struct duck_fixture *fx = ctx;
    struct duck_written *kept = sl_vec_push(&fx->files);
    kept->full = sl_arena_printf(&fx->arena, "%s/%s", fx->root, file->path);
    kept->num_rows = file->num_rows;
    kept->size_bytes = file->size_bytes;
    return true;
}

static silt_status write_stream(struct duck_fixture *fx, const char *sql, const silt_schema *schema, size_t *n_files)
{
    struct ArrowArrayStream rows = {0};
    silt_error_reset(&fx->err);
    assert_int_equal(SILT_OK, fx->plane.vtable->query(fx->plane.dp, NULL, sl_str_from(sql), NULL, &rows, &fx->err));
    const silt_parquet_write request = {.size = sizeof(request),
                                        .storage = fx->storage,
                                        .dir = fx->root,
                                        .path_prefix = "",
                                        .schema = schema,
                                        .codec = "zstd",
                                        .target_file_size = INT64_C(1) << 40,
                                        .on_file = count_file,
                                        .on_file_ctx = fx};
    fx->files.len = 0;
    const silt_status status = fx->plane.vtable->parquet->write(fx->plane.dp, NULL, &request, &rows, &fx->err);
    assert_null(rows.release);
    *n_files = fx->files.len;
    return status;
}

static void stream_is_written_in_order(void **state)
{
    struct duck_fixture *fx = *state;
    size_t n = 0;
    silt_schema *schema = duck_schema(fx, FLAT("a", "long") "," FLAT("b", "string"));
    assert_int_equal(SILT_OK, write_stream(fx, "SELECT i::INTEGER, 'r' || i FROM range(1000000) t(i)", schema, &n));
    assert_int_equal(1, n);
    char sql[512];
    (void)snprintf(sql, sizeof(sql),
                   "SELECT count(*), count(*) FILTER (a <> file_row_number OR b <> 'r' || a) FROM read_parquet('%s')",
                   duck_file(fx, 0)->full);
    assert_string_equal("1000000|0\n", duck_text(fx, sql));
    silt_schema_unref(schema);
}

static void failing_stream_gives_its_own_error(void **state)
{
    struct duck_fixture *fx = *state;
    size_t n = 0;
    silt_schema *schema = duck_schema(fx, FLAT("a", "long"));
    const silt_status status = write_stream(
        fx, "SELECT CASE WHEN i < 3000000 THEN i ELSE error('[MY_CLASS] at the end') END FROM range(3100000) t(i)",
        schema, &n);
    assert_int_not_equal(SILT_OK, status);
    assert_string_equal("MY_CLASS", fx->err.code_name);
    assert_string_equal("at the end", fx->err.message);
    assert_int_equal(0, duck_count_files(fx->root));
    silt_schema_unref(schema);
}

static void files_go_to_a_store_without_local_paths(void **state)
{
    struct duck_fixture *fx = *state;
    const struct duck_write_options options = {.partition_columns = {"p"}, .n_partition_columns = 1};
    silt_schema *schema = duck_schema(fx, FLAT("a", "long") "," FLAT("p", "string"));
    duck_write(fx, "SELECT i, 'p ' || (i % 2) FROM range(100) t(i)", schema, &options);
    assert_int_equal(2, fx->files.len);
    const silt_scan_plan *plan = duck_plan(fx, schema, &options, NULL);
    assert_string_equal("p 0|2450\np 1|2500\n", duck_scan_text(fx, plan, "p, sum(a)::BIGINT", "GROUP BY p ORDER BY p"));
    assert_int_equal(0, duck_count_files(fx->dir));
    silt_schema_unref(schema);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, duck_setup, duck_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(statistics_are_exact_for_every_type),
        TEST(nan_takes_bounds_away_whichever_row_group_it_is_in),
        TEST(null_row_groups_do_not_take_bounds_away),
        TEST(zeros_get_the_signs_of_bounds),
        TEST(long_texts_have_a_lower_bound_only),
        TEST(leaves_of_structs_have_statistics_those_of_lists_not),
        TEST(empty_result_writes_no_file),
        TEST(large_file_is_split_in_order),
        TEST(large_result_goes_to_several_files_at_once),
        TEST(large_sorted_result_keeps_its_order_over_files),
        TEST(statistics_do_not_hang_on_the_session_zone),
        TEST(rows_of_a_query_keep_their_order),
        TEST(names_follow_prefix_partition_and_codec),
        TEST(every_codec_writes_what_can_be_read),
        TEST(nulls_in_required_columns_are_refused),
        TEST(refused_file_takes_all_files_with_it),
        TEST(cancelled_write_leaves_nothing),
        TEST(error_positions_point_into_the_query),
        TEST(stream_is_written_in_order),
        TEST(failing_stream_gives_its_own_error),
        cmocka_unit_test_setup_teardown(files_go_to_a_store_without_local_paths, duck_setup_memory, duck_teardown),
    };
    return cmocka_run_group_tests_name("duck_write", tests, NULL, NULL);
}
