/*
 * A naive calculator of statistics over the rows of skip_table.h, independent of silt's own, and what writers make of them: cut, widened,
 * partly dropped, written in odd forms; as JSON text and as a row of typed columns.
 */
#ifndef SILT_SKIP_STATS_H
#define SILT_SKIP_STATS_H

#include "silt/arrow.h"
#include "skip_table.h"

/* Order of two values of one column, by the plainest means: no NaN, no nulls. */
int skip_compare(const silt_value *a, const silt_value *b);

struct skip_column_stats {
    bool has_min;
    bool has_max;
    bool has_nulls;
    silt_value min; /* as stated: may be cut */
    silt_value max;
    bool min_is_nan; /* stated as "NaN" */
    bool max_is_nan;
    int64_t nulls;
};

struct skip_stats {
    bool present;
    bool has_rows;
    int64_t rows;
    int64_t deleted; /* by a deletion vector */
    int tight;       /* tightBounds: -1 unsaid, 0 false, 1 true */
    struct skip_column_stats columns[SKIP_N_DATA];
    struct sl_str json;         /* absent: none */
    struct ArrowSchema *schema; /* of a struct stats_parsed, NULL: read the JSON; in the arena */
    struct ArrowArray array;    /* of one row; release it */
};

/* Texts and schemas lie in the arena. */
void skip_stats_make(struct skip_stats *stats, const struct skip_file *file, struct skip_random *random,
                     struct sl_arena *arena);
void skip_stats_release(struct skip_stats *stats);

#endif
