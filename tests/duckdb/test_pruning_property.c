/*
 * Random conditions in SQL over a table of many files with odd values, and over one of a file with many row groups, give the rows that they
 * give over the same rows where nothing is left out, neither by silt nor by the data plane; and most files without such rows are not read.
 * Conditions are made as text, so that the whole way is tested: the data plane's parser, what is handed to the kernel, statistics,
 * pruning, and what the data plane makes of the footers of files.
 */
#include "session_fixture.h"

#include <stdio.h>
#include <string.h>

#include "hand_table.h"
#include "rows_text.h"
#include "sql/session_int.h"

#define FILES 14
#define ROWS_PER_FILE 5
#define BATCH 25                                                  /* conditions of one statement */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) /* ten times slower */
#define BATCHES 32
#define BATCHES_OF_GROUPS 8
#else
#define BATCHES 130
#define BATCHES_OF_GROUPS 30
#endif
#define PART_OF(batches) (((batches) + 2) / 3) /* of one zone */
#define DEPTH 3

/* Of the pairs of file and condition without a matching row, at least so many in a hundred are not read. */
#define DROPPED_PERCENT 30

struct random {
    uint64_t state;
};

static uint32_t next(struct random *r, uint32_t below)
{
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return (uint32_t)((r->state >> 33) % below);
}

/* ---- columns and values ---- */

struct column {
    const char *name;
    const char *type;          /* Delta's */
    const char *cast;          /* the same in the data plane's SQL */
    const char *values;        /* SQL literals, separated by ';', from small to large */
    const char *compared_with; /* more constants that it may be compared with, of other types too */
    const char *operands;      /* other forms of it: casts, sums */
};

#define INTS "-3;-2;-1;0;1;2;3;4;5"
#define INT_CONSTANTS \
    "2.5;-0.5;1e0;2.5e0;'3';NULL;CAST(4 AS UTINYINT);1 + 1;2 * 2 - 1;9223372036854775808;CAST(1.5 AS FLOAT)"

