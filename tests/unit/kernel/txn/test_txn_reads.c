/* What a transaction says it read, as the conflict check sees it: predicates, files, scans, the whole table. */
#include "txn_fixture.h"

#include <string.h>

static silt_expr *parse(struct txn_fixture *f, const silt_txn *txn, const char *text)
{
    silt_expr *expr = NULL;
    assert_int_equal(silt_expr_parse(&f->test.env, text, strlen(text), silt_txn_schema(txn), &expr, &f->err), SILT_OK);
    return expr;
}

static void read_where(struct txn_fixture *f, silt_txn *txn, const char *text)
{
    silt_expr *expr = parse(f, txn, text);
    assert_int_equal(silt_txn_read_predicate(txn, expr, &f->err), SILT_OK);
    silt_expr_unref(expr);
}

static void read_scan(struct txn_fixture *f, silt_txn *txn, const char *text)
{
    silt_snapshot *snapshot = NULL;
    silt_scan_builder *builder = NULL;
    silt_scan *scan = NULL;
    silt_expr *expr = text != NULL ? parse(f, txn, text) : NULL;
    assert_int_equal(silt_table_snapshot_at_version(f->table, NULL, silt_txn_read_version(txn), &snapshot, &f->err),
                     SILT_OK);
    assert_int_equal(silt_scan_builder_new(snapshot, &builder, &f->err), SILT_OK);
    if (expr != NULL) {
        assert_int_equal(silt_scan_builder_filter(builder, expr, &f->err), SILT_OK);
    }
    assert_int_equal(silt_scan_builder_build(builder, NULL, &scan, &f->err), SILT_OK);
    assert_int_equal(silt_txn_read_scan(txn, NULL, scan, &f->err), SILT_OK);
    silt_scan_unref(scan);
    silt_scan_builder_free(builder);
    silt_snapshot_unref(snapshot);
    silt_expr_unref(expr);
}

/* A table partitioned by p with one file in x and one in y. */
static silt_txn *begin_on_two_files(struct txn_fixture *f)
{
    txn_create(f, TXN_SCHEMA, "p", NULL);
    txn_append(f, "in-x", "x");
    txn_append(f, "in-y", "y");
    silt_txn *txn = txn_begin(f);
    assert_int_equal(txn_add(f, txn, "result", "z"), SILT_OK);
    return txn;
}

