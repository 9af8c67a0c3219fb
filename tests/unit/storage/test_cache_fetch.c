/*
 * Parts of remote files brought into local ones, from a store in memory that gives tags, counts and fails as it is told.
 */
#include "storage_fixture.h"
#include "test_env.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "silt/version.h"
#include "storage/cache/cache_fetch.h"
#include "storage/decorator.h"

#define N_FILES 5
#define FILE_BYTES 9000000

struct told {
    const char *tag;
    atomic_int fail_from; /* reads at or behind this offset fail; -1: none */
    bool shorten;         /* gives a byte less than was asked for */
    atomic_int n_reads;
    /* Of streams: */
    atomic_int_least64_t break_at; /* the attempt at the part that holds this byte ends there; -1: none */
    bool give_up;                  /* and there is no other */
    const char *tag_of_break;      /* of that attempt; NULL: as of the others */
};

struct tagging {
    struct sl_decorator base;
    struct told *told;
};

struct pass {
    const struct tagging *tagging;
    void (*on_done)(void *ctx, silt_read_request *request);
    void *ctx;
};

static void pass_on(void *ctx, silt_read_request *request)
{
    const struct pass *pass = ctx;
    const struct told *told = pass->tagging->told;
    (void)snprintf(request->tag, sizeof(request->tag), "%s", told->tag);
    if (request->status == SILT_OK && told->fail_from >= 0 && request->offset >= told->fail_from) {
        silt_read_request_release(pass->tagging->base.inner, request);
        request->data_len = 0;
        request->status = SILT_EIO;
    }
    if (told->shorten && request->data_len > 0 && request->offset >= 0) {
        request->data = realloc(request->data, --request->data_len); /* the environment is malloc's */
    }
    pass->on_done(pass->ctx, request);
}

static silt_status tag_read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                                 void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    struct tagging *tagging = impl;
    struct pass pass = {.tagging = tagging, .on_done = on_done, .ctx = ctx};
    tagging->told->n_reads += (int)n;
    return silt_storage_read_many(tagging->base.inner, call, requests, n, pass_on, &pass, err);
}

/* One attempt at a part, in pieces: bytes are wrong from `until` on, where it breaks. */
static silt_status give(const struct tagging *tagging, const silt_read_stream *stream, silt_read_request *part,
                        const silt_read_request *whole, int64_t until, silt_error *err)
{
    char wrong[10000];
    silt_status status = SILT_OK;
    memset(wrong, '!', sizeof(wrong));
    (void)snprintf(part->tag, sizeof(part->tag), "%s",
                   until >= 0 && tagging->told->tag_of_break != NULL ? tagging->told->tag_of_break
                                                                     : tagging->told->tag);
    for (int64_t at = 0; at < (int64_t)whole->data_len && status == SILT_OK; at += (int64_t)sizeof(wrong)) {
        const int64_t left = (int64_t)whole->data_len - at;
        const size_t n = left < (int64_t)sizeof(wrong) ? (size_t)left : sizeof(wrong);
        const bool over = until >= 0 && part->offset + at + (int64_t)n > until;
        status = stream->on_bytes(stream->ctx, part, at, over ? wrong : (const char *)whole->data + at, n, err);
        if (over) {
            break;
        }
    }
    return status;
}

static void keep_whole(void *ctx, silt_read_request *request)
{
    (void)ctx;
    (void)request;
}

static silt_status stream_part(struct tagging *tagging, const silt_read_stream *stream, silt_read_request *part,
                               silt_error *err)
{
    struct told *told = tagging->told;
    silt_read_request whole = {.path = part->path, .offset = part->offset, .length = part->length};
    silt_status status = silt_storage_read_many(tagging->base.inner, NULL, &whole, 1, keep_whole, NULL, err);
    const int64_t break_at = told->break_at;
    told->n_reads++;
    whole.data_len -= told->shorten && whole.data_len > 0 ? 1 : 0;
    if (status == SILT_OK && break_at >= part->offset && break_at < part->offset + part->length) {
        told->break_at = -1;
        status = give(tagging, stream, part, &whole, break_at, err);
        if (status == SILT_OK && told->give_up) {
            status = SILT_EIO;
        }
    }
    if (status == SILT_OK) {
        status = give(tagging, stream, part, &whole, -1, err);
    }
    part->file_size = whole.file_size;
    part->data_len = whole.data_len;
    whole.data_len += told->shorten && whole.data_len > 0 ? 1 : 0;
    silt_read_request_release(tagging->base.inner, &whole);
    return status == SILT_OK ? stream->on_part(stream->ctx, part, err) : status;
}

