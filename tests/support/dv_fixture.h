/*
 * Deletion vectors for tests: payloads of rows, vector files, descriptors. Everything must succeed. Bitmaps are made by CRoaring, so that
 * what reads them is not judged by its own writer.
 */
#ifndef SILT_DV_FIXTURE_H
#define SILT_DV_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Appends a payload of rows in any order. runs: let the bitmaps have runs where they are smaller. */
void dv_payload(struct sl_buf *out, const int64_t *rows, size_t n, int runs);
/* The rows of a payload, ascending; how many. Fails the test for what CRoaring does not read, or more than max. */
size_t dv_payload_rows(const struct sl_buf *payload, int64_t *rows, size_t max);
/* As dv_payload, in the old form without keys. */
void dv_payload_native(struct sl_buf *out, const int64_t *rows, size_t n, int runs);
/* Appends payload with its frame to a vector file; returns its offset. */
int64_t dv_frame(struct sl_buf *file, const struct sl_buf *payload);
/* The text of a payload for a descriptor of type i, NUL-terminated. */
void dv_text(struct sl_buf *out, const struct sl_buf *payload);
/* Replaces numbers in a payload. */
void dv_set_u16(struct sl_buf *payload, size_t at, unsigned value);
void dv_set_u32(struct sl_buf *payload, size_t at, unsigned value);

#endif
