/*
 * The pull scanner: what it finds, and that it accepts exactly what the parser accepts.
 */
#include "json/scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "json_random.h"
#include "silt/env.h"

#define assert_raw(token, text) assert_true(sl_str_eq_c((token).raw, (text)))

static void members_are_found_without_a_tree(void **state)
{
    (void)state;
    const struct sl_str text = SL_STR(
        " {\"numRecords\": 3 , \"minValues\":{\"a\":-1.50,\"b\":{\"c\":[1,{}]}},\"x\":\"q\"}\n");
    struct sl_json_scan scan;
    struct sl_json_text key;
    struct sl_json_token value;
    sl_json_scan_init(&scan, text);
    assert_true(sl_json_scan_object(&scan));
    assert_true(sl_json_scan_member(&scan, &key));
    assert_true(sl_json_text_is(&key, SL_STR("numRecords")));
    assert_true(sl_json_scan_value(&scan, &value));
    assert_int_equal(value.kind, SL_JSON_NUMBER);
    assert_raw(value, "3");
    assert_true(sl_json_scan_member(&scan, &key));
    assert_int_equal(sl_json_scan_peek(&scan), SL_JSON_OBJECT);
    assert_true(sl_json_scan_object(&scan));
    assert_true(sl_json_scan_member(&scan, &key));
    assert_true(sl_json_scan_value(&scan, &value));
    assert_raw(value, "-1.50");
    assert_true(sl_json_scan_member(&scan, &key));
    assert_true(sl_json_scan_value(&scan, &value));
    assert_int_equal(value.kind, SL_JSON_OBJECT);
    assert_raw(value, "{\"c\":[1,{}]}");
    assert_false(sl_json_scan_member(&scan, &key));
    assert_true(sl_json_scan_member(&scan, &key));
    assert_true(sl_json_scan_skip(&scan));
    assert_false(sl_json_scan_member(&scan, &key));
    assert_true(sl_json_scan_end(&scan));
}

static void elements_are_walked(void **state)
{
    (void)state;
    struct sl_json_scan scan;
    struct sl_json_token value;
    sl_json_scan_init(&scan, SL_STR("[true, null ,[ ] , \"a\"]"));
    static const enum sl_json_kind kinds[] = {SL_JSON_BOOL, SL_JSON_NULL, SL_JSON_ARRAY, SL_JSON_STRING};
    assert_true(sl_json_scan_array(&scan));
    for (size_t i = 0; i < 4; i++) {
        assert_true(sl_json_scan_element(&scan));
        assert_true(sl_json_scan_value(&scan, &value));
        assert_int_equal(value.kind, kinds[i]);
    }
    assert_raw(value, "a");
    assert_false(sl_json_scan_element(&scan));
    assert_true(sl_json_scan_end(&scan));
}

static void escapes_count_as_what_they_stand_for(void **state)
{
    (void)state;
    struct sl_json_scan scan;
    struct sl_json_text key;
    struct sl_json_token value;
    char out[128];
    sl_json_scan_init(&scan, SL_STR("{\"min\\u0056alues\":\"a\\n\\uD83D\\uDE00\\\"\\\\/é\"}"));
    assert_true(sl_json_scan_object(&scan));
    assert_true(sl_json_scan_member(&scan, &key));
    assert_true(key.has_escapes);
    assert_true(sl_json_text_is(&key, SL_STR("minValues")));
    assert_false(sl_json_text_is(&key, SL_STR("minValue")));
    assert_false(sl_json_text_is(&key, SL_STR("minValues2")));
    assert_true(sl_json_scan_value(&scan, &value));
    const struct sl_json_text text = {value.raw, value.has_escapes};
    assert_true(sl_json_text_room(&text) <= sizeof(out));
    const size_t len = sl_json_text_decode(&text, out);
    assert_true(sl_str_eq_c(sl_str_make(out, len), "a\n😀\"\\/é"));
}

static void a_fault_ends_everything(void **state)
{
    (void)state;
    struct sl_json_scan scan;
    struct sl_json_text key;
    struct sl_json_token value;
    sl_json_scan_init(&scan, SL_STR("{\"a\":tru}"));
    assert_true(sl_json_scan_object(&scan));
    assert_true(sl_json_scan_member(&scan, &key));
    assert_false(sl_json_scan_value(&scan, &value));
    assert_non_null(scan.fault);
    assert_false(sl_json_scan_member(&scan, &key));
    assert_false(sl_json_scan_object(&scan));
    assert_false(sl_json_scan_end(&scan));
    sl_json_scan_init(&scan, SL_STR("[1]"));
    assert_false(sl_json_scan_object(&scan));
    sl_json_scan_init(&scan, SL_STR(""));
    assert_false(sl_json_scan_skip(&scan));
}

