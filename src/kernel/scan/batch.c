/*
 * Assembling struct arrays from columns that come from elsewhere: the columns move, no value is copied. Called by the reading side of
 * scans. No state; a batch has one owner.
 */
#include "kernel/scan/batch.h"

#include <string.h>

#include "base/alloc.h"
#include "base/arrow.h"
#include "base/error.h"

/* Arrow data of Delta types is nested at most this deep. */
#define MAX_DEPTH (SL_SCHEMA_MAX_DEPTH * 2 + 2)

/* What a struct array of ours owns. */
struct holder {
    const silt_env *env;
    size_t n;
    const void *no_validity[1];
    struct ArrowArray **pointers;
    struct ArrowArray *children;
};

static void release_holder(struct holder *holder)
{
    sl_release(holder->env, holder->children, (holder->n + 1) * sizeof(*holder->children));
    sl_release(holder->env, holder->pointers, (holder->n + 1) * sizeof(struct ArrowArray *));
    sl_release(holder->env, holder, sizeof(*holder));
}

static void release_batch(struct ArrowArray *batch)
{
    struct holder *holder = batch->private_data;
    for (size_t i = 0; i < holder->n; i++) {
        sl_arrow_array_release(&holder->children[i]);
    }
    release_holder(holder);
    batch->release = NULL;
}

silt_status sl_batch_new(const silt_env *env, size_t n, int64_t length, struct ArrowArray *out, silt_error *err)
{
    memset(out, 0, sizeof(*out));
    struct holder *holder = sl_alloc_zero(env, sizeof(*holder));
    if (holder == NULL) {
        return sl_fail_nomem(err);
    }
    holder->env = env;
    holder->n = n;
    holder->children = sl_alloc_array(env, n + 1, sizeof(*holder->children));
    holder->pointers = sl_alloc_array(env, n + 1, sizeof(struct ArrowArray *));
    if (holder->children == NULL || holder->pointers == NULL) {
        release_holder(holder);
        return sl_fail_nomem(err);
    }
    memset(holder->children, 0, (n + 1) * sizeof(*holder->children));
    for (size_t i = 0; i < n; i++) {
        holder->pointers[i] = &holder->children[i];
    }
    out->length = length;
    out->n_buffers = 1;
    out->buffers = holder->no_validity;
    out->n_children = (int64_t)n;
    out->children = holder->pointers;
    out->private_data = holder;
    out->release = release_batch;
    return SILT_OK;
}

silt_status sl_batch_take_child(struct ArrowArray *batch, size_t index, struct ArrowArray *out, silt_error *err)
{
    if (batch->n_children < 0 || index >= (size_t)batch->n_children || batch->children[index] == NULL ||
        batch->children[index]->release == NULL) {
        return sl_fail(err, SILT_EENGINE, NULL, "a batch of rows lacks column %zu", index);
    }
    struct ArrowArray *child = batch->children[index];
    if (batch->offset < 0 || batch->length < 0 || child->length - batch->length < batch->offset) {
        return sl_fail(err, SILT_EENGINE, NULL, "column %zu of a batch has fewer rows than the batch", index);
    }
    sl_arrow_array_move(out, child);
    if (batch->offset > 0 || out->length != batch->length) {
        out->offset += batch->offset;
        out->length = batch->length;
        out->null_count = out->null_count == 0 ? 0 : -1; /* of a part: not known */
    }
    return SILT_OK;
}

silt_status sl_batch_keep_first(const silt_env *env, struct ArrowArray *batch, size_t n, struct ArrowArray *out,
                                silt_error *err)
{
    silt_status status = sl_batch_new(env, n, batch->length, out, err);
    for (size_t i = 0; i < n && status == SILT_OK; i++) {
        status = sl_batch_take_child(batch, i, out->children[i], err);
    }
    sl_arrow_array_release(batch);
    if (status != SILT_OK) {
        sl_arrow_array_release(out);
    }
    return status;
}

static bool same_layout(const struct ArrowSchema *a, const struct ArrowSchema *b, int depth)
{
    if (depth > MAX_DEPTH || a == NULL || b == NULL || a->format == NULL || b->format == NULL ||
        strcmp(a->format, b->format) != 0 || a->n_children != b->n_children ||
        (a->dictionary != NULL) != (b->dictionary != NULL)) {
        return false;
    }
    for (int64_t i = 0; i < a->n_children; i++) {
        if (!same_layout(a->children[i], b->children[i], depth + 1)) {
            return false;
        }
    }
    return a->dictionary == NULL || same_layout(a->dictionary, b->dictionary, depth + 1);
}

bool sl_batch_same_layout(const struct ArrowSchema *a, const struct ArrowSchema *b)
{
    return same_layout(a, b, 0);
}
