/*
 * What the rest of silt may see of change data beside silt/changes.h.
 */
#ifndef SL_KERNEL_CHANGES_CHANGES_H
#define SL_KERNEL_CHANGES_CHANGES_H

#include "silt/changes.h"

/* As silt_table_changes, but the newest version is that of a snapshot that the caller has: what came after it is not there yet. */
silt_status sl_table_changes_until(silt_table *table, silt_snapshot *newest, const silt_call *call,
                                   const silt_changes_options *options, silt_changes **out, silt_error *err);

/* The scan behind plan `index`, borrowed; it can be kept longer than the changes by a reference of its own. */
silt_scan *sl_changes_scan(const silt_changes *changes, size_t index);

/*
 * An error of reading these changes that names one of their files gets the version that the file tells of. No other error is changed.
 */
void sl_changes_name_version(const silt_changes *changes, silt_error *err);

#endif
