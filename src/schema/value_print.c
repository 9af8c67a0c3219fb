/*
 * Scalars as text: plain, as Spark literals, as DuckDB literals.
 *
 * Called by the printers of expressions, by messages and by query building. Spark's literals are printed so that every
 * version since 3.0 reads them alike, whatever its session's zone and settings are. Pure; any thread.
 */
#include <math.h>

#include "base/time.h"
#include "base/utf8.h"
#include "schema/type.h"
#include "schema/value.h"

static void print_hex(struct sl_buf *out, struct sl_str bytes, const char *prefix)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < bytes.len; i++) {
        const unsigned char b = (unsigned char)bytes.ptr[i];
        sl_buf_put_c(out, prefix);
        sl_buf_put_char(out, digits[b >> 4]);
        sl_buf_put_char(out, digits[b & 15]);
    }
}

void sl_value_print(struct sl_buf *out, const silt_value *v)
{
    if (v->is_null) {
        sl_buf_put_c(out, "NULL");
        return;
    }
    switch (v->kind) {
    case SILT_TYPE_BOOLEAN: sl_buf_put_c(out, v->as.boolean ? "true" : "false"); break;
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT:
    case SILT_TYPE_INTEGER:
    case SILT_TYPE_LONG: sl_buf_put_i64(out, v->as.i64); break;
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE: sl_float_print_java(out, v->as.f64, v->kind == SILT_TYPE_FLOAT); break;
    case SILT_TYPE_DECIMAL: sl_decimal_format(out, sl_value_get_i128(v), v->scale); break;
    case SILT_TYPE_STRING: sl_buf_put_str(out, sl_value_get_str(v)); break;
    case SILT_TYPE_BINARY: print_hex(out, sl_value_get_str(v), ""); break;
    case SILT_TYPE_DATE: sl_date_format(out, v->as.i64); break;
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: sl_timestamp_format(out, v->as.i64, ' ', -1); break;
    default: sl_buf_put_c(out, "NULL"); /* no other kind has scalars */
    }
}

/* A doubled quote means a quote only since Spark 4; a backslash does in all versions. */
static void print_spark_string(struct sl_buf *out, struct sl_str text)
{
    sl_buf_put_char(out, '\'');
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.ptr[i];
        if (c == '\'' || c == '\\') {
            sl_buf_put_char(out, '\\');
            sl_buf_put_char(out, c);
        } else if (c == '\n') {
            sl_buf_put_c(out, "\\n");
        } else if (c == '\t') {
            sl_buf_put_c(out, "\\t");
        } else if (c == '\r') {
            sl_buf_put_c(out, "\\r");
        } else if ((unsigned char)c < 0x20 || c == 0x7f) {
            sl_buf_printf(out, "\\u%04X", (unsigned)(unsigned char)c);
        } else {
            sl_buf_put_char(out, c);
        }
    }
    sl_buf_put_char(out, '\'');
}

static void print_spark_float(struct sl_buf *out, const silt_value *v)
{
    const bool is_float = v->kind == SILT_TYPE_FLOAT;
    if (isfinite(v->as.f64)) {
        sl_float_print_java(out, v->as.f64, is_float);
        sl_buf_put_char(out, is_float ? 'F' : 'D');
        return;
    }
    sl_buf_put_c(out, "CAST('");
    sl_float_print_java(out, v->as.f64, is_float);
    sl_buf_put_c(out, is_float ? "' AS FLOAT)" : "' AS DOUBLE)");
}

static void print_quoted(struct sl_buf *out, const char *before, const silt_value *v, const char *after)
{
    sl_buf_put_c(out, before);
    sl_value_print(out, v);
    sl_buf_put_c(out, after);
}

