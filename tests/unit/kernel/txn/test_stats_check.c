/* Statistics that a caller brings with a file: what readers would take for something else is refused before anything is visible. */
#include <stdio.h>
#include <string.h>

#include "txn_fixture.h"

#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{}}"
#define ARRAY "{\"type\":\"array\",\"elementType\":\"long\",\"containsNull\":true}"
#define STRUCT "{\"type\":\"struct\",\"fields\":[" FIELD("x", "\"long\"") "]}"

static const char *const fields[] = {
    FIELD("i", "\"integer\""),
    FIELD("l", "\"long\""),
    FIELD("d", "\"double\""),
    FIELD("m", "\"decimal(10,2)\""),
    FIELD("t", "\"string\""),
    FIELD("day", "\"date\""),
    FIELD("at", "\"timestamp\""),
    FIELD("b", "\"boolean\""),
    FIELD("raw", "\"binary\""),
    FIELD("s", STRUCT),
    FIELD("a", ARRAY),
    "{\"name\":\"c\",\"type\":\"string\",\"nullable\":true,\"metadata\":{\"__CHAR_VARCHAR_TYPE_STRING\":\"char(5)\"}}",
};

static void create(struct txn_fixture *f)
{
    char schema[2048] = "{\"type\":\"struct\",\"fields\":[";
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        const size_t at = strlen(schema);
        (void)snprintf(schema + at, sizeof(schema) - at, "%s%s", i > 0 ? "," : "", fields[i]);
    }
    const size_t at = strlen(schema);
    (void)snprintf(schema + at, sizeof(schema) - at, "]}");
    txn_create(f, schema, NULL, NULL);
}

static silt_status add(struct txn_fixture *f, silt_txn *txn, const char *stats)
{
    static int n_files;
    char path[32];
    (void)snprintf(path, sizeof(path), "f%d.parquet", n_files++);
    const silt_add_file file = {
        .size = sizeof(file), .path = path, .size_bytes = 10, .modified_ms = 1, .stats = stats, .data_change = true};
    silt_error_reset(&f->err);
    return silt_txn_add_file(txn, &file, &f->err);
}

struct fault {
    const char *stats;
    const char *in_message;
};

