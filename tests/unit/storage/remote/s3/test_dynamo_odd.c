/*
 * Commits by DynamoDB before answers that contradict what was done: each odd answer to PutItem, after the entry went in and without. Whatever is answered, a commit
 * that is told as done is there, one that is told as failed is not, and the table can be read afterwards.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "s3_fixture.h"
#include "silt/version.h"
#include "test_env.h"

#define V0 "00000000000000000000.json"
#define V1 "00000000000000000001.json"
#define FAULT(name) "code=400,body={\"__type\":\"x#" name "\"}"
#define OWN "object" /* the server's own answer */
#define ROUND OWN, OWN, OWN, OWN, OWN, OWN

static const char *const options[] = {"aws_s3_locking_provider", "dynamodb", "aws_endpoint_url_dynamodb", "STUB/items",
                                      NULL};

static const char *const odd[] = {
    "code=200,body=<html>welcome</html>",
    "code=200,body=",
    "code=201,body={}",
    "code=202,body={}",
    "code=203,body={}",
    "code=204",
    "code=206,body={}",
    "code=301,header=Location:http://127.0.0.1:1/",
    "code=307,header=Location:http://127.0.0.1:1/",
    "code=400,body=<html>no</html>",
    "code=401,body={}",
    "code=403,body={}",
    "code=404,body=",
    "code=408,body=",
    "code=409,body=",
    "code=410,body=",
    "code=412,body=",
    "code=413,body=",
    "code=429,body=",
    "code=500,body=",
    "code=501,body=",
    "code=502,body=<html>bad gateway</html>",
    "code=503,body={\"__type\":\"x#ServiceUnavailable\"}",
    "code=504,body=",
    "quiet,end=close",
    "quiet,end=reset",
    "headcut=20",
    "code=200,body={},length=9,cut=1",
    "code=500,body={\"__type\":\"x#InternalServerError\"}",
    FAULT("ConditionalCheckFailedException"),
    FAULT("ProvisionedThroughputExceededException"),
    FAULT("ThrottlingException"),
    FAULT("RequestLimitExceeded"),
    FAULT("TransactionConflictException"),
    FAULT("ItemCollectionSizeLimitExceededException"),
    FAULT("LimitExceededException"),
    FAULT("ResourceNotFoundException"),
    FAULT("ValidationException"),
    FAULT("SerializationException"),
    FAULT("AccessDeniedException"),
    FAULT("ExpiredTokenException"),
    FAULT("UnrecognizedClientException"),
    FAULT("InvalidSignatureException"),
};
#define N_ODD (sizeof(odd) / sizeof(odd[0]))

static int set_up(void **state)
{
    struct stub_store *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    s3_fixture_start(f);
    s3_fixture_open(f, options);
    *state = f;
    return 0;
}

/* A table of the case's own. */
struct table {
    struct stub_store *f;
    char log[32]; /* "s3://b/t7/_delta_log" */
    char what[160];
};

static void path_of(const struct table *t, const char *name, char out[128])
{
    (void)snprintf(out, 128, "%s/%s", t->log, name);
}

static struct table begin(struct stub_store *f, size_t i, bool effect, const char *answer)
{
    struct table t = {.f = f};
    char path[128];
    (void)snprintf(t.log, sizeof(t.log), "s3://b/t%zu%c/_delta_log", i, effect ? 'e' : 'n');
    (void)snprintf(t.what, sizeof(t.what), "%.100s, %s", answer, effect ? "after its effect" : "without effect");
    path_of(&t, V0, path);
    assert_int_equal(silt_storage_put(f->storage, NULL, path, "zero", 4, &f->err), SILT_OK);
    return t;
}

static silt_status commit(const struct table *t, const char *bytes, silt_put_outcome *outcome)
{
    char path[128];
    const silt_call call = {.size = sizeof(call),
                            .abi_version = SILT_ABI_VERSION,
                            .deadline_us = silt_env_default()->monotonic_us(NULL) + 3000000};
    path_of(t, V1, path);
    t->f->err = (silt_error)SILT_ERROR_INIT;
    return silt_storage_put_if_absent(t->f->storage, &call, path, bytes, strlen(bytes), outcome, &t->f->err);
}

static bool tell(void *ctx, const silt_file_entry *entry)
{
    (void)ctx;
    (void)entry;
    return true;
}

/* Whoever lists finishes what is not. The text of version 1 afterwards, "" if there is none. */
static const char *finish_and_read(const struct table *t)
{
    static char text[16];
    char path[128];
    void *data = NULL;
    size_t len = 0;
    silt_error err = SILT_ERROR_INIT;
    const silt_list_options wanted = {.size = sizeof(wanted), .start_from = V0};
    char page[300];
    (void)snprintf(page, sizeof(page),
                   "<ListBucketResult><Contents><Key>%s/" V0 "</Key><Size>4</Size><LastModified>2026-01-02T03:04:05Z"
                   "</LastModified></Contents></ListBucketResult>",
                   t->log + strlen("s3://b/"));
    stub_store_script(t->f, "GET", "/b?", WORDS(stub_store_step(t->f, 200, page, "")));
    const silt_status listed = silt_storage_list(t->f->storage, NULL, t->log, &wanted, tell, NULL, &err);
    if (listed != SILT_OK && listed != SILT_ENOTFOUND) {
        fail_msg("%s: the table cannot be read any more: %s", t->what, err.message);
    }
    path_of(t, V1, path);
    text[0] = '\0';
    if (silt_storage_read(t->f->storage, NULL, path, &data, &len, NULL) == SILT_OK) {
        (void)snprintf(text, sizeof(text), "%.*s", (int)len, (const char *)data);
        silt_storage_free(t->f->storage, data, len);
    }
    return text;
}