static const struct column columns[] = {
    {"ti", "TINYINT", "TINYINT", "-128;" INTS ";126;127", INT_CONSTANTS ";128;-129",
     "CAST(ti AS INTEGER);ti::DOUBLE;TRY_CAST(ti AS BIGINT);CAST(ti AS DECIMAL(5, 1))"},
    {"i", "INT", "INTEGER", "-2147483648;" INTS ";2147483646;2147483647", INT_CONSTANTS ";2147483648",
     "i::BIGINT + 1;1 - i::BIGINT;CAST(i AS FLOAT);TRY_CAST(i AS TINYINT);CAST(i AS DOUBLE);-i::BIGINT"},
    {"l", "BIGINT", "BIGINT", "-9223372036854775808;" INTS ";9007199254740993;9223372036854775806;9223372036854775807",
     INT_CONSTANTS ";9007199254740992e0;9007199254740992;9.3e18", "CAST(l AS DOUBLE);TRY_CAST(l AS INT);l::FLOAT"},
    {"f", "FLOAT", "FLOAT", "'-inf'::FLOAT;-2.5;-0.1;-0.0::FLOAT;0;0.1;1.1;2.5;16777216;3e38;'inf'::FLOAT;'nan'::FLOAT",
     "0.1;0.1::DOUBLE;1.1::FLOAT;'nan'::DOUBLE;16777217;'1.1';NULL;-0.0::DOUBLE;1;2", "CAST(f AS DOUBLE)"},
    {"g", "DOUBLE", "DOUBLE",
     "'-inf'::DOUBLE;-2.5;-0.1;-0.0::DOUBLE;0;0.1;1.1;2.5;9007199254740992;1e300;'inf'::DOUBLE;'nan'::DOUBLE",
     "0.1::FLOAT;1.1;9007199254740993;'nan';NULL;-0.0::FLOAT;1;2;'2.5';123456789012345678901.5", "g::DOUBLE"},
    {"dec", "DECIMAL(10,2)", "DECIMAL(10,2)", "-99999999.99;-2.50;-0.01;0.00;0.01;1.10;2.50;3.00;99999999.99",
     "1;2.505;1.1e0;1.1::FLOAT;'2.5';NULL;-0.0::DOUBLE;1e10;123456789012",
     "dec::DECIMAL(12, 3);CAST(dec AS DECIMAL(20, 2))"},
    {"wide", "DECIMAL(38,10)", "DECIMAL(38,10)",
     "-1234567890123456789012345678.5;-1;0;0.0000000001;1;12345678901234567890.25;1234567890123456789012345678.5",
     "1;0.1;1e0;1e28;1.0::FLOAT;NULL;12345678901234567890.25e0", "wide"},
    {"b", "BOOLEAN", "BOOLEAN", "false;true", "NULL;'true'", "NOT b;b IS NULL;i > 1"},
    {"s", "STRING", "VARCHAR",
     "'';' ';'A';'a';'a%b';'a_b';'ab';'abc';'a\\b';'b';'ba';'ZZ';'\u00e4';'\u00df';'\U0001f600';repeat('x', 40);repeat('x', 40) || 'y'",
     "'a' || 'b';lower('ABC');NULL;repeat('x', 32)", "s::VARCHAR"},
    {"d", "DATE", "DATE",
     "'0001-01-01';'1582-10-04';'1582-10-15';'1969-12-31';'1970-01-01';'2020-02-29';'2020-03-01';'9999-12-31'",
     "DATE '2020-02-28' + 1;DATE '2020-02-29' - INTERVAL 1 DAY;TIMESTAMP '2020-02-29 12:00:00';"
     "TIMESTAMPTZ '2020-02-29 12:00:00+05';NULL;'2020-02-29'::DATE;make_date(1970, 1, 1)",
     "CAST(d AS TIMESTAMP);CAST(d AS TIMESTAMPTZ);TRY_CAST(d AS TIMESTAMP)"},
    {"ts", "TIMESTAMP", "TIMESTAMPTZ",
     "'0001-01-01 12:00:00+00';'1582-10-10 00:00:00+00';'1969-12-31 23:59:59.999999+00';'1970-01-01 00:00:00+00';"
     "'2020-03-29 00:30:00.123456+00';'2020-03-29 01:30:00+00';'2020-10-25 00:30:00+00';'9999-12-30 23:59:59.999999+00'",
     "'2020-03-29 01:30:00';TIMESTAMP '2020-03-29 02:30:00';DATE '2020-03-29';'1970-01-01';NULL;"
     "TIMESTAMPTZ '2020-03-29 01:30:00+00' - INTERVAL 1 HOUR",
     "CAST(ts AS DATE);CAST(ts AS TIMESTAMP)"},
    {"ntz", "TIMESTAMP_NTZ", "TIMESTAMP",
     "'0001-01-01 12:00:00';'1582-10-10 00:00:00';'1969-12-31 23:59:59.999999';'1970-01-01 00:00:00';"
     "'2020-03-29 02:30:00.123456';'2020-10-25 02:30:00';'9999-12-30 23:59:59.999999'",
     "'2020-03-29';DATE '2020-03-29';TIMESTAMPTZ '2020-03-29 01:30:00+00';NULL;date_trunc('year', TIMESTAMP '2020-03-29')",
     "CAST(ntz AS DATE);CAST(ntz AS TIMESTAMPTZ)"},
    {"bin", "BINARY", "BLOB", "''::BLOB;'\\x00'::BLOB;'\\x5Cx00'::BLOB;'a'::BLOB;'b\\x0A'::BLOB;'\\xFF\\xFE'::BLOB",
     "NULL;'a'", "bin"},
    {"x", "INT", "INTEGER", INTS, INT_CONSTANTS, "st.x;t.st.x;st['x'];struct_extract(st, 'x');(st).x"},
    {"y", "STRING", "VARCHAR", "'';'a';'ab';'b'", "NULL;'aa'", "st.y;st['y'];(t.st).y"},
};
#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))
#define FIRST_FIELD (N_COLUMNS - 2) /* x and y are fields of st */

static size_t count_items(const char *list)
{
    size_t n = 1;
    for (; *list != '\0'; list++) {
        n += *list == ';' ? 1 : 0;
    }
    return n;
}

