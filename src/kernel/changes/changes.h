/*
 * What the rest of silt may see of change data beside silt/changes.h.
 */
#ifndef SL_KERNEL_CHANGES_CHANGES_H
#define SL_KERNEL_CHANGES_CHANGES_H

#include "silt/changes.h"

/* The scan behind plan `index`, borrowed; it can be kept longer than the changes by a reference of its own. */
silt_scan *sl_changes_scan(const silt_changes *changes, size_t index);

#endif
