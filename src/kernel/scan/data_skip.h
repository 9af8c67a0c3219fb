/*
 * Data skipping: which of a batch of files can hold rows of a filter, by their statistics and partition values.
 */
#ifndef SL_KERNEL_SCAN_DATA_SKIP_H
#define SL_KERNEL_SCAN_DATA_SKIP_H

#include "kernel/scan/file_stats.h"
#include "kernel/scan/partition_prune.h"
#include "silt/engine.h"

/* A file to judge. */
struct sl_skip_file {
    struct sl_str stats; /* JSON text, absent if there is none */
    const struct sl_partition_tuple *tuple;
    bool keep; /* the answer */
};

/* Could some row of a file with these bounds and partition values pass every AND member? Pure. scratch is left for the caller. */
bool sl_data_skip_may_match(const struct sl_scan_filter *filter, const struct sl_partition_tuple *tuple,
                            const struct sl_bounds *bounds, struct sl_arena *scratch);

/* Judges n files; on the engine's executor when they are many. */
silt_status sl_data_skip(silt_engine *engine, const silt_call *call, const struct sl_scan_filter *filter,
                         struct sl_skip_file *files, size_t n, silt_error *err);

#endif
