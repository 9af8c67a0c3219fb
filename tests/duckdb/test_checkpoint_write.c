/*
 * Writing checkpoints: of every kind, over tables with everything that a checkpoint carries, against the commits that they stand for. The
 * comparison is that of the check of a table, which reads each checkpoint and replays the log beside it.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "checkpoint_world.h"
#include "fsck_findings.h"
#include "kernel/checkpoint/checkpoint_write.h"

#define ROUNDS 6
#define COMMITS 12

static silt_table *table_of(struct session_fixture *s, const char *name)
{
    silt_table *table = NULL;
    assert_int_equal(silt_session_table(s->session, name, &table, &s->err), SILT_OK);
    return table;
}

static silt_status try_write(struct session_fixture *s, const char *name, const struct sl_checkpoint_options *options,
                             struct sl_checkpoint_result *result)
{
    silt_table *table = table_of(s, name);
    silt_snapshot *snapshot = NULL;
    s->err = (silt_error)SILT_ERROR_INIT;
    silt_status status = silt_table_latest_snapshot(table, NULL, &snapshot, &s->err);
    assert_int_equal(status, SILT_OK);
    status = sl_checkpoint_write_told(snapshot, NULL, options, result, &s->err);
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    return status;
}

static struct sl_checkpoint_result must_write(struct session_fixture *s, const char *name,
                                              const struct sl_checkpoint_options *options)
{
    struct sl_checkpoint_result result;
    if (try_write(s, name, options, &result) != SILT_OK) {
        fail_msg("%s", s->err.message);
    }
    return result;
}

/* Every checkpoint of the log says what the commits say; so does the hint. */
static void expect_sound(struct session_fixture *s, const char *name)
{
    const silt_fsck_options options = {.size = sizeof(options), .no_data = true};
    struct fsck_findings found = {0};
    silt_table *table = table_of(s, name);
    fsck_run(&found, table, &options);
    if (found.status != SILT_OK || strstr(sl_buf_cstr(&found.lines), "checkpoint") != NULL ||
        strstr(sl_buf_cstr(&found.lines), "fault") != NULL) {
        fail_msg("%s\n%s%s", found.err.message, sl_buf_cstr(&found.lines), sl_buf_cstr(&found.messages));
    }
    fsck_release(&found);
    silt_table_unref(table);
}

/* Files of the log whose names have this in them. */
static size_t count_files(struct session_fixture *s, const char *folder, const char *part)
{
    size_t n = 0;
    DIR *dir = opendir(sl_arena_printf(&s->arena, "%s/%s", s->dir, folder));
    for (struct dirent *entry = dir != NULL ? readdir(dir) : NULL; entry != NULL; entry = readdir(dir)) {
        n += strstr(entry->d_name, part) != NULL ? 1 : 0;
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return n;
}

/* "%D/t/_delta_log/<version>.checkpoint.parquet" */
static const char *classic(struct session_fixture *s, const char *name, int64_t version)
{
    return sl_arena_printf(&s->arena, "%s/%s/_delta_log/%020" PRId64 ".checkpoint.parquet", s->dir, name, version);
}

static void remove_commits(struct session_fixture *s, const char *name, int64_t before)
{
    for (int64_t version = 0; version < before; version++) {
        hand_remove(s, sl_arena_printf(&s->arena, "%s/_delta_log/%020" PRId64 ".json", name, version));
    }
}

static const struct sl_checkpoint_options kinds[] = {
    {.kind = SL_CHECKPOINT_BY_TABLE},
    {.kind = SL_CHECKPOINT_V1},
    {.kind = SL_CHECKPOINT_V2},
    {.kind = SL_CHECKPOINT_V2, .json_top = true},
    {.kind = SL_CHECKPOINT_V2, .files_per_sidecar = 17},
    {.kind = SL_CHECKPOINT_V2, .json_top = true, .no_sidecars = true},
};

/* ---- random logs ---- */

static struct sl_checkpoint_options choose(struct world *w)
{
    if (w->v2) {
        return kinds[world_random(w, sizeof(kinds) / sizeof(kinds[0]))];
    }
    if (world_random(w, 3) == 0) {
        return (struct sl_checkpoint_options){.kind = SL_CHECKPOINT_V1,
                                              .rows_per_part = 5 + (int64_t)world_random(w, 9)};
    }
    return kinds[world_random(w, 2)];
}

static void random_logs_and_their_checkpoints_agree(void **state)
{
    struct session_fixture *s = *state;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct world w;
        world_begin(&w, s, sl_arena_printf(&s->arena, "t%d", (int)round), round * 7919 + 1);
        for (int commit = 0; commit < COMMITS; commit++) {
            world_commit(&w);
            if (world_random(&w, 3) == 0) {
                const struct sl_checkpoint_options options = choose(&w);
                (void)must_write(s, w.table, &options);
            }
        }
        const struct sl_checkpoint_options last = choose(&w);
        (void)must_write(s, w.table, &last);
        expect_sound(s, w.table);
    }
}

