/*
 * Sets of decided keys; see key_set.h. Called by replay for each file action of a commit and for the rows of a checkpoint.
 */
#include "kernel/replay/key_set.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

#define KEPT UINT32_C(0x80000000)
#define FIRST_SLOTS 64
#define FILTER_BITS_A_SLOT 4

static size_t filter_bytes(size_t n_slots)
{
    return n_slots * FILTER_BITS_A_SLOT / 8;
}

/* Of bits that have no part in choosing the slot, as far as the set is not huge. */
static size_t filter_bit(const struct sl_key_set *set, uint64_t hash)
{
    return (size_t)(hash >> 24) & (set->n_slots * FILTER_BITS_A_SLOT - 1);
}

static void put_bit(struct sl_key_set *set, uint64_t hash)
{
    const size_t bit = filter_bit(set, hash);
    set->filter[bit / 64] |= UINT64_C(1) << (bit % 64);
}

void sl_key_set_init(struct sl_key_set *set, const silt_env *env)
{
    *set = (struct sl_key_set){.env = env};
    sl_vec_init(&set->keys, env, sizeof(struct sl_file_key));
    sl_arena_init(&set->arena, env);
}

void sl_key_set_release(struct sl_key_set *set)
{
    if (set->env == NULL) {
        return;
    }
    sl_release(set->env, set->hashes, set->n_slots * sizeof(*set->hashes));
    sl_release(set->env, set->refs, set->n_slots * sizeof(*set->refs));
    sl_release(set->env, set->filter, filter_bytes(set->n_slots));
    sl_vec_release(&set->keys);
    sl_arena_release(&set->arena);
    sl_key_set_init(set, set->env);
}

void sl_key_set_move(struct sl_key_set *dst, struct sl_key_set *src)
{
    *dst = *src;
    sl_key_set_init(src, dst->env);
}

size_t sl_key_set_resident(const struct sl_key_set *set)
{
    return set->n_slots * (sizeof(*set->hashes) + sizeof(*set->refs)) + filter_bytes(set->n_slots) +
           set->keys.cap * sizeof(struct sl_file_key) + set->arena.total_bytes;
}

/* The key behind a slot. false: out of memory. */
static bool key_of(const struct sl_key_probe *probe, size_t slot, struct sl_file_key *out)
{
    const uint32_t ref = probe->keys->refs[slot];
    if ((ref & KEPT) != 0) {
        *out = *(const struct sl_file_key *)sl_vec_at(&probe->keys->keys, (ref & ~KEPT) - 1);
        return true;
    }
    return sl_file_set_key(probe->files, probe->maker, ref - 1, out);
}

bool sl_key_set_find(const struct sl_key_probe *probe, const struct sl_file_key *key, bool *found)
{
    const struct sl_key_set *set = probe->keys;
    *found = false;
    if (set->n == 0) {
        return true;
    }
    const size_t bit = filter_bit(set, key->hash);
    if ((set->filter[bit / 64] >> (bit % 64) & 1U) == 0) {
        return true;
    }
    const size_t mask = set->n_slots - 1;
    for (size_t i = (size_t)key->hash & mask; set->refs[i] != 0; i = (i + 1) & mask) {
        if (set->hashes[i] != key->hash) {
            continue;
        }
        struct sl_file_key other;
        if (!key_of(probe, i, &other)) {
            return false;
        }
        if (sl_file_key_eq(&other, key)) {
            *found = true;
            return true;
        }
    }
    return true;
}

static bool grow(struct sl_key_set *set)
{
    const size_t n = set->n_slots == 0 ? FIRST_SLOTS : set->n_slots * 2;
    uint64_t *hashes = sl_alloc_array(set->env, n, sizeof(*hashes));
    uint32_t *refs = sl_alloc_array(set->env, n, sizeof(*refs));
    uint64_t *filter = sl_alloc_zero(set->env, filter_bytes(n));
    if (hashes == NULL || refs == NULL || filter == NULL) {
        sl_release(set->env, hashes, n * sizeof(*hashes));
        sl_release(set->env, refs, n * sizeof(*refs));
        sl_release(set->env, filter, filter_bytes(n));
        return false;
    }
    memset(refs, 0, n * sizeof(*refs));
    const struct sl_key_set old = *set;
    set->hashes = hashes;
    set->refs = refs;
    set->filter = filter;
    set->n_slots = n;
    for (size_t i = 0; i < old.n_slots; i++) {
        if (old.refs[i] != 0) {
            size_t to = (size_t)old.hashes[i] & (n - 1);
            while (refs[to] != 0) {
                to = (to + 1) & (n - 1);
            }
            hashes[to] = old.hashes[i];
            refs[to] = old.refs[i];
            put_bit(set, old.hashes[i]);
        }
    }
    sl_release(set->env, old.hashes, old.n_slots * sizeof(*hashes));
    sl_release(set->env, old.refs, old.n_slots * sizeof(*refs));
    sl_release(set->env, old.filter, filter_bytes(old.n_slots));
    return true;
}

static bool put_ref(struct sl_key_set *set, uint64_t hash, uint32_t ref)
{
    if (set->n * 2 >= set->n_slots && !grow(set)) {
        return false;
    }
    size_t i = (size_t)hash & (set->n_slots - 1);
    while (set->refs[i] != 0) {
        i = (i + 1) & (set->n_slots - 1);
    }
    set->hashes[i] = hash;
    set->refs[i] = ref;
    put_bit(set, hash);
    set->n++;
    return true;
}

/* The parts of a key in one piece. */
static bool copy_key(struct sl_arena *arena, const struct sl_file_key *key, struct sl_file_key *out)
{
    const struct sl_str parts[] = {key->dir, key->name, key->vector};
    struct sl_str copies[3] = {{NULL, 0}};
    char *at = sl_arena_alloc(arena, key->dir.len + key->name.len + key->vector.len + 1);
    if (at == NULL) {
        return false;
    }
    for (size_t i = 0; i < 3; i++) {
        if (parts[i].len > 0) {
            memcpy(at, parts[i].ptr, parts[i].len);
        }
        copies[i] = sl_str_make(at, parts[i].len);
        at += parts[i].len;
    }
    *out = (struct sl_file_key){copies[0], copies[1], key->vector.ptr != NULL ? copies[2] : key->vector, key->hash};
    return true;
}

bool sl_key_set_put(struct sl_key_set *set, const struct sl_file_key *key)
{
    if (set->keys.len >= KEPT - 1) {
        return false;
    }
    struct sl_file_key *kept = sl_vec_push(&set->keys);
    return kept != NULL && copy_key(&set->arena, key, kept) && put_ref(set, key->hash, (uint32_t)set->keys.len | KEPT);
}

bool sl_key_set_put_file(struct sl_key_set *set, const struct sl_file_key *key, sl_file_pos pos)
{
    return pos < KEPT - 1 ? put_ref(set, key->hash, pos + 1) : sl_key_set_put(set, key);
}

silt_status sl_key_set_each(const struct sl_key_probe *probe,
                            silt_status (*visit)(void *ctx, const struct sl_file_key *key, silt_error *err), void *ctx,
                            silt_error *err)
{
    for (size_t i = 0; i < probe->keys->n_slots; i++) {
        if (probe->keys->refs[i] == 0) {
            continue;
        }
        struct sl_file_key key;
        if (!key_of(probe, i, &key)) {
            return sl_fail_nomem(err);
        }
        SL_TRY(visit(ctx, &key, err));
    }
    return SILT_OK;
}
