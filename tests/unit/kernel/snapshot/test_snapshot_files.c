/*
 * The file list: statistics, tombstones, early ends, what is read how often.
 */
#include "log_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct seen {
    size_t n;
    size_t n_stats;
    size_t stop_after; /* 0: never */
    silt_status fail_with;
    char first[32];
};

static silt_status see_add(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    struct seen *seen = ctx;
    if (seen->n == 0) {
        (void)snprintf(seen->first, sizeof(seen->first), "%.*s", SL_FMT(add->path));
    }
    seen->n++;
    seen->n_stats += add->stats.ptr != NULL ? 1 : 0;
    *stop = seen->n == seen->stop_after;
    if (seen->fail_with != SILT_OK) {
        err->status = seen->fail_with;
        (void)snprintf(err->message, sizeof(err->message), "the visitor's own words");
    }
    return seen->fail_with;
}

static silt_status see_remove(void *ctx, const struct sl_remove *gone, bool *stop, silt_error *err)
{
    (void)err;
    struct seen *seen = ctx;
    (void)snprintf(seen->first, sizeof(seen->first), "%.*s", SL_FMT(gone->path));
    seen->n++;
    *stop = seen->n == seen->stop_after;
    return SILT_OK;
}

static void write_log(struct log_fixture *f)
{
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), LOG_ADD("b"), NULL);
    log_checkpoint(f, 1, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), LOG_ADD("b"), LOG_ADD("c"), LOG_REMOVE("x"),
                   LOG_REMOVE("y"), NULL);
    log_commit(f, 1, LOG_ADD("c"), NULL);
    log_commit(f, 2, LOG_REMOVE("a"), LOG_ADD("x"), LOG_ADD("d"), NULL);
}

static void statistics_come_only_when_wanted(void **state)
{
    struct log_fixture *f = *state;
    write_log(f);
    silt_snapshot *snapshot = log_open(f, -1);
    struct seen seen = {.n = 0};
    assert_int_equal(sl_snapshot_each_file(snapshot, NULL, 0, see_add, &seen, &f->err), SILT_OK);
    assert_int_equal(seen.n, 4);
    assert_int_equal(seen.n_stats, 0);
    assert_string_equal(seen.first, "x");
    seen = (struct seen){.n = 0};
    assert_int_equal(sl_snapshot_each_file(snapshot, NULL, SL_FILES_STATS, see_add, &seen, &f->err), SILT_OK);
    assert_int_equal(seen.n, 4);
    assert_int_equal(seen.n_stats, 4);
    assert_string_equal(seen.first, "x");
    const size_t reads = f->n_parquet_reads;
    seen = (struct seen){.n = 0};
    assert_int_equal(sl_snapshot_each_file(snapshot, NULL, SL_FILES_ALL, see_add, &seen, &f->err), SILT_OK);
    assert_int_equal(seen.n_stats, 4);
    assert_int_equal(f->n_parquet_reads, reads); /* kept */
    silt_snapshot_unref(snapshot);
}

static void tombstones_are_what_is_not_added_again(void **state)
{
    struct log_fixture *f = *state;
    write_log(f);
    silt_snapshot *snapshot = log_open(f, -1);
    struct seen seen = {.n = 0};
    assert_int_equal(sl_snapshot_each_tombstone(snapshot, NULL, see_remove, &seen, &f->err), SILT_OK);
    assert_int_equal(seen.n, 2); /* a and y; x is back */
    assert_string_equal(seen.first, "y");
    seen = (struct seen){.stop_after = 1};
    assert_int_equal(sl_snapshot_each_tombstone(snapshot, NULL, see_remove, &seen, &f->err), SILT_OK);
    assert_int_equal(seen.n, 1);
    assert_string_equal(seen.first, "a");
    silt_snapshot_unref(snapshot);
}

static void a_visitor_can_stop_and_fail(void **state)
{
    struct log_fixture *f = *state;
    write_log(f);
    silt_snapshot *snapshot = log_open(f, -1);
    struct seen seen = {.stop_after = 2};
    assert_int_equal(sl_snapshot_each_file(snapshot, NULL, 0, see_add, &seen, &f->err), SILT_OK);
    assert_int_equal(seen.n, 2);
    seen = (struct seen){.fail_with = SILT_ECORRUPT};
    assert_int_equal(sl_snapshot_each_file(snapshot, NULL, 0, see_add, &seen, &f->err), SILT_ECORRUPT);
    assert_string_equal(f->err.message, "the visitor's own words");
    silt_snapshot_unref(snapshot);
}

