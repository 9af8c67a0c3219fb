/*
 * The Parquet handler of the simulation, for checkpoints. What is written is copied into the history's memory as the Arrow arrays
 * that it came as, and the file in the store says only where that is; reading projects the copy onto what is asked for. So it obeys the
 * contract of the handler, and all that can go wrong with a file of the store can go wrong with it.
 *
 * Data files need no reading: the checker knows their rows; sim_rows.c writes them.
 */
#include "sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MARK "SIM1 "

/* A column of one batch: without offset, one byte of validity a value. */
struct frozen {
    const char *name;
    const char *format;
    int64_t length;
    uint8_t *valid;
    void *values;     /* fixed-width ones, or bytes of booleans */
    int32_t *offsets; /* of text, lists and maps */
    char *bytes;      /* of text */
    struct frozen *children;
    int64_t n_children;
};

struct frozen_file {
    struct frozen *batches;
    size_t n;
};

/* Bytes of a fixed-width value; 0: none, -1: not known. Booleans are kept as bytes. */
static int64_t width_of(const char *format)
{
    switch (format[0]) {
    case 'c':
    case 'C':
    case 'b': return 1;
    case 's':
    case 'S': return 2;
    case 'i':
    case 'I':
    case 'f': return 4;
    case 'l':
    case 'L':
    case 'g': return 8;
    case 'd': return 16;
    case 't': return format[1] == 'd' && format[2] == 'D' ? 4 : 8;
    case 'u':
    case 'z':
    case 'n':
    case '+': return 0;
    default: return -1;
    }
}

static bool has_offsets(const char *format)
{
    return format[0] == 'u' || format[0] == 'z' || strcmp(format, "+l") == 0 || strcmp(format, "+m") == 0;
}

/* ---- freezing ---- */

static bool bit(const void *bits, int64_t index)
{
    return (((const uint8_t *)bits)[index / 8] >> (index % 8) & 1) != 0;
}

static bool freeze(struct sim_world *world, const struct ArrowSchema *schema, const struct ArrowArray *array,
                   int64_t begin, int64_t length, struct frozen *out);

static void freeze_values(struct sim_world *world, const struct ArrowArray *array, int64_t begin, struct frozen *out)
{
    const int64_t width = width_of(out->format);
    out->values = sim_keep(world, (size_t)(out->length * width) + 1);
    for (int64_t i = 0; out->format[0] == 'b' && i < out->length; i++) {
        ((uint8_t *)out->values)[i] = bit(array->buffers[1], begin + i) ? 1 : 0;
    }
    if (out->format[0] != 'b' && out->length > 0) {
        memcpy(out->values, (const char *)array->buffers[1] + begin * width, (size_t)(out->length * width));
    }
}

/* Offsets that begin with 0; *first and *count: the part of the child or of the bytes that they are about. */
static void freeze_offsets(struct sim_world *world, const struct ArrowArray *array, int64_t begin, struct frozen *out,
                           int64_t *first, int64_t *count)
{
    const int32_t *offsets = array->buffers[1];
    out->offsets = sim_keep(world, (size_t)(out->length + 1) * sizeof(int32_t));
    *first = out->length > 0 ? offsets[begin] : 0;
    for (int64_t i = 0; out->length > 0 && i <= out->length; i++) {
        out->offsets[i] = (int32_t)(offsets[begin + i] - *first);
    }
    *count = out->offsets[out->length];
}

static bool freeze_children(struct sim_world *world, const struct ArrowSchema *schema, const struct ArrowArray *array,
                            int64_t begin, int64_t length, struct frozen *out)
{
    out->n_children = schema->n_children;
    out->children = sim_keep(world, (size_t)(schema->n_children + 1) * sizeof(*out->children));
    for (int64_t i = 0; i < schema->n_children; i++) {
        const struct ArrowArray *child = array->children[i];
        if (!freeze(world, schema->children[i], child, child->offset + begin, length, &out->children[i])) {
            return false;
        }
    }
    return true;
}