static silt_status tag_read_stream(void *impl, const silt_call *call, const silt_read_stream *stream,
                                   silt_read_request *requests, size_t n, silt_error *err)
{
    silt_status status = SILT_OK;
    (void)call;
    (void)n;
    while (status == SILT_OK && stream->next(stream->ctx, requests)) {
        status = stream_part(impl, stream, requests, err);
    }
    return status;
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

static const silt_storage_vtable TAGGING = {.size = sizeof(silt_storage_vtable),
                                            .abi_version = SILT_ABI_VERSION,
                                            .name = "tagging",
                                            .close = sl_decorator_close,
                                            .read_many = tag_read_many,
                                            .list = no_list,
                                            .put_if_absent = no_put_new,
                                            .put = no_put,
                                            .stat = no_stat,
                                            .remove = no_remove};

/* The same with the slot that streams. */
static silt_storage_vtable streaming(void)
{
    silt_storage_vtable slots = TAGGING;
    slots.read_stream = tag_read_stream;
    return slots;
}

struct rig {
    const silt_env *env;
    silt_storage *memory;
    silt_storage *store;
    struct told told;
    char *cache_dir;
    char *scratch_dir;
    char paths[N_FILES][32];
    struct sl_fetch_file files[N_FILES];
};

static char byte_of(size_t file, int64_t at)
{
    return (char)((uint64_t)at * 31 + (uint64_t)at / 4096 + file * 7);
}

/* All of a file, made once. */
static const char *bytes_of(size_t file)
{
    static char *all[N_FILES];
    if (all[file] == NULL) {
        all[file] = malloc(FILE_BYTES);
        for (int64_t k = 0; k < FILE_BYTES; k++) {
            all[file][k] = byte_of(file, k);
        }
    }
    return all[file];
}

static int set_up_with(void **state, const silt_storage_vtable *slots)
{
    static struct rig rig;
    silt_error err = SILT_ERROR_INIT;
    rig = (struct rig){.env = silt_env_default(), .told = {.tag = "v1", .fail_from = -1, .break_at = -1}};
    assert_int_equal(silt_storage_memory_new(rig.env, &rig.memory, &err), SILT_OK);
    struct tagging tagging = {.told = &rig.told};
    const struct sl_decorator_spec spec = {.slots = slots, .impl = &tagging, .size = sizeof(tagging)};
    assert_int_equal(sl_decorator_new(rig.env, rig.memory, &spec, &rig.store, &err), SILT_OK);
    rig.cache_dir = make_temp_dir();
    rig.scratch_dir = make_temp_dir();
    for (size_t i = 0; i < N_FILES; i++) {
        (void)snprintf(rig.paths[i], sizeof(rig.paths[i]), "memory://b/%zu", i);
        rig.files[i] = (struct sl_fetch_file){.path = rig.paths[i], .size_bytes = FILE_BYTES};
        assert_int_equal(silt_storage_put(rig.memory, NULL, rig.paths[i], bytes_of(i), FILE_BYTES, &err), SILT_OK);
    }
    *state = &rig;
    return 0;
}

static int set_up(void **state)
{
    return set_up_with(state, &TAGGING);
}

static int set_up_streaming(void **state)
{
    const silt_storage_vtable slots = streaming();
    return set_up_with(state, &slots);
}

static int tear_down(void **state)
{
    struct rig *rig = *state;
    silt_storage_unref(rig->store);
    silt_storage_unref(rig->memory);
    remove_temp_dir(rig->cache_dir);
    remove_temp_dir(rig->scratch_dir);
    return 0;
}

static silt_status open_all(struct rig *rig, struct sl_fetch **out, silt_error *err)
{
    const struct sl_fetch_request request = {.env = rig->env,
                                             .cache_dir = rig->cache_dir,
                                             .scratch_dir = rig->scratch_dir,
                                             .storage = rig->store,
                                             .files = rig->files,
                                             .n_files = N_FILES};
    return sl_fetch_open(&request, NULL, out, err);
}

static struct sl_fetch *open_fine(struct rig *rig)
{
    struct sl_fetch *fetch = NULL;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(open_all(rig, &fetch, &err), SILT_OK);
    return fetch;
}

static void expect_bytes(const struct sl_fetch *fetch, size_t file, int64_t begin, int64_t end)
{
    const size_t n = (size_t)(end - begin);
    char *got = malloc(n);
    const int fd = open(sl_fetch_path(fetch, file), O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, got, n, (off_t)begin), (ssize_t)n);
    close(fd);
    const char *expected = bytes_of(file) + begin;
    size_t same = 0;
    if (memcmp(got, expected, n) != 0) {
        while (got[same] == expected[same]) {
            same++;
        }
        fail_msg("file %zu differs at %lld", file, (long long)begin + (long long)same);
    }
    free(got);
}

