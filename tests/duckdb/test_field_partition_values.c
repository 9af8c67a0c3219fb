/* Partition values: nulls and empty text, zones, binary, dates against instants, spelling of names, many files. */
#include "hand_table.h"

#include <stdio.h>
#include <string.h>

#include "base/arrow.h"

#define P_FIELDS HAND_FIELD("v", "integer") "," HAND_FIELD("p", "string")

/* One file t/<v>.parquet with the row v. */
static const char *add_row(struct session_fixture *s, int v, const char *partition_values)
{
    char path[32];
    char query[64];
    (void)snprintf(path, sizeof(path), "t/%d.parquet", v);
    (void)snprintf(query, sizeof(query), "SELECT %d::INT AS v", v);
    hand_parquet(s, path, query);
    (void)snprintf(path, sizeof(path), "%d.parquet", v);
    return hand_add(s, path, partition_values, NULL);
}

static void null_empty_and_missing_values_are_null(void **state)
{
    struct session_fixture *s = *state;
    hand_create(s, "t", P_FIELDS "," HAND_FIELD("i", "integer"), "\"p\",\"i\"");
    hand_commit(s, "t", 1, add_row(s, 1, "{\"p\":null,\"i\":null}"), add_row(s, 2, "{\"p\":\"\",\"i\":\"\"}"),
                add_row(s, 3, "{}"), add_row(s, 4, "{\"p\":\"abc\",\"i\":\"4\"}"), NULL);
    session_expect_rows(s, "SELECT v, p, i FROM t ORDER BY v", "1|NULL|NULL\n2|NULL|NULL\n3|NULL|NULL\n4|abc|4\n");
    session_expect_rows(s, "SELECT v FROM t WHERE p IS NULL AND i IS NULL ORDER BY v", "1\n2\n3\n");
    session_expect_rows(s, "SELECT v FROM t WHERE p IS NOT NULL", "4\n");
    session_expect_rows(s, "SELECT v FROM t WHERE p = ''", "");
    session_expect_rows(s, "SELECT v FROM t WHERE p IS DISTINCT FROM 'abc' ORDER BY v", "1\n2\n3\n");
}

static void empty_text_in_a_required_text_column_is_empty_text(void **state)
{
    struct session_fixture *s = *state;
    hand_create(s, "t", HAND_FIELD("v", "integer") "," HAND_REQUIRED("p", "string"), "\"p\"");
    hand_commit(s, "t", 1, add_row(s, 1, "{\"p\":\"\"}"), add_row(s, 2, "{\"p\":\"abc\"}"), NULL);
    session_expect_rows(s, "SELECT v, p, p IS NULL FROM t ORDER BY v", "1||false\n2|abc|false\n");
    session_expect_rows(s, "SELECT v FROM t WHERE p = ''", "1\n");
    session_expect_rows(s, "SELECT v FROM t WHERE p IS NULL", "");
    session_expect_rows(s, "SELECT v FROM t WHERE length(p) = 0", "1\n");
}

static void a_writer_records_null_for_null_and_for_empty_text(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (v INT, p STRING, i INT) PARTITIONED BY (p, i)");
    session_expect_done(s, "INSERT INTO t VALUES (1, NULL, NULL)");
    assert_non_null(strstr(hand_log(s, "t", 1), "\"partitionValues\":{\"p\":null,\"i\":null}"));
    session_expect_done(s, "INSERT INTO t VALUES (2, '', 5)");
    assert_non_null(strstr(hand_log(s, "t", 2), "\"partitionValues\":{\"p\":null,\"i\":\"5\"}"));
    session_expect_rows(s, "SELECT v FROM t WHERE p IS NULL ORDER BY v", "1\n2\n");
    session_expect_rows(s, "SELECT v FROM t WHERE i IS NULL", "1\n");
    session_expect_done(s, "CREATE TABLE n (v INT, p STRING NOT NULL) PARTITIONED BY (p)");
    assert_int_equal(session_try(s, "INSERT INTO n VALUES (1, '')"), SILT_ECONSTRAINT);
    assert_int_equal(session_try(s, "INSERT INTO n VALUES (1, NULL)"), SILT_ECONSTRAINT);
}