static void faults_are_refused_with_member_and_file(void **state)
{
    static const struct fault faults[] = {
        {"{\"numRecords\":2", "JSON"},
        {"{\"numRecords\":2} x", "JSON"},
        {"[2]", "JSON object"},
        {"", "JSON"},
        {"{\"numRecords\":-1}", "numRecords must be a whole number"},
        {"{\"numRecords\":2,\"minValues\":[1]}", "minValues must be an object"},
        {"{\"numRecords\":2,\"nullCount\":7}", "nullCount must be an object"},
        {"{\"numRecords\":2,\"tightBounds\":\"yes\"}", "tightBounds must be true or false"},
        {"{\"minValues\":{},\"minValues\":{}}", "minValues is there twice"},
        {"{\"minValues\":{\"i\":1,\"l\":2,\"i\":1}}", "minValues.i is there twice"},
        {"{\"minValues\":{\"i\":\"1\"}}", "minValues.i is no bound of a int"},
        {"{\"minValues\":{\"i\":1.5}}", "minValues.i"},
        {"{\"minValues\":{\"i\":3000000000}}", "minValues.i"},
        {"{\"maxValues\":{\"l\":{}}}", "maxValues.l"},
        {"{\"maxValues\":{\"l\":true}}", "maxValues.l"},
        {"{\"maxValues\":{\"d\":\"much\"}}", "maxValues.d"},
        {"{\"maxValues\":{\"m\":\"1,5\"}}", "maxValues.m"},
        {"{\"maxValues\":{\"t\":5}}", "maxValues.t"},
        {"{\"minValues\":{\"day\":18262}}", "minValues.day"},
        {"{\"minValues\":{\"day\":\"2020-13-01\"}}", "minValues.day"},
        {"{\"minValues\":{\"at\":\"noon\"}}", "minValues.at"},
        /* a day of the Julian calendar only: to some it is the next by name, to others the same by the sun */
        {"{\"maxValues\":{\"day\":\"1500-02-29\"}}", "maxValues.day is no bound of a date"},
        {"{\"maxValues\":{\"at\":\"1500-02-29T00:00:00.000Z\"}}", "maxValues.at is no bound of a timestamp"},
        /* the second of these two is twice in its zone */
        {"{\"minValues\":{\"at\":\"2020-01-01T00:00:00.000 Europe/Paris\"}}",
         "minValues.at is no bound of a timestamp"},
        {"{\"maxValues\":{\"at\":\"2020-10-25T02:30:00.000Europe/Paris\"}}", "maxValues.at is no bound of a timestamp"},
        {"{\"minValues\":{\"b\":\"true\"}}", "minValues.b"},
        {"{\"minValues\":{\"s\":1}}", "minValues.s must be an object"},
        {"{\"minValues\":{\"s\":{\"x\":\"1\"}}}", "minValues.s.x"},
        {"{\"nullCount\":{\"i\":-1}}", "nullCount.i must be a whole number"},
        {"{\"nullCount\":{\"i\":\"0\"}}", "nullCount.i must be a whole number"},
        {"{\"nullCount\":{\"a\":0.5}}", "nullCount.a must be a whole number"},
        {"{\"nullCount\":{\"s\":0}}", "nullCount.s must be an object"},
        {"{\"numRecords\":2,\"nullCount\":{\"i\":3}}", "nullCount.i is above numRecords"},
        {"{\"nullCount\":{\"s\":{\"x\":3}},\"numRecords\":2}", "nullCount.s.x is above numRecords"},
        {"{\"minValues\":{\"i\":2},\"maxValues\":{\"i\":1}}", "minValues.i is above its maximum"},
        {"{\"maxValues\":{\"s\":{\"x\":1}},\"minValues\":{\"s\":{\"x\":2}}}", "minValues.s.x is above its maximum"},
        {"{\"minValues\":{\"t\":\"b\"},\"maxValues\":{\"t\":\"a\"}}", "minValues.t is above its maximum"},
        {"{\"minValues\":{\"c\":\"ab   \"},\"maxValues\":{\"c\":\"ab\"}}", "minValues.c is above its maximum"},
        {"{\"minValues\":{\"m\":1e3},\"maxValues\":{\"m\":999.99}}", "minValues.m is above its maximum"},
    };
    struct txn_fixture *f = *state;
    create(f);
    silt_txn *txn = txn_begin(f);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        const silt_status status = add(f, txn, faults[i].stats);
        if (status != SILT_EINVALID || strstr(f->err.message, faults[i].in_message) == NULL ||
            strstr(f->err.message, ".parquet") == NULL) {
            fail_msg("%s: %s: %s", faults[i].stats, silt_status_name(status), f->err.message);
        }
    }
    assert_int_equal(add(f, txn, "{\"numRecords\":2}"), SILT_OK); /* the transaction goes on */
    assert_int_equal(txn_end(f, txn), SILT_OK);
    assert_int_equal(f->result.files_added, 1);
}

