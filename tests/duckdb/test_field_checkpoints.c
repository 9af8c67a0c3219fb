/*
 * Checkpoints of the V2 spec and version checksums on disk, in real Parquet files, as other writers leave them when all goes well
 * and when it does not. Version i of the table t adds the file i.parquet with the row i.
 */
#include "hand_table.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#define UUID "80a083e8-7026-4e79-81be-64bd76c43a11"
#define NO_MAP "MAP([]::VARCHAR[], []::VARCHAR[])"
#define V2_PROTOCOL                                                                                       \
    "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"v2Checkpoint\"]," \
    "\"writerFeatures\":[\"v2Checkpoint\"]}}"
#define SCHEMA "{\"type\":\"struct\",\"fields\":[" HAND_FIELD("v", "long") "]}"

static const char *log_file(struct session_fixture *s, const char *name)
{
    return sl_arena_printf(&s->arena, "t/_delta_log/%s", name);
}

/* Commits 0 to 4. */
static void make_commits(struct session_fixture *s)
{
    for (int64_t i = 0; i < 5; i++) {
        hand_parquet(s, sl_arena_printf(&s->arena, "t/%" PRId64 ".parquet", i),
                     sl_arena_printf(&s->arena, "SELECT %" PRId64 "::BIGINT AS v", i));
        const char *add = hand_add(s, sl_arena_printf(&s->arena, "%" PRId64 ".parquet", i), "{}", NULL);
        if (i == 0) {
            hand_commit(s, "t", 0, V2_PROTOCOL, hand_metadata(s, HAND_FIELD("v", "long"), "", ""), add, NULL);
        } else {
            hand_commit(s, "t", i, add, NULL);
        }
    }
}

/* Sidecars of version 3: two.parquet has the files 0 and 1, rest.parquet 2 and 3. */
static void make_sidecar(struct session_fixture *s, const char *name, int64_t first, int64_t last)
{
    (void)mkdir(sl_arena_printf(&s->arena, "%s/t/_delta_log/_sidecars", s->dir), 0777); /* may be there */
    hand_parquet(
        s, log_file(s, sl_arena_printf(&s->arena, "_sidecars/%s", name)),
        sl_arena_printf(&s->arena,
                        "SELECT {'path': i::VARCHAR || '.parquet', 'partitionValues': " NO_MAP
                        ", 'size': 1000::BIGINT, 'modificationTime': 1::BIGINT, 'dataChange': false} AS \"add\", "
                        "NULL::STRUCT(path VARCHAR, deletionTimestamp BIGINT, dataChange BOOLEAN) AS remove "
                        "FROM range(%" PRId64 ", %" PRId64 ") r(i)",
                        first, last + 1));
}

static int64_t size_of(struct session_fixture *s, const char *name)
{
    struct stat found;
    assert_int_equal(stat(sl_arena_printf(&s->arena, "%s/t/_delta_log/%s", s->dir, name), &found), 0);
    return (int64_t)found.st_size;
}

static const char *sidecar(struct session_fixture *s, const char *name)
{
    return sl_arena_printf(&s->arena,
                           "{\"sidecar\":{\"path\":\"%s\",\"sizeInBytes\":%" PRId64 ",\"modificationTime\":1}}", name,
                           size_of(s, sl_arena_printf(&s->arena, "_sidecars/%s", name)));
}

static void put_top_json(struct session_fixture *s, const char *more)
{
    hand_put(s, log_file(s, "00000000000000000003.checkpoint." UUID ".json"),
             sl_arena_printf(&s->arena, "%s\n%s\n{\"checkpointMetadata\":{\"version\":3}}\n%s\n", V2_PROTOCOL,
                             hand_metadata(s, HAND_FIELD("v", "long"), "", ""), more));
}

/* A top file in Parquet under one of its two names. */
static void put_top_parquet(struct session_fixture *s, const char *name)
{
    hand_parquet(
        s, log_file(s, name),
        sl_arena_printf(
            &s->arena,
            "SELECT {'minReaderVersion': 3::INT, 'minWriterVersion': 7::INT, 'readerFeatures': ['v2Checkpoint'], "
            "'writerFeatures': ['v2Checkpoint']} AS protocol UNION ALL BY NAME SELECT {'id': 'm', 'format': {'provider': "
            "'parquet', 'options': " NO_MAP "}, 'schemaString': '" SCHEMA "', 'partitionColumns': []::VARCHAR[], "
            "'configuration': " NO_MAP
            ", 'createdTime': 1::BIGINT} AS \"metaData\" UNION ALL BY NAME SELECT {'version': "
            "3::BIGINT} AS \"checkpointMetadata\" UNION ALL BY NAME SELECT {'path': p, 'sizeInBytes': b::BIGINT, "
            "'modificationTime': 1::BIGINT} AS sidecar FROM (VALUES ('two.parquet', %" PRId64
            "), ('rest.parquet', %" PRId64 ")) t(p, b)",
            size_of(s, "_sidecars/two.parquet"), size_of(s, "_sidecars/rest.parquet")));
}