static void only_the_log_says_the_value_never_the_folder(void **state)
{
    struct session_fixture *s = *state;
    hand_create(s, "t", P_FIELDS, "\"p\"");
    hand_parquet(s, "t/p=__HIVE_DEFAULT_PARTITION__/a.parquet", "SELECT 1::INT AS v");
    hand_parquet(s, "t/p=__HIVE_DEFAULT_PARTITION__/b.parquet", "SELECT 2::INT AS v");
    hand_parquet(s, "t/p=other/c.parquet", "SELECT 3::INT AS v");
    hand_parquet(s, "t/p=x/v=9/d.parquet", "SELECT 4::INT AS v, 'inside' AS p");
    hand_commit(s, "t", 1, hand_add(s, "p=__HIVE_DEFAULT_PARTITION__/a.parquet", "{\"p\":null}", NULL),
                hand_add(s, "p=__HIVE_DEFAULT_PARTITION__/b.parquet", "{\"p\":\"x\"}", NULL),
                hand_add(s, "p=other/c.parquet", "{\"p\":\"__HIVE_DEFAULT_PARTITION__\"}", NULL),
                hand_add(s, "p=x/v=9/d.parquet", "{\"p\":\"log\"}", NULL), NULL);
    session_expect_rows(s, "SELECT v, p FROM t ORDER BY v", "1|NULL\n2|x\n3|__HIVE_DEFAULT_PARTITION__\n4|log\n");
    session_expect_rows(s, "SELECT v FROM t WHERE p = 'x'", "2\n");
    session_expect_rows(s, "SELECT v FROM t WHERE p IS NULL", "1\n");
}

static void an_instant_without_a_zone_is_of_the_zone_of_the_session(void **state)
{
    struct session_fixture *s = *state;
    static const struct {
        const char *zone;
        int hours; /* from the zone's midnight of that day to that of UTC */
    } zones[] = {{"UTC", 0}, {"Europe/Vilnius", -3}, {"America/Los_Angeles", 7}};
    hand_create(s, "t",
                HAND_FIELD("v", "integer") "," HAND_FIELD("p", "timestamp") "," HAND_FIELD("n", "timestamp_ntz"),
                "\"p\",\"n\"");
    hand_commit(s, "t", 0,
                "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"timestampNtz\"],"
                "\"writerFeatures\":[\"timestampNtz\"]}}",
                hand_metadata(
                    s, HAND_FIELD("v", "integer") "," HAND_FIELD("p", "timestamp") "," HAND_FIELD("n", "timestamp_ntz"),
                    "\"p\",\"n\"", ""),
                NULL);
    hand_commit(s, "t", 1, add_row(s, 1, "{\"p\":\"2020-05-05 00:00:00\",\"n\":\"2020-05-05 00:00:00\"}"),
                add_row(s, 2, "{\"p\":\"2020-05-05 00:00:00.123456\",\"n\":\"2020-05-05 00:00:00.123456\"}"),
                add_row(s, 3, "{\"p\":\"2020-05-05T00:00:00.123456Z\",\"n\":null}"),
                add_row(s, 4, "{\"p\":\"2020-05-05 00:00:00.1\",\"n\":\"2020-05-05 00:00:00.10\"}"),
                add_row(s, 5, "{\"p\":\"2020-05-05 03:00:00.12345+03:00\",\"n\":null}"), NULL);
    for (size_t i = 0; i < 3; i++) {
        session_expect_done(s, session_format(s, "SET TIME ZONE '%s'", zones[i].zone));
        session_expect_rows(
            s,
            session_format(s,
                           "SELECT v, epoch_us(p) - 1588636800000000 - CASE WHEN v IN (3, 5) THEN 0 ELSE %d END "
                           "* 3600000000 AS us FROM t ORDER BY v",
                           zones[i].hours),
            "1|0\n2|123456\n3|123456\n4|100000\n5|123450\n");
        /* Literals without a zone are of the session's too, so that texts that look alike are equal. */
        session_expect_rows(s, "SELECT v FROM t WHERE p = '2020-05-05 00:00:00.123456' AND v = 2", "2\n");
        session_expect_rows(s, "SELECT v FROM t WHERE p = TIMESTAMP '2020-05-05 00:00:00'", "1\n");
        session_expect_rows(s, "SELECT v FROM t WHERE p = TIMESTAMPTZ '2020-05-05 00:00:00.123456Z' ORDER BY v",
                            zones[i].hours == 0 ? "2\n3\n" : "3\n");
        session_expect_rows(s, "SELECT v FROM t WHERE p >= '2020-05-05T00:00:00.12Z' ORDER BY v",
                            zones[i].hours < 0   ? "3\n5\n"
                            : zones[i].hours > 0 ? "1\n2\n3\n4\n5\n"
                                                 : "2\n3\n5\n");
        session_expect_rows(s, "SELECT v FROM t WHERE n = TIMESTAMP_NTZ '2020-05-05 00:00:00.1'", "4\n");
        session_expect_rows(s, "SELECT v FROM t WHERE n >= TIMESTAMP_NTZ '2020-05-05 00:00:00' ORDER BY v",
                            "1\n2\n4\n");
    }
}

