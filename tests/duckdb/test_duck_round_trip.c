/*
 * Every Delta type written and read back through the data plane, extremes and nulls included; partition values of every type; the
 * shapes of scans.
 */
#include "duck_fixture.h"

#include <stdio.h>
#include <string.h>

#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{}}"
#define FLAT(name, type) FIELD(name, "\"" type "\"")

/* Writes rows of SQL values of one type, reads them back and compares as DuckDB prints them. */
static void round_trip(struct duck_fixture *fx, const char *type_json, const char *duck_type, const char *values)
{
    char fields[1024];
    char sql[4096];
    (void)snprintf(fields, sizeof(fields),
                   FLAT("id", "long") ",{\"name\":\"v\",\"type\":%s,\"nullable\":true,\"metadata\":{}}", type_json);
    silt_schema *schema = duck_schema(fx, fields);
    (void)snprintf(sql, sizeof(sql), "SELECT * FROM (VALUES %s) t(id, v)", values);
    duck_write(fx, sql, schema, NULL);
    assert_int_equal(1, fx->files.len);

    (void)snprintf(sql, sizeof(sql), "SELECT id::BIGINT, CAST(v AS %s)::VARCHAR FROM (VALUES %s) t(id, v) ORDER BY 1",
                   duck_type, values);
    const char *expected = sl_arena_strdup(&fx->arena, sl_str_from(duck_text(fx, sql)));
    const silt_scan_plan *plan = duck_plan(fx, schema, NULL, NULL);
    assert_string_equal(expected, duck_scan_text(fx, plan, "id, v::VARCHAR", "ORDER BY 1"));
    (void)snprintf(sql, sizeof(sql), "%s\n", duck_type);
    assert_string_equal(sql, duck_scan_text(fx, plan, "DISTINCT typeof(v)", ""));
    silt_schema_unref(schema);
}

static void flat_types_come_back(void **state)
{
    struct duck_fixture *fx = *state;
    round_trip(fx, "\"boolean\"", "BOOLEAN", "(1, true), (2, false), (3, NULL)");
    round_trip(fx, "\"byte\"", "TINYINT", "(1, -128), (2, 127), (3, NULL)");
    round_trip(fx, "\"short\"", "SMALLINT", "(1, -32768), (2, 32767), (3, NULL)");
    round_trip(fx, "\"integer\"", "INTEGER", "(1, -2147483648), (2, 2147483647), (3, NULL)");
    round_trip(fx, "\"long\"", "BIGINT", "(1, -9223372036854775808), (2, 9223372036854775807), (3, NULL)");
    round_trip(fx, "\"float\"", "FLOAT",
               "(1, 1.5::FLOAT), (2, 'nan'::FLOAT), (3, 'inf'::FLOAT), (4, '-inf'::FLOAT), "
               "(5, 3.4028235e38::FLOAT), (6, NULL), (7, '-0.0'::FLOAT)");
    round_trip(fx, "\"double\"", "DOUBLE",
               "(1, 1.5::DOUBLE), (2, 'nan'::DOUBLE), (3, 'inf'::DOUBLE), (4, 5e-324::DOUBLE), "
               "(5, 1.7976931348623157e308::DOUBLE), (6, NULL), (7, '-0.0'::DOUBLE)");
    round_trip(fx, "\"decimal(38,0)\"", "DECIMAL(38,0)",
               "(1, 99999999999999999999999999999999999999::DECIMAL(38,0)), "
               "(2, -99999999999999999999999999999999999999::DECIMAL(38,0)), (3, NULL)");
    round_trip(fx, "\"decimal(38,38)\"", "DECIMAL(38,38)",
               "(1, 0.12345678901234567890123456789012345678::DECIMAL(38,38)), "
               "(2, NULL)");
    round_trip(fx, "\"decimal(9,2)\"", "DECIMAL(9,2)", "(1, 1234567.89), (2, -0.01), (3, NULL)");
    round_trip(fx, "\"decimal(18,9)\"", "DECIMAL(18,9)", "(1, 123456789.123456789), (2, NULL)");
    round_trip(fx, "\"string\"", "VARCHAR", "(1, ''), (2, 'héllo \xf0\x9f\x98\x80'), (3, NULL), (4, 'a''b')");
    round_trip(fx, "\"binary\"", "BLOB", "(1, '\\x00\\xFF\\x80'::BLOB), (2, ''::BLOB), (3, NULL)");
    round_trip(fx, "\"date\"", "DATE",
               "(1, DATE '0001-01-01'), (2, DATE '9999-12-31'), (3, NULL), (4, DATE '1582-10-10')");
    round_trip(
        fx, "\"timestamp\"", "TIMESTAMP WITH TIME ZONE",
        "(1, TIMESTAMPTZ '0001-01-01 00:00:00+00'), (2, TIMESTAMPTZ '9999-12-31 23:59:59.999999+00'), (3, NULL), "
        "(4, TIMESTAMPTZ '1969-12-31 23:59:59.999999+00')");
    round_trip(fx, "\"timestamp_ntz\"", "TIMESTAMP",
               "(1, TIMESTAMP '0001-01-01 00:00:00'), (2, TIMESTAMP '9999-12-31 23:59:59.999999'), (3, NULL)");
}

