/*
 * The payload of a deletion vector taken apart (PROTOCOL.md "Deletion Vector Format"; the format of 32-bit bitmaps is that of
 * RoaringFormatSpec). Nothing is unpacked: blocks of a set point into a copy of the payload, after every number of it was checked, so
 * that asking a set later needs no check at all.
 *
 * Two forms are known by their magic numbers: the portable one of the protocol, and an older one of Delta Spark's, which has the length
 * of each bitmap instead of its key. The protocol's own example of an inline vector is of the older form, with its numbers
 * big-endian up to the first bitmap. Called by dv_frame.c.
 */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/dv/dv.h"
#include "kernel/dv/dv_bytes.h"

enum {
    COOKIE_PLAIN = 12346,       /* no block has runs; the number of blocks follows */
    COOKIE_RUNS = 12347,        /* in the lower half; the number of blocks - 1 above it */
    OFFSETS_FROM = 4,           /* blocks from which a bitmap with runs lists their places */
    MAX_BLOCKS = 65536,         /* of one bitmap */
    MAX_ARRAY = 4096,           /* numbers in an array, more are bits */
    BITS_BYTES = 8192,          /* of a block of bits */
    PAIR_BYTES = 4,             /* a key and a cardinality, or a run */
    MAX_BITMAP_KEY = 0x7FFFFFFE /* so that rows are numbers of 63 bits */
};

/* What is left of a payload. */
struct bytes {
    const uint8_t *at;
    size_t left;
};

/* The header of one bitmap. */
struct header {
    const uint8_t *start;     /* of the bitmap */
    const uint8_t *run_flags; /* NULL: no block has runs */
    const uint8_t *pairs;
    const uint8_t *offsets; /* or NULL */
    size_t n;
};

/* The next n bytes, NULL if there are fewer. */
static const uint8_t *take(struct bytes *bytes, size_t n)
{
    if (n > bytes->left) {
        return NULL;
    }
    const uint8_t *at = bytes->at;
    bytes->at += n;
    bytes->left -= n;
    return at;
}

static bool take_u32_of(struct bytes *bytes, bool big, uint32_t *out)
{
    const uint8_t *at = take(bytes, sizeof(*out));
    *out = at == NULL ? 0 : big ? sl_dv_u32_big(at) : sl_dv_u32(at);
    return at != NULL;
}

static bool take_u32(struct bytes *bytes, uint32_t *out)
{
    return take_u32_of(bytes, false, out);
}

static silt_status ends_early(const char *what, silt_error *err)
{
    return sl_fail(err, SILT_ECORRUPT, NULL, "its bytes end within %s", what);
}

/* ---- one block ---- */

static silt_status check_array(struct sl_dv_block *block, silt_error *err)
{
    for (uint32_t i = 1; i < block->n; i++) {
        if (sl_dv_u16(block->data, i - 1) >= sl_dv_u16(block->data, i)) {
            return sl_fail(err, SILT_ECORRUPT, NULL, "the numbers of block %" PRIu64 " are not ascending", block->key);
        }
    }
    return SILT_OK;
}

static silt_status check_bits(struct sl_dv_block *block, silt_error *err)
{
    uint32_t count = 0;
    for (size_t i = 0; i < SL_DV_BLOCK_WORDS; i++) {
        count += (uint32_t)__builtin_popcountll(sl_dv_word(block->data, i));
    }
    if (count != block->cardinality) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "block %" PRIu64 " has %" PRIu32 " rows, its header says %" PRIu32,
                       block->key, count, block->cardinality);
    }
    return SILT_OK;
}

static silt_status check_runs(struct sl_dv_block *block, silt_error *err)
{
    uint32_t count = 0;
    uint32_t next = 0; /* least first number of the next run */
    for (uint32_t i = 0; i < block->n; i++) {
        const uint32_t first = sl_dv_u16(block->data, 2 * i);
        const uint32_t last = first + sl_dv_u16(block->data, 2 * i + 1);
        if (first < next || last > UINT16_MAX) {
            return sl_fail(err, SILT_ECORRUPT, NULL, "the runs of block %" PRIu64 " overlap or leave it", block->key);
        }
        count += last - first + 1;
        next = last + 1;
    }
    if (count != block->cardinality) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "block %" PRIu64 " has %" PRIu32 " rows, its header says %" PRIu32,
                       block->key, count, block->cardinality);
    }
    return SILT_OK;
}

