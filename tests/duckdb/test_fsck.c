/* The check of a table's data: statistics falsified in every way, files that are gone or torn, vectors, row ids, typed columns. */
#include <stdio.h>
#include <string.h>

#include "fsck_findings.h"
#include "hand_vector.h"

#define VERSION1 "t/_delta_log/00000000000000000001.json"

/* What the check of table t must find. */
static void check_with(struct session_fixture *s, const silt_fsck_options *options, const char *lines,
                       silt_fsck_report *report)
{
    struct fsck_findings found = {0};
    silt_table *table = NULL;
    assert_int_equal(silt_session_table(s->session, "t", &table, &s->err), SILT_OK);
    fsck_run(&found, table, options);
    fsck_expect(&found, lines);
    if (report != NULL) {
        *report = found.report;
    }
    fsck_release(&found);
    silt_table_unref(table);
}

static void check(struct session_fixture *s, const char *lines)
{
    check_with(s, NULL, lines, NULL);
}

/* Puts another text in a file of the warehouse, in the place of the first one that is there. */
static void falsify(struct session_fixture *s, const char *path, const char *from, const char *to)
{
    const char *text = hand_read(s, path);
    const char *at = strstr(text, from);
    if (at == NULL) {
        fail_msg("%s is not in %s", from, text);
        return;
    }
    hand_put(s, path, sl_arena_printf(&s->arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)));
}

/* Path of the only data file of version 1 within the warehouse. */
static const char *data_file(struct session_fixture *s)
{
    const char *log = hand_log(s, "t", 1);
    const char *begin = strstr(log, "\"path\":\"") + 8;
    return sl_arena_printf(&s->arena, "t/%.*s", (int)(strchr(begin, '"') - begin), begin);
}

static void make(struct session_fixture *s)
{
    session_expect_done(s, "CREATE TABLE t (id BIGINT, city STRING, n INT)");
    session_expect_done(s, "INSERT INTO t SELECT range, 'c' || range, if(range < 3, NULL, range) FROM range(10)");
}

static void sound_tables_have_no_findings(void **state)
{
    struct session_fixture *s = *state;
    silt_fsck_report report;
    session_expect_done(
        s, "CREATE TABLE t (b BOOLEAN, i1 TINYINT, i2 SMALLINT, i4 INT, i8 BIGINT, f FLOAT, d DOUBLE, "
           "m DECIMAL(20,3), s STRING, x BINARY, day DATE, at TIMESTAMP, wall TIMESTAMP_NTZ, "
           "st STRUCT<a: INT, u: STRUCT<z: STRING>>, l ARRAY<INT>, k MAP<STRING, INT>, p STRING) PARTITIONED BY (p)");
    session_expect_done(
        s, "INSERT INTO t SELECT r % 2 = 0, r, r, r, r, r / 3, r / 7, r / 9, repeat('é', r), 'ab'::BLOB, "
           "DATE '0900-01-01' + r, TIMESTAMPTZ '2020-01-01 00:00:00.123456Z' + to_microseconds(r), "
           "TIMESTAMP '1500-01-01 00:00:00.000001', "
           "if(r % 3 = 0, NULL, {'a': r, 'u': if(r % 5 = 0, NULL, {'z': 'z' || r})}), [r], MAP {'k': r}, 'p' || r % 3 "
           "FROM (SELECT range::INT r FROM range(100))");
    session_expect_done(
        s, "INSERT INTO t (d, f, i4, p) VALUES ('nan'::DOUBLE, 'inf'::FLOAT, NULL, NULL), (-0.0, 0.0, NULL, NULL)");
    session_expect_done(s, "INSERT INTO t (p) SELECT 'none' WHERE false");
    check_with(s, NULL, "", &report);
    assert_true(report.readable);
    assert_int_equal(report.files, 4);
    assert_int_equal(report.files_read, 4);
    assert_int_equal(report.rows_read, 102);
    assert_true(report.statistics > 100);
    assert_int_equal(report.seed, 0);
}

