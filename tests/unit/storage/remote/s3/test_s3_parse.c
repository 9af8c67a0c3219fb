/* Answers of S3 in XML: what is taken, what is refused; and where listings begin. */
#include <string.h>

#include "storage/remote/s3/s3_int.h"
#include "test_env.h"

#define PAGE(inner) "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"x\">" inner "</ListBucketResult>"
#define OBJECT(key, size) \
    "<Contents><Key>" key "</Key><Size>" size "</Size><LastModified>2026-11-30T10:00:00.500Z</LastModified></Contents>"

struct fixture {
    struct test_env t;
    struct sl_arena arena;
    struct sl_s3_page page;
    silt_error err;
};

static void set_up(struct fixture *f)
{
    test_env_init(&f->t);
    f->err = (silt_error)SILT_ERROR_INIT;
    sl_arena_init(&f->arena, &f->t.env);
    f->page = (struct sl_s3_page){.arena = &f->arena};
    sl_vec_init(&f->page.objects, &f->t.env, sizeof(struct sl_s3_object));
}

static void tear_down(struct fixture *f)
{
    sl_vec_release(&f->page.objects);
    sl_arena_release(&f->arena);
    test_env_check(&f->t);
}

static silt_status parse(struct fixture *f, const char *text)
{
    return sl_s3_parse_page(&f->t.env, sl_str_from(text), &f->page, &f->err);
}

static void check_key(const char *text, const char *key)
{
    struct fixture f;
    set_up(&f);
    assert_int_equal(parse(&f, text), SILT_OK);
    assert_int_equal(f.page.objects.len, 1);
    assert_true(sl_str_eq_c(((struct sl_s3_object *)sl_vec_at(&f.page.objects, 0))->key, key));
    tear_down(&f);
}

static void a_page_is_read(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    assert_int_equal(
        parse(&f, PAGE("<IsTruncated>true</IsTruncated><NextContinuationToken>t=/</NextContinuationToken>" OBJECT(
                      "a", "7") "<CommonPrefixes><Prefix>b/</Prefix></CommonPrefixes>" OBJECT("c", "0"))),
        SILT_OK);
    const struct sl_s3_object *first = sl_vec_at(&f.page.objects, 0);
    assert_int_equal(f.page.objects.len, 2);
    assert_int_equal(first->size_bytes, 7);
    assert_int_equal(first->modified_ms, INT64_C(1796032800500));
    assert_int_equal(f.page.n_prefixes, 1);
    assert_true(f.page.truncated);
    assert_true(sl_str_eq_c(f.page.token, "t=/"));
    tear_down(&f);
}

/* Where the server says that it encoded them, and only there. */
static void keys_are_decoded(void **state)
{
    (void)state;
    check_key(PAGE("<EncodingType>url</EncodingType>" OBJECT("a%20b+c%2Bd%C3%BC%25", "1")), "a b c+d\xC3\xBC%");
    check_key(PAGE(OBJECT("a%2Bb", "1") "<EncodingType>url</EncodingType>"), "a+b");
    check_key(PAGE(OBJECT("a%20b+c", "1")), "a%20b+c");
    check_key(PAGE(OBJECT("a&amp;b&#10;", "1")), "a&b\n");
}

static void a_page_that_does_not_hold_together_is_refused(void **state)
{
    (void)state;
    static const char *const pages[] = {
        "<Error><Code>x</Code></Error>",
        PAGE("<Contents><Size>1</Size></Contents>"),
        PAGE("<Contents><Key>a</Key></Contents>"),
        PAGE(OBJECT("a", "-1")),
        PAGE(OBJECT("a", "1x")),
        PAGE(OBJECT("a", "9223372036854775808")),
        PAGE("<Contents><Key>a</Key><Size>1</Size><LastModified>soon</LastModified></Contents>"),
        PAGE("<IsTruncated>true</IsTruncated>"),
        PAGE("<EncodingType>url</EncodingType>" OBJECT("a%2", "1")),
        PAGE("<EncodingType>url</EncodingType>" OBJECT("a%zz", "1")),
        PAGE("<EncodingType>url</EncodingType>" OBJECT("a%00b", "1")),
        "<ListBucketResult><Contents>",
        "",
        "\x1f\x8b\b of another encoding",
    };
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        struct fixture f;
        set_up(&f);
        assert_int_equal(parse(&f, pages[i]), SILT_EIO);
        tear_down(&f);
    }
}