static void drop_commits(struct session_fixture *s, int64_t last)
{
    for (int64_t i = 0; i <= last; i++) {
        hand_remove(s, log_file(s, sl_arena_printf(&s->arena, "%020" PRId64 ".json", i)));
    }
}

static void expect_whole(struct session_fixture *s)
{
    session_expect_rows(s, "SELECT count(*), sum(v)::BIGINT FROM t", "5|10\n");
}

static void make_sidecars(struct session_fixture *s)
{
    make_sidecar(s, "two.parquet", 0, 1);
    make_sidecar(s, "rest.parquet", 2, 3);
}

static void sidecars_are_read_under_every_name_of_a_top_file(void **state)
{
    struct session_fixture *s = *state;
    make_commits(s);
    make_sidecars(s);
    drop_commits(s, 2);
    put_top_json(s, sl_arena_printf(&s->arena, "%s\n%s", sidecar(s, "two.parquet"), sidecar(s, "rest.parquet")));
    expect_whole(s);
    hand_remove(s, log_file(s, "00000000000000000003.checkpoint." UUID ".json"));
    put_top_parquet(s, "00000000000000000003.checkpoint." UUID ".parquet");
    expect_whole(s);
    hand_remove(s, log_file(s, "00000000000000000003.checkpoint." UUID ".parquet"));
    put_top_parquet(s, "00000000000000000003.checkpoint.parquet");
    expect_whole(s);
    session_expect_rows(s, "SELECT count(*) FROM t VERSION AS OF 3", "4\n");
}

/* The footer of a sidecar is only looked at when the files are wanted. */
static void a_sidecar_that_is_torn_is_gone_around(void **state)
{
    struct session_fixture *s = *state;
    make_commits(s);
    make_sidecars(s);
    hand_put(s, log_file(s, "_sidecars/torn.parquet"), "PAR1 and no more");
    put_top_json(s, sl_arena_printf(&s->arena, "%s\n%s", sidecar(s, "two.parquet"), sidecar(s, "torn.parquet")));
    expect_whole(s);
    put_top_parquet(s, "00000000000000000003.checkpoint.parquet"); /* of the same version, and good */
    drop_commits(s, 2);
    expect_whole(s);
}

static void a_checkpoint_that_lost_a_sidecar_is_gone_around(void **state)
{
    struct session_fixture *s = *state;
    make_commits(s);
    make_sidecars(s);
    put_top_json(s, sl_arena_printf(&s->arena, "%s\n%s", sidecar(s, "two.parquet"), sidecar(s, "rest.parquet")));
    hand_remove(s, log_file(s, "_sidecars/rest.parquet"));
    expect_whole(s);
    drop_commits(s, 2);
    session_expect_fault(s, "SELECT count(*) FROM t", SILT_ENOTFOUND, "DELTA_LOG_FILE_NOT_FOUND", -1);
}

/* By the checksum the table has a column w, and four files. */
static void a_version_checksum_that_lies_does_not_change_rows(void **state)
{
    struct session_fixture *s = *state;
    make_commits(s);
    make_sidecars(s);
    put_top_json(s, sl_arena_printf(&s->arena, "%s\n%s", sidecar(s, "two.parquet"), sidecar(s, "rest.parquet")));
    hand_put(
        s, log_file(s, "00000000000000000004.crc"),
        "{\"numFiles\":4,\"tableSizeBytes\":4000,\"numMetadata\":1,\"numProtocol\":1,\"setTransactions\":[],"
        "\"domainMetadata\":[],\"metadata\":{\"id\":\"m\",\"format\":{\"provider\":\"parquet\"},\"schemaString\":"
        "\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"w\\\",\\\"type\\\":\\\"long\\\",\\\"nullable\\\":"
        "true,\\\"metadata\\\":{}}]}\",\"partitionColumns\":[],\"configuration\":{}},\"protocol\":{\"minReaderVersion\":3,"
        "\"minWriterVersion\":7,\"readerFeatures\":[\"v2Checkpoint\"],\"writerFeatures\":[\"v2Checkpoint\"]}}");
    expect_whole(s);
    expect_whole(s);
}

