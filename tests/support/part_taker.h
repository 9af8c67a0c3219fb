/*
 * Who takes a stream of parts of a remote store, and looks at the way in which it is handed on.
 */
#ifndef SILT_PART_TAKER_H
#define SILT_PART_TAKER_H

#include <string.h>

#include "base/error.h"
#include "silt/version.h"
#include "stub_store.h"
#include "test_env.h"

#define PART_ROOM 64

struct wanted {
    const char *path;
    int64_t offset, length;
    /* filled: */
    char bytes[PART_ROOM];
    int64_t n_bytes;   /* of the last attempt */
    unsigned attempts; /* that brought some */
    char tag[SILT_FILE_TAG_SIZE];
    int64_t file_size;
    bool over;
};

struct taker {
    struct wanted *parts;
    size_t n, begun, over;
    silt_status refuse; /* every byte */
    const int *cancel;
    int64_t deadline_us; /* 0: none */
};

static inline bool next_part(void *ctx, silt_read_request *request)
{
    struct taker *taker = ctx;
    if (taker->begun == taker->n) {
        return false;
    }
    struct wanted *part = &taker->parts[taker->begun++];
    request->path = part->path;
    request->offset = part->offset;
    request->length = part->length;
    request->user = part;
    return true;
}

static inline silt_status on_bytes(void *ctx, const silt_read_request *request, int64_t at, const void *bytes, size_t n,
                                   silt_error *err)
{
    const struct taker *taker = ctx;
    struct wanted *part = request->user;
    assert_true(at == 0 || at == part->n_bytes);
    assert_true(at + (int64_t)n <= part->length && at + (int64_t)n <= PART_ROOM);
    part->attempts += at == 0 ? 1 : 0;
    memcpy(part->bytes + at, bytes, n);
    part->n_bytes = at + (int64_t)n;
    memcpy(part->tag, request->tag, sizeof(part->tag));
    return taker->refuse == SILT_OK ? SILT_OK : sl_fail(err, taker->refuse, NULL, "not wanted");
}

static inline silt_status on_part(void *ctx, const silt_read_request *request, silt_error *err)
{
    struct taker *taker = ctx;
    struct wanted *part = request->user;
    (void)err;
    assert_null(request->data);
    assert_int_equal(request->data_len, part->n_bytes);
    part->file_size = request->file_size;
    part->over = true;
    taker->over++;
    return SILT_OK;
}

static inline silt_status take_parts(struct stub_store *f, struct taker *taker, uint32_t at_once)
{
    const silt_read_stream stream = {.size = sizeof(stream),
                                     .at_once = at_once,
                                     .ctx = taker,
                                     .next = next_part,
                                     .on_bytes = on_bytes,
                                     .on_part = on_part};
    const silt_call call = {.size = sizeof(call),
                            .abi_version = SILT_ABI_VERSION,
                            .deadline_us = taker->deadline_us,
                            .cancel = taker->cancel};
    f->err = (silt_error)SILT_ERROR_INIT;
    return silt_storage_read_stream(f->storage, &call, &stream, &f->err);
}

/* Bytes 3 to 6 of a file. */
static inline silt_status take_range(struct stub_store *f, const char *path, struct wanted *part)
{
    *part = (struct wanted){.path = path, .offset = 3, .length = 4};
    struct taker taker = {.parts = part, .n = 1};
    return take_parts(f, &taker, 1);
}

#endif
