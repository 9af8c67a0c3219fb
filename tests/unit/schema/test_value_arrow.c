/* Cells of Arrow arrays. Arrays are written down by hand. */
#include "model_fixture.h"

#include <string.h>

#include "silt/arrow.h"

static void keep_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static void keep_array(struct ArrowArray *array)
{
    array->release = NULL;
}

static struct ArrowSchema schema_of(const char *format)
{
    return (struct ArrowSchema){.format = format, .name = "", .flags = ARROW_FLAG_NULLABLE, .release = keep_schema};
}

static struct ArrowArray array_of(int64_t length, const void **buffers, int64_t n_buffers)
{
    return (struct ArrowArray){.length = length, .n_buffers = n_buffers, .buffers = buffers, .release = keep_array};
}

/* The cell's text, NULL if it has no scalar, "NULL" if it is null. */
static const char *cell(struct model *m, const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t row)
{
    silt_value v;
    if (!sl_value_from_arrow(schema, array, row, &v)) {
        return NULL;
    }
    struct sl_buf out = model_buf(m);
    sl_value_print(&out, &v);
    return model_text(m, &out);
}

static void check_first(struct model *m, const char *format, const void *data, const char *expected)
{
    const struct ArrowSchema schema = schema_of(format);
    const void *buffers[2] = {NULL, data};
    const struct ArrowArray array = array_of(1, buffers, 2);
    const char *text = cell(m, &schema, &array, 0);
    if (expected == NULL) {
        assert_null(text);
    } else {
        assert_non_null(text);
        assert_string_equal(text, expected);
    }
}

static void fixed_size_values_are_read(void **state)
{
    struct model *m = *state;
    check_first(m, "b", &(uint8_t){1}, "true");
    check_first(m, "c", &(int8_t){-5}, "-5");
    check_first(m, "C", &(uint8_t){200}, "200");
    check_first(m, "s", &(int16_t){-300}, "-300");
    check_first(m, "S", &(uint16_t){65535}, "65535");
    check_first(m, "i", &(int32_t){-70000}, "-70000");
    check_first(m, "I", &(uint32_t){4000000000u}, "4000000000");
    check_first(m, "l", &(int64_t){INT64_MIN}, "-9223372036854775808");
    check_first(m, "L", &(uint64_t){UINT64_MAX}, "18446744073709551615");
    check_first(m, "e", &(uint16_t){0x3e00}, "1.5");
    check_first(m, "e", &(uint16_t){0xfc00}, "-Infinity");
    check_first(m, "e", &(uint16_t){0x0001}, "5.9604645E-8");
    check_first(m, "f", &(float){0.1f}, "0.1");
    check_first(m, "g", &(double){-2.5}, "-2.5");
    check_first(m, "w:3", "abc", "616263");
}

static void times_come_in_microseconds_or_not_at_all(void **state)
{
    struct model *m = *state;
    check_first(m, "tdD", &(int32_t){-1}, "1969-12-31");
    check_first(m, "tdm", &(int64_t){86400000}, "1970-01-02");
    check_first(m, "tdm", &(int64_t){86400001}, NULL);
    check_first(m, "tss:", &(int64_t){-1}, "1969-12-31 23:59:59");
    check_first(m, "tsm:UTC", &(int64_t){1500}, "1970-01-01 00:00:01.5");
    check_first(m, "tsu:UTC", &(int64_t){1}, "1970-01-01 00:00:00.000001");
    check_first(m, "tsn:", &(int64_t){-1000}, "1969-12-31 23:59:59.999999");
    check_first(m, "tsn:", &(int64_t){1001}, NULL);
    check_first(m, "tss:", &(int64_t){INT64_MAX / 2}, NULL);
}

static void decimals_of_all_widths_are_read(void **state)
{
    struct model *m = *state;
    static const uint64_t minus_one[4] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    static const uint64_t huge[4] = {0, 0, 1, 0};
    check_first(m, "d:5,2,32", &(int32_t){-150}, "-1.50");
    check_first(m, "d:18,2,64", &(int64_t){150}, "1.50");
    check_first(m, "d:38,2", minus_one, "-0.01");
    check_first(m, "d:38,2,256", minus_one, "-0.01");
    check_first(m, "d:38,2,256", huge, NULL);
    check_first(m, "d:2,0,32", &(int32_t){100}, NULL);
}

static void texts_are_read_from_all_layouts(void **state)
{
    struct model *m = *state;
    static const int32_t offsets[] = {0, 1, 1, 4};
    static const int64_t wide[] = {0, 1, 1, 4};
    const void *buffers[3] = {NULL, offsets, "abcd"};
    const void *large[3] = {NULL, wide, "abcd"};
    const struct ArrowSchema text = schema_of("u");
    const struct ArrowSchema big = schema_of("Z");
    struct ArrowArray array = array_of(3, buffers, 3);
    assert_string_equal(cell(m, &text, &array, 0), "a");
    assert_string_equal(cell(m, &text, &array, 1), "");
    assert_string_equal(cell(m, &text, &array, 2), "bcd");
    assert_null(cell(m, &text, &array, 3));
    assert_null(cell(m, &text, &array, -1));
    array.offset = 2;
    array.length = 1;
    assert_string_equal(cell(m, &text, &array, 0), "bcd");
    const struct ArrowArray large_array = array_of(3, large, 3);
    assert_string_equal(cell(m, &big, &large_array, 2), "626364");
}

