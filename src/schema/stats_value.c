/*
 * Bounds in the statistics of a file, to and from JSON (PROTOCOL.md "Per-file Statistics").
 *
 * Called by writers of add actions and by data skipping. What cannot be written exactly is not written, what cannot be
 * understood is no bound; neither is ever an error. Pure; any thread.
 *
 * Timestamps are truncated down to milliseconds, minimum and maximum alike, as the protocol says; whoever reads widens a
 * maximum by a millisecond. Bounds of booleans and binaries are not written: Delta Spark has none.
 */
#include <math.h>

#include "base/alloc.h"
#include "base/time.h"
#include "base/utf8.h"
#include "json/json.h"
#include "json/writer.h"
#include "schema/value.h"

#define EXACT_IN_DOUBLE (INT64_C(1) << 53)

/* Puts what print makes, raw or in quotes; false when it could not be made. */
static bool put_printed(struct sl_json_writer *w, const silt_value *v)
{
    const bool is_time = v->kind == SILT_TYPE_TIMESTAMP || v->kind == SILT_TYPE_TIMESTAMP_NTZ;
    int64_t us = 0;
    if (is_time && !sl_mul_i64(sl_floor_div(v->as.i64, 1000), 1000, &us)) {
        return false; /* the very first times have no millisecond before them */
    }
    struct sl_buf text;
    sl_buf_init(&text, w->out->env);
    switch (v->kind) {
    case SILT_TYPE_DECIMAL: sl_decimal_format(&text, sl_value_get_i128(v), v->scale); break;
    case SILT_TYPE_FLOAT: sl_buf_put_f32(&text, (float)v->as.f64); break;
    case SILT_TYPE_DATE: sl_date_format(&text, v->as.i64); break;
    case SILT_TYPE_TIMESTAMP:
        sl_timestamp_format(&text, us, 'T', 3);
        sl_buf_put_char(&text, 'Z');
        break;
    default: sl_timestamp_format(&text, us, 'T', 3);
    }
    const bool ok = text.status == SILT_OK;
    if (ok && (v->kind == SILT_TYPE_DECIMAL || v->kind == SILT_TYPE_FLOAT)) {
        sl_json_put_raw(w, sl_buf_view(&text));
    } else if (ok) {
        sl_json_put_str(w, sl_buf_view(&text));
    }
    sl_buf_release(&text);
    return ok;
}

bool sl_stats_value_write(struct sl_json_writer *w, const silt_value *v)
{
    if (v->is_null) {
        return false;
    }
    switch (v->kind) {
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_LONG: sl_json_put_i64(w, v->as.i64); return true;
    case SILT_TYPE_DOUBLE:
        if (!isfinite(v->as.f64)) {
            return false;
        }
        sl_json_put_f64(w, v->as.f64);
        return true;
    case SILT_TYPE_FLOAT: return isfinite(v->as.f64) && put_printed(w, v);
    case SILT_TYPE_STRING:
        if (!sl_utf8_valid(sl_value_get_str(v))) {
            return false; /* a replacement character would move the bound */
        }
        sl_json_put_str(w, sl_value_get_str(v));
        return true;
    case SILT_TYPE_DECIMAL:
    case SILT_TYPE_DATE:
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: return put_printed(w, v);
    default: return false;
    }
}

/* Infinities come as text, since JSON has no number for them. NaN bounds nothing: writers disagree on its order. */
static bool read_float(struct sl_str text, bool is_string, silt_type_kind kind, silt_value *out)
{
    double v = 0;
    if (!sl_float_parse_java(text, kind == SILT_TYPE_FLOAT, &v) || isnan(v) || (!is_string && isinf(v))) {
        return false;
    }
    *out = sl_value_f64(kind, v);
    return true;
}

/*
 * Integers, also written as 5.0 or 5e3. Such a form comes from a writer that went through doubles: beyond their exact integers it need
 * not be the value that was there.
 */
static bool read_integer(struct sl_str text, silt_type_kind kind, silt_value *out)
{
    int64_t v = 0;
    if (!sl_str_to_i64(text, &v)) {
        sl_i128 unscaled = 0;
        int scale = 0;
        if (!sl_decimal_parse(text, &unscaled, &scale) || !sl_decimal_rescale(unscaled, scale, 0, &unscaled) ||
            unscaled > EXACT_IN_DOUBLE || unscaled < -EXACT_IN_DOUBLE) {
            return false;
        }
        v = (int64_t)unscaled;
    }
    *out = sl_value_i64(kind, v);
    return sl_int_fits(kind, v);
}

static bool read_time(struct sl_str text, silt_type_kind kind, silt_value *out)
{
    int64_t us = 0;
    bool has_zone = false;
    int32_t days = 0;
    if (kind == SILT_TYPE_DATE) {
        *out = sl_value_i64(kind, 0);
        if (!sl_date_parse(text, &days)) {
            return false;
        }
        out->as.i64 = days;
        return true;
    }
    if (!sl_timestamp_parse(text, &us, &has_zone)) {
        return false;
    }
    /* The zone that zone-less text of an instant was written in is not known, so that it bounds nothing. */
    if (has_zone ? kind == SILT_TYPE_TIMESTAMP_NTZ && !sl_str_ends_with(text, SL_STR("Z"))
                 : kind == SILT_TYPE_TIMESTAMP) {
        return false;
    }
    *out = sl_value_i64(kind, us);
    return true;
}

static bool read_bool(struct sl_str text, bool is_string, silt_value *out)
{
    *out = sl_value_bool(sl_str_eq_c(text, "true"));
    return !is_string && (out->as.boolean || sl_str_eq_c(text, "false"));
}

bool sl_stats_text_read(struct sl_str text, bool is_string, const struct silt_type *type, silt_value *out)
{
    *out = sl_value_null(type->kind);
    switch (type->kind) {
    case SILT_TYPE_BOOLEAN: return read_bool(text, is_string, out);
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_LONG: return !is_string && read_integer(text, type->kind, out);
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE: return read_float(text, is_string, type->kind, out);
    case SILT_TYPE_DECIMAL: return sl_value_decimal_parse(text, type, out);
    case SILT_TYPE_STRING: *out = sl_value_bytes(type->kind, text); return is_string;
    case SILT_TYPE_DATE:
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: return is_string && read_time(text, type->kind, out);
    default: return false;
    }
}

bool sl_stats_value_read(struct sl_arena *arena, const struct yyjson_val *json, const struct silt_type *type,
                         silt_value *out)
{
    struct sl_str text = {0};
    bool flag = false;
    *out = sl_value_null(type->kind);
    const bool is_string = sl_json_to_str(json, &text);
    if (!is_string && sl_json_to_bool(json, &flag)) {
        text = flag ? SL_STR("true") : SL_STR("false");
    } else if (!is_string && !sl_json_to_number_text(json, &text)) {
        return false;
    }
    return sl_stats_text_read(text, is_string, type, out) && sl_value_copy(arena, out, out);
}
