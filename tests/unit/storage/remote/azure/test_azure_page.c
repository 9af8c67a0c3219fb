/* Pages of listings, as the services write them and as nobody should. */
#include "storage/remote/azure/azure_page.h"

#include <string.h>

#include "base/buf.h"
#include "test_env.h"

#define TIME "Wed, 01 Jan 2020 00:00:05 GMT"
#define BLOB(name, size)                                                                                  \
    "<Blob><Name>" name "</Name><Properties><Last-Modified>" TIME "</Last-Modified><Content-Length>" size \
    "</Content-Length></Properties></Blob>"
#define PAGE(inner, marker)                                                                                      \
    "<?xml version=\"1.0\"?><EnumerationResults ContainerName=\"c\"><Blobs>" inner "</Blobs><NextMarker>" marker \
    "</NextMarker></EnumerationResults>"

struct rig {
    struct test_env test;
    struct sl_azure_page page;
};

static int set_up(void **state)
{
    static struct rig rig;
    test_env_init(&rig.test);
    sl_azure_page_init(&rig.page, &rig.test.env);
    *state = &rig;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *rig = *state;
    sl_azure_page_release(&rig->page);
    test_env_check(&rig->test);
    return 0;
}

static const struct sl_azure_entry *entry(const struct rig *rig, size_t index)
{
    assert_true(index < rig->page.entries.len);
    return sl_vec_at(&rig->page.entries, index);
}

static silt_status read_xml(struct rig *rig, const char *text, silt_error *err)
{
    return sl_azure_page_read_xml(&rig->page, sl_str_from(text), err);
}

static void blobs_have_name_size_and_time(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(read_xml(rig,
                              "\xEF\xBB\xBF" PAGE(BLOB("a/b &amp; &lt;c&gt;", "12")
                                                      BLOB("d\xc3\xbc", "0") "<BlobPrefix><Name>e/</Name></BlobPrefix>",
                                                  "2!80!x-"),
                              NULL),
                     SILT_OK);
    assert_int_equal(rig->page.entries.len, 2);
    assert_true(sl_str_eq_c(entry(rig, 0)->name, "a/b & <c>"));
    assert_int_equal(entry(rig, 0)->size_bytes, 12);
    assert_int_equal(entry(rig, 0)->modified_ms, INT64_C(1577836805000));
    assert_false(entry(rig, 0)->is_folder);
    assert_true(sl_str_eq_c(entry(rig, 1)->name, "d\xc3\xbc"));
    assert_int_equal(rig->page.n_prefixes, 1);
    assert_true(sl_str_eq_c(rig->page.next, "2!80!x-"));
}

static void an_empty_page_is_one(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(read_xml(rig, "<EnumerationResults><Blobs/><NextMarker/></EnumerationResults>", NULL), SILT_OK);
    assert_int_equal(rig->page.entries.len, 0);
    assert_int_equal(rig->page.next.len, 0);
}

static void what_stands_for_a_folder_is_told(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(
        read_xml(rig,
                 PAGE("<Blob><Name>f</Name><Properties><Last-Modified>" TIME
                      "</Last-Modified><Content-Length>0</Content-Length></Properties>"
                      "<Metadata><hdi_isfolder>true</hdi_isfolder></Metadata></Blob>"
                      "<Blob><Name>g</Name><Properties><Last-Modified>" TIME
                      "</Last-Modified><Content-Length>0</Content-Length><ResourceType>directory</ResourceType>"
                      "</Properties></Blob>" BLOB("h", "1"),
                      ""),
                 NULL),
        SILT_OK);
    assert_true(entry(rig, 0)->is_folder);
    assert_true(entry(rig, 1)->is_folder);
    assert_false(entry(rig, 2)->is_folder);
}

