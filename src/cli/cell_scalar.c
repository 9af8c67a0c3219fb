/*
 * Numbers, times and bytes of Arrow arrays as text; see cell_scalar.h. Buffers are read with memcpy: Arrow only recommends alignment.
 */
#include "cli/cell_scalar.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/decimal.h"
#include "base/str.h"
#include "base/time.h"

#define US_PER_SECOND INT64_C(1000000)
#define NS_PER_SECOND INT64_C(1000000000)
#define VIEW_BYTES 16
#define VIEW_INLINE 12
#define N_FIXED_VIEW_BUFFERS 2

static void read_at(const struct ArrowArray *array, int buffer, int64_t at, size_t width, void *out)
{
    memcpy(out, (const char *)array->buffers[buffer] + (size_t)at * width, width);
}

static int64_t read_int(const struct ArrowArray *array, int buffer, int64_t at, size_t width)
{
    int8_t i8 = 0;
    int16_t i16 = 0;
    int32_t i32 = 0;
    int64_t i64 = 0;
    switch (width) {
    case 1: read_at(array, buffer, at, width, &i8); return i8;
    case 2: read_at(array, buffer, at, width, &i16); return i16;
    case 4: read_at(array, buffer, at, width, &i32); return i32;
    default: read_at(array, buffer, at, sizeof(i64), &i64); return i64;
    }
}

int64_t sl_scalar_int(const struct sl_cell_type *type, const struct ArrowArray *array, int64_t at)
{
    const int64_t value = read_int(array, 1, at, type->width);
    if (type->kind != SL_CELL_UINT || type->width == 8) {
        return value;
    }
    return value & (int64_t)((UINT64_C(1) << (type->width * 8)) - 1);
}

static double half_to_double(uint16_t half)
{
    const int exponent = (half >> 10) & 0x1F;
    const double mantissa = (double)(half & 0x3FF);
    double value;
    if (exponent == 0x1F) {
        value = mantissa != 0 ? (double)NAN : (double)INFINITY;
    } else if (exponent == 0) {
        value = ldexp(mantissa, -24);
    } else {
        value = ldexp(mantissa + 1024, exponent - 25);
    }
    return (half & 0x8000) != 0 ? -value : value;
}

static enum sl_scalar_form put_floating(struct sl_buf *out, const struct sl_cell_type *type,
                                        const struct ArrowArray *array, int64_t at)
{
    double value = 0;
    if (type->kind == SL_CELL_FLOAT) {
        float narrow = 0;
        read_at(array, 1, at, sizeof(narrow), &narrow);
        sl_buf_put_f32(out, narrow);
        return isfinite(narrow) ? SL_SCALAR_BARE : SL_SCALAR_PLAIN;
    }
    if (type->kind == SL_CELL_HALF) {
        uint16_t half = 0;
        read_at(array, 1, at, sizeof(half), &half);
        value = half_to_double(half);
    } else {
        read_at(array, 1, at, sizeof(value), &value);
    }
    sl_buf_put_f64(out, value);
    return isfinite(value) ? SL_SCALAR_BARE : SL_SCALAR_PLAIN;
}

static void put_decimal(struct sl_buf *out, const struct sl_cell_type *type, const struct ArrowArray *array, int64_t at)
{
    sl_i128 value = 0;
    if (type->width == sizeof(value)) {
        read_at(array, 1, at, sizeof(value), &value);
    } else {
        value = read_int(array, 1, at, type->width);
    }
    sl_decimal_format(out, value, type->scale < 0 ? 0 : type->scale);
    for (int32_t i = type->scale; i < 0 && value != 0; i++) {
        sl_buf_put_char(out, '0');
    }
}

/* ".5" for 500000 of 1000000; nothing for 0. */
static void put_fraction(struct sl_buf *out, int64_t part, int64_t per_second)
{
    if (part == 0) {
        return;
    }
    sl_buf_put_char(out, '.');
    while (part > 0) {
        per_second /= 10;
        sl_buf_put_char(out, (char)('0' + part / per_second));
        part %= per_second;
    }
}