static void tables_open_from_the_checkpoint_alone(void **state)
{
    struct session_fixture *s = *state;
    for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
        struct world w;
        const char *name = sl_arena_printf(&s->arena, "alone%zu", kind);
        world_begin(&w, s, name, 11);
        w.v2 = true;
        while (w.version < 9) {
            world_commit(&w);
        }
        silt_table *table = table_of(s, name);
        silt_snapshot *before = NULL;
        silt_snapshot *after = NULL;
        int64_t n[2] = {0};
        int64_t bytes[2] = {0};
        assert_int_equal(silt_table_latest_snapshot(table, NULL, &before, &s->err), SILT_OK);
        assert_int_equal(silt_snapshot_totals(before, NULL, &n[0], &bytes[0], &s->err), SILT_OK);
        const struct sl_checkpoint_result result = must_write(s, name, &kinds[kind]);
        assert_true(result.written);
        assert_int_equal(result.n_adds, n[0]);
        remove_commits(s, name, 9);
        assert_int_equal(silt_table_latest_snapshot(table, NULL, &after, &s->err), SILT_OK);
        assert_int_equal(silt_snapshot_totals(after, NULL, &n[1], &bytes[1], &s->err), SILT_OK);
        assert_int_equal(n[1], n[0]);
        assert_int_equal(bytes[1], bytes[0]);
        silt_snapshot_unref(after);
        silt_snapshot_unref(before);
        silt_table_unref(table);
    }
}

/* ---- content ---- */

static const char *remove_at(struct session_fixture *s, const char *path, int64_t ms)
{
    return sl_arena_printf(
        &s->arena, "{\"remove\":{\"path\":\"%s\",\"deletionTimestamp\":%" PRId64 ",\"dataChange\":true}}", path, ms);
}

static void what_has_expired_is_left_out(void **state)
{
    struct session_fixture *s = *state;
    struct world clock;
    world_begin(&clock, s, "unused", 1);
    const int64_t now = clock.now_ms;
    hand_commit(s, "t", 0, HAND_PROTOCOL,
                hand_metadata(s, HAND_FIELD("v", "long"), "",
                              "\"delta.deletedFileRetentionDuration\":\"interval 2 hours\","
                              "\"delta.setTransactionRetentionDuration\":\"interval 2 hours\""),
                NULL);
    hand_commit(s, "t", 1, hand_add(s, "a", "{}", NULL), hand_add(s, "b", "{}", NULL), hand_add(s, "c", "{}", NULL),
                "{\"txn\":{\"appId\":\"undated\",\"version\":1}}",
                sl_arena_printf(&s->arena, "{\"txn\":{\"appId\":\"old\",\"version\":1,\"lastUpdated\":%" PRId64 "}}",
                                now - 3 * 3600000),
                sl_arena_printf(&s->arena, "{\"txn\":{\"appId\":\"new\",\"version\":1,\"lastUpdated\":%" PRId64 "}}",
                                now - 3600000),
                NULL);
    hand_commit(s, "t", 2, remove_at(s, "a", now - 3 * 3600000), remove_at(s, "b", now - 3600000),
                "{\"remove\":{\"path\":\"never\",\"dataChange\":true}}",
                "{\"commitInfo\":{\"operation\":\"DELETE\",\"operationParameters\":{}}}", NULL);
    (void)must_write(s, "t", NULL);
    const char *file = classic(s, "t", 2);
    session_expect_rows(
        s,
        session_format(s, "SELECT remove.path, remove.dataChange FROM read_parquet('%s') WHERE remove IS NOT NULL",
                       file),
        "b|false\n");
    session_expect_rows(s, session_format(s, "SELECT txn.appId FROM read_parquet('%s') WHERE txn IS NOT NULL", file),
                        "new\n");
    session_expect_rows(
        s, session_format(s, "SELECT add.path, add.dataChange FROM read_parquet('%s') WHERE add IS NOT NULL", file),
        "c|false\n");
    /* The next one takes over what is left. */
    hand_commit(s, "t", 3, hand_add(s, "d", "{}", NULL), NULL);
    (void)must_write(s, "t", NULL);
    session_expect_rows(
        s, session_format(s, "SELECT remove.path FROM read_parquet('%s') WHERE remove IS NOT NULL", classic(s, "t", 3)),
        "b\n");
    expect_sound(s, "t");
}

