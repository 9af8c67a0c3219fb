/* Deletion vectors as the world writes and breaks them: counts, replaced vectors, integrity, where vector files are. */
#include <stdio.h>
#include <string.h>

#include "hand_vector.h"

#define STATS10 \
    "{\"numRecords\":10,\"minValues\":{\"v\":0},\"maxValues\":{\"v\":9},\"nullCount\":{\"v\":0},\"tightBounds\":false}"

static const int64_t ODD[] = {1, 3, 5, 7};
#define N_ODD 4

/* Table t (v integer, p string) with the files a and b, rows 0 … 9 and 100 … 109. */
static void make_files(struct session_fixture *s)
{
    hand_commit(s, "t", 0, HAND_VECTOR_PROTOCOL,
                hand_metadata(s, HAND_FIELD("v", "integer") "," HAND_FIELD("p", "string"), "\"p\"", ""), NULL);
    hand_parquet(s, "t/a.parquet", "SELECT range::INT AS v FROM range(10)");
    hand_parquet(s, "t/b.parquet", "SELECT (100 + range)::INT AS v FROM range(10)");
}

static const char *add_a(struct session_fixture *s, const char *descriptor)
{
    return hand_add_vector(s, "a.parquet", "{\"p\":\"x\"}", STATS10, descriptor);
}

static const char *add_b(struct session_fixture *s)
{
    return hand_add(s, "b.parquet", "{\"p\":\"y\"}", NULL);
}

/* ---- counts ---- */

static void counts_leave_out_what_a_vector_removes(void **state)
{
    struct session_fixture *s = *state;
    make_files(s);
    hand_parquet(s, "t/none.parquet", "SELECT 1::INT AS v WHERE false");
    hand_commit(s, "t", 1, add_a(s, hand_inline(s, ODD, N_ODD)), add_b(s),
                hand_add(s, "none.parquet", "{\"p\":\"x\"}", "{\"numRecords\":0}"), NULL);
    session_expect_rows(s, "SELECT count(*) FROM t", "16\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE p = 'x'", "6\n");
    session_expect_rows(s, "SELECT p, count(*), count(v) FROM t GROUP BY p ORDER BY p", "x|6|6\ny|10|10\n");
    session_expect_rows(s, "SELECT min(v), max(v) FROM t WHERE p = 'x'", "0|9\n");
    session_expect_rows(s, "SELECT count(*) FROM t WHERE v < 4", "2\n");
}

static void extremes_come_from_rows_that_are_left(void **state)
{
    struct session_fixture *s = *state;
    const int64_t ends[] = {0, 9};
    make_files(s);
    hand_commit(s, "t", 1, add_a(s, hand_inline(s, ends, 2)), NULL);
    session_expect_rows(s, "SELECT min(v), max(v), count(*) FROM t", "1|8|8\n");
    session_expect_rows(s, "SELECT v FROM t WHERE v IN (0, 1, 9) ORDER BY v", "1\n");
}

/* ---- vectors that are replaced ---- */

static void a_later_vector_takes_the_place_of_the_former(void **state)
{
    struct session_fixture *s = *state;
    const int64_t more[] = {1, 2, 3, 5, 7};
    make_files(s);
    const char *first = hand_inline(s, ODD, N_ODD);
    const char *second = hand_inline(s, more, 5);
    hand_commit(s, "t", 1, hand_add(s, "a.parquet", "{\"p\":\"x\"}", STATS10), NULL);
    hand_commit(s, "t", 2, hand_remove_vector(s, "a.parquet", NULL), add_a(s, first), NULL);
    hand_commit(s, "t", 3, add_a(s, second), hand_remove_vector(s, "a.parquet", first), NULL);
    session_expect_rows(s, "SELECT v FROM t ORDER BY v", "0\n4\n6\n8\n9\n");
    session_expect_rows(s, "SELECT count(*) FROM t VERSION AS OF 1", "10\n");
    session_expect_rows(s, "SELECT v FROM t VERSION AS OF 2 ORDER BY v", "0\n2\n4\n6\n8\n9\n");
    /* Taken back: RESTORE adds the file with its former vector, or with none. */
    hand_commit(s, "t", 4, add_a(s, first), hand_remove_vector(s, "a.parquet", second), NULL);
    session_expect_rows(s, "SELECT count(*) FROM t", "6\n");
    hand_commit(s, "t", 5, hand_remove_vector(s, "a.parquet", first),
                hand_add(s, "a.parquet", "{\"p\":\"x\"}", STATS10), NULL);
    session_expect_rows(s, "SELECT count(*) FROM t", "10\n");
}

