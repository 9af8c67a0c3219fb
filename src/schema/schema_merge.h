/*
 * Schema evolution: a table's schema with what new data adds to it (PROTOCOL.md "Type Widening", "Column Mapping"). Pure; any thread.
 */
#ifndef SL_SCHEMA_SCHEMA_MERGE_H
#define SL_SCHEMA_SCHEMA_MERGE_H

#include "schema/type.h"

/*
 * The fields of `table` in their order, then those that only `data` has (names ignore case), at every level; new fields may be null. With
 * widen a column takes the data's type if that is wider and of the same family (integers, floating-point numbers, decimals, date to timestamp
 * without zone), and its metadata records the change; all other types stay the table's: whether the data can be stored in them is
 * not judged here. *changed: the result differs from `table`. *out is a new reference.
 */
silt_status sl_schema_merge(const silt_schema *table, const silt_schema *data, bool widen, silt_schema **out,
                            bool *changed, silt_error *err);

/*
 * Can rows that were written under `before` be read under `after`? Every field is still there, under its name, and takes at least
 * the nulls that it took; its type is the same, or with widen a wider one; what is new may be null. SILT_ESCHEMA names what is not so.
 */
silt_status sl_schema_check_evolution(const silt_schema *before, const silt_schema *after, bool widen, silt_error *err);

#endif
