/*
 * Are statistics in JSON, which somebody else made, such that every reader takes them for what they say? PROTOCOL.md "Per-file Statistics".
 * Pure, any thread.
 */
#ifndef SL_KERNEL_TXN_STATS_CHECK_H
#define SL_KERNEL_TXN_STATS_CHECK_H

#include "base/str.h"
#include "schema/type.h"
#include "silt/env.h"

/*
 * numRecords of statistics; -1 if they do not say, or are absent. Fails when they are no JSON object, which readers would have to parse, or the
 * number is none.
 */
silt_status sl_stats_count_rows(const silt_env *env, struct sl_str stats, int64_t *rows, silt_error *err);

/*
 * The same, and looks at every column of the schema that they name: bounds of its type and in order, null counts that can be. What they say of
 * others is passed over, as by Delta Spark. SILT_EINVALID names the member and the file.
 */
struct sl_stats_subject {
    const silt_schema *physical; /* in the names of files */
    const char *path;            /* of the file, for messages */
};
silt_status sl_stats_check(const silt_env *env, const struct sl_stats_subject *subject, struct sl_str stats,
                           int64_t *rows, silt_error *err);

#endif
