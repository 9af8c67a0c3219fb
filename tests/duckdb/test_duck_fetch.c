/*
 * Scans of a store without local paths: what a query reads is brought, and what was not brought is an error, never a row.
 */
#include "duck_fixture.h"

#include <stdio.h>
#include <string.h>

#define ROWS 200000
#define N_COLUMNS 6

static const char FIELDS[] =
    "{\"name\":\"i\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"d\",\"type\":\"double\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"s\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"b\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}},"
    "{\"name\":\"l\",\"type\":{\"type\":\"array\",\"elementType\":\"integer\",\"containsNull\":true},\"nullable\":true,"
    "\"metadata\":{}},"
    "{\"name\":\"t\",\"type\":{\"type\":\"struct\",\"fields\":[{\"name\":\"x\",\"type\":\"long\",\"nullable\":true,"
    "\"metadata\":{}}]},\"nullable\":true,\"metadata\":{}}";

static const char QUERY[] =
    "SELECT range::BIGINT AS i, random() AS d, md5(range::VARCHAR) AS s, (hash(range) & 1073741823)::INTEGER AS b, "
    "[(hash(range) %% 1000)::INTEGER, 7] AS l, {'x': (hash(range) %% 100000)::BIGINT} AS t FROM range(%d)";

static const char *const TOUCH[N_COLUMNS] = {"sum(i)", "sum(d)", "max(s)", "sum(b)", "sum(l[1])", "sum(t.x)"};

/* Runs "SELECT what FROM scan" over a plan that says what may be read. */
static silt_status try_touch(struct duck_fixture *fx, const silt_scan_plan *plan, const bool *may_read,
                             const char *what)
{
    silt_scan_plan narrowed = *plan;
    struct sl_dataplane_scan *scan = NULL;
    struct sl_buf text;
    struct sl_buf sql;
    narrowed.may_read = may_read;
    sl_buf_init(&text, fx->env);
    sl_buf_init(&sql, fx->env);
    silt_error_reset(&fx->err);
    assert_int_equal(fx->plane.vtable->scan_open(fx->plane.dp, &narrowed, &scan, &text, &fx->err), SILT_OK);
    sl_buf_printf(&sql, "SELECT %s FROM (%s)", what, sl_buf_cstr(&text));
    const silt_status status = duck_try_query(fx, sl_buf_cstr(&sql));
    fx->plane.vtable->scan_close(fx->plane.dp, scan);
    sl_buf_release(&sql);
    sl_buf_release(&text);
    return status;
}

static void write_table(struct duck_fixture *fx, const silt_schema *schema, const char *codec)
{
    char sql[512];
    const struct duck_write_options options = {.codec = codec, .row_group_rows = 61440};
    (void)snprintf(sql, sizeof(sql), QUERY, ROWS);
    duck_write(fx, sql, schema, &options);
    assert_true(duck_file(fx, 0)->size_bytes > 1000000);
}

static void columns_that_may_be_read_are_there_and_no_others(void **state)
{
    struct duck_fixture *fx = *state;
    static const char *const codecs[] = {"snappy", "zstd", "gzip", "uncompressed"};
    silt_schema *schema = duck_schema(fx, FIELDS);
    for (size_t c = 0; c < sizeof(codecs) / sizeof(codecs[0]); c++) {
        write_table(fx, schema, codecs[c]);
        const silt_scan_plan *plan = duck_plan(fx, schema, NULL, NULL);
        for (size_t i = 0; i < N_COLUMNS; i++) {
            bool may_read[N_COLUMNS] = {false};
            may_read[i] = true;
            assert_int_equal(try_touch(fx, plan, may_read, TOUCH[i]), SILT_OK);
            assert_int_equal(try_touch(fx, plan, NULL, TOUCH[i]), SILT_OK);
            memset(may_read, 1, sizeof(may_read));
            may_read[i] = false;
            const silt_status status = try_touch(fx, plan, may_read, TOUCH[i]);
            if (status == SILT_OK) {
                fail_msg("a column of %s that was not brought was read: %s", codecs[c], TOUCH[i]);
            }
            assert_int_equal(try_touch(fx, plan, may_read, TOUCH[(i + 1) % N_COLUMNS]), SILT_OK);
        }
    }
    silt_schema_unref(schema);
}

static void rows_are_those_of_a_local_table(void **state)
{
    struct duck_fixture *fx = *state;
    char expected[256];
    silt_schema *schema = duck_schema(fx, FIELDS);
    write_table(fx, schema, "snappy");
    const silt_scan_plan *plan = duck_plan(fx, schema, NULL, NULL);
    assert_string_equal(duck_scan_text(fx, plan, "count(*), sum(i)::BIGINT, min(i), max(i)", ""),
                        "200000|19999900000|0|199999\n");
    (void)snprintf(expected, sizeof(expected), "%s", duck_text(fx, "SELECT md5('77')"));
    assert_string_equal(duck_scan_text(fx, plan, "s", "WHERE i = 77"), expected);
    assert_string_equal(duck_scan_text(fx, plan, "i", "ORDER BY i DESC LIMIT 2"), "199999\n199998\n");
    assert_string_equal(duck_scan_text(fx, plan, "count(*)", "WHERE l[2] = 7 AND t.x >= 0"), "200000\n");
    silt_schema_unref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(columns_that_may_be_read_are_there_and_no_others, duck_setup_memory,
                                        duck_teardown),
        cmocka_unit_test_setup_teardown(rows_are_those_of_a_local_table, duck_setup_memory, duck_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