static silt_status read_block(struct bytes *bytes, bool has_runs, struct sl_dv_block *block, silt_error *err)
{
    size_t size = 0;
    if (has_runs) {
        const uint8_t *count = take(bytes, sizeof(uint16_t));
        if (count == NULL) {
            return ends_early("a block", err);
        }
        block->kind = SL_DV_RUNS;
        block->n = sl_dv_u16(count, 0);
        size = (size_t)block->n * PAIR_BYTES;
    } else if (block->cardinality <= MAX_ARRAY) {
        block->kind = SL_DV_ARRAY;
        block->n = block->cardinality;
        size = (size_t)block->n * sizeof(uint16_t);
    } else {
        block->kind = SL_DV_BITS;
        size = BITS_BYTES;
    }
    block->data = take(bytes, size);
    if (block->data == NULL) {
        return ends_early("a block", err);
    }
    switch (block->kind) {
    case SL_DV_ARRAY: return check_array(block, err);
    case SL_DV_BITS: return check_bits(block, err);
    default: return check_runs(block, err);
    }
}

/* ---- one bitmap of 32 bits ---- */

static silt_status read_header(struct bytes *bytes, struct header *header, silt_error *err)
{
    uint32_t cookie = 0;
    uint32_t n = 0;
    header->start = bytes->at;
    if (!take_u32(bytes, &cookie)) {
        return ends_early("a bitmap's header", err);
    }
    const bool runs = (cookie & UINT16_MAX) == COOKIE_RUNS;
    if (runs) {
        n = (cookie >> 16) + 1;
    } else if (cookie != COOKIE_PLAIN) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "a bitmap begins with %" PRIu32 ", expected 12346 or 12347", cookie);
    } else if (!take_u32(bytes, &n)) {
        return ends_early("a bitmap's header", err);
    }
    if (n > MAX_BLOCKS) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "a bitmap has %" PRIu32 " blocks, more than there can be", n);
    }
    header->n = n;
    header->run_flags = runs ? take(bytes, (n + 7) / 8) : NULL;
    header->pairs = take(bytes, (size_t)n * PAIR_BYTES);
    const bool has_offsets = !runs || n >= OFFSETS_FROM;
    header->offsets = has_offsets ? take(bytes, (size_t)n * sizeof(uint32_t)) : NULL;
    if ((runs && header->run_flags == NULL) || header->pairs == NULL || (has_offsets && header->offsets == NULL)) {
        return ends_early("a bitmap's header", err);
    }
    return SILT_OK;
}

static silt_status add_block(struct sl_dv_set *set, const struct sl_dv_block *block, silt_error *err)
{
    if (set->n_blocks == set->cap) {
        const size_t cap = set->cap > 0 ? set->cap * 2 : 16;
        struct sl_dv_block *blocks = sl_resize(set->env, set->blocks, set->cap * sizeof(*blocks),
                                               cap * sizeof(*blocks));
        if (blocks == NULL) {
            return sl_fail_nomem(err);
        }
        set->blocks = blocks;
        set->cap = cap;
    }
    set->blocks[set->n_blocks++] = *block;
    set->cardinality += block->cardinality;
    return SILT_OK;
}

/* The bitmap of the rows whose upper half is `key`. */
static silt_status read_bitmap(struct bytes *bytes, uint32_t key, struct sl_dv_set *set, silt_error *err)
{
    struct header header = {0};
    SL_TRY(read_header(bytes, &header, err));
    for (size_t i = 0; i < header.n; i++) {
        const uint64_t low = sl_dv_u16(header.pairs, 2 * i);
        struct sl_dv_block block = {.key = (uint64_t)key << 16 | low,
                                    .cardinality = sl_dv_u16(header.pairs, 2 * i + 1) + 1U};
        if (i > 0 && sl_dv_u16(header.pairs, 2 * (i - 1)) >= low) {
            return sl_fail(err, SILT_ECORRUPT, NULL, "the keys of its blocks are not ascending");
        }
        if (header.offsets != NULL &&
            sl_dv_u32(header.offsets + i * sizeof(uint32_t)) != (uint64_t)(bytes->at - header.start)) {
            return sl_fail(err, SILT_ECORRUPT, NULL, "block %" PRIu64 " is not where the header says", block.key);
        }
        const bool runs = header.run_flags != NULL && (header.run_flags[i / 8] & 1U << (i % 8)) != 0;
        SL_TRY(read_block(bytes, runs, &block, err));
        SL_TRY(add_block(set, &block, err));
    }
    return SILT_OK;
}

/* ---- the two forms ---- */

