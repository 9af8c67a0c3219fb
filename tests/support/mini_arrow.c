/* Arrow arrays and schemas made and read by hand, as an engine without an Arrow library would do it. */
#include "mini_engine.h"

#include <stdlib.h>
#include <string.h>

/* ---- schemas ---- */

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release != NULL) {
            schema->children[i]->release(schema->children[i]);
        }
        free(schema->children[i]);
    }
    free(schema->children);
    free(schema->private_data); /* format and name of a leaf */
    schema->release = NULL;
}

void mini_schema(struct ArrowSchema *out, size_t n)
{
    memset(out, 0, sizeof(*out));
    out->format = "+s";
    out->name = "";
    out->n_children = (int64_t)n;
    out->children = calloc(n + 1, sizeof(struct ArrowSchema *));
    for (size_t i = 0; i < n; i++) {
        out->children[i] = calloc(1, sizeof(struct ArrowSchema));
    }
    out->release = release_schema;
}

void mini_schema_child(struct ArrowSchema *schema, size_t index, const char *name, const char *format)
{
    struct ArrowSchema *child = schema->children[index];
    size_t format_size = strlen(format) + 1;
    char *text = malloc(format_size + strlen(name) + 1);
    memcpy(text, format, format_size);
    memcpy(text + format_size, name, strlen(name) + 1);
    child->format = text;
    child->name = text + format_size;
    child->flags = ARROW_FLAG_NULLABLE;
    child->private_data = text;
    child->release = release_schema;
}

/* ---- arrays ---- */

static void release_array(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_buffers; i++) {
        free((void *)(uintptr_t)array->buffers[i]);
    }
    free(array->buffers);
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release != NULL) {
            array->children[i]->release(array->children[i]);
        }
        free(array->children[i]);
    }
    free(array->children);
    array->release = NULL;
}

void mini_struct(struct ArrowArray *out, size_t n_children, int64_t length)
{
    memset(out, 0, sizeof(*out));
    out->length = length;
    out->n_buffers = 1;
    out->buffers = calloc(1, sizeof(void *));
    out->n_children = (int64_t)n_children;
    out->children = calloc(n_children + 1, sizeof(struct ArrowArray *));
    for (size_t i = 0; i < n_children; i++) {
        out->children[i] = calloc(1, sizeof(struct ArrowArray));
    }
    out->release = release_array;
}

/* Bytes of one value; 0 for text, -1 for bits, -2 for what is not known. */
static int width_of(const char *format)
{
    static const struct {
        const char *format;
        int width;
    } widths[] = {{"c", 1}, {"s", 2}, {"i", 4}, {"tdD", 4}, {"f", 4},
                  {"l", 8}, {"g", 8}, {"u", 0}, {"z", 0},   {"b", -1}};
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        if (strcmp(widths[i].format, format) == 0) {
            return widths[i].width;
        }
    }
    return strncmp(format, "tsu:", 4) == 0 ? 8 : strncmp(format, "d:", 2) == 0 ? 16 : -2;
}

static void put_fixed(unsigned char *out, int width, const char *format, const silt_value *v)
{
    int8_t i8 = (int8_t)v->as.i64;
    int16_t i16 = (int16_t)v->as.i64;
    int32_t i32 = (int32_t)v->as.i64;
    float f32 = (float)v->as.f64;
    switch (width) {
    case 1: memcpy(out, &i8, 1); break;
    case 2: memcpy(out, &i16, 2); break;
    case 4: memcpy(out, format[0] == 'f' ? (const void *)&f32 : (const void *)&i32, 4); break;
    case 8: memcpy(out, &v->as, 8); break; /* i64 and f64 share their place */
    default: memcpy(out, &v->as, 16); break;
    }
}

static void fill_text(struct ArrowArray *out, const silt_value *values, size_t n)
{
    size_t total = 0;
    for (size_t i = 0; values != NULL && i < n; i++) {
        total += values[i].is_null ? 0 : values[i].as.bytes.len;
    }
    int32_t *offsets = calloc(n + 1, sizeof(*offsets));
    char *bytes = calloc(total + 1, 1);
    size_t end = 0;
    for (size_t i = 0; i < n; i++) {
        if (values != NULL && !values[i].is_null && values[i].as.bytes.len > 0) {
            memcpy(bytes + end, values[i].as.bytes.ptr, values[i].as.bytes.len);
            end += values[i].as.bytes.len;
        }
        offsets[i + 1] = (int32_t)end;
    }
    out->buffers[1] = offsets;
    out->buffers[2] = bytes;
}

