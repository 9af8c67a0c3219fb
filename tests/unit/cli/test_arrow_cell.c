/* Cells of Arrow arrays as text and JSON: formats that queries rarely yield, offsets, nulls. */
#include "cli/arrow_cell.h"

#include <string.h>

#include "base/buf.h"
#include "test_env.h"

struct fixture {
    struct test_env test;
    struct sl_arena arena;
    struct sl_buf buf;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    test_env_init(&fixture.test);
    sl_arena_init(&fixture.arena, &fixture.test.env);
    sl_buf_init(&fixture.buf, &fixture.test.env);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    sl_buf_release(&fixture->buf);
    sl_arena_release(&fixture->arena);
    test_env_check(&fixture->test);
    return 0;
}

static struct sl_cell_type read_type(struct fixture *fixture, const struct ArrowSchema *schema)
{
    struct sl_cell_type type;
    silt_error err = SILT_ERROR_INIT;
    if (sl_cell_type_read(&fixture->arena, schema, &type, &err) != SILT_OK) {
        fail_msg("%s", err.message);
    }
    return type;
}

static void assert_json(struct fixture *fixture, const struct sl_cell_type *type, const struct ArrowArray *array,
                        int64_t row, const char *expected)
{
    sl_buf_clear(&fixture->buf);
    sl_cell_put_json(&fixture->buf, type, array, row);
    assert_string_equal(sl_buf_cstr(&fixture->buf), expected);
}

static void assert_text(struct fixture *fixture, const struct sl_cell_type *type, const struct ArrowArray *array,
                        int64_t row, const char *expected)
{
    sl_buf_clear(&fixture->buf);
    const bool has_value = sl_cell_put_text(&fixture->buf, type, array, row);
    assert_int_equal(has_value, expected != NULL);
    assert_string_equal(sl_buf_cstr(&fixture->buf), expected != NULL ? expected : "");
}

/* A column of fixed width without nulls. */
static void assert_scalars(struct fixture *fixture, const char *format, const void *values, const char *const *expected,
                           size_t n)
{
    const struct ArrowSchema schema = {.format = format, .name = "x"};
    const void *buffers[2] = {NULL, values};
    const struct ArrowArray array = {.length = (int64_t)n, .n_buffers = 2, .buffers = buffers};
    const struct sl_cell_type type = read_type(fixture, &schema);
    for (size_t i = 0; i < n; i++) {
        assert_json(fixture, &type, &array, (int64_t)i, expected[i]);
    }
}

static void offset_and_nulls_are_heeded(void **state)
{
    struct fixture *fixture = *state;
    const struct ArrowSchema schema = {.format = "i", .name = "x"};
    const uint8_t validity[] = {0x0B}; /* 1, 1, 0, 1 */
    const int32_t values[] = {1, -2, 3, 4};
    const void *buffers[] = {validity, values};
    const struct ArrowArray array = {.length = 3, .null_count = 1, .offset = 1, .n_buffers = 2, .buffers = buffers};
    const struct sl_cell_type type = read_type(fixture, &schema);
    assert_text(fixture, &type, &array, 0, "-2");
    assert_text(fixture, &type, &array, 1, NULL);
    assert_text(fixture, &type, &array, 2, "4");
    assert_json(fixture, &type, &array, 1, "null");
    assert_true(sl_cell_type_is_number(&type));
}

static void integers_of_every_width_keep_their_sign(void **state)
{
    const int8_t i8[] = {-128, 127};
    const uint8_t u8[] = {0, 255};
    const uint16_t u16[] = {65535};
    const uint32_t u32[] = {4294967295U};
    const uint64_t u64[] = {UINT64_MAX};
    assert_scalars(*state, "c", i8, (const char *const[]){"-128", "127"}, 2);
    assert_scalars(*state, "C", u8, (const char *const[]){"0", "255"}, 2);
    assert_scalars(*state, "S", u16, (const char *const[]){"65535"}, 1);
    assert_scalars(*state, "I", u32, (const char *const[]){"4294967295"}, 1);
    assert_scalars(*state, "L", u64, (const char *const[]){"18446744073709551615"}, 1);
}

