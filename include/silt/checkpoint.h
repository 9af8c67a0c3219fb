/*
 * Checkpoints: the state of a table at one version in a few files, from which it is opened without reading the commits before it
 * (PROTOCOL.md "Checkpoints"). Writers make them now and then by themselves; this is for whoever wants one now.
 */
#ifndef SILT_CHECKPOINT_H
#define SILT_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "silt/env.h"
#include "silt/export.h"
#include "silt/status.h"
#include "silt/table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum silt_checkpoint_kind {
    SILT_CHECKPOINT_BY_TABLE = 0, /* by the table property delta.checkpointPolicy */
    SILT_CHECKPOINT_V1 = 1,       /* one file, or parts */
    SILT_CHECKPOINT_V2 = 2        /* a top file and sidecars; the table must have the feature v2Checkpoint */
} silt_checkpoint_kind;

typedef struct silt_checkpoint_options {
    uint32_t size;
    silt_checkpoint_kind kind;
    int64_t version; /* of the table; -1: the latest */
    int64_t
        rows_per_part; /* of V1: several parts of about so many files; 0: one file. Not for tables with v2Checkpoint */
    int64_t files_per_sidecar; /* of V2: at most so many files and tombstones in a sidecar; 0: one sidecar */
    bool json_top;             /* of V2: the top file is JSON, not Parquet */
} silt_checkpoint_options;

#define SILT_CHECKPOINT_OPTIONS_INIT                                               \
    {                                                                              \
        sizeof(silt_checkpoint_options), SILT_CHECKPOINT_BY_TABLE, -1, 0, 0, false \
    }

typedef struct silt_checkpoint_result {
    uint32_t size; /* set by the caller */
    int64_t version;
    bool written;        /* false: a V1 checkpoint of this version, in one file or in parts, was there already */
    int64_t num_files;   /* data files in it; -1 when it was not written */
    int64_t num_actions; /* rows in it; -1 likewise */
    int64_t size_bytes;  /* of all its files */
    int64_t num_checkpoint_files;
} silt_checkpoint_result;

/*
 * Writes a checkpoint and then the pointer to it, _last_checkpoint. A reader sees all of the checkpoint or nothing of it. options NULL: by
 * the table, of its latest version. result may be NULL. SILT_EUNSUPPORTED: a kind that the table's protocol does not have, a version that its
 * catalog has not published, an engine that cannot write Parquet files. SILT_EINVALID: options that do not fit each other. Any thread.
 */
SILT_API SILT_NODISCARD silt_status silt_table_checkpoint(silt_table *table, const silt_call *call,
                                                          const silt_checkpoint_options *options,
                                                          silt_checkpoint_result *result, silt_error *err);

#ifdef __cplusplus
}
#endif

#endif
