/*
 * Indexes of file sets; see file_index.h. Called by file lists when a commit arrives.
 */
#include "kernel/replay/file_index.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

static size_t index_bytes(size_t n_slots)
{
    return sizeof(struct sl_file_index) + n_slots * sizeof(uint32_t);
}

void sl_file_index_free(const silt_env *env, struct sl_file_index *index)
{
    if (index != NULL) {
        sl_release(env, index, index_bytes(index->n_slots));
    }
}

size_t sl_file_index_resident(const struct sl_file_index *index)
{
    return index != NULL ? index_bytes(index->n_slots) : 0;
}

/* Rows whose slots are fetched before the first of them is looked at: a slot is a cache miss, and they overlap. */
#define BATCH 64U

static bool put_batch(struct sl_file_index *index, const struct sl_file_set *set, struct sl_key_maker *maker,
                      sl_file_pos first, uint32_t n)
{
    const size_t mask = index->n_slots - 1;
    size_t slots[BATCH];
    for (uint32_t i = 0; i < n; i++) {
        struct sl_file_key key;
        if (!sl_file_set_key(set, maker, first + i, &key)) {
            return false;
        }
        slots[i] = (size_t)key.hash & mask;
        __builtin_prefetch(&index->slots[slots[i]], 1);
    }
    for (uint32_t i = 0; i < n; i++) {
        size_t at = slots[i];
        while (index->slots[at] != 0) {
            at = (at + 1) & mask;
        }
        index->slots[at] = first + i + 1;
    }
    return true;
}

static bool fill(struct sl_file_index *index, const struct sl_file_set *set)
{
    struct sl_key_maker maker;
    sl_key_maker_init(&maker, set->env, set->root, set->hash);
    bool ok = true;
    for (size_t b = 0; ok && b < set->blocks.len; b++) {
        const uint32_t n = sl_file_set_block(set, b)->n;
        for (uint32_t row = 0; ok && row < n; row += BATCH) {
            ok = put_batch(index, set, &maker, sl_file_pos_make(b, row), n - row < BATCH ? n - row : BATCH);
        }
    }
    sl_key_maker_release(&maker);
    return ok;
}

silt_status sl_file_index_get(struct sl_file_set *set, const struct sl_file_index **out, silt_error *err)
{
    struct sl_file_index *index = atomic_load_explicit(&set->index, memory_order_acquire);
    *out = index;
    if (index != NULL) {
        return SILT_OK;
    }
    size_t n_slots = 8;
    while (n_slots < (size_t)set->n_files + (size_t)set->n_files / 2) {
        n_slots *= 2;
    }
    index = sl_alloc(set->env, index_bytes(n_slots));
    if (index == NULL) {
        return sl_fail_nomem(err);
    }
    memset(index, 0, index_bytes(n_slots));
    index->n_slots = n_slots;
    if (!fill(index, set)) {
        sl_file_index_free(set->env, index);
        return sl_fail_nomem(err);
    }
    struct sl_file_index *expected = NULL;
    if (!atomic_compare_exchange_strong(&set->index, &expected, index)) {
        sl_file_index_free(set->env, index);
        index = expected;
    }
    *out = index;
    return SILT_OK;
}

bool sl_file_lookup_next(struct sl_file_lookup *lookup, sl_file_pos *pos)
{
    const struct sl_file_index *index = lookup->index;
    *pos = SL_FILE_NOWHERE;
    while (index->slots[lookup->at] != 0) {
        const sl_file_pos found = index->slots[lookup->at] - 1;
        struct sl_file_key key;
        lookup->at = (lookup->at + 1) & (index->n_slots - 1);
        if (!sl_file_set_key(lookup->set, lookup->maker, found, &key)) {
            return false;
        }
        if (key.hash == lookup->key->hash && sl_file_key_eq(&key, lookup->key)) {
            *pos = found;
            return true;
        }
    }
    return true;
}
