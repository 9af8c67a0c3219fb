/* Descriptors of deletion vectors: where their vectors are. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "kernel/dv/dv.h"
#include "test_env.h"

static struct test_env t;
static struct sl_arena arena;
static silt_deletion_vector found;
static silt_error err;

static int set_up(void **state)
{
    (void)state;
    test_env_init(&t);
    sl_arena_init(&arena, &t.env);
    err = (silt_error)SILT_ERROR_INIT;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sl_arena_release(&arena);
    test_env_check(&t);
    return 0;
}

static silt_status resolve(const char *root, const char *type, const char *text)
{
    const struct sl_dv_descriptor dv = {.storage_type = sl_str_from(type),
                                        .path_or_inline_dv = sl_str_from(text),
                                        .offset = 4,
                                        .size_in_bytes = 40,
                                        .cardinality = 6};
    return sl_dv_resolve(&arena, sl_str_from(root), &dv, &found, &err);
}

static void uuid_with_prefix_is_in_a_folder_of_the_table(void **state)
{
    (void)state;
    assert_int_equal(resolve("s3://mytable", "u", "ab^-aqEH.-t@S}K{vb[*k^"), SILT_OK);
    assert_int_equal(found.storage_type, 'u');
    assert_string_equal(found.path, "s3://mytable/ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin");
    assert_null(found.inline_data);
    assert_int_equal(found.offset, 4);
    assert_int_equal(found.size_in_bytes, 40);
    assert_int_equal(found.cardinality, 6);
}

static void uuid_without_prefix_is_in_the_tables_root(void **state)
{
    (void)state;
    assert_int_equal(resolve("/data/t 1%20", "u", "^-aqEH.-t@S}K{vb[*k^"), SILT_OK);
    assert_string_equal(found.path, "/data/t 1%20/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin");
}

static void prefix_is_not_decoded(void **state)
{
    (void)state;
    assert_int_equal(resolve("/t", "u", "a%2Fb^-aqEH.-t@S}K{vb[*k^"), SILT_OK);
    assert_string_equal(found.path, "/t/a%2Fb/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin");
}

static void absolute_path_is_decoded_once(void **state)
{
    (void)state;
    assert_int_equal(resolve("/t", "p", "file:///other/a%20b%2525.bin"), SILT_OK);
    assert_int_equal(found.storage_type, 'p');
    assert_string_equal(found.path, "/other/a b%25.bin");
    assert_int_equal(resolve("/t", "p", "s3://bucket/x/dv.bin"), SILT_OK);
    assert_string_equal(found.path, "s3://bucket/x/dv.bin");
}

static void inline_text_is_kept(void **state)
{
    (void)state;
    const char *text = "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L";
    assert_int_equal(resolve("/t", "i", text), SILT_OK);
    assert_int_equal(found.storage_type, 'i');
    assert_string_equal(found.inline_data, text);
    assert_null(found.path);
}

static void prefix_that_climbs_is_refused(void **state)
{
    (void)state;
    static const char *const prefixes[] = {"..",  "../../etc", "a/..", "a/../../b", ".",
                                           "a/.", "/",         "/etc", "a//b",      "a/"};
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        char text[64];
        (void)snprintf(text, sizeof(text), "%s^-aqEH.-t@S}K{vb[*k^", prefixes[i]);
        assert_int_equal(resolve("/t", "u", text), SILT_ECORRUPT);
        assert_non_null(strstr(err.message, "no folder below the table's root"));
        assert_null(found.path);
    }
    const struct sl_dv_descriptor with_nul = {
        .storage_type = SL_STR("u"), .path_or_inline_dv = SL_STR("a\0b^-aqEH.-t@S}K{vb[*k^"), .offset = SL_NO_I64};
    assert_int_equal(sl_dv_resolve(&arena, SL_STR("/t"), &with_nul, &found, &err), SILT_ECORRUPT);
}

static void text_that_is_no_uuid_is_refused(void **state)
{
    (void)state;
    assert_int_equal(resolve("/t", "u", ""), SILT_ECORRUPT);
    assert_int_equal(resolve("/t", "u", "-aqEH.-t@S}K{vb[*k^"), SILT_ECORRUPT);
    assert_int_equal(resolve("/t", "u", "^-aqEH.-t@S}K{vb[*k\""), SILT_ECORRUPT);
    assert_non_null(strstr(err.message, "20 characters of Z85"));
}

static void relative_path_of_type_p_is_refused(void **state)
{
    (void)state;
    assert_int_equal(resolve("/t", "p", "deletion_vector.bin"), SILT_ECORRUPT);
    assert_non_null(strstr(err.message, "expected an absolute path"));
    assert_int_equal(resolve("/t", "p", "../x.bin"), SILT_ECORRUPT);
    assert_int_equal(resolve("/t", "p", ""), SILT_ECORRUPT);
}

static void other_storage_type_is_not_supported(void **state)
{
    (void)state;
    assert_int_equal(resolve("/t", "r", "x.bin"), SILT_EUNSUPPORTED);
    assert_string_equal(err.code_name, "DELTA_UNSUPPORTED_FEATURES_FOR_READ");
    assert_int_equal(resolve("/t", "uu", "^-aqEH.-t@S}K{vb[*k^"), SILT_EUNSUPPORTED);
    assert_int_equal(resolve("/t", "", "^-aqEH.-t@S}K{vb[*k^"), SILT_EUNSUPPORTED);
}

static silt_status resolve_numbers(int64_t offset, int64_t size, int64_t cardinality)
{
    const struct sl_dv_descriptor dv = {.storage_type = SL_STR("u"),
                                        .path_or_inline_dv = SL_STR("^-aqEH.-t@S}K{vb[*k^"),
                                        .offset = offset,
                                        .size_in_bytes = size,
                                        .cardinality = cardinality};
    return sl_dv_resolve(&arena, SL_STR("/t"), &dv, &found, &err);
}

static void missing_offset_is_behind_the_version_byte(void **state)
{
    (void)state;
    assert_int_equal(resolve_numbers(SL_NO_I64, 40, 6), SILT_OK);
    assert_int_equal(found.offset, 1);
    assert_int_equal(resolve_numbers(0, 40, 6), SILT_OK);
    assert_int_equal(found.offset, 1);
    assert_int_equal(resolve_numbers(1, 40, 6), SILT_OK);
    assert_int_equal(found.offset, 1);
}

static void numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    assert_int_equal(resolve_numbers(-1, 40, 6), SILT_ECORRUPT);
    assert_int_equal(resolve_numbers(INT64_C(1) << 31, 40, 6), SILT_ECORRUPT);
    assert_int_equal(resolve_numbers(1, -1, 6), SILT_ECORRUPT);
    assert_int_equal(resolve_numbers(1, INT64_C(1) << 31, 6), SILT_ECORRUPT);
    assert_int_equal(resolve_numbers(1, 40, -1), SILT_ECORRUPT);
    assert_non_null(strstr(err.message, "cardinality -1"));
}

static void running_out_of_memory_is_told(void **state)
{
    (void)state;
    for (size_t i = 1;; i++) {
        sl_arena_release(&arena);
        test_env_fail_at(&t, i);
        const silt_status status = resolve("/t", "u", "ab^-aqEH.-t@S}K{vb[*k^");
        test_env_fail_at(&t, 0);
        if (status == SILT_OK) {
            break;
        }
        assert_int_equal(status, SILT_ENOMEM);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(uuid_with_prefix_is_in_a_folder_of_the_table),
        TEST(uuid_without_prefix_is_in_the_tables_root),
        TEST(prefix_is_not_decoded),
        TEST(absolute_path_is_decoded_once),
        TEST(inline_text_is_kept),
        TEST(prefix_that_climbs_is_refused),
        TEST(text_that_is_no_uuid_is_refused),
        TEST(relative_path_of_type_p_is_refused),
        TEST(other_storage_type_is_not_supported),
        TEST(missing_offset_is_behind_the_version_byte),
        TEST(numbers_out_of_range_are_refused),
        TEST(running_out_of_memory_is_told),
    };
    return cmocka_run_group_tests_name("dv descriptor", tests, NULL, NULL);
}