/* ---- checkpoints that name files twice ---- */

/* A classic checkpoint of version 3; adds: the query of their paths, NULL: it has no column of that name. */
static void put_classic(struct session_fixture *s, const char *name, const char *paths, bool with_state)
{
    const char *state = "SELECT {'minReaderVersion': 3::INT, 'minWriterVersion': 7::INT, 'readerFeatures': "
                        "['v2Checkpoint'], 'writerFeatures': ['v2Checkpoint']} AS protocol UNION ALL BY NAME SELECT "
                        "{'id': 'm', 'format': {'provider': 'parquet', 'options': " NO_MAP "}, 'schemaString': '" SCHEMA
                        "', 'partitionColumns': []::VARCHAR[], 'configuration': " NO_MAP
                        ", 'createdTime': 1::BIGINT} AS \"metaData\"";
    const char *adds = paths == NULL ? NULL
                                     : sl_arena_printf(&s->arena,
                                                       "SELECT {'path': p, 'partitionValues': " NO_MAP
                                                       ", 'size': 1000::BIGINT, 'modificationTime': 1::BIGINT, "
                                                       "'dataChange': false} AS \"add\" FROM (%s) t(p)",
                                                       paths);
    hand_parquet(s, log_file(s, name),
                 adds == NULL  ? state
                 : !with_state ? adds
                               : sl_arena_printf(&s->arena, "%s UNION ALL BY NAME %s", state, adds));
}

static void expect_each_once(struct session_fixture *s)
{
    expect_whole(s);
    session_expect_rows(s, "SELECT v FROM t WHERE v <> 4 ORDER BY v", "0\n1\n2\n3\n");
    session_expect_rows(s, "SELECT count(*) FROM t VERSION AS OF 3", "4\n");
}

static void a_file_that_is_named_twice_is_read_once(void **state)
{
    struct session_fixture *s = *state;
    make_commits(s);
    drop_commits(s, 2);
    const char *one = "00000000000000000003.checkpoint.parquet";
    put_classic(s, one,
                "VALUES ('0.parquet'), ('1.parquet'), ('1.parquet'), ('2.parquet'), ('3.parquet'), ('%32.parquet')",
                true);
    expect_each_once(s);
    hand_remove(s, log_file(s, one));
    put_classic(s, "00000000000000000003.checkpoint.0000000001.0000000002.parquet",
                "VALUES ('0.parquet'), ('1.parquet'), ('2.parquet')", true);
    put_classic(s, "00000000000000000003.checkpoint.0000000002.0000000002.parquet",
                "VALUES ('1.parquet'), ('2.parquet'), ('3.parquet')", false);
    expect_each_once(s);
}

static void sidecars_that_overlap_are_read_once(void **state)
{
    struct session_fixture *s = *state;
    make_commits(s);
    make_sidecar(s, "two.parquet", 0, 2);
    make_sidecar(s, "rest.parquet", 1, 3);
    drop_commits(s, 2);
    put_top_json(s, sl_arena_printf(&s->arena, "%s\n%s", sidecar(s, "two.parquet"), sidecar(s, "rest.parquet")));
    expect_each_once(s);
    /* and adds in the top file beside them, which the protocol does not allow */
    put_top_json(s, sl_arena_printf(&s->arena, "%s\n%s\n%s\n%s", hand_add(s, "3.parquet", "{}", NULL),
                                    hand_add(s, "3.parquet", "{}", NULL), sidecar(s, "two.parquet"),
                                    sidecar(s, "rest.parquet")));
    expect_each_once(s);
    /* a later commit takes both away */
    hand_commit(s, "t", 5, "{\"remove\":{\"path\":\"3.parquet\",\"deletionTimestamp\":7,\"dataChange\":true}}", NULL);
    session_expect_rows(s, "SELECT count(*), sum(v)::BIGINT FROM t", "4|7\n");
}

/* ---- checkpoints that have lost their files ---- */

static void put_crc(struct session_fixture *s, int64_t version, int64_t n_files)
{
    hand_put(s, log_file(s, sl_arena_printf(&s->arena, "%020" PRId64 ".crc", version)),
             sl_arena_printf(&s->arena,
                             "{\"numFiles\":%" PRId64 ",\"tableSizeBytes\":%" PRId64
                             ",\"numMetadata\":1,\"numProtocol\":1,\"metadata\":{\"id\":\"m\",\"format\":{"
                             "\"provider\":\"parquet\"},\"schemaString\":\"{\\\"type\\\":\\\"struct\\\","
                             "\\\"fields\\\":[]}\",\"partitionColumns\":[],\"configuration\":{}},\"protocol\":{"
                             "\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"v2Checkpoint\"],"
                             "\"writerFeatures\":[\"v2Checkpoint\"]}}",
                             n_files, n_files * 1000));
}

