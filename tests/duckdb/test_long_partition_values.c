/* Partition values longer than the name of a folder may be, and those that look like the engine's own keys for them. */
#include <string.h>

#include "session_fixture.h"

#define CREATE "CREATE TABLE t (v BIGINT, p STRING) PARTITIONED BY (p)"

static void texts_longer_than_a_folder_name_come_back(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, CREATE);
    session_expect_done(s, "INSERT INTO t VALUES (1, repeat('x', 300)), (2, repeat('é', 300)), (3, repeat('%', 70)), "
                           "(4, repeat('x', 300)), (5, repeat('x', 301)), (6, repeat('/', 3000)), (7, NULL)");
    session_expect_rows(s, "SELECT v FROM t WHERE p = repeat('x', 300) ORDER BY v", "1\n4\n");
    session_expect_rows(s, "SELECT v FROM t WHERE p = repeat('é', 300)", "2\n");
    session_expect_rows(s, "SELECT v FROM t WHERE p = repeat('%', 70)", "3\n");
    session_expect_rows(s, "SELECT v FROM t WHERE p = repeat('x', 301)", "5\n");
    session_expect_rows(s, "SELECT v FROM t WHERE p = repeat('/', 3000)", "6\n");
    session_expect_rows(s, "SELECT count(*), count(DISTINCT p) FROM t", "7|5\n");
}

static void folders_are_cut_between_characters_and_escapes(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, CREATE);
    session_expect_done(s, "INSERT INTO t SELECT i, repeat('a', i::INT) || repeat('é', 300) FROM range(4) r(i)");
    session_expect_done(s, "INSERT INTO t SELECT i, repeat('a', i::INT) || repeat('/', 300) FROM range(4) r(i)");
    session_expect_rows(s,
                        session_with_dir(s, "SELECT count(*), bool_and(strlen(f) BETWEEN 198 AND 200), "
                                            "bool_and(regexp_matches(f, '^p=a*(é*|(%2F)*)$')) FROM (SELECT "
                                            "split_part(file, '/', -2) AS f FROM glob('%D/t/*/*.parquet'))"),
                        "8|true|true\n");
    session_expect_rows(s, "SELECT count(*), count(DISTINCT p) FROM t", "8|8\n");
}

static void short_texts_that_look_like_keys_stay_themselves(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, CREATE);
    session_expect_done(s, "INSERT INTO t VALUES (0, repeat('y', 100)), (1, '~0'), (2, '~'), (3, '~1'), (4, '~x')");
    session_expect_rows(s, "SELECT v, CASE WHEN length(p) = 100 THEN 'long' ELSE p END FROM t ORDER BY v",
                        "0|long\n1|~0\n2|~\n3|~1\n4|~x\n");
}

static void the_name_of_the_folder_for_null_is_a_text_as_others(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, CREATE);
    session_expect_done(s, "INSERT INTO t VALUES (1, '__HIVE_DEFAULT_PARTITION__'), (2, NULL), (3, '')");
    session_expect_rows(s, "SELECT v, p FROM t ORDER BY v", "1|__HIVE_DEFAULT_PARTITION__\n2|NULL\n3|NULL\n");
}

static void long_binary_and_several_columns_work_together(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (v BIGINT, b BINARY, p STRING, d DOUBLE) PARTITIONED BY (b, p, d)");
    session_expect_done(
        s, "INSERT INTO t SELECT i, encode(repeat('b', 90 + i::INT)), repeat('p', 90 + i::INT % 2), 1e-300 "
           "FROM range(6) r(i)");
    session_expect_rows(s, "SELECT v, octet_length(b), length(p), d FROM t ORDER BY v",
                        "0|90|90|1.0E-300\n1|91|91|1.0E-300\n2|92|90|1.0E-300\n3|93|91|1.0E-300\n4|94|90|1.0E-300\n"
                        "5|95|91|1.0E-300\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(texts_longer_than_a_folder_name_come_back),
        SESSION_TEST(folders_are_cut_between_characters_and_escapes),
        SESSION_TEST(short_texts_that_look_like_keys_stay_themselves),
        SESSION_TEST(the_name_of_the_folder_for_null_is_a_text_as_others),
        SESSION_TEST(long_binary_and_several_columns_work_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
