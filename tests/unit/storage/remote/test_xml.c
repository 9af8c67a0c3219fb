/* XML of servers: what is told, and what is refused. */
#include "storage/remote/xml.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "test_env.h"

struct trace {
    struct sl_buf text;
    const char *stop_at;
};

static silt_status on_start(void *ctx, struct sl_str path, silt_error *err)
{
    (void)err;
    struct trace *trace = ctx;
    sl_buf_printf(&trace->text, "<%.*s>", SL_FMT(path));
    return SILT_OK;
}

static silt_status on_end(void *ctx, struct sl_str path, struct sl_str text, silt_error *err)
{
    struct trace *trace = ctx;
    sl_buf_printf(&trace->text, "%.*s=[%.*s]", SL_FMT(path), SL_FMT(text));
    if (trace->stop_at != NULL && sl_str_eq_c(path, trace->stop_at)) {
        return sl_fail(err, SILT_ENOTFOUND, NULL, "stopped");
    }
    return SILT_OK;
}

static silt_status read_xml(struct sl_str text, const char *stop_at, char *out, size_t out_size, silt_error *err)
{
    struct test_env t;
    test_env_init(&t);
    struct trace trace = {.stop_at = stop_at};
    sl_buf_init(&trace.text, &t.env);
    const struct sl_xml_handler handler = {on_start, on_end, &trace};
    const silt_status status = sl_xml_read(&t.env, text, &handler, err);
    (void)snprintf(out, out_size, "%s", sl_buf_cstr(&trace.text));
    sl_buf_release(&trace.text);
    test_env_check(&t);
    return status;
}

static void check(const char *text, const char *expected)
{
    char out[1024];
    assert_int_equal(read_xml(sl_str_from(text), NULL, out, sizeof(out), NULL), SILT_OK);
    assert_string_equal(out, expected);
}

static void elements_are_told_by_their_paths(void **state)
{
    (void)state;
    check("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a xmlns=\"http://x/\"><s3:b>1</s3:b><c x='1'/></a>",
          "<a><a/b>a/b=[1]<a/c>a/c=[]a=[]");
    check("<a:><b:c:>1</b:c:></a:>", "<a:><a:/b:c:>a:/b:c:=[1]a:=[]");
    check("<a>x<b>y</b>z</a>", "<a><a/b>a/b=[y]a=[xz]");
    check("<a>&lt;&amp;&#65;<![CDATA[<b>]]></a>", "<a>a=[<&A<b>]");
    check("\xEF\xBB\xBF<a>\xC3\xBC</a>", "<a>a=[\xC3\xBC]");
}

static void a_handler_stops_the_pass(void **state)
{
    (void)state;
    char out[256];
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(read_xml(SL_STR("<a><b>1</b><c>2</c></a>"), "a/b", out, sizeof(out), &err), SILT_ENOTFOUND);
    assert_string_equal(out, "<a><a/b>a/b=[1]");
    assert_string_equal(err.message, "stopped");
}

static void broken_text_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",   "x",           "<a>",       "<a></b>",      "<a/><b/>", "<a>&x;</a>", "<a>\xff</a>",
        "<a", "<a>\x01</a>", "<a b></a>", "{\"json\": 1}"};
    char out[256];
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_int_equal(read_xml(sl_str_from(texts[i]), NULL, out, sizeof(out), NULL), SILT_EIO);
    }
}

static void document_types_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"<!DOCTYPE a><a/>", "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>",
                                        "<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a/>",
                                        "<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><a>&x;</a>"};
    char out[256];
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        silt_error err = SILT_ERROR_INIT;
        assert_int_equal(read_xml(sl_str_from(texts[i]), NULL, out, sizeof(out), &err), SILT_EIO);
        assert_string_equal(err.message, "the server's XML has a document type, which is refused");
        assert_string_equal(out, "");
    }
}

static silt_status read_nested(size_t depth, const char *name)
{
    struct sl_buf text;
    char out[64];
    sl_buf_init(&text, silt_env_default());
    for (size_t i = 0; i < depth; i++) {
        sl_buf_printf(&text, "<%s>", name);
    }
    for (size_t i = 0; i < depth; i++) {
        sl_buf_printf(&text, "</%s>", name);
    }
    const silt_status status = read_xml(sl_buf_view(&text), NULL, out, sizeof(out), NULL);
    sl_buf_release(&text);
    return status;
}

static silt_status read_long(size_t len)
{
    struct sl_buf text;
    char out[64];
    sl_buf_init(&text, silt_env_default());
    sl_buf_put_c(&text, "<a>");
    for (size_t i = 0; i < len; i++) {
        sl_buf_put_char(&text, 'x');
    }
    sl_buf_put_c(&text, "</a>");
    const silt_status status = read_xml(sl_buf_view(&text), NULL, out, sizeof(out), NULL);
    sl_buf_release(&text);
    return status;
}

static void limits_hold(void **state)
{
    (void)state;
    char long_name[SL_XML_MAX_PATH + 1];
    memset(long_name, 'n', sizeof(long_name));
    long_name[SL_XML_MAX_PATH] = '\0';
    assert_int_equal(read_nested(SL_XML_MAX_DEPTH, "a"), SILT_OK);
    assert_int_equal(read_nested(SL_XML_MAX_DEPTH + 1, "a"), SILT_EIO);
    assert_int_equal(read_nested(1, long_name), SILT_EIO);
    long_name[SL_XML_MAX_PATH - 1] = '\0';
    assert_int_equal(read_nested(1, long_name), SILT_OK);
    assert_int_equal(read_nested(2, long_name), SILT_EIO);
    assert_int_equal(read_long(SL_XML_MAX_TEXT), SILT_OK);
    assert_int_equal(read_long(SL_XML_MAX_TEXT + 1), SILT_EIO);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 3; n++) {
        struct test_env t;
        test_env_init(&t);
        test_env_fail_at(&t, n);
        const struct sl_xml_handler handler = {0};
        const silt_status status = sl_xml_read(&t.env, SL_STR("<a><b>1</b></a>"), &handler, NULL);
        assert_true(status == SILT_ENOMEM || (status == SILT_OK && t.n_requests < n));
        test_env_check(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_told_by_their_paths),
        cmocka_unit_test(a_handler_stops_the_pass),
        cmocka_unit_test(broken_text_is_refused),
        cmocka_unit_test(document_types_are_refused),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