static void statistics_that_lose_rows_are_told_with_file_and_column(void **state)
{
    struct session_fixture *s = *state;
    make(s);
    falsify(s, VERSION1, "\\\"minValues\\\":{\\\"id\\\":0", "\\\"minValues\\\":{\\\"id\\\":5");
    falsify(s, VERSION1, "\\\"city\\\":\\\"c9\\\"", "\\\"city\\\":\\\"c3\\\"");
    falsify(s, VERSION1, "\\\"n\\\":3}", "\\\"n\\\":0}"); /* the minimum of n: loose */
    falsify(s, VERSION1, "\\\"n\\\":3}", "\\\"n\\\":0}"); /* its nulls */
    check(s, "fault statistics 1 id part-: 5 for 0\n"
             "fault statistics 1 city part-: c3 for c9\n"
             "note statistics 1 n part-: 0 for 3\n"
             "fault statistics 1 n part-: 0 for 3\n");
}

static void number_of_rows_must_be_right(void **state)
{
    struct session_fixture *s = *state;
    make(s);
    falsify(s, VERSION1, "\\\"numRecords\\\":10", "\\\"numRecords\\\":11");
    check(s, "fault statistics 1 - part-: 11 for 10\n");
}

static void chars_are_compared_as_they_are_stored(void **state)
{
    struct session_fixture *s = *state;
    hand_commit(s, "t", 0, HAND_PROTOCOL,
                hand_metadata(s,
                              "{\"name\":\"v\",\"type\":\"string\",\"nullable\":true,\"metadata\":{"
                              "\"__CHAR_VARCHAR_TYPE_STRING\":\"char(5)\"}}",
                              "", ""),
                NULL);
    hand_parquet(s, "t/a.parquet", "SELECT 'ab' AS v");
    session_expect_done(s, session_with_dir(s, "SELECT size FROM read_blob('%D/t/a.parquet')"));
    const char *size = sl_arena_printf(&s->arena, "\"size\":%.*s", (int)strcspn(sl_buf_cstr(&s->out), "\n"),
                                       sl_buf_cstr(&s->out));
    hand_commit(
        s, "t", 1,
        hand_add(s, "a.parquet", "{}", "{\"numRecords\":1,\"minValues\":{\"v\":\"ab\"},\"maxValues\":{\"v\":\"ab\"}}"),
        NULL);
    falsify(s, VERSION1, "\"size\":1000", size);
    check(s, "");
}

static void statistics_that_are_no_json_are_a_note(void **state)
{
    struct session_fixture *s = *state;
    make(s);
    falsify(s, VERSION1, "{\\\"numRecords\\\":10", "{numRecords");
    check(s, "note statistics 1 - part-: - for -\n");
}

static void statistics_that_are_no_counts_or_bounds_are_told(void **state)
{
    struct session_fixture *s = *state;
    make(s);
    falsify(s, VERSION1, "\\\"numRecords\\\":10", "\\\"numRecords\\\":-1");
    falsify(s, VERSION1, "\\\"minValues\\\":{\\\"id\\\":0", "\\\"minValues\\\":{\\\"id\\\":\\\"zero\\\"");
    falsify(s, VERSION1, "\\\"maxValues\\\":{\\\"id\\\":9", "\\\"maxValues\\\":{\\\"id\\\":9,\\\"id\\\":5");
    falsify(s, VERSION1, "\\\"n\\\":3}", "\\\"n\\\":3000000000}"); /* the minimum of n */
    falsify(s, VERSION1, "\\\"n\\\":3}", "\\\"n\\\":\\\"3\\\"}");  /* its nulls */
    check(s, "fault statistics 1 - part-: -1 for -\n"
             "note statistics 1 id part-: \"zero\" for -\n"
             "fault statistics 1 id part-: 9 for -\n"
             "fault statistics 1 n part-: \"3\" for -\n"
             "note statistics 1 n part-: 3000000000 for -\n");
}

static void statistics_of_reals_without_order_are_no_finding(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (d DOUBLE, f FLOAT)");
    session_expect_done(s, "INSERT INTO t VALUES (1.5, 2.5), ('nan'::DOUBLE, 'inf'::FLOAT)");
    falsify(s, VERSION1, "\\\"maxValues\\\":{}",
            "\\\"maxValues\\\":{\\\"d\\\":\\\"NaN\\\",\\\"f\\\":\\\"Infinity\\\"}");
    check(s, "");
}