static void put_timestamp(struct sl_buf *out, const struct sl_cell_type *type, int64_t value)
{
    const int64_t seconds = sl_floor_div(value, type->per_second);
    int64_t us = 0;
    if (value == INT64_MAX || value == -INT64_MAX || !sl_mul_i64(seconds, US_PER_SECOND, &us)) {
        sl_buf_put_c(out, value > 0 ? "infinity" : "-infinity"); /* as DuckDB has them */
        return;
    }
    sl_timestamp_format(out, us, 'T', 0);
    put_fraction(out, sl_floor_mod(value, type->per_second), type->per_second);
    sl_buf_put_c(out, type->has_zone ? "Z" : "");
}

static void put_date(struct sl_buf *out, int64_t days)
{
    if (days == INT32_MAX || days == -INT32_MAX) {
        sl_buf_put_c(out, days > 0 ? "infinity" : "-infinity");
        return;
    }
    sl_date_format(out, days);
}

static void put_time(struct sl_buf *out, int64_t value, int64_t per_second)
{
    const int64_t seconds = sl_floor_div(value, per_second);
    sl_buf_printf(out, "%02lld:%02lld:%02lld", (long long)(seconds / 3600), (long long)(seconds / 60 % 60),
                  (long long)(seconds % 60));
    put_fraction(out, sl_floor_mod(value, per_second), per_second);
}

/* ISO 8601: P1Y2M3DT4H5M6.5S; the sign stands before each part. */
static void put_interval(struct sl_buf *out, int64_t months, int64_t days, int64_t units, int64_t per_second)
{
    const size_t begin = out->len;
    const int64_t seconds = units / per_second;
    const int64_t rest = units % per_second;
    const struct {
        int64_t value;
        char name;
    } parts[] = {{months / 12, 'Y'}, {months % 12, 'M'}, {days, 'D'}},
      times[] = {{seconds / 3600, 'H'}, {seconds / 60 % 60, 'M'}};

    sl_buf_put_char(out, 'P');
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (parts[i].value != 0) {
            sl_buf_printf(out, "%lld%c", (long long)parts[i].value, parts[i].name);
        }
    }
    if (units != 0 || out->len == begin + 1) {
        sl_buf_put_char(out, 'T');
        for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
            if (times[i].value != 0) {
                sl_buf_printf(out, "%lld%c", (long long)times[i].value, times[i].name);
            }
        }
        if (seconds % 60 != 0 || rest != 0 || units == 0) {
            const int64_t within = seconds % 60;
            sl_buf_printf(out, "%s%lld", units < 0 ? "-" : "", (long long)(within < 0 ? -within : within));
            put_fraction(out, rest < 0 ? -rest : rest, per_second);
            sl_buf_put_char(out, 'S');
        }
    }
}

static void put_interval_of(struct sl_buf *out, const struct sl_cell_type *type, const struct ArrowArray *array,
                            int64_t at)
{
    int32_t parts[2] = {0, 0};
    struct {
        int32_t months, days;
        int64_t ns;
    } all = {0, 0, 0};

    switch (type->kind) {
    case SL_CELL_INTERVAL_MONTHS: put_interval(out, read_int(array, 1, at, 4), 0, 0, 1); break;
    case SL_CELL_INTERVAL_DAY_TIME:
        read_at(array, 1, at, sizeof(parts), parts);
        put_interval(out, 0, parts[0], parts[1], 1000);
        break;
    case SL_CELL_INTERVAL_MONTH_DAY_NANO:
        read_at(array, 1, at, sizeof(all), &all);
        put_interval(out, all.months, all.days, all.ns, NS_PER_SECOND);
        break;
    default: put_interval(out, 0, 0, read_int(array, 1, at, 8), type->per_second); break;
    }
}

static void put_base64(struct sl_buf *out, struct sl_str bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes.len; i += 3) {
        const size_t n = bytes.len - i < 3 ? bytes.len - i : 3;
        uint32_t group = 0;
        for (size_t j = 0; j < 3; j++) {
            group = group << 8 | (j < n ? (uint32_t)(unsigned char)bytes.ptr[i + j] : 0U);
        }
        for (size_t j = 0; j < 4; j++) {
            sl_buf_put_char(out, j <= n ? digits[group >> (18 - 6 * j) & 0x3F] : '=');
        }
    }
}

