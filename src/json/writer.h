/*
 * Writing JSON onto a buffer. Commas are placed by the writer; nesting is the caller's to balance.
 * Failures stick to the buffer. One owner.
 */
#ifndef SL_JSON_WRITER_H
#define SL_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct sl_json_writer {
    struct sl_buf *out;
    bool need_comma;
};

void sl_json_writer_init(struct sl_json_writer *w, struct sl_buf *out);
void sl_json_begin_object(struct sl_json_writer *w);
void sl_json_end_object(struct sl_json_writer *w);
void sl_json_begin_array(struct sl_json_writer *w);
void sl_json_end_array(struct sl_json_writer *w);
void sl_json_key(struct sl_json_writer *w, struct sl_str key);
void sl_json_key_c(struct sl_json_writer *w, const char *key);
void sl_json_put_str(struct sl_json_writer *w, struct sl_str text); /* absent view → null; invalid UTF-8 → U+FFFD */
void sl_json_put_c(struct sl_json_writer *w, const char *text);     /* NULL → null */
void sl_json_put_i64(struct sl_json_writer *w, int64_t value);
void sl_json_put_f64(struct sl_json_writer *w, double value); /* finite only; else null */
void sl_json_put_bool(struct sl_json_writer *w, bool value);
void sl_json_put_null(struct sl_json_writer *w);
void sl_json_put_raw(struct sl_json_writer *w, struct sl_str json); /* JSON text that is valid already */

/* Escapes only, no quotes. */
void sl_json_escape(struct sl_buf *out, struct sl_str text);

#endif
