/*
 * What of a scan's files is gone in long stretches, so that it need not be read: whole files, and rows from which DuckDB can tell that
 * it does not need a row group. A file of the latter kind is read by a SELECT of its own, with conditions on file_row_number, which
 * DuckDB compares with the bounds of row groups; that takes from the scan what DuckDB does for plain ones (counts without reading a
 * column, rows of a top-N fetched late), so it is done only where it spares a good part of it. Pure.
 */
#include "duck_live.h"

#include <stdlib.h>

enum {
    MIN_RUN = 8192, /* rows in a row that must be gone for their stretch to be told to DuckDB */
    MIN_SHARE = 16  /* files are read alone if that spares one part in so many of the scan's bytes */
};

/* Where a run that holds `row` begins, which is behind the last live row of the MIN_RUN rows before. */
static int64_t run_begin(const struct sl_dataplane_host *host, const silt_rows *rows, int64_t row)
{
    uint8_t before[MIN_RUN];
    const int64_t from = row > MIN_RUN ? row - MIN_RUN : 0;
    host->rows_mask(rows, from, (size_t)(row - from), before);
    while (row > from && before[row - 1 - from] == 0) {
        row--;
    }
    return row;
}

/* Keeps the longest runs. */
static void add_run(struct sl_live_alone *alone, struct sl_live_run run)
{
    if (alone->n_runs < SL_LIVE_MAX_RUNS) {
        alone->runs[alone->n_runs++] = run;
        return;
    }
    struct sl_live_run *least = &alone->runs[0];
    for (size_t i = 1; i < SL_LIVE_MAX_RUNS; i++) {
        if (alone->runs[i].end - alone->runs[i].first < least->end - least->first) {
            least = &alone->runs[i];
        }
    }
    if (run.end - run.first > least->end - least->first) {
        *least = run;
    }
}

/* Looks at every MIN_RUN-th row only: a long run holds one of them. */
static void find_runs(const struct sl_dataplane_host *host, const silt_rows *rows, int64_t n,
                      struct sl_live_alone *alone)
{
    alone->n_runs = 0;
    for (int64_t row = 0; row < n;) {
        const int64_t live = host->rows_next_live(rows, row);
        if (live == row) {
            const int64_t dead = host->rows_next_dead(
                rows, row); /* what lies between may be as large as a file claims to be */
            if (dead >= n || n - row <= MIN_RUN) {
                return;
            }
            row = dead - row > MIN_RUN ? dead / MIN_RUN * MIN_RUN : row + MIN_RUN;
            continue;
        }
        const struct sl_live_run run = {run_begin(host, rows, row), live < n ? live : n};
        if (run.end - run.first >= MIN_RUN) {
            add_run(alone, run);
        }
        row = run.end % MIN_RUN == 0 ? run.end : run.end + (MIN_RUN - run.end % MIN_RUN);
    }
}

static int64_t bytes_spared(const silt_plan_file *file, int64_t n_rows, const struct sl_live_alone *alone)
{
    int64_t rows = 0;
    for (size_t i = 0; i < alone->n_runs; i++) {
        rows += alone->runs[i].end - alone->runs[i].first;
    }
    return (int64_t)((double)rows / (double)n_rows * (double)(file->size_bytes > 0 ? file->size_bytes : 0));
}

static int compare_files(const void *a, const void *b)
{
    const size_t x = ((const struct sl_live_alone *)a)->file;
    const size_t y = ((const struct sl_live_alone *)b)->file;
    return x < y ? -1 : x > y;
}

/* Keeps the files that spare most. */
static void add_alone(struct sl_duck_live *live, const struct sl_live_alone *alone)
{
    if (live->n_alone < SL_LIVE_MAX_ALONE) {
        live->alone[live->n_alone++] = *alone;
        return;
    }
    struct sl_live_alone *least = &live->alone[0];
    for (size_t i = 1; i < SL_LIVE_MAX_ALONE; i++) {
        least = live->alone[i].spared < least->spared ? &live->alone[i] : least;
    }
    if (alone->spared > least->spared) {
        *least = *alone;
    }
}

void sl_live_find_dead(struct sl_duck_live *live, const silt_scan_plan *plan, const int64_t *counts)
{
    const struct sl_dataplane_host *host = live->dp->host;
    double total = 0;
    double spared = 0;
    for (size_t i = 0; i < plan->n_files; i++) {
        const silt_plan_file *file = &plan->files[i];
        total += (double)(file->size_bytes > 0 ? file->size_bytes : 0);
        if (live->rows[i] == NULL) {
            continue;
        }
        struct sl_live_alone alone = {.file = i};
        live->gone[i] = host->rows_next_live(live->rows[i], 0) >= counts[i];
        if (!live->gone[i]) {
            find_runs(host, live->rows[i], counts[i], &alone);
        }
        alone.spared = alone.n_runs > 0 ? bytes_spared(file, counts[i], &alone) : 0;
        if (alone.spared > 0) {
            add_alone(live, &alone);
        }
    }
    for (size_t i = 0; i < live->n_alone; i++) {
        spared += (double)live->alone[i].spared;
    }
    if (spared * MIN_SHARE < total) {
        live->n_alone = 0;
    }
    qsort(live->alone, live->n_alone, sizeof(live->alone[0]), compare_files);
}
