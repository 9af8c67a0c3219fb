/*
 * Rows to bytes: the payload of a deletion vector in the protocol's portable form, and its frame in a vector file (PROTOCOL.md
 * "Deletion Vector Format"). Rows come in ascending order, so one block of 65,536 is collected at a time; each is then stored as
 * numbers, bits or runs, whichever is smallest, as other writers do. One owner.
 */
#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/vec.h"
#include "kernel/dv/dv.h"
#include "kernel/dv/dv_bytes.h"

enum {
    COOKIE_PLAIN = 12346,
    COOKIE_RUNS = 12347,
    OFFSETS_FROM = 4,
    MAX_ARRAY = 4096,
    BITS_BYTES = 8192,
    PAIR_BYTES = 4,
    FORMAT_VERSION = 1
};

/* Rows whose upper 32 bits are all ones cannot be represented by readers that take them as a signed number. */
#define MAX_ROW (INT64_C(0x7FFFFFFE) << 32 | UINT32_MAX)

/* A block that is complete: its bytes are in builder->data. */
struct block {
    uint64_t key;
    uint32_t cardinality;
    uint32_t n_runs; /* 0: not stored as runs */
    size_t size;     /* of its bytes */
};

struct sl_dv_builder {
    const silt_env *env;
    struct sl_vec blocks; /* struct block */
    struct sl_buf data;   /* of all blocks, one after the other */
    int64_t last;         /* greatest row so far, -1 for none */
    int64_t cardinality;
    uint64_t words[SL_DV_BLOCK_WORDS]; /* of the block of `last` */
};

/* ---- numbers ---- */

static void put_u16(struct sl_buf *out, uint32_t value)
{
    const uint8_t bytes[] = {(uint8_t)value, (uint8_t)(value >> 8)};
    sl_buf_put(out, bytes, sizeof(bytes));
}

static void put_u32(struct sl_buf *out, uint32_t value)
{
    put_u16(out, value & UINT16_MAX);
    put_u16(out, value >> 16);
}

static void put_u32_big(struct sl_buf *out, uint32_t value)
{
    const uint8_t bytes[] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8), (uint8_t)value};
    sl_buf_put(out, bytes, sizeof(bytes));
}

/* ---- closing a block ---- */

static bool has_bit(const uint64_t *words, size_t i)
{
    return (words[i / 64] >> (i % 64) & 1) != 0;
}

static void put_array(struct sl_buf *out, const uint64_t *words)
{
    for (size_t i = 0; i < SL_DV_BLOCK_WORDS; i++) {
        for (uint64_t word = words[i]; word != 0; word &= word - 1) {
            put_u16(out, (uint32_t)(i * 64) + (uint32_t)__builtin_ctzll(word));
        }
    }
}

static void put_bits(struct sl_buf *out, const uint64_t *words)
{
    for (size_t i = 0; i < SL_DV_BLOCK_WORDS; i++) {
        put_u32(out, (uint32_t)words[i]);
        put_u32(out, (uint32_t)(words[i] >> 32));
    }
}

static void put_runs(struct sl_buf *out, const uint64_t *words, uint32_t n)
{
    put_u16(out, n);
    size_t i = 0;
    for (uint32_t run = 0; run < n; run++) {
        while (!has_bit(words, i)) { /* there are n runs */
            i++;
        }
        const size_t first = i;
        while (i < (size_t)SL_DV_BLOCK_ROWS && has_bit(words, i)) {
            i++;
        }
        put_u16(out, (uint32_t)first);
        put_u16(out, (uint32_t)(i - first - 1));
    }
}

static void count_rows(const uint64_t *words, uint32_t *rows, uint32_t *runs)
{
    uint64_t carry = 0; /* the bit before a word */
    *rows = 0;
    *runs = 0;
    for (size_t i = 0; i < SL_DV_BLOCK_WORDS; i++) {
        *rows += (uint32_t)__builtin_popcountll(words[i]);
        *runs += (uint32_t)__builtin_popcountll(words[i] & ~(words[i] << 1 | carry));
        carry = words[i] >> 63;
    }
}

static silt_status close_block(struct sl_dv_builder *builder, silt_error *err)
{
    if (builder->last < 0) {
        return SILT_OK;
    }
    struct block *block = sl_vec_push(&builder->blocks);
    if (block == NULL) {
        return sl_fail_nomem(err);
    }
    uint32_t runs = 0;
    count_rows(builder->words, &block->cardinality, &runs);
    block->key = (uint64_t)builder->last >> 16;
    const size_t plain = block->cardinality <= MAX_ARRAY ? block->cardinality * sizeof(uint16_t) : BITS_BYTES;
    const size_t before = builder->data.len;
    if (sizeof(uint16_t) + (size_t)runs * PAIR_BYTES < plain) {
        block->n_runs = runs;
        put_runs(&builder->data, builder->words, runs);
    } else if (block->cardinality <= MAX_ARRAY) {
        put_array(&builder->data, builder->words);
    } else {
        put_bits(&builder->data, builder->words);
    }
    block->size = builder->data.len - before;
    memset(builder->words, 0, sizeof(builder->words));
    return sl_buf_status(&builder->data, err);
}

/* ---- rows ---- */

silt_status sl_dv_builder_new(const silt_env *env, struct sl_dv_builder **out, silt_error *err)
{
    *out = sl_alloc_zero(env, sizeof(**out));
    if (*out == NULL) {
        return sl_fail_nomem(err);
    }
    (*out)->env = env;
    (*out)->last = -1;
    sl_vec_init(&(*out)->blocks, env, sizeof(struct block));
    sl_buf_init(&(*out)->data, env);
    (*out)->data.max = SL_DV_MAX_SIZE;
    return SILT_OK;
}