static silt_status read_portable(struct bytes *bytes, struct sl_dv_set *set, silt_error *err)
{
    uint32_t n = 0;
    uint32_t upper = 0;
    if (!take_u32(bytes, &n) || !take_u32(bytes, &upper)) {
        return ends_early("the number of bitmaps", err);
    }
    if (upper != 0 || n > INT32_MAX) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "it claims more than 2147483647 bitmaps");
    }
    int64_t last = -1;
    for (uint32_t i = 0; i < n; i++) { /* each takes bytes, so their number bounds the loop */
        uint32_t key = 0;
        if (!take_u32(bytes, &key)) {
            return ends_early("a bitmap's key", err);
        }
        if (key > MAX_BITMAP_KEY || (int64_t)key <= last) {
            return sl_fail(err, SILT_ECORRUPT, NULL, "the keys of its bitmaps are not ascending from 0");
        }
        last = key;
        SL_TRY(read_bitmap(bytes, key, set, err));
    }
    return SILT_OK;
}

static silt_status read_native(struct bytes *bytes, bool big, struct sl_dv_set *set, silt_error *err)
{
    uint32_t n = 0;
    if (!take_u32_of(bytes, big, &n)) {
        return ends_early("the number of bitmaps", err);
    }
    for (uint32_t i = 0; i < n && i <= MAX_BITMAP_KEY; i++) {
        uint32_t size = 0;
        struct bytes bitmap = {0};
        if (take_u32_of(bytes, big, &size)) {
            bitmap = (struct bytes){take(bytes, size), size};
        }
        if (bitmap.at == NULL) {
            return ends_early("a bitmap", err);
        }
        SL_TRY(read_bitmap(&bitmap, i, set, err));
        if (bitmap.left > 0) {
            return sl_fail(err, SILT_ECORRUPT, NULL, "a bitmap is followed by %zu bytes that are not its own",
                           bitmap.left);
        }
    }
    return n <= INT32_MAX ? SILT_OK : sl_fail(err, SILT_ECORRUPT, NULL, "it claims more than 2147483647 bitmaps");
}

static int64_t last_row(const struct sl_dv_set *set)
{
    if (set->n_blocks == 0) {
        return -1;
    }
    const struct sl_dv_block *block = &set->blocks[set->n_blocks - 1];
    const int64_t base = (int64_t)(block->key << 16);
    if (block->kind == SL_DV_ARRAY) {
        return base + sl_dv_u16(block->data, block->n - 1);
    }
    if (block->kind == SL_DV_RUNS) {
        return base + sl_dv_u16(block->data, 2 * (block->n - 1)) + sl_dv_u16(block->data, 2 * (block->n - 1) + 1);
    }
    size_t word = SL_DV_BLOCK_WORDS - 1;
    while (sl_dv_word(block->data, word) == 0) { /* a block has rows */
        word--;
    }
    return base + (int64_t)word * 64 + 63 - __builtin_clzll(sl_dv_word(block->data, word));
}

void sl_dv_set_release(struct sl_dv_set *set)
{
    if (set->env != NULL) {
        sl_release(set->env, set->bytes, set->size);
        sl_release(set->env, set->blocks, set->cap * sizeof(*set->blocks));
    }
    *set = (struct sl_dv_set){.last = -1};
}

silt_status sl_dv_parse(const silt_env *env, struct sl_str payload, struct sl_dv_set *out, silt_error *err)
{
    *out = (struct sl_dv_set){.env = env, .last = -1};
    if (payload.len > SL_DV_MAX_SIZE) {
        return sl_fail(err, SILT_ELIMIT, NULL, "it has %zu bytes, more than 2147483647", payload.len);
    }
    out->bytes = sl_alloc(env, payload.len);
    if (out->bytes == NULL) {
        return sl_fail_nomem(err);
    }
    out->size = payload.len;
    if (payload.len > 0) {
        memcpy(out->bytes, payload.ptr, payload.len);
    }
    struct bytes bytes = {out->bytes, out->size};
    uint32_t magic = 0;
    silt_status status = SILT_OK;
    if (!take_u32(&bytes, &magic)) {
        status = ends_early("the magic number", err);
    } else if (magic == SL_DV_MAGIC_PORTABLE) {
        status = read_portable(&bytes, out, err);
    } else if (magic == SL_DV_MAGIC_NATIVE || magic == __builtin_bswap32(SL_DV_MAGIC_NATIVE)) {
        status = read_native(&bytes, magic != SL_DV_MAGIC_NATIVE, out, err);
    } else {
        status = sl_fail(err, SILT_ECORRUPT, NULL, "its magic number is %" PRIu32 ", expected 1681511377", magic);
    }
    if (status == SILT_OK && bytes.left > 0) {
        status = sl_fail(err, SILT_ECORRUPT, NULL, "%zu bytes follow its last bitmap", bytes.left);
    }
    out->last = status == SILT_OK ? last_row(out) : -1;
    if (status != SILT_OK) {
        sl_dv_set_release(out);
    }
    return status;
}
