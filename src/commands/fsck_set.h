/*
 * The logical files of a table as the check of a table keeps them: hashes, a few numbers, no text, so that a million files take a hundred
 * megabytes. Live files and tombstones, found by the hash of their path. Two keyed hashes of 64 bits stand for a file; a seed that nobody can
 * guess keeps others from making equal ones. One owner.
 */
#ifndef SL_COMMANDS_FSCK_SET_H
#define SL_COMMANDS_FSCK_SET_H

#include "kernel/action/action.h"
#include "kernel/replay/file_key.h"

struct sl_fsck_id {
    uint64_t path; /* of the path alone */
    uint64_t key;  /* of path and deletion vector */
};

struct sl_fsck_file {
    struct sl_fsck_id id;
    uint64_t content;    /* of the add: all but statistics, tags and dataChange */
    uint32_t statistics; /* of their text, 0: none */
    uint32_t mark;       /* of the comparison that met it last */
    int64_t version;     /* that added or removed it; -1: the slot is free */
    int64_t number;      /* live: bytes; tombstone: its deletionTimestamp, SL_NO_I64 if it has none */
    int64_t deleted;     /* rows in its vector */
    bool is_live;
    bool has_vector;
};

struct sl_fsck_set {
    const silt_env *env;
    uint64_t seed;
    struct sl_key_maker maker;
    struct sl_fsck_file *slots;
    size_t n_slots; /* a power of two */
    size_t n;
    int64_t n_live, bytes, n_vectors, n_deleted; /* of the live files */
};

/* root: of the table, borrowed. */
silt_status sl_fsck_set_init(struct sl_fsck_set *set, const silt_env *env, struct sl_str root, silt_error *err);
void sl_fsck_set_release(struct sl_fsck_set *set); /* safe on a zeroed set */
void sl_fsck_set_clear(struct sl_fsck_set *set);

/* false: out of memory. */
bool sl_fsck_id_make(struct sl_fsck_set *set, struct sl_str path, const struct sl_dv_descriptor *dv,
                     struct sl_fsck_id *out);
uint64_t sl_fsck_content(const struct sl_fsck_set *set, const struct sl_add *add);
/* A hash of what statistics say, not of how; 0: there are none. */
silt_status sl_fsck_statistics(const struct sl_fsck_set *set, struct sl_str stats, uint32_t *out, silt_error *err);

struct sl_fsck_file *sl_fsck_set_find(const struct sl_fsck_set *set, struct sl_fsck_id id); /* NULL if absent */
/* The live file of a path that is not `but`; NULL if there is none. */
struct sl_fsck_file *sl_fsck_set_other(const struct sl_fsck_set *set, struct sl_fsck_id but);

/* What a commit or checkpoint says. *before (NULL: not wanted): the file as it was, version -1 if it was not there. */
silt_status sl_fsck_set_add(struct sl_fsck_set *set, const struct sl_add *add, int64_t version,
                            struct sl_fsck_file *before, silt_error *err);
silt_status sl_fsck_set_remove(struct sl_fsck_set *set, const struct sl_remove *remove, int64_t version,
                               struct sl_fsck_file *before, silt_error *err);

#endif
