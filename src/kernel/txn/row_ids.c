/*
 * Row ids of new files; see row_ids.h. Called when a commit file is made for a version, as the ids depend on what others gave before.
 */
#include "kernel/txn/row_ids.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "json/json.h"
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

static silt_status fail_mark(int64_t high_water, const struct sl_add *add, silt_error *err)
{
    const silt_status status = sl_fail(
        err, SILT_ECORRUPT, "SILT_ROW_IDS_ABOVE_HIGH_WATER_MARK",
        "the table says that %" PRId64
        " is the highest row id that was given (rowIdHighWaterMark), but %.*s has higher "
        "ones: new rows would get the ids of others",
        high_water, SL_FMT(add->path));
    sl_error_hint(err, "silt fsck lists the files; CREATE TABLE … AS SELECT makes a table with new ids");
    return status;
}

silt_status sl_row_ids_check(const silt_env *env, int64_t high_water, const struct sl_add *add, bool whole,
                             silt_error *err)
{
    if (add->base_row_id == SL_NO_I64 || add->base_row_id < 0) {
        return SILT_OK;
    }
    int64_t rows = 0;
    struct sl_json_doc *doc = NULL;
    const silt_status parsed = add->stats.ptr != NULL ? sl_json_parse(env, add->stats, &doc, err) : SILT_EINVALID;
    if (parsed == SILT_ENOMEM) {
        return parsed;
    }
    if (parsed != SILT_OK || !sl_json_to_i64(sl_json_member(sl_json_root(doc), "numRecords"), &rows) || rows < 0) {
        rows = whole ? 1 : 0;
    }
    sl_json_free(doc);
    silt_error_reset(err);
    int64_t last = 0;
    return !sl_add_i64(add->base_row_id - 1, rows, &last) || last > high_water ? fail_mark(high_water, add, err)
                                                                               : SILT_OK;
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
