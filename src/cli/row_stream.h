/*
 * Small results made by the program itself: columns by name and Arrow format, rows cell by cell, then a stream to print.
 */
#ifndef SL_CLI_ROW_STREAM_H
#define SL_CLI_ROW_STREAM_H

#include "base/arrow.h"
#include "base/str.h"

struct sl_row_stream_column {
    const char *name;
    const char *format; /* "u", "l", "b" */
};

struct sl_row_stream {
    const silt_env *env;
    struct ArrowSchema schema;
    struct sl_arrow_builder *builder;
    size_t next; /* column of the next cell */
};

silt_status sl_row_stream_open(struct sl_row_stream *rows, const silt_env *env,
                               const struct sl_row_stream_column *columns, size_t n, silt_error *err);
void sl_row_stream_close(struct sl_row_stream *rows); /* safe on a zeroed one */
/* Cells from left to right; a row ends with its last cell. */
silt_status sl_row_stream_text(struct sl_row_stream *rows, struct sl_str text, silt_error *err); /* absent: null */
silt_status sl_row_stream_int(struct sl_row_stream *rows, int64_t value, silt_error *err);
/* Moves the rows out; more may follow, for a stream of their own. */
silt_status sl_row_stream_take(struct sl_row_stream *rows, struct ArrowArrayStream *out, silt_error *err);

#endif
