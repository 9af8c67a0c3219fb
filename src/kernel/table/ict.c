/*
 * Enablement of in-commit timestamps; see ict.h.
 */
#include "kernel/table/ict.h"

#include "kernel/feature/feature.h"
#include "kernel/snapshot/state.h"

static int64_t property_number(const struct sl_kv_list *configuration, const char *key, int64_t if_absent)
{
    int64_t number = 0;
    return sl_str_to_i64(sl_kv_get(configuration, sl_str_from(key), NULL), &number) ? number : if_absent;
}

struct sl_ict sl_ict_of(const silt_snapshot *snapshot)
{
    const struct sl_kv_list *configuration = &sl_snapshot_get_metadata(snapshot)->configuration;
    if (!sl_protocol_has_feature(sl_snapshot_protocol(snapshot), "inCommitTimestamp") ||
        !sl_property_bool(configuration, "delta.enableInCommitTimestamps")) {
        return (struct sl_ict){.version = INT64_MAX, .timestamp_ms = INT64_MAX};
    }
    return (struct sl_ict){
        .version = property_number(configuration, "delta.inCommitTimestampEnablementVersion", 0),
        .timestamp_ms = property_number(configuration, "delta.inCommitTimestampEnablementTimestamp", INT64_MIN),
    };
}
