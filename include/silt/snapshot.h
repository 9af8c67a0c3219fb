/*
 * Snapshots: the state of a table at one version (PROTOCOL.md "Delta Table Specification", "Action Reconciliation").
 *
 * Immutable, reference-counted, usable from any thread. What a getter returns lives as long as the snapshot.
 */
#ifndef SILT_SNAPSHOT_H
#define SILT_SNAPSHOT_H

#include <stdint.h>

#include "silt/engine.h"
#include "silt/env.h"
#include "silt/export.h"
#include "silt/schema.h"
#include "silt/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct silt_snapshot silt_snapshot;

SILT_API silt_snapshot *silt_snapshot_ref(silt_snapshot *snapshot); /* the same object; pair it with an unref */
SILT_API void silt_snapshot_unref(silt_snapshot *snapshot);         /* NULL is legal */

/*
 * The newest snapshot, built from this one by reading the tail of the log only. *out is a new reference: to `snapshot`
 * itself when nothing is newer. A log that was replaced is loaded afresh. Fails as silt_table_latest_snapshot does.
 */
SILT_API SILT_NODISCARD silt_status silt_snapshot_refresh(silt_snapshot *snapshot, const silt_call *call,
                                                          silt_snapshot **out, silt_error *err);

SILT_API int64_t silt_snapshot_version(const silt_snapshot *snapshot);
/* When the version was committed, in milliseconds since the epoch: the in-commit timestamp, else the commit file's time. */
SILT_API int64_t silt_snapshot_timestamp_ms(const silt_snapshot *snapshot);
/* The logical schema, borrowed: take a reference to keep it longer than the snapshot. */
SILT_API const silt_schema *silt_snapshot_schema(const silt_snapshot *snapshot);
/*
 * The schema in the names of data files, statistics and partition values: of the same shape as the logical one, which it is itself
 * without column mapping. With it every field's metadata has its id as "parquet.field.id", for whoever writes files, or reads those of
 * tables in id mode (PROTOCOL.md "Column Mapping"). Borrowed as above.
 */
SILT_API const silt_schema *silt_snapshot_physical_schema(const silt_snapshot *snapshot);
/* Names of the partition columns, in the order of the metadata; NULL past the end. */
SILT_API size_t silt_snapshot_partition_count(const silt_snapshot *snapshot);
SILT_API const char *silt_snapshot_partition_column(const silt_snapshot *snapshot, size_t index);
/* What the table asks of its readers and writers (PROTOCOL.md "Protocol Evolution"). */
SILT_API int32_t silt_snapshot_min_reader_version(const silt_snapshot *snapshot);
SILT_API int32_t silt_snapshot_min_writer_version(const silt_snapshot *snapshot);
/* Names of table features, of readers and writers, each once (PROTOCOL.md "Table Features"); NULL past the end. */
SILT_API size_t silt_snapshot_feature_count(const silt_snapshot *snapshot);
SILT_API const char *silt_snapshot_feature(const silt_snapshot *snapshot, size_t index);

/* The table's metadata (PROTOCOL.md "Change Metadata"). Text is NULL where absent. */
typedef struct silt_metadata {
    uint32_t size;
    const char *id;
    const char *name;
    const char *description;
    const char *format_provider;
    int64_t created_time_ms; /* -1 if absent */
} silt_metadata;
/* Fills *out, whose size the caller has set. */
SILT_API void silt_snapshot_metadata(const silt_snapshot *snapshot, silt_metadata *out);
/* Table properties (metaData.configuration), in the order of their keys; key and value are NULL past the end. */
SILT_API size_t silt_snapshot_property_count(const silt_snapshot *snapshot);
SILT_API void silt_snapshot_property(const silt_snapshot *snapshot, size_t index, const char **key, const char **value);
SILT_API const char *silt_snapshot_property_get(const silt_snapshot *snapshot, const char *key); /* NULL if unset */
/* Configuration of a metadata domain, NULL if there is none. */
SILT_API const char *silt_snapshot_domain(const silt_snapshot *snapshot, const char *domain);
/* Last version that an application recorded, -1 if none (PROTOCOL.md "Transaction Identifiers"). */
SILT_API int64_t silt_snapshot_app_version(const silt_snapshot *snapshot, const char *app_id);

/* Number and total size in bytes of the live files. Reads the checkpoint when nothing has read it before. */
SILT_API SILT_NODISCARD silt_status silt_snapshot_totals(silt_snapshot *snapshot, const silt_call *call,
                                                         int64_t *num_files, int64_t *size_bytes, silt_error *err);

#ifdef __cplusplus
}
#endif

#endif
