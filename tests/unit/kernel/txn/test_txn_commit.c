/* Commits of whole transactions: isolation levels, overlapping overwrites, lack of memory. */
#include "kernel/txn/txn_int.h"

#include "txn_fixture.h"

static void overlapping_appends_both_commit(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *a = txn_begin(f);
    silt_txn *b = txn_begin(f);
    assert_int_equal(txn_add(f, a, "a", NULL), SILT_OK);
    assert_int_equal(txn_add(f, b, "b", NULL), SILT_OK);
    assert_int_equal(txn_end(f, a), SILT_OK);
    assert_int_equal(txn_end(f, b), SILT_OK);
    assert_int_equal(f->result.version, 2);
    assert_int_equal(f->result.attempts, 2);
    assert_non_null(strstr(txn_log(f, 2), "\"readVersion\":0")); /* what it read, not what it followed */
    assert_int_equal(txn_count_files(f), 2);
}

static void second_of_two_overwrites_conflicts(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    txn_append(f, "old", NULL);
    silt_txn *a = txn_begin(f);
    silt_txn *b = txn_begin(f);
    assert_int_equal(silt_txn_remove_all(a, NULL, &f->err), SILT_OK);
    assert_int_equal(silt_txn_remove_all(b, NULL, &f->err), SILT_OK);
    assert_int_equal(txn_add(f, a, "a", NULL), SILT_OK);
    assert_int_equal(txn_add(f, b, "b", NULL), SILT_OK);
    assert_int_equal(txn_end(f, a), SILT_OK);
    assert_int_equal(txn_end(f, b), SILT_ECONFLICT);
    assert_int_equal(f->result.outcome, SILT_COMMIT_CONFLICT);
    assert_int_equal(f->result.conflict, SILT_CONFLICT_CONCURRENT_APPEND);
    assert_int_equal(f->result.files_added, 0);
    assert_int_equal(txn_count_files(f), 1);
}

static void two_removals_of_one_file_conflict(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    txn_append(f, "old", NULL);
    silt_txn *a = txn_begin(f);
    silt_txn *b = txn_begin(f);
    assert_int_equal(silt_txn_remove_file(a, NULL, TXN_ROOT "/old", true, &f->err), SILT_OK);
    assert_int_equal(silt_txn_remove_file(b, NULL, TXN_ROOT "/old", true, &f->err), SILT_OK);
    assert_int_equal(txn_end(f, a), SILT_OK);
    assert_int_equal(txn_end(f, b), SILT_ECONFLICT);
    assert_int_equal(f->result.conflict, SILT_CONFLICT_CONCURRENT_DELETE_DELETE);
}

static silt_status overwrite_against_append(struct txn_fixture *f)
{
    silt_txn *txn = txn_begin(f);
    assert_int_equal(silt_txn_remove_all(txn, NULL, &f->err), SILT_OK);
    assert_int_equal(txn_add(f, txn, "new", NULL), SILT_OK);
    txn_append(f, "late", NULL);
    return txn_end(f, txn);
}

static void overwrite_passes_a_blind_append_by_default(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    txn_append(f, "old", NULL);
    assert_int_equal(overwrite_against_append(f), SILT_OK);
    assert_int_equal(txn_count_files(f), 2); /* as if the append came after it */
}

static void overwrite_conflicts_with_an_append_when_serializable(void **state)
{
    struct txn_fixture *f = *state;
    const silt_property property = {"delta.isolationLevel", "Serializable"};
    txn_create(f, TXN_SCHEMA, NULL, &property);
    txn_append(f, "old", NULL);
    assert_non_null(strstr(txn_log(f, 1), "\"isolationLevel\":\"Serializable\""));
    assert_int_equal(overwrite_against_append(f), SILT_ECONFLICT);
    assert_int_equal(f->result.conflict, SILT_CONFLICT_CONCURRENT_APPEND);
}

static void rearrangement_has_snapshot_isolation(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    txn_append(f, "old", NULL);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(silt_txn_remove_file(txn, NULL, TXN_ROOT "/old", false, &f->err), SILT_OK);
    const silt_add_file file = {
        .size = sizeof(file), .path = "new", .size_bytes = 1, .modified_ms = 1, .checks_held = true};
    assert_int_equal(silt_txn_add_file(txn, &file, &f->err), SILT_OK);
    txn_append(f, "late", NULL);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_non_null(strstr(txn_log(f, 3), "\"isolationLevel\":\"SnapshotIsolation\""));
    assert_int_equal(txn_count_files(f), 2);
}

