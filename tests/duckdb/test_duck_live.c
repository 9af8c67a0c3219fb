/*
 * Scans of files with deletion vectors against plain tables of flags: scattered rows, stretches, whole files, queries that see only some
 * of the rows; and that what is gone in long stretches is not read.
 */
#include "duck_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dv_fixture.h"

#define N_FILES 4
#define N_ROWS 50000 /* of a file, in row groups of 2,048 */

static const char FIELDS[] = "{\"name\":\"v\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"
                             "{\"name\":\"w\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}";

static uint8_t gone[N_FILES][N_ROWS];

struct table {
    struct duck_fixture *fx;
    silt_schema *schema;
    silt_plan_file files[N_FILES];
    silt_deletion_vector vectors[N_FILES];
    silt_scan_plan plan;
};

/* File i has the rows i * N_ROWS + 0, 1, 2 … */
static void open_table(struct table *table, struct duck_fixture *fx)
{
    table->fx = fx;
    table->schema = duck_schema(fx, FIELDS);
    for (int i = 0; i < N_FILES; i++) {
        struct stat info;
        struct duck_written *file = sl_vec_push(&fx->files);
        file->full = sl_arena_printf(&fx->arena, "%s/%d.parquet", fx->dir, i);
        (void)duck_text(
            fx, sl_arena_printf(&fx->arena,
                                "COPY (SELECT %d + range AS v, (range * 7 %% 1000)::BIGINT AS w FROM range(%d)) TO "
                                "'%s' (FORMAT parquet, ROW_GROUP_SIZE 2048)",
                                i * N_ROWS, N_ROWS, file->full));
        assert_int_equal(stat(file->full, &info), 0);
        file->size_bytes = info.st_size;
    }
    memset(gone, 0, sizeof(gone));
}

static void close_table(struct table *table)
{
    silt_schema_unref(table->schema);
}

/* The plan of the flags; files without a flag have no vector. */
static void make_plan(struct table *table, const char *filter)
{
    static int64_t rows[N_ROWS];
    struct duck_fixture *fx = table->fx;
    table->plan = *duck_plan(fx, table->schema, NULL, filter);
    for (size_t i = 0; i < N_FILES; i++) {
        size_t n = 0;
        for (int64_t row = 0; row < N_ROWS; row++) {
            if (gone[i][row] != 0) {
                rows[n++] = row;
            }
        }
        table->files[i] = table->plan.files[i];
        table->files[i].deleted = NULL;
        table->files[i].num_records = i % 2 == 0 ? -1 : N_ROWS; /* known or to be looked up */
        if (n > 0) {
            struct sl_buf payload;
            struct sl_buf text;
            sl_buf_init(&payload, fx->env);
            sl_buf_init(&text, fx->env);
            dv_payload(&payload, rows, n, 1);
            dv_text(&text, &payload);
            table->vectors[i] = (silt_deletion_vector){.storage_type = 'i',
                                                       .inline_data = sl_arena_strdup(&fx->arena, sl_buf_view(&text)),
                                                       .size_in_bytes = (int64_t)payload.len,
                                                       .cardinality = (int64_t)n};
            table->files[i].deleted = &table->vectors[i];
            table->plan.has_row_sets = true;
            sl_buf_release(&payload);
            sl_buf_release(&text);
        }
    }
    table->plan.files = table->files;
}

/* Count and sum of v over the rows that are left, from v = least on, every step-th. */
static void expect_left(struct table *table, int64_t least, int64_t step)
{
    char expected[64];
    char rest[128];
    int64_t n = 0;
    int64_t sum = 0;
    for (int64_t v = least; v < (int64_t)N_FILES * N_ROWS; v++) {
        if (gone[v / N_ROWS][v % N_ROWS] == 0 && v % step == 0) {
            n++;
            sum += v;
        }
    }
    (void)snprintf(expected, sizeof(expected), "%" PRId64 "|%" PRId64 "\n", n, n > 0 ? sum : 0);
    (void)snprintf(rest, sizeof(rest), "WHERE v >= %" PRId64 " AND v %% %" PRId64 " = 0", least, step);
    make_plan(table, NULL);
    assert_string_equal(duck_scan_text(table->fx, &table->plan, "count(*), coalesce(sum(v), 0)::BIGINT", rest),
                        expected);
}

