/* Parts of files on HDFS whose bytes are handed on as they come, from name nodes and data nodes that fail, lie and give less. */
#include <stdio.h>

#include "base/env.h"
#include "hdfs_fixture.h"
#include "kernel/log/log_size.h"
#include "part_taker.h"
#include "storage/remote/hdfs/hdfs.h"

#define FILE_K "/webhdfs/v1/t/k"
#define OPEN_K FILE_K "?op=OPEN"
#define STATUS_K FILE_K "?op=GETFILESTATUS"
#define PATH_K "hdfs://nn/t/k"
#define FAULT(name, words) "{\"RemoteException\":{\"exception\":\"" name "\",\"message\":\"" words "\"}}"

/* The name node sends on n times; the data node answers with these steps. */
static void send_on(struct stub_store *f, size_t n, const char *const *steps)
{
    const char *moves[12] = {0};
    for (size_t i = 0; i < n; i++) {
        moves[i] = stub_store_step(f, 307, "", "header=Location:STUB/data/x?token=t");
    }
    stub_store_script(f, "GET", OPEN_K, moves);
    stub_store_script(f, "GET", "/data/", steps);
}

static void tell_size(struct stub_store *f, int size)
{
    char text[160];
    (void)snprintf(text, sizeof(text),
                   "{\"FileStatus\":{\"pathSuffix\":\"\",\"type\":\"FILE\",\"length\":%d,\"modificationTime\":17}}",
                   size);
    stub_store_script(f, "GET", STATUS_K, WORDS(stub_store_step(f, 200, text, "")));
}

static silt_status stream_one(struct stub_store *f, struct wanted *part)
{
    return take_range(f, PATH_K, part);
}

static void check_part(struct stub_store *f)
{
    struct wanted part;
    assert_int_equal(stream_one(f, &part), SILT_OK);
    assert_true(part.over);
    assert_int_equal(part.n_bytes, 4);
    assert_memory_equal(part.bytes, "3456", 4);
}

static void parts_follow_one_another(void **state)
{
    struct stub_store *f = *state;
    struct wanted parts[6];
    struct taker taker = {.parts = parts, .n = 6};
    for (size_t i = 0; i < 6; i++) {
        parts[i] = (struct wanted){.path = PATH_K, .offset = (int64_t)i, .length = 2};
    }
    send_on(f, 6, WORDS("body=01", "body=12", "body=23", "body=34", "body=45", "body=56"));
    assert_int_equal(take_parts(f, &taker, 1), SILT_OK);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(parts[i].n_bytes, 2);
        assert_memory_equal(parts[i].bytes, &"0123456789"[i], 2);
    }
    const char *log = stub_store_log(f);
    assert_non_null(strstr(log, "op=OPEN&offset=5&length=2&user.name=me\""));
    assert_non_null(strstr(log, "\"/data/x?token=t\"")); /* just as the name node said */
    assert_int_equal(stub_store_count(f, "GET", "/"), 12);
}

/* HttpFS, and a gateway. */
static void a_name_node_may_give_the_bytes_itself(void **state)
{
    struct stub_store *f = *state;
    stub_store_script(f, "GET", OPEN_K, WORDS("body=3456,piece=1,pause=1"));
    check_part(f);
}

static void where_fewer_bytes_come_the_file_must_end(void **state)
{
    struct stub_store *f = *state;
    struct wanted part;
    send_on(f, 1, WORDS("body=34"));
    tell_size(f, 5);
    assert_int_equal(stream_one(f, &part), SILT_OK);
    assert_int_equal(part.n_bytes, 2);
    assert_int_equal(part.file_size, 5);
    send_on(f, 1, WORDS("body="));
    tell_size(f, 2);
    assert_int_equal(stream_one(f, &part), SILT_OK);
    assert_true(part.over);
    assert_int_equal(part.n_bytes, 0);
    send_on(f, 1, WORDS("body=34"));
    tell_size(f, 10);
    assert_int_equal(stream_one(f, &part), SILT_EIO);
    assert_false(part.over);
    assert_non_null(strstr(f->err.message, PATH_K ": HDFS gave 2 bytes from 3 on of a file of 10"));
    send_on(f, 1, WORDS("body=34"));
    stub_store_script(f, "GET", STATUS_K, WORDS(stub_store_step(f, 404, FAULT("FileNotFoundException", "gone"), "")));
    assert_int_equal(stream_one(f, &part), SILT_ENOTFOUND);
    assert_false(part.over);
}

