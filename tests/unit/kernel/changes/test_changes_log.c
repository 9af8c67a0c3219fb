/* From the actions of a commit to rows: change files or what adds, removes and vectors say. */
#include <string.h>

#include "changes_fixture.h"

#define MERGE(inserted, updated, deleted)                                                                  \
    "{\"commitInfo\":{\"operation\":\"MERGE\",\"operationMetrics\": {\"numTargetRowsInserted\" :" inserted \
    ",\"numTargetRowsUpdated\": " updated ", \"numTargetRowsDeleted\": " deleted "}}}"

static void added_files_are_inserts_and_removed_files_deletes(void **state)
{
    struct changes_fixture *f = *state;
    changes_make(f);
    changes_file(f, "x", 1, 2);
    changes_file(f, "y", 8, 1);
    changes_commit(f, 1, CHANGES_ADD("x"), NULL);
    changes_commit(f, 2, CHANGES_REMOVE("x"), CHANGES_ADD("y"), NULL); /* an overwrite */
    changes_expect(f, 1, 1, "1,a,insert,1,2000000;2,b,insert,1,2000000;");
    changes_expect(f, 2, 2, "1,a,delete,2,3000000;2,b,delete,2,3000000;8,a,insert,2,3000000;");
}

static void change_files_stand_for_the_whole_version(void **state)
{
    struct changes_fixture *f = *state;
    changes_make(f);
    changes_file(f, "x", 1, 4);
    changes_file(f, "y", 1, 3);
    changes_change_file(f, "_change_data/1", 4, 1, "delete");
    changes_change_file(f, "_change_data/2", 5, 1, "update_preimage");
    changes_commit(f, 1, CHANGES_ADD("x"), NULL);
    changes_commit(f, 2, CHANGES_REMOVE("x"), CHANGES_ADD("y"), CHANGES_CDC("_change_data/1"),
                   CHANGES_CDC("_change_data/2"), NULL);
    changes_expect(f, 2, 2, "5,a,update_preimage,2,3000000;4,a,delete,2,3000000;");
}

/* PROTOCOL.md "Reader Requirements for Change Data": files of change may say dataChange false, data files then do not count. */
static void files_without_data_change_are_no_changes(void **state)
{
    struct changes_fixture *f = *state;
    changes_make(f);
    changes_file(f, "x", 1, 1);
    changes_file(f, "y", 1, 1);
    changes_commit(f, 1, CHANGES_ADD("x"), NULL);
    changes_commit(f, 2,
                   "{\"remove\":{\"path\":\"x\",\"deletionTimestamp\":7,\"dataChange\":false,\"partitionValues\":{}}}",
                   "{\"add\":{\"path\":\"y\",\"partitionValues\":{},\"size\":5,\"modificationTime\":7,"
                   "\"dataChange\":false}}",
                   NULL);
    changes_expect(f, 2, 2, "");
    changes_expect(f, 0, 2, "1,a,insert,1,2000000;");
}

static void a_merge_that_says_it_changed_nothing_gives_no_rows(void **state)
{
    struct changes_fixture *f = *state;
    changes_make(f);
    changes_file(f, "x", 1, 1);
    changes_commit(f, 1, MERGE("\"0\"", "\"0\"", "\"0\""), CHANGES_ADD("x"), NULL);
    changes_expect(f, 1, 1, "");
    changes_commit(f, 2, MERGE("\"1\"", "\"0\"", "\"0\""), CHANGES_ADD("x"), NULL);
    changes_expect(f, 2, 2, "1,a,insert,2,3000000;");
    changes_commit(f, 3, MERGE("0", "0", "0"), CHANGES_ADD("x"), NULL);
    changes_expect(f, 3, 3, "");
    changes_commit(f, 4, "{\"commitInfo\":{\"operation\":\"MERGE\",\"operationMetrics\":{}}}", CHANGES_ADD("x"), NULL);
    changes_expect(f, 4, 4, "1,a,insert,4,5000000;");
    changes_change_file(f, "c", 9, 1, "delete");
    changes_commit(f, 5, MERGE("\"0\"", "\"0\"", "\"0\""), CHANGES_CDC("c"), NULL);
    changes_expect(f, 5, 5, "9,a,delete,5,6000000;"); /* change files are believed all the same */
}

