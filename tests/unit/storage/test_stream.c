/*
 * Streams of parts through the dispatch: over stores that have no such slot, and over one that does as it is told, contract or not.
 */
#include "storage_fixture.h"
#include "test_env.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "silt/version.h"
#include "storage/decorator.h"

#define MAX_PARTS 50
#define FILE_BYTES 1000

struct taker {
    size_t n, begun, over;
    int64_t n_bytes[MAX_PARTS];
    char first[MAX_PARTS];
    size_t fail_at;      /* part whose bytes are refused; MAX_PARTS: none */
    silt_status refusal; /* 0: SILT_ECORRUPT */
    bool bad;            /* asks for what is none */
};

struct rig {
    struct test_env test;
    silt_storage *memory;
    silt_storage *store; /* that plays a script */
    silt_error err;
    void (*play)(const silt_read_stream *stream, silt_read_request *requests, silt_error *err);
    silt_status returned;
};

static bool next_part(void *ctx, silt_read_request *request)
{
    struct taker *taker = ctx;
    if (taker->begun == taker->n) {
        return false;
    }
    request->path = "memory://b/k";
    request->offset = taker->bad ? -1 : (int64_t)taker->begun * 10;
    request->length = 10;
    request->user = &taker->n_bytes[taker->begun++];
    return true;
}

static size_t index_of(const struct taker *taker, const silt_read_request *request)
{
    return (size_t)((const int64_t *)request->user - taker->n_bytes);
}

static silt_status on_bytes(void *ctx, const silt_read_request *request, int64_t at, const void *bytes, size_t n,
                            silt_error *err)
{
    struct taker *taker = ctx;
    const size_t i = index_of(taker, request);
    if (i == taker->fail_at) {
        return sl_fail(err, taker->refusal != SILT_OK ? taker->refusal : SILT_ECORRUPT, NULL, "not wanted");
    }
    if (at == 0) {
        taker->first[i] = *(const char *)bytes;
    }
    taker->n_bytes[i] = at + (int64_t)n;
    return SILT_OK;
}

static silt_status on_part(void *ctx, const silt_read_request *request, silt_error *err)
{
    struct taker *taker = ctx;
    (void)err;
    assert_int_equal(request->data_len, taker->n_bytes[index_of(taker, request)]);
    taker->over++;
    return SILT_OK;
}

static silt_status stream_all(struct rig *rig, silt_storage *store, struct taker *taker, uint32_t at_once)
{
    const silt_read_stream stream = {.size = sizeof(stream),
                                     .at_once = at_once,
                                     .ctx = taker,
                                     .next = next_part,
                                     .on_bytes = on_bytes,
                                     .on_part = on_part};
    rig->err = (silt_error)SILT_ERROR_INIT;
    return silt_storage_read_stream(store, NULL, &stream, &rig->err);
}

/* ---- a store that plays ---- */

static silt_status play_stream(void *impl, const silt_call *call, const silt_read_stream *stream,
                               silt_read_request *requests, size_t n, silt_error *err)
{
    struct rig *rig = *(struct rig **)((char *)impl + sizeof(struct sl_decorator));
    (void)call;
    (void)n;
    rig->play(stream, requests, err);
    return rig->returned;
}

static silt_status no_read(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                           void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    (void)impl, (void)call, (void)requests, (void)n, (void)on_done, (void)ctx, (void)err;
    return SILT_EUNSUPPORTED;
}

static silt_status no_list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                           bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    (void)impl, (void)call, (void)dir, (void)options, (void)on_entry, (void)ctx, (void)err;
    return SILT_EUNSUPPORTED;
}

static silt_status no_put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                          silt_error *err)
{
    (void)impl, (void)call, (void)path, (void)data, (void)data_len, (void)err;
    return SILT_EUNSUPPORTED;
}

static silt_status no_put_new(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                              silt_put_outcome *outcome, silt_error *err)
{
    *outcome = SILT_PUT_EXISTS;
    return no_put(impl, call, path, data, data_len, err);
}

