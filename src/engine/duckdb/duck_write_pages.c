/*
 * The rows of a stream as a Parquet file without a statement of DuckDB, for checkpoints: their columns are written as they lie in memory, and those
 * of which a row group has no value cost nothing, while COPY moves each value three times and looks for repeated ones among paths, which are all
 * different. Only the compression is DuckDB's: its own copy of zstd, whose functions are no promised part of the library. They are asked for
 * weakly; where they are missing, as with types that the image does not know, COPY writes the file.
 *
 * Called by duck_write_file.c. One owner: the write.
 */
#include "duck_write.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/arrow.h"
#include "base/env.h"
#include "base/error.h"
#include "engine/small_image.h"

/* zstd's, as C knows them. */
#define ZSTD(name) __asm__("_ZN11duckdb_zstd" name) __attribute__((weak))
extern void *sl_zstd_new(void) ZSTD("15ZSTD_createCCtxEv");
extern size_t sl_zstd_free(void *ctx) ZSTD("13ZSTD_freeCCtxEPNS_11ZSTD_CCtx_sE");
extern size_t sl_zstd_compress(void *ctx, void *out, size_t cap, const void *bytes, size_t n, int level)
    ZSTD("17ZSTD_compressCCtxEPNS_11ZSTD_CCtx_sEPvmPKvmi");
extern size_t sl_zstd_bound(size_t n) ZSTD("18ZSTD_compressBoundEm");
extern unsigned sl_zstd_failed(size_t code) ZSTD("12ZSTD_isErrorEm");

#define CODEC_ZSTD 6
/* On checkpoints a higher one costs time and saves nothing. */
#define LEVEL 1
/* A row group of long statistics ends before it has all its rows. */
#define MAX_GROUP_BYTES ((size_t)64 << 20)
/* Rows between two looks at that. */
#define ROWS_AT_ONCE 2048

struct pages {
    const struct sl_duck_pages *request;
    const silt_env *env;
    struct sl_small_image *image;
    struct sl_buf bytes;
    struct sl_vec batches; /* struct ArrowArray: those of the row group at hand */
    int fd;
    size_t n_groups;
};

static bool compress_page(void *ctx, struct sl_str bytes, struct sl_buf *out)
{
    const size_t bound = sl_zstd_bound(bytes.len);
    char *room = sl_buf_reserve(out, bound);
    if (room == NULL) {
        return false;
    }
    const size_t n = sl_zstd_compress(ctx, room, bound, bytes.ptr, bytes.len, LEVEL);
    if (sl_zstd_failed(n) != 0) {
        return false;
    }
    out->len += n;
    return true;
}

static silt_status write_bytes(struct pages *p, silt_error *err)
{
    const char *next = p->bytes.data;
    size_t left = p->bytes.len;
    while (left > 0) {
        const ssize_t n = write(p->fd, next, left);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return sl_fail_errno(err, n < 0 ? errno : EIO, "write", p->request->local);
        }
        next += n;
        left -= (size_t)n;
    }
    sl_buf_clear(&p->bytes);
    return SILT_OK;
}

/* Bounds lie in batches until the row group has ended; the last batch may have more rows. */
static void drop_batches(struct pages *p, size_t n)
{
    struct ArrowArray *batches = p->batches.data;
    if (n == 0) {
        return; /* the last batch is the first: moved onto itself it would be lost, with the rows that are still to come */
    }
    for (size_t i = 0; i < n; i++) {
        sl_arrow_array_release(&batches[i]);
    }
    if (n < p->batches.len) {
        sl_arrow_array_move(&batches[0], &batches[n]);
    }
    p->batches.len -= n;
}

static silt_status end_group(struct pages *p, void *zstd, silt_error *err)
{
    const struct sl_small_codec codec = {.id = CODEC_ZSTD, .compress = compress_page, .ctx = zstd};
    SL_TRY(sl_small_image_end_group(p->image, &codec, &p->bytes, err));
    SL_TRY(write_bytes(p, err));
    sl_small_image_restart(p->image);
    p->n_groups++;
    if (p->batches.len > 0) {
        drop_batches(p, p->batches.len - 1);
    }
    return SILT_OK;
}

