/*
 * The history of a column's type (PROTOCOL.md "Type Widening"): "delta.typeChanges" in the metadata of fields. Pure; any thread.
 */
#ifndef SL_SCHEMA_TYPE_CHANGE_H
#define SL_SCHEMA_TYPE_CHANGE_H

#include "schema/type.h"
#include "silt/status.h"

/* Can every value of `from` be read as `to`, by the protocol's list? A type widens to itself. Flat types only. */
bool sl_type_widens(const struct silt_type *from, const struct silt_type *to);

/*
 * Every recorded change of every field must be one of the protocol's list. Else SILT_EUNSUPPORTED, class
 * DELTA_UNSUPPORTED_TYPE_CHANGE_IN_SCHEMA, names the column and both types; SILT_ECORRUPT when a record is no record.
 */
silt_status sl_schema_check_type_changes(const silt_schema *schema, silt_error *err);

/*
 * The types that a field itself (not an element, key or value in it) had before, oldest first. Only for schemas that passed the check
 * above: what is no record is left out.
 */
silt_status sl_field_earlier_types(struct sl_arena *arena, const struct silt_field *field,
                                   const struct silt_type *const **out, size_t *n, silt_error *err);

#endif
