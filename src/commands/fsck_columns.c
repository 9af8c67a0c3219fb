/*
 * The columns of a table as the check reads them: leaves that can have statistics, partition columns, and the schemas of a plan that has
 * all stored columns and the number of the file. Made once a check.
 */
#include "base/buf.h"
#include "base/error.h"
#include "commands/fsck_data.h"
#include "kernel/snapshot/state.h"
#include "schema/type_change.h"

static const struct silt_type LONG = {.kind = SILT_TYPE_LONG};

struct finding {
    struct sl_fsck_reader *reader;
    struct sl_vec columns; /* struct sl_skip_column */
    struct sl_str path[SL_SCHEMA_MAX_DEPTH];
    struct sl_str physical[SL_SCHEMA_MAX_DEPTH];
};

static silt_status add_column(struct finding *f, const struct silt_field *field, size_t depth, silt_error *err)
{
    struct sl_arena *arena = &f->reader->arena;
    struct sl_str *path = sl_arena_alloc_array(arena, depth, sizeof(*path));
    struct sl_str *physical = sl_arena_alloc_array(arena, depth, sizeof(*physical));
    struct sl_skip_column *column = path != NULL && physical != NULL ? sl_vec_push(&f->columns) : NULL;
    if (column == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < depth; i++) {
        path[i] = f->path[i];
        physical[i] = f->physical[i];
    }
    *column = (struct sl_skip_column){.path = path,
                                      .path_len = depth,
                                      .type = field->type,
                                      .physical_path = physical,
                                      .collated = sl_field_is_collated(field)};
    return sl_field_earlier_types(arena, field, &column->earlier, &column->n_earlier, err);
}

/* Recursion is bounded by the depth of schemas. */
static silt_status find_leaves(struct finding *f, const struct silt_field *logical, const struct silt_field *physical,
                               size_t depth, silt_error *err)
{
    const struct silt_type *type = logical->type;
    if (depth >= SL_SCHEMA_MAX_DEPTH) {
        return SILT_OK;
    }
    f->path[depth] = logical->name;
    f->physical[depth] = physical->name;
    if (type->kind == SILT_TYPE_STRUCT) {
        for (size_t i = 0; i < type->n_fields; i++) {
            SL_TRY(find_leaves(f, &type->fields[i], &physical->type->fields[i], depth + 1, err));
        }
        return SILT_OK;
    }
    /* What the counts of nested columns count differs between writers. */
    const bool can = !sl_type_is_nested(type) && type->kind != SILT_TYPE_VARIANT && type->kind != SILT_TYPE_VOID;
    return can ? add_column(f, logical, depth + 1, err) : SILT_OK;
}

struct sl_str sl_fsck_column_name(struct sl_buf *buf, const struct sl_skip_column *column)
{
    for (size_t i = 0; i < column->path_len; i++) {
        sl_buf_put_c(buf, i > 0 ? "." : "");
        sl_buf_put_str(buf, column->path[i]);
    }
    return sl_str_from(sl_buf_cstr(buf));
}

static bool is_partition(const silt_snapshot *snapshot, const struct silt_field *field)
{
    for (size_t i = 0; i < silt_snapshot_partition_count(snapshot); i++) {
        if (sl_str_eq_nocase(sl_str_from(silt_snapshot_partition_column(snapshot, i)), field->name)) {
            return true;
        }
    }
    return false;
}

/* Statistics are those of the text that is stored: CHAR is read without the spaces that a query puts. */
static bool drop_characters(struct sl_arena *arena, struct silt_field *field)
{
    struct sl_field_meta *kept = sl_arena_alloc_array(arena, field->n_metadata + 1, sizeof(*kept));
    size_t n = 0;
    for (size_t i = 0; kept != NULL && i < field->n_metadata; i++) {
        if (!sl_str_eq_c(field->metadata[i].key, "__CHAR_VARCHAR_TYPE_STRING")) {
            kept[n++] = field->metadata[i];
        }
    }
    field->metadata = kept;
    field->n_metadata = n;
    return kept != NULL;
}

