/*
 * The hash of bytes that come in pieces: the same as sl_hash_bytes of all of them. Holds no memory; one owner; stays where it is.
 */
#ifndef SL_BASE_HASHER_H
#define SL_BASE_HASHER_H

#include <stddef.h>
#include <stdint.h>

struct sl_hasher {
    unsigned char space[640]; /* XXH3's state lies in it at a multiple of 64: who holds it need not be aligned */
};

void sl_hasher_begin(struct sl_hasher *hasher);
void sl_hasher_add(struct sl_hasher *hasher, const void *bytes, size_t n);
uint64_t sl_hasher_end(struct sl_hasher *hasher); /* so far; more may be added */

#endif
