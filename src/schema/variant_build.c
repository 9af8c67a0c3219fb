/*
 * Builds variants, see variant_build.h. Used where files hold a variant in typed columns of its own (shredding) and it is put together
 * again. Sizes of counts and offsets are the smallest that do.
 */
#include "schema/variant_build.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SHORT_TEXT 63

static void put_header(struct sl_buf *out, unsigned primitive)
{
    sl_buf_put_char(out, (char)(primitive << 2));
}

/* Little endian. */
static void put_number(struct sl_buf *out, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        sl_buf_put_char(out, (char)(value >> (8 * i) & 0xFF));
    }
}

void sl_variant_put_null(struct sl_buf *out)
{
    put_header(out, 0);
}

void sl_variant_put_bool(struct sl_buf *out, bool value)
{
    put_header(out, value ? 1 : 2);
}

void sl_variant_put_int(struct sl_buf *out, int64_t value, unsigned width)
{
    put_header(out, width == 1 ? 3 : width == 2 ? 4 : width == 4 ? 5 : 6);
    put_number(out, (uint64_t)value, width);
}

void sl_variant_put_float(struct sl_buf *out, float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof(bits));
    put_header(out, 14);
    put_number(out, bits, sizeof(bits));
}

void sl_variant_put_double(struct sl_buf *out, double value)
{
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof(bits));
    put_header(out, 7);
    put_number(out, bits, sizeof(bits));
}

void sl_variant_put_decimal(struct sl_buf *out, sl_i128 value, uint8_t scale, unsigned width)
{
    put_header(out, width == 4 ? 8 : width == 8 ? 9 : 10);
    sl_buf_put_char(out, (char)scale);
    put_number(out, (uint64_t)value, width < 8 ? width : 8);
    if (width == 16) {
        put_number(out, (uint64_t)(value >> 64), 8);
    }
}

void sl_variant_put_time(struct sl_buf *out, enum sl_variant_kind kind, int64_t value)
{
    switch (kind) {
    case SL_VARIANT_DATE: put_header(out, 11); break;
    case SL_VARIANT_TIMESTAMP: put_header(out, 12); break;
    case SL_VARIANT_TIMESTAMP_NTZ: put_header(out, 13); break;
    case SL_VARIANT_TIME: put_header(out, 17); break;
    case SL_VARIANT_TIMESTAMP_NS: put_header(out, 18); break;
    default: put_header(out, 19); break;
    }
    put_number(out, (uint64_t)value, kind == SL_VARIANT_DATE ? 4 : 8);
}

static void put_sized(struct sl_buf *out, unsigned primitive, struct sl_str bytes)
{
    if (bytes.len > UINT32_MAX) {
        out->status = SILT_ELIMIT;
        return;
    }
    put_header(out, primitive);
    put_number(out, bytes.len, 4);
    sl_buf_put_str(out, bytes);
}

void sl_variant_put_text(struct sl_buf *out, struct sl_str text)
{
    if (text.len <= MAX_SHORT_TEXT) {
        sl_buf_put_char(out, (char)(text.len << 2 | 1));
        sl_buf_put_str(out, text);
    } else {
        put_sized(out, 16, text);
    }
}

void sl_variant_put_binary(struct sl_buf *out, struct sl_str bytes)
{
    put_sized(out, 15, bytes);
}

void sl_variant_put_uuid(struct sl_buf *out, struct sl_str bytes)
{
    put_header(out, 20);
    sl_buf_put_str(out, bytes);
}

/* ---- containers ---- */

static size_t size_of(uint64_t value)
{
    return value <= 0xFF ? 1 : value <= 0xFFFF ? 2 : value <= 0xFFFFFF ? 3 : 4;
}

static void store(unsigned char **at, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        *(*at)++ = (unsigned char)(value >> (8 * i) & 0xFF);
    }
}

static void close(struct sl_buf *out, size_t begin, const struct sl_variant_member *members, size_t n, bool is_object)
{
    if (out->status != SILT_OK) {
        return;
    }
    const size_t items = out->len - begin;
    if (items > UINT32_MAX || n > UINT32_MAX) {
        out->status = SILT_ELIMIT;
        return;
    }
    uint32_t largest = 0;
    for (size_t i = 0; i < n; i++) {
        largest = members[i].id > largest ? members[i].id : largest;
    }
    const size_t count_size = n > 0xFF ? 4 : 1;
    const size_t offset_size = size_of(items);
    const size_t id_size = is_object ? size_of(largest) : 0;
    const size_t head = 1 + count_size + n * id_size + (n + 1) * offset_size;
    if (sl_buf_reserve(out, head) == NULL) {
        return;
    }
    unsigned char *at = (unsigned char *)out->data + begin;
    memmove(at + head, at, items);
    const unsigned large = count_size == 4 ? 1 : 0;
    const unsigned bits = is_object ? large << 4 | (unsigned)(id_size - 1) << 2 | (unsigned)(offset_size - 1)
                                    : large << 2 | (unsigned)(offset_size - 1);
    *at++ = (unsigned char)(bits << 2 | (is_object ? 2U : 3U));
    store(&at, n, count_size);
    for (size_t i = 0; i < n && is_object; i++) {
        store(&at, members[i].id, id_size);
    }
    for (size_t i = 0; i < n; i++) {
        store(&at, members[i].at - begin, offset_size);
    }
    store(&at, items, offset_size);
    out->len += head;
}

void sl_variant_close_array(struct sl_buf *out, size_t begin, const struct sl_variant_member *members, size_t n)
{
    close(out, begin, members, n, false);
}

static int by_name(const void *a, const void *b)
{
    return sl_str_compare(((const struct sl_variant_member *)a)->name, ((const struct sl_variant_member *)b)->name);
}

void sl_variant_close_object(struct sl_buf *out, size_t begin, struct sl_variant_member *members, size_t n)
{
    if (n > 1) {
        qsort(members, n, sizeof(*members), by_name);
    }
    close(out, begin, members, n, true);
}