static void nested_types_come_back(void **state)
{
    struct duck_fixture *fx = *state;
    round_trip(fx, "{\"type\":\"struct\",\"fields\":[" FLAT("a", "long") "," FLAT("b.c", "string") "]}",
               "STRUCT(a BIGINT, \"b.c\" VARCHAR)",
               "(1, {a: 1::BIGINT, 'b.c': 'x'}), (2, NULL), (3, {a: NULL, 'b.c': NULL})");
    round_trip(fx, "{\"type\":\"array\",\"elementType\":\"long\",\"containsNull\":true}", "BIGINT[]",
               "(1, [1::BIGINT, NULL, 3]), (2, []), (3, NULL)");
    round_trip(fx, "{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":\"long\",\"valueContainsNull\":true}",
               "MAP(VARCHAR, BIGINT)", "(1, map{'a': 1::BIGINT, 'b': NULL}), (2, map{}), (3, NULL)");
    round_trip(
        fx,
        "{\"type\":\"array\",\"elementType\":{\"type\":\"struct\",\"fields\":[" FIELD(
            "m", "{\"type\":\"map\",\"keyType\":\"integer\",\"valueType\":{\"type\":\"array\",\"elementType\":\"date\","
                 "\"containsNull\":true},\"valueContainsNull\":true}") "]},\"containsNull\":true}",
        "STRUCT(m MAP(INTEGER, DATE[]))[]", "(1, [{m: map{1: [DATE '2020-01-01', NULL]}}, NULL]), (2, NULL)");
}

static void numbers_of_other_types_are_stored(void **state)
{
    struct duck_fixture *fx = *state;
    silt_schema *schema = duck_schema(
        fx, FLAT("i", "integer") "," FLAT("l", "long") "," FLAT("d", "decimal(10,2)") "," FLAT("s", "string"));
    duck_write(fx,
               "SELECT 1.9::DOUBLE, '-12 ', 1.005::DECIMAL(10,3), TIMESTAMPTZ '2020-01-01 01:02:03.5+00' UNION ALL "
               "SELECT -1.9::DOUBLE, NULL, 7, NULL",
               schema, NULL);
    const silt_scan_plan *plan = duck_plan(fx, schema, NULL, NULL);
    assert_string_equal("-1|NULL|7.00|NULL\n1|-12|1.01|2020-01-01 01:02:03.5\n",
                        duck_scan_text(fx, plan, "*", "ORDER BY i"));
    silt_schema_unref(schema);
}

static void struct_fields_are_stored_by_name(void **state)
{
    struct duck_fixture *fx = *state;
    silt_schema *schema = duck_schema(
        fx, FIELD("s", "{\"type\":\"struct\",\"fields\":[" FLAT("a", "long") "," FLAT("b", "string") "]}"));
    duck_write(fx, "SELECT {B: 'x', A: 3::TINYINT} UNION ALL SELECT NULL", schema, NULL);
    const silt_scan_plan *plan = duck_plan(fx, schema, NULL, NULL);
    assert_string_equal("{'a': 3, 'b': x}\nNULL\n", duck_scan_text(fx, plan, "s::VARCHAR", "ORDER BY s IS NULL"));
    assert_int_equal(SILT_ESCHEMA, duck_try_write(fx, "SELECT {a: 1, b: 'x', c: 2}", schema, NULL));
    silt_schema_unref(schema);
}

