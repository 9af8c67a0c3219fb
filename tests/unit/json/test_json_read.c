/* Reading JSON. */
#include "json/json.h"

#include <string.h>

#include "base/buf.h"
#include "test_env.h"

struct fixture {
    struct test_env t;
    struct sl_json_doc *doc;
    silt_error err;
};

static const sl_json *parse(struct fixture *f, struct sl_str text)
{
    test_env_init(&f->t);
    f->err = (silt_error)SILT_ERROR_INIT;
    assert_int_equal(sl_json_parse(&f->t.env, text, &f->doc, &f->err), SILT_OK);
    return sl_json_root(f->doc);
}

static void finish(struct fixture *f)
{
    sl_json_free(f->doc);
    test_env_check(&f->t);
}

static void members_are_found_with_their_types(void **state)
{
    (void)state;
    struct fixture f;
    const sl_json *root = parse(&f, SL_STR("{\"s\":\"a\\u0000\\u00e4\",\"t\":true,\"n\":null,\"i\":-5,\"d\":1.50,"
                                           "\"a\":[1,2,3],\"o\":{\"x\":{}},\"s\":\"second\"}"));
    struct sl_str text;
    bool truth = false;
    int64_t number = 0;
    double floating = 0;
    assert_true(sl_json_is_object(root));
    assert_int_equal(sl_json_count(root), 8);
    assert_true(sl_json_to_str(sl_json_member(root, "s"), &text));
    assert_true(sl_str_eq(text, SL_STR("a\0\xC3\xA4")));
    assert_true(sl_json_to_bool(sl_json_member(root, "t"), &truth));
    assert_true(truth);
    assert_true(sl_json_is_null(sl_json_member(root, "n")));
    assert_non_null(sl_json_member(root, "n"));
    assert_true(sl_json_to_i64(sl_json_member(root, "i"), &number));
    assert_int_equal(number, -5);
    assert_true(sl_json_to_f64(sl_json_member(root, "d"), &floating));
    assert_true(floating == 1.5);
    assert_true(sl_json_to_number_text(sl_json_member(root, "d"), &text));
    assert_true(sl_str_eq_c(text, "1.50"));
    assert_int_equal(sl_json_count(sl_json_member(root, "a")), 3);
    assert_true(sl_json_is_array(sl_json_member(root, "a")));
    assert_int_equal(sl_json_count(sl_json_member(sl_json_member(root, "o"), "x")), 0);
    finish(&f);
}

static void absent_values_are_legal_everywhere(void **state)
{
    (void)state;
    struct fixture f;
    const sl_json *root = parse(&f, SL_STR("[1]"));
    struct sl_str text;
    bool truth = false;
    int64_t number = 0;
    double floating = 0;
    const sl_json *absent = sl_json_member(root, "x");
    assert_null(absent);
    assert_null(sl_json_member(absent, "x"));
    assert_null(sl_json_member_str(absent, (struct sl_str){NULL, 0}));
    assert_true(sl_json_is_null(absent));
    assert_int_equal(sl_json_count(absent), 0);
    assert_false(sl_json_to_str(absent, &text));
    assert_false(sl_json_to_bool(absent, &truth));
    assert_false(sl_json_to_i64(absent, &number));
    assert_false(sl_json_to_f64(absent, &floating));
    assert_false(sl_json_to_number_text(absent, &text));
    assert_false(sl_json_to_str(root, &text));
    struct sl_json_iter iter = sl_json_iterate(absent);
    assert_false(sl_json_next(&iter, NULL, &absent));
    assert_null(sl_json_root(NULL));
    sl_json_free(NULL);
    finish(&f);
}

static void integers_in_any_notation_are_exact(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool fits;
        int64_t value;
    } cases[] = {
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"5.0", true, 5},
        {"5e3", true, 5000},
        {"-1.25e2", true, -125},
        {"9007199254740993.0", true, INT64_C(9007199254740993)},
        {"1.5", false, 0},
        {"1e19", false, 0},
        {"1e400", false, 0},
        {"\"5\"", false, 0},
        {"true", false, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fixture f;
        int64_t value = 0;
        const sl_json *root = parse(&f, sl_str_from(cases[i].text));
        assert_int_equal(sl_json_to_i64(root, &value), cases[i].fits);
        assert_true(value == cases[i].value);
        finish(&f);
    }
}

static void iteration_gives_keys_and_values_in_order(void **state)
{
    (void)state;
    struct fixture f;
    const sl_json *root = parse(&f, SL_STR("{\"a\":[10,[20],30],\"\":{\"z\":1},\"c\":3}"));
    static const char *const keys[] = {"a", "", "c"};
    struct sl_json_iter iter = sl_json_iterate(root);
    struct sl_str key;
    const sl_json *value = NULL;
    for (size_t i = 0; i < 3; i++) {
        assert_true(sl_json_next(&iter, &key, &value));
        assert_true(sl_str_eq_c(key, keys[i]));
    }
    assert_int_equal(sl_json_get_kind(value), SL_JSON_NUMBER);
    assert_false(sl_json_next(&iter, &key, &value));
    assert_null(value);
    iter = sl_json_iterate(sl_json_member(root, "a"));
    assert_true(sl_json_next(&iter, &key, &value));
    assert_null(key.ptr);
    assert_true(sl_json_next(&iter, NULL, &value));
    assert_true(sl_json_is_array(value));
    int64_t number = 0;
    assert_true(sl_json_next(&iter, NULL, &value));
    assert_true(sl_json_to_i64(value, &number));
    assert_int_equal(number, 30);
    assert_false(sl_json_next(&iter, NULL, &value));
    finish(&f);
}

