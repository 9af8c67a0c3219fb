/*
 * Checkpoints in parts: the older checkpoint is read for many parts at once, within the memory that is allowed, and what is in a part does not
 * depend on how often it was read. The engine is the default one behind another that counts and disturbs its reads.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "hand_table.h"
#include "kernel/checkpoint/checkpoint_write.h"
#include "kernel/engine/engine.h"
#include "kernel/snapshot/state.h"
#include "silt/silt.h"

#define FIELDS HAND_FIELD("v", "long") "," HAND_FIELD("n", "integer")
/* A text that lives as long as the test; s is the fixture. */
#define TEXT(...) sl_arena_printf(&s->arena, __VA_ARGS__)

/* ---- the engine between ---- */

struct reads {
    silt_engine *inner;
    size_t n;   /* of checkpoints */
    size_t at;  /* the one that is disturbed, from 1; 0: none */
    bool fails; /* so; else the call is cancelled there */
    volatile int cancelled;
};

static silt_status count_read(void *impl, const silt_call *call, const silt_parquet_read *request,
                              struct ArrowArrayStream *out, silt_error *err)
{
    struct reads *reads = impl;
    (void)call; /* what is cancelled is for the kernel to see */
    const bool counts = request->n_files > 0 && strstr(request->files[0].path, ".checkpoint.") != NULL;
    reads->n += counts ? 1 : 0;
    if (counts && reads->n == reads->at) {
        if (reads->fails) {
            return sl_fail(err, SILT_EIO, NULL, "the disk fails");
        }
        reads->cancelled = 1;
    }
    return sl_parquet_read(reads->inner, NULL, request, out, err);
}

static silt_status pass_write(void *impl, const silt_call *call, const silt_parquet_write *request,
                              struct ArrowArrayStream *rows, silt_error *err)
{
    return sl_parquet_write(((struct reads *)impl)->inner, call, request, rows, err);
}

static silt_status pass_write_file(void *impl, const silt_call *call, silt_parquet_write_file *request,
                                   struct ArrowArrayStream *rows, silt_error *err)
{
    return sl_parquet_write_file(((struct reads *)impl)->inner, call, request, rows, err);
}

static void close_nothing(void *impl)
{
    (void)impl;
}

static silt_engine *engine_between(struct reads *reads)
{
    static const silt_parquet_handler_vtable handler = {.size = sizeof(handler),
                                                        .abi_version = SILT_ABI_VERSION,
                                                        .name = "counting",
                                                        .close = close_nothing,
                                                        .read = count_read,
                                                        .write = pass_write,
                                                        .write_file = pass_write_file};
    const silt_env *env = silt_env_default();
    silt_storage *local = NULL;
    silt_storage_registry *stores = NULL;
    silt_engine *engine = NULL;
    const silt_default_engine_options inner = {.size = sizeof(inner), .threads = 1};
    assert_int_equal(silt_engine_default_new(&inner, &reads->inner, NULL), SILT_OK);
    assert_int_equal(silt_storage_local_new(env, NULL, &local, NULL), SILT_OK);
    assert_int_equal(silt_storage_registry_new(env, &stores, NULL), SILT_OK);
    assert_int_equal(silt_storage_registry_add(stores, "file", local, NULL), SILT_OK);
    silt_storage_unref(local);
    const silt_engine_options options = {.size = sizeof(options),
                                         .abi_version = SILT_ABI_VERSION,
                                         .env = env,
                                         .stores = stores,
                                         .parquet = {.vtable = &handler, .impl = reads}};
    assert_int_equal(silt_engine_new(&options, &engine, NULL), SILT_OK);
    return engine;
}

static void engine_end(struct reads *reads, silt_engine *engine)
{
    silt_engine_unref(engine);
    silt_engine_unref(reads->inner);
}

/* ---- tables ---- */

