/*
 * From the rows of data files to the rows of a table, for engines that only read Parquet: partition columns are put in, columns
 * are brought into the plan's order.
 */
#ifndef SL_KERNEL_SCAN_LOGICAL_ROWS_H
#define SL_KERNEL_SCAN_LOGICAL_ROWS_H

#include "kernel/scan/scan_int.h"

/* A stream of the plan's columns over all its files, not filtered. It holds a reference of the scan. */
silt_status sl_logical_rows(silt_scan *scan, const silt_call *call, struct ArrowArrayStream *out, silt_error *err);

#endif
