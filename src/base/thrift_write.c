/*
 * Thrift's compact protocol, written; see thrift_write.h.
 */
#include "base/thrift_write.h"

#define LONGEST_DELTA 15
#define LONGEST_SHORT_LIST 14

void sl_varint_put(struct sl_buf *buf, uint64_t value)
{
    while (value >= 0x80) {
        sl_buf_put_char(buf, (char)(unsigned char)(value | 0x80U));
        value >>= 7;
    }
    sl_buf_put_char(buf, (char)(unsigned char)value);
}

static uint64_t zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

static void put_field(struct sl_thrift_out *out, int16_t field, enum sl_thrift_type type)
{
    int16_t *last = &out->last[out->depth];
    const int delta = field - *last;
    if (delta > 0 && delta <= LONGEST_DELTA) {
        sl_buf_put_char(out->buf, (char)(unsigned char)((unsigned)delta << 4 | (unsigned)type));
    } else {
        sl_buf_put_char(out->buf, (char)type);
        sl_varint_put(out->buf, zigzag(field));
    }
    *last = field;
}

static void open_struct(struct sl_thrift_out *out)
{
    if (out->depth + 1 >= SL_THRIFT_OUT_DEPTH) {
        out->buf->status = SILT_ELIMIT;
        return;
    }
    out->last[++out->depth] = 0;
}

void sl_thrift_out_init(struct sl_thrift_out *out, struct sl_buf *buf)
{
    *out = (struct sl_thrift_out){.buf = buf};
}

void sl_thrift_put_i32(struct sl_thrift_out *out, int16_t field, int32_t value)
{
    put_field(out, field, SL_THRIFT_I32);
    sl_varint_put(out->buf, zigzag(value));
}

void sl_thrift_put_i64(struct sl_thrift_out *out, int16_t field, int64_t value)
{
    put_field(out, field, SL_THRIFT_I64);
    sl_varint_put(out->buf, zigzag(value));
}

void sl_thrift_put_i8(struct sl_thrift_out *out, int16_t field, int8_t value)
{
    put_field(out, field, SL_THRIFT_BYTE);
    sl_buf_put_char(out->buf, (char)value);
}

void sl_thrift_put_bool(struct sl_thrift_out *out, int16_t field, bool value)
{
    put_field(out, field, value ? SL_THRIFT_TRUE : SL_THRIFT_FALSE);
}

void sl_thrift_put_bytes(struct sl_thrift_out *out, int16_t field, struct sl_str value)
{
    put_field(out, field, SL_THRIFT_BINARY);
    sl_thrift_item_bytes(out, value);
}

void sl_thrift_put_list(struct sl_thrift_out *out, int16_t field, enum sl_thrift_type type, size_t n)
{
    put_field(out, field, SL_THRIFT_LIST);
    if (n <= LONGEST_SHORT_LIST) {
        sl_buf_put_char(out->buf, (char)(unsigned char)(n << 4 | (size_t)type));
    } else {
        sl_buf_put_char(out->buf, (char)(unsigned char)(0xF0U | (unsigned)type));
        sl_varint_put(out->buf, n);
    }
}

void sl_thrift_item_i32(struct sl_thrift_out *out, int32_t value)
{
    sl_varint_put(out->buf, zigzag(value));
}

void sl_thrift_item_bytes(struct sl_thrift_out *out, struct sl_str value)
{
    sl_varint_put(out->buf, value.len);
    sl_buf_put(out->buf, value.ptr, value.len);
}

void sl_thrift_item_begin(struct sl_thrift_out *out)
{
    open_struct(out);
}

void sl_thrift_begin(struct sl_thrift_out *out, int16_t field)
{
    put_field(out, field, SL_THRIFT_STRUCT);
    open_struct(out);
}

void sl_thrift_end(struct sl_thrift_out *out)
{
    sl_buf_put_char(out->buf, SL_THRIFT_STOP);
    out->depth -= out->depth > 0 ? 1U : 0U;
}
