/*
 * Scalars of Arrow arrays as plain text. Between arrow_cell.c, which knows nesting, and the formats of numbers and times.
 */
#ifndef SL_CLI_CELL_SCALAR_H
#define SL_CLI_CELL_SCALAR_H

#include "base/buf.h"
#include "cli/cell_type.h"

/* How a scalar's text stands in JSON. */
enum sl_scalar_form {
    SL_SCALAR_BARE,  /* a number, true, false */
    SL_SCALAR_PLAIN, /* in quotes, nothing to escape */
    SL_SCALAR_TEXT   /* in quotes, to be escaped: not written, use sl_scalar_bytes */
};

/* at counts from the array's own offset already. For scalar kinds only; TEXT writes nothing. */
enum sl_scalar_form sl_scalar_put(struct sl_buf *out, const struct sl_cell_type *type, const struct ArrowArray *array,
                                  int64_t at);
/* Bytes of text and binary, borrowed. */
struct sl_str sl_scalar_bytes(const struct sl_cell_type *type, const struct ArrowArray *array, int64_t at);
/* An integer of any width; unsigned 64-bit ones wrap. */
int64_t sl_scalar_int(const struct sl_cell_type *type, const struct ArrowArray *array, int64_t at);

#endif
