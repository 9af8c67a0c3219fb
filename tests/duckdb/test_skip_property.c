/*
 * Data skipping is never wrong: random predicates over random tables, whose statistics an independent calculator made and spoilt as writers do,
 * against a full scan of the rows by the engine. No file that has a matching row may be dropped, and many that have none must be.
 *
 * The test is itself tested: faults are planted between what was read and the decision, and each has to be found.
 */
#include "duck_fixture.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/scan/data_skip.h"
#include "kernel/scan/stats_arrow.h"
#include "kernel/scan/stats_reader.h"
#include "schema/value.h"
#include "skip_query.h"
#include "skip_stats.h"

/* Planning a query is what costs: each predicate is asked of a few tables at once. A case is one predicate over one table. */
#define ROUNDS 200
#define TABLES 2
#define PREDICATES 250
#define CASES (ROUNDS * TABLES * PREDICATES)
#define FILES (TABLES * SKIP_MAX_FILES)
#define DEPTH 3

/* Each planted fault must show within so many cases. */
#define FOUND_WITHIN 50000

/* Of the pairs of file and predicate without a matching row, at least so many in a hundred are dropped. */
#define DROPPED_PERCENT 40

enum fault {
    NO_FAULT,
    FAULT_STRICT,       /* < for <= */
    FAULT_NULLS,        /* an unknown null count is taken for none */
    FAULT_SIGNED_ZERO,  /* -0.0 < 0.0 */
    FAULT_NAN,          /* a maximum bounds NaN */
    FAULT_BARE_PREFIX,  /* a cut text bounds what was cut off */
    FAULT_BARE_MS,      /* a cut timestamp, too */
    FAULT_OLD_CALENDAR, /* days of old are taken as they stand */
    FAULT_FLOAT_TEXT,   /* the text of a float is taken for a double */
    FAULT_ROUNDED,      /* a decimal that a double rounded is taken as it stands */
    FAULT_NULL_STRUCTS, /* no nulls in a field: none in a null struct either */
    FAULT_WIDE,         /* tightBounds is ignored where bounds answer a query */
    N_FAULTS
};
static const char *const fault_names[N_FAULTS] = {
    "none",         "< for <=",           "null rule dropped", "-0.0 below 0.0",  "NaN below a maximum",
    "bare prefix",  "milliseconds",       "old calendar",      "text of a float", "rounded by a double",
    "null structs", "tightBounds ignored"};

struct run {
    struct duck_fixture *fx;
    silt_schema *schema;
    struct sl_partition_column partitions[1];
    struct skip_random random;
    struct skip_table tables[TABLES];
    struct skip_stats stats[FILES];
    struct sl_arena table_arena;
    struct sl_arena scratch;
    silt_expr *predicates[PREDICATES];
    bool truths[PREDICATES][FILES];
    size_t n_cases;
    size_t n_empty;   /* pairs without a matching row */
    size_t n_dropped; /* of them */
    size_t found_at[N_FAULTS];
    size_t n_extremes;
};

static const struct skip_file *file_at(const struct run *run, size_t file)
{
    return &run->tables[file / SKIP_MAX_FILES].files[file % SKIP_MAX_FILES];
}

/* ---- predicates ---- */

/* A predicate that the expression layer takes and the engine can be asked. */
static silt_expr *make_predicate(struct run *run, struct sl_buf *select)
{
    for (;;) {
        struct sl_buf text;
        silt_expr *expr = NULL;
        struct sl_buf sql;
        sl_buf_init(&text, run->fx->env);
        sl_buf_init(&sql, run->fx->env);
        skip_predicate(&run->random, DEPTH, &text);
        const silt_status status = silt_expr_parse(run->fx->env, text.data, text.len, run->schema, &expr, NULL);
        const bool good = status == SILT_OK && sl_expr_print_duckdb(&sql, expr->root, NULL) == SILT_OK;
        if (good) {
            sl_buf_printf(select, ", bool_or(coalesce(%.*s, FALSE))", SL_FMT(sl_buf_view(&sql)));
        } else {
            silt_expr_unref(expr);
            expr = NULL;
        }
        sl_buf_release(&text);
        sl_buf_release(&sql);
        if (good) {
            return expr;
        }
    }
}

