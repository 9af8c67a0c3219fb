/* Random predicates, see skip_query.h. */
#include "skip_query.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

static const char *const comparisons[] = {" = ", " <> ", " < ", " <= ", " > ", " >= ", " <=> "};

static const char *comparison(struct skip_random *random)
{
    return comparisons[skip_pick(random, N(comparisons))];
}

static void put_literal(struct skip_random *random, enum skip_column_id column, struct sl_buf *out)
{
    const silt_value value = skip_value(random, column);
    if (value.is_null) {
        sl_buf_put_c(out, "NULL");
    } else {
        sl_value_print_sql(out, &value);
    }
}

/* A number of some other type. */
static void put_other_number(struct skip_random *random, struct sl_buf *out)
{
    static const char *const numbers[] = {"1",          "2L",   "0.5", "1.25BD", "2.0D", "1.5F", "-1",
                                          "3000000000", "0.1D", "0.1", "-0.0D",  "100Y", "1e18", "1000000000000000000"};
    sl_buf_put_c(out, numbers[skip_pick(random, N(numbers))]);
}

static bool is_number(enum skip_column_id column)
{
    return (column >= SKIP_BYTE && column <= SKIP_WIDE_DECIMAL) || column == SKIP_NESTED_INT ||
           column == SKIP_PARTITION;
}

static void put_operand(struct skip_random *random, enum skip_column_id column, struct sl_buf *out)
{
    if (is_number(column) && skip_pick(random, 6) == 0) {
        put_other_number(random, out);
    } else {
        put_literal(random, column, out);
    }
}

static void put_compare(struct skip_random *random, enum skip_column_id column, struct sl_buf *out)
{
    const bool swapped = skip_pick(random, 5) == 0;
    if (swapped) {
        put_operand(random, column, out);
        sl_buf_put_c(out, comparison(random));
    }
    sl_buf_put_c(out, skip_columns[column].name);
    if (!swapped) {
        sl_buf_put_c(out, comparison(random));
        put_operand(random, column, out);
    }
}

/* Casts and sums that cannot fail. */
static void put_derived(struct skip_random *random, struct sl_buf *out)
{
    static const struct {
        const char *text;
        enum skip_column_id literal; /* whose values it is compared with */
    } forms[] = {{"CAST(i4 AS BIGINT)", SKIP_LONG},
                 {"CAST(i1 AS INT)", SKIP_INT},
                 {"CAST(i4 AS DOUBLE)", SKIP_DOUBLE},
                 {"CAST(i2 AS FLOAT)", SKIP_FLOAT},
                 {"CAST(i8 AS DOUBLE)", SKIP_DOUBLE},
                 {"CAST(f AS DOUBLE)", SKIP_DOUBLE},
                 {"CAST(i4 AS DECIMAL(25,3))", SKIP_WIDE_DECIMAL},
                 {"CAST(n AS DECIMAL(25,3))", SKIP_WIDE_DECIMAL},
                 {"CAST(y AS TIMESTAMP_NTZ)", SKIP_TIMESTAMP_NTZ},
                 {"CAST(y AS TIMESTAMP)", SKIP_TIMESTAMP},
                 {"CAST(tn AS DATE)", SKIP_DATE},
                 {"CAST(ts AS DATE)", SKIP_DATE},
                 {"i2 + 5", SKIP_INT},
                 {"i2 - 100", SKIP_INT},
                 {"7 - i1", SKIP_INT},
                 {"i4 + 5L", SKIP_LONG},
                 {"i4 - 5000000000", SKIP_LONG},
                 {"i1 + 0 + i2", SKIP_INT},
                 {"st.a - 2L", SKIP_LONG},
                 {"(i4 < 2)", SKIP_BOOL},
                 {"(s IS NULL)", SKIP_BOOL}};
    const size_t form = skip_pick(random, N(forms));
    sl_buf_put_c(out, forms[form].text);
    sl_buf_put_c(out, comparison(random));
    put_literal(random, forms[form].literal, out);
}