static silt_status no_stat(void *impl, const silt_call *call, const char *path, int64_t *size, int64_t *modified,
                           silt_error *err)
{
    (void)impl, (void)call, (void)path, (void)size, (void)modified, (void)err;
    return SILT_EUNSUPPORTED;
}

static silt_status no_remove(void *impl, const silt_call *call, const char *path, silt_error *err)
{
    (void)impl, (void)call, (void)path, (void)err;
    return SILT_EUNSUPPORTED;
}

static const silt_storage_vtable PLAYING = {.size = sizeof(silt_storage_vtable),
                                            .abi_version = SILT_ABI_VERSION,
                                            .name = "playing",
                                            .close = sl_decorator_close,
                                            .read_many = no_read,
                                            .list = no_list,
                                            .put_if_absent = no_put_new,
                                            .put = no_put,
                                            .stat = no_stat,
                                            .remove = no_remove,
                                            .read_stream = play_stream};

struct playing {
    struct sl_decorator base;
    struct rig *rig;
};

static int set_up(void **state)
{
    static struct rig rig;
    char bytes[FILE_BYTES];
    rig = (struct rig){.err = SILT_ERROR_INIT};
    test_env_init(&rig.test);
    assert_int_equal(silt_storage_memory_new(&rig.test.env, &rig.memory, &rig.err), SILT_OK);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (char)('a' + i / 10 % 26);
    }
    assert_int_equal(silt_storage_put(rig.memory, NULL, "memory://b/k", bytes, sizeof(bytes), &rig.err), SILT_OK);
    struct playing playing = {.rig = &rig};
    const struct sl_decorator_spec spec = {.slots = &PLAYING, .impl = &playing, .size = sizeof(playing)};
    assert_int_equal(sl_decorator_new(&rig.test.env, rig.memory, &spec, &rig.store, &rig.err), SILT_OK);
    *state = &rig;
    return 0;
}

static int tear_down(void **state)
{
    struct rig *rig = *state;
    silt_storage_unref(rig->store);
    silt_storage_unref(rig->memory);
    test_env_check(&rig->test);
    return 0;
}

/* ---- in batches ---- */

static void a_store_without_the_slot_is_read_in_batches(void **state)
{
    struct rig *rig = *state;
    for (uint32_t at_once = 1; at_once <= 64; at_once = at_once * 4) {
        struct taker taker = {.n = MAX_PARTS, .fail_at = MAX_PARTS};
        assert_int_equal(stream_all(rig, rig->memory, &taker, at_once), SILT_OK);
        assert_int_equal(taker.over, MAX_PARTS);
        for (size_t i = 0; i < MAX_PARTS; i++) {
            assert_int_equal(taker.n_bytes[i], 10);
            assert_int_equal(taker.first[i], 'a' + (int)i % 26);
        }
    }
    struct taker none = {.n = 0};
    assert_int_equal(stream_all(rig, rig->memory, &none, 4), SILT_OK);
}

static void what_fails_ends_the_batches(void **state)
{
    struct rig *rig = *state;
    struct taker taker = {.n = MAX_PARTS, .fail_at = 5};
    assert_int_equal(stream_all(rig, rig->memory, &taker, 4), SILT_ECORRUPT);
    assert_non_null(strstr(rig->err.message, "memory://b/k: not wanted"));
    assert_int_equal(taker.begun, 8);
    assert_int_equal(silt_storage_remove(rig->memory, NULL, "memory://b/k", &rig->err), SILT_OK);
    taker = (struct taker){.n = MAX_PARTS, .fail_at = MAX_PARTS};
    assert_int_equal(stream_all(rig, rig->memory, &taker, 4), SILT_ENOTFOUND);
    assert_int_equal(taker.over, 0);
}

