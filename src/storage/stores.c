/*
 * The stores that every default engine has, registered under their schemes.
 *
 * Called by the maker of the default engine. One thread.
 */
#include "storage/stores.h"

#include "base/error.h"

static silt_status add_store(silt_storage_registry *registry, const char *scheme, silt_storage *store, silt_error *err)
{
    silt_status status = silt_storage_registry_add(registry, scheme, store, err);
    silt_storage_unref(store); /* the registry holds its own reference */
    return status;
}

silt_status sl_stores_default(const silt_env *env, silt_storage_registry **out, silt_error *err)
{
    *out = NULL;
    silt_storage_registry *registry = NULL;
    silt_storage *store = NULL;
    SL_TRY(silt_storage_registry_new(env, &registry, err));
    silt_status status = silt_storage_local_new(env, NULL, &store, err);
    if (status == SILT_OK) {
        status = add_store(registry, "file", store, err);
    }
    if (status == SILT_OK) {
        status = silt_storage_memory_new(env, &store, err);
    }
    if (status == SILT_OK) {
        status = add_store(registry, "memory", store, err);
    }
    if (status != SILT_OK) {
        silt_storage_registry_free(registry);
        return status;
    }
    *out = registry;
    return SILT_OK;
}
