/* CRC-32C in software, four bits at a time: fast enough beside a network, and without a large table. */
#include "storage/remote/crc32c.h"

/* The remainders of all half bytes for the reversed polynomial 0x82F63B78. */
static const uint32_t steps[16] = {
    0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1, 0x417B1DBC, 0x5125DAD3, 0x61C69362, 0x7198540D,
    0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9, 0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75,
};

uint32_t sl_crc32c(uint32_t before, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    uint32_t crc = ~before;
    for (size_t i = 0; i < n; i++) {
        crc ^= at[i];
        crc = (crc >> 4) ^ steps[crc & 15];
        crc = (crc >> 4) ^ steps[crc & 15];
    }
    return ~crc;
}

void sl_crc32c_text(uint32_t crc, char out[SL_CRC32C_TEXT_SIZE])
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    /* Four bytes are five digits of six bits and one of two, then padding. */
    for (unsigned i = 0; i < 5; i++) {
        out[i] = digits[crc >> (26 - 6 * i) & 63];
    }
    out[5] = digits[(crc & 3) << 4];
    out[6] = '=';
    out[7] = '=';
    out[8] = '\0';
}