void sl_value_print_sql(struct sl_buf *out, const silt_value *v)
{
    if (v->is_null) {
        sl_buf_put_c(out, "NULL");
        return;
    }
    switch (v->kind) {
    case SILT_TYPE_BYTE: print_quoted(out, "", v, "Y"); break;
    case SILT_TYPE_SHORT: print_quoted(out, "", v, "S"); break;
    case SILT_TYPE_LONG: print_quoted(out, "", v, "L"); break;
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE: print_spark_float(out, v); break;
    case SILT_TYPE_DECIMAL: print_quoted(out, "", v, "BD"); break;
    case SILT_TYPE_STRING: print_spark_string(out, sl_value_get_str(v)); break;
    case SILT_TYPE_BINARY: print_quoted(out, "X'", v, "'"); break;
    case SILT_TYPE_DATE: print_quoted(out, "DATE '", v, "'"); break;
    case SILT_TYPE_TIMESTAMP: print_quoted(out, "TIMESTAMP '", v, "Z'"); break;
    case SILT_TYPE_TIMESTAMP_NTZ: print_quoted(out, "TIMESTAMP_NTZ '", v, "'"); break;
    default: sl_value_print(out, v);
    }
}

/* DuckDB takes SQL as a C string, so that a NUL byte must be made by a function. */
static void print_duckdb_string(struct sl_buf *out, struct sl_str text)
{
    const bool has_nul = text.len > 0 && memchr(text.ptr, '\0', text.len) != NULL;
    sl_buf_put_c(out, has_nul ? "('" : "'");
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\0') {
            sl_buf_put_c(out, "' || chr(0) || '");
        } else {
            sl_buf_put_char(out, text.ptr[i]);
            if (text.ptr[i] == '\'') {
                sl_buf_put_char(out, '\'');
            }
        }
    }
    sl_buf_put_c(out, has_nul ? "')" : "'");
}

/* DuckDB reads years of four digits only, hence numbers for the others. */
static bool is_common_year(const silt_value *v)
{
    int64_t year = 0;
    int month = 0;
    int day = 0;
    sl_civil_from_days(v->kind == SILT_TYPE_DATE ? v->as.i64 : sl_floor_div(v->as.i64, SL_US_PER_DAY), &year, &month,
                       &day);
    return year >= 1 && year <= 9999;
}

static void print_duckdb_time(struct sl_buf *out, const silt_value *v)
{
    if (is_common_year(v)) {
        static const char *const after[] = {"' AS DATE)", "+00' AS TIMESTAMPTZ)", "' AS TIMESTAMP)"};
        print_quoted(out, "CAST('", v, after[v->kind - SILT_TYPE_DATE]);
    } else if (v->kind == SILT_TYPE_DATE) {
        sl_buf_printf(out, "(CAST('1970-01-01' AS DATE) + CAST(%lld AS INTEGER))", (long long)v->as.i64);
    } else {
        sl_buf_printf(out, "make_timestamp%s(%lld)", v->kind == SILT_TYPE_TIMESTAMP ? "tz" : "", (long long)v->as.i64);
    }
}

void sl_value_print_duckdb(struct sl_buf *out, const silt_value *v)
{
    const struct silt_type type = {.kind = v->kind, .precision = v->precision, .scale = v->scale};
    if (v->is_null && v->kind == SILT_TYPE_VOID) {
        sl_buf_put_c(out, "NULL");
        return;
    }
    if (v->is_null) {
        sl_buf_put_c(out, "CAST(NULL AS ");
        sl_type_print_duckdb(out, &type);
        sl_buf_put_char(out, ')');
        return;
    }
    switch (v->kind) {
    case SILT_TYPE_BOOLEAN: sl_value_print(out, v); break;
    case SILT_TYPE_STRING: print_duckdb_string(out, sl_value_get_str(v)); break;
    case SILT_TYPE_BINARY:
        sl_buf_put_c(out, "CAST('");
        print_hex(out, sl_value_get_str(v), "\\x");
        sl_buf_put_c(out, "' AS BLOB)");
        break;
    case SILT_TYPE_DATE:
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: print_duckdb_time(out, v); break;
    default: /* numbers, in quotes: signs, NaN and long decimals then need no care */
        print_quoted(out, "CAST('", v, "' AS ");
        sl_type_print_duckdb(out, &type);
        sl_buf_put_char(out, ')');
    }
}
