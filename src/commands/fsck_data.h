/*
 * The rows of data files, read by the data plane and compared with what the log states of them. Called by fsck_files.c. One owner.
 */
#ifndef SL_COMMANDS_FSCK_DATA_H
#define SL_COMMANDS_FSCK_DATA_H

#include "commands/fsck_int.h"
#include "kernel/scan/file_stats.h"
#include "kernel/scan/plan_path.h"
#include "kernel/scan/stats_reader.h"

/* A file that is read, and what is stated of it. */
struct sl_fsck_item {
    const struct sl_add *add;
    silt_plan_file file;
    silt_value number; /* its place in the batch, as a constant column */
    struct sl_claims claims;
    struct sl_bounds *bounds; /* one for each column */
};

struct sl_fsck_reader {
    struct sl_fsck *fsck;
    struct sl_dataplane_ref plane;
    struct sl_arena arena;          /* of the columns */
    struct sl_skip_column *columns; /* leaves that can have statistics */
    size_t n;
    silt_schema *logical; /* stored columns, then the number of the file */
    silt_schema *physical;
    silt_plan_column *sources;
    struct sl_stats_reader *stats;
    int64_t n_done, n_files; /* for progress: live files that are done with, and all of them; kept by fsck_files.c */
};

silt_status sl_fsck_reader_open(struct sl_fsck *fsck, struct sl_fsck_reader *out, silt_error *err);
void sl_fsck_reader_close(struct sl_fsck_reader *reader); /* safe on a zeroed one */
/* Reads n files that are there. */
silt_status sl_fsck_reader_check(struct sl_fsck_reader *reader, const struct sl_add *adds, size_t n, silt_error *err);

#define SL_FSCK_FILES_PHASE "checking the files" /* of progress */

/* ---- fsck_query.c ---- */

/* What a query tells of a file. */
struct sl_fsck_row {
    size_t item;
    int64_t rows;                       /* live ones */
    const struct sl_fsck_truth *truths; /* one for each column; only of those that are stated of a file of the batch */
};

/* Runs one query over n items; values are borrowed during the visit. Files without live rows are not visited. */
silt_status sl_fsck_query(struct sl_fsck_reader *reader, struct sl_fsck_item *items, size_t n,
                          silt_status (*visit)(void *ctx, const struct sl_fsck_row *row, silt_error *err), void *ctx,
                          silt_error *err);

/* ---- fsck_stated.c ---- */

/* Tells of statistics of a file that cannot be read as what they are to be. where: the file. */
silt_status sl_fsck_check_stated(struct sl_fsck_reader *reader, const struct sl_fsck_item *item,
                                 const struct sl_fsck_about *where, silt_error *err);

/* ---- fsck_columns.c ---- */

/* The path of a column, with dots, appended to buf and borrowed from it. */
struct sl_str sl_fsck_column_name(struct sl_buf *buf, const struct sl_skip_column *column);

/* The columns and schemas of the reader. */
silt_status sl_fsck_find_columns(struct sl_fsck_reader *reader, silt_error *err);
/* The partition columns, in the reader's arena. */
silt_status sl_fsck_find_partitions(struct sl_fsck_reader *reader, struct sl_partition_column **out, size_t *n,
                                    silt_error *err);

#endif
