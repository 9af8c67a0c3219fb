/*
 * Judging statistics; see fsck_judge.h. A bound that leaves out a value is wrong, except for what the protocol lets writers cut off. Planning
 * (kernel/scan/file_stats.c) forgives more, since it meets all writers; here is told what other engines would take at its word.
 */
#include "commands/fsck_judge.h"

#include "base/time.h"
#include "schema/value.h"

/* PROTOCOL: timestamps are truncated down to milliseconds. */
#define CUT_US 999
/* Days before this one are counted differently by old writers' calendar. */
#define GREGORIAN_DAY INT64_C(-141427)
#define CALENDAR_DAYS 14

bool sl_fsck_is_ordered(const struct sl_skip_column *column)
{
    const struct silt_type *type = column->type;
    const bool collated = column->collated || (type->kind == SILT_TYPE_STRING && type->json.ptr != NULL &&
                                               !sl_str_eq_c(type->json, "string"));
    return !collated && type->kind != SILT_TYPE_BINARY;
}

static bool was_float(const struct sl_skip_column *column)
{
    bool found = false;
    for (size_t i = 0; i < column->n_earlier; i++) {
        found = found || column->earlier[i]->kind == SILT_TYPE_FLOAT;
    }
    return found;
}

/* The shortest text of a float is another number when it is read as a double. */
static bool is_float_text(const struct sl_skip_column *column, const silt_value *stated, const silt_value *truth)
{
    const bool both = stated->kind == SILT_TYPE_DOUBLE && truth->kind == SILT_TYPE_DOUBLE;
    return both && was_float(column) && (float)stated->as.f64 >= (float)truth->as.f64 &&
           (float)stated->as.f64 <= (float)truth->as.f64;
}

static bool is_time(silt_type_kind kind)
{
    return kind == SILT_TYPE_TIMESTAMP || kind == SILT_TYPE_TIMESTAMP_NTZ;
}

/* Old calendar: the same day has another number. */
static bool is_old(const silt_value *truth, const silt_value *stated)
{
    const bool is_date = truth->kind == SILT_TYPE_DATE;
    if (!is_date && !is_time(truth->kind)) {
        return false;
    }
    const int64_t unit = is_date ? 1 : SL_US_PER_DAY;
    const int64_t day = sl_floor_div(truth->as.i64, unit);
    const int64_t stated_day = sl_floor_div(stated->as.i64, unit);
    return day < GREGORIAN_DAY && day - stated_day <= CALENDAR_DAYS && stated_day - day <= CALENDAR_DAYS;
}

/* The stated bound leaves the true one out: is that what writers may do? */
static bool may_cut(const struct sl_skip_column *column, const silt_value *stated, const silt_value *truth, bool is_max)
{
    if (is_old(truth, stated)) {
        return true;
    }
    if (is_time(truth->kind) && is_time(stated->kind)) {
        return is_max && sl_floor_mod(stated->as.i64, CUT_US + 1) == 0 && truth->as.i64 - stated->as.i64 <= CUT_US;
    }
    return is_float_text(column, stated, truth);
}

/* A maximum that was cut ends in a character that stands for all that may follow: DEL, U+10FFFF, or the replacement character. */
static struct sl_str without_end(struct sl_str text)
{
    static const struct sl_str ends[] = {
        {"\x7F", 1}, {"\xF4\x8F\xBF\xBF", 4}, {"\xEF\xBF\xBF", 3}, {"\xEF\xBF\xBD", 3}};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (sl_str_ends_with(text, ends[i])) {
            return sl_str_sub(text, 0, text.len - ends[i].len);
        }
    }
    return text;
}

/* How many bytes two texts begin with in common. */
static size_t common(struct sl_str a, struct sl_str b)
{
    size_t n = 0;
    while (n < a.len && n < b.len && a.ptr[n] == b.ptr[n]) {
        n++;
    }
    return n;
}

