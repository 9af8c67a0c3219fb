/*
 * The schema of statistics that a JSON handler is asked for, and reading a row of its answer. The same assembly of bounds
 * (file_stats.c) serves both this and the kernel's own JSON reader. Called by data skipping; any thread.
 */
#include "kernel/scan/stats_batch.h"

#include "base/arrow.h"
#include "base/error.h"
#include "schema/value.h"

static const struct silt_type long_type = {.kind = SILT_TYPE_LONG};
static const struct silt_type boolean_type = {.kind = SILT_TYPE_BOOLEAN};

/* A struct type under construction: for each column one leaf, structs above it shared. */
static struct silt_field *find_field(struct silt_type *parent, struct sl_str name)
{
    for (size_t i = 0; i < parent->n_fields; i++) {
        if (sl_str_eq(parent->fields[i].name, name)) {
            return &parent->fields[i];
        }
    }
    return NULL;
}

static struct silt_field *add_field(struct sl_arena *arena, struct silt_type *parent, struct sl_str name,
                                    const struct silt_type *type)
{
    struct silt_field *fields = sl_arena_alloc_array(arena, parent->n_fields + 1, sizeof(*fields));
    if (fields == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < parent->n_fields; i++) {
        fields[i] = parent->fields[i];
    }
    fields[parent->n_fields] = (struct silt_field){.name = name, .type = type, .nullable = true};
    parent->fields = fields;
    parent->n_fields++;
    return &fields[parent->n_fields - 1];
}

/* Adds a leaf under its path, with the structs that are missing above it. */
static bool add_leaf(struct sl_arena *arena, struct silt_type *top, const struct sl_skip_column *column,
                     const struct silt_type *leaf)
{
    struct silt_type *parent = top;
    for (size_t i = 0; i + 1 < column->path_len; i++) {
        struct silt_field *field = find_field(parent, column->path[i]);
        if (field == NULL) {
            struct silt_type *type = sl_arena_alloc_zero(arena, sizeof(*type));
            if (type == NULL) {
                return false;
            }
            type->kind = SILT_TYPE_STRUCT;
            field = add_field(arena, parent, column->path[i], type);
        }
        if (field == NULL) {
            return false;
        }
        parent = (struct silt_type *)(uintptr_t)field->type; /* made above, still ours to change */
    }
    return add_field(arena, parent, column->path[column->path_len - 1], leaf) != NULL;
}

silt_status sl_stats_shape_make(struct sl_arena *arena, const struct sl_skip_column *columns, size_t n,
                                struct sl_stats_shape *out, silt_error *err)
{
    *out = (struct sl_stats_shape){0};
    struct silt_type parts[3] = {{.kind = SILT_TYPE_STRUCT}, {.kind = SILT_TYPE_STRUCT}, {.kind = SILT_TYPE_STRUCT}};
    for (size_t i = 0; i < n; i++) {
        if (!add_leaf(arena, &parts[0], &columns[i], &long_type) ||
            !add_leaf(arena, &parts[1], &columns[i], columns[i].type) ||
            !add_leaf(arena, &parts[2], &columns[i], columns[i].type)) {
            return sl_fail_nomem(err);
        }
    }
    /* In the order of enum sl_stat. */
    const struct silt_field fields[] = {
        {.name = SL_STR("numRecords"), .type = &long_type, .nullable = true},
        {.name = SL_STR("tightBounds"), .type = &boolean_type, .nullable = true},
        {.name = SL_STR("nullCount"), .type = &parts[0], .nullable = true},
        {.name = SL_STR("minValues"), .type = &parts[1], .nullable = true},
        {.name = SL_STR("maxValues"), .type = &parts[2], .nullable = true},
    };
    SL_TRY(sl_schema_from_fields(arena->env, fields, sizeof(fields) / sizeof(fields[0]), &out->schema, err));
    silt_status status = silt_schema_to_arrow(out->schema, &out->arrow, err);
    if (status != SILT_OK) {
        sl_stats_shape_release(out);
    }
    return status;
}

void sl_stats_shape_release(struct sl_stats_shape *shape)
{
    sl_arrow_schema_release(&shape->arrow);
    silt_schema_unref(shape->schema);
    *shape = (struct sl_stats_shape){0};
}

enum sl_stat_answer sl_stats_row_get(void *ctx, enum sl_stat stat, const struct sl_skip_column *column,
                                     struct sl_arena *arena, silt_value *out)
{
    (void)arena; /* values are borrowed from the batch */
    const struct sl_stats_row *source = ctx;
    const struct silt_type *type = &source->shape->schema->root;
    const struct ArrowSchema *schema = &source->shape->arrow;
    const struct ArrowArray *array = source->batch;
    int64_t row = source->row;
    size_t depth = column != NULL ? column->path_len : 0;
    for (size_t i = 0; i <= depth; i++) {
        if (sl_arrow_is_null(array, row)) {
            return SL_STAT_ABSENT;
        }
        size_t index = (size_t)stat;
        if (i > 0 && sl_type_find(type, column->path[i - 1], &index) == NULL) {
            return SL_STAT_ABSENT;
        }
        row += array->offset; /* a child counts its rows from the parent's first, offset or not */
        type = type->fields[index].type;
        schema = schema->children[index];
        array = array->children[index];
    }
    if (!sl_value_from_arrow(schema, array, row, out)) {
        return SL_STAT_UNUSABLE;
    }
    return out->is_null ? SL_STAT_ABSENT : SL_STAT_FOUND;
}
