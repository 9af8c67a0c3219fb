/* A transaction in hands that err: calls after its end, nothing where something is needed, files twice and files that are none. */
#include "kernel/txn/txn_int.h"

#include <string.h>

#include "txn_fixture.h"

static silt_add_file file_of(const char *path)
{
    return (silt_add_file){
        .size = sizeof(silt_add_file), .path = path, .size_bytes = 10, .modified_ms = 1, .data_change = true};
}

static void a_transaction_that_ended_takes_nothing(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(txn_add(f, txn, "a", NULL), SILT_OK);
    assert_int_equal(silt_txn_commit(txn, NULL, &f->result, &f->err), SILT_OK);
    const silt_add_file file = file_of("b");
    const silt_commit_options options = {.size = sizeof(options)};
    silt_schema *schema = txn_schema(f, TXN_SCHEMA);
    assert_int_equal(silt_txn_commit(txn, NULL, &f->result, &f->err), SILT_EINVALID);
    assert_int_equal(f->result.outcome, SILT_COMMIT_CONFLICT);
    assert_int_equal(f->result.version, -1);
    assert_int_equal(silt_txn_commit(txn, NULL, NULL, NULL), SILT_EINVALID);
    assert_int_equal(silt_txn_add_file(txn, &file, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_remove_file(txn, NULL, TXN_ROOT "/a", true, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_remove_all(txn, NULL, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_overwrite_partitions(txn, NULL, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_property(txn, "a", "b", &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_schema(txn, schema, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_merge_schema(txn, schema, NULL, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_overwrite_schema(txn, NULL, schema, NULL, 0, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_app_id(txn, "a", 1, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_domain(txn, "a", "b", &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_parameter(txn, "a", "b", &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_metric(txn, "a", 1, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_user_metadata(txn, "a", &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_commit_options(txn, &options, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_read_predicate(txn, NULL, &f->err), SILT_EINVALID);
    silt_schema_unref(schema);
    silt_txn_free(txn);
    silt_txn_free(NULL);
    assert_int_equal(txn_count_files(f), 1);
}

/* Else the files of a commit that may have happened would be removed with the transaction. */
static void an_unknown_end_stays_unknown(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    txn->state = SL_TXN_UNKNOWN;
    assert_int_equal(silt_txn_commit(txn, NULL, &f->result, &f->err), SILT_EINVALID);
    assert_int_equal(txn->state, SL_TXN_UNKNOWN);
    silt_txn_free(txn);
}

static void nothing_is_refused_where_something_is_needed(void **state)
{
    struct txn_fixture *f = *state;
    silt_txn *txn = NULL;
    const silt_create_options without_size = {.schema = NULL};
    txn_create(f, TXN_SCHEMA, "p", NULL);
    assert_int_equal(silt_txn_begin(NULL, NULL, "WRITE", &txn, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_begin(f->table, NULL, NULL, &txn, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_begin(f->table, NULL, "", &txn, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_begin(f->table, NULL, "WRITE", NULL, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_begin_at(f->table, NULL, "WRITE", &txn, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_begin_at(NULL, NULL, "WRITE", NULL, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_begin_create(f->table, NULL, NULL, "CREATE TABLE", &txn, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_begin_create(f->table, NULL, &without_size, "CREATE TABLE", NULL, &f->err),
                     SILT_EINVALID);
    assert_int_equal(silt_txn_begin_replace(f->table, NULL, NULL, "REPLACE TABLE", &txn, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_begin_replace(f->table, NULL, &without_size, "REPLACE TABLE", NULL, &f->err),
                     SILT_EINVALID);
    assert_null(txn);
    assert_int_equal(silt_txn_commit(NULL, NULL, &f->result, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_read_version(NULL), -1);
    assert_null(silt_txn_schema(NULL));
    assert_null(silt_txn_physical_schema(NULL));
    txn = txn_begin(f);
    silt_add_file file = file_of(NULL);
    assert_int_equal(silt_txn_add_file(txn, NULL, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_add_file(txn, &file, &f->err), SILT_EINVALID);
    file = file_of("a");
    assert_int_equal(silt_txn_add_file(txn, &file, &f->err), SILT_EINVALID); /* no partition value */
    file.n_partition_values = 1;
    assert_int_equal(silt_txn_add_file(txn, &file, &f->err), SILT_EINVALID);
    file.size = 0;
    assert_int_equal(silt_txn_add_file(txn, &file, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_remove_file(txn, NULL, NULL, true, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_read_file(txn, NULL, NULL, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_read_scan(txn, NULL, NULL, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_replace_where(txn, NULL, NULL, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_schema(txn, NULL, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_property(txn, NULL, "x", &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_parameter(txn, NULL, "x", &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_app_id(txn, NULL, 1, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_app_id(txn, "a", -1, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_commit_options(txn, NULL, &f->err), SILT_EINVALID);
    silt_txn_free(txn);
}

static silt_status add(struct txn_fixture *f, silt_txn *txn, const char *path, bool outside)
{
    silt_add_file file = file_of(path);
    file.outside = outside;
    silt_error_reset(&f->err);
    return silt_txn_add_file(txn, &file, &f->err);
}

static void a_file_is_named_once_however_it_is_spelled(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    txn_append(f, "live", NULL);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(add(f, txn, "a b", false), SILT_OK);
    assert_int_equal(add(f, txn, "a b", false), SILT_EINVALID);
    assert_string_equal(f->err.code_name, "DELTA_DUPLICATE_ACTIONS_FOUND");
    assert_int_equal(add(f, txn, TXN_ROOT "/a b", true), SILT_EINVALID);
    assert_string_equal(f->err.code_name, "DELTA_DUPLICATE_ACTIONS_FOUND");
    assert_int_equal(add(f, txn, TXN_ROOT "/sub/../a b", true), SILT_EINVALID);
    assert_int_equal(add(f, txn, TXN_ROOT "/c", true), SILT_OK);
    assert_int_equal(add(f, txn, "c", false), SILT_EINVALID);
    assert_int_equal(add(f, txn, TXN_ROOT "/_delta_log/x", true), SILT_EINVALID);
    assert_int_equal(add(f, txn, TXN_ROOT "x/c", true), SILT_OK); /* another folder */
    assert_int_equal(silt_txn_remove_file(txn, NULL, TXN_ROOT "/live", true, &f->err), SILT_OK);
    assert_int_equal(silt_txn_remove_file(txn, NULL, TXN_ROOT "/live", true, &f->err), SILT_EINVALID);
    assert_int_equal(add(f, txn, "live", false), SILT_EINVALID);
    assert_int_equal(add(f, txn, TXN_ROOT "/live", true), SILT_EINVALID);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_non_null(strstr(txn_log(f, 2), "\"path\":\"c\""));
    assert_int_equal(txn_count_files(f), 3);
    /* Beside one that is live, too. */
    txn = txn_begin(f);
    assert_int_equal(add(f, txn, TXN_ROOT "/c", true), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_EINVALID);
    assert_string_equal(f->err.code_name, "DELTA_DUPLICATE_ACTIONS_FOUND");
}

static void paths_that_lead_elsewhere_are_refused(void **state)
{
    static const char *const paths[] = {"",     "/etc/passwd", "../x",         "a/../../x", "./a",
                                        "a//b", "a/",          "_delta_log/x", "\xff"};
    static const char *const outside[] = {"", "relative", "\xff", "/a\xff"};
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        assert_int_equal(add(f, txn, paths[i], false), SILT_EINVALID);
    }
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        assert_int_equal(add(f, txn, outside[i], true), SILT_EINVALID);
    }
    assert_int_equal(silt_txn_remove_file(txn, NULL, "live", true, &f->err), SILT_ENOTFOUND);
    assert_int_equal(silt_txn_remove_file(txn, NULL, "", true, &f->err), SILT_ENOTFOUND);
    silt_txn_free(txn);
}

static void numbers_of_files_do_not_run_over(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    silt_add_file file = file_of("a");
    file.size_bytes = INT64_MAX - 10;
    file.stats = "{\"numRecords\":9223372036854775807}";
    assert_int_equal(silt_txn_add_file(txn, &file, &f->err), SILT_OK);
    file.path = "b";
    file.size_bytes = 11;
    assert_int_equal(silt_txn_add_file(txn, &file, &f->err), SILT_ELIMIT); /* nobody could open the table */
    file.size_bytes = 10;
    assert_int_equal(silt_txn_add_file(txn, &file, &f->err), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_int_equal(f->result.rows_added, -1);
    txn = txn_begin(f);
    assert_int_equal(silt_txn_remove_all(txn, NULL, &f->err), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
}

/* Files are found by the names of columns that they were written with. */
static void columns_get_no_other_names_once_files_were_added(void **state)
{
    struct txn_fixture *f = *state;
    silt_txn *txn = NULL;
    assert_int_equal(txn_create_begin(f, TXN_SCHEMA, NULL, NULL, &txn), SILT_OK);
    assert_int_equal(txn_add(f, txn, "a", NULL), SILT_OK);
    assert_int_equal(silt_txn_set_property(txn, "delta.columnMapping.mode", "name", &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_property(txn, "mine", "x", &f->err), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_null(strstr(txn_log(f, 0), "columnMapping"));
}

static silt_status remove_what_is_not_there(struct txn_fixture *f, silt_txn *txn)
{
    return silt_txn_remove_file(txn, NULL, TXN_ROOT "/nothing", true, &f->err);
}

static silt_status add_twice(struct txn_fixture *f, silt_txn *txn)
{
    assert_int_equal(txn_add(f, txn, "new", NULL), SILT_OK);
    return txn_add(f, txn, "new", NULL);
}

static silt_status add_what_is_live(struct txn_fixture *f, silt_txn *txn)
{
    assert_int_equal(txn_add(f, txn, "a", NULL), SILT_OK);
    return silt_txn_commit(txn, NULL, &f->result, &f->err);
}

static silt_status remove_from_an_append_only_table(struct txn_fixture *f, silt_txn *txn)
{
    assert_int_equal(silt_txn_set_property(txn, "delta.appendOnly", "true", &f->err), SILT_OK);
    return silt_txn_remove_file(txn, NULL, TXN_ROOT "/a", true, &f->err);
}

static silt_status use_a_feature_that_is_not_there(struct txn_fixture *f, silt_txn *txn)
{
    return silt_txn_set_domain(txn, "mine", "1", &f->err);
}

static silt_status reach_outside(struct txn_fixture *f, silt_txn *txn)
{
    const silt_add_file file = file_of("memory://store/other/b");
    return silt_txn_add_file(txn, &file, &f->err);
}

/* The version of the columns that do not fit is in test_write_rows.c. */
static void a_bad_transaction_is_refused_by_its_class_and_leaves_the_table(void **state)
{
    static const struct {
        silt_status (*act)(struct txn_fixture *f, silt_txn *txn);
        const char *code;
    } cases[] = {{remove_what_is_not_there, "DELTA_FILE_NOT_FOUND"},
                 {add_twice, "DELTA_DUPLICATE_ACTIONS_FOUND"},
                 {add_what_is_live, "DELTA_DUPLICATE_ACTIONS_FOUND"},
                 {remove_from_an_append_only_table, "DELTA_CANNOT_MODIFY_APPEND_ONLY"},
                 {use_a_feature_that_is_not_there, "DELTA_DOMAIN_METADATA_NOT_SUPPORTED"},
                 {reach_outside, "SILT_INVALID_ARGUMENT"}};
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    txn_append(f, "a", NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        silt_snapshot *after = NULL;
        silt_txn *txn = txn_begin(f);
        assert_int_not_equal(cases[i].act(f, txn), SILT_OK);
        assert_string_equal(f->err.code_name, cases[i].code);
        assert_true(f->err.message[0] != '\0');
        silt_txn_free(txn);
        assert_int_equal(silt_table_latest_snapshot(f->table, NULL, &after, &f->err), SILT_OK);
        assert_int_equal(silt_snapshot_version(after), 1);
        silt_snapshot_unref(after);
        assert_int_equal(txn_count_files(f), 1);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, txn_setup, txn_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_transaction_that_ended_takes_nothing),
        TEST(an_unknown_end_stays_unknown),
        TEST(nothing_is_refused_where_something_is_needed),
        TEST(a_file_is_named_once_however_it_is_spelled),
        TEST(paths_that_lead_elsewhere_are_refused),
        TEST(numbers_of_files_do_not_run_over),
        TEST(columns_get_no_other_names_once_files_were_added),
        TEST(a_bad_transaction_is_refused_by_its_class_and_leaves_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