static void what_cannot_be_asked_for_is_refused(void **state)
{
    struct rig *rig = *state;
    struct taker taker = {.n = 1, .bad = true};
    const silt_read_stream empty = {.size = sizeof(empty), .at_once = 1};
    assert_int_equal(stream_all(rig, rig->memory, &taker, 1), SILT_EINVALID);
    taker = (struct taker){.n = 1, .fail_at = MAX_PARTS};
    assert_int_equal(stream_all(rig, rig->memory, &taker, 0), SILT_EINVALID);
    assert_int_equal(stream_all(rig, rig->memory, &taker, 65), SILT_EINVALID);
    assert_int_equal(silt_storage_read_stream(rig->memory, NULL, &empty, &rig->err), SILT_EINVALID);
    assert_int_equal(silt_storage_read_stream(rig->memory, NULL, NULL, &rig->err), SILT_EINVALID);
    assert_int_equal(stream_all(rig, NULL, &taker, 1), SILT_EINVALID);
}

static void survives_every_failed_allocation(void **state)
{
    struct rig *rig = *state;
    for (size_t n = 1; n < 200; n++) {
        struct taker taker = {.n = 5, .fail_at = MAX_PARTS};
        test_env_fail_at(&rig->test, n);
        const silt_status status = stream_all(rig, rig->memory, &taker, 2);
        const bool over = rig->test.n_requests < n;
        test_env_fail_at(&rig->test, 0);
        assert_true(over ? status == SILT_OK : status == SILT_ENOMEM);
        if (over) {
            return;
        }
    }
    fail();
}

/* ---- a slot that breaks its contract ---- */

static void give(const silt_read_stream *stream, const silt_read_request *request, int64_t at, size_t n,
                 silt_error *err)
{
    static const char bytes[100];
    sl_ignore(stream->on_bytes(stream->ctx, request, at, bytes, n, err));
}

static void give_all(const silt_read_stream *stream, silt_read_request *requests, silt_error *err)
{
    while (stream->next(stream->ctx, requests)) {
        give(stream, requests, 0, 3, err);
        give(stream, requests, 0, 4, err); /* anew */
        give(stream, requests, 4, 6, err);
        requests->data_len = 10;
        sl_ignore(stream->on_part(stream->ctx, requests, err));
    }
}

static void leave_a_part_out(const silt_read_stream *stream, silt_read_request *requests, silt_error *err)
{
    (void)err;
    (void)stream->next(stream->ctx, &requests[0]);
}

static void leave_bytes_out(const silt_read_stream *stream, silt_read_request *requests, silt_error *err)
{
    (void)stream->next(stream->ctx, &requests[0]);
    give(stream, requests, 0, 3, err);
    give(stream, requests, 4, 3, err);
}

static void give_too_much(const silt_read_stream *stream, silt_read_request *requests, silt_error *err)
{
    (void)stream->next(stream->ctx, &requests[0]);
    give(stream, requests, 0, 8, err);
    give(stream, requests, 8, 3, err);
}

static void give_to_nobody(const silt_read_stream *stream, silt_read_request *requests, silt_error *err)
{
    give(stream, &requests[1], 0, 8, err);
}

static void give_to_another(const silt_read_stream *stream, silt_read_request *requests, silt_error *err)
{
    silt_read_request own = {.length = 10};
    (void)requests;
    give(stream, &own, 0, 8, err);
}

static void end_early(const silt_read_stream *stream, silt_read_request *requests, silt_error *err)
{
    (void)stream->next(stream->ctx, &requests[0]);
    give(stream, requests, 0, 3, err);
    requests->data_len = 10;
    sl_ignore(stream->on_part(stream->ctx, requests, err));
}

static void fill_twice(const silt_read_stream *stream, silt_read_request *requests, silt_error *err)
{
    (void)err;
    (void)stream->next(stream->ctx, &requests[0]);
    (void)stream->next(stream->ctx, &requests[0]);
}

static void fail_one(const silt_read_stream *stream, silt_read_request *requests, silt_error *err)
{
    (void)stream->next(stream->ctx, &requests[0]);
    (void)stream->next(stream->ctx, &requests[1]);
    requests[1].status = sl_fail(err, SILT_ENOTFOUND, NULL, "not there");
}

