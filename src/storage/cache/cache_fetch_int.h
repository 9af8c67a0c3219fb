/*
 * What the files of the fetch share: cache_fetch.c opens it and cuts what is wanted into slices, cache_pump.c brings those.
 *
 * The slices, the files' counts and the entries are under one lock; bytes are written outside of it.
 */
#ifndef SL_STORAGE_CACHE_CACHE_FETCH_INT_H
#define SL_STORAGE_CACHE_CACHE_FETCH_INT_H

#include <pthread.h>

#include "base/vec.h"
#include "storage/cache/cache_fetch.h"

#define SL_FETCH_SLICE_BYTES (INT64_C(4) << 20)
#define SL_FETCH_THREADS 2
#define SL_FETCH_NO_FILE SIZE_MAX

struct sl_fetch_file_state {
    const char *path;
    int64_t said_size;
    int64_t told_size; /* by the store, which is another; -1 */
    struct sl_cache_entry *entry;
    char tag[SILT_FILE_TAG_SIZE]; /* of the version that is read */
    struct sl_vec wanted;         /* set of struct sl_range */
    size_t first_slice;           /* of this file in slices */
    size_t n_slices;
    size_t n_taken; /* no slice of the file before it is free */
    size_t n_open;  /* slices that are not there yet */
    bool left;      /* the cache has no room for it */
};

struct sl_fetch_slice {
    size_t file;
    struct sl_range range;
    bool taken;
};

struct sl_fetch {
    const silt_env *env;
    const char *cache_dir;
    struct sl_cache *cache; /* owned; NULL: not used so far, or not usable */
    bool cache_refused;
    bool told;                /* that there is something that is not cached */
    struct sl_cache *scratch; /* owned */
    silt_storage *storage;    /* a reference */
    struct sl_fetch_file_state *files;
    size_t n_files;
    struct sl_fetch_slice *slices;
    size_t n_slices;
    pthread_t threads[SL_FETCH_THREADS];
    size_t n_threads;

    pthread_mutex_t lock; /* guards what follows, the slices, n_open and the entries */
    pthread_cond_t moved;
    size_t next;   /* no slice before it is free */
    size_t urgent; /* file that somebody waits for; SL_FETCH_NO_FILE */
    silt_status status;
    silt_error error; /* of status */
    int64_t n_requests;
    int64_t n_bytes;
    volatile int stop;
};

/* ---- cache_fetch.c ---- */

/* Compares what came of a part with the range that was asked for (none from the end of a file) and with the version that is read. */
silt_status sl_fetch_judge(const silt_read_request *answer, struct sl_range range, silt_error *err);
silt_status sl_fetch_judge_tag(const struct sl_fetch_file_state *file, const silt_read_request *answer,
                               silt_error *err);

/* A file that is not there is a data file of a table: gives the failure its class. A bucket that is not there keeps its own. Returns status. */
silt_status sl_fetch_judge_missing(silt_status status, silt_error *err);

/* ---- cache_pump.c ---- */

/* Begins to bring the slices, on threads that end when all are there, when one fails, or with `stop`. */
silt_status sl_fetch_pump(struct sl_fetch *fetch, silt_error *err);

#endif
