/* The HDFS store before a server that loses answers, is in standby, and sends elsewhere. What a well-behaved one does is for tests/stores. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"
#include "hdfs_fixture.h"
#include "silt/version.h"
#include "storage/remote/hdfs/hdfs.h"
#include "temp_dir.h"
#include "test_env.h"

#define SECRET "S3cretOfTheTest"
#define ROOT "/webhdfs/v1/t"
#define FAULT(name) "{\"RemoteException\":{\"exception\":\"" name "\",\"message\":\"so\"}}"
#define FILE_OF(name, type) "{\"pathSuffix\":\"" name "\",\"type\":\"" type "\",\"length\":5,\"modificationTime\":17}"
#define STATUS "{\"FileStatus\":" FILE_OF("", "FILE") "}"
#define PAGE_OF(files, remaining)                                                         \
    "{\"DirectoryListing\":{\"partialListing\":{\"FileStatuses\":{\"FileStatus\":[" files \
    "]}},\"remainingEntries\":" remaining "}}"

static int tear_down(void **state)
{
    struct stub_store *f = *state;
    assert_null(strstr(f->err.message, SECRET));
    stub_store_stop(f);
    free(f);
    return 0;
}

/* Scripts one creation of a hidden file. */
static void expect_create(struct stub_store *f)
{
    stub_store_script(f, "PUT", ROOT "/.silt-",
                      WORDS(stub_store_step(f, 307, "", "header=Location:STUB/data/x?token=t")));
    stub_store_script(f, "PUT", "/data/", WORDS(stub_store_step(f, 201, "", "")));
}

/* Scripts what follows a creation: answers to PUT of the hidden file's name, which is RENAME; NULL at the end. */
static void expect_rename(struct stub_store *f, const char *const *steps)
{
    stub_store_script(f, "PUT", ROOT "/.silt-", steps);
}

static void expect_delete(struct stub_store *f, const char *answer)
{
    stub_store_script(f, "DELETE", ROOT "/.silt-", WORDS(stub_store_step(f, 200, answer, "")));
}

static silt_status put(struct stub_store *f, silt_put_outcome *outcome)
{
    f->err = (silt_error)SILT_ERROR_INIT;
    return silt_storage_put_if_absent(f->storage, NULL, "hdfs://nn/t/k", "text", 4, outcome, &f->err);
}

static void check_put(struct stub_store *f, silt_put_outcome expected)
{
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    assert_int_equal(put(f, &outcome), SILT_OK);
    assert_int_equal(outcome, expected);
}

/* ---- conditional creates ---- */

static void a_file_is_written_hidden_and_renamed(void **state)
{
    struct stub_store *f = *state;
    expect_create(f);
    expect_rename(f, WORDS("code=200"));
    check_put(f, SILT_PUT_DONE);
    const char *log = stub_store_log(f);
    assert_non_null(strstr(log, "op=CREATE&overwrite=true&user.name=me\""));
    assert_non_null(strstr(log, "\"/data/x?token=t\"")); /* just as the name node said */
    assert_non_null(strstr(log, "op=RENAME&destination=%2Ft%2Fk&renameoptions=NONE&user.name=me\""));
    assert_int_equal(stub_store_count(f, "DELETE", "/"), 0);
    expect_create(f);
    expect_rename(f, WORDS(stub_store_step(f, 403, FAULT("FileAlreadyExistsException"), "")));
    expect_delete(f, "{\"boolean\":true}");
    check_put(f, SILT_PUT_EXISTS);
    assert_int_equal(stub_store_count(f, "DELETE", ROOT "/.silt-"), 1);
}

