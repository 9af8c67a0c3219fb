/* The Google Cloud Storage store before a server that loses answers, lies and wants other tokens. What a well-behaved one does is for tests/stores. */
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json/writer.h"
#include "silt/version.h"
#include "storage/remote/crc32c.h"
#include "storage/remote/gcs/gcs.h"
#include "stub_store.h"
#include "temp_dir.h"
#include "test_env.h"

#define SECRET "S3cretOfTheTest"
#define LIST "/storage/v1/b/bkt/o?"
#define OBJECT "/storage/v1/b/bkt/o/"
#define UPLOAD "/upload/storage/v1/b/bkt/o"
#define SESSION "/session"
#define TAKEN "{\"error\":{\"code\":412,\"message\":\"taken\",\"errors\":[{\"reason\":\"conditionNotMet\"}]}}"
#define USER                                                                                                         \
    "{\"type\":\"authorized_user\",\"client_id\":\"i\",\"client_secret\":\"" SECRET "\",\"refresh_token\":\"" SECRET \
    "\",\"token_uri\":\"STUB/token\"}"

static char stored[128]; /* the resource of an object that holds "text" */

static int set_up(void **state)
{
    struct stub_store *f = calloc(1, sizeof(*f));
    char crc[SL_CRC32C_TEXT_SIZE];
    assert_non_null(f);
    sl_crc32c_text(sl_crc32c(0, "text", 4), crc);
    (void)snprintf(stored, sizeof(stored), "{\"size\":\"4\",\"crc32c\":\"%s\"}", crc);
    stub_store_start(f);
    stub_store_open(f, sl_gcs_open, WORDS("google_base_url", "STUB", "google_skip_signature", "true"));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct stub_store *f = *state;
    assert_null(strstr(f->err.message, SECRET));
    assert_null(strstr(f->err.hint, SECRET));
    stub_store_stop(f);
    free(f);
    return 0;
}

static silt_status put(struct stub_store *f, silt_put_outcome *outcome)
{
    f->err = (silt_error)SILT_ERROR_INIT;
    return silt_storage_put_if_absent(f->storage, NULL, "gs://bkt/a/k", "text", 4, outcome, &f->err);
}

static void check_put(struct stub_store *f, silt_put_outcome expected)
{
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    assert_int_equal(put(f, &outcome), SILT_OK);
    assert_int_equal(outcome, expected);
}

/* ---- conditional creates ---- */

static void a_name_is_created_or_taken(void **state)
{
    struct stub_store *f = *state;
    stub_store_script(f, "POST", UPLOAD "?uploadType=multipart&fields=size%2Cgeneration%2Ccrc32c&ifGenerationMatch=0",
                      WORDS(stub_store_step(f, 200, stored, ""), stub_store_step(f, 412, TAKEN, "")));
    check_put(f, SILT_PUT_DONE);
    check_put(f, SILT_PUT_EXISTS);
}

static void a_lost_answer_before_taken_is_ambiguous(void **state)
{
    struct stub_store *f = *state;
    stub_store_script(f, "POST", UPLOAD, WORDS("quiet,end=close", stub_store_step(f, 412, TAKEN, "")));
    check_put(f, SILT_PUT_AMBIGUOUS);
    stub_store_script(f, "POST", UPLOAD, WORDS("code=503", stub_store_step(f, 412, TAKEN, "")));
    check_put(f, SILT_PUT_AMBIGUOUS);
    stub_store_script(f, "POST", UPLOAD, WORDS("code=429", stub_store_step(f, 412, TAKEN, "")));
    check_put(f, SILT_PUT_EXISTS); /* nothing was done by the first */
    stub_store_script(f, "POST", UPLOAD, WORDS("quiet,end=close", stub_store_step(f, 200, stored, "")));
    check_put(f, SILT_PUT_DONE);
}

static void other_bytes_than_were_sent_are_ambiguous(void **state)
{
    struct stub_store *f = *state;
    stub_store_script(f, "POST", UPLOAD,
                      WORDS(stub_store_step(f, 200, "{\"size\":\"4\",\"crc32c\":\"AAAAAA==\"}", ""),
                            stub_store_step(f, 200, "{\"size\":\"3\"}", ""), stub_store_step(f, 200, "<html>", "")));
    check_put(f, SILT_PUT_AMBIGUOUS);
    check_put(f, SILT_PUT_AMBIGUOUS);
    check_put(f, SILT_PUT_AMBIGUOUS);
}

