/*
 * Brings parts of remote files into local ones: the ends first, all at once, so that footers can be read; then what the reader wants of
 * each, in the order of the files, ahead of who reads. Called by the data plane through its host.
 *
 * Parts that the range cache has are not brought again. A file without a tag (silt_read_request) is kept in the scratch folder and goes
 * with the fetch.
 */
#ifndef SL_STORAGE_CACHE_CACHE_FETCH_H
#define SL_STORAGE_CACHE_CACHE_FETCH_H

#include "silt/storage.h"
#include "storage/cache/cache.h"

struct sl_fetch;

/* Files up to this size are brought as a whole. */
#define SL_FETCH_WHOLE_BYTES (INT64_C(64) << 10)

struct sl_fetch_file {
    const char *path;   /* as the store knows it; borrowed until the fetch is closed */
    int64_t size_bytes; /* as the log says; -1 if not known. A file of another size is SILT_ECORRUPT */
};

struct sl_fetch_request {
    const silt_env *env;
    const char *cache_dir;   /* of the range cache; NULL: its default. Looked at when a store gives a tag */
    const char *scratch_dir; /* there already; the caller removes it after the fetch is closed */
    silt_storage *storage;   /* a reference is taken */
    const struct sl_fetch_file *files;
    size_t n_files;
};

struct sl_fetch_part {
    size_t file;
    struct sl_range range; /* cut to the file */
};

/*
 * Opens all files and brings their ends (32 KiB), those that are said to be small as a whole: one round. SILT_ENOTFOUND names a missing file. Where the range cache cannot be used, or not for a file, a warning says
 * why, and what it cannot take goes into the scratch folder.
 */
silt_status sl_fetch_open(const struct sl_fetch_request *request, const silt_call *call, struct sl_fetch **out,
                          silt_error *err);
/* Stops what is under way and waits for it. NULL is legal. */
void sl_fetch_close(struct sl_fetch *fetch);

/* The local file, as long as the remote one; good until start, and then until close. */
const char *sl_fetch_path(const struct sl_fetch *fetch, size_t file);
int64_t sl_fetch_size(const struct sl_fetch *fetch, size_t file);

/* Brings parts now, before start. */
silt_status sl_fetch_now(struct sl_fetch *fetch, const silt_call *call, const struct sl_fetch_part *parts, size_t n,
                         silt_error *err);
/* Tells of parts that will be read, before start. */
silt_status sl_fetch_want(struct sl_fetch *fetch, const struct sl_fetch_part *parts, size_t n, silt_error *err);
/* Begins to bring what is wanted, on threads of its own; at most 16 slices of up to 4 MiB are under way. Once. A file that the cache has no room for has another path from now on. */
silt_status sl_fetch_start(struct sl_fetch *fetch, silt_error *err);
/* Returns when all that is wanted of the file is there; it comes next if it is not yet under way. Any thread. */
silt_status sl_fetch_wait(struct sl_fetch *fetch, const silt_call *call, size_t file, silt_error *err);

/*
 * The bytes of some file cannot be read as what they should be: none of the parts that came is kept for later fetches, and the next fetch_now brings
 * its parts again. Files that are open stay as they are. Any thread.
 */
void sl_fetch_withdraw(struct sl_fetch *fetch);

/* What has been asked of the store so far. */
void sl_fetch_counts(struct sl_fetch *fetch, int64_t *requests, int64_t *bytes);

#endif
