/*
 * The dispatch to stores, with a store that does as it is told, contract or not.
 */
#include "storage_fixture.h"
#include "test_env.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "silt/version.h"

/* What the played store does next. */
struct script {
    struct test_env test;
    silt_storage *store;
    bool closed;
    silt_status status;  /* what slots return */
    const char *message; /* what they report; NULL: nothing */
    silt_put_outcome outcome;
    int64_t size;
    const silt_file_entry *entries;
    size_t n_entries;
    bool ignores_stop;
    void (*read)(struct script *script, silt_read_request *requests, size_t n,
                 void (*on_done)(void *ctx, silt_read_request *request), void *ctx);
};

static silt_status answer(const struct script *script, silt_error *err)
{
    if (script->message != NULL) {
        (void)sl_fail(err, script->status, NULL, "%s", script->message);
    }
    return script->status;
}

static void close_script(void *impl)
{
    struct script *script = impl;
    script->closed = true;
}

static silt_status read_script(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                               void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    struct script *script = impl;
    (void)call;
    script->read(script, requests, n, on_done, ctx);
    return answer(script, err);
}

static silt_status list_script(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                               bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    const struct script *script = impl;
    (void)call;
    (void)dir;
    assert_non_null(options);
    for (size_t i = 0; i < script->n_entries; i++) {
        if (!on_entry(ctx, &script->entries[i]) && !script->ignores_stop) {
            break;
        }
    }
    return answer(script, err);
}

static silt_status put_if_absent_script(void *impl, const silt_call *call, const char *path, const void *data,
                                        size_t data_len, silt_put_outcome *outcome, silt_error *err)
{
    const struct script *script = impl;
    (void)call;
    (void)path;
    (void)data;
    (void)data_len;
    *outcome = script->outcome;
    return answer(script, err);
}

static silt_status put_script(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                              silt_error *err)
{
    (void)call;
    (void)path;
    (void)data;
    (void)data_len;
    return answer(impl, err);
}

static silt_status stat_script(void *impl, const silt_call *call, const char *path, int64_t *size_bytes,
                               int64_t *modified_ms, silt_error *err)
{
    const struct script *script = impl;
    (void)call;
    (void)path;
    *size_bytes = script->size;
    *modified_ms = 7;
    return answer(script, err);
}

static silt_status remove_script(void *impl, const silt_call *call, const char *path, silt_error *err)
{
    (void)call;
    (void)path;
    return answer(impl, err);
}

static silt_status local_path_script(void *impl, const char *path, char *buf, size_t buf_size, silt_error *err)
{
    (void)path;
    memset(buf, 'x', buf_size); /* no NUL */
    return answer(impl, err);
}

static silt_storage_vtable script_slots(void)
{
    return (silt_storage_vtable){.size = sizeof(silt_storage_vtable),
                                 .abi_version = SILT_ABI_VERSION,
                                 .name = "script",
                                 .close = close_script,
                                 .read_many = read_script,
                                 .list = list_script,
                                 .put_if_absent = put_if_absent_script,
                                 .put = put_script,
                                 .stat = stat_script,
                                 .remove = remove_script,
                                 .local_path = local_path_script};
}

static int set_up(void **state)
{
    static struct script script;
    silt_error err = SILT_ERROR_INIT;
    const silt_storage_vtable slots = script_slots();
    script = (struct script){.status = SILT_OK, .outcome = SILT_PUT_DONE};
    test_env_init(&script.test);
    assert_int_equal(silt_storage_new(&script.test.env, &slots, &script, &script.store, &err), SILT_OK);
    *state = &script;
    return 0;
}

static int tear_down(void **state)
{
    struct script *script = *state;
    silt_storage_unref(script->store);
    assert_true(script->closed);
    test_env_check(&script->test);
    return 0;
}

/* ---- creation ---- */

static void expect_refused(struct script *script, const silt_storage_vtable *slots, const char *why)
{
    silt_storage *store = NULL;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(silt_storage_new(&script->test.env, slots, script, &store, &err), SILT_EINVALID);
    assert_null(store);
    assert_non_null(strstr(err.message, why));
    assert_false(script->closed);
}