static struct sl_str item(const char *list, size_t index)
{
    for (; index > 0; index--) {
        list = strchr(list, ';') + 1;
    }
    return sl_str_make(list, strcspn(list, ";"));
}

static struct sl_str any_item(struct random *r, const char *list)
{
    return item(list, next(r, (uint32_t)count_items(list)));
}

/* ---- the table ---- */

/* Each column has in each file a window of its values, or nulls, or any of them. */
static void put_value(struct random *r, struct sl_buf *sql, const struct column *column, uint32_t window)
{
    const uint32_t n = (uint32_t)count_items(column->values);
    const bool is_wild = window % 7 == 0;
    if (window % 11 == 0 || next(r, 10) == 0) {
        sl_buf_put_c(sql, "NULL");
        return;
    }
    const uint32_t at = is_wild ? next(r, n) : (window + next(r, 2)) % n;
    const struct sl_str value = item(column->values, at);
    sl_buf_printf(sql, "CAST(%.*s AS %s)", SL_FMT(value), column->cast);
}

static void put_row(struct random *r, struct sl_buf *sql, int id, const uint32_t *windows)
{
    sl_buf_printf(sql, "SELECT %d", id);
    for (size_t c = 0; c < FIRST_FIELD; c++) {
        sl_buf_put_c(sql, ", ");
        put_value(r, sql, &columns[c], windows[c]);
    }
    if (next(r, 6) == 0) {
        sl_buf_put_c(sql, ", NULL");
        return;
    }
    sl_buf_put_c(sql, ", {'x': ");
    put_value(r, sql, &columns[FIRST_FIELD], windows[FIRST_FIELD]);
    sl_buf_put_c(sql, ", 'y': ");
    put_value(r, sql, &columns[FIRST_FIELD + 1], windows[FIRST_FIELD + 1]);
    sl_buf_put_c(sql, "}");
}

static void create(struct session_fixture *s, struct sl_buf *sql, const char *table)
{
    sl_buf_clear(sql);
    sl_buf_printf(sql, "CREATE TABLE %s (id INT", table);
    for (size_t c = 0; c < FIRST_FIELD; c++) {
        sl_buf_printf(sql, ", %s %s", columns[c].name, columns[c].type);
    }
    sl_buf_put_c(sql, ", st STRUCT<x: INT, y: STRING>) USING delta");
    session_expect_done(s, sl_buf_cstr(sql));
}

static void make_table(struct session_fixture *s, struct random *r)
{
    struct sl_buf sql;
    sl_buf_init(&sql, silt_env_default());
    create(s, &sql, "groups");
    create(s, &sql, "t");
    for (int file = 0; file < FILES; file++) {
        uint32_t windows[N_COLUMNS];
        for (size_t c = 0; c < N_COLUMNS; c++) {
            windows[c] = next(r, 1000);
        }
        sl_buf_clear(&sql);
        sl_buf_put_c(&sql, "INSERT INTO t ");
        for (int row = 0; row < ROWS_PER_FILE; row++) {
            sl_buf_put_c(&sql, row > 0 ? " UNION ALL " : "");
            put_row(r, &sql, file * ROWS_PER_FILE + row, windows);
        }
        session_expect_done(s, sl_buf_cstr(&sql));
    }
    sl_buf_release(&sql);
}

/* The rows as they are, and again and again: each file of the one table is a row group here, with dictionaries and Bloom filters. */
static void make_reference(struct session_fixture *s, struct session_fixture *reference)
{
    session_expect_done(reference, "SET disabled_optimizers = 'filter_pushdown,statistics_propagation'");
    session_expect_done(
        reference, session_format(reference, "CREATE TEMP TABLE plain AS FROM read_parquet('%s/t/*.parquet')", s->dir));
    session_expect_done(
        reference, session_format(reference,
                                  "CREATE TEMP TABLE plain_groups AS SELECT plain.* FROM plain JOIN range(2048) r(n) "
                                  "ON id %% %d = n %% %d ORDER BY id // %d, n",
                                  ROWS_PER_FILE, ROWS_PER_FILE, ROWS_PER_FILE));
    session_expect_done(reference, session_format(reference,
                                                  "COPY (FROM plain_groups) TO '%s/groups/f.parquet' "
                                                  "(FORMAT parquet, ROW_GROUP_SIZE 2048)",
                                                  s->dir));
    hand_commit(s, "groups", 1, hand_add(s, "f.parquet", "{}", NULL), NULL);
}