static void ends_come_with_the_opening(void **state)
{
    struct rig *rig = *state;
    struct sl_fetch *fetch = open_fine(rig);
    int64_t requests = 0, bytes = 0;
    sl_fetch_counts(fetch, &requests, &bytes);
    assert_int_equal(requests, N_FILES);
    assert_int_equal(bytes, N_FILES * 32768);
    for (size_t i = 0; i < N_FILES; i++) {
        assert_int_equal(sl_fetch_size(fetch, i), FILE_BYTES);
        expect_bytes(fetch, i, FILE_BYTES - 32768, FILE_BYTES);
    }
    sl_fetch_close(fetch);
}

/* A small file needs no second round; one that is longer than it is said to be is found out all the same. */
static void small_files_come_whole_with_the_opening(void **state)
{
    struct rig *rig = *state;
    const int64_t size = 50000;
    silt_error err = SILT_ERROR_INIT;
    rig->files[2].size_bytes = size;
    assert_int_equal(silt_storage_put(rig->memory, NULL, rig->paths[2], bytes_of(2), (size_t)size, &err), SILT_OK);
    struct sl_fetch *fetch = open_fine(rig);
    const struct sl_fetch_part whole = {2, {0, size}};
    assert_int_equal(sl_fetch_now(fetch, NULL, &whole, 1, &err), SILT_OK);
    int64_t requests = 0, bytes = 0;
    sl_fetch_counts(fetch, &requests, &bytes);
    assert_int_equal(requests, N_FILES);
    assert_int_equal(bytes, (N_FILES - 1) * 32768 + size);
    sl_fetch_close(fetch);
    rig->files[2].size_bytes = size - 1;
    assert_int_equal(open_all(rig, &fetch, &err), SILT_ECORRUPT);
}

static void what_is_wanted_comes_and_nothing_else(void **state)
{
    struct rig *rig = *state;
    struct sl_fetch *fetch = open_fine(rig);
    silt_error err = SILT_ERROR_INIT;
    const struct sl_fetch_part parts[] = {
        {0, {0, 4}},             /* a little */
        {1, {1000000, 8000000}}, /* two slices */
        {1, {8010000, 8010100}}, /* close to it: joined */
        {3, {100, 200}},
        {3, {150, 500}},
        {3, {FILE_BYTES - 100, FILE_BYTES + 100}}, /* the last is there already */
    };
    assert_int_equal(sl_fetch_want(fetch, parts, 6, &err), SILT_OK);
    assert_int_equal(sl_fetch_start(fetch, &err), SILT_OK);
    for (size_t i = 0; i < N_FILES; i++) {
        assert_int_equal(sl_fetch_wait(fetch, NULL, i, &err), SILT_OK);
    }
    expect_bytes(fetch, 0, 0, 4);
    expect_bytes(fetch, 1, 1000000, 8010100);
    expect_bytes(fetch, 3, 100, 500);
    int64_t requests = 0, bytes = 0;
    sl_fetch_counts(fetch, &requests, &bytes);
    assert_int_equal(requests, N_FILES + 1 + 2 + 1);
    assert_int_equal(bytes, N_FILES * 32768 + 4 + 7010100 + 400);
    assert_int_equal(sl_fetch_wait(fetch, NULL, N_FILES, &err), SILT_EINVALID);
    sl_fetch_close(fetch);

    fetch = open_fine(rig); /* again: only the ends */
    assert_int_equal(sl_fetch_want(fetch, parts, 6, &err), SILT_OK);
    assert_int_equal(sl_fetch_start(fetch, &err), SILT_OK);
    assert_int_equal(sl_fetch_wait(fetch, NULL, 1, &err), SILT_OK);
    sl_fetch_counts(fetch, &requests, &bytes);
    assert_int_equal(requests, N_FILES);
    expect_bytes(fetch, 1, 1000000, 8000000);
    sl_fetch_close(fetch);
}