static bool freeze(struct sim_world *world, const struct ArrowSchema *schema, const struct ArrowArray *array,
                   int64_t begin, int64_t length, struct frozen *out)
{
    const char *format = schema->format;
    if (width_of(format) < 0 || schema->dictionary != NULL || (format[0] == '+' && format[1] == 'L')) {
        sim_break(world, "a checkpoint has a column of the format %s", format);
        return false;
    }
    *out = (struct frozen){.length = length};
    out->name = sim_keep_text(world, schema->name != NULL ? schema->name : "");
    out->format = sim_keep_text(world, format);
    out->valid = sim_keep(world, (size_t)length + 1);
    for (int64_t i = 0; i < length; i++) {
        out->valid[i] = format[0] != 'n' &&
                        (array->n_buffers == 0 || array->buffers[0] == NULL || bit(array->buffers[0], begin + i));
    }
    if (width_of(format) > 0) {
        freeze_values(world, array, begin, out);
        return true;
    }
    int64_t first = begin;
    int64_t count = length;
    if (has_offsets(format)) {
        freeze_offsets(world, array, begin, out, &first, &count);
    }
    if (format[0] == 'u' || format[0] == 'z') {
        out->bytes = sim_keep(world, (size_t)count + 1);
        if (count > 0) {
            memcpy(out->bytes, (const char *)array->buffers[2] + first, (size_t)count);
        }
        return true;
    }
    return format[0] != '+' || freeze_children(world, schema, array, first, count, out);
}

static silt_status refuse(silt_error *err, silt_status status, const char *message, const char *what)
{
    err->status = status;
    (void)snprintf(err->code_name, sizeof(err->code_name), "SIM_PARQUET");
    (void)snprintf(err->message, sizeof(err->message), "%s %s", message, what);
    return status;
}

static silt_status freeze_stream(struct sim_world *world, struct ArrowArrayStream *rows, struct sim_list *batches,
                                 silt_error *err)
{
    struct ArrowSchema schema;
    if (rows->get_schema(rows, &schema) != 0) {
        return refuse(err, SILT_EIO, "rows have no schema", "");
    }
    silt_status status = SILT_OK;
    while (status == SILT_OK) {
        struct ArrowArray batch;
        if (rows->get_next(rows, &batch) != 0) {
            const char *message = rows->get_last_error(rows);
            status = refuse(err, SILT_EIO, "reading the rows failed:", message != NULL ? message : "");
            break;
        }
        if (batch.release == NULL) {
            break;
        }
        struct frozen *frozen = sim_list_push(world, batches, sizeof(*frozen));
        if (!freeze(world, &schema, &batch, batch.offset, batch.length, frozen)) {
            status = refuse(err, SILT_EUNSUPPORTED, "a format that the simulation does not know", "");
        }
        batch.release(&batch);
    }
    schema.release(&schema);
    return status;
}

silt_status sim_parquet_store(struct sim_actor *actor, silt_storage *storage, const char *path,
                              struct ArrowArrayStream *rows, int64_t *size_bytes, silt_error *err)
{
    struct sim_world *world = actor->world;
    struct sim_list batches = {0};
    silt_status status = freeze_stream(world, rows, &batches, err);
    rows->release(rows);
    if (status != SILT_OK) {
        return status;
    }
    struct frozen_file *file = sim_list_push(world, &world->frozen, sizeof(*file));
    *file = (struct frozen_file){batches.items, batches.n};
    char text[64];
    const int len = snprintf(text, sizeof(text), MARK "%zu", world->frozen.n - 1);
    *size_bytes = len;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    status = silt_storage_put_if_absent(storage, NULL, path, text, (size_t)len, &outcome, err);
    const struct sim_object *there = sim_store_find(world, path);
    const bool ours = there != NULL && there->len == (size_t)len && memcmp(there->data, text, (size_t)len) == 0;
    if (status == SILT_OK && outcome == SILT_PUT_EXISTS && !ours) {
        return refuse(err, SILT_EEXISTS, "the name is taken:", path);
    }
    if (status == SILT_OK && outcome == SILT_PUT_AMBIGUOUS) {
        return refuse(err, SILT_EIO, "the store did not answer:", path);
    }
    return status;
}

