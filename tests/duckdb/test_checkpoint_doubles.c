/*
 * Checkpoints of another writer that name a file or a tombstone twice: the one that silt writes of them names it once, as silt reads it,
 * whatever kind it is of and wherever the doubles are.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "checkpoint_world.h"
#include "fsck_findings.h"
#include "kernel/checkpoint/checkpoint_write.h"

#define FIELDS HAND_FIELD("v", "long") "," HAND_FIELD("n", "integer")
#define BASE_FILES 60
/* A text that lives as long as the test; s is the fixture. */
#define TEXT(...) sl_arena_printf(&s->arena, __VA_ARGS__)

static struct sl_checkpoint_result write_checkpoint(struct session_fixture *s, const struct sl_checkpoint_options *how)
{
    struct sl_checkpoint_result result;
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    int64_t n = 0;
    int64_t bytes = 0;
    s->err = (silt_error)SILT_ERROR_INIT;
    assert_int_equal(silt_session_table(s->session, "t", &table, &s->err), SILT_OK);
    assert_int_equal(silt_table_latest_snapshot(table, NULL, &snapshot, &s->err), SILT_OK);
    if (sl_checkpoint_write_told(snapshot, NULL, how, &result, &s->err) != SILT_OK) {
        fail_msg("%s", s->err.message);
    }
    assert_int_equal(silt_snapshot_totals(snapshot, NULL, &n, &bytes, &s->err), SILT_OK);
    assert_int_equal(result.n_adds, n); /* as its reader has it */
    assert_int_equal(result.adds_bytes, bytes);
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    return result;
}

static void expect_sound(struct session_fixture *s)
{
    const silt_fsck_options options = {.size = sizeof(options), .no_data = true};
    struct fsck_findings found = {0};
    silt_table *table = NULL;
    assert_int_equal(silt_session_table(s->session, "t", &table, &s->err), SILT_OK);
    fsck_run(&found, table, &options);
    if (found.status != SILT_OK || strstr(sl_buf_cstr(&found.lines), "fault") != NULL) {
        fail_msg("%s\n%s%s", found.err.message, sl_buf_cstr(&found.lines), sl_buf_cstr(&found.messages));
    }
    fsck_release(&found);
    silt_table_unref(table);
}

#define STATE_ROWS                                                                                                     \
    "SELECT NULL AS a, {'minReaderVersion': %d, 'minWriterVersion': %d%s} AS p, NULL AS m UNION ALL "                  \
    "SELECT NULL, NULL, {'id': 'x', 'format': {'provider': 'parquet', 'options': MAP([]::VARCHAR[], []::VARCHAR[])}, " \
    "'schemaString': '{\"type\":\"struct\",\"fields\":[" FIELDS "]}', 'partitionColumns': ['n'], 'configuration': "    \
    "MAP([]::VARCHAR[], []::VARCHAR[])}"

/* Rows of adds f<i>, of the size 5 unless an expression says otherwise. */
static const char *adds(struct session_fixture *s, const char *path, const char *size, const char *from)
{
    return TEXT("SELECT {'path': %s, 'partitionValues': MAP(['n'], [(i %% 10)::VARCHAR]), 'size': "
                "(%s)::BIGINT, 'modificationTime': 1::BIGINT, 'dataChange': false}, NULL, NULL FROM %s",
                path, size, from);
}

static const char *state_of(struct session_fixture *s, bool v2)
{
    return v2 ? TEXT(STATE_ROWS, 3, 7, ", 'readerFeatures': ['v2Checkpoint'], 'writerFeatures': ['v2Checkpoint']")
              : TEXT(STATE_ROWS, 1, 2, "");
}

/* f0, f1, … and once more f7 of another size, f8 in another spelling, f9 three times. */
static const char *doubled(struct session_fixture *s)
{
    return TEXT("%s UNION ALL %s UNION ALL %s UNION ALL %s UNION ALL %s",
                adds(s, "'f' || i", "5", TEXT("range(%d) r(i)", BASE_FILES)), adds(s, "'f7'", "6", "(SELECT 7 AS i)"),
                adds(s, "'%66%38'", "5", "(SELECT 8 AS i)"), adds(s, "'f9'", "5", "(SELECT 9 AS i)"),
                adds(s, "'f9'", "5", "(SELECT 9 AS i)"));
}

static void put_base(struct session_fixture *s, bool v2)
{
    hand_parquet(
        s, "t/_delta_log/00000000000000000001.checkpoint.parquet",
        TEXT("SELECT a AS add, p AS protocol, m AS \"metaData\" FROM (%s UNION ALL %s)", state_of(s, v2), doubled(s)));
    hand_commit(s, "t", 1, hand_add(s, "x", "{\"n\":\"1\"}", NULL), NULL);
    hand_commit(s, "t", 2, hand_add(s, "new", "{\"n\":\"4\"}", NULL), NULL);
}

