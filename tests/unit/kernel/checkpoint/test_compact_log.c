/*
 * Log compaction files: a snapshot read through one is the one that the commits make, whatever range it stands for.
 */
#include "log_fixture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "silt/log_maintenance.h"

#define PROTOCOL                                                                                           \
    "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"domainMetadata\"," \
    "\"appendOnly\"]}}"
#define DOMAIN(name, value, removed) \
    "{\"domainMetadata\":{\"domain\":\"" name "\",\"configuration\":\"" value "\",\"removed\":" removed "}}"
#define TXN(version) "{\"txn\":{\"appId\":\"app\",\"version\":" version "}}"

static silt_compact_log_result compact(struct log_fixture *f, int64_t from, int64_t to)
{
    silt_compact_log_result result = {.size = sizeof(result)};
    const silt_status status = silt_table_compact_log(f->table, NULL, from, to, &result, &f->err);
    if (status != SILT_OK) {
        print_error("[%s] %s\n", f->err.code_name, f->err.message);
    }
    assert_int_equal(status, SILT_OK);
    return result;
}

static void expect_refused(struct log_fixture *f, int64_t from, int64_t to, silt_status status, const char *in_message)
{
    assert_int_equal(silt_table_compact_log(f->table, NULL, from, to, NULL, &f->err), status);
    if (strstr(f->err.message, in_message) == NULL) {
        print_error("%s\n", f->err.message);
    }
    assert_non_null(strstr(f->err.message, in_message));
}

static char *read_log(struct log_fixture *f, const char *name)
{
    char path[256];
    void *data = NULL;
    size_t len = 0;
    (void)snprintf(path, sizeof(path), LOG_ROOT "/_delta_log/%s", name);
    assert_int_equal(silt_storage_read(f->store, NULL, path, &data, &len, &f->err), SILT_OK);
    char *text = calloc(1, len + 1);
    memcpy(text, data, len);
    silt_storage_free(f->store, data, len);
    return text;
}

static void make_table(struct log_fixture *f)
{
    log_commit(f, 0, PROTOCOL, LOG_METADATA, LOG_ADD("f0"), NULL);
    log_commit(f, 1, "{\"commitInfo\":{\"operation\":\"WRITE\"}}", LOG_ADD("f1"), TXN("1"), DOMAIN("d", "1", "false"),
               NULL);
    log_commit(f, 2, LOG_REMOVE("f0"), LOG_ADD("f2"), TXN("2"), NULL);
    log_commit(f, 3, LOG_REMOVE("f2"), DOMAIN("d", "", "true"),
               "{\"cdc\":{\"path\":\"c\",\"partitionValues\":{},\"size\":1,\"dataChange\":false}}", NULL);
    log_commit(f, 4, LOG_ADD("f4"), NULL);
}

static void the_newest_action_of_each_file_is_kept(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    const silt_compact_log_result result = compact(f, 1, 3);
    assert_true(result.written);
    assert_int_equal(result.actions, 5);
    char *text = read_log(f, "00000000000000000001.00000000000000000003.compacted.json");
    assert_int_equal(result.size_bytes, strlen(text));
    assert_null(strstr(text, "commitInfo"));
    assert_null(strstr(text, "cdc"));
    assert_null(strstr(text, "metaData"));
    assert_non_null(strstr(text, "{\"txn\":{\"appId\":\"app\",\"version\":2}}\n"));
    assert_non_null(strstr(text, "{\"domainMetadata\":{\"domain\":\"d\",\"configuration\":\"\",\"removed\":true}}\n"));
    assert_non_null(strstr(text, "{\"remove\":{\"path\":\"f0\",\"deletionTimestamp\":5,\"dataChange\":true}}\n"));
    assert_non_null(strstr(text, "{\"remove\":{\"path\":\"f2\""));
    assert_null(strstr(text, "{\"add\":{\"path\":\"f2\""));
    assert_non_null(strstr(text, "{\"add\":{\"path\":\"f1\""));
    free(text);
}

