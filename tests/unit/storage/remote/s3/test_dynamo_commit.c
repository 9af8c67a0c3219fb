/*
 * Commits by DynamoDB before a server that loses answers, refuses and lies: S3 and DynamoDB are the same stub, the latter below /dynamo/. What well-behaved
 * ones do, beside Spark's side, is for tests/stores/dynamo.py.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "s3_fixture.h"
#include "silt/version.h"
#include "test_env.h"

#define LOG "s3://b/t/_delta_log/"
#define V0 "00000000000000000000.json"
#define V1 "00000000000000000001.json"
#define NOTHING "code=200,body={\"Items\":[]}" /* to GetItem and Query alike */
#define FAULT(name) "code=400,body={\"__type\":\"x#" name "\"}"
#define ROUND NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING /* the entry before, and five other spellings */

static const char *const options[] = {"aws_s3_locking_provider", "dynamodb", "aws_endpoint_url_dynamodb", "STUB/dynamo",
                                      NULL};

static int set_up(void **state)
{
    struct stub_store *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    s3_fixture_start(f);
    s3_fixture_open(f, options);
    assert_int_equal(silt_storage_put(f->storage, NULL, LOG V0, "zero", 4, &f->err), SILT_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct stub_store *f = *state;
    assert_null(strstr(f->err.message, S3_FIXTURE_SECRET));
    assert_null(strstr(stub_store_log(f), S3_FIXTURE_SECRET));
    stub_store_stop(f);
    free(f);
    return 0;
}

static void answer(struct stub_store *f, const char *const *steps)
{
    stub_store_script(f, "POST", "/dynamo/", steps);
}

static silt_status commit(struct stub_store *f, const char *name, silt_put_outcome *outcome)
{
    char path[128];
    const silt_call call = {.size = sizeof(call),
                            .abi_version = SILT_ABI_VERSION,
                            .deadline_us = silt_env_default()->monotonic_us(NULL) + 2000000};
    (void)snprintf(path, sizeof(path), LOG "%s", name);
    f->err = (silt_error)SILT_ERROR_INIT;
    return silt_storage_put_if_absent(f->storage, &call, path, "one", 3, outcome, &f->err);
}

static void check_commit(struct stub_store *f, silt_put_outcome expected)
{
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    assert_int_equal(commit(f, V1, &outcome), SILT_OK);
    assert_int_equal(outcome, expected);
}

static void check_refused(struct stub_store *f, silt_status status, const char *text)
{
    silt_put_outcome outcome = SILT_PUT_DONE;
    assert_int_equal(commit(f, V1, &outcome), status);
    assert_non_null(strstr(f->err.message, text));
    assert_int_equal(stub_store_count(f, "PUT", "/b/t/_delta_log/" V1), 0);
}

static void check_text(struct stub_store *f, const char *name, const char *expected)
{
    char path[128];
    void *data = NULL;
    size_t len = 0;
    (void)snprintf(path, sizeof(path), LOG "%s", name);
    assert_int_equal(silt_storage_read(f->storage, NULL, path, &data, &len, &f->err), SILT_OK);
    assert_int_equal(len, strlen(expected));
    assert_memory_equal(data, expected, len);
    silt_storage_free(f->storage, data, len);
}

/* Temporary files that were written and not removed again. */
static long count_temps(struct stub_store *f)
{
    return stub_store_count(f, "PUT", "/b/t/_delta_log/.tmp/" V1 ".") -
           stub_store_count(f, "DELETE", "/b/t/_delta_log/.tmp/" V1 ".");
}

/* ---- the way of a commit ---- */

static void a_commit_is_an_entry_and_a_copy(void **state)
{
    struct stub_store *f = *state;
    answer(f, WORDS(ROUND, "code=200,body={}", "code=200,body={}"));
    check_commit(f, SILT_PUT_DONE);
    check_text(f, V1, "one");
    assert_int_equal(stub_store_count(f, "POST", "/dynamo/"), 8);
    assert_int_equal(count_temps(f), 1); /* it tells others that they need DynamoDB */
    const char *log = stub_store_log(f);
    assert_non_null(strstr(log, "DynamoDB_20120810.PutItem"));
    assert_non_null(strstr(log, "/us-east-1/dynamodb/aws4_request"));
    assert_non_null(strstr(log, "content-type;host;x-amz-date;x-amz-target"));
}

static void a_version_that_is_there_is_taken(void **state)
{
    struct stub_store *f = *state;
    assert_int_equal(silt_storage_put(f->storage, NULL, LOG V1, "theirs", 6, &f->err), SILT_OK);
    answer(f, WORDS(ROUND));
    check_commit(f, SILT_PUT_EXISTS);
    check_text(f, V1, "theirs");
    assert_int_equal(stub_store_count(f, "POST", "/dynamo/"), 6); /* no entry was tried */
    assert_int_equal(count_temps(f), 0);
}

static void a_version_needs_the_one_before(void **state)
{
    struct stub_store *f = *state;
    answer(f, WORDS("code=200,body={}"));
    assert_int_equal(silt_storage_remove(f->storage, NULL, LOG V0, &f->err), SILT_OK);
    assert_int_equal(stub_store_count(f, "POST", "/dynamo/"), 1);
    assert_non_null(strstr(stub_store_log(f), "DynamoDB_20120810.DeleteItem")); /* a commit's entry goes with it */
    answer(f, WORDS(ROUND));
    check_refused(f, SILT_ECORRUPT, "the commit before, " V0 ", is not there");
    assert_int_equal(count_temps(f), 0);
}

/* ---- answers that are lost, late, or no ---- */

static void what_is_throttled_is_tried_again(void **state)
{
    struct stub_store *f = *state;
    answer(f, WORDS(ROUND, FAULT("ProvisionedThroughputExceededException"), FAULT("ThrottlingException"),
                    "code=200,body={}", "code=200,body={}"));
    check_commit(f, SILT_PUT_DONE);
    assert_int_equal(stub_store_count(f, "POST", "/dynamo/"), 10);
}

static void a_refusal_is_a_failure(void **state)
{
    struct stub_store *f = *state;
    answer(f, WORDS(ROUND, FAULT("AccessDeniedException"), "code=200,body={}"));
    check_refused(f, SILT_EACCESS, "DynamoDB table delta_log: PutItem was answered HTTP 400 AccessDeniedException");
    assert_non_null(strstr(f->err.hint, "GetItem, PutItem, Query"));
    assert_int_equal(count_temps(f), 0);
    answer(f, WORDS(NOTHING, FAULT("ValidationException"), "code=200,body={}"));
    check_refused(f, SILT_EIO, "ValidationException");
    assert_int_equal(count_temps(f), 0);
    answer(f, WORDS(NOTHING, FAULT("ValidationException"), FAULT("ValidationException")));
    check_refused(f, SILT_EIO, "ValidationException");
    assert_int_equal(count_temps(f), 1); /* nobody says that there is no entry, which would need it */
    answer(f, WORDS(NOTHING, FAULT("InvalidSignatureException") ",header=Date:Thu%2C 01 Jan 2026 00:00:00 GMT",
                    "code=200,body={}"));
    check_refused(f, SILT_EACCESS, "InvalidSignatureException");
    assert_non_null(strstr(f->err.hint, "clock"));
}

static void an_endpoint_that_is_not_reached_is_told_as_dynamodb(void **state)
{
    struct stub_store *f = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    answer(f, WORDS("quiet,end=close", "quiet,end=close", "quiet,end=close", "quiet,end=close", "quiet,end=close",
                    "quiet,end=close", "quiet,end=close", "quiet,end=close", "quiet,end=close", "quiet,end=close"));
    assert_int_not_equal(commit(f, V1, &outcome), SILT_OK);
    assert_non_null(strstr(f->err.message, "DynamoDB table delta_log: "));
}

/* The entry may be there: nobody says. Its temporary file has to stay, since others would copy it. */
static void no_answer_at_all_is_ambiguous(void **state)
{
    struct stub_store *f = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    answer(f,
           WORDS(ROUND, "quiet,end=close", FAULT("ConditionalCheckFailedException"), FAULT("AccessDeniedException")));
    assert_int_equal(commit(f, V1, &outcome), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_AMBIGUOUS);
    assert_int_equal(count_temps(f), 1);
    assert_int_equal(stub_store_count(f, "PUT", "/b/t/_delta_log/" V1), 0);
    /* Nor when there is no entry yet: the request may be on its way. */
    answer(f, WORDS(NOTHING, "code=500", "code=500", FAULT("ConditionalCheckFailedException"), "code=200,body={}"));
    assert_int_equal(commit(f, V1, &outcome), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_AMBIGUOUS);
    assert_int_equal(count_temps(f), 2);
}

#define ENTRY(name, temp, complete)                                                                      \
    "{\"tablePath\":{\"S\":\"s3a://b/t\"},\"fileName\":{\"S\":\"" name "\"},\"tempPath\":{\"S\":\"" temp \
    "\"},\"complete\":{"                                                                                 \
    "\"S\":\"" complete "\"}}"

static void another_ones_entry_is_finished_before_it_is_told(void **state)
{
    struct stub_store *f = *state;
    const char *item = "{\"Item\":" ENTRY(V1, ".tmp/theirs", "false") "}";
    assert_int_equal(silt_storage_put(f->storage, NULL, LOG ".tmp/theirs", "theirs", 6, &f->err), SILT_OK);
    answer(f, WORDS(ROUND, FAULT("ConditionalCheckFailedException"), stub_store_step(f, 200, item, ""),
                    "code=200,body={}"));
    check_commit(f, SILT_PUT_EXISTS);
    check_text(f, V1, "theirs");
    assert_int_equal(count_temps(f), 0);
}

static void an_entry_that_is_gone_again_is_put_anew(void **state)
{
    struct stub_store *f = *state;
    answer(f, WORDS(ROUND, FAULT("ConditionalCheckFailedException"), "code=200,body={}", "code=200,body={}",
                    "code=200,body={}"));
    check_commit(f, SILT_PUT_DONE);
    check_text(f, V1, "one");
}

/* ---- behind the entry nothing fails ---- */

static void a_copy_that_fails_is_committed_all_the_same(void **state)
{
    struct stub_store *f = *state;
    answer(f, WORDS(ROUND, "code=200,body={}"));
    stub_store_script(f, "PUT", "/b/t/_delta_log/" V1, WORDS("code=403"));
    check_commit(f, SILT_PUT_DONE);
    assert_int_equal(stub_store_count(f, "POST", "/dynamo/"), 7); /* not called complete */
}

static void a_copy_that_another_made_is_as_good(void **state)
{
    struct stub_store *f = *state;
    answer(f, WORDS(ROUND, "code=200,body={}", "code=200,body={}"));
    stub_store_script(f, "PUT", "/b/t/_delta_log/" V1, WORDS("effect,code=412"));
    check_commit(f, SILT_PUT_DONE);
    assert_int_equal(stub_store_count(f, "POST", "/dynamo/"), 8);
}

/* Somebody who does not know of DynamoDB came between: what is there counts, and is not overwritten. */
static void other_bytes_are_not_overwritten(void **state)
{
    struct stub_store *f = *state;
    answer(f, WORDS(ROUND, "code=200,body={}", "code=200,body={}"));
    stub_store_script(f, "PUT", "/b/t/_delta_log/" V1, WORDS("code=412"));
    stub_store_script(f, "GET", "/b/t/_delta_log/" V1, WORDS("code=200,body=theirs"));
    check_commit(f, SILT_PUT_EXISTS);
    assert_int_equal(stub_store_count(f, "PUT", "/b/t/_delta_log/" V1), 1);
}

static void a_server_without_conditions_is_looked_at_first(void **state)
{
    struct stub_store *f = *state;
    answer(f, WORDS(ROUND, "code=200,body={}", "code=200,body={}"));
    stub_store_script(f, "PUT", "/b/t/_delta_log/" V1,
                      WORDS("code=501,body=<Error><Code>NotImplemented</Code></Error>"));
    check_commit(f, SILT_PUT_DONE);
    check_text(f, V1, "one");
    assert_int_equal(stub_store_count(f, "HEAD", "/b/t/_delta_log/" V1), 2);
}

/* ---- the table of entries ---- */

#define STATE(word)                                                                                                   \
    "{\"Table\":{\"TableStatus\":\"" word "\",\"KeySchema\":[{\"AttributeName\":\"tablePath\",\"KeyType\":\"HASH\"}," \
    "{\"AttributeName\":\"fileName\",\"KeyType\":\"RANGE\"}]}}"

static void a_table_that_is_missing_is_made(void **state)
{
    struct stub_store *f = *state;
    const char *missing = FAULT("ResourceNotFoundException");
    answer(f, WORDS(missing, missing, missing, missing, missing, missing, missing, "code=200,body={}",
                    stub_store_step(f, 200, STATE("CREATING"), ""), stub_store_step(f, 200, STATE("ACTIVE"), ""),
                    "code=200,body={}", "code=200,body={}"));
    check_commit(f, SILT_PUT_DONE);
    assert_non_null(strstr(stub_store_log(f), "CreateTable"));
    check_text(f, V1, "one");
}

static void a_table_of_others_is_refused(void **state)
{
    struct stub_store *f = *state;
    const char *missing = FAULT("ResourceNotFoundException");
    answer(f, WORDS(missing, missing, missing, missing, missing, missing, missing, FAULT("ResourceInUseException"),
                    "code=200,body={\"Table\":{\"TableStatus\":\"ACTIVE\"}}"));
    check_refused(f, SILT_EUNSUPPORTED, "other keys");
}

/* ---- listings ---- */

static bool tell(void *ctx, const silt_file_entry *entry)
{
    (void)entry;
    ++*(int *)ctx;
    return true;
}

static silt_status list(struct stub_store *f, int *n)
{
    const silt_list_options wanted = {.size = sizeof(wanted), .start_from = V0};
    f->err = (silt_error)SILT_ERROR_INIT;
    *n = 0;
    return silt_storage_list(f->storage, NULL, "s3://b/t/_delta_log", &wanted, tell, n, &f->err);
}

#define PAGE(key)                                        \
    "<ListBucketResult><Contents><Key>t/_delta_log/" key \
    "</Key><Size>4</Size><LastModified>2026-01-02T03:04:05Z</LastModified></Contents></ListBucketResult>"

static void a_listing_finishes_the_newest_commit(void **state)
{
    struct stub_store *f = *state;
    int n = 0;
    const char *newest = "{\"Items\":[" ENTRY(V1, ".tmp/theirs", "false") "]}";
    assert_int_equal(silt_storage_put(f->storage, NULL, LOG ".tmp/theirs", "theirs", 6, &f->err), SILT_OK);
    answer(f, WORDS(stub_store_step(f, 200, newest, ""), "code=200,body={}"));
    stub_store_script(f, "GET", "/b?", WORDS(stub_store_step(f, 200, PAGE(V1), "")));
    assert_int_equal(list(f, &n), SILT_OK);
    assert_int_equal(n, 1);
    check_text(f, V1, "theirs");
    assert_int_equal(stub_store_count(f, "POST", "/dynamo/"), 2);
}

static void who_may_only_read_sees_what_was_finished(void **state)
{
    struct stub_store *f = *state;
    int n = 0;
    const char *newest = "{\"Items\":[" ENTRY(V0, ".tmp/theirs", "false") "]}";
    answer(f, WORDS(stub_store_step(f, 200, newest, ""), FAULT("AccessDeniedException")));
    stub_store_script(f, "GET", "/b?", WORDS(stub_store_step(f, 200, PAGE(V0), "")));
    assert_int_equal(list(f, &n), SILT_OK);
    assert_int_equal(n, 1);
}

static void a_listing_does_not_believe_everything(void **state)
{
    struct stub_store *f = *state;
    int n = 0;
    const char *const bad[] = {"7", "{}", "{\"Items\":[{}]}", "{\"Items\":[" ENTRY(V1, "../x", "false") "]}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        answer(f, WORDS(stub_store_step(f, 200, bad[i], "")));
        const silt_status status = list(f, &n);
        assert_true(status == SILT_EIO || status == SILT_ECORRUPT);
        assert_int_equal(n, 0);
    }
    answer(f, WORDS(stub_store_step(f, 200, "{\"Items\":[" ENTRY(V1, ".tmp/gone", "false") "]}", "")));
    assert_int_equal(list(f, &n), SILT_ECORRUPT);
    assert_string_equal(f->err.code_name, "SILT_DYNAMODB_COMMIT_LOST");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_commit_is_an_entry_and_a_copy, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_version_that_is_there_is_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_version_needs_the_one_before, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_throttled_is_tried_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_refusal_is_a_failure, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_endpoint_that_is_not_reached_is_told_as_dynamodb, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_answer_at_all_is_ambiguous, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_ones_entry_is_finished_before_it_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_entry_that_is_gone_again_is_put_anew, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_copy_that_fails_is_committed_all_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_copy_that_another_made_is_as_good, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_bytes_are_not_overwritten, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_server_without_conditions_is_looked_at_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_table_that_is_missing_is_made, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_table_of_others_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_listing_finishes_the_newest_commit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_may_only_read_sees_what_was_finished, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_listing_does_not_believe_everything, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