static void a_remove_of_another_vector_removes_nothing(void **state)
{
    struct session_fixture *s = *state;
    make_files(s);
    const char *mine = hand_inline(s, ODD, N_ODD);
    const char *other = hand_inline(s, ODD, 2);
    hand_commit(s, "t", 1, add_a(s, mine), NULL);
    hand_commit(s, "t", 2, hand_remove_vector(s, "a.parquet", other), NULL);
    session_expect_rows(s, "SELECT count(*) FROM t", "6\n");
    hand_commit(s, "t", 3, hand_remove_vector(s, "a.parquet", mine), NULL);
    session_expect_rows(s, "SELECT count(*) FROM t", "0\n");
}

/* ---- integrity ---- */

static void expect_broken(struct session_fixture *s, silt_status status, const char *code, const char *in_message)
{
    session_expect_fault(s, "SELECT * FROM t", status, code, -1);
    if (strstr(s->err.message, in_message) == NULL || strstr(s->err.message, "a.parquet") == NULL) {
        fail_msg("\"%s\" or the file is not in \"%s\"", in_message, s->err.message);
    }
    session_expect_fault(s, "SELECT count(*) FROM t", status, code, -1);
    /* Files that the query does not need are not looked at. */
    session_expect_rows(s, "SELECT count(*) FROM t WHERE p = 'y'", "10\n");
}

static void every_fault_of_a_vector_fails_the_read(void **state)
{
    struct session_fixture *s = *state;
    make_files(s);
    const char *path = "t/" HAND_VECTOR_FILE;
    const struct hand_vector good = hand_vector_file(s, path, ODD, N_ODD);
    hand_commit(s, "t", 1, add_a(s, hand_descriptor(s, "u", HAND_VECTOR_ID, good)), add_b(s), NULL);
    session_expect_rows(s, "SELECT count(*), sum(v) FROM t WHERE p = 'x'", "6|29\n");
    hand_flip(s, path, 20, 4);
    expect_broken(s, SILT_ECORRUPT, "DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH", HAND_VECTOR_FILE);
    hand_flip(s, path, 20, 4);
    hand_flip(s, path, 4, 1);
    expect_broken(s, SILT_ECORRUPT, "DELTA_DELETION_VECTOR_SIZE_MISMATCH", "its descriptor says");
    hand_flip(s, path, 4, 1);
    hand_flip(s, path, 0, 3);
    expect_broken(s, SILT_EUNSUPPORTED, "SILT_UNSUPPORTED", "format version 2, expected 1");
    hand_flip(s, path, 0, 3);
    struct hand_vector off = good;
    off.cardinality = 5;
    hand_commit(s, "t", 1, add_a(s, hand_descriptor(s, "u", HAND_VECTOR_ID, off)), add_b(s), NULL);
    expect_broken(s, SILT_ECORRUPT, "DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH", "it has 4 rows");
    off = good;
    off.size--;
    hand_commit(s, "t", 1, add_a(s, hand_descriptor(s, "u", HAND_VECTOR_ID, off)), add_b(s), NULL);
    expect_broken(s, SILT_ECORRUPT, "DELTA_DELETION_VECTOR_SIZE_MISMATCH", "its descriptor says");
    hand_remove(s, path);
    hand_commit(s, "t", 1, add_a(s, hand_descriptor(s, "u", HAND_VECTOR_ID, good)), add_b(s), NULL);
    expect_broken(s, SILT_ENOTFOUND, "DELTA_FILE_NOT_FOUND", "is missing");
}