static void others_remove(struct txn_fixture *f, const char *path)
{
    silt_txn *txn = txn_begin(f);
    assert_int_equal(silt_txn_remove_file(txn, NULL, path, true, &f->err), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
}

static void expect_conflict(struct txn_fixture *f, silt_txn *txn, const char *code, const char *partition)
{
    f->result = (silt_commit_result){.size = sizeof(f->result)};
    assert_int_equal(silt_txn_commit(txn, NULL, &f->result, &f->err), SILT_ECONFLICT);
    assert_string_equal(f->err.code_name, code);
    assert_int_equal(f->result.outcome, SILT_COMMIT_CONFLICT);
    assert_string_equal(f->result.conflict_partition, partition);
    silt_txn_free(txn);
}

static void insert_that_reads_nothing_is_blind(void **state)
{
    struct txn_fixture *f = *state;
    silt_txn *txn = begin_on_two_files(f);
    others_remove(f, TXN_ROOT "/in-x");
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_non_null(strstr(txn_log(f, 4), "\"isBlindAppend\":true"));
}

static void insert_that_reads_a_predicate_is_not_blind(void **state)
{
    struct txn_fixture *f = *state;
    silt_txn *txn = begin_on_two_files(f);
    read_where(f, txn, "p = 'x'");
    others_remove(f, TXN_ROOT "/in-y");
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_non_null(strstr(txn_log(f, 4), "\"isBlindAppend\":false"));
    txn = txn_begin(f);
    assert_int_equal(txn_add(f, txn, "more", "z"), SILT_OK);
    read_where(f, txn, "p = 'x'");
    others_remove(f, TXN_ROOT "/in-x");
    expect_conflict(f, txn, "DELTA_CONCURRENT_DELETE_READ", "[p=x]");
}

static void file_that_was_read_must_stay(void **state)
{
    struct txn_fixture *f = *state;
    silt_txn *txn = begin_on_two_files(f);
    assert_int_equal(silt_txn_read_file(txn, NULL, TXN_ROOT "/none", &f->err), SILT_ENOTFOUND);
    assert_int_equal(silt_txn_read_file(txn, NULL, NULL, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_read_file(txn, NULL, TXN_ROOT "/in-x", &f->err), SILT_OK);
    others_remove(f, TXN_ROOT "/in-x");
    expect_conflict(f, txn, "DELTA_CONCURRENT_DELETE_READ", "[p=x]");
}

static void file_that_was_not_read_may_go(void **state)
{
    struct txn_fixture *f = *state;
    silt_txn *txn = begin_on_two_files(f);
    assert_int_equal(silt_txn_read_file(txn, NULL, TXN_ROOT "/in-x", &f->err), SILT_OK);
    others_remove(f, TXN_ROOT "/in-y");
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_non_null(strstr(txn_log(f, 4), "\"isBlindAppend\":false"));
}

static void scan_counts_with_its_files_and_its_filter(void **state)
{
    struct txn_fixture *f = *state;
    silt_txn *txn = begin_on_two_files(f);
    read_scan(f, txn, "p = 'x'");
    others_remove(f, TXN_ROOT "/in-y");
    assert_int_equal(txn_end(f, txn), SILT_OK);
    txn = txn_begin(f);
    assert_int_equal(txn_add(f, txn, "again", "z"), SILT_OK);
    read_scan(f, txn, "p = 'x'");
    others_remove(f, TXN_ROOT "/in-x");
    expect_conflict(f, txn, "DELTA_CONCURRENT_DELETE_READ", "[p=x]");
}

static void scan_of_all_counts_as_the_table(void **state)
{
    struct txn_fixture *f = *state;
    silt_txn *txn = begin_on_two_files(f);
    read_scan(f, txn, NULL);
    silt_txn *other = txn_begin(f);
    assert_int_equal(silt_txn_read_predicate(other, NULL, &f->err), SILT_OK);
    assert_int_equal(txn_add(f, other, "theirs", "w"), SILT_OK);
    assert_int_equal(txn_end(f, other), SILT_OK);
    expect_conflict(f, txn, "DELTA_CONCURRENT_APPEND", "[p=w]");
}

static void scan_of_another_version_is_refused(void **state)
{
    struct txn_fixture *f = *state;
    silt_txn *txn = begin_on_two_files(f);
    silt_snapshot *snapshot = NULL;
    silt_scan_builder *builder = NULL;
    silt_scan *scan = NULL;
    assert_int_equal(silt_table_snapshot_at_version(f->table, NULL, 1, &snapshot, &f->err), SILT_OK);
    assert_int_equal(silt_scan_builder_new(snapshot, &builder, &f->err), SILT_OK);
    assert_int_equal(silt_scan_builder_build(builder, NULL, &scan, &f->err), SILT_OK);
    assert_int_equal(silt_txn_read_scan(txn, NULL, scan, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_read_scan(txn, NULL, NULL, &f->err), SILT_EINVALID);
    silt_scan_unref(scan);
    silt_scan_builder_free(builder);
    silt_snapshot_unref(snapshot);
    silt_txn_free(txn);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, txn_setup, txn_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(insert_that_reads_nothing_is_blind),
        TEST(insert_that_reads_a_predicate_is_not_blind),
        TEST(file_that_was_read_must_stay),
        TEST(file_that_was_not_read_may_go),
        TEST(scan_counts_with_its_files_and_its_filter),
        TEST(scan_of_all_counts_as_the_table),
        TEST(scan_of_another_version_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