/* ---- thawing: arrays that point into the history's memory ---- */

static void release_array(struct ArrowArray *array)
{
    array->release = NULL; /* the memory is the history's */
}

static void *make_bits(struct sim_world *world, const uint8_t *flags, int64_t n)
{
    uint8_t *bits = sim_keep(world, (size_t)n / 8 + 1);
    for (int64_t i = 0; flags != NULL && i < n; i++) {
        bits[i / 8] = (uint8_t)(bits[i / 8] | (flags[i] != 0 ? 1U << (i % 8) : 0));
    }
    return bits;
}

static void *thaw_values(struct sim_world *world, const struct frozen *frozen, const char *format, int64_t length)
{
    if (frozen == NULL) {
        return sim_keep(world, (size_t)(length * width_of(format)) + 1);
    }
    if (format[0] == 'b') {
        return make_bits(world, frozen->values, length);
    }
    if (strcmp(format, "l") == 0 && strcmp(frozen->format, "i") == 0) {
        int64_t *wide = sim_keep(world, (size_t)(length + 1) * sizeof(*wide));
        for (int64_t i = 0; i < length; i++) {
            wide[i] = ((const int32_t *)frozen->values)[i];
        }
        return wide;
    }
    return frozen->values;
}

static const struct frozen *find_child(const struct frozen *frozen, const struct ArrowSchema *wanted, int64_t index)
{
    if (frozen == NULL || wanted->format[1] != 's') {
        return frozen != NULL ? &frozen->children[index] : NULL; /* of a list or map: by place */
    }
    for (int64_t i = 0; i < frozen->n_children; i++) {
        if (strcmp(frozen->children[i].name, wanted->children[index]->name) == 0) {
            return &frozen->children[i];
        }
    }
    return NULL;
}

/* A column as it is asked for; frozen NULL: the file has none, it is null. False: of another type. */
static bool thaw(struct sim_world *world, const struct frozen *frozen, const struct ArrowSchema *wanted, int64_t length,
                 struct ArrowArray *out)
{
    const char *format = wanted->format;
    if (frozen != NULL && frozen->format[0] == 'n') {
        frozen = NULL;
    }
    if (frozen != NULL && strcmp(format, frozen->format) != 0 &&
        !(strcmp(format, "l") == 0 && strcmp(frozen->format, "i") == 0)) {
        return false;
    }
    const void **buffers = sim_keep(world, 3 * sizeof(*buffers));
    *out = (struct ArrowArray){.length = length, .null_count = -1, .buffers = buffers, .release = release_array};
    out->n_buffers = 1;
    buffers[0] = make_bits(world, frozen != NULL ? frozen->valid : NULL, length);
    if (width_of(format) > 0) {
        buffers[out->n_buffers++] = thaw_values(world, frozen, format, length);
        return true;
    }
    int64_t below = length;
    if (has_offsets(format)) {
        const int32_t *offsets = frozen != NULL ? frozen->offsets
                                                : sim_keep(world, (size_t)(length + 1) * sizeof(*offsets));
        buffers[out->n_buffers++] = offsets;
        below = offsets[length];
    }
    if (format[0] == 'u' || format[0] == 'z') {
        buffers[out->n_buffers++] = frozen != NULL ? frozen->bytes : sim_keep(world, 1);
        return true;
    }
    out->n_children = wanted->n_children;
    out->children = sim_keep(world, (size_t)(wanted->n_children + 1) * sizeof(*out->children));
    for (int64_t i = 0; i < wanted->n_children; i++) {
        out->children[i] = sim_keep(world, sizeof(struct ArrowArray));
        if (!thaw(world, find_child(frozen, wanted, i), wanted->children[i], below, out->children[i])) {
            return false;
        }
    }
    return true;
}

/* ---- reading ---- */

struct reader {
    struct sim_world *world;
    struct ArrowSchema wanted; /* its memory is the reader's */
    bool with_file_index;
    bool with_row_index;
    const struct frozen_file **files;
    size_t n_files;
    size_t file;
    size_t batch;
    int64_t row; /* of the file */
};

