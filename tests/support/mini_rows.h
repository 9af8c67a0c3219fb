/*
 * For tests of the mini engine: rows of a stream as text, and an Arrow stream from values.
 */
#ifndef SILT_TEST_MINI_ROWS_H
#define SILT_TEST_MINI_ROWS_H

#include "mini_engine.h"

/*
 * Consumes a stream into text: cells apart by ',', rows by ';', "null" for null, "{a,b}" for a struct, "<format>" for a list or map. Returns the
 * number of batches, or -1 with the stream's message in text.
 */
int mini_rows_text(struct ArrowArrayStream *rows, char *text, size_t text_size);

/* A stream of one batch; formats are Arrow's, cells row by row. Everything is copied. */
void mini_rows_stream(struct ArrowArrayStream *out, const char *const *names, const char *const *formats,
                      size_t n_columns, const silt_value *cells, size_t n_rows);

#endif