static void deletions_that_failed_are_told(void **state)
{
    (void)state;
    struct fixture f;
    struct sl_str key;
    struct sl_str code;
    set_up(&f);
    assert_int_equal(sl_s3_parse_deleted(&f.arena,
                                         SL_STR("<DeleteResult><Deleted><Key>a</Key></Deleted></DeleteResult>"), &key,
                                         &code, &f.err),
                     SILT_OK);
    assert_null(key.ptr);
    assert_int_equal(
        sl_s3_parse_deleted(&f.arena,
                            SL_STR("<DeleteResult><Error><Code>AccessDenied</Code><Key>a&lt;b</Key></Error>"
                                   "<Error><Key>c</Key><Code>InternalError</Code></Error></DeleteResult>"),
                            &key, &code, &f.err),
        SILT_OK);
    assert_true(sl_str_eq_c(key, "a<b"));
    assert_true(sl_str_eq_c(code, "AccessDenied"));
    assert_int_equal(sl_s3_parse_deleted(&f.arena, SL_STR("<html></html>"), &key, &code, &f.err), SILT_EIO);
    tear_down(&f);
}

static void single_elements_are_found(void **state)
{
    (void)state;
    struct fixture f;
    struct sl_str id;
    set_up(&f);
    assert_int_equal(sl_s3_parse_text(&f.arena, SL_STR("<A><B>x</B></A>"), "A/B", &id, &f.err), SILT_OK);
    assert_true(sl_str_eq_c(id, "x"));
    assert_int_equal(sl_s3_parse_text(&f.arena, SL_STR("<A><C>x</C></A>"), "A/B", &id, &f.err), SILT_OK);
    assert_null(id.ptr);
    tear_down(&f);
}

static void the_code_of_an_error_is_cleaned(void **state)
{
    (void)state;
    struct sl_aws_error said;
    struct test_env t;
    test_env_init(&t);
    sl_aws_error_read(&t.env,
                      SL_STR("<Error><Code>Access\nDenied; rm -rf\x1b</Code><Message>S3cret</Message>"
                             "<Region>eu-west-1</Region></Error>"),
                      &said);
    assert_string_equal(said.code, ""); /* a control character is no XML */
    sl_aws_error_read(&t.env, SL_STR("<Error><Code>Access\nDenied; \"rm\"</Code><Region>eu-west-1</Region></Error>"),
                      &said);
    assert_string_equal(said.code, "AccessDeniedrm");
    assert_string_equal(said.region, "eu-west-1");
    sl_aws_error_read(
        &t.env, SL_STR("<ErrorResponse><Error><Code>ExpiredTokenException</Code></Error></ErrorResponse>"), &said);
    assert_string_equal(said.code, "ExpiredTokenException");
    sl_aws_error_read(&t.env, SL_STR("{\"code\": 1}"), &said);
    assert_string_equal(said.code, "");
    test_env_check(&t);
}

/* Smaller than the name, and greater than all that is commonly before it. */
static void a_listing_begins_just_before_a_name(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"00000000000000000010.json", "00000000000000000010.jsom~"},
                                           {"00000000000000000010", "0000000000000000001/~"},
                                           {"a/", "a.~"},
                                           {"a!", "a"},
                                           {"a ", "a"},
                                           {"a\xC3\xBC", "a"},
                                           {"a\xF0\x9F\x8C\x8A", "a"},
                                           {"~", "}~"},
                                           {"\xC3\xBC", ""},
                                           {"a\x7F", "a"},
                                           {"", ""}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct sl_buf out;
        sl_buf_init(&out, silt_env_default());
        const struct sl_str first = sl_str_from(names[i][0]);
        sl_s3_put_before(&out, first);
        assert_string_equal(sl_buf_cstr(&out), names[i][1]);
        assert_true(first.len == 0 || sl_str_compare(sl_buf_view(&out), first) < 0);
        sl_buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_is_read),
        cmocka_unit_test(keys_are_decoded),
        cmocka_unit_test(a_page_that_does_not_hold_together_is_refused),
        cmocka_unit_test(deletions_that_failed_are_told),
        cmocka_unit_test(single_elements_are_found),
        cmocka_unit_test(the_code_of_an_error_is_cleaned),
        cmocka_unit_test(a_listing_begins_just_before_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
