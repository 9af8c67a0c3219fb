/*
 * The fault injector and the trace over a store in memory.
 */
#include "storage_fixture.h"
#include "test_env.h"

#include <stdio.h>
#include <string.h>

struct rig {
    struct test_env test;
    silt_storage *memory;
    silt_storage *fault;
    silt_storage *trace; /* around fault */
    silt_fault_action action;
    const char *operation; /* that action is for */
    char log[4096];        /* a line an operation, as decide saw it */
    char events[4096];     /* a line an operation, as the trace told it */
};

static void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...)
{
    size_t len = strlen(text);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text + len, size - len, format, args);
    va_end(args);
}

static silt_fault_action decide(void *ctx, uint64_t number, const char *operation, const char *path)
{
    struct rig *rig = ctx;
    append(rig->log, sizeof(rig->log), "%llu %s %s\n", (unsigned long long)number, operation, path);
    return rig->operation != NULL && strcmp(rig->operation, operation) == 0 ? rig->action : SILT_FAULT_NONE;
}

static void on_event(void *ctx, const silt_trace_event *event)
{
    struct rig *rig = ctx;
    assert_int_equal(event->size, sizeof(*event));
    assert_true(event->duration_us >= 0);
    append(rig->events, sizeof(rig->events), "%s %s %s %d %lld\n", event->operation, event->path,
           silt_status_name(event->status), (int)event->outcome, (long long)event->bytes);
}

static int set_up(void **state)
{
    static struct rig rig;
    silt_error err = SILT_ERROR_INIT;
    rig = (struct rig){.action = SILT_FAULT_NONE};
    test_env_init(&rig.test);
    assert_int_equal(silt_storage_memory_new(&rig.test.env, &rig.memory, &err), SILT_OK);
    assert_int_equal(silt_storage_fault_new(&rig.test.env, rig.memory, decide, &rig, &rig.fault, &err), SILT_OK);
    assert_int_equal(silt_storage_trace_new(&rig.test.env, rig.fault, on_event, &rig, &rig.trace, &err), SILT_OK);
    *state = &rig;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *rig = *state;
    /* The inner ones first: wrappers hold their own references. */
    silt_storage_unref(rig->memory);
    silt_storage_unref(rig->fault);
    silt_storage_unref(rig->trace);
    test_env_check(&rig->test);
    return 0;
}

static void inject(struct rig *rig, const char *operation, silt_fault_action action)
{
    rig->operation = operation;
    rig->action = action;
}

static void a_fault_before_a_create_leaves_no_file(void **state)
{
    struct rig *rig = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    silt_error err = SILT_ERROR_INIT;
    inject(rig, "put_if_absent", SILT_FAULT_BEFORE);
    assert_int_equal(silt_storage_put_if_absent(rig->fault, NULL, "memory://t/a", "x", 1, &outcome, &err), SILT_EIO);
    store_expect_missing(rig->memory, "memory://t/a");
}