bool mini_array(struct ArrowArray *out, const char *format, const silt_value *values, size_t n)
{
    int width = width_of(format);
    if (width == -2) {
        return false;
    }
    memset(out, 0, sizeof(*out));
    out->length = (int64_t)n;
    out->n_buffers = width == 0 ? 3 : 2;
    out->buffers = calloc(3, sizeof(void *));
    out->release = release_array;
    unsigned char *valid = calloc(n / 8 + 1, 1);
    out->buffers[0] = valid;
    unsigned char *data = width > 0 ? calloc(n + 1, (size_t)width) : width < 0 ? calloc(n / 8 + 1, 1) : NULL;
    if (width == 0) {
        fill_text(out, values, n);
    } else {
        out->buffers[1] = data;
    }
    for (size_t i = 0; i < n; i++) {
        if (values == NULL || values[i].is_null) {
            out->null_count++;
            continue;
        }
        valid[i / 8] = (unsigned char)(valid[i / 8] | (1U << (i % 8)));
        if (width > 0) {
            put_fixed(data + i * (size_t)width, width, format, &values[i]);
        } else if (width < 0 && values[i].as.boolean) {
            data[i / 8] = (unsigned char)(data[i / 8] | (1U << (i % 8)));
        }
    }
    return true;
}

/* ---- reading ---- */

static bool bit_at(const void *bits, int64_t row)
{
    return (((const unsigned char *)bits)[row / 8] >> (row % 8) & 1) != 0;
}

static void get_text(const struct ArrowArray *array, int64_t row, silt_value *out)
{
    int32_t range[2];
    memcpy(range, (const char *)array->buffers[1] + row * 4, sizeof(range));
    out->kind = SILT_TYPE_STRING;
    out->as.bytes.ptr = (const char *)array->buffers[2] + range[0];
    out->as.bytes.len = (size_t)(range[1] - range[0]);
}

static void get_number(const char *format, const unsigned char *bytes, int width, silt_value *out)
{
    int8_t i8 = 0;
    int16_t i16 = 0;
    int32_t i32 = 0;
    float f32 = 0;
    out->kind = format[0] == 'f' || format[0] == 'g' ? SILT_TYPE_DOUBLE : SILT_TYPE_LONG;
    switch (width) {
    case 1:
        memcpy(&i8, bytes, 1);
        out->as.i64 = i8;
        break;
    case 2:
        memcpy(&i16, bytes, 2);
        out->as.i64 = i16;
        break;
    case 4:
        if (format[0] == 'f') {
            memcpy(&f32, bytes, 4);
            out->as.f64 = (double)f32;
        } else {
            memcpy(&i32, bytes, 4);
            out->as.i64 = i32;
        }
        break;
    default: memcpy(&out->as, bytes, (size_t)width); break;
    }
}

bool mini_cell(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t row, silt_value *out)
{
    int width = width_of(schema->format);
    memset(out, 0, sizeof(*out));
    if (width == -2) {
        return false;
    }
    row += array->offset;
    if (array->buffers[0] != NULL && !bit_at(array->buffers[0], row)) {
        out->is_null = true;
        return true;
    }
    if (width == 0) {
        get_text(array, row, out);
    } else if (width == -1) {
        out->kind = SILT_TYPE_BOOLEAN;
        out->as.boolean = bit_at(array->buffers[1], row);
    } else {
        get_number(schema->format, (const unsigned char *)array->buffers[1] + row * width, width, out);
    }
    return true;
}

int mini_compare(const silt_value *a, const silt_value *b)
{
    if (a->kind == SILT_TYPE_STRING || b->kind == SILT_TYPE_STRING) {
        size_t shorter = a->as.bytes.len < b->as.bytes.len ? a->as.bytes.len : b->as.bytes.len;
        int order = shorter > 0 ? memcmp(a->as.bytes.ptr, b->as.bytes.ptr, shorter) : 0;
        return order != 0 ? order : (a->as.bytes.len > b->as.bytes.len) - (a->as.bytes.len < b->as.bytes.len);
    }
    double x = a->kind == SILT_TYPE_DOUBLE ? a->as.f64 : (double)a->as.i64;
    double y = b->kind == SILT_TYPE_DOUBLE ? b->as.f64 : (double)b->as.i64;
    return (x > y) - (x < y);
}
