/*
 * What stores that wrap other stores, and who reads commits, need of the store object beyond its public interface. Called by src/storage
 * and the kernel.
 */
#ifndef SL_KERNEL_ENGINE_STORAGE_WRAP_H
#define SL_KERNEL_ENGINE_STORAGE_WRAP_H

#include "base/str.h"
#include "silt/storage.h"

/*
 * SILT_EINVALID unless blocks allocated by the one may be released by the other: what a store reads is passed through
 * by its wrapper and freed with the wrapper's environment.
 */
silt_status sl_storage_check_wrap(const silt_env *env, const silt_storage *inner, silt_error *err);

/*
 * silt_storage_read of a file whose size no listing has told: the store is asked for it in the same round, and fewer bytes, or more, are
 * SILT_EIO. A commit that is cut at the end of a line looks like a whole one.
 */
silt_status sl_storage_read_sized(silt_storage *storage, const silt_call *call, const char *path, void **data,
                                  size_t *data_len, silt_error *err);

/*
 * silt_storage_read of the first file that is asked for below a location: SILT_EINVALID, by which stores refuse a location or an option of theirs, is
 * told with the location and not with the file.
 */
silt_status sl_storage_read_first(silt_storage *storage, const silt_call *call, struct sl_str location,
                                  const char *path, void **data, size_t *data_len, silt_error *err);

#define SL_MAX_AT_ONCE 64 /* parts of a stream that may be under way */

/* silt_storage_read_stream with the requests of the wrapper's own slot. */
silt_status sl_storage_pass_stream(silt_storage *storage, const silt_call *call, const silt_read_stream *stream,
                                   silt_read_request *requests, size_t n, silt_error *err);

#endif