/* A checkpoint of n files in the order of their numbers, which is none of paths or partitions, and two commits. */
static void put_table(struct session_fixture *s, int n, bool partitioned, bool v2)
{
    const char *values = partitioned ? "MAP(['n'], [(i * 7 % 10)::VARCHAR])" : "MAP([]::VARCHAR[], []::VARCHAR[])";
    const char *protocol = v2 ? "{'minReaderVersion': 3, 'minWriterVersion': 7, 'readerFeatures': ['v2Checkpoint'], "
                                "'writerFeatures': ['v2Checkpoint']}"
                              : "{'minReaderVersion': 1, 'minWriterVersion': 2}";
    const char *added = partitioned ? "{\"n\":\"4\"}" : "{}";
    const char *removed = "{\"remove\":{\"path\":\"f%d\",\"deletionTimestamp\":4102444800000,\"dataChange\":true}}";
    hand_parquet(
        s, "t/_delta_log/00000000000000000001.checkpoint.parquet",
        TEXT(
            "SELECT a AS add, p AS protocol, m AS \"metaData\" FROM (SELECT NULL AS a, %s AS p, NULL AS m UNION ALL "
            "SELECT NULL, NULL, {'id': 'x', 'format': {'provider': 'parquet', 'options': MAP([]::VARCHAR[], []::VARCHAR[])}, "
            "'schemaString': '{\"type\":\"struct\",\"fields\":[" FIELDS "]}', 'partitionColumns': %s, 'configuration': "
            "MAP([]::VARCHAR[], []::VARCHAR[])} UNION ALL SELECT {'path': 'f' || i, 'partitionValues': %s, 'size': "
            "(5 + i)::BIGINT, 'modificationTime': 1::BIGINT, 'dataChange': false, 'stats': '{\"numRecords\":' || i || '}'}, "
            "NULL, NULL FROM range(%d) r(i))",
            protocol, partitioned ? "['n']" : "[]::VARCHAR[]", values, n));
    hand_commit(s, "t", 1, hand_add(s, "x", added, NULL), NULL);
    hand_commit(s, "t", 2, hand_add(s, "new", added, NULL), hand_add(s, "f7", added, NULL), TEXT(removed, 0),
                TEXT(removed, 3), NULL);
}

static silt_status try_write(struct session_fixture *s, struct reads *reads, silt_engine *engine,
                             const struct sl_checkpoint_options *options, struct sl_checkpoint_result *result)
{
    const silt_call call = {.size = sizeof(call), .abi_version = SILT_ABI_VERSION, .cancel = &reads->cancelled};
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    s->err = (silt_error)SILT_ERROR_INIT;
    assert_int_equal(silt_table_for_path(engine, TEXT("%s/t", s->dir), &table, &s->err), SILT_OK);
    assert_int_equal(silt_table_latest_snapshot(table, NULL, &snapshot, &s->err), SILT_OK);
    reads->n = 0;
    reads->cancelled = 0;
    const silt_status status = sl_checkpoint_write_told(snapshot, &call, options, result, &s->err);
    assert_false(sl_snapshot_has_list(snapshot, false)); /* files were counted, and do not stay in memory */
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    return status;
}

static struct sl_checkpoint_result must_write(struct session_fixture *s, struct reads *reads, silt_engine *engine,
                                              const struct sl_checkpoint_options *options)
{
    struct sl_checkpoint_result result;
    if (try_write(s, reads, engine, options, &result) != SILT_OK) {
        fail_msg("%s", s->err.message);
    }
    return result;
}

static void keep_parts(struct session_fixture *s, const char *name, int64_t n)
{
    assert_int_equal(mkdir(TEXT("%s/%s", s->dir, name), 0777), 0);
    for (int64_t part = 1; part <= n; part++) {
        const char *file = TEXT("%020d.checkpoint.%010" PRId64 ".%010" PRId64 ".parquet", 2, part, n);
        if (rename(TEXT("%s/t/_delta_log/%s", s->dir, file), TEXT("%s/%s/%s", s->dir, name, file)) != 0) {
            fail_msg("no %s", file);
        }
    }
    hand_remove(s, "t/_delta_log/_last_checkpoint");
}

static size_t count_parts(struct session_fixture *s)
{
    size_t n = 0;
    DIR *dir = opendir(TEXT("%s/t/_delta_log", s->dir));
    assert_non_null(dir);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        n += strstr(entry->d_name, "2.checkpoint.0") != NULL ? 1 : 0;
    }
    closedir(dir);
    return n;
}

/* ---- tests ---- */

static void many_parts_take_no_more_reads_than_two(void **state)
{
    static const struct sl_checkpoint_options few = {.kind = SL_CHECKPOINT_V1, .rows_per_part = 10000};
    static const struct sl_checkpoint_options many = {.kind = SL_CHECKPOINT_V1, .rows_per_part = 400};
    struct session_fixture *s = *state;
    struct reads reads = {0};
    silt_engine *engine = engine_between(&reads);
    put_table(s, 19900, true, false);
    assert_int_equal(must_write(s, &reads, engine, &few).n_files, 2);
    const size_t n_few = reads.n;
    hand_remove(s, "t");
    put_table(s, 19900, true, false);
    assert_int_equal(must_write(s, &reads, engine, &many).n_files, 50);
    assert_true(n_few > 0);
    assert_int_equal(reads.n, n_few);
    engine_end(&reads, engine);
}

