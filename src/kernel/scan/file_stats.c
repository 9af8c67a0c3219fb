/*
 * From the statistics of a file to bounds that data skipping may rely on (PROTOCOL.md "Per-file Statistics").
 *
 * Bounds come from other writers, so this file states what is believed: counts that make sense, bounds that are in order, and
 * maxima only after widening. Timestamps are cut to milliseconds by writers, text to a prefix of at least 32 characters; a cut minimum
 * is still a lower bound, a cut maximum is none. Called by data skipping on any thread; no state.
 */
#include "kernel/scan/file_stats.h"

#include <string.h>

#include "base/error.h"
#include "base/utf8.h"
#include "json/json.h"
#include "schema/value.h"

/* Delta writers keep this many UTF-16 units of text in a bound unless they are told to keep more. */
#define STRING_PREFIX_UNITS 32

/* Timestamps in statistics have milliseconds; the value may have had up to this much more. */
#define TIMESTAMP_CUT_US 999

/* Above every byte that UTF-8 text can continue with: makes a bound of a prefix. Bounds are compared by bytes only. */
#define ABOVE_UTF8 '\xFF'

/* ---- widening ---- */

/* Length in UTF-16 units, as the writers that cut text count it. Bytes that are no UTF-8 count one each. */
static size_t utf16_units(struct sl_str s)
{
    size_t units = 0;
    size_t pos = 0;
    while (pos < s.len) {
        uint32_t code_point = 0;
        if (!sl_utf8_next(s, &pos, &code_point)) {
            pos++;
            units++;
            continue;
        }
        units += code_point >= 0x10000U ? 2 : 1;
    }
    return units;
}

/*
 * A maximum of fewer units than the prefix is whole. A longer one that ends in DEL or U+10FFFF was closed by a writer that
 * checked that the tie-breaker is above what it cut off. Any other may be a bare prefix. U+FFFD was a tie-breaker too, of writers
 * that compared UTF-16 units and might halve a surrogate pair (leaving '?'), so it does not bound what was cut: it goes,
 * and what is left is taken as a prefix.
 */
static bool widen_text(struct sl_arena *arena, silt_value *max)
{
    struct sl_str text = sl_value_get_str(max);
    size_t units = utf16_units(text);
    bool closed = sl_str_ends_with(text, SL_STR("\x7F")) || sl_str_ends_with(text, SL_STR("\xF4\x8F\xBF\xBF"));
    if (units < STRING_PREFIX_UNITS || (closed && units > STRING_PREFIX_UNITS)) {
        return true;
    }
    if (sl_str_ends_with(text, SL_STR("\xEF\xBF\xBD"))) {
        text.len -= 3;
        if (sl_str_ends_with(text, SL_STR("?"))) {
            text.len -= 1;
        }
    }
    char *wide = sl_arena_alloc(arena, text.len + 1);
    if (wide == NULL) {
        return false;
    }
    memcpy(wide, text.ptr, text.len);
    wide[text.len] = ABOVE_UTF8;
    *max = sl_value_bytes(max->kind, sl_str_make(wide, text.len + 1));
    return true;
}

/* Makes a stated maximum an upper bound; false when it cannot be one. */
static bool widen_max(struct sl_arena *arena, silt_value *max)
{
    switch (max->kind) {
    case SILT_TYPE_STRING: return widen_text(arena, max);
    case SILT_TYPE_TIMESTAMP:
    case SILT_TYPE_TIMESTAMP_NTZ:
        if (max->as.i64 > INT64_MAX - TIMESTAMP_CUT_US) {
            return false;
        }
        max->as.i64 += TIMESTAMP_CUT_US;
        return true;
    default: return true;
    }
}

/* ---- assembly ---- */

static bool get_count(const struct sl_stats_source *source, enum sl_stat stat, const struct sl_skip_column *column,
                      struct sl_arena *arena, int64_t *out)
{
    silt_value value;
    if (source->get(source->ctx, stat, column, arena, &value) != SL_STAT_FOUND || value.is_null || value.as.i64 < 0) {
        return false;
    }
    *out = value.as.i64;
    return true;
}

/* PROTOCOL: absent means tight. What cannot be read is taken as wide, which promises less. */
static bool is_tight(const struct sl_stats_source *source, struct sl_arena *arena)
{
    silt_value value;
    switch (source->get(source->ctx, SL_STAT_TIGHT_BOUNDS, NULL, arena, &value)) {
    case SL_STAT_ABSENT: return true;
    case SL_STAT_FOUND: return value.as.boolean;
    case SL_STAT_UNUSABLE: break;
    }
    return false;
}

/* Orders of text under a collation are not the order of bytes, and binary bounds have no agreed text form. */
static bool has_order(const struct silt_type *type)
{
    return type->kind != SILT_TYPE_BINARY &&
           !(type->kind == SILT_TYPE_STRING && type->json.ptr != NULL && !sl_str_eq_c(type->json, "string"));
}

