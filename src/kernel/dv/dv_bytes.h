/*
 * Numbers in the bytes of a deletion vector, private to this folder. Little-endian except for the frame. The caller has checked bounds.
 */
#ifndef SL_KERNEL_DV_BYTES_H
#define SL_KERNEL_DV_BYTES_H

#include <stddef.h>
#include <stdint.h>

#define SL_DV_MAGIC_PORTABLE UINT32_C(1681511377)
#define SL_DV_MAGIC_NATIVE UINT32_C(1681511376)

/* 64-bit words of a block of 65,536 bits. */
#define SL_DV_BLOCK_WORDS ((size_t)1024)
#define SL_DV_BLOCK_ROWS ((int64_t)65536)

/* Number i of an array of 16-bit ones. */
static inline uint16_t sl_dv_u16(const uint8_t *at, size_t i)
{
    return (uint16_t)(at[2 * i] | at[2 * i + 1] << 8);
}

static inline uint32_t sl_dv_u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Word i of bits. */
static inline uint64_t sl_dv_word(const uint8_t *at, size_t i)
{
    return (uint64_t)sl_dv_u32(at + 8 * i) | (uint64_t)sl_dv_u32(at + 8 * i + 4) << 32;
}

static inline uint32_t sl_dv_u32_big(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | (uint32_t)at[3];
}

#endif
