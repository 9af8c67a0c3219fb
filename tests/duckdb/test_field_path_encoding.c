/* Names of data files: encoded once in the log, absolute ones, partition values with every character. */
#include "hand_table.h"

#include <stdio.h>
#include <string.h>

#include "json/writer.h"

static void a_path_is_decoded_once_and_no_more(void **state)
{
    struct session_fixture *s = *state;
    hand_create(s, "t", HAND_FIELD("v", "integer") "," HAND_FIELD("d", "timestamp") "," HAND_FIELD("x", "string"),
                "\"d\",\"x\"");
    hand_parquet(s, "t/d=2023-11-05 00%3A00%3A00/f.parquet", "SELECT 1::INT AS v");
    hand_parquet(s, "t/x=A%2FA/f.parquet", "SELECT 2::INT AS v");
    hand_parquet(s, "t/x=B B/f.parquet", "SELECT 3::INT AS v");
    hand_parquet(s, "t/plus+é.parquet", "SELECT 4::INT AS v");
    hand_commit(
        s, "t", 1,
        hand_add(s, "d=2023-11-05%2000%253A00%253A00/f.parquet", "{\"d\":\"2023-11-05 00:00:00\",\"x\":null}", NULL),
        hand_add(s, "x=A%252FA/f.parquet", "{\"d\":null,\"x\":\"A/A\"}", NULL),
        hand_add(s, "x=B%20B/f.parquet", "{\"d\":null,\"x\":\"B B\"}", NULL),
        hand_add(s, "plus+%C3%A9.parquet", "{\"d\":null,\"x\":\"p\"}", NULL), NULL);
    session_expect_rows(s, "SELECT v, epoch(d)::BIGINT, x FROM t ORDER BY v",
                        "1|1699142400|NULL\n2|NULL|A/A\n3|NULL|B B\n4|NULL|p\n");
    session_expect_rows(s, "SELECT v FROM t WHERE x = 'A/A'", "2\n");
    session_expect_rows(s, "SELECT v FROM t WHERE d = '2023-11-05 00:00:00Z'", "1\n");
}

static void an_absolute_path_is_taken_as_it_is(void **state)
{
    struct session_fixture *s = *state;
    char encoded[256];
    hand_parquet(s, "A/a+b c.parquet", "SELECT 1::INT AS v");
    hand_parquet(s, "A/slash.parquet", "SELECT 2::INT AS v");
    hand_parquet(s, "A/one.parquet", "SELECT 3::INT AS v");
    hand_parquet(s, "B/own.parquet", "SELECT 4::INT AS v");
    hand_create(s, "B", HAND_FIELD("v", "integer"), "");
    (void)snprintf(encoded, sizeof(encoded), "file://%s/A/a+b%%20c.parquet", s->dir);
    const char *whole = hand_add(s, encoded, "{}", NULL);
    (void)snprintf(encoded, sizeof(encoded), "%s/A/slash.parquet", s->dir);
    const char *slash = hand_add(s, encoded, "{}", NULL);
    (void)snprintf(encoded, sizeof(encoded), "file:%s/A/one.parquet", s->dir);
    const char *one = hand_add(s, encoded, "{}", NULL);
    hand_commit(s, "B", 1, whole, slash, one, hand_add(s, "own.parquet", "{}", NULL), NULL);
    session_expect_rows(s, "SELECT v FROM B ORDER BY v", "1\n2\n3\n4\n");
}

static void a_path_in_a_store_that_is_not_there_is_an_error_that_names_it(void **state)
{
    struct session_fixture *s = *state;
    hand_create(s, "t", HAND_FIELD("v", "integer"), "");
    hand_commit(s, "t", 1, hand_add(s, "s3a://bucket/a%20b.parquet", "{}", NULL), NULL);
    assert_int_not_equal(session_try(s, "SELECT v FROM t"), SILT_OK);
    assert_non_null(strstr(s->err.message, "s3a"));
}

