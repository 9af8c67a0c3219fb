/*
 * Rows into a one-batch stream; see row_stream.h.
 */
#include "cli/row_stream.h"

#include "base/error.h"

#define MAX_COLUMNS 8

static void release_nothing(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

silt_status sl_row_stream_open(struct sl_row_stream *rows, const silt_env *env,
                               const struct sl_row_stream_column *columns, size_t n, silt_error *err)
{
    struct ArrowSchema fields[MAX_COLUMNS] = {0};
    struct ArrowSchema *children[MAX_COLUMNS];
    struct ArrowSchema root = {.format = "+s", .children = children, .release = release_nothing};

    *rows = (struct sl_row_stream){.env = env};
    for (size_t i = 0; i < n && i < MAX_COLUMNS; i++) {
        fields[i] = (struct ArrowSchema){.format = columns[i].format,
                                         .name = columns[i].name,
                                         .flags = ARROW_FLAG_NULLABLE,
                                         .release = release_nothing};
        children[i] = &fields[i];
        root.n_children++;
    }
    SL_TRY(sl_arrow_schema_copy(env, &root, &rows->schema, err));
    return sl_arrow_builder_new(env, &rows->schema, &rows->builder, err);
}

void sl_row_stream_close(struct sl_row_stream *rows)
{
    if (rows->builder != NULL) {
        sl_arrow_builder_free(rows->builder);
        rows->builder = NULL;
    }
    sl_arrow_schema_release(&rows->schema);
}

/* Ends the row with its last cell. */
static silt_status step(struct sl_row_stream *rows, silt_error *err)
{
    rows->next++;
    if (rows->next < (size_t)rows->schema.n_children) {
        return SILT_OK;
    }
    rows->next = 0;
    return sl_arrow_append_nested(rows->builder, err);
}

silt_status sl_row_stream_text(struct sl_row_stream *rows, struct sl_str text, silt_error *err)
{
    struct sl_arrow_builder *column = sl_arrow_builder_child(rows->builder, rows->next);
    SL_TRY(text.ptr != NULL ? sl_arrow_append_bytes(column, text, err) : sl_arrow_append_null(column, err));
    return step(rows, err);
}

silt_status sl_row_stream_int(struct sl_row_stream *rows, int64_t value, silt_error *err)
{
    SL_TRY(sl_arrow_append_i64(sl_arrow_builder_child(rows->builder, rows->next), value, err));
    return step(rows, err);
}

silt_status sl_row_stream_take(struct sl_row_stream *rows, struct ArrowArrayStream *out, silt_error *err)
{
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};

    SL_TRY(sl_arrow_schema_copy(rows->env, &rows->schema, &schema, err));
    const silt_status status = sl_arrow_builder_finish(rows->builder, &batch, err);
    if (status != SILT_OK) {
        sl_arrow_schema_release(&schema);
        return status;
    }
    return sl_arrow_stream_from_batches(rows->env, &schema, &batch, 1, out, err);
}
