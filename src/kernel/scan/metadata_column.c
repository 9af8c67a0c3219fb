/*
 * "_metadata": its fields, which of them a table offers, and the column as a field of a schema. The names and the order are Spark's, so
 * that what people know keeps working. Called by the scan builder and by the assembly of scans. Pure; any thread.
 * PROTOCOL.md "Row Tracking".
 */
#include "kernel/scan/metadata_column.h"

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/feature/feature.h"

static const struct silt_type text_type = {.kind = SILT_TYPE_STRING};
static const struct silt_type long_type = {.kind = SILT_TYPE_LONG};
static const struct silt_type time_type = {.kind = SILT_TYPE_TIMESTAMP};

#define FIRST_TRACKED 7

static const struct silt_field fields[SL_METADATA_FIELDS] = {
    {.name = {"file_path", 9}, .type = &text_type},
    {.name = {"file_name", 9}, .type = &text_type},
    {.name = {"file_size", 9}, .type = &long_type},
    {.name = {"file_block_start", 16}, .type = &long_type},
    {.name = {"file_block_length", 17}, .type = &long_type},
    {.name = {"file_modification_time", 22}, .type = &time_type},
    {.name = {"row_index", 9}, .type = &long_type},
    {.name = {"row_id", 6}, .type = &long_type},
    {.name = {"base_row_id", 11}, .type = &long_type},
    {.name = {"default_row_commit_version", 26}, .type = &long_type},
    {.name = {"row_commit_version", 18}, .type = &long_type},
};

size_t sl_metadata_find(struct sl_str name)
{
    for (size_t i = 0; i < SL_METADATA_FIELDS; i++) {
        if (sl_str_eq_nocase(fields[i].name, name)) {
            return i;
        }
    }
    return SIZE_MAX;
}

const struct silt_field *sl_metadata_field(size_t index)
{
    return &fields[index];
}

bool sl_metadata_tracks_rows(size_t index)
{
    return index >= FIRST_TRACKED;
}

void sl_metadata_add(struct sl_metadata_pick *pick, size_t index)
{
    for (size_t i = 0; i < pick->n; i++) {
        if (pick->fields[i] == index) {
            return;
        }
    }
    pick->fields[pick->n++] = (uint8_t)index;
}

bool sl_metadata_is_hidden(const silt_schema *schema)
{
    return sl_type_find(&schema->root, SL_STR(SL_METADATA_NAME), NULL) != NULL;
}

bool sl_row_tracking_enabled(const silt_snapshot *snapshot)
{
    return sl_property_bool(&sl_snapshot_get_metadata(snapshot)->configuration, "delta.enableRowTracking") &&
           sl_protocol_has_feature(sl_snapshot_protocol(snapshot), "rowTracking");
}

void sl_metadata_offered(const silt_snapshot *snapshot, struct sl_metadata_pick *out)
{
    const size_t n = sl_row_tracking_enabled(snapshot) ? SL_METADATA_FIELDS : FIRST_TRACKED;
    out->n = 0;
    for (size_t i = 0; i < n; i++) {
        sl_metadata_add(out, i);
    }
}

silt_status sl_metadata_check(const silt_snapshot *snapshot, struct sl_str name, size_t *index, silt_error *err)
{
    *index = sl_metadata_find(name);
    if (*index == SIZE_MAX) {
        return sl_fail(err, SILT_ESCHEMA, "FIELD_NOT_FOUND",
                       "there is no field %.*s in _metadata; it has file_path, file_name, file_size, file_block_start, "
                       "file_block_length, file_modification_time, row_index and, with row tracking, row_id, "
                       "row_commit_version, base_row_id and default_row_commit_version",
                       SL_FMT(name));
    }
    if (sl_metadata_tracks_rows(*index) && !sl_row_tracking_enabled(snapshot)) {
        return sl_fail(err, SILT_ESCHEMA, "FIELD_NOT_FOUND",
                       "_metadata.%.*s needs row tracking, which is not enabled on the table "
                       "(delta.enableRowTracking)",
                       SL_FMT(fields[*index].name));
    }
    return SILT_OK;
}

bool sl_metadata_make(struct sl_arena *arena, const struct sl_metadata_pick *pick, struct silt_field *out)
{
    struct silt_type *type = sl_arena_alloc_zero(arena, sizeof(*type));
    struct silt_field *members = sl_arena_alloc_array(arena, pick->n + 1, sizeof(*members));
    if (type == NULL || members == NULL) {
        return false;
    }
    for (size_t i = 0; i < pick->n; i++) {
        members[i] = fields[pick->fields[i]];
    }
    type->kind = SILT_TYPE_STRUCT;
    type->fields = members;
    type->n_fields = pick->n;
    *out = (struct silt_field){.name = SL_STR(SL_METADATA_NAME), .type = type};
    return true;
}

silt_status sl_metadata_extend(const silt_snapshot *snapshot, silt_schema **out, silt_error *err)
{
    *out = NULL;
    const silt_schema *schema = silt_snapshot_schema(snapshot);
    const size_t n = schema->root.n_fields;
    struct sl_metadata_pick offered;
    sl_metadata_offered(snapshot, &offered);
    struct sl_arena arena;
    sl_arena_init(&arena, schema->env);
    struct silt_field *all = sl_arena_alloc_array(&arena, n + 1, sizeof(*all));
    silt_status status = SILT_OK;
    if (all == NULL || !sl_metadata_make(&arena, &offered, &all[n])) {
        status = sl_fail_nomem(err);
    } else {
        for (size_t i = 0; i < n; i++) {
            all[i] = schema->root.fields[i];
        }
        status = sl_schema_from_fields(schema->env, all, n + 1, out, err);
    }
    sl_arena_release(&arena);
    return status;
}