static void statistics_of_members_are_told_by_their_way(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (st STRUCT<`a.b`: INT, u: STRUCT<z: STRING>>)");
    session_expect_done(s, "INSERT INTO t VALUES ({'a.b': 1, 'u': {'z': 'm'}}), ({'a.b': 2, 'u': NULL}), (NULL)");
    check(s, "");
    falsify(s, VERSION1, "\\\"z\\\":\\\"m\\\"", "\\\"z\\\":\\\"n\\\"");
    check(s, "fault statistics 1 st.u.z part-: n for m\n");
}

static void wide_bounds_need_only_be_bounds(void **state)
{
    struct session_fixture *s = *state;
    make(s);
    falsify(s, VERSION1, "{\\\"numRecords\\\":10,", "{\\\"tightBounds\\\":false,\\\"numRecords\\\":10,");
    falsify(s, VERSION1, "\\\"minValues\\\":{\\\"id\\\":0", "\\\"minValues\\\":{\\\"id\\\":-5");
    falsify(s, VERSION1, "\\\"n\\\":3}", "\\\"n\\\":1}");
    falsify(s, VERSION1, "\\\"n\\\":3}", "\\\"n\\\":5}");
    check(s, "");
    falsify(s, VERSION1, "\\\"id\\\":-5", "\\\"id\\\":1");
    check(s, "fault statistics 1 id part-: 1 for 0\n");
}

static void files_must_be_there_and_of_their_size(void **state)
{
    struct session_fixture *s = *state;
    make(s);
    const char *path = data_file(s);
    hand_put(s, sl_arena_printf(&s->arena, "%s~", path), ""); /* not of the table */
    check(s, "");
    hand_remove(s, path);
    check(s, "fault file 1 - part-: - for -\n");
}

/* What others do while the log is walked. */
struct meanwhile {
    struct session_fixture *s;
    const char *statement; /* NULL: nothing but the removal */
    const char *removed;
};

static void go_on(void *ctx, const silt_progress *progress)
{
    struct meanwhile *m = ctx;
    (void)progress;
    if (m->removed == NULL) {
        return;
    }
    if (m->statement != NULL) {
        session_expect_done(m->s, m->statement);
    }
    hand_remove(m->s, m->removed);
    m->removed = NULL;
}

struct watched {
    const struct fsck_findings *found;
    bool ended;          /* all files were told to be done with */
    bool before_reading; /* and the fault of their rows had not been found by then */
};

static void watch(void *ctx, const silt_progress *progress)
{
    struct watched *w = ctx;
    if (strcmp(progress->phase, "checking the files") == 0 && progress->done == progress->total) {
        w->before_reading = w->before_reading || (!w->ended && w->found->lines.len == 0);
        w->ended = true;
    }
}

/* A bar that is full while all the reading is still to come is none. */
static void files_are_done_with_when_they_were_read(void **state)
{
    struct session_fixture *s = *state;
    make(s);
    falsify(s, VERSION1, "\\\"minValues\\\":{\\\"id\\\":0", "\\\"minValues\\\":{\\\"id\\\":5");
    struct fsck_findings found = {0};
    struct watched watched = {.found = &found};
    const silt_call call = {
        .size = sizeof(call), .abi_version = SILT_ABI_VERSION, .progress = watch, .progress_ctx = &watched};
    silt_table *table = NULL;
    found.call = &call;
    assert_int_equal(silt_session_table(s->session, "t", &table, &s->err), SILT_OK);
    fsck_run(&found, table, NULL);
    assert_true(watched.ended);
    assert_false(watched.before_reading);
    fsck_expect(&found, "fault statistics 1 id part-: 5 for 0\n");
    fsck_release(&found);
    silt_table_unref(table);
}

static void check_meanwhile(struct session_fixture *s, const char *statement, const char *lines)
{
    struct meanwhile meanwhile = {s, statement, data_file(s)};
    const silt_call call = {
        .size = sizeof(call), .abi_version = SILT_ABI_VERSION, .progress = go_on, .progress_ctx = &meanwhile};
    struct fsck_findings found = {.call = &call};
    silt_table *table = NULL;
    assert_int_equal(silt_session_table(s->session, "t", &table, &s->err), SILT_OK);
    fsck_run(&found, table, NULL);
    assert_null(meanwhile.removed);
    fsck_expect(&found, lines);
    assert_int_equal(found.report.faults, lines[0] != '\0' ? 1 : 0);
    fsck_release(&found);
    silt_table_unref(table);
}