static void a_refusal_is_a_failure(void **state)
{
    struct stub_store *f = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    stub_store_script(
        f, "POST", UPLOAD,
        WORDS(stub_store_step(f, 403, "{\"error\":{\"message\":\"no\\nway\",\"errors\":[{\"reason\":\"forbidden\"}]}}",
                              ""),
              stub_store_step(f, 404, "{\"error\":{\"message\":\"The specified bucket does not exist.\"}}", ""),
              stub_store_step(f, 400, "", ""), stub_store_step(f, 401, "", "")));
    assert_int_equal(put(f, &outcome), SILT_EACCESS);
    assert_non_null(strstr(f->err.message, "(403, forbidden: no way)"));
    assert_int_equal(put(f, &outcome), SILT_ENOTFOUND);
    assert_non_null(strstr(f->err.message, "there is no bucket gs://bkt"));
    assert_int_equal(put(f, &outcome), SILT_EIO);
    assert_int_equal(put(f, &outcome), SILT_EACCESS);
    assert_non_null(strstr(f->err.hint, "without credentials"));
}

static void a_deadline_after_the_request_is_ambiguous(void **state)
{
    struct stub_store *f = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    const silt_call call = {.size = sizeof(call),
                            .abi_version = SILT_ABI_VERSION,
                            .deadline_us = silt_env_default()->monotonic_us(NULL) + 300000};
    stub_store_script(f, "POST", UPLOAD, WORDS("delay=2000"));
    assert_int_equal(silt_storage_put_if_absent(f->storage, &call, "gs://bkt/a/k", "text", 4, &outcome, &f->err),
                     SILT_OK);
    assert_int_equal(outcome, SILT_PUT_AMBIGUOUS);
}

/* ---- reading and listing ---- */

static silt_status read_all(struct stub_store *f)
{
    void *data = NULL;
    size_t len = 0;
    f->err = (silt_error)SILT_ERROR_INIT;
    const silt_status status = silt_storage_read(f->storage, NULL, "gs://bkt/k", &data, &len, &f->err);
    assert_true(status != SILT_OK || (len == 5 && memcmp(data, "hello", 5) == 0));
    silt_storage_free(f->storage, data, len);
    return status;
}

static void a_cut_body_is_no_data(void **state)
{
    struct stub_store *f = *state;
    stub_store_script(f, "GET", OBJECT "k?alt=media", WORDS("code=200,body=hello,cut=2", "code=200,body=hello"));
    assert_int_equal(read_all(f), SILT_OK); /* the second time */
    assert_int_equal(stub_store_count(f, "GET", OBJECT "k"), 2);
    stub_store_script(f, "GET", OBJECT "k?alt=media", WORDS(stub_store_step(f, 404, "No such object: bkt/k", "")));
    assert_int_equal(read_all(f), SILT_ENOTFOUND);
    assert_non_null(strstr(f->err.message, "No such object: bkt/k"));
}

/* A range is refused that was not asked for; and what is no answer of a read is no content. */
static void a_refused_range_is_no_empty_object(void **state)
{
    struct stub_store *f = *state;
    static const char *const answers[] = {"code=416", "code=416,header=Content-Range:bytes */0", "code=204", "code=203",
                                          "code=412"};
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        stub_store_script(f, "GET", OBJECT "k?alt=media", WORDS(answers[i]));
        assert_int_equal(read_all(f), SILT_EIO);
    }
}

static bool show(void *ctx, const silt_file_entry *entry)
{
    char *out = ctx;
    const size_t len = strlen(out);
    (void)snprintf(out + len, 256 - len, "%.*s ", (int)entry->name_len, entry->name);
    return true;
}

static silt_status list(struct stub_store *f, const char *start, char out[256])
{
    const silt_list_options options = {.size = sizeof(options), .start_from = start};
    out[0] = '\0';
    f->err = (silt_error)SILT_ERROR_INIT;
    return silt_storage_list(f->storage, NULL, "gs://bkt/t", &options, show, out, &f->err);
}

