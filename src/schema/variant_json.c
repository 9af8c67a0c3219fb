/*
 * Variants as JSON, with the same forms of scalars as all of silt's JSON. Called by the program through silt_variant_to_json and by the
 * data plane. Pure; any thread.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/time.h"
#include "json/writer.h"
#include "schema/variant.h"
#include "schema/variant_walk.h"
#include "silt/variant.h"

#define US_PER_SECOND INT64_C(1000000)
#define NS_PER_SECOND INT64_C(1000000000)

static void put_quoted(struct sl_buf *out, struct sl_str text)
{
    sl_buf_put_char(out, '"');
    sl_json_escape(out, text);
    sl_buf_put_char(out, '"');
}

static void put_base64(struct sl_buf *out, struct sl_str bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    sl_buf_put_char(out, '"');
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
    sl_buf_put_char(out, '"');
}

static void put_uuid(struct sl_buf *out, struct sl_str bytes)
{
    sl_buf_put_char(out, '"');
    for (size_t i = 0; i < bytes.len; i++) {
        sl_buf_printf(out, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                      (unsigned)(unsigned char)bytes.ptr[i]);
    }
    sl_buf_put_char(out, '"');
}

static void put_floating(struct sl_buf *out, double value, bool is_float)
{
    const char *quote = isfinite(value) ? "" : "\"";
    sl_buf_put_c(out, quote);
    if (is_float) {
        sl_buf_put_f32(out, (float)value);
    } else {
        sl_buf_put_f64(out, value);
    }
    sl_buf_put_c(out, quote);
}

/* ".5" for 500000 of 1000000; nothing for 0. */
static void put_fraction(struct sl_buf *out, int64_t part, int64_t per_second)
{
    sl_buf_put_c(out, part > 0 ? "." : "");
    while (part > 0) {
        per_second /= 10;
        sl_buf_put_char(out, (char)('0' + part / per_second));
        part %= per_second;
    }
}

static void put_timestamp(struct sl_buf *out, int64_t value, int64_t per_second, bool has_zone)
{
    /* Whole seconds times a million fit: they came from a number of microseconds or less. */
    const int64_t seconds = sl_floor_div(value, per_second);
    sl_buf_put_char(out, '"');
    if (seconds <= INT64_MIN / US_PER_SECOND) {
        sl_timestamp_format(out, value, 'T', -1);
    } else {
        sl_timestamp_format(out, seconds * US_PER_SECOND, 'T', 0);
        put_fraction(out, sl_floor_mod(value, per_second), per_second);
    }
    sl_buf_put_c(out, has_zone ? "Z\"" : "\"");
}

static void put_time(struct sl_buf *out, int64_t us)
{
    const int64_t seconds = sl_floor_div(us, US_PER_SECOND);
    sl_buf_printf(out, "\"%02lld:%02lld:%02lld", (long long)(seconds / 3600), (long long)(seconds / 60 % 60),
                  (long long)(seconds % 60));
    put_fraction(out, sl_floor_mod(us, US_PER_SECOND), US_PER_SECOND);
    sl_buf_put_char(out, '"');
}

static void put_scalar(struct sl_buf *out, const struct sl_variant_value *value)
{
    switch (value->kind) {
    case SL_VARIANT_NULL: sl_buf_put_c(out, "null"); break;
    case SL_VARIANT_BOOL: sl_buf_put_c(out, value->i64 != 0 ? "true" : "false"); break;
    case SL_VARIANT_INT: sl_buf_put_i64(out, value->i64); break;
    case SL_VARIANT_FLOAT: put_floating(out, value->f64, true); break;
    case SL_VARIANT_DOUBLE: put_floating(out, value->f64, false); break;
    case SL_VARIANT_DECIMAL: sl_decimal_format(out, value->decimal, value->scale); break;
    case SL_VARIANT_DATE:
        sl_buf_put_char(out, '"');
        sl_date_format(out, value->i64);
        sl_buf_put_char(out, '"');
        break;
    case SL_VARIANT_TIME: put_time(out, value->i64); break;
    case SL_VARIANT_TIMESTAMP: put_timestamp(out, value->i64, US_PER_SECOND, true); break;
    case SL_VARIANT_TIMESTAMP_NTZ: put_timestamp(out, value->i64, US_PER_SECOND, false); break;
    case SL_VARIANT_TIMESTAMP_NS: put_timestamp(out, value->i64, NS_PER_SECOND, true); break;
    case SL_VARIANT_TIMESTAMP_NTZ_NS: put_timestamp(out, value->i64, NS_PER_SECOND, false); break;
    case SL_VARIANT_BINARY: put_base64(out, value->bytes); break;
    case SL_VARIANT_UUID: put_uuid(out, value->bytes); break;
    default: put_quoted(out, value->bytes);
    }
}

/* Recursion is bounded by SL_VARIANT_MAX_DEPTH. */
static silt_status put_value(struct sl_buf *out, struct sl_variant_walk *walk, struct sl_str bytes, unsigned depth,
                             silt_error *err)
{
    struct sl_variant_value value;
    SL_TRY(sl_variant_walk_read(walk, bytes, depth, &value, err));
    const bool is_object = value.kind == SL_VARIANT_OBJECT;
    if (!is_object && value.kind != SL_VARIANT_ARRAY) {
        put_scalar(out, &value);
        return SILT_OK;
    }
    sl_buf_put_char(out, is_object ? '{' : '[');
    for (uint32_t i = 0; i < value.n; i++) {
        struct sl_str item;
        struct sl_str name;
        SL_TRY(sl_variant_walk_item(walk, &value, i, &item, &name, err));
        sl_buf_put_c(out, i > 0 ? "," : "");
        if (is_object) {
            put_quoted(out, name);
            sl_buf_put_char(out, ':');
        }
        SL_TRY(put_value(out, walk, item, depth + 1, err));
    }
    sl_buf_put_char(out, is_object ? '}' : ']');
    return SILT_OK;
}

silt_status sl_variant_put_json(struct sl_buf *out, struct sl_str metadata, struct sl_str value, silt_error *err)
{
    struct sl_variant_walk walk;
    SL_TRY(sl_variant_walk_begin(&walk, metadata, value, err));
    SL_TRY(put_value(out, &walk, value, 1, err));
    return sl_buf_status(out, err);
}

silt_status silt_variant_to_json(const silt_variant *variant, char *buf, size_t buf_size, size_t *json_len,
                                 silt_error *err)
{
    if (json_len == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "json_len must not be NULL");
    }
    *json_len = 0;
    if (variant == NULL || (buf == NULL && buf_size > 0) || (variant->metadata == NULL && variant->metadata_len > 0) ||
        (variant->value == NULL && variant->value_len > 0)) {
        return sl_fail(err, SILT_EINVALID, NULL, "a variant needs bytes and a buffer");
    }
    struct sl_buf out;
    sl_buf_init(&out, silt_env_default());
    const silt_status status = sl_variant_put_json(&out, sl_str_make(variant->metadata, variant->metadata_len),
                                                   sl_str_make(variant->value, variant->value_len), err);
    if (status == SILT_OK) {
        *json_len = out.len;
        if (buf_size > 0) {
            const size_t n = out.len < buf_size ? out.len : buf_size;
            memcpy(buf, sl_buf_cstr(&out), n);
            if (n < buf_size) {
                buf[n] = '\0';
            }
        }
    }
    sl_buf_release(&out);
    return status;
}
