/*
 * The search for a way to a version: hint, listing, choice, and what to do differently after a way proved bad. A stale hint or a
 * bad checkpoint costs another listing and a note, never the table (PROTOCOL.md "Last Checkpoint File", "Checkpoints"). One
 * owner; used by snapshot loading and by views.
 */
#ifndef SL_KERNEL_SNAPSHOT_SEGMENT_SEARCH_H
#define SL_KERNEL_SNAPSHOT_SEGMENT_SEARCH_H

#include "base/vec.h"
#include "kernel/log/segment.h"
#include "silt/table.h"

/* Whose fault a failure to open a segment was. */
enum sl_segment_fault {
    SL_FAULT_OTHER,      /* the store's, the caller's, the table's own */
    SL_FAULT_CHECKPOINT, /* the checkpoint's */
    SL_FAULT_COMPACTED,  /* perhaps a compacted file's: the commits may do */
    SL_FAULT_NO_HISTORY  /* the commits do not begin with the table: the bad checkpoint was the only way */
};

struct sl_segment_search {
    silt_table *table; /* borrowed */
    const silt_env *env;
    const silt_call *call;
    int64_t version;       /* wanted, or SL_VERSION_LATEST */
    struct sl_arena names; /* of bad checkpoints */
    struct sl_vec bad;     /* of struct sl_str */
    bool ignore_hint;
    bool commits_only;
    bool ignore_crcs; /* the log itself is wanted */
    bool with_files;  /* its files will be wanted at once: a checkpoint's are asked for when it is opened */
    unsigned n_attempts;
    silt_error first; /* why the first bad checkpoint was, told when nothing else helps */
};

void sl_segment_search_init(struct sl_segment_search *search, silt_table *table, const silt_call *call,
                            int64_t version);
void sl_segment_search_release(struct sl_segment_search *search);

/* The best way that is left. Names live in the arena. When the only one left has gaps, the first bad checkpoint is told. */
silt_status sl_segment_search_next(struct sl_segment_search *search, struct sl_arena *arena, struct sl_log_segment *out,
                                   silt_error *err);

/* From now on the segment's checkpoint is not chosen. `reason` is logged once. */
silt_status sl_segment_search_exclude(struct sl_segment_search *search, const struct sl_log_segment *segment,
                                      const silt_error *reason, silt_error *err);

/* After opening a segment failed: arranges for another way. *again false: the failure is final. */
silt_status sl_segment_search_failed(struct sl_segment_search *search, const struct sl_log_segment *segment,
                                     enum sl_segment_fault fault, const silt_error *reason, bool *again,
                                     silt_error *err);

/* No checkpoint could be used: the commits must then be shown to be the table's from its beginning. */
bool sl_segment_search_fell_back(const struct sl_segment_search *search);

#endif
