/*
 * Rows picked out of Arrow arrays, by copying column by column; and columns of nulls. For checkpoints, which leave rows of an older one
 * out and put new ones between them. No state; arrays have one owner.
 */
#include "base/arrow.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

#define MAX_DEPTH 256
#define MAX_BUFFERS 3
#define WIDE 16 /* bytes of the widest fixed-size value */

/* What an array owns. */
struct owner {
    const silt_env *env;
    void *buffers[MAX_BUFFERS];
    size_t sizes[MAX_BUFFERS];
    struct ArrowArray *children;
    struct ArrowArray **pointers;
    size_t n_children;
};

struct picking {
    const silt_env *env;
    struct ArrowArray *const *sources;
    const struct sl_arrow_pick *picks; /* NULL: nulls */
    size_t n;
    int depth;
};

static void release_owned(struct ArrowArray *array)
{
    struct owner *owner = array->private_data;
    const silt_env *env = owner->env;
    for (size_t i = 0; i < MAX_BUFFERS; i++) {
        sl_release(env, owner->buffers[i], owner->sizes[i]);
    }
    for (size_t i = 0; owner->children != NULL && i < owner->n_children; i++) {
        sl_arrow_array_release(&owner->children[i]);
    }
    sl_release(env, owner->children, owner->n_children * sizeof(*owner->children));
    sl_release(env, owner->pointers, owner->n_children * sizeof(*owner->pointers));
    sl_release(env, owner, sizeof(*owner));
    *array = (struct ArrowArray){0};
}

/* Bytes of a value; 0 for what is not of one size. */
static size_t width_of(const char *format)
{
    switch (format[0]) {
    case 'c':
    case 'C': return 1;
    case 's':
    case 'S': return 2;
    case 'i':
    case 'I':
    case 'f': return 4;
    case 'l':
    case 'L':
    case 'g': return 8;
    case 'd': return WIDE;
    case 't': return format[1] == 'd' && format[2] == 'D' ? 4 : 8;
    default: return 0;
    }
}

static bool is_text(const char *format)
{
    return strcmp(format, "u") == 0 || strcmp(format, "z") == 0;
}

static bool is_list(const char *format)
{
    return strcmp(format, "+l") == 0 || strcmp(format, "+m") == 0;
}

static void *add_buffer(struct owner *owner, size_t index, size_t n, size_t width, silt_error *err)
{
    size_t size = 0;
    void *data = sl_mul_size(n, width, &size) ? sl_alloc_zero(owner->env, size + WIDE) : NULL;
    if (data == NULL) {
        (void)sl_fail_nomem(err); /* the caller sees NULL */
        return NULL;
    }
    owner->buffers[index] = data;
    owner->sizes[index] = size + WIDE;
    return data;
}

static bool bit_at(const void *bits, int64_t at)
{
    return (((const uint8_t *)bits)[at / 8] >> (at % 8) & 1) != 0;
}

static void set_bit(void *bits, size_t at)
{
    uint8_t *byte = &((uint8_t *)bits)[at / 8];
    *byte = (uint8_t)(*byte | 1U << (at % 8));
}

static const struct ArrowArray *source_of(const struct picking *p, size_t i)
{
    return p->sources[p->picks[i].source];
}

/* ---- validity ---- */

static silt_status take_validity(const struct picking *p, struct owner *owner, struct ArrowArray *out, silt_error *err)
{
    size_t n_null = p->picks == NULL ? p->n : 0;
    for (size_t i = 0; p->picks != NULL && i < p->n; i++) {
        n_null += sl_arrow_is_null(source_of(p, i), p->picks[i].row) ? 1 : 0;
    }
    out->null_count = (int64_t)n_null;
    if (n_null == 0) {
        return SILT_OK;
    }
    void *bits = add_buffer(owner, 0, p->n / 8 + 1, 1, err);
    if (bits == NULL) {
        return SILT_ENOMEM;
    }
    for (size_t i = 0; n_null < p->n && i < p->n; i++) {
        if (!sl_arrow_is_null(source_of(p, i), p->picks[i].row)) {
            set_bit(bits, i);
        }
    }
    return SILT_OK;
}

/* ---- values ---- */

static silt_status take_fixed(const struct picking *p, struct owner *owner, size_t width, silt_error *err)
{
    char *values = add_buffer(owner, 1, p->n, width, err);
    if (values == NULL) {
        return SILT_ENOMEM;
    }
    for (size_t i = 0; p->picks != NULL && i < p->n; i++) {
        const struct ArrowArray *source = source_of(p, i);
        const char *from = source->buffers[1];
        memcpy(values + i * width, from + (size_t)(p->picks[i].row + source->offset) * width, width);
    }
    return SILT_OK;
}

