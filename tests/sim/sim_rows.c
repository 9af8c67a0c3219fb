/*
 * Rows through silt: as an Arrow stream into silt_txn_write, and out of the stream that the Parquet handler gets. Files get the names by
 * which the checker finds their rows.
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ROWS 512
#define N_COLUMNS 4

static const char *const column_names[N_COLUMNS] = {"id", "k", "v", "p"};

/* ---- into silt: the memory is the history's ---- */

struct source {
    struct sim_world *world;
    const struct sim_row *rows;
    size_t n;
    bool done;
};

static void release_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static void release_array(struct ArrowArray *array)
{
    array->release = NULL;
}

static int source_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    const struct source *source = stream->private_data;
    struct sim_world *world = source->world;
    *out = (struct ArrowSchema){.format = "+s", .name = "", .n_children = N_COLUMNS, .release = release_schema};
    out->children = sim_keep(world, N_COLUMNS * sizeof(*out->children));
    for (size_t i = 0; i < N_COLUMNS; i++) {
        out->children[i] = sim_keep(world, sizeof(struct ArrowSchema));
        *out->children[i] = (struct ArrowSchema){.format = i == 3 ? "u" : "l",
                                                 .name = column_names[i],
                                                 .flags = ARROW_FLAG_NULLABLE,
                                                 .release = release_schema};
    }
    return 0;
}

static void make_column(const struct source *source, size_t column, struct ArrowArray *out)
{
    struct sim_world *world = source->world;
    const void **buffers = sim_keep(world, 3 * sizeof(*buffers));
    *out = (struct ArrowArray){.length = (int64_t)source->n, .buffers = buffers, .release = release_array};
    out->n_buffers = column == 3 ? 3 : 2;
    int64_t *values = sim_keep(world, source->n * sizeof(*values));
    int32_t *offsets = sim_keep(world, (source->n + 1) * sizeof(*offsets));
    char *text = sim_keep(world, source->n + 1);
    for (size_t i = 0; i < source->n; i++) {
        const struct sim_row *row = &source->rows[i];
        values[i] = column == 0 ? row->id : column == 1 ? row->key : row->value;
        offsets[i + 1] = (int32_t)(i + 1);
        text[i] = (char)('0' + row->part);
    }
    buffers[1] = column == 3 ? (const void *)offsets : values;
    buffers[2] = column == 3 ? text : NULL;
}

static int source_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct source *source = stream->private_data;
    struct sim_world *world = source->world;
    *out = (struct ArrowArray){0};
    if (source->done) {
        return 0;
    }
    source->done = true;
    const void **buffers = sim_keep(world, sizeof(*buffers));
    *out = (struct ArrowArray){.length = (int64_t)source->n,
                               .n_buffers = 1,
                               .n_children = N_COLUMNS,
                               .buffers = buffers,
                               .release = release_array};
    out->children = sim_keep(world, N_COLUMNS * sizeof(*out->children));
    for (size_t i = 0; i < N_COLUMNS; i++) {
        out->children[i] = sim_keep(world, sizeof(struct ArrowArray));
        make_column(source, i, out->children[i]);
    }
    return 0;
}

static const char *source_error(struct ArrowArrayStream *stream)
{
    (void)stream; /* it never fails */
    return NULL;
}

static void source_release(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
}

void sim_rows_stream(struct sim_world *world, const struct sim_row *rows, size_t n, struct ArrowArrayStream *out)
{
    struct source *source = sim_keep(world, sizeof(*source));
    *source = (struct source){world, rows, n, false};
    *out = (struct ArrowArrayStream){source_schema, source_next, source_error, source_release, source};
}

/* ---- out of silt ---- */

static const struct ArrowArray *find_column(const struct ArrowSchema *schema, const struct ArrowArray *batch,
                                            const char *name)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (strcmp(schema->children[i]->name, name) == 0) {
            return batch->children[i];
        }
    }
    return NULL;
}

static int64_t number_at(const struct ArrowArray *column, int64_t row)
{
    return ((const int64_t *)column->buffers[1])[column->offset + row];
}

static int32_t part_at(const struct ArrowArray *column, int64_t row)
{
    const int32_t begin = ((const int32_t *)column->buffers[1])[column->offset + row];
    return ((const char *)column->buffers[2])[begin] - '0';
}

static bool take_batch(const struct ArrowSchema *schema, const struct ArrowArray *batch, struct sim_row *rows,
                       size_t *n)
{
    const struct ArrowArray *columns[N_COLUMNS];
    for (size_t i = 0; i < N_COLUMNS; i++) {
        columns[i] = find_column(schema, batch, column_names[i]);
        if (columns[i] == NULL) {
            return false;
        }
    }
    for (int64_t i = 0; i < batch->length && *n < MAX_ROWS; i++) {
        const int64_t at = batch->offset + i;
        rows[(*n)++] = (struct sim_row){.id = (int32_t)number_at(columns[0], at),
                                        .key = number_at(columns[1], at),
                                        .value = number_at(columns[2], at),
                                        .part = part_at(columns[3], at)};
    }
    return true;
}

