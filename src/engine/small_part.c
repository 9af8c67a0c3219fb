/*
 * Partition columns of small writes; see small_part.h. An image of the partition columns alone tells by its bounds whether all rows have one
 * value. PROTOCOL: Partition Value Serialization.
 */
#include "engine/small_part.h"

#include "base/error.h"
#include "schema/partition_folder.h"
#include "schema/value.h"

static bool find_keys(struct sl_small_part *part)
{
    const silt_parquet_write *request = part->request;
    const struct silt_type *root = &request->schema->root;
    for (size_t i = 0; i < request->n_partition_columns; i++) {
        size_t at = 0;
        while (at < root->n_fields && !sl_str_eq_c(root->fields[at].name, request->partition_columns[i])) {
            at++;
        }
        if (at == root->n_fields || part->is_key[at]) {
            return false; /* the data plane knows what to say of it */
        }
        /* Zeros of both signs are two partitions, but one bound. */
        const silt_type_kind kind = root->fields[at].type->kind;
        if (kind == SILT_TYPE_FLOAT || kind == SILT_TYPE_DOUBLE) {
            return false;
        }
        part->index[i] = at;
        part->is_key[at] = true;
    }
    return true;
}

/* Both views of the schema. */
static bool split_schema(struct sl_small_part *part, const struct ArrowSchema *schema)
{
    const struct silt_type *root = &part->request->schema->root;
    for (size_t i = 0; i < root->n_fields; i++) {
        if (!part->is_key[i]) {
            part->data.fields[part->data.n_fields++] = root->fields[i];
            part->rows.children[part->rows.n_children++] = schema->children[i];
        }
    }
    for (size_t i = 0; i < part->request->n_partition_columns; i++) {
        part->keys.fields[part->keys.n_fields++] = root->fields[part->index[i]];
        part->parts.children[part->parts.n_children++] = schema->children[part->index[i]];
    }
    return part->data.n_fields > 0;
}

static bool make_room(struct sl_small_part *part)
{
    const size_t n = part->request->schema->root.n_fields;
    const size_t n_keys = part->request->n_partition_columns;
    part->index = sl_arena_alloc_array(part->arena, n_keys, sizeof(*part->index));
    part->is_key = sl_arena_alloc_array(part->arena, n, sizeof(*part->is_key));
    part->values = sl_arena_alloc_array(part->arena, n_keys, sizeof(*part->values));
    part->texts = sl_arena_alloc_array(part->arena, n_keys, sizeof(*part->texts));
    part->data.fields = sl_arena_alloc_array(part->arena, n, sizeof(*part->data.fields));
    part->keys.fields = sl_arena_alloc_array(part->arena, n_keys, sizeof(*part->keys.fields));
    part->rows.children = sl_arena_alloc_array(part->arena, n, sizeof(*part->rows.children));
    part->parts.children = sl_arena_alloc_array(part->arena, n_keys, sizeof(*part->parts.children));
    return part->index != NULL && part->is_key != NULL && part->values != NULL && part->texts != NULL &&
           part->data.fields != NULL && part->keys.fields != NULL && part->rows.children != NULL &&
           part->parts.children != NULL;
}

silt_status sl_small_part_open(struct sl_small_part *part, struct sl_arena *arena, const silt_parquet_write *request,
                               const struct ArrowSchema *schema, bool *fits, silt_error *err)
{
    const struct silt_type *root = &request->schema->root;
    *part = (struct sl_small_part){.request = request, .arena = arena};
    *fits = request->n_partition_columns < root->n_fields && schema->n_children == (int64_t)root->n_fields;
    if (!*fits) {
        return SILT_OK;
    }
    part->rows = (struct ArrowSchema){.format = schema->format};
    part->parts = (struct ArrowSchema){.format = schema->format};
    part->data = (struct silt_type){.kind = SILT_TYPE_STRUCT};
    part->keys = (struct silt_type){.kind = SILT_TYPE_STRUCT};
    if (!make_room(part)) {
        return sl_fail_nomem(err);
    }
    *fits = find_keys(part) && split_schema(part, schema);
    if (!*fits) {
        return SILT_OK;
    }
    SL_TRY(sl_small_image_open(arena->env, &part->keys, &part->parts, &part->image, err));
    *fits = part->image != NULL;
    return SILT_OK;
}

