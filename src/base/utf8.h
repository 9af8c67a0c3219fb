/*
 * UTF-8: validation and stepping. Bounds-checked; invalid bytes are reported, never skipped silently.
 */
#ifndef SL_BASE_UTF8_H
#define SL_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

bool sl_utf8_valid(struct sl_str s);
/* Decodes the code point at *pos and advances; false at the end or on an invalid sequence (pos stays). */
bool sl_utf8_next(struct sl_str s, size_t *pos, uint32_t *code_point);
/* Writes 1..4 bytes, returns their number; 0 for an invalid code point. */
size_t sl_utf8_encode(uint32_t code_point, char out[4]);
/* Byte length of the first n code points (or all). Invalid bytes count as one code point each. */
size_t sl_utf8_prefix(struct sl_str s, size_t n);

#endif