static void parts_can_be_brought_at_once(void **state)
{
    struct rig *rig = *state;
    struct sl_fetch *fetch = open_fine(rig);
    silt_error err = SILT_ERROR_INIT;
    const struct sl_fetch_part parts[] = {{2, {5, 50000}}, {4, {0, FILE_BYTES}}, {2, {100, 200}}};
    assert_int_equal(sl_fetch_now(fetch, NULL, parts, 3, &err), SILT_OK);
    expect_bytes(fetch, 2, 5, 50000);
    expect_bytes(fetch, 4, 0, FILE_BYTES);
    sl_fetch_close(fetch);
}

static void without_a_tag_nothing_is_kept(void **state)
{
    struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    rig->told.tag = "";
    struct sl_fetch *fetch = open_fine(rig);
    const struct sl_fetch_part part = {0, {0, 1000}};
    assert_int_equal(sl_fetch_now(fetch, NULL, &part, 1, &err), SILT_OK);
    expect_bytes(fetch, 0, 0, 1000);
    assert_true(strncmp(sl_fetch_path(fetch, 0), rig->scratch_dir, strlen(rig->scratch_dir)) == 0);
    sl_fetch_close(fetch);
    assert_int_equal(rmdir(rig->cache_dir), 0); /* empty */
    assert_int_equal(rmdir(rig->scratch_dir), 0);
    assert_int_equal(mkdir(rig->cache_dir, 0700), 0); /* for the end of the test */
    assert_int_equal(mkdir(rig->scratch_dir, 0700), 0);
}

static void a_cache_that_cannot_be_used_is_done_without(void **state)
{
    struct rig *rig = *state;
    char *kept = rig->cache_dir;
    char none[] = "/proc/none/cache";
    rig->cache_dir = none;
    struct sl_fetch *fetch = open_fine(rig);
    expect_bytes(fetch, 0, FILE_BYTES - 10, FILE_BYTES);
    sl_fetch_close(fetch);
    rig->cache_dir = kept;
}

static void a_file_that_is_missing_or_of_another_size_is_named(void **state)
{
    struct rig *rig = *state;
    struct sl_fetch *fetch = NULL;
    silt_error err = SILT_ERROR_INIT;
    rig->files[3].size_bytes = FILE_BYTES + 1;
    assert_int_equal(open_all(rig, &fetch, &err), SILT_ECORRUPT);
    assert_non_null(strstr(err.message, rig->paths[3]));
    rig->files[3].size_bytes = -1;
    silt_error_reset(&err);
    rig->files[2].path = "memory://b/none";
    assert_int_equal(open_all(rig, &fetch, &err), SILT_ENOTFOUND);
    assert_non_null(strstr(err.message, "none"));
    assert_null(fetch);
}

static void a_part_that_fails_ends_the_waiting(void **state)
{
    struct rig *rig = *state;
    struct sl_fetch *fetch = open_fine(rig);
    silt_error err = SILT_ERROR_INIT;
    struct sl_fetch_part parts[N_FILES];
    for (size_t i = 0; i < N_FILES; i++) {
        parts[i] = (struct sl_fetch_part){i, {0, FILE_BYTES}};
    }
    rig->told.fail_from = 8000000;
    assert_int_equal(sl_fetch_want(fetch, parts, N_FILES, &err), SILT_OK);
    assert_int_equal(sl_fetch_start(fetch, &err), SILT_OK);
    assert_int_equal(sl_fetch_wait(fetch, NULL, N_FILES - 1, &err), SILT_EIO);
    sl_fetch_close(fetch);
}

static void a_part_that_comes_short_is_no_data(void **state)
{
    struct rig *rig = *state;
    struct sl_fetch *fetch = open_fine(rig);
    silt_error err = SILT_ERROR_INIT;
    const struct sl_fetch_part part = {0, {10, 20}};
    rig->told.shorten = true;
    assert_int_equal(sl_fetch_now(fetch, NULL, &part, 1, &err), SILT_EIO);
    assert_non_null(strstr(err.message, "expected 10"));
    sl_fetch_close(fetch);
}