/* ---- conditions ---- */

static void put_constant(struct random *r, struct sl_buf *sql, const struct column *column)
{
    sl_buf_put_str(sql, any_item(r, next(r, 3) > 0 ? column->values : column->compared_with));
}

static void put_operand(struct random *r, struct sl_buf *sql, const struct column *column)
{
    const bool is_field = column >= &columns[FIRST_FIELD];
    if (is_field || next(r, 3) == 0) {
        const struct sl_str form = any_item(r, column->operands);
        sl_buf_printf(sql, "(%.*s)", SL_FMT(form));
        return;
    }
    sl_buf_printf(sql, "%s%s", next(r, 4) == 0 ? "t." : "", column->name);
}

static const char *any_operator(struct random *r)
{
    static const char *const operators[] = {
        " = ", " <> ", " < ", " <= ", " > ", " >= ", " IS NOT DISTINCT FROM ", " IS DISTINCT FROM "};
    return operators[next(r, sizeof(operators) / sizeof(operators[0]))];
}

static void put_list(struct random *r, struct sl_buf *sql, const struct column *column)
{
    const uint32_t n = 1 + next(r, 4);
    put_operand(r, sql, column);
    sl_buf_put_c(sql, next(r, 3) == 0 ? " NOT IN (" : " IN (");
    for (uint32_t i = 0; i < n; i++) {
        sl_buf_put_c(sql, i > 0 ? ", " : "");
        put_constant(r, sql, column);
    }
    sl_buf_put_c(sql, ")");
}

static void put_range(struct random *r, struct sl_buf *sql, const struct column *column)
{
    put_operand(r, sql, column);
    sl_buf_put_c(sql, next(r, 3) == 0 ? " NOT BETWEEN " : " BETWEEN ");
    put_constant(r, sql, column);
    sl_buf_put_c(sql, " AND ");
    put_constant(r, sql, column);
}

static void put_pattern(struct random *r, struct sl_buf *sql)
{
    static const char patterns[] =
        "s LIKE 'a%';s NOT LIKE 'a%';s LIKE 'a_b';s LIKE 'a!%%' ESCAPE '!';s LIKE 'a\\%';"
        "s NOT LIKE 'a!_%' ESCAPE '!';s ^@ 'ab';starts_with(s, 'a%');NOT prefix(s, 'b');"
        "s LIKE '%b';s LIKE 'abc';starts_with(s, '');s LIKE '\u00e4%';s NOT LIKE '%';"
        "st.y LIKE 'a%';starts_with(st['y'], 'a');s LIKE NULL;starts_with(s, repeat('x', 35));"
        "t.s ~~ ('a%' || 'b');s !~~ '_'";
    sl_buf_put_str(sql, any_item(r, patterns));
}

static void put_columns(struct random *r, struct sl_buf *sql)
{
    static const char pairs[] =
        "ti,i;i,l;l,g;f,g;i,f;l,f;dec,wide;dec,g;dec,f;i,dec;wide,g;d,ntz;d,ts;ts,ntz;st.x,i;s,st.y;"
        "ti::INTEGER,st.x;i::BIGINT + 1,l";
    const struct sl_str pair = any_item(r, pairs);
    const size_t comma = sl_str_find(pair, SL_STR(","));
    const struct sl_str left = sl_str_sub(pair, 0, comma);
    const struct sl_str right = sl_str_sub(pair, comma + 1, pair.len);
    sl_buf_printf(sql, "%.*s%s%.*s", SL_FMT(left), any_operator(r), SL_FMT(right));
}