static void an_incomplete_vtable_is_refused(void **state)
{
    struct script *script = *state;
    silt_storage_vtable slots = script_slots();
    slots.put_if_absent = NULL;
    expect_refused(script, &slots, "put_if_absent");
    slots = script_slots();
    slots.close = NULL;
    expect_refused(script, &slots, "close");
    slots = script_slots();
    slots.abi_version = SILT_ABI_VERSION + 1;
    expect_refused(script, &slots, "ABI version");
    slots = script_slots();
    slots.size = offsetof(silt_storage_vtable, remove);
    expect_refused(script, &slots, "bytes");
    slots = script_slots();
    slots.name = NULL;
    expect_refused(script, &slots, "name");
}

static void a_plug_in_of_older_headers_lacks_the_newer_slots(void **state)
{
    struct script *script = *state;
    silt_storage_vtable slots = script_slots();
    silt_storage *store = NULL;
    silt_error err = SILT_ERROR_INIT;
    char buf[16];
    slots.size = offsetof(silt_storage_vtable, local_path);
    assert_int_equal(silt_storage_new(&script->test.env, &slots, script, &store, &err), SILT_OK);
    assert_int_equal(silt_storage_local_path(store, "/a", buf, sizeof(buf), &err), SILT_EUNSUPPORTED);
    assert_int_equal(silt_storage_adopt(store, NULL, "/a", "/b", &err), SILT_EUNSUPPORTED);
    assert_int_equal(silt_storage_remove_tree(store, NULL, "/b", &err), SILT_EUNSUPPORTED);
    assert_non_null(strstr(err.message, "store script cannot remove folders"));
    silt_storage_unref(store);
    script->closed = false;
}

static void the_last_reference_closes(void **state)
{
    struct script *script = *state;
    assert_ptr_equal(silt_storage_ref(script->store), script->store);
    silt_storage_unref(script->store);
    assert_false(script->closed);
    assert_string_equal(silt_storage_name(script->store), "script");
    silt_storage_unref(NULL);
    assert_null(silt_storage_ref(NULL));
}

/* ---- errors ---- */

static void errors_get_context_and_keep_their_code(void **state)
{
    struct script *script = *state;
    silt_error err = SILT_ERROR_INIT;
    script->status = SILT_EACCESS;
    script->message = "the key is wrong";
    assert_int_equal(silt_storage_put(script->store, NULL, "/t/a\nb", "x", 1, &err), SILT_EACCESS);
    assert_string_equal(err.message, "writing /t/a?b: the key is wrong");
    assert_int_equal(err.status, SILT_EACCESS);
    assert_int_equal(silt_storage_put(script->store, NULL, "/t/a", "x", 1, NULL), SILT_EACCESS);
}

static void a_long_path_is_shown_by_its_tail(void **state)
{
    struct script *script = *state;
    silt_error err = SILT_ERROR_INIT;
    char path[3000];
    memset(path, 'p', sizeof(path));
    memcpy(path + sizeof(path) - 10, "/file.txt", 10);
    path[0] = '/';
    script->status = SILT_EIO;
    script->message = "broken";
    assert_int_equal(silt_storage_remove(script->store, NULL, path, &err), SILT_EIO);
    assert_non_null(strstr(err.message, "removing ...pppp"));
    assert_non_null(strstr(err.message, "/file.txt: broken"));
}

static void a_silent_failure_is_described(void **state)
{
    struct script *script = *state;
    silt_error err = SILT_ERROR_INIT;
    script->status = SILT_ENOSPACE;
    assert_int_equal(silt_storage_put(script->store, NULL, "/a", "x", 1, &err), SILT_ENOSPACE);
    assert_non_null(strstr(err.message, "ENOSPACE"));
    assert_string_not_equal(err.code_name, "");
}

static void a_status_that_there_is_not_is_a_breach(void **state)
{
    struct script *script = *state;
    silt_error err = SILT_ERROR_INIT;
    script->status = (silt_status)99;
    assert_int_equal(silt_storage_put(script->store, NULL, "/a", "x", 1, &err), SILT_EIO);
    assert_non_null(strstr(err.message, "store broke its contract"));
}

