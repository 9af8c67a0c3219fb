/*
 * Finding hashes that come twice; see repeated.h. One bit of sixteen a hash is set in a bitmap that fits a processor's cache. What meets a bit
 * that is set, one of thirty, goes into a table, and a second walk counts how often each hash of the table is there. The two walks
 * cost some nanoseconds a hash, where a table of all of them would cost a cache miss. Hashes that somebody chose, so that they crowd one place of the
 * table, are sorted instead.
 */
#include "kernel/replay/repeated.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"

#define BITS_A_HASH 16U
#define LEAST_BITS 1024U
#define OTHER_BITS 32U /* the table goes by the hash without these */
#define MAX_PROBES 64U

struct bitmap {
    const silt_env *env;
    uint64_t *words;
    size_t n_bits; /* a power of two */
};

static bool bitmap_make(const silt_env *env, size_t n, struct bitmap *out)
{
    *out = (struct bitmap){.env = env, .n_bits = LEAST_BITS};
    while (out->n_bits / BITS_A_HASH < n) {
        out->n_bits *= 2;
    }
    out->words = sl_alloc_zero(env, out->n_bits / 8);
    return out->words != NULL;
}

static void bitmap_free(struct bitmap *bitmap)
{
    sl_release(bitmap->env, bitmap->words, bitmap->n_bits / 8);
}

static inline bool bitmap_has(const struct bitmap *bitmap, uint64_t hash)
{
    const size_t bit = (size_t)hash & (bitmap->n_bits - 1);
    return (bitmap->words[bit / 64] >> (bit % 64) & 1U) != 0;
}

static inline void bitmap_put(const struct bitmap *bitmap, uint64_t hash)
{
    const size_t bit = (size_t)hash & (bitmap->n_bits - 1);
    bitmap->words[bit / 64] |= UINT64_C(1) << (bit % 64);
}

/* Hashes of which there may be another, and how many there are. */
struct slot {
    uint64_t hash;
    uint32_t n; /* 0: the slot is empty; more than one does not matter */
    bool taken;
};

struct table {
    const silt_env *env;
    struct slot *slots;
    size_t n_slots;       /* a power of two */
    struct bitmap likely; /* of what is in it: most hashes need not look for a slot */
};

static bool table_make(const silt_env *env, size_t n, struct table *out)
{
    *out = (struct table){.env = env, .n_slots = LEAST_BITS};
    while (out->n_slots / 2 < n) {
        out->n_slots *= 2;
    }
    out->slots = sl_alloc_zero(env, out->n_slots * sizeof(*out->slots));
    return out->slots != NULL && bitmap_make(env, n * 4, &out->likely);
}

static void table_free(struct table *table)
{
    sl_release(table->env, table->slots, table->n_slots * sizeof(*table->slots));
    if (table->likely.words != NULL) {
        bitmap_free(&table->likely);
    }
}

/* The slot of a hash, or the empty one where it belongs; NULL: too many are before it. */
static struct slot *table_find(const struct table *table, uint64_t hash)
{
    size_t at = (size_t)(hash >> OTHER_BITS) & (table->n_slots - 1);
    for (unsigned i = 0; i < MAX_PROBES; i++) {
        struct slot *slot = &table->slots[at];
        if (!slot->taken || slot->hash == hash) {
            return slot;
        }
        at = (at + 1) & (table->n_slots - 1);
    }
    return NULL;
}

/* Those whose bit was set before. */
static bool find_suspects(const uint64_t *hashes, size_t n, const struct bitmap *seen, struct sl_vec *suspects)
{
    for (size_t i = 0; i < n; i++) {
        if (!bitmap_has(seen, hashes[i])) {
            bitmap_put(seen, hashes[i]);
            continue;
        }
        uint64_t *suspect = sl_vec_push(suspects);
        if (suspect == NULL) {
            return false;
        }
        *suspect = hashes[i];
    }
    return true;
}

/* false: the table is crowded. */
static bool put_suspects(const struct table *table, const struct sl_vec *suspects)
{
    for (size_t i = 0; i < suspects->len; i++) {
        const uint64_t hash = *(const uint64_t *)sl_vec_at(suspects, i);
        struct slot *slot = table_find(table, hash);
        if (slot == NULL) {
            return false;
        }
        *slot = (struct slot){.hash = hash, .taken = true};
        bitmap_put(&table->likely, hash >> OTHER_BITS);
    }
    return true;
}

static size_t count_each(const uint64_t *hashes, size_t n, const struct table *table)
{
    size_t n_more = 0;
    for (size_t i = 0; i < n; i++) {
        struct slot *slot = bitmap_has(&table->likely, hashes[i] >> OTHER_BITS) ? table_find(table, hashes[i]) : NULL;
        if (slot != NULL && slot->taken) {
            slot->n += slot->n < 2 ? 1 : 0;
            n_more += slot->n > 1 ? 1 : 0;
        }
    }
    return n_more;
}

static bool put_repeated(const uint64_t *hashes, size_t n, const struct table *table, struct sl_vec *out)
{
    for (size_t i = 0; i < n; i++) {
        const struct slot *slot = table != NULL ? table_find(table, hashes[i]) : NULL;
        if (table == NULL || (slot != NULL && slot->taken && slot->n > 1)) {
            struct sl_repeated *repeated = sl_vec_push(out);
            if (repeated == NULL) {
                return false;
            }
            *repeated = (struct sl_repeated){hashes[i], i};
        }
    }
    return true;
}

static bool find_like(const uint64_t *hashes, size_t n, const struct sl_vec *suspects, struct sl_vec *out)
{
    struct table table;
    bool good = table_make(suspects->env, suspects->len, &table);
    if (good && !put_suspects(&table, suspects)) {
        good = put_repeated(hashes, n, NULL, out);
    } else if (good && count_each(hashes, n, &table) > 0) {
        good = put_repeated(hashes, n, &table, out);
    }
    table_free(&table);
    return good;
}

static int compare(const void *a, const void *b)
{
    const struct sl_repeated *x = a;
    const struct sl_repeated *y = b;
    if (x->hash != y->hash) {
        return x->hash < y->hash ? -1 : 1;
    }
    return x->place < y->place ? -1 : 1;
}

/* Keeps what has its like beside it. */
static void drop_single(struct sl_vec *sorted)
{
    struct sl_repeated *all = sorted->data;
    size_t kept = 0;
    for (size_t begin = 0, end = 0; begin < sorted->len; begin = end) {
        while (end < sorted->len && all[end].hash == all[begin].hash) {
            end++;
        }
        for (size_t i = begin; end - begin > 1 && i < end; i++) {
            all[kept++] = all[i];
        }
    }
    sorted->len = kept;
}

silt_status sl_repeated_find(const uint64_t *hashes, size_t n, struct sl_vec *out, silt_error *err)
{
    struct bitmap seen;
    struct sl_vec suspects;
    sl_vec_init(&suspects, out->env, sizeof(uint64_t));
    bool good = bitmap_make(out->env, n, &seen) && find_suspects(hashes, n, &seen, &suspects);
    bitmap_free(&seen);
    if (good && suspects.len > 0) {
        good = find_like(hashes, n, &suspects, out);
    }
    sl_vec_release(&suspects);
    if (!good) {
        return sl_fail_nomem(err);
    }
    if (out->len > 0) {
        qsort(out->data, out->len, sizeof(struct sl_repeated), compare);
        drop_single(out);
    }
    return SILT_OK;
}