static void pages_are_followed_by_their_tokens(void **state)
{
    struct stub_store *f = *state;
    char out[256];
    stub_store_script(
        f, "GET", LIST,
        WORDS(stub_store_step(f, 200, "{\"prefixes\":[\"t/x/\"],\"nextPageToken\":\"p/1\"}", ""),
              stub_store_step(f, 200,
                              "{\"items\":[{\"name\":\"t/\",\"size\":\"0\"},{\"name\":\"t/a\",\"size\":\"1\"}],"
                              "\"nextPageToken\":\"p2\"}",
                              ""),
              stub_store_step(f, 200, "{\"items\":[{\"name\":\"t/b\",\"size\":\"1\"}]}", "")));
    assert_int_equal(list(f, NULL, out), SILT_OK);
    assert_string_equal(out, "a b ");
    assert_non_null(strstr(stub_store_log(f), "prefix=t%2F&delimiter=%2F&pageToken=p%2F1\""));
}

static void a_listing_that_lies_is_refused(void **state)
{
    struct stub_store *f = *state;
    char out[256];
    static const char *const bad[] = {
        "{\"items\":[{\"name\":\"t/b\",\"size\":\"1\"},{\"name\":\"t/a\",\"size\":\"1\"}]}", /* order */
        "{\"items\":[{\"name\":\"t/b\",\"size\":\"1\"},{\"name\":\"t/b\",\"size\":\"1\"}]}", /* twice */
        "{\"items\":[{\"name\":\"u/b\",\"size\":\"1\"}]}",                                   /* another folder's */
        "{\"items\":[{\"name\":\"t/a\",\"size\":\"1\"}]}",                                   /* before the start */
        "{\"items\":[{\"name\":\"t/c/d\",\"size\":\"1\"}]}"};                                /* below a sub-folder */
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        stub_store_script(f, "GET", LIST, WORDS(stub_store_step(f, 200, bad[i], "")));
        assert_int_equal(list(f, "b", out), SILT_EIO);
        assert_non_null(strstr(f->err.message, "the service listed")); /* not found out by who called the store only */
    }
    const char *page = "{\"items\":[],\"nextPageToken\":\"same\"}";
    stub_store_script(f, "GET", LIST, WORDS(stub_store_step(f, 200, page, ""), stub_store_step(f, 200, page, "")));
    assert_int_equal(list(f, NULL, out), SILT_EIO);
    assert_non_null(strstr(f->err.message, "leads to itself"));
}

static void a_folder_exists_when_names_before_the_start_do(void **state)
{
    struct stub_store *f = *state;
    char out[256];
    stub_store_script(f, "GET", LIST,
                      WORDS(stub_store_step(f, 200, "{}", ""),
                            stub_store_step(f, 200, "{\"items\":[{\"name\":\"t/a\",\"size\":\"1\"}]}", "")));
    assert_int_equal(list(f, "z", out), SILT_OK);
    stub_store_script(f, "GET", LIST, WORDS(stub_store_step(f, 200, "{}", ""), stub_store_step(f, 200, "{}", "")));
    assert_int_equal(list(f, "z", out), SILT_ENOTFOUND);
}

/* ---- uploads that go on ---- */

#define BIG ((size_t)17 << 20)

/* A file of BIG zeroes; its checksum's text goes to crc. */
static void make_big(const char *dir, char path[300], char crc[SL_CRC32C_TEXT_SIZE])
{
    static const char zeroes[4096];
    uint32_t sum = 0;
    for (size_t i = 0; i < BIG; i += sizeof(zeroes)) {
        sum = sl_crc32c(sum, zeroes, sizeof(zeroes));
    }
    sl_crc32c_text(sum, crc);
    (void)snprintf(path, 300, "%s/big", dir);
    const int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && ftruncate(fd, (off_t)BIG) == 0 && close(fd) == 0);
}

