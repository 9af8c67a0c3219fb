/* Parts of objects whose bytes are handed on as they come, from a server that cuts, lies and fails. No byte is taken for another's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "part_taker.h"
#include "s3_fixture.h"
#include "test_env.h"

#define MAX_PARTS 40

static int set_up(void **state)
{
    struct stub_store *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    s3_fixture_start(f);
    s3_fixture_open(f, NULL);
    *state = f;
    return 0;
}

/* Bytes 3 to 6 of the object k. */
static silt_status stream_one(struct stub_store *f, struct wanted *part)
{
    return take_range(f, "s3://b/k", part);
}

/* ---- tests ---- */

static void parts_follow_one_another(void **state)
{
    struct stub_store *f = *state;
    struct wanted parts[MAX_PARTS] = {0};
    struct taker taker = {.parts = parts, .n = MAX_PARTS};
    assert_int_equal(silt_storage_put(f->storage, NULL, "s3://b/k", "0123456789", 10, &f->err), SILT_OK);
    for (size_t i = 0; i < MAX_PARTS; i++) {
        parts[i] = (struct wanted){.path = "s3://b/k", .offset = (int64_t)(i % 8), .length = 3};
    }
    assert_int_equal(take_parts(f, &taker, 3), SILT_OK);
    assert_int_equal(taker.over, MAX_PARTS);
    for (size_t i = 0; i < MAX_PARTS; i++) {
        assert_int_equal(parts[i].n_bytes, 3);
        assert_memory_equal(parts[i].bytes, &"0123456789"[i % 8], 3);
        assert_int_equal(parts[i].file_size, 10);
        assert_int_equal(parts[i].attempts, 1);
    }
    assert_int_equal(stub_server_count(&f->stub, "/b/k"), MAX_PARTS + 1);
    taker = (struct taker){.parts = parts};
    assert_int_equal(take_parts(f, &taker, 3), SILT_OK); /* of none */
}

static void at_the_end_of_an_object_less_comes(void **state)
{
    struct stub_store *f = *state;
    struct wanted parts[] = {{.path = "s3://b/k", .offset = 8, .length = 5},
                             {.path = "s3://b/k", .offset = 10, .length = 5}};
    struct taker taker = {.parts = parts, .n = 2};
    assert_int_equal(silt_storage_put(f->storage, NULL, "s3://b/k", "0123456789", 10, &f->err), SILT_OK);
    assert_int_equal(take_parts(f, &taker, 2), SILT_OK);
    assert_int_equal(parts[0].n_bytes, 2);
    assert_memory_equal(parts[0].bytes, "89", 2);
    assert_int_equal(parts[1].n_bytes, 0);
    assert_true(parts[1].over);
}

static void the_tag_is_there_with_the_first_byte(void **state)
{
    struct stub_store *f = *state;
    struct wanted part;
    stub_store_script(f, "GET", "/b/k",
                      WORDS("code=206,body=3456,header=Content-Range:bytes 3-6/10,header=ETag:\"v7\""));
    assert_int_equal(stream_one(f, &part), SILT_OK);
    assert_string_equal(part.tag, "\"v7\"");
    assert_memory_equal(part.bytes, "3456", 4);
}

/* What comes in pieces of a byte, of an answer that is the whole object. */
static void a_whole_answer_to_a_range_is_cut(void **state)
{
    struct stub_store *f = *state;
    struct wanted part;
    stub_store_script(f, "GET", "/b/k", WORDS("body=0123456789,piece=1,pause=1", "body=01234", "body=01"));
    assert_int_equal(stream_one(f, &part), SILT_OK);
    assert_int_equal(part.n_bytes, 4);
    assert_memory_equal(part.bytes, "3456", 4);
    assert_int_equal(part.file_size, 10);
    assert_int_equal(stream_one(f, &part), SILT_OK);
    assert_int_equal(part.n_bytes, 2);
    assert_int_equal(stream_one(f, &part), SILT_OK);
    assert_int_equal(part.n_bytes, 0);
}

/* Bytes of another attempt take the place of those that came before; what came of a good answer is all of it. */
static void a_body_that_breaks_begins_anew(void **state)
{
    struct stub_store *f = *state;
    struct wanted part;
#define RANGE "header=Content-Range:bytes 3-6/10"
    stub_store_script(f, "GET", "/b/k",
                      WORDS("code=206,body=3xxx,piece=1,pause=1,cut=3," RANGE, "code=503,body=busy",
                            "code=206,body=3456,cut=1," RANGE, "code=206,body=3456," RANGE));
    assert_int_equal(stream_one(f, &part), SILT_OK);
    assert_int_equal(part.attempts, 3);
    assert_int_equal(part.n_bytes, 4);
    assert_memory_equal(part.bytes, "3456", 4);
    assert_int_equal(stub_server_count(&f->stub, "/b/k"), 4);
#undef RANGE
}