/* ---- deletion vectors ---- */

static void make_vectors(struct changes_fixture *f)
{
    changes_commit(f, 0, CHANGES_PROTOCOL_VECTORS,
                   changes_metadata(f, CHANGES_FIELD("id", "long") "," CHANGES_FIELD("name", "string"), "", CHANGES_ON),
                   NULL);
    changes_file(f, "x", 1, 5);
}

static const char *vector(struct changes_fixture *f, const char *verb, int64_t first, int64_t second)
{
    const int64_t rows[] = {first, second};
    return changes_vector(f, verb, "x", rows, second < 0 ? 1 : 2);
}

static void a_file_that_gets_a_vector_loses_those_rows(void **state)
{
    struct changes_fixture *f = *state;
    make_vectors(f);
    changes_commit(f, 1, CHANGES_REMOVE("x"), vector(f, "add", 0, 3), NULL);
    changes_expect(f, 1, 1, "1,a,delete,1,2000000;4,d,delete,1,2000000;");
}

static void a_vector_that_grows_deletes_the_difference(void **state)
{
    struct changes_fixture *f = *state;
    make_vectors(f);
    changes_commit(f, 1, vector(f, "add", 0, 3), vector(f, "remove", 3, -1), NULL); /* in either order */
    changes_expect(f, 1, 1, "1,a,delete,1,2000000;");
}

static void a_vector_that_shrinks_or_goes_brings_rows_back(void **state)
{
    struct changes_fixture *f = *state;
    make_vectors(f);
    changes_commit(f, 1, vector(f, "remove", 0, 3), vector(f, "add", 3, -1), NULL);
    changes_expect(f, 1, 1, "1,a,insert,1,2000000;");
    changes_commit(f, 2, vector(f, "remove", 1, 2), CHANGES_ADD("x"), NULL);
    changes_expect(f, 2, 2, "2,b,insert,2,3000000;3,c,insert,2,3000000;");
}

static void a_vector_that_changes_both_ways_deletes_and_inserts(void **state)
{
    struct changes_fixture *f = *state;
    make_vectors(f);
    changes_commit(f, 1, vector(f, "remove", 0, 1), vector(f, "add", 1, 2), NULL);
    changes_expect(f, 1, 1, "1,a,insert,1,2000000;3,c,delete,1,2000000;");
}

/* The protocol allows one action a path and vector: what such a commit means cannot be told. */
static void the_same_vector_on_both_sides_is_refused(void **state)
{
    struct changes_fixture *f = *state;
    make_vectors(f);
    changes_commit(f, 1, vector(f, "remove", 0, 1), vector(f, "add", 0, 1), NULL);
    silt_changes *changes = NULL;
    const silt_changes_options options = changes_range(0, 1);
    assert_int_equal(changes_try(f, &options, &changes), SILT_ECORRUPT);
    assert_string_equal(f->err.code_name, "DELTA_DUPLICATE_ACTIONS_FOUND");
}

static void files_that_come_and_go_with_a_vector_count_without_those_rows(void **state)
{
    struct changes_fixture *f = *state;
    const int64_t most[] = {0, 1, 2, 4};
    make_vectors(f);
    changes_commit(f, 1, changes_vector(f, "add", "x", most, 4), NULL);
    changes_commit(f, 2, changes_vector(f, "remove", "x", most, 4), NULL);
    changes_expect(f, 1, 2, "4,d,insert,1,2000000;4,d,delete,2,3000000;");
}

/* The path is the same file however it is spelled. */
static void a_path_that_is_encoded_differently_is_the_same_file(void **state)
{
    struct changes_fixture *f = *state;
    make_vectors(f);
    changes_commit(f, 1, CHANGES_REMOVE("%78"), vector(f, "add", 0, -1), NULL);
    changes_expect(f, 1, 1, "1,a,delete,1,2000000;");
}

