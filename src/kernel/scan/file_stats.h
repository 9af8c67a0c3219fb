/*
 * Statistics of a file as bounds of columns (PROTOCOL.md "Per-file Statistics"). Every part is optional for each file and column; what
 * is missing or cannot be understood gives no bound, never an error. Pure; any thread.
 *
 * Two steps: a source reads what a writer claims (stats_reader.c, stats_arrow.c), file_stats.c judges what of it may be believed.
 */
#ifndef SL_KERNEL_SCAN_FILE_STATS_H
#define SL_KERNEL_SCAN_FILE_STATS_H

#include "expr/eval.h"
#include "kernel/scan/scan_filter.h"

enum sl_tightness {
    SL_TIGHT_UNSAID, /* means tight */
    SL_TIGHT,
    SL_WIDE /* said so, or in a way that is not understood: wide bounds promise less */
};

/* What is claimed of a file as a whole. Of each column a struct sl_bounds holds the claims, without row counts. */
struct sl_claims {
    bool has_rows;
    int64_t rows; /* physical ones */
    enum sl_tightness tightness;
};

/*
 * Makes of claims what data skipping may rely on: false counts and contradictions go, bounds are widened by what writers cut off.
 * Fails only for lack of memory.
 */
silt_status sl_stats_believe(const struct sl_claims *claims, const struct sl_skip_column *columns, size_t n,
                             struct sl_arena *arena, struct sl_bounds *bounds, silt_error *err);

/* From the JSON text of one file (stats_reader.h): a struct sl_bounds for each column. */
silt_status sl_stats_bounds_from_json(struct sl_str text, const struct sl_skip_column *columns, size_t n,
                                      struct sl_arena *arena, struct sl_bounds *out, silt_error *err);

/* ---- answers without reading the file (stats_exact.c) ---- */

/*
 * The number of rows that are alive: those that the file has less those that its deletion vector removes (0: it has none). False
 * when it is not known exactly.
 */
bool sl_stats_live_rows(const struct sl_claims *claims, int64_t deleted, int64_t *out);

/* Claims as they were read, of one column; deleted: rows that the file's deletion vector removes. */
struct sl_column_claims {
    const struct sl_claims *file;
    const struct sl_skip_column *column;
    const struct sl_bounds *bounds;
    int64_t deleted;
};
/*
 * The least or greatest value of a column over all live rows of a file, null if it has none. False when the bound may be another
 * value than the extreme itself: text, timestamps that may be cut, floating-point numbers, wide bounds, old calendars.
 */
bool sl_stats_extreme(const struct sl_column_claims *claims, bool is_max, silt_value *out);

#endif
