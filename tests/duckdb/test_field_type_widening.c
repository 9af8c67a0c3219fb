/* Columns whose type became wider: values, predicates next to values of the old type, statistics, partition values, nesting. */
#include "hand_table.h"

#include <stdio.h>
#include <string.h>

#define PROTOCOL                                                                                                           \
    "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"typeWidening\",\"timestampNtz\"]," \
    "\"writerFeatures\":[\"typeWidening\",\"timestampNtz\"]}}"
#define WIDENED(name, from, to)             \
    "{\"name\":\"" name "\",\"type\":\"" to \
    "\",\"nullable\":true,\"metadata\":{\"delta.typeChanges\":[{\"fromType\":\"" from "\",\"toType\":\"" to "\"}]}}"
#define ENABLED "\"delta.enableTypeWidening\":\"true\""

struct widening {
    const char *from; /* Delta's types */
    const char *to;
    const char *sql;       /* DuckDB's name of `from` */
    const char *old_value; /* as SQL */
    const char *old_stat;  /* as JSON */
    const char *below;     /* of the new type, between the old value and its neighbours */
    const char *above;
    const char *shown; /* the old value in the new type */
};

/* Each type of the protocol's list, and decimals whose digits grow before the point, behind it, or both. */
static const struct widening PAIRS[] = {
    {"byte", "short", "TINYINT", "5", "5", "4::SMALLINT", "1000::SMALLINT", "5"},
    {"byte", "integer", "TINYINT", "5", "5", "4", "100000", "5"},
    {"byte", "long", "TINYINT", "5", "5", "-5000000000", "5000000000", "5"},
    {"short", "integer", "SMALLINT", "5", "5", "-40000", "40000", "5"},
    {"short", "long", "SMALLINT", "5", "5", "4", "5000000000", "5"},
    {"integer", "long", "INTEGER", "5", "5", "-5000000000", "5000000000", "5"},
    {"byte", "double", "TINYINT", "5", "5", "4.5", "5.25", "5.0"},
    {"short", "double", "SMALLINT", "5", "5", "4.75", "5.5", "5.0"},
    {"integer", "double", "INTEGER", "5", "5", "4.999999", "5.000001", "5.0"},
    {"float", "double", "FLOAT", "3.4", "3.4", "3.4", "3.4000001", "3.4000000953674316"},
    {"date", "timestamp_ntz", "DATE", "DATE '2020-01-31'", "\"2020-01-31\"", "TIMESTAMP '2020-01-30 23:59:59.999999'",
     "TIMESTAMP '2020-01-31 00:00:00.000001'", "2020-01-31 00:00:00"},
    {"byte", "decimal(12,2)", "TINYINT", "5", "5", "4.99", "5.01", "5.00"},
    {"byte", "decimal(10,0)", "TINYINT", "-128", "-128", "-129", "-127", "-128"},
    {"short", "decimal(12,2)", "SMALLINT", "-32768", "-32768", "-32768.01", "-32767.99", "-32768.00"},
    {"integer", "decimal(10,0)", "INTEGER", "5", "5", "4", "6", "5"},
    {"integer", "decimal(13,3)", "INTEGER", "5", "5", "4.999", "5.001", "5.000"},
    {"long", "decimal(20,0)", "BIGINT", "9223372036854775807", "9223372036854775807", "9223372036854775806",
     "9223372036854775808", "9223372036854775807"},
    {"long", "decimal(22,2)", "BIGINT", "5", "5", "4.99", "5.01", "5.00"},
    {"decimal(5,2)", "decimal(10,2)", "DECIMAL(5,2)", "1.25", "1.25", "1.24", "123456.78", "1.25"},
    {"decimal(5,2)", "decimal(10,4)", "DECIMAL(5,2)", "1.25", "1.25", "1.2499", "1.2501", "1.2500"},
    {"decimal(18,0)", "decimal(38,20)", "DECIMAL(18,0)", "999999999999999999", "999999999999999999",
     "999999999999999998.99999999999999999999", "999999999999999999.00000000000000000001",
     "999999999999999999.00000000000000000000"},
};
#define N_PAIRS (sizeof PAIRS / sizeof PAIRS[0])