static void a_plain_no_is_asked_about(void **state)
{
    struct stub_store *f = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    expect_create(f);
    expect_rename(f, WORDS(stub_store_step(f, 200, "{\"boolean\":false}", "")));
    stub_store_script(f, "GET", ROOT "/k?op=GETFILESTATUS", WORDS(stub_store_step(f, 200, STATUS, "")));
    expect_delete(f, "{\"boolean\":true}");
    check_put(f, SILT_PUT_EXISTS);
    expect_create(f);
    expect_rename(f, WORDS(stub_store_step(f, 200, "{\"boolean\":false}", "")));
    stub_store_script(f, "GET", ROOT "/k?op=GETFILESTATUS",
                      WORDS(stub_store_step(f, 404, FAULT("FileNotFoundException"), "")));
    expect_delete(f, "{\"boolean\":true}");
    assert_int_equal(put(f, &outcome), SILT_EIO);
}

/* Whether the hidden file is still there says whether a rename without an answer has happened. */
static void a_lost_answer_is_resolved_by_the_hidden_file(void **state)
{
    struct stub_store *f = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    const char *exists = stub_store_step(f, 403, FAULT("FileAlreadyExistsException"), "");
    const char *missing = stub_store_step(f, 404, FAULT("FileNotFoundException"), "");
    expect_create(f);
    expect_rename(f, WORDS("quiet,end=close", exists));
    expect_delete(f, "{\"boolean\":false}");
    check_put(f, SILT_PUT_AMBIGUOUS);
    expect_create(f);
    expect_rename(f, WORDS("quiet,end=close", exists));
    expect_delete(f, "{\"boolean\":true}");
    check_put(f, SILT_PUT_EXISTS);
    expect_create(f);
    expect_rename(f, WORDS("quiet,end=close", missing));
    expect_delete(f, "{\"boolean\":false}");
    check_put(f, SILT_PUT_AMBIGUOUS);
    expect_create(f);
    expect_rename(f, WORDS("code=500", missing));
    expect_delete(f, "{\"boolean\":true}");
    assert_int_equal(put(f, &outcome), SILT_EIO);
    expect_create(f);
    expect_rename(f, WORDS(stub_store_step(f, 200, "what?", "")));
    expect_delete(f, "{\"boolean\":false}");
    check_put(f, SILT_PUT_AMBIGUOUS);
}

/* Refused, they say, and yet the hidden file has moved. */
static void a_no_without_a_hidden_file_is_none(void **state)
{
    struct stub_store *f = *state;
    expect_create(f);
    expect_rename(f, WORDS(stub_store_step(f, 200, "{\"boolean\":false}", "")));
    stub_store_script(f, "GET", ROOT "/k?op=GETFILESTATUS", WORDS(stub_store_step(f, 200, STATUS, "")));
    expect_delete(f, "{\"boolean\":false}");
    check_put(f, SILT_PUT_AMBIGUOUS);
    assert_non_null(strstr(f->err.message, "HDFS calls /t/k taken, and what was to be renamed to it is gone"));
    expect_create(f);
    expect_rename(f, WORDS(stub_store_step(f, 403, FAULT("AccessControlException"), "")));
    expect_delete(f, "{\"boolean\":false}");
    check_put(f, SILT_PUT_AMBIGUOUS);
    assert_non_null(strstr(f->err.message, "AccessControlException"));
}

static void a_data_node_that_fails_is_left_for_another(void **state)
{
    struct stub_store *f = *state;
    const char *go = stub_store_step(f, 307, "", "header=Location:STUB/data/x");
    stub_store_script(f, "PUT", ROOT "/.silt-", WORDS(go, go, go, go, go, "code=200"));
    stub_store_script(f, "PUT", "/data/", WORDS("quiet,end=close", "code=500", "code=503", "code=500", "code=201"));
    for (int i = 0; i < 4; i++) {
        expect_delete(f, "{\"boolean\":true}"); /* of a hidden file before the last */
    }
    check_put(f, SILT_PUT_DONE);
    assert_int_equal(stub_store_count(f, "PUT", "/data/"), 5);
}