static void change_of_properties_stands_against_every_other(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *append = txn_begin(f);
    silt_txn *alter = txn_begin(f);
    assert_int_equal(txn_add(f, append, "a", NULL), SILT_OK);
    assert_int_equal(silt_txn_set_property(alter, "mine", "1", &f->err), SILT_OK);
    assert_int_equal(txn_end(f, alter), SILT_OK);
    assert_int_equal(txn_end(f, append), SILT_ECONFLICT);
    assert_int_equal(f->result.conflict, SILT_CONFLICT_METADATA_CHANGED);
}

static void commit_without_actions_is_a_version_of_its_own(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    assert_int_equal(txn_end(f, txn_begin(f)), SILT_OK);
    assert_int_equal(f->result.version, 1);
    assert_non_null(strstr(txn_log(f, 1), "\"operationMetrics\":{}"));
}

/* Creates, appends, overwrites; stops at the first failure, whose status it returns. */
static silt_status whole_job(struct txn_fixture *f)
{
    silt_txn *txn = NULL;
    const silt_property property = {"delta.checkpointInterval", "20"};
    silt_status status = SILT_OK;
    silt_schema *schema = NULL;
    const char *const partition = "p";
    status = silt_schema_from_json(&f->test.env, TXN_SCHEMA, strlen(TXN_SCHEMA), &schema, &f->err);
    const silt_create_options options = {.size = sizeof(options),
                                         .schema = schema,
                                         .partition_columns = &partition,
                                         .n_partition_columns = 1,
                                         .properties = &property,
                                         .n_properties = 1};
    if (status == SILT_OK) {
        status = silt_txn_begin_create(f->table, NULL, &options, "CREATE TABLE", &txn, &f->err);
    }
    silt_schema_unref(schema);
    if (status == SILT_OK) {
        status = silt_txn_commit(txn, NULL, NULL, &f->err);
        silt_txn_free(txn);
    }
    for (int round = 0; round < 2 && status == SILT_OK; round++) {
        status = silt_txn_begin(f->table, NULL, "WRITE", &txn, &f->err);
        if (status != SILT_OK) {
            break;
        }
        if (round == 1) {
            status = silt_txn_remove_all(txn, NULL, &f->err);
        }
        if (status == SILT_OK) {
            status = txn_add(f, txn, round == 0 ? "a" : "b", "v");
        }
        if (status == SILT_OK) {
            status = silt_txn_set_app_id(txn, "job", round, &f->err);
        }
        if (status == SILT_OK) {
            status = silt_txn_commit(txn, NULL, NULL, &f->err);
        }
        silt_txn_free(txn);
    }
    return status;
}

static void lack_of_memory_fails_cleanly_at_every_allocation(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        void *fixture = NULL;
        assert_int_equal(txn_setup(&fixture), 0);
        struct txn_fixture *f = fixture;
        test_env_fail_at(&f->test, n);
        const silt_status status = whole_job(f);
        const bool reached = f->test.n_requests >= n;
        test_env_fail_at(&f->test, 0);
        if (status != SILT_OK && status != SILT_ENOMEM) {
            fail_msg("request %zu: %s, %s", n, silt_status_name(status), f->err.message);
        }
        assert_int_equal(txn_teardown(&fixture), 0); /* fails on a leak */
        if (!reached) {
            return;
        }
        assert_true(n < 5000);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, txn_setup, txn_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(overlapping_appends_both_commit),
        TEST(second_of_two_overwrites_conflicts),
        TEST(two_removals_of_one_file_conflict),
        TEST(overwrite_passes_a_blind_append_by_default),
        TEST(overwrite_conflicts_with_an_append_when_serializable),
        TEST(rearrangement_has_snapshot_isolation),
        TEST(change_of_properties_stands_against_every_other),
        TEST(commit_without_actions_is_a_version_of_its_own),
        cmocka_unit_test(lack_of_memory_fails_cleanly_at_every_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
