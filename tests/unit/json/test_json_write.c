/* Writing JSON. */
#include "json/writer.h"

#include <math.h>

#include "json/json.h"
#include "test_env.h"

static void commas_and_colons_are_placed(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_buf buf;
    struct sl_json_writer w;
    sl_buf_init(&buf, &t.env);
    sl_json_writer_init(&w, &buf);
    sl_json_begin_object(&w);
    sl_json_key_c(&w, "a");
    sl_json_put_i64(&w, -1);
    sl_json_key(&w, SL_STR("b\""));
    sl_json_begin_array(&w);
    sl_json_put_bool(&w, true);
    sl_json_put_null(&w);
    sl_json_put_f64(&w, 2.0);
    sl_json_put_raw(&w, SL_STR("12345678901234567890.10"));
    sl_json_begin_array(&w);
    sl_json_end_array(&w);
    sl_json_begin_object(&w);
    sl_json_end_object(&w);
    sl_json_put_c(&w, "x");
    sl_json_end_array(&w);
    sl_json_key_c(&w, "c");
    sl_json_put_str(&w, (struct sl_str){NULL, 0});
    sl_json_key_c(&w, "d");
    sl_json_put_c(&w, NULL);
    sl_json_key_c(&w, "e");
    sl_json_put_str(&w, SL_STR(""));
    sl_json_end_object(&w);
    assert_string_equal(sl_buf_cstr(&buf), "{\"a\":-1,\"b\\\"\":[true,null,2.0,12345678901234567890.10,[],{},\"x\"],"
                                           "\"c\":null,\"d\":null,\"e\":\"\"}");
    sl_buf_release(&buf);
    test_env_check(&t);
}

static void numbers_that_are_not_finite_become_null(void **state)
{
    (void)state;
    struct sl_buf buf;
    struct sl_json_writer w;
    sl_buf_init(&buf, silt_env_default());
    sl_json_writer_init(&w, &buf);
    sl_json_begin_array(&w);
    sl_json_put_f64(&w, (double)NAN);
    sl_json_put_f64(&w, (double)INFINITY);
    sl_json_put_f64(&w, -(double)INFINITY);
    sl_json_end_array(&w);
    assert_string_equal(sl_buf_cstr(&buf), "[null,null,null]");
    sl_buf_release(&buf);
}

static void text_is_escaped_and_made_valid(void **state)
{
    (void)state;
    struct sl_buf buf;
    sl_buf_init(&buf, silt_env_default());
    sl_json_escape(&buf, SL_STR("a\"\\/\n\r\t\b\x01\0\x1F\x7F\xC3\xA4\xFF\xED\xA0\x80\xF0\x9F\x98\x80"));
    assert_string_equal(sl_buf_cstr(&buf), "a\\\"\\\\/\\n\\r\\t\\u0008\\u0001\\u0000\\u001f\x7F\xC3\xA4"
                                           "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xF0\x9F\x98\x80");
    sl_buf_clear(&buf);
    sl_json_escape(&buf, (struct sl_str){NULL, 0});
    assert_int_equal(buf.len, 0);
    sl_buf_release(&buf);
}

static void written_text_reads_back(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    char all[512];
    size_t len = 0;
    for (int i = 0; i < 128; i++) {
        all[len++] = (char)i;
    }
    struct sl_buf buf;
    struct sl_json_writer w;
    sl_buf_init(&buf, &t.env);
    sl_json_writer_init(&w, &buf);
    sl_json_put_str(&w, sl_str_make(all, len));
    struct sl_json_doc *doc = NULL;
    struct sl_str back;
    assert_int_equal(sl_json_parse(&t.env, sl_buf_view(&buf), &doc, NULL), SILT_OK);
    assert_true(sl_json_to_str(sl_json_root(doc), &back));
    assert_true(sl_str_eq(back, sl_str_make(all, len)));
    sl_json_free(doc);
    sl_buf_release(&buf);
    test_env_check(&t);
}

static void parsed_values_print_as_they_were(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"a\":[1,2.50,-0.0,1e+400,123456789012345678901234567890],\"b\":{\"c\":null,\"c\":true},\"d\":\"\\\"\\n\",\"\":false}",
        "[]",
        "\"x\"",
        "12.340",
        "null",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct test_env t;
        test_env_init(&t);
        struct sl_buf buf;
        sl_buf_init(&buf, &t.env);
        struct sl_json_doc *doc = NULL;
        assert_int_equal(sl_json_parse(&t.env, sl_str_from(texts[i]), &doc, NULL), SILT_OK);
        sl_json_write(&buf, sl_json_root(doc));
        assert_string_equal(sl_buf_cstr(&buf), texts[i]);
        sl_json_free(doc);
        sl_buf_release(&buf);
        test_env_check(&t);
    }
    struct sl_buf buf;
    sl_buf_init(&buf, silt_env_default());
    sl_json_write(&buf, NULL);
    assert_string_equal(sl_buf_cstr(&buf), "null");
    sl_buf_release(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_and_colons_are_placed),     cmocka_unit_test(numbers_that_are_not_finite_become_null),
        cmocka_unit_test(text_is_escaped_and_made_valid),   cmocka_unit_test(written_text_reads_back),
        cmocka_unit_test(parsed_values_print_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