/* A name for the number of the file that no column has. */
static const char *number_name(struct sl_fsck_reader *reader, const silt_schema *schema)
{
    const char *name = "file number";
    while (name != NULL && sl_type_find(&schema->root, sl_str_from(name), NULL) != NULL) {
        name = sl_arena_printf(&reader->arena, "%s_", name);
    }
    return name;
}

static silt_status make_schemas(struct sl_fsck_reader *reader, struct silt_field *logical, struct silt_field *physical,
                                size_t n, silt_error *err)
{
    const char *name = number_name(reader, silt_snapshot_schema(reader->fsck->snapshot));
    reader->sources = sl_arena_alloc_array(&reader->arena, n + 1, sizeof(*reader->sources));
    if (name == NULL || reader->sources == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        reader->sources[i] = (silt_plan_column){SILT_FROM_FILE, -1};
    }
    reader->sources[n] = (silt_plan_column){SILT_FROM_PARTITION, 0};
    logical[n] = (struct silt_field){.name = sl_str_from(name), .type = &LONG, .nullable = true};
    physical[n] = logical[n];
    SL_TRY(sl_schema_from_fields(reader->fsck->env, logical, n + 1, &reader->logical, err));
    return sl_schema_from_fields(reader->fsck->env, physical, n + 1, &reader->physical, err);
}

silt_status sl_fsck_find_columns(struct sl_fsck_reader *reader, silt_error *err)
{
    const silt_snapshot *snapshot = reader->fsck->snapshot;
    const struct silt_type *logical = &silt_snapshot_schema(snapshot)->root;
    const struct silt_type *physical = &silt_snapshot_physical_schema(snapshot)->root;
    struct finding *f = sl_arena_alloc_zero(&reader->arena, sizeof(*f)); /* paths are too large for a stack */
    struct silt_field *fields = sl_arena_alloc_array(&reader->arena, logical->n_fields + 1, sizeof(*fields));
    struct silt_field *names = sl_arena_alloc_array(&reader->arena, logical->n_fields + 1, sizeof(*names));
    if (f == NULL || fields == NULL || names == NULL) {
        return sl_fail_nomem(err);
    }
    f->reader = reader;
    sl_vec_init(&f->columns, reader->fsck->env, sizeof(struct sl_skip_column));
    size_t n = 0;
    silt_status status = SILT_OK;
    for (size_t i = 0; i < logical->n_fields && status == SILT_OK; i++) {
        if (!is_partition(snapshot, &logical->fields[i])) {
            fields[n] = logical->fields[i];
            names[n] = physical->fields[i];
            status = drop_characters(&reader->arena, &fields[n]) && drop_characters(&reader->arena, &names[n])
                         ? find_leaves(f, &logical->fields[i], &physical->fields[i], 0, err)
                         : sl_fail_nomem(err);
            n++;
        }
    }
    if (status == SILT_OK) {
        reader->n = f->columns.len;
        reader->columns = sl_arena_alloc_array(&reader->arena, reader->n + 1, sizeof(*reader->columns));
        status = reader->columns != NULL ? make_schemas(reader, fields, names, n, err) : sl_fail_nomem(err);
    }
    for (size_t i = 0; i < reader->n && status == SILT_OK; i++) {
        reader->columns[i] = *(const struct sl_skip_column *)sl_vec_at(&f->columns, i);
    }
    sl_vec_release(&f->columns);
    return status;
}

silt_status sl_fsck_find_partitions(struct sl_fsck_reader *reader, struct sl_partition_column **out, size_t *n,
                                    silt_error *err)
{
    const silt_snapshot *snapshot = reader->fsck->snapshot;
    const silt_schema *logical = silt_snapshot_schema(snapshot);
    *n = silt_snapshot_partition_count(snapshot);
    *out = sl_arena_alloc_array(&reader->arena, *n + 1, sizeof(**out));
    if (*out == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < *n; i++) {
        size_t index = 0;
        const char *name = silt_snapshot_partition_column(snapshot, i);
        const struct silt_field *field = sl_type_find(&logical->root, sl_str_from(name), &index);
        if (field == NULL) {
            return sl_fail(err, SILT_ECORRUPT, NULL, "partition column %s is not in the schema", name);
        }
        (*out)[i] = sl_partition_column_of(field, &silt_snapshot_physical_schema(snapshot)->root.fields[index]);
    }
    return SILT_OK;
}