static bool get_bound(const struct sl_stats_source *source, enum sl_stat stat, const struct sl_skip_column *column,
                      struct sl_arena *arena, silt_value *out)
{
    return has_order(column->type) && source->get(source->ctx, stat, column, arena, out) == SL_STAT_FOUND &&
           !out->is_null;
}

static void assemble_column(const struct sl_stats_source *source, const struct sl_skip_column *column, bool tight,
                            struct sl_arena *arena, struct sl_bounds *out)
{
    int64_t nulls = 0;
    if (get_count(source, SL_STAT_NULL_COUNT, column, arena, &nulls)) {
        bool plausible = !out->has_row_count || nulls <= out->row_count;
        /* PROTOCOL: with wide bounds only "none" and "all" carry information. */
        bool meaningful = tight || nulls == 0 || (out->has_row_count && nulls == out->row_count);
        out->has_null_count = plausible && meaningful;
        out->null_count = out->has_null_count ? nulls : 0;
    }
    out->has_min = get_bound(source, SL_STAT_MIN, column, arena, &out->min);
    out->has_max = get_bound(source, SL_STAT_MAX, column, arena, &out->max);
    int order = 0;
    if (out->has_min && out->has_max && (!sl_value_compare(&out->min, &out->max, &order) || order > 0)) {
        out->has_min = false; /* bounds that contradict each other prove nothing */
        out->has_max = false;
    }
    if (out->has_max) {
        out->has_max = widen_max(arena, &out->max);
    }
}

void sl_stats_bounds(const struct sl_stats_source *source, const struct sl_skip_column *columns, size_t n,
                     struct sl_arena *arena, struct sl_bounds *out)
{
    memset(out, 0, n * sizeof(*out));
    int64_t rows = 0;
    bool has_rows = get_count(source, SL_STAT_NUM_RECORDS, NULL, arena, &rows);
    bool tight = is_tight(source, arena);
    for (size_t i = 0; i < n; i++) {
        out[i].has_row_count = has_rows;
        out[i].row_count = rows;
        assemble_column(source, &columns[i], tight, arena, &out[i]);
    }
}

/* ---- JSON ---- */

static const sl_json *find_stat(const sl_json *root, enum sl_stat stat, const struct sl_skip_column *column)
{
    static const char *const names[] = {"numRecords", "tightBounds", "nullCount", "minValues", "maxValues"};
    const sl_json *value = sl_json_member(root, names[stat]);
    for (size_t i = 0; column != NULL && i < column->path_len; i++) {
        value = sl_json_is_object(value) ? sl_json_member_str(value, column->path[i]) : NULL;
    }
    return value;
}

static enum sl_stat_answer get_from_json(void *ctx, enum sl_stat stat, const struct sl_skip_column *column,
                                         struct sl_arena *arena, silt_value *out)
{
    const sl_json *value = find_stat(ctx, stat, column);
    if (sl_json_is_null(value)) {
        return SL_STAT_ABSENT;
    }
    bool good = false;
    bool flag = false;
    int64_t count = 0;
    switch (stat) {
    case SL_STAT_NUM_RECORDS:
    case SL_STAT_NULL_COUNT:
        good = sl_json_to_i64(value, &count);
        *out = sl_value_i64(SILT_TYPE_LONG, count);
        break;
    case SL_STAT_TIGHT_BOUNDS:
        good = sl_json_to_bool(value, &flag);
        *out = sl_value_bool(flag);
        break;
    case SL_STAT_MIN:
    case SL_STAT_MAX: good = sl_stats_value_read(arena, value, column->type, out); break;
    }
    return good ? SL_STAT_FOUND : SL_STAT_UNUSABLE;
}

silt_status sl_stats_bounds_from_json(const silt_env *env, struct sl_str text, const struct sl_skip_column *columns,
                                      size_t n, struct sl_arena *arena, struct sl_bounds *out, silt_error *err)
{
    memset(out, 0, n * sizeof(*out));
    if (text.ptr == NULL || text.len == 0) {
        return SILT_OK;
    }
    struct sl_json_doc *doc = NULL;
    silt_status status = sl_json_parse(env, text, &doc, NULL);
    if (status == SILT_ENOMEM) {
        return sl_fail_nomem(err);
    }
    if (status != SILT_OK) {
        return SILT_OK; /* statistics are advice: what does not parse proves nothing */
    }
    const sl_json *root = sl_json_root(doc);
    if (sl_json_is_object(root)) {
        struct sl_stats_source source = {get_from_json, (void *)(uintptr_t)root};
        sl_stats_bounds(&source, columns, n, arena, out);
        for (size_t i = 0; i < n; i++) { /* text must outlive the document */
            out[i].has_min = out[i].has_min && sl_value_copy(arena, &out[i].min, &out[i].min);
            out[i].has_max = out[i].has_max && sl_value_copy(arena, &out[i].max, &out[i].max);
        }
    }
    sl_json_free(doc);
    return SILT_OK;
}
