/*
 * Arrow format strings, as the Arrow C Data interface defines them, and what they are in Delta.
 *
 * Called by the import of schemas and by the reader of single cells. Strings come from other libraries and are not trusted.
 * Pure; any thread.
 */
#include "schema/arrow_format.h"

#include <stddef.h>
#include <string.h>

#include "base/decimal.h"
#include "base/str.h"

#define MAX_FIXED_WIDTH (1 << 30)

static const struct {
    const char *format;
    enum sl_arrow_layout layout;
    silt_type_kind kind;
} plain_formats[] = {{"n", SL_ARROW_NULL, SILT_TYPE_VOID},          {"b", SL_ARROW_BOOL, SILT_TYPE_BOOLEAN},
                     {"c", SL_ARROW_INT8, SILT_TYPE_BYTE},          {"C", SL_ARROW_UINT8, SILT_TYPE_SHORT},
                     {"s", SL_ARROW_INT16, SILT_TYPE_SHORT},        {"S", SL_ARROW_UINT16, SILT_TYPE_INTEGER},
                     {"i", SL_ARROW_INT32, SILT_TYPE_INTEGER},      {"I", SL_ARROW_UINT32, SILT_TYPE_LONG},
                     {"l", SL_ARROW_INT64, SILT_TYPE_LONG},         {"L", SL_ARROW_UINT64, SILT_TYPE_DECIMAL},
                     {"e", SL_ARROW_FLOAT16, SILT_TYPE_FLOAT},      {"f", SL_ARROW_FLOAT32, SILT_TYPE_FLOAT},
                     {"g", SL_ARROW_FLOAT64, SILT_TYPE_DOUBLE},     {"u", SL_ARROW_BYTES, SILT_TYPE_STRING},
                     {"U", SL_ARROW_LARGE_BYTES, SILT_TYPE_STRING}, {"vu", SL_ARROW_VIEW, SILT_TYPE_STRING},
                     {"z", SL_ARROW_BYTES, SILT_TYPE_BINARY},       {"Z", SL_ARROW_LARGE_BYTES, SILT_TYPE_BINARY},
                     {"vz", SL_ARROW_VIEW, SILT_TYPE_BINARY},       {"tdD", SL_ARROW_DATE32, SILT_TYPE_DATE},
                     {"tdm", SL_ARROW_DATE64, SILT_TYPE_DATE},      {"+s", SL_ARROW_STRUCT, SILT_TYPE_STRUCT},
                     {"+l", SL_ARROW_LIST, SILT_TYPE_ARRAY},        {"+L", SL_ARROW_LIST, SILT_TYPE_ARRAY},
                     {"+vl", SL_ARROW_LIST, SILT_TYPE_ARRAY},       {"+vL", SL_ARROW_LIST, SILT_TYPE_ARRAY},
                     {"+m", SL_ARROW_MAP, SILT_TYPE_MAP},           {"+r", SL_ARROW_RUN_END, SILT_TYPE_VOID}};

/* d:precision,scale or d:precision,scale,bits */
static bool parse_decimal(struct sl_str text, struct sl_arrow_format *out)
{
    uint64_t parts[3] = {0, 0, 128};
    size_t n = 0;
    while (n < 3) {
        const size_t comma = sl_str_find(text, SL_STR(","));
        const struct sl_str part = sl_str_sub(text, 0, comma == SIZE_MAX ? text.len : comma);
        if (!sl_str_to_u64(part, &parts[n])) {
            return false;
        }
        n++;
        if (comma == SIZE_MAX) {
            break;
        }
        text = sl_str_sub(text, comma + 1, text.len);
    }
    const bool bits_ok = parts[2] == 32 || parts[2] == 64 || parts[2] == 128 || parts[2] == 256;
    if (n < 2 || !bits_ok || parts[0] < 1 || parts[0] > SL_DECIMAL_MAX_PRECISION || parts[1] > parts[0]) {
        return false;
    }
    out->layout = SL_ARROW_DECIMAL;
    out->kind = SILT_TYPE_DECIMAL;
    out->precision = (uint8_t)parts[0];
    out->scale = (uint8_t)parts[1];
    out->width = (int32_t)(parts[2] / 8);
    return true;
}

static bool parse_width(struct sl_str text, int32_t *out)
{
    uint64_t width = 0;
    if (!sl_str_to_u64(text, &width) || width > MAX_FIXED_WIDTH) {
        return false;
    }
    *out = (int32_t)width;
    return true;
}

/* ts{s,m,u,n}:zone; the name of the zone does not matter, the values are in UTC if there is one. */
static bool parse_timestamp(struct sl_str text, struct sl_arrow_format *out)
{
    static const struct {
        char unit;
        int64_t per_second;
    } units[] = {{'s', 1}, {'m', 1000}, {'u', 1000000}, {'n', 1000000000}};
    if (text.len < 4 || text.ptr[3] != ':') {
        return false;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (text.ptr[2] == units[i].unit) {
            out->layout = SL_ARROW_TIMESTAMP;
            out->kind = text.len > 4 ? SILT_TYPE_TIMESTAMP : SILT_TYPE_TIMESTAMP_NTZ;
            out->units_per_second = units[i].per_second;
            return true;
        }
    }
    return false;
}

bool sl_arrow_format_parse(const char *format, struct sl_arrow_format *out)
{
    memset(out, 0, sizeof *out);
    if (format == NULL) {
        return false;
    }
    const struct sl_str text = sl_str_from(format);
    for (size_t i = 0; i < sizeof plain_formats / sizeof plain_formats[0]; i++) {
        if (sl_str_eq_c(text, plain_formats[i].format)) {
            out->layout = plain_formats[i].layout;
            out->kind = plain_formats[i].kind;
            out->precision = out->kind == SILT_TYPE_DECIMAL ? 20 : 0; /* of uint64, as Spark maps it */
            return true;
        }
    }
    if (sl_str_starts_with(text, SL_STR("d:"))) {
        return parse_decimal(sl_str_sub(text, 2, text.len), out);
    }
    if (sl_str_starts_with(text, SL_STR("ts"))) {
        return parse_timestamp(text, out);
    }
    if (sl_str_starts_with(text, SL_STR("w:"))) {
        out->layout = SL_ARROW_FIXED_BYTES;
        out->kind = SILT_TYPE_BINARY;
        return parse_width(sl_str_sub(text, 2, text.len), &out->width);
    }
    if (sl_str_starts_with(text, SL_STR("+w:"))) {
        out->layout = SL_ARROW_LIST;
        out->kind = SILT_TYPE_ARRAY;
        return parse_width(sl_str_sub(text, 3, text.len), &out->width);
    }
    return false;
}
