/* The S3 store before a server that loses answers, lies, and moves buckets. What a well-behaved one does is for tests/stores. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "s3_fixture.h"
#include "silt/version.h"
#include "temp_dir.h"
#include "test_env.h"

#define ERROR(code) "body=<Error><Code>" code "</Code></Error>"

static int set_up(void **state)
{
    struct stub_store *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    s3_fixture_start(f);
    s3_fixture_open(f, NULL);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct stub_store *f = *state;
    assert_null(strstr(f->err.message, S3_FIXTURE_SECRET));
    assert_null(strstr(f->err.hint, S3_FIXTURE_SECRET));
    assert_null(strstr(stub_store_log(f), S3_FIXTURE_SECRET));
    stub_store_stop(f);
    free(f);
    return 0;
}

static silt_status put(struct stub_store *f, const char *path, silt_put_outcome *outcome)
{
    f->err = (silt_error)SILT_ERROR_INIT;
    return silt_storage_put_if_absent(f->storage, NULL, path, "text", 4, outcome, &f->err);
}

static void check_put(struct stub_store *f, const char *path, silt_put_outcome expected)
{
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    assert_int_equal(put(f, path, &outcome), SILT_OK);
    assert_int_equal(outcome, expected);
}

/* ---- conditional creates ---- */

static void a_name_is_created_once(void **state)
{
    struct stub_store *f = *state;
    check_put(f, "s3://b/k", SILT_PUT_DONE);
    check_put(f, "s3://b/k", SILT_PUT_EXISTS);
}

/* Which would cost a round, of a large one just as of a small one. */
static void a_create_does_not_wait_for_a_hundred(void **state)
{
    struct stub_store *f = *state;
    static char big[3 << 20];
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    assert_int_equal(silt_storage_put_if_absent(f->storage, NULL, "s3://b/big", big, sizeof(big), &outcome, &f->err),
                     SILT_OK);
    assert_int_equal(outcome, SILT_PUT_DONE);
    check_put(f, "s3://b/small", SILT_PUT_DONE);
    assert_null(strstr(stub_store_log(f), "100-continue"));
    assert_null(strstr(stub_store_log(f), "\"Expect\""));
}

static void a_conflict_is_tried_again(void **state)
{
    struct stub_store *f = *state;
    stub_store_script(f, "PUT", "/b/k", WORDS("code=409," ERROR("ConditionalRequestConflict"), "object"));
    check_put(f, "s3://b/k", SILT_PUT_DONE);
    assert_int_equal(stub_server_count(&f->stub, "/b/k"), 2);
    stub_store_script(f, "PUT", "/b/k", WORDS("code=409," ERROR("ConditionalRequestConflict"), "object"));
    check_put(f, "s3://b/k", SILT_PUT_EXISTS); /* nothing was done by the first: it is another's */
}

/* The first attempt made the object, the second finds it: only who reads it back knows whose it is. */
static void a_lost_answer_before_exists_is_ambiguous(void **state)
{
    struct stub_store *f = *state;
    stub_store_script(f, "PUT", "/b/lost", WORDS("effect,quiet,end=close"));
    check_put(f, "s3://b/lost", SILT_PUT_AMBIGUOUS);
    assert_int_equal(stub_server_count(&f->stub, "/b/lost"), 2);
    stub_store_script(f, "PUT", "/b/failed", WORDS("effect,code=503," ERROR("SlowDown")));
    check_put(f, "s3://b/failed", SILT_PUT_AMBIGUOUS);
    stub_store_script(f, "PUT", "/b/free", WORDS("quiet,end=reset"));
    check_put(f, "s3://b/free", SILT_PUT_DONE);
}

static void a_refusal_is_a_failure(void **state)
{
    struct stub_store *f = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    stub_store_script(f, "PUT", "/b/k", WORDS("code=403," ERROR("AccessDenied")));
    assert_int_equal(put(f, "s3://b/k", &outcome), SILT_EACCESS);
    assert_non_null(strstr(f->err.message, "bucket b: the server answered HTTP 403 AccessDenied"));
    assert_int_equal(f->err.sys_code, 403);
    stub_store_script(f, "PUT", "/b/k", WORDS("code=404," ERROR("NoSuchBucket")));
    assert_int_equal(put(f, "s3://b/k", &outcome), SILT_ENOTFOUND);
    assert_non_null(strstr(f->err.message, "there is no bucket b"));
    stub_store_script(f, "PUT", "/b/k", WORDS("code=501," ERROR("NotImplemented")));
    assert_int_equal(put(f, "s3://b/k", &outcome), SILT_EUNSUPPORTED);
}

