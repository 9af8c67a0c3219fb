/* Files that transactions add and remove. */
#include "kernel/txn/txn_int.h"

#include "txn_fixture.h"

static void file_is_logged_with_encoded_path_and_partition_text(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, "p", NULL);
    txn_append(f, "p=a%2Fb c/x+y.parquet", "a/b c");
    assert_non_null(strstr(txn_log(f, 1), "\"path\":\"p=a%252Fb%20c/x+y.parquet\""));
    assert_non_null(strstr(f->text, "\"partitionValues\":{\"p\":\"a/b c\"}"));
    assert_non_null(strstr(f->text, "\"stats\":\"{\\\"numRecords\\\":2}\""));
    assert_int_equal(f->result.files_added, 1);
    assert_int_equal(f->result.rows_added, 2);
}

static void empty_and_null_partition_values_are_null(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, "p", NULL);
    txn_append(f, "a", "");
    assert_non_null(strstr(txn_log(f, 1), "\"partitionValues\":{\"p\":null}"));
}

static void empty_text_is_refused_for_a_required_partition(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f,
               "{\"type\":\"struct\",\"fields\":["
               "{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"
               "{\"name\":\"p\",\"type\":\"string\",\"nullable\":false,\"metadata\":{}}]}",
               "p", NULL);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(txn_add(f, txn, "a", ""), SILT_ECONSTRAINT);
    assert_string_equal(f->err.code_name, "DELTA_NOT_NULL_CONSTRAINT_VIOLATED");
    assert_int_equal(txn_add(f, txn, "a", "x"), SILT_OK);
    silt_txn_free(txn);
}

static void paths_outside_the_table_are_refused(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    static const char *const bad[] = {"", "/a", "../a", "a/../b", "a//b", "./a", "a/", "_delta_log/x", "a\xFF"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (txn_add(f, txn, bad[i], NULL) != SILT_EINVALID) {
            fail_msg("'%s' was taken", bad[i]);
        }
    }
    assert_int_equal(txn_add(f, txn, "a..b/.c", NULL), SILT_OK);
    silt_txn_free(txn);
}

static void facts_of_a_file_are_checked(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_STRICT_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    const silt_value value = mini_text("x");
    silt_add_file file = {.size = sizeof(file), .path = "a", .data_change = true};
    assert_int_equal(silt_txn_add_file(txn, &file, &f->err), SILT_ECONSTRAINT); /* nobody checked NOT NULL */
    file.checks_held = true;
    file.size_bytes = -1;
    assert_int_equal(silt_txn_add_file(txn, &file, &f->err), SILT_EINVALID);
    file.size_bytes = 1;
    file.stats = "[1]";
    assert_int_equal(silt_txn_add_file(txn, &file, &f->err), SILT_EINVALID);
    file.stats = "{";
    assert_int_not_equal(silt_txn_add_file(txn, &file, &f->err), SILT_OK);
    static const char *const bad_counts[] = {"{\"numRecords\":-4}", "{\"numRecords\":1.5}", "{\"numRecords\":\"7\"}",
                                             "{\"numRecords\":99999999999999999999}",
                                             "{\"numRecords\":2,\"numRecords\":3}"};
    for (size_t i = 0; i < sizeof(bad_counts) / sizeof(bad_counts[0]); i++) {
        file.stats = bad_counts[i];
        assert_int_equal(silt_txn_add_file(txn, &file, &f->err), SILT_EINVALID);
        assert_non_null(strstr(f->err.message, "numRecords"));
    }
    file.stats = NULL;
    file.partition_values = &value;
    file.n_partition_values = 1;
    assert_int_equal(silt_txn_add_file(txn, &file, &f->err), SILT_EINVALID);
    file.n_partition_values = 0;
    assert_int_equal(silt_txn_add_file(txn, &file, &f->err), SILT_OK);
    assert_int_equal(silt_txn_add_file(txn, &file, &f->err), SILT_EINVALID);
    assert_string_equal(f->err.code_name, "DELTA_DUPLICATE_ACTIONS_FOUND");
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_int_equal(f->result.rows_added, -1); /* no statistics: not known */
}

static void removed_file_repeats_what_was_known_of_it(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, "p", NULL);
    txn_append(f, "x y", "v");
    txn_append(f, "z", "v");
    silt_txn *txn = txn_begin(f);
    assert_int_equal(silt_txn_remove_file(txn, NULL, TXN_ROOT "/nothing", true, &f->err), SILT_ENOTFOUND);
    assert_int_equal(silt_txn_remove_file(txn, NULL, TXN_ROOT "/x y", true, &f->err), SILT_OK);
    assert_int_equal(silt_txn_remove_file(txn, NULL, TXN_ROOT "/x y", true, &f->err), SILT_EINVALID);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_int_equal(f->result.files_removed, 1);
    assert_non_null(strstr(txn_log(f, 3), "{\"remove\":{\"path\":\"x%20y\",\"deletionTimestamp\":1577836800000,"
                                          "\"dataChange\":true,\"extendedFileMetadata\":true,"
                                          "\"partitionValues\":{\"p\":\"v\"},\"size\":10"));
    assert_int_equal(txn_count_files(f), 1);
}