static void file_that_is_taken_out_and_deleted_meanwhile_is_no_fault(void **state)
{
    struct session_fixture *s = *state;
    make(s);
    check_meanwhile(s, "TRUNCATE TABLE t", "");
}

static void file_that_is_deleted_meanwhile_is_a_fault_while_it_is_live(void **state)
{
    struct session_fixture *s = *state;
    make(s);
    check_meanwhile(s, "INSERT INTO t VALUES (1, 'x', 2)", "fault file 1 - part-: - for -\n");
}

static void torn_file_is_told_by_size_and_by_data(void **state)
{
    struct session_fixture *s = *state;
    make(s);
    session_expect_done(s, "INSERT INTO t VALUES (77, 'x', 7)");
    hand_put(s, data_file(s), "PAR1 torn");
    struct fsck_findings found = {0};
    silt_table *table = NULL;
    assert_int_equal(silt_session_table(s->session, "t", &table, &s->err), SILT_OK);
    fsck_run(&found, table, NULL);
    assert_int_equal(found.status, SILT_OK);
    assert_int_equal(found.report.faults, 2);
    assert_int_equal(found.report.files_read, 1); /* the other file all the same */
    fsck_expect_message(&found, "the size of the file is stated as");
    assert_non_null(strstr(sl_buf_cstr(&found.lines), "fault data 2 - part-"));
    fsck_release(&found);
    silt_table_unref(table);
}

static void column_of_a_type_that_cannot_be_read_is_told(void **state)
{
    struct session_fixture *s = *state;
    hand_create(s, "t", HAND_FIELD("v", "integer"), "");
    hand_parquet(s, "t/a.parquet", "SELECT 'text' AS v");
    hand_commit(s, "t", 1, hand_add(s, "a.parquet", "{}", NULL), NULL);
    struct fsck_findings found = {0};
    silt_table *table = NULL;
    assert_int_equal(silt_session_table(s->session, "t", &table, &s->err), SILT_OK);
    fsck_run(&found, table, NULL);
    fsck_expect_message(&found, "cannot be read as the table's int");
    fsck_release(&found);
    silt_table_unref(table);
}

static void partition_values_must_parse(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (v INT, day DATE) PARTITIONED BY (day)");
    session_expect_done(s, "INSERT INTO t VALUES (1, DATE '2020-01-01')");
    check(s, "");
    falsify(s, VERSION1, "\"partitionValues\":{\"day\":\"2020-01-01\"}", "\"partitionValues\":{\"day\":\"someday\"}");
    check(s, "fault partition-value 1 day day=2020-01-01/part-: someday for -\n");
    falsify(s, VERSION1, "\"partitionValues\":{\"day\":\"someday\"}", "\"partitionValues\":{}");
    check(s, "note partition-value 1 day day=2020-01-01/part-: - for -\n");
}

/* ---- deletion vectors ---- */

static const int64_t ODD[] = {1, 3, 5, 7};

/* Table t with file a of rows 0 … 9 and this vector; its size is taken from the file. */
static void make_vector(struct session_fixture *s, const char *stats, const char *descriptor)
{
    hand_parquet(s, "t/a.parquet", "SELECT range::INT AS v FROM range(10)");
    session_expect_done(s, session_with_dir(s, "SELECT size FROM read_blob('%D/t/a.parquet')"));
    const char *size = sl_arena_printf(&s->arena, "\"size\":%.*s", (int)strcspn(sl_buf_cstr(&s->out), "\n"),
                                       sl_buf_cstr(&s->out));
    hand_commit(s, "t", 0, HAND_VECTOR_PROTOCOL, hand_metadata(s, HAND_FIELD("v", "integer"), "", ""), NULL);
    hand_commit(s, "t", 1, hand_add_vector(s, "a.parquet", "{}", stats, descriptor), NULL);
    falsify(s, VERSION1, "\"size\":1000", size);
}

#define STATS(min, max) \
    "{\"numRecords\":10,\"minValues\":{\"v\":" min "},\"maxValues\":{\"v\":" max "},\"nullCount\":{\"v\":0}}"

