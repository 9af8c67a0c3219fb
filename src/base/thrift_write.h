/*
 * Writing of Thrift's compact protocol, for footers and page headers of Parquet files. Goes to a buffer, whose status tells whether all of
 * it got there. Fields are written in ascending order of their ids. One owner.
 *
 *     struct sl_thrift_out out;
 *     sl_thrift_out_init(&out, buf);
 *     sl_thrift_put_i32(&out, 1, 7);
 *     sl_thrift_begin(&out, 2);           a struct as field 2
 *     …
 *     sl_thrift_end(&out);
 *     sl_thrift_end(&out);                the outermost struct
 */
#ifndef SL_BASE_THRIFT_WRITE_H
#define SL_BASE_THRIFT_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/thrift.h"

/* Structs in structs; what is deeper spoils the buffer's status. */
#define SL_THRIFT_OUT_DEPTH 12

struct sl_thrift_out {
    struct sl_buf *buf;
    int16_t last[SL_THRIFT_OUT_DEPTH]; /* the field that was written last, of each struct that is open */
    size_t depth;
};

void sl_thrift_out_init(struct sl_thrift_out *out, struct sl_buf *buf);
void sl_thrift_put_i32(struct sl_thrift_out *out, int16_t field, int32_t value);
void sl_thrift_put_i64(struct sl_thrift_out *out, int16_t field, int64_t value);
void sl_thrift_put_i8(struct sl_thrift_out *out, int16_t field, int8_t value);
void sl_thrift_put_bool(struct sl_thrift_out *out, int16_t field, bool value);
void sl_thrift_put_bytes(struct sl_thrift_out *out, int16_t field, struct sl_str value);
/* A list of n elements, which follow by the functions below. */
void sl_thrift_put_list(struct sl_thrift_out *out, int16_t field, enum sl_thrift_type type, size_t n);
void sl_thrift_item_i32(struct sl_thrift_out *out, int32_t value);
void sl_thrift_item_bytes(struct sl_thrift_out *out, struct sl_str value);
void sl_thrift_item_begin(struct sl_thrift_out *out); /* a struct, ended by sl_thrift_end */
/* A struct as a field; and its end, or that of the outermost one. */
void sl_thrift_begin(struct sl_thrift_out *out, int16_t field);
void sl_thrift_end(struct sl_thrift_out *out);
/* A number of 7 bits a byte, as lengths and levels in Parquet files are written too. */
void sl_varint_put(struct sl_buf *buf, uint64_t value);

#endif