static void expect_all_ways(struct table *table)
{
    expect_left(table, 0, 1);
    expect_left(table, 0, 7);
    expect_left(table, N_ROWS / 2, 1);
    expect_left(table, 2 * N_ROWS - 5, 501);
}

static void scattered_rows_are_left_out(void **state)
{
    struct table table = {0};
    open_table(&table, *state);
    srand(1);
    for (int percent = 1; percent <= 99; percent += 49) {
        for (size_t i = 0; i < N_FILES; i++) {
            for (size_t row = 0; row < N_ROWS; row++) {
                gone[i][row] = (uint8_t)(i != 1 && rand() % 100 < percent);
            }
        }
        expect_all_ways(&table);
    }
    close_table(&table);
}

static void stretches_are_left_out(void **state)
{
    struct table table = {0};
    open_table(&table, *state);
    srand(2);
    for (int round = 0; round < 6; round++) {
        memset(gone, 0, sizeof(gone));
        for (size_t i = 0; i < N_FILES; i++) {
            for (int stretch = rand() % 12; stretch > 0; stretch--) {
                const int first = rand() % N_ROWS;
                const int n = rand() % (round % 2 == 0 ? 20000 : 3000);
                memset(&gone[i][first], 1, (size_t)(n < N_ROWS - first ? n : N_ROWS - first));
            }
        }
        expect_all_ways(&table);
    }
    close_table(&table);
}

static void whole_files_are_left_out(void **state)
{
    struct table table = {0};
    open_table(&table, *state);
    memset(gone[1], 1, N_ROWS);
    memset(gone[2], 1, N_ROWS - 1);
    expect_all_ways(&table);
    memset(gone, 1, sizeof(gone));
    expect_all_ways(&table);
    close_table(&table);
}

static void order_and_columns_stay(void **state)
{
    struct table table = {0};
    open_table(&table, *state);
    memset(gone[0], 1, 30000);
    memset(gone[1] + 100, 1, 40000);
    gone[3][N_ROWS - 1] = 1;
    make_plan(&table, NULL);
    assert_string_equal(duck_scan_text(table.fx, &table.plan, "v", "ORDER BY v LIMIT 2"), "30000\n30001\n");
    assert_string_equal(duck_scan_text(table.fx, &table.plan, "v", "ORDER BY v DESC LIMIT 2"), "199998\n199997\n");
    assert_string_equal(duck_scan_text(table.fx, &table.plan, "v, w = (v - 50000) * 7 % 1000",
                                       "WHERE v BETWEEN 50098 AND 90100 ORDER BY v LIMIT 4"),
                        "50098|true\n50099|true\n90100|true\n");
    make_plan(&table, "v < 30002");
    assert_string_equal(duck_scan_text(table.fx, &table.plan, "*", "ORDER BY v LIMIT 1")[0] == '3' ? "3" : "", "3");
    assert_string_equal(duck_scan_text(table.fx, &table.plan, "count(*)", ""), "2\n");
    close_table(&table);
}