static void pages_that_are_none_are_refused(void **state)
{
    struct rig *rig = *state;
    static const char *const texts[] = {
        "",
        "x",
        "<Error><Code>x</Code></Error>",
        "<EnumerationResults><Blobs>",
        PAGE(BLOB("", "1"), ""),
        PAGE(BLOB("a", "-1"), ""),
        PAGE(BLOB("a", "99999999999999999999"), ""),
        PAGE(BLOB("a", "1x"), ""),
        PAGE("<Blob><Name>a</Name></Blob>", ""),
        PAGE("<Blob><Name>a</Name><Properties><Content-Length>1</Content-Length></Properties></Blob>", ""),
        "<!DOCTYPE a [<!ENTITY b \"c\">]><EnumerationResults><Blobs/></EnumerationResults>"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        silt_error err = SILT_ERROR_INIT;
        if (read_xml(rig, texts[i], &err) != SILT_EIO) {
            fail_msg("%s was taken: %s", texts[i], err.message);
        }
    }
}

/* What is beyond all limits is the service's fault, too: no user's table is too large for it. */
static void pages_beyond_limits_are_refused(void **state)
{
    struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    struct sl_buf text;
    sl_buf_init(&text, &rig->test.env);
    for (size_t i = 0; i < 20; i++) {
        sl_buf_put_c(&text, "<a>");
    }
    assert_int_equal(read_xml(rig, sl_buf_cstr(&text), &err), SILT_EIO);
    assert_non_null(strstr(err.message, "a page of a listing cannot be used: "));
    assert_non_null(strstr(err.message, "nested too deeply"));
    sl_buf_clear(&text);
    sl_buf_put_c(&text, "{\"paths\":[");
    for (size_t i = 0; i < 100001; i++) {
        sl_buf_put_c(&text, i > 0 ? ",{\"name\":\"a\",\"isDirectory\":true}" : "{\"name\":\"a\",\"isDirectory\":true}");
    }
    sl_buf_put_c(&text, "]}");
    assert_int_equal(sl_azure_page_read_json(&rig->page, sl_buf_view(&text), &err), SILT_EIO);
    assert_string_equal(err.message, "a page of a listing cannot be used: it has more than 100000 names");
    sl_buf_release(&text);
}

static void paths_have_name_size_and_time(void **state)
{
    struct rig *rig = *state;
    const char *text = "{\"paths\":[{\"name\":\"a/b\",\"contentLength\":\"12\",\"lastModified\":\"" TIME
                       "\"},{\"name\":\"a\",\"isDirectory\":\"true\"},{\"name\":\"c\",\"isDirectory\":false,"
                       "\"contentLength\":3,\"lastModified\":\"" TIME "\"}]}";
    assert_int_equal(sl_azure_page_read_json(&rig->page, sl_str_from(text), NULL), SILT_OK);
    assert_int_equal(rig->page.entries.len, 3);
    assert_int_equal(entry(rig, 0)->size_bytes, 12);
    assert_int_equal(entry(rig, 0)->modified_ms, INT64_C(1577836805000));
    assert_true(entry(rig, 1)->is_folder);
    assert_int_equal(entry(rig, 2)->size_bytes, 3);
}

static void paths_that_are_none_are_refused(void **state)
{
    struct rig *rig = *state;
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"paths\":{}}",
        "{\"paths\":[1]}",
        "{\"paths\":[{\"name\":\"\"}]}",
        "{\"paths\":[{\"name\":\"a\"}]}",
        "{\"paths\":[{\"name\":\"a\",\"contentLength\":\"-1\",\"lastModified\":\"" TIME "\"}]}",
        "{\"paths\":[{\"name\":\"a\",\"contentLength\":\"1\",\"lastModified\":\"x\"}]}"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (sl_azure_page_read_json(&rig->page, sl_str_from(texts[i]), NULL) != SILT_EIO) {
            fail_msg("%s was taken", texts[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(blobs_have_name_size_and_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_empty_page_is_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_stands_for_a_folder_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pages_that_are_none_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pages_beyond_limits_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(paths_have_name_size_and_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(paths_that_are_none_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