static void statistics_beyond_the_limit_are_read_again(void **state)
{
    struct log_fixture *f = *state;
    enum {
        N_FILES = 5,
        STATS_SIZE = 15 * 1024 * 1024
    };
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, NULL);
    char *line = malloc(STATS_SIZE + 512);
    for (int i = 0; i < N_FILES; i++) {
        char name[64];
        const int head = snprintf(line, 512,
                                  "{\"add\":{\"path\":\"f%d\",\"partitionValues\":{},\"size\":1,\"modificationTime\":1,"
                                  "\"dataChange\":true,\"stats\":\"",
                                  i);
        memset(line + head, 'x', STATS_SIZE);
        (void)snprintf(line + head + STATS_SIZE, 8, "\"}}");
        (void)snprintf(name, sizeof(name), "%020d.json", i + 1);
        log_put(f, name, line);
    }
    free(line);
    silt_snapshot *snapshot = log_open(f, -1);
    const size_t reads = f->n_reads;
    struct seen seen = {.n = 0};
    assert_int_equal(sl_snapshot_each_file(snapshot, NULL, 0, see_add, &seen, &f->err), SILT_OK);
    assert_int_equal(seen.n, N_FILES);
    assert_int_equal(f->n_reads, reads);
    seen = (struct seen){.n = 0};
    assert_int_equal(sl_snapshot_each_file(snapshot, NULL, SL_FILES_STATS, see_add, &seen, &f->err), SILT_OK);
    assert_int_equal(seen.n_stats, N_FILES);
    assert_true(f->n_reads > reads);
    seen = (struct seen){.stop_after = 1};
    assert_int_equal(sl_snapshot_each_file(snapshot, NULL, SL_FILES_STATS, see_add, &seen, &f->err), SILT_OK);
    assert_int_equal(seen.n, 1);
    seen = (struct seen){.fail_with = SILT_EIO};
    assert_int_equal(sl_snapshot_each_file(snapshot, NULL, SL_FILES_STATS, see_add, &seen, &f->err), SILT_EIO);
    assert_string_equal(f->err.message, "the visitor's own words");
    silt_snapshot_unref(snapshot);
}

/* ---- what only some checkpoints hold ---- */

struct seen_file {
    char stats[128];
    bool has_vector;
};

static silt_status keep_file(void *ctx, const struct sl_add *add, bool *stop, silt_error *err)
{
    (void)stop;
    (void)err;
    struct seen_file *seen = ctx;
    (void)snprintf(seen->stats, sizeof(seen->stats), "%.*s", SL_FMT(add->stats));
    seen->has_vector = add->deletion_vector != NULL && add->deletion_vector->cardinality == 2;
    return SILT_OK;
}

static void typed_statistics_stand_for_text_that_is_not_there(void **state)
{
    struct log_fixture *f = *state;
    log_checkpoint(
        f, 1, LOG_PROTOCOL, LOG_METADATA,
        "{\"add\":{\"path\":\"a\",\"partitionValues\":{},\"size\":1,\"modificationTime\":1,\"dataChange\":false,"
        "\"stats_parsed\":{\"numRecords\":3,\"minValues\":{\"id\":5},\"nullCount\":{\"id\":1}}}}",
        NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    struct seen_file seen = {.has_vector = false};
    assert_int_equal(sl_snapshot_each_file(snapshot, NULL, SL_FILES_ALL, keep_file, &seen, &f->err), SILT_OK);
    assert_string_equal(seen.stats, "{\"numRecords\":3,\"minValues\":{\"id\":5},\"nullCount\":{\"id\":1}}");
    assert_int_equal(sl_snapshot_each_file(snapshot, NULL, 0, keep_file, &seen, &f->err), SILT_OK);
    silt_snapshot_unref(snapshot);
}

static void a_vector_that_the_protocol_does_not_announce_is_read(void **state)
{
    struct log_fixture *f = *state;
    log_checkpoint(
        f, 1, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("b"),
        "{\"add\":{\"path\":\"a\",\"partitionValues\":{},\"size\":1,\"modificationTime\":1,\"dataChange\":false,"
        "\"deletionVector\":{\"storageType\":\"u\",\"pathOrInlineDv\":\"x\",\"sizeInBytes\":4,"
        "\"cardinality\":2}}}",
        NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    struct seen_file seen = {.has_vector = false};
    assert_string_equal(log_files(f, snapshot), "a b");
    assert_int_equal(sl_snapshot_each_file(snapshot, NULL, 0, keep_file, &seen, &f->err), SILT_OK);
    assert_true(seen.has_vector); /* of the last file */
    silt_snapshot_unref(snapshot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(statistics_come_only_when_wanted),
        LOG_TEST(tombstones_are_what_is_not_added_again),
        LOG_TEST(a_visitor_can_stop_and_fail),
        LOG_TEST(statistics_beyond_the_limit_are_read_again),
        LOG_TEST(typed_statistics_stand_for_text_that_is_not_there),
        LOG_TEST(a_vector_that_the_protocol_does_not_announce_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