static void a_refusal_is_a_failure(void **state)
{
    struct stub_store *f = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    stub_store_script(f, "PUT", ROOT "/.silt-",
                      WORDS(stub_store_step(f, 403, FAULT("AccessControlException"), ""),
                            stub_store_step(f, 403, FAULT("DSQuotaExceededException"), ""), "code=401",
                            "code=403,body=<html>No</html>", stub_store_step(f, 403, FAULT("SomeException"), "")));
    assert_int_equal(put(f, &outcome), SILT_EACCESS);
    assert_non_null(strstr(f->err.message, "(403, AccessControlException: so)"));
    assert_int_equal(put(f, &outcome), SILT_ENOSPACE);
    assert_int_equal(put(f, &outcome), SILT_EACCESS);
    assert_int_equal(put(f, &outcome), SILT_EACCESS); /* of a gateway */
    assert_int_equal(put(f, &outcome), SILT_EIO);     /* 403 is how WebHDFS says most things */
}

static void redirects_that_lead_astray_are_not_followed(void **state)
{
    struct stub_store *f = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    stub_store_script(f, "PUT", ROOT "/.silt-",
                      WORDS("code=307", "code=307,header=Location:ftp://h/x", "code=307,header=Location:/data/x",
                            "code=307,header=Location:file:///etc/passwd"));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(put(f, &outcome), SILT_EIO);
        assert_non_null(strstr(f->err.message, "sends on"));
    }
    assert_int_equal(stub_store_count(f, "PUT", "/data/"), 0);
}

static void a_delegation_token_goes_to_the_name_node_only(void **state)
{
    struct stub_store *f = *state;
    stub_store_open(f, sl_hdfs_open,
                    WORDS("hdfs_namenodes", "HOST", "hdfs_user", "me", "hdfs_delegation_token", SECRET));
    expect_create(f);
    expect_rename(f, WORDS("code=200"));
    check_put(f, SILT_PUT_DONE);
    const char *log = stub_store_log(f);
    assert_non_null(strstr(log, "&delegation=" SECRET "\""));
    assert_null(strstr(log, "user.name"));
    assert_non_null(strstr(log, "\"/data/x?token=t\""));
}

/* ---- pairs of name nodes ---- */

static void the_name_node_that_works_is_found_and_remembered(void **state)
{
    struct stub_store *f = *state;
    int64_t size = 0;
    int64_t time_ms = 0;
    stub_store_open(f, sl_hdfs_open,
                    WORDS("dfs.ha.namenodes.Pair", "nn1,nn2", "dfs.namenode.http-address.pair.nn1", "127.0.0.1:1",
                          "dfs.namenode.http-address.pair.nn2", "HOST", "hdfs_user", "me"));
    stub_store_script(f, "GET", ROOT "/k",
                      WORDS(stub_store_step(f, 200, STATUS, ""), stub_store_step(f, 200, STATUS, "")));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(silt_storage_stat(f->storage, NULL, "hdfs://Pair/t/k", &size, &time_ms, &f->err), SILT_OK);
        assert_int_equal(size, 5);
    }
    /* One that is in standby says so. */
    stub_store_open(f, sl_hdfs_open, WORDS("hdfs_namenodes", "HOST, HOST"));
    stub_store_script(
        f, "GET", ROOT "/k",
        WORDS(stub_store_step(f, 403, FAULT("StandbyException"), ""), stub_store_step(f, 200, STATUS, "")));
    assert_int_equal(silt_storage_stat(f->storage, NULL, "hdfs://Pair/t/k", &size, &time_ms, &f->err), SILT_OK);
    stub_store_open(f, sl_hdfs_open, WORDS("dfs.ha.namenodes.Pair", "nn1,nn2"));
    assert_int_equal(silt_storage_stat(f->storage, NULL, "hdfs://Pair/t/k", &size, &time_ms, &f->err), SILT_EINVALID);
    assert_non_null(strstr(f->err.message, "dfs.namenode.http-address.pair.nn1"));
}