/* Neither the tombstone of the older checkpoint nor its other version of a file outlives a commit of adds alone. */
static void what_is_added_again_is_there_once(void **state)
{
    struct session_fixture *s = *state;
    struct world clock;
    world_begin(&clock, s, "unused", 1);
    hand_create(s, "t", HAND_FIELD("v", "long"), "");
    hand_commit(s, "t", 1, hand_add(s, "a", "{}", NULL), hand_add(s, "b", "{}", NULL), hand_add(s, "c", "{}", NULL),
                NULL);
    hand_commit(s, "t", 2, remove_at(s, "a", clock.now_ms), remove_at(s, "c", clock.now_ms), NULL);
    (void)must_write(s, "t", NULL);
    hand_commit(s, "t", 3, hand_add(s, "a", "{}", NULL), hand_add(s, "b", "{}", NULL), NULL);
    assert_int_equal(must_write(s, "t", NULL).n_adds, 2);
    session_expect_rows(s,
                        session_format(s,
                                       "SELECT coalesce(add.path, '-' || remove.path) AS p FROM read_parquet('%s') "
                                       "WHERE add IS NOT NULL OR remove IS NOT NULL ORDER BY p",
                                       classic(s, "t", 3)),
                        "-c\na\nb\n");
    expect_sound(s, "t");
}

/* Paths of a checkpoint in its order. */
static void expect_order(struct session_fixture *s, int64_t version, const char *paths)
{
    session_expect_rows(
        s,
        session_format(s,
                       "SELECT string_agg(add.path, ' ' ORDER BY file_row_number) FROM read_parquet('%s') "
                       "WHERE add IS NOT NULL",
                       classic(s, "t", version)),
        paths);
}

static void files_stand_in_the_order_of_partitions(void **state)
{
    struct session_fixture *s = *state;
    hand_create(s, "t", HAND_FIELD("v", "long") "," HAND_FIELD("n", "integer"), "\"n\"");
    hand_commit(s, "t", 1, hand_add(s, "c", "{\"n\":\"10\"}", NULL), hand_add(s, "a", "{\"n\":\"9\"}", NULL),
                hand_add(s, "none", "{\"n\":null}", NULL), hand_add(s, "minus", "{\"n\":\"-3\"}", NULL), NULL);
    (void)must_write(s, "t", NULL);
    expect_order(s, 1, "none minus a c\n");
    hand_commit(s, "t", 2, hand_add(s, "z", "{\"n\":\"11\"}", NULL), hand_add(s, "b", "{\"n\":\"9\"}", NULL),
                hand_add(s, "zero", "{\"n\":\"0\"}", NULL), remove_at(s, "c", 1000), NULL);
    (void)must_write(s, "t", NULL);
    expect_order(s, 2, "none minus zero a b z\n");
    expect_sound(s, "t");
}

