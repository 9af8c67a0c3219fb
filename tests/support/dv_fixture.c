/* Deletion vectors for tests; see dv_fixture.h. */
#include "dv_fixture.h"

#include <roaring/roaring.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/error.h"

static void put_number(struct sl_buf *out, uint64_t value, int n, bool big)
{
    for (int i = 0; i < n; i++) {
        sl_buf_put_char(out, (char)(value >> (8 * (big ? n - 1 - i : i))));
    }
}

/* The bitmap of the rows with this upper half; NULL if there are none. */
static roaring_bitmap_t *make_bitmap(const int64_t *rows, size_t n, uint32_t key, int runs)
{
    roaring_bitmap_t *bitmap = roaring_bitmap_create();
    for (size_t i = 0; i < n; i++) {
        if ((uint64_t)rows[i] >> 32 == key) {
            roaring_bitmap_add(bitmap, (uint32_t)rows[i]);
        }
    }
    if (runs != 0) {
        roaring_bitmap_run_optimize(bitmap);
    }
    return bitmap;
}

static uint32_t last_key(const int64_t *rows, size_t n)
{
    uint64_t last = 0;
    for (size_t i = 0; i < n; i++) {
        last = (uint64_t)rows[i] >> 32 > last ? (uint64_t)rows[i] >> 32 : last;
    }
    return (uint32_t)last;
}

static void put_bitmap(struct sl_buf *out, const roaring_bitmap_t *bitmap)
{
    const size_t size = roaring_bitmap_portable_size_in_bytes(bitmap);
    char *at = sl_buf_reserve(out, size);
    assert_non_null(at);
    assert_int_equal(roaring_bitmap_portable_serialize(bitmap, at), size);
    out->len += size;
}

void dv_payload(struct sl_buf *out, const int64_t *rows, size_t n, int runs)
{
    put_number(out, 1681511377, 4, false);
    const size_t count_at = out->len;
    uint64_t count = 0;
    put_number(out, 0, 8, false);
    for (uint32_t key = 0; n > 0 && key <= last_key(rows, n); key++) {
        roaring_bitmap_t *bitmap = make_bitmap(rows, n, key, runs);
        if (!roaring_bitmap_is_empty(bitmap)) {
            put_number(out, key, 4, false);
            put_bitmap(out, bitmap);
            count++;
        }
        roaring_bitmap_free(bitmap);
    }
    dv_set_u32(out, count_at, (unsigned)count);
}

static uint32_t get_u32(const struct sl_buf *payload, size_t at)
{
    const unsigned char *bytes = (const unsigned char *)payload->data + at;
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

size_t dv_payload_rows(const struct sl_buf *payload, int64_t *rows, size_t max)
{
    size_t n = 0;
    size_t at = 12;
    assert_int_equal(get_u32(payload, 0), 1681511377);
    for (uint32_t left = get_u32(payload, 4); left > 0; left--) {
        const int64_t base = (int64_t)get_u32(payload, at) << 32;
        roaring_bitmap_t *bitmap = roaring_bitmap_portable_deserialize_safe(payload->data + at + 4,
                                                                            payload->len - at - 4);
        assert_non_null(bitmap);
        roaring_uint32_iterator_t *i = roaring_create_iterator(bitmap);
        for (; i->has_value; roaring_advance_uint32_iterator(i)) {
            assert_true(n < max);
            rows[n++] = base + i->current_value;
        }
        roaring_free_uint32_iterator(i);
        at += 4 + roaring_bitmap_portable_size_in_bytes(bitmap);
        roaring_bitmap_free(bitmap);
    }
    assert_int_equal(at, payload->len);
    return n;
}

void dv_payload_native(struct sl_buf *out, const int64_t *rows, size_t n, int runs)
{
    put_number(out, 1681511376, 4, false);
    put_number(out, n > 0 ? last_key(rows, n) + 1 : 0, 4, false);
    for (uint32_t key = 0; n > 0 && key <= last_key(rows, n); key++) {
        roaring_bitmap_t *bitmap = make_bitmap(rows, n, key, runs);
        put_number(out, roaring_bitmap_portable_size_in_bytes(bitmap), 4, false);
        put_bitmap(out, bitmap);
        roaring_bitmap_free(bitmap);
    }
}

int64_t dv_frame(struct sl_buf *file, const struct sl_buf *payload)
{
    if (file->len == 0) {
        sl_buf_put_char(file, 1);
    }
    const int64_t offset = (int64_t)file->len;
    put_number(file, payload->len, 4, true);
    sl_buf_put(file, payload->data, payload->len);
    put_number(file, crc32(0, (const unsigned char *)payload->data, (unsigned)payload->len), 4, true);
    assert_int_equal(sl_buf_status(file, NULL), SILT_OK);
    return offset;
}

void dv_text(struct sl_buf *out, const struct sl_buf *payload)
{
    static const char digits[] =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
    for (size_t i = 0; i < payload->len; i += 4) {
        unsigned long number = 0;
        for (size_t j = i; j < i + 4; j++) {
            number = number * 256 + (j < payload->len ? (unsigned char)payload->data[j] : 0);
        }
        char text[5];
        for (size_t j = 5; j > 0; j--) {
            text[j - 1] = digits[number % 85];
            number /= 85;
        }
        sl_buf_put(out, text, sizeof(text));
    }
}

void dv_set_u16(struct sl_buf *payload, size_t at, unsigned value)
{
    payload->data[at] = (char)value;
    payload->data[at + 1] = (char)(value >> 8);
}

void dv_set_u32(struct sl_buf *payload, size_t at, unsigned value)
{
    dv_set_u16(payload, at, value & 0xFFFF);
    dv_set_u16(payload, at + 2, value >> 16);
}
