/*
 * A store around another one that counts rounds: how many calls must have come back before the last one could begin. Calls that are under way
 * at the same time share a round, as the requests of one read_many do; so the number is that of the answers that somebody far away waits for,
 * one after the other. It has no local paths.
 */
#ifndef SILT_ROUNDS_STORE_H
#define SILT_ROUNDS_STORE_H

#include <pthread.h>
#include <stddef.h>

#include "silt/silt.h"

struct rounds {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    size_t n_under_way;
    size_t begun;     /* calls */
    size_t rounds;    /* so far */
    size_t n_lists;   /* calls */
    size_t n_reads;   /* files, read_many's together */
    size_t n_stats;   /* calls */
    size_t n_puts;    /* of any kind */
    long patience_ms; /* a read, listing, look or hint waits so long for another call at the same time; 0: not at all */
};

void rounds_init(struct rounds *rounds);
void rounds_destroy(struct rounds *rounds);
/* Begins to count anew. */
void rounds_reset(struct rounds *rounds);
/* *out belongs to the caller and borrows rounds. */
silt_status rounds_store_new(const silt_env *env, silt_storage *inner, struct rounds *rounds, silt_storage **out,
                             silt_error *err);

#endif
