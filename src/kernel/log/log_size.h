/*
 * What was read of a file of the log, compared with the size that a listing told. A commit never changes, and one that is cut at the end of a
 * line looks like a whole one, so that the size is all there is to tell them apart. Called by whoever reads commits, compacted files and JSON
 * checkpoints. A version checksum needs no such look: it is one object, which is whole or does not parse, and may be listed while it is written.
 * Pure; any thread.
 */
#ifndef SL_KERNEL_LOG_SIZE_H
#define SL_KERNEL_LOG_SIZE_H

#include "silt/storage.h"

#define SL_SIZE_UNKNOWN INT64_C(-1)

/*
 * Of an answer that is good: does it hold all that was asked for of a file that was listed with `listed` bytes (SL_SIZE_UNKNOWN: of no known
 * size)? SILT_EIO when the store gave less or more, or tells another size of the file.
 */
silt_status sl_log_size_check(const silt_read_request *answer, int64_t listed, silt_error *err);
/* The same of a file that was read as a whole. */
silt_status sl_log_size_compare(const char *path, int64_t listed, int64_t size, silt_error *err);

#endif
