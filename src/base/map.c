/*
 * Hash maps from byte strings. Entries lie in an array in the order of insertion; a table of 32-bit slots, at most half
 * full, finds them by linear probing. A removed entry stays in its place, not live, until the table is rebuilt, so that
 * probing needs no tombstones in the slots. Used for replay, field names, options. One owner.
 */
#include "base/map.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/alloc.h"

#define FIRST_CAPACITY 8

uint64_t sl_hash_bytes(const void *bytes, size_t len)
{
    return XXH3_64bits(len > 0 ? bytes : "", len);
}

uint64_t sl_hash_seeded(const void *bytes, size_t len, uint64_t seed)
{
    return XXH3_64bits_withSeed(len > 0 ? bytes : "", len, seed);
}

void sl_map_init(struct sl_map *map, const silt_env *env)
{
    *map = (struct sl_map){.env = env};
}

void sl_map_release(struct sl_map *map)
{
    sl_release(map->env, map->entries, map->cap * sizeof(*map->entries));
    sl_release(map->env, map->slots, map->n_slots * sizeof(*map->slots));
    *map = (struct sl_map){.env = map->env};
}

static struct sl_map_entry *find_hashed(const struct sl_map *map, struct sl_str key, uint64_t hash)
{
    if (map->n_slots == 0) {
        return NULL;
    }
    const size_t mask = map->n_slots - 1;
    for (size_t i = (size_t)hash & mask; map->slots[i] != 0; i = (i + 1) & mask) {
        struct sl_map_entry *entry = &map->entries[map->slots[i] - 1];
        if (entry->hash == hash && entry->live && sl_str_eq(entry->key, key)) {
            return entry;
        }
    }
    return NULL;
}

static void fill_slot(uint32_t *slots, size_t n_slots, uint64_t hash, size_t entry_index)
{
    const size_t mask = n_slots - 1;
    size_t i = (size_t)hash & mask;
    while (slots[i] != 0) {
        i = (i + 1) & mask;
    }
    slots[i] = (uint32_t)(entry_index + 1);
}

/* Moves the live entries into arrays for `cap` entries. Nothing changes on failure. */
static bool rebuild(struct sl_map *map, size_t cap)
{
    /* Slots are 32 bits wide: this also keeps the products below from overflowing. */
    if (cap > UINT32_MAX / 4) {
        return false;
    }
    size_t n_slots = 1;
    while (n_slots < cap * 2) {
        n_slots *= 2;
    }
    struct sl_map_entry *entries = sl_alloc_array(map->env, cap, sizeof(*entries));
    uint32_t *slots = sl_alloc_zero(map->env, n_slots * sizeof(*slots));
    if (entries == NULL || slots == NULL) {
        sl_release(map->env, entries, cap * sizeof(*entries));
        sl_release(map->env, slots, n_slots * sizeof(*slots));
        return false;
    }
    size_t len = 0;
    for (size_t i = 0; i < map->len; i++) {
        if (map->entries[i].live) {
            entries[len] = map->entries[i];
            fill_slot(slots, n_slots, entries[len].hash, len);
            len++;
        }
    }
    sl_release(map->env, map->entries, map->cap * sizeof(*map->entries));
    sl_release(map->env, map->slots, map->n_slots * sizeof(*map->slots));
    map->entries = entries;
    map->cap = cap;
    map->len = len;
    map->slots = slots;
    map->n_slots = n_slots;
    return true;
}

struct sl_map_entry *sl_map_find(const struct sl_map *map, struct sl_str key)
{
    return find_hashed(map, key, sl_hash_bytes(key.ptr, key.len));
}

struct sl_map_entry *sl_map_put(struct sl_map *map, struct sl_str key, bool *inserted)
{
    if (inserted != NULL) {
        *inserted = false;
    }
    const uint64_t hash = sl_hash_bytes(key.ptr, key.len);
    struct sl_map_entry *entry = find_hashed(map, key, hash);
    if (entry != NULL) {
        return entry;
    }
    if (map->len == map->cap) {
        /* Where half or more was removed there is room enough without growing. */
        const size_t cap = map->cap == 0 ? FIRST_CAPACITY : (map->live > map->cap / 2 ? map->cap * 2 : map->cap);
        if (!rebuild(map, cap)) {
            return NULL;
        }
    }
    entry = &map->entries[map->len];
    *entry = (struct sl_map_entry){.key = key, .hash = hash, .live = true};
    fill_slot(map->slots, map->n_slots, hash, map->len);
    map->len++;
    map->live++;
    if (inserted != NULL) {
        *inserted = true;
    }
    return entry;
}

bool sl_map_remove(struct sl_map *map, struct sl_str key)
{
    struct sl_map_entry *entry = sl_map_find(map, key);
    if (entry == NULL) {
        return false;
    }
    entry->live = false;
    entry->key = (struct sl_str){NULL, 0}; /* its bytes may go away now */
    map->live--;
    return true;
}
