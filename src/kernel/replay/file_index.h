/*
 * From a file's key to its positions in a file set: a table of 32-bit slots, found by the key's hash, verified by its parts.
 * Made when it is first needed and published by compare-and-exchange; immutable then. Any thread.
 */
#ifndef SL_KERNEL_REPLAY_FILE_INDEX_H
#define SL_KERNEL_REPLAY_FILE_INDEX_H

#include "kernel/replay/file_set.h"

struct sl_file_index {
    size_t n_slots;   /* a power of two, more than the set has files */
    uint32_t slots[]; /* position + 1; 0: empty */
};

/* The set's index, made if need be; borrowed from the set. */
silt_status sl_file_index_get(struct sl_file_set *set, const struct sl_file_index **out, silt_error *err);
void sl_file_index_free(const silt_env *env, struct sl_file_index *index); /* NULL is legal */
size_t sl_file_index_resident(const struct sl_file_index *index);          /* NULL is legal */

/* A walk over all files of a key: logs that were written wrongly may have several. */
struct sl_file_lookup {
    const struct sl_file_set *set;
    const struct sl_file_index *index;
    struct sl_key_maker *maker; /* scratch; not the one that made the key */
    const struct sl_file_key *key;
    size_t at;
};
static inline struct sl_file_lookup sl_file_lookup_begin(const struct sl_file_set *set,
                                                         const struct sl_file_index *index, struct sl_key_maker *maker,
                                                         const struct sl_file_key *key)
{
    return (struct sl_file_lookup){set, index, maker, key, (size_t)key->hash & (index->n_slots - 1)};
}
/* *pos SL_FILE_NOWHERE at the end. false: out of memory. */
bool sl_file_lookup_next(struct sl_file_lookup *lookup, sl_file_pos *pos);

#endif
