/*
 * Column mapping (PROTOCOL.md "Column Mapping"): the physical schema that stands behind a logical one. Pure; any thread.
 */
#ifndef SL_SCHEMA_COLUMN_MAPPING_H
#define SL_SCHEMA_COLUMN_MAPPING_H

#include "schema/type.h"
#include "silt/status.h"

enum sl_mapping_mode {
    SL_MAPPING_NONE,
    SL_MAPPING_NAME,
    SL_MAPPING_ID
};

/* "none", "name" or "id", in any case as Delta Spark takes it; absent is none. False for any other text. */
bool sl_mapping_mode_parse(struct sl_str text, enum sl_mapping_mode *out);

/*
 * The schema as data files, statistics and partition values know it: the shape, types and nullability of `logical`, with physical
 * names at every level and, beside the other metadata, each field's id as "parquet.field.id" (and "parquet.field.nested.ids"). In mode
 * none it is `logical` itself, whatever its metadata holds from a mapping that is no more. *out is a new reference.
 *
 * A field without a name or id, with an id that is no number of 31 bits, or with the name (in its struct) or id of another is
 * SILT_ECORRUPT, and the column is named.
 */
silt_status sl_schema_physical(const silt_schema *logical, enum sl_mapping_mode mode, silt_schema **out,
                               silt_error *err);

/*
 * The physical names along a path of logical ones through structs (names exact); out has room for n. False if the path is
 * not in the schema.
 */
bool sl_schema_physical_path(const silt_schema *logical, const silt_schema *physical, const struct sl_str *path,
                             size_t n, struct sl_str *out);

#endif
