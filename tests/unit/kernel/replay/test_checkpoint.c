/*
 * Checkpoints of the V2 spec, opened as tables: top files in JSON and Parquet, classic names, sidecars, and what makes one bad.
 */
#include "log_fixture.h"

#include <stdio.h>
#include <string.h>

#define UUID "80a083e8-7026-4e79-81be-64bd76c43a11"
#define TOP_JSON "00000000000000000002.checkpoint." UUID ".json"
#define TOP_PARQUET "00000000000000000002.checkpoint." UUID ".parquet"
#define CLASSIC "00000000000000000002.checkpoint.parquet"

#define V2_PROTOCOL                                                                                       \
    "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"v2Checkpoint\"]," \
    "\"writerFeatures\":[\"v2Checkpoint\"]}}\n"
#define META LOG_METADATA "\n"
#define CHECKPOINT_METADATA "{\"checkpointMetadata\":{\"version\":2}}\n"
#define HEAD V2_PROTOCOL META CHECKPOINT_METADATA
#define SIDECAR(path, size) "{\"sidecar\":{\"path\":\"" path "\",\"sizeInBytes\":" size ",\"modificationTime\":1}}\n"
/* Files of sidecars, and their sizes. */
#define LEAF_A LOG_ADD("a") "\n"
#define LEAF_B LOG_ADD("b") "\n"
#define LEAF_SIZE "120"

static void put_sidecars(struct log_fixture *f)
{
    assert_int_equal(sizeof(LEAF_A) - 1, 120);
    log_put(f, "_sidecars/one.parquet", LEAF_A);
    log_put(f, "_sidecars/two%20words.parquet", LEAF_B); /* the name has a percent sign in it */
}

static void expect_files(struct log_fixture *f, const char *files)
{
    silt_snapshot *snapshot = log_open(f, -1);
    assert_string_equal(log_files(f, snapshot), files);
    int64_t n = 0;
    assert_int_equal(silt_snapshot_totals(snapshot, NULL, &n, NULL, &f->err), SILT_OK);
    silt_snapshot_unref(snapshot);
}

static void a_top_file_in_json_can_hold_its_files(void **state)
{
    struct log_fixture *f = *state;
    log_put(f, TOP_JSON, HEAD LOG_ADD("a") "\n" LOG_REMOVE("gone") "\n{\"txn\":{\"appId\":\"app\",\"version\":4}}\n");
    log_commit(f, 3, LOG_ADD("b"), LOG_REMOVE("a"), NULL);
    log_commit(f, 4, LOG_ADD("c"), NULL);
    expect_files(f, "b c");
    silt_snapshot *snapshot = log_open(f, -1);
    assert_int_equal(silt_snapshot_app_version(snapshot, "app"), 4);
    silt_snapshot_unref(snapshot);
    assert_int_equal(f->n_parquet_reads, 0); /* no data plane was needed */
}

static void sidecars_hold_the_files(void **state)
{
    struct log_fixture *f = *state;
    put_sidecars(f);
    log_put(f, TOP_JSON, HEAD SIDECAR("one.parquet", LEAF_SIZE) SIDECAR("two%2520words.parquet", LEAF_SIZE));
    expect_files(f, "a b");
    log_commit(f, 3, LOG_REMOVE("b"), LOG_ADD("c"), NULL);
    expect_files(f, "a c");
    log_remove(f, TOP_JSON);
    log_put(f, TOP_PARQUET, HEAD SIDECAR("one.parquet", LEAF_SIZE));
    expect_files(f, "a c");
    log_remove(f, TOP_PARQUET);
    log_put(f, CLASSIC, HEAD SIDECAR("one.parquet", LEAF_SIZE) SIDECAR("two%2520words.parquet", LEAF_SIZE));
    expect_files(f, "a c");
}

static void a_sidecar_can_have_an_absolute_path_in_its_folder(void **state)
{
    struct log_fixture *f = *state;
    put_sidecars(f);
    log_put(f, TOP_JSON, HEAD SIDECAR(LOG_ROOT "/_delta_log/_sidecars/one.parquet", LEAF_SIZE));
    expect_files(f, "a");
    log_put(f, TOP_JSON, HEAD SIDECAR("/t/_delta_log/_sidecars/one.parquet", LEAF_SIZE));
    expect_files(f, "a");
}

/* Bad ones: alone they make the table unreadable, with commits they cost a note. */
static void expect_bad(struct log_fixture *f, const char *name, const char *content, const char *in_message)
{
    log_put(f, name, content);
    log_expect_failure(f, -1, SILT_ECORRUPT, NULL, in_message);
    assert_int_equal(f->err.version, 2);
    log_remove(f, name);
}

