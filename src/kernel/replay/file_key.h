/*
 * The key of a logical file in replay (PROTOCOL.md "Action Reconciliation": path and unique id of the deletion vector).
 * Writers spell one file differently (escapes, file: prefix, absolute under the table's root), so the key is the
 * decoded path, relative to the root where it lies below it, cut after its last '/': folders are shared by many files, so theirs
 * are decoded and hashed once. The hash is 64 bits; whoever finds an equal one compares the parts.
 *
 * A path whose escapes are broken is its own key: only reading that file fails. A maker has one owner.
 */
#ifndef SL_KERNEL_REPLAY_FILE_KEY_H
#define SL_KERNEL_REPLAY_FILE_KEY_H

#include "base/arena.h"
#include "base/buf.h"
#include "kernel/action/action.h"

/* Of bytes, beginning from a seed. Given by the caller so that its collisions can be had at will. */
typedef uint64_t sl_key_hash(const void *bytes, size_t len, uint64_t seed);
sl_key_hash sl_key_hash_xxh3;

struct sl_file_key {
    struct sl_str dir;    /* with its final '/', may be empty */
    struct sl_str name;   /* the rest */
    struct sl_str vector; /* unique id of the deletion vector, absent if there is none */
    uint64_t hash;
};

/* The whole key as one text, in the arena; ptr NULL: out of memory. For maps of few files. */
struct sl_str sl_file_key(struct sl_arena *arena, struct sl_str root, struct sl_str path,
                          const struct sl_dv_descriptor *dv);

bool sl_file_key_eq(const struct sl_file_key *a, const struct sl_file_key *b);

/* A folder as it stands in paths, decoded. */
struct sl_key_dir {
    struct sl_str dir;
    uint64_t hash;
};

/* The folder part of a key from the folder part of a path, in the arena unless nothing has to be done. false: out of memory. */
bool sl_key_dir_make(struct sl_arena *arena, struct sl_str root, sl_key_hash *hash, struct sl_str raw_dir,
                     struct sl_key_dir *out);

struct sl_key_maker {
    struct sl_str root; /* of the table; borrowed */
    sl_key_hash *hash;
    struct sl_arena arena; /* of the key made last */
    struct sl_buf raw_dir; /* of the path before */
    struct sl_buf dir_text;
    struct sl_key_dir dir;
    struct sl_buf vector;
};

/* hash NULL: XXH3. */
void sl_key_maker_init(struct sl_key_maker *maker, const silt_env *env, struct sl_str root, sl_key_hash *hash);
void sl_key_maker_release(struct sl_key_maker *maker); /* safe on a zeroed maker */

/* The key of a file; its text is borrowed from path and maker until the next call. false: out of memory. */
bool sl_key_make(struct sl_key_maker *maker, struct sl_str path, const struct sl_dv_descriptor *dv,
                 struct sl_file_key *out);
/* The same from a folder that was made before and the rest of the path. */
bool sl_key_make_in(struct sl_key_maker *maker, struct sl_str raw_dir, const struct sl_key_dir *dir, struct sl_str name,
                    const struct sl_dv_descriptor *dv, struct sl_file_key *out);

/* Bytes of the folder part of a path. */
static inline size_t sl_key_dir_len(struct sl_str path)
{
    size_t len = 0;
    const char *slash = NULL;
    while (len < path.len && (slash = memchr(path.ptr + len, '/', path.len - len)) != NULL) {
        len = (size_t)(slash - path.ptr) + 1; /* slashes are few, and memchr is faster than a loop from the end */
    }
    return len;
}

#endif
