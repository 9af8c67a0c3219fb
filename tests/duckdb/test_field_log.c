/*
 * Logs on disk as crashes, clean-ups and other writers leave them: hints, checkpoints, gaps, strays, free-form commitInfo, unknown
 * fields. Version i of the table t adds the file i.parquet with the row i.
 */
#include "hand_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sql/resident.h"

#define NO_MAP "MAP([]::VARCHAR[], []::VARCHAR[])"

static const char *log_file(struct session_fixture *s, const char *name)
{
    return sl_arena_printf(&s->arena, "t/_delta_log/%s", name);
}

static const char *commit_name(struct session_fixture *s, int64_t version)
{
    return sl_arena_printf(&s->arena, "%020" PRId64 ".json", version);
}

static void drop(struct session_fixture *s, const char *name)
{
    sl_session_forget_resident(s->session); /* which would go on with what it knows of the table */
    assert_int_equal(unlink(sl_arena_printf(&s->arena, "%s/t/_delta_log/%s", s->dir, name)), 0);
}

static void drop_commits(struct session_fixture *s, int64_t first, int64_t last)
{
    for (int64_t version = first; version <= last; version++) {
        drop(s, commit_name(s, version));
    }
}

/* Versions first to last; version 0 has protocol and metaData as well. */
static void make_commits(struct session_fixture *s, int64_t first, int64_t last)
{
    for (int64_t i = first; i <= last; i++) {
        hand_parquet(s, sl_arena_printf(&s->arena, "t/%" PRId64 ".parquet", i),
                     sl_arena_printf(&s->arena, "SELECT %" PRId64 "::BIGINT AS v", i));
        const char *add = hand_add(s, sl_arena_printf(&s->arena, "%" PRId64 ".parquet", i), "{}", NULL);
        if (i == 0) {
            hand_commit(s, "t", 0, HAND_PROTOCOL, hand_metadata(s, HAND_FIELD("v", "long"), "", ""), add, NULL);
        } else {
            hand_commit(s, "t", i, add, NULL);
        }
    }
}

enum {
    WITH_STATE = 1
};

/* A file of a checkpoint: adds of the versions first to last, and protocol and metaData if wanted. */
static void make_checkpoint(struct session_fixture *s, const char *name, int64_t first, int64_t last, int with_state)
{
    const char *adds = sl_arena_printf(
        &s->arena,
        "SELECT {'path': i::VARCHAR || '.parquet', 'partitionValues': " NO_MAP ", 'size': 1000::BIGINT, "
        "'modificationTime': 1::BIGINT, 'dataChange': false} AS \"add\" FROM range(%" PRId64 ", %" PRId64 ") r(i)",
        first, last + 1);
    const char *state = "SELECT {'minReaderVersion': 1::INT, 'minWriterVersion': 2::INT} AS protocol UNION ALL BY NAME "
                        "SELECT {'id': 'm', 'format': {'provider': 'parquet', 'options': " NO_MAP "}, 'schemaString': "
                        "'{\"type\":\"struct\",\"fields\":[" HAND_FIELD(
                            "v", "long") "]}', 'partitionColumns': []::VARCHAR[], "
                                         "'configuration': " NO_MAP
                                         ", 'createdTime': 1::BIGINT} AS \"metaData\" UNION ALL BY NAME ";
    hand_parquet(s, log_file(s, name), sl_arena_printf(&s->arena, "%s%s", with_state ? state : "", adds));
}

static const char *checkpoint_name(struct session_fixture *s, int64_t version)
{
    return sl_arena_printf(&s->arena, "%020" PRId64 ".checkpoint.parquet", version);
}

static void make_single(struct session_fixture *s, int64_t version)
{
    make_checkpoint(s, checkpoint_name(s, version), 0, version, WITH_STATE);
}

