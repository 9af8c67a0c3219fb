/* Metadata domains of the caller's. */
#include "txn_fixture.h"

#include <string.h>

static const silt_property with_domains = {"delta.feature.domainMetadata", "supported"};

static char *domain_of(struct txn_fixture *f, const char *domain, char *buf, size_t size)
{
    silt_snapshot *snapshot = NULL;
    assert_int_equal(silt_table_latest_snapshot(f->table, NULL, &snapshot, &f->err), SILT_OK);
    const char *text = silt_snapshot_domain(snapshot, domain);
    assert_true(text == NULL || strlen(text) < size);
    (void)strncpy(buf, text != NULL ? text : "(none)", size - 1);
    buf[size - 1] = '\0';
    silt_snapshot_unref(snapshot);
    return buf;
}

static void domain_is_set_changed_and_removed(void **state)
{
    struct txn_fixture *f = *state;
    char text[64];
    txn_create(f, TXN_SCHEMA, NULL, &with_domains);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(silt_txn_set_domain(txn, "app.x", "{\"a\":1}", &f->err), SILT_OK);
    assert_int_equal(silt_txn_set_domain(txn, "app.y", "", &f->err), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_string_equal(domain_of(f, "app.x", text, sizeof(text)), "{\"a\":1}");
    txn = txn_begin(f);
    assert_int_equal(silt_txn_remove_domain(txn, "app.x", &f->err), SILT_OK);
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_string_equal(domain_of(f, "app.x", text, sizeof(text)), "(none)");
    assert_string_equal(domain_of(f, "app.y", text, sizeof(text)), "");
    assert_non_null(strstr(txn_log(f, 2),
                           "{\"domainMetadata\":{\"domain\":\"app.x\",\"configuration\":\"{\\\"a\\\":1}\","
                           "\"removed\":true}}"));
}

static void what_no_domain_may_be_is_refused(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, &with_domains);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(silt_txn_set_domain(txn, "delta.clustering", "{}", &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_domain(txn, "Delta.mine", "{}", &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_remove_domain(txn, "delta.rowTracking", &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_domain(txn, "", "{}", &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_domain(txn, NULL, "{}", &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_domain(txn, "a", NULL, &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_set_domain(txn, "a", "\xff", &f->err), SILT_EINVALID);
    assert_int_equal(silt_txn_remove_domain(txn, "never", &f->err), SILT_ENOTFOUND);
    assert_int_equal(silt_txn_set_domain(txn, "twice", "1", &f->err), SILT_OK);
    assert_int_equal(silt_txn_set_domain(txn, "twice", "2", &f->err), SILT_EINVALID);
    assert_int_equal(txn_end(f, txn), SILT_OK);
}

static void table_without_the_feature_has_no_domains(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, NULL);
    silt_txn *txn = txn_begin(f);
    assert_int_equal(silt_txn_set_domain(txn, "a", "1", &f->err), SILT_EUNSUPPORTED);
    assert_string_equal(f->err.code_name, "DELTA_DOMAIN_METADATA_NOT_SUPPORTED");
    silt_txn_free(txn);
}

static void second_writer_of_a_domain_conflicts(void **state)
{
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, &with_domains);
    silt_txn *first = txn_begin(f);
    silt_txn *other = txn_begin(f);
    silt_txn *second = txn_begin(f);
    assert_int_equal(silt_txn_set_domain(first, "a", "1", &f->err), SILT_OK);
    assert_int_equal(silt_txn_set_domain(other, "b", "1", &f->err), SILT_OK);
    assert_int_equal(silt_txn_set_domain(second, "a", "2", &f->err), SILT_OK);
    assert_int_equal(txn_end(f, first), SILT_OK);
    assert_int_equal(txn_end(f, other), SILT_OK);
    assert_int_equal(silt_txn_commit(second, NULL, &f->result, &f->err), SILT_ECONFLICT);
    assert_string_equal(f->err.code_name, "DELTA_CONCURRENT_TRANSACTION");
    assert_string_equal(f->result.conflict_file, "a");
    assert_string_equal(f->result.conflict_operation, "WRITE");
    assert_int_equal(f->result.version, 1);
    silt_txn_free(second);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, txn_setup, txn_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(domain_is_set_changed_and_removed),
        TEST(what_no_domain_may_be_is_refused),
        TEST(table_without_the_feature_has_no_domains),
        TEST(second_writer_of_a_domain_conflicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
