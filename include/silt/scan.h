/*
 * Scans: which files, and which rows, a query needs.
 *
 * A builder has one owner; a built scan is immutable, reference-counted and usable from any thread.
 */
#ifndef SILT_SCAN_H
#define SILT_SCAN_H

#include "silt/arrow.h"
#include "silt/engine.h"
#include "silt/env.h"
#include "silt/export.h"
#include "silt/expr.h"
#include "silt/snapshot.h"
#include "silt/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct silt_scan_builder silt_scan_builder;
typedef struct silt_scan silt_scan;

/*
 * A builder that holds the snapshot. Free it with silt_scan_builder_free. A snapshot that was opened through a version checksum is compared
 * with its log here, which may read a checkpoint; should the two differ, the scan is of the same version as the log has it.
 */
SILT_API SILT_NODISCARD silt_status silt_scan_builder_new(silt_snapshot *snapshot, silt_scan_builder **out,
                                                          silt_error *err);
SILT_API void silt_scan_builder_free(silt_scan_builder *builder); /* NULL is legal */
/*
 * Top-level columns wanted, in this order, ignoring case; SILT_ESCHEMA names one that is not there. Without a call: all, in the
 * schema's order.
 *
 * Beside the table's own there is "_metadata", a struct of what is known of a row by its file (silt/engine.h lists the fields; those of
 * row tracking are there only where the table has it enabled). "_metadata" asks for all of it, "_metadata.row_index" for one field;
 * several of these make one column "_metadata" where the first of them stands, with the fields in the order of asking. Filters can name
 * its fields too. A column of the table that is called so, or like "_metadata.row_index" as a whole, goes before.
 */
SILT_API SILT_NODISCARD silt_status silt_scan_builder_project(silt_scan_builder *builder, const char *const *columns,
                                                              size_t n, silt_error *err);
/* Only rows for which the predicate is true. Several calls are joined by AND. The predicate is referenced, not consumed. */
SILT_API SILT_NODISCARD silt_status silt_scan_builder_filter(silt_scan_builder *builder, const silt_expr *predicate,
                                                             silt_error *err);
/*
 * The instant of a wall clock's time, both in microseconds since the epoch. Called on the thread that builds a scan, once for each
 * distinct combination of partition values. What it fails with, the build fails with.
 */
typedef silt_status (*silt_local_time)(void *ctx, int64_t wall_us, int64_t *instant_us, silt_error *err);
/*
 * The zone of partition values of type timestamp that are written without one: the wall clock of the system that wrote them, which the log
 * does not record (PROTOCOL.md "Partition Value Serialization"). Without a call it is UTC. One zone counts for the values in rows and for
 * pruning alike; values that name their zone and timestamps without zone do not depend on it. ctx must outlive the builder.
 */
SILT_API SILT_NODISCARD silt_status silt_scan_builder_local_time(silt_scan_builder *builder, silt_local_time local_time,
                                                                 void *ctx, silt_error *err);
/* Plans: partition pruning and data skipping happen here. The builder can be used again or freed. */
SILT_API SILT_NODISCARD silt_status silt_scan_builder_build(silt_scan_builder *builder, const silt_call *call,
                                                            silt_scan **out, silt_error *err);

SILT_API silt_scan *silt_scan_ref(silt_scan *scan); /* the same object; pair it with an unref */
SILT_API void silt_scan_unref(silt_scan *scan);     /* NULL is legal */

/* The columns that silt_scan_read gives, logical, as projected. Borrowed. */
SILT_API const silt_schema *silt_scan_schema(const silt_scan *scan);
/* The plan in the engine's terms; borrowed, lives with the scan. */
SILT_API const silt_scan_plan *silt_scan_get_plan(const silt_scan *scan);
/* What the engine must still evaluate on each row; NULL when partition pruning answered all. Borrowed. */
SILT_API const silt_expr *silt_scan_remaining_filter(const silt_scan *scan);

/*
 * The surviving files: path (utf8, absolute), size (int64), modificationTime (int64, ms), partitionValues (map<utf8, utf8>, logical
 * names), stats (utf8, nullable, as in the log: physical names), deletionVector (nullable struct of the members of silt_deletion_vector:
 * storageType, path, inlineData, offset, sizeInBytes, cardinality), baseRowId and defaultRowCommitVersion (int64, nullable), tags
 * (map<utf8, utf8>, nullable). The stream holds the scan. Columns may come after these in later versions: find them by name.
 */
SILT_API SILT_NODISCARD silt_status silt_scan_files(silt_scan *scan, const silt_call *call,
                                                    struct ArrowArrayStream *out, silt_error *err);
/*
 * The rows, in logical columns and types, filtered. The stream holds the scan and is pulled by one thread.
 * SILT_EUNSUPPORTED when the engine lacks the handler for Parquet or, with a filter, for expressions.
 */
SILT_API SILT_NODISCARD silt_status silt_scan_read(silt_scan *scan, const silt_call *call, struct ArrowArrayStream *out,
                                                   silt_error *err);

#ifdef __cplusplus
}
#endif

#endif
