/*
 * The object behind silt_rows, private to this folder.
 */
#ifndef SL_KERNEL_DV_ROWS_INT_H
#define SL_KERNEL_DV_ROWS_INT_H

#include "kernel/dv/dv.h"

/* All rows or those of `selected`, without those of `deleted`. Immutable once loaded. */
struct silt_rows {
    const silt_env *env;
    bool has_selected;
    struct sl_dv_set deleted; /* empty for none */
    struct sl_dv_set selected;
};

#endif