/* Which files have a row for which each predicate is true, by one scan of all rows. */
static void ask_engine(struct run *run)
{
    struct sl_buf sql;
    struct sl_buf select;
    sl_buf_init(&sql, run->fx->env);
    sl_buf_init(&select, run->fx->env);
    memset(run->truths, 0, sizeof(run->truths));
    for (size_t i = 0; i < PREDICATES; i++) {
        run->predicates[i] = make_predicate(run, &select);
    }
    sl_buf_put_c(&sql, "WITH ");
    const bool any = skip_tables_print(run->tables, TABLES, &sql);
    sl_buf_printf(&sql, " SELECT file%s FROM t GROUP BY file", sl_buf_cstr(&select));
    for (const char *at = any ? duck_text(run->fx, sl_buf_cstr(&sql)) : ""; *at != '\0';) {
        char *next = NULL;
        const size_t file = strtoul(at, &next, 10);
        assert_true(file < FILES);
        for (size_t i = 0; i < PREDICATES; i++) {
            run->truths[i][file] = next[1] == 't';
            next += run->truths[i][file] ? sizeof("|true") - 1 : sizeof("|false") - 1;
        }
        at = next + 1;
    }
    sl_buf_release(&sql);
    sl_buf_release(&select);
}

/* ---- the decision, with faults ---- */

static bool is_floating(silt_type_kind kind)
{
    return kind == SILT_TYPE_FLOAT || kind == SILT_TYPE_DOUBLE;
}

static void plant_strict(struct sl_bounds *b)
{
    if (b->has_min && sl_kind_is_integer(b->min.kind) && b->min.as.i64 < INT64_MAX) {
        b->min.as.i64++;
    }
    if (b->has_max && sl_kind_is_integer(b->max.kind) && b->max.as.i64 > INT64_MIN) {
        b->max.as.i64--;
    }
}

static void plant_signed_zero(struct sl_bounds *b)
{
    if (b->has_min && is_floating(b->min.kind) && fabs(b->min.as.f64) < DBL_TRUE_MIN && !signbit(b->min.as.f64)) {
        b->min.as.f64 = DBL_TRUE_MIN;
    }
    if (b->has_max && is_floating(b->max.kind) && fabs(b->max.as.f64) < DBL_TRUE_MIN && signbit(b->max.as.f64)) {
        b->max.as.f64 = -DBL_TRUE_MIN;
    }
}

/* As a decimal it has no NaN above it. */
static void plant_nan(struct sl_bounds *b)
{
    silt_value *bounds[2] = {&b->min, &b->max};
    const bool has[2] = {b->has_min, b->has_max};
    for (size_t i = 0; i < 2; i++) {
        if (has[i] && is_floating(bounds[i]->kind) && fabs(bounds[i]->as.f64) <= 1000) {
            const double thousandths = bounds[i]->as.f64 * 1024;
            if (floor(thousandths) >= thousandths) {
                const sl_i128 v = (sl_i128)thousandths * 9765625; /* 10^10 / 2^10 */
                *bounds[i] = sl_value_decimal(v, 38, 10);
            }
        }
    }
}

static void restore_claimed(struct sl_bounds *b, const struct sl_bounds *claimed)
{
    b->min = b->has_min ? claimed->min : b->min;
    b->max = b->has_max ? claimed->max : b->max;
}

static bool is_nested_text_or_int(const struct sl_skip_column *column)
{
    return column->path_len > 1;
}

