/*
 * What can be answered from statistics alone, exactly (PROTOCOL.md "Per-file Statistics"): the number of live rows, and extremes of
 * columns where the bound is the value itself. Called by whoever counts or checks files; pure, any thread.
 */
#include "kernel/scan/file_stats.h"
#include "schema/value.h"

bool sl_stats_live_rows(const struct sl_claims *claims, int64_t deleted, int64_t *out)
{
    *out = 0;
    if (!claims->has_rows || deleted < 0 || deleted > claims->rows) {
        return false;
    }
    *out = claims->rows - deleted;
    return true;
}

/*
 * Believing widens a bound by all that a writer may have cut off: where it moves nothing, nothing was cut off. Text is left out, since
 * how much of it a writer keeps is a property that may have changed; floating-point values, since NaN may be missing in a maximum, a
 * zero stands for both zeros, and their text may be a float's.
 */
static bool may_be_exact(silt_type_kind kind)
{
    return kind != SILT_TYPE_STRING && kind != SILT_TYPE_FLOAT && kind != SILT_TYPE_DOUBLE;
}

bool sl_stats_extreme(const struct sl_column_claims *claims, bool is_max, silt_value *out)
{
    const struct sl_claims *file = claims->file;
    struct sl_bounds believed = *claims->bounds;
    struct sl_arena unused = {.env = NULL}; /* only text needs memory */
    int order = 0;
    *out = sl_value_null(claims->column->type->kind);
    /* Whoever adds a vector has to say that bounds are wide; that some do not is why silence is not enough here. */
    if (file->tightness == SL_WIDE || (claims->deleted > 0 && file->tightness != SL_TIGHT) ||
        !may_be_exact(claims->column->type->kind) ||
        sl_stats_believe(file, claims->column, 1, &unused, &believed, NULL) != SILT_OK) {
        return false;
    }
    if (believed.has_row_count && (believed.row_count == claims->deleted ||
                                   (believed.has_null_count && believed.null_count == believed.row_count))) {
        return true; /* no row is left, or none has a value */
    }
    const silt_value *claimed = is_max ? &claims->bounds->max : &claims->bounds->min;
    if (!(is_max ? believed.has_max : believed.has_min) ||
        !sl_value_compare(claimed, is_max ? &believed.max : &believed.min, &order) || order != 0) {
        return false;
    }
    *out = *claimed;
    return true;
}