static silt_status add_batch(struct pages *p, void *zstd, silt_error *err)
{
    int64_t begin = 0;
    for (;;) {
        const struct ArrowArray *batch = sl_vec_at(&p->batches, p->batches.len - 1);
        const int64_t room = p->request->group_rows - sl_small_image_rows(p->image);
        int64_t n = batch->length - begin;
        if (n <= 0) {
            return SILT_OK;
        }
        n = n < ROWS_AT_ONCE ? n : ROWS_AT_ONCE;
        n = n < room ? n : room;
        bool fits = false;
        SL_TRY(sl_small_image_add_part(p->image, batch, begin, n, &fits, err));
        if (!fits) {
            return sl_fail(err, SILT_EENGINE, NULL, "a row holds what cannot be stored in a Parquet file");
        }
        begin += n;
        if (n == room || sl_small_image_size(p->image) > MAX_GROUP_BYTES) {
            SL_TRY(end_group(p, zstd, err));
        }
    }
}

static silt_status write_all(struct pages *p, void *zstd, struct ArrowArrayStream *rows, silt_error *err)
{
    for (;;) {
        bool done = false;
        struct ArrowArray *batch = sl_vec_push(&p->batches);
        if (batch == NULL) {
            return sl_fail_nomem(err);
        }
        *batch = (struct ArrowArray){0};
        SL_TRY(sl_call_check(p->env, p->request->call, err));
        SL_TRY(sl_arrow_stream_next(rows, batch, &done, err));
        if (done) {
            p->batches.len--;
            break;
        }
        SL_TRY(add_batch(p, zstd, err));
    }
    if (p->n_groups == 0 || sl_small_image_rows(p->image) > 0) {
        SL_TRY(end_group(p, zstd, err));
    }
    SL_TRY(sl_small_image_end(p->image, &p->bytes, err));
    return write_bytes(p, err);
}

static silt_status write_file(struct pages *p, struct ArrowArrayStream *rows, silt_error *err)
{
    void *zstd = sl_zstd_new();
    if (zstd == NULL) {
        return sl_fail_nomem(err);
    }
    p->fd = open(p->request->local, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    silt_status status = p->fd >= 0 ? write_all(p, zstd, rows, err)
                                    : sl_fail_errno(err, errno, "create", p->request->local);
    if (p->fd >= 0 && close(p->fd) != 0 && errno != EINTR && status == SILT_OK) {
        status = sl_fail_errno(err, errno, "close", p->request->local);
    }
    (void)sl_zstd_free(zstd); /* tells nothing */
    return status;
}

silt_status sl_duck_pages_write(const silt_env *env, const struct sl_duck_pages *request, struct ArrowArrayStream *rows,
                                bool *done, silt_error *err)
{
    struct pages p = {.request = request, .env = env, .fd = -1};
    struct ArrowSchema schema = {0};
    silt_schema *types = NULL;
    *done = false;
    if (sl_zstd_new == NULL || sl_zstd_free == NULL || sl_zstd_compress == NULL || sl_zstd_bound == NULL ||
        sl_zstd_failed == NULL) {
        return SILT_OK;
    }
    sl_buf_init(&p.bytes, env);
    sl_vec_init(&p.batches, env, sizeof(struct ArrowArray));
    silt_status status = sl_arrow_stream_schema(rows, &schema, err);
    if (status == SILT_OK && silt_schema_from_arrow(env, &schema, &types, NULL) == SILT_OK) {
        status = sl_small_image_open(env, &types->root, &schema, &p.image, err);
    }
    if (status == SILT_OK && p.image != NULL) {
        *done = true;
        status = write_file(&p, rows, err);
    }
    sl_small_image_close(p.image);
    silt_schema_unref(types);
    sl_arrow_schema_release(&schema);
    drop_batches(&p, p.batches.len);
    sl_vec_release(&p.batches);
    sl_buf_release(&p.bytes);
    return status;
}
