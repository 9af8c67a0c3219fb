/*
 * The struct "_metadata" for a batch of rows of one file, for the kernel's own reading path.
 */
#ifndef SL_KERNEL_SCAN_METADATA_ROWS_H
#define SL_KERNEL_SCAN_METADATA_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/type.h"
#include "silt/arrow.h"
#include "silt/engine.h"
#include "silt/env.h"

struct sl_metadata_rows {
    const silt_env *env;
    const struct silt_type *type; /* the struct: its fields are those to make */
    const silt_plan_file *file;
    int64_t n;
    const int64_t *row_index;                     /* [n] */
    const struct ArrowArray *row_ids;             /* stored ones, 64-bit, [n]; NULL: the table or the read has none */
    const struct ArrowArray *row_commit_versions; /* likewise */
};

/* Whether a struct of this type needs the column. */
bool sl_metadata_needs_row_index(const struct silt_type *type);
bool sl_metadata_needs_row_ids(const struct silt_type *type);
bool sl_metadata_needs_row_commit_versions(const struct silt_type *type);

silt_status sl_metadata_rows_make(const struct sl_metadata_rows *rows, struct ArrowArray *out, silt_error *err);

#endif