static void an_upload_goes_on_where_the_session_has_come_to(void **state)
{
    struct stub_store *f = *state;
    char dir[256];
    char path[300];
    char crc[SL_CRC32C_TEXT_SIZE];
    char done[128];
    assert_true(temp_dir_make(dir, sizeof(dir)));
    make_big(dir, path, crc);
    (void)snprintf(done, sizeof(done), "{\"size\":\"%zu\",\"crc32c\":\"%s\"}", BIG, crc);
    stub_store_script(f, "POST", UPLOAD "?uploadType=resumable&ifGenerationMatch=0&name=big",
                      WORDS(stub_store_step(f, 200, "", "header=Location:STUB" SESSION "?id=1")));
    /* 8 MiB; 4 of the next 8, whose answer is lost; the question; the rest. */
    stub_store_script(f, "PUT", SESSION,
                      WORDS("code=308,header=Range:bytes=0-8388607", "quiet,end=close",
                            "code=308,header=Range:bytes=0-12582911", stub_store_step(f, 200, done, "")));
    assert_int_equal(silt_storage_adopt(f->storage, NULL, path, "gs://bkt/big", &f->err), SILT_OK);
    assert_int_equal(access(path, F_OK), -1);
    const char *log = stub_store_log(f);
    assert_non_null(strstr(log, "bytes 0-8388607/17825792"));
    assert_non_null(strstr(log, "bytes 8388608-16777215/17825792"));
    assert_non_null(strstr(log, "bytes */17825792"));
    assert_non_null(strstr(log, "bytes 12582912-17825791/17825792"));
    assert_int_equal(stub_store_count(f, "DELETE", SESSION), 0);
    assert_true(temp_dir_remove(dir));
}

static void an_upload_that_fails_is_called_off_and_keeps_the_file(void **state)
{
    struct stub_store *f = *state;
    char dir[256];
    char path[300];
    char crc[SL_CRC32C_TEXT_SIZE];
    assert_true(temp_dir_make(dir, sizeof(dir)));
    make_big(dir, path, crc);
    const char *begun = stub_store_step(f, 200, "", "header=Location:STUB" SESSION "?id=" SECRET);
    stub_store_script(f, "POST", UPLOAD, WORDS(begun, begun, begun));
    stub_store_script(f, "PUT", SESSION, WORDS("code=308,header=Range:bytes=0-8388608"));
    assert_int_equal(silt_storage_adopt(f->storage, NULL, path, "gs://bkt/big", &f->err),
                     SILT_EIO); /* more than was sent */
    assert_int_equal(stub_store_count(f, "DELETE", SESSION), 1);
    stub_store_script(f, "PUT", SESSION, WORDS("code=412"));
    assert_int_equal(silt_storage_adopt(f->storage, NULL, path, "gs://bkt/big", &f->err), SILT_EEXISTS);
    stub_store_script(f, "PUT", SESSION, WORDS("code=403"));
    assert_int_equal(silt_storage_adopt(f->storage, NULL, path, "gs://bkt/big", &f->err), SILT_EACCESS);
    assert_int_equal(access(path, F_OK), 0);
    assert_true(temp_dir_remove(dir));
}

static void an_upload_whose_last_answer_was_lost_is_compared(void **state)
{
    struct stub_store *f = *state;
    char dir[256];
    char path[300];
    char crc[SL_CRC32C_TEXT_SIZE];
    char done[128];
    assert_true(temp_dir_make(dir, sizeof(dir)));
    make_big(dir, path, crc);
    (void)snprintf(done, sizeof(done), "{\"size\":\"%zu\",\"crc32c\":\"%s\"}", BIG, crc);
    stub_store_script(f, "POST", UPLOAD, WORDS(stub_store_step(f, 200, "", "header=Location:STUB" SESSION)));
    stub_store_script(f, "PUT", SESSION,
                      WORDS("code=308,header=Range:bytes=0-8388607", "code=308,header=Range:bytes=0-16777215",
                            "quiet,end=close", "code=404")); /* the session is over */
    stub_store_script(f, "GET", OBJECT "big?fields", WORDS(stub_store_step(f, 200, done, "")));
    assert_int_equal(silt_storage_adopt(f->storage, NULL, path, "gs://bkt/big", &f->err), SILT_OK);
    assert_true(temp_dir_remove(dir));
}

/* ---- tokens ---- */

