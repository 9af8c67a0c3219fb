/*
 * The columns of changes: the table's of the last version, then what is told of a change. All may be null: a row from before a column was
 * made NOT NULL may have none. But a change file without "_change_type" tells of no changes: its rows would be none of the four kinds.
 * Pure; called while changes are planned.
 */
#include "base/error.h"
#include "kernel/changes/changes_int.h"

static const struct silt_type TEXT = {.kind = SILT_TYPE_STRING};
static const struct silt_type LONG = {.kind = SILT_TYPE_LONG};
static const struct silt_type TIMESTAMP = {.kind = SILT_TYPE_TIMESTAMP};

static void change_columns(struct silt_field out[SL_CHANGES_COLUMNS])
{
    out[SL_CHANGES_TYPE] = (struct silt_field){.name = SL_STR("_change_type"), .type = &TEXT, .nullable = true};
    out[SL_CHANGES_VERSION] = (struct silt_field){.name = SL_STR("_commit_version"), .type = &LONG, .nullable = true};
    out[SL_CHANGES_TIMESTAMP] = (struct silt_field){
        .name = SL_STR("_commit_timestamp"), .type = &TIMESTAMP, .nullable = true};
}

static const struct silt_type *loosen(struct sl_arena *arena, const struct silt_type *type);

static bool loosen_fields(struct sl_arena *arena, const struct silt_field *fields, size_t n, struct silt_field *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = fields[i];
        out[i].nullable = true;
        out[i].type = loosen(arena, fields[i].type);
        if (out[i].type == NULL) {
            return false;
        }
    }
    return true;
}

/* A type whose parts may all be null but for keys of maps; NULL when out of memory. Depth is bounded by SL_SCHEMA_MAX_DEPTH. */
static const struct silt_type *loosen(struct sl_arena *arena, const struct silt_type *type)
{
    if (!sl_type_is_nested(type)) {
        return type;
    }
    struct silt_type *out = sl_arena_alloc(arena, sizeof(*out));
    if (out == NULL) {
        return NULL;
    }
    *out = *type;
    out->contains_null = true;
    bool good = true;
    if (type->kind == SILT_TYPE_STRUCT) {
        out->fields = sl_arena_alloc_array(arena, type->n_fields + 1, sizeof(*out->fields));
        good = out->fields != NULL && loosen_fields(arena, type->fields, type->n_fields, out->fields);
    } else {
        out->element = loosen(arena, type->element);
        good = out->element != NULL;
    }
    if (good && type->kind == SILT_TYPE_MAP) {
        out->key = loosen(arena, type->key);
        good = out->key != NULL;
    }
    return good ? out : NULL;
}

static silt_status extend(silt_changes *changes, const silt_schema *schema, bool in_files, silt_schema **out,
                          silt_error *err)
{
    struct sl_field_meta required = {.key = SL_STR(SL_FIELD_REQUIRED), .json = SL_STR("true")};
    const size_t n = schema->root.n_fields;
    struct silt_field *fields = sl_arena_alloc_array(&changes->arena, n + SL_CHANGES_COLUMNS, sizeof(*fields));
    if (fields == NULL || !loosen_fields(&changes->arena, schema->root.fields, n, fields)) {
        return sl_fail_nomem(err);
    }
    change_columns(fields + n);
    if (in_files) {
        fields[n + SL_CHANGES_TYPE].metadata = &required;
        fields[n + SL_CHANGES_TYPE].n_metadata = 1;
    }
    return sl_schema_from_fields(changes->env, fields, n + SL_CHANGES_COLUMNS, out, err);
}

silt_status sl_changes_make_schema(silt_changes *changes, silt_error *err)
{
    const silt_schema *logical = silt_snapshot_schema(changes->snapshot);
    struct silt_field columns[SL_CHANGES_COLUMNS];
    change_columns(columns);
    for (size_t i = 0; i < SL_CHANGES_COLUMNS; i++) {
        if (sl_type_find(&logical->root, columns[i].name, NULL) != NULL) {
            return sl_fail(err, SILT_ESCHEMA, "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS",
                           "the table has a column %.*s of its own: its changes cannot be told",
                           SL_FMT(columns[i].name));
        }
    }
    SL_TRY(extend(changes, logical, false, &changes->schema, err));
    return extend(changes, silt_snapshot_physical_schema(changes->snapshot), true, &changes->physical, err);
}
