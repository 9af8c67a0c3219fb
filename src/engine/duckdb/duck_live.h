/*
 * What the files of deletion vectors in a scan share. duck_live.c has the object and the text of a scan's condition, duck_live_rows.c the
 * functions that DuckDB calls, duck_live_dead.c what need not be read at all.
 */
#ifndef SL_ENGINE_DUCKDB_DUCK_LIVE_H
#define SL_ENGINE_DUCKDB_DUCK_LIVE_H

#include "duck_bound.h"

enum {
    SL_LIVE_MAX_RUNS = 8,  /* stretches of a file that are told to DuckDB */
    SL_LIVE_MAX_ALONE = 16 /* files read by SELECTs of their own */
};

/* Rows [first, end) are gone. */
struct sl_live_run {
    int64_t first;
    int64_t end;
};

/* A file that is read alone. */
struct sl_live_alone {
    size_t file;
    int64_t spared; /* bytes, about */
    struct sl_live_run runs[SL_LIVE_MAX_RUNS];
    size_t n_runs;
};

struct sl_duck_live {
    struct sl_duck_object object;
    struct sl_dataplane *dp;
    silt_rows **rows; /* [file]; NULL: all rows are wanted */
    bool *gone;       /* [file]: no row is left */
    size_t n_files;
    struct sl_live_alone alone[SL_LIVE_MAX_ALONE]; /* by file */
    size_t n_alone;
};

extern const struct sl_duck_object_class sl_live_class;

/* What names a SELECT's files to the functions: an id and the file that its file_index 0 is. One number costs less a row than two. */
static inline uint64_t sl_live_handle(uint64_t id, size_t first)
{
    return id << 32 | (uint64_t)first;
}

/* Fills gone and alone; counts[i] is the number of rows of file i, if it has a vector. */
void sl_live_find_dead(struct sl_duck_live *live, const silt_scan_plan *plan, const int64_t *counts);

#endif