static silt_status take_bits(const struct picking *p, struct owner *owner, silt_error *err)
{
    void *values = add_buffer(owner, 1, p->n / 8 + 1, 1, err);
    if (values == NULL) {
        return SILT_ENOMEM;
    }
    for (size_t i = 0; p->picks != NULL && i < p->n; i++) {
        const struct ArrowArray *source = source_of(p, i);
        if (bit_at(source->buffers[1], p->picks[i].row + source->offset)) {
            set_bit(values, i);
        }
    }
    return SILT_OK;
}

/* Where the bytes or items of a picked row are; none for a null. */
static void range_of(const struct picking *p, size_t i, int32_t *begin, int32_t *end)
{
    const struct ArrowArray *source = source_of(p, i);
    const int32_t *offsets = source->buffers[1];
    const bool is_null = sl_arrow_is_null(source, p->picks[i].row);
    *begin = is_null ? 0 : offsets[p->picks[i].row + source->offset];
    *end = is_null ? 0 : offsets[p->picks[i].row + source->offset + 1];
}

/* The offsets of the result; *total is what they add up to. */
static silt_status take_offsets(const struct picking *p, struct owner *owner, size_t *total, silt_error *err)
{
    int32_t *offsets = add_buffer(owner, 1, p->n + 1, sizeof(*offsets), err);
    if (offsets == NULL) {
        return SILT_ENOMEM;
    }
    int64_t sum = 0;
    for (size_t i = 0; p->picks != NULL && i < p->n; i++) {
        int32_t begin = 0;
        int32_t end = 0;
        range_of(p, i, &begin, &end);
        if (end < begin || sum + (end - begin) > INT32_MAX) {
            return sl_fail(err, SILT_ELIMIT, NULL, "a batch of rows exceeds 2^31 - 1 bytes or items in one column");
        }
        sum += end - begin;
        offsets[i + 1] = (int32_t)sum;
    }
    *total = (size_t)sum;
    return SILT_OK;
}

static silt_status take_text(const struct picking *p, struct owner *owner, silt_error *err)
{
    size_t total = 0;
    SL_TRY(take_offsets(p, owner, &total, err));
    char *bytes = add_buffer(owner, 2, total, 1, err);
    if (bytes == NULL) {
        return SILT_ENOMEM;
    }
    const int32_t *offsets = owner->buffers[1];
    for (size_t i = 0; p->picks != NULL && i < p->n; i++) {
        const size_t len = (size_t)(offsets[i + 1] - offsets[i]);
        if (len > 0) {
            int32_t begin = 0;
            int32_t end = 0;
            range_of(p, i, &begin, &end);
            memcpy(bytes + offsets[i], (const char *)source_of(p, i)->buffers[2] + begin, len);
        }
    }
    return SILT_OK;
}

/* ---- arrays ---- */

static silt_status take_array(const struct picking *p, const struct ArrowSchema *schema, struct ArrowArray *out,
                              silt_error *err);

static silt_status take_child(const struct picking *p, const struct ArrowSchema *schema, size_t index,
                              const struct sl_arrow_pick *picks, size_t n, struct ArrowArray *out, silt_error *err)
{
    size_t n_sources = 0;
    for (size_t i = 0; picks != NULL && i < n; i++) {
        n_sources = picks[i].source >= n_sources ? (size_t)picks[i].source + 1 : n_sources;
    }
    struct ArrowArray **children = sl_alloc_zero(p->env, (n_sources + 1) * sizeof(struct ArrowArray *));
    if (children == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n_sources; i++) {
        /* A source of which nothing is picked may be no array at all. */
        children[i] = p->sources[i] != NULL && p->sources[i]->children != NULL ? p->sources[i]->children[index] : NULL;
    }
    const struct picking child = {.env = p->env, .sources = children, .picks = picks, .n = n, .depth = p->depth + 1};
    const silt_status status = take_array(&child, schema->children[index], out, err);
    sl_release(p->env, children, (n_sources + 1) * sizeof(struct ArrowArray *));
    return status;
}

/* Rows of a struct's children count from the struct's own offset. */
static silt_status take_members(const struct picking *p, const struct ArrowSchema *schema, struct owner *owner,
                                silt_error *err)
{
    struct sl_arrow_pick *moved = NULL;
    const struct sl_arrow_pick *picks = p->picks;
    bool any = false;
    for (size_t i = 0; picks != NULL && i < p->n && !any; i++) {
        any = source_of(p, i)->offset != 0;
    }
    if (any) {
        moved = sl_alloc_array(p->env, p->n, sizeof(*moved));
        if (moved == NULL) {
            return sl_fail_nomem(err);
        }
        for (size_t i = 0; i < p->n; i++) {
            moved[i] = picks[i];
            moved[i].row = (uint32_t)(moved[i].row + source_of(p, i)->offset);
        }
        picks = moved;
    }
    silt_status status = SILT_OK;
    for (size_t c = 0; c < owner->n_children && status == SILT_OK; c++) {
        status = take_child(p, schema, c, picks, p->n, &owner->children[c], err);
    }
    sl_release(p->env, moved, p->n * sizeof(*moved));
    return status;
}

