/* Variants that files hold partly in typed columns (Parquet's "Variant Shredding"). */
#include "variant_rows.h"

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))
#define BYTES(...) \
    ((struct sl_str){(const char *)(const unsigned char[]){__VA_ARGS__}, sizeof((unsigned char[]){__VA_ARGS__})})

#define NO_NAMES ((struct sl_str){"\x11\0\0", 3})
/* "a", "b", "c" */
#define NAMES BYTES(0x11, 3, 0, 1, 2, 3, 'a', 'b', 'c')

static struct pq_column bytes(const char *name, enum pq_repetition repetition, const struct sl_str *texts, size_t n,
                              const struct pq_level *levels, size_t n_levels)
{
    return (struct pq_column){.name = name,
                              .type = PQ_BYTES,
                              .repetition = repetition,
                              .texts = texts,
                              .n_values = n,
                              .levels = levels,
                              .n_levels = n_levels};
}

static struct pq_column group(const char *name, enum pq_repetition repetition, const struct pq_column *children,
                              size_t n)
{
    return (struct pq_column){
        .name = name, .type = PQ_GROUP, .repetition = repetition, .children = children, .n_children = n};
}

/* A variant of these members, once as they are and once with the annotation that newer writers put. */
static void check(struct session_fixture *s, const struct pq_column *members, size_t n, int64_t n_rows,
                  const char *expected)
{
    struct pq_column column = group("v", PQ_OPTIONAL, members, n);
    column.logical = PQ_VARIANT;
    variant_table(s, HAND_FIELD("v", "variant"), &column, 1, n_rows);
    variant_query(s, "SELECT v FROM t", expected);
    column.logical = PQ_NO_LOGICAL;
    variant_table(s, HAND_FIELD("v", "variant"), &column, 1, n_rows);
    variant_query(s, "SELECT v FROM t", expected);
}

static void check_refused(struct session_fixture *s, const struct pq_column *members, size_t n, int64_t n_rows,
                          const char *words)
{
    struct pq_column column = group("v", PQ_OPTIONAL, members, n);
    column.logical = PQ_VARIANT;
    variant_table(s, HAND_FIELD("v", "variant"), &column, 1, n_rows);
    assert_int_not_equal(session_try(s, "SELECT v FROM t"), SILT_OK);
    if (strstr(s->err.message, words) == NULL) {
        fail_msg("%s", s->err.message);
    }
}

static void scalars_are_typed_or_bytes(void **state)
{
    struct session_fixture *s = *state;
    /* 77, "ab", a null variant, no variant, nothing at all: null */
    const struct pq_level all[] = {{0, 1}, {0, 1}, {0, 1}, {0, 0}, {0, 1}};
    const struct pq_level values[] = {{0, 1}, {0, 2}, {0, 2}, {0, 0}, {0, 1}};
    const struct pq_level typed[] = {{0, 2}, {0, 1}, {0, 1}, {0, 0}, {0, 1}};
    const struct sl_str metadata[] = {NO_NAMES, NO_NAMES, NO_NAMES, NO_NAMES};
    const struct sl_str texts[] = {BYTES(0x09, 'a', 'b'), BYTES(0x00)};
    const int32_t numbers[] = {77};
    const struct pq_column members[] = {bytes("metadata", PQ_REQUIRED, metadata, 4, all, 5),
                                        bytes("value", PQ_OPTIONAL, texts, 2, values, 5),
                                        {.name = "typed_value",
                                         .type = PQ_INT32,
                                         .repetition = PQ_OPTIONAL,
                                         .values = numbers,
                                         .n_values = 1,
                                         .levels = typed,
                                         .n_levels = 5}};
    check(s, members, 3, 5, "77\n\"ab\"\nnull\nNULL\nnull\n");
    session_expect_rows(s, "SELECT v IS NULL FROM t", "false\nfalse\nfalse\ntrue\nfalse\n");
}