static silt_status refuse(silt_error *err, silt_status status, const char *message)
{
    err->status = status;
    (void)snprintf(err->code_name, sizeof(err->code_name), "SIM_PARQUET");
    (void)snprintf(err->message, sizeof(err->message), "%s", message);
    return status;
}

static silt_status collect(struct ArrowArrayStream *stream, struct sim_row *rows, size_t *n, silt_error *err)
{
    struct ArrowSchema schema;
    if (stream->get_schema(stream, &schema) != 0) {
        return refuse(err, SILT_EIO, "rows have no schema");
    }
    silt_status status = SILT_OK;
    while (status == SILT_OK) {
        struct ArrowArray batch;
        if (stream->get_next(stream, &batch) != 0) {
            status = refuse(err, SILT_EIO, "reading the rows failed");
            break;
        }
        if (batch.release == NULL) {
            break;
        }
        if (!take_batch(&schema, &batch, rows, n)) {
            status = refuse(err, SILT_ESCHEMA, "a column is missing");
        }
        batch.release(&batch);
    }
    schema.release(&schema);
    return status;
}

/* Statistics of keys and, where it is no partition column, of p. */
static void tell_of(const struct sim_world *world, const struct sim_file *file, silt_column_stats *stats,
                    const char *const *paths, char *texts)
{
    const struct sim_row *rows = file->rows;
    int64_t low = rows[0].key;
    int64_t high = low;
    int32_t first = rows[0].part;
    int32_t last = first;
    const size_t n = world->bug == SIM_BUG_WRONG_STATS ? 1 : file->n_rows;
    for (size_t i = 1; i < n; i++) {
        low = rows[i].key < low ? rows[i].key : low;
        high = rows[i].key > high ? rows[i].key : high;
        first = rows[i].part < first ? rows[i].part : first;
        last = rows[i].part > last ? rows[i].part : last;
    }
    stats[0] = (silt_column_stats){.path = &paths[0], .path_len = 1, .has_min = true, .has_max = true};
    stats[0].min = (silt_value){.kind = SILT_TYPE_LONG, .as = {.i64 = low}};
    stats[0].max = (silt_value){.kind = SILT_TYPE_LONG, .as = {.i64 = high}};
    texts[0] = (char)('0' + first);
    texts[1] = (char)('0' + last);
    stats[1] = (silt_column_stats){.path = &paths[1], .path_len = 1, .has_min = true, .has_max = true};
    stats[1].min = (silt_value){.kind = SILT_TYPE_STRING};
    stats[1].min.as.bytes.ptr = &texts[0];
    stats[1].min.as.bytes.len = 1;
    stats[1].max = (silt_value){.kind = SILT_TYPE_STRING};
    stats[1].max.as.bytes.ptr = &texts[1];
    stats[1].max.as.bytes.len = 1;
}

static silt_status write_part(struct sim_actor *actor, const silt_parquet_write *request, const struct sim_row *rows,
                              size_t n, silt_error *err)
{
    static const char *const paths[] = {"k", "p"};
    struct sim_world *world = actor->world;
    const struct sim_file file = *sim_file_new(actor, rows, n);
    char path[512];
    char part[2] = {(char)('0' + rows[0].part), '\0'};
    char texts[2];
    silt_column_stats stats[2];
    (void)snprintf(path, sizeof(path), "%s/%s", request->dir, file.path);
    const silt_status status = silt_storage_put(request->storage, NULL, path, "rows", 4, err);
    if (status != SILT_OK) {
        (void)!silt_storage_remove(request->storage, NULL, path, NULL); /* it may be there */
        return status;
    }
    tell_of(world, &file, stats, paths, texts);
    silt_value value = {.kind = SILT_TYPE_STRING};
    value.as.bytes.ptr = part;
    value.as.bytes.len = 1;
    const silt_written_file written = {.size = sizeof(written),
                                       .path = file.path,
                                       .size_bytes = 4,
                                       .modified_ms = 1,
                                       .num_rows = (int64_t)n,
                                       .partition_values = &value,
                                       .n_partition_values = request->n_partition_columns,
                                       .stats = stats,
                                       .n_stats = world->knobs.partitioned ? 1 : 2};
    return request->on_file(request->on_file_ctx, &written) ? SILT_OK
                                                            : refuse(err, SILT_ENOMEM, "the file was not taken");
}

silt_status sim_rows_write(struct sim_actor *actor, const silt_parquet_write *request, struct ArrowArrayStream *stream,
                           silt_error *err)
{
    struct sim_row rows[MAX_ROWS];
    size_t n = 0;
    silt_status status = collect(stream, rows, &n, err);
    stream->release(stream);
    const bool partitioned = actor->world->knobs.partitioned;
    for (int32_t part = 0; part < SIM_PARTS && status == SILT_OK; part++) {
        struct sim_row chosen[MAX_ROWS];
        size_t count = 0;
        for (size_t i = 0; i < n; i++) {
            if (partitioned ? rows[i].part == part : part == 0) {
                chosen[count++] = rows[i];
            }
        }
        if (count > 0) {
            status = write_part(actor, request, chosen, count, err);
        }
    }
    return status;
}
