/*
 * Warnings of a run, each told once: the parts of a statement meet the same trouble one after the other, and none knows of the others.
 */
#ifndef SL_CLI_WARNINGS_H
#define SL_CLI_WARNINGS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "silt/env.h"

#define SL_MAX_WARNINGS 64

struct sl_warnings {
    silt_env env;                                                       /* the default one, with this log */
    void (*tell)(void *ctx, silt_log_level level, const char *message); /* of the default one */
    pthread_mutex_t lock;
    uint64_t told[SL_MAX_WARNINGS]; /* hashes of lines, guarded by lock */
    size_t n_told;                  /* guarded by lock; what comes after as many is told each time */
};

/* Fills warnings->env, which is used for as long as warnings lives. */
void sl_warnings_init(struct sl_warnings *warnings);

#endif
