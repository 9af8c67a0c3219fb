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

/* A builder that holds the snapshot. Free it with silt_scan_builder_free. */
SILT_API SILT_NODISCARD silt_status silt_scan_builder_new(silt_snapshot *snapshot, silt_scan_builder **out,
                                                          silt_error *err);
SILT_API void silt_scan_builder_free(silt_scan_builder *builder); /* NULL is legal */
/* Top-level columns wanted, in this order, ignoring case; SILT_ESCHEMA names one that is not there. Without a call: all, in
 * the schema's order. */
SILT_API SILT_NODISCARD silt_status silt_scan_builder_project(silt_scan_builder *builder, const char *const *columns,
                                                              size_t n, silt_error *err);
/* Only rows for which the predicate is true. Several calls are joined by AND. The predicate is referenced, not consumed. */
SILT_API SILT_NODISCARD silt_status silt_scan_builder_filter(silt_scan_builder *builder, const silt_expr *predicate,
                                                             silt_error *err);
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
 * The surviving files: path (utf8, absolute), size (int64), modificationTime (int64, ms), partitionValues
 * (map<utf8, utf8>, logical names), stats (utf8, nullable). The stream holds the scan.
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