/* By a server that closes before it has read the body, over TLS. What it says counts, and is no riddle. */
static void an_early_refusal_of_a_large_commit_is_no_riddle(void **state)
{
    struct stub_store *f = *state;
    static char big[400000];
    static const struct {
        const char *step;
        silt_status status;
        silt_put_outcome outcome; /* with SILT_OK */
    } cases[] = {
        {"early,header=Connection:close,end=close,code=412," ERROR("PreconditionFailed"), SILT_OK, SILT_PUT_EXISTS},
        {"early,header=Connection:close,end=close,code=403," ERROR("AccessDenied"), SILT_EACCESS, SILT_PUT_AMBIGUOUS},
        {"early,header=Connection:close,end=close,code=409," ERROR("ConditionalRequestConflict"), SILT_OK,
         SILT_PUT_DONE},
        {"early,header=Connection:close,end=close,code=429," ERROR("SlowDown"), SILT_OK, SILT_PUT_DONE},
    };
    stub_store_stop(f);
    stub_store_start_tls(f);
    s3_fixture_open(f, WORDS("aws_endpoint_url_s3", f->endpoint));
    for (unsigned i = 0; i < 24; i++) {
        char path[32];
        char target[32];
        silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
        const char *step = cases[i % 4].step;
        (void)snprintf(path, sizeof(path), "s3://b/early-%02u", i);
        (void)snprintf(target, sizeof(target), "/b/early-%02u", i);
        /* A refusal counts when it is seen, so it is there more than once. */
        const bool once = cases[i % 4].outcome == SILT_PUT_DONE;
        stub_store_script(f, "PUT", target, once ? WORDS(step, "object") : WORDS(step, step, step, step));
        f->err = (silt_error)SILT_ERROR_INIT;
        assert_int_equal(silt_storage_put_if_absent(f->storage, NULL, path, big, sizeof(big), &outcome, &f->err),
                         cases[i % 4].status);
        if (cases[i % 4].status == SILT_OK) {
            assert_int_equal(outcome, cases[i % 4].outcome);
        }
    }
}

static void nobody_there_is_a_failure(void **state)
{
    struct stub_store *f = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    const silt_call call = {.size = sizeof(call),
                            .abi_version = SILT_ABI_VERSION,
                            .deadline_us = silt_env_default()->monotonic_us(NULL) + 300000};
    s3_fixture_open(f, WORDS("aws_endpoint_url_s3", "http://127.0.0.1:1"));
    f->err = (silt_error)SILT_ERROR_INIT;
    const silt_status status = silt_storage_put_if_absent(f->storage, &call, "s3://b/k", "x", 1, &outcome, &f->err);
    assert_true(status == SILT_EIO || status == SILT_EDEADLINE);
}