/* The newest version is `last`, and its rows are 0 to last. */
static void expect_whole(struct session_fixture *s, int64_t last)
{
    session_expect_rows(s, "SELECT count(*), sum(v)::BIGINT FROM t",
                        sl_arena_printf(&s->arena, "%" PRId64 "|%" PRId64 "\n", last + 1, last * (last + 1) / 2));
}

static void a_hint_to_nothing_is_ignored(void **state)
{
    struct session_fixture *s = *state;
    static const char *const hints[] = {
        "{\"version\":10,\"size\":13}",
        "{\"version\":10,\"size\":13,\"parts\":3}",
        "",
        "garbage",
        "{}",
        "[]",
        "{\"version\":-4,\"size\":1}",
        "{\"version\":\"ten\"}",
        "{\"version\":99999999999999999999}",
        "{\"version\":9223372036854775807}",
        "{\"version\":50,\"size\":1}",
        "{\"version\":1.5}",
    };
    make_commits(s, 0, 12);
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
        hand_put(s, log_file(s, "_last_checkpoint"), hints[i]);
        expect_whole(s, 12);
        session_expect_rows(s, "SELECT count(*) FROM t VERSION AS OF 11", "12\n");
    }
    make_single(s, 5);
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
        hand_put(s, log_file(s, "_last_checkpoint"), hints[i]);
        expect_whole(s, 12);
    }
    /* Without the beginning the checkpoint is needed. */
    drop_commits(s, 0, 5);
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
        hand_put(s, log_file(s, "_last_checkpoint"), hints[i]);
        expect_whole(s, 12);
    }
    drop(s, checkpoint_name(s, 5));
    for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
        hand_put(s, log_file(s, "_last_checkpoint"), hints[i]);
        assert_int_not_equal(session_try(s, "SELECT count(*) FROM t"), SILT_OK);
    }
}

static void a_hint_behind_a_newer_checkpoint_does_no_harm(void **state)
{
    struct session_fixture *s = *state;
    make_commits(s, 0, 12);
    make_single(s, 5);
    make_single(s, 10);
    hand_put(s, log_file(s, "_last_checkpoint"), "{\"version\":5,\"size\":8}");
    expect_whole(s, 12);
    drop_commits(s, 0, 9);
    drop(s, checkpoint_name(s, 5));
    expect_whole(s, 12);
    session_expect_rows(s, "SELECT count(*) FROM t VERSION AS OF 10", "11\n");
}

static void copy_cut(struct session_fixture *s, const char *from, const char *to, size_t keep)
{
    const char *command = sl_arena_printf(&s->arena, "head -c %zu '%s/t/_delta_log/%s' > '%s/t/_delta_log/%s'", keep,
                                          s->dir, from, s->dir, to);
    assert_int_equal(system(command), 0);
}

static void a_broken_checkpoint_is_gone_around(void **state)
{
    struct session_fixture *s = *state;
    make_commits(s, 0, 11);
    make_single(s, 5);
    make_checkpoint(s, "good", 0, 10, WITH_STATE);
    for (int kind = 0; kind < 10; kind++) {
        const char *broken = checkpoint_name(s, 10);
        switch (kind / 2) {
        case 0: hand_put(s, log_file(s, broken), ""); break;
        case 1: hand_put(s, log_file(s, broken), "PAR1"); break;
        case 2: copy_cut(s, "good", broken, 600); break;
        case 3:
            hand_put(s, log_file(s, broken), "PAR1 this is no Parquet file, but it is long enough \1\2\3\4PAR1");
            break;
        default: make_checkpoint(s, broken, 0, 10, 0); break;
        }
        if (kind % 2 == 0) {
            hand_put(s, log_file(s, "_last_checkpoint"), "{\"version\":10,\"size\":13}");
        } else {
            drop(s, "_last_checkpoint");
        }
        expect_whole(s, 11);
        expect_whole(s, 11);
        session_expect_rows(s, "SELECT count(*) FROM t VERSION AS OF 10", "11\n");
        session_expect_done(s, "INSERT INTO t VALUES (12)");
        session_expect_rows(s, "SELECT count(*) FROM t", "13\n");
        drop_commits(s, 12, 12);
    }
    /* What it replaced is gone. */
    drop_commits(s, 0, 5);
    drop(s, checkpoint_name(s, 5));
    assert_int_equal(session_try(s, "SELECT count(*) FROM t"), SILT_ECORRUPT);
}

