/* Data skipping: a file is dropped only if it certainly has no row that a filter lets through. */
#include "kernel/scan/data_skip.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/time.h"
#include "schema/value.h"
#include "silt/silt.h"
#include "test_env.h"

static struct test_env t;
static silt_schema *schema;

static const struct silt_type long_type = {.kind = SILT_TYPE_LONG};
static const struct silt_type double_type = {.kind = SILT_TYPE_DOUBLE};
static const struct silt_type text_type = {.kind = SILT_TYPE_STRING};
static const struct silt_type time_type = {.kind = SILT_TYPE_TIMESTAMP};
static const struct sl_partition_column partitions[] = {{.name = {"p", 1}, .type = &long_type, .physical = {"p", 1}}};

enum {
    X,
    Y,
    S,
    AT,
    P,
    N_COLUMNS
};
static const struct silt_field fields[N_COLUMNS] = {{.name = {"x", 1}, .type = &long_type, .nullable = true},
                                                    {.name = {"y", 1}, .type = &double_type, .nullable = true},
                                                    {.name = {"s", 1}, .type = &text_type, .nullable = true},
                                                    {.name = {"at", 2}, .type = &time_type, .nullable = true},
                                                    {.name = {"p", 1}, .type = &long_type, .nullable = true}};

static int set_up(void **state)
{
    (void)state;
    test_env_init(&t);
    return sl_schema_from_fields(&t.env, fields, N_COLUMNS, &schema, NULL) == SILT_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    silt_schema_unref(schema);
    test_env_check(&t);
    return 0;
}

static silt_expr *parse(const silt_schema *of, const char *text)
{
    silt_expr *expr = NULL;
    silt_error err = SILT_ERROR_INIT;
    if (silt_expr_parse(&t.env, text, strlen(text), of, &expr, &err) != SILT_OK) {
        fail_msg("%s: %s", text, err.message);
    }
    return expr;
}

/* Would a file with these statistics (NULL: none) and partition value be read? */
static bool keeps_of(const silt_schema *of, const char *predicate, const char *stats, silt_value p)
{
    struct sl_arena arena;
    struct sl_scan_filter filter;
    struct sl_bounds bounds[64];
    sl_arena_init(&arena, &t.env);
    silt_expr *expr = parse(of, predicate);
    assert_int_equal(sl_scan_filter_make(&arena, expr, of, partitions, 1, &filter, NULL), SILT_OK);
    enum sl_truth truths[64];
    struct sl_partition_tuple tuple = {.values = &p, .truths = truths};
    struct sl_partition_view view = {&filter, &p};
    assert_true(filter.n_conjuncts <= 64 && filter.n_columns <= 64);
    bool keep = true;
    for (size_t i = 0; i < filter.n_conjuncts; i++) {
        truths[i] = sl_eval_predicate(filter.conjuncts[i].node, sl_partition_lookup, &view, &arena);
        keep = keep && truths[i] != SL_FALSE && truths[i] != SL_NULL;
    }
    assert_int_equal(
        sl_stats_bounds_from_json(sl_str_from(stats), filter.columns, filter.n_columns, &arena, bounds, NULL), SILT_OK);
    keep = keep && sl_data_skip_may_match(&filter, &tuple, bounds, &arena);
    silt_expr_unref(expr);
    sl_arena_release(&arena);
    return keep;
}

static bool keeps(const char *predicate, const char *stats)
{
    return keeps_of(schema, predicate, stats, sl_value_i64(SILT_TYPE_LONG, 1));
}

/* ---- missing statistics ---- */

static void column_beyond_the_indexed_ones_keeps_the_file_whatever_its_nullability(void **state)
{
    (void)state;
    static const struct silt_type integer = {.kind = SILT_TYPE_INTEGER};
    struct silt_field many[35];
    char names[35][8];
    char stats[4096];
    size_t len = (size_t)snprintf(stats, sizeof(stats), "{\"numRecords\":2,\"minValues\":{");
    for (size_t i = 0; i < 34; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "c%zu", i + 1);
        many[i] = (struct silt_field){.name = sl_str_from(names[i]), .type = &integer};
        if (i < 32) {
            len += (size_t)snprintf(stats + len, sizeof(stats) - len, "%s\"%s\":5", i > 0 ? "," : "", names[i]);
        }
    }
    (void)snprintf(stats + len, sizeof(stats) - len, "}}");
    many[34] = (struct silt_field){.name = SL_STR("p"), .type = &long_type};
    silt_schema *wide = NULL;
    assert_int_equal(sl_schema_from_fields(&t.env, many, 35, &wide, NULL), SILT_OK);
    silt_value p = sl_value_i64(SILT_TYPE_LONG, 1);
    assert_true(keeps_of(wide, "c33 = 100", stats, p));
    assert_true(keeps_of(wide, "c33 IS NULL", stats, p));
    assert_false(keeps_of(wide, "c32 < 5", stats, p));
    assert_true(keeps_of(wide, "p = 1", stats, p));
    assert_false(keeps_of(wide, "p = 2", stats, p));
    assert_false(keeps_of(wide, "p = 2 AND c33 = 1", stats, p));
    assert_false(keeps_of(wide, "p = 2 OR c1 < 3", stats, p));
    assert_true(keeps_of(wide, "p = 2 OR c33 < 3", stats, p));
    silt_schema_unref(wide);
}