static void a_deadline_after_the_request_is_ambiguous(void **state)
{
    struct stub_store *f = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    stub_store_script(f, "PUT", "/b/k", WORDS("effect,delay=2000"));
    const silt_call call = {.size = sizeof(call),
                            .abi_version = SILT_ABI_VERSION,
                            .deadline_us = silt_env_default()->monotonic_us(NULL) + 300000};
    assert_int_equal(silt_storage_put_if_absent(f->storage, &call, "s3://b/k", "x", 1, &outcome, &f->err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_AMBIGUOUS);
}

/* ---- regions and credentials ---- */

static void the_region_that_a_server_tells_is_taken(void **state)
{
    struct stub_store *f = *state;
    stub_store_script(
        f, "PUT", "/b/k",
        WORDS("code=400,body=<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-3</Region></Error>",
              "object"));
    check_put(f, "s3://b/k", SILT_PUT_DONE);
    assert_non_null(strstr(stub_store_log(f), "/eu-west-3/s3/aws4_request"));
    stub_store_script(f, "PUT", "/b/m", WORDS("code=301,header=x-amz-bucket-region:us-west-2", "object"));
    check_put(f, "s3://b/m", SILT_PUT_DONE);
    assert_non_null(strstr(stub_store_log(f), "/us-west-2/s3/aws4_request"));
    check_put(f, "s3://b/n", SILT_PUT_DONE); /* known from now on */
    assert_int_equal(stub_server_count(&f->stub, "/b/n"), 1);
    /* Not what could end a header, and not for ever. */
    stub_store_script(f, "PUT", "/b/o", WORDS("code=400,body=<Error><Code>X</Code><Region>a/b</Region></Error>"));
    silt_put_outcome outcome = SILT_PUT_DONE;
    stub_store_script(f, "PUT", "/b/p",
                      WORDS("code=301,header=x-amz-bucket-region:r1", "code=301,header=x-amz-bucket-region:r2"));
    assert_int_equal(put(f, "s3://b/p", &outcome), SILT_EIO);
    assert_int_equal(stub_server_count(&f->stub, "/b/p"), 2);
}

static void a_session_token_is_sent_and_signed(void **state)
{
    struct stub_store *f = *state;
    s3_fixture_open(f, WORDS("aws_session_token", "t/o=ken"));
    check_put(f, "s3://b/k", SILT_PUT_DONE);
    const char *log = stub_store_log(f);
    assert_non_null(strstr(log, "\"x-amz-security-token\", \"t/o=ken\""));
    assert_non_null(strstr(log, ";x-amz-security-token,"));
}

static void credentials_that_are_refused_are_fetched_anew_once(void **state)
{
    struct stub_store *f = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    stub_store_script(f, "PUT", "/b/k", WORDS("code=403," ERROR("ExpiredToken"), "object"));
    check_put(f, "s3://b/k", SILT_PUT_DONE);
    stub_store_script(f, "PUT", "/b/m", WORDS("code=403," ERROR("ExpiredToken"), "code=403," ERROR("ExpiredToken")));
    assert_int_equal(put(f, "s3://b/m", &outcome), SILT_EACCESS);
    assert_int_equal(stub_server_count(&f->stub, "/b/m"), 2);
}

static void a_public_bucket_is_read_without_a_signature(void **state)
{
    struct stub_store *f = *state;
    s3_fixture_open(f, WORDS("aws_skip_signature", "true"));
    check_put(f, "s3://b/k", SILT_PUT_DONE);
    assert_null(strstr(stub_store_log(f), "Authorization"));
}

/* ---- the proof of conditional creates ---- */

static void a_server_is_proven_once(void **state)
{
    struct stub_store *f = *state;
    s3_fixture_open(f, WORDS("aws_conditional_put", "etag"));
    check_put(f, "s3://b/t/_delta_log/_sidecars/x", SILT_PUT_DONE);
    check_put(f, "s3://b/t/_delta_log/1.json", SILT_PUT_DONE);
    const char *log = stub_store_log(f);
    const char *probe = strstr(log, "/b/t/_delta_log/.silt-probe-");
    assert_non_null(probe);
    int n = 0;
    for (const char *at = log; (at = strstr(at, ".silt-probe-")) != NULL; at++) {
        n++;
    }
    assert_int_equal(n, 3); /* twice created, once removed */
}

static void a_server_that_ignores_conditions_gets_no_commit(void **state)
{
    struct stub_store *f = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    s3_fixture_open(f, WORDS("aws_conditional_put", "etag"));
    stub_store_script(f, "PUT", "/b/t/_delta_log/.silt-probe-", WORDS("code=200", "code=200"));
    assert_int_equal(put(f, "s3://b/t/_delta_log/0.json", &outcome), SILT_EUNSUPPORTED);
    assert_non_null(strstr(f->err.message, "ignores If-None-Match"));
    assert_non_null(strstr(f->err.hint, "aws_conditional_put"));
    assert_int_equal(stub_server_count(&f->stub, "/b/t/_delta_log/0.json"), 0);
    assert_int_equal(put(f, "s3://b/t/_delta_log/0.json", &outcome), SILT_OK); /* proven this time: the stub holds it */
}

static void a_proof_survives_lost_answers(void **state)
{
    struct stub_store *f = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    s3_fixture_open(f, WORDS("aws_conditional_put", "etag"));
    stub_store_script(f, "PUT", "/b/t/_delta_log/.silt-probe-",
                      WORDS("quiet,end=close", "object", "quiet,end=reset", "object"));
    check_put(f, "s3://b/t/_delta_log/0.json", SILT_PUT_DONE);
    s3_fixture_open(f, WORDS("aws_conditional_put", "etag"));
    stub_store_script(f, "PUT", "/b/t/_delta_log/.silt-probe-", WORDS("effect,quiet,end=close", "object"));
    check_put(f, "s3://b/t/_delta_log/1.json", SILT_PUT_DONE);
    s3_fixture_open(f, WORDS("aws_conditional_put", "etag"));
    stub_store_script(f, "PUT", "/b/t/_delta_log/.silt-probe-", WORDS("code=412"));
    assert_int_equal(put(f, "s3://b/t/_delta_log/2.json", &outcome), SILT_EIO);
    assert_non_null(strstr(f->err.message, "a fresh name was called taken"));
}

static void a_proof_that_may_not_be_made_names_the_option(void **state)
{
    struct stub_store *f = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    s3_fixture_open(f, WORDS("aws_conditional_put", "etag"));
    stub_store_script(f, "PUT", "/b/t/_delta_log/.silt-probe-", WORDS("code=403," ERROR("AccessDenied")));
    assert_int_equal(put(f, "s3://b/t/_delta_log/0.json", &outcome), SILT_EACCESS);
    assert_non_null(strstr(f->err.message, "was not proven to know conditional creates"));
    assert_non_null(strstr(f->err.hint, "aws_conditional_put=trust"));
    s3_fixture_open(f, WORDS("aws_conditional_put", "disabled"));
    assert_int_equal(put(f, "s3://b/t/_delta_log/0.json", &outcome), SILT_EUNSUPPORTED);
}

/* ---- reads ---- */

static void on_read(void *ctx, silt_read_request *request)
{
    (void)request;
    ++*(int *)ctx;
}

static silt_status read_one(struct stub_store *f, int64_t offset, int64_t length, silt_read_request *request)
{
    int n = 0;
    *request = (silt_read_request){.path = "s3://b/k", .offset = offset, .length = length};
    f->err = (silt_error)SILT_ERROR_INIT;
    const silt_status status = silt_storage_read_many(f->storage, NULL, request, 1, on_read, &n, &f->err);
    assert_int_equal(n, 1);
    return status != SILT_OK ? status : request->status;
}

static void check_read(struct stub_store *f, int64_t offset, int64_t length, const char *expected)
{
    silt_read_request request;
    assert_int_equal(read_one(f, offset, length, &request), SILT_OK);
    assert_int_equal(request.data_len, strlen(expected));
    assert_memory_equal(request.data == NULL ? "" : request.data, expected, strlen(expected));
    silt_read_request_release(f->storage, &request);
}

static void ranges_are_cut_to_what_was_asked(void **state)
{
    struct stub_store *f = *state;
    stub_store_script(f, "PUT", "/b/empty", WORDS("effect"));
    assert_int_equal(silt_storage_put(f->storage, NULL, "s3://b/k", "0123456789", 10, &f->err), SILT_OK);
    check_read(f, 0, -1, "0123456789");
    check_read(f, 3, 4, "3456");
    check_read(f, 8, 100, "89");
    check_read(f, 5, -1, "56789");
    check_read(f, -3, -1, "789");
    check_read(f, -3, 2, "78");
    check_read(f, -100, 3, "012");
    check_read(f, 10, 5, "");
    check_read(f, 11, -1, "");
    check_read(f, 2, 0, "");
}

/* A server may ignore a range and send all. */
static void a_whole_answer_to_a_range_is_cut(void **state)
{
    struct stub_store *f = *state;
    stub_store_script(f, "GET", "/b/k", WORDS("body=0123456789", "body=0123456789", "body=0123456789"));
    check_read(f, 3, 4, "3456");
    check_read(f, -2, -1, "89");
    check_read(f, 20, 4, "");
}

static void other_bytes_than_asked_for_are_refused(void **state)
{
    struct stub_store *f = *state;
    static const char *const answers[] = {
        "code=206,body=3456",                                    /* which? */
        "code=206,body=345,header=Content-Range:bytes 3-6/10",   /* fewer than it says */
        "code=206,body=4567,header=Content-Range:bytes 4-7/10",  /* others */
        "code=206,body=34567,header=Content-Range:bytes 3-7/10", /* more */
        "code=206,body=345,header=Content-Range:bytes 3-5/10",   /* fewer, though there are more */
        "code=206,body=3456,header=Content-Range:bytes 3-6/*",   /* of what? */
        "code=206,body=3456,header=Content-Range:bytes 3-6/5",   /* of less */
        "code=204",
        "code=302,header=Location:http://127.0.0.1:1/",
    };
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        silt_read_request request;
        stub_store_script(f, "GET", "/b/k", WORDS(answers[i]));
        const silt_status status = read_one(f, 3, 4, &request);
        assert_int_equal(status, SILT_EIO);
        assert_null(request.data);
    }
}

