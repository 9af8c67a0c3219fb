/* Writing streams of rows: order of columns, missing ones, NOT NULL, and what is left after a failure. */
#include "kernel/txn/txn_int.h"

#include "mini_rows.h"
#include "mini_table.h"
#include "txn_fixture.h"

static silt_status write_rows(struct txn_fixture *f, silt_txn *txn, const char *const *names,
                              const char *const *formats, size_t n_columns, const silt_value *cells, size_t n_rows)
{
    struct ArrowArrayStream rows;
    mini_rows_stream(&rows, names, formats, n_columns, cells, n_rows);
    silt_error_reset(&f->err);
    const silt_status status = silt_txn_write(txn, NULL, &rows, &f->err);
    assert_null(rows.release); /* consumed in every case */
    return status;
}

static const char *read_all(struct txn_fixture *f)
{
    static char text[4096];
    silt_scan *scan = NULL;
    struct ArrowArrayStream rows;
    assert_int_equal(mini_table_scan(&f->mini, TXN_ROOT, NULL, 0, NULL, &scan, &f->err), SILT_OK);
    assert_int_equal(silt_scan_read(scan, NULL, &rows, &f->err), SILT_OK);
    assert_true(mini_rows_text(&rows, text, sizeof(text)) >= 0);
    silt_scan_unref(scan);
    return text;
}

static void columns_are_matched_by_name_in_any_case_and_order(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    static const char *const names[] = {"P", "name", "ID"};
    static const char *const formats[] = {"u", "u", "l"};
    const silt_value cells[] = {mini_text("x"), mini_text("n1"), mini_long(1),
                                mini_text("y"), mini_null(),     mini_long(2)};
    assert_int_equal(write_rows(f, txn, names, formats, 3, cells, 2), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_int_equal(f->result.rows_added, 2);
    assert_string_equal(read_all(f), "1,n1,x;2,null,y;");
}

static void missing_nullable_columns_become_null(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    static const char *const names[] = {"id"};
    static const char *const formats[] = {"l"};
    const silt_value cells[] = {mini_long(1)};
    assert_int_equal(write_rows(f, txn, names, formats, 1, cells, 1), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_string_equal(read_all(f), "1,null,null;");
}

static void columns_that_do_not_fit_are_named(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_STRICT_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    static const char *const extra[] = {"id", "nmae"};
    static const char *const twice[] = {"id", "ID"};
    static const char *const without[] = {"name"};
    static const char *const id_only[] = {"id"};
    static const char *const formats[] = {"l", "u"};
    static const char *const longs[] = {"l", "l"};
    static const char *const text[] = {"u"};
    static const char *const date[] = {"tdD"};
    const silt_value cells[] = {mini_long(1), mini_text("a")};
    const silt_value numbers[] = {mini_long(1), mini_long(1)};
    const silt_value word[] = {mini_text("a")};
    assert_int_equal(write_rows(f, txn, extra, formats, 2, cells, 1), SILT_ESCHEMA);
    assert_string_equal(f->err.code_name, "DELTA_METADATA_MISMATCH");
    assert_non_null(strstr(f->err.message, "nmae"));
    assert_non_null(strstr(f->err.hint, "name"));
    assert_int_equal(write_rows(f, txn, twice, longs, 2, numbers, 1), SILT_ESCHEMA);
    assert_int_equal(write_rows(f, txn, without, text, 1, word, 1), SILT_ECONSTRAINT);
    assert_string_equal(f->err.code_name, "DELTA_MISSING_NOT_NULL_COLUMN_VALUE");
    assert_int_equal(write_rows(f, txn, id_only, date, 1, numbers, 1), SILT_ESCHEMA);
    assert_non_null(strstr(f->err.message, "date"));
    /* Nothing was written, so the transaction is still good. */
    assert_int_equal(write_rows(f, txn, id_only, formats, 1, cells, 1), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
}

static void null_in_a_required_column_fails_and_leaves_no_file(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_STRICT_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    static const char *const names[] = {"id"};
    static const char *const formats[] = {"l"};
    const silt_value good[] = {mini_long(1)};
    const silt_value bad[] = {mini_long(1), mini_null()};
    assert_int_equal(write_rows(f, txn, names, formats, 1, good, 1), SILT_OK);
    assert_int_equal(write_rows(f, txn, names, formats, 1, bad, 2), SILT_ECONSTRAINT);
    assert_string_equal(f->err.code_name, "DELTA_NOT_NULL_CONSTRAINT_VIOLATED");
    assert_non_null(strstr(f->err.message, "id"));
    assert_int_equal(txn_end(f, txn), SILT_ECONSTRAINT); /* half of the rows must not be committed */
    assert_string_equal(txn_data_files(f), "");
}

static void rows_are_split_by_partition(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, "p", NULL);
    silt_txn *txn = txn_begin(f);
    static const char *const names[] = {"id", "p"};
    static const char *const formats[] = {"l", "u"};
    const silt_value cells[] = {mini_long(1), mini_text("x"), mini_long(2), mini_text("y"), mini_long(3), mini_null()};
    assert_int_equal(write_rows(f, txn, names, formats, 2, cells, 3), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_int_equal(f->result.files_added, 3);
    assert_non_null(strstr(txn_log(f, 1), "\"partitionValues\":{\"p\":\"x\"}"));
    assert_non_null(strstr(f->text, "\"partitionValues\":{\"p\":null}"));
    assert_non_null(strstr(f->text, "\\\"minValues\\\":{\\\"id\\\":1}"));
    assert_null(strstr(f->text, "\\\"p\\\":")); /* no statistics of partition columns */
}

static void abandoned_transaction_removes_its_files(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    static const char *const names[] = {"id"};
    static const char *const formats[] = {"l"};
    const silt_value cells[] = {mini_long(1)};
    assert_int_equal(write_rows(f, txn, names, formats, 1, cells, 1), SILT_OK);
    assert_string_not_equal(txn_data_files(f), "");
    silt_txn_free(txn);
    assert_string_equal(txn_data_files(f), "");
}

static void conflicting_transaction_removes_its_files(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    static const char *const names[] = {"id"};
    static const char *const formats[] = {"l"};
    const silt_value cells[] = {mini_long(1)};
    assert_int_equal(write_rows(f, txn, names, formats, 1, cells, 1), SILT_OK);
    silt_txn *other = txn_begin(f);
    assert_int_equal(silt_txn_set_property(other, "delta.checkpointInterval", "20", &f->err), SILT_OK);
    assert_int_equal(txn_end(f, other), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_ECONFLICT);
    assert_string_equal(txn_data_files(f), "");
}

static void table_without_columns_takes_no_rows(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, "{\"type\":\"struct\",\"fields\":[]}", NULL, NULL);
    silt_txn *txn = txn_begin(f);
    static const char *const names[] = {"id"};
    static const char *const formats[] = {"l"};
    const silt_value cells[] = {mini_long(1)};
    assert_int_equal(write_rows(f, txn, names, formats, 1, cells, 1), SILT_ESCHEMA);
    assert_string_equal(f->err.code_name, "DELTA_CANNOT_WRITE_EMPTY_SCHEMA");
    silt_txn_free(txn);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, txn_setup, txn_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(columns_are_matched_by_name_in_any_case_and_order),
        TEST(missing_nullable_columns_become_null),
        TEST(columns_that_do_not_fit_are_named),
        TEST(null_in_a_required_column_fails_and_leaves_no_file),
        TEST(rows_are_split_by_partition),
        TEST(abandoned_transaction_removes_its_files),
        TEST(conflicting_transaction_removes_its_files),
        TEST(table_without_columns_takes_no_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