static void paths_that_leave_the_folder_are_refused(void **state)
{
    struct log_fixture *f = *state;
    put_sidecars(f);
    assert_int_equal(silt_storage_put(f->store, NULL, LOG_ROOT "/evil.parquet", LEAF_A, 120, &f->err), SILT_OK);
    expect_bad(f, TOP_JSON, HEAD SIDECAR("../../evil.parquet", LEAF_SIZE), "..");
    expect_bad(f, TOP_JSON, HEAD SIDECAR("%2e%2e/%2e%2e/evil.parquet", LEAF_SIZE), "..");
    expect_bad(f, TOP_JSON, HEAD SIDECAR("/t/evil.parquet", LEAF_SIZE), "_sidecars");
    expect_bad(f, TOP_JSON, HEAD SIDECAR("file:/etc/passwd", LEAF_SIZE), "_sidecars");
    expect_bad(f, TOP_JSON, HEAD SIDECAR(LOG_ROOT "/_delta_log/_sidecars/../../evil.parquet", LEAF_SIZE), "_sidecars");
    expect_bad(f, TOP_JSON, HEAD SIDECAR(LOG_ROOT "/_delta_log/_sidecars", LEAF_SIZE), "_sidecars");
    expect_bad(f, TOP_JSON, HEAD SIDECAR(LOG_ROOT "/_delta_log/_sidecars2/one.parquet", LEAF_SIZE), "_sidecars");
    expect_bad(f, TOP_JSON, HEAD SIDECAR("", LEAF_SIZE), "");
}

static void sidecars_must_be_there_in_their_size_and_once(void **state)
{
    struct log_fixture *f = *state;
    put_sidecars(f);
    expect_bad(f, TOP_JSON, HEAD SIDECAR("one.parquet", "121"), "121 were expected");
    expect_bad(f, TOP_JSON, HEAD SIDECAR("one.parquet", "-1"), "sizeInBytes");
    expect_bad(f, TOP_JSON, HEAD SIDECAR("one.parquet", LEAF_SIZE) SIDECAR("one.parquet", LEAF_SIZE), "twice");
    log_put(f, TOP_JSON, HEAD SIDECAR("absent.parquet", LEAF_SIZE));
    log_expect_failure(f, -1, SILT_ENOTFOUND, "DELTA_LOG_FILE_NOT_FOUND", "absent.parquet does not exist");
}

static void the_rules_of_the_spec_are_checked(void **state)
{
    struct log_fixture *f = *state;
    put_sidecars(f);
    expect_bad(f, TOP_JSON, V2_PROTOCOL META, "no checkpointMetadata");
    expect_bad(f, TOP_JSON, V2_PROTOCOL META CHECKPOINT_METADATA CHECKPOINT_METADATA,
               "more than one checkpointMetadata");
    expect_bad(f, TOP_JSON, V2_PROTOCOL META "{\"checkpointMetadata\":{\"version\":3}}\n", "another version");
    expect_bad(f, TOP_JSON, META CHECKPOINT_METADATA, "no protocol");
    expect_bad(f, TOP_JSON, V2_PROTOCOL CHECKPOINT_METADATA, "no metaData");
    expect_bad(f, TOP_JSON, V2_PROTOCOL V2_PROTOCOL META CHECKPOINT_METADATA, "more than one protocol");
    expect_bad(f, TOP_JSON, LOG_PROTOCOL "\n" META CHECKPOINT_METADATA, "lacks the feature v2Checkpoint");
    expect_bad(f, CLASSIC, LOG_PROTOCOL "\n" META SIDECAR("one.parquet", LEAF_SIZE), "no checkpointMetadata");
    expect_bad(f, TOP_JSON, HEAD "{\"add\":{\"pa", "");
    expect_bad(f, TOP_JSON, "", "no protocol");
    expect_bad(f, TOP_JSON, HEAD "[7]\n", "line 4");
    log_put(f, "00000000000000000002.checkpoint.0000000001.0000000001.parquet", HEAD);
    log_expect_failure(f, -1, SILT_ECORRUPT, NULL, "in parts and follows the V2 spec");
}

static void unknown_actions_and_members_are_passed_over(void **state)
{
    struct log_fixture *f = *state;
    log_put(f, TOP_JSON,
            V2_PROTOCOL META "{\"checkpointMetadata\":{\"version\":2,\"tags\":{\"x\":\"y\"},\"later\":[1]}}\n"
                             "{\"fooBar\":{\"a\":1}}\n\n" LOG_ADD("a") "\n");
    expect_files(f, "a");
}