static void readers_take_it_for_the_commits(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    silt_snapshot *before = log_open(f, 4);
    assert_string_equal(log_files(f, before), "f1 f4");
    silt_snapshot_unref(before);
    (void)compact(f, 1, 3);
    f->n_reads = 0;
    silt_snapshot *snapshot = log_open(f, 4);
    assert_int_equal(f->n_reads, 4); /* the hint, which is not there, 0, 1 to 3, and 4 */
    assert_string_equal(log_files(f, snapshot), "f1 f4");
    assert_int_equal(silt_snapshot_app_version(snapshot, "app"), 2);
    silt_snapshot_unref(snapshot);
    assert_int_equal(f->test.n_logs, 0);
}

static void one_that_is_there_stays(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    assert_true(compact(f, 1, 3).written);
    assert_false(compact(f, 1, 3).written);
    assert_true(compact(f, 1, 4).written);
}

static void the_usual_range_begins_after_the_checkpoint(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    silt_compact_log_result result = compact(f, -1, 2);
    assert_int_equal(result.from_version, 0);
    assert_int_equal(result.to_version, 2);
    log_checkpoint(f, 2, PROTOCOL, LOG_METADATA, LOG_ADD("f1"), LOG_ADD("f2"), NULL);
    result = compact(f, -1, -1);
    assert_int_equal(result.from_version, 3);
    assert_int_equal(result.to_version, 4);
    log_checkpoint(f, 4, PROTOCOL, LOG_METADATA, LOG_ADD("f1"), LOG_ADD("f4"), NULL);
    result = compact(f, -1, -1);
    assert_false(result.written);
    assert_int_equal(result.to_version, -1);
}

static void bad_ranges_are_refused(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    expect_refused(f, 2, 2, SILT_EINVALID, "no range of two versions");
    expect_refused(f, 4, 1, SILT_EINVALID, "no range of two versions");
    expect_refused(f, -2, 1, SILT_EINVALID, "versions of 0 or more");
    expect_refused(f, 3, 9, SILT_ENOTFOUND, "version 9 is not available");
    log_checkpoint(f, 2, PROTOCOL, LOG_METADATA, LOG_ADD("f1"), LOG_ADD("f2"), NULL);
    log_remove(f, "00000000000000000001.json");
    expect_refused(f, 0, 4, SILT_ENOTFOUND, "no commit of version 1");
}

static void what_silt_does_not_know_is_not_lost(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    log_commit(f, 5, "{\"future\":{\"x\":1}}", NULL);
    log_commit(f, 6, LOG_ADD("f6"), NULL);
    expect_refused(f, 4, 6, SILT_EUNSUPPORTED, "action that silt does not know");
    assert_true(compact(f, 1, 4).written);
}

/* ---- random logs ---- */

struct random_log {
    struct log_fixture *f;
    uint64_t seed;
    bool live[8];
};

static unsigned pick(struct random_log *r, unsigned below)
{
    r->seed = r->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(r->seed >> 33U) % below;
}

/* Files f0..f7 come and go, at most once in a commit. */
static void put_random_commit(struct random_log *r, int64_t version)
{
    struct sl_buf lines;
    sl_buf_init(&lines, &r->f->test.env);
    sl_buf_put_c(&lines, version == 0 ? LOG_PROTOCOL "\n" LOG_METADATA "\n" : "{\"commitInfo\":{}}\n");
    for (unsigned i = 0; i < 8; i++) {
        if (pick(r, 3) != 0) {
            continue;
        }
        if (r->live[i]) {
            sl_buf_printf(&lines, "{\"remove\":{\"path\":\"f%u\",\"deletionTimestamp\":%d,\"dataChange\":true}}\n", i,
                          (int)version);
        } else {
            sl_buf_printf(&lines,
                          "{\"add\":{\"path\":\"f%u\",\"partitionValues\":{},\"size\":%d,\"modificationTime\":1,"
                          "\"dataChange\":true}}\n",
                          i, (int)version);
        }
        r->live[i] = !r->live[i];
    }
    if (pick(r, 3) == 0) {
        sl_buf_printf(&lines, "{\"txn\":{\"appId\":\"a%u\",\"version\":%d}}\n", pick(r, 3), (int)version);
    }
    char name[64];
    (void)snprintf(name, sizeof(name), "%020" PRId64 ".json", version);
    log_put(r->f, name, sl_buf_cstr(&lines));
    sl_buf_release(&lines);
}