static void judge(const struct table *t, silt_status status, silt_put_outcome outcome)
{
    const char *text = finish_and_read(t);
    if (status != SILT_OK && text[0] != '\0') {
        fail_msg("%s: told as failed (%s), and committed", t->what, t->f->err.message);
    }
    if (status == SILT_OK && outcome == SILT_PUT_DONE && strcmp(text, "one") != 0) {
        fail_msg("%s: told as done, and there is \"%s\"", t->what, text);
    }
    if (status == SILT_OK && outcome == SILT_PUT_EXISTS) {
        fail_msg("%s: told as another's, of whom there is none", t->what);
    }
}

static void an_odd_answer_to_an_entry_is_never_a_lie_told(void **state)
{
    struct stub_store *f = *state;
    for (size_t i = 0; i < 2 * N_ODD; i++) {
        char step[200];
        silt_put_outcome outcome = SILT_PUT_DONE;
        const bool effect = i % 2 == 0;
        const struct table t = begin(f, i, effect, odd[i / 2]);
        (void)snprintf(step, sizeof(step), "%s%s", effect ? "effect," : "", odd[i / 2]);
        stub_store_script(f, "POST", "/items/", WORDS(ROUND, step));
        const silt_status status = commit(&t, "one", &outcome);
        judge(&t, status, outcome);
    }
}

/* The temporary file, the copy, and the mark that says that it is complete. */
static void an_odd_answer_to_another_step_is_none_either(void **state)
{
    struct stub_store *f = *state;
    static const struct {
        const char *method;
        const char *name; /* below the log; NULL: of DynamoDB, behind the entry */
    } steps[] = {{"PUT", ".tmp/"}, {"PUT", V1}, {"POST", NULL}};
    for (size_t i = 0; i < 2 * N_ODD * 3; i++) {
        char target[256];
        char step[200];
        silt_put_outcome outcome = SILT_PUT_DONE;
        const bool effect = i % 2 == 0;
        const char *answer = odd[i / 2 % N_ODD];
        const size_t k = i / 2 / N_ODD;
        if (!effect && strncmp(answer, "code=200", 8) == 0 && steps[k].name != NULL) {
            continue; /* that S3 took what it did not take is not for us to find out */
        }
        const struct table t = begin(f, 1000 + i, effect, answer);
        (void)snprintf(step, sizeof(step), "%s%s", effect ? "effect," : "", answer);
        if (steps[k].name != NULL) {
            (void)snprintf(target, sizeof(target), "/b/%s/%s", t.log + strlen("s3://b/"), steps[k].name);
            stub_store_script(f, steps[k].method, target, WORDS(step));
        } else {
            stub_store_script(f, "POST", "/items/", WORDS(ROUND, OWN, step));
        }
        const silt_status status = commit(&t, "one", &outcome);
        stub_store_script(f, "POST", "/items/",
                          WORDS(OWN)); /* a step that was not asked for is none of the next case's */
        judge(&t, status, outcome);
    }
}

/* As long as the call lasts: the first request did what it was asked for. */
static void throttling_without_end_after_an_effect_is_looked_behind(void **state)
{
    struct stub_store *f = *state;
    const char *no = FAULT("ProvisionedThroughputExceededException");
    silt_put_outcome outcome = SILT_PUT_EXISTS;
    const struct table t = begin(f, 0, true, "throttled for good");
    stub_store_script(f, "POST", "/items/",
                      WORDS(ROUND, "effect," FAULT("ProvisionedThroughputExceededException"), no, no, no, no, no, no,
                            no, no, no, no, no));
    const silt_status status = commit(&t, "one", &outcome);
    judge(&t, status, outcome);
}

/* Version 1 belongs to a writer who was killed behind its entry. */
static void a_killed_writers_version_is_never_ours(void **state)
{
    struct stub_store *f = *state;
    for (size_t i = 0; i < N_ODD; i++) {
        char object[256];
        silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
        const struct table t = begin(f, 100 + i, false, odd[i]);
        (void)snprintf(object, sizeof(object), "/b%s/" V1, t.log + strlen("s3://b"));
        stub_store_script(f, "PUT", object, WORDS("code=403"));
        assert_int_equal(commit(&t, "theirs", &outcome), SILT_OK);
        assert_int_equal(outcome, SILT_PUT_DONE); /* it went as far as the entry */
        stub_store_script(f, "POST", "/items/", WORDS(OWN, odd[i]));
        const silt_status status = commit(&t, "one", &outcome);
        const char *text = finish_and_read(&t);
        if (strcmp(text, "theirs") != 0 || (status == SILT_OK && outcome == SILT_PUT_DONE)) {
            fail_msg("%s: status %d, outcome %d, version 1 is \"%s\"", t.what, (int)status, (int)outcome, text);
        }
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, stub_store_teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_odd_answer_to_an_entry_is_never_a_lie_told),
        TEST(an_odd_answer_to_another_step_is_none_either),
        TEST(throttling_without_end_after_an_effect_is_looked_behind),
        TEST(a_killed_writers_version_is_never_ours),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
