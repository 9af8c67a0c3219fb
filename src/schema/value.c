/*
 * Making scalars, taking them apart, and the text of floating-point numbers as Java writes it.
 *
 * Called by everything that holds values. Pure; any thread.
 */
#include "schema/value.h"

#include <math.h>

silt_value sl_value_null(silt_type_kind kind)
{
    return (silt_value){.kind = kind, .is_null = true};
}

silt_value sl_value_i64(silt_type_kind kind, int64_t v)
{
    return (silt_value){.kind = kind, .as.i64 = v};
}

silt_value sl_value_f64(silt_type_kind kind, double v)
{
    return (silt_value){.kind = kind, .as.f64 = v};
}

silt_value sl_value_bool(bool v)
{
    return (silt_value){.kind = SILT_TYPE_BOOLEAN, .as.boolean = v};
}

silt_value sl_value_bytes(silt_type_kind kind, struct sl_str v)
{
    silt_value value = {.kind = kind};
    value.as.bytes.ptr = v.ptr != NULL ? v.ptr : "";
    value.as.bytes.len = v.len;
    return value;
}

silt_value sl_value_decimal(sl_i128 v, uint8_t precision, uint8_t scale)
{
    silt_value value = {.kind = SILT_TYPE_DECIMAL, .precision = precision, .scale = scale};
    value.as.decimal.lo = (uint64_t)v;
    value.as.decimal.hi = (int64_t)(v >> 64);
    return value;
}

bool sl_value_decimal_parse(struct sl_str text, const struct silt_type *type, silt_value *out)
{
    sl_i128 unscaled = 0;
    sl_i128 v = 0;
    int scale = 0;
    if (!sl_decimal_parse(text, &unscaled, &scale) || !sl_decimal_rescale(unscaled, scale, type->scale, &v) ||
        sl_i128_digits(v) > type->precision) {
        return false;
    }
    *out = sl_value_decimal(v, type->precision, type->scale);
    return true;
}

sl_i128 sl_value_get_i128(const silt_value *v)
{
    return sl_i128_make(v->as.decimal.hi, v->as.decimal.lo);
}

struct sl_str sl_value_get_str(const silt_value *v)
{
    return sl_str_make(v->as.bytes.ptr, v->as.bytes.len);
}

bool sl_value_copy(struct sl_arena *arena, const silt_value *v, silt_value *out)
{
    *out = *v;
    if (v->is_null || (v->kind != SILT_TYPE_STRING && v->kind != SILT_TYPE_BINARY)) {
        return true;
    }
    const struct sl_str bytes = sl_value_get_str(v);
    const struct sl_str copy = sl_arena_copy(arena, bytes.ptr != NULL ? bytes : SL_STR(""));
    out->as.bytes.ptr = copy.ptr;
    return copy.ptr != NULL;
}

bool sl_int_fits(silt_type_kind kind, int64_t v)
{
    switch (kind) {
    case SILT_TYPE_BYTE: return v >= INT8_MIN && v <= INT8_MAX;
    case SILT_TYPE_SHORT: return v >= INT16_MIN && v <= INT16_MAX;
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_DATE: return v >= INT32_MIN && v <= INT32_MAX;
    case SILT_TYPE_LONG: return true;
    default: return false;
    }
}

/* The significant digits of the shortest text, without leading and trailing zeros, and the power of ten before them. */
struct digits {
    char text[32];
    int count;
    int exponent; /* value = 0.DIGITS * 10^exponent */
};