/* One row for each character, and values that look like what other writers make of them. */
static const char *const ODD_VALUES[] = {"a/", "/a", "a%", "%41", "a=b", "..", ".", " ", " a ", "é", "日本", "a\\b"};
#define N_ODD_VALUES (sizeof(ODD_VALUES) / sizeof(ODD_VALUES[0]))

static void every_character_of_a_partition_value_survives(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (v INT, p STRING) PARTITIONED BY (p)");
    session_expect_rows(s, "INSERT INTO t SELECT i, 'a' || chr(i::INT) FROM range(32, 256) r(i)", "224|224\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE p = 'a' || chr(v)", "224\n");
    for (int code = 32; code < 256; code++) {
        char row[16];
        (void)snprintf(row, sizeof(row), "%d\n", code);
        /* The value as a constant, so that the kernel prunes by it. */
        char text[16] = "a";
        if (code < 128) {
            text[1] = (char)code;
        } else {
            text[1] = (char)(0xC0 | (code >> 6));
            text[2] = (char)(0x80 | (code & 0x3F));
        }
        session_expect_rows(s, session_format(s, "SELECT v FROM t WHERE p = '%s%s'", text, code == '\'' ? "'" : ""),
                            row);
    }
}

static void odd_partition_values_survive_and_are_logged_raw(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (v INT, p STRING) PARTITIONED BY (p)");
    for (size_t i = 0; i < N_ODD_VALUES; i++) {
        struct sl_buf logged;
        sl_buf_init(&logged, silt_env_default());
        sl_buf_put_c(&logged, "\"partitionValues\":{\"p\":\"");
        sl_json_escape(&logged, sl_str_from(ODD_VALUES[i]));
        sl_buf_put_c(&logged, "\"}");
        session_expect_done(s, session_format(s, "INSERT INTO t VALUES (%zu, '%s')", i, ODD_VALUES[i]));
        if (strstr(hand_log(s, "t", s->version), sl_buf_cstr(&logged)) == NULL) {
            fail_msg("%s is not in %s", sl_buf_cstr(&logged), hand_log(s, "t", s->version));
        }
        sl_buf_release(&logged);
    }
    for (size_t i = 0; i < N_ODD_VALUES; i++) {
        char row[16];
        (void)snprintf(row, sizeof(row), "%zu\n", i);
        session_expect_rows(s, session_format(s, "SELECT v FROM t WHERE p = '%s'", ODD_VALUES[i]), row);
    }
}

static void odd_names_of_partition_columns_survive(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (v INT, `a/b:c%` STRING, `é` STRING) PARTITIONED BY (`a/b:c%`, `é`)");
    session_expect_done(s, "INSERT INTO t VALUES (1, 'x', 'y'), (2, 'x', 'z')");
    session_expect_rows(s, "SELECT v, \"a/b:c%\" FROM t WHERE `é` = 'z'", "2|x\n");
}

static void a_table_in_an_oddly_named_folder_works(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, session_with_dir(s, "CREATE TABLE delta.`%D/a b%20c+d/é` (v INT, p STRING) "
                                               "PARTITIONED BY (p)"));
    session_expect_done(s, session_with_dir(s, "INSERT INTO delta.`%D/a b%20c+d/é` VALUES (1, 'x y')"));
    session_expect_rows(s, session_with_dir(s, "SELECT v, p FROM delta.`%D/a b%20c+d/é` WHERE p = 'x y'"), "1|x y\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(a_path_is_decoded_once_and_no_more),
        SESSION_TEST(an_absolute_path_is_taken_as_it_is),
        SESSION_TEST(a_path_in_a_store_that_is_not_there_is_an_error_that_names_it),
        SESSION_TEST(every_character_of_a_partition_value_survives),
        SESSION_TEST(odd_partition_values_survive_and_are_logged_raw),
        SESSION_TEST(odd_names_of_partition_columns_survive),
        SESSION_TEST(a_table_in_an_oddly_named_folder_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
