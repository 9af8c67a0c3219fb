/*
 * The store object, shared by the files of the dispatch (storage.c, storage_read.c, storage_list.c).
 */
#ifndef SL_KERNEL_ENGINE_STORAGE_INT_H
#define SL_KERNEL_ENGINE_STORAGE_INT_H

#include <stdatomic.h>

#include "base/str.h"
#include "silt/storage.h"

struct silt_storage {
    const silt_env *env;
    silt_storage_vtable slots; /* our copy: zero beyond the size that the plug-in was compiled with */
    void *impl;
    atomic_size_t refs;
};

/* Refuses a missing store or path, and a call that is over, before a slot is entered. */
silt_status sl_storage_begin(const silt_storage *storage, const silt_call *call, const char *path, silt_error *err);

/*
 * Judges what a slot returned and moves its error record to the caller's, with "<doing> <path>: " before the message
 * unless a store further in has put it there. Returns the status to hand out: a value that is no status is a breach.
 */
silt_status sl_storage_finish(silt_status returned, const char *doing, const char *path, silt_error *found,
                              silt_error *err);

/*
 * The same of a read of `path`, with "location <location>: " in the place of "reading <path>: ": of what is wrong with a location as a whole. found is as
 * silt_storage_read_many gives it.
 */
silt_status sl_storage_finish_location(silt_status status, const char *path, struct sl_str location,
                                       const silt_error *found, silt_error *err);

/* "store broke its contract: <what>"; for breaches found in what a slot did. */
silt_status sl_storage_breach(const silt_storage *storage, const char *what, silt_error *err);

/* True for the values of silt_status. */
bool sl_status_known(silt_status status);

#endif