static void views_are_read_inline_and_from_buffers(void **state)
{
    struct model *m = *state;
    static const char data[] = "..a text of 21 bytes.";
    static const int64_t sizes[1] = {21};
    char views[32] = {0};
    const int32_t lens[2] = {3, 19};
    const int32_t where[2] = {0, 2};
    memcpy(views, &lens[0], 4);
    memcpy(views + 4, "abc", 3);
    memcpy(views + 16, &lens[1], 4);
    memcpy(views + 24, where, 8);
    const void *buffers[4] = {NULL, views, data, sizes};
    const struct ArrowSchema schema = schema_of("vu");
    const struct ArrowArray array = array_of(2, buffers, 4);
    assert_string_equal(cell(m, &schema, &array, 0), "abc");
    assert_string_equal(cell(m, &schema, &array, 1), "a text of 21 bytes.");
    const int32_t beyond = 30;
    memcpy(views + 16, &beyond, 4);
    assert_null(cell(m, &schema, &array, 1));
}

static void nulls_have_the_kind_of_their_column(void **state)
{
    struct model *m = *state;
    (void)m;
    const uint8_t valid = 0x02;
    static const int32_t data[] = {1, 2};
    const void *buffers[2] = {&valid, data};
    const struct ArrowSchema schema = schema_of("i");
    struct ArrowArray array = array_of(2, buffers, 2);
    array.null_count = 1;
    silt_value v;
    assert_true(sl_value_from_arrow(&schema, &array, 0, &v));
    assert_true(v.is_null);
    assert_int_equal(v.kind, SILT_TYPE_INTEGER);
    assert_true(sl_value_from_arrow(&schema, &array, 1, &v));
    assert_int_equal(v.as.i64, 2);
    const struct ArrowSchema none = schema_of("n");
    const struct ArrowArray nulls = array_of(1, NULL, 0);
    assert_true(sl_value_from_arrow(&none, &nulls, 0, &v));
    assert_true(v.is_null);
}

static void dictionaries_and_runs_are_followed(void **state)
{
    struct model *m = *state;
    static const int32_t offsets[] = {0, 1, 3};
    static const int8_t indexes[] = {1, 0, 7, -1};
    const void *text_buffers[3] = {NULL, offsets, "abb"};
    const void *index_buffers[2] = {NULL, indexes};
    struct ArrowSchema text = schema_of("u");
    struct ArrowArray words = array_of(2, text_buffers, 3);
    struct ArrowSchema coded = schema_of("c");
    struct ArrowArray codes = array_of(4, index_buffers, 2);
    coded.dictionary = &text;
    codes.dictionary = &words;
    assert_string_equal(cell(m, &coded, &codes, 0), "bb");
    assert_string_equal(cell(m, &coded, &codes, 1), "a");
    assert_null(cell(m, &coded, &codes, 2));
    assert_null(cell(m, &coded, &codes, 3));

    static const int32_t ends[] = {2, 5};
    const void *end_buffers[2] = {NULL, ends};
    struct ArrowSchema end_schema = schema_of("i");
    struct ArrowArray end_array = array_of(2, end_buffers, 2);
    struct ArrowSchema *schemas[2] = {&end_schema, &coded};
    struct ArrowArray *arrays[2] = {&end_array, &codes};
    struct ArrowSchema run_schema = schema_of("+r");
    struct ArrowArray runs = array_of(5, NULL, 0);
    run_schema.n_children = 2;
    run_schema.children = schemas;
    runs.n_children = 2;
    runs.children = arrays;
    assert_string_equal(cell(m, &run_schema, &runs, 1), "bb");
    assert_string_equal(cell(m, &run_schema, &runs, 2), "a");
    assert_string_equal(cell(m, &run_schema, &runs, 4), "a");
    runs.offset = 1;
    runs.length = 4;
    assert_string_equal(cell(m, &run_schema, &runs, 1), "a");
}

static void nested_arrays_have_no_scalar(void **state)
{
    struct model *m = *state;
    check_first(m, "+s", NULL, NULL);
    check_first(m, "+l", NULL, NULL);
    check_first(m, "tts", &(int32_t){0}, NULL);
    check_first(m, "i", NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(fixed_size_values_are_read),
        MODEL_TEST(times_come_in_microseconds_or_not_at_all),
        MODEL_TEST(decimals_of_all_widths_are_read),
        MODEL_TEST(texts_are_read_from_all_layouts),
        MODEL_TEST(views_are_read_inline_and_from_buffers),
        MODEL_TEST(nulls_have_the_kind_of_their_column),
        MODEL_TEST(dictionaries_and_runs_are_followed),
        MODEL_TEST(nested_arrays_have_no_scalar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