static void a_slot_that_breaks_its_contract_is_found_out(void **state)
{
    struct rig *rig = *state;
    static void (*const plays[])(const silt_read_stream *stream, silt_read_request *requests, silt_error *err) = {
        leave_a_part_out, leave_bytes_out, give_too_much, give_to_nobody, give_to_another, end_early, fill_twice};
    for (size_t i = 0; i < sizeof(plays) / sizeof(plays[0]); i++) {
        struct taker taker = {.n = MAX_PARTS, .fail_at = MAX_PARTS};
        rig->play = plays[i];
        assert_int_equal(stream_all(rig, rig->store, &taker, 4), SILT_EIO);
        assert_non_null(strstr(rig->err.message, "store broke its contract: playing"));
        assert_int_equal(taker.over, 0);
    }
    struct taker taker = {.n = MAX_PARTS, .fail_at = MAX_PARTS};
    rig->play = give_all;
    assert_int_equal(stream_all(rig, rig->store, &taker, 4), SILT_OK);
    assert_int_equal(taker.over, MAX_PARTS);
    taker = (struct taker){.n = MAX_PARTS, .fail_at = MAX_PARTS};
    rig->play = fail_one;
    rig->returned = SILT_ENOTFOUND;
    assert_int_equal(stream_all(rig, rig->store, &taker, 4), SILT_ENOTFOUND);
    assert_non_null(strstr(rig->err.message, "reading memory://b/k: not there"));
}

/* ---- stores that wrap another ---- */

struct wrapped {
    silt_storage *fault, *trace, *retry; /* each around the one before */
    uint64_t calls;
    uint64_t fail_from, fail_to; /* numbers of calls */
    silt_fault_action action;
    unsigned good, bad; /* events */
    int64_t bytes;
};

static silt_fault_action decide(void *ctx, uint64_t number, const char *operation, const char *path)
{
    struct wrapped *wrapped = ctx;
    assert_string_equal(operation, "read");
    assert_string_equal(path, "memory://b/k");
    wrapped->calls++;
    return number >= wrapped->fail_from && number < wrapped->fail_to ? wrapped->action : SILT_FAULT_NONE;
}

static void on_event(void *ctx, const silt_trace_event *event)
{
    struct wrapped *wrapped = ctx;
    assert_string_equal(event->operation, "read");
    assert_string_equal(event->path, "memory://b/k");
    assert_true(event->duration_us >= 0);
    wrapped->good += event->status == SILT_OK ? 1 : 0;
    wrapped->bad += event->status == SILT_EIO ? 1 : 0;
    wrapped->bytes += event->bytes;
}

static void wrap(struct rig *rig, struct wrapped *wrapped)
{
    const silt_env *env = &rig->test.env;
    assert_int_equal(silt_storage_fault_new(env, rig->memory, decide, wrapped, &wrapped->fault, &rig->err), SILT_OK);
    assert_int_equal(silt_storage_trace_new(env, wrapped->fault, on_event, wrapped, &wrapped->trace, &rig->err),
                     SILT_OK);
    assert_int_equal(silt_storage_retry_new(env, wrapped->trace, NULL, &wrapped->retry, &rig->err), SILT_OK);
}

static void unwrap(struct wrapped *wrapped)
{
    silt_storage_unref(wrapped->retry);
    silt_storage_unref(wrapped->trace);
    silt_storage_unref(wrapped->fault);
}

