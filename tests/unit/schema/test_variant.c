/* Reading variants, sound and hostile ones. */
#include "schema/variant.h"

#include "test_env.h"

#define BYTES(...) \
    ((struct sl_str){(const char *)(const unsigned char[]){__VA_ARGS__}, sizeof((unsigned char[]){__VA_ARGS__})})

/* Names "a", "bc". */
#define TWO_NAMES BYTES(0x01, 2, 0, 1, 3, 'a', 'b', 'c')
#define NO_NAMES ((struct sl_str){"\x11\0\0", 3})

static struct sl_variant_value read(struct sl_str bytes)
{
    struct sl_variant_value value;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_variant_read(bytes, &value, &err), SILT_OK);
    return value;
}

static void check_fails(struct sl_str metadata, struct sl_str value, silt_status expected)
{
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_variant_check(metadata, value, NULL, &err), expected);
}

static void primitives_are_read_with_their_width(void **state)
{
    (void)state;
    assert_int_equal(read(BYTES(0x00)).kind, SL_VARIANT_NULL);
    assert_int_equal(read(BYTES(0x04)).i64, 1);
    assert_int_equal(read(BYTES(0x08)).i64, 0);
    assert_int_equal(read(BYTES(0x0C, 0xFF)).i64, -1);
    assert_int_equal(read(BYTES(0x10, 0xFE, 0xFF)).i64, -2);
    assert_int_equal(read(BYTES(0x14, 1, 0, 0, 0x80)).i64, INT32_MIN + 1);
    assert_true(read(BYTES(0x18, 0, 0, 0, 0, 0, 0, 0, 0x80)).i64 == INT64_MIN);
    assert_true(read(BYTES(0x1C, 0, 0, 0, 0, 0, 0, 0xF8, 0x3F)).f64 == 1.5);
    assert_true(read(BYTES(0x38, 0, 0, 0xC0, 0x3F)).f64 == 1.5);
    assert_int_equal(read(BYTES(0x2C, 0xFF, 0xFF, 0xFF, 0xFF)).i64, -1);
    assert_int_equal(read(BYTES(0x50, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)).bytes.len, 16);
    assert_int_equal(read(BYTES(0x09, 'a', 'b')).bytes.len, 2);
    assert_int_equal(read(BYTES(0x40, 2, 0, 0, 0, 'a', 'b', 'x')).len, 7);
}

static void decimals_are_exact(void **state)
{
    (void)state;
    const struct sl_variant_value small = read(BYTES(0x20, 2, 0x39, 0x30, 0, 0));
    assert_int_equal(small.scale, 2);
    assert_true(small.decimal == 12345);
    const struct sl_variant_value negative = read(BYTES(0x24, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF));
    assert_true(negative.decimal == -1);
    const struct sl_variant_value large = read(BYTES(0x28, 38, 0xFF, 0xFF, 0xFF, 0xFF, 0x3F, 0x22, 0x8A, 0x09, 0x7A,
                                                     0xC4, 0x86, 0x5A, 0xA8, 0x4C, 0x3B, 0x4B));
    assert_true(large.decimal == sl_i128_pow10(38) - 1);
}

static void decimals_beyond_their_type_are_refused(void **state)
{
    (void)state;
    check_fails(NO_NAMES, BYTES(0x20, 39, 1, 0, 0, 0), SILT_ECORRUPT);
    check_fails(NO_NAMES, BYTES(0x20, 0, 0, 0xCA, 0x9A, 0x3B), SILT_ECORRUPT); /* 10^9 in four bytes */
    check_fails(NO_NAMES, BYTES(0x28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80), SILT_ECORRUPT);
}

static void members_are_found_in_any_order(void **state)
{
    (void)state;
    /* {"a": 5, "bc": true}, the second value stored first */
    const struct sl_variant_value object = read(BYTES(0x02, 2, 0, 1, 1, 0, 3, 0x04, 0x0C, 5));
    struct sl_str item;
    uint32_t id = 9;
    assert_int_equal(object.n, 2);
    assert_true(sl_variant_item(&object, 0, &item, &id));
    assert_int_equal(id, 0);
    assert_int_equal(read(item).i64, 5);
    assert_true(sl_variant_item(&object, 1, &item, &id));
    assert_int_equal(id, 1);
    assert_int_equal(read(item).kind, SL_VARIANT_BOOL);
}

