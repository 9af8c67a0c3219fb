/*
 * Z85, the text of bytes that descriptors of deletion vectors use (ZeroMQ RFC 32): five characters for four bytes, big-endian. Pure.
 */
#ifndef SL_KERNEL_DV_Z85_H
#define SL_KERNEL_DV_Z85_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* Writes text.len / 5 * 4 bytes. False unless the text is a whole number of groups of legal characters, none above 2^32 − 1. */
bool sl_z85_decode(struct sl_str text, uint8_t *out);
/*
 * The same, for text whose last group may stand for fewer bytes, *n in all: so many '#' as there are bytes less than four, then the number
 * in the characters left. No number of four bytes begins like that; delta-kernel-rs writes it instead of filling up.
 */
bool sl_z85_decode_short(struct sl_str text, uint8_t *out, size_t *n);
/* Appends the text of bytes, which are filled up with zeroes to a multiple of four. */
void sl_z85_encode(struct sl_buf *out, const uint8_t *bytes, size_t n);

#endif
