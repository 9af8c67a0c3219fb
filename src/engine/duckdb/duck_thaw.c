/*
 * Copies of files whose pages have the codec LZ4, in which they have LZ4_RAW; see duck_lz4.h. A bare block is shorter than its frames: what is
 * left over goes into the page's header, as members that no reader knows, so that all places in the file stay what they are and of
 * the footer one byte a chunk is another. One owner a call. Foreign bytes: everything is checked. Parquet: PageHeader, ColumnMetaData.
 */
#include "duck_lz4.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env.h"
#include "base/error.h"
#include "base/thrift.h"
#include "duck_fetch.h"

/* Numbers of fields in parquet.thrift. */
enum {
    FILE_ROW_GROUPS = 4,
    GROUP_COLUMNS = 1,
    CHUNK_META = 3,
    META_CODEC = 4,
    META_COMPRESSED_SIZE = 7,
    META_DATA_PAGE = 9,
    META_DICTIONARY_PAGE = 11,
    PAGE_PLAIN_SIZE = 2,
    PAGE_SIZE = 3,
    PAGE_V2 = 8,
    V2_DEFINITIONS = 5,
    V2_REPETITIONS = 6,
    V2_IS_COMPRESSED = 7
};
/* Codecs as numbers of Thrift stand in one byte. */
#define LZ4_BYTE 0x0A
#define LZ4_RAW_BYTE 0x0E
/* A member that is one byte long: true, its number one more than that of the one before it. With many of them numbers would run out. */
#define PAD_BYTE 0x11
#define MAX_PADS 1000
/* One of bytes, its number one more as well, whose length takes five bytes whatever it is. */
#define LONG_PAD_BYTE 0x18
#define LONG_PAD_HEAD 6
#define TAIL_BYTES 8

struct thaw {
    const char *path; /* for messages */
    unsigned char *bytes;
    size_t n_bytes;
    size_t footer_at;
    struct sl_buf space; /* of two blocks and a header */
    silt_error *err;
};

static silt_status fail(const struct thaw *t, const char *what)
{
    const silt_status status = sl_fail(t->err, SILT_ECORRUPT, NULL, "data file %s cannot be read: %s", t->path, what);
    sl_error_path(t->err, t->path);
    return status;
}

/* ---- a page ---- */

struct page {
    unsigned char *head; /* of head_len bytes, then the data */
    size_t head_len;
    size_t size_at, size_end; /* where in the head the size of the data stands */
    int64_t size, plain_size, levels;
    bool is_compressed;
};

static void read_v2(struct sl_thrift *in, struct page *page)
{
    struct sl_thrift_field field = {0};
    while (sl_thrift_next(in, &field)) {
        if ((field.id == V2_DEFINITIONS || field.id == V2_REPETITIONS) && field.type == SL_THRIFT_I32) {
            const int64_t n = sl_thrift_int(in);
            page->levels = n < 0 || page->levels < 0 ? -1 : page->levels + n;
        } else {
            page->is_compressed = field.id != V2_IS_COMPRESSED ? page->is_compressed : field.type == SL_THRIFT_TRUE;
            sl_thrift_skip(in, field.type);
        }
    }
}

static silt_status read_page(const struct thaw *t, unsigned char *at, size_t len, struct page *page)
{
    struct sl_thrift in;
    struct sl_thrift_field field = {0};
    *page = (struct page){.head = at, .size = -1, .plain_size = -1, .is_compressed = true};
    sl_thrift_init(&in, at, len);
    while (sl_thrift_next(&in, &field)) {
        if (field.id == PAGE_PLAIN_SIZE && field.type == SL_THRIFT_I32) {
            page->plain_size = sl_thrift_int(&in);
        } else if (field.id == PAGE_SIZE && field.type == SL_THRIFT_I32) {
            page->size_at = (size_t)(in.at - at);
            page->size = sl_thrift_int(&in);
            page->size_end = (size_t)(in.at - at);
        } else if (field.id == PAGE_V2 && field.type == SL_THRIFT_STRUCT) {
            read_v2(&in, page);
        } else {
            sl_thrift_skip(&in, field.type);
        }
    }
    page->head_len = (size_t)(in.at - at);
    const bool fine = !in.bad && page->size >= 0 && (uint64_t)page->size <= len - page->head_len && page->levels >= 0 &&
                      page->levels <= page->size && page->levels <= page->plain_size;
    return fine ? SILT_OK : fail(t, "a page's header cannot be understood");
}

/* The varint of a number that is not negative, as Thrift has it. */
static void put_number(struct sl_buf *out, uint64_t n)
{
    uint64_t rest = n << 1;
    for (; rest >= 0x80; rest >>= 7) {
        sl_buf_put_char(out, (char)(rest | 0x80));
    }
    sl_buf_put_char(out, (char)rest);
}

