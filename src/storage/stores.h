/*
 * The stores that every default engine has.
 */
#ifndef SL_STORAGE_STORES_H
#define SL_STORAGE_STORES_H

#include "silt/storage.h"

/* A registry with the local store under "file" and a store in memory under "memory"; the maker of an engine adds the remote ones. */
silt_status sl_stores_default(const silt_env *env, silt_storage_registry **out, silt_error *err);

#endif
