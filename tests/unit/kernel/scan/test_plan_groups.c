/*
 * Row groups are left out only when the long way drops every file in them: random files, whose row groups' bounds an independent calculator
 * makes, told by a handler.
 */
#include "test_env.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/engine/engine.h"
#include "kernel/scan/data_skip.h"
#include "kernel/scan/plan_groups.h"
#include "silt/silt.h"
#include "silt/version.h"

#define N_GROUPS 4000
#define GROUP_ROWS 6

/* A row of the checkpoint: a file with one column, or something else. */
struct row {
    bool is_add, has_rows, has_min, has_max;
    int64_t rows, min, max;
};

/* What the handler is to tell of the groups, and what is not as it should be. */
struct fixture {
    struct test_env test;
    silt_schema *schema;
    silt_engine *engine;
    struct sl_arena arena;
    const struct row *rows; /* GROUP_ROWS a group */
    size_t n_groups;
    silt_type_kind stored; /* of the bounds */
    bool without_nulls;    /* the numbers of nulls are not told */
    bool fails;
    silt_error err;
};

/* ---- the handler ---- */

static void close_nothing(void *impl)
{
    (void)impl;
}

static silt_status refuse_read(void *impl, const silt_call *call, const silt_parquet_read *request,
                               struct ArrowArrayStream *out, silt_error *err)
{
    (void)impl;
    (void)call;
    (void)request;
    (void)out;
    (void)err;
    return SILT_EUNSUPPORTED;
}

static silt_status refuse_write(void *impl, const silt_call *call, const silt_parquet_write *request,
                                struct ArrowArrayStream *rows, silt_error *err)
{
    (void)impl;
    (void)call;
    (void)request;
    (void)rows;
    (void)err;
    return SILT_EUNSUPPORTED;
}

static bool value_of(const struct row *row, const silt_parquet_leaf *leaf, int64_t *out)
{
    const char *part = leaf->path[leaf->path_len > 2 ? 2 : 1];
    if (strcmp(part, "minValues") == 0) {
        *out = row->min;
        return row->is_add && row->has_min;
    }
    if (strcmp(part, "maxValues") == 0) {
        *out = row->max;
        return row->is_add && row->has_max;
    }
    *out = strcmp(part, "numRecords") == 0 ? row->rows : 7;
    return row->is_add && (strcmp(part, "numRecords") != 0 || row->has_rows);
}

static silt_leaf_bounds bounds_of(const struct fixture *f, const struct row *rows, const silt_parquet_leaf *leaf)
{
    silt_leaf_bounds bounds = {.n_null = 0, .kind = leaf->path_len > 3 ? f->stored : SILT_TYPE_LONG};
    for (int i = 0; i < GROUP_ROWS; i++) {
        int64_t value = 0;
        if (!value_of(&rows[i], leaf, &value)) {
            bounds.n_null++;
            continue;
        }
        bounds.least = !bounds.has_bounds || value < bounds.least ? value : bounds.least;
        bounds.most = !bounds.has_bounds || value > bounds.most ? value : bounds.most;
        bounds.has_bounds = true;
    }
    bounds.n_null = f->without_nulls ? -1 : bounds.n_null;
    return bounds;
}

static silt_status tell_groups(void *impl, const silt_call *call, const silt_parquet_groups *request, silt_error *err)
{
    struct fixture *f = impl;
    silt_leaf_bounds bounds[16];
    silt_status status = SILT_OK;
    (void)call;
    assert_in_range(request->n_leaves, 1, 16);
    for (size_t g = 0; g < f->n_groups && status == SILT_OK; g++) {
        const int64_t first = (int64_t)g * GROUP_ROWS;
        for (size_t i = 0; i < request->n_leaves; i++) {
            assert_string_equal(request->leaves[i].path[0], "add");
            bounds[i] = bounds_of(f, f->rows + first, &request->leaves[i]);
        }
        status = request->visit(request->ctx, (silt_row_range){first, first + GROUP_ROWS}, bounds, err);
    }
    return f->fails ? SILT_ECORRUPT : status;
}