/* A range is refused that was not asked for, or that every file but an empty one has. */
static void a_refused_range_is_no_empty_object(void **state)
{
    struct stub_store *f = *state;
    static const struct {
        int64_t offset;
        int64_t length;
        const char *answer;
    } cases[] = {
        {0, -1, "code=416"}, {0, -1, "code=416,header=Content-Range:bytes */0"},
        {0, 9, "code=416"},  {-9, -1, "code=416"},
        {0, -1, "code=204"}, {0, -1, "code=203,body=abc"},
    };
    assert_int_equal(silt_storage_put(f->storage, NULL, "s3://b/k", "0123456789", 10, &f->err), SILT_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        silt_read_request request;
        stub_store_script(f, "GET", "/b/k", WORDS(cases[i].answer));
        assert_int_equal(read_one(f, cases[i].offset, cases[i].length, &request), SILT_EIO);
        assert_null(request.data);
    }
}

/* S3 says 200 of what it wrote; somebody on the way may say anything. */
static void an_odd_success_of_a_create_is_none(void **state)
{
    struct stub_store *f = *state;
    stub_store_script(f, "PUT", "/b/odd", WORDS("code=204"));
    check_put(f, "s3://b/odd", SILT_PUT_AMBIGUOUS);
}

/* A body that ends too soon is asked for again, and is never data. */
static void a_cut_answer_is_asked_for_again(void **state)
{
    struct stub_store *f = *state;
    stub_store_script(f, "GET", "/b/k",
                      WORDS("body=0123456789,cut=4", "code=500", "code=503," ERROR("SlowDown"), "body=0123456789"));
    check_read(f, 0, -1, "0123456789");
    assert_int_equal(stub_server_count(&f->stub, "/b/k"), 4);
}

