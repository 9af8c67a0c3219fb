/*
 * The files that the tail of a log decided about, live or gone: 64-bit hashes of keys with exact verification. The key of a live
 * file is where the file is, in a file set; others are kept here. One owner while it grows; look-ups from any thread.
 */
#ifndef SL_KERNEL_REPLAY_KEY_SET_H
#define SL_KERNEL_REPLAY_KEY_SET_H

#include "base/arena.h"
#include "base/vec.h"
#include "kernel/replay/file_set.h"

struct sl_key_set {
    const silt_env *env;
    uint64_t *hashes;
    uint32_t *refs; /* 0: empty; else with KEPT an index into keys, without it a position, each + 1 */
    /*
     * One bit of a key's hash each, four bits a slot: most rows of a checkpoint are not in the set, and this much of it fits
     * the processor's cache where the slots do not.
     */
    uint64_t *filter;
    size_t n_slots;
    size_t n;
    struct sl_vec keys; /* of struct sl_file_key */
    struct sl_arena arena;
};

void sl_key_set_init(struct sl_key_set *set, const silt_env *env); /* allocates nothing */
void sl_key_set_release(struct sl_key_set *set);                   /* safe on a zeroed set */
void sl_key_set_move(struct sl_key_set *dst, struct sl_key_set *src);
size_t sl_key_set_resident(const struct sl_key_set *set);

/* Looking up. `files`: the set that positions are of. */
struct sl_key_probe {
    const struct sl_key_set *keys;
    const struct sl_file_set *files; /* NULL when no position was put */
    struct sl_key_maker *maker;      /* scratch; not the one that made the key */
};
/* false: out of memory. */
bool sl_key_set_find(const struct sl_key_probe *probe, const struct sl_file_key *key, bool *found);

/* Both: the key is not in the set. false: out of memory. */
bool sl_key_set_put(struct sl_key_set *set, const struct sl_file_key *key); /* copied */
bool sl_key_set_put_file(struct sl_key_set *set, const struct sl_file_key *key, sl_file_pos pos);

/* Visits all keys, in no order; the key is borrowed. */
silt_status sl_key_set_each(const struct sl_key_probe *probe,
                            silt_status (*visit)(void *ctx, const struct sl_file_key *key, silt_error *err), void *ctx,
                            silt_error *err);

#endif