static const silt_parquet_handler_vtable handler = {.size = sizeof(handler),
                                                    .abi_version = SILT_ABI_VERSION,
                                                    .name = "test",
                                                    .close = close_nothing,
                                                    .read = refuse_read,
                                                    .write = refuse_write,
                                                    .groups = tell_groups};

/* ---- set-up ---- */

static void make_engine(struct fixture *f, const silt_parquet_handler_vtable *vtable)
{
    silt_storage_registry *stores = NULL;
    assert_int_equal(silt_storage_registry_new(&f->test.env, &stores, &f->err), SILT_OK);
    const silt_engine_options options = {.size = sizeof(options),
                                         .abi_version = SILT_ABI_VERSION,
                                         .env = &f->test.env,
                                         .stores = stores,
                                         .parquet = {vtable, f}};
    assert_int_equal(silt_engine_new(&options, &f->engine, &f->err), SILT_OK);
}

static int open_fixture(void **state)
{
    static const char json[] = "{\"type\":\"struct\",\"fields\":["
                               "{\"name\":\"n\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"
                               "{\"name\":\"b\",\"type\":\"byte\",\"nullable\":true,\"metadata\":{}},"
                               "{\"name\":\"s\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}},"
                               "{\"name\":\"d\",\"type\":\"date\",\"nullable\":true,\"metadata\":{}},"
                               "{\"name\":\"t\",\"type\":\"timestamp\",\"nullable\":true,\"metadata\":{}}]}";
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    f->err = (silt_error)SILT_ERROR_INIT;
    test_env_init(&f->test);
    sl_arena_init(&f->arena, &f->test.env);
    assert_int_equal(silt_schema_from_json(&f->test.env, json, strlen(json), &f->schema, NULL), SILT_OK);
    make_engine(f, &handler);
    *state = f;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *f = *state;
    silt_engine_unref(f->engine);
    silt_schema_unref(f->schema);
    sl_arena_release(&f->arena);
    test_env_check(&f->test);
    free(f);
    return 0;
}

static struct sl_scan_filter filter_of(struct fixture *f, const char *text, silt_expr **owner)
{
    silt_expr *parsed = NULL;
    struct sl_scan_filter facts;
    assert_int_equal(silt_expr_parse(&f->test.env, text, strlen(text), NULL, &parsed, NULL), SILT_OK);
    assert_int_equal(sl_expr_resolve(parsed, f->schema, owner, NULL), SILT_OK);
    assert_int_equal(sl_scan_filter_make(&f->arena, *owner, f->schema, NULL, 0, &facts, NULL), SILT_OK);
    silt_expr_unref(parsed);
    return facts;
}

static silt_status find(struct fixture *f, const struct sl_scan_filter *facts, struct sl_plan_groups *groups)
{
    static const silt_parquet_file file = {.path = "c", .size_bytes = -1};
    const struct sl_log_source source = {.engine = f->engine};
    const struct sl_checkpoint checkpoint = {.parquet = &file, .n_parquet = 1};
    const struct sl_checkpoint_files files = {.source = &source, .checkpoint = &checkpoint};
    sl_plan_groups_init(groups, &f->test.env);
    return sl_plan_groups_find(groups, &files, 0, facts, NULL, &f->err);
}

static bool is_left_out(const struct sl_plan_groups *groups, int64_t row)
{
    for (size_t i = 0; i < groups->ranges.len; i++) {
        const silt_row_range *range = sl_vec_at(&groups->ranges, i);
        if (row >= range->begin && row < range->end) {
            return false;
        }
    }
    return groups->n_rows > row;
}

/* ---- random rows ---- */

static uint64_t random_state = 5;

static int64_t random_below(int64_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((random_state >> 33) % (uint64_t)n);
}

