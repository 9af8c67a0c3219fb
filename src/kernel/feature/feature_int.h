/*
 * The feature table as the files of this folder see it: places in the table, sets of features, and the tests whether a
 * feature is in use by a table's metadata.
 */
#ifndef SL_KERNEL_FEATURE_INT_H
#define SL_KERNEL_FEATURE_INT_H

#include "kernel/feature/feature.h"

/* A set of known features: bit i is feature i of features.def. */
typedef uint64_t sl_feature_set;

#define SL_FEATURE_DETAIL_SIZE 160

size_t sl_feature_count(void);
const struct sl_feature *sl_feature_at(size_t index);
/* Place of a known feature, by exact name or ignoring case; SIZE_MAX if unknown. */
size_t sl_feature_index(struct sl_str name);
size_t sl_feature_index_nocase(struct sl_str name);

/* The features that legacy versions imply. */
sl_feature_set sl_feature_implied(int64_t reader_version, int64_t writer_version);
/* All known features that are active under a protocol, for a reader or for a writer. */
sl_feature_set sl_feature_active(const struct sl_protocol *protocol, bool for_writing);

/*
 * Is the feature in use in a table of this configuration and schema (NULL: none)? *detail then names the property or column
 * that shows it. A feature whose use does not show is never in use by this test.
 */
bool sl_feature_in_use(size_t index, const struct sl_kv_list *config, const silt_schema *schema,
                       char detail[SL_FEATURE_DETAIL_SIZE]);
/* Features whose use shows in the metadata. */
sl_feature_set sl_feature_used(const struct sl_kv_list *config, const silt_schema *schema);
/* The gate for writing as far as features are supported, without what they ask of the metadata. */
silt_status sl_gate_write_features(const struct sl_protocol *protocol, const struct sl_metadata *metadata,
                                   const silt_schema *schema, silt_error *err);
/* Is it a constraint on rows, which a writer must not overlook even where the protocol does not list it? */
bool sl_feature_is_constraint(size_t index);
/*
 * What features ask of metadata beyond being listed. Classes DELTA_ICEBERG_COMPAT_VIOLATION.*,
 * DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION.
 */
silt_status sl_feature_check_rules(const struct sl_protocol *protocol, const struct sl_kv_list *config,
                                   const silt_schema *schema, silt_error *err);
/* True if a listed feature that silt lacks is harmless while unused. */
bool sl_feature_unused_is_free(size_t index);

#endif