static void rows_beyond_the_file_fail_the_read(void **state)
{
    struct session_fixture *s = *state;
    const int64_t beyond[] = {1, 10};
    make_files(s);
    hand_commit(s, "t", 1, add_a(s, hand_inline(s, beyond, 2)), add_b(s), NULL);
    expect_broken(s, SILT_ECORRUPT, "DELTA_DELETION_VECTOR_INVALID_ROW_INDEX", "row 10 of a file with 10 rows");
    /* The file counts, not what the log says of it. */
    hand_commit(s, "t", 1,
                hand_add_vector(s, "a.parquet", "{\"p\":\"x\"}", "{\"numRecords\":11}", hand_inline(s, beyond, 2)),
                add_b(s), NULL);
    expect_broken(s, SILT_ECORRUPT, "DELTA_DELETION_VECTOR_INVALID_ROW_INDEX", "row 10 of a file with 10 rows");
}

static void empty_and_full_vectors_are_read(void **state)
{
    struct session_fixture *s = *state;
    const int64_t all[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    make_files(s);
    hand_commit(s, "t", 1, add_a(s, hand_inline(s, all, 10)), add_b(s), NULL);
    session_expect_rows(s, "SELECT count(*), min(v) FROM t", "10|100\n");
    hand_commit(s, "t", 1, add_a(s, hand_inline(s, all, 10)), NULL);
    session_expect_rows(s, "SELECT v FROM t", "");
    hand_commit(s, "t", 1, add_a(s, hand_inline(s, all, 0)), NULL);
    session_expect_rows(s, "SELECT count(*) FROM t", "10\n");
    const struct hand_vector none = {.offset = -1};
    hand_commit(s, "t", 1, add_a(s, hand_descriptor(s, "i", "", none)), NULL);
    session_expect_rows(s, "SELECT count(*) FROM t", "10\n");
}

/* ---- where vectors are ---- */

static void every_place_of_a_vector_is_found(void **state)
{
    struct session_fixture *s = *state;
    make_files(s);
    const int64_t first[] = {0};
    const int64_t second[] = {0, 1};
    const int64_t third[] = {0, 1, 2};
    /* Three in one file, below a random prefix, as OPTIMIZE and DELETE of Spark write them. */
    const char *path = "t/ab/" HAND_VECTOR_FILE;
    const struct hand_vector dvs[] = {hand_vector_file(s, path, first, 1), hand_vector_file(s, path, second, 2),
                                      hand_vector_file(s, path, third, 3)};
    for (int i = 0; i < 3; i++) {
        hand_commit(s, "t", 1, add_a(s, hand_descriptor(s, "u", "ab" HAND_VECTOR_ID, dvs[i])), NULL);
        session_expect_rows(s, "SELECT min(v) FROM t", i == 0 ? "1\n" : i == 1 ? "2\n" : "3\n");
    }
    struct hand_vector no_offset = dvs[0];
    no_offset.offset = -1;
    hand_commit(s, "t", 1, add_a(s, hand_descriptor(s, "u", "ab" HAND_VECTOR_ID, no_offset)), NULL);
    session_expect_rows(s, "SELECT min(v) FROM t", "1\n");
    /* By absolute path: encoded, within the table and outside of it. */
    char place[512];
    (void)snprintf(place, sizeof(place), "file://%s/t/%%61b/" HAND_VECTOR_FILE, s->dir);
    hand_commit(s, "t", 1, add_a(s, hand_descriptor(s, "p", place, dvs[1])), NULL);
    session_expect_rows(s, "SELECT min(v) FROM t", "2\n");
    const struct hand_vector away = hand_vector_file(s, "other/v x.bin", third, 3);
    (void)snprintf(place, sizeof(place), "file:%s/other/v%%20x.bin", s->dir);
    hand_commit(s, "t", 1, add_a(s, hand_descriptor(s, "p", place, away)), NULL);
    session_expect_rows(s, "SELECT min(v) FROM t", "3\n");
}

static void a_relative_name_never_leaves_the_table(void **state)
{
    struct session_fixture *s = *state;
    make_files(s);
    const struct hand_vector outside = hand_vector_file(s, "other/" HAND_VECTOR_FILE, ODD, N_ODD);
    static const char *const prefixes[] = {"../other", "/other", "x/../../other", ".."};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        char name[64];
        (void)snprintf(name, sizeof(name), "%s" HAND_VECTOR_ID, prefixes[i]);
        hand_commit(s, "t", 1, add_a(s, hand_descriptor(s, "u", name, outside)), NULL);
        session_expect_fault(s, "SELECT * FROM t", SILT_ECORRUPT, "SILT_CORRUPT", -1);
        assert_non_null(strstr(s->err.message, "no folder below the table's root"));
    }
    hand_commit(s, "t", 1, add_a(s, hand_descriptor(s, "p", "../other/" HAND_VECTOR_FILE, outside)), NULL);
    session_expect_fault(s, "SELECT * FROM t", SILT_ECORRUPT, "SILT_CORRUPT", -1);
    hand_commit(s, "t", 1, add_a(s, hand_descriptor(s, "p", "s3://elsewhere/v.bin", outside)), NULL);
    assert_int_not_equal(session_try(s, "SELECT * FROM t"), SILT_OK);
    assert_non_null(strstr(s->err.message, "s3://elsewhere/v.bin"));
    hand_commit(s, "t", 1, add_a(s, hand_descriptor(s, "r", HAND_VECTOR_FILE, outside)), NULL);
    session_expect_fault(s, "SELECT * FROM t", SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_READ", -1);
}

static void vectors_of_files_with_odd_names_are_theirs(void **state)
{
    struct session_fixture *s = *state;
    make_files(s);
    /* A folder of another partition than the file's, a name in another escaping, a file by its absolute path in the table. */
    hand_parquet(s, "t/p=z/c-1.parquet", "SELECT (200 + range)::INT AS v FROM range(10)");
    char absolute[512];
    (void)snprintf(absolute, sizeof(absolute), "file://%s/t/a.parquet", s->dir);
    const int64_t last[] = {9};
    hand_commit(s, "t", 1, hand_add_vector(s, absolute, "{\"p\":\"x\"}", STATS10, hand_inline(s, ODD, N_ODD)),
                hand_add_vector(s, "p=z/c%2D1.parquet", "{\"p\":\"q\"}", NULL, hand_inline(s, last, 1)), NULL);
    session_expect_rows(s, "SELECT p, count(*), max(v) FROM t GROUP BY p ORDER BY p", "q|9|208\nx|6|9\n");
}

/* ---- with everything else ---- */

static void vectors_meet_filters_joins_and_limits(void **state)
{
    struct session_fixture *s = *state;
    make_files(s);
    hand_commit(s, "t", 1, add_a(s, hand_inline(s, ODD, N_ODD)), add_b(s), NULL);
    session_expect_rows(s, "SELECT v FROM t WHERE v BETWEEN 3 AND 6 ORDER BY v", "4\n6\n");
    session_expect_rows(s, "SELECT v FROM t ORDER BY v DESC LIMIT 2", "109\n108\n");
    session_expect_rows(s, "SELECT v FROM t ORDER BY v LIMIT 3", "0\n2\n4\n");
    session_expect_rows(s, "SELECT count(*) FROM t x JOIN t y ON x.v = y.v", "16\n");
    session_expect_rows(s, "SELECT count(y.v) FROM range(10) r LEFT JOIN t y ON y.v = r.range", "6\n");
    session_expect_rows(s, "SELECT count(*) FROM range(10) r WHERE range NOT IN (SELECT v FROM t)", "4\n");
    session_expect_rows(s, "SELECT v, _metadata.row_index FROM t WHERE p = 'x' ORDER BY v LIMIT 2", "0|0\n2|2\n");
    session_expect_rows(s, "SELECT count(*) FROM (SELECT * FROM t USING SAMPLE 100 PERCENT)", "16\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(counts_leave_out_what_a_vector_removes),
        SESSION_TEST(extremes_come_from_rows_that_are_left),
        SESSION_TEST(a_later_vector_takes_the_place_of_the_former),
        SESSION_TEST(a_remove_of_another_vector_removes_nothing),
        SESSION_TEST(every_fault_of_a_vector_fails_the_read),
        SESSION_TEST(rows_beyond_the_file_fail_the_read),
        SESSION_TEST(empty_and_full_vectors_are_read),
        SESSION_TEST(every_place_of_a_vector_is_found),
        SESSION_TEST(a_relative_name_never_leaves_the_table),
        SESSION_TEST(vectors_of_files_with_odd_names_are_theirs),
        SESSION_TEST(vectors_meet_filters_joins_and_limits),
    };
    return cmocka_run_group_tests_name("deletion vectors in the field", tests, NULL, NULL);
}