static void overwrite_removes_all_and_adds(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    txn_append(f, "a", NULL);
    txn_append(f, "b", NULL);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(silt_txn_remove_all(txn, NULL, &f->err), SILT_OK);
    assert_int_equal(txn_add(f, txn, "a", NULL), SILT_EINVALID); /* the name is being removed */
    assert_int_equal(txn_add(f, txn, "c", NULL), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_int_equal(f->result.files_removed, 2);
    assert_int_equal(txn_count_files(f), 1);
    assert_non_null(strstr(txn_log(f, 3), "\"isBlindAppend\":false"));
    assert_non_null(strstr(f->text, "\"numRemovedFiles\":\"2\""));
}

static void append_only_table_loses_no_rows(void **state)
{
    struct txn_fixture *f = *state;
    const silt_property property = {"delta.appendOnly", "true"};
    txn_create(f, TXN_SCHEMA, NULL, &property);
    txn_append(f, "a", NULL);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(silt_txn_remove_all(txn, NULL, &f->err), SILT_ECONSTRAINT);
    assert_string_equal(f->err.code_name, "DELTA_CANNOT_MODIFY_APPEND_ONLY");
    assert_int_equal(silt_txn_remove_file(txn, NULL, TXN_ROOT "/a", true, &f->err), SILT_ECONSTRAINT);
    assert_int_equal(silt_txn_remove_file(txn, NULL, TXN_ROOT "/a", false, &f->err), SILT_OK); /* rearranging is fine */
    silt_txn_free(txn);
}

static silt_status add_with(silt_txn *txn, const char *path, bool fresh, bool outside, silt_error *err)
{
    const silt_add_file file = {.size = sizeof(file),
                                .path = path,
                                .size_bytes = 10,
                                .modified_ms = 1,
                                .stats = "{\"numRecords\":2}",
                                .data_change = true,
                                .checks_held = true,
                                .fresh_name = fresh,
                                .outside = outside};
    return silt_txn_add_file(txn, &file, err);
}

static void live_file_cannot_be_added_again(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    txn_append(f, "a b", NULL);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(add_with(txn, "new", false, false, &f->err), SILT_OK);
    assert_int_equal(add_with(txn, "new", false, false, &f->err), SILT_EINVALID);
    assert_int_equal(add_with(txn, "a b", false, false, &f->err), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_EINVALID);
    assert_string_equal(f->err.code_name, "DELTA_DUPLICATE_ACTIONS_FOUND");
    assert_non_null(strstr(f->err.message, "a b"));
    assert_int_equal(txn_count_files(f), 1);
    txn = txn_begin(f);
    assert_int_equal(add_with(txn, TXN_ROOT "/a b", false, true, &f->err), SILT_OK); /* by its full name */
    assert_int_equal(txn_end(f, txn), SILT_EINVALID);
}

static void live_file_may_be_told_of_anew(void **state)
{
    struct txn_fixture *f = *state;
    const silt_property tracked = {"delta.enableRowTracking", "true"};
    txn_create(f, TXN_SCHEMA, NULL, &tracked);
    txn_append(f, "other", NULL);
    txn_append(f, "a", NULL);
    silt_txn *txn = txn_begin(f);
    const silt_add_file file = {.size = sizeof(file),
                                .path = "a",
                                .size_bytes = 10,
                                .modified_ms = 1,
                                .stats = "{\"numRecords\":2,\"nullCount\":{\"id\":0}}",
                                .checks_held = true};
    assert_int_equal(silt_txn_add_file(txn, &file, &f->err), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_non_null(strstr(txn_log(f, 3), "nullCount"));
    assert_non_null(strstr(f->text, "\"baseRowId\":2,\"defaultRowCommitVersion\":2"));
    assert_non_null(strstr(f->text, "\"isBlindAppend\":false"));
    assert_null(strstr(f->text, "rowIdHighWaterMark"));
    assert_int_equal(txn_count_files(f), 2);
}

static void file_outside_needs_permission(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(add_with(txn, "memory://store/other/a b", false, false, &f->err), SILT_EINVALID);
    assert_int_equal(add_with(txn, "/other/a b", false, false, &f->err), SILT_EINVALID);
    assert_int_equal(add_with(txn, "relative", false, true, &f->err), SILT_EINVALID);
    assert_int_equal(add_with(txn, "memory://store/other/c d", false, true, &f->err), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_non_null(strstr(txn_log(f, 1), "\"path\":\"memory://store/other/c%20d\""));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, txn_setup, txn_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(file_is_logged_with_encoded_path_and_partition_text),
        TEST(empty_and_null_partition_values_are_null),
        TEST(empty_text_is_refused_for_a_required_partition),
        TEST(paths_outside_the_table_are_refused),
        TEST(facts_of_a_file_are_checked),
        TEST(removed_file_repeats_what_was_known_of_it),
        TEST(overwrite_removes_all_and_adds),
        TEST(append_only_table_loses_no_rows),
        TEST(live_file_cannot_be_added_again),
        TEST(live_file_may_be_told_of_anew),
        TEST(file_outside_needs_permission),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
