/*
 * What the handler tells of a file's row groups is what a query over their rows finds, and ranges of rows are read alone.
 */
#include "duck_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arrow.h"
#include "kernel/engine/engine.h"

#define GROUP_ROWS 2048
#define N_ROWS 5000

struct told {
    struct duck_fixture *fx;
    const char *path;
    size_t n_groups;
    int64_t n_rows;
};

/* SQL by which each leaf is found, the type it is told as, and as what number. */
static const struct {
    const char *path[3];
    size_t path_len;
    const char *sql; /* of its number; NULL: it has no bounds */
    silt_type_kind kind;
} leaves[] = {
    {{"s", "n"}, 2, "s.n", SILT_TYPE_LONG},
    {{"s", "i"}, 2, "s.i", SILT_TYPE_INTEGER},
    {{"s", "w"}, 2, "s.w", SILT_TYPE_SHORT},
    {{"s", "in", "d"}, 3, "date_diff('day', DATE '1970-01-01', s.in.d)", SILT_TYPE_DATE},
    {{"s", "t"}, 2, "epoch_us(s.t)", SILT_TYPE_TIMESTAMP},
    {{"s", "tn"}, 2, "epoch_us(s.tn)", SILT_TYPE_TIMESTAMP_NTZ},
    {{"s", "x"}, 2, NULL, SILT_TYPE_STRING},
    {{"s", "v"}, 2, NULL, SILT_TYPE_DOUBLE},
    {{"s", "u"}, 2, NULL, SILT_TYPE_LONG},
};
#define N_LEAVES (sizeof(leaves) / sizeof(leaves[0]))

static silt_status check_group(void *ctx, silt_row_range rows, const silt_leaf_bounds *bounds, silt_error *err)
{
    struct told *told = ctx;
    char sql[600];
    char expected[100];
    (void)err;
    assert_int_equal(rows.begin, told->n_rows);
    told->n_rows = rows.end;
    told->n_groups++;
    for (size_t i = 0; i < N_LEAVES; i++) {
        const char *number = leaves[i].sql;
        (void)snprintf(sql, sizeof(sql),
                       "SELECT min(%s)::BIGINT, max(%s)::BIGINT, count(*) - count(s.%s) FROM read_parquet('%s') WHERE "
                       "file_row_number >= %" PRId64 " AND file_row_number < %" PRId64,
                       number != NULL ? number : "NULL", number != NULL ? number : "NULL",
                       leaves[i].path_len == 3 ? "in.d" : leaves[i].path[1], told->path, rows.begin, rows.end);
        if (bounds[i].has_bounds) {
            (void)snprintf(expected, sizeof(expected), "%" PRId64 "|%" PRId64 "|%" PRId64 "\n", bounds[i].least,
                           bounds[i].most, bounds[i].n_null);
            assert_int_equal(bounds[i].kind, leaves[i].kind);
        } else {
            (void)snprintf(expected, sizeof(expected), "NULL|NULL|%" PRId64 "\n", bounds[i].n_null);
        }
        assert_string_equal(duck_text(told->fx, sql), expected);
    }
    assert_int_equal(bounds[N_LEAVES].n_null, -1); /* a leaf that is not there, and a struct */
    assert_false(bounds[N_LEAVES].has_bounds);
    assert_int_equal(bounds[N_LEAVES + 1].n_null, -1);
    return SILT_OK;
}

static void write_file(struct duck_fixture *fx, char *path, size_t size)
{
    char sql[1200];
    (void)snprintf(path, size, "%s/groups.parquet", fx->dir);
    (void)snprintf(
        sql, sizeof(sql),
        "COPY (SELECT CASE WHEN i %% 10 <> 3 THEN {'n': CASE WHEN i < 2048 OR i >= 4096 THEN (i - 3000) * 5000000000 END, "
        "'i': CASE WHEN i %% 7 > 0 THEN (2500 - i)::INTEGER END, 'w': (i %% 300 - 150)::SMALLINT, 'in': {'d': DATE "
        "'1969-06-01' + i::INTEGER}, 't': (TIMESTAMP '1969-12-31' + to_microseconds(i * 50000001))::TIMESTAMPTZ, 'tn': "
        "TIMESTAMP '2020-01-01' + to_microseconds(i), 'x': 'x' || i, 'v': i::DOUBLE, 'u': (i + 4000000000)::UINTEGER} END "
        "AS s FROM range(%d) r(i)) TO '%s' (FORMAT parquet, ROW_GROUP_SIZE %d)",
        N_ROWS, path, GROUP_ROWS);
    if (duck_try_query(fx, sql) != SILT_OK) {
        fail_msg("%s", fx->err.message);
    }
}