static void what_is_missing_is_not_found(void **state)
{
    struct stub_store *f = *state;
    silt_read_request request;
    int64_t size = 0;
    int64_t modified_ms = 0;
    assert_int_equal(read_one(f, 0, -1, &request), SILT_ENOTFOUND);
    assert_int_equal(read_one(f, 0, 0, &request), SILT_ENOTFOUND);
    assert_int_equal(silt_storage_stat(f->storage, NULL, "s3://b/k", &size, &modified_ms, &f->err), SILT_ENOTFOUND);
    assert_int_equal(silt_storage_remove(f->storage, NULL, "s3://b/k", &f->err), SILT_OK);
    stub_store_script(f, "HEAD", "/b/k", WORDS("code=200,size=7")); /* without a time */
    assert_int_equal(silt_storage_stat(f->storage, NULL, "s3://b/k", &size, &modified_ms, &f->err), SILT_EIO);
    stub_store_script(f, "HEAD", "/b/k", WORDS("code=200,size=7,header=Last-Modified:Mon%2C 30 Nov 2026 10:00:00 GMT"));
    assert_int_equal(silt_storage_stat(f->storage, NULL, "s3://b/k", &size, &modified_ms, &f->err), SILT_OK);
    assert_int_equal(size, 7);
    assert_int_equal(modified_ms, INT64_C(1796032800000));
}

/* ---- listings ---- */

#define PAGE(inner) "body=<ListBucketResult>" inner "</ListBucketResult>"
#define OBJECT(key) "<Contents><Key>" key "</Key><Size>1</Size></Contents>"
#define MORE(token) "<IsTruncated>true</IsTruncated><NextContinuationToken>" token "</NextContinuationToken>"

static bool on_entry(void *ctx, const silt_file_entry *entry)
{
    char *names = ctx;
    const size_t len = strlen(names);
    (void)snprintf(names + len, 256 - len, "%.*s ", (int)entry->name_len, entry->name);
    return true;
}

static silt_status list(struct stub_store *f, const char *start_from, char *names)
{
    const silt_list_options options = {.size = sizeof(options), .start_from = start_from};
    names[0] = '\0';
    f->err = (silt_error)SILT_ERROR_INIT;
    return silt_storage_list(f->storage, NULL, "s3://b/t", &options, on_entry, names, &f->err);
}

static void pages_are_followed(void **state)
{
    struct stub_store *f = *state;
    char names[256];
    stub_store_script(f, "GET", "/b?",
                      WORDS(PAGE(OBJECT("t/") OBJECT("t/.silt-probe-1") OBJECT("t/a") MORE("x%2526")), "code=503",
                            PAGE(OBJECT("t/b"))));
    assert_int_equal(list(f, NULL, names), SILT_OK);
    assert_string_equal(names, "a b ");
    assert_non_null(strstr(stub_store_log(f), "continuation-token=x%2526&delimiter=%2F"));
}