static void loss_is_an_error_and_leaves_nothing(void **state)
{
    static const struct {
        const char *type;
        const char *sql;
        const char *code;
    } cases[] = {
        {"byte", "SELECT 128", "CAST_INVALID_INPUT"},
        {"integer", "SELECT 3e9::DOUBLE", "CAST_INVALID_INPUT"},
        {"integer", "SELECT '1.5'", "CAST_INVALID_INPUT"},
        {"integer", "SELECT 'x'", "CAST_INVALID_INPUT"},
        {"double", "SELECT 'x'", "CAST_INVALID_INPUT"},
        {"decimal(4,2)", "SELECT 123.4", "CAST_INVALID_INPUT"},
        {"date", "SELECT 'tomorrow'", "CAST_INVALID_INPUT"},
        {"date", "SELECT 1", "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST"},
        {"long", "SELECT DATE '2020-01-01'", "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST"},
        {"string", "SELECT [1]", "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST"},
        {"string", "SELECT 1, 2", "DELTA_INSERT_COLUMN_ARITY_MISMATCH"},
    };
    struct duck_fixture *fx = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char fields[256];
        (void)snprintf(fields, sizeof(fields), "{\"name\":\"v\",\"type\":\"%s\",\"nullable\":true,\"metadata\":{}}",
                       cases[i].type);
        silt_schema *schema = duck_schema(fx, fields);
        assert_int_equal(SILT_ESCHEMA, duck_try_write(fx, cases[i].sql, schema, NULL));
        assert_string_equal(cases[i].code, fx->err.code_name);
        assert_int_equal(0, duck_count_files(fx->root));
        silt_schema_unref(schema);
    }
}

/* ---- partitions ---- */

static void partition_values_of_every_type_come_back(void **state)
{
    static const struct {
        const char *type;
        const char *duck_type;
        const char *values;
        const char *a_path; /* one that must be there */
    } cases[] = {
        {"string", "VARCHAR", "(1, 'a/b=c %é\"'), (2, ' '), (3, NULL), (4, '__x')", "p=a%2Fb%3Dc %25é%22/"},
        {"integer", "INTEGER", "(1, -1), (2, 2147483647), (3, NULL)", "p=-1/"},
        {"long", "BIGINT", "(1, -9223372036854775808), (2, NULL)", "p=__HIVE_DEFAULT_PARTITION__/"},
        {"boolean", "BOOLEAN", "(1, true), (2, false), (3, NULL)", "p=true/"},
        {"float", "FLOAT", "(1, 1.5::FLOAT), (2, 'nan'::FLOAT), (3, 1e10::FLOAT), (4, NULL)", "p=1.5/"},
        {"double", "DOUBLE", "(1, 0.1::DOUBLE), (2, '-inf'::DOUBLE), (3, 1e-300::DOUBLE), (4, NULL)", "p=0.1/"},
        {"decimal(38,2)", "DECIMAL(38,2)", "(1, 0.10), (2, -999999999999999999999999999999999999.99), (3, NULL)",
         "p=0.10/"},
        {"decimal(9,2)", "DECIMAL(9,2)", "(1, 0.10), (2, -1234567.89), (3, NULL)", "p=0.10/"},
        {"date", "DATE", "(1, DATE '0001-01-01'), (2, DATE '9999-12-31'), (3, NULL)", "p=0001-01-01/"},
        {"timestamp", "TIMESTAMP WITH TIME ZONE",
         "(1, TIMESTAMPTZ '2020-01-01 10:00:00.000001+00'), (2, TIMESTAMPTZ '1969-12-31 23:59:59+00'), (3, NULL)",
         "p=2020-01-01T10%3A00%3A00.000001Z/"},
        {"timestamp_ntz", "TIMESTAMP", "(1, TIMESTAMP '2020-01-01 10:00:00.5'), (2, NULL)", NULL},
        {"binary", "BLOB", "(1, 'ab'::BLOB), (2, '\\x00\\xFF'::BLOB), (3, NULL)", NULL},
    };
    struct duck_fixture *fx = *state;
    const struct duck_write_options options = {.partition_columns = {"p"}, .n_partition_columns = 1};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[2048];
        (void)snprintf(text, sizeof(text),
                       "{\"name\":\"p\",\"type\":\"%s\",\"nullable\":true,\"metadata\":{}}," FLAT("id", "long"),
                       cases[i].type);
        silt_schema *schema = duck_schema(fx, text);
        (void)snprintf(text, sizeof(text), "SELECT CAST(p AS %s), id FROM (VALUES %s) t(id, p)", cases[i].duck_type,
                       cases[i].values);
        duck_write(fx, text, schema, &options);
        bool found = cases[i].a_path == NULL;
        for (size_t f = 0; f < fx->files.len; f++) {
            found = found || strncmp(duck_file(fx, f)->path, cases[i].a_path, strlen(cases[i].a_path)) == 0;
            assert_int_equal(1, duck_file(fx, f)->num_rows);
        }
        assert_true(found);
        (void)snprintf(text, sizeof(text),
                       "SELECT id::BIGINT, CAST(p AS %s)::VARCHAR FROM (VALUES %s) t(id, p) ORDER BY 1",
                       cases[i].duck_type, cases[i].values);
        const char *expected = sl_arena_strdup(&fx->arena, sl_str_from(duck_text(fx, text)));
        const silt_scan_plan *plan = duck_plan(fx, schema, &options, NULL);
        assert_string_equal(expected, duck_scan_text(fx, plan, "id, p::VARCHAR", "ORDER BY 1"));
        (void)snprintf(text, sizeof(text), "%s\n", cases[i].duck_type);
        assert_string_equal(text, duck_scan_text(fx, plan, "DISTINCT typeof(p)", ""));
        silt_schema_unref(schema);
    }
}