static void half_floats_are_exact(void **state)
{
    const uint16_t values[] = {0x3C00, 0xC000, 0x0400, 0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0x3555};
    assert_scalars(*state, "e", values,
                   (const char *const[]){"1.0", "-2.0", "0.00006103515625", "65504.0", "\"Infinity\"", "\"-Infinity\"",
                                         "\"NaN\"", "0.333251953125"},
                   8);
}

static void decimals_of_every_width_keep_their_digits(void **state)
{
    const int32_t d32[] = {-5, 12345};
    const int64_t d64[] = {INT64_C(-123456789012345678)};
    const struct {
        uint64_t lo;
        int64_t hi;
    } d128[] = {{UINT64_MAX, -1}, {UINT64_C(5), 1}};
    const int32_t tens[] = {12, 0};
    assert_scalars(*state, "d:9,2,32", d32, (const char *const[]){"-0.05", "123.45"}, 2);
    assert_scalars(*state, "d:18,0,64", d64, (const char *const[]){"-123456789012345678"}, 1);
    assert_scalars(*state, "d:38,3", d128, (const char *const[]){"-0.001", "18446744073709551.621"}, 2);
    assert_scalars(*state, "d:4,-2,32", tens, (const char *const[]){"1200", "0"}, 2);
}

static void times_have_the_digits_of_their_unit(void **state)
{
    const int64_t seconds[] = {-1, INT64_MAX, -INT64_MAX};
    const int64_t nanos[] = {1, -1, INT64_C(1500000000)};
    const int64_t micros[] = {INT64_C(-62135596800000000)};
    const int32_t time_ms[] = {1500};
    const int64_t date_ms[] = {-1};
    assert_scalars(*state, "tss:", seconds,
                   (const char *const[]){"\"1969-12-31T23:59:59\"", "\"infinity\"", "\"-infinity\""}, 3);
    assert_scalars(*state, "tsn:UTC", nanos,
                   (const char *const[]){"\"1970-01-01T00:00:00.000000001Z\"", "\"1969-12-31T23:59:59.999999999Z\"",
                                         "\"1970-01-01T00:00:01.5Z\""},
                   3);
    assert_scalars(*state, "tsu:Europe/Oslo", micros, (const char *const[]){"\"0001-01-01T00:00:00Z\""}, 1);
    assert_scalars(*state, "ttm", time_ms, (const char *const[]){"\"00:00:01.5\""}, 1);
    assert_scalars(*state, "tdm", date_ms, (const char *const[]){"\"1969-12-31\""}, 1);
}

static void intervals_are_iso_durations(void **state)
{
    const int32_t months[] = {25, -1, 0};
    const int32_t day_times[] = {1, 500, 0, -90500};
    const int64_t durations[] = {3600, 61, -1};
    assert_scalars(*state, "tiM", months, (const char *const[]){"\"P2Y1M\"", "\"P-1M\"", "\"PT0S\""}, 3);
    assert_scalars(*state, "tiD", day_times, (const char *const[]){"\"P1DT0.5S\"", "\"PT-1M-30.5S\""}, 2);
    assert_scalars(*state, "tDs", durations, (const char *const[]){"\"PT1H\"", "\"PT1M1S\"", "\"PT-1S\""}, 3);
}