static bool scan_accepts(struct sl_str text)
{
    struct sl_json_scan scan;
    sl_json_scan_init(&scan, text);
    return sl_json_scan_skip(&scan) && sl_json_scan_end(&scan);
}

static bool parser_accepts(struct sl_str text)
{
    struct sl_json_doc *doc = NULL;
    const silt_status status = sl_json_parse(silt_env_default(), text, &doc, NULL);
    sl_json_free(doc);
    return status == SILT_OK;
}

static void depth_is_limited_as_in_the_parser(void **state)
{
    (void)state;
    for (size_t n = SL_JSON_MAX_DEPTH - 1; n <= SL_JSON_MAX_DEPTH + 1; n++) {
        char text[2 * SL_JSON_MAX_DEPTH + 16];
        memset(text, '[', n);
        memset(text + n, ']', n);
        assert_int_equal(scan_accepts(sl_str_make(text, 2 * n)), n <= SL_JSON_MAX_DEPTH);
        assert_int_equal(parser_accepts(sl_str_make(text, 2 * n)), n <= SL_JSON_MAX_DEPTH);
    }
}

/* The values of a text through both: the same tree, strings decoded alike. */
static void compare_trees(struct sl_json_scan *scan, const sl_json *value)
{
    struct sl_json_iter iter = sl_json_iterate(value);
    struct sl_json_text key;
    struct sl_json_token token;
    struct sl_str name;
    struct sl_str text;
    const sl_json *child = NULL;
    assert_int_equal(sl_json_scan_peek(scan), sl_json_get_kind(value));
    switch (sl_json_get_kind(value)) {
    case SL_JSON_OBJECT:
        assert_true(sl_json_scan_object(scan));
        while (sl_json_scan_member(scan, &key)) {
            assert_true(sl_json_next(&iter, &name, &child));
            assert_true(sl_json_text_is(&key, name));
            compare_trees(scan, child);
        }
        assert_false(sl_json_next(&iter, &name, &child));
        return;
    case SL_JSON_ARRAY:
        assert_true(sl_json_scan_array(scan));
        while (sl_json_scan_element(scan)) {
            assert_true(sl_json_next(&iter, NULL, &child));
            compare_trees(scan, child);
        }
        assert_false(sl_json_next(&iter, NULL, &child));
        return;
    default: break;
    }
    assert_true(sl_json_scan_value(scan, &token));
    if (token.kind == SL_JSON_STRING) {
        const struct sl_json_text found = {token.raw, token.has_escapes};
        char *out = sl_alloc(silt_env_default(), sl_json_text_room(&found));
        assert_non_null(out);
        const size_t len = sl_json_text_decode(&found, out);
        assert_true(sl_json_to_str(value, &text) && sl_str_eq(text, sl_str_make(out, len)));
        sl_release(silt_env_default(), out, sl_json_text_room(&found));
    } else if (token.kind == SL_JSON_NUMBER) {
        assert_true(sl_json_to_number_text(value, &text) && sl_str_eq(text, token.raw));
    }
}

static void compare(struct sl_str text)
{
    /* A block of its own size: reading beyond it is seen by the sanitizer. */
    char *exact = sl_alloc(silt_env_default(), text.len + (text.len == 0 ? 1 : 0));
    assert_non_null(exact);
    memcpy(exact, text.ptr, text.len);
    const struct sl_str copy = sl_str_make(exact, text.len);
    struct sl_json_doc *doc = NULL;
    const bool parses = sl_json_parse(silt_env_default(), copy, &doc, NULL) == SILT_OK;
    if (scan_accepts(copy) != parses) {
        fail_msg("the scanner %s: %.*s", parses ? "refuses" : "accepts", SL_FMT(copy));
    }
    if (parses) {
        struct sl_json_scan scan;
        sl_json_scan_init(&scan, copy);
        compare_trees(&scan, sl_json_root(doc));
        assert_true(sl_json_scan_end(&scan));
    }
    sl_json_free(doc);
    sl_release(silt_env_default(), exact, text.len + (text.len == 0 ? 1 : 0));
}

static void scanner_and_parser_judge_alike(void **state)
{
    (void)state;
    uint64_t seed = 20261129;
    struct sl_buf text;
    sl_buf_init(&text, silt_env_default());
    for (size_t i = 0; i < 60000; i++) {
        sl_buf_clear(&text);
        json_random_value(&text, &seed, 0);
        if (text.len > 0) {
            compare(sl_buf_view(&text));
            json_random_mutate(&text, &seed);
        }
        if (text.len > 0) {
            compare(sl_buf_view(&text));
        }
    }
    sl_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_found_without_a_tree),     cmocka_unit_test(elements_are_walked),
        cmocka_unit_test(escapes_count_as_what_they_stand_for), cmocka_unit_test(a_fault_ends_everything),
        cmocka_unit_test(depth_is_limited_as_in_the_parser),    cmocka_unit_test(scanner_and_parser_judge_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