static void a_listing_begins_at_the_wanted_name(void **state)
{
    struct stub_store *f = *state;
    char names[256];
    stub_store_script(f, "GET", "/b?", WORDS(PAGE(OBJECT("t/0019-x") OBJECT("t/0019.json") OBJECT("t/0020.json"))));
    assert_int_equal(list(f, "0019.", names), SILT_OK);
    assert_string_equal(names, "0019.json 0020.json ");
    assert_non_null(strstr(stub_store_log(f), "start-after=t%2F0019-~"));
    /* Nothing so late, but there is a folder: asked once more. */
    stub_store_script(f, "GET", "/b?", WORDS(PAGE(""), PAGE(OBJECT("t/0001.json"))));
    assert_int_equal(list(f, "0021.", names), SILT_OK);
    assert_string_equal(names, "");
    stub_store_script(f, "GET", "/b?", WORDS(PAGE(""), PAGE("")));
    assert_int_equal(list(f, "0021.", names), SILT_ENOTFOUND);
    stub_store_script(f, "GET", "/b?", WORDS(PAGE("")));
    assert_int_equal(list(f, NULL, names), SILT_ENOTFOUND);
    stub_store_script(f, "GET", "/b?", WORDS(PAGE("<CommonPrefixes><Prefix>t/p=1/</Prefix></CommonPrefixes>")));
    assert_int_equal(list(f, NULL, names), SILT_OK);
}

/* A folder that is not there is an empty listing, and a bucket has its own word: 404 alone is of who does not speak S3. */
static void a_stranger_is_not_taken_for_an_empty_folder(void **state)
{
    struct stub_store *f = *state;
    char names[256];
    stub_store_script(f, "GET", "/b?", WORDS("code=404,body=nothing here", "code=404," ERROR("NoSuchBucket")));
    assert_int_equal(list(f, NULL, names), SILT_EIO);
    assert_non_null(strstr(f->err.message, "HTTP 404"));
    assert_int_equal(list(f, NULL, names), SILT_ENOTFOUND);
    assert_non_null(strstr(f->err.message, "there is no bucket b"));
}

static void a_listing_that_lies_is_refused(void **state)
{
    struct stub_store *f = *state;
    static const char *const pages[][2] = {
        {PAGE(OBJECT("t/b") OBJECT("t/a")), "code=404"},                /* out of order */
        {PAGE(OBJECT("t/a") OBJECT("t/a")), "code=404"},                /* twice */
        {PAGE(OBJECT("other/a")), "code=404"},                          /* of another folder */
        {PAGE(OBJECT("t/b") MORE("x")), PAGE(OBJECT("t/a"))},           /* out of order from page to page */
        {PAGE(OBJECT("t/a") MORE("x")), PAGE(OBJECT("t/b") MORE("x"))}, /* does not go on */
        {PAGE("<IsTruncated>true</IsTruncated>"), "code=404"},          /* does not say how */
        {"body=<html></html>", "code=404"},
        {"body={}", "code=404"},
        {"body=", "code=404"}, /* the answer is lost on its way, and says so nowhere */
        {"body=<ListBucketResult><Contents><Key>t/a</K", "code=404"},
    };
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        char names[256];
        stub_store_script(f, "GET", "/b?", WORDS(pages[i][0], pages[i][1]));
        assert_int_equal(list(f, NULL, names), SILT_EIO);
        stub_store_script(f, "GET", "/b?", WORDS(PAGE(OBJECT("t/a")))); /* uses up what is left of the script */
        (void)list(f, NULL, names);
        (void)list(f, NULL, names);
    }
}

/* ---- uploads ---- */