static void plant(enum fault fault, const struct sl_skip_column *column, const struct sl_claims *claims,
                  const struct sl_bounds *claimed, struct sl_bounds *b)
{
    const silt_type_kind kind = column->type->kind;
    const bool is_timestamp = kind == SILT_TYPE_TIMESTAMP || kind == SILT_TYPE_TIMESTAMP_NTZ;
    switch (fault) {
    case FAULT_STRICT: plant_strict(b); return;
    case FAULT_NULLS:
        b->null_count = b->has_null_count ? b->null_count : 0;
        b->has_null_count = true;
        return;
    case FAULT_SIGNED_ZERO: plant_signed_zero(b); return;
    case FAULT_NAN: plant_nan(b); return;
    case FAULT_BARE_PREFIX:
        if (kind == SILT_TYPE_STRING) {
            restore_claimed(b, claimed);
        }
        return;
    case FAULT_BARE_MS:
        if (is_timestamp && b->has_max && claimed->max.as.i64 > INT64_C(-12219292800000000)) {
            b->max = claimed->max; /* after 1582, so that it is this that is found */
        }
        return;
    case FAULT_OLD_CALENDAR:
        if (kind == SILT_TYPE_DATE) {
            restore_claimed(b, claimed);
        }
        return;
    case FAULT_FLOAT_TEXT:
        if (kind == SILT_TYPE_DOUBLE && column->n_earlier > 0) {
            restore_claimed(b, claimed);
        }
        return;
    case FAULT_ROUNDED:
        if (kind == SILT_TYPE_DECIMAL) {
            restore_claimed(b, claimed);
        }
        return;
    case FAULT_NULL_STRUCTS:
        if (is_nested_text_or_int(column) && claimed->has_null_count && claimed->null_count == 0 && claims->has_rows) {
            b->has_null_count = true;
            b->null_count = 0;
        }
        return;
    default: return;
    }
}

static void read_claims(struct run *run, size_t file, const struct sl_skip_column *columns, size_t n,
                        struct sl_claims *claims, struct sl_bounds *bounds)
{
    const struct skip_stats *stats = &run->stats[file];
    if (stats->schema == NULL) {
        assert_int_equal(sl_stats_claims_from_json(stats->json, columns, n, &run->scratch, claims, bounds, NULL),
                         SILT_OK);
        return;
    }
    struct sl_stats_arrow typed;
    assert_int_equal(sl_stats_arrow_bind(&typed, &run->scratch, stats->schema, columns, n, NULL), SILT_OK);
    assert_true(sl_stats_arrow_set(&typed, &stats->array));
    (void)sl_stats_arrow_claims(&typed, 0, claims, bounds); /* nothing is claimed: nothing is known */
}

#define MAX_FILTER 64

/* A predicate over one file: prunes by partition, then by statistics with each fault. */
struct judgement {
    struct sl_scan_filter filter;
    enum sl_truth truths[MAX_FILTER];
    struct sl_partition_tuple tuple;
    struct sl_claims claims;
    struct sl_bounds claimed[MAX_FILTER];
    struct sl_bounds believed[MAX_FILTER];
    bool pruned;
};

static void prepare(struct run *run, const silt_expr *expr, size_t file, struct judgement *j)
{
    static const silt_value no_rows = {.kind = SILT_TYPE_INTEGER, .is_null = true};
    const struct skip_file *of = file_at(run, file);
    const silt_value *p = of->n_rows > 0 ? &of->rows[0].values[SKIP_PARTITION] : &no_rows;
    assert_int_equal(sl_scan_filter_make(&run->scratch, expr, run->schema, run->partitions, 1, &j->filter, NULL),
                     SILT_OK);
    assert_true(j->filter.n_conjuncts <= MAX_FILTER && j->filter.n_columns <= MAX_FILTER);
    struct sl_partition_view view = {&j->filter, p};
    j->tuple = (struct sl_partition_tuple){.values = p, .truths = j->truths};
    j->pruned = false;
    for (size_t i = 0; i < j->filter.n_conjuncts; i++) {
        j->truths[i] = sl_eval_predicate(j->filter.conjuncts[i].node, sl_partition_lookup, &view, &run->scratch);
        j->pruned = j->pruned || j->truths[i] == SL_FALSE || j->truths[i] == SL_NULL;
    }
    read_claims(run, file, j->filter.columns, j->filter.n_columns, &j->claims, j->claimed);
    memcpy(j->believed, j->claimed, sizeof(j->believed));
    assert_int_equal(
        sl_stats_believe(&j->claims, j->filter.columns, j->filter.n_columns, &run->scratch, j->believed, NULL),
        SILT_OK);
}