static void statistics_are_compared_with_the_rows_that_a_vector_leaves(void **state)
{
    struct session_fixture *s = *state;
    static const int64_t ends[] = {0, 9};
    make_vector(s, STATS("1", "8"), hand_inline(s, ends, 2));
    check(s, "");
    make_vector(s, STATS("2", "8"), hand_inline(s, ends, 2));
    check(s, "fault statistics 1 v a.parquet: 2 for 1\n");
    make_vector(s, "{\"numRecords\":8}", hand_inline(s, ends, 2));
    check(s, "fault statistics 1 - a.parquet: 8 for 10\n");
    make_vector(s, NULL, hand_inline(s, ends, 2));
    check(s, "fault statistics 1 - a.parquet: - for -\n");
}

static void vector_that_the_protocol_does_not_announce_is_told(void **state)
{
    struct session_fixture *s = *state;
    make_vector(s, STATS("0", "9"), hand_inline(s, ODD, 4));
    check(s, "");
    falsify(s, "t/_delta_log/00000000000000000000.json", HAND_VECTOR_PROTOCOL, HAND_PROTOCOL);
    check(s, "fault deletion-vector 1 - a.parquet: - for -\n");
}

static void vector_with_a_flipped_byte_is_told_and_its_file_read_without_it(void **state)
{
    struct session_fixture *s = *state;
    struct hand_vector vector = hand_vector_file(s, "t/" HAND_VECTOR_FILE, ODD, 4);
    make_vector(s, STATS("0", "9"), hand_descriptor(s, "u", HAND_VECTOR_ID, vector));
    check(s, "");
    hand_flip(s, "t/" HAND_VECTOR_FILE, 12, 1);
    check(s, "fault deletion-vector 1 - a.parquet: - for -\n");
    hand_remove(s, "t/" HAND_VECTOR_FILE);
    check(s, "fault deletion-vector 1 - a.parquet: - for -\n");
}

static void vector_of_another_cardinality_or_file_is_told(void **state)
{
    struct session_fixture *s = *state;
    static const int64_t beyond[] = {3, 10};
    struct hand_vector vector = hand_vector_file(s, "t/" HAND_VECTOR_FILE, ODD, 4);
    vector.cardinality = 5;
    make_vector(s, STATS("0", "9"), hand_descriptor(s, "u", HAND_VECTOR_ID, vector));
    check(s, "fault deletion-vector 1 - a.parquet: - for -\n");
    make_vector(s, STATS("0", "9"), hand_inline(s, beyond, 2));
    check(s, "fault deletion-vector 1 - a.parquet: - for -\n");
}

/* ---- row ids ---- */

static void stored_row_ids_must_be_unique(void **state)
{
    struct session_fixture *s = *state;
    hand_parquet(s, "t/a.parquet", "SELECT * FROM (VALUES (1, 7::BIGINT), (2, NULL), (3, 7)) x(v, _row_id)");
    hand_commit(
        s, "t", 0,
        "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"rowTracking\","
        "\"domainMetadata\"]}}",
        hand_metadata(s, HAND_FIELD("v", "integer"), "",
                      "\"delta.enableRowTracking\":\"true\","
                      "\"delta.rowTracking.materializedRowIdColumnName\":\"_row_id\","
                      "\"delta.rowTracking.materializedRowCommitVersionColumnName\":\"_row_v\""),
        "{\"domainMetadata\":{\"domain\":\"delta.rowTracking\",\"configuration\":\"{\\\"rowIdHighWaterMark\\\":99}"
        "\",\"removed\":false}}",
        NULL);
    hand_commit(s, "t", 1, hand_add(s, "a.parquet", "{}", "{\"numRecords\":3}"), NULL);
    falsify(s, VERSION1, "\"size\":1000", "\"baseRowId\":10,\"defaultRowCommitVersion\":1,\"size\":1000");
    struct fsck_findings found = {0};
    silt_table *table = NULL;
    assert_int_equal(silt_session_table(s->session, "t", &table, &s->err), SILT_OK);
    fsck_run(&found, table, NULL);
    fsck_expect_message(&found, "2 rows have the row id 7");
    fsck_release(&found);
    silt_table_unref(table);
}

/* ---- typed columns of a checkpoint ---- */