static void a_fault_after_a_create_is_ambiguous_and_the_file_is_there(void **state)
{
    struct rig *rig = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    silt_error err = SILT_ERROR_INIT;
    inject(rig, "put_if_absent", SILT_FAULT_AFTER);
    assert_int_equal(silt_storage_put_if_absent(rig->fault, NULL, "memory://t/a", "x", 1, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_AMBIGUOUS);
    assert_int_equal(err.status, SILT_EIO);
    store_expect(rig->memory, "memory://t/a", "x");
    assert_int_equal(silt_storage_put_if_absent(rig->fault, NULL, "memory://t/a", "y", 1, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_AMBIGUOUS); /* an answer of "exists" is lost as well */
    store_expect(rig->memory, "memory://t/a", "x");
}

static void a_hint_fails_as_a_create_does(void **state)
{
    struct rig *rig = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    silt_error err = SILT_ERROR_INIT;
    inject(rig, "put_hint", SILT_FAULT_BEFORE);
    assert_int_equal(silt_storage_put_hint(rig->trace, NULL, "memory://t/a", "x", 1, &outcome, &err), SILT_EIO);
    store_expect_missing(rig->memory, "memory://t/a");
    inject(rig, "put_hint", SILT_FAULT_AFTER);
    assert_int_equal(silt_storage_put_hint(rig->trace, NULL, "memory://t/a", "x", 1, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_AMBIGUOUS);
    store_expect(rig->memory, "memory://t/a", "x");
    assert_string_equal(rig->events, "put_hint memory://t/a EIO 2 1\nput_hint memory://t/a OK 2 1\n");
}

/* A commit, whichever of the two it is. */
static void a_file_beside_others_fails_as_a_create_does(void **state)
{
    struct rig *rig = *state;
    silt_put_outcome outcome = SILT_PUT_DONE;
    silt_error err = SILT_ERROR_INIT;
    inject(rig, "put_if_absent", SILT_FAULT_BEFORE);
    assert_int_equal(silt_storage_put_beside(rig->trace, NULL, "memory://t/a", "x", 1, &outcome, &err), SILT_EIO);
    store_expect_missing(rig->memory, "memory://t/a");
    inject(rig, "put_if_absent", SILT_FAULT_AFTER);
    assert_int_equal(silt_storage_put_beside(rig->trace, NULL, "memory://t/a", "x", 1, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_AMBIGUOUS);
    store_expect(rig->memory, "memory://t/a", "x");
    assert_string_equal(rig->events, "put_if_absent memory://t/a EIO 2 1\nput_if_absent memory://t/a OK 2 1\n");
}

static bool count_entry(void *ctx, const silt_file_entry *entry)
{
    unsigned *n = ctx;
    (void)entry;
    (*n)++;
    return true;
}

static silt_status run(struct rig *rig, const char *operation)
{
    silt_storage *store = rig->fault;
    silt_error err = SILT_ERROR_INIT;
    unsigned n = 0;
    if (strcmp(operation, "put") == 0) {
        return silt_storage_put(store, NULL, "memory://t/a", "new", 3, &err);
    }
    if (strcmp(operation, "put_fresh") == 0) {
        return silt_storage_put_fresh(store, NULL, "memory://t/a", "new", 3, &err);
    }
    if (strcmp(operation, "stat") == 0) {
        return silt_storage_stat(store, NULL, "memory://t/a", NULL, NULL, &err);
    }
    if (strcmp(operation, "remove") == 0) {
        return silt_storage_remove(store, NULL, "memory://t/a", &err);
    }
    if (strcmp(operation, "remove_tree") == 0) {
        return silt_storage_remove_tree(store, NULL, "memory://t", &err);
    }
    if (strcmp(operation, "list") == 0) {
        return silt_storage_list(store, NULL, "memory://t", NULL, count_entry, &n, &err);
    }
    void *data = NULL;
    size_t len = 0;
    silt_status status = silt_storage_read(store, NULL, "memory://t/a", &data, &len, &err);
    silt_storage_free(store, data, len);
    assert_true(status == SILT_OK || strstr(err.message, "reading memory://t/a: injected fault") != NULL);
    return status;
}

static void every_operation_can_fail_before_and_after(void **state)
{
    struct rig *rig = *state;
    static const char *const operations[] = {"read", "list", "stat", "put", "put_fresh", "remove", "remove_tree"};
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        bool changes = i >= 3;
        inject(rig, NULL, SILT_FAULT_NONE);
        store_put(rig->memory, "memory://t/a", "old");
        inject(rig, operations[i], SILT_FAULT_BEFORE);
        assert_int_equal(run(rig, operations[i]), SILT_EIO);
        store_expect(rig->memory, "memory://t/a", "old");
        inject(rig, operations[i], SILT_FAULT_AFTER);
        assert_int_equal(run(rig, operations[i]), SILT_EIO);
        if (!changes) {
            store_expect(rig->memory, "memory://t/a", "old");
        } else if (strncmp(operations[i], "put", 3) == 0) {
            store_expect(rig->memory, "memory://t/a", "new");
        } else {
            store_expect_missing(rig->memory, "memory://t/a");
        }
        inject(rig, NULL, SILT_FAULT_NONE);
        store_put(rig->memory, "memory://t/a", "old");
        assert_int_equal(run(rig, operations[i]), SILT_OK);
    }
}

static silt_fault_action decide_by_path(void *ctx, uint64_t number, const char *operation, const char *path)
{
    (void)ctx;
    (void)number;
    (void)operation;
    return strstr(path, "before") != NULL  ? SILT_FAULT_BEFORE
           : strstr(path, "after") != NULL ? SILT_FAULT_AFTER
                                           : SILT_FAULT_NONE;
}

static void count_done(void *ctx, silt_read_request *request)
{
    unsigned *n = ctx;
    (void)request;
    (*n)++;
}

static void requests_of_a_batch_fail_each_for_itself(void **state)
{
    struct rig *rig = *state;
    silt_storage *store = NULL;
    silt_error err = SILT_ERROR_INIT;
    unsigned done = 0;
    assert_int_equal(silt_storage_fault_new(&rig->test.env, rig->memory, decide_by_path, NULL, &store, &err), SILT_OK);
    store_put(rig->memory, "memory://t/ok", "x");
    store_put(rig->memory, "memory://t/after", "x");
    silt_read_request requests[5] = {{.path = "memory://t/before", .length = -1},
                                     {.path = "memory://t/ok", .length = -1},
                                     {.path = "memory://t/after", .length = -1},
                                     {.path = "memory://t/before", .length = -1},
                                     {.path = "memory://t/ok", .length = -1}};
    assert_int_equal(silt_storage_read_many(store, NULL, requests, 5, count_done, &done, &err), SILT_OK);
    assert_int_equal(done, 5);
    assert_int_equal(requests[0].status, SILT_EIO);
    assert_int_equal(requests[1].status, SILT_OK);
    assert_int_equal(requests[2].status, SILT_EIO);
    assert_null(requests[2].data);
    assert_int_equal(requests[3].status, SILT_EIO);
    assert_int_equal(requests[4].status, SILT_OK);
    silt_read_request_release(store, &requests[1]);
    silt_read_request_release(store, &requests[4]);
    silt_storage_unref(store);
}

/* What a read through the fault gives, and the size that it tells; "" for nothing. */
static void expect_read(struct rig *rig, int64_t offset, int64_t length, const char *bytes, int64_t file_size)
{
    unsigned done = 0;
    silt_error err = SILT_ERROR_INIT;
    silt_read_request request = {.path = "memory://t/a", .offset = offset, .length = length};
    assert_int_equal(silt_storage_read_many(rig->fault, NULL, &request, 1, count_done, &done, &err), SILT_OK);
    assert_int_equal(request.status, SILT_OK);
    assert_int_equal(request.data_len, strlen(bytes));
    assert_memory_equal(request.data_len > 0 ? request.data : "", bytes, request.data_len);
    assert_int_equal(request.file_size, file_size);
    silt_read_request_release(rig->fault, &request);
}

static void reads_are_answered_with_too_little(void **state)
{
    struct rig *rig = *state;
    store_put(rig->memory, "memory://t/a", "one\ntwo\nthree\n");
    inject(rig, "read", SILT_FAULT_SHORT);
    expect_read(rig, 0, -1, "one\ntwo\n", 8);
    expect_read(rig, 4, 3, "", 4); /* a single line */
    expect_read(rig, -9, -1, "wo\n", -1);
    inject(rig, "read", SILT_FAULT_EMPTY);
    expect_read(rig, 0, -1, "", 0);
    /* Nothing else is touched. */
    assert_int_equal(run(rig, "stat"), SILT_OK);
    assert_int_equal(run(rig, "list"), SILT_OK);
    assert_int_equal(run(rig, "put"), SILT_OK);
    store_expect(rig->memory, "memory://t/a", "new");
}

static void operations_are_numbered_and_traced(void **state)
{
    struct rig *rig = *state;
    silt_storage *store = rig->trace;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(store_put_new(store, "memory://t/a", "text"), SILT_PUT_DONE);
    assert_int_equal(store_put_new(store, "memory://t/a", "texts"), SILT_PUT_EXISTS);
    store_put(store, "memory://t/b", "xy");
    assert_int_equal(silt_storage_put_fresh(store, NULL, "memory://t/e", "xyz", 3, &err), SILT_OK);
    store_expect(store, "memory://t/a", "text");
    store_expect_missing(store, "memory://t/c");
    (void)store_list(store, "memory://t", NULL, false);
    assert_int_equal(silt_storage_adopt(store, NULL, "/nowhere/x", "memory://t/d", &err), SILT_ENOTFOUND);
    assert_int_equal(silt_storage_remove(store, NULL, "memory://t/b", &err), SILT_OK);
    assert_int_equal(silt_storage_remove_tree(store, NULL, "memory://t", &err), SILT_OK);
    assert_string_equal(rig->log, "0 put_if_absent memory://t/a\n"
                                  "1 put_if_absent memory://t/a\n"
                                  "2 put memory://t/b\n"
                                  "3 put_fresh memory://t/e\n"
                                  "4 read memory://t/a\n"
                                  "5 read memory://t/c\n"
                                  "6 stat memory://t/c\n"
                                  "7 list memory://t\n"
                                  "8 adopt memory://t/d\n"
                                  "9 remove memory://t/b\n"
                                  "10 remove_tree memory://t\n");
    assert_string_equal(rig->events, "put_if_absent memory://t/a OK 0 4\n"
                                     "put_if_absent memory://t/a OK 1 5\n"
                                     "put memory://t/b OK 0 2\n"
                                     "put_fresh memory://t/e OK 0 3\n"
                                     "read memory://t/a OK 0 4\n"
                                     "read memory://t/c ENOTFOUND 0 0\n"
                                     "stat memory://t/c ENOTFOUND 0 0\n"
                                     "list memory://t OK 0 0\n"
                                     "adopt memory://t/d ENOTFOUND 0 0\n"
                                     "remove memory://t/b OK 0 0\n"
                                     "remove_tree memory://t OK 0 0\n");
}

static void callbacks_are_required(void **state)
{
    struct rig *rig = *state;
    silt_storage *store = NULL;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(silt_storage_fault_new(&rig->test.env, rig->memory, NULL, NULL, &store, &err), SILT_EINVALID);
    assert_int_equal(silt_storage_trace_new(&rig->test.env, rig->memory, NULL, NULL, &store, &err), SILT_EINVALID);
    assert_int_equal(silt_storage_trace_new(&rig->test.env, NULL, on_event, NULL, &store, &err), SILT_EINVALID);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_fault_before_a_create_leaves_no_file),
        TEST(a_fault_after_a_create_is_ambiguous_and_the_file_is_there),
        TEST(a_hint_fails_as_a_create_does),
        TEST(a_file_beside_others_fails_as_a_create_does),
        TEST(every_operation_can_fail_before_and_after),
        TEST(requests_of_a_batch_fail_each_for_itself),
        TEST(reads_are_answered_with_too_little),
        TEST(operations_are_numbered_and_traced),
        TEST(callbacks_are_required),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