static void collect_digits(struct sl_str shortest, struct digits *d)
{
    int point = -1;
    int seen = 0;
    int exponent = 0;
    d->count = 0;
    for (size_t i = 0; i < shortest.len; i++) {
        const char c = shortest.ptr[i];
        if (c == 'e' || c == 'E') {
            int64_t written = 0;
            if (sl_str_to_i64(sl_str_sub(shortest, i + 1, shortest.len), &written)) {
                exponent = (int)written;
            }
            break;
        }
        if (c == '.') {
            point = seen;
        } else if (c >= '0' && c <= '9') {
            if (d->count > 0 || c != '0') {
                if (d->count < (int)sizeof d->text) {
                    d->text[d->count++] = c;
                }
            } else {
                exponent--; /* a leading zero moves the first digit */
            }
            seen++;
        }
    }
    d->exponent = exponent + (point >= 0 ? point : seen);
    while (d->count > 0 && d->text[d->count - 1] == '0') {
        d->count--;
    }
}

/* "1234.5", with a zero on either side of the point where there is no digit. */
static void print_plain(struct sl_buf *out, const struct digits *d)
{
    if (d->exponent <= 0) {
        sl_buf_put_c(out, "0.");
        for (int i = d->exponent; i < 0; i++) {
            sl_buf_put_char(out, '0');
        }
        sl_buf_put(out, d->text, (size_t)d->count);
        return;
    }
    for (int i = 0; i < d->exponent; i++) {
        sl_buf_put_char(out, i < d->count ? d->text[i] : '0');
    }
    sl_buf_put_char(out, '.');
    if (d->count > d->exponent) {
        sl_buf_put(out, d->text + d->exponent, (size_t)(d->count - d->exponent));
    } else {
        sl_buf_put_char(out, '0');
    }
}

void sl_float_print_java(struct sl_buf *out, double value, bool is_float)
{
    if (isnan(value)) {
        sl_buf_put_c(out, "NaN");
        return;
    }
    if (signbit(value)) {
        sl_buf_put_char(out, '-');
    }
    const double magnitude = fabs(value);
    if (isinf(magnitude)) {
        sl_buf_put_c(out, "Infinity");
        return;
    }
    if (!(magnitude > 0)) {
        sl_buf_put_c(out, "0.0");
        return;
    }
    struct sl_buf shortest;
    sl_buf_init(&shortest, out->env);
    if (is_float) {
        sl_buf_put_f32(&shortest, (float)magnitude);
    } else {
        sl_buf_put_f64(&shortest, magnitude);
    }
    struct digits d = {.count = 0};
    collect_digits(sl_buf_view(&shortest), &d);
    if (shortest.status != SILT_OK && out->status == SILT_OK) {
        out->status = shortest.status;
    }
    sl_buf_release(&shortest);
    if (d.count == 0) {
        return; /* only out of memory: the magnitude is not zero */
    }
    /* Java writes an exponent outside [10^-3, 10^7). */
    if (d.exponent > -3 && d.exponent <= 7) {
        print_plain(out, &d);
        return;
    }
    sl_buf_put_char(out, d.text[0]);
    sl_buf_put_char(out, '.');
    if (d.count > 1) {
        sl_buf_put(out, d.text + 1, (size_t)(d.count - 1));
    } else {
        sl_buf_put_char(out, '0');
    }
    sl_buf_put_char(out, 'E');
    sl_buf_put_i64(out, d.exponent - 1);
}

bool sl_float_parse_java(struct sl_str text, bool is_float, double *out)
{
    struct sl_str rest = text;
    bool negative = false;
    if (rest.len > 0 && (rest.ptr[0] == '-' || rest.ptr[0] == '+')) {
        negative = rest.ptr[0] == '-';
        rest = sl_str_sub(rest, 1, rest.len);
    }
    if (sl_str_eq_nocase(rest, SL_STR("infinity")) || sl_str_eq_nocase(rest, SL_STR("inf"))) {
        *out = negative ? -INFINITY : INFINITY;
        return true;
    }
    if (sl_str_eq_nocase(rest, SL_STR("nan")) && rest.len == text.len) {
        *out = NAN;
        return true;
    }
    if (!is_float) {
        return sl_str_to_f64(text, out);
    }
    float narrow = 0;
    if (!sl_str_to_f32(text, &narrow)) {
        return false;
    }
    *out = (double)narrow;
    return true;
}