static void safe_mode_is_waited_for(void **state)
{
    struct stub_store *f = *state;
    int64_t size = 0;
    int64_t time_ms = 0;
    stub_store_script(
        f, "GET", ROOT "/k",
        WORDS(stub_store_step(f, 403, FAULT("RetriableException"), ""), stub_store_step(f, 200, STATUS, "")));
    assert_int_equal(silt_storage_stat(f->storage, NULL, "hdfs://nn/t/k", &size, &time_ms, &f->err), SILT_OK);
}

/* ---- reading and listing ---- */

static void keep(void *ctx, silt_read_request *request)
{
    (void)ctx;
    (void)request;
}

static silt_status read_part(struct stub_store *f, int64_t offset, int64_t length, const char *expected)
{
    silt_read_request read = {.path = "hdfs://nn/t/k", .offset = offset, .length = length};
    f->err = (silt_error)SILT_ERROR_INIT;
    const silt_status whole = silt_storage_read_many(f->storage, NULL, &read, 1, keep, NULL, &f->err);
    assert_int_equal(whole, SILT_OK);
    if (read.status == SILT_OK) {
        assert_int_equal(read.data_len, strlen(expected));
        assert_memory_equal(read.data_len > 0 ? read.data : "", expected, read.data_len);
    }
    silt_read_request_release(f->storage, &read);
    return read.status;
}

static void expect_open(struct stub_store *f, const char *data)
{
    stub_store_script(f, "GET", ROOT "/k?op=OPEN", WORDS(stub_store_step(f, 307, "", "header=Location:STUB/data/k")));
    stub_store_script(f, "GET", "/data/", WORDS(data));
}

static void what_is_read_is_what_was_asked_for(void **state)
{
    struct stub_store *f = *state;
    const char *status = stub_store_step(f, 200, STATUS, ""); /* five bytes */
    expect_open(f, "code=200,body=ell");
    assert_int_equal(read_part(f, 1, 3, "ell"), SILT_OK);
    expect_open(f, "code=200,body=llo");
    stub_store_script(f, "GET", ROOT "/k?op=GETFILESTATUS", WORDS(status, status, status, status, status));
    assert_int_equal(read_part(f, 2, 9, "llo"), SILT_OK); /* the end is where the name node says */
    expect_open(f, "code=200,body=ll");
    assert_int_equal(read_part(f, 2, 9, ""), SILT_EIO); /* it is not */
    expect_open(f, "code=200,body=hello");
    assert_int_equal(read_part(f, 1, 3, ""), SILT_EIO);
    expect_open(f, "code=200,body=lo");
    assert_int_equal(read_part(f, -2, -1, "lo"), SILT_OK);
    expect_open(f, stub_store_step(f, 403, FAULT("EOFException"), ""));
    assert_int_equal(read_part(f, 7, 3, ""), SILT_OK);
    assert_int_equal(read_part(f, 0, 0, ""), SILT_OK);
    stub_store_script(f, "GET", ROOT "/k?op=OPEN", WORDS(stub_store_step(f, 404, FAULT("FileNotFoundException"), "")));
    assert_int_equal(read_part(f, 0, 3, ""), SILT_ENOTFOUND);
}

static void a_cut_body_is_asked_for_again(void **state)
{
    struct stub_store *f = *state;
    const char *go = stub_store_step(f, 307, "", "header=Location:STUB/data/k");
    stub_store_script(f, "GET", ROOT "/k?op=OPEN", WORDS(go, go));
    stub_store_script(f, "GET", "/data/", WORDS("code=200,body=hello,cut=2", "code=200,body=hello"));
    assert_int_equal(read_part(f, 0, 5, "hello"), SILT_OK);
}