static void wide_offsets_and_counts_are_read(void **state)
{
    (void)state;
    /* An array with a count of 4 bytes and offsets of 3. */
    const struct sl_variant_value array = read(BYTES(0x1B, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0x00));
    struct sl_str item;
    uint32_t id = 0;
    assert_int_equal(array.n, 1);
    assert_int_equal(array.len, 12);
    assert_true(sl_variant_item(&array, 0, &item, &id));
    assert_int_equal(read(item).kind, SL_VARIANT_NULL);
}

static void names_come_from_the_dictionary(void **state)
{
    (void)state;
    struct sl_variant_names names;
    struct sl_str name;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_variant_names_open(TWO_NAMES, &names, &err), SILT_OK);
    assert_true(sl_variant_name(&names, 1, &name));
    assert_true(sl_str_eq_c(name, "bc"));
    assert_false(sl_variant_name(&names, 2, &name));
    assert_int_equal(names.size, 8);
}

static void broken_metadata_is_refused(void **state)
{
    (void)state;
    check_fails(BYTES(0x01), BYTES(0x00), SILT_ECORRUPT);
    check_fails(BYTES(0x02, 0, 0), BYTES(0x00), SILT_EUNSUPPORTED);
    check_fails(BYTES(0x01, 5, 0), BYTES(0x00), SILT_ECORRUPT);
    check_fails(BYTES(0xC1, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0), BYTES(0x00), SILT_ECORRUPT);
    check_fails(BYTES(0x01, 1, 0, 9, 'a'), BYTES(0x00), SILT_ECORRUPT);
}

static void values_that_are_cut_off_are_refused(void **state)
{
    const struct sl_str whole[] = {
        BYTES(0x14, 1, 2, 3, 4),       BYTES(0x40, 2, 0, 0, 0, 'a', 'b'),
        BYTES(0x09, 'a', 'b'),         BYTES(0x02, 1, 0, 0, 2, 0x0C, 5),
        BYTES(0x03, 1, 0, 2, 0x0C, 5), BYTES(0x28, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    };
    (void)state;
    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
        check_fails(TWO_NAMES, whole[i], SILT_OK);
        for (size_t len = 0; len < whole[i].len; len++) {
            check_fails(TWO_NAMES, sl_str_sub(whole[i], 0, len), SILT_ECORRUPT);
        }
    }
}

static void members_outside_of_their_container_are_refused(void **state)
{
    (void)state;
    check_fails(TWO_NAMES, BYTES(0x03, 1, 2, 2, 0x0C, 5), SILT_ECORRUPT);          /* begins at the end */
    check_fails(TWO_NAMES, BYTES(0x02, 1, 7, 0, 2, 0x0C, 5), SILT_ECORRUPT);       /* name 7 of 2 */
    check_fails(TWO_NAMES, BYTES(0x03, 1, 0, 1, 0x14, 5, 0, 0, 0), SILT_ECORRUPT); /* longer than the array */
    check_fails(TWO_NAMES, BYTES(0x1F, 0xFF, 0xFF, 0xFF, 0xFF), SILT_ECORRUPT);
}

static void unknown_primitives_are_named(void **state)
{
    silt_error err = SILT_ERROR_INIT;
    (void)state;
    assert_int_equal(sl_variant_check(NO_NAMES, BYTES(0x54, 0), NULL, &err), SILT_EUNSUPPORTED);
    assert_non_null(strstr(err.message, "21"));
}

static void text_that_is_not_utf8_is_refused(void **state)
{
    (void)state;
    check_fails(NO_NAMES, BYTES(0x05, 0xFF), SILT_ECORRUPT);
    check_fails(BYTES(0x01, 1, 0, 1, 0xFF), BYTES(0x02, 1, 0, 0, 1, 0x00), SILT_ECORRUPT);
}