static void kinds_of_checkpoints_of_one_version_are_alike(void **state)
{
    struct session_fixture *s = *state;
    make_commits(s, 0, 8);
    make_single(s, 5);
    make_checkpoint(s, "00000000000000000005.checkpoint.0000000001.0000000002.parquet", 0, 2, WITH_STATE);
    make_checkpoint(s, "00000000000000000005.checkpoint.0000000002.0000000002.parquet", 3, 5, 0);
    hand_put(s, log_file(s, "00000000000000000005.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.parquet"), "no");
    hand_put(s, log_file(s, "00000000000000000007.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a12.json"), "no");
    drop_commits(s, 0, 4);
    expect_whole(s, 8);
    drop(s, checkpoint_name(s, 5));
    expect_whole(s, 8);
}

static void only_a_whole_set_of_parts_is_a_checkpoint(void **state)
{
    struct session_fixture *s = *state;
    make_commits(s, 0, 6);
    make_single(s, 3);
    make_checkpoint(s, "00000000000000000005.checkpoint.0000000001.0000000003.parquet", 0, 1, WITH_STATE);
    make_checkpoint(s, "00000000000000000005.checkpoint.0000000003.0000000003.parquet", 4, 5, 0);
    hand_put(s, log_file(s, "_last_checkpoint"), "{\"version\":5,\"size\":8,\"parts\":3}");
    expect_whole(s, 6);
    make_checkpoint(s, "00000000000000000005.checkpoint.0000000002.0000000002.parquet", 4, 5, 0);
    expect_whole(s, 6);
    drop_commits(s, 0, 3);
    expect_whole(s, 6);
    make_checkpoint(s, "00000000000000000005.checkpoint.0000000002.0000000003.parquet", 2, 3, 0);
    drop_commits(s, 4, 4);
    expect_whole(s, 6);
    drop(s, checkpoint_name(s, 3));
    expect_whole(s, 6);
}

static void stray_names_are_no_commits(void **state)
{
    struct session_fixture *s = *state;
    static const char *const strays[] = {
        ".tmp/00000000000000000007.json",
        "_staged_commits/00000000000000000007.80a083e8-7026-4e79-81be-64bd76c43a11.json",
        "00000000000000000007.80a083e8-7026-4e79-81be-64bd76c43a11.json",
        "_commit_80a083e8-7026-4e79-81be-64bd76c43a11.json.tmp",
        ".00000000000000000003.json.crc",
        "00000000000000000003.crc",
        "3.json",
        "0000000000000000007.json",
        "000000000000000000007.json",
        "00000000000000000003.json.bak",
        "00000000000000000007.json.tmp",
        "00000000000000000007.JSON",
        "0000000000000000000a.json",
        "00000000000000000001.00000000000000000003.compacted.json",
        "00000000000000000009.json/inner",
        "00000000000000000009.checkpoint.parquet/inner",
        "00000000000000000009.checkpoint.0000000001.parquet",
        "_sidecars/x.parquet",
    };
    make_commits(s, 0, 6);
    for (size_t i = 0; i < sizeof(strays) / sizeof(strays[0]); i++) {
        hand_put(s, log_file(s, strays[i]), "stray");
    }
    expect_whole(s, 6);
    session_expect_rows(s, "SELECT count(*) FROM t VERSION AS OF 3", "4\n");
    const char *dated = sl_arena_printf(
        &s->arena,
        "for i in 0 1 2 3 4 5 6; do touch -d 2020-01-0$((i + 1))T00:00:00Z '%s/t/_delta_log/'*0$i.json; done", s->dir);
    assert_int_equal(system(dated), 0);
    session_expect_rows(s, "SELECT count(*) FROM t TIMESTAMP AS OF '2020-01-04 12:00:00'", "4\n");
    session_expect_rows(s, "SELECT count(*) FROM t TIMESTAMP AS OF '2020-01-07'", "7\n");
    session_expect_done(s, "INSERT INTO t VALUES (7)");
    assert_int_equal(s->version, 7);
    session_expect_rows(s, "SELECT count(*) FROM t", "8\n");
}