static void put_leaf(struct random *r, struct sl_buf *sql)
{
    const struct column *column = &columns[next(r, N_COLUMNS)];
    switch (next(r, 12)) {
    case 0: put_list(r, sql, column); return;
    case 1: put_range(r, sql, column); return;
    case 2:
        put_operand(r, sql, column);
        sl_buf_put_c(sql, next(r, 2) == 0 ? " IS NULL" : " IS NOT NULL");
        return;
    case 3: put_pattern(r, sql); return;
    case 4: put_columns(r, sql); return;
    case 5: sl_buf_put_str(sql, any_item(r, "b;NOT b;b IS TRUE;b IS NOT FALSE;b IS UNKNOWN;id % 3 = 0;NULL")); return;
    case 6:
        put_constant(r, sql, column);
        sl_buf_put_c(sql, any_operator(r));
        put_operand(r, sql, column);
        return;
    default:
        put_operand(r, sql, column);
        sl_buf_put_c(sql, any_operator(r));
        put_constant(r, sql, column);
    }
}

static void put_condition(struct random *r, struct sl_buf *sql, int depth)
{
    const uint32_t kind = depth == 0 ? 9 : next(r, 10);
    const char *joint = kind < 2 ? " AND " : " OR ";
    if (kind >= 6) {
        put_leaf(r, sql);
        return;
    }
    sl_buf_put_c(sql, kind == 4 ? "NOT (" : "(");
    put_condition(r, sql, depth - 1);
    if (kind == 4) {
        sl_buf_put_c(sql, ")");
        return;
    }
    if (kind == 5) {
        sl_buf_put_str(sql, any_item(r, ") IS TRUE;) IS NOT TRUE;) IS NULL;) = b;) = false"));
        return;
    }
    sl_buf_printf(sql, ")%s(", joint);
    put_condition(r, sql, depth - 1);
    sl_buf_put_c(sql, ")");
}

/* ---- the comparison ---- */

struct run {
    struct session_fixture *s;
    struct session_fixture *reference; /* here the data plane looks at every row */
    const char *table;
    const char *plain; /* the same rows, in the reference */
    struct random random;
    struct sl_buf sql;
    size_t n_conditions;
    size_t n_failed;  /* no data plane takes them: a cast that fails, types that do not compare */
    size_t n_pairs;   /* of files and conditions */
    size_t n_left;    /* of them, not pruned */
    size_t n_matched; /* of them, with a row */
};

/* One SELECT for each condition; its last column is the number of files that have a row. */
static const char *make_query(struct run *run, const char *table, const char *const *conditions, size_t n)
{
    sl_buf_clear(&run->sql);
    for (size_t i = 0; i < n; i++) {
        sl_buf_printf(&run->sql,
                      "%sSELECT %zu AS k, count(*), sum(id), sum(id * id), "
                      "coalesce(bit_count(bit_or(1::BIGINT << (id // %d))), 0) FROM %s WHERE %s",
                      i > 0 ? " UNION ALL " : "", i, ROWS_PER_FILE, table, conditions[i]);
    }
    sl_buf_put_c(&run->sql, " ORDER BY k");
    return sl_buf_cstr(&run->sql);
}

/* Rows of a query over the table, and how many files its scans are left with. */
static silt_status run_counted(struct run *run, const char *sql, struct sl_buf *rows, size_t *n_left)
{
    const struct sl_statement_text text = {sl_str_from(sql), 0};
    const struct sl_dataplane_params none = {0};
    struct sl_prepared_query query = {0};
    struct ArrowArrayStream stream = {0};
    run->s->err = (silt_error)SILT_ERROR_INIT;
    *n_left = 0;
    silt_status status = sl_query_prepare(run->s->session, NULL, &text, &none, &query, &run->s->err);
    for (size_t i = 0; i < query.n_scans; i++) {
        *n_left += silt_scan_get_plan(query.kernel_scans[i])->n_files;
    }
    if (status == SILT_OK) {
        status = sl_query_run(&query, NULL, &none, &stream, &run->s->err);
    }
    if (status == SILT_OK) {
        return rows_drain(&stream, rows, &run->s->err);
    }
    sl_query_release(&query);
    return status;
}

/* The sum of the last column. */
static size_t count_matched(const char *rows)
{
    size_t n = 0;
    for (const char *end = strchr(rows, '\n'); end != NULL; end = strchr(rows, '\n')) {
        struct sl_str line = sl_str_make(rows, (size_t)(end - rows));
        size_t cell = line.len;
        int64_t matched = 0;
        while (cell > 0 && line.ptr[cell - 1] != '|') {
            cell--;
        }
        assert_true(sl_str_to_i64(sl_str_sub(line, cell, line.len), &matched));
        n += (size_t)matched;
        rows = end + 1;
    }
    return n;
}

