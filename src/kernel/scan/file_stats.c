/*
 * From what statistics claim to bounds that data skipping may rely on (PROTOCOL.md "Per-file Statistics").
 *
 * Claims come from other writers, so this file states what is believed: counts that make sense, bounds that are in order, and
 * bounds only after widening by whatever a known kind of writer may have cut off. Widening costs next to nothing, a bound that is
 * none loses rows. Called by data skipping on any thread; no state.
 */
#include "kernel/scan/file_stats.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/time.h"
#include "kernel/scan/stats_reader.h"
#include "schema/value.h"

/*
 * Writers keep at least this many bytes of a text, if they cut it at all: Delta Spark 32 UTF-16 units, unless it is told to keep
 * less, and then it closes what it cut.
 */
#define TEXT_CUT_BYTES 32

/* Above every byte that UTF-8 text can continue with: makes a bound of a prefix. Bounds are compared by bytes only. */
#define ABOVE_UTF8 '\xFF'

/* Timestamps in statistics have milliseconds; the value may have had up to this much more, or less where a writer rounds. */
#define TIMESTAMP_CUT_US 999

/* Before this day the hybrid calendar of old writers counts other days: up to 10 from year 1 on, ever more before it. */
#define GREGORIAN_DAY INT64_C(-141427) /* 1582-10-15 */
#define YEAR_ONE_DAY INT64_C(-719162)
#define CALENDAR_DAYS 14

/* A decimal of that many digits passes a double unharmed; a double prints at most so many. */
#define DOUBLE_SAFE_DIGITS 15
#define DOUBLE_PRINT_DIGITS 17

/* ---- widening ---- */

/*
 * The text without the replacement characters at its end: they stand for bytes of a character that was cut in two, or were put as
 * tie-breaker by writers that compared UTF-16 units, and are no bound under the order of UTF-8.
 */
static struct sl_str without_replacements(struct sl_str text)
{
    while (sl_str_ends_with(text, SL_STR("\xEF\xBF\xBD"))) {
        text.len -= 3;
    }
    return text;
}

/*
 * A short maximum is whole. A long one may be a bare prefix, so that whatever continues it has to be below the bound; one that its
 * writer closed with DEL or U+10FFFF loses nothing by that. A '?' at the end may be half of a surrogate pair.
 */
static bool widen_text_max(struct sl_arena *arena, silt_value *max)
{
    const struct sl_str stated = sl_value_get_str(max);
    struct sl_str text = without_replacements(stated);
    if (text.len == stated.len && text.len < TEXT_CUT_BYTES) {
        return true;
    }
    text.len -= sl_str_ends_with(text, SL_STR("?")) ? 1 : 0;
    char *wide = sl_arena_alloc(arena, text.len + 1);
    if (wide == NULL) {
        return false;
    }
    memcpy(wide, text.ptr, text.len);
    wide[text.len] = ABOVE_UTF8;
    *max = sl_value_bytes(max->kind, sl_str_make(wide, text.len + 1));
    return true;
}

/* How far a day may be off; negative: any distance. */
static int64_t calendar_slack(int64_t day)
{
    return day >= GREGORIAN_DAY ? 0 : day >= YEAR_ONE_DAY ? CALENDAR_DAYS : -1;
}

/* Moves a bound outwards; false when there is no such value. */
static bool shift(silt_value *bound, int64_t distance, bool is_max)
{
    return sl_add_i64(bound->as.i64, is_max ? distance : -distance, &bound->as.i64);
}

static bool widen_day(silt_value *bound, bool is_max)
{
    const int64_t slack = calendar_slack(bound->as.i64);
    return slack >= 0 && shift(bound, slack, is_max);
}

/* More than three digits of a fraction show that nothing was cut. */
static bool widen_timestamp(silt_value *bound, bool is_max)
{
    const int64_t slack = calendar_slack(sl_floor_div(bound->as.i64, SL_US_PER_DAY));
    const int64_t cut_us = sl_floor_mod(bound->as.i64, TIMESTAMP_CUT_US + 1) == 0 ? TIMESTAMP_CUT_US : 0;
    return slack >= 0 && shift(bound, slack * SL_US_PER_DAY + cut_us, is_max);
}

/*
 * Some writers take decimals through doubles: 999999999999999999 is written as 1e18. What has more digits than a double prints was
 * not, and neither was harmed what has few.
 */
static void widen_decimal(silt_value *bound, bool is_max)
{
    const sl_i128 v = sl_value_get_i128(bound);
    const unsigned digits = sl_i128_digits(v);
    if (digits <= DOUBLE_SAFE_DIGITS) {
        return;
    }
    sl_i128 significant = v;
    while (significant % 10 == 0) {
        significant /= 10;
    }
    if (sl_i128_digits(significant) > DOUBLE_PRINT_DIGITS) {
        return;
    }
    const sl_i128 slack = (v < 0 ? -v : v) / ((sl_i128)1 << 51) + 1;
    *bound = sl_value_decimal(is_max ? v + slack : v - slack, bound->precision, bound->scale);
}

static bool may_be_float(const struct sl_skip_column *column)
{
    bool found = column->type->kind == SILT_TYPE_FLOAT;
    for (size_t i = 0; i < column->n_earlier; i++) {
        found = found || column->earlier[i]->kind == SILT_TYPE_FLOAT;
    }
    return found;
}

