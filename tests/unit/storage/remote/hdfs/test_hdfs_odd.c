/*
 * Creates on HDFS before answers that contradict what was done: each odd answer to each step, after its effect and without, with the name free and taken. Whatever is
 * answered, what is told as done is there, what is told as failed is not, and what others have is not touched.
 */
#include <stdio.h>
#include <string.h>

#include "hdfs_fixture.h"
#include "silt/version.h"
#include "storage/remote/hdfs/hdfs.h"
#include "test_env.h"

#define LIVE "/webhdfs/v1/live/"
#define FAULT(code, name) "code=" code ",body={\"RemoteException\":{\"exception\":\"" name "\",\"message\":\"so\"}}"
#define OWN "object" /* the server's own answer */
#define TAKEN FAULT("403", "FileAlreadyExistsException")

static const char *const odd[] = {
    "code=200,body={\"boolean\":true}",
    "code=200,body={\"boolean\":false}",
    "code=200,body=",
    "code=200,body=<html>welcome</html>",
    "code=201,body=",
    "code=202,body=",
    "code=204",
    "code=206,body=",
    "code=301,header=Location:http://127.0.0.1:1/",
    "code=307,header=Location:http://127.0.0.1:1/",
    "code=400,body=",
    FAULT("400", "IllegalArgumentException"),
    "code=401,body=",
    "code=403,body=<html>no</html>",
    TAKEN,
    FAULT("403", "AccessControlException"),
    FAULT("403", "DSQuotaExceededException"),
    FAULT("403", "RetriableException"),
    FAULT("403", "SafeModeException"),
    FAULT("403", "StandbyException"),
    FAULT("403", "FileNotFoundException"),
    FAULT("403", "IOException"),
    "code=404,body=<html>none</html>",
    FAULT("404", "FileNotFoundException"),
    "code=405,body=",
    "code=408,body=",
    "code=409,body=",
    "code=410,body=",
    "code=412,body=",
    "code=429,body=",
    "code=500,body=",
    FAULT("500", "RuntimeException"),
    FAULT("500", "FileAlreadyExistsException"),
    "code=502,body=<html>bad gateway</html>",
    "code=503,body=",
    "code=504,body=",
    "quiet,end=close",
    "quiet,end=reset",
    "headcut=20",
    "code=200,body={\"boolean\":true},length=99,cut=5",
};
#define N_ODD (sizeof(odd) / sizeof(odd[0]))

/* One create in a folder of its own. */
struct creation {
    struct stub_store *f;
    bool effect; /* the step does what it is asked for before the odd answer */
    bool taken;
    char folder[24]; /* "17e" */
    char what[300];
    silt_status status;
    silt_put_outcome outcome;
    char text[16]; /* under the name afterwards */
};

static void path_of(const struct creation *c, char out[64])
{
    (void)snprintf(out, 64, "hdfs://nn/live/%s/k", c->folder);
}

static struct creation begin(struct stub_store *f, size_t number, const char *words)
{
    struct creation c = {.f = f, .effect = number % 2 == 0, .taken = number / 2 % 2 == 1};
    char path[64];
    (void)snprintf(c.folder, sizeof(c.folder), "%zu", number);
    (void)snprintf(c.what, sizeof(c.what), "%.200s %s, the name %s", words,
                   c.effect ? "after its effect" : "without effect", c.taken ? "taken" : "free");
    path_of(&c, path);
    if (c.taken) {
        silt_put_outcome outcome = SILT_PUT_EXISTS;
        assert_int_equal(silt_storage_put_if_absent(f->storage, NULL, path, "theirs", 6, &outcome, &f->err), SILT_OK);
        assert_int_equal(outcome, SILT_PUT_DONE);
    }
    return c;
}

static void script(const struct creation *c, const char *method, const char *const *steps)
{
    char prefix[64];
    (void)snprintf(prefix, sizeof(prefix), LIVE "%s/", c->folder);
    stub_store_script(c->f, method, prefix, steps);
}

static const char *step_of(const struct creation *c, const char *answer)
{
    static char steps[2][300];
    static size_t next;
    char *step = steps[next++ % 2];
    (void)snprintf(step, 300, "%s%s", c->effect ? "effect," : "", answer);
    return step;
}

