/*
 * Tables with variants, and columns of variants as text: each row's first column as JSON, "NULL" where there is none.
 */
#ifndef SILT_VARIANT_ROWS_H
#define SILT_VARIANT_ROWS_H

#include "base/buf.h"
#include "hand_table.h"
#include "parquet_fixture.h"

/* Consumes the stream. Fails the test unless the first column has variants' extension type. A line a row. */
void variant_rows(struct ArrowArrayStream *stream, struct sl_buf *out);

/* The table "t" of these fields, with one file. */
void variant_table(struct session_fixture *s, const char *fields, const struct pq_column *columns, size_t n,
                   int64_t n_rows);
/* The rows of a query by variant_rows. */
void variant_query(struct session_fixture *s, const char *sql, const char *expected);

#endif
