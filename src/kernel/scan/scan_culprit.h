/*
 * Which file of a scan an engine failed at. An engine that reads many files at once may tell no more than that one of them cannot be read.
 * Called after such a failure, on the thread that meets it.
 */
#ifndef SL_KERNEL_SCAN_SCAN_CULPRIT_H
#define SL_KERNEL_SCAN_SCAN_CULPRIT_H

#include "silt/engine.h"
#include "silt/scan.h"

/*
 * Names the file, and the column if one alone fails, in an error whose message has SL_SOME_DATA_FILE in it; any other error is left alone.
 * Files are read one after the other until one fails with the same words, for at most half a minute: when none does, the error stays as
 * it is. may_read: as in a plan; NULL: all columns.
 */
void sl_scan_name_culprit(silt_scan *scan, const silt_call *call, const bool *may_read, silt_error *err);
/*
 * Of an error that had the chance to be named: a file could not be decoded, and when they were read once more, each could be. A store sent
 * damaged bytes, of which nothing is kept; who has handed on no rows yet may read again.
 */
bool sl_scan_is_mended(const silt_error *err);

#endif