static void an_offset_behind_the_end_is_none(void **state)
{
    struct stub_store *f = *state;
    struct wanted part;
    const char *beyond = stub_store_step(f, 403, FAULT("IOException", "Offset=3 out of the range [0, 2)"), "");
    stub_store_script(f, "GET", OPEN_K, WORDS(beyond, beyond));
    tell_size(f, 2);
    assert_int_equal(stream_one(f, &part), SILT_OK);
    assert_int_equal(part.n_bytes, 0);
    assert_int_equal(part.file_size, 2);
    tell_size(f, 20);
    assert_int_equal(stream_one(f, &part), SILT_EIO);
    assert_false(part.over);
}

static void more_bytes_than_asked_for_are_refused(void **state)
{
    struct stub_store *f = *state;
    static const char *const answers[] = {"body=34567", "chunked,body=34567", "chunked,body=34567,piece=1,pause=1"};
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct wanted part;
        send_on(f, 1, WORDS(answers[i]));
        const long before = stub_store_count(f, "GET", "/data/");
        assert_int_equal(stream_one(f, &part), SILT_EIO);
        assert_false(part.over);
        assert_true(part.n_bytes <= 4);
        assert_int_equal(stub_store_count(f, "GET", "/data/"), before + 1);
    }
}

static void ignore(void *ctx, silt_read_request *request)
{
    (void)ctx;
    (void)request;
}

/* All of a file has no length that is asked for: only the listing tells that the data node gave too little. */
static void a_whole_read_that_comes_short_of_the_listing_is_refused(void **state)
{
    struct stub_store *f = *state;
    static const silt_status expected[] = {SILT_EIO, SILT_EIO, SILT_OK};
    send_on(f, 3, WORDS("body=345", "code=200", "body=3456"));
    for (size_t i = 0; i < 3; i++) {
        silt_read_request request = {.path = PATH_K, .offset = 0, .length = -1};
        f->err = (silt_error)SILT_ERROR_INIT;
        assert_int_equal(silt_storage_read_many(f->storage, NULL, &request, 1, ignore, NULL, &f->err), SILT_OK);
        assert_int_equal(request.status, SILT_OK);
        assert_int_equal(sl_log_size_check(&request, 4, &f->err), expected[i]);
        silt_read_request_release(f->storage, &request);
    }
}

/* The name node is asked for another, as often as any other store is asked again. */
static void a_data_node_that_fails_is_left_for_another(void **state)
{
    struct stub_store *f = *state;
    send_on(f, 3, WORDS("body=3xxx,piece=1,pause=1,cut=3", "code=503,body=busy", "body=3456"));
    check_part(f);
    assert_int_equal(stub_store_count(f, "GET", OPEN_K), 3);
    send_on(f, 6, WORDS("code=500,body=no", "code=502", "code=500,body=no", "code=503", "code=500", "body=3456"));
    check_part(f);
    assert_int_equal(stub_store_count(f, "GET", OPEN_K), 9);
}

static void data_nodes_are_tried_until_the_deadline(void **state)
{
    struct stub_store *f = *state;
    const int64_t deadline_us = sl_monotonic_us(f->context.env) + 700000;
    struct wanted part = {.path = PATH_K, .offset = 3, .length = 4};
    struct taker taker = {.parts = &part, .n = 1, .deadline_us = deadline_us};
    send_on(f, 11,
            WORDS("code=500,body=no", "code=500,body=no", "code=500,body=no", "code=500,body=no", "code=500,body=no",
                  "code=500,body=no", "code=500,body=no", "code=500,body=no", "code=500,body=no", "code=500,body=no"));
    assert_int_equal(take_parts(f, &taker, 1), SILT_EIO);
    assert_false(part.over);
    assert_non_null(strstr(f->err.message, "HDFS answered 500 for /t/k"));
    assert_true(sl_monotonic_us(f->context.env) < deadline_us + 5000000);
}