/* As often as any other store is asked again, within the call's deadline. */
static void data_nodes_that_fail_are_left_until_the_deadline(void **state)
{
    struct stub_store *f = *state;
    const char *go = stub_store_step(f, 307, "", "header=Location:STUB/data/k");
    stub_store_script(f, "GET", ROOT "/k?op=OPEN",
                      WORDS(go, go, go, go, go, go, go, go, go, go, go, go, go, go, go, go, go, go));
    stub_store_script(f, "GET", "/data/",
                      WORDS("code=503", "quiet,end=close", "code=500", "code=500", "code=502", "code=200,body=hello"));
    assert_int_equal(read_part(f, 0, 5, "hello"), SILT_OK);
    const silt_call call = {.size = sizeof(call),
                            .abi_version = SILT_ABI_VERSION,
                            .deadline_us = sl_monotonic_us(f->context.env) + 2000000};
    silt_read_request read = {.path = "hdfs://nn/t/k", .length = 5};
    stub_store_script(f, "GET", "/data/",
                      WORDS("code=500", "code=500", "code=500", "code=500", "code=500", "code=500", "code=500",
                            "code=500", "code=500", "code=500", "code=500", "code=500"));
    assert_int_equal(silt_storage_read_many(f->storage, &call, &read, 1, keep, NULL, &f->err), SILT_OK);
    assert_int_equal(read.status, SILT_EIO);
    assert_non_null(strstr(f->err.message, "HDFS answered 500"));
    assert_non_null(strstr(f->err.hint, "because of the deadline"));
}

static bool show(void *ctx, const silt_file_entry *entry)
{
    char *out = ctx;
    const size_t len = strlen(out);
    (void)snprintf(out + len, 256 - len, "%.*s ", (int)entry->name_len, entry->name);
    return true;
}

static silt_status list(struct stub_store *f, bool recursive, char out[256])
{
    const silt_list_options options = {.size = sizeof(options), .recursive = recursive};
    out[0] = '\0';
    f->err = (silt_error)SILT_ERROR_INIT;
    return silt_storage_list(f->storage, NULL, "hdfs://nn/t", &options, show, out, &f->err);
}

static void a_listing_is_sorted_and_hides_what_is_being_written(void **state)
{
    struct stub_store *f = *state;
    char out[256];
    stub_store_script(
        f, "GET", ROOT "?op=LISTSTATUS_BATCH",
        WORDS(stub_store_step(f, 200, PAGE_OF(FILE_OF("b", "FILE") "," FILE_OF("d", "DIRECTORY"), "2"), ""),
              stub_store_step(
                  f, 200,
                  PAGE_OF(FILE_OF("a", "FILE") "," FILE_OF(".silt-00000000-0000-4000-8000-000000000000.tmp", "FILE"),
                          "0"),
                  "")));
    stub_store_script(f, "GET", ROOT "/d?op=LISTSTATUS_BATCH",
                      WORDS(stub_store_step(f, 200, PAGE_OF(FILE_OF("x", "FILE"), "0"), "")));
    assert_int_equal(list(f, true, out), SILT_OK);
    assert_string_equal(out, "a b d/x ");
    assert_non_null(strstr(stub_store_log(f), "op=LISTSTATUS_BATCH&startafter=d&user.name=me"));
}

static void a_listing_that_lies_is_refused(void **state)
{
    struct stub_store *f = *state;
    char out[256];
    const char *page = stub_store_step(f, 200, PAGE_OF(FILE_OF("a", "FILE"), "5"), "");
    stub_store_script(f, "GET", ROOT "?", WORDS(page, page)); /* as by a server that ignores startafter */
    assert_int_equal(list(f, false, out), SILT_EIO);
    assert_non_null(strstr(f->err.message, "does not lead on"));
    stub_store_script(f, "GET", ROOT "?", WORDS(stub_store_step(f, 200, PAGE_OF("", "5"), "")));
    assert_int_equal(list(f, false, out), SILT_EIO);
    stub_store_script(
        f, "GET", ROOT "?",
        WORDS(page, stub_store_step(f, 200, PAGE_OF(FILE_OF("b", "FILE") "," FILE_OF("a", "FILE"), "0"), "")));
    assert_int_equal(list(f, false, out), SILT_EIO);
    assert_non_null(strstr(f->err.message, "twice"));
    stub_store_script(f, "GET", ROOT "?", WORDS(stub_store_step(f, 200, PAGE_OF(FILE_OF("", "FILE"), "0"), "")));
    assert_int_equal(list(f, false, out), SILT_ENOTFOUND); /* it is a file */
    assert_string_equal(out, "");
}

