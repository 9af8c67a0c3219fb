/* "_metadata" in queries over tables: fields of the file, row ids and commit versions, what a table does not offer. */
#include "hand_table.h"

#include <stdio.h>
#include <string.h>

#define TRACKING \
    "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"rowTracking\",\"domainMetadata\"]}}"
#define ENABLED                                                            \
    "\"delta.enableRowTracking\":\"true\","                                \
    "\"delta.rowTracking.materializedRowIdColumnName\":\"_row-id-col-a\"," \
    "\"delta.rowTracking.materializedRowCommitVersionColumnName\":\"_row-commit-version-col-b\""

static const char *tracked(const char *path, const char *more)
{
    static char text[512];
    (void)snprintf(text, sizeof text,
                   "{\"add\":{\"path\":\"%s\",\"partitionValues\":{},\"size\":1000,\"modificationTime\":1600000000000,"
                   "\"dataChange\":true%s}}",
                   path, more);
    return text;
}

/* The first file is as it was written; the second is a copy of rows with their old ids, and one new row. */
static void make_tracked(struct session_fixture *s)
{
    hand_parquet(s, "t/a.parquet", "SELECT i::INT AS v FROM range(3) r(i)");
    hand_parquet(
        s, "t/b c.parquet",
        "SELECT v::INT AS v, id AS \"_row-id-col-a\", cv AS \"_row-commit-version-col-b\" FROM (VALUES (10, 100::BIGINT, "
        "1::BIGINT), (11, NULL, NULL), (12, 102, NULL)) x(v, id, cv)");
    hand_commit(s, "t", 0, TRACKING, hand_metadata(s, HAND_FIELD("v", "integer"), "", ENABLED), NULL);
    hand_commit(s, "t", 1, tracked("a.parquet", ",\"baseRowId\":0,\"defaultRowCommitVersion\":1"), NULL);
    hand_commit(s, "t", 2, tracked("b%20c.parquet", ",\"baseRowId\":500,\"defaultRowCommitVersion\":2"), NULL);
}

static void stored_ids_come_first_then_base_and_place(void **state)
{
    struct session_fixture *s = *state;
    make_tracked(s);
    session_expect_rows(s, "SELECT v, _metadata.row_id, _metadata.row_commit_version FROM t ORDER BY v",
                        "0|0|1\n1|1|1\n2|2|1\n10|100|1\n11|501|2\n12|102|2\n");
    session_expect_rows(s, "SELECT v FROM t WHERE _metadata.row_id = 501", "11\n");
    session_expect_rows(s, "SELECT v FROM t WHERE _metadata.row_commit_version = 1 AND v > 1 ORDER BY v", "2\n10\n");
    session_expect_rows(s,
                        "SELECT _metadata.base_row_id, _metadata.default_row_commit_version FROM t WHERE v IN (0, 10) "
                        "ORDER BY v",
                        "0|1\n500|2\n");
    session_expect_rows(s, "SELECT count(DISTINCT _metadata.row_id) FROM t WHERE v % 2 = 0", "4\n");
}

static void a_star_shows_the_tables_own_columns_only(void **state)
{
    struct session_fixture *s = *state;
    make_tracked(s);
    session_expect_rows(s, "SELECT * FROM t WHERE _metadata.row_id = 2", "2\n");
    session_expect_rows(s, "SELECT *, _metadata.row_index FROM t WHERE v = 12", "12|2\n");
    session_expect_rows(s, "SELECT x.*, x._metadata.row_id FROM t AS x WHERE x.v = 1", "1|1\n");
}

static void fields_of_the_file_are_sparks(void **state)
{
    struct session_fixture *s = *state;
    make_tracked(s);
    session_expect_rows(
        s,
        "SELECT _metadata.file_name, _metadata.file_size, _metadata.file_block_start, "
        "_metadata.file_block_length, epoch_ms(_metadata.file_modification_time), _metadata.row_index FROM t "
        "WHERE v = 11",
        "b%20c.parquet|1000|0|1000|1600000000000|1\n");
    session_expect_rows(
        s, "SELECT _metadata.file_path LIKE 'file:/%/t/b\\%20c.parquet' ESCAPE '\\' FROM t WHERE v = 11", "true\n");
}

static void what_is_not_offered_is_named(void **state)
{
    struct session_fixture *s = *state;
    hand_parquet(s, "u/a.parquet", "SELECT 1::INT AS v");
    hand_create(s, "u", HAND_FIELD("v", "integer"), "");
    hand_commit(s, "u", 1, hand_add(s, "a.parquet", "{}", NULL), NULL);
    session_expect_rows(s, "SELECT _metadata.row_index FROM u", "0\n");
    assert_int_not_equal(session_try(s, "SELECT _metadata.row_id FROM u"), SILT_OK);
    assert_non_null(strstr(s->err.message, "row_id"));
}

static void a_table_without_base_ids_reads_but_has_no_row_ids(void **state)
{
    struct session_fixture *s = *state;
    hand_parquet(s, "u/a.parquet", "SELECT 1::INT AS v");
    hand_commit(s, "u", 0, TRACKING, hand_metadata(s, HAND_FIELD("v", "integer"), "", ENABLED),
                tracked("a.parquet", ""), NULL);
    session_expect_rows(s, "SELECT * FROM u", "1\n");
    assert_int_equal(session_try(s, "SELECT _metadata.row_id FROM u"), SILT_ECORRUPT);
    assert_non_null(strstr(s->err.message, "baseRowId"));
}

static void a_column_of_the_table_goes_before(void **state)
{
    struct session_fixture *s = *state;
    hand_parquet(s, "u/a.parquet", "SELECT 7::INT AS _metadata");
    hand_create(s, "u", HAND_FIELD("_metadata", "integer"), "");
    hand_commit(s, "u", 1, hand_add(s, "a.parquet", "{}", NULL), NULL);
    session_expect_rows(s, "SELECT _metadata FROM u WHERE _metadata = 7", "7\n");
    session_expect_rows(s, "SELECT * FROM u", "7\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(stored_ids_come_first_then_base_and_place),
        SESSION_TEST(a_star_shows_the_tables_own_columns_only),
        SESSION_TEST(fields_of_the_file_are_sparks),
        SESSION_TEST(what_is_not_offered_is_named),
        SESSION_TEST(a_table_without_base_ids_reads_but_has_no_row_ids),
        SESSION_TEST(a_column_of_the_table_goes_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