static void an_older_checkpoint_out_of_order_is_sorted(void **state)
{
    struct session_fixture *s = *state;
    hand_create(s, "t", HAND_FIELD("v", "long") "," HAND_FIELD("n", "integer"), "\"n\"");
    hand_parquet(
        s, "t/_delta_log/00000000000000000001.checkpoint.parquet",
        sl_arena_printf(
            &s->arena,
            "SELECT a AS add, p AS protocol, m AS \"metaData\" FROM ("
            "SELECT NULL AS a, {'minReaderVersion': 1, 'minWriterVersion': 2} AS p, NULL AS m UNION ALL "
            "SELECT NULL, NULL, {'id': 'x', 'format': {'provider': 'parquet', 'options': MAP([]::VARCHAR[], []::VARCHAR[])}, "
            "'schemaString': '{\"type\":\"struct\",\"fields\":[" HAND_FIELD("v", "long") "," HAND_FIELD(
                "n",
                "integer") "]}', "
                           "'partitionColumns': ['n'], 'configuration': MAP([]::VARCHAR[], []::VARCHAR[])} UNION ALL "
                           "SELECT {'path': 'f' || i, 'partitionValues': MAP(['n'], [(i * 7 %% 10)::VARCHAR]), 'size': 5::BIGINT, "
                           "'modificationTime': 1::BIGINT, 'dataChange': false}, NULL, NULL FROM range(40000) r(i))"));
    hand_commit(s, "t", 1, hand_add(s, "x", "{\"n\":\"1\"}", NULL), NULL);
    hand_commit(s, "t", 2, hand_add(s, "new", "{\"n\":\"4\"}", NULL), remove_at(s, "f0", 1000), NULL);
    (void)must_write(s, "t", NULL);
    session_expect_rows(
        s,
        session_format(
            s,
            "SELECT count(*), count(*) FILTER (n < before), count(*) FILTER (path = 'new'), count(*) FILTER (typed <> n) FROM ("
            "SELECT n, typed, path, lag(n) OVER (ORDER BY file_row_number) AS before FROM (SELECT "
            "add.partitionValues['n']::INT AS n, add.path AS path, add.partitionValues_parsed.n AS typed, file_row_number FROM "
            "read_parquet('%s') WHERE add IS NOT NULL))",
            classic(s, "t", 2)),
        "40000|0|1|0\n");
}

static void statistics_come_in_the_forms_that_the_table_asks_for(void **state)
{
    static const char stats[] =
        "{\"numRecords\":3,\"minValues\":{\"v\":1},\"maxValues\":{\"v\":9},\"nullCount\":{\"v\":0}}";
    struct session_fixture *s = *state;
    const char *only_struct = "\"delta.checkpoint.writeStatsAsJson\":\"false\"";
    const char *only_json = "\"delta.checkpoint.writeStatsAsStruct\":\"false\"";
    hand_commit(s, "t", 0, HAND_PROTOCOL, hand_metadata(s, HAND_FIELD("v", "long"), "", only_struct), NULL);
    hand_commit(s, "t", 1, hand_add(s, "a", "{}", stats), hand_add(s, "b", "{}", NULL), NULL);
    (void)must_write(s, "t", NULL);
    session_expect_rows(
        s,
        session_format(
            s,
            "SELECT add.path, add.stats_parsed.numRecords, add.stats_parsed.maxValues.v, add.stats_parsed IS NULL "
            "FROM read_parquet('%s') WHERE add IS NOT NULL",
            classic(s, "t", 1)),
        "a|3|9|false\nb|NULL|NULL|true\n");
    /* Text is made of what there is only as columns, and columns of text. */
    hand_commit(s, "t", 2, hand_metadata(s, HAND_FIELD("v", "long"), "", only_json), hand_add(s, "c", "{}", stats),
                NULL);
    (void)must_write(s, "t", NULL);
    session_expect_rows(
        s,
        session_format(
            s,
            "SELECT add.path, json_extract_string(add.stats, '$.maxValues.v') FROM read_parquet('%s') WHERE add IS NOT NULL",
            classic(s, "t", 2)),
        "a|9\nb|NULL\nc|9\n");
    hand_commit(s, "t", 3, hand_metadata(s, HAND_FIELD("v", "long"), "", ""), hand_add(s, "d", "{}", stats), NULL);
    (void)must_write(s, "t", NULL);
    session_expect_rows(
        s,
        session_format(
            s,
            "SELECT add.path, add.stats_parsed.minValues.v, add.stats IS NULL FROM read_parquet('%s') WHERE add IS NOT NULL",
            classic(s, "t", 3)),
        "a|1|false\nb|NULL|true\nc|1|false\nd|1|false\n");
    expect_sound(s, "t");
}