#define NESTED_FIELDS                                                                                                  \
    "{\"name\":\"c\",\"type\":\"%s\",\"nullable\":true,\"metadata\":{\"delta.typeChanges\":[{\"fromType\":\"%s\","     \
    "\"toType\":\"%s\"}]}},{\"name\":\"s\",\"type\":{\"type\":\"struct\",\"fields\":[{\"name\":\"f\",\"type\":\"%s\"," \
    "\"nullable\":true,\"metadata\":{}}]},\"nullable\":true,\"metadata\":{}},{\"name\":\"l\",\"type\":{\"type\":"      \
    "\"array\",\"elementType\":\"%s\",\"containsNull\":true},\"nullable\":true,\"metadata\":{\"delta.typeChanges\":[{" \
    "\"fromType\":\"%s\",\"toType\":\"%s\",\"fieldPath\":\"element\"}]}},{\"name\":\"m\",\"type\":{\"type\":\"map\","  \
    "\"keyType\":\"%s\",\"valueType\":{\"type\":\"array\",\"elementType\":\"%s\",\"containsNull\":true},"              \
    "\"valueContainsNull\":true},\"nullable\":true,\"metadata\":{\"delta.typeChanges\":[{\"fromType\":\"%s\","         \
    "\"toType\":\"%s\",\"fieldPath\":\"key\"},{\"fromType\":\"%s\",\"toType\":\"%s\",\"fieldPath\":"                   \
    "\"value.element\"}]}}"

/* Table t<i>: the column, and nested in a struct, a list, a map's keys and lists in its values. */
static const char *make_pair(struct session_fixture *s, size_t i)
{
    const struct widening *w = &PAIRS[i];
    const char *table = sl_arena_printf(&s->arena, "t%zu", i);
    const char *value = sl_arena_printf(&s->arena, "(%s)::%s", w->old_value, w->sql);
    hand_parquet(s, sl_arena_printf(&s->arena, "%s/old.parquet", table),
                 sl_arena_printf(&s->arena, "SELECT %s AS c, {'f': %s} AS s, [%s] AS l, MAP {%s: [%s]} AS m", value,
                                 value, value, value, value));
    const char *fields = sl_arena_printf(&s->arena, NESTED_FIELDS, w->to, w->from, w->to, w->to, w->to, w->from, w->to,
                                         w->to, w->to, w->from, w->to, w->from, w->to);
    const char *stats = sl_arena_printf(
        &s->arena,
        "{\"numRecords\":1,\"minValues\":{\"c\":%s,\"s\":{\"f\":%s}},\"maxValues\":{\"c\":%s,\"s\":{\"f\":%s}},"
        "\"nullCount\":{\"c\":0}}",
        w->old_stat, w->old_stat, w->old_stat, w->old_stat);
    hand_commit(s, table, 0, PROTOCOL, hand_metadata(s, fields, "", ENABLED), hand_add(s, "old.parquet", "{}", stats),
                NULL);
    return table;
}

/* The old file's bounds are its value; predicates between it and its neighbours must find it. */
static void every_pair_keeps_its_rows_under_predicates_of_the_new_type(void **state)
{
    struct session_fixture *s = *state;
    for (size_t i = 0; i < N_PAIRS; i++) {
        const struct widening *w = &PAIRS[i];
        const char *table = make_pair(s, i);
        session_expect_rows(
            s,
            session_format(s,
                           "SELECT c::VARCHAR, s.f::VARCHAR, l[1]::VARCHAR, map_keys(m)[1]::VARCHAR, "
                           "map_values(m)[1][1]::VARCHAR FROM %s",
                           table),
            sl_arena_printf(&s->arena, "%s|%s|%s|%s|%s\n", w->shown, w->shown, w->shown, w->shown, w->shown));
        static const char *const conditions[] = {
            "c > %s", "c >= %s", "c <> %s", "s.f > %s", "NOT c <= %s", "l[1] > %s", "c IS DISTINCT FROM %s"};
        for (size_t k = 0; k < sizeof conditions / sizeof conditions[0]; k++) {
            char condition[128];
            (void)snprintf(condition, sizeof condition, conditions[k], w->below);
            session_expect_rows(s, session_format(s, "SELECT count(*) FROM %s WHERE %s", table, condition), "1\n");
        }
        session_expect_rows(s,
                            session_format(s,
                                           "SELECT count(*) FROM %s WHERE c < %s AND s.f <= %s AND c BETWEEN %s AND %s",
                                           table, w->above, w->above, w->below, w->above),
                            "1\n");
        session_expect_rows(
            s, session_format(s, "SELECT count(*) FROM %s WHERE c = %s OR c >= %s", table, w->below, w->above), "0\n");
    }
}

