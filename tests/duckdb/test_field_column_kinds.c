/* Columns with rules for writers, or with types that readers must know how to take: what a reader does with each. */
#include "hand_table.h"

#include <string.h>

#define WITH(name, type, metadata) \
    "{\"name\":\"" name "\",\"type\":\"" type "\",\"nullable\":true,\"metadata\":{" metadata "}}"

/* PROTOCOL: defaults, generated values, identities and invariants are for writers; a column that a file lacks is null. */
static void rules_for_writers_do_not_concern_readers(void **state)
{
    struct session_fixture *s = *state;
    hand_parquet(s, "t/1.parquet", "SELECT 1::INT AS a, 2::INT AS g, 3::BIGINT AS i");
    hand_commit(
        s, "t", 0,
        "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"allowColumnDefaults\","
        "\"generatedColumns\",\"identityColumns\",\"invariants\",\"checkConstraints\"]}}",
        hand_metadata(
            s,
            WITH("a", "integer", "\"delta.invariants\":\"{\\\"expression\\\":{\\\"expression\\\":\\\"a > 5\\\"}}\"") "," WITH(
                "g", "integer",
                "\"delta.generationExpression\":\"a * 2\"") "," WITH("i", "long",
                                                                     "\"delta.identity.start\":1,\"delta.identity.step\":1,"
                                                                     "\"delta.identity.allowExplicitInsert\":false") "," WITH("d",
                                                                                                                              "integer",
                                                                                                                              "\"CURRENT_DEFAULT\":\"42\",\"EXISTS_DEFAULT\":\"7\""),
            "", "\"delta.constraints.c\":\"a > 5\""),
        hand_add(s, "1.parquet", "{}", NULL), NULL);
    session_expect_rows(s, "SELECT a, g, i, d FROM t", "1|2|3|NULL\n");
    session_expect_rows(s, "SELECT a FROM t WHERE d IS NULL", "1\n");
}

static void void_columns_are_null_whatever_a_file_has(void **state)
{
    struct session_fixture *s = *state;
    hand_parquet(s, "t/1.parquet", "SELECT 1::INT AS a");
    hand_parquet(s, "t/2.parquet", "SELECT 2::INT AS a, 5::INT AS n");
    hand_create(s, "t", HAND_FIELD("n", "void") "," HAND_FIELD("a", "integer"), "");
    hand_commit(s, "t", 1, hand_add(s, "1.parquet", "{}", NULL), hand_add(s, "2.parquet", "{}", NULL), NULL);
    session_expect_rows(s, "SELECT * FROM t ORDER BY a", "NULL|1\nNULL|2\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE n IS NULL", "2\n");
}

static void char_and_varchar_are_text_as_it_is_stored(void **state)
{
    struct session_fixture *s = *state;
    hand_parquet(s, "t/1.parquet", "SELECT 'ab   ' AS c, 'longer than five' AS v");
    hand_create(s, "t",
                WITH("c", "string", "\"__CHAR_VARCHAR_TYPE_STRING\":\"char(5)\"") "," WITH(
                    "v", "string", "\"__CHAR_VARCHAR_TYPE_STRING\":\"varchar(5)\""),
                "");
    hand_commit(s, "t", 1, hand_add(s, "1.parquet", "{}", NULL), NULL);
    session_expect_rows(s, "SELECT '[' || c || ']', v FROM t", "[ab   ]|longer than five\n");
}

/* Bounds and values of such columns may be in another order than that of bytes: no file is dropped by them. */
static void collated_text_is_compared_by_bytes_but_never_skipped_by(void **state)
{
    struct session_fixture *s = *state;
    hand_parquet(s, "t/1.parquet", "SELECT 'a' AS c UNION ALL SELECT 'B'");
    hand_commit(
        s, "t", 0,
        "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"collations-preview\"]}}",
        hand_metadata(s,
                      WITH("c", "string", "\"__COLLATIONS\":{\"c\":\"spark.UTF8_LCASE\"}") "," WITH(
                          "p", "string", "\"__COLLATIONS\":{\"p\":\"ICU.de_DE\"}"),
                      "\"p\"", ""),
        hand_add(s, "1.parquet", "{\"p\":\"X\"}",
                 "{\"numRecords\":2,\"minValues\":{\"c\":\"a\"},\"maxValues\":{\"c\":\"B\"},\"nullCount\":{\"c\":0}}"),
        NULL);
    session_expect_rows(s, "SELECT c FROM t WHERE c = 'a'", "a\n");
    session_expect_rows(s, "SELECT c FROM t WHERE c < 'a'", "B\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE p = 'X'", "2\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE c IS NULL", "0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(rules_for_writers_do_not_concern_readers),
        SESSION_TEST(void_columns_are_null_whatever_a_file_has),
        SESSION_TEST(char_and_varchar_are_text_as_it_is_stored),
        SESSION_TEST(collated_text_is_compared_by_bytes_but_never_skipped_by),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