static void write_local(const char *dir, size_t size, char *out, size_t out_size)
{
    char *data = malloc(size + 1);
    assert_non_null(data);
    for (size_t i = 0; i < size; i++) {
        data[i] = (char)('a' + i % 23);
    }
    (void)snprintf(out, out_size, "%s/file", dir);
    FILE *file = fopen(out, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    free(data);
}

struct upload {
    char dir[256];
    char local[300];
};

static void begin_upload(struct upload *upload, size_t size)
{
    assert_true(temp_dir_make(upload->dir, sizeof(upload->dir)));
    write_local(upload->dir, size, upload->local, sizeof(upload->local));
}

static void end_upload(const struct upload *upload, bool gone)
{
    assert_int_equal(access(upload->local, F_OK) != 0, gone);
    assert_true(temp_dir_remove(upload->dir));
}

static void a_small_file_is_one_put(void **state)
{
    struct stub_store *f = *state;
    struct upload upload;
    begin_upload(&upload, 1000);
    assert_int_equal(silt_storage_adopt(f->storage, NULL, upload.local, "s3://b/k", &f->err), SILT_OK);
    end_upload(&upload, true);
    begin_upload(&upload, 10);
    assert_int_equal(silt_storage_adopt(f->storage, NULL, upload.local, "s3://b/k", &f->err), SILT_EEXISTS);
    end_upload(&upload, false);
    begin_upload(&upload, 0);
    assert_int_equal(silt_storage_adopt(f->storage, NULL, upload.local, "s3://b/empty", &f->err), SILT_OK);
    end_upload(&upload, true);
}

#define BEGUN "body=<InitiateMultipartUploadResult><UploadId>u/1</UploadId></InitiateMultipartUploadResult>"
#define LEFT_PART "body=<ListPartsResult><Part><PartNumber>2</PartNumber></Part></ListPartsResult>"
#define PART "code=200,header=ETag:\"tag\""

static void a_large_file_is_sent_in_parts(void **state)
{
    struct stub_store *f = *state;
    struct upload upload;
    begin_upload(&upload, (size_t)20 * 1024 * 1024);
    stub_store_script(f, "POST", "/b/k?uploads=", WORDS(BEGUN));
    stub_store_script(f, "PUT", "/b/k?partNumber=", WORDS(PART, "code=503", PART, PART));
    stub_store_script(f, "POST", "/b/k?uploadId=u%2F1", WORDS("body=<CompleteMultipartUploadResult/>"));
    assert_int_equal(silt_storage_adopt(f->storage, NULL, upload.local, "s3://b/k", &f->err), SILT_OK);
    end_upload(&upload, true);
    const char *log = stub_store_log(f);
    assert_non_null(strstr(log, "/b/k?partNumber=3&uploadId=u%2F1"));
    assert_non_null(strstr(log, "\"body_len\": 4194304"));
}

static void an_upload_that_fails_is_aborted(void **state)
{
    struct stub_store *f = *state;
    static const char *const ends[][2] = {{"code=200", "code=404"}, /* a part without a tag */
                                          {PART, "code=200," ERROR("InternalError")},
                                          {PART, "code=412"},
                                          {"code=403," ERROR("AccessDenied"), "code=404"}};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct upload upload;
        char key[16];
        char path[32];
        char target[64];
        (void)snprintf(path, sizeof(path), "s3://b/k%zu", i);
        (void)snprintf(key, sizeof(key), "/b/k%zu", i);
        begin_upload(&upload, (size_t)9 * 1024 * 1024);
        (void)snprintf(target, sizeof(target), "%s?uploads=", key);
        stub_store_script(f, "POST", target, WORDS(BEGUN));
        (void)snprintf(target, sizeof(target), "%s?partNumber=", key);
        stub_store_script(f, "PUT", target, WORDS(ends[i][0], ends[i][0]));
        (void)snprintf(target, sizeof(target), "%s?uploadId=u%%2F1", key);
        stub_store_script(f, "POST", target, WORDS(ends[i][1]));
        stub_store_script(f, "DELETE", target, WORDS("code=204"));
        f->err = (silt_error)SILT_ERROR_INIT;
        const silt_status status = silt_storage_adopt(f->storage, NULL, upload.local, path, &f->err);
        assert_int_equal(status, i == 2 ? SILT_EEXISTS : (i == 3 ? SILT_EACCESS : SILT_EIO));
        end_upload(&upload, false);
        assert_int_equal(stub_server_count(&f->stub, target), i == 1 || i == 2 ? 2 : 1); /* the abort among them */
    }
}

/* The server kept a part that was given up on its way, and shows it twice. */
static void an_upload_is_aborted_until_no_part_is_left(void **state)
{
    struct stub_store *f = *state;
    struct upload upload;
    begin_upload(&upload, (size_t)9 * 1024 * 1024);
    stub_store_script(f, "POST", "/b/k?uploads=", WORDS(BEGUN));
    stub_store_script(f, "PUT", "/b/k?partNumber=", WORDS("quiet,end=reset", PART, PART));
    stub_store_script(f, "POST", "/b/k?uploadId=u%2F1", WORDS("code=403," ERROR("AccessDenied")));
    stub_store_script(f, "DELETE", "/b/k?uploadId=u%2F1", WORDS("code=204", "code=500", "code=204", "code=404"));
    stub_store_script(f, "GET", "/b/k?max-parts=1&uploadId=u%2F1",
                      WORDS(LEFT_PART, LEFT_PART, "body=<ListPartsResult/>"));
    assert_int_equal(silt_storage_adopt(f->storage, NULL, upload.local, "s3://b/k", &f->err), SILT_EACCESS);
    end_upload(&upload, false);
    assert_int_equal(stub_server_count(&f->stub, "/b/k?max-parts=1&uploadId=u%2F1"), 3);
    assert_int_equal(stub_server_count(&f->stub, "/b/k?uploadId=u%2F1"), 1 + 4); /* one of them was tried again */
}

