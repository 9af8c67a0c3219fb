/*
 * Row ids of new files; see row_ids.h. Called when a commit file is made for a version, as the ids depend on what others gave before.
 */
#include "kernel/txn/row_ids.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/feature/feature.h"

bool sl_row_ids_wanted(const struct sl_rebase *rebase)
{
    return sl_protocol_has_feature(rebase->protocol, "rowTracking") &&
           !sl_property_bool(&rebase->metadata->configuration, "delta.rowTrackingSuspended");
}

silt_status sl_row_ids_give(const struct sl_rebase *rebase, size_t index, int64_t *high_water, struct sl_add *add,
                            silt_error *err)
{
    const int64_t rows = rebase->rows[index];
    if (add->default_row_commit_version == SL_NO_I64) {
        add->default_row_commit_version = rebase->version;
    }
    if (add->base_row_id != SL_NO_I64) {
        return SILT_OK;
    }
    if (rows < 0) {
        return sl_fail(err, SILT_ECONSTRAINT, "DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS",
                       "the table has row tracking: the statistics of %.*s must have numRecords", SL_FMT(add->path));
    }
    int64_t end = 0;
    if (!sl_add_i64(*high_water, rows, &end) || end == INT64_MAX) {
        return sl_fail(err, SILT_ELIMIT, NULL, "the table has used up all row ids");
    }
    add->base_row_id = *high_water + 1;
    *high_water = end;
    return SILT_OK;
}

silt_status sl_row_ids_write_mark(struct sl_buf *out, int64_t high_water, silt_error *err)
{
    char text[64];
    (void)snprintf(text, sizeof(text), "{\"rowIdHighWaterMark\":%" PRId64 "}",
                   high_water); /* fits whatever the number */
    struct sl_action action = {.kind = SL_ACTION_DOMAIN_METADATA};
    action.u.domain.domain = SL_STR(SL_ROW_TRACKING_DOMAIN);
    action.u.domain.configuration = sl_str_from(text);
    return sl_action_write(out, &action, err);
}