/* Rows that the Parquet readers of a query handed out. */
static int64_t rows_scanned(struct table *table)
{
    static const char rows_key[] = "\"operator_cardinality\": ";
    struct duck_fixture *fx = table->fx;
    struct sl_buf sql;
    struct sl_dataplane_scan *scan = NULL;
    sl_buf_init(&sql, fx->env);
    sl_buf_put_c(&sql, "EXPLAIN (ANALYZE, FORMAT json) SELECT sum(w) FROM (");
    assert_int_equal(fx->plane.vtable->scan_open(fx->plane.dp, &table->plan, &scan, &sql, &fx->err), SILT_OK);
    sl_buf_put_c(&sql, ")");
    const char *text = duck_text(fx, sl_buf_cstr(&sql));
    int64_t rows = 0;
    /* An operator's name comes after its number of rows. */
    for (const char *at = strstr(text, rows_key); at != NULL; at = strstr(at + 1, rows_key)) {
        const char *name = strstr(at, "\"operator_name\": \"");
        if (name != NULL && strncmp(name + 18, "READ_PARQUET", 12) == 0) {
            rows += strtoll(at + sizeof(rows_key) - 1, NULL, 10);
        }
    }
    fx->plane.vtable->scan_close(fx->plane.dp, scan);
    sl_buf_release(&sql);
    return rows;
}

static void emptied_row_groups_and_files_are_not_read(void **state)
{
    struct table table = {0};
    open_table(&table, *state);
    gone[0][5] = 1;
    make_plan(&table, NULL);
    assert_int_equal(rows_scanned(&table), N_FILES * N_ROWS);
    memset(gone[0], 1, 40960);
    memset(gone[2] + 2048, 1, 20480);
    memset(gone[3], 1, N_ROWS);
    make_plan(&table, NULL);
    assert_int_equal(rows_scanned(&table), N_FILES * N_ROWS - 40960 - 20480 - N_ROWS);
    close_table(&table);
}

static void a_query_outlives_its_scan_and_no_other_finds_it(void **state)
{
    struct duck_fixture *fx = *state;
    struct table table = {0};
    struct sl_dataplane_scan *scan = NULL;
    struct sl_buf sql;
    struct ArrowArrayStream rows;
    open_table(&table, fx);
    gone[0][5] = 1;
    make_plan(&table, NULL);
    sl_buf_init(&sql, fx->env);
    assert_int_equal(fx->plane.vtable->scan_open(fx->plane.dp, &table.plan, &scan, &sql, &fx->err), SILT_OK);
    assert_int_equal(fx->plane.vtable->query(fx->plane.dp, NULL, sl_buf_view(&sql), NULL, &rows, &fx->err), SILT_OK);
    fx->plane.vtable->scan_close(fx->plane.dp, scan);
    int64_t n = 0;
    struct ArrowArray batch;
    while (rows.get_next(&rows, &batch) == 0 && batch.release != NULL) {
        n += batch.length;
        batch.release(&batch);
    }
    assert_int_equal(n, N_FILES * N_ROWS - 1);
    rows.release(&rows);
    assert_int_not_equal(fx->plane.vtable->query(fx->plane.dp, NULL, sl_buf_view(&sql), NULL, &rows, &fx->err),
                         SILT_OK);
    assert_non_null(strstr(fx->err.message, "was closed"));
    sl_buf_release(&sql);
    close_table(&table);
}

static void rows_that_are_selected_are_left_alone(void **state)
{
    struct duck_fixture *fx = *state;
    struct table table = {0};
    open_table(&table, fx);
    for (int64_t row = 10; row < 20; row++) {
        gone[1][row] = 1;
    }
    make_plan(&table, NULL);
    table.files[1].selected = table.files[1].deleted;
    table.files[1].deleted = NULL;
    table.plan.files = &table.files[1];
    table.plan.n_files = 1;
    assert_string_equal(duck_scan_text(fx, &table.plan, "count(*), min(v), max(v)", ""), "10|50010|50019\n");
    close_table(&table);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, duck_setup, duck_teardown)
    const struct CMUnitTest tests[] = {
        TEST(scattered_rows_are_left_out),
        TEST(stretches_are_left_out),
        TEST(whole_files_are_left_out),
        TEST(order_and_columns_stay),
        TEST(emptied_row_groups_and_files_are_not_read),
        TEST(a_query_outlives_its_scan_and_no_other_finds_it),
        TEST(rows_that_are_selected_are_left_alone),
    };
    return cmocka_run_group_tests_name("duck live", tests, NULL, NULL);
}
