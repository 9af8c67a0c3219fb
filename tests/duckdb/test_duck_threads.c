/*
 * The data plane from several threads at once, and after its database has died.
 */
#include "duck_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/arrow.h"
#include "kernel/engine/engine.h"

#define N_THREADS 4
#define N_ROUNDS 10

#define FLAT(name, type) "{\"name\":\"" name "\",\"type\":\"" type "\",\"nullable\":true,\"metadata\":{}}"

struct worker {
    struct duck_fixture *fx;
    const silt_schema *schema;
    int number;
    int failures;
};

struct told {
    struct duck_fixture *fx;
    int64_t rows;
};

static bool count_rows(void *ctx, const silt_written_file *file)
{
    ((struct told *)ctx)->rows += file->num_rows;
    return true;
}

/* No assertions here: cmocka jumps, which only the main thread may. */
static void *work(void *arg)
{
    struct worker *w = arg;
    const char *const partition[] = {"p"};
    for (int round = 0; round < N_ROUNDS; round++) {
        struct told told = {.fx = w->fx};
        silt_error err = SILT_ERROR_INIT;
        struct ArrowArrayStream rows = {0};
        char sql[256];
        (void)snprintf(sql, sizeof(sql), "SELECT i + %d, 'k' || (i %% 3) FROM range(1000) t(i)", w->number);
        const silt_parquet_write request = {.size = sizeof(request),
                                            .storage = w->fx->storage,
                                            .dir = w->fx->root,
                                            .path_prefix = "",
                                            .schema = w->schema,
                                            .partition_columns = partition,
                                            .n_partition_columns = 1,
                                            .codec = "zstd",
                                            .target_file_size = 1000000,
                                            .on_file = count_rows,
                                            .on_file_ctx = &told};
        w->failures += w->fx->plane.vtable->query(w->fx->plane.dp, NULL, sl_str_from(sql), NULL, &rows, &err) !=
                       SILT_OK;
        w->failures += w->fx->plane.vtable->parquet->write(w->fx->plane.dp, NULL, &request, &rows, &err) != SILT_OK;
        w->failures += told.rows != 1000;
    }
    return NULL;
}

static void writers_run_side_by_side(void **state)
{
    struct duck_fixture *fx = *state;
    silt_schema *schema = duck_schema(fx, FLAT("a", "long") "," FLAT("p", "string"));
    struct worker workers[N_THREADS];
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++) {
        workers[i] = (struct worker){.fx = fx, .schema = schema, .number = i};
        assert_int_equal(0, pthread_create(&threads[i], NULL, work, &workers[i]));
    }
    for (int i = 0; i < N_THREADS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
        assert_int_equal(0, workers[i].failures);
    }
    assert_int_equal(N_THREADS * N_ROUNDS * 3, duck_count_files(fx->root));
    silt_schema_unref(schema);
}

static void *open_plane(void *arg)
{
    struct worker *w = arg;
    struct sl_dataplane_ref plane;
    silt_error err = SILT_ERROR_INIT;
    w->failures = sl_engine_dataplane(w->fx->engine, &plane, &err) != SILT_OK || plane.dp != w->fx->plane.dp;
    return NULL;
}

static void an_engine_has_one_data_plane(void **state)
{
    struct duck_fixture *fx = *state;
    struct worker workers[N_THREADS];
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++) {
        workers[i] = (struct worker){.fx = fx};
        assert_int_equal(0, pthread_create(&threads[i], NULL, open_plane, &workers[i]));
    }
    for (int i = 0; i < N_THREADS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
        assert_int_equal(0, workers[i].failures);
    }
}

/* Shredding by an impossible type is one of the few ways to a fatal error, see the notes on DuckDB. */
static void dead_database_is_opened_again(void **state)
{
    struct duck_fixture *fx = *state;
    silt_schema *schema = duck_schema(fx, FLAT("a", "long") "," FLAT("p", "decimal(9,2)"));
    const struct duck_write_options options = {.partition_columns = {"p"}, .n_partition_columns = 1};
    duck_write(fx, "SELECT 1, 2.5", schema, &options);
    assert_int_equal(SILT_OK, fx->plane.vtable->set_option(fx->plane.dp, SL_STR("threads"), SL_STR("1"), &fx->err));
    const silt_scan_plan *plan = duck_plan(fx, schema, &options, NULL);
    struct sl_dataplane_scan *scan = NULL;
    struct sl_buf sql;
    sl_buf_init(&sql, fx->env);
    assert_int_equal(SILT_OK, fx->plane.vtable->scan_open(fx->plane.dp, plan, &scan, &sql, &fx->err));
    char copy[512];
    (void)snprintf(copy, sizeof(copy),
                   "COPY (SELECT 1::VARIANT AS v) TO '%s/v.parquet' (FORMAT parquet, SHREDDING {v: 'NULL'})", fx->dir);
    const silt_status status = duck_try_query(fx, copy);
    if (status == SILT_OK) {
        print_message("this DuckDB does not die of it\n");
    }
    assert_string_equal("1|2.50\n", duck_text(fx, sl_buf_cstr(&sql)));
    assert_string_equal("1\n", duck_text(fx, "SELECT current_setting('threads')::INTEGER"));
    fx->plane.vtable->scan_close(fx->plane.dp, scan);
    sl_buf_release(&sql);
    silt_schema_unref(schema);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, duck_setup, duck_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(writers_run_side_by_side),
        TEST(an_engine_has_one_data_plane),
        TEST(dead_database_is_opened_again),
    };
    return cmocka_run_group_tests_name("duck_threads", tests, NULL, NULL);
}
