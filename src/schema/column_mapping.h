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

/* What the assignment of names and ids goes by. */
struct sl_mapping_assignment {
    const silt_schema *before;        /* the schema that is replaced; NULL: a new table */
    enum sl_mapping_mode before_mode; /* of that */
    int64_t max_id;                   /* delta.columnMapping.maxColumnId so far */
    bool nested_ids;                  /* elements, keys and values get ids, too (PROTOCOL: IcebergCompatV2) */
};

/*
 * The schema with a physical name and an id for every field, as Delta Spark gives them. A field that has them keeps them; one that stands
 * where `before` has a column of a type that can become its own is that column; all others are new: an id above every one that was given,
 * and the name "col-<uuid>". Where `before` had no mapping, the names that its files have become the physical ones. *max_id is the
 * greatest id then. *out is a new reference. SILT_ELIMIT when ids run out.
 */
silt_status sl_schema_assign_mapping(const silt_schema *schema, const struct sl_mapping_assignment *how,
                                     silt_schema **out, int64_t *max_id, silt_error *err);

/* Does a field of the schema have a physical name or an id? */
bool sl_schema_has_mapping(const silt_schema *schema);
/* The schema without them: *out is a new reference, to the same schema if there are none. */
silt_status sl_schema_drop_mapping(const silt_schema *schema, silt_schema **out, silt_error *err);

/*
 * The physical names along a path of logical ones through structs (names exact); out has room for n. False if the path is
 * not in the schema.
 */
bool sl_schema_physical_path(const silt_schema *logical, const silt_schema *physical, const struct sl_str *path,
                             size_t n, struct sl_str *out);

#endif
