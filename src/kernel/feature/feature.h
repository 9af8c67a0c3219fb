/*
 * Table features and table properties as data tables, and the one gate for reading and writing (PROTOCOL.md "Table Features",
 * "Requirements for Writers", "Requirements for Readers"). Pure; any thread.
 */
#ifndef SL_KERNEL_FEATURE_H
#define SL_KERNEL_FEATURE_H

#include "kernel/action/action.h"
#include "schema/type.h"
#include "silt/schema.h"

enum sl_feature_support {
    SL_FEATURE_REFUSED,   /* known by name, not built: refused */
    SL_FEATURE_IGNORABLE, /* nothing to do for this side */
    SL_FEATURE_SUPPORTED,
    SL_FEATURE_BY_CATALOG /* supported for tables that were opened through their catalog, else refused */
};

struct sl_feature {
    const char *name;
    bool reader_writer;            /* listed in both lists; else writer only */
    int32_t legacy_reader_version; /* version that implies it, 0 if none */
    int32_t legacy_writer_version;
    enum sl_feature_support read;
    enum sl_feature_support write;
};

const struct sl_feature *sl_feature_find(struct sl_str name); /* NULL if unknown */

/* Is the feature active under this protocol (listed, or implied by legacy versions)? */
bool sl_protocol_has_feature(const struct sl_protocol *protocol, const char *name);
/* Validity of the action itself (versions known, lists only where they belong, each reader feature also a writer feature). */
silt_status sl_protocol_validate(const struct sl_protocol *protocol, silt_error *err);
/*
 * May silt read / write a table of this protocol, metadata and schema? SILT_EUNSUPPORTED, DELTA_UNSUPPORTED_FEATURES_FOR_READ / _WRITE
 * or DELTA_INVALID_PROTOCOL_VERSION, names every feature that stands in the way. A legacy feature that is implied by a
 * version but not in use in the table (by its metadata) does not stand in the way of writing.
 */
silt_status sl_gate_read(const struct sl_protocol *protocol, const struct sl_metadata *metadata,
                         const silt_schema *schema, silt_error *err);
/* The same for a table that was opened through its catalog (silt_table_for_catalog). */
silt_status sl_gate_read_by_catalog(const struct sl_protocol *protocol, const struct sl_metadata *metadata,
                                    const silt_schema *schema, silt_error *err);
silt_status sl_gate_write(const struct sl_protocol *protocol, const struct sl_metadata *metadata,
                          const silt_schema *schema, silt_error *err);
/* The same for a table that was opened through its catalog, with a committer. */
silt_status sl_gate_write_by_catalog(const struct sl_protocol *protocol, const struct sl_metadata *metadata,
                                     const silt_schema *schema, silt_error *err);

/*
 * The protocol that a new table needs, and the properties that are stored: (1,2) unless its schema, properties (delta.minReaderVersion, delta.minWriterVersion,
 * delta.feature.X = supported, delta.appendOnly …) ask for more. What silt cannot write is refused; what features ask of the metadata
 * is left to sl_gate_write, once columns have their names and ids.
 */
silt_status sl_protocol_for_new_table(struct sl_arena *arena, const silt_schema *schema,
                                      const struct sl_kv_list *properties, struct sl_protocol *out,
                                      struct sl_kv_list *kept_properties, silt_error *err);

/*
 * The protocol that an existing table needs once it has this configuration and schema. properties (may be empty) can hold
 * protocol settings of SET TBLPROPERTIES (delta.feature.X, delta.minReaderVersion, delta.minWriterVersion). Nothing is ever
 * taken away; *changed tells whether `out` differs from `current`. What silt cannot write is refused by sl_gate_write.
 */
silt_status sl_protocol_for_change(struct sl_arena *arena, const struct sl_protocol *current,
                                   const struct sl_kv_list *properties, const struct sl_metadata *metadata,
                                   const silt_schema *schema, struct sl_protocol *out, bool *changed, silt_error *err);

/*
 * May a transaction that began under `before` commit under `after`? Nothing was taken away, and what was added asks nothing of a
 * writer that does not find it in use: for that the metadata must change too. What silt cannot write is not looked at.
 */
bool sl_protocol_change_is_harmless(const struct sl_protocol *before, const struct sl_protocol *after);

/*
 * May a change leave metadata as `after`, with this schema? before: the configuration that the table had; NULL: it is new. Classes
 * RESERVED_CDC_COLUMNS_ON_WRITE, DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS, DELTA_COLUMN_NOT_FOUND_IN_SCHEMA, DELTA_COLUMN_DATA_SKIPPING_*,
 * DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS. Scratch memory comes from the arena.
 */
silt_status sl_metadata_check_change(struct sl_arena *arena, const struct sl_kv_list *before,
                                     const struct sl_metadata *after, const silt_schema *schema, silt_error *err);

/* Is the key a setting of the protocol (delta.minReaderVersion, delta.feature.X …), which is never stored in metaData? */
bool sl_property_is_protocol(struct sl_str key);

/* Table properties. */
enum sl_property_type {
    SL_PROPERTY_BOOL,
    SL_PROPERTY_INT,  /* of 32 bits, as in Spark */
    SL_PROPERTY_LONG, /* of 64 */
    SL_PROPERTY_BYTES,
    SL_PROPERTY_INTERVAL,
    SL_PROPERTY_ENUM,
    SL_PROPERTY_TEXT,
    SL_PROPERTY_COLUMNS
};

/* Checks key and value as on CREATE or SET; DELTA_UNKNOWN_CONFIGURATION suggests the near one. Keys outside delta.* and
 * silt.* are free. */
silt_status sl_property_validate(struct sl_str key, struct sl_str value, silt_error *err);
/* A property that writers alone set: DELTA_CANNOT_MODIFY_TABLE_PROPERTY. */
silt_status sl_property_check_owner(struct sl_str key, silt_error *err);
/* The key as it is stored: known delta.* keys in their own spelling, delta.feature.* and delta.universalFormat.config.* in
 * lower case, others as they are. Borrows from key, static text or the arena; absent when out of memory. */
struct sl_str sl_property_canonical(struct sl_arena *arena, struct sl_str key);
/* The value as it is stored: truth values and choices of known properties in the protocol's spelling, since other readers compare
 * letter by letter; everything else as it is. Borrows from value or static text. */
struct sl_str sl_property_canonical_value(struct sl_str key, struct sl_str value);
/* Effective values with their defaults; a value that does not parse is the default. */
bool sl_property_bool(const struct sl_kv_list *config, const char *key);
int64_t sl_property_int(const struct sl_kv_list *config, const char *key);
int64_t sl_property_bytes(const struct sl_kv_list *config, const char *key);       /* "128MB" … */
int64_t sl_property_interval_ms(const struct sl_kv_list *config, const char *key); /* "interval 30 days" … */
struct sl_str sl_property_text(const struct sl_kv_list *config, const char *key);  /* absent if unset and no default */

/*
 * The leaf columns that get statistics: by delta.dataSkippingStatsColumns if set, else the first
 * delta.dataSkippingNumIndexedCols (32) leaves of the data schema, partition columns apart. selected has one flag for each leaf
 * of data_schema, in depth-first order.
 */
silt_status sl_stats_columns(const struct sl_kv_list *config, const silt_schema *data_schema, struct sl_arena *arena,
                             bool **selected, size_t *n, silt_error *err);
/* Selects the leaves at and below a path too; names ignore case, and a path that is not there selects none. */
void sl_stats_columns_select(const silt_schema *data_schema, const struct sl_str *path, size_t path_len,
                             bool *selected);

#endif
