/*
 * Statistics of files as text, judged where an engine has decoded them (silt_text_filter): which files of a checkpoint are dropped for
 * certain, before rows are made of them. What it lets pass is judged anew by plan_judge.c.
 */
#ifndef SL_KERNEL_SCAN_PLAN_TEXTS_H
#define SL_KERNEL_SCAN_PLAN_TEXTS_H

#include "kernel/scan/scan_filter.h"
#include "silt/engine.h"

struct sl_plan_texts;

/* *out is NULL when no member of the filter can be decided like that. The filter is borrowed. */
silt_status sl_plan_texts_new(const silt_env *env, const struct sl_scan_filter *filter, struct sl_plan_texts **out,
                              silt_error *err);
void sl_plan_texts_free(struct sl_plan_texts *texts); /* NULL is legal; after the stream that judges by it */
/* For a read of a checkpoint's file. */
const silt_text_filter *sl_plan_texts_filter(const struct sl_plan_texts *texts); /* NULL of NULL */
/* Rows that were judged; 0 where an engine leaves out nothing. */
int64_t sl_plan_texts_seen(const struct sl_plan_texts *texts);

#endif