static silt_status take_items(const struct picking *p, const struct ArrowSchema *schema, struct owner *owner,
                              silt_error *err)
{
    size_t total = 0;
    SL_TRY(take_offsets(p, owner, &total, err));
    struct sl_arrow_pick *items = sl_alloc_array(p->env, total + 1, sizeof(*items));
    if (items == NULL) {
        return sl_fail_nomem(err);
    }
    size_t n = 0;
    for (size_t i = 0; p->picks != NULL && i < p->n; i++) {
        int32_t begin = 0;
        int32_t end = 0;
        range_of(p, i, &begin, &end);
        for (int32_t at = begin; at < end; at++) {
            items[n++] = (struct sl_arrow_pick){.source = p->picks[i].source, .row = (uint32_t)at};
        }
    }
    const silt_status status = take_child(p, schema, 0, p->picks != NULL ? items : NULL, total, &owner->children[0],
                                          err);
    sl_release(p->env, items, (total + 1) * sizeof(*items));
    return status;
}

static silt_status take_values(const struct picking *p, const struct ArrowSchema *schema, struct owner *owner,
                               silt_error *err)
{
    const char *format = schema->format;
    const size_t width = width_of(format);
    if (width > 0) {
        return take_fixed(p, owner, width, err);
    }
    if (strcmp(format, "b") == 0) {
        return take_bits(p, owner, err);
    }
    if (is_text(format)) {
        return take_text(p, owner, err);
    }
    if (strcmp(format, "+s") == 0) {
        return take_members(p, schema, owner, err);
    }
    if (is_list(format) && owner->n_children == 1) {
        return take_items(p, schema, owner, err);
    }
    return sl_fail(err, SILT_EINVALID, NULL, "rows of Arrow format '%s' cannot be picked", format);
}

static silt_status own_children(struct owner *owner, size_t n, silt_error *err)
{
    owner->children = sl_alloc_zero(owner->env, n * sizeof(*owner->children));
    owner->pointers = sl_alloc_zero(owner->env, n * sizeof(*owner->pointers));
    owner->n_children = n;
    if (owner->children == NULL || owner->pointers == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        owner->pointers[i] = &owner->children[i];
    }
    return SILT_OK;
}

static silt_status take_array(const struct picking *p, const struct ArrowSchema *schema, struct ArrowArray *out,
                              silt_error *err)
{
    memset(out, 0, sizeof(*out));
    if (p->depth > MAX_DEPTH || schema->format == NULL || schema->n_children < 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "an Arrow schema is malformed or deeper than %d levels", MAX_DEPTH);
    }
    struct owner *owner = sl_alloc_zero(p->env, sizeof(*owner));
    if (owner == NULL) {
        return sl_fail_nomem(err);
    }
    owner->env = p->env;
    *out = (struct ArrowArray){.length = (int64_t)p->n, .private_data = owner, .release = release_owned};
    silt_status status = schema->n_children > 0 ? own_children(owner, (size_t)schema->n_children, err) : SILT_OK;
    if (status == SILT_OK) {
        status = take_validity(p, owner, out, err);
    }
    if (status == SILT_OK) {
        status = take_values(p, schema, owner, err);
    }
    if (status != SILT_OK) {
        sl_arrow_array_release(out);
        return status;
    }
    out->n_buffers = strcmp(schema->format, "+s") == 0 ? 1 : is_text(schema->format) ? 3 : 2;
    out->buffers = (const void **)owner->buffers;
    out->n_children = schema->n_children;
    out->children = owner->pointers;
    return SILT_OK;
}

silt_status sl_arrow_take(const silt_env *env, const struct ArrowSchema *schema, struct ArrowArray *const *sources,
                          const struct sl_arrow_pick *picks, size_t n, struct ArrowArray *out, silt_error *err)
{
    static const struct sl_arrow_pick none = {0};
    const struct picking picking = {.env = env, .sources = sources, .picks = n > 0 ? picks : &none, .n = n, .depth = 0};
    return take_array(&picking, schema, out, err);
}

size_t sl_arrow_taken_bytes(const struct ArrowArray *array)
{
    const struct owner *owner = array->private_data;
    size_t bytes = sizeof(*owner) + owner->n_children * (sizeof(*owner->children) + sizeof(*owner->pointers));
    for (size_t i = 0; i < MAX_BUFFERS; i++) {
        bytes += owner->sizes[i];
    }
    for (size_t i = 0; i < owner->n_children; i++) {
        bytes += sl_arrow_taken_bytes(&owner->children[i]);
    }
    return bytes;
}

silt_status sl_arrow_nulls(const silt_env *env, const struct ArrowSchema *schema, size_t n, struct ArrowArray *out,
                           silt_error *err)
{
    const struct picking picking = {.env = env, .sources = NULL, .picks = NULL, .n = n, .depth = 0};
    return take_array(&picking, schema, out, err);
}