static void a_bad_one_is_gone_around_with_one_note(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, V2_PROTOCOL META, LOG_ADD("a"), NULL);
    log_commit(f, 1, LOG_ADD("b"), NULL);
    log_commit(f, 2, LOG_REMOVE("a"), NULL);
    log_put(f, TOP_JSON, HEAD SIDECAR("absent.parquet", LEAF_SIZE));
    f->test.n_logs = 0;
    expect_files(f, "b");
    assert_int_equal(f->test.n_logs, 1);
    assert_non_null(strstr(f->test.last_log, "absent.parquet"));
    /* Another kind of the same version is as good. */
    log_put(f, CLASSIC, HEAD LOG_ADD("b") "\n");
    log_remove(f, "00000000000000000000.json");
    f->test.n_logs = 0;
    expect_files(f, "b");
    assert_int_equal(f->test.n_logs, 1);
}

/* The rows about files are read late: what is wrong with them is found late, and gone around all the same. */
static void a_sidecar_that_proves_bad_late_is_gone_around(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, V2_PROTOCOL META, LOG_ADD("a"), NULL);
    log_commit(f, 1, LOG_ADD("b"), NULL);
    log_commit(f, 2, LOG_REMOVE("a"), NULL);
    log_put(f, "_sidecars/torn.parquet", "{\"add\":{\"path\":");
    log_put(f, TOP_JSON, HEAD SIDECAR("torn.parquet", "15"));
    f->test.n_logs = 0;
    silt_snapshot *snapshot = log_open(f, -1);
    assert_int_equal(f->test.n_logs, 0);
    assert_string_equal(log_files(f, snapshot), "b");
    assert_int_equal(f->test.n_logs, 1);
    assert_string_equal(log_files(f, snapshot), "b");
    assert_int_equal(f->test.n_logs, 1); /* said once */
    silt_snapshot_unref(snapshot);
    log_remove(f, "00000000000000000000.json");
    snapshot = log_open(f, -1);
    int64_t n = 0;
    assert_int_equal(silt_snapshot_totals(snapshot, NULL, &n, NULL, &f->err), SILT_ECORRUPT);
    assert_non_null(strstr(f->err.message, "checkpoint of version 2"));
    silt_snapshot_unref(snapshot);
}

static void without_a_checkpoint_the_log_must_begin_with_the_table(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_ADD("a"), NULL); /* of another life of the folder */
    log_commit(f, 1, V2_PROTOCOL META, NULL);
    log_commit(f, 2, LOG_ADD("b"), NULL);
    log_put(f, TOP_JSON, "no checkpoint");
    log_expect_failure(f, -1, SILT_ECORRUPT, NULL, "checkpoint of version 2");
}

static void every_failed_allocation_is_reported(void **state)
{
    struct log_fixture *f = *state;
    put_sidecars(f);
    log_put(f, TOP_JSON, HEAD LOG_ADD("c") "\n" SIDECAR("one.parquet", LEAF_SIZE));
    log_commit(f, 3, LOG_ADD("d"), NULL);
    for (size_t n = 1;; n++) {
        silt_snapshot *snapshot = NULL;
        test_env_fail_at(&f->test, n);
        silt_status status = silt_table_latest_snapshot(f->table, NULL, &snapshot, &f->err);
        int64_t files = 0;
        if (status == SILT_OK) {
            status = silt_snapshot_totals(snapshot, NULL, &files, NULL, &f->err);
        }
        silt_snapshot_unref(snapshot);
        if (status == SILT_OK) {
            assert_int_equal(files, 3);
            break;
        }
        assert_int_equal(status, SILT_ENOMEM);
    }
    test_env_fail_at(&f->test, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(a_top_file_in_json_can_hold_its_files),
        LOG_TEST(sidecars_hold_the_files),
        LOG_TEST(a_sidecar_can_have_an_absolute_path_in_its_folder),
        LOG_TEST(paths_that_leave_the_folder_are_refused),
        LOG_TEST(sidecars_must_be_there_in_their_size_and_once),
        LOG_TEST(the_rules_of_the_spec_are_checked),
        LOG_TEST(unknown_actions_and_members_are_passed_over),
        LOG_TEST(a_bad_one_is_gone_around_with_one_note),
        LOG_TEST(a_sidecar_that_proves_bad_late_is_gone_around),
        LOG_TEST(without_a_checkpoint_the_log_must_begin_with_the_table),
        LOG_TEST(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