static void binary_is_base64_and_a_uuid_is_text(void **state)
{
    struct fixture *fixture = *state;
    static const char metadata[] = "\1\0\0\0\24\0\0\0ARROW:extension:name\12\0\0\0arrow.uuid";
    const struct ArrowSchema plain = {.format = "w:2", .name = "x"};
    const struct ArrowSchema uuid = {.format = "w:16", .name = "x", .metadata = metadata};
    const unsigned char bytes[] = {0, 1, 0xFE, 0xFF, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const void *buffers[] = {NULL, bytes};
    const struct ArrowArray array = {.length = 8, .n_buffers = 2, .buffers = buffers};
    const struct sl_cell_type plain_type = read_type(fixture, &plain);
    const struct sl_cell_type uuid_type = read_type(fixture, &uuid);
    assert_json(fixture, &plain_type, &array, 1, "\"/v8=\"");
    assert_text(fixture, &uuid_type, &array, 0, "0001feff-0405-0607-0809-0a0b0c0d0e0f");
}

static void text_views_are_read_inline_and_from_buffers(void **state)
{
    struct fixture *fixture = *state;
    const struct ArrowSchema schema = {.format = "vu", .name = "x"};
    struct {
        int32_t len;
        char rest[12];
    } views[2] = {{.len = 12}, {.len = 13}};
    const int32_t place[2] = {1, 3};
    memcpy(views[0].rest, "twelve bytes", 12);
    memcpy(views[1].rest, "thir", 4);
    memcpy(views[1].rest + 4, place, sizeof(place));
    const int64_t sizes[] = {0, 16};
    const void *buffers[] = {NULL, views, "", "...thirteen\"byte", sizes};
    const struct ArrowArray array = {.length = 2, .n_buffers = 5, .buffers = buffers};
    const struct sl_cell_type type = read_type(fixture, &schema);
    assert_text(fixture, &type, &array, 0, "twelve bytes");
    assert_json(fixture, &type, &array, 1, "\"thirteen\\\"byte\"");
}

/* int32 children for the nested types below */
static const int32_t child_values[] = {10, 11, 12, 13, 14, 15};
static const void *child_buffers[] = {NULL, child_values};

static void lists_of_every_kind_are_read(void **state)
{
    struct fixture *fixture = *state;
    struct ArrowSchema item = {.format = "i", .name = "item"};
    struct ArrowSchema *items[] = {&item};
    struct ArrowArray child = {.length = 5, .offset = 1, .n_buffers = 2, .buffers = child_buffers};
    struct ArrowArray *children[] = {&child};
    const int64_t offsets[] = {0, 2, 2, 5};
    const int32_t view_offsets[] = {3, 0};
    const int32_t view_sizes[] = {2, 1};

    const struct ArrowSchema large = {.format = "+L", .name = "x", .n_children = 1, .children = items};
    const void *large_buffers[] = {NULL, offsets};
    const struct ArrowArray large_array = {
        .length = 3, .n_buffers = 2, .buffers = large_buffers, .n_children = 1, .children = children};
    const struct sl_cell_type large_type = read_type(fixture, &large);
    assert_json(fixture, &large_type, &large_array, 0, "[11,12]");
    assert_json(fixture, &large_type, &large_array, 1, "[]");
    assert_text(fixture, &large_type, &large_array, 2, "[13,14,15]");

    const struct ArrowSchema view = {.format = "+vl", .name = "x", .n_children = 1, .children = items};
    const void *view_buffers[] = {NULL, view_offsets, view_sizes};
    const struct ArrowArray view_array = {
        .length = 2, .n_buffers = 3, .buffers = view_buffers, .n_children = 1, .children = children};
    const struct sl_cell_type view_type = read_type(fixture, &view);
    assert_json(fixture, &view_type, &view_array, 0, "[14,15]");
    assert_json(fixture, &view_type, &view_array, 1, "[11]");

    const struct ArrowSchema fixed = {.format = "+w:2", .name = "x", .n_children = 1, .children = items};
    const void *no_buffers[] = {NULL};
    const struct ArrowArray fixed_array = {
        .length = 1, .offset = 1, .n_buffers = 1, .buffers = no_buffers, .n_children = 1, .children = children};
    const struct sl_cell_type fixed_type = read_type(fixture, &fixed);
    assert_json(fixture, &fixed_type, &fixed_array, 0, "[13,14]");
}

static void runs_and_dictionaries_give_their_values(void **state)
{
    struct fixture *fixture = *state;
    struct ArrowSchema ends = {.format = "i", .name = "run_ends"};
    struct ArrowSchema values = {.format = "i", .name = "values"};
    struct ArrowSchema *fields[] = {&ends, &values};
    const int32_t run_ends[] = {2, 3, 7};
    const void *ends_buffers[] = {NULL, run_ends};
    struct ArrowArray ends_array = {.length = 3, .n_buffers = 2, .buffers = ends_buffers};
    struct ArrowArray values_array = {.length = 3, .n_buffers = 2, .buffers = child_buffers};
    struct ArrowArray *children[] = {&ends_array, &values_array};
    const struct ArrowSchema runs = {.format = "+r", .name = "x", .n_children = 2, .children = fields};
    const struct ArrowArray runs_array = {.length = 6, .offset = 1, .n_children = 2, .children = children};
    const struct sl_cell_type runs_type = read_type(fixture, &runs);
    assert_json(fixture, &runs_type, &runs_array, 0, "10");
    assert_json(fixture, &runs_type, &runs_array, 1, "11");
    assert_json(fixture, &runs_type, &runs_array, 5, "12");
    assert_true(sl_cell_type_is_number(&runs_type));

    const struct ArrowSchema dictionary = {.format = "C", .name = "x", .dictionary = &values};
    const uint8_t codes[] = {2, 0};
    const void *code_buffers[] = {NULL, codes};
    const struct ArrowArray dictionary_array = {
        .length = 2, .n_buffers = 2, .buffers = code_buffers, .dictionary = &values_array};
    const struct sl_cell_type dictionary_type = read_type(fixture, &dictionary);
    assert_json(fixture, &dictionary_type, &dictionary_array, 0, "12");
    assert_json(fixture, &dictionary_type, &dictionary_array, 1, "10");
}

static void unions_give_the_member_that_is_set(void **state)
{
    struct fixture *fixture = *state;
    struct ArrowSchema number = {.format = "i", .name = "n"};
    struct ArrowSchema nothing = {.format = "n", .name = "z"};
    struct ArrowSchema *fields[] = {&number, &nothing};
    struct ArrowArray numbers = {.length = 6, .n_buffers = 2, .buffers = child_buffers};
    struct ArrowArray nulls = {.length = 3, .null_count = 3};
    struct ArrowArray *children[] = {&numbers, &nulls};
    const int8_t codes[] = {5, 7, 5};
    const int32_t offsets[] = {4, 0, 1};
    const void *sparse_buffers[] = {codes};
    const void *dense_buffers[] = {codes, offsets};
    const struct ArrowSchema sparse = {.format = "+us:5,7", .name = "x", .n_children = 2, .children = fields};
    const struct ArrowSchema dense = {.format = "+ud:5,7", .name = "x", .n_children = 2, .children = fields};
    const struct ArrowArray sparse_array = {
        .length = 3, .n_buffers = 1, .buffers = sparse_buffers, .n_children = 2, .children = children};
    const struct ArrowArray dense_array = {
        .length = 3, .n_buffers = 2, .buffers = dense_buffers, .n_children = 2, .children = children};
    const struct sl_cell_type sparse_type = read_type(fixture, &sparse);
    const struct sl_cell_type dense_type = read_type(fixture, &dense);
    assert_json(fixture, &sparse_type, &sparse_array, 2, "12");
    assert_json(fixture, &sparse_type, &sparse_array, 1, "null");
    assert_json(fixture, &dense_type, &dense_array, 0, "14");
    assert_json(fixture, &dense_type, &dense_array, 2, "11");
}

static void formats_that_are_not_known_are_refused(void **state)
{
    struct fixture *fixture = *state;
    static const char *const formats[] = {
        "", "q", "d:", "d:76,2,256", "tsx:", "ttq", "w:", "w:-1", "+us:1", "+w:", "vx", "+s2", "tsu", "d:5"};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        const struct ArrowSchema schema = {.format = formats[i], .name = "odd"};
        struct sl_cell_type type;
        silt_error err = SILT_ERROR_INIT;
        assert_int_equal(sl_cell_type_read(&fixture->arena, &schema, &type, &err), SILT_EUNSUPPORTED);
        assert_non_null(strstr(err.message, "column odd"));
    }
}