static void what_writers_say_is_taken(void **state)
{
    static const char *const good[] = {
        NULL,
        "{}",
        "{\"numRecords\":2,\"minValues\":{},\"maxValues\":null,\"nullCount\":{}}",
        "{\"numRecords\":2.0,\"tightBounds\":false,\"nullCount\":{\"i\":2,\"s\":{\"x\":0},\"a\":1,\"raw\":2}}",
        "{\"minValues\":{\"i\":5.0,\"l\":-9223372036854775808},\"maxValues\":{\"i\":5e3,\"l\":9223372036854775807}}",
        "{\"minValues\":{\"d\":\"-Infinity\"},\"maxValues\":{\"d\":\"NaN\"}}",
        "{\"minValues\":{\"m\":\"1.50\"},\"maxValues\":{\"m\":1e8}}",
        "{\"minValues\":{\"t\":\"\\u00e9\"},\"maxValues\":{\"t\":\"z\"}}", /* in the order of another writer */
        "{\"minValues\":{\"day\":\"2020-01-01\",\"at\":\"2020-01-01T00:00:00.000Z\"}}",
        "{\"minValues\":{\"at\":\"2020-01-01 00:00:00\"},\"maxValues\":{\"at\":\"2020-01-01T00:00:00.000+01:00\"}}",
        "{\"minValues\":{\"day\":\"1500-02-28\"},\"maxValues\":{\"day\":\"1500-03-01\"}}",
        "{\"minValues\":{\"day\":\"1582-10-10\"},\"maxValues\":{\"at\":\"1500-01-01T00:00:00.000+00:09:21\"}}",
        "{\"minValues\":{\"c\":\"ab\"},\"maxValues\":{\"c\":\"ab\"}}", /* as the file has them, of another writer */
        "{\"minValues\":{\"c\":\"ab   \"},\"maxValues\":{\"c\":\"ab   \"}}",
        "{\"minValues\":{\"c\":\"ab\"},\"maxValues\":{\"c\":\"ab   \"}}",
        "{\"minValues\":{\"i\":null,\"b\":false},\"maxValues\":{\"i\":1,\"b\":true},\"nullCount\":{\"i\":null}}",
        "{\"minValues\":{\"raw\":\"x\",\"a\":[1]},\"maxValues\":{\"raw\":7,\"a\":{}}}", /* nobody looks at them */
        "{\"minValues\":{\"gone\":{\"a\":\"x\"},\"I\":\"x\"},\"nullCount\":{\"gone\":-5},\"more\":[1]}",
    };
    struct txn_fixture *f = *state;
    create(f);
    silt_txn *txn = txn_begin(f);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        if (add(f, txn, good[i]) != SILT_OK) {
            fail_msg("%s: %s", good[i], f->err.message);
        }
    }
    assert_int_equal(txn_end(f, txn), SILT_OK);
}

static void deep_text_is_refused(void **state)
{
    static char text[8192];
    struct txn_fixture *f = *state;
    create(f);
    silt_txn *txn = txn_begin(f);
    size_t at = (size_t)snprintf(text, sizeof(text), "{\"numRecords\":1,\"more\":");
    for (size_t i = 0; i < 3000; i++) {
        text[at++] = '[';
    }
    for (size_t i = 0; i < 3000; i++) {
        text[at++] = ']';
    }
    text[at++] = '}';
    text[at] = '\0';
    assert_int_equal(add(f, txn, text), SILT_EINVALID);
    assert_non_null(strstr(f->err.message, "deeper"));
    silt_txn_free(txn);
}

/* Statistics have the names that files have. */
static void columns_go_by_their_physical_names(void **state)
{
    static const silt_property by_name = {"delta.columnMapping.mode", "name"};
    struct txn_fixture *f = *state;
    txn_create(f, TXN_SCHEMA, NULL, &by_name);
    silt_txn *txn = txn_begin(f);
    char stats[256];
    assert_int_equal(add(f, txn, "{\"minValues\":{\"id\":\"x\"}}"), SILT_OK); /* no such column */
    const char *name = strstr(txn_log(f, 0), "col-");
    assert_non_null(name);
    (void)snprintf(stats, sizeof(stats), "{\"minValues\":{\"%.40s\":\"x\"}}", name);
    assert_int_equal(add(f, txn, stats), SILT_EINVALID);
    silt_txn_free(txn);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, txn_setup, txn_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(faults_are_refused_with_member_and_file),
        TEST(what_writers_say_is_taken),
        TEST(deep_text_is_refused),
        TEST(columns_go_by_their_physical_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