static void a_part_can_fail_before_and_after(void **state)
{
    struct rig *rig = *state;
    for (uint32_t at_once = 1; at_once <= 4; at_once += 3) {
        for (int action = SILT_FAULT_BEFORE; action <= SILT_FAULT_AFTER; action++) {
            struct wrapped wrapped = {.fail_from = 5, .fail_to = 6, .action = (silt_fault_action)action};
            struct taker taker = {.n = MAX_PARTS, .fail_at = MAX_PARTS};
            wrap(rig, &wrapped);
            assert_int_equal(stream_all(rig, wrapped.trace, &taker, at_once), SILT_EIO);
            assert_non_null(strstr(rig->err.message, action == SILT_FAULT_BEFORE
                                                         ? "reading memory://b/k: injected fault before the operation"
                                                         : "reading memory://b/k: injected fault after the operation"));
            assert_int_equal(taker.over, 5);
            assert_true(taker.begun >= 6 && taker.begun <= 5 + at_once);
            assert_int_equal(wrapped.calls, taker.begun);
            /* Where the caller says so, an event tells of the part with what came of the stream. */
            assert_int_equal(wrapped.good, 5);
            assert_int_equal(wrapped.good + wrapped.bad, taker.begun);
            unwrap(&wrapped);
        }
    }
}

static void each_part_is_an_operation(void **state)
{
    struct rig *rig = *state;
    struct wrapped wrapped = {0};
    struct taker taker = {.n = MAX_PARTS, .fail_at = MAX_PARTS};
    wrap(rig, &wrapped);
    assert_int_equal(stream_all(rig, wrapped.trace, &taker, 4), SILT_OK);
    assert_int_equal(wrapped.calls, MAX_PARTS);
    assert_int_equal(wrapped.good, MAX_PARTS);
    assert_int_equal(wrapped.bytes, MAX_PARTS * 10);
    unwrap(&wrapped);
}

static void parts_that_fail_are_begun_anew(void **state)
{
    struct rig *rig = *state;
    for (uint32_t at_once = 1; at_once <= 16; at_once *= 4) {
        for (int action = SILT_FAULT_BEFORE; action <= SILT_FAULT_AFTER; action++) {
            struct wrapped wrapped = {.fail_from = 7, .fail_to = 11, .action = (silt_fault_action)action};
            struct taker taker = {.n = MAX_PARTS, .fail_at = MAX_PARTS};
            wrap(rig, &wrapped);
            assert_int_equal(stream_all(rig, wrapped.retry, &taker, at_once), SILT_OK);
            assert_int_equal(taker.over, MAX_PARTS);
            assert_int_equal(taker.begun, MAX_PARTS);
            for (size_t i = 0; i < MAX_PARTS; i++) {
                assert_int_equal(taker.n_bytes[i], 10);
                assert_int_equal(taker.first[i], 'a' + (int)i % 26);
            }
            assert_true(rig->test.n_sleeps > 0);
            unwrap(&wrapped);
        }
    }
}

static void what_cannot_be_repeated_is_told(void **state)
{
    struct rig *rig = *state;
    struct wrapped wrapped = {.fail_from = 3, .fail_to = UINT64_MAX, .action = SILT_FAULT_BEFORE};
    struct taker taker = {.n = MAX_PARTS, .fail_at = MAX_PARTS};
    wrap(rig, &wrapped);
    assert_int_equal(stream_all(rig, wrapped.retry, &taker, 2), SILT_EIO);
    assert_non_null(strstr(rig->err.hint, "gave up after attempt 10"));
    assert_true(taker.over <= 3);
    wrapped.fail_to = 0;
    wrapped.calls = 0;
    taker = (struct taker){.n = MAX_PARTS, .fail_at = 0, .refusal = SILT_EIO};
    assert_int_equal(stream_all(rig, wrapped.retry, &taker, 1), SILT_EIO);
    assert_non_null(strstr(rig->err.message, "not wanted"));
    assert_int_equal(wrapped.calls, 1);
    unwrap(&wrapped);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_store_without_the_slot_is_read_in_batches),
        TEST(what_fails_ends_the_batches),
        TEST(what_cannot_be_asked_for_is_refused),
        TEST(survives_every_failed_allocation),
        TEST(a_slot_that_breaks_its_contract_is_found_out),
        TEST(a_part_can_fail_before_and_after),
        TEST(each_part_is_an_operation),
        TEST(parts_that_fail_are_begun_anew),
        TEST(what_cannot_be_repeated_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
#undef TEST
}
