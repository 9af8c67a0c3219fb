/*
 * Rows as text: cells separated by '|', nulls as NULL, a line each. For streams, and for the statements of a session. Nothing here
 * ends a test, so that it also serves processes that a test forks.
 */
#ifndef SILT_ROWS_TEXT_H
#define SILT_ROWS_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "silt/silt.h"

/* Appends the rows of a stream, which is consumed. The status is that of its end. */
silt_status rows_drain(struct ArrowArrayStream *stream, struct sl_buf *out, silt_error *err);

/* Of the last statement that was run. */
struct rows_result {
    struct sl_buf *rows; /* the caller's */
    silt_result_kind kind;
    int64_t version; /* committed, -1 if none */
    bool skipped;
};

/* Runs the statements of a text up to the first failure. Parameters may be NULL. */
silt_status rows_run(silt_session *session, struct sl_str text, const struct ArrowSchema *params_schema,
                     const struct ArrowArray *params, struct rows_result *out, silt_error *err);

#endif
