/*
 * The first look of planning at the files of a checkpoint: batches with partition values and statistics of the filter's columns, and of
 * each file whether it can hold rows that the filter wants. The same answers as data_skip.h gives for the text of statistics. One
 * owner; called by plan_checkpoint.c.
 */
#ifndef SL_KERNEL_SCAN_PLAN_JUDGE_H
#define SL_KERNEL_SCAN_PLAN_JUDGE_H

#include "kernel/replay/checkpoint_select.h"
#include "kernel/scan/data_skip.h"
#include "kernel/scan/plan_quick.h"
#include "kernel/scan/plan_texts.h"
#include "kernel/scan/stats_arrow.h"
#include "kernel/scan/stats_reader.h"

/* Where statistics are read from. */
enum sl_plan_form {
    SL_PLAN_NO_STATS,     /* partition values decide alone */
    SL_PLAN_TEXT,         /* add.stats */
    SL_PLAN_TYPED,        /* add.stats_parsed */
    SL_PLAN_TYPED_COUNTS, /* the same without bounds, whose types are not the table's */
};

/*
 * The schema to read for it: column "add" with the members that are needed. physical: of the table. *out is NULL when there is nothing to
 * read: no member decides anything.
 */
silt_status sl_plan_judge_schema(const struct sl_scan_filter *filter, enum sl_plan_form form,
                                 const silt_schema *physical, silt_schema **out, silt_error *err);

struct sl_plan_judge {
    const silt_env *env;
    const struct sl_scan_filter *filter;
    struct sl_partition_pruner *pruner;
    enum sl_plan_form form;
    bool is_final; /* files without statistics in this form are kept; else they are put into `ask` */
    bool by_partition;
    struct sl_add_batch batch;
    struct sl_arena bound;       /* of what is bound to the batches' schema */
    struct sl_stats_arrow arrow; /* of typed statistics */
    bool is_bound;
    struct sl_stats_reader *reader; /* of text */
    struct sl_bounds *bounds;       /* one a column of the filter */
    struct sl_plan_quick quick;
    struct sl_arena scratch;
    struct sl_partition_tuple unknown; /* where partition values do not matter */
    struct sl_vec keep;                /* int64_t: places of files that may match */
    struct sl_vec ask;                 /* int64_t: places of files about which this form says too little */
    int64_t n_rows;                    /* seen in batches */
    const struct sl_plan_texts *texts; /* set after init: by which the engine may leave out rows; NULL: none */
    const struct sl_vec *rows;         /* int64_t, set after init: only these places are judged; NULL: all */
    size_t next;                       /* of them */
    size_t n_found;                    /* of them */
    bool may_give_up;                  /* set after init: ends early when it finds no statistics in this form */
    bool is_hopeless;                  /* it did */
};

/* Zeroed before; release it in every case. keep and ask begin empty. */
silt_status sl_plan_judge_init(struct sl_plan_judge *judge, struct sl_partition_pruner *pruner, enum sl_plan_form form,
                               bool is_final, silt_error *err);
void sl_plan_judge_release(struct sl_plan_judge *judge);
/* All rows that were looked at, also those that the engine left out. */
int64_t sl_plan_judge_rows(const struct sl_plan_judge *judge);
/* A visitor of sl_checkpoint_select; judge is the context. */
silt_status sl_plan_judge_batch(void *judge, const struct sl_checkpoint_rows *rows, bool *stop, silt_error *err);

#endif