static void put_pads(struct sl_buf *out, size_t n)
{
    if (n > MAX_PADS) {
        const uint64_t len = n - LONG_PAD_HEAD;
        sl_buf_put_char(out, LONG_PAD_BYTE);
        for (unsigned shift = 0; shift < 28; shift += 7) {
            sl_buf_put_char(out, (char)((len >> shift & 0x7F) | 0x80));
        }
        sl_buf_put_char(out, (char)(len >> 28 & 0x7F));
        n -= LONG_PAD_HEAD;
        for (; n > 0; n--) {
            sl_buf_put_char(out, '\0');
        }
    }
    for (; n > 0; n--) {
        sl_buf_put_char(out, PAD_BYTE);
    }
}

/* Puts the head for n bytes of data into `out`, so long that both take what the page took before. */
static silt_status put_head(const struct thaw *t, const struct page *page, size_t n, struct sl_buf *out)
{
    const size_t wanted = page->head_len + (size_t)page->size - n;
    const char *head = (const char *)page->head;
    sl_buf_put(out, head, page->size_at);
    put_number(out, n);
    sl_buf_put(out, head + page->size_end, page->head_len - 1 - page->size_end);
    if (out->status == SILT_OK && out->len + 1 > wanted) {
        return fail(t, "a page's header cannot be understood");
    }
    put_pads(out, out->status == SILT_OK ? wanted - out->len - 1 : 0);
    sl_buf_put_char(out, '\0');
    return sl_buf_status(out, t->err);
}

static silt_status thaw_page(struct thaw *t, const struct page *page)
{
    const size_t levels = (size_t)page->levels;
    const size_t n = (size_t)page->size - levels;
    unsigned char *data = page->head + page->head_len;
    size_t n_block = 0;
    if (!page->is_compressed || n == 0) {
        return SILT_OK;
    }
    sl_buf_clear(&t->space);
    unsigned char *space = (unsigned char *)sl_buf_reserve(&t->space, 2 * n);
    if (space == NULL) {
        return sl_buf_status(&t->space, t->err);
    }
    if (!sl_lz4_unframe(data + levels, n, (size_t)page->plain_size - levels, space, &n_block)) {
        return fail(t, "a page of codec LZ4 is neither in Hadoop's frames nor a bare block");
    }
    struct sl_buf head;
    sl_buf_init(&head, t->space.env);
    const silt_status status = put_head(t, page, levels + n_block, &head);
    if (status == SILT_OK) {
        memmove(page->head + head.len, data, levels);
        memcpy(page->head, head.data, head.len);
        memcpy(page->head + head.len + levels, space, n_block);
    }
    sl_buf_release(&head);
    return status;
}

/* ---- a file ---- */

static silt_status thaw_pages(struct thaw *t, size_t begin, size_t end)
{
    while (begin < end) {
        struct page page;
        SL_TRY(read_page(t, t->bytes + begin, end - begin, &page));
        SL_TRY(thaw_page(t, &page));
        begin += page.head_len + (size_t)page.size;
    }
    return SILT_OK;
}

struct chunk {
    int64_t codec, size, data, dictionary;
    unsigned char *codec_byte;
};

static void read_meta(struct sl_thrift *in, struct chunk *chunk)
{
    struct sl_thrift_field field = {0};
    while (sl_thrift_next(in, &field)) {
        int64_t *number = field.id == META_CODEC             ? &chunk->codec
                          : field.id == META_COMPRESSED_SIZE ? &chunk->size
                          : field.id == META_DATA_PAGE       ? &chunk->data
                          : field.id == META_DICTIONARY_PAGE ? &chunk->dictionary
                                                             : NULL;
        if (number != NULL && (field.type == SL_THRIFT_I64 || field.type == SL_THRIFT_I32)) {
            *number = sl_thrift_int(in);
            if (field.id == META_CODEC && !in->bad) {
                chunk->codec_byte = (unsigned char *)(uintptr_t)(in->at - 1); /* the bytes are ours to change */
            }
        } else {
            sl_thrift_skip(in, field.type);
        }
    }
}

static silt_status thaw_chunk(struct thaw *t, struct sl_thrift *in)
{
    struct sl_thrift_field field = {0};
    struct chunk chunk = {.codec = -1, .size = -1, .data = -1, .dictionary = -1};
    while (sl_thrift_next(in, &field)) {
        if (field.id == CHUNK_META && field.type == SL_THRIFT_STRUCT) {
            read_meta(in, &chunk);
        } else {
            sl_thrift_skip(in, field.type);
        }
    }
    if (in->bad || chunk.codec_byte == NULL || *chunk.codec_byte != LZ4_BYTE) {
        return SILT_OK;
    }
    /* Some writers put 0 for a dictionary that is not there. */
    const int64_t begin = chunk.dictionary > 0 && chunk.dictionary < chunk.data ? chunk.dictionary : chunk.data;
    if (begin < 4 || chunk.size < 0 || (uint64_t)begin > t->footer_at ||
        (uint64_t)chunk.size > t->footer_at - (uint64_t)begin) {
        return fail(t, "data of a column lies outside of it");
    }
    SL_TRY(thaw_pages(t, (size_t)begin, (size_t)(begin + chunk.size)));
    *chunk.codec_byte = LZ4_RAW_BYTE;
    return SILT_OK;
}

