/*
 * Leaves: what a column holds in a file against the wanted type, and how the one becomes the other where a plain cast would be wrong.
 *
 * A table of pairs says what may be read at all: what keeps every value, or what Spark's reader takes for the same (INT96, dates and
 * text without annotation, unsigned numbers). Instants are never cast from wall clocks, since DuckDB would take the session's zone for
 * theirs. Files in the calendar of old Spark versions are rebased. Called by duck_match.c and duck_column.c. Pure; any thread.
 */
#include "duck_leaf.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/julian.h"

/* What a leaf holds, by physical type and annotation. */
enum held {
    HOLDS_OTHER,
    HOLDS_NOTHING, /* annotated as null */
    HOLDS_BOOLEAN,
    HOLDS_INT8,
    HOLDS_UINT8,
    HOLDS_INT16,
    HOLDS_UINT16,
    HOLDS_INT32,
    HOLDS_UINT32,
    HOLDS_INT64,
    HOLDS_UINT64,
    HOLDS_FLOAT,
    HOLDS_DOUBLE,
    HOLDS_DECIMAL,
    HOLDS_TEXT,
    HOLDS_BYTES, /* no annotation */
    HOLDS_FIXED, /* bytes of one length */
    HOLDS_UUID,
    HOLDS_DATE,
    HOLDS_WALL, /* timestamps whose annotation names no zone */
    HOLDS_WALL_NS,
    HOLDS_INSTANT,
    HOLDS_INSTANT_NS,
    HOLDS_INT96
};

static const struct {
    const char *type;
    enum held held;
} TYPES[] = {
    {"\"NULL\"", HOLDS_NOTHING},
    {"BOOLEAN", HOLDS_BOOLEAN},
    {"TINYINT", HOLDS_INT8},
    {"UTINYINT", HOLDS_UINT8},
    {"SMALLINT", HOLDS_INT16},
    {"USMALLINT", HOLDS_UINT16},
    {"INTEGER", HOLDS_INT32},
    {"UINTEGER", HOLDS_UINT32},
    {"BIGINT", HOLDS_INT64},
    {"UBIGINT", HOLDS_UINT64},
    {"FLOAT", HOLDS_FLOAT},
    {"DOUBLE", HOLDS_DOUBLE},
    {"VARCHAR", HOLDS_TEXT},
    {"ENUM", HOLDS_TEXT},
    {"JSON", HOLDS_TEXT},
    {"BLOB", HOLDS_BYTES},
    {"UUID", HOLDS_UUID},
    {"DATE", HOLDS_DATE},
    {"TIMESTAMP", HOLDS_WALL},
    {"TIMESTAMP_S", HOLDS_WALL},
    {"TIMESTAMP_MS", HOLDS_WALL},
    {"TIMESTAMP_NS", HOLDS_WALL_NS},
    {"TIMESTAMP WITH TIME ZONE", HOLDS_INSTANT},
};

static enum held held_by(const struct sl_footer_node *leaf)
{
    if (leaf->int96) {
        return HOLDS_INT96;
    }
    if (sl_str_starts_with(leaf->type, SL_STR("DECIMAL("))) {
        return HOLDS_DECIMAL;
    }
    enum held held = HOLDS_OTHER;
    for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++) {
        held = sl_str_eq_c(leaf->type, TYPES[i].type) ? TYPES[i].held : held;
    }
    if (held == HOLDS_INSTANT && sl_str_find(leaf->logical, SL_STR("NANOS=NanoSeconds")) != SIZE_MAX) {
        return HOLDS_INSTANT_NS;
    }
    return held == HOLDS_BYTES && sl_str_eq_c(leaf->physical, "FIXED_LEN_BYTE_ARRAY") ? HOLDS_FIXED : held;
}

/* ---- what may be read ---- */

#define BIT(held) (UINT32_C(1) << (held))
#define SMALL_INTS (BIT(HOLDS_INT8) | BIT(HOLDS_UINT8) | BIT(HOLDS_INT16) | BIT(HOLDS_UINT16) | BIT(HOLDS_INT32))

/*
 * Bytes and shorts are INT32 in Parquet, so an INT32 without annotation may hold them. A value that does not fit, also of an
 * unsigned number, is an error of the read.
 */
