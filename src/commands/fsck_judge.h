/*
 * Statistics of a file against its rows (PROTOCOL.md "Per-file Statistics"). Pure.
 */
#ifndef SL_COMMANDS_FSCK_JUDGE_H
#define SL_COMMANDS_FSCK_JUDGE_H

#include "kernel/scan/file_stats.h"

enum sl_fsck_verdict {
    SL_FSCK_GOOD,
    SL_FSCK_LOOSE, /* said to be exact, and is not, but no engine returns other rows for it */
    SL_FSCK_WRONG  /* an engine that goes by it skips rows, or counts wrong */
};

/* What the live rows of a file have in a column. */
struct sl_fsck_truth {
    int64_t rows;
    int64_t removed; /* rows that the file's deletion vector hides */
    int64_t nulls;
    silt_value min, max; /* null where there is no value, or where it was not asked for */
};

struct sl_fsck_judgement {
    enum sl_fsck_verdict nulls, min, max;
    unsigned n; /* how many of these were compared */
};

/* Have bounds of the column a meaning to compare with? */
bool sl_fsck_is_ordered(const struct sl_skip_column *column);
/* Do two accounts of a bound say the same, but for what texts cut off? */
bool sl_fsck_is_same(const struct sl_skip_column *column, const silt_value *a, const silt_value *b);
void sl_fsck_judge(const struct sl_claims *claims, const struct sl_skip_column *column, const struct sl_bounds *stated,
                   const struct sl_fsck_truth *truth, struct sl_fsck_judgement *out);

#endif