/* ---- what is refused ---- */

static void options_that_cannot_be_used_are_named(void **state)
{
    struct stub_store *f = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    stub_store_open(f, sl_hdfs_open, WORDS("hdfs_namenodes", "HOST", "hadoop_token_file_location", "/x"));
    assert_int_equal(put(f, &outcome), SILT_EUNSUPPORTED);
    assert_non_null(strstr(f->err.message, "hdfs_delegation_token"));
    stub_store_open(f, sl_hdfs_open, WORDS("hdfs_namenodes", "HOST", "hadoop.security.authentication", "magic"));
    assert_int_equal(put(f, &outcome), SILT_EINVALID);
    stub_store_open(f, sl_hdfs_open, WORDS("hdfs_namenodes", "a b"));
    assert_int_equal(put(f, &outcome), SILT_EINVALID);
    stub_store_open(f, sl_hdfs_open, WORDS("hdfs_user", "me"));
    assert_int_equal(silt_storage_remove(f->storage, NULL, "hdfs:///t/k", &f->err), SILT_EINVALID);
    assert_non_null(strstr(f->err.message, "hdfs_namenodes"));
    assert_int_equal(silt_storage_remove_tree(f->storage, NULL, "hdfs://nn/", &f->err), SILT_EINVALID);
}

static void an_adopted_file_whose_rename_was_lost_is_looked_for(void **state)
{
    struct stub_store *f = *state;
    char dir[256];
    char path[300];
    assert_true(temp_dir_make(dir, sizeof(dir)));
    (void)snprintf(path, sizeof(path), "%s/f", dir);
    const int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0 && write(fd, "hello", 5) == 5 && close(fd) == 0);
    expect_create(f);
    expect_rename(f, WORDS("quiet,end=close", stub_store_step(f, 404, FAULT("FileNotFoundException"), "")));
    expect_delete(f, "{\"boolean\":false}");
    stub_store_script(f, "GET", ROOT "/k?op=GETFILESTATUS", WORDS(stub_store_step(f, 200, STATUS, "")));
    assert_int_equal(silt_storage_adopt(f->storage, NULL, path, "hdfs://nn/t/k", &f->err), SILT_OK);
    assert_int_equal(access(path, F_OK), -1);
    assert_true(temp_dir_remove(dir));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, hdfs_setup, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_file_is_written_hidden_and_renamed),
        TEST(a_plain_no_is_asked_about),
        TEST(a_lost_answer_is_resolved_by_the_hidden_file),
        TEST(a_no_without_a_hidden_file_is_none),
        TEST(a_data_node_that_fails_is_left_for_another),
        TEST(a_refusal_is_a_failure),
        TEST(redirects_that_lead_astray_are_not_followed),
        TEST(a_delegation_token_goes_to_the_name_node_only),
        TEST(the_name_node_that_works_is_found_and_remembered),
        TEST(safe_mode_is_waited_for),
        TEST(what_is_read_is_what_was_asked_for),
        TEST(a_cut_body_is_asked_for_again),
        TEST(data_nodes_that_fail_are_left_until_the_deadline),
        TEST(a_listing_is_sorted_and_hides_what_is_being_written),
        TEST(a_listing_that_lies_is_refused),
        TEST(options_that_cannot_be_used_are_named),
        TEST(an_adopted_file_whose_rename_was_lost_is_looked_for),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
