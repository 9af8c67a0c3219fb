/*
 * A table whose log is written by chance, with everything that a checkpoint has to carry: vectors, row ids, tags, partition values of
 * every kind, applications, domains, tombstones that count and that have expired, odd paths, statistics or none. No data files.
 */
#ifndef SILT_TEST_CHECKPOINT_WORLD_H
#define SILT_TEST_CHECKPOINT_WORLD_H

#include "hand_table.h"

#define WORLD_MAX_FILES 400

struct world_file {
    bool live;
    bool removed; /* at least once */
    int vector;   /* 0: none, else its number */
};

struct world {
    struct session_fixture *s;
    const char *table;
    uint64_t seed;
    bool mapped;     /* columns are mapped by name */
    bool v2;         /* the feature v2Checkpoint is there */
    int64_t version; /* last committed, -1 */
    int64_t now_ms;
    struct world_file files[WORLD_MAX_FILES];
    size_t n_files;
};

void world_begin(struct world *w, struct session_fixture *s, const char *table, uint64_t seed);
/* The next commit; the first one makes the table. */
void world_commit(struct world *w);
uint64_t world_random(struct world *w, uint64_t below);

#endif
