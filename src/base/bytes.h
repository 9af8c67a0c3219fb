/*
 * Many bytes at once: what a reader of JSON asks of them, 64 at a time, as bits (bit i for byte i). With SSE2 where the compiler
 * has it, else eight bytes to a word of 64 bits; both forms are always there for the tests. Pure.
 */
#ifndef SL_BASE_BYTES_H
#define SL_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define SL_BYTES_BLOCK 64

/* Of one block: where its quotes and backslashes are, and what else is not plain (control characters, not ASCII). */
struct sl_byte_masks {
    uint64_t quote;
    uint64_t backslash;
    uint64_t other;
};

/* Index of the lowest bit; not for 0. */
static inline unsigned sl_lowest_bit(uint64_t bits)
{
    return (unsigned)__builtin_ctzll(bits);
}

/* ---- portable ---- */

#define SL_BYTES_EACH UINT64_C(0x0101010101010101)
#define SL_BYTES_HIGH UINT64_C(0x8080808080808080)

/* Eight bytes, the first one lowest, whatever the machine's order. */
static inline uint64_t sl_word_load(const char *at)
{
    uint64_t word = 0;
    memcpy(&word, at, sizeof(word));
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The high bit of every byte that is 0: exact, no byte borrows from its neighbour. */
static inline uint64_t sl_word_zeros(uint64_t word)
{
    return ~(((word & ~SL_BYTES_HIGH) + ~SL_BYTES_HIGH) | word) & SL_BYTES_HIGH;
}

static inline uint64_t sl_word_equal(uint64_t word, unsigned char byte)
{
    return sl_word_zeros(word ^ (SL_BYTES_EACH * byte));
}

/* The high bit of every byte that is below 0x20 or above 0x7F. */
static inline uint64_t sl_word_other(uint64_t word)
{
    return (~((word & ~SL_BYTES_HIGH) + SL_BYTES_EACH * 0x60) | word) & SL_BYTES_HIGH;
}

/* The eight high bits as the low eight. */
static inline uint64_t sl_word_bits(uint64_t highs)
{
    return ((highs >> 7) * UINT64_C(0x0102040810204080)) >> 56;
}

static inline struct sl_byte_masks sl_byte_masks_portable(const char *at)
{
    struct sl_byte_masks masks = {0};
    for (unsigned i = 0; i < SL_BYTES_BLOCK; i += 8) {
        const uint64_t word = sl_word_load(at + i);
        masks.quote |= sl_word_bits(sl_word_equal(word, '"')) << i;
        masks.backslash |= sl_word_bits(sl_word_equal(word, '\\')) << i;
        masks.other |= sl_word_bits(sl_word_other(word)) << i;
    }
    return masks;
}

/* Number of plain bytes before the first that is not; at most 8. */
static inline unsigned sl_plain_run8(const char *at)
{
    const uint64_t word = sl_word_load(at);
    const uint64_t special = sl_word_equal(word, '"') | sl_word_equal(word, '\\') | sl_word_other(word);
    return special != 0 ? sl_lowest_bit(special) / 8 : 8;
}

/* ---- of this machine ---- */

#if defined(__SSE2__)

static inline struct sl_byte_masks sl_byte_masks(const char *at)
{
    struct sl_byte_masks masks = {0};
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    const __m128i space = _mm_set1_epi8(' ');
    for (unsigned i = 0; i < SL_BYTES_BLOCK; i += 16) {
        const __m128i block = _mm_loadu_si128((const __m128i *)(const void *)(at + i));
        masks.quote |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(block, quote)) << i;
        masks.backslash |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(block, backslash)) << i;
        /* As signed numbers, bytes above 0x7F are below a space too. */
        masks.other |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmplt_epi8(block, space)) << i;
    }
    return masks;
}

/* Number of plain bytes (ASCII without control characters, quotes, backslashes) before the first that is not. */
static inline size_t sl_plain_run(const char *at, size_t n)
{
    size_t i = 0;
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    const __m128i space = _mm_set1_epi8(' ');
    for (; n - i >= 16; i += 16) {
        const __m128i block = _mm_loadu_si128((const __m128i *)(const void *)(at + i));
        const __m128i special = _mm_or_si128(
            _mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, backslash)), _mm_cmplt_epi8(block, space));
        const unsigned bits = (unsigned)_mm_movemask_epi8(special);
        if (bits != 0) {
            return i + sl_lowest_bit(bits);
        }
    }
    for (; i < n; i++) {
        const unsigned char c = (unsigned char)at[i];
        if (c == '"' || c == '\\' || c < 0x20 || c > 0x7F) {
            break;
        }
    }
    return i;
}

#else

static inline struct sl_byte_masks sl_byte_masks(const char *at)
{
    return sl_byte_masks_portable(at);
}

/* Number of plain bytes (ASCII without control characters, quotes, backslashes) before the first that is not. */
static inline size_t sl_plain_run(const char *at, size_t n)
{
    size_t i = 0;
    for (; n - i >= 8; i += 8) {
        const unsigned run = sl_plain_run8(at + i);
        if (run < 8) {
            return i + run;
        }
    }
    for (; i < n; i++) {
        const unsigned char c = (unsigned char)at[i];
        if (c == '"' || c == '\\' || c < 0x20 || c > 0x7F) {
            break;
        }
    }
    return i;
}

#endif

#endif
