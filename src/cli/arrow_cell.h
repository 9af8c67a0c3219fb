/*
 * One cell of an Arrow array as text, for CSV and tables, or as JSON.
 *
 * JSON: integers and decimals are numbers with all their digits, NaN and infinities text, binary base64, dates and times ISO 8601
 * text (Z on timestamps with a zone), structs objects, maps objects when their keys are text, else lists of {key, value},
 * variants the JSON that they are.
 * Text is the same without quotes; what is nested is JSON.
 */
#ifndef SL_CLI_ARROW_CELL_H
#define SL_CLI_ARROW_CELL_H

#include "base/buf.h"
#include "cli/cell_type.h"

/* row counts from 0 before the array's own offset. Failures stick to the buffer. */
void sl_cell_put_json(struct sl_buf *out, const struct sl_cell_type *type, const struct ArrowArray *array, int64_t row);
/* False, and nothing written, for a null. */
bool sl_cell_put_text(struct sl_buf *out, const struct sl_cell_type *type, const struct ArrowArray *array, int64_t row);

#endif
