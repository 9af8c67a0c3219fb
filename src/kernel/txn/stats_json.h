/*
 * Statistics of a written file as the JSON text of add.stats (PROTOCOL.md "Per-file Statistics"). Pure, any thread.
 */
#ifndef SL_KERNEL_TXN_STATS_JSON_H
#define SL_KERNEL_TXN_STATS_JSON_H

#include "base/buf.h"
#include "schema/type.h"
#include "silt/engine.h"

struct sl_stats_plan {
    const silt_schema *data_schema; /* without partition columns */
    const bool *selected;           /* one flag for each leaf, depth first */
    size_t n_selected;
    size_t prefix_length; /* of text, in characters */
};

silt_status sl_stats_json_write(struct sl_buf *out, const struct sl_stats_plan *plan, const silt_written_file *file,
                                silt_error *err);

/*
 * Bounds of text cut to a prefix. The minimum is cut; the maximum is cut and closed with a character that is above what was
 * cut off. False: there is no such bound (not UTF-8, or no character to close with within twice the length). The
 * result is appended to out.
 */
bool sl_stats_cut_min(struct sl_buf *out, struct sl_str text, size_t prefix_length);
bool sl_stats_cut_max(struct sl_buf *out, struct sl_str text, size_t prefix_length);

#endif