/* Arrays within arrays, the innermost empty. */
static size_t nest(unsigned char *out, size_t depth)
{
    size_t len = 3;
    unsigned char *at = out + depth * 11;
    memcpy(at, (const unsigned char[]){0x03, 0, 0}, 3);
    for (size_t i = 0; i < depth; i++) {
        at -= 11;
        at[0] = 0x0F; /* offsets of 4 bytes */
        at[1] = 1;
        memset(at + 2, 0, 4);
        for (size_t j = 0; j < 4; j++) {
            at[6 + j] = (unsigned char)(len >> (8 * j));
        }
        memmove(at + 10, at + 11, len);
        at++;
        memmove(at, at - 1, len + 10);
        len += 10;
    }
    memmove(out, at, len);
    return len;
}

static void deep_nesting_is_a_limit(void **state)
{
    static unsigned char bytes[400 * 11 + 16];
    (void)state;
    size_t len = nest(bytes, SL_VARIANT_MAX_DEPTH - 1);
    check_fails(NO_NAMES, sl_str_make((const char *)bytes, len), SILT_OK);
    len = nest(bytes, SL_VARIANT_MAX_DEPTH);
    check_fails(NO_NAMES, sl_str_make((const char *)bytes, len), SILT_ELIMIT);
}

static void values_that_overlap_are_refused(void **state)
{
    (void)state;
    /* Four times the same member: 3 + 5 bytes of array, 4 x 2 bytes read of the 2 that are there. */
    check_fails(NO_NAMES, BYTES(0x03, 4, 0, 0, 0, 0, 2, 0x0C, 5), SILT_ECORRUPT);
}

/* Random bytes, and sound ones with random faults: an answer each, and printing agrees with checking. */
static void any_bytes_get_an_answer(void **state)
{
    static const unsigned char sound[] = {0x02, 2, 0, 1,    0,    9,   20,   0x03, 2, 0, 5, 6,    0x14, 1,
                                          0,    0, 0, 0x00, 0x05, 'x', 0x02, 1,    1, 0, 2, 0x0C, 7};
    uint64_t seed = UINT64_C(88172645463325252);
    size_t n_fine = 0;
    struct sl_buf json;
    (void)state;
    sl_buf_init(&json, silt_env_default());
    for (size_t i = 0; i < 50000; i++) {
        unsigned char bytes[sizeof(sound)];
        memcpy(bytes, sound, sizeof(sound));
        const size_t n_faults = i % 2 == 0 ? sizeof(sound) : 1 + i % 3;
        for (size_t j = 0; j < n_faults; j++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            bytes[seed % sizeof(bytes)] = (unsigned char)(seed >> 32);
        }
        silt_error err = SILT_ERROR_INIT;
        const struct sl_str value = sl_str_make((const char *)bytes, sizeof(bytes));
        const silt_status checked = sl_variant_check(TWO_NAMES, value, NULL, &err);
        sl_buf_clear(&json);
        assert_int_equal(sl_variant_put_json(&json, TWO_NAMES, value, &err), checked);
        n_fine += checked == SILT_OK ? 1 : 0;
    }
    assert_true(n_fine > 1000);
    sl_buf_release(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(primitives_are_read_with_their_width),
        cmocka_unit_test(decimals_are_exact),
        cmocka_unit_test(decimals_beyond_their_type_are_refused),
        cmocka_unit_test(members_are_found_in_any_order),
        cmocka_unit_test(wide_offsets_and_counts_are_read),
        cmocka_unit_test(names_come_from_the_dictionary),
        cmocka_unit_test(broken_metadata_is_refused),
        cmocka_unit_test(values_that_are_cut_off_are_refused),
        cmocka_unit_test(members_outside_of_their_container_are_refused),
        cmocka_unit_test(unknown_primitives_are_named),
        cmocka_unit_test(text_that_is_not_utf8_is_refused),
        cmocka_unit_test(deep_nesting_is_a_limit),
        cmocka_unit_test(values_that_overlap_are_refused),
        cmocka_unit_test(any_bytes_get_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
