/* See base/thrift.h. Pure. */
#include "base/thrift.h"

#define MAX_DEPTH 32

void sl_thrift_init(struct sl_thrift *in, const void *bytes, size_t n)
{
    *in = (struct sl_thrift){.at = bytes, .end = bytes};
    if (n > 0) {
        in->end += n;
    }
}

static void fail(struct sl_thrift *in)
{
    in->bad = true;
    in->at = in->end;
}

static size_t left(const struct sl_thrift *in)
{
    return (size_t)(in->end - in->at);
}

static uint8_t read_byte(struct sl_thrift *in)
{
    if (in->at == in->end) {
        fail(in);
        return 0;
    }
    return *in->at++;
}

static uint64_t read_varint(struct sl_thrift *in)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t byte = read_byte(in);
        value |= (uint64_t)(byte & 0x7FU) << shift;
        if ((byte & 0x80U) == 0) {
            return value;
        }
    }
    fail(in);
    return 0;
}

static void skip_bytes(struct sl_thrift *in, uint64_t n)
{
    if (n > left(in)) {
        fail(in);
        return;
    }
    in->at += n;
}

int64_t sl_thrift_int(struct sl_thrift *in)
{
    const uint64_t value = read_varint(in);
    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

struct sl_str sl_thrift_bytes(struct sl_thrift *in)
{
    const uint64_t n = read_varint(in);
    const char *begin = (const char *)in->at;
    skip_bytes(in, n);
    return in->bad ? sl_str_make("", 0) : sl_str_make(begin, (size_t)n);
}

bool sl_thrift_next(struct sl_thrift *in, struct sl_thrift_field *field)
{
    const uint8_t head = read_byte(in);
    field->type = head & 0x0FU;
    if (in->bad || field->type == SL_THRIFT_STOP) {
        return false;
    }
    const int64_t id = head >> 4 != 0 ? field->id + (head >> 4) : sl_thrift_int(in);
    if (in->bad || id < 0 || id > INT16_MAX) {
        fail(in);
        return false;
    }
    field->id = (int32_t)id;
    return true;
}

size_t sl_thrift_list(struct sl_thrift *in, uint8_t *element_type)
{
    const uint8_t head = read_byte(in);
    *element_type = head & 0x0FU;
    const uint64_t n = head >> 4 == 15 ? read_varint(in) : (uint64_t)(head >> 4);
    if (n > left(in)) {
        fail(in);
        return 0;
    }
    return in->bad ? 0 : (size_t)n;
}

static void skip(struct sl_thrift *in, uint8_t type, unsigned depth);

static void skip_list(struct sl_thrift *in, unsigned depth)
{
    uint8_t type = 0;
    const size_t n = sl_thrift_list(in, &type);
    for (size_t i = 0; i < n && !in->bad; i++) {
        /* In a list a boolean is a byte; in a struct it is all in the field's type. */
        skip(in, type == SL_THRIFT_TRUE || type == SL_THRIFT_FALSE ? SL_THRIFT_BYTE : type, depth);
    }
}

static void skip_map(struct sl_thrift *in, unsigned depth)
{
    const uint64_t n = read_varint(in);
    if (n == 0) {
        return;
    }
    const uint8_t types = read_byte(in);
    if (n > left(in)) {
        fail(in);
    }
    for (uint64_t i = 0; i < n && !in->bad; i++) {
        skip(in, types >> 4, depth);
        skip(in, types & 0x0FU, depth);
    }
}

/* Recursion is bounded by MAX_DEPTH. */
static void skip(struct sl_thrift *in, uint8_t type, unsigned depth)
{
    struct sl_thrift_field field = {0};
    if (depth > MAX_DEPTH) {
        fail(in);
        return;
    }
    switch (type) {
    case SL_THRIFT_TRUE:
    case SL_THRIFT_FALSE: return;
    case SL_THRIFT_BYTE: skip_bytes(in, 1); return;
    case SL_THRIFT_I16:
    case SL_THRIFT_I32:
    case SL_THRIFT_I64: (void)read_varint(in); return;
    case SL_THRIFT_DOUBLE: skip_bytes(in, 8); return;
    case SL_THRIFT_BINARY: (void)sl_thrift_bytes(in); return;
    case SL_THRIFT_LIST:
    case SL_THRIFT_SET: skip_list(in, depth + 1); return;
    case SL_THRIFT_MAP: skip_map(in, depth + 1); return;
    case SL_THRIFT_STRUCT:
        while (sl_thrift_next(in, &field)) {
            skip(in, field.type, depth + 1);
        }
        return;
    default: fail(in);
    }
}

void sl_thrift_skip(struct sl_thrift *in, uint8_t type)
{
    skip(in, type, 0);
}