static void run(struct creation *c)
{
    char path[64];
    void *data = NULL;
    size_t len = 0;
    const silt_call call = {.size = sizeof(call),
                            .abi_version = SILT_ABI_VERSION,
                            .deadline_us = silt_env_default()->monotonic_us(NULL) + 3000000};
    path_of(c, path);
    c->f->err = (silt_error)SILT_ERROR_INIT;
    c->status = silt_storage_put_if_absent(c->f->storage, &call, path, "ours", 4, &c->outcome, &c->f->err);
    c->text[0] = '\0';
    for (int i = 0; i < 3; i++) { /* odd answers that nothing was asked for are left over */
        if (silt_storage_read(c->f->storage, NULL, path, &data, &len, NULL) == SILT_OK) {
            (void)snprintf(c->text, sizeof(c->text), "%.*s", (int)len, (const char *)data);
            silt_storage_free(c->f->storage, data, len);
            break;
        }
    }
}

static void judge(struct creation *c, bool says_taken)
{
    const bool done = c->status == SILT_OK && c->outcome == SILT_PUT_DONE;
    const bool exists = c->status == SILT_OK && c->outcome == SILT_PUT_EXISTS;
    const bool ours = strcmp(c->text, "ours") == 0;
    const bool theirs = strcmp(c->text, "theirs") == 0;
    if (c->taken != theirs || (done && !ours) || (exists && !theirs && !says_taken) || (exists && ours) ||
        (c->status != SILT_OK && ours)) {
        fail_msg("%s: status %s, outcome %d, and there is \"%s\"", c->what, silt_status_name(c->status),
                 (int)c->outcome, c->text);
    }
}

/* An answer that says yes is believed: that it was no is not for us to find out. */
static bool is_lie(const struct creation *c, const char *answer)
{
    return (!c->effect || c->taken) && (strcmp(answer, odd[0]) == 0 || strcmp(answer, odd[2]) == 0);
}

static void an_odd_answer_to_a_rename_is_no_lie_told(void **state)
{
    for (size_t i = 0; i < 4 * N_ODD; i++) {
        const char *answer = odd[i / 4];
        struct creation c = begin(*state, i, answer);
        if (!is_lie(&c, answer)) {
            script(&c, "PUT", WORDS(OWN, OWN, step_of(&c, answer)));
            run(&c);
            judge(&c, strstr(answer, "FileAlreadyExists") != NULL);
        }
    }
}

/* The name node's word on where to write, and the data node's on the bytes. */
static void an_odd_answer_to_what_is_before_the_rename_is_none_either(void **state)
{
    for (size_t i = 0; i < 8 * N_ODD; i++) {
        const char *answer = odd[i / 4 % N_ODD];
        const bool at_data_node = i / 4 >= N_ODD;
        struct creation c = begin(*state, 1000 + i, answer);
        script(&c, "PUT", at_data_node ? WORDS(OWN, step_of(&c, answer)) : WORDS(step_of(&c, answer)));
        run(&c);
        judge(&c, strstr(answer, "FileAlreadyExists") != NULL);
    }
}

/* Whether the hidden file is still there is asked by removing it, which has answers as odd. */
static void an_odd_answer_to_the_removal_of_the_hidden_file_settles_nothing(void **state)
{
    static const char *const renames[] = {"quiet,end=close", "code=500,body=", TAKEN,
                                          FAULT("404", "FileNotFoundException"), "code=200,body={\"boolean\":false}"};
    for (size_t i = 0; i < 4 * N_ODD; i += 3) { /* each state of the name with a part of the answers */
        const char *answer = odd[i / 4];
        for (size_t k = 0; k < sizeof(renames) / sizeof(renames[0]); k++) {
            struct creation c = begin(*state, 2000 + 4000 * k + i, answer);
            char removal[300];
            if (c.effect && !c.taken && (strcmp(answer, odd[0]) == 0 || strcmp(answer, odd[2]) == 0)) {
                continue; /* the name node says that the hidden file was there, which had moved */
            }
            script(&c, "PUT", WORDS(OWN, OWN, step_of(&c, renames[k])));
            (void)snprintf(removal, sizeof(removal), "effect,%s", answer);
            script(&c, "DELETE", WORDS(removal));
            run(&c);
            /* Refused after its effect, and nobody says what became of the hidden file: nothing is left to be found out by. */
            const bool hopeless = c.effect && !c.taken && k >= 2;
            if (!hopeless) {
                judge(&c, strstr(renames[k], "FileAlreadyExists") != NULL);
            }
        }
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, hdfs_setup, stub_store_teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_odd_answer_to_a_rename_is_no_lie_told),
        TEST(an_odd_answer_to_what_is_before_the_rename_is_none_either),
        TEST(an_odd_answer_to_the_removal_of_the_hidden_file_settles_nothing),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