static void release_kept(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

/* A copy in the history's memory, with room for more children. */
static void copy_schema(struct sim_world *world, const struct ArrowSchema *from, int64_t more, struct ArrowSchema *to)
{
    *to = (struct ArrowSchema){.flags = from->flags, .n_children = from->n_children, .release = release_kept};
    to->format = sim_keep_text(world, from->format);
    to->name = sim_keep_text(world, from->name != NULL ? from->name : "");
    to->children = sim_keep(world, (size_t)(from->n_children + more + 1) * sizeof(*to->children));
    for (int64_t i = 0; i < from->n_children; i++) {
        to->children[i] = sim_keep(world, sizeof(struct ArrowSchema));
        copy_schema(world, from->children[i], 0, to->children[i]);
    }
}

static void add_index_column(struct sim_world *world, struct ArrowSchema *schema, const char *name)
{
    struct ArrowSchema *child = sim_keep(world, sizeof(*child));
    *child = (struct ArrowSchema){.format = "l", .name = name, .release = release_kept};
    schema->children[schema->n_children++] = child;
}

static int reader_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    struct reader *reader = stream->private_data;
    copy_schema(reader->world, &reader->wanted, 2, out);
    if (reader->with_file_index) {
        add_index_column(reader->world, out, "_silt_file_index");
    }
    if (reader->with_row_index) {
        add_index_column(reader->world, out, "_silt_row_index");
    }
    return 0;
}

static void push_index(struct reader *reader, struct ArrowArray *out, int64_t first, int64_t step)
{
    struct ArrowArray *child = sim_keep(reader->world, sizeof(*child));
    const void **buffers = sim_keep(reader->world, 2 * sizeof(*buffers));
    int64_t *values = sim_keep(reader->world, (size_t)(out->length + 1) * sizeof(*values));
    for (int64_t i = 0; i < out->length; i++) {
        values[i] = first + i * step;
    }
    buffers[1] = values;
    *child = (struct ArrowArray){.length = out->length, .n_buffers = 2, .buffers = buffers, .release = release_array};
    struct ArrowArray **children = sim_keep(reader->world, (size_t)(out->n_children + 1) * sizeof(*children));
    if (out->n_children > 0) {
        memcpy(children, out->children, (size_t)out->n_children * sizeof(*children));
    }
    children[out->n_children++] = child;
    out->children = children;
}

static int reader_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct reader *reader = stream->private_data;
    *out = (struct ArrowArray){0};
    while (reader->file < reader->n_files && reader->batch == reader->files[reader->file]->n) {
        reader->file++;
        reader->batch = 0;
        reader->row = 0;
    }
    if (reader->file == reader->n_files) {
        return 0;
    }
    const struct frozen *batch = &reader->files[reader->file]->batches[reader->batch++];
    if (!thaw(reader->world, batch, &reader->wanted, batch->length, out)) {
        *out = (struct ArrowArray){0};
        return EINVAL;
    }
    if (reader->with_file_index) {
        push_index(reader, out, (int64_t)reader->file, 0);
    }
    if (reader->with_row_index) {
        push_index(reader, out, reader->row, 1);
    }
    reader->row += batch->length;
    return 0;
}

static const char *reader_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "a column has another type than the one asked for";
}

static void reader_release(struct ArrowArrayStream *stream)
{
    stream->release = NULL;
}

static silt_status find_frozen(struct sim_actor *actor, const silt_call *call, const silt_parquet_read *request,
                               size_t index, const struct frozen_file **out, silt_error *err)
{
    struct sim_world *world = actor->world;
    void *data = NULL;
    size_t len = 0;
    const silt_status status = silt_storage_read(request->storage, call, request->files[index].path, &data, &len, err);
    if (status != SILT_OK) {
        return status;
    }
    char text[64] = "";
    memcpy(text, data, len < sizeof(text) ? len : 0);
    silt_storage_free(request->storage, data, len);
    const size_t place = (size_t)strtoull(text + strlen(MARK), NULL, 10);
    if (strncmp(text, MARK, strlen(MARK)) != 0 || place >= world->frozen.n) {
        return refuse(err, SILT_ECORRUPT, "no file of the simulation's:", request->files[index].path);
    }
    *out = SIM_AT(&world->frozen, struct frozen_file, place);
    return SILT_OK;
}