/* ---- partition values ---- */

#define BY_P(verb, path, rest) "{\"" verb "\":{\"path\":\"" path "\",\"dataChange\":true," rest "}}"

static void make_partitioned(struct changes_fixture *f)
{
    changes_commit(
        f, 0, CHANGES_PROTOCOL,
        changes_metadata(
            f, CHANGES_FIELD("id", "long") "," CHANGES_FIELD("name", "string") "," CHANGES_FIELD("p", "integer"),
            "\"p\"", CHANGES_ON),
        NULL);
    changes_file(f, "x", 1, 1);
}

static void partition_values_come_from_the_action(void **state)
{
    struct changes_fixture *f = *state;
    make_partitioned(f);
    changes_change_file(f, "c", 2, 1, "update_postimage");
    changes_commit(f, 1, BY_P("add", "x", "\"partitionValues\":{\"p\":\"7\"},\"size\":5,\"modificationTime\":7"), NULL);
    changes_commit(f, 2, BY_P("remove", "x", "\"deletionTimestamp\":7,\"partitionValues\":{\"p\":\"7\"},\"size\":5"),
                   NULL);
    changes_commit(f, 3, "{\"cdc\":{\"path\":\"c\",\"partitionValues\":{\"p\":null},\"size\":5,\"dataChange\":false}}",
                   NULL);
    changes_expect(f, 1, 3, "2,a,null,update_postimage,3,4000000;1,a,7,insert,1,2000000;1,a,7,delete,2,3000000;");
}

static void a_remove_without_partition_values_is_refused_with_its_version(void **state)
{
    struct changes_fixture *f = *state;
    make_partitioned(f);
    changes_commit(f, 1, BY_P("remove", "x", "\"deletionTimestamp\":7"), NULL);
    const silt_changes_options options = changes_range(0, 1);
    changes_expect_failure(f, &options, SILT_ECORRUPT, "DELTA_REMOVE_FILE_CDC_MISSING_EXTENDED_METADATA",
                           "remove of x in version 1");
    assert_int_equal(f->err.version, 1);
}

/* Nothing of it is needed where no column is a partition column, or an add of the same file tells. */
static void a_bare_remove_will_do_where_nothing_is_missed(void **state)
{
    struct changes_fixture *f = *state;
    changes_make(f);
    changes_file(f, "x", 1, 1);
    changes_commit(f, 1, "{\"remove\":{\"path\":\"x\",\"deletionTimestamp\":7,\"dataChange\":true}}", NULL);
    changes_expect(f, 1, 1, "1,a,delete,1,2000000;");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHANGES_TEST(added_files_are_inserts_and_removed_files_deletes),
        CHANGES_TEST(change_files_stand_for_the_whole_version),
        CHANGES_TEST(files_without_data_change_are_no_changes),
        CHANGES_TEST(a_merge_that_says_it_changed_nothing_gives_no_rows),
        CHANGES_TEST(a_file_that_gets_a_vector_loses_those_rows),
        CHANGES_TEST(a_vector_that_grows_deletes_the_difference),
        CHANGES_TEST(a_vector_that_shrinks_or_goes_brings_rows_back),
        CHANGES_TEST(a_vector_that_changes_both_ways_deletes_and_inserts),
        CHANGES_TEST(the_same_vector_on_both_sides_is_refused),
        CHANGES_TEST(files_that_come_and_go_with_a_vector_count_without_those_rows),
        CHANGES_TEST(a_path_that_is_encoded_differently_is_the_same_file),
        CHANGES_TEST(partition_values_come_from_the_action),
        CHANGES_TEST(a_remove_without_partition_values_is_refused_with_its_version),
        CHANGES_TEST(a_bare_remove_will_do_where_nothing_is_missed),
    };
    return cmocka_run_group_tests_name("changes_log", tests, NULL, NULL);
}
