/*
 * What DuckDB keeps of footers: nothing of copies and of files that are being written, and no more than a bound of the rest.
 */
#include "duck_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define N_COLUMNS 5000
/* Footers of 5,000 columns have 400 KB or more, and take ten times that in memory. */
#define N_FILES 150
#define N_THREADS 4
#define N_ROUNDS 15

#define LONG(name) "{\"name\":\"" name "\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}"

static const char SETTING[] = "SELECT current_setting('parquet_metadata_cache')::VARCHAR";
static const char KEPT[] = "SELECT memory_usage_bytes FROM duckdb_memory() WHERE tag = 'OBJECT_CACHE'";

struct scan {
    struct sl_dataplane_scan *scan;
    struct sl_buf sql;
};

static void open_scan(struct duck_fixture *fx, const silt_scan_plan *plan, struct scan *out)
{
    *out = (struct scan){0};
    sl_buf_init(&out->sql, fx->env);
    assert_int_equal(fx->plane.vtable->scan_open(fx->plane.dp, plan, &out->scan, &out->sql, &fx->err), SILT_OK);
}

static void close_scan(struct duck_fixture *fx, struct scan *scan)
{
    fx->plane.vtable->scan_close(fx->plane.dp, scan->scan);
    sl_buf_release(&scan->sql);
}

static const char *keep_text(struct duck_fixture *fx, const char *sql)
{
    return sl_arena_strdup(&fx->arena, sl_str_from(duck_text(fx, sql)));
}

/* A file of many columns, c0 to c4999, in the folder. */
static const char *write_wide(struct duck_fixture *fx)
{
    const char *path = sl_arena_printf(&fx->arena, "%s/wide.parquet", fx->dir);
    struct sl_buf sql;
    sl_buf_init(&sql, fx->env);
    sl_buf_put_c(&sql, "COPY (SELECT ");
    for (int i = 0; i < N_COLUMNS; i++) {
        sl_buf_printf(&sql, "%s%d::BIGINT AS c%d", i > 0 ? "," : "", i, i);
    }
    sl_buf_printf(&sql, ") TO '%s' (FORMAT parquet)", path);
    assert_int_equal(duck_try_query(fx, sl_buf_cstr(&sql)), SILT_OK);
    sl_buf_release(&sql);
    return path;
}

/* A plan of the files [first, first + n), which are links to one. */
static silt_scan_plan wide_plan(struct duck_fixture *fx, const silt_schema *schema, size_t first, size_t n)
{
    static const silt_plan_column column = {SILT_FROM_FILE, -1};
    silt_plan_file *files = sl_arena_alloc_array(&fx->arena, n, sizeof(*files));
    assert_non_null(files);
    for (size_t i = 0; i < n; i++) {
        const char *path = sl_arena_printf(&fx->arena, "%s/link-%zu.parquet", fx->dir, first + i);
        files[i] = (silt_plan_file){.path = path,
                                    .local_path = path,
                                    .size_bytes = 1000000, /* with the path it only tells files apart */
                                    .num_records = 1,
                                    .base_row_id = -1,
                                    .row_commit_version = -1};
    }
    return (silt_scan_plan){.size = sizeof(silt_scan_plan),
                            .storage = fx->storage,
                            .logical = schema,
                            .physical = schema,
                            .columns = &column,
                            .files = files,
                            .n_files = n,
                            .table = "t"};
}

static void past_the_bound_nothing_more_is_kept(void **state)
{
    struct duck_fixture *fx = *state;
    struct scan scan;
    silt_schema *schema = duck_schema(fx, LONG("c7"));
    const char *wide = write_wide(fx);
    for (int i = 0; i < N_FILES; i++) {
        assert_int_equal(link(wide, sl_arena_printf(&fx->arena, "%s/link-%d.parquet", fx->dir, i)), 0);
    }

    silt_scan_plan plan = wide_plan(fx, schema, 0, 4);
    const char *before = keep_text(fx, KEPT);
    assert_string_equal(duck_scan_text(fx, &plan, "sum(c7)::BIGINT", ""), "28\n");
    assert_string_equal(duck_text(fx, SETTING), "true\n");
    const char *some = keep_text(fx, KEPT);
    assert_string_not_equal(some, before);

    plan = wide_plan(fx, schema, 0, N_FILES - 4);
    open_scan(fx, &plan, &scan); /* it reads all footers; DuckDB would when the query runs */
    close_scan(fx, &scan);
    assert_string_equal(duck_text(fx, SETTING), "false\n");
    plan = wide_plan(fx, schema, N_FILES - 4, 4);
    assert_string_equal(duck_scan_text(fx, &plan, "sum(c7)::BIGINT", ""), "28\n");
    assert_string_equal(duck_text(fx, KEPT), some);
    silt_schema_unref(schema);
}

static void files_being_written_are_not_kept(void **state)
{
    struct duck_fixture *fx = *state;
    silt_schema *schema = duck_schema(fx, LONG("a"));
    const char *before = keep_text(fx, KEPT);
    duck_write(fx, "SELECT range::BIGINT FROM range(1000)", schema, NULL);
    assert_string_equal(duck_text(fx, KEPT), before);
    const silt_scan_plan *plan = duck_plan(fx, schema, NULL, NULL);
    assert_string_equal(duck_scan_text(fx, plan, "count(*)", "WHERE a >= 0"), "1000\n");
    assert_string_not_equal(duck_text(fx, KEPT), before);
    silt_schema_unref(schema);
}