static void gaps_are_told_with_what_is_missing(void **state)
{
    struct session_fixture *s = *state;
    make_commits(s, 0, 6);
    drop_commits(s, 1, 3);
    assert_int_equal(session_try(s, "SELECT count(*) FROM t"), SILT_ECORRUPT);
    assert_non_null(strstr(s->err.message, "1"));
    assert_non_null(strstr(s->err.message, "3"));
    session_expect_fault(s, "INSERT INTO t VALUES (9)", SILT_ECORRUPT, s->err.code_name, -1);
    session_expect_rows(s, "SELECT count(*) FROM t VERSION AS OF 0", "1\n");
    make_single(s, 3); /* 0 and 4 to 6 are there */
    expect_whole(s, 6);
    drop_commits(s, 4, 4);
    assert_int_equal(session_try(s, "SELECT count(*) FROM t"), SILT_ECORRUPT);
    assert_non_null(strstr(s->err.message, "4"));
}

static void cleaned_up_versions_are_told_with_the_earliest(void **state)
{
    struct session_fixture *s = *state;
    make_commits(s, 0, 4);
    make_single(s, 3);
    drop_commits(s, 0, 1);
    expect_whole(s, 4);
    session_expect_rows(s, "SELECT count(*) FROM t VERSION AS OF 3", "4\n");
    assert_int_equal(session_try(s, "SELECT count(*) FROM t VERSION AS OF 2"), SILT_ENOTFOUND);
    assert_non_null(strstr(s->err.message, "3"));
    assert_int_equal(session_try(s, "SELECT count(*) FROM t VERSION AS OF 0"), SILT_ENOTFOUND);
    session_expect_rows(s, "SELECT count(*) FROM (SELECT 1)", "1\n");
    session_expect_done(s, "DESCRIBE HISTORY t");
    drop(s, checkpoint_name(s, 3));
    assert_int_equal(session_try(s, "SELECT count(*) FROM t"), SILT_ECORRUPT);
}

static void commit_information_is_free_form(void **state)
{
    struct session_fixture *s = *state;
    static const char *const infos[] = {
        ("{\"commitInfo\":{\"timestamp\":1700000000000,\"operation\":\"WRITE\",\"operationParameters\":{\"mode\":\"Append\","
         "\"partitionBy\":[],\"auto\":false,\"predicate\":null,\"n\":3},\"operationMetrics\":{\"filesAdded\":{\"avg\":1.5},"
         "\"numFiles\":7},\"isBlindAppend\":\"yes\",\"readVersion\":\"1\"}}"),
        "{\"commitInfo\":{}}",
        "{\"commitInfo\":{\"operation\":\"NO TIME\"}}",
        "{\"commitInfo\":{\"timestamp\":\"2023-01-01\",\"operation\":5,\"userMetadata\":{\"a\":1},\"engineInfo\":null}}",
        "{\"commitInfo\":{\"operation\":\"first\"}}\n{\"commitInfo\":{\"operation\":\"second\"}}",
        ("{\"commitInfo\":{\"operation\":\"blank \\n line \\u00e9 \\ud83d\\ude00\",\"operationParameters\":\"text\","
         "\"operationMetrics\":[1,2],\"job\":7,\"notebook\":\"x\",\"clusterId\":[]}}"),
        "{\"commitInfo\":null}",
        "{\"commitInfo\":[]}",
    };
    const int64_t n = (int64_t)(sizeof(infos) / sizeof(infos[0]));
    make_commits(s, 0, n);
    for (int64_t i = 0; i < n; i++) {
        const char *add = hand_add(s, sl_arena_printf(&s->arena, "%" PRId64 ".parquet", i + 1), "{}", NULL);
        hand_commit(s, "t", i + 1, infos[i], add, NULL);
    }
    expect_whole(s, n);
    session_expect_done(s, "DESCRIBE HISTORY t");
    const char *history = sl_buf_cstr(&s->out);
    size_t lines = 0;
    for (const char *p = history; (p = strstr(p, "|NO TIME|")) != NULL; p++) {
        lines++;
    }
    assert_int_equal(lines, 1);
    assert_non_null(strstr(history, "|WRITE|"));
    session_expect_done(s, "INSERT INTO t VALUES (100)");
    assert_non_null(strstr(hand_log(s, "t", s->version), "\"operationParameters\":{\"mode\":\"Append\""));
}

