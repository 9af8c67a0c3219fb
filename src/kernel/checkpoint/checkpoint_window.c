/*
 * A window of rows; see checkpoint_window.h. It is as large as its sorted rows are still worth something to a reader, who skips row
 * groups much smaller than it.
 */
#include "kernel/checkpoint/checkpoint_window.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/checkpoint/checkpoint_order.h"

#define WINDOW_ROWS 131072
#define WINDOW_BYTES ((int64_t)48 * 1024 * 1024)
#define MAX_DEPTH 16
#define TAKE_ROWS 16384U

struct entry {
    struct sl_str key;
    uint64_t place;
    struct sl_arrow_pick pick;
};

void sl_window_init(struct sl_window *window, const silt_env *env)
{
    *window = (struct sl_window){.env = env};
    sl_arena_init(&window->arena, env);
    sl_vec_init(&window->keys, env, sizeof(struct sl_str));
    sl_vec_init(&window->batches, env, sizeof(struct ArrowArray));
}

static void empty(struct sl_window *window)
{
    sl_release(window->env, window->picks, (size_t)window->n_rows * sizeof(*window->picks));
    sl_release(window->env, window->sources, window->batches.len * sizeof(struct ArrowArray *));
    window->picks = NULL;
    window->sources = NULL;
    window->n_taken = 0;
    for (size_t i = 0; i < window->batches.len; i++) {
        sl_arrow_array_release(sl_vec_at(&window->batches, i));
    }
    window->batches.len = 0;
    window->n_rows = 0;
    window->bytes = 0;
    sl_window_forget_keys(window);
}

void sl_window_release(struct sl_window *window)
{
    empty(window);
    sl_vec_release(&window->batches);
    sl_vec_release(&window->keys);
    sl_arena_release(&window->arena);
}

void sl_window_forget_keys(struct sl_window *window)
{
    window->keys.len = 0;
    sl_arena_reset(&window->arena);
}

silt_status sl_window_add_key(struct sl_window *window, struct sl_str key, silt_error *err)
{
    struct sl_str *last = window->keys.len > 0 ? sl_vec_at(&window->keys, window->keys.len - 1) : NULL;
    struct sl_str kept = last != NULL && sl_str_eq(*last, key) ? *last : (struct sl_str){NULL, 0};
    if (kept.ptr == NULL) {
        kept = sl_arena_copy(&window->arena, key);
    }
    struct sl_str *slot = kept.ptr != NULL ? sl_vec_push(&window->keys) : NULL;
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    *slot = kept;
    return SILT_OK;
}

static int64_t text_bytes(const struct ArrowArray *array, int depth)
{
    int64_t bytes = 0;
    if (array->n_buffers == 3 && array->length > 0) {
        const int32_t *offsets = array->buffers[1];
        return (int64_t)offsets[array->offset + array->length] - offsets[array->offset];
    }
    for (int64_t i = 0; depth < MAX_DEPTH && i < array->n_children; i++) {
        bytes += text_bytes(array->children[i], depth + 1);
    }
    return bytes;
}

int64_t sl_window_text_bytes(const struct ArrowArray *array)
{
    return text_bytes(array, 0);
}

silt_status sl_window_add(struct sl_window *window, struct ArrowArray *batch, silt_error *err)
{
    struct ArrowArray *slot = sl_vec_push(&window->batches);
    if (slot == NULL) {
        sl_arrow_array_release(batch);
        return sl_fail_nomem(err);
    }
    sl_arrow_array_move(slot, batch);
    window->n_rows += slot->length;
    window->bytes += text_bytes(slot, 0);
    return SILT_OK;
}

bool sl_window_is_full(const struct sl_window *window)
{
    return window->n_rows >= WINDOW_ROWS || window->bytes >= WINDOW_BYTES;
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left;
    const struct entry *b = right;
    const int order = a->key.ptr == b->key.ptr ? 0 : sl_order_compare(a->key, b->key);
    return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
}

static void fill(const struct sl_window *window, struct entry *entries)
{
    size_t n = 0;
    for (size_t b = 0; b < window->batches.len; b++) {
        window->sources[b] = sl_vec_at(&window->batches, b);
        for (int64_t row = 0; row < window->sources[b]->length; row++, n++) {
            entries[n] = (struct entry){.key = *(const struct sl_str *)sl_vec_at(&window->keys, n),
                                        .place = n,
                                        .pick = {.source = (uint32_t)b, .row = (uint32_t)row}};
        }
    }
}

static silt_status sort(struct sl_window *window, silt_error *err)
{
    const size_t n = (size_t)window->n_rows;
    struct entry *entries = sl_alloc_array(window->env, n, sizeof(*entries));
    window->picks = sl_alloc_array(window->env, n, sizeof(*window->picks));
    window->sources = sl_alloc_array(window->env, window->batches.len, sizeof(struct ArrowArray *));
    const bool good = entries != NULL && window->picks != NULL && window->sources != NULL && window->keys.len == n;
    if (good) {
        fill(window, entries);
        qsort(entries, n, sizeof(*entries), compare_entries);
        for (size_t i = 0; i < n; i++) {
            window->picks[i] = entries[i].pick;
        }
        sl_window_forget_keys(window);
    }
    sl_release(window->env, entries, n * sizeof(*entries));
    return good ? SILT_OK : sl_fail_nomem(err);
}

bool sl_window_is_taking(const struct sl_window *window)
{
    return window->picks != NULL;
}

silt_status sl_window_take(struct sl_window *window, const struct ArrowSchema *schema, struct ArrowArray *out,
                           silt_error *err)
{
    const size_t n = (size_t)window->n_rows;
    silt_status status = SILT_OK;
    if (n > 0 && window->picks == NULL) {
        status = sort(window, err);
    }
    if (status == SILT_OK && n > 0) {
        const size_t left = n - window->n_taken;
        const size_t n_next = left < TAKE_ROWS ? left : TAKE_ROWS;
        status = sl_arrow_take(window->env, schema, window->sources, window->picks + window->n_taken, n_next, out, err);
        window->n_taken += n_next;
    }
    if (status != SILT_OK || window->n_taken == n) {
        empty(window);
    }
    return status;
}
