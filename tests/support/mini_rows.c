/* Rows of streams as text, and streams of rows, for tests with the mini engine. Public headers only. */
#include "mini_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- to text ---- */

static void put_mark(char *text, size_t size, size_t *len, char mark)
{
    if (*len + 1 < size) {
        text[(*len)++] = mark;
        text[*len] = '\0';
    }
}

static void put_cell(char *text, size_t size, size_t *len, const struct ArrowSchema *schema,
                     const struct ArrowArray *array, int64_t row)
{
    const bool is_struct = strcmp(schema->format, "+s") == 0;
    if (is_struct &&
        (array->null_count == 0 || array->buffers[0] == NULL ||
         (((const unsigned char *)array->buffers[0])[(row + array->offset) / 8] >> ((row + array->offset) % 8) & 1) !=
             0)) {
        for (int64_t i = 0; i < schema->n_children; i++) {
            put_mark(text, size, len, i == 0 ? '{' : ',');
            put_cell(text, size, len, schema->children[i], array->children[i], row + array->offset);
        }
        put_mark(text, size, len, '}');
        return;
    }
    silt_value cell;
    char *at = text + *len;
    size_t left = size - *len;
    int written = 0;
    if (is_struct) {
        written = snprintf(at, left, "null");
    } else if (!mini_cell(schema, array, row, &cell)) {
        written = snprintf(at, left, "<%s>", schema->format);
    } else if (cell.is_null) {
        written = snprintf(at, left, "null");
    } else if (cell.kind == SILT_TYPE_STRING) {
        written = snprintf(at, left, "%.*s", (int)cell.as.bytes.len, cell.as.bytes.ptr);
    } else if (cell.kind == SILT_TYPE_BOOLEAN) {
        written = snprintf(at, left, cell.as.boolean ? "true" : "false");
    } else if (cell.kind == SILT_TYPE_DOUBLE) {
        written = snprintf(at, left, "%g", cell.as.f64);
    } else {
        written = snprintf(at, left, "%lld", (long long)cell.as.i64);
    }
    *len += written > 0 && (size_t)written < left ? (size_t)written : 0;
}

int mini_rows_text(struct ArrowArrayStream *rows, char *text, size_t text_size)
{
    struct ArrowSchema schema;
    size_t len = 0;
    int batches = 0;
    text[0] = '\0';
    if (rows->get_schema(rows, &schema) != 0) {
        (void)snprintf(text, text_size, "%s", rows->get_last_error(rows));
        rows->release(rows);
        return -1;
    }
    for (;;) {
        struct ArrowArray batch;
        if (rows->get_next(rows, &batch) != 0) {
            const char *message = rows->get_last_error(rows);
            (void)snprintf(text, text_size, "%s", message != NULL ? message : "no message");
            batches = -1;
            break;
        }
        if (batch.release == NULL) {
            break;
        }
        batches++;
        for (int64_t row = 0; row < batch.length; row++) {
            for (int64_t i = 0; i < schema.n_children; i++) {
                if (i > 0) {
                    put_mark(text, text_size, &len, ',');
                }
                put_cell(text, text_size, &len, schema.children[i], batch.children[i], row + batch.offset);
            }
            put_mark(text, text_size, &len, ';');
        }
        batch.release(&batch);
    }
    schema.release(&schema);
    rows->release(rows);
    return batches;
}

/* ---- from values ---- */

struct source {
    size_t n_columns;
    size_t n_rows;
    char *names[MINI_MAX_COLUMNS];
    char *formats[MINI_MAX_COLUMNS];
    silt_value *values[MINI_MAX_COLUMNS];
    bool done;
};

static int source_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    const struct source *source = stream->private_data;
    mini_schema(out, source->n_columns);
    for (size_t i = 0; i < source->n_columns; i++) {
        mini_schema_child(out, i, source->names[i], source->formats[i]);
    }
    return 0;
}

static int source_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct source *source = stream->private_data;
    memset(out, 0, sizeof(*out));
    if (source->done) {
        return 0;
    }
    source->done = true;
    mini_struct(out, source->n_columns, (int64_t)source->n_rows);
    for (size_t i = 0; i < source->n_columns; i++) {
        if (!mini_array(out->children[i], source->formats[i], source->values[i], source->n_rows)) {
            out->release(out);
            return EINVAL;
        }
    }
    return 0;
}

static const char *source_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "a format that the mini engine does not know";
}

static void free_text(const silt_value *value)
{
    if (value->kind == SILT_TYPE_STRING) {
        free((void *)(uintptr_t)value->as.bytes.ptr);
    }
}

static void source_release(struct ArrowArrayStream *stream)
{
    struct source *source = stream->private_data;
    for (size_t i = 0; i < source->n_columns; i++) {
        for (size_t row = 0; row < source->n_rows; row++) {
            free_text(&source->values[i][row]);
        }
        free(source->values[i]);
        free(source->names[i]);
        free(source->formats[i]);
    }
    free(source);
    stream->release = NULL;
}

static char *copy_text(const char *text)
{
    return (char *)(uintptr_t)mini_copy_value(mini_text(text)).as.bytes.ptr;
}

void mini_rows_stream(struct ArrowArrayStream *out, const char *const *names, const char *const *formats,
                      size_t n_columns, const silt_value *cells, size_t n_rows)
{
    struct source *source = calloc(1, sizeof(*source));
    source->n_columns = n_columns;
    source->n_rows = n_rows;
    for (size_t i = 0; i < n_columns; i++) {
        source->names[i] = copy_text(names[i]);
        source->formats[i] = copy_text(formats[i]);
        source->values[i] = calloc(n_rows + 1, sizeof(silt_value));
        for (size_t row = 0; row < n_rows; row++) {
            source->values[i][row] = mini_copy_value(cells[row * n_columns + i]);
        }
    }
    *out = (struct ArrowArrayStream){source_schema, source_next, source_error, source_release, source};
}
