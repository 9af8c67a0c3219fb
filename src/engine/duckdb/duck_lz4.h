/*
 * Pages that are compressed with Parquet's codec LZ4, which was given up for LZ4_RAW and which DuckDB does not read. What old and Spark's
 * writers put there is Hadoop's frame around LZ4 blocks; writers on old Arrow put the bare block.
 *
 *   duck_lz4.c    the bytes of a page → one bare block. Pure
 *   duck_thaw.c   a copy of a file in which such columns say LZ4_RAW, which DuckDB reads in place of the file
 */
#ifndef SL_ENGINE_DUCKDB_DUCK_LZ4_H
#define SL_ENGINE_DUCKDB_DUCK_LZ4_H

#include "duck.h"

/*
 * in[0 … n), which decompress to n_plain bytes, as one bare block of *n_out ≤ n bytes at the start of `space`, which has room for 2 n. False: it
 * is neither of the two, or decompresses to something else.
 */
bool sl_lz4_unframe(const unsigned char *in, size_t n, size_t n_plain, unsigned char *space, size_t *n_out);

/*
 * Puts such a copy, made in the files' scratch folder, in the place of each file of which thaw[i] is set. Remote files are brought whole for
 * it. SILT_ECORRUPT names the file.
 */
silt_status sl_duck_thaw(struct sl_duck_files *files, const silt_call *call, const bool *thaw, silt_error *err);

#endif