static void bounds_of_a_column_that_was_a_float_stay_text(void **state)
{
    struct session_fixture *s = *state;
    hand_commit(
        s, "t", 0,
        "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"typeWidening\"],"
        "\"writerFeatures\":[\"typeWidening\"]}}",
        hand_metadata(s,
                      "{\"name\":\"v\",\"type\":\"double\",\"nullable\":true,\"metadata\":{\"delta.typeChanges\":"
                      "[{\"toType\":\"double\",\"fromType\":\"float\",\"tableVersion\":1}]}}",
                      "", ""),
        hand_add(s, "a", "{}", "{\"numRecords\":3,\"minValues\":{\"v\":0.1},\"maxValues\":{\"v\":0.1}}"), NULL);
    (void)must_write(s, "t", NULL);
    session_expect_rows(
        s,
        session_format(s,
                       "SELECT add.stats_parsed.numRecords, add.stats_parsed.maxValues.v, add.stats LIKE '%%0.1%%' "
                       "FROM read_parquet('%s') WHERE add IS NOT NULL",
                       classic(s, "t", 0)),
        "3|NULL|true\n");
}

static void an_empty_table_has_a_checkpoint(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (v BIGINT) TBLPROPERTIES ('delta.feature.v2Checkpoint' = 'supported')");
    for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
        assert_int_equal(must_write(s, "t", &kinds[kind]).n_adds <= 0, true);
    }
    expect_sound(s, "t");
    session_expect_done(s, "INSERT INTO t VALUES (1)");
    session_expect_rows(s, "SELECT * FROM t", "1\n");
    assert_int_equal(count_files(s, "t/_delta_log/_sidecars", ".parquet"), 0);
}

/* Delta Spark fails on a top file without it. */
static void a_top_file_has_the_columns_of_files(void **state)
{
    struct session_fixture *s = *state;
    session_expect_done(s, "CREATE TABLE t (v BIGINT) TBLPROPERTIES ('delta.feature.v2Checkpoint' = 'supported')");
    session_expect_done(s, "INSERT INTO t VALUES (1)");
    (void)must_write(s, "t", &kinds[2]);
    session_expect_rows(
        s,
        session_with_dir(
            s,
            "SELECT string_agg(name, ' ' ORDER BY name) FROM parquet_schema('%D/t/_delta_log/*.checkpoint.*.parquet') "
            "WHERE name IN ('add', 'remove', 'stats_parsed', 'sidecar')"),
        "add remove sidecar stats_parsed\n");
}

/* ---- what is there already ---- */

static void a_checkpoint_that_is_there_is_left_alone(void **state)
{
    struct session_fixture *s = *state;
    hand_create(s, "t", HAND_FIELD("v", "long"), "");
    assert_true(must_write(s, "t", NULL).written);
    hand_remove(s, "t/_delta_log/_last_checkpoint");
    assert_false(must_write(s, "t", NULL).written);
    hand_put(s, "t/_delta_log/00000000000000000000.checkpoint.parquet", "");
    assert_true(must_write(s, "t", NULL).written);
    expect_sound(s, "t");
}

static void an_older_version_leaves_the_hint_alone(void **state)
{
    struct session_fixture *s = *state;
    const silt_checkpoint_options older = {.size = sizeof(older), .kind = SILT_CHECKPOINT_BY_TABLE, .version = 0};
    silt_checkpoint_result result = {.size = sizeof(result)};
    hand_create(s, "t", HAND_FIELD("v", "long"), "");
    hand_commit(s, "t", 1, hand_add(s, "a", "{}", NULL), NULL);
    (void)must_write(s, "t", NULL);
    const char *hint = hand_read(s, "t/_delta_log/_last_checkpoint");
    silt_table *table = table_of(s, "t");
    assert_int_equal(silt_table_checkpoint(table, NULL, &older, &result, &s->err), SILT_OK);
    assert_int_equal(result.version, 0);
    assert_int_equal(result.num_files, 0);
    assert_true(result.written);
    silt_table_unref(table);
    assert_string_equal(hand_read(s, "t/_delta_log/_last_checkpoint"), hint);
    expect_sound(s, "t");
}