static void what_fails_ends_the_stream_and_is_named(void **state)
{
    struct stub_store *f = *state;
    struct wanted part;
    stub_store_script(f, "GET", OPEN_K,
                      WORDS(stub_store_step(f, 404, FAULT("FileNotFoundException", "none"), ""),
                            stub_store_step(f, 403, FAULT("AccessControlException", "no"), ""),
                            stub_store_step(f, 307, "", ""), stub_store_step(f, 307, "", "header=Location:file:///x"),
                            "code=204", "code=201,body=3456"));
    assert_int_equal(stream_one(f, &part), SILT_ENOTFOUND);
    assert_non_null(strstr(f->err.message, "reading " PATH_K ": there is no /t/k on HDFS"));
    assert_int_equal(stream_one(f, &part), SILT_EACCESS);
    assert_int_equal(stream_one(f, &part), SILT_EIO);
    assert_non_null(strstr(f->err.message, "sends on to what is no URL of HTTP"));
    assert_int_equal(stream_one(f, &part), SILT_EIO);
    assert_int_equal(stream_one(f, &part), SILT_EIO);
    assert_int_equal(stream_one(f, &part), SILT_EIO);
    assert_int_equal(part.n_bytes, 0);
    part = (struct wanted){.path = "hdfs://nn/t/", .length = 1};
    struct taker taker = {.parts = &part, .n = 1};
    assert_int_equal(take_parts(f, &taker, 1), SILT_EINVALID);
    send_on(f, 1, WORDS(stub_store_step(f, 307, "", "header=Location:STUB/data/y"))); /* and on and on */
    assert_int_equal(stream_one(f, &part), SILT_EIO);
}

static void a_name_node_in_standby_is_asked_again(void **state)
{
    struct stub_store *f = *state;
    stub_store_open(f, sl_hdfs_open, WORDS("hdfs_namenodes", "HOST,HOST"));
    stub_store_script(f, "GET", OPEN_K,
                      WORDS(stub_store_step(f, 403, FAULT("StandbyException", "not me"), ""),
                            stub_store_step(f, 307, "", "header=Location:STUB/data/x")));
    stub_store_script(f, "GET", "/data/", WORDS("body=3456"));
    check_part(f);
}

static void a_taker_that_fails_ends_the_stream(void **state)
{
    struct stub_store *f = *state;
    struct wanted part = {.path = PATH_K, .offset = 3, .length = 4};
    struct taker taker = {.parts = &part, .n = 1, .refuse = SILT_EIO};
    send_on(f, 1, WORDS("body=3456"));
    assert_int_equal(take_parts(f, &taker, 1), SILT_EIO);
    assert_non_null(strstr(f->err.message, "not wanted"));
    assert_int_equal(stub_store_count(f, "GET", "/"), 2);
}

static void a_cancelled_stream_ends(void **state)
{
    struct stub_store *f = *state;
    const int cancelled = 1;
    struct wanted part = {.path = PATH_K, .length = 3};
    struct taker taker = {.parts = &part, .n = 1, .cancel = &cancelled};
    stub_store_script(f, "GET", OPEN_K, WORDS("hang"));
    assert_int_equal(take_parts(f, &taker, 1), SILT_ECANCELLED);
    assert_false(part.over);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, hdfs_setup, stub_store_teardown)
    const struct CMUnitTest tests[] = {
        TEST(parts_follow_one_another),
        TEST(a_name_node_may_give_the_bytes_itself),
        TEST(where_fewer_bytes_come_the_file_must_end),
        TEST(an_offset_behind_the_end_is_none),
        TEST(more_bytes_than_asked_for_are_refused),
        TEST(a_whole_read_that_comes_short_of_the_listing_is_refused),
        TEST(a_data_node_that_fails_is_left_for_another),
        TEST(data_nodes_are_tried_until_the_deadline),
        TEST(what_fails_ends_the_stream_and_is_named),
        TEST(a_name_node_in_standby_is_asked_again),
        TEST(a_taker_that_fails_ends_the_stream),
        TEST(a_cancelled_stream_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
#undef TEST
}