static uint32_t readable_as(silt_type_kind kind)
{
    switch (kind) {
    case SILT_TYPE_BOOLEAN: return BIT(HOLDS_BOOLEAN);
    case SILT_TYPE_BYTE:
    case SILT_TYPE_SHORT: return SMALL_INTS;
    case SILT_TYPE_INTEGER: return SMALL_INTS | BIT(HOLDS_UINT32);
    case SILT_TYPE_LONG: return SMALL_INTS | BIT(HOLDS_UINT32) | BIT(HOLDS_INT64) | BIT(HOLDS_UINT64);
    case SILT_TYPE_FLOAT: return BIT(HOLDS_FLOAT);
    case SILT_TYPE_DOUBLE: return BIT(HOLDS_FLOAT) | BIT(HOLDS_DOUBLE) | SMALL_INTS;
    case SILT_TYPE_STRING: return BIT(HOLDS_TEXT) | BIT(HOLDS_BYTES);
    case SILT_TYPE_BINARY: return BIT(HOLDS_BYTES) | BIT(HOLDS_FIXED) | BIT(HOLDS_UUID) | BIT(HOLDS_TEXT);
    case SILT_TYPE_DATE: return BIT(HOLDS_DATE) | BIT(HOLDS_INT32);
    case SILT_TYPE_TIMESTAMP:
        return BIT(HOLDS_INSTANT) | BIT(HOLDS_INSTANT_NS) | BIT(HOLDS_WALL) | BIT(HOLDS_WALL_NS) | BIT(HOLDS_INT96);
    case SILT_TYPE_TIMESTAMP_NTZ:
        return BIT(HOLDS_WALL) | BIT(HOLDS_WALL_NS) | BIT(HOLDS_INSTANT) | BIT(HOLDS_INSTANT_NS) | BIT(HOLDS_INT96) |
               BIT(HOLDS_DATE);
    default: return 0;
    }
}

bool sl_footer_decimal(struct sl_str type, int64_t *precision, int64_t *scale)
{
    const size_t comma = sl_str_find(type, SL_STR(","));
    return sl_str_starts_with(type, SL_STR("DECIMAL(")) && comma != SIZE_MAX && type.len > 9 &&
           sl_str_to_i64(sl_str_sub(type, 8, comma), precision) &&
           sl_str_to_i64(sl_str_trim(sl_str_sub(type, comma + 1, type.len - 1)), scale);
}

/* Digits before the point must not get fewer, nor digits after it. */
static bool fits_decimal(const struct sl_footer_node *leaf, const struct silt_type *wanted)
{
    int64_t precision = 0;
    int64_t scale = 0;
    switch (held_by(leaf)) {
    case HOLDS_INT8:
    case HOLDS_UINT8: precision = 3; break;
    case HOLDS_INT16:
    case HOLDS_UINT16: precision = 5; break;
    case HOLDS_INT32:
    case HOLDS_UINT32: precision = 10; break;
    case HOLDS_INT64:
    case HOLDS_UINT64: precision = 20; break;
    case HOLDS_DECIMAL:
        if (!sl_footer_decimal(leaf->type, &precision, &scale)) {
            return false;
        }
        break;
    default: return false;
    }
    return scale <= wanted->scale && precision - scale <= wanted->precision - wanted->scale;
}

bool sl_leaf_fits(const struct sl_footer_node *leaf, const struct silt_type *wanted)
{
    const enum held held = held_by(leaf);
    if (held == HOLDS_NOTHING) {
        return true;
    }
    if (held == HOLDS_INT32 && wanted->kind == SILT_TYPE_DATE) {
        return leaf->converted.ptr == NULL && leaf->logical.ptr == NULL;
    }
    if (wanted->kind == SILT_TYPE_DECIMAL) {
        return fits_decimal(leaf, wanted);
    }
    return (readable_as(wanted->kind) & BIT(held)) != 0;
}

/* ---- how it is read ---- */

static struct sl_footer_leaf around(const char *declared, const char *before, const char *after)
{
    return (struct sl_footer_leaf){.declared = declared, .before = before, .after = after};
}

/* Spark says which version wrote a file since 2.4.4; what says nothing is taken to be in the calendar of today, as Spark does by default. */
static bool is_before(struct sl_str version, const char *first)
{
    return version.ptr != NULL && sl_str_compare(version, sl_str_from(first)) < 0;
}

static bool dates_are_julian(const struct sl_footer_facts *facts)
{
    return facts->spark_version.ptr != NULL && (facts->legacy_datetime || is_before(facts->spark_version, "3.0.0"));
}

static bool int96_is_julian(const struct sl_footer_facts *facts)
{
    return facts->spark_version.ptr != NULL && (facts->legacy_int96 || is_before(facts->spark_version, "3.1.0"));
}

static silt_status put_zone(struct sl_arena *arena, const struct sl_footer_facts *facts, const char **after,
                            silt_error *err)
{
    int64_t zone = 0;
    if (facts->time_zone.ptr != NULL && !sl_julian_zone(facts->time_zone, &zone)) {
        return sl_fail(
            err, SILT_EUNSUPPORTED, NULL,
            "timestamps in the legacy calendar of the time zone '%.*s' cannot be read: the zone is not known",
            SL_FMT(facts->time_zone));
    }
    *after = sl_arena_printf(arena, ", %" PRId64 "::BIGINT)", zone);
    return *after != NULL ? SILT_OK : sl_fail_nomem(err);
}