/* False when the conditions cannot all be asked. */
static bool compare(struct run *run, const char *const *conditions, size_t n)
{
    struct sl_buf rows;
    size_t n_left = 0;
    if (session_try(run->reference, make_query(run, run->plain, conditions, n)) != SILT_OK) {
        return false;
    }
    const char *expected = sl_buf_cstr(&run->reference->out);
    const char *query = make_query(run, run->table, conditions, n);
    sl_buf_init(&rows, silt_env_default());
    const silt_status status = run_counted(run, query, &rows, &n_left);
    const bool same = status == SILT_OK && strcmp(sl_buf_cstr(&rows), expected) == 0;
    if (!same && n == 1) {
        fail_msg("%s: %s gave\n%sexpected\n%s", run->s->err.message, query, sl_buf_cstr(&rows), expected);
    }
    sl_buf_release(&rows);
    if (same) {
        run->n_left += n_left;
        run->n_pairs += n * FILES;
        run->n_conditions += n;
        run->n_matched += count_matched(expected);
    }
    return same; /* else one by one, which shows which */
}

static void run_batch(struct run *run)
{
    const char *conditions[BATCH];
    struct sl_buf text;
    sl_buf_init(&text, silt_env_default());
    for (size_t i = 0; i < BATCH; i++) {
        sl_buf_clear(&text);
        put_condition(&run->random, &text, DEPTH);
        conditions[i] = sl_arena_strdup(&run->s->arena, sl_buf_view(&text));
        assert_non_null(conditions[i]);
    }
    sl_buf_release(&text);
    if (!compare(run, conditions, BATCH)) {
        for (size_t i = 0; i < BATCH; i++) {
            run->n_failed += compare(run, &conditions[i], 1) ? 0 : 1;
        }
    }
    sl_arena_reset(&run->s->arena);
}

static void set_zone(struct run *run, const char *zone)
{
    session_expect_done(run->s, session_format(run->s, "SET timezone = '%s'", zone));
    session_expect_done(run->reference, session_format(run->reference, "SET timezone = '%s'", zone));
}

static void pruned_queries_give_the_rows_of_a_full_scan(void **state)
{
    static const char *const zones[] = {"UTC", "Europe/Berlin", "America/St_Johns"};
    struct run run = {.s = *state, .table = "t", .plain = "plain AS t", .random = {.state = 20260601}};
    void *reference = NULL;
    assert_int_equal(session_set_up(&reference), 0);
    run.reference = reference;
    sl_buf_init(&run.sql, silt_env_default());
    make_table(run.s, &run.random);
    make_reference(run.s, run.reference);
    for (int i = 0; i < BATCHES; i++) {
        if (i % PART_OF(BATCHES) == 0) {
            set_zone(&run, zones[i / PART_OF(BATCHES)]);
        }
        run_batch(&run);
    }
    const size_t n_empty = run.n_pairs - run.n_matched;
    const size_t n_dropped = run.n_pairs - run.n_left;
    print_message(
        "%zu conditions (%zu more cannot be asked); %zu of %zu files without a matching row not read (%zu %%)\n",
        run.n_conditions, run.n_failed, n_dropped, n_empty, n_dropped * 100 / n_empty);
    assert_true(run.n_conditions * 13 >= (size_t)BATCHES * BATCH * 12);
    assert_true(n_dropped * 100 >= n_empty * DROPPED_PERCENT);
    run.table = "groups AS t";
    run.plain = "plain_groups AS t";
    for (int i = 0; i < BATCHES_OF_GROUPS; i++) {
        if (i % PART_OF(BATCHES_OF_GROUPS) == 0) {
            set_zone(&run, zones[i / PART_OF(BATCHES_OF_GROUPS)]);
        }
        run_batch(&run);
    }
    print_message("%zu conditions with those over row groups\n", run.n_conditions);
    sl_buf_release(&run.sql);
    assert_int_equal(session_tear_down(&reference), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(pruned_queries_give_the_rows_of_a_full_scan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