static silt_status read_parquet(void *impl, const silt_call *call, const silt_parquet_read *request,
                                struct ArrowArrayStream *out, silt_error *err)
{
    struct sim_actor *actor = impl;
    struct sim_world *world = actor->world;
    struct reader *reader = sim_keep(world, sizeof(*reader));
    struct ArrowSchema schema;
    silt_status status = silt_schema_to_arrow(request->schema, &schema, err);
    if (status != SILT_OK) {
        return status;
    }
    copy_schema(world, &schema, 0, &reader->wanted);
    schema.release(&schema);
    reader->world = world;
    reader->with_file_index = request->with_file_index;
    reader->with_row_index = request->with_row_index;
    reader->n_files = request->n_files;
    reader->files = sim_keep(world, (request->n_files + 1) * sizeof(*reader->files));
    for (size_t i = 0; i < request->n_files && status == SILT_OK; i++) {
        status = find_frozen(actor, call, request, i, &reader->files[i], err);
    }
    if (status == SILT_OK) {
        *out = (struct ArrowArrayStream){reader_schema, reader_next, reader_error, reader_release, reader};
    }
    return status;
}

/* ---- for the checker ---- */

static const struct frozen *child_of(const struct frozen *frozen, const char *name)
{
    for (int64_t i = 0; i < frozen->n_children; i++) {
        if (strcmp(frozen->children[i].name, name) == 0) {
            return &frozen->children[i];
        }
    }
    return NULL;
}

bool sim_parquet_paths(struct sim_world *world, const struct sim_object *object, const char *action,
                       struct sim_list *paths)
{
    const size_t mark = strlen(MARK);
    const size_t place = object->len > mark ? (size_t)strtoull(object->data + mark, NULL, 10) : 0;
    if (object->len <= mark || memcmp(object->data, MARK, mark) != 0 || place >= world->frozen.n) {
        return false;
    }
    const struct frozen_file *file = SIM_AT(&world->frozen, struct frozen_file, place);
    for (size_t i = 0; i < file->n; i++) {
        const struct frozen *column = child_of(&file->batches[i], action);
        const struct frozen *path = column != NULL ? child_of(column, "path") : NULL;
        for (int64_t row = 0; path != NULL && row < path->length; row++) {
            if (!column->valid[row] || !path->valid[row]) {
                continue;
            }
            const size_t len = (size_t)(path->offsets[row + 1] - path->offsets[row]);
            char *text = sim_keep(world, len + 1);
            memcpy(text, path->bytes + path->offsets[row], len);
            *(const char **)sim_list_push(world, paths, sizeof(char *)) = text;
        }
    }
    return true;
}

static silt_status write_parquet(void *impl, const silt_call *call, const silt_parquet_write *request,
                                 struct ArrowArrayStream *rows, silt_error *err)
{
    (void)call; /* an answer comes at once */
    return sim_rows_write(impl, request, rows, err);
}

static silt_status write_one(void *impl, const silt_call *call, silt_parquet_write_file *request,
                             struct ArrowArrayStream *rows, silt_error *err)
{
    (void)call; /* an answer comes at once, or never */
    struct sim_actor *actor = impl;
    const silt_status status = sim_parquet_store(actor, request->storage, request->path, rows, &request->size_bytes,
                                                 err);
    request->modified_ms = INT64_C(1767225600000) + actor->world->now_us / 1000;
    return status;
}

static void close_parquet(void *impl)
{
    (void)impl; /* the world's */
}

const silt_parquet_handler_vtable sim_parquet = {
    .size = sizeof(silt_parquet_handler_vtable),
    .abi_version = SILT_ABI_VERSION,
    .name = "sim",
    .close = close_parquet,
    .read = read_parquet,
    .write = write_parquet,
    .write_file = write_one,
};
