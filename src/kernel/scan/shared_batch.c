/*
 * Stretches of a batch; see shared_batch.h. A stretch has array structs of its own at every level, since consumers may move children
 * out of what they are given; only buffers are shared, by reference counts that are atomic. Called by logical_rows.c.
 */
#include "kernel/scan/shared_batch.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arrow.h"
#include "base/error.h"
#include "kernel/scan/batch.h"
#include "schema/type.h"

/* Arrow data of Delta types is nested at most this deep. */
#define MAX_DEPTH (SL_SCHEMA_MAX_DEPTH * 2 + 2)

struct sl_shared_batch {
    atomic_size_t refs;
    const silt_env *env;
    struct ArrowArray batch;
};

/* What one array struct of a stretch owns: its reference, and the structs below it. */
struct node {
    struct sl_shared_batch *shared;
    size_t n;
    struct ArrowArray *children; /* n, and one more for a dictionary */
    struct ArrowArray **pointers;
};

silt_status sl_shared_batch_new(const silt_env *env, struct ArrowArray *batch, struct sl_shared_batch **out,
                                silt_error *err)
{
    *out = sl_alloc_zero(env, sizeof(**out));
    if (*out == NULL) {
        sl_arrow_array_release(batch);
        return sl_fail_nomem(err);
    }
    atomic_init(&(*out)->refs, 1);
    (*out)->env = env;
    sl_arrow_array_move(&(*out)->batch, batch);
    return SILT_OK;
}

void sl_shared_batch_unref(struct sl_shared_batch *shared)
{
    if (shared != NULL && atomic_fetch_sub(&shared->refs, 1) == 1) {
        sl_arrow_array_release(&shared->batch);
        sl_release(shared->env, shared, sizeof(*shared));
    }
}

void sl_shared_batch_give(struct sl_shared_batch *shared, struct ArrowArray *out)
{
    sl_arrow_array_move(out, &shared->batch);
    sl_shared_batch_unref(shared);
}

static void free_node(struct node *node)
{
    const silt_env *env = node->shared->env;
    struct sl_shared_batch *shared = node->shared;
    sl_release(env, node->children, (node->n + 1) * sizeof(*node->children));
    sl_release(env, node->pointers, (node->n + 1) * sizeof(struct ArrowArray *));
    sl_release(env, node, sizeof(*node));
    sl_shared_batch_unref(shared);
}

static void release_node(struct ArrowArray *array)
{
    struct node *node = array->private_data;
    for (size_t i = 0; i <= node->n; i++) {
        sl_arrow_array_release(&node->children[i]);
    }
    free_node(node);
    array->release = NULL;
}

static struct node *make_node(struct sl_shared_batch *shared, size_t n)
{
    struct node *node = sl_alloc_zero(shared->env, sizeof(*node));
    if (node == NULL) {
        return NULL;
    }
    atomic_fetch_add(&shared->refs, 1);
    node->shared = shared;
    node->n = n;
    node->children = sl_alloc_zero(shared->env, (n + 1) * sizeof(*node->children));
    node->pointers = sl_alloc_zero(shared->env, (n + 1) * sizeof(struct ArrowArray *));
    if (node->children == NULL || node->pointers == NULL) {
        free_node(node);
        return NULL;
    }
    for (size_t i = 0; i <= n; i++) {
        node->pointers[i] = &node->children[i];
    }
    return node;
}

/* Structs like those of `array`, over the same buffers. Recursion is bounded by depth. */
static silt_status copy_structs(struct sl_shared_batch *shared, const struct ArrowArray *array, unsigned depth,
                                struct ArrowArray *out, silt_error *err)
{
    if (depth > MAX_DEPTH || array->n_children < 0 || array->release == NULL) {
        return sl_fail(err, SILT_EENGINE, NULL, "a column of a batch is nested too deeply or was released");
    }
    struct node *node = make_node(shared, (size_t)array->n_children);
    if (node == NULL) {
        return sl_fail_nomem(err);
    }
    *out = *array;
    out->children = node->pointers;
    out->dictionary = array->dictionary != NULL ? &node->children[node->n] : NULL;
    out->private_data = node;
    out->release = release_node;
    silt_status status = SILT_OK;
    for (size_t i = 0; i < node->n && status == SILT_OK; i++) {
        status = copy_structs(shared, array->children[i], depth + 1, &node->children[i], err);
    }
    if (status == SILT_OK && array->dictionary != NULL) {
        status = copy_structs(shared, array->dictionary, depth + 1, out->dictionary, err);
    }
    if (status != SILT_OK) {
        sl_arrow_array_release(out);
    }
    return status;
}

silt_status sl_shared_batch_slice(struct sl_shared_batch *shared, int64_t first, int64_t n, struct ArrowArray *out,
                                  silt_error *err)
{
    const struct ArrowArray *batch = &shared->batch;
    SL_TRY(sl_batch_new(shared->env, (size_t)batch->n_children, n, out, err));
    silt_status status = SILT_OK;
    for (int64_t i = 0; i < batch->n_children && status == SILT_OK; i++) {
        struct ArrowArray *column = out->children[i];
        status = copy_structs(shared, batch->children[i], 0, column, err);
        if (status == SILT_OK) {
            column->offset += first;
            column->null_count = column->null_count == 0 ? 0 : column->null_count == column->length ? n : -1;
            column->length = n;
        }
    }
    if (status != SILT_OK) {
        sl_arrow_array_release(out);
    }
    return status;
}