/* Rebasing names the writer's zone, which decides what its wall clock was. */
static silt_status read_instant(struct sl_arena *arena, const struct sl_footer_facts *facts, enum held held,
                                struct sl_footer_leaf *out, silt_error *err)
{
    const bool julian = held == HOLDS_INT96 ? int96_is_julian(facts) : dates_are_julian(facts);
    if (held == HOLDS_INSTANT) {
        if (julian) {
            *out = around("TIMESTAMP WITH TIME ZONE", "silt_rebase_instant(", NULL);
            return put_zone(arena, facts, &out->after, err);
        }
        return SILT_OK;
    }
    if (held == HOLDS_WALL_NS || held == HOLDS_INSTANT_NS) {
        *out = around("TIMESTAMP_NS", "silt_instant(silt_whole_us(", "))");
        out->aside = held == HOLDS_INSTANT_NS;
        return SILT_OK;
    }
    *out = around("TIMESTAMP", "silt_instant(", ")");
    if (julian) {
        out->before = "silt_rebase_wall(";
        return put_zone(arena, facts, &out->after, err);
    }
    return SILT_OK;
}

/* A wall clock was never written in the old calendar. */
static void read_wall(const struct sl_footer_facts *facts, enum held held, struct sl_footer_leaf *out)
{
    if (held == HOLDS_INSTANT) {
        *out = around("TIMESTAMP WITH TIME ZONE", "silt_wall(", ")");
    } else if (held == HOLDS_WALL_NS || held == HOLDS_INSTANT_NS) {
        *out = around("TIMESTAMP_NS", "silt_whole_us(", ")");
        out->aside = held == HOLDS_INSTANT_NS;
    } else if (held == HOLDS_DATE) {
        *out = dates_are_julian(facts) ? around("DATE", "CAST(silt_rebase_date(", ") AS TIMESTAMP)")
                                       : around("DATE", "CAST(", " AS TIMESTAMP)"); /* see read_widened */
    }
}

static void read_date(const struct sl_footer_facts *facts, enum held held, struct sl_footer_leaf *out)
{
    if (held == HOLDS_DATE && dates_are_julian(facts)) {
        *out = around("DATE", "silt_rebase_date(", ")");
    } else if (held == HOLDS_INT32) {
        *out = dates_are_julian(facts) ? around("INTEGER", "silt_rebase_date(DATE '1970-01-01' + ", ")")
                                       : around("INTEGER", "(DATE '1970-01-01' + ", ")");
    }
}

/*
 * Where DuckDB reads a column as another type than the file's, it brings the constants of filters to the file's type, and rounds them: x > 4.5
 * over integers read as DOUBLE becomes x > 5. So a column whose new type has values between those of the old one is read as what it is,
 * and widened above. A wider integer, or more digits before the point, has none: there a constant fits or does not.
 */
static silt_status read_widened(struct sl_arena *arena, const struct sl_footer_node *leaf, enum held held,
                                const struct silt_type *wanted, struct sl_footer_leaf *out, silt_error *err)
{
    int64_t precision = 0;
    int64_t scale = 0;
    const char *after = " AS DOUBLE)";
    if (wanted->kind == SILT_TYPE_DOUBLE
            ? held == HOLDS_DOUBLE
            : (held == HOLDS_DECIMAL && !sl_footer_decimal(leaf->type, &precision, &scale)) || wanted->scale <= scale) {
        return SILT_OK;
    }
    if (wanted->kind == SILT_TYPE_DECIMAL) {
        after = sl_arena_printf(arena, " AS DECIMAL(%u,%u))", (unsigned)wanted->precision, (unsigned)wanted->scale);
    }
    const char *declared = sl_arena_strdup(arena, leaf->type);
    if (after == NULL || declared == NULL) {
        return sl_fail_nomem(err);
    }
    *out = around(declared, "CAST(", after);
    return SILT_OK;
}

silt_status sl_leaf_read(struct sl_arena *arena, const struct sl_footer *footer, const struct sl_footer_node *leaf,
                         const struct silt_type *wanted, struct sl_footer_leaf *out, silt_error *err)
{
    *out = (struct sl_footer_leaf){0};
    const enum held held = held_by(leaf);
    if (held == HOLDS_NOTHING) {
        return SILT_OK;
    }
    switch (wanted->kind) {
    case SILT_TYPE_TIMESTAMP: return read_instant(arena, &footer->facts, held, out, err);
    case SILT_TYPE_TIMESTAMP_NTZ: read_wall(&footer->facts, held, out); return SILT_OK;
    case SILT_TYPE_DATE: read_date(&footer->facts, held, out); return SILT_OK;
    case SILT_TYPE_DOUBLE:
    case SILT_TYPE_DECIMAL: return read_widened(arena, leaf, held, wanted, out, err);
    case SILT_TYPE_STRING:
        if (held == HOLDS_BYTES) {
            *out = around("BLOB", "decode(", ")");
        }
        return SILT_OK;
    case SILT_TYPE_BINARY:
        if (held == HOLDS_TEXT) {
            *out = around("VARCHAR", "encode(", ")");
        }
        return SILT_OK;
    case SILT_TYPE_VOID:
        /* Whatever is there, the column has no values. */
        *out = around("VARCHAR", "CASE WHEN false THEN length(", ") END");
        return SILT_OK;
    default: return SILT_OK;
    }
}