static void typed_columns_must_say_what_the_text_says(void **state)
{
    struct session_fixture *s = *state;
    make(s);
    hand_parquet(
        s, "t/_delta_log/00000000000000000001.checkpoint.parquet",
        sl_arena_printf(
            &s->arena,
            "WITH l AS (SELECT * FROM read_json('%s/t/_delta_log/*.json', format = 'newline_delimited', "
            "columns = {add: 'STRUCT(path VARCHAR, partitionValues MAP(VARCHAR, VARCHAR), size BIGINT, modificationTime "
            "BIGINT, dataChange BOOLEAN, stats VARCHAR)', protocol: 'STRUCT(minReaderVersion INT, minWriterVersion INT)', "
            "metaData: 'STRUCT(id VARCHAR, format STRUCT(provider VARCHAR, options MAP(VARCHAR, VARCHAR)), schemaString "
            "VARCHAR, partitionColumns VARCHAR[], configuration MAP(VARCHAR, VARCHAR), createdTime BIGINT)'})) "
            "SELECT if(add IS NULL, NULL, struct_insert(add, stats_parsed := {'numRecords': 10::BIGINT, 'minValues': "
            "{'id': 1::BIGINT, 'city': 'c0'}, 'maxValues': {'id': 9::BIGINT, 'city': 'c9'}, 'nullCount': {'n': 4::BIGINT}"
            "})) AS add, protocol, metaData FROM l WHERE add IS NOT NULL OR protocol IS NOT NULL OR metaData IS NOT NULL",
            s->dir));
    hand_put(s, "t/_delta_log/_last_checkpoint", "{\"version\":1,\"size\":3}");
    check(s, "fault checkpoint 1 id part-: 1 for 0\n"
             "fault checkpoint 1 n part-: 4 for 3\n");
}

/* ---- options ---- */

static void sample_reads_as_many_files_and_the_same_with_the_same_seed(void **state)
{
    struct session_fixture *s = *state;
    silt_fsck_report report;
    silt_fsck_options options = {.size = sizeof(options), .sample_files = 2, .seed = 42};
    session_expect_done(s, "CREATE TABLE t (v INT, p INT) PARTITIONED BY (p)");
    session_expect_done(s, "INSERT INTO t SELECT range, range FROM range(10)");
    check_with(s, &options, "", &report);
    assert_int_equal(report.files, 10);
    assert_int_equal(report.files_read, 2);
    assert_int_equal(report.seed, 42);
    options = (silt_fsck_options){.size = sizeof(options), .sample_fraction = 0.35};
    check_with(s, &options, "", &report);
    assert_int_equal(report.files_read, 3);
    assert_true(report.seed > 0);
    options = (silt_fsck_options){.size = sizeof(options), .sample_files = 50};
    check_with(s, &options, "", &report);
    assert_int_equal(report.files_read, 10);
    options = (silt_fsck_options){.size = sizeof(options), .no_data = true};
    check_with(s, &options, "", &report);
    assert_int_equal(report.files, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(sound_tables_have_no_findings),
        SESSION_TEST(statistics_that_lose_rows_are_told_with_file_and_column),
        SESSION_TEST(number_of_rows_must_be_right),
        SESSION_TEST(files_are_done_with_when_they_were_read),
        SESSION_TEST(chars_are_compared_as_they_are_stored),
        SESSION_TEST(statistics_that_are_no_json_are_a_note),
        SESSION_TEST(statistics_that_are_no_counts_or_bounds_are_told),
        SESSION_TEST(statistics_of_reals_without_order_are_no_finding),
        SESSION_TEST(statistics_of_members_are_told_by_their_way),
        SESSION_TEST(wide_bounds_need_only_be_bounds),
        SESSION_TEST(files_must_be_there_and_of_their_size),
        SESSION_TEST(file_that_is_taken_out_and_deleted_meanwhile_is_no_fault),
        SESSION_TEST(file_that_is_deleted_meanwhile_is_a_fault_while_it_is_live),
        SESSION_TEST(torn_file_is_told_by_size_and_by_data),
        SESSION_TEST(column_of_a_type_that_cannot_be_read_is_told),
        SESSION_TEST(partition_values_must_parse),
        SESSION_TEST(statistics_are_compared_with_the_rows_that_a_vector_leaves),
        SESSION_TEST(vector_that_the_protocol_does_not_announce_is_told),
        SESSION_TEST(vector_with_a_flipped_byte_is_told_and_its_file_read_without_it),
        SESSION_TEST(vector_of_another_cardinality_or_file_is_told),
        SESSION_TEST(stored_row_ids_must_be_unique),
        SESSION_TEST(typed_columns_must_say_what_the_text_says),
        SESSION_TEST(sample_reads_as_many_files_and_the_same_with_the_same_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