static void empty_string_partition_is_null(void **state)
{
    struct duck_fixture *fx = *state;
    const struct duck_write_options options = {.partition_columns = {"p"}, .n_partition_columns = 1};
    silt_schema *schema = duck_schema(fx, FLAT("id", "long") "," FLAT("p", "string"));
    duck_write(fx, "SELECT 1, '' UNION ALL SELECT 2, NULL", schema, &options);
    assert_int_equal(1, fx->files.len);
    assert_true(duck_file(fx, 0)->partition_values[0].is_null);
    assert_int_equal(2, duck_file(fx, 0)->num_rows);
    silt_schema_unref(schema);
}

static void several_partition_columns_and_a_filter(void **state)
{
    struct duck_fixture *fx = *state;
    const struct duck_write_options options = {.partition_columns = {"b", "a"}, .n_partition_columns = 2};
    silt_schema *schema = duck_schema(fx, FLAT("a", "integer") "," FLAT("id", "long") "," FLAT("b", "string"));
    duck_write(fx, "SELECT i % 3, i, 'k' || (i % 2) FROM range(60) t(i)", schema, &options);
    assert_int_equal(6, fx->files.len);
    assert_int_equal(0, strncmp(duck_file(fx, 0)->path, "b=k", 3));
    const silt_scan_plan *plan = duck_plan(fx, schema, &options, "a = 1 AND b = 'k0' AND id > 20");
    assert_string_equal("1|22|k0\n1|28|k0\n1|34|k0\n1|40|k0\n1|46|k0\n1|52|k0\n1|58|k0\n",
                        duck_scan_text(fx, plan, "*", "ORDER BY id"));
    assert_string_equal("7\n", duck_scan_text(fx, plan, "count(*)", ""));
    silt_schema_unref(schema);
}

static void only_partition_columns_can_be_read(void **state)
{
    struct duck_fixture *fx = *state;
    const struct duck_write_options options = {.partition_columns = {"p"}, .n_partition_columns = 1};
    silt_schema *schema = duck_schema(fx, FLAT("id", "long") "," FLAT("p", "integer"));
    duck_write(fx, "SELECT i, i % 2 FROM range(10) t(i)", schema, &options);
    silt_schema *only = duck_schema(fx, FLAT("p", "integer"));
    const silt_scan_plan *plan = duck_plan(fx, only, &options, NULL);
    assert_string_equal("0|5\n1|5\n", duck_scan_text(fx, plan, "p, count(*)", "GROUP BY p ORDER BY p"));
    silt_schema *none = duck_schema(fx, "");
    assert_string_equal("10\n", duck_scan_text(fx, duck_plan(fx, none, &options, NULL), "count(*)", ""));
    silt_schema_unref(none);
    silt_schema_unref(only);
    silt_schema_unref(schema);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, duck_setup, duck_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(flat_types_come_back),
        TEST(nested_types_come_back),
        TEST(numbers_of_other_types_are_stored),
        TEST(struct_fields_are_stored_by_name),
        TEST(loss_is_an_error_and_leaves_nothing),
        TEST(partition_values_of_every_type_come_back),
        TEST(empty_string_partition_is_null),
        TEST(several_partition_columns_and_a_filter),
        TEST(only_partition_columns_can_be_read),
    };
    return cmocka_run_group_tests_name("duck_round_trip", tests, NULL, NULL);
}