static void an_outcome_that_there_is_not_is_ambiguous(void **state)
{
    struct script *script = *state;
    silt_error err = SILT_ERROR_INIT;
    silt_put_outcome outcome = SILT_PUT_DONE;
    script->outcome = (silt_put_outcome)5;
    assert_int_equal(silt_storage_put_if_absent(script->store, NULL, "/a", "x", 1, &outcome, &err), SILT_EIO);
    assert_int_equal(outcome, SILT_PUT_AMBIGUOUS);
    assert_non_null(strstr(err.message, "store broke its contract"));
}

static void other_answers_that_make_no_sense_are_breaches(void **state)
{
    struct script *script = *state;
    silt_error err = SILT_ERROR_INIT;
    char buf[8];
    script->size = -1;
    assert_int_equal(silt_storage_stat(script->store, NULL, "/a", NULL, NULL, &err), SILT_EIO);
    assert_int_equal(silt_storage_local_path(script->store, "/a", buf, sizeof(buf), &err), SILT_EIO);
    assert_string_equal(buf, "");
}

static void bad_arguments_are_refused(void **state)
{
    struct script *script = *state;
    silt_error err = SILT_ERROR_INIT;
    silt_put_outcome outcome = SILT_PUT_DONE;
    assert_int_equal(silt_storage_put(NULL, NULL, "/a", "x", 1, &err), SILT_EINVALID);
    assert_int_equal(silt_storage_put(script->store, NULL, NULL, "x", 1, &err), SILT_EINVALID);
    assert_int_equal(silt_storage_put(script->store, NULL, "", "x", 1, &err), SILT_EINVALID);
    assert_int_equal(silt_storage_put(script->store, NULL, "/a", NULL, 1, &err), SILT_EINVALID);
    assert_int_equal(silt_storage_put_if_absent(script->store, NULL, "/a", NULL, 1, &outcome, &err), SILT_EINVALID);
    assert_int_equal(silt_storage_put_if_absent(script->store, NULL, "/a", "x", 1, NULL, &err), SILT_EINVALID);
    assert_int_equal(silt_storage_list(script->store, NULL, "/a", NULL, NULL, NULL, &err), SILT_EINVALID);
}

/* ---- listings ---- */

#define ENTRY(text, bytes)                                                  \
    {                                                                       \
        .name = (text), .name_len = sizeof(text) - 1, .size_bytes = (bytes) \
    }

static void expect_list(struct script *script, const silt_file_entry *entries, size_t n, const char *expected)
{
    script->entries = entries;
    script->n_entries = n;
    assert_string_equal(store_list(script->store, "/t", "b", false), expected);
}

static void listings_that_break_the_contract_are_thrown_away(void **state)
{
    struct script *script = *state;
    const silt_file_entry good[] = {ENTRY("b", 0), ENTRY("b0", 1), ENTRY("c", 1)};
    const silt_file_entry descending[] = {ENTRY("c", 1), ENTRY("b", 1)};
    const silt_file_entry twice[] = {ENTRY("c", 1), ENTRY("c", 1)};
    const silt_file_entry nul[] = {ENTRY("c\0d", 1)};
    const silt_file_entry nameless[] = {ENTRY("", 1)};
    const silt_file_entry early[] = {ENTRY("a", 1)};
    const silt_file_entry nested[] = {ENTRY("c/d", 1)};
    const silt_file_entry folder[] = {ENTRY("c/", 1)};
    const silt_file_entry negative[] = {ENTRY("c", -1)};
    expect_list(script, good, 3, "b\nb0\nc\n");
    expect_list(script, descending, 2, "EIO");
    expect_list(script, twice, 2, "EIO");
    expect_list(script, nul, 1, "EIO");
    expect_list(script, nameless, 1, "EIO");
    expect_list(script, early, 1, "EIO");
    expect_list(script, nested, 1, "EIO");
    expect_list(script, folder, 1, "EIO");
    expect_list(script, negative, 1, "EIO");
}

static bool stop_at_once(void *ctx, const silt_file_entry *entry)
{
    unsigned *shown = ctx;
    (void)entry;
    (*shown)++;
    return false;
}

