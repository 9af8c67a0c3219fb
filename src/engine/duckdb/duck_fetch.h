/*
 * Files of stores without local paths: brought by the host's fetch (storage/cache/cache_fetch.h) into sparse local files, ends first, then the
 * column chunks that a query may read, ahead of it.
 *
 *   duck_fetch.c    a fetch that a query waits for, file by file, through the function silt_fetched
 *   duck_chunks.c   a footer → the byte ranges of columns
 */
#ifndef SL_ENGINE_DUCKDB_DUCK_FETCH_H
#define SL_ENGINE_DUCKDB_DUCK_FETCH_H

#include "base/vec.h"
#include "duck.h"

/* ---- duck_chunks.c ---- */

/* Which columns: by name (in any case) or by field id, at the top of the schema; a column is wanted if either fits. */
struct sl_duck_wanted {
    const struct sl_str *names;
    const int64_t *ids; /* of the same columns, -1 for none */
    size_t n;
    const silt_row_range *ranges; /* only row groups that hold some of these rows; n 0: all */
    size_t n_ranges;
};

/*
 * Appends to `out` (of struct sl_range) where the wanted columns' chunks and Bloom filters lie in a file of that size. What a footer says
 * beyond the file is left out: whoever reads there meets what is wrong. SILT_ECORRUPT for a footer that cannot be read.
 */
silt_status sl_duck_chunks(struct sl_str footer, int64_t file_size, const struct sl_duck_wanted *wanted,
                           struct sl_vec *out, silt_error *err);

/* ---- duck_fetch.c ---- */

struct sl_duck_fetch;

/*
 * Brings the footers of the files that have no local path and fills in their local ones; *out NULL when there are none. scratch_dir is the
 * caller's and outlives the fetch.
 */
silt_status sl_duck_fetch_new(struct sl_duck_files *files, const silt_call *call, silt_storage *storage,
                              struct sl_duck_fetch **out, silt_error *err);
/* Brings all of a file that has no local path, at once; index: as the files were when the fetch was made. */
silt_status sl_duck_fetch_whole(struct sl_duck_fetch *fetch, const silt_call *call, size_t index, silt_error *err);
/* Begins to bring what is wanted of the files [first, first + n) of `files`. Once a fetch. */
silt_status sl_duck_fetch_begin(struct sl_duck_fetch *fetch, struct sl_duck_files *files,
                                const struct sl_duck_wanted *wanted, silt_error *err);
/* Waits for all of it. */
silt_status sl_duck_fetch_wait(struct sl_duck_fetch *fetch, const silt_call *call, silt_error *err);
/*
 * Appends a condition for the SELECT whose file_index 0 is the file `first` of the fetch's: true once the file is there. DuckDB asks it once a
 * file, after it has read the file's footer and before it reads anything else of it.
 */
void sl_duck_fetch_put(struct sl_buf *sql, const struct sl_duck_fetch *fetch, size_t first);
/* Drops the caller's hold; queries that are bound keep theirs. NULL is legal. */
void sl_duck_fetch_drop(struct sl_duck_fetch *fetch);
/* The failure of a fetch that these words of an error tell of; SILT_OK if there is none. */
silt_status sl_duck_fetch_failure(struct sl_dataplane *dp, struct sl_str words, silt_error *err);
/*
 * Bytes of some file that is read now cannot be decoded, and DuckDB does not say of which: what came of all of them is not kept, so that the next
 * query asks the store anew. False: nothing was brought.
 */
bool sl_duck_fetch_withdraw(struct sl_dataplane *dp);
/* Before begin: the footers cannot be read as such. Asks the store for them once more. */
silt_status sl_duck_fetch_footers_again(struct sl_duck_fetch *fetch, const silt_call *call, silt_error *err);
/* Ends the waiting of a connection's queries: DuckDB's own interrupt does not reach into a function. */
void sl_duck_fetch_interrupt(struct sl_dataplane *dp, duckdb_connection handle);
/* Registers the function in a database that was just opened. */
bool sl_duck_fetch_register(struct sl_dataplane *dp, duckdb_connection handle);

#endif
