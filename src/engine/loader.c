/*
 * Loads the library of a data plane, and checks what it says it is. Any thread.
 */
#include "engine/loader.h"

#include "base/error.h"
#include "engine/library.h"

static const struct sl_library ENGINE = {
    .what = "engine",
    .file = "libsilt_duckdb.so",
    .variable = "SILT_ENGINE_PATH",
    .entry = SL_DATAPLANE_ENTRY,
    .code_name = "SILT_ENGINE_NOT_FOUND",
};

static silt_status check_vtable(const struct sl_dataplane_vtable *vtable, silt_error *err)
{
    if (vtable == NULL || vtable->abi_version != SL_DATAPLANE_ABI_VERSION) {
        return sl_fail(err, SILT_EUNSUPPORTED, ENGINE.code_name, "the engine has interface version %u, expected %u",
                       vtable != NULL ? (unsigned)vtable->abi_version : 0U, (unsigned)SL_DATAPLANE_ABI_VERSION);
    }
    if (vtable->size < sizeof(*vtable)) {
        return sl_fail(err, SILT_EUNSUPPORTED, ENGINE.code_name,
                       "the engine has an interface of %u bytes, expected %zu", (unsigned)vtable->size,
                       sizeof(*vtable));
    }
    return SILT_OK;
}

static silt_status take(sl_library_function function, const struct sl_dataplane_vtable **out, silt_error *err)
{
    const struct sl_dataplane_vtable *vtable = ((sl_dataplane_entry)function)();
    SL_TRY(check_vtable(vtable, err));
    *out = vtable;
    return SILT_OK;
}

silt_status sl_dataplane_load_file(const char *path, const struct sl_dataplane_vtable **out, silt_error *err)
{
    *out = NULL;
    sl_library_function function = NULL;
    SL_TRY(sl_library_load_file(&ENGINE, path, &function, err));
    const silt_status status = take(function, out, err);
    if (status != SILT_OK) {
        sl_error_context(err, "%s", path);
    }
    return status;
}

silt_status sl_dataplane_load(const silt_env *env, const struct sl_dataplane_vtable **out, silt_error *err)
{
    *out = NULL;
    sl_library_function function = NULL;
    SL_TRY(sl_library_load(env, &ENGINE, &function, err));
    return take(function, out, err);
}