static void malformed_text_is_corrupt_with_its_position(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int32_t position;
    } cases[] = {
        {"", 0}, {"{\"a\":1,}", 7}, {"[1 2]", 3}, {"nul", 3}, {"{\"a\":01}", 5}, {"1 1", 2}, {"[NaN]", 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct test_env t;
        test_env_init(&t);
        silt_error err = SILT_ERROR_INIT;
        struct sl_json_doc *doc = NULL;
        assert_int_equal(sl_json_parse(&t.env, sl_str_from(cases[i].text), &doc, &err), SILT_ECORRUPT);
        assert_null(doc);
        assert_int_equal(err.status, SILT_ECORRUPT);
        assert_in_range(err.position, cases[i].position > 1 ? cases[i].position - 2 : 0, cases[i].position + 2);
        test_env_check(&t);
    }
}

static void invalid_encodings_are_corrupt(void **state)
{
    (void)state;
    static const char *const bad[] = {"\"\xFF\"", "\"\xED\xA0\x80\"", "\"\\ud800\"", "\"a\nb\"", "\"\\x\"", "\"a",
                                      "/*c*/1"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct test_env t;
        test_env_init(&t);
        struct sl_json_doc *doc = NULL;
        assert_int_equal(sl_json_parse(&t.env, sl_str_from(bad[i]), &doc, NULL), SILT_ECORRUPT);
        test_env_check(&t);
    }
}

static void nesting_is_limited_however_it_is_mixed(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct sl_buf text;
    sl_buf_init(&text, silt_env_default());
    for (int depth = SL_JSON_MAX_DEPTH; depth <= SL_JSON_MAX_DEPTH + 1; depth++) {
        sl_buf_clear(&text);
        for (int i = 0; i < depth; i++) {
            sl_buf_put_c(&text, i % 2 == 0 ? "[" : "{\"[\\\"{\":");
        }
        sl_buf_put_c(&text, "1");
        for (int i = depth - 1; i >= 0; i--) {
            sl_buf_put_c(&text, i % 2 == 0 ? "]" : "}");
        }
        struct sl_json_doc *doc = NULL;
        silt_error err = SILT_ERROR_INIT;
        const silt_status expected = depth <= SL_JSON_MAX_DEPTH ? SILT_OK : SILT_ECORRUPT;
        assert_int_equal(sl_json_parse(&t.env, sl_buf_view(&text), &doc, &err), expected);
        if (doc != NULL) {
            struct sl_buf printed;
            sl_buf_init(&printed, &t.env);
            sl_json_write(&printed, sl_json_root(doc));
            assert_string_equal(sl_buf_cstr(&printed), sl_buf_cstr(&text));
            sl_buf_release(&printed);
        }
        sl_json_free(doc);
    }
    sl_buf_release(&text);
    test_env_check(&t);
}

static void many_flat_brackets_are_not_deep(void **state)
{
    (void)state;
    struct sl_buf text;
    sl_buf_init(&text, silt_env_default());
    sl_buf_put_char(&text, '[');
    for (int i = 0; i < 2000; i++) {
        sl_buf_put_c(&text, "[],\"{[\",");
    }
    sl_buf_put_c(&text, "{}]");
    struct fixture f;
    assert_int_equal(sl_json_count(parse(&f, sl_buf_view(&text))), 4001);
    finish(&f);
    sl_buf_release(&text);
}

static void running_out_of_memory_is_reported_at_every_request(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    silt_status status = SILT_ENOMEM;
    size_t n = 0;
    while (status == SILT_ENOMEM) {
        struct sl_json_doc *doc = NULL;
        silt_error err = SILT_ERROR_INIT;
        test_env_fail_at(&t, ++n);
        status = sl_json_parse(&t.env, SL_STR("{\"a\":[1,2,3,{\"b\":\"c\"}]}"), &doc, &err);
        assert_int_equal(err.status, status);
        assert_int_equal(doc != NULL, status == SILT_OK);
        sl_json_free(doc);
        test_env_check(&t);
    }
    assert_int_equal(status, SILT_OK);
    assert_true(n > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_found_with_their_types),
        cmocka_unit_test(absent_values_are_legal_everywhere),
        cmocka_unit_test(integers_in_any_notation_are_exact),
        cmocka_unit_test(iteration_gives_keys_and_values_in_order),
        cmocka_unit_test(malformed_text_is_corrupt_with_its_position),
        cmocka_unit_test(invalid_encodings_are_corrupt),
        cmocka_unit_test(nesting_is_limited_however_it_is_mixed),
        cmocka_unit_test(many_flat_brackets_are_not_deep),
        cmocka_unit_test(running_out_of_memory_is_reported_at_every_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
