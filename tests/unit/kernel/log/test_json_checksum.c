/*
 * The canonical form of JSON and its checksum, with the example of the protocol.
 */
#include "test_env.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/log/json_checksum.h"

static void canonical(struct test_env *test, const char *json, enum sl_checksum_order order, char *out, size_t size)
{
    struct sl_json_doc *doc = NULL;
    struct sl_buf text;
    silt_error err = SILT_ERROR_INIT;
    sl_buf_init(&text, &test->env);
    assert_int_equal(sl_json_parse(&test->env, sl_str_from(json), &doc, &err), SILT_OK);
    assert_int_equal(sl_json_canonical(&test->env, sl_json_root(doc), order, &text, &err), SILT_OK);
    assert_true(text.len < size);
    memcpy(out, sl_buf_cstr(&text), text.len + 1);
    sl_json_free(doc);
    sl_buf_release(&text);
}

static void expect(const char *json, const char *form)
{
    struct test_env test;
    test_env_init(&test);
    char text[1024];
    canonical(&test, json, SL_CHECKSUM_BY_PATH, text, sizeof(text));
    assert_string_equal(text, form);
    test_env_check(&test);
}

#define SAMPLE                                                                                               \
    "{\"k0\":\"'v 0'\", \"checksum\": \"adsaskfljadfkjadfkj\", \"k1\":{\"k2\": 2, \"k3\": [\"v3\", [1, 2], " \
    "{\"k4\": \"v4\", \"k5\": [\"v5\", \"v6\", \"v7\"]}]}}"

static void the_protocols_sample_has_its_form_and_checksum(void **state)
{
    (void)state;
    expect(SAMPLE, "\"k0\"=\"%27v%200%27\",\"k1\"+\"k2\"=2,\"k1\"+\"k3\"+0=\"v3\",\"k1\"+\"k3\"+1+0=1,"
                   "\"k1\"+\"k3\"+1+1=2,\"k1\"+\"k3\"+2+\"k4\"=\"v4\",\"k1\"+\"k3\"+2+\"k5\"+0=\"v5\","
                   "\"k1\"+\"k3\"+2+\"k5\"+1=\"v6\",\"k1\"+\"k3\"+2+\"k5\"+2=\"v7\"");
    struct test_env test;
    test_env_init(&test);
    struct sl_json_doc *doc = NULL;
    char sum[SL_JSON_CHECKSUM_SIZE];
    assert_int_equal(sl_json_parse(&test.env, SL_STR(SAMPLE), &doc, NULL), SILT_OK);
    assert_int_equal(sl_json_checksum(&test.env, sl_json_root(doc), SL_CHECKSUM_BY_PATH, sum, NULL), SILT_OK);
    assert_string_equal(sum, "6a92d155a59bf2eecbd4b4ec7fd1f875");
    sl_json_free(doc);
    test_env_check(&test);
}

static void every_kind_of_value_has_a_form(void **state)
{
    (void)state;
    expect("{\"b\":{\"y\":null,\"x\":\"https://delta.io\"},\"a\":10}",
           "\"a\"=10,\"b\"+\"x\"=\"https%3A%2F%2Fdelta.io\",\"b\"+\"y\"=null");
    expect("[null,\"hi ho\",2.71,true]", "0=null,1=\"hi%20ho\",2=2.71,3=true");
    expect("{\"a\":\"\xc3\xa9~-._\",\"e\":{},\"l\":[]}", "\"a\"=\"%C3%A9~-._\"");
    expect("{}", "");
    expect("{\"x\":{\"checksum\":1}}", "\"x\"+\"checksum\"=1"); /* only the top-level one is left out */
}

/* Ten and more elements: the order of the paths, and that of "path=value" as Delta Spark has it. */
static void lists_of_many_scalars_have_two_orders(void **state)
{
    (void)state;
    struct test_env test;
    test_env_init(&test);
    char text[256];
    canonical(&test, "[0,1,2,3,4,5,6,7,8,9,10]", SL_CHECKSUM_BY_PATH, text, sizeof(text));
    assert_string_equal(text, "0=0,1=1,10=10,2=2,3=3,4=4,5=5,6=6,7=7,8=8,9=9");
    canonical(&test, "[0,1,2,3,4,5,6,7,8,9,10]", SL_CHECKSUM_BY_TEXT, text, sizeof(text));
    assert_string_equal(text, "0=0,10=10,1=1,2=2,3=3,4=4,5=5,6=6,7=7,8=8,9=9");
    test_env_check(&test);
}

static void a_key_that_is_there_twice_is_refused(void **state)
{
    (void)state;
    struct test_env test;
    test_env_init(&test);
    struct sl_json_doc *doc = NULL;
    char sum[SL_JSON_CHECKSUM_SIZE];
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_json_parse(&test.env, SL_STR("{\"a\":{\"b\":1,\"b\":2}}"), &doc, NULL), SILT_OK);
    assert_int_equal(sl_json_checksum(&test.env, sl_json_root(doc), SL_CHECKSUM_BY_PATH, sum, &err), SILT_ECORRUPT);
    assert_non_null(strstr(err.message, "key b"));
    sl_json_free(doc);
    test_env_check(&test);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    struct test_env test;
    test_env_init(&test);
    struct sl_json_doc *doc = NULL;
    assert_int_equal(sl_json_parse(&test.env, SL_STR(SAMPLE), &doc, NULL), SILT_OK);
    for (size_t n = 1;; n++) {
        char sum[SL_JSON_CHECKSUM_SIZE];
        test_env_fail_at(&test, n);
        const silt_status status = sl_json_checksum(&test.env, sl_json_root(doc), SL_CHECKSUM_BY_PATH, sum, NULL);
        if (status == SILT_OK) {
            break;
        }
        assert_int_equal(status, SILT_ENOMEM);
    }
    test_env_fail_at(&test, 0);
    sl_json_free(doc);
    test_env_check(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_protocols_sample_has_its_form_and_checksum),
        cmocka_unit_test(every_kind_of_value_has_a_form),
        cmocka_unit_test(lists_of_many_scalars_have_two_orders),
        cmocka_unit_test(a_key_that_is_there_twice_is_refused),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
