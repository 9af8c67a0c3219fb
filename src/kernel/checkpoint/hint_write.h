/*
 * Writing `_last_checkpoint` (PROTOCOL.md "Last Checkpoint File"), after its checkpoint is whole. Any thread.
 */
#ifndef SL_KERNEL_CHECKPOINT_HINT_WRITE_H
#define SL_KERNEL_CHECKPOINT_HINT_WRITE_H

#include "kernel/action/action.h"
#include "kernel/log/commit_batch.h"
#include "silt/schema.h"

struct sl_hint_content {
    int64_t version;
    int64_t size;          /* actions */
    int64_t parts;         /* 0: it has none */
    int64_t size_in_bytes; /* of all its files */
    int64_t n_adds;
    const silt_schema *schema; /* of its rows; NULL: not told */
    /* Of a V2 checkpoint under a name with a UUID: */
    struct sl_str v2_path; /* within _delta_log; absent: it is none */
    int64_t v2_size_bytes;
    int64_t v2_modified_ms;
    const struct sl_sidecar *sidecars;
    size_t n_sidecars;
};

/* Pure: the JSON object, its checksum last. */
silt_status sl_hint_print(const silt_env *env, const struct sl_hint_content *content, struct sl_buf *out,
                          silt_error *err);
/* Writes it unless there is a hint of a newer version. */
silt_status sl_hint_write(const struct sl_log_source *source, const silt_call *call,
                          const struct sl_hint_content *content, silt_error *err);

#endif