/* The mark that the upload left beside the content tells whose it is. */
static void an_upload_knows_its_own_after_a_lost_answer(void **state)
{
    struct stub_store *f = *state;
    struct upload upload;
    begin_upload(&upload, 10);
    stub_store_script(f, "PUT", "/b/k", WORDS("effect,quiet,end=close"));
    stub_store_script(f, "HEAD", "/b/k", WORDS("code=200,size=10,header=x-amz-meta-silt-upload:another"));
    assert_int_equal(silt_storage_adopt(f->storage, NULL, upload.local, "s3://b/k", &f->err), SILT_EEXISTS);
    end_upload(&upload, false);
    assert_non_null(strstr(stub_store_log(f), "x-amz-meta-silt-upload"));
}

/* ---- removal ---- */

static void a_tree_is_removed_in_batches(void **state)
{
    struct stub_store *f = *state;
    stub_store_script(f, "GET", "/b?", WORDS(PAGE(OBJECT("t/") OBJECT("t/&amp;a"))));
    stub_store_script(f, "POST", "/b?delete=", WORDS("body=<DeleteResult/>"));
    assert_int_equal(silt_storage_remove_tree(f->storage, NULL, "s3://b/t", &f->err), SILT_OK);
    assert_non_null(strstr(stub_store_log(f), "prefix=t%2F"));
    stub_store_script(f, "GET", "/b?", WORDS(PAGE(OBJECT("t/a"))));
    stub_store_script(
        f, "POST", "/b?delete=",
        WORDS("body=<DeleteResult><Error><Key>t/a</Key><Code>AccessDenied</Code></Error></DeleteResult>"));
    assert_int_equal(silt_storage_remove_tree(f->storage, NULL, "s3://b/t", &f->err), SILT_EACCESS);
    assert_non_null(strstr(f->err.message, "t/a could not be removed from bucket b: AccessDenied"));
    stub_store_script(f, "GET", "/b?", WORDS(PAGE("")));
    assert_int_equal(silt_storage_remove_tree(f->storage, NULL, "s3://b/none", &f->err), SILT_OK);
    assert_int_equal(silt_storage_remove_tree(f->storage, NULL, "s3://b/", &f->err), SILT_EINVALID);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_name_is_created_once),
        TEST(a_create_does_not_wait_for_a_hundred),
        TEST(a_conflict_is_tried_again),
        TEST(a_lost_answer_before_exists_is_ambiguous),
        TEST(a_refusal_is_a_failure),
        TEST(an_early_refusal_of_a_large_commit_is_no_riddle),
        TEST(nobody_there_is_a_failure),
        TEST(a_deadline_after_the_request_is_ambiguous),
        TEST(the_region_that_a_server_tells_is_taken),
        TEST(a_session_token_is_sent_and_signed),
        TEST(credentials_that_are_refused_are_fetched_anew_once),
        TEST(a_public_bucket_is_read_without_a_signature),
        TEST(a_server_is_proven_once),
        TEST(a_server_that_ignores_conditions_gets_no_commit),
        TEST(a_proof_survives_lost_answers),
        TEST(a_proof_that_may_not_be_made_names_the_option),
        TEST(ranges_are_cut_to_what_was_asked),
        TEST(a_whole_answer_to_a_range_is_cut),
        TEST(other_bytes_than_asked_for_are_refused),
        TEST(a_refused_range_is_no_empty_object),
        TEST(an_odd_success_of_a_create_is_none),
        TEST(a_cut_answer_is_asked_for_again),
        TEST(what_is_missing_is_not_found),
        TEST(pages_are_followed),
        TEST(a_listing_begins_at_the_wanted_name),
        TEST(a_stranger_is_not_taken_for_an_empty_folder),
        TEST(a_listing_that_lies_is_refused),
        TEST(a_small_file_is_one_put),
        TEST(a_large_file_is_sent_in_parts),
        TEST(an_upload_that_fails_is_aborted),
        TEST(an_upload_is_aborted_until_no_part_is_left),
        TEST(an_upload_knows_its_own_after_a_lost_answer),
        TEST(a_tree_is_removed_in_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
#undef TEST
}