static void put_uuid(struct sl_buf *out, struct sl_str bytes)
{
    for (size_t i = 0; i < bytes.len; i++) {
        sl_buf_printf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                      (unsigned)(unsigned char)bytes.ptr[i]);
    }
}

/* A view holds up to 12 bytes itself, else the number of a buffer and a place in it. */
static struct sl_str view_bytes(const struct ArrowArray *array, int64_t at)
{
    const char *view = (const char *)array->buffers[1] + (size_t)at * VIEW_BYTES;
    int32_t len = 0;
    int32_t place[2] = {0, 0};
    memcpy(&len, view, sizeof(len));
    if (len <= VIEW_INLINE) {
        return sl_str_make(view + 4, (size_t)len);
    }
    memcpy(place, view + 8, sizeof(place));
    return sl_str_make((const char *)array->buffers[N_FIXED_VIEW_BUFFERS + place[0]] + place[1], (size_t)len);
}

struct sl_str sl_scalar_bytes(const struct sl_cell_type *type, const struct ArrowArray *array, int64_t at)
{
    if (type->kind == SL_CELL_VIEW) {
        return view_bytes(array, at);
    }
    if (type->kind == SL_CELL_FIXED_BYTES) {
        const size_t size = (size_t)type->list_size;
        return sl_str_make((const char *)array->buffers[1] + (size_t)at * size, size);
    }
    const int64_t begin = read_int(array, 1, at, type->width);
    const int64_t end = read_int(array, 1, at + 1, type->width);
    return end > begin ? sl_str_make((const char *)array->buffers[2] + begin, (size_t)(end - begin)) : SL_STR("");
}

static enum sl_scalar_form put_bytes(struct sl_buf *out, const struct sl_cell_type *type,
                                     const struct ArrowArray *array, int64_t at)
{
    if (type->kind == SL_CELL_FIXED_BYTES && type->is_text) {
        put_uuid(out, sl_scalar_bytes(type, array, at));
        return SL_SCALAR_PLAIN;
    }
    if (type->is_text) {
        return SL_SCALAR_TEXT;
    }
    put_base64(out, sl_scalar_bytes(type, array, at));
    return SL_SCALAR_PLAIN;
}

enum sl_scalar_form sl_scalar_put(struct sl_buf *out, const struct sl_cell_type *type, const struct ArrowArray *array,
                                  int64_t at)
{
    switch (type->kind) {
    case SL_CELL_BOOL:
        sl_buf_put_c(out, (((const uint8_t *)array->buffers[1])[at / 8] >> (at % 8) & 1) != 0 ? "true" : "false");
        return SL_SCALAR_BARE;
    case SL_CELL_INT: sl_buf_put_i64(out, sl_scalar_int(type, array, at)); return SL_SCALAR_BARE;
    case SL_CELL_UINT: sl_buf_put_u64(out, (uint64_t)sl_scalar_int(type, array, at)); return SL_SCALAR_BARE;
    case SL_CELL_HALF:
    case SL_CELL_FLOAT:
    case SL_CELL_DOUBLE: return put_floating(out, type, array, at);
    case SL_CELL_DECIMAL: put_decimal(out, type, array, at); return SL_SCALAR_BARE;
    case SL_CELL_DATE32: put_date(out, read_int(array, 1, at, 4)); return SL_SCALAR_PLAIN;
    case SL_CELL_DATE64:
        put_date(out, sl_floor_div(read_int(array, 1, at, 8), SL_US_PER_DAY / 1000));
        return SL_SCALAR_PLAIN;
    case SL_CELL_TIME: put_time(out, read_int(array, 1, at, type->width), type->per_second); return SL_SCALAR_PLAIN;
    case SL_CELL_TIMESTAMP: put_timestamp(out, type, read_int(array, 1, at, 8)); return SL_SCALAR_PLAIN;
    case SL_CELL_DURATION:
    case SL_CELL_INTERVAL_MONTHS:
    case SL_CELL_INTERVAL_DAY_TIME:
    case SL_CELL_INTERVAL_MONTH_DAY_NANO: put_interval_of(out, type, array, at); return SL_SCALAR_PLAIN;
    default: return put_bytes(out, type, array, at);
    }
}