static void copies_are_not_kept(void **state)
{
    struct duck_fixture *fx = *state;
    struct scan scan;
    struct scan other;
    silt_schema *schema = duck_schema(fx, LONG("a"));
    duck_write(fx, "SELECT range::BIGINT FROM range(1000)", schema, NULL);
    const silt_scan_plan *plan = duck_plan(fx, schema, NULL, NULL);
    const char *before = keep_text(fx, KEPT);
    open_scan(fx, plan, &scan);
    open_scan(fx, plan, &other);
    assert_string_equal(duck_text(fx, SETTING), "false\n");
    close_scan(fx, &other);
    assert_string_equal(duck_text(fx, SETTING), "false\n");
    assert_int_equal(duck_try_query(fx, sl_buf_cstr(&scan.sql)), SILT_OK);
    close_scan(fx, &scan);
    assert_string_equal(duck_text(fx, SETTING), "true\n");
    assert_string_equal(duck_text(fx, KEPT), before);
    silt_schema_unref(schema);
}

static void what_the_user_sets_stays(void **state)
{
    struct duck_fixture *fx = *state;
    struct scan scan;
    silt_schema *schema = duck_schema(fx, LONG("a"));
    duck_write(fx, "SELECT 1", schema, NULL);
    const silt_scan_plan *plan = duck_plan(fx, schema, NULL, NULL);
    assert_int_equal(SILT_OK, fx->plane.vtable->set_option(fx->plane.dp, SL_STR("parquet_metadata_cache"),
                                                           SL_STR("true"), &fx->err));
    open_scan(fx, plan, &scan);
    assert_string_equal(duck_text(fx, SETTING), "true\n");
    close_scan(fx, &scan);
    assert_int_equal(SILT_OK, fx->plane.vtable->set_option(fx->plane.dp, SL_STR("parquet_metadata_cache"),
                                                           SL_STR("false"), &fx->err));
    open_scan(fx, plan, &scan);
    close_scan(fx, &scan);
    assert_string_equal(duck_text(fx, SETTING), "false\n");
    silt_schema_unref(schema);
}

struct worker {
    struct duck_fixture *fx;
    const silt_scan_plan *plan; /* or NULL: the file is read */
    const char *sql;
    int failures;
};

/* No assertions here: cmocka jumps, which only the main thread may. */
static void *work(void *arg)
{
    struct worker *w = arg;
    struct duck_fixture *fx = w->fx;
    silt_error err = SILT_ERROR_INIT;
    for (int round = 0; round < N_ROUNDS; round++) {
        struct sl_dataplane_scan *scan = NULL;
        struct ArrowArrayStream rows = {0};
        struct ArrowArray batch = {0};
        struct sl_buf sql;
        sl_buf_init(&sql, fx->env);
        if (w->plan != NULL) {
            w->failures += fx->plane.vtable->scan_open(fx->plane.dp, w->plan, &scan, &sql, &err) != SILT_OK;
        } else {
            sl_buf_put_c(&sql, w->sql);
        }
        w->failures += fx->plane.vtable->query(fx->plane.dp, NULL, sl_buf_view(&sql), NULL, &rows, &err) != SILT_OK;
        if (rows.release != NULL) {
            w->failures += rows.get_next(&rows, &batch) != 0 || batch.release == NULL || batch.length != 1000;
            if (batch.release != NULL) {
                batch.release(&batch);
            }
            rows.release(&rows);
        }
        fx->plane.vtable->scan_close(fx->plane.dp, scan);
        sl_buf_release(&sql);
    }
    return NULL;
}

/* Half of them read copies, so that the setting goes to and fro; queries are enough for looks at the size. */
static void threads_turn_it_on_and_off(void **state)
{
    struct duck_fixture *fx = *state;
    char copy[512];
    struct worker workers[N_THREADS];
    pthread_t threads[N_THREADS];
    silt_schema *schema = duck_schema(fx, LONG("a"));
    duck_write(fx, "SELECT range::BIGINT FROM range(1000)", schema, NULL);
    (void)snprintf(copy, sizeof(copy), "COPY (FROM range(1000)) TO '%s/own.parquet' (FORMAT parquet)", fx->dir);
    assert_int_equal(duck_try_query(fx, copy), SILT_OK);
    const char *sql = sl_arena_printf(&fx->arena, "FROM read_parquet('%s/own.parquet')", fx->dir);
    const silt_scan_plan *plan = duck_plan(fx, schema, NULL, NULL);
    for (int i = 0; i < N_THREADS; i++) {
        workers[i] = (struct worker){.fx = fx, .plan = i % 2 == 0 ? plan : NULL, .sql = sql};
        assert_int_equal(0, pthread_create(&threads[i], NULL, work, &workers[i]));
    }
    for (int i = 0; i < N_THREADS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
        assert_int_equal(0, workers[i].failures);
    }
    assert_string_equal(duck_text(fx, SETTING), "true\n");
    silt_schema_unref(schema);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, duck_setup, duck_teardown)
#define TEST_MEMORY(function) cmocka_unit_test_setup_teardown(function, duck_setup_memory, duck_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(past_the_bound_nothing_more_is_kept), TEST(files_being_written_are_not_kept),
        TEST_MEMORY(copies_are_not_kept),          TEST_MEMORY(what_the_user_sets_stays),
        TEST_MEMORY(threads_turn_it_on_and_off),
    };
    return cmocka_run_group_tests_name("duck_cache", tests, NULL, NULL);
}