/* What a version is, file by file: size of a live one, time of a tombstone; then the applications. */
struct description {
    int64_t sizes[8], deletions[8], versions[3];
};

static silt_status describe_file(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    (void)stop;
    (void)err;
    ((struct description *)ctx)->sizes[add->path.ptr[1] - '0'] = add->size + 1;
    return SILT_OK;
}

static silt_status describe_tombstone(void *ctx, const struct sl_remove *remove, bool *stop, silt_error *err)
{
    (void)stop;
    (void)err;
    ((struct description *)ctx)->deletions[remove->path.ptr[1] - '0'] = remove->deletion_timestamp;
    return SILT_OK;
}

static struct description describe(struct log_fixture *f, int64_t version)
{
    struct description out = {.sizes = {0}};
    silt_snapshot *snapshot = log_open(f, version);
    assert_int_equal(sl_snapshot_each_file(snapshot, NULL, 0, describe_file, &out, &f->err), SILT_OK);
    assert_int_equal(sl_snapshot_each_tombstone(snapshot, NULL, describe_tombstone, &out, &f->err), SILT_OK);
    for (int i = 0; i < 3; i++) {
        const char name[] = {'a', (char)('0' + i), '\0'};
        out.versions[i] = silt_snapshot_app_version(snapshot, name);
    }
    silt_snapshot_unref(snapshot);
    return out;
}

static void random_ranges_change_nothing(void **state)
{
    enum {
        VERSIONS = 12
    };
    struct log_fixture *f = *state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct random_log r = {.f = f, .seed = seed};
        struct description before[VERSIONS];
        for (int64_t v = 0; v < VERSIONS; v++) {
            put_random_commit(&r, v);
        }
        for (int64_t v = 0; v < VERSIONS; v++) {
            before[v] = describe(f, v);
        }
        for (int n = 0; n < 4; n++) {
            const int64_t from = pick(&r, VERSIONS - 1);
            (void)compact(f, from, from + 1 + pick(&r, (unsigned)(VERSIONS - 1 - from)));
        }
        for (int64_t v = 0; v < VERSIONS; v++) {
            const struct description after = describe(f, v);
            assert_memory_equal(&before[v], &after, sizeof(after));
        }
        assert_int_equal(f->test.n_logs, 0);
        assert_int_equal(silt_storage_remove_tree(f->store, NULL, LOG_ROOT, &f->err), SILT_OK);
    }
}

static void every_failed_allocation_is_reported(void **state)
{
    struct log_fixture *f = *state;
    make_table(f);
    for (size_t n = 1;; n++) {
        test_env_fail_at(&f->test, n);
        const silt_status status = silt_table_compact_log(f->table, NULL, 1, 3, NULL, &f->err);
        if (status == SILT_OK) {
            break;
        }
        assert_int_equal(status, SILT_ENOMEM);
    }
    test_env_fail_at(&f->test, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(the_newest_action_of_each_file_is_kept),
        LOG_TEST(readers_take_it_for_the_commits),
        LOG_TEST(one_that_is_there_stays),
        LOG_TEST(the_usual_range_begins_after_the_checkpoint),
        LOG_TEST(bad_ranges_are_refused),
        LOG_TEST(what_silt_does_not_know_is_not_lost),
        LOG_TEST(random_ranges_change_nothing),
        LOG_TEST(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