/* Every kind of checkpoint, and whether its table has the feature. */
static const struct {
    struct sl_checkpoint_options how;
    bool v2;
} kinds[] = {
    {{.kind = SL_CHECKPOINT_V1}, false},
    {{.kind = SL_CHECKPOINT_V1, .rows_per_part = 7}, false},
    {{.kind = SL_CHECKPOINT_V2}, true},
    {{.kind = SL_CHECKPOINT_V2, .files_per_sidecar = 7}, true},
    {{.kind = SL_CHECKPOINT_V2, .json_top = true}, true},
    {{.kind = SL_CHECKPOINT_V2, .json_top = true, .no_sidecars = true}, true},
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void each_kind_names_a_file_once(void **state)
{
    struct session_fixture *s = *state;
    for (size_t i = 0; i < N_KINDS; i++) {
        put_base(s, kinds[i].v2);
        const struct sl_checkpoint_result result = write_checkpoint(s, &kinds[i].how);
        assert_int_equal(result.n_adds, BASE_FILES + 1);
        assert_true(result.n_actions >= BASE_FILES + 3);
        hand_remove(s, "t/_delta_log/00000000000000000001.checkpoint.parquet");
        hand_remove(s, "t/_delta_log/00000000000000000001.json");
        expect_sound(s); /* the new one alone, with the hint's counts */
        hand_remove(s, "t");
    }
}

/* Which one stays is what silt's reader shows: the first. */
static void the_first_of_the_doubles_stays(void **state)
{
    struct session_fixture *s = *state;
    put_base(s, false);
    (void)write_checkpoint(s, NULL);
    session_expect_rows(
        s,
        TEXT("SELECT add.path, add.size FROM read_parquet('%s/t/_delta_log/00000000000000000002.checkpoint.parquet') "
             "WHERE add.path IN ('f7', 'f8', '%%66%%38', 'f9', 'new') ORDER BY 1",
             s->dir),
        "f7|5\nf8|5\nf9|5\nnew|1000\n");
}

/* A removed file is gone with its doubles; one that was added anew is the commit's. */
static void commits_decide_about_doubles(void **state)
{
    struct session_fixture *s = *state;
    struct world clock;
    world_begin(&clock, s, "unused", 1);
    put_base(s, false);
    hand_commit(
        s, "t", 3,
        TEXT("{\"remove\":{\"path\":\"f9\",\"deletionTimestamp\":%" PRId64 ",\"dataChange\":true}}", clock.now_ms),
        hand_add(s, "f7", "{\"n\":\"7\"}", NULL), NULL);
    const struct sl_checkpoint_result result = write_checkpoint(s, NULL);
    assert_int_equal(result.n_adds, BASE_FILES);
    session_expect_rows(s,
                        TEXT("SELECT count(*) FILTER (add.path = 'f9'), count(*) FILTER (add.path = 'f7') FROM "
                             "read_parquet('%s/t/_delta_log/00000000000000000003.checkpoint.parquet')",
                             s->dir),
                        "0|1\n");
}

/* Across the parts of one checkpoint. */
static void parts_share_a_file(void **state)
{
    static const char *const name = "t/_delta_log/00000000000000000001.checkpoint.%010d.%010d.parquet";
    struct session_fixture *s = *state;
    hand_parquet(s, TEXT(name, 1, 2),
                 TEXT("SELECT a AS add, p AS protocol, m AS \"metaData\" FROM (%s UNION ALL %s)", state_of(s, false),
                      adds(s, "'f' || i", "5", "range(30) r(i)")));
    hand_parquet(s, TEXT(name, 2, 2),
                 TEXT("SELECT a AS add FROM (%s) r(a, p, m)", adds(s, "'f' || i", "5", "range(29, 60) r(i)")));
    hand_commit(s, "t", 1, hand_add(s, "x", "{\"n\":\"1\"}", NULL), NULL);
    hand_commit(s, "t", 2, hand_add(s, "new", "{\"n\":\"4\"}", NULL), NULL);
    assert_int_equal(write_checkpoint(s, NULL).n_adds, 61);
}

/* Lines of a top file in JSON, and its sidecar. */
static void a_top_file_and_its_sidecar_share_a_file(void **state)
{
    struct session_fixture *s = *state;
    hand_parquet(s, "t/_delta_log/_sidecars/one.parquet",
                 TEXT("SELECT a AS add FROM (%s) r(a, p, m)", adds(s, "'f' || i", "5", "range(30) r(i)")));
    struct stat sidecar;
    assert_int_equal(stat(TEXT("%s/t/_delta_log/_sidecars/one.parquet", s->dir), &sidecar), 0);
    hand_put(s, "t/_delta_log/00000000000000000001.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json",
             TEXT("{\"checkpointMetadata\":{\"version\":1}}\n%s\n%s\n%s\n%s\n%s\n%s\n",
                  "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"v2Checkpoint\"],"
                  "\"writerFeatures\":[\"v2Checkpoint\"]}}",
                  hand_metadata(s, FIELDS, "\"n\"", ""), hand_add(s, "f3", "{\"n\":\"3\"}", NULL),
                  hand_add(s, "own", "{\"n\":\"3\"}", NULL), hand_add(s, "own", "{\"n\":\"3\"}", NULL),
                  TEXT("{\"sidecar\":{\"path\":\"one.parquet\",\"sizeInBytes\":%d,\"modificationTime\":1}}",
                       (int)sidecar.st_size)));
    hand_commit(s, "t", 1, hand_add(s, "x", "{\"n\":\"1\"}", NULL), NULL);
    hand_commit(s, "t", 2, hand_add(s, "new", "{\"n\":\"4\"}", NULL), NULL);
    assert_int_equal(write_checkpoint(s, NULL).n_adds, 32);
}

/* ---- tombstones ---- */

/* Tombstones g0, g1, … of a time, and once more g3 of a later one, g4 in another spelling, g5 three times; g6 came first as an expired one. */
static const char *tombstones(struct session_fixture *s, int64_t now_ms, bool twice)
{
    const char *row = "SELECT NULL, NULL, NULL, {'path': %s, 'deletionTimestamp': %" PRId64
                      "::BIGINT, 'dataChange': false} FROM %s";
    const char *once = TEXT("%s UNION ALL %s", TEXT(row, "'g6'", (int64_t)1000, "range(1)"),
                            TEXT(row, "'g' || i", now_ms, "range(20) r(i)"));
    return !twice ? once
                  : TEXT("%s UNION ALL %s UNION ALL %s UNION ALL %s", once, TEXT(row, "'g3'", now_ms + 1, "range(1)"),
                         TEXT(row, "'%67%34'", now_ms, "range(1)"), TEXT(row, "'g5'", now_ms, "range(2)"));
}

static void put_base_with_tombstones(struct session_fixture *s, bool v2, const char *files, const char *removes)
{
    hand_parquet(
        s, "t/_delta_log/00000000000000000001.checkpoint.parquet",
        TEXT("SELECT a AS add, p AS protocol, m AS \"metaData\", r AS remove FROM (SELECT *, NULL AS r FROM (%s "
             "UNION ALL %s) UNION ALL %s)",
             state_of(s, v2), files, removes));
    hand_commit(s, "t", 1, hand_add(s, "x", "{\"n\":\"1\"}", NULL), NULL);
    hand_commit(s, "t", 2, hand_add(s, "new", "{\"n\":\"4\"}", NULL), NULL);
}

static int64_t now_of(struct session_fixture *s)
{
    struct world clock;
    world_begin(&clock, s, "unused", 1);
    return clock.now_ms;
}

static void expect_hint(struct session_fixture *s, int64_t n_actions)
{
    const char *hint = hand_read(s, "t/_delta_log/_last_checkpoint");
    if (strstr(hint, TEXT("\"size\":%" PRId64 ",", n_actions)) == NULL) {
        fail_msg("not of %" PRId64 " actions: %s", n_actions, hint);
    }
}

/* Of every kind, beside files that are named once or twice. */
static void each_kind_names_a_tombstone_once(void **state)
{
    struct session_fixture *s = *state;
    const int64_t now_ms = now_of(s);
    const char *once = adds(s, "'f' || i", "5", TEXT("range(%d) r(i)", BASE_FILES));
    for (size_t i = 0; i < N_KINDS; i++) {
        int64_t n_actions[3] = {0};
        for (int how = 0; how < 3; how++) {
            put_base_with_tombstones(s, kinds[i].v2, how == 2 ? doubled(s) : once, tombstones(s, now_ms, how > 0));
            const struct sl_checkpoint_result result = write_checkpoint(s, &kinds[i].how);
            n_actions[how] = result.n_actions;
            assert_int_equal(result.n_adds, BASE_FILES + 1);
            expect_hint(s, result.n_actions);
            hand_remove(s, "t/_delta_log/00000000000000000001.checkpoint.parquet");
            hand_remove(s, "t/_delta_log/00000000000000000001.json");
            expect_sound(s);
            hand_remove(s, "t");
        }
        assert_true(n_actions[0] >= BASE_FILES + 1 + 20 + 2);
        assert_int_equal(n_actions[1], n_actions[0]);
        assert_int_equal(n_actions[2], n_actions[0]);
    }
}

/* The first that has not expired; what a commit says goes before. */
static void the_first_of_the_tombstones_stays(void **state)
{
    struct session_fixture *s = *state;
    const int64_t now_ms = now_of(s);
    put_base_with_tombstones(s, false, doubled(s), tombstones(s, now_ms, true));
    hand_commit(
        s, "t", 3,
        TEXT("{\"remove\":{\"path\":\"g5\",\"deletionTimestamp\":%" PRId64 ",\"dataChange\":true}}", now_ms + 7), NULL);
    (void)write_checkpoint(s, NULL);
    session_expect_rows(s,
                        TEXT("SELECT remove.path, remove.deletionTimestamp - %" PRId64 " FROM "
                             "read_parquet('%s/t/_delta_log/00000000000000000003.checkpoint.parquet') "
                             "WHERE remove.path IN ('g3', 'g4', '%%67%%34', 'g5', 'g6') ORDER BY 1",
                             now_ms, s->dir),
                        "g3|0\ng4|0\ng5|7\ng6|0\n");
}

/* The same path under other vectors is another file. */
static void tombstones_of_other_vectors_are_no_doubles(void **state)
{
    struct session_fixture *s = *state;
    const int64_t now_ms = now_of(s);
    const char *row = "SELECT NULL, NULL, NULL, {'path': 'g', 'deletionTimestamp': %" PRId64
                      "::BIGINT, 'dataChange': false, 'deletionVector': {'storageType': 'u', 'pathOrInlineDv': "
                      "'ab^-aqEH.-t@S}K{vb[*k^', 'offset': %s::INTEGER, 'sizeInBytes': 36::INTEGER, 'cardinality': "
                      "2::BIGINT}}";
    put_base_with_tombstones(
        s, false, adds(s, "'f' || i", "5", "range(3) r(i)"),
        TEXT("%s UNION ALL %s UNION ALL %s", TEXT(row, now_ms, "1"), TEXT(row, now_ms, "40"), TEXT(row, now_ms, "1")));
    (void)write_checkpoint(s, NULL);
    session_expect_rows(s,
                        TEXT("SELECT remove.deletionVector.offset FROM read_parquet('%s/t/_delta_log/"
                             "00000000000000000002.checkpoint.parquet') WHERE remove IS NOT NULL ORDER BY 1",
                             s->dir),
                        "1\n40\n");
}

/* Lines of a top file in JSON, and a sidecar. */
static void a_top_file_and_its_sidecar_share_a_tombstone(void **state)
{
    struct session_fixture *s = *state;
    const int64_t now_ms = now_of(s);
    hand_parquet(s, "t/_delta_log/_sidecars/one.parquet",
                 TEXT("SELECT a AS add, r AS remove FROM (SELECT *, NULL AS r FROM (%s) UNION ALL %s) q(a, p, m, r)",
                      adds(s, "'f' || i", "5", "range(30) r(i)"), tombstones(s, now_ms, false)));
    struct stat sidecar;
    assert_int_equal(stat(TEXT("%s/t/_delta_log/_sidecars/one.parquet", s->dir), &sidecar), 0);
    const char *line = TEXT("{\"remove\":{\"path\":\"g2\",\"deletionTimestamp\":%" PRId64 ",\"dataChange\":false}}",
                            now_ms);
    hand_put(s, "t/_delta_log/00000000000000000001.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json",
             TEXT("{\"checkpointMetadata\":{\"version\":1}}\n%s\n%s\n%s\n%s\n%s\n",
                  "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"v2Checkpoint\"],"
                  "\"writerFeatures\":[\"v2Checkpoint\"]}}",
                  hand_metadata(s, FIELDS, "\"n\"", ""), line, line,
                  TEXT("{\"sidecar\":{\"path\":\"one.parquet\",\"sizeInBytes\":%d,\"modificationTime\":1}}",
                       (int)sidecar.st_size)));
    hand_commit(s, "t", 1, hand_add(s, "x", "{\"n\":\"1\"}", NULL), NULL);
    hand_commit(s, "t", 2, hand_add(s, "new", "{\"n\":\"4\"}", NULL), NULL);
    assert_int_equal(write_checkpoint(s, NULL).n_actions, 2 + 31 + 20);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, session_set_up, session_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(each_kind_names_a_file_once),
        TEST(the_first_of_the_doubles_stays),
        TEST(commits_decide_about_doubles),
        TEST(parts_share_a_file),
        TEST(a_top_file_and_its_sidecar_share_a_file),
        TEST(each_kind_names_a_tombstone_once),
        TEST(the_first_of_the_tombstones_stays),
        TEST(tombstones_of_other_vectors_are_no_doubles),
        TEST(a_top_file_and_its_sidecar_share_a_tombstone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