static void nesting_is_limited(void **state)
{
    struct fixture *fixture = *state;
    struct ArrowSchema levels[80];
    struct ArrowSchema *links[80];
    struct sl_cell_type type;
    silt_error err = SILT_ERROR_INIT;
    for (size_t i = 0; i < 80; i++) {
        links[i] = &levels[i + 1 < 80 ? i + 1 : i];
        levels[i] = (struct ArrowSchema){.format = "+l", .name = "x", .n_children = 1, .children = &links[i]};
    }
    levels[79] = (struct ArrowSchema){.format = "i", .name = "x"};
    assert_int_equal(sl_cell_type_read(&fixture->arena, &levels[0], &type, &err), SILT_ELIMIT);
}

/* One pair of Arrow metadata. */
static void put_extension(char *out, const char *name)
{
    const char *parts[] = {"ARROW:extension:name", name};
    const int32_t n = 1;
    memcpy(out, &n, sizeof(n));
    out += sizeof(n);
    for (size_t i = 0; i < 2; i++) {
        const int32_t len = (int32_t)strlen(parts[i]);
        memcpy(out, &len, sizeof(len));
        memcpy(out + sizeof(len), parts[i], (size_t)len);
        out += sizeof(len) + (size_t)len;
    }
}

static void variants_are_the_json_that_they_are(void **state)
{
    struct fixture *fixture = *state;
    char extension[64] = {0};
    put_extension(extension, "arrow.parquet.variant");
    struct ArrowSchema members[] = {{.format = "z", .name = "metadata"}, {.format = "z", .name = "value"}};
    struct ArrowSchema *member_list[] = {&members[0], &members[1]};
    const struct ArrowSchema schema = {
        .format = "+s", .name = "v", .metadata = extension, .n_children = 2, .children = member_list};
    /* {"a": 5}, nothing, and bytes that are no variant */
    const char bytes[] = "\x01\x01\x00\x01"
                         "a\x02\x01\x00\x00\x02\x0C\x05";
    const int32_t metadata_offsets[] = {0, 5, 5, 5};
    const int32_t value_offsets[] = {5, 12, 12, 12};
    const uint8_t validity[] = {0x05};
    const void *metadata_buffers[] = {NULL, metadata_offsets, bytes};
    const void *value_buffers[] = {NULL, value_offsets, bytes};
    struct ArrowArray columns[] = {{.length = 3, .n_buffers = 3, .buffers = metadata_buffers},
                                   {.length = 3, .n_buffers = 3, .buffers = value_buffers}};
    struct ArrowArray *column_list[] = {&columns[0], &columns[1]};
    const void *buffers[] = {validity};
    const struct ArrowArray array = {
        .length = 3, .null_count = 1, .n_buffers = 1, .buffers = buffers, .n_children = 2, .children = column_list};
    const struct sl_cell_type type = read_type(fixture, &schema);
    assert_int_equal(type.kind, SL_CELL_VARIANT);
    assert_json(fixture, &type, &array, 0, "{\"a\":5}");
    assert_text(fixture, &type, &array, 0, "{\"a\":5}");
    assert_json(fixture, &type, &array, 1, "null");
    assert_text(fixture, &type, &array, 1, NULL);
    assert_json(fixture, &type, &array, 2, "{\"metadata\":\"\",\"value\":\"\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(variants_are_the_json_that_they_are, set_up, tear_down),
        cmocka_unit_test_setup_teardown(offset_and_nulls_are_heeded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(integers_of_every_width_keep_their_sign, set_up, tear_down),
        cmocka_unit_test_setup_teardown(half_floats_are_exact, set_up, tear_down),
        cmocka_unit_test_setup_teardown(decimals_of_every_width_keep_their_digits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(times_have_the_digits_of_their_unit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(intervals_are_iso_durations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(binary_is_base64_and_a_uuid_is_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(text_views_are_read_inline_and_from_buffers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lists_of_every_kind_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(runs_and_dictionaries_give_their_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unions_give_the_member_that_is_set, set_up, tear_down),
        cmocka_unit_test_setup_teardown(formats_that_are_not_known_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nesting_is_limited, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
