/*
 * Building the bytes of variants: scalars are appended to a buffer; the members of an object or array are appended one after another and
 * then closed by a header that is put before them. Failures stick to the buffer. Pure; one owner.
 */
#ifndef SL_SCHEMA_VARIANT_BUILD_H
#define SL_SCHEMA_VARIANT_BUILD_H

#include "schema/variant.h"

void sl_variant_put_null(struct sl_buf *out);
void sl_variant_put_bool(struct sl_buf *out, bool value);
void sl_variant_put_int(struct sl_buf *out, int64_t value, unsigned width); /* 1, 2, 4 or 8 bytes, which it fits */
void sl_variant_put_float(struct sl_buf *out, float value);
void sl_variant_put_double(struct sl_buf *out, double value);
void sl_variant_put_decimal(struct sl_buf *out, sl_i128 value, uint8_t scale, unsigned width); /* 4, 8 or 16 */
/* Dates, times and timestamps; other kinds are a caller's fault. */
void sl_variant_put_time(struct sl_buf *out, enum sl_variant_kind kind, int64_t value);
void sl_variant_put_text(struct sl_buf *out, struct sl_str text);
void sl_variant_put_binary(struct sl_buf *out, struct sl_str bytes);
void sl_variant_put_uuid(struct sl_buf *out, struct sl_str bytes); /* 16 bytes */

/* A member's place in the buffer; name and id only of an object's. */
struct sl_variant_member {
    struct sl_str name;
    uint32_t id;
    size_t at;
};
/* What was appended since `begin` becomes an array; members are in its order. */
void sl_variant_close_array(struct sl_buf *out, size_t begin, const struct sl_variant_member *members, size_t n);
/* … an object; members are sorted by name. */
void sl_variant_close_object(struct sl_buf *out, size_t begin, struct sl_variant_member *members, size_t n);

#endif
