/*
 * Opening tables: names, stores, life.
 */
#include "log_fixture.h"

#include <string.h>

static void opening_does_no_io(void **state)
{
    struct log_fixture *f = *state;
    silt_table *table = NULL;
    assert_int_equal(silt_table_for_path(f->engine, "memory://tables/t/", &table, &f->err), SILT_OK);
    assert_string_equal(silt_table_uri(table), "memory://tables/t");
    assert_ptr_equal(silt_table_engine(table), f->engine);
    assert_int_equal(f->n_lists + f->n_reads, 0);
    silt_table_unref(silt_table_ref(table));
    silt_table_unref(table);
    silt_table_unref(NULL);
}

static void an_unknown_scheme_is_named(void **state)
{
    struct log_fixture *f = *state;
    silt_table *table = NULL;
    assert_int_equal(silt_table_for_path(f->engine, "gopher://x/t", &table, &f->err), SILT_EUNSUPPORTED);
    assert_null(table);
    assert_non_null(strstr(f->err.message, "gopher"));
    assert_int_equal(silt_table_for_path(f->engine, "", &table, &f->err), SILT_EINVALID);
}

static void a_snapshot_outlives_table_and_engine(void **state)
{
    struct log_fixture *f = *state;
    log_commit(f, 0, LOG_PROTOCOL, LOG_METADATA, LOG_ADD("a"), NULL);
    silt_snapshot *snapshot = log_open(f, -1);
    silt_table_unref(f->table);
    silt_engine_unref(f->engine);
    f->table = NULL;
    f->engine = NULL;
    assert_string_equal(log_files(f, snapshot), "a");
    silt_snapshot_unref(snapshot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(opening_does_no_io),
        LOG_TEST(an_unknown_scheme_is_named),
        LOG_TEST(a_snapshot_outlives_table_and_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