/* Near together in a group, so that some groups lie beside the wanted range. Bounds are in order: of others nothing is known. */
static void make_rows(struct row *rows, silt_type_kind kind)
{
    const int64_t middle = kind == SILT_TYPE_TIMESTAMP ? INT64_C(1577836800000000)
                           : kind == SILT_TYPE_DATE    ? 18262
                                                       : 100;
    const int64_t step = kind == SILT_TYPE_TIMESTAMP ? 500 : 1;
    for (int g = 0; g < N_GROUPS; g++) {
        const int64_t base = random_below(40) == 0 && kind != SILT_TYPE_BYTE ? middle - INT64_C(200000) * step
                                                                             : middle + (random_below(41) - 20) * step;
        const int64_t odd = random_below(3); /* groups in which all is well, too */
        for (int i = 0; i < GROUP_ROWS; i++) {
            struct row *row = &rows[g * GROUP_ROWS + i];
            *row = (struct row){.is_add = random_below(5) > 0,
                                .has_rows = odd > 0 || random_below(9) > 0,
                                .has_min = odd > 0 || random_below(9) > 0,
                                .has_max = odd > 0 || random_below(9) > 0,
                                .rows = odd > 1 ? 5 : random_below(30) - 1};
            row->min = base + random_below(6) * step;
            row->max = row->min + random_below(6) * step;
        }
    }
}

static bool long_way_keeps(struct fixture *f, const struct sl_scan_filter *facts, const struct row *row)
{
    const silt_type_kind kind = facts->columns[0].type->kind;
    const enum sl_truth truths[1] = {SL_UNKNOWN};
    const struct sl_partition_tuple tuple = {.truths = truths};
    const struct sl_claims claims = {.has_rows = row->has_rows, .rows = row->rows};
    struct sl_bounds bounds = {.has_min = row->has_min,
                               .has_max = row->has_max,
                               .min = sl_value_i64(kind, row->min),
                               .max = sl_value_i64(kind, row->max)};
    assert_int_equal(sl_stats_believe(&claims, facts->columns, 1, &f->arena, &bounds, NULL), SILT_OK);
    return sl_data_skip_may_match(facts, &tuple, &bounds, &f->arena);
}

static const char *const filters[] = {"n < 100",
                                      "n = 101",
                                      "104 < n",
                                      "n BETWEEN 99 AND 101",
                                      "n < -9223372036854775808",
                                      "b > 110",
                                      "d = DATE '2020-01-01'",
                                      "d < DATE '2019-12-20'",
                                      "d > DATE '1400-01-01'",
                                      "t < TIMESTAMP '2020-01-01 00:00:00Z'",
                                      "t = TIMESTAMP '2020-01-01 00:00:00.001Z'"};

static void no_group_with_a_file_that_is_kept_is_left_out(void **state)
{
    struct fixture *f = *state;
    static struct row rows[N_GROUPS * GROUP_ROWS];
    f->rows = rows;
    f->n_groups = N_GROUPS;
    for (size_t at = 0; at < sizeof(filters) / sizeof(filters[0]); at++) {
        silt_expr *owner = NULL;
        struct sl_plan_groups groups;
        const struct sl_scan_filter facts = filter_of(f, filters[at], &owner);
        size_t left_out = 0;
        f->stored = facts.columns[0].type->kind;
        make_rows(rows, f->stored);
        assert_int_equal(find(f, &facts, &groups), SILT_OK);
        for (int64_t i = 0; i < N_GROUPS * GROUP_ROWS; i++) {
            const bool gone = is_left_out(&groups, i);
            assert_false(gone && rows[i].is_add && long_way_keeps(f, &facts, &rows[i]));
            left_out += gone;
        }
        if (strcmp(filters[at], "d > DATE '1400-01-01'") != 0 && strncmp(filters[at], "n < -9", 6) != 0) {
            assert_int_equal(groups.n_rows, N_GROUPS * GROUP_ROWS);
            assert_in_range(left_out, N_GROUPS * GROUP_ROWS / 20, N_GROUPS * GROUP_ROWS); /* it is of use */
        }
        sl_plan_groups_release(&groups);
        silt_expr_unref(owner);
    }
}

