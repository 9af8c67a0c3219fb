/*
 * Small operations on the Arrow C structs: releasing, moving, copying schemas, reading validity. Used wherever Arrow data
 * crosses a layer. A struct has one owner.
 */
#include "base/arrow.h"

#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

#define MAX_SCHEMA_DEPTH 256
#define MAX_METADATA_PAIRS 1000000

void sl_arrow_schema_release(struct ArrowSchema *schema)
{
    if (schema != NULL && schema->release != NULL) {
        schema->release(schema);
        schema->release = NULL;
    }
}

void sl_arrow_array_release(struct ArrowArray *array)
{
    if (array != NULL && array->release != NULL) {
        array->release(array);
        array->release = NULL;
    }
}

void sl_arrow_stream_release(struct ArrowArrayStream *stream)
{
    if (stream != NULL && stream->release != NULL) {
        stream->release(stream);
        stream->release = NULL;
    }
}

void sl_arrow_schema_move(struct ArrowSchema *dst, struct ArrowSchema *src)
{
    *dst = *src;
    *src = (struct ArrowSchema){0};
}

void sl_arrow_array_move(struct ArrowArray *dst, struct ArrowArray *src)
{
    *dst = *src;
    *src = (struct ArrowArray){0};
}

void sl_arrow_stream_move(struct ArrowArrayStream *dst, struct ArrowArrayStream *src)
{
    *dst = *src;
    *src = (struct ArrowArrayStream){0};
}

bool sl_arrow_is_null(const struct ArrowArray *array, int64_t row)
{
    if (array->n_buffers == 0) {
        return true; /* the null type has no buffers at all, and neither have unions, which silt does not take */
    }
    if (array->null_count == 0 || array->buffers == NULL || array->buffers[0] == NULL) {
        return false;
    }
    const uint8_t *bits = array->buffers[0];
    const int64_t bit = row + array->offset;
    return (bits[bit / 8] >> (bit % 8) & 1) == 0;
}

/* What a copied schema owns besides its children. */
struct schema_copy {
    const silt_env *env;
    size_t n_children;
    size_t metadata_size;
};

static void release_schema_copy(struct ArrowSchema *schema)
{
    struct schema_copy *copy = schema->private_data;
    const silt_env *env = copy->env;
    for (size_t i = 0; schema->children != NULL && i < copy->n_children; i++) {
        if (schema->children[i] != NULL) {
            sl_arrow_schema_release(schema->children[i]);
            sl_release(env, schema->children[i], sizeof(*schema->children[i]));
        }
    }
    sl_release(env, schema->children, copy->n_children * sizeof(*schema->children));
    if (schema->dictionary != NULL) {
        sl_arrow_schema_release(schema->dictionary);
        sl_release(env, schema->dictionary, sizeof(*schema->dictionary));
    }
    sl_strfree(env, (char *)(uintptr_t)schema->format);
    sl_strfree(env, (char *)(uintptr_t)schema->name);
    sl_release(env, (char *)(uintptr_t)schema->metadata, copy->metadata_size);
    sl_release(env, copy, sizeof(*copy));
    *schema = (struct ArrowSchema){0};
}

/* The metadata's bytes: a count, then length and bytes of each key and value, in native order. */
static bool measure_metadata(const char *metadata, size_t *size)
{
    int32_t n_pairs = 0;
    size_t at = sizeof(n_pairs);
    memcpy(&n_pairs, metadata, sizeof(n_pairs));
    if (n_pairs < 0 || n_pairs > MAX_METADATA_PAIRS) {
        return false;
    }
    for (int64_t i = 0; i < (int64_t)n_pairs * 2; i++) {
        int32_t len = 0;
        memcpy(&len, metadata + at, sizeof(len));
        if (len < 0 || at > SIZE_MAX - sizeof(len) - (size_t)len) {
            return false;
        }
        at += sizeof(len) + (size_t)len;
    }
    *size = at;
    return true;
}

static silt_status copy_texts(struct schema_copy *copy, const struct ArrowSchema *src, struct ArrowSchema *dst,
                              silt_error *err)
{
    if (src->format == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "an Arrow schema has no format string");
    }
    dst->format = sl_strdup_len(copy->env, src->format, strlen(src->format));
    if (src->name != NULL) {
        dst->name = sl_strdup_len(copy->env, src->name, strlen(src->name));
    }
    if (dst->format == NULL || (src->name != NULL && dst->name == NULL)) {
        return sl_fail_nomem(err);
    }
    if (src->metadata == NULL) {
        return SILT_OK;
    }
    size_t size = 0;
    if (!measure_metadata(src->metadata, &size)) {
        return sl_fail(err, SILT_EINVALID, NULL, "the metadata of Arrow field '%s' is malformed",
                       src->name != NULL ? src->name : "");
    }
    char *metadata = sl_alloc(copy->env, size);
    if (metadata == NULL) {
        return sl_fail_nomem(err);
    }
    memcpy(metadata, src->metadata, size);
    copy->metadata_size = size;
    dst->metadata = metadata;
    return SILT_OK;
}

static silt_status copy_schema(const silt_env *env, const struct ArrowSchema *src, int depth, struct ArrowSchema *out,
                               silt_error *err);

static silt_status copy_boxed(const silt_env *env, const struct ArrowSchema *src, int depth, struct ArrowSchema **out,
                              silt_error *err)
{
    if (src == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "an Arrow schema has a child that is NULL");
    }
    *out = sl_alloc_zero(env, sizeof(**out));
    return *out != NULL ? copy_schema(env, src, depth, *out, err) : sl_fail_nomem(err);
}

static silt_status copy_schema(const silt_env *env, const struct ArrowSchema *src, int depth, struct ArrowSchema *out,
                               silt_error *err)
{
    *out = (struct ArrowSchema){0};
    if (src->release == NULL || src->n_children < 0 || (src->n_children > 0 && src->children == NULL)) {
        return sl_fail(err, SILT_EINVALID, NULL, "an Arrow schema is released or malformed");
    }
    if (depth > MAX_SCHEMA_DEPTH || src->n_children > INT32_MAX) {
        return sl_fail(err, SILT_ELIMIT, NULL, "an Arrow schema is deeper than %d levels or too wide",
                       MAX_SCHEMA_DEPTH);
    }
    struct schema_copy *copy = sl_alloc_zero(env, sizeof(*copy));
    if (copy == NULL) {
        return sl_fail_nomem(err);
    }
    copy->env = env;
    *out = (struct ArrowSchema){.flags = src->flags, .release = release_schema_copy, .private_data = copy};
    silt_status status = copy_texts(copy, src, out, err);
    const size_t n_children = (size_t)src->n_children;
    if (status == SILT_OK && n_children > 0) {
        copy->n_children = n_children;
        out->n_children = src->n_children;
        out->children = sl_alloc_zero(env, n_children * sizeof(*out->children));
        status = out->children != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    for (size_t i = 0; status == SILT_OK && i < n_children; i++) {
        status = copy_boxed(env, src->children[i], depth + 1, &out->children[i], err);
    }
    if (status == SILT_OK && src->dictionary != NULL) {
        status = copy_boxed(env, src->dictionary, depth + 1, &out->dictionary, err);
    }
    if (status != SILT_OK) {
        sl_arrow_schema_release(out);
    }
    return status;
}

silt_status sl_arrow_schema_copy(const silt_env *env, const struct ArrowSchema *src, struct ArrowSchema *out,
                                 silt_error *err)
{
    return copy_schema(env, src, 0, out, err);
}