static void a_token_is_fetched_once_and_renewed_when_refused(void **state)
{
    struct stub_store *f = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    stub_store_open(f, sl_gcs_open, WORDS("google_base_url", "STUB", "google_service_account_key", USER));
    stub_store_script(f, "POST", "/token",
                      WORDS(stub_store_step(f, 200, "{\"access_token\":\"one\",\"expires_in\":3600}", ""),
                            stub_store_step(f, 200, "{\"access_token\":\"two\",\"expires_in\":3600}", ""),
                            stub_store_step(f, 200, "{\"access_token\":\"three\",\"expires_in\":3600}", "")));
    stub_store_script(f, "POST", UPLOAD,
                      WORDS(stub_store_step(f, 200, stored, ""), "code=401", stub_store_step(f, 200, stored, ""),
                            stub_store_step(f, 200, stored, ""), "code=401", "code=401"));
    check_put(f, SILT_PUT_DONE);
    assert_int_equal(stub_store_count(f, "POST", "/token"), 1);
    assert_non_null(strstr(stub_store_log(f), "\"Bearer one\""));
    check_put(f, SILT_PUT_DONE); /* refused, renewed, taken */
    check_put(f, SILT_PUT_DONE);
    assert_int_equal(stub_store_count(f, "POST", "/token"), 2);
    assert_non_null(strstr(stub_store_log(f), "\"Bearer two\""));
    assert_int_equal(put(f, &outcome), SILT_EACCESS); /* renewed once only */
    assert_int_equal(stub_store_count(f, "POST", "/token"), 3);
}

/* A key file of a service account with a new key, whose tokens come from the stub. */
static void put_key_file(const struct stub_store *f, const char *path)
{
    static char pem[4096];
    struct sl_buf out;
    struct sl_json_writer w;
    EVP_PKEY *key = EVP_RSA_gen(2048);
    BIO *bio = BIO_new(BIO_s_mem());
    assert_non_null(key);
    assert_int_equal(PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL), 1);
    const int n = BIO_read(bio, pem, sizeof(pem) - 1);
    assert_true(n > 0);
    pem[n] = '\0';
    sl_buf_init(&out, f->context.env);
    sl_json_writer_init(&w, &out);
    sl_json_begin_object(&w);
    sl_json_key_c(&w, "type");
    sl_json_put_c(&w, "service_account");
    sl_json_key_c(&w, "client_email");
    sl_json_put_c(&w, "a@b");
    sl_json_key_c(&w, "private_key");
    sl_json_put_c(&w, pem);
    sl_json_key_c(&w, "token_uri");
    sl_json_put_c(&w, stub_server_url(&f->stub, "/token"));
    sl_json_end_object(&w);
    const int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && write(fd, out.data, out.len) == (ssize_t)out.len && close(fd) == 0);
    sl_buf_release(&out);
    BIO_free(bio);
    EVP_PKEY_free(key);
}

static void a_service_account_gives_its_claims_for_a_token(void **state)
{
    struct stub_store *f = *state;
    char dir[256];
    char path[300];
    assert_true(temp_dir_make(dir, sizeof(dir)));
    (void)snprintf(path, sizeof(path), "%s/key.json", dir);
    put_key_file(f, path);
    stub_store_open(f, sl_gcs_open, WORDS("google_base_url", "STUB", "google_service_account", path));
    stub_store_script(f, "POST", "/token",
                      WORDS(stub_store_step(f, 200, "{\"access_token\":\"sa\",\"expires_in\":3600}", "")));
    stub_store_script(f, "POST", UPLOAD, WORDS(stub_store_step(f, 200, stored, "")));
    check_put(f, SILT_PUT_DONE);
    assert_non_null(strstr(stub_store_log(f), "\"application/x-www-form-urlencoded\""));
    assert_non_null(strstr(stub_store_log(f), "\"Bearer sa\""));
    assert_true(temp_dir_remove(dir));
}

static void a_token_that_runs_out_soon_is_renewed_before(void **state)
{
    struct stub_store *f = *state;
    stub_store_open(f, sl_gcs_open, WORDS("google_base_url", "STUB", "google_service_account_key", USER));
    stub_store_script(f, "POST", "/token",
                      WORDS(stub_store_step(f, 200, "{\"access_token\":\"short\",\"expires_in\":200}", ""), "code=400",
                            stub_store_step(f, 200, "{\"access_token\":\"long\",\"expires_in\":3600}", "")));
    for (int i = 0; i < 2; i++) { /* the second: renewal fails, but the old one holds */
        stub_store_script(f, "POST", UPLOAD, WORDS(stub_store_step(f, 200, stored, "")));
        check_put(f, SILT_PUT_DONE);
    }
    assert_int_equal(stub_store_count(f, "POST", "/token"), 2);
}