static void versions_of_a_file_are_not_mixed(void **state)
{
    struct rig *rig = *state;
    struct sl_fetch *fetch = open_fine(rig);
    silt_error err = SILT_ERROR_INIT;
    const struct sl_fetch_part part = {1, {10, 5000000}};
    rig->told.tag = "v2"; /* of the same size */
    assert_int_equal(sl_fetch_now(fetch, NULL, &part, 1, &err), SILT_ECORRUPT);
    assert_non_null(strstr(err.message, "replaced"));
    assert_int_equal(sl_fetch_want(fetch, &part, 1, &err), SILT_OK);
    assert_int_equal(sl_fetch_start(fetch, &err), SILT_OK);
    assert_int_equal(sl_fetch_wait(fetch, NULL, 1, &err), SILT_ECORRUPT);
    sl_fetch_close(fetch);
}

static void waiting_ends_with_a_cancelled_call(void **state)
{
    struct rig *rig = *state;
    struct sl_fetch *fetch = open_fine(rig);
    silt_error err = SILT_ERROR_INIT;
    const struct sl_fetch_part part = {0, {10, 20}};
    const int cancelled = 1;
    const silt_call call = {.size = sizeof(call), .abi_version = SILT_ABI_VERSION, .cancel = &cancelled};
    assert_int_equal(sl_fetch_want(fetch, &part, 1, &err), SILT_OK);
    /* Not begun: it would never come. */
    assert_int_equal(sl_fetch_wait(fetch, &call, 0, &err), SILT_OK);
    assert_int_equal(sl_fetch_start(fetch, &err), SILT_OK);
    const silt_status status = sl_fetch_wait(fetch, &call, 0, &err);
    assert_true(status == SILT_OK || status == SILT_ECANCELLED);
    sl_fetch_close(fetch);
}

struct waiter {
    struct sl_fetch *fetch;
    size_t file;
    silt_status status;
};

static void *wait_one(void *arg)
{
    struct waiter *waiter = arg;
    waiter->status = sl_fetch_wait(waiter->fetch, NULL, waiter->file, NULL);
    return NULL;
}

static void many_may_wait_and_close_stops_what_is_left(void **state)
{
    struct rig *rig = *state;
    struct sl_fetch *fetch = open_fine(rig);
    silt_error err = SILT_ERROR_INIT;
    struct sl_fetch_part parts[N_FILES];
    struct waiter waiters[N_FILES];
    pthread_t threads[N_FILES];
    for (size_t i = 0; i < N_FILES; i++) {
        parts[i] = (struct sl_fetch_part){i, {0, FILE_BYTES}};
        waiters[i] = (struct waiter){fetch, N_FILES - 1 - i, SILT_EINVALID};
    }
    assert_int_equal(sl_fetch_want(fetch, parts, N_FILES, &err), SILT_OK);
    assert_int_equal(sl_fetch_start(fetch, &err), SILT_OK);
    for (size_t i = 0; i < N_FILES; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, wait_one, &waiters[i]), 0);
    }
    for (size_t i = 0; i < N_FILES; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(waiters[i].status, SILT_OK);
        expect_bytes(fetch, waiters[i].file, 0, FILE_BYTES);
    }
    sl_fetch_close(fetch);
    rig->told.tag = "v2"; /* all is fetched anew, and nobody waits */
    fetch = open_fine(rig);
    assert_int_equal(sl_fetch_want(fetch, parts, N_FILES, &err), SILT_OK);
    assert_int_equal(sl_fetch_start(fetch, &err), SILT_OK);
    sl_fetch_close(fetch);
}

/* ---- streams ---- */

static const struct sl_fetch_part PART = {1, {100, 8500000}}; /* three slices */

static silt_status bring(struct sl_fetch *fetch, silt_error *err)
{
    silt_error_reset(err);
    assert_int_equal(sl_fetch_want(fetch, &PART, 1, err), SILT_OK);
    assert_int_equal(sl_fetch_start(fetch, err), SILT_OK);
    return sl_fetch_wait(fetch, NULL, PART.file, err);
}

static int64_t brought(struct sl_fetch *fetch)
{
    int64_t requests = 0, bytes = 0;
    sl_fetch_counts(fetch, &requests, &bytes);
    return bytes - N_FILES * (int64_t)32768;
}