static void put_list(struct skip_random *random, enum skip_column_id column, struct sl_buf *out)
{
    sl_buf_put_c(out, skip_columns[column].name);
    sl_buf_put_c(out, skip_pick(random, 3) == 0 ? " NOT IN (" : " IN (");
    for (uint64_t i = 0, n = 1 + skip_pick(random, 3); i < n; i++) {
        sl_buf_put_c(out, i > 0 ? ", " : "");
        put_operand(random, column, out);
    }
    sl_buf_put_c(out, ")");
}

static void put_between(struct skip_random *random, enum skip_column_id column, struct sl_buf *out)
{
    sl_buf_put_c(out, skip_columns[column].name);
    sl_buf_put_c(out, skip_pick(random, 4) == 0 ? " NOT BETWEEN " : " BETWEEN ");
    put_operand(random, column, out);
    sl_buf_put_c(out, " AND ");
    put_operand(random, column, out);
}

static void put_like(struct skip_random *random, struct sl_buf *out)
{
    static const char *const patterns[] = {"'a%'",
                                           "'ab'",
                                           "'%b'",
                                           "'a_'",
                                           "'_'",
                                           "'k%'",
                                           "'kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk%'",
                                           "'kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkz%'",
                                           "'%'",
                                           "''",
                                           "'\xc3\xa9%'",
                                           "'zz%'",
                                           "'a\\\\%'",
                                           "'l%'"};
    static const char *const prefixes[] = {
        "''", "'a'", "'ab'", "'kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk'", "'kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkl'", "'z'", "'?'"};
    const char *column = skip_pick(random, 4) == 0 ? "st.u.t" : "s";
    if (skip_pick(random, 3) == 0) {
        sl_buf_printf(out, "startswith(%s, %s)", column, prefixes[skip_pick(random, N(prefixes))]);
    } else {
        sl_buf_printf(out, "%s%s LIKE %s", column, skip_pick(random, 3) == 0 ? " NOT" : "",
                      patterns[skip_pick(random, N(patterns))]);
    }
}

static void put_leaf(struct skip_random *random, struct sl_buf *out)
{
    /* Those whose statistics writers spoil come more often. */
    static const enum skip_column_id spoilt[] = {SKIP_DOUBLE, SKIP_WIDENED,   SKIP_WIDE_DECIMAL, SKIP_STRING,
                                                 SKIP_DATE,   SKIP_TIMESTAMP, SKIP_TIMESTAMP_NTZ};
    const enum skip_column_id column = skip_pick(random, 2) == 0
                                           ? spoilt[skip_pick(random, N(spoilt))]
                                           : (enum skip_column_id)skip_pick(random, SKIP_N_COLUMNS);
    static const enum skip_column_id numbers[] = {SKIP_BYTE, SKIP_SHORT,     SKIP_INT,
                                                  SKIP_LONG, SKIP_PARTITION, SKIP_NESTED_INT};
    switch (skip_pick(random, 12)) {
    case 0: put_list(random, column, out); return;
    case 1: put_between(random, column, out); return;
    case 2:
    case 3:
        sl_buf_printf(out, "%s IS %sNULL", skip_columns[column].name, skip_pick(random, 2) == 0 ? "NOT " : "");
        return;
    case 4: put_like(random, out); return;
    case 5: put_derived(random, out); return;
    case 6:
        sl_buf_printf(out, "%s%s%s", skip_columns[numbers[skip_pick(random, N(numbers))]].name, comparison(random),
                      skip_columns[numbers[skip_pick(random, N(numbers))]].name);
        return;
    case 7: sl_buf_put_c(out, "b"); return;
    default: put_compare(random, column, out); return;
    }
}

void skip_predicate(struct skip_random *random, unsigned depth, struct sl_buf *out)
{
    if (depth == 0 || skip_pick(random, 3) == 0) {
        put_leaf(random, out);
        return;
    }
    if (skip_pick(random, 5) == 0) {
        sl_buf_put_c(out, "NOT (");
        skip_predicate(random, depth - 1, out);
        sl_buf_put_c(out, ")");
        return;
    }
    const char *join = skip_pick(random, 2) == 0 ? ") AND (" : ") OR (";
    sl_buf_put_c(out, "(");
    for (uint64_t i = 0, n = 2 + skip_pick(random, 2); i < n; i++) {
        sl_buf_put_c(out, i > 0 ? join : "");
        skip_predicate(random, depth - 1, out);
    }
    sl_buf_put_c(out, ")");
}
