/*
 * Row ids and row commit versions of the files that a commit adds (PROTOCOL.md "Row Tracking"). Pure.
 */
#ifndef SL_KERNEL_TXN_ROW_IDS_H
#define SL_KERNEL_TXN_ROW_IDS_H

#include "kernel/txn/rebase.h"

/* Does the commit have to give ids: is row tracking supported and not suspended? */
bool sl_row_ids_wanted(const struct sl_rebase *rebase);

/*
 * Gives an add of the rebase its ids where it has none; *high_water is the highest id given so far and moves on. SILT_ECONSTRAINT when the
 * number of its rows is not known.
 */
silt_status sl_row_ids_give(const struct sl_rebase *rebase, size_t index, int64_t *high_water, struct sl_add *add,
                            silt_error *err);

/*
 * The high-water mark of the table against a file that it has or had: SILT_ECORRUPT when ids of its rows are above the mark, from which new rows
 * would get them a second time. A file that does not tell the number of its rows counts as one of a row; not whole, when its statistics may be
 * missing, as one of none.
 */
silt_status sl_row_ids_check(const silt_env *env, int64_t high_water, const struct sl_add *add, bool whole,
                             silt_error *err);

/* Appends the domainMetadata action that records a high-water mark. */
silt_status sl_row_ids_write_mark(struct sl_buf *out, int64_t high_water, silt_error *err);

#endif
