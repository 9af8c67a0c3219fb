/*
 * The remote stores of the default engine, behind lazy stores under their schemes. Called by its maker.
 */
#ifndef SL_ENGINE_REMOTE_STORES_H
#define SL_ENGINE_REMOTE_STORES_H

#include "silt/storage.h"

/*
 * Registers a store for each remote scheme. libsilt_remote.so is loaded, and the options are checked, when the first of them is used;
 * without the library that use fails with SILT_EUNSUPPORTED, class SILT_STORES_NOT_FOUND. Copies the options.
 */
silt_status sl_remote_stores_add(const silt_env *env, silt_storage_registry *registry, const silt_store_option *options,
                                 size_t n, silt_error *err);

#endif
