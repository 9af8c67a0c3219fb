/*
 * A copy of a Parquet file in which no group is annotated as a variant, and no instant in nanoseconds as one: a byte of the footer is another
 * for each, so that all places in the file stay what they are. Only the bytes of the wanted leaves are copied; the rest is a hole, which takes no room.
 * One owner a call. Parquet: FileMetaData, LogicalType.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thrift.h"
#include "duck_aside.h"

#define TAIL_BYTES 8
#define MAX_FOOTER_BYTES (INT64_C(512) << 20)
#define COPY_BYTES ((size_t)1 << 20)

/* Numbers of fields in parquet.thrift. */
enum {
    FILE_SCHEMA = 2,
    FILE_ROW_GROUPS = 4,
    ELEMENT_LOGICAL = 10,
    LOGICAL_TIMESTAMP = 8,
    LOGICAL_VARIANT = 16,
    TIMESTAMP_UTC = 1,
    TIMESTAMP_UNIT = 2,
    UNIT_NANOS = 3,
    GROUP_COLUMNS = 1,
    CHUNK_META = 3,
    META_COMPRESSED_SIZE = 7,
    META_DATA_PAGE = 9,
    META_DICTIONARY_PAGE = 11
};
/* The field's number as it stands in the bytes, and one that no union has: readers skip what they do not know. */
#define VARIANT_BYTE 0x20
#define UNKNOWN_BYTE 0x64
/* The head of field 1, true and false. */
#define UTC_BYTE 0x11
#define LOCAL_BYTE 0x12

struct unmark {
    const char *local;
    int from;
    int to;
    int64_t size;         /* of the file */
    int64_t footer_at;    /* where the footer begins */
    unsigned char *bytes; /* the footer and the eight bytes behind it */
    size_t n_bytes;
    const struct sl_aside_column *columns;
    size_t n_columns;
    char *block; /* of COPY_BYTES */
    silt_error *err;
};

static silt_status fail(const struct unmark *u, const char *what)
{
    return sl_fail(u->err, SILT_ECORRUPT, NULL, "data file %s cannot be read: %s", u->local, what);
}