static void new_instants_are_logged_with_their_zone(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (v INT, p TIMESTAMP) PARTITIONED BY (p); SET TIME ZONE 'Europe/Vilnius'");
    session_expect_done(s, "INSERT INTO t VALUES (1, TIMESTAMP '2020-05-05 03:00:00.5')");
    assert_non_null(strstr(hand_log(s, "t", 1), "{\"p\":\"2020-05-05T00:00:00.500000Z\"}"));
    session_expect_rows(s, "SELECT v FROM t WHERE p = '2020-05-05 03:00:00.5'", "1\n");
}

static void an_instant_is_not_pruned_by_the_wrong_day(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (ts TIMESTAMP, d DATE) PARTITIONED BY (d)");
    session_expect_done(s, "INSERT INTO t VALUES (TIMESTAMPTZ '2021-03-01 23:30:00Z', DATE '2021-03-01'), "
                           "(TIMESTAMPTZ '2021-03-02 00:30:00Z', DATE '2021-03-02')");
    session_expect_rows(s, "SELECT d::VARCHAR FROM t WHERE ts > '2021-03-01 23:45:00Z'", "2021-03-02\n");
    session_expect_done(s, "SET TIME ZONE 'Europe/Vilnius'");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE ts >= TIMESTAMP '2021-03-02 00:00:00'", "2\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE d = '2021-03-01'", "1\n");
    /* A date that is compared with an instant is that day's midnight in the session's zone. */
    session_expect_rows(s, "SELECT count(*) FROM t WHERE d >= TIMESTAMPTZ '2021-03-01 22:00:00Z'", "1\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE ts >= DATE '2021-03-02'", "2\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE CAST(ts AS DATE) = d", "1\n");
}

static void binary_values_are_text_or_escapes(void **state)
{
    struct session_fixture *s = *state;
    hand_create(s, "t", HAND_FIELD("v", "integer") "," HAND_FIELD("p", "binary"), "\"p\"");
    hand_commit(s, "t", 1, add_row(s, 1, "{\"p\":\"plain\"}"), add_row(s, 2, "{\"p\":\"\\\\u0001\\\\u00FF\"}"),
                add_row(s, 3, "{\"p\":\"\\u0001\"}"), NULL);
    session_expect_rows(s, "SELECT v, hex(p) FROM t ORDER BY v", "1|706C61696E\n2|01FF\n3|01\n");
    session_expect_rows(s, "SELECT v FROM t WHERE p = '\\x01\\xFF'::BLOB", "2\n");
    session_expect_done(s, "CREATE TABLE w (v INT, p BINARY) PARTITIONED BY (p)");
    session_expect_done(s, "INSERT INTO w VALUES (1, 'ab'::BLOB), (2, '\\x00\\xFE'::BLOB), (3, '\\x5Cu0041'::BLOB)");
    session_expect_rows(s, "SELECT v, hex(p) FROM w ORDER BY v", "1|6162\n2|00FE\n3|5C7530303431\n");
}

static void values_that_cannot_be_read_fail_by_name_and_only_when_needed(void **state)
{
    struct session_fixture *s = *state;
    hand_create(s, "t", HAND_FIELD("v", "integer") "," HAND_FIELD("p", "integer"), "\"p\"");
    hand_commit(s, "t", 1, add_row(s, 1, "{\"p\":\"__HIVE_DEFAULT_PARTITION__\"}"), NULL);
    session_expect_fault(s, "SELECT * FROM t", SILT_ECORRUPT, "DELTA_FAILED_CAST_PARTITION_VALUE", -1);
    assert_non_null(strstr(s->err.message, "p"));
}