/* The stated bound is further out than the true one: is that how it is written? */
static bool may_widen(const struct sl_skip_column *column, const silt_value *stated, const silt_value *truth,
                      bool is_max)
{
    if (truth->kind == SILT_TYPE_STRING) {
        const struct sl_str text = sl_value_get_str(stated);
        const struct sl_str whole = sl_value_get_str(truth);
        /* Some writers raise the last character that is left instead of putting one behind it. */
        return is_max ? common(text, whole) + 4 >= without_end(text).len && text.len <= whole.len + 4
                      : sl_str_starts_with(whole, text);
    }
    if (is_time(truth->kind) && is_time(stated->kind)) {
        const int64_t distance = is_max ? stated->as.i64 - truth->as.i64 : truth->as.i64 - stated->as.i64;
        return distance <= CUT_US + 1 || is_old(truth, stated);
    }
    return is_old(truth, stated) || is_float_text(column, stated, truth);
}

bool sl_fsck_is_same(const struct sl_skip_column *column, const silt_value *a, const silt_value *b)
{
    int order = 0;
    if (!sl_value_compare(a, b, &order) || order == 0 || is_float_text(column, a, b)) {
        return true;
    }
    return is_time(a->kind) && is_time(b->kind) && a->as.i64 / 2 - b->as.i64 / 2 <= CUT_US / 2 &&
           b->as.i64 / 2 - a->as.i64 / 2 <= CUT_US / 2;
}

static enum sl_fsck_verdict judge_bound(const struct sl_claims *claims, const struct sl_skip_column *column,
                                        const silt_value *stated, const silt_value *truth, bool is_max)
{
    int order = 0;
    /* PROTOCOL: if all valid rows are null, it carries no information. */
    if (truth->is_null || !sl_value_compare(stated, truth, &order) || order == 0) {
        return SL_FSCK_GOOD;
    }
    const bool is_outside = is_max ? order > 0 : order < 0;
    if (!is_outside) {
        return may_cut(column, stated, truth, is_max) ? SL_FSCK_GOOD : SL_FSCK_WRONG;
    }
    return claims->tightness == SL_WIDE || may_widen(column, stated, truth, is_max) ? SL_FSCK_GOOD : SL_FSCK_LOOSE;
}

/* PROTOCOL: with wide bounds only "none" and "all" say something. */
static enum sl_fsck_verdict judge_nulls(const struct sl_claims *claims, int64_t stated,
                                        const struct sl_fsck_truth *truth)
{
    const bool says_none = stated == 0;
    const bool says_all = claims->has_rows && claims->rows > 0 && stated == claims->rows;
    if (stated == truth->nulls) {
        return SL_FSCK_GOOD;
    }
    if ((says_none && truth->nulls > 0) || (says_all && truth->nulls < truth->rows)) {
        return SL_FSCK_WRONG;
    }
    if (claims->tightness == SL_WIDE || (says_all && truth->nulls == truth->rows)) {
        return SL_FSCK_GOOD;
    }
    /* Rows that a vector hides may have been counted. */
    const bool counts_hidden = stated > truth->nulls && stated - truth->nulls <= truth->removed;
    return counts_hidden ? SL_FSCK_LOOSE : SL_FSCK_WRONG;
}

void sl_fsck_judge(const struct sl_claims *claims, const struct sl_skip_column *column, const struct sl_bounds *stated,
                   const struct sl_fsck_truth *truth, struct sl_fsck_judgement *out)
{
    *out = (struct sl_fsck_judgement){SL_FSCK_GOOD, SL_FSCK_GOOD, SL_FSCK_GOOD, 0};
    if (stated->has_null_count) {
        out->nulls = judge_nulls(claims, stated->null_count, truth);
        out->n++;
    }
    if (!sl_fsck_is_ordered(column)) {
        return;
    }
    if (stated->has_min) {
        out->min = judge_bound(claims, column, &stated->min, &truth->min, false);
        out->n++;
    }
    if (stated->has_max) {
        out->max = judge_bound(claims, column, &stated->max, &truth->max, true);
        out->n++;
    }
}