void sl_small_part_close(struct sl_small_part *part)
{
    sl_small_image_close(part->image);
    part->image = NULL;
}

/* A view of some columns of a batch. */
static struct ArrowArray *view_of(struct sl_arena *arena, const struct ArrowArray *batch, size_t n)
{
    struct ArrowArray *view = sl_arena_alloc_zero(arena, sizeof(*view));
    struct ArrowArray **children = sl_arena_alloc_array(arena, n, sizeof(struct ArrowArray *));
    if (view == NULL || children == NULL) {
        return NULL;
    }
    *view = *batch;
    view->children = children;
    view->n_children = (int64_t)n;
    view->release = NULL; /* the batch's */
    view->private_data = NULL;
    return view;
}

silt_status sl_small_part_add(struct sl_small_part *part, const struct ArrowArray *batch,
                              const struct ArrowArray **rows, bool *fits, silt_error *err)
{
    const size_t n = part->request->schema->root.n_fields;
    *fits = batch->n_children == (int64_t)n;
    if (!*fits) {
        return SILT_OK;
    }
    struct ArrowArray *data = view_of(part->arena, batch, part->data.n_fields);
    struct ArrowArray *keys = view_of(part->arena, batch, part->keys.n_fields);
    if (data == NULL || keys == NULL) {
        return sl_fail_nomem(err);
    }
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        if (!part->is_key[i]) {
            data->children[at++] = batch->children[i];
        }
    }
    for (size_t i = 0; i < part->keys.n_fields; i++) {
        keys->children[i] = batch->children[part->index[i]];
    }
    *rows = data;
    return sl_small_image_add(part->image, keys, fits, err);
}

/* The one value of all rows. False: there are several. */
static bool one_value(const struct sl_small_column *column, silt_value *out)
{
    int order = 0;
    *out = sl_value_null(column->type->kind);
    if (column->n_values == 0) {
        return true;
    }
    *out = column->min;
    return column->n_values == column->n_entries && column->has_bounds &&
           sl_value_compare(&column->min, &column->max, &order) && order == 0;
}

/* An empty text is null, as for every reader. */
static silt_status spell(struct sl_small_part *part, size_t i, const silt_value *value, silt_error *err)
{
    struct sl_buf text;
    sl_buf_init(&text, part->arena->env);
    silt_status status = value->is_null ? SILT_OK : sl_partition_value_format(&text, value, err);
    if (status == SILT_OK) {
        status = sl_buf_status(&text, err);
    }
    part->texts[i] = (struct sl_str){NULL, 0};
    if (status == SILT_OK && text.len > 0) {
        part->texts[i] = sl_arena_copy(part->arena, sl_buf_view(&text));
        status = part->texts[i].ptr != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    sl_buf_release(&text);
    return status;
}

silt_status sl_small_part_finish(struct sl_small_part *part, bool *fits, silt_error *err)
{
    *fits = true;
    for (size_t i = 0; i < part->keys.n_fields; i++) {
        const struct silt_field *field = &part->keys.fields[i];
        silt_value value;
        *fits = one_value(sl_small_image_column(part->image, i), &value);
        if (!*fits) {
            return SILT_OK;
        }
        SL_TRY(spell(part, i, &value, err));
        /* What the log will say, not what the row said. */
        SL_TRY(sl_partition_value_parse(part->arena, part->texts[i], field->type, &part->values[i], NULL, err));
        *fits = !part->values[i].is_null || field->nullable;
        if (!*fits) {
            return SILT_OK;
        }
    }
    return SILT_OK;
}

void sl_small_part_put_folders(const struct sl_small_part *part, struct sl_buf *out)
{
    for (size_t i = 0; i < part->keys.n_fields; i++) {
        sl_partition_folder_put(out, part->keys.fields[i].name, part->texts[i]);
    }
}