static void names_of_columns_ignore_case_and_keep_their_spelling(void **state)
{
    struct session_fixture *s = *state;
    hand_create(s, "t", HAND_FIELD("v", "integer") "," HAND_FIELD("BIRTH_YEAR", "integer"), "\"BIRTH_YEAR\"");
    hand_commit(s, "t", 1, add_row(s, 1, "{\"BIRTH_YEAR\":\"1980\"}"), NULL);
    session_expect_rows(s, "SELECT birth_year FROM t WHERE Birth_Year = 1980", "1980\n");
    session_expect_done(s, "INSERT INTO t BY NAME SELECT 2 AS V, 1981 AS birth_year");
    assert_non_null(strstr(hand_log(s, "t", 2), "\"partitionValues\":{\"BIRTH_YEAR\":\"1981\"}"));
    assert_null(strstr(hand_log(s, "t", 2), "metaData"));
    session_expect_rows(s, "SELECT V, BIRTH_YEAR FROM t ORDER BY v", "1|1980\n2|1981\n");
    session_expect_done(s, "CREATE TABLE c (v INT, Region STRING) PARTITIONED BY (region)");
    assert_non_null(strstr(hand_log(s, "c", 0), "\"partitionColumns\":[\"Region\"]"));
}

static void names_that_differ_only_in_case_are_refused(void **state)
{
    struct session_fixture *s = *state;
    session_expect_fault(s, "CREATE TABLE a (id INT, ID STRING)", SILT_ESCHEMA, "DELTA_DUPLICATE_COLUMNS_FOUND", -1);
    session_expect_fault(s, "CREATE TABLE a (s STRUCT<x: INT, X: INT>)", SILT_ESCHEMA, "DELTA_DUPLICATE_COLUMNS_FOUND",
                         -1);
    session_expect_fault(s, "CREATE TABLE a (s ARRAY<STRUCT<x: INT, X: INT>>)", SILT_ESCHEMA,
                         "DELTA_DUPLICATE_COLUMNS_FOUND", -1);
    session_expect_fault(s, "CREATE TABLE a AS SELECT 1 AS id, 2 AS ID", SILT_ESCHEMA, "DELTA_DUPLICATE_COLUMNS_FOUND",
                         -1);
    session_expect_fault(s, "CREATE TABLE a AS SELECT * FROM (SELECT 1 AS k) x, (SELECT 2 AS k) y", SILT_ESCHEMA,
                         "DELTA_DUPLICATE_COLUMNS_FOUND", -1);
    hand_create(s, "d", HAND_FIELD("id", "integer") "," HAND_FIELD("ID", "string"), "");
    session_expect_fault(s, "SELECT * FROM d", SILT_ESCHEMA, "DELTA_DUPLICATE_COLUMNS_FOUND", -1);
    session_expect_fault(s, "INSERT INTO d VALUES (1, 'x')", SILT_ESCHEMA, "DELTA_DUPLICATE_COLUMNS_FOUND", -1);
    session_expect_done(s, "CREATE TABLE c AS SELECT 1 AS id, 2 AS id_1");
    session_expect_rows(s, "SELECT id, ID_1 FROM c", "1|2\n");
    session_expect_done(s, "CREATE TABLE b (id INT, s STRUCT<x: INT>)");
    session_expect_done(s, "INSERT INTO b BY NAME SELECT 1 AS Id, {'X': 2} AS S");
    assert_null(strstr(hand_log(s, "b", 1), "metaData"));
    session_expect_rows(s, "SELECT ID, s.X FROM b", "1|2\n");
    assert_int_not_equal(session_try(s, "INSERT INTO b BY NAME SELECT 1 AS id, 2 AS ID"), SILT_OK);
}

static void dates_and_numbers_prune_as_values_not_as_text(void **state)
{
    struct session_fixture *s = *state;
    hand_create(s, "t", HAND_FIELD("v", "integer") "," HAND_FIELD("p", "integer") "," HAND_FIELD("d", "decimal(10,2)"),
                "\"p\",\"d\"");
    hand_commit(s, "t", 1, add_row(s, 1, "{\"p\":\"9\",\"d\":\"9.50\"}"), add_row(s, 2, "{\"p\":\"10\",\"d\":\"10\"}"),
                add_row(s, 3, "{\"p\":\"-1\",\"d\":\"-1.5\"}"), add_row(s, 4, "{\"p\":\"010\",\"d\":\"1E1\"}"), NULL);
    session_expect_rows(s, "SELECT v FROM t WHERE p > 9 ORDER BY v", "2\n4\n");
    session_expect_rows(s, "SELECT v FROM t WHERE p = 10 AND d = 10 ORDER BY v", "2\n4\n");
    session_expect_rows(s, "SELECT v FROM t WHERE d < 9.6 ORDER BY v", "1\n3\n");
}

