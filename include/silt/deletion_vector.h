/*
 * Deletion vectors: which rows of a data file are gone (PROTOCOL.md "Deletion Vectors", "Deletion Vector Format").
 *
 * A plan names the vectors of its files; they are read when the rows are, by silt_rows_load, through the store of the plan. What
 * comes out says for a row's place in its file whether it belongs to the scan. It is immutable and usable from any thread.
 */
#ifndef SILT_DELETION_VECTOR_H
#define SILT_DELETION_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "silt/env.h"
#include "silt/export.h"
#include "silt/status.h"
#include "silt/storage.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A descriptor. Text is borrowed from the plan. */
typedef struct silt_deletion_vector {
    char storage_type;       /* as in the log: 'u', 'p', or 'i' for one that is inline */
    const char *path;        /* of 'u' and 'p': absolute, as the store knows it, not percent-encoded; else NULL */
    const char *inline_data; /* of 'i': Z85 text, NUL-terminated; else NULL */
    int64_t offset; /* of 'u' and 'p': where in the file the framed bitmap begins, in bytes; 1 where the log has none */
    int64_t size_in_bytes; /* of the bitmap, without its frame */
    int64_t cardinality;   /* number of rows in it */
} silt_deletion_vector;

/* The rows of one file that a scan wants. */
typedef struct silt_rows silt_rows;

/* What silt_rows_load is asked for one file: all rows, or those in `selected`; of these, the ones not in `deleted`. */
typedef struct silt_rows_request {
    const char *file;    /* path of the data file, for messages */
    int64_t num_records; /* rows stored in the file, -1 if not known; a vector beyond it is SILT_ECORRUPT */
    const silt_deletion_vector *deleted;  /* NULL: none */
    const silt_deletion_vector *selected; /* NULL: all rows */
} silt_rows_request;

/*
 * Reads the vectors of n files: ranges of one vector file are fetched together, each vector file once. out[i] is NULL for a
 * request that names no vector, else the caller's to free; on failure nothing is. SILT_ECORRUPT names the data file, the vector
 * file and what is wrong: version byte, size, CRC-32, magic number, order of keys, cardinality.
 */
SILT_API SILT_NODISCARD silt_status silt_rows_load(silt_storage *storage, const silt_call *call,
                                                   const silt_rows_request *requests, size_t n, silt_rows **out,
                                                   silt_error *err);
SILT_API void silt_rows_free(silt_rows *rows); /* NULL is legal */
/* live[i] = 1 if row first + i is wanted, else 0. first may be any number from 0 on. */
SILT_API void silt_rows_mask(const silt_rows *rows, int64_t first, size_t n, uint8_t *live);
/* The first row >= from that is wanted; INT64_MAX if there is none in a set that `selected` limits. */
SILT_API int64_t silt_rows_next_live(const silt_rows *rows, int64_t from);
/* The first row >= from that is not wanted; INT64_MAX if there is none. */
SILT_API int64_t silt_rows_next_dead(const silt_rows *rows, int64_t from);

#ifdef __cplusplus
}
#endif

#endif