/* ---- what says too little ---- */

static void expect_all(struct fixture *f, const char *filter, const char *why)
{
    silt_expr *owner = NULL;
    struct sl_plan_groups groups;
    const struct sl_scan_filter facts = filter_of(f, filter, &owner);
    assert_int_equal(find(f, &facts, &groups), SILT_OK);
    if (sl_plan_groups_leave_out(&groups)) {
        fail_msg("%s", why);
    }
    sl_plan_groups_release(&groups);
    silt_expr_unref(owner);
}

static void groups_that_say_too_little_are_read(void **state)
{
    struct fixture *f = *state;
    struct row rows[GROUP_ROWS];
    for (int i = 0; i < GROUP_ROWS; i++) {
        rows[i] = (struct row){
            .is_add = i != 2, .has_rows = true, .has_min = true, .has_max = true, .rows = 3, .min = 50, .max = 60};
    }
    f->rows = rows;
    f->n_groups = 1;
    f->stored = SILT_TYPE_INTEGER;
    silt_expr *owner = NULL;
    struct sl_plan_groups groups;
    const struct sl_scan_filter facts = filter_of(f, "n > 60", &owner);
    assert_int_equal(find(f, &facts, &groups), SILT_OK);
    assert_true(sl_plan_groups_leave_out(&groups));
    assert_int_equal(groups.ranges.len, 0);
    sl_plan_groups_release(&groups);
    silt_expr_unref(owner);

    expect_all(f, "n > 59", "a value is in the range");
    expect_all(f, "s = 'x'", "text has no short way");
    f->stored = SILT_TYPE_DATE;
    expect_all(f, "n > 60", "a day is no number");
    f->stored = SILT_TYPE_LONG;
    f->without_nulls = true;
    expect_all(f, "n > 60", "not every file need have statistics");
    f->without_nulls = false;
    rows[3].has_max = false;
    expect_all(f, "n > 60", "a file has no greatest value");
    rows[3].has_max = true;
    rows[3].min = 70;
    expect_all(f, "n > 60", "a file's bounds are in the wrong order, and one lies in the range");
    rows[3].min = 50;
    rows[3].max = 40;
    expect_all(f, "n < 45", "the same below");
    rows[3].max = 60;
    rows[3].rows = 0;
    expect_all(f, "n > 60", "a file without rows contradicts itself");
    rows[3].rows = 3;
    rows[3].max = 200;
    expect_all(f, "b > 200", "a bound that is no byte claims nothing");
}

static void a_handler_that_cannot_tell_leaves_nothing_out(void **state)
{
    struct fixture *f = *state;
    silt_parquet_handler_vtable older = handler;
    older.size = offsetof(silt_parquet_handler_vtable, groups);
    silt_engine_unref(f->engine);
    f->n_groups = 1;
    make_engine(f, &older);
    expect_all(f, "n > 60", "the handler has no such slot");
}

static void a_failure_is_told(void **state)
{
    struct fixture *f = *state;
    silt_expr *owner = NULL;
    struct sl_plan_groups groups;
    const struct sl_scan_filter facts = filter_of(f, "n > 60", &owner);
    f->fails = true;
    f->n_groups = 0;
    assert_int_not_equal(find(f, &facts, &groups), SILT_OK);
    sl_plan_groups_release(&groups);
    silt_expr_unref(owner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_group_with_a_file_that_is_kept_is_left_out, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(groups_that_say_too_little_are_read, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(a_handler_that_cannot_tell_leaves_nothing_out, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(a_failure_is_told, open_fixture, close_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
