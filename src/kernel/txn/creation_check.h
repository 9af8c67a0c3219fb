/*
 * Has a table that was just made a place of its own? Its version 0 can be written by who was held up for so long that another made a table
 * there meanwhile, whose first versions came, expired and were deleted: the name was free for the second time, and no reader looks there.
 */
#ifndef SL_KERNEL_TXN_CREATION_CHECK_H
#define SL_KERNEL_TXN_CREATION_CHECK_H

#include "base/str.h"
#include "kernel/log/log_fate.h"
#include "silt/table.h"

/*
 * What has become of version 0, which was just written with metadata of this id. One listing where nothing came after it. SL_LOG_EXPIRED:
 * it lies below what is left of another table, and can be taken back; SL_LOG_REPLACED: what came after it has other metadata. Any thread.
 */
enum sl_log_fate sl_creation_fate(silt_table *table, const silt_call *call, struct sl_str id);

#endif