/* At once, and none of their bytes is handed on. */
static void other_bytes_than_asked_for_are_refused(void **state)
{
    struct stub_store *f = *state;
    static const char *const answers[] = {
        "code=206,body=3456",                                    /* which? */
        "code=206,body=4567,header=Content-Range:bytes 4-7/10",  /* others */
        "code=206,body=34567,header=Content-Range:bytes 3-7/10", /* more */
        "code=206,body=345,header=Content-Range:bytes 3-5/10",   /* fewer, though there are more */
        "code=206,body=3456,header=Content-Range:bytes 3-6/*",   /* of what? */
        "code=206,body=3456,header=Content-Range:bytes 3-6/5",   /* of less */
        "code=206,body=,header=Content-Range:bytes 3-6/10",      /* none */
        "code=203,body=3456,header=Content-Range:bytes 3-6/10",
        "code=204",
        "code=302,header=Location:http://127.0.0.1:1/",
    };
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct wanted part;
        const long before = stub_server_count(&f->stub, "/b/k");
        stub_store_script(f, "GET", "/b/k", WORDS(answers[i]));
        assert_int_equal(stream_one(f, &part), SILT_EIO);
        assert_false(part.over);
        assert_int_equal(part.n_bytes, 0);
        assert_int_equal(stub_server_count(&f->stub, "/b/k"), before + 1);
        stub_store_script(f, "GET", "/b/k", WORDS("body=0123456789"));
        assert_int_equal(stream_one(f, &part), SILT_OK);
    }
}

/* Fewer or more bytes than the headers say: only the end tells. The part is never over. */
static void a_body_of_another_length_is_no_part(void **state)
{
    struct stub_store *f = *state;
    static const char *const answers[] = {
        "code=206,body=345,header=Content-Range:bytes 3-6/10",
        "code=206,chunked,body=345,header=Content-Range:bytes 3-6/10",
        "code=206,chunked,body=3456789,header=Content-Range:bytes 3-6/10",
        "code=206,body=3456789,header=Content-Range:bytes 3-6/10",
    };
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct wanted part;
        stub_store_script(f, "GET", "/b/k", WORDS(answers[i]));
        assert_int_equal(stream_one(f, &part), SILT_EIO);
        assert_false(part.over);
        assert_non_null(strstr(f->err.message, "s3://b/k"));
    }
}

static void what_fails_ends_the_stream_and_is_named(void **state)
{
    struct stub_store *f = *state;
    struct wanted parts[MAX_PARTS] = {0};
    assert_int_equal(silt_storage_put(f->storage, NULL, "s3://b/k", "0123456789", 10, &f->err), SILT_OK);
    for (size_t i = 0; i < MAX_PARTS; i++) {
        parts[i] = (struct wanted){.path = i == 3 ? "s3://b/none" : "s3://b/k", .length = 3};
    }
    struct taker taker = {.parts = parts, .n = MAX_PARTS};
    assert_int_equal(take_parts(f, &taker, 2), SILT_ENOTFOUND);
    assert_non_null(strstr(f->err.message, "s3://b/none: there is no such object"));
    assert_true(taker.begun < MAX_PARTS);
    parts[3].path = "s3://b/";
    taker = (struct taker){.parts = parts, .n = MAX_PARTS};
    assert_int_equal(take_parts(f, &taker, 2), SILT_EINVALID);
    assert_non_null(strstr(f->err.message, "expected s3://bucket/key"));
}

/* As it is, without another attempt. */
static void a_taker_that_fails_ends_the_stream(void **state)
{
    struct stub_store *f = *state;
    static const silt_status refusals[] = {SILT_EIO, SILT_ECORRUPT, SILT_ENOMEM};
    assert_int_equal(silt_storage_put(f->storage, NULL, "s3://b/k", "0123456789", 10, &f->err), SILT_OK);
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        struct wanted parts[3] = {
            {.path = "s3://b/k", .length = 3}, {.path = "s3://b/k", .length = 3}, {.path = "s3://b/k", .length = 3}};
        struct taker taker = {.parts = parts, .n = 3, .refuse = refusals[i]};
        const long before = stub_server_count(&f->stub, "/b/k");
        assert_int_equal(take_parts(f, &taker, 1), refusals[i]);
        assert_non_null(strstr(f->err.message, "not wanted"));
        assert_int_equal(stub_server_count(&f->stub, "/b/k"), before + 1);
        assert_int_equal(taker.over, 0);
    }
}

static void a_cancelled_stream_ends(void **state)
{
    struct stub_store *f = *state;
    const int cancelled = 1;
    struct wanted part = {.path = "s3://b/k", .length = 3};
    struct taker taker = {.parts = &part, .n = 1, .cancel = &cancelled};
    stub_store_script(f, "GET", "/b/k", WORDS("hang"));
    assert_int_equal(take_parts(f, &taker, 1), SILT_ECANCELLED);
    assert_false(part.over);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, stub_store_teardown)
    const struct CMUnitTest tests[] = {
        TEST(parts_follow_one_another),
        TEST(at_the_end_of_an_object_less_comes),
        TEST(the_tag_is_there_with_the_first_byte),
        TEST(a_whole_answer_to_a_range_is_cut),
        TEST(a_body_that_breaks_begins_anew),
        TEST(other_bytes_than_asked_for_are_refused),
        TEST(a_body_of_another_length_is_no_part),
        TEST(what_fails_ends_the_stream_and_is_named),
        TEST(a_taker_that_fails_ends_the_stream),
        TEST(a_cancelled_stream_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
#undef TEST
}