static void a_store_that_does_not_stop_is_reported_and_not_heard(void **state)
{
    struct script *script = *state;
    const silt_file_entry entries[] = {ENTRY("a", 1), ENTRY("b", 1)};
    silt_error err = SILT_ERROR_INIT;
    unsigned shown = 0;
    script->entries = entries;
    script->n_entries = 2;
    assert_int_equal(silt_storage_list(script->store, NULL, "/t", NULL, stop_at_once, &shown, &err), SILT_OK);
    script->ignores_stop = true;
    assert_int_equal(silt_storage_list(script->store, NULL, "/t", NULL, stop_at_once, &shown, &err), SILT_EIO);
    assert_int_equal(shown, 2);
}

/* ---- reads ---- */

#define N_REQUESTS 3

static void complete(struct script *script, silt_read_request *request, silt_status status, const char *text)
{
    request->status = status;
    request->file_size = (int64_t)strlen(text);
    if (text[0] != '\0') {
        request->data_len = strlen(text);
        request->data = sl_alloc(&script->test.env, request->data_len);
        memcpy(request->data, text, request->data_len);
    }
}

static void read_last_first(struct script *script, silt_read_request *requests, size_t n,
                            void (*on_done)(void *ctx, silt_read_request *request), void *ctx)
{
    for (size_t i = n; i > 0; i--) {
        complete(script, &requests[i - 1], SILT_OK, "text");
        on_done(ctx, &requests[i - 1]);
    }
}

static void read_nothing(struct script *script, silt_read_request *requests, size_t n,
                         void (*on_done)(void *ctx, silt_read_request *request), void *ctx)
{
    (void)script;
    (void)requests;
    (void)n;
    (void)on_done;
    (void)ctx;
}

static void read_twice(struct script *script, silt_read_request *requests, size_t n,
                       void (*on_done)(void *ctx, silt_read_request *request), void *ctx)
{
    read_last_first(script, requests, n, on_done, ctx);
    on_done(ctx, &requests[0]);
}

static void read_another(struct script *script, silt_read_request *requests, size_t n,
                         void (*on_done)(void *ctx, silt_read_request *request), void *ctx)
{
    silt_read_request other = {.path = "/other"};
    read_last_first(script, requests, n, on_done, ctx);
    on_done(ctx, &other);
    on_done(ctx, NULL);
}

static void read_too_much(struct script *script, silt_read_request *requests, size_t n,
                          void (*on_done)(void *ctx, silt_read_request *request), void *ctx)
{
    for (size_t i = 0; i < n; i++) {
        complete(script, &requests[i], SILT_OK, "more than four");
        on_done(ctx, &requests[i]);
    }
}

static void fail_with_bytes(struct script *script, silt_read_request *requests, size_t n,
                            void (*on_done)(void *ctx, silt_read_request *request), void *ctx)
{
    for (size_t i = 0; i < n; i++) {
        complete(script, &requests[i], i == 0 ? (silt_status)77 : SILT_EACCESS, "bytes");
        on_done(ctx, &requests[i]);
    }
}

static void count_done(void *ctx, silt_read_request *request)
{
    unsigned *counts = ctx;
    const char *name = request->user;
    counts[name[0] - '0']++;
}

static silt_status read_three(struct script *script, silt_status expected)
{
    silt_error err = SILT_ERROR_INIT;
    unsigned counts[N_REQUESTS] = {0};
    static char names[N_REQUESTS][2] = {"0", "1", "2"};
    silt_read_request requests[N_REQUESTS];
    for (size_t i = 0; i < N_REQUESTS; i++) {
        requests[i] = (silt_read_request){.path = "/a", .length = 4, .user = names[i], .status = (silt_status)55};
    }
    silt_status status = silt_storage_read_many(script->store, NULL, requests, N_REQUESTS, count_done, counts, &err);
    for (size_t i = 0; i < N_REQUESTS; i++) {
        assert_int_equal(counts[i], 1);
        assert_int_equal(requests[i].status, expected);
        assert_true(expected == SILT_OK || requests[i].data == NULL);
        silt_read_request_release(script->store, &requests[i]);
    }
    assert_true(status == SILT_OK || strstr(err.message, "reading /a: ") != NULL);
    return status;
}