/* The shortest text of a float, read as a double, lies up to half a float's step beside it: "0.1" says 0.100000001490116. */
static void widen_double(silt_value *bound, bool is_max)
{
    const double v = bound->as.f64;
    if (isfinite(v) && fabs(v) <= (double)FLT_MAX) {
        const double near = (double)nextafterf((float)v, is_max ? INFINITY : -INFINITY);
        bound->as.f64 = is_max ? fmax(v, near) : fmin(v, near);
    }
}

/* Makes a stated bound one that holds; *usable is false when it cannot be made one. False when out of memory. */
static bool widen(struct sl_arena *arena, const struct sl_skip_column *column, bool is_max, silt_value *bound,
                  bool *usable)
{
    switch (bound->kind) {
    case SILT_TYPE_STRING:
        if (is_max) {
            return widen_text_max(arena, bound);
        }
        *bound = sl_value_bytes(bound->kind, without_replacements(sl_value_get_str(bound)));
        return true;
    case SILT_TYPE_DATE: *usable = widen_day(bound, is_max); return true;
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ: *usable = widen_timestamp(bound, is_max); return true;
    case SILT_TYPE_DECIMAL: widen_decimal(bound, is_max); return true;
    case SILT_TYPE_DOUBLE:
        if (may_be_float(column)) {
            widen_double(bound, is_max);
        }
        return true;
    default: return true;
    }
}

/* ---- judging ---- */

/* Orders of text under a collation are not the order of bytes, and binary bounds have no agreed text form. */
static bool has_order(const struct sl_skip_column *column)
{
    const struct silt_type *type = column->type;
    const bool collated = column->collated || (type->kind == SILT_TYPE_STRING && type->json.ptr != NULL &&
                                               !sl_str_eq_c(type->json, "string"));
    return !collated && type->kind != SILT_TYPE_BINARY;
}

/*
 * PROTOCOL: with wide bounds only "none" and "all" carry information. Of a column inside of a struct "none" carries none in either
 * case: some writers do not count the rows whose struct is null. A column of nulls alone that has a bound is a contradiction.
 */
static bool believe_nulls(const struct sl_claims *claims, const struct sl_skip_column *column,
                          const struct sl_bounds *claimed)
{
    const bool all = claims->has_rows && claimed->null_count == claims->rows;
    if (!claimed->has_null_count || claimed->null_count < 0 ||
        (claims->has_rows && claimed->null_count > claims->rows)) {
        return false;
    }
    if (all && claims->rows > 0) {
        return !claimed->has_min && !claimed->has_max;
    }
    return claimed->null_count == 0 ? column->path_len == 1 : claims->tightness != SL_WIDE;
}

static bool believe_column(const struct sl_claims *claims, const struct sl_skip_column *column, struct sl_arena *arena,
                           struct sl_bounds *b)
{
    int order = 0;
    b->has_null_count = believe_nulls(claims, column, b);
    b->null_count = b->has_null_count ? b->null_count : 0;
    const bool ordered = has_order(column) &&
                         !(b->has_min && b->has_max && (!sl_value_compare(&b->min, &b->max, &order) || order > 0));
    b->has_min = b->has_min && ordered; /* bounds that contradict each other prove nothing */
    b->has_max = b->has_max && ordered;
    return (!b->has_min || widen(arena, column, false, &b->min, &b->has_min)) &&
           (!b->has_max || widen(arena, column, true, &b->max, &b->has_max));
}

/* A file without rows has no bounds and no nulls. */
static bool contradicts_itself(const struct sl_claims *claims, const struct sl_bounds *bounds, size_t n)
{
    bool found = false;
    for (size_t i = 0; claims->has_rows && claims->rows == 0 && i < n; i++) {
        found = found || bounds[i].has_min || bounds[i].has_max ||
                (bounds[i].has_null_count && bounds[i].null_count > 0);
    }
    return found;
}

silt_status sl_stats_believe(const struct sl_claims *claims, const struct sl_skip_column *columns, size_t n,
                             struct sl_arena *arena, struct sl_bounds *bounds, silt_error *err)
{
    struct sl_claims believed = *claims;
    believed.has_rows = claims->has_rows && claims->rows >= 0;
    if (contradicts_itself(&believed, bounds, n)) {
        memset(bounds, 0, n * sizeof(*bounds));
        return SILT_OK;
    }
    for (size_t i = 0; i < n; i++) {
        if (!believe_column(&believed, &columns[i], arena, &bounds[i])) {
            return sl_fail_nomem(err);
        }
        bounds[i].has_row_count = believed.has_rows;
        bounds[i].row_count = believed.has_rows ? believed.rows : 0;
    }
    return SILT_OK;
}

silt_status sl_stats_bounds_from_json(struct sl_str text, const struct sl_skip_column *columns, size_t n,
                                      struct sl_arena *arena, struct sl_bounds *out, silt_error *err)
{
    struct sl_claims claims;
    SL_TRY(sl_stats_claims_from_json(text, columns, n, arena, &claims, out, err));
    return sl_stats_believe(&claims, columns, n, arena, out, err);
}