/* Files 0 to 199 of one partition, and one of another. */
static void make_many(struct session_fixture *s)
{
    struct sl_buf text;
    sl_buf_init(&text, silt_env_default());
    hand_create(s, "t", HAND_FIELD("v", "integer") "," HAND_FIELD("p", "string"), "\"p\"");
    for (int i = 0; i <= 200; i++) {
        sl_buf_printf(&text, "%s\n", add_row(s, i, i < 200 ? "{\"p\":\"a\"}" : "{\"p\":\"b\"}"));
    }
    hand_put(s, "t/_delta_log/00000000000000000001.json", sl_buf_cstr(&text));
    sl_buf_release(&text);
}

static void two_hundred_files_answer_every_form_of_predicate(void **state)
{
    struct session_fixture *s = *state;
    static const char *const forms[] = {"p = 'a'",
                                        "'a' = p",
                                        "p IN ('a')",
                                        "p IN ('a', 'zz')",
                                        "p <> 'b'",
                                        "NOT p = 'b'",
                                        "p < 'b'",
                                        "p <= 'a'",
                                        "p BETWEEN '' AND 'a'",
                                        "p LIKE 'a%'",
                                        "p LIKE 'a'",
                                        "starts_with(p, 'a')",
                                        "p || '' = 'a'",
                                        "upper(p) = 'A'",
                                        "p IS NOT DISTINCT FROM 'a'",
                                        "p NOT IN ('b')",
                                        "coalesce(p, 'b') = 'a'",
                                        "p = (SELECT 'a')",
                                        "p IN (SELECT 'a')",
                                        "CASE WHEN p = 'a' THEN true ELSE false END",
                                        "v < 200",
                                        "p = 'a' AND v >= 0",
                                        "p = 'a' OR v < 0",
                                        "p > '' AND p < 'b'",
                                        "p = lower('A')",
                                        "p = CAST('a' AS VARCHAR)"};
    make_many(s);
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        session_expect_rows(s, session_format(s, "SELECT count(*), sum(v) FROM t WHERE %s", forms[i]), "200|19900\n");
    }
}

static void a_partition_filter_can_be_a_parameter(void **state)
{
    struct session_fixture *s = *state;
    const int32_t offsets[] = {0, 1};
    const void *text_buffers[] = {NULL, offsets, "a"};
    struct ArrowArray text = {.length = 1, .n_buffers = 3, .buffers = text_buffers};
    struct ArrowArray *children[] = {&text};
    const void *row_buffers[] = {NULL};
    struct ArrowArray row = {
        .length = 1, .n_buffers = 1, .buffers = row_buffers, .n_children = 1, .children = children};
    struct ArrowSchema text_schema = {.format = "u", .name = "", .flags = ARROW_FLAG_NULLABLE};
    struct ArrowSchema *schema_children[] = {&text_schema};
    struct ArrowSchema schema = {.format = "+s", .name = "", .n_children = 1, .children = schema_children};
    make_many(s);
    assert_int_equal(session_try_with(s, "SELECT count(*), sum(v) FROM t WHERE p = $1", &schema, &row), SILT_OK);
    assert_string_equal(sl_buf_cstr(&s->out), "200|19900\n");
    assert_int_equal(session_try_with(s, "SELECT count(*) FROM t WHERE p IN ($1, 'b')", &schema, &row), SILT_OK);
    assert_string_equal(sl_buf_cstr(&s->out), "201\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(null_empty_and_missing_values_are_null),
        SESSION_TEST(empty_text_in_a_required_text_column_is_empty_text),
        SESSION_TEST(a_writer_records_null_for_null_and_for_empty_text),
        SESSION_TEST(only_the_log_says_the_value_never_the_folder),
        SESSION_TEST(an_instant_without_a_zone_is_of_the_zone_of_the_session),
        SESSION_TEST(new_instants_are_logged_with_their_zone),
        SESSION_TEST(an_instant_is_not_pruned_by_the_wrong_day),
        SESSION_TEST(binary_values_are_text_or_escapes),
        SESSION_TEST(values_that_cannot_be_read_fail_by_name_and_only_when_needed),
        SESSION_TEST(names_of_columns_ignore_case_and_keep_their_spelling),
        SESSION_TEST(names_that_differ_only_in_case_are_refused),
        SESSION_TEST(dates_and_numbers_prune_as_values_not_as_text),
        SESSION_TEST(two_hundred_files_answer_every_form_of_predicate),
        SESSION_TEST(a_partition_filter_can_be_a_parameter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
