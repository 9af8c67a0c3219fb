/*
 * The column "_metadata" that every table has beside its own: what is known of a row by the file that it is in. Pure; any thread.
 */
#ifndef SL_KERNEL_SCAN_METADATA_COLUMN_H
#define SL_KERNEL_SCAN_METADATA_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/snapshot/state.h"
#include "schema/type.h"

#define SL_METADATA_NAME "_metadata"
#define SL_METADATA_FIELDS 11

/* Fields of the column: places in the table of fields, in the order in which they were asked for, each once. */
struct sl_metadata_pick {
    uint8_t fields[SL_METADATA_FIELDS];
    size_t n;
};

/* Place of a field by its name, ignoring case; SIZE_MAX if there is none. */
size_t sl_metadata_find(struct sl_str name);
const struct silt_field *sl_metadata_field(size_t index);
/* Does the field need row tracking? */
bool sl_metadata_tracks_rows(size_t index);
/* Adds a field unless it is in the pick. */
void sl_metadata_add(struct sl_metadata_pick *pick, size_t index);

/* A column of the table itself has the name: then that is what the name means. */
bool sl_metadata_is_hidden(const silt_schema *schema);

/* Is row tracking enabled (PROTOCOL.md "Row Tracking": property and protocol)? */
bool sl_row_tracking_enabled(const silt_snapshot *snapshot);
/* All fields that the table offers. */
void sl_metadata_offered(const silt_snapshot *snapshot, struct sl_metadata_pick *out);
/* Fails, naming the field and what it needs, when the table does not offer it. */
silt_status sl_metadata_check(const silt_snapshot *snapshot, struct sl_str name, size_t *index, silt_error *err);

/* The column as a field whose struct has the picked fields; they live in the arena. False when out of memory. */
bool sl_metadata_make(struct sl_arena *arena, const struct sl_metadata_pick *pick, struct silt_field *out);

/* The table's columns and, after them, the column with all that is offered. *out is a new reference. */
silt_status sl_metadata_extend(const silt_snapshot *snapshot, silt_schema **out, silt_error *err);

#endif