static void an_endpoint_that_fails_is_a_failure_without_secrets(void **state)
{
    struct stub_store *f = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    stub_store_open(f, sl_gcs_open, WORDS("google_base_url", "STUB", "google_service_account_key", USER));
    stub_store_script(f, "POST", "/token",
                      WORDS(stub_store_step(f, 400, "{\"error\":\"invalid_grant\",\"error_description\":\"gone\"}", ""),
                            "code=401", stub_store_step(f, 200, "{\"access_token\":\"a b\"}", ""), "code=503",
                            stub_store_step(f, 200, "{\"access_token\":\"good\"}", "delay=200")));
    assert_int_equal(put(f, &outcome), SILT_EACCESS);
    assert_non_null(strstr(f->err.message, "invalid_grant: gone"));
    assert_int_equal(put(f, &outcome), SILT_EACCESS);
    assert_int_equal(put(f, &outcome), SILT_EIO);
    stub_store_script(f, "POST", UPLOAD, WORDS(stub_store_step(f, 200, stored, "")));
    check_put(f, SILT_PUT_DONE); /* slow, and at the second try */
    assert_int_equal(stub_store_count(f, "POST", "/token"), 5);
}

static void the_metadata_server_is_asked_as_it_wants(void **state)
{
    struct stub_store *f = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    const char *const options[] = {
        "google_base_url", "STUB", "fs.gs.auth.type", "COMPUTE_ENGINE", "google_metadata_host", "HOST", NULL};
    stub_store_open(f, sl_gcs_open, options);
    stub_store_script(f, "GET", "/computeMetadata/v1/instance/service-accounts/default/token",
                      WORDS(stub_store_step(f, 200, "{\"access_token\":\"m\",\"expires_in\":3600}", ""),
                            stub_store_step(f, 200, "{\"access_token\":\"m\",\"expires_in\":3600}",
                                            "header=Metadata-Flavor:Google")));
    assert_int_equal(put(f, &outcome), SILT_EACCESS); /* somebody else answers at that address */
    stub_store_script(f, "POST", UPLOAD, WORDS(stub_store_step(f, 200, stored, "")));
    check_put(f, SILT_PUT_DONE);
    assert_non_null(strstr(stub_store_log(f), "\"Metadata-Flavor\", \"Google\""));
    assert_non_null(strstr(stub_store_log(f), "\"Bearer m\""));
}

static void a_token_goes_nowhere_in_the_clear(void **state)
{
    struct stub_store *f = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    stub_store_open(f, sl_gcs_open, WORDS("google_base_url", "http://gcs.example", "google_bearer_token", SECRET));
    assert_int_equal(put(f, &outcome), SILT_EINVALID);
    assert_non_null(strstr(f->err.message, "allow_http"));
    stub_store_open(f, sl_gcs_open,
                    WORDS("google_base_url", "STUB", "google_skip_signature", "true", "google_bucket", "other"));
    assert_int_equal(put(f, &outcome), SILT_EINVALID);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_name_is_created_or_taken),
        TEST(a_lost_answer_before_taken_is_ambiguous),
        TEST(other_bytes_than_were_sent_are_ambiguous),
        TEST(a_refusal_is_a_failure),
        TEST(a_deadline_after_the_request_is_ambiguous),
        TEST(a_cut_body_is_no_data),
        TEST(a_refused_range_is_no_empty_object),
        TEST(pages_are_followed_by_their_tokens),
        TEST(a_listing_that_lies_is_refused),
        TEST(a_folder_exists_when_names_before_the_start_do),
        TEST(an_upload_goes_on_where_the_session_has_come_to),
        TEST(an_upload_that_fails_is_called_off_and_keeps_the_file),
        TEST(an_upload_whose_last_answer_was_lost_is_compared),
        TEST(a_token_is_fetched_once_and_renewed_when_refused),
        TEST(a_service_account_gives_its_claims_for_a_token),
        TEST(a_token_that_runs_out_soon_is_renewed_before),
        TEST(an_endpoint_that_fails_is_a_failure_without_secrets),
        TEST(the_metadata_server_is_asked_as_it_wants),
        TEST(a_token_goes_nowhere_in_the_clear),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