static silt_status ask(struct duck_fixture *fx, const silt_parquet_file *file, struct told *told)
{
    static const char *const gone[] = {"s", "gone"};
    static const char *const inner[] = {"s", "in"};
    silt_parquet_leaf asked[N_LEAVES + 2];
    for (size_t i = 0; i < N_LEAVES; i++) {
        asked[i] = (silt_parquet_leaf){.path = leaves[i].path, .path_len = leaves[i].path_len};
    }
    asked[N_LEAVES] = (silt_parquet_leaf){.path = gone, .path_len = 2};
    asked[N_LEAVES + 1] = (silt_parquet_leaf){.path = inner, .path_len = 2};
    const silt_parquet_groups request = {.size = sizeof(request),
                                         .file = file,
                                         .leaves = asked,
                                         .n_leaves = N_LEAVES + 2,
                                         .visit = check_group,
                                         .ctx = told};
    return sl_parquet_groups(fx->engine, NULL, &request, &fx->err);
}

static void row_groups_are_told_as_they_are(void **state)
{
    struct duck_fixture *fx = *state;
    char path[400];
    write_file(fx, path, sizeof(path));
    silt_parquet_file file = {.path = path, .local_path = path, .size_bytes = -1};
    struct told told = {.fx = fx, .path = path};
    assert_int_equal(ask(fx, &file, &told), SILT_OK);
    assert_int_equal(told.n_groups, 3);
    assert_int_equal(told.n_rows, N_ROWS);

    file.local_path = NULL; /* it would have to be copied */
    told = (struct told){.fx = fx, .path = path};
    assert_int_equal(ask(fx, &file, &told), SILT_OK);
    assert_int_equal(told.n_groups, 0);
}

static void a_file_that_is_no_parquet_is_refused(void **state)
{
    struct duck_fixture *fx = *state;
    char path[400];
    (void)snprintf(path, sizeof(path), "%s/text.parquet", fx->dir);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_true(fputs("no Parquet file, but long enough", out) >= 0);
    assert_int_equal(fclose(out), 0);
    const silt_parquet_file file = {.path = path, .local_path = path, .size_bytes = -1};
    struct told told = {.fx = fx, .path = path};
    assert_int_equal(ask(fx, &file, &told), SILT_ECORRUPT);
    assert_non_null(strstr(fx->err.message, "text.parquet"));
    const silt_parquet_file missing = {.path = "/nowhere/x", .local_path = "/nowhere/x", .size_bytes = -1};
    assert_int_equal(ask(fx, &missing, &told), SILT_ENOTFOUND);
}

static void ranges_of_rows_are_read_alone(void **state)
{
    static const silt_row_range ranges[] = {{0, 1}, {2048, 4096}, {4990, 5000}};
    struct duck_fixture *fx = *state;
    char path[400];
    write_file(fx, path, sizeof(path));
    silt_schema *schema = duck_schema(
        fx, "{\"name\":\"s\",\"type\":{\"type\":\"struct\",\"fields\":[{\"name\":\"i\",\"type\":"
            "\"integer\",\"nullable\":true,\"metadata\":{}}]},\"nullable\":true,\"metadata\":{}}");
    const silt_parquet_file file = {.path = path, .local_path = path, .size_bytes = -1};
    for (int lax = 0; lax < 2; lax++) {
        const silt_parquet_read read = {.size = sizeof(read),
                                        .storage = fx->storage,
                                        .files = &file,
                                        .n_files = 1,
                                        .schema = schema,
                                        .with_row_index = true,
                                        .ranges = ranges,
                                        .n_ranges = 3,
                                        .lax_structs = lax > 0};
        struct ArrowArrayStream stream = {0};
        int64_t n = 0;
        bool done = false;
        assert_int_equal(sl_parquet_read(fx->engine, NULL, &read, &stream, &fx->err), SILT_OK);
        while (!done) {
            struct ArrowArray batch = {0};
            assert_int_equal(sl_arrow_stream_next(&stream, &batch, &done, &fx->err), SILT_OK);
            for (int64_t i = 0; !done && i < batch.length; i++, n++) {
                const int64_t place = ((const int64_t *)batch.children[1]->buffers[1])[i + batch.children[1]->offset];
                assert_int_equal(place, n == 0 ? 0 : n <= 2048 ? 2047 + n : 4990 + n - 2049);
            }
            sl_arrow_array_release(&batch);
        }
        assert_int_equal(n, 1 + 2048 + 10);
        sl_arrow_stream_release(&stream);
    }
    const int64_t row = 3;
    const silt_parquet_read both = {.size = sizeof(both),
                                    .storage = fx->storage,
                                    .files = &file,
                                    .n_files = 1,
                                    .schema = schema,
                                    .rows = &row,
                                    .n_rows = 1,
                                    .ranges = ranges,
                                    .n_ranges = 3};
    struct ArrowArrayStream stream = {0};
    assert_int_equal(sl_parquet_read(fx->engine, NULL, &both, &stream, &fx->err), SILT_EINVALID);
    silt_schema_unref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(row_groups_are_told_as_they_are, duck_setup, duck_teardown),
        cmocka_unit_test_setup_teardown(a_file_that_is_no_parquet_is_refused, duck_setup, duck_teardown),
        cmocka_unit_test_setup_teardown(ranges_of_rows_are_read_alone, duck_setup, duck_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
