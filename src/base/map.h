/*
 * Hash map from byte strings to pointers or numbers; open addressing, XXH3 with exact verification. Keys are borrowed:
 * they must outlive the map. Iteration in insertion order. One owner; look-ups without changes from any thread.
 */
#ifndef SL_BASE_MAP_H
#define SL_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "silt/env.h"

struct sl_map_entry {
    struct sl_str key;
    uint64_t hash;
    union {
        void *ptr;
        uint64_t u64;
        int64_t i64;
    } value;
    bool live; /* false after a removal */
};

struct sl_map {
    const silt_env *env;
    struct sl_map_entry *entries; /* in insertion order, len of them, some not live */
    size_t len;
    size_t cap;
    size_t live;
    uint32_t *slots; /* index into entries + 1 */
    size_t n_slots;
};

void sl_map_init(struct sl_map *map, const silt_env *env);                     /* allocates nothing */
void sl_map_release(struct sl_map *map);                                       /* safe on a zeroed map */
struct sl_map_entry *sl_map_find(const struct sl_map *map, struct sl_str key); /* NULL if absent */
/* Finds or inserts (value zeroed, *inserted true). NULL when out of memory. Entries may move on insertion. */
struct sl_map_entry *sl_map_put(struct sl_map *map, struct sl_str key, bool *inserted);
bool sl_map_remove(struct sl_map *map, struct sl_str key); /* true if it was there */

uint64_t sl_hash_bytes(const void *bytes, size_t len);
/* With a seed that nobody can guess, nobody can make texts whose hashes are equal. */
uint64_t sl_hash_seeded(const void *bytes, size_t len, uint64_t seed);

#endif
