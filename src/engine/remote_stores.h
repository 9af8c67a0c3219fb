/*
 * The remote stores of the default engine, behind lazy stores under their schemes. Called by its maker.
 */
#ifndef SL_ENGINE_REMOTE_STORES_H
#define SL_ENGINE_REMOTE_STORES_H

#include "silt/doctor.h"
#include "silt/storage.h"

/*
 * Registers a store for each remote scheme. libsilt_remote.so is loaded, and the options are checked, when the first of them is used;
 * without the library that use fails with SILT_EUNSUPPORTED, class SILT_STORES_NOT_FOUND. Copies the options.
 */
silt_status sl_remote_stores_add(const silt_env *env, silt_storage_registry *registry, const silt_store_option *options,
                                 size_t n, silt_error *err);

/* Is a location's scheme one of the remote stores'? */
bool sl_remote_has_scheme(const char *uri);

/*
 * Examines the way to a remote location, as silt_doctor tells it, up to the right to list. A failure that no step could tell, such as a library that is
 * not there or an option that nobody knows, is not told; *told says which it is.
 */
silt_status sl_remote_examine(const silt_env *env, const silt_call *call, const char *uri,
                              const silt_doctor_options *options,
                              void (*on_step)(void *ctx, const silt_doctor_step *step), void *ctx, bool *told,
                              silt_error *err);

#endif