static void missing_parts_of_statistics_keep_the_file(void **state)
{
    (void)state;
    static const char *const stats[] = {"",
                                        "{}",
                                        "{\"numRecords\":3}",
                                        "{\"minValues\":{\"x\":null},\"maxValues\":{\"x\":null}}",
                                        "{\"minValues\":{},\"maxValues\":{},\"nullCount\":{}}",
                                        "broken",
                                        "{\"numRecords\":3,\"nullCount\":{\"x\":1}}"};
    static const char *const predicates[] = {"x = 1",  "x < 1",       "x > 1",      "x IS NULL",
                                             "x <> 1", "x IN (1, 2)", "NOT (x = 1)"};
    for (size_t i = 0; i < sizeof(stats) / sizeof(stats[0]); i++) {
        for (size_t j = 0; j < sizeof(predicates) / sizeof(predicates[0]); j++) {
            if (!keeps(predicates[j], stats[i])) {
                fail_msg("%s dropped a file with statistics %s", predicates[j], stats[i]);
            }
        }
    }
    assert_true(keeps("x < 5", "{\"minValues\":{\"x\":1}}"));
    assert_true(keeps("x > 5", "{\"minValues\":{\"x\":1}}"));
    assert_false(keeps("x < 1", "{\"minValues\":{\"x\":1}}"));
}

/* ---- three-valued logic ---- */