static void unknown_actions_and_fields_are_passed_over(void **state)
{
    struct session_fixture *s = *state;
    hand_commit(
        s, "t", 0, "{\"fooBar\":{\"add\":{\"path\":\"nope\"}}}",
        "{\"protocol\":{\"extra\":[1,{\"a\":null}],\"minWriterVersion\":2,\"minReaderVersion\":1}}",
        "{\"metaData\":{\"configuration\":{},\"partitionColumns\":[],\"new\":{\"deep\":[[]]},\"schemaString\":"
        "\"{\\\"fields\\\":[{\\\"metadata\\\":{},\\\"nullable\\\":true,\\\"type\\\":\\\"long\\\",\\\"name\\\":\\\"v"
        "\\\",\\\"later\\\":1}],\\\"type\\\":\\\"struct\\\",\\\"more\\\":{}}\",\"format\":{\"options\":{\"a\":\"b\"},"
        "\"provider\":\"parquet\",\"codec\":7},\"id\":\"m\"}}",
        NULL);
    hand_parquet(s, "t/1.parquet", "SELECT 1::BIGINT AS v");
    hand_commit(
        s, "t", 1,
        "{\"add\":{\"tags\":{\"a\":null,\"b\":\"x\"},\"dataChange\":true,\"size\":9223372036854775807,\"modificationTime\":"
        "1,\"partitionValues\":{},\"path\":\"1.parquet\",\"baseRowId\":12345678901,\"unknown\":123456789012345678901234567890,"
        "\"stats\":null,\"clusteringProvider\":\"liquid\"}}",
        "{\"later\":5}", "{\"txn\":{\"appId\":\"a\",\"version\":4,\"x\":{}}}", NULL);
    session_expect_rows(s, "SELECT v FROM t", "1\n");
}

static void checkpoints_are_read_by_name(void **state)
{
    struct session_fixture *s = *state;
    make_commits(s, 0, 4);
    hand_parquet(
        s, log_file(s, "00000000000000000003.checkpoint.parquet"),
        "SELECT 'x' AS unknown, {'later': 1, 'dataChange': false, 'deletionVector': {'maxRowIndex': 5::BIGINT, "
        "'storageType': NULL::VARCHAR}, 'size': 1000::BIGINT, 'path': i::VARCHAR || '.parquet', 'partitionValues': " NO_MAP
        ", 'modificationTime': 1::BIGINT} AS \"add\" FROM range(0, 4) r(i) UNION ALL BY NAME "
        "SELECT {'configuration': " NO_MAP
        ", 'odd': [1], 'schemaString': '{\"type\":\"struct\",\"fields\":[" HAND_FIELD(
            "v",
            "long") "]}', 'partitionColumns': []::VARCHAR[], 'id': 'm', 'format': {'provider': 'parquet'}} AS "
                    "\"metaData\" UNION ALL BY NAME SELECT {'minWriterVersion': 2::INT, 'minReaderVersion': 1::INT} AS protocol "
                    "UNION ALL BY NAME SELECT {'version': 7::BIGINT, 'appId': 'app'} AS txn");
    drop_commits(s, 0, 2);
    expect_whole(s, 4);
}

