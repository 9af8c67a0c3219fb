/*
 * Since when a table's commits have times of their own (PROTOCOL.md "In-Commit Timestamps"). Pure; called by time travel and
 * history.
 */
#ifndef SL_KERNEL_TABLE_ICT_H
#define SL_KERNEL_TABLE_ICT_H

#include "silt/snapshot.h"

struct sl_ict {
    int64_t version;      /* first version with an in-commit timestamp; INT64_MAX: there is none, 0: all have one */
    int64_t timestamp_ms; /* its time; INT64_MIN when all versions have one, INT64_MAX when none has */
};

struct sl_ict sl_ict_of(const silt_snapshot *snapshot);

#endif