static void only_certainly_false_drops(void **state)
{
    (void)state;
    static const char *const stats[] = {
        "{\"numRecords\":3,\"minValues\":{\"x\":1},\"maxValues\":{\"x\":3},\"nullCount\":{\"x\":0}}", "",
        "{\"numRecords\":3,\"minValues\":{\"x\":7},\"maxValues\":{\"x\":9}}",
        "{\"numRecords\":3,\"nullCount\":{\"x\":3}}"};
    /* For each file: K must be kept, D is worth dropping, ? either is right. */
    static const struct {
        const char *predicate;
        const char *expected;
    } cases[] = {
        {"x < 2 AND x IS NOT NULL", "KKDD"},
        {"x < 2 AND CAST(x AS STRING) LIKE '%z'", "KKD?"},
        {"x < 2 OR CAST(x AS STRING) LIKE '%7'", "KKK?"},
        {"NOT (x < 8 OR CAST(x AS STRING) LIKE '%1')", "DKK?"},
        {"NOT (x < 8 AND CAST(x AS STRING) LIKE '%7')", "KKK?"},
        {"x IS NULL", "DKKK"},
        {"x IS NOT NULL", "KKKD"},
        {"x <=> NULL", "DKKK"},
        {"x <=> 2", "KKDD"},
        {"NOT (x < 5)", "DKKD"},
        {"x <> 5", "KKKD"},
        {"x <> 2", "KKKD"},
        {"x IN (2, NULL)", "KKDD"},
        {"x BETWEEN 4 AND 6", "DKDD"},
        {"x = 2 OR x = 8", "KKKD"},
        {"x > 3 AND x < 7", "DKDD"},
        {"(x = 2 OR x IS NULL) AND x < 5", "KK?D"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (size_t file = 0; file < 4; file++) {
            bool keep = keeps(cases[i].predicate, stats[file]);
            char expected = cases[i].expected[file];
            if ((expected == 'K' && !keep) || (expected == 'D' && keep)) {
                fail_msg("%s on file %zu: %s", cases[i].predicate, file + 1, keep ? "kept" : "dropped");
            }
        }
    }
}

static void infinite_values_and_zeros_of_both_signs_are_found(void **state)
{
    (void)state;
    assert_true(keeps("y > 5.0", "{\"numRecords\":2,\"minValues\":{\"y\":1.0},\"maxValues\":{\"y\":Infinity}}"));
    assert_true(keeps("y > 5.0", "{\"numRecords\":2,\"minValues\":{\"y\":1.0},\"maxValues\":{\"y\":\"Infinity\"}}"));
    assert_true(keeps("y > 5.0", "{\"numRecords\":2,\"minValues\":{\"y\":1.0},\"maxValues\":{\"y\":\"NaN\"}}"));
    assert_true(keeps("y = 0.0", "{\"minValues\":{\"y\":-0.0},\"maxValues\":{\"y\":-0.0}}"));
    assert_true(keeps("y = -0.0", "{\"minValues\":{\"y\":0.0},\"maxValues\":{\"y\":0.0}}"));
}

static void file_without_rows_is_dropped_whatever_else_is_missing(void **state)
{
    (void)state;
    assert_false(keeps("x IS NULL", "{\"numRecords\":0}"));
    assert_false(keeps("x = 1 OR y <> 2.0", "{\"numRecords\":0,\"nullCount\":{\"x\":0}}"));
    /* It has none, but values: that cannot be believed. */
    assert_true(keeps("x = 1", "{\"numRecords\":0,\"minValues\":{\"x\":1}}"));
}

static void null_partition_value_is_known(void **state)
{
    (void)state;
    silt_value null = sl_value_null(SILT_TYPE_LONG);
    assert_false(keeps_of(schema, "p = 1 OR x = 9", "{\"minValues\":{\"x\":1},\"maxValues\":{\"x\":3}}", null));
    assert_true(keeps_of(schema, "p IS NULL AND x = 2", "{\"minValues\":{\"x\":1},\"maxValues\":{\"x\":3}}", null));
}

/* ---- random files against random filters ---- */

#define MAX_ROWS 6

static uint64_t seed;

static unsigned chance(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % n;
}

static const char *const words[] = {"",
                                    "a",
                                    "b",
                                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
                                    "ab",
                                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac",
                                    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
#define N_WORDS (sizeof(words) / sizeof(words[0]))

static silt_value random_value(int column)
{
    if (chance(4) == 0) {
        return sl_value_null(fields[column].type->kind);
    }
    switch (column) {
    case Y: return sl_value_f64(SILT_TYPE_DOUBLE, (double)chance(7) - 3 + (chance(2) == 0 ? 0.5 : 0));
    case S: return sl_value_bytes(SILT_TYPE_STRING, sl_str_from(words[chance(N_WORDS)]));
    case AT: return sl_value_i64(SILT_TYPE_TIMESTAMP, (int64_t)chance(4000) - 2000);
    default: return sl_value_i64(SILT_TYPE_LONG, (int64_t)chance(7) - 3);
    }
}

/* As a writer would: text cut to 32 characters with no tie-breaker, timestamps to milliseconds. */
static void put_bound(struct sl_buf *out, int column, const silt_value *v)
{
    if (column == S) {
        struct sl_str text = sl_value_get_str(v);
        sl_buf_printf(out, "\"s\":\"%.*s\"", text.len > 32 ? 32 : (int)text.len, text.ptr);
    } else if (column == AT) {
        sl_buf_put_c(out, "\"at\":\"");
        sl_timestamp_format(out, sl_floor_div(v->as.i64, 1000) * 1000, 'T', 3);
        sl_buf_put_c(out, "Z\"");
    } else {
        sl_buf_printf(out, "\"%s\":", fields[column].name.ptr);
        sl_value_print(out, v);
    }
}

struct random_file {
    silt_value rows[MAX_ROWS][N_COLUMNS];
    size_t n_rows;
};

/* Minimum or maximum of each column, some left out. */
static void put_bounds(struct sl_buf *out, const struct random_file *file, const char *key, int sign)
{
    bool first = true;
    sl_buf_printf(out, ",\"%s\":{", key);
    for (int column = 0; column < P; column++) {
        const silt_value *best = NULL;
        for (size_t row = 0; row < file->n_rows; row++) {
            const silt_value *v = &file->rows[row][column];
            int order = 0;
            if (!v->is_null && (best == NULL || (sl_value_compare(v, best, &order) && order * sign > 0))) {
                best = v;
            }
        }
        if (best != NULL && chance(8) != 0) {
            sl_buf_put_c(out, first ? "" : ",");
            put_bound(out, column, best);
            first = false;
        }
    }
    sl_buf_put_c(out, "}");
}

static void put_stats(struct sl_buf *out, const struct random_file *file)
{
    bool wide = chance(4) == 0;
    sl_buf_printf(out, "{\"tightBounds\":%s", wide ? "false" : "true");
    if (chance(5) != 0) {
        sl_buf_printf(out, ",\"numRecords\":%zu", file->n_rows);
    }
    put_bounds(out, file, "minValues", -1);
    put_bounds(out, file, "maxValues", 1);
    sl_buf_put_c(out, ",\"nullCount\":{\"none\":0");
    for (int column = 0; column < P; column++) {
        size_t nulls = 0;
        for (size_t row = 0; row < file->n_rows; row++) {
            nulls += file->rows[row][column].is_null ? 1 : 0;
        }
        if (chance(5) != 0) {
            sl_buf_printf(out, ",\"%s\":%zu", fields[column].name.ptr, nulls);
        }
    }
    sl_buf_put_c(out, "}}");
}

static void put_literal(struct sl_buf *out, int column)
{
    silt_value v = random_value(column);
    sl_value_print_sql(out, &v);
}

static void put_predicate(struct sl_buf *out, int depth)
{
    static const char *const operators[] = {"=", "<>", "<", "<=", ">", ">=", "<=>"};
    int column = (int)chance(N_COLUMNS);
    const char *name = fields[column].name.ptr;
    unsigned kind = chance(depth > 0 ? 8 : 5);
    switch (kind) {
    case 0: sl_buf_printf(out, "%s IS %sNULL", name, chance(2) == 0 ? "NOT " : ""); break;
    case 1:
        sl_buf_printf(out, "%s IN (", name);
        put_literal(out, column);
        sl_buf_put_c(out, ", ");
        put_literal(out, column);
        sl_buf_put_c(out, ")");
        break;
    case 2:
        sl_buf_printf(out, "%s BETWEEN ", name);
        put_literal(out, column);
        sl_buf_put_c(out, " AND ");
        put_literal(out, column);
        break;
    case 5:
        sl_buf_put_c(out, "NOT (");
        put_predicate(out, depth - 1);
        sl_buf_put_c(out, ")");
        break;
    case 6:
    case 7:
        sl_buf_put_c(out, "(");
        put_predicate(out, depth - 1);
        sl_buf_put_c(out, kind == 6 ? ") AND (" : ") OR (");
        put_predicate(out, depth - 1);
        sl_buf_put_c(out, ")");
        break;
    default:
        sl_buf_printf(out, "%s %s ", name, operators[chance(7)]);
        put_literal(out, column);
        break;
    }
}

static bool row_value(void *ctx, const struct sl_str *path, size_t path_len, silt_value *out)
{
    const silt_value *row = ctx;
    for (int i = 0; i < N_COLUMNS; i++) {
        if (path_len == 1 && sl_str_eq(path[0], fields[i].name)) {
            *out = row[i];
            return true;
        }
    }
    return false;
}

static bool has_matching_row(const char *predicate, const struct random_file *file)
{
    struct sl_arena arena;
    sl_arena_init(&arena, &t.env);
    silt_expr *expr = parse(schema, predicate);
    bool found = false;
    for (size_t row = 0; row < file->n_rows && !found; row++) {
        silt_value values[N_COLUMNS];
        memcpy(values, file->rows[row], sizeof(values));
        found = sl_eval_predicate(expr->root, row_value, values, &arena) == SL_TRUE;
    }
    silt_expr_unref(expr);
    sl_arena_release(&arena);
    return found;
}

static void random_files_with_matching_rows_are_never_dropped(void **state)
{
    (void)state;
    seed = 0x9E3779B97F4A7C15U;
    size_t n_dropped = 0;
    size_t n_empty = 0;
    for (int i = 0; i < 4000; i++) {
        struct random_file file = {.n_rows = chance(MAX_ROWS + 1)};
        silt_value p = random_value(P);
        for (size_t row = 0; row < file.n_rows; row++) {
            for (int column = 0; column < N_COLUMNS; column++) {
                file.rows[row][column] = column == P ? p : random_value(column);
            }
        }
        struct sl_buf stats;
        struct sl_buf predicate;
        sl_buf_init(&stats, &t.env);
        sl_buf_init(&predicate, &t.env);
        put_stats(&stats, &file);
        put_predicate(&predicate, 3);
        bool keep = keeps_of(schema, sl_buf_cstr(&predicate), sl_buf_cstr(&stats), p);
        bool matches = has_matching_row(sl_buf_cstr(&predicate), &file);
        if (matches && !keep) {
            fail_msg("%s dropped a file with a matching row; statistics %s", sl_buf_cstr(&predicate),
                     sl_buf_cstr(&stats));
        }
        n_dropped += keep ? 0 : 1;
        n_empty += matches ? 0 : 1;
        sl_buf_release(&stats);
        sl_buf_release(&predicate);
    }
    /* Skipping must be worth its while, too: of the files without a matching row a good part is dropped. */
    assert_true(n_dropped * 3 > n_empty);
}

/* ---- many files ---- */

#define N_FILES 5000

struct many {
    struct sl_arena arena;
    silt_expr *expr;
    struct sl_scan_filter filter;
    struct sl_partition_tuple tuple;
    enum sl_truth truths[2];
    struct sl_skip_file *files;
};

/* File i holds x from i to i + 1; the filter wants x >= 4000. */
static void make_many(struct many *many)
{
    static silt_value p;
    memset(many, 0, sizeof(*many));
    sl_arena_init(&many->arena, &t.env);
    many->expr = parse(schema, "x >= 4000");
    assert_int_equal(sl_scan_filter_make(&many->arena, many->expr, schema, partitions, 1, &many->filter, NULL),
                     SILT_OK);
    p = sl_value_i64(SILT_TYPE_LONG, 1);
    many->truths[0] = SL_UNKNOWN;
    many->tuple = (struct sl_partition_tuple){.values = &p, .truths = many->truths};
    many->files = sl_arena_alloc_array(&many->arena, N_FILES, sizeof(*many->files));
    assert_non_null(many->files);
    for (int i = 0; i < N_FILES; i++) {
        char *text = sl_arena_printf(&many->arena, "{\"minValues\":{\"x\":%d},\"maxValues\":{\"x\":%d}}", i, i + 1);
        many->files[i] = (struct sl_skip_file){.stats = sl_str_from(text), .tuple = &many->tuple};
    }
}

static void check_many(struct many *many, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(many->files[i].keep, i + 1 >= 4000);
    }
    silt_expr_unref(many->expr);
    sl_arena_release(&many->arena);
}

static void run_backwards(void *ctx, size_t n, void (*fn)(void *arg, size_t index), void *arg)
{
    size_t *calls = ctx;
    for (size_t i = n; i > 0; i--) {
        fn(arg, i - 1);
        (*calls)++;
    }
}

static silt_engine *make_engine(const silt_executor *executor)
{
    silt_engine *engine = NULL;
    silt_storage_registry *stores = NULL;
    assert_int_equal(silt_storage_registry_new(&t.env, &stores, NULL), SILT_OK);
    silt_engine_options options = {.size = sizeof(options),
                                   .abi_version = SILT_ABI_VERSION,
                                   .env = &t.env,
                                   .executor = executor,
                                   .stores = stores};
    assert_int_equal(silt_engine_new(&options, &engine, NULL), SILT_OK);
    return engine;
}

static void many_files_are_judged_on_the_executor(void **state)
{
    (void)state;
    size_t calls = 0;
    silt_executor executor = {sizeof(executor), SILT_ABI_VERSION, &calls, run_backwards};
    silt_engine *engine = make_engine(&executor);
    struct many many;
    make_many(&many);
    assert_int_equal(sl_data_skip(engine, NULL, &many.filter, many.files, N_FILES, NULL), SILT_OK);
    assert_true(calls > 1);
    check_many(&many, N_FILES);
    calls = 0;
    make_many(&many);
    assert_int_equal(sl_data_skip(engine, NULL, &many.filter, many.files, 100, NULL), SILT_OK);
    assert_int_equal(calls, 0);
    check_many(&many, 100);
    silt_engine_unref(engine);
}

static void cancelled_call_ends_planning(void **state)
{
    (void)state;
    const volatile int cancel = 1;
    silt_call call = {.size = sizeof(call), .abi_version = SILT_ABI_VERSION, .cancel = &cancel};
    silt_engine *engine = make_engine(NULL);
    struct many many;
    silt_error err = SILT_ERROR_INIT;
    make_many(&many);
    assert_int_equal(sl_data_skip(engine, &call, &many.filter, many.files, N_FILES, &err), SILT_ECANCELLED);
    assert_int_equal(err.status, SILT_ECANCELLED);
    check_many(&many, 0);
    silt_engine_unref(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(column_beyond_the_indexed_ones_keeps_the_file_whatever_its_nullability, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(missing_parts_of_statistics_keep_the_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_certainly_false_drops, set_up, tear_down),
        cmocka_unit_test_setup_teardown(infinite_values_and_zeros_of_both_signs_are_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file_without_rows_is_dropped_whatever_else_is_missing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(null_partition_value_is_known, set_up, tear_down),
        cmocka_unit_test_setup_teardown(random_files_with_matching_rows_are_never_dropped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_files_are_judged_on_the_executor, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cancelled_call_ends_planning, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
