/* Which types can be stored in which. */
#include "kernel/txn/txn_int.h"

#include <stdio.h>

#include "base/arrow.h"
#include "kernel/txn/txn_write.h"
#include "txn_fixture.h"

/* A table of one column of this JSON type, and a transaction on nothing but its schema. */
static silt_status store(struct txn_fixture *f, const char *from, const char *to)
{
    char json[512];
    silt_txn txn = {.env = &f->test.env};
    silt_schema *source = NULL;
    struct ArrowSchema arrow;
    (void)snprintf(json, sizeof(json),
                   "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":%s,\"nullable\":true,"
                   "\"metadata\":{}}]}",
                   from);
    source = txn_schema(f, json);
    (void)snprintf(json, sizeof(json),
                   "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":%s,\"nullable\":true,"
                   "\"metadata\":{}}]}",
                   to);
    txn.schema = txn_schema(f, json);
    assert_int_equal(silt_schema_to_arrow(source, &arrow, NULL), SILT_OK);
    const size_t mapping[] = {0};
    silt_error_reset(&f->err);
    const silt_status status = sl_txn_check_columns(&txn, &arrow, mapping, &f->err);
    sl_arrow_schema_release(&arrow);
    silt_schema_unref(source);
    silt_schema_unref(txn.schema);
    return status;
}

static void expect(struct txn_fixture *f, const char *from, const char *to, silt_status status)
{
    if (store(f, from, to) != status) {
        fail_msg("%s into %s: %s", from, to, f->err.message);
    }
}

static void what_a_cast_can_judge_is_let_through(void **state)
{
    struct txn_fixture *f = *state;
    static const char *const pairs[][2] = {
        {"\"long\"", "\"integer\""},   {"\"byte\"", "\"long\""},      {"\"double\"", "\"decimal(5,2)\""},
        {"\"string\"", "\"date\""},    {"\"string\"", "\"long\""},    {"\"long\"", "\"string\""},
        {"\"date\"", "\"timestamp\""}, {"\"boolean\"", "\"string\""}, {"\"timestamp_ntz\"", "\"timestamp\""},
        {"\"void\"", "\"long\""},      {"\"binary\"", "\"binary\""}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        expect(f, pairs[i][0], pairs[i][1], SILT_OK);
    }
}

static void what_has_no_assignment_is_refused(void **state)
{
    struct txn_fixture *f = *state;
    static const char *const pairs[][2] = {
        {"\"long\"", "\"date\""},
        {"\"date\"", "\"long\""},
        {"\"timestamp\"", "\"date\""},
        {"\"boolean\"", "\"integer\""},
        {"\"integer\"", "\"boolean\""},
        {"\"binary\"", "\"string\""},
        {"\"string\"", "\"binary\""},
        {"\"long\"", "{\"type\":\"array\",\"elementType\":\"long\",\"containsNull\":true}"}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        expect(f, pairs[i][0], pairs[i][1], SILT_ESCHEMA);
        assert_string_equal(f->err.code_name, "DELTA_FAILED_TO_MERGE_FIELDS");
    }
}

#define PAIR(a, b)                                                                                               \
    "{\"type\":\"struct\",\"fields\":[{\"name\":\"" a "\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}," \
    "{\"name\":\"" b "\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}"
#define ONE(a) \
    "{\"type\":\"struct\",\"fields\":[{\"name\":\"" a "\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}"

static void nested_fields_must_agree_in_name_and_order(void **state)
{
    struct txn_fixture *f = *state;
    expect(f, PAIR("a", "b"), PAIR("A", "b"), SILT_OK);
    expect(f, PAIR("b", "a"), PAIR("a", "b"), SILT_ESCHEMA);
    expect(f, ONE("a"), PAIR("a", "b"), SILT_ESCHEMA);
    assert_non_null(strstr(f->err.message, "struct<a:bigint,b:bigint>"));
}

static void mapping_beyond_the_source_is_refused(void **state)
{
    struct txn_fixture *f = *state;
    silt_txn txn = {.env = &f->test.env, .schema = txn_schema(f, ONE("a"))};
    struct ArrowSchema arrow;
    assert_int_equal(silt_schema_to_arrow(txn.schema, &arrow, NULL), SILT_OK);
    const size_t mapping[] = {7};
    assert_int_equal(sl_txn_check_columns(&txn, &arrow, mapping, &f->err), SILT_EINVALID);
    sl_arrow_schema_release(&arrow);
    silt_schema_unref(txn.schema);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, txn_setup, txn_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_a_cast_can_judge_is_let_through),
        TEST(what_has_no_assignment_is_refused),
        TEST(nested_fields_must_agree_in_name_and_order),
        TEST(mapping_beyond_the_source_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