static silt_status read_at(const struct unmark *u, int64_t at, void *out, size_t len)
{
    for (size_t done = 0; done < len;) {
        const ssize_t n = pread(u->from, (char *)out + done, len - done, (off_t)at + (off_t)done);
        if (n == 0) {
            return fail(u, "it ends too early");
        }
        if (n < 0 && errno != EINTR) {
            return sl_fail_errno(u->err, errno, "read", u->local);
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return SILT_OK;
}

static silt_status write_at(const struct unmark *u, int64_t at, const void *bytes, size_t len)
{
    for (size_t done = 0; done < len;) {
        const ssize_t n = pwrite(u->to, (const char *)bytes + done, len - done, (off_t)at + (off_t)done);
        if (n < 0 && errno != EINTR) {
            return sl_fail_errno(u->err, errno, "write a copy of", u->local);
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return SILT_OK;
}

/* ---- the schema: what is unmarked ---- */

/* The bytes are the footer's, which is ours to change. */
static unsigned char *last_byte(const struct sl_thrift *in)
{
    return (unsigned char *)(uintptr_t)(in->at - 1);
}

static int32_t read_unit(struct sl_thrift *in)
{
    int32_t unit = 0;
    struct sl_thrift_field field = {0};
    while (sl_thrift_next(in, &field)) {
        unit = field.id;
        sl_thrift_skip(in, field.type);
    }
    return unit;
}

/* Instants in nanoseconds become wall clocks, whose digits DuckDB keeps. */
static void unmark_timestamp(struct sl_thrift *in)
{
    unsigned char *utc = NULL;
    int32_t unit = 0;
    struct sl_thrift_field field = {0};
    while (sl_thrift_next(in, &field)) {
        if (field.id == TIMESTAMP_UTC && *last_byte(in) == UTC_BYTE) {
            utc = last_byte(in);
        }
        if (field.id == TIMESTAMP_UNIT && field.type == SL_THRIFT_STRUCT) {
            unit = read_unit(in);
        } else {
            sl_thrift_skip(in, field.type);
        }
    }
    if (utc != NULL && unit == UNIT_NANOS && !in->bad) {
        *utc = LOCAL_BYTE;
    }
}

static void unmark_logical(struct sl_thrift *in)
{
    struct sl_thrift_field field = {0};
    while (sl_thrift_next(in, &field)) {
        if (field.id == LOGICAL_VARIANT) {
            /* A number above 15 has bytes of its own, here one. */
            unsigned char *number = last_byte(in);
            if (*number == VARIANT_BYTE) {
                *number = UNKNOWN_BYTE;
            } else {
                in->bad = true;
            }
        }
        if (field.id == LOGICAL_TIMESTAMP && field.type == SL_THRIFT_STRUCT) {
            unmark_timestamp(in);
        } else {
            sl_thrift_skip(in, field.type);
        }
    }
}

static void unmark_schema(struct sl_thrift *in)
{
    uint8_t type = 0;
    const size_t n = sl_thrift_list(in, &type);
    for (size_t i = 0; i < n && !in->bad; i++) {
        struct sl_thrift_field field = {0};
        while (sl_thrift_next(in, &field)) {
            if (field.id == ELEMENT_LOGICAL && field.type == SL_THRIFT_STRUCT) {
                unmark_logical(in);
            } else {
                sl_thrift_skip(in, field.type);
            }
        }
    }
}

/* ---- row groups: what is copied ---- */

static silt_status copy_range(const struct unmark *u, int64_t begin, int64_t end)
{
    if (begin < 4 || end < begin || end > u->footer_at) {
        return fail(u, "data of a column lies outside of it");
    }
    while (begin < end) {
        const size_t n = end - begin < (int64_t)COPY_BYTES ? (size_t)(end - begin) : COPY_BYTES;
        SL_TRY(read_at(u, begin, u->block, n));
        SL_TRY(write_at(u, begin, u->block, n));
        begin += (int64_t)n;
    }
    return SILT_OK;
}

static bool is_wanted(const struct unmark *u, size_t leaf)
{
    for (size_t i = 0; i < u->n_columns; i++) {
        if (leaf >= u->columns[i].first_leaf && leaf - u->columns[i].first_leaf < u->columns[i].n_leaves) {
            return true;
        }
    }
    return false;
}

/* Where the data of a chunk lies. */
struct place {
    int64_t size;
    int64_t data;
    int64_t dictionary;
};

static void read_meta(struct sl_thrift *in, struct place *place)
{
    struct sl_thrift_field field = {0};
    while (sl_thrift_next(in, &field)) {
        int64_t *number = field.id == META_COMPRESSED_SIZE   ? &place->size
                          : field.id == META_DATA_PAGE       ? &place->data
                          : field.id == META_DICTIONARY_PAGE ? &place->dictionary
                                                             : NULL;
        if (number != NULL && field.type == SL_THRIFT_I64) {
            *number = sl_thrift_int(in);
        } else {
            sl_thrift_skip(in, field.type);
        }
    }
}

static silt_status copy_chunk(const struct unmark *u, struct sl_thrift *in, bool wanted)
{
    struct sl_thrift_field field = {0};
    struct place place = {.size = -1, .data = -1, .dictionary = -1};
    while (sl_thrift_next(in, &field)) {
        if (field.id == CHUNK_META && field.type == SL_THRIFT_STRUCT) {
            read_meta(in, &place);
        } else {
            sl_thrift_skip(in, field.type);
        }
    }
    if (!wanted || in->bad) {
        return SILT_OK;
    }
    /* Some writers put 0 for a dictionary that is not there. */
    const int64_t begin = place.dictionary > 0 && place.dictionary < place.data ? place.dictionary : place.data;
    if (begin < 0 || place.size < 0 || place.size > u->footer_at - begin) {
        return fail(u, "data of a column lies outside of it");
    }
    return copy_range(u, begin, begin + place.size);
}

static silt_status copy_columns(const struct unmark *u, struct sl_thrift *in)
{
    uint8_t type = 0;
    const size_t n = sl_thrift_list(in, &type);
    for (size_t i = 0; i < n && !in->bad; i++) {
        SL_TRY(copy_chunk(u, in, is_wanted(u, i)));
    }
    return SILT_OK;
}

static silt_status copy_groups(const struct unmark *u, struct sl_thrift *in)
{
    uint8_t type = 0;
    const size_t n = sl_thrift_list(in, &type);
    for (size_t i = 0; i < n && !in->bad; i++) {
        struct sl_thrift_field field = {0};
        while (sl_thrift_next(in, &field)) {
            if (field.id == GROUP_COLUMNS && field.type == SL_THRIFT_LIST) {
                SL_TRY(copy_columns(u, in));
            } else {
                sl_thrift_skip(in, field.type);
            }
        }
    }
    return SILT_OK;
}

/* ---- the whole ---- */

static silt_status load_footer(struct unmark *u, struct sl_arena *arena)
{
    unsigned char tail[TAIL_BYTES];
    struct stat info;
    if (fstat(u->from, &info) != 0) {
        return sl_fail_errno(u->err, errno, "look at", u->local);
    }
    u->size = (int64_t)info.st_size;
    if (u->size < 12) {
        return fail(u, "it is too short for a Parquet file");
    }
    SL_TRY(read_at(u, u->size - TAIL_BYTES, tail, sizeof(tail)));
    const int64_t len = (int64_t)tail[0] | (int64_t)tail[1] << 8 | (int64_t)tail[2] << 16 | (int64_t)tail[3] << 24;
    u->footer_at = u->size - TAIL_BYTES - len;
    if (u->footer_at < 4 || len > MAX_FOOTER_BYTES) {
        return fail(u, "its footer is longer than the file");
    }
    u->n_bytes = (size_t)len + TAIL_BYTES;
    u->bytes = sl_arena_alloc(arena, u->n_bytes);
    u->block = sl_arena_alloc(arena, COPY_BYTES);
    return u->bytes != NULL && u->block != NULL ? read_at(u, u->footer_at, u->bytes, u->n_bytes)
                                                : sl_fail_nomem(u->err);
}

static silt_status write_copy(struct unmark *u)
{
    struct sl_thrift in;
    struct sl_thrift_field field = {0};
    if (ftruncate(u->to, (off_t)u->size) != 0) {
        return sl_fail_errno(u->err, errno, "make room for a copy of", u->local);
    }
    sl_thrift_init(&in, u->bytes, u->n_bytes - TAIL_BYTES);
    while (sl_thrift_next(&in, &field)) {
        if (field.id == FILE_SCHEMA && field.type == SL_THRIFT_LIST) {
            unmark_schema(&in);
        } else if (field.id == FILE_ROW_GROUPS && field.type == SL_THRIFT_LIST) {
            SL_TRY(copy_groups(u, &in));
        } else {
            sl_thrift_skip(&in, field.type);
        }
    }
    if (in.bad) {
        return fail(u, "its footer cannot be understood");
    }
    SL_TRY(write_at(u, u->footer_at, u->bytes, u->n_bytes));
    return write_at(u, 0, "PAR1", 4);
}

silt_status sl_unmark_file(const silt_env *env, const char *local, const char *copy,
                           const struct sl_aside_column *columns, size_t n_columns, silt_error *err)
{
    struct sl_arena arena;
    struct unmark u = {.local = local, .from = -1, .to = -1, .columns = columns, .n_columns = n_columns, .err = err};
    sl_arena_init(&arena, env);
    silt_status status = SILT_OK;
    u.from = open(local, O_RDONLY | O_CLOEXEC);
    if (u.from < 0) {
        status = sl_fail_errno(err, errno, "open", local);
        goto out;
    }
    u.to = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (u.to < 0) {
        status = sl_fail_errno(err, errno, "create", copy);
        goto out;
    }
    status = load_footer(&u, &arena);
    if (status == SILT_OK) {
        status = write_copy(&u);
    }
out:
    if (u.to >= 0 && close(u.to) != 0 && status == SILT_OK) {
        status = sl_fail_errno(err, errno, "close", copy);
    }
    if (u.from >= 0) {
        (void)close(u.from); /* nothing was written through it */
    }
    sl_arena_release(&arena);
    return status;
}
