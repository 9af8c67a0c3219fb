/*
 * Asking a set of rows: marking those of a stretch, the next one, the next that is missing. Blocks were checked by dv_parse.c, so that
 * nothing here can fail. Called for every batch of rows of a file with a vector; a stretch costs by what it marks, and a byte a row
 * where a block is bits.
 */
#include <string.h>

#include "kernel/dv/dv.h"
#include "kernel/dv/dv_bytes.h"

enum {
    NONE = (int)SL_DV_BLOCK_ROWS /* no row of a block */
};

/* The first block whose key is at least `key`; n_blocks if there is none. */
static size_t find_block(const struct sl_dv_set *set, uint64_t key)
{
    size_t low = 0;
    size_t high = set->n_blocks;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (set->blocks[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* ---- places in a block ---- */

/* The first number that is at least `row`; block->n if there is none. */
static uint32_t find_number(const struct sl_dv_block *block, uint32_t row)
{
    uint32_t low = 0;
    uint32_t high = block->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (sl_dv_u16(block->data, middle) < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static uint32_t run_first(const struct sl_dv_block *block, uint32_t run)
{
    return sl_dv_u16(block->data, 2 * run);
}

static uint32_t run_last(const struct sl_dv_block *block, uint32_t run)
{
    return run_first(block, run) + sl_dv_u16(block->data, 2 * run + 1);
}

/* The first run that ends at `row` or later; block->n if there is none. */
static uint32_t find_run(const struct sl_dv_block *block, uint32_t row)
{
    uint32_t low = 0;
    uint32_t high = block->n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (run_last(block, middle) < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The first bit from `row` on that is set, or with `flip` all ones the first that is not; NONE if there is none. */
static uint32_t find_bit(const struct sl_dv_block *block, uint32_t row, uint64_t flip)
{
    size_t i = row / 64;
    uint64_t word = (sl_dv_word(block->data, i) ^ flip) & (UINT64_MAX << (row % 64));
    while (word == 0) {
        if (++i == SL_DV_BLOCK_WORDS) {
            return NONE;
        }
        word = sl_dv_word(block->data, i) ^ flip;
    }
    return (uint32_t)(i * 64) + (uint32_t)__builtin_ctzll(word);
}

/* ---- marking ---- */

static void mark_array(const struct sl_dv_block *block, uint32_t from, uint32_t to, uint8_t *at, uint8_t value)
{
    for (uint32_t i = find_number(block, from); i < block->n; i++) {
        const uint32_t row = sl_dv_u16(block->data, i);
        if (row > to) {
            return;
        }
        at[row - from] = value;
    }
}

static void mark_runs(const struct sl_dv_block *block, uint32_t from, uint32_t to, uint8_t *at, uint8_t value)
{
    for (uint32_t i = find_run(block, from); i < block->n && run_first(block, i) <= to; i++) {
        const uint32_t first = run_first(block, i) > from ? run_first(block, i) : from;
        const uint32_t last = run_last(block, i) < to ? run_last(block, i) : to;
        memset(at + (first - from), value, last - first + 1);
    }
}

static bool is_little_endian(void)
{
    const uint16_t one = 1;
    uint8_t first = 0;
    memcpy(&first, &one, 1);
    return first == 1;
}

/* Marks at[i] for each bit i of a byte, all eight at once: a byte each, by the bit's place in the product. */
static inline void mark_eight(uint64_t bits, uint8_t *at, uint8_t value)
{
    const uint64_t picked = (bits * UINT64_C(0x0101010101010101)) & UINT64_C(0x8040201008040201);
    const uint64_t ones = ((picked + UINT64_C(0x7F7F7F7F7F7F7F7F)) >> 7) & UINT64_C(0x0101010101010101);
    uint64_t old = 0;
    memcpy(&old, at, sizeof(old));
    old = value != 0 ? old | ones : old & ~ones;
    memcpy(at, &old, sizeof(old));
}

static void mark_single(uint64_t word, size_t n, uint8_t *at, uint8_t value)
{
    for (size_t i = 0; i < n; i++) {
        at[i] = (word >> i & 1) != 0 ? value : at[i];
    }
}

static void mark_word(uint64_t word, uint8_t *at, uint8_t value)
{
    if (word == 0) {
        return;
    }
    if (word == UINT64_MAX) {
        memset(at, value, 64);
    } else if (is_little_endian()) {
        for (size_t i = 0; i < 8; i++) {
            mark_eight(word >> (8 * i) & 0xFF, at + 8 * i, value);
        }
    } else {
        mark_single(word, 64, at, value);
    }
}

static void mark_bits(const struct sl_dv_block *block, uint32_t from, uint32_t to, uint8_t *at, uint8_t value)
{
    size_t i = from / 64;
    const size_t skip = from % 64;
    size_t left = to - from + 1;
    if (skip > 0 || left < 64) {
        const size_t n = left < 64 - skip ? left : 64 - skip;
        mark_single(sl_dv_word(block->data, i++) >> skip, n, at, value);
        at += n;
        left -= n;
    }
    for (; left >= 64; left -= 64, at += 64) {
        mark_word(sl_dv_word(block->data, i++), at, value);
    }
    if (left > 0) {
        mark_single(sl_dv_word(block->data, i), left, at, value);
    }
}

void sl_dv_set_mark(const struct sl_dv_set *set, int64_t first, size_t n, uint8_t *at, uint8_t value)
{
    if (n == 0 || first > set->last) {
        return;
    }
    /* Rows above the last one of the set do not matter, which also keeps the sum from overflowing. */
    const int64_t end = n - 1 > (uint64_t)(set->last - first) ? set->last : first + (int64_t)(n - 1);
    for (size_t i = find_block(set, (uint64_t)first >> 16); i < set->n_blocks; i++) {
        const struct sl_dv_block *block = &set->blocks[i];
        const int64_t base = (int64_t)(block->key << 16);
        if (base > end) {
            return;
        }
        const uint32_t from = first > base ? (uint32_t)(first - base) : 0;
        const uint32_t to = end - base < SL_DV_BLOCK_ROWS ? (uint32_t)(end - base) : (uint32_t)SL_DV_BLOCK_ROWS - 1;
        uint8_t *place = at + (base + from - first);
        switch (block->kind) {
        case SL_DV_ARRAY: mark_array(block, from, to, place, value); break;
        case SL_DV_BITS: mark_bits(block, from, to, place, value); break;
        default: mark_runs(block, from, to, place, value);
        }
    }
}

/* ---- the next row ---- */

/* The first row of a block from `row` on; NONE if there is none. */
static uint32_t next_in_block(const struct sl_dv_block *block, uint32_t row)
{
    uint32_t i = 0;
    switch (block->kind) {
    case SL_DV_ARRAY: i = find_number(block, row); return i < block->n ? sl_dv_u16(block->data, i) : (uint32_t)NONE;
    case SL_DV_BITS: return find_bit(block, row, 0);
    default:
        i = find_run(block, row);
        if (i == block->n) {
            return NONE;
        }
        return run_first(block, i) > row ? run_first(block, i) : row;
    }
}

/* The first row from `row` on that is not in the block; NONE if all are. */
static uint32_t gap_in_block(const struct sl_dv_block *block, uint32_t row)
{
    switch (block->kind) {
    case SL_DV_ARRAY:
        for (uint32_t i = find_number(block, row); i < block->n && sl_dv_u16(block->data, i) == row; i++) {
            row++;
        }
        return row;
    case SL_DV_BITS: return find_bit(block, row, UINT64_MAX);
    default:
        for (uint32_t i = find_run(block, row); i < block->n && run_first(block, i) <= row; i++) {
            row = run_last(block, i) + 1;
        }
        return row;
    }
}

int64_t sl_dv_set_next(const struct sl_dv_set *set, int64_t from)
{
    const uint64_t key = (uint64_t)from >> 16;
    for (size_t i = find_block(set, key); i < set->n_blocks; i++) {
        const struct sl_dv_block *block = &set->blocks[i];
        const uint32_t row = next_in_block(block, block->key == key ? (uint32_t)(from & UINT16_MAX) : 0);
        if (row < NONE) {
            return (int64_t)(block->key << 16) + row;
        }
    }
    return INT64_MAX;
}

int64_t sl_dv_set_gap(const struct sl_dv_set *set, int64_t from)
{
    for (size_t i = find_block(set, (uint64_t)from >> 16); i < set->n_blocks; i++) {
        const struct sl_dv_block *block = &set->blocks[i];
        const int64_t base = (int64_t)(block->key << 16);
        if (base > from) {
            return from;
        }
        const uint32_t row = gap_in_block(block, (uint32_t)(from - base));
        if (row < NONE) {
            return base + row;
        }
        from = base + SL_DV_BLOCK_ROWS;
    }
    return from;
}
