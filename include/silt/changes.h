/*
 * Change data: which rows the versions of a range inserted, updated and deleted (PROTOCOL.md "Change Data Files", "Reader Requirements
 * for Change Data").
 *
 * Rows have the columns of the table as of the last version of the range, then "_change_type" (text: insert, delete, update_preimage,
 * update_postimage), "_commit_version" (long) and "_commit_timestamp" (timestamp). A version with change files is read from those
 * alone; of any other version the rows of added files are inserted, those of removed files deleted, and where a file stays with another
 * deletion vector the difference of both. Versions that change no data give no rows.
 *
 * A silt_changes is immutable, reference-counted and usable from any thread.
 */
#ifndef SILT_CHANGES_H
#define SILT_CHANGES_H

#include <stddef.h>
#include <stdint.h>

#include "silt/arrow.h"
#include "silt/engine.h"
#include "silt/env.h"
#include "silt/export.h"
#include "silt/scan.h"
#include "silt/schema.h"
#include "silt/status.h"
#include "silt/table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct silt_changes silt_changes;

#define SILT_CHANGES_BY_TIME (-1) /* as a version: the timestamp beside it counts */
#define SILT_CHANGES_LATEST (-2)  /* as last version: the newest */

/* A range of versions, both ends in it. Zeroes mean version 0 alone: set to_version, mostly to SILT_CHANGES_LATEST. */
typedef struct silt_changes_options {
    uint32_t size;
    int64_t from_version;      /* or SILT_CHANGES_BY_TIME: the first version at or after from_timestamp_us */
    int64_t from_timestamp_us; /* microseconds, UTC; before the table's first version: that one */
    int64_t to_version; /* or SILT_CHANGES_BY_TIME, SILT_CHANGES_LATEST; later ones than the newest mean the newest */
    int64_t to_timestamp_us;    /* the last version at or before it */
    silt_local_time local_time; /* of partition values without a zone, see silt_scan_builder_local_time; NULL: UTC */
    void *local_time_ctx;
} silt_changes_options;

/*
 * Plans the changes of a range: its commits are read here, data files are not. SILT_EINVALID (DELTA_INVALID_CDC_RANGE): the end is before
 * the start; SILT_ENOTFOUND: the range begins after the newest version (DELTA_CDC_START_VERSION_AFTER_LATEST), or before what the log still
 * holds; SILT_EUNSUPPORTED (DELTA_MISSING_CHANGE_DATA): change data was not enabled in all versions of the range;
 * SILT_ESCHEMA (DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE): a version's columns cannot be read as those of the last. The
 * message names the version.
 */
SILT_API SILT_NODISCARD silt_status silt_table_changes(silt_table *table, const silt_call *call,
                                                       const silt_changes_options *options, silt_changes **out,
                                                       silt_error *err);
SILT_API silt_changes *silt_changes_ref(silt_changes *changes); /* the same object; pair it with an unref */
SILT_API void silt_changes_unref(silt_changes *changes);        /* NULL is legal */

SILT_API int64_t silt_changes_from_version(const silt_changes *changes);
SILT_API int64_t silt_changes_to_version(const silt_changes *changes);
/* The columns of the rows. Borrowed. */
SILT_API const silt_schema *silt_changes_schema(const silt_changes *changes);
/*
 * The plans whose rows, together, are the changes: one, or two (change files apart from data files). Their columns are those of the
 * schema; what is constant in a file stands with its partition values, so that SILT_FROM_PARTITION has more columns than the table is
 * partitioned by. Borrowed.
 */
SILT_API size_t silt_changes_plan_count(const silt_changes *changes);
SILT_API const silt_scan_plan *silt_changes_plan(const silt_changes *changes, size_t index);
/* The rows, in no particular order. The stream holds the changes and is pulled by one thread. */
SILT_API SILT_NODISCARD silt_status silt_changes_read(silt_changes *changes, const silt_call *call,
                                                      struct ArrowArrayStream *out, silt_error *err);

#ifdef __cplusplus
}
#endif

#endif