#define CLASSIC "00000000000000000003.checkpoint.parquet"

static void a_checkpoint_without_files_is_gone_around_by_the_checksums_word(void **state)
{
    struct session_fixture *s = *state;
    make_commits(s);
    put_classic(s, CLASSIC, NULL, true); /* no column "add" */
    put_crc(s, 3, 4);
    expect_whole(s);
    put_classic(s, CLASSIC, "SELECT NULL::VARCHAR WHERE false", true); /* the column, but nothing in it */
    expect_whole(s);
    drop_commits(s, 2);
    session_expect_fault(s, "SELECT count(*) FROM t", SILT_ECORRUPT, "DELTA_STATE_RECOVER_ERROR", -1);
    assert_int_equal(s->err.version, 3);
    assert_non_null(strstr(s->err.message, "it holds no files where the version checksum counts 4"));
}

static void a_checkpoint_without_files_is_gone_around_by_the_hints_word(void **state)
{
    struct session_fixture *s = *state;
    make_commits(s);
    put_classic(s, CLASSIC, NULL, true);
    hand_put(s, log_file(s, "_last_checkpoint"), "{\"version\":3,\"size\":6,\"numOfAddFiles\":4}");
    expect_whole(s);
    /* The hint alone is no reason to refuse what is the only way: a hint that is wrong must not cost the table. */
    drop_commits(s, 2);
    session_expect_rows(s, "SELECT count(*), sum(v)::BIGINT FROM t", "1|4\n");
    put_crc(s, 3, 0);
    session_expect_rows(s, "SELECT count(*), sum(v)::BIGINT FROM t", "1|4\n");
}

static void an_empty_table_has_a_checkpoint_without_files(void **state)
{
    struct session_fixture *s = *state;
    make_commits(s);
    drop_commits(s, 3);
    put_classic(s, CLASSIC, NULL, true);
    session_expect_rows(s, "SELECT count(*), sum(v)::BIGINT FROM t", "1|4\n");
    put_crc(s, 3, 0);
    hand_put(s, log_file(s, "_last_checkpoint"), "{\"version\":3,\"size\":2,\"numOfAddFiles\":0}");
    session_expect_rows(s, "SELECT count(*), sum(v)::BIGINT FROM t", "1|4\n");
}

/* ---- columns of other types than the table's ---- */

#define TYPED_SCHEMA                                                                                                 \
    "{\"type\":\"struct\",\"fields\":[" HAND_FIELD("i", "long") "," HAND_FIELD("n", "timestamp_ntz") "," HAND_FIELD( \
        "d", "decimal(10,2)") "," HAND_FIELD("t", "timestamp") "," HAND_FIELD("p", "timestamp") "]}"

/*
 * Two files, of the years 2024 and 2025. Bounds of i are 32-bit, of n days, of d decimal(5,2): each may be converted. Those of t, and the
 * typed partition value, are numbers without a unit, far from what the rows have: whoever takes them for microseconds loses the rows.
 */
static void put_typed(struct session_fixture *s, bool with_text)
{
    const char *stats =
        "'{\"numRecords\":2,\"minValues\":{\"i\":' || f * 10 || ',\"d\":' || f || '.25},\"maxValues\":{\"i\":' || "
        "(f * 10 + 1) || ',\"d\":' || f || '.75},\"nullCount\":{\"i\":0,\"d\":0}}'";
    hand_parquet(
        s, log_file(s, "00000000000000000001.checkpoint.parquet"),
        sl_arena_printf(
            &s->arena,
            "SELECT {'minReaderVersion': 3::INT, 'minWriterVersion': 7::INT, 'readerFeatures': ['timestampNtz'], "
            "'writerFeatures': ['timestampNtz']} AS protocol UNION ALL BY NAME SELECT {'id': 'm', 'format': {'provider': "
            "'parquet', 'options': " NO_MAP "}, 'schemaString': '" TYPED_SCHEMA "', 'partitionColumns': ['p'], "
            "'configuration': " NO_MAP
            ", 'createdTime': 1::BIGINT} AS \"metaData\" UNION ALL BY NAME SELECT {'path': f || "
            "'.parquet', 'partitionValues': MAP(['p'], [(2023 + f) || '-06-01T00:00:00.000000Z']), 'size': 1000::BIGINT, "
            "'modificationTime': 1::BIGINT, 'dataChange': false, 'stats': %s, 'partitionValues_parsed': {'p': 7::BIGINT}, "
            "'stats_parsed': {'numRecords': 2::BIGINT, 'minValues': {'i': (f * 10)::INT, 'n': make_date(2023 + f, 1, 1), 'd': "
            "(f + 0.25)::DECIMAL(5,2), 't': 7::BIGINT}, 'maxValues': {'i': (f * 10 + 1)::INT, 'n': make_date(2023 + f, 12, 31), 'd': "
            "(f + 0.75)::DECIMAL(5,2), 't': 8::BIGINT}, 'nullCount': {'i': 0::BIGINT, 'n': 0::BIGINT, 'd': 0::BIGINT, 't': "
            "0::BIGINT}}} AS \"add\" FROM (VALUES (1), (2)) r(f)",
            with_text ? stats : "NULL::VARCHAR"));
}

