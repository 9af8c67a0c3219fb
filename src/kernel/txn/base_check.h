/*
 * Is the next version really free? A transaction that rests on an old snapshot could find the name of its next version free because that
 * version came, expired and was deleted: its commit would stand below a checkpoint, and no reader would ever see it. Or the table was
 * dropped, and perhaps made anew: its commit would stand alone, or behind a gap, and nobody could open the table.
 */
#ifndef SL_KERNEL_TXN_BASE_CHECK_H
#define SL_KERNEL_TXN_BASE_CHECK_H

#include "kernel/txn/txn_int.h"

struct sl_base_look {
    int64_t newest;     /* version that there is from the base on, -1 where nobody looked */
    bool next_is_there; /* the version after the base was seen, and is another's */
};

/*
 * Before the first attempt. SILT_ECONFLICT when the base or versions after it are gone. Costs a listing of the log's tail unless the base was
 * the newest version a moment ago.
 */
silt_status sl_txn_check_base(const silt_txn *txn, const silt_call *call, struct sl_base_look *out, silt_error *err);

#endif