static void requests_may_complete_in_any_order(void **state)
{
    struct script *script = *state;
    script->read = read_last_first;
    assert_int_equal(read_three(script, SILT_OK), SILT_OK);
}

static void each_request_completes_once_whatever_the_store_does(void **state)
{
    struct script *script = *state;
    script->read = read_nothing;
    assert_int_equal(read_three(script, SILT_EIO), SILT_EIO);
    script->status = SILT_ENOMEM;
    assert_int_equal(read_three(script, SILT_ENOMEM), SILT_ENOMEM);
    script->status = SILT_OK;
    script->read = read_twice;
    assert_int_equal(read_three(script, SILT_OK), SILT_EIO);
    script->read = read_another;
    assert_int_equal(read_three(script, SILT_OK), SILT_EIO);
    script->read = read_too_much;
    assert_int_equal(read_three(script, SILT_EIO), SILT_EIO);
}

static void bytes_of_a_failed_read_are_freed(void **state)
{
    struct script *script = *state;
    silt_error err = SILT_ERROR_INIT;
    void *data = NULL;
    size_t len = 0;
    script->read = fail_with_bytes;
    assert_int_equal(silt_storage_read(script->store, NULL, "/a", &data, &len, &err), SILT_EIO);
    assert_null(data);
}

static void a_large_batch_is_tracked_too(void **state)
{
    struct script *script = *state;
    enum {
        N = 500
    };
    static silt_read_request requests[N];
    unsigned counts[1] = {0};
    static char name[] = "0";
    script->read = read_last_first;
    for (size_t i = 0; i < N; i++) {
        requests[i] = (silt_read_request){.path = "/a", .length = -1, .user = name};
    }
    assert_int_equal(silt_storage_read_many(script->store, NULL, requests, N, count_done, counts, NULL), SILT_OK);
    assert_int_equal(counts[0], N);
    for (size_t i = 0; i < N; i++) {
        silt_read_request_release(script->store, &requests[i]);
    }
    test_env_fail_at(&script->test, 1);
    assert_int_equal(silt_storage_read_many(script->store, NULL, requests, N, count_done, counts, NULL), SILT_ENOMEM);
    assert_int_equal(counts[0], 2 * N);
    assert_int_equal(requests[N - 1].status, SILT_ENOMEM);
    assert_int_equal(silt_storage_read_many(script->store, NULL, NULL, 0, count_done, counts, NULL), SILT_OK);
}

static void read_half(struct script *script, silt_read_request *requests, size_t n,
                      void (*on_done)(void *ctx, silt_read_request *request), void *ctx)
{
    for (size_t i = 0; i < n; i++) {
        complete(script, &requests[i], SILT_OK, "half");
        requests[i].file_size = 8;
        on_done(ctx, &requests[i]);
    }
}

static void a_file_that_is_read_whole_must_be_whole(void **state)
{
    struct script *script = *state;
    silt_error err = SILT_ERROR_INIT;
    void *data = NULL;
    size_t len = 0;
    script->read = read_half;
    assert_int_equal(silt_storage_read(script->store, NULL, "/a", &data, &len, &err), SILT_EIO);
    assert_string_equal(err.message, "reading /a: got 4 bytes of a file of 8");
    assert_null(data);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(an_incomplete_vtable_is_refused),
        TEST(a_plug_in_of_older_headers_lacks_the_newer_slots),
        TEST(the_last_reference_closes),
        TEST(errors_get_context_and_keep_their_code),
        TEST(a_long_path_is_shown_by_its_tail),
        TEST(a_silent_failure_is_described),
        TEST(a_status_that_there_is_not_is_a_breach),
        TEST(an_outcome_that_there_is_not_is_ambiguous),
        TEST(other_answers_that_make_no_sense_are_breaches),
        TEST(bad_arguments_are_refused),
        TEST(listings_that_break_the_contract_are_thrown_away),
        TEST(a_store_that_does_not_stop_is_reported_and_not_heard),
        TEST(requests_may_complete_in_any_order),
        TEST(each_request_completes_once_whatever_the_store_does),
        TEST(bytes_of_a_failed_read_are_freed),
        TEST(a_large_batch_is_tracked_too),
        TEST(a_file_that_is_read_whole_must_be_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
