/*
 * Literals that mean a wall clock; see zone.h. Pure but for the caller's zone; any thread.
 */
#include "expr/zone.h"

#include "base/error.h"
#include "base/time.h"

/* Was the instant made of a wall clock, taken for UTC? */
static bool was_local(const silt_value *from)
{
    int64_t us = 0;
    bool has_zone = false;
    switch (from->kind) {
    case SILT_TYPE_DATE:
    case SILT_TYPE_TIMESTAMP_NTZ: return true;
    case SILT_TYPE_STRING: return sl_timestamp_parse(sl_str_trim(sl_value_get_str(from)), &us, &has_zone) && !has_zone;
    default: return false;
    }
}

silt_status sl_zone_apply(const struct sl_expr_zone *zone, const silt_value *from, silt_value *to, silt_error *err)
{
    if (zone == NULL || from->is_null || to->is_null) {
        return SILT_OK;
    }
    if (to->kind == SILT_TYPE_TIMESTAMP && was_local(from)) {
        return zone->local_time(zone->ctx, to->as.i64, &to->as.i64, err);
    }
    const bool reads_clock = to->kind == SILT_TYPE_DATE || to->kind == SILT_TYPE_TIMESTAMP_NTZ ||
                             to->kind == SILT_TYPE_STRING;
    if (from->kind == SILT_TYPE_TIMESTAMP && reads_clock) {
        const silt_status status = sl_fail(
            err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_EXPRESSION",
            "a literal of type timestamp cannot be used as %s in a session whose zone is "
            "not UTC",
            sl_type_kind_name(to->kind));
        sl_error_hint(err, "write it in that type");
        return status;
    }
    return SILT_OK;
}