/* One that is good for nothing does not stay, whatever version it names. */
static void a_broken_hint_is_replaced(void **state)
{
    static const char *const broken[] = {"{\"version\":9,\"checksum\":\"0\"}", "{\"version\":9",
                                         "{\"version\":0,\"checksum\":7}", "{\"version\":\"9\"}"};
    struct session_fixture *s = *state;
    hand_create(s, "t", HAND_FIELD("v", "long"), "");
    for (int i = 0; i < (int)(sizeof(broken) / sizeof(broken[0])); i++) {
        hand_commit(s, "t", i + 1, hand_add(s, sl_arena_printf(&s->arena, "a%d", i), "{}", NULL), NULL);
        hand_put(s, "t/_delta_log/_last_checkpoint", broken[i]);
        (void)must_write(s, "t", NULL);
        assert_non_null(strstr(hand_read(s, "t/_delta_log/_last_checkpoint"),
                               sl_arena_printf(&s->arena, "{\"version\":%d,", i + 1)));
    }
    expect_sound(s, "t");
}

static void a_torn_older_checkpoint_is_gone_around(void **state)
{
    struct session_fixture *s = *state;
    hand_create(s, "t", HAND_FIELD("v", "long"), "");
    hand_commit(s, "t", 1, hand_add(s, "a", "{}", NULL), NULL);
    hand_put(s, "t/_delta_log/00000000000000000001.checkpoint.parquet", "PAR1 torn");
    hand_commit(s, "t", 2, hand_add(s, "b", "{}", NULL), NULL);
    const struct sl_checkpoint_result result = must_write(s, "t", NULL);
    assert_true(result.written);
    assert_int_equal(result.n_adds, 2);
}

static void parts_of_an_earlier_attempt_are_completed(void **state)
{
    struct session_fixture *s = *state;
    const struct sl_checkpoint_options parts = {.kind = SL_CHECKPOINT_V1, .rows_per_part = 2};
    struct world w;
    world_begin(&w, s, "t", 3);
    w.v2 = false;
    while (w.n_files < 12) {
        world_commit(&w);
    }
    assert_true(must_write(s, "t", &parts).n_files > 2);
    hand_remove(s, sl_arena_printf(&s->arena, "t/_delta_log/%020" PRId64 ".checkpoint.%010d.%010d.parquet", w.version,
                                   1, (int)count_files(s, "t/_delta_log", ".checkpoint.")));
    const struct sl_checkpoint_result again = must_write(s, "t", &parts);
    assert_int_equal(again.n_files, 1);
    expect_sound(s, "t");
}

/* As a writer leaves them that dies where writing is not atomic. */
static void parts_without_bytes_are_written_anew(void **state)
{
    struct session_fixture *s = *state;
    const struct sl_checkpoint_options parts = {.kind = SL_CHECKPOINT_V1, .rows_per_part = 2};
    struct world clock;
    world_begin(&clock, s, "unused", 1);
    hand_create(s, "t", HAND_FIELD("v", "long"), "");
    for (int i = 1; i <= 4; i++) {
        hand_commit(s, "t", i, hand_add(s, sl_arena_printf(&s->arena, "a%d", i), "{}", NULL),
                    remove_at(s, sl_arena_printf(&s->arena, "r%d", i), clock.now_ms), NULL);
    }
    for (int part = 1; part <= 2; part++) {
        hand_put(s, sl_arena_printf(&s->arena, "t/_delta_log/%020d.checkpoint.%010d.%010d.parquet", 4, part, 2), "");
    }
    const struct sl_checkpoint_result result = must_write(s, "t", &parts);
    assert_true(result.written);
    assert_int_equal(result.n_files, 2);
    assert_int_equal(result.n_adds, 4);
    session_expect_rows(s,
                        session_format(s,
                                       "SELECT count(add.path), count(remove.path), count(protocol.minReaderVersion) "
                                       "FROM read_parquet('%s/t/_delta_log/*.checkpoint.*.parquet')",
                                       s->dir),
                        "4|4|1\n");
    remove_commits(s, "t", 4);
    expect_sound(s, "t");
}