static void five_thousand_commits_are_read_without_a_checkpoint(void **state)
{
    struct session_fixture *s = *state;
    make_commits(s, 0, 1);
    for (int64_t i = 2; i < 5000; i++) {
        hand_commit(
            s, "t", i,
            sl_arena_printf(&s->arena, "{\"txn\":{\"appId\":\"a%" PRId64 "\",\"version\":%" PRId64 "}}", i % 7, i),
            NULL);
    }
    session_expect_rows(s, "SELECT count(*) FROM t", "2\n");
    session_expect_done(s, "INSERT INTO t VALUES (2)");
    assert_int_equal(s->version, 5000);
    session_expect_rows(s, "SELECT count(*) FROM t VERSION AS OF 4999", "2\n");
}

static void thirty_thousand_strays_do_not_disturb(void **state)
{
    struct session_fixture *s = *state;
    make_commits(s, 0, 3);
    const char *command = sl_arena_printf(
        &s->arena,
        "cd '%s/t/_delta_log' && seq -f '_commit_%%.0f.json.tmp' 1 15000 | xargs touch && "
        "seq -f '00000000000000000001.%%.0f.json' 1 15000 | xargs touch",
        s->dir);
    assert_int_equal(system(command), 0);
    expect_whole(s, 3);
    session_expect_done(s, "INSERT INTO t VALUES (4)");
    expect_whole(s, 4);
}

static void versions_are_wider_than_32_bits(void **state)
{
    struct session_fixture *s = *state;
    static const int64_t bases[] = {INT64_C(2147483646), INT64_C(999999999999999990)};
    make_commits(s, 0, 3);
    for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
        make_checkpoint(s, checkpoint_name(s, bases[i]), 0, 3, WITH_STATE);
        for (int64_t v = bases[i]; v < bases[i] + 4; v++) {
            hand_commit(s, "t", v, "{\"commitInfo\":{}}", NULL);
        }
        hand_put(s, log_file(s, "_last_checkpoint"),
                 sl_arena_printf(&s->arena, "{\"version\":%" PRId64 ",\"size\":6}", bases[i]));
        expect_whole(s, 3);
        session_expect_done(s, "INSERT INTO t VALUES (4)");
        assert_int_equal(s->version, bases[i] + 4);
        session_expect_rows(
            s, sl_arena_printf(&s->arena, "SELECT count(*) FROM t VERSION AS OF %" PRId64, bases[i] + 3), "4\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(a_hint_to_nothing_is_ignored),
        SESSION_TEST(a_hint_behind_a_newer_checkpoint_does_no_harm),
        SESSION_TEST(a_broken_checkpoint_is_gone_around),
        SESSION_TEST(kinds_of_checkpoints_of_one_version_are_alike),
        SESSION_TEST(only_a_whole_set_of_parts_is_a_checkpoint),
        SESSION_TEST(stray_names_are_no_commits),
        SESSION_TEST(gaps_are_told_with_what_is_missing),
        SESSION_TEST(cleaned_up_versions_are_told_with_the_earliest),
        SESSION_TEST(commit_information_is_free_form),
        SESSION_TEST(unknown_actions_and_fields_are_passed_over),
        SESSION_TEST(checkpoints_are_read_by_name),
        SESSION_TEST(five_thousand_commits_are_read_without_a_checkpoint),
        SESSION_TEST(thirty_thousand_strays_do_not_disturb),
        SESSION_TEST(versions_are_wider_than_32_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
