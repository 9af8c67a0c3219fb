/*
 * What kind of checkpoint is written, and what of a table's past it keeps: a pure decision over protocol, properties and options.
 */
#ifndef SL_KERNEL_CHECKPOINT_CHECKPOINT_PLAN_H
#define SL_KERNEL_CHECKPOINT_CHECKPOINT_PLAN_H

#include "kernel/action/action.h"
#include "kernel/checkpoint/checkpoint_write.h"

struct sl_checkpoint_plan {
    bool is_v2;
    bool json_top;
    bool in_parts;
    int64_t rows_per_part;
    int64_t held_bytes;        /* of a plan in parts */
    int64_t files_per_sidecar; /* INT64_MAX: no limit; 0: no sidecars */
    bool stats_json;
    bool stats_struct;
    int64_t tombstones_after_ms; /* those of this time and before have expired */
    int64_t txns_after_ms;       /* likewise; INT64_MIN: they are all kept */
};

struct sl_checkpoint_plan_input {
    const struct sl_protocol *protocol;
    const struct sl_metadata *metadata;
    const struct sl_checkpoint_options *options;
    bool can_write_parquet; /* the engine writes files of a given name */
    int64_t now_ms;
};
/* SILT_EINVALID, SILT_EUNSUPPORTED: the options do not fit each other or the table. */
silt_status sl_checkpoint_plan(const struct sl_checkpoint_plan_input *input, struct sl_checkpoint_plan *out,
                               silt_error *err);

bool sl_checkpoint_keeps_txn(const struct sl_checkpoint_plan *plan, const struct sl_app_txn *txn);

/*
 * The part, from 0, of a file action in a checkpoint of n parts (PROTOCOL.md "Multi-part checkpoint"): Spark's hash of path, and of the
 * vector's id where the table supports vectors. path absent: of an action that is about no file.
 */
int32_t sl_checkpoint_part_of(struct sl_str path, const struct sl_dv_descriptor *vector, bool with_vectors, int32_t n);

#endif