/* The text of a float is another double than the float itself: see below. */
static void every_pair_is_read_from_partition_values(void **state)
{
    struct session_fixture *s = *state;
    hand_parquet(s, "one.parquet", "SELECT 1::INT AS v");
    const char *path = sl_arena_printf(&s->arena, "%s/one.parquet", s->dir);
    for (size_t i = 0; i < N_PAIRS; i++) {
        const struct widening *w = &PAIRS[i];
        const char *table = sl_arena_printf(&s->arena, "p%zu", i);
        const char *text = strtok(sl_arena_printf(&s->arena, "%s", w->old_stat), "\"");
        const char *values = sl_arena_printf(&s->arena, "{\"p\":\"%s\"}", text);
        const char *fields = sl_arena_printf(&s->arena, HAND_FIELD("v", "integer") "," WIDENED("p", "%s", "%s"), w->to,
                                             w->from, w->to);
        if (strcmp(w->from, "float") == 0) {
            continue;
        }
        hand_commit(s, table, 0, PROTOCOL, hand_metadata(s, fields, "\"p\"", ENABLED), hand_add(s, path, values, NULL),
                    NULL);
        session_expect_rows(s, session_format(s, "SELECT v, p::VARCHAR FROM %s", table),
                            sl_arena_printf(&s->arena, "1|%s\n", w->shown));
        session_expect_rows(
            s, session_format(s, "SELECT count(*) FROM %s WHERE p > %s AND p < %s", table, w->below, w->above), "1\n");
        session_expect_rows(
            s, session_format(s, "SELECT count(*) FROM %s WHERE p <= %s OR p >= %s", table, w->below, w->above), "0\n");
    }
}

static void partition_values_of_the_old_type_are_values_of_the_new_one(void **state)
{
    struct session_fixture *s = *state;
    hand_parquet(s, "t/1.parquet", "SELECT 1::INT AS v");
    hand_commit(s, "t", 0, PROTOCOL,
                hand_metadata(
                    s,
                    HAND_FIELD("v", "integer") "," WIDENED("a", "integer", "long") "," WIDENED(
                        "b", "integer",
                        "decimal(12,2)") "," WIDENED("c", "date", "timestamp_ntz") "," WIDENED("d", "float", "double"),
                    "\"a\",\"b\",\"c\",\"d\"", ENABLED),
                hand_add(s, "1.parquet", "{\"a\":\"5\",\"b\":\"7\",\"c\":\"2020-01-31\",\"d\":\"0.1\"}", NULL), NULL);
    session_expect_rows(s, "SELECT v, a, b, c, d FROM t", "1|5|7.00|2020-01-31 00:00:00|0.1\n");
    session_expect_rows(s, "SELECT v FROM t WHERE a < 5000000000 AND b > 6.99 AND c < TIMESTAMP '2020-01-31 00:00:01'",
                        "1\n");
}

static void a_change_outside_the_list_is_refused_with_both_types(void **state)
{
    struct session_fixture *s = *state;
    hand_commit(s, "t", 0, PROTOCOL, hand_metadata(s, WIDENED("c", "byte", "decimal(4,1)"), "", ENABLED), NULL);
    session_expect_fault(s, "SELECT * FROM t", SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_TYPE_CHANGE_IN_SCHEMA", -1);
    assert_non_null(strstr(s->err.message, "column c was changed from byte to decimal(4,1)"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(every_pair_keeps_its_rows_under_predicates_of_the_new_type),
        SESSION_TEST(every_pair_is_read_from_partition_values),
        SESSION_TEST(partition_values_of_the_old_type_are_values_of_the_new_one),
        SESSION_TEST(a_change_outside_the_list_is_refused_with_both_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