static void types_of_every_kind_become_values(void **state)
{
    struct session_fixture *s = *state;
    const struct pq_level all[] = {{0, 1}};
    const struct pq_level there[] = {{0, 2}};
    const struct sl_str metadata[] = {NO_NAMES};
    const int64_t number[] = {-1, -1};
    const double real[] = {-0.0};
    const uint8_t truth[] = {1};
    const struct sl_str text[] = {SL_STR("x\"")};
    const struct {
        struct pq_column typed;
        const char *json;
    } cases[] = {
        {{.type = PQ_BOOLEAN, .values = truth}, "true\n"},
        {{.type = PQ_INT64, .values = number}, "-1\n"},
        {{.type = PQ_INT32, .converted = PQ_DATE, .values = number}, "\"1969-12-31\"\n"},
        {{.type = PQ_DOUBLE, .values = real}, "-0.0\n"},
        {{.type = PQ_INT64, .logical = PQ_MICROS_UTC, .values = number}, "\"1969-12-31T23:59:59.999999Z\"\n"},
        {{.type = PQ_INT64, .logical = PQ_MICROS_LOCAL, .values = number}, "\"1969-12-31T23:59:59.999999\"\n"},
        {{.type = PQ_INT64, .logical = PQ_NANOS_LOCAL, .values = number}, "\"1969-12-31T23:59:59.999999999\"\n"},
        {{.type = PQ_INT32, .converted = PQ_DECIMAL, .precision = 9, .scale = 2, .values = number}, "-0.01\n"},
        {{.type = PQ_INT64, .converted = PQ_DECIMAL, .precision = 18, .scale = 0, .values = number}, "-1\n"},
        {{.type = PQ_FIXED, .length = 16, .converted = PQ_DECIMAL, .precision = 38, .scale = 38, .values = number},
         "-0.00000000000000000000000000000000000001\n"},
        {{.type = PQ_BYTES, .converted = PQ_UTF8, .texts = text}, "\"x\\\"\"\n"},
        {{.type = PQ_BYTES, .texts = text}, "\"eCI=\"\n"},
        {{.type = PQ_FIXED, .length = 16, .logical = PQ_UUID, .values = number},
         "\"ffffffff-ffff-ffff-ffff-ffffffffffff\"\n"},
    };
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct pq_column typed = cases[i].typed;
        typed.name = "typed_value";
        typed.repetition = PQ_OPTIONAL;
        typed.n_values = 1;
        typed.levels = there;
        typed.n_levels = 1;
        const struct pq_column members[] = {bytes("metadata", PQ_REQUIRED, metadata, 1, all, 1), typed};
        check(s, members, 2, 1, cases[i].json);
    }
}

/*
 * typed_value { a { value, typed_value int32 }, b { value, typed_value text } }; the rest in value. Rows:
 * {"a":1,"b":"x"}, {"a":null,"c":true}, {"b":7} by bytes, an array in bytes, {}
 */
static void objects_are_put_together(void **state)
{
    struct session_fixture *s = *state;
    const struct pq_level all[] = {{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}};
    const struct pq_level rest[] = {{0, 1}, {0, 2}, {0, 1}, {0, 2}, {0, 1}};
    const struct pq_level a_value[] = {{0, 2}, {0, 3}, {0, 2}, {0, 1}, {0, 2}};
    const struct pq_level a_typed[] = {{0, 3}, {0, 2}, {0, 2}, {0, 1}, {0, 2}};
    const struct pq_level b_value[] = {{0, 2}, {0, 2}, {0, 3}, {0, 1}, {0, 2}};
    const struct pq_level b_typed[] = {{0, 3}, {0, 2}, {0, 2}, {0, 1}, {0, 2}};
    const struct sl_str metadata[] = {NAMES, NAMES, NAMES, NAMES, NAMES};
    const struct sl_str rests[] = {BYTES(0x02, 1, 2, 0, 1, 0x04), BYTES(0x03, 1, 0, 1, 0x08)};
    const struct sl_str nulls[] = {BYTES(0x00)};
    const struct sl_str sevens[] = {BYTES(0x0C, 7)};
    const struct sl_str texts[] = {SL_STR("x")};
    const int32_t numbers[] = {1};
    struct pq_column a[] = {bytes("value", PQ_OPTIONAL, nulls, 1, a_value, 5),
                            {.name = "typed_value",
                             .type = PQ_INT32,
                             .repetition = PQ_OPTIONAL,
                             .values = numbers,
                             .n_values = 1,
                             .levels = a_typed,
                             .n_levels = 5}};
    struct pq_column b[] = {bytes("value", PQ_OPTIONAL, sevens, 1, b_value, 5),
                            bytes("typed_value", PQ_OPTIONAL, texts, 1, b_typed, 5)};
    b[1].converted = PQ_UTF8;
    const struct pq_column fields[] = {group("b", PQ_REQUIRED, b, 2), group("a", PQ_REQUIRED, a, 2)};
    const struct pq_column members[] = {bytes("metadata", PQ_REQUIRED, metadata, 5, all, 5),
                                        bytes("value", PQ_OPTIONAL, rests, 2, rest, 5),
                                        group("typed_value", PQ_OPTIONAL, fields, 2)};
    check(s, members, 3, 5, "{\"a\":1,\"b\":\"x\"}\n{\"a\":null,\"c\":true}\n{\"b\":7}\n[false]\n{}\n");
    session_expect_rows(s, "SELECT v.a::INT FROM t", "1\nNULL\nNULL\nNULL\nNULL\n");
}