/* Readers on delta-kernel-rs take any of several, and refuse the table when the hint is of another. */
static void no_v1_checkpoint_is_put_beside_another(void **state)
{
    struct session_fixture *s = *state;
    const struct sl_checkpoint_options twos = {.kind = SL_CHECKPOINT_V1, .rows_per_part = 2};
    const struct sl_checkpoint_options ones = {.kind = SL_CHECKPOINT_V1, .rows_per_part = 1};
    hand_create(s, "t", HAND_FIELD("v", "long"), "");
    for (int i = 1; i <= 4; i++) {
        hand_commit(s, "t", i, hand_add(s, sl_arena_printf(&s->arena, "a%d", i), "{}", NULL), NULL);
    }
    assert_int_equal(must_write(s, "t", &twos).n_files, 2);
    assert_false(must_write(s, "t", NULL).written);
    assert_false(must_write(s, "t", &ones).written);
    assert_int_equal(count_files(s, "t/_delta_log", ".checkpoint."), 2);
    hand_commit(s, "t", 5, hand_add(s, "a5", "{}", NULL), NULL);
    assert_true(must_write(s, "t", NULL).written);
    assert_false(must_write(s, "t", &twos).written);
    assert_int_equal(count_files(s, "t/_delta_log", ".checkpoint."), 3);
    expect_sound(s, "t");
}

/* Whoever asks for a checkpoint gets one that can be read. */
static void a_torn_checkpoint_in_parts_gets_one_beside_it(void **state)
{
    struct session_fixture *s = *state;
    const struct sl_checkpoint_options parts = {.kind = SL_CHECKPOINT_V1, .rows_per_part = 2};
    hand_create(s, "t", HAND_FIELD("v", "long"), "");
    for (int i = 1; i <= 4; i++) {
        hand_commit(s, "t", i, hand_add(s, sl_arena_printf(&s->arena, "a%d", i), "{}", NULL), NULL);
    }
    for (int part = 1; part <= 2; part++) {
        assert_int_equal(must_write(s, "t", &parts).n_files, part == 1 ? 2 : 1);
        hand_put(s, sl_arena_printf(&s->arena, "t/_delta_log/%020d.checkpoint.%010d.%010d.parquet", 4, part, 2),
                 "PAR1 torn");
        assert_true(must_write(s, "t", NULL).written);
        hand_remove(s, "t/_delta_log/00000000000000000004.checkpoint.parquet");
        hand_remove(s, sl_arena_printf(&s->arena, "t/_delta_log/%020d.checkpoint.%010d.%010d.parquet", 4, part, 2));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, session_set_up, session_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(random_logs_and_their_checkpoints_agree),
        TEST(tables_open_from_the_checkpoint_alone),
        TEST(what_has_expired_is_left_out),
        TEST(what_is_added_again_is_there_once),
        TEST(files_stand_in_the_order_of_partitions),
        TEST(an_older_checkpoint_out_of_order_is_sorted),
        TEST(statistics_come_in_the_forms_that_the_table_asks_for),
        TEST(bounds_of_a_column_that_was_a_float_stay_text),
        TEST(an_empty_table_has_a_checkpoint),
        TEST(a_top_file_has_the_columns_of_files),
        TEST(a_checkpoint_that_is_there_is_left_alone),
        TEST(an_older_version_leaves_the_hint_alone),
        TEST(a_broken_hint_is_replaced),
        TEST(a_torn_older_checkpoint_is_gone_around),
        TEST(parts_of_an_earlier_attempt_are_completed),
        TEST(parts_without_bytes_are_written_anew),
        TEST(no_v1_checkpoint_is_put_beside_another),
        TEST(a_torn_checkpoint_in_parts_gets_one_beside_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
