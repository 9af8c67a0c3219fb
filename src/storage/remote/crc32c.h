/*
 * CRC-32C (Castagnoli), the checksum that Google Cloud Storage keeps of every object. Pure; any thread.
 */
#ifndef SL_REMOTE_CRC32C_H
#define SL_REMOTE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Goes on from the checksum of what came before; 0 at the beginning. */
uint32_t sl_crc32c(uint32_t before, const void *bytes, size_t n);

#define SL_CRC32C_TEXT_SIZE 9
/* Base64 of its bytes, most significant first, and a NUL: as the service writes it. */
void sl_crc32c_text(uint32_t crc, char out[SL_CRC32C_TEXT_SIZE]);

#endif