static void many_sidecars_take_no_more_reads_than_one(void **state)
{
    static const struct sl_checkpoint_options few = {.kind = SL_CHECKPOINT_V2};
    static const struct sl_checkpoint_options many = {.kind = SL_CHECKPOINT_V2, .files_per_sidecar = 400};
    struct session_fixture *s = *state;
    struct reads reads = {0};
    silt_engine *engine = engine_between(&reads);
    put_table(s, 19900, true, true);
    assert_int_equal(must_write(s, &reads, engine, &few).n_files, 2);
    const size_t n_few = reads.n;
    hand_remove(s, "t");
    put_table(s, 19900, true, true);
    assert_int_equal(must_write(s, &reads, engine, &many).n_files, 51);
    assert_int_equal(reads.n, n_few);
    engine_end(&reads, engine);
}

/* In one pass, in several, and once for each part. */
static void parts_are_the_same_however_often_the_older_checkpoint_is_read(void **state)
{
    static const int64_t held_bytes[] = {0, 2000000, 1};
    struct session_fixture *s = *state;
    struct reads reads = {0};
    silt_engine *engine = engine_between(&reads);
    for (int partitioned = 0; partitioned < 2; partitioned++) {
        size_t n_reads[3] = {0};
        put_table(s, 99991, partitioned != 0, false);
        for (int i = 0; i < 3; i++) {
            const struct sl_checkpoint_options how = {
                .kind = SL_CHECKPOINT_V1, .rows_per_part = 10000, .held_bytes = held_bytes[i]};
            const struct sl_checkpoint_result result = must_write(s, &reads, engine, &how);
            assert_int_equal(result.n_files, 10);
            assert_int_equal(result.n_adds, 99990);
            n_reads[i] = reads.n;
            keep_parts(s, TEXT("kept%d%d", partitioned, i), 10);
        }
        assert_true(n_reads[1] > n_reads[0] + 1 && n_reads[1] < n_reads[0] + 9);
        assert_int_equal(n_reads[2], n_reads[0] + 10); /* the first pass finds that nothing fits */
        for (int i = 1; i < 3; i++) {
            session_expect_rows(s,
                                TEXT("SELECT count(*), count(*) FILTER (a.content = b.content) FROM "
                                     "read_blob('%s/kept%d0/*') a JOIN read_blob('%s/kept%d%d/*') b ON "
                                     "parse_filename(a.filename) = parse_filename(b.filename)",
                                     s->dir, partitioned, s->dir, partitioned, i),
                                "10|10\n");
        }
        session_expect_rows(
            s,
            TEXT("SELECT count(*), count(DISTINCT add.path) FROM read_parquet('%s/kept%d0/*') WHERE add IS NOT NULL",
                 s->dir, partitioned),
            "99990|99990\n");
        hand_remove(s, "t");
    }
    engine_end(&reads, engine);
}

/* Whichever read it is: no hint, no half of a part, and what is there is taken by the next attempt. */
static void a_read_that_ends_early_leaves_no_hint(void **state)
{
    struct session_fixture *s = *state;
    struct reads reads = {0};
    silt_engine *engine = engine_between(&reads);
    const struct sl_checkpoint_options how = {.kind = SL_CHECKPOINT_V1, .rows_per_part = 2000, .held_bytes = 500000};
    size_t n_parts_left = 0;
    put_table(s, 19990, true, false);
    for (int fails = 0; fails < 2; fails++) {
        size_t n_reads = 1;
        reads.fails = fails != 0;
        size_t at = 1;
        for (; at <= n_reads; at++) {
            struct sl_checkpoint_result result;
            struct stat hint;
            reads.at = at;
            assert_int_equal(try_write(s, &reads, engine, &how, &result), fails != 0 ? SILT_EIO : SILT_ECANCELLED);
            assert_int_not_equal(stat(TEXT("%s/t/_delta_log/_last_checkpoint", s->dir), &hint), 0);
            const size_t n_left = count_parts(s);
            n_parts_left += n_left;
            reads.at = 0;
            result = must_write(s, &reads, engine, &how);
            assert_int_equal(result.n_files, 10 - (int64_t)n_left);
            n_reads = reads.n;
            keep_parts(s, TEXT("kept%d_%zu", fails, at), 10);
        }
        assert_true(at > 4);
    }
    assert_true(n_parts_left > 0);
    engine_end(&reads, engine);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, session_set_up, session_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(many_parts_take_no_more_reads_than_two),
        TEST(many_sidecars_take_no_more_reads_than_one),
        TEST(parts_are_the_same_however_often_the_older_checkpoint_is_read),
        TEST(a_read_that_ends_early_leaves_no_hint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