static bool keeps(struct run *run, const struct judgement *j, enum fault fault)
{
    struct sl_bounds bounds[MAX_FILTER];
    memcpy(bounds, j->believed, sizeof(bounds));
    for (size_t i = 0; i < j->filter.n_columns; i++) {
        plant(fault, &j->filter.columns[i], &j->claims, &j->claimed[i], &bounds[i]);
    }
    return !j->pruned && sl_data_skip_may_match(&j->filter, &j->tuple, bounds, &run->scratch);
}

static void judge(struct run *run, size_t predicate, size_t file)
{
    const silt_expr *expr = run->predicates[predicate];
    const bool matches = run->truths[predicate][file];
    struct judgement j;
    prepare(run, expr, file, &j);
    const bool kept = keeps(run, &j, NO_FAULT);
    if (matches && !kept) {
        fail_msg("case %zu: %s drops a file with a matching row; statistics %s", run->n_cases, silt_expr_text(expr),
                 run->stats[file].json.ptr != NULL ? run->stats[file].json.ptr : "(typed)");
    }
    run->n_empty += matches ? 0 : 1;
    run->n_dropped += matches || kept ? 0 : 1;
    for (enum fault fault = FAULT_STRICT; fault < FAULT_WIDE && matches; fault++) {
        if (run->found_at[fault] == 0 && !keeps(run, &j, fault)) {
            run->found_at[fault] = run->n_cases;
        }
    }
}

/* ---- answers from statistics ---- */

/* The extreme of the live rows, by looking at all of them. False if there is no value. */
static bool scan_extreme(const struct skip_file *file, enum skip_column_id column, bool is_max, silt_value *out)
{
    bool found = false;
    for (size_t r = 0; r < file->n_rows; r++) {
        const silt_value *v = &file->rows[r].values[column];
        if (!file->rows[r].deleted && !v->is_null &&
            (!found || (is_max ? skip_compare(v, out) > 0 : skip_compare(v, out) < 0))) {
            *out = *v;
            found = true;
        }
    }
    return found;
}

/* Is an answer right, if there is one? */
static bool answers_right(struct run *run, size_t file, const struct sl_column_claims *claims,
                          enum skip_column_id column, bool is_max)
{
    silt_value answer;
    silt_value real;
    if (!sl_stats_extreme(claims, is_max, &answer)) {
        return true;
    }
    run->n_extremes++;
    if (!scan_extreme(file_at(run, file), column, is_max, &real)) {
        return answer.is_null;
    }
    return !answer.is_null && skip_compare(&answer, &real) == 0;
}

static void check_answers(struct run *run, size_t file)
{
    const struct skip_file *of = file_at(run, file);
    const struct skip_stats *stats = &run->stats[file];
    int64_t live = 0;
    for (enum skip_column_id c = 0; c < SKIP_N_DATA; c++) {
        const struct sl_skip_column column = {.path = skip_columns[c].path,
                                              .path_len = skip_columns[c].path_len,
                                              .type = &skip_columns[c].type,
                                              .physical_path = skip_columns[c].path};
        struct sl_claims claims;
        struct sl_bounds bounds;
        read_claims(run, file, &column, 1, &claims, &bounds);
        const struct sl_column_claims of_column = {&claims, &column, &bounds, stats->deleted};
        assert_true(answers_right(run, file, &of_column, c, false));
        assert_true(answers_right(run, file, &of_column, c, true));
        if (sl_stats_live_rows(&claims, stats->deleted, &live)) {
            assert_int_equal(live, (int64_t)of->n_rows - stats->deleted);
        }
        const struct sl_claims tight = {claims.has_rows, claims.rows, SL_TIGHT};
        const struct sl_column_claims faulty = {&tight, &column, &bounds, 0};
        if (run->found_at[FAULT_WIDE] == 0 &&
            (!answers_right(run, file, &faulty, c, false) || !answers_right(run, file, &faulty, c, true))) {
            run->found_at[FAULT_WIDE] = run->n_cases;
        }
    }
}