/* typed_value list of { value, typed_value int32 }: [1, "y", null], [] */
static void arrays_are_put_together(void **state)
{
    struct session_fixture *s = *state;
    const struct pq_level all[] = {{0, 1}, {0, 1}};
    const struct pq_level value[] = {{0, 3}, {1, 4}, {1, 4}, {0, 2}};
    const struct pq_level typed[] = {{0, 4}, {1, 3}, {1, 3}, {0, 2}};
    const struct sl_str metadata[] = {NO_NAMES, NO_NAMES};
    const struct sl_str others[] = {BYTES(0x05, 'y'), BYTES(0x00)};
    const int32_t numbers[] = {1};
    const struct pq_column parts[] = {bytes("value", PQ_OPTIONAL, others, 2, value, 4),
                                      {.name = "typed_value",
                                       .type = PQ_INT32,
                                       .repetition = PQ_OPTIONAL,
                                       .values = numbers,
                                       .n_values = 1,
                                       .levels = typed,
                                       .n_levels = 4}};
    const struct pq_column element = group("element", PQ_REQUIRED, parts, 2);
    const struct pq_column list = group("list", PQ_REPEATED, &element, 1);
    struct pq_column typed_value = group("typed_value", PQ_OPTIONAL, &list, 1);
    typed_value.converted = PQ_LIST;
    const struct pq_column members[] = {bytes("metadata", PQ_REQUIRED, metadata, 2, all, 2), typed_value};
    check(s, members, 2, 2, "[1,\"y\",null]\n[]\n");
}

static void values_that_contradict_each_other_are_refused(void **state)
{
    struct session_fixture *s = *state;
    const struct pq_level all[] = {{0, 1}};
    const struct pq_level there[] = {{0, 2}};
    const struct pq_level in_field[] = {{0, 3}};
    const struct sl_str metadata[] = {NAMES};
    const struct sl_str object[] = {BYTES(0x02, 1, 0, 0, 1, 0x04)};
    const struct sl_str broken[] = {BYTES(0x14, 1)};
    const int32_t numbers[] = {1};
    const struct pq_column number = {.name = "typed_value",
                                     .type = PQ_INT32,
                                     .repetition = PQ_OPTIONAL,
                                     .values = numbers,
                                     .n_values = 1,
                                     .levels = there,
                                     .n_levels = 1};
    const struct pq_column twice[] = {bytes("metadata", PQ_REQUIRED, metadata, 1, all, 1),
                                      bytes("value", PQ_OPTIONAL, object, 1, there, 1), number};
    check_refused(s, twice, 3, 1, "twice");
    struct pq_column field = number;
    field.levels = in_field;
    const struct pq_column known = group("a", PQ_REQUIRED, &field, 1);
    const struct pq_column same[] = {bytes("metadata", PQ_REQUIRED, metadata, 1, all, 1),
                                     bytes("value", PQ_OPTIONAL, object, 1, there, 1),
                                     group("typed_value", PQ_OPTIONAL, &known, 1)};
    check_refused(s, same, 3, 1, "twice");
    const struct pq_column unknown = group("zz", PQ_REQUIRED, &field, 1);
    const struct pq_column nameless[] = {bytes("metadata", PQ_REQUIRED, metadata, 1, all, 1),
                                         group("typed_value", PQ_OPTIONAL, &unknown, 1)};
    check_refused(s, nameless, 2, 1, "name");
    const struct pq_column bad[] = {bytes("metadata", PQ_REQUIRED, metadata, 1, all, 1),
                                    bytes("value", PQ_OPTIONAL, broken, 1, there, 1),
                                    group("typed_value", PQ_OPTIONAL, &known, 1)};
    check_refused(s, bad, 3, 1, "cut off");
}

static void instants_with_nanoseconds_are_refused(void **state)
{
    struct session_fixture *s = *state;
    const struct pq_level all[] = {{0, 1}};
    const struct pq_level there[] = {{0, 2}};
    const struct sl_str metadata[] = {NO_NAMES};
    const int64_t ns[] = {1};
    const struct pq_column members[] = {bytes("metadata", PQ_REQUIRED, metadata, 1, all, 1),
                                        {.name = "typed_value",
                                         .type = PQ_INT64,
                                         .logical = PQ_NANOS_UTC,
                                         .repetition = PQ_OPTIONAL,
                                         .values = ns,
                                         .n_values = 1,
                                         .levels = there,
                                         .n_levels = 1}};
    check_refused(s, members, 2, 1, "nanoseconds");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SESSION_TEST(scalars_are_typed_or_bytes),
        SESSION_TEST(types_of_every_kind_become_values),
        SESSION_TEST(objects_are_put_together),
        SESSION_TEST(arrays_are_put_together),
        SESSION_TEST(values_that_contradict_each_other_are_refused),
        SESSION_TEST(instants_with_nanoseconds_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