static silt_status thaw_group(struct thaw *t, struct sl_thrift *in)
{
    struct sl_thrift_field field = {0};
    while (sl_thrift_next(in, &field)) {
        if (field.id != GROUP_COLUMNS || field.type != SL_THRIFT_LIST) {
            sl_thrift_skip(in, field.type);
            continue;
        }
        uint8_t type = 0;
        const size_t n = sl_thrift_list(in, &type);
        for (size_t i = 0; i < n && !in->bad; i++) {
            SL_TRY(thaw_chunk(t, in));
        }
    }
    return SILT_OK;
}

/* The footer was understood when it was read (duck_footer_read.c); the file may have become another since. */
static silt_status thaw_bytes(struct thaw *t)
{
    struct sl_thrift in;
    struct sl_thrift_field field = {0};
    const unsigned char *tail = t->bytes + t->n_bytes - TAIL_BYTES;
    const size_t n = (size_t)tail[0] | (size_t)tail[1] << 8 | (size_t)tail[2] << 16 | (size_t)tail[3] << 24;
    if (n > t->n_bytes - TAIL_BYTES - 4) {
        return fail(t, "its footer is longer than the file");
    }
    t->footer_at = t->n_bytes - TAIL_BYTES - n;
    sl_thrift_init(&in, t->bytes + t->footer_at, n);
    while (sl_thrift_next(&in, &field)) {
        if (field.id != FILE_ROW_GROUPS || field.type != SL_THRIFT_LIST) {
            sl_thrift_skip(&in, field.type);
            continue;
        }
        uint8_t type = 0;
        const size_t n_groups = sl_thrift_list(&in, &type);
        for (size_t i = 0; i < n_groups && !in.bad; i++) {
            SL_TRY(thaw_group(t, &in));
        }
    }
    return in.bad ? fail(t, "its footer cannot be understood") : SILT_OK;
}

static silt_status copy_bytes(int from, int to, int64_t size, const char *local, silt_error *err)
{
    for (int64_t left = size; left > 0;) {
        const ssize_t n = copy_file_range(from, NULL, to, NULL, (size_t)left, 0);
        if (n < 0 && errno != EINTR) {
            return sl_fail_errno(err, errno, "copy", local);
        }
        if (n == 0) {
            return sl_fail(err, SILT_ECORRUPT, NULL, "data file %s was cut while it was read", local);
        }
        left -= n > 0 ? n : 0;
    }
    return SILT_OK;
}

static silt_status thaw_copy(struct thaw *t, int from, int to, const char *local)
{
    struct stat info;
    if (fstat(from, &info) != 0) {
        return sl_fail_errno(t->err, errno, "look at", local);
    }
    if (info.st_size < 12) {
        return fail(t, "it is too short for a Parquet file");
    }
    t->n_bytes = (size_t)info.st_size;
    SL_TRY(copy_bytes(from, to, (int64_t)info.st_size, local, t->err));
    void *map = mmap(NULL, t->n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, to, 0);
    if (map == MAP_FAILED) {
        return sl_fail_errno(t->err, errno, "map a copy of", local);
    }
    t->bytes = map;
    const silt_status status = thaw_bytes(t);
    (void)munmap(map, t->n_bytes); /* what was written is in the page cache, where it is read from */
    return status;
}

static silt_status thaw_file(struct sl_duck_files *files, size_t index, silt_error *err)
{
    const char *local = files->local[index];
    struct thaw t = {.path = files->sources[index].path, .err = err};
    const char *copy = sl_arena_printf(&files->arena, "%s/thawed-%zu.parquet", files->temp_dir, index);
    if (copy == NULL) {
        return sl_fail_nomem(err);
    }
    const int from = open(local, O_RDONLY | O_CLOEXEC);
    if (from < 0) {
        return sl_fail_errno(err, errno, "open", t.path);
    }
    const int to = open(copy, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    sl_buf_init(&t.space, files->dp->env);
    silt_status status = to >= 0 ? thaw_copy(&t, from, to, local) : sl_fail_errno(err, errno, "create", copy);
    sl_buf_release(&t.space);
    if (to >= 0 && close(to) != 0 && status == SILT_OK) {
        status = sl_fail_errno(err, errno, "close", copy);
    }
    (void)close(from); /* nothing was written through it */
    files->local[index] = status == SILT_OK ? copy : local;
    return status;
}

silt_status sl_duck_thaw(struct sl_duck_files *files, const silt_call *call, const bool *thaw, silt_error *err)
{
    struct sl_dataplane *dp = files->dp;
    for (size_t i = 0; i < files->n; i++) {
        if (!thaw[i]) {
            continue;
        }
        SL_TRY(sl_call_check(dp->env, call, err));
        if (files->temp_dir == NULL) {
            SL_TRY(sl_duck_files_make_dir(files, err));
        }
        sl_duck_files_note_copies(files);
        if (files->sources[i].local_path == NULL) {
            SL_TRY(sl_duck_fetch_whole(files->fetch, call, i, err));
        }
        SL_TRY(thaw_file(files, i, err));
    }
    return SILT_OK;
}