/* ---- the run ---- */

/* All predicates over one table; files are counted from the first of all tables. */
static void run_table(struct run *run, size_t table)
{
    const size_t first = table * SKIP_MAX_FILES;
    for (size_t i = 0; i < PREDICATES; i++) {
        run->n_cases++;
        for (size_t f = 0; f < run->tables[table].n_files; f++) {
            judge(run, i, first + f);
            sl_arena_reset(&run->scratch);
        }
    }
    for (size_t f = 0; f < run->tables[table].n_files; f++) {
        check_answers(run, first + f);
        sl_arena_reset(&run->scratch);
    }
}

static void run_round(struct run *run)
{
    for (size_t t = 0; t < TABLES; t++) {
        skip_table_make(&run->tables[t], &run->random);
        for (size_t f = 0; f < run->tables[t].n_files; f++) {
            skip_stats_make(&run->stats[t * SKIP_MAX_FILES + f], &run->tables[t].files[f], &run->random,
                            &run->table_arena);
        }
    }
    ask_engine(run);
    for (size_t t = 0; t < TABLES; t++) {
        run_table(run, t);
    }
    for (size_t f = 0; f < FILES; f++) {
        if (f % SKIP_MAX_FILES < run->tables[f / SKIP_MAX_FILES].n_files) {
            skip_stats_release(&run->stats[f]);
        }
    }
    for (size_t i = 0; i < PREDICATES; i++) {
        silt_expr_unref(run->predicates[i]);
    }
    sl_arena_reset(&run->table_arena);
}

static void no_file_with_a_matching_row_is_dropped(void **state)
{
    struct run *run = calloc(1, sizeof(*run));
    assert_non_null(run);
    run->fx = *state;
    run->random.state = 20260601;
    run->schema = duck_schema(run->fx, skip_schema_json());
    run->partitions[0] = (struct sl_partition_column){
        .name = {"p", 1}, .type = &skip_columns[SKIP_PARTITION].type, .physical = {"p", 1}};
    sl_arena_init(&run->table_arena, run->fx->env);
    sl_arena_init(&run->scratch, run->fx->env);
    /* The rows are to be looked at as they are; and planning costs more than they do. */
    (void)duck_text(
        run->fx,
        "SET disabled_optimizers = 'expression_rewriter,filter_pullup,filter_pushdown,common_subexpressions,"
        "statistics_propagation,common_aggregate,unused_columns,column_lifetime,join_order,cte_filter_pusher'");
    for (size_t i = 0; i < ROUNDS; i++) {
        run_round(run);
    }
    print_message("%zu cases; %zu of %zu files without a matching row dropped (%zu %%); %zu extremes answered\n",
                  run->n_cases, run->n_dropped, run->n_empty, run->n_dropped * 100 / run->n_empty, run->n_extremes);
    for (enum fault fault = FAULT_STRICT; fault < N_FAULTS; fault++) {
        print_message("  planted '%s': found at case %zu\n", fault_names[fault], run->found_at[fault]);
    }
    assert_int_equal(run->n_cases, CASES);
    assert_true(run->n_dropped * 100 >= run->n_empty * DROPPED_PERCENT);
    assert_true(run->n_extremes > 1000);
    for (enum fault fault = FAULT_STRICT; fault < N_FAULTS; fault++) {
        assert_true(run->found_at[fault] > 0 && run->found_at[fault] <= FOUND_WITHIN);
    }
    sl_arena_release(&run->scratch);
    sl_arena_release(&run->table_arena);
    silt_schema_unref(run->schema);
    free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_file_with_a_matching_row_is_dropped, duck_setup, duck_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