void sl_dv_builder_free(struct sl_dv_builder *builder)
{
    if (builder != NULL) {
        sl_vec_release(&builder->blocks);
        sl_buf_release(&builder->data);
        sl_release(builder->env, builder, sizeof(*builder));
    }
}

static void set_bits(uint64_t *words, size_t first, size_t n)
{
    for (size_t i = first; i < first + n;) {
        const size_t in_word = first + n - i < 64 - i % 64 ? first + n - i : 64 - i % 64;
        words[i / 64] |= (in_word == 64 ? UINT64_MAX : (UINT64_C(1) << in_word) - 1) << (i % 64);
        i += in_word;
    }
}

silt_status sl_dv_builder_add(struct sl_dv_builder *builder, int64_t first, int64_t n, silt_error *err)
{
    if (first < 0 || n < 0 || first > MAX_ROW || n > MAX_ROW - first) {
        return sl_fail(err, SILT_EINVALID, NULL, "rows from %" PRId64 " on cannot be in a deletion vector", first);
    }
    if (n > 0 && first < builder->last) {
        return sl_fail(err, SILT_EINVALID, NULL, "row %" PRId64 " comes after row %" PRId64, first, builder->last);
    }
    if (n > 0 && first == builder->last) {
        first++;
        n--;
    }
    while (n > 0) {
        if (builder->last >= 0 && first >> 16 != builder->last >> 16) {
            SL_TRY(close_block(builder, err));
        }
        const int64_t place = first % SL_DV_BLOCK_ROWS;
        const int64_t here = n < SL_DV_BLOCK_ROWS - place ? n : SL_DV_BLOCK_ROWS - place;
        set_bits(builder->words, (size_t)place, (size_t)here);
        builder->last = first + here - 1;
        builder->cardinality += here;
        first += here;
        n -= here;
    }
    return SILT_OK;
}

int64_t sl_dv_builder_cardinality(const struct sl_dv_builder *builder)
{
    return builder->cardinality;
}

/* ---- the payload ---- */

/* The bitmap of blocks [from, to), which share the upper half of their rows; their bytes begin at `data`. */
static void put_bitmap(struct sl_buf *out, const struct sl_vec *blocks, size_t from, size_t to, const char *data)
{
    const struct block *block = sl_vec_at(blocks, 0);
    const size_t n = to - from;
    bool runs = false;
    for (size_t i = from; i < to; i++) {
        runs = runs || block[i].n_runs > 0;
    }
    const size_t start = out->len;
    put_u32(out, runs ? COOKIE_RUNS | (uint32_t)(n - 1) << 16 : COOKIE_PLAIN);
    if (!runs) {
        put_u32(out, (uint32_t)n);
    }
    for (size_t i = 0; runs && i < n; i += 8) {
        unsigned flags = 0;
        for (size_t j = i; j < n && j < i + 8; j++) {
            flags |= block[from + j].n_runs > 0 ? 1U << (j - i) : 0U;
        }
        sl_buf_put_char(out, (char)flags);
    }
    size_t size = 0;
    for (size_t i = from; i < to; i++) {
        put_u16(out, (uint32_t)(block[i].key & UINT16_MAX));
        put_u16(out, block[i].cardinality - 1);
        size += block[i].size;
    }
    if (!runs || n >= OFFSETS_FROM) {
        size_t place = out->len - start + n * sizeof(uint32_t);
        for (size_t i = from; i < to; i++) {
            put_u32(out, (uint32_t)place);
            place += block[i].size;
        }
    }
    sl_buf_put(out, data, size);
}

silt_status sl_dv_serialize(struct sl_dv_builder *builder, struct sl_buf *out, silt_error *err)
{
    SL_TRY(close_block(builder, err));
    const size_t n = builder->blocks.len;
    const struct block *block = n > 0 ? sl_vec_at(&builder->blocks, 0) : NULL;
    uint32_t n_bitmaps = 0;
    for (size_t i = 0; i < n; i++) {
        n_bitmaps += i == 0 || block[i].key >> 16 != block[i - 1].key >> 16 ? 1U : 0U;
    }
    put_u32(out, SL_DV_MAGIC_PORTABLE);
    put_u32(out, n_bitmaps);
    put_u32(out, 0);
    const char *data = sl_buf_cstr(&builder->data);
    for (size_t from = 0, to = 0; from < n; from = to) {
        size_t size = 0;
        for (to = from; to < n && block[to].key >> 16 == block[from].key >> 16; to++) {
            size += block[to].size;
        }
        put_u32(out, (uint32_t)(block[from].key >> 16));
        put_bitmap(out, &builder->blocks, from, to, data);
        data += size;
    }
    builder->blocks.len = 0;
    sl_buf_clear(&builder->data);
    builder->last = -1;
    builder->cardinality = 0;
    return sl_buf_status(out, err);
}

silt_status sl_dv_put_frame(struct sl_buf *file, struct sl_str payload, int64_t *offset, silt_error *err)
{
    if (payload.len > SL_DV_MAX_SIZE || file->len > SL_DV_MAX_SIZE) {
        return sl_fail(err, SILT_ELIMIT, NULL, "a deletion vector or its file is larger than 2147483647 bytes");
    }
    if (file->len == 0) {
        sl_buf_put_char(file, FORMAT_VERSION);
    }
    *offset = (int64_t)file->len;
    put_u32_big(file, (uint32_t)payload.len);
    sl_buf_put_str(file, payload);
    put_u32_big(file, (uint32_t)crc32(0, (const uint8_t *)payload.ptr, (uInt)payload.len));
    return sl_buf_status(file, err);
}