/* The bytes of the first attempt were others; those of the second are there, and are what the cache vouches for. */
static void an_attempt_that_breaks_leaves_nothing_behind(void **state)
{
    struct rig *rig = *state;
    static const int64_t breaks[] = {100, 110000, 4194303, 4194304, 8499999};
    silt_error err = SILT_ERROR_INIT;
    for (size_t i = 0; i < sizeof(breaks) / sizeof(breaks[0]); i++) {
        char tag[8];
        (void)snprintf(tag, sizeof(tag), "t%zu", i);
        rig->told.tag = tag;
        struct sl_fetch *fetch = open_fine(rig);
        rig->told.break_at = breaks[i];
        assert_int_equal(bring(fetch, &err), SILT_OK);
        expect_bytes(fetch, PART.file, PART.range.begin, PART.range.end);
        assert_int_equal(brought(fetch), PART.range.end - PART.range.begin);
        sl_fetch_close(fetch);
        fetch = open_fine(rig);
        assert_int_equal(bring(fetch, &err), SILT_OK);
        assert_int_equal(brought(fetch), 0);
        expect_bytes(fetch, PART.file, PART.range.begin, PART.range.end);
        sl_fetch_close(fetch);
    }
}

static void what_broke_for_good_is_not_there(void **state)
{
    struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    struct sl_fetch *fetch = open_fine(rig);
    rig->told.break_at = 8400000; /* of the last slice, of which most has come */
    rig->told.give_up = true;
    assert_int_equal(bring(fetch, &err), SILT_EIO);
    sl_fetch_close(fetch);
    fetch = open_fine(rig);
    assert_int_equal(bring(fetch, &err), SILT_OK);
    assert_true(brought(fetch) >= PART.range.end - 8388608);
    expect_bytes(fetch, PART.file, PART.range.begin, PART.range.end);
    sl_fetch_close(fetch);
}

static void a_stream_that_comes_short_is_no_data(void **state)
{
    struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    struct sl_fetch *fetch = open_fine(rig);
    rig->told.shorten = true;
    assert_int_equal(bring(fetch, &err), SILT_EIO);
    assert_non_null(strstr(err.message, "expected 4194204"));
    sl_fetch_close(fetch);
    rig->told.shorten = false;
    fetch = open_fine(rig);
    assert_int_equal(bring(fetch, &err), SILT_OK);
    assert_int_equal(brought(fetch), PART.range.end - PART.range.begin);
    sl_fetch_close(fetch);
}

/* Not a byte of another version is written where somebody else reads the first. */
static void bytes_of_another_version_are_not_written(void **state)
{
    struct rig *rig = *state;
    silt_error err = SILT_ERROR_INIT;
    struct sl_fetch *late = open_fine(rig);
    assert_int_equal(sl_fetch_want(late, &PART, 1, &err), SILT_OK);
    struct sl_fetch *fetch = open_fine(rig);
    assert_int_equal(bring(fetch, &err), SILT_OK);
    rig->told.tag_of_break = "v2";
    rig->told.break_at = 100 + 3000000;
    assert_int_equal(sl_fetch_start(late, &err), SILT_OK);
    assert_int_equal(sl_fetch_wait(late, NULL, PART.file, &err), SILT_ECORRUPT);
    assert_non_null(strstr(err.message, "memory://b/1 was replaced while it was read"));
    sl_fetch_close(late);
    expect_bytes(fetch, PART.file, PART.range.begin, PART.range.end);
    sl_fetch_close(fetch);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define STREAM_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_streaming, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ends_come_with_the_opening),
        TEST(small_files_come_whole_with_the_opening),
        TEST(what_is_wanted_comes_and_nothing_else),
        TEST(parts_can_be_brought_at_once),
        TEST(without_a_tag_nothing_is_kept),
        TEST(a_cache_that_cannot_be_used_is_done_without),
        TEST(a_file_that_is_missing_or_of_another_size_is_named),
        TEST(a_part_that_fails_ends_the_waiting),
        TEST(a_part_that_comes_short_is_no_data),
        TEST(versions_of_a_file_are_not_mixed),
        TEST(waiting_ends_with_a_cancelled_call),
        TEST(many_may_wait_and_close_stops_what_is_left),
        STREAM_TEST(what_is_wanted_comes_and_nothing_else),
        STREAM_TEST(without_a_tag_nothing_is_kept),
        STREAM_TEST(many_may_wait_and_close_stops_what_is_left),
        STREAM_TEST(versions_of_a_file_are_not_mixed),
        STREAM_TEST(an_attempt_that_breaks_leaves_nothing_behind),
        STREAM_TEST(what_broke_for_good_is_not_there),
        STREAM_TEST(a_stream_that_comes_short_is_no_data),
        STREAM_TEST(bytes_of_another_version_are_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