static void check_typed(struct session_fixture *s, bool with_text)
{
    static const char *const cases[][2] = {
        {"i = 11", "11\n"},
        {"i > 11", "20\n21\n"},
        {"i BETWEEN 11 AND 20", "11\n20\n"},
        {"i > 4294967296", ""},
        {"n >= TIMESTAMP '2024-12-31 23:59:59'", "11\n20\n21\n"}, /* on the day that is the bound */
        {"n < TIMESTAMP '2024-01-01 00:00:01'", "10\n"},
        {"n = TIMESTAMP '2025-12-31 23:59:59.5'", "21\n"},
        {"d = 1.75", "11\n"},
        {"d > 1.8", "20\n21\n"},
        {"d < 99999.99", "10\n11\n20\n21\n"},
        {"t > TIMESTAMPTZ '2024-01-01 00:00:00Z'", "10\n11\n20\n21\n"},
        {"t = TIMESTAMPTZ '2025-03-01 00:00:00Z'", "20\n"},
        {"p = TIMESTAMPTZ '2024-06-01 00:00:00Z'", "10\n11\n"},
        {"p > TIMESTAMPTZ '2024-06-01 00:00:00Z'", "20\n21\n"},
        {"p < TIMESTAMPTZ '2000-01-01 00:00:00Z'", ""},
        {"t IS NULL OR p IS NULL", ""},
    };
    for (int f = 1; f <= 2; f++) {
        hand_parquet(
            s, sl_arena_printf(&s->arena, "t/%d.parquet", f),
            sl_arena_printf(&s->arena,
                            "SELECT %d::BIGINT AS i, TIMESTAMP '%d-01-01 00:00:00' AS n, %d.25::DECIMAL(10,2) AS d, "
                            "TIMESTAMPTZ '%d-03-01 00:00:00Z' AS t UNION ALL SELECT %d, TIMESTAMP '%d-12-31 "
                            "23:59:59.5', %d.75, TIMESTAMPTZ '%d-09-01 00:00:00Z'",
                            f * 10, 2023 + f, f, 2023 + f, f * 10 + 1, 2023 + f, f, 2023 + f));
    }
    hand_put(s, "t/_delta_log/00000000000000000001.json", "{\"commitInfo\":{}}\n");
    put_typed(s, with_text);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        session_expect_rows(s, sl_arena_printf(&s->arena, "SELECT i FROM t WHERE %s ORDER BY i", cases[i][0]),
                            cases[i][1]);
    }
}

static void columns_of_other_types_never_lose_a_row(void **state)
{
    check_typed(*state, false);
}

static void columns_of_other_types_beside_text_never_lose_a_row(void **state)
{
    check_typed(*state, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(sidecars_are_read_under_every_name_of_a_top_file),
        SESSION_TEST(a_sidecar_that_is_torn_is_gone_around),
        SESSION_TEST(a_checkpoint_that_lost_a_sidecar_is_gone_around),
        SESSION_TEST(a_version_checksum_that_lies_does_not_change_rows),
        SESSION_TEST(a_file_that_is_named_twice_is_read_once),
        SESSION_TEST(sidecars_that_overlap_are_read_once),
        SESSION_TEST(a_checkpoint_without_files_is_gone_around_by_the_checksums_word),
        SESSION_TEST(a_checkpoint_without_files_is_gone_around_by_the_hints_word),
        SESSION_TEST(an_empty_table_has_a_checkpoint_without_files),
        SESSION_TEST(columns_of_other_types_never_lose_a_row),
        SESSION_TEST(columns_of_other_types_beside_text_never_lose_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
