/* A transaction's life: beginning, settings, application ids, ending. */
#include "kernel/txn/txn_int.h"

#include <stdio.h>

#include "kernel/txn/txn_write.h"
#include "txn_fixture.h"

static void transaction_can_be_ended_only_once(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(silt_txn_commit(txn, NULL, NULL, &f->err), SILT_OK);
    assert_int_equal(silt_txn_commit(txn, NULL, NULL, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_parameter(txn, "a", "b", &f->err), SILT_EINVALID);
    assert_int_equal(txn_add(f, txn, "a", NULL), SILT_EINVALID);
    silt_txn_free(txn);
    silt_txn_free(NULL);
}

static void missing_arguments_are_refused(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *txn = NULL;
    assert_int_equal(silt_txn_begin(NULL, NULL, "WRITE", &txn, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_begin(f->table, NULL, "", &txn, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_begin_at(f->table, NULL, "WRITE", &txn, &f->err), SILT_EINVALID);
    txn = txn_begin(f);
    assert_int_equal(silt_txn_set_parameter(txn, NULL, "x", &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_metric(txn, NULL, 1, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_app_id(txn, "", 1, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_app_id(txn, "a", -1, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_property(txn, NULL, "x", &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_add_file(txn, NULL, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_write(txn, NULL, NULL, &f->err), SILT_EINVALID);
    silt_txn_free(txn);
}

static void begin_without_a_table_says_so(void **state)
{
    struct txn_fixture *f = *state;
    silt_txn *txn = NULL;
    assert_int_equal(silt_txn_begin(f->table, NULL, "WRITE", &txn, &f->err), SILT_ENOTTABLE);
}

static void snapshot_of_another_table_is_refused(void **state)
{
    struct txn_fixture *f = *state;
    silt_table *other = NULL;
    silt_snapshot *snapshot = NULL;
    silt_txn *txn = NULL;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    assert_int_equal(silt_table_latest_snapshot(f->table, NULL, &snapshot, &f->err), SILT_OK);
    assert_int_equal(silt_table_for_path(f->mini.engine, "memory://store/other", &other, &f->err), SILT_OK);
    assert_int_equal(silt_txn_begin_at(other, snapshot, "WRITE", &txn, &f->err), SILT_EINVALID);
    silt_snapshot_unref(snapshot);
    silt_table_unref(other);
}

static void provenance_holds_what_the_caller_said(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(silt_txn_set_parameter(txn, "mode", "Append", &f->err), SILT_OK);
    assert_int_equal(silt_txn_set_parameter(txn, "partitionBy", "x", &f->err), SILT_OK);
    assert_int_equal(silt_txn_set_parameter(txn, "partitionBy", "[\"p\"]", &f->err), SILT_OK);
    assert_int_equal(silt_txn_set_metric(txn, "numFiles", 40, &f->err), SILT_OK);
    assert_int_equal(silt_txn_set_metric(txn, "own", 1, &f->err), SILT_OK);
    assert_int_equal(silt_txn_set_metric(txn, "own", 2, &f->err), SILT_OK);
    assert_int_equal(silt_txn_set_user_metadata(txn, "say \"hi\"", &f->err), SILT_OK);
    assert_int_equal(sl_txn_set_engine_info(txn, "app/1 silt/2", &f->err), SILT_OK);
    assert_int_equal(txn_add(f, txn, "a", NULL), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    const char *log = txn_log(f, 1);
    assert_non_null(
        strstr(log, "\"operation\":\"WRITE\",\"operationParameters\":{\"mode\":\"Append\","
                    "\"partitionBy\":\"[\\\"p\\\"]\"},\"readVersion\":0,"
                    "\"isolationLevel\":\"WriteSerializable\",\"isBlindAppend\":true,"
                    "\"operationMetrics\":{\"numOutputRows\":\"2\",\"numOutputBytes\":\"10\",\"numFiles\":\"40\","
                    "\"own\":\"2\"},\"userMetadata\":\"say \\\"hi\\\"\",\"engineInfo\":\"app/1 silt/2\","
                    "\"txnId\":\""));
}

static void application_id_makes_a_write_happen_once(void **state)
{
    struct txn_fixture *f = *state;
    static const int64_t versions[] = {5, 5, 4, 6};
    static const silt_commit_outcome outcomes[] = {SILT_COMMIT_COMMITTED, SILT_COMMIT_SKIPPED, SILT_COMMIT_SKIPPED,
                                                   SILT_COMMIT_COMMITTED};
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    for (size_t i = 0; i < 4; i++) {
        char path[16];
        (void)snprintf(path, sizeof(path), "f%zu", i);
        silt_txn *txn = txn_begin(f);
        assert_int_equal(silt_txn_set_app_id(txn, "job", versions[i], &f->err), SILT_OK);
        assert_int_equal(silt_txn_set_app_id(txn, "job", 9, &f->err), SILT_EINVALID);
        assert_int_equal(txn_add(f, txn, path, NULL), SILT_OK);
        assert_int_equal(txn_end(f, txn), SILT_OK);
        assert_int_equal(f->result.outcome, outcomes[i]);
    }
    assert_int_equal(txn_count_files(f), 2);
    assert_non_null(strstr(txn_log(f, 1), "{\"txn\":{\"appId\":\"job\",\"version\":5,\"lastUpdated\":1577836800000}}"));
}

static void rival_with_the_same_application_id_wins_once(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *first = txn_begin(f);
    silt_txn *second = txn_begin(f);
    assert_int_equal(silt_txn_set_app_id(first, "job", 1, &f->err), SILT_OK);
    assert_int_equal(silt_txn_set_app_id(second, "job", 1, &f->err), SILT_OK);
    assert_int_equal(txn_add(f, first, "a", NULL), SILT_OK);
    assert_int_equal(txn_add(f, second, "b", NULL), SILT_OK);
    assert_int_equal(txn_end(f, first), SILT_OK);
    assert_int_equal(txn_end(f, second), SILT_OK);
    assert_int_equal(f->result.outcome, SILT_COMMIT_SKIPPED);
    assert_int_equal(txn_count_files(f), 1);
}

static void predicate_is_resolved_when_it_is_given(void **state)
{
    struct txn_fixture *f = *state;
    silt_expr *good = NULL;
    silt_expr *bad = NULL;
    txn_create(f, TXN_SCHEMA, "p", NULL);
    assert_int_equal(silt_expr_parse(&f->test.env, "P = 'x'", 7, NULL, &good, &f->err), SILT_OK);
    assert_int_equal(silt_expr_parse(&f->test.env, "nope = 1", 8, NULL, &bad, &f->err), SILT_OK);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(silt_txn_read_predicate(txn, bad, &f->err), SILT_ESCHEMA);
    assert_int_equal(silt_txn_read_predicate(txn, good, &f->err), SILT_OK);
    txn_append(f, "other", "y");
    assert_int_equal(txn_add(f, txn, "mine", "x"), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK); /* the winner's rows are in another partition */
    assert_non_null(strstr(txn_log(f, 2), "\"isBlindAppend\":false"));
    silt_expr_unref(good);
    silt_expr_unref(bad);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, txn_setup, txn_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(transaction_can_be_ended_only_once),
        TEST(missing_arguments_are_refused),
        TEST(begin_without_a_table_says_so),
        TEST(snapshot_of_another_table_is_refused),
        TEST(provenance_holds_what_the_caller_said),
        TEST(application_id_makes_a_write_happen_once),
        TEST(rival_with_the_same_application_id_wins_once),
        TEST(predicate_is_resolved_when_it_is_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
