/*
 * Finds and loads the library of a data plane: $SILT_ENGINE_PATH (a file or a folder) if it is set, and nothing else then; else
 * beside the library or program that this code is in; else wherever the system's loader finds it.
 *
 * What fails here is SILT_EUNSUPPORTED with a class of its own: whoever reads a checkpoint must be able to tell an engine that
 * is missing from a file that is broken.
 *
 * A loaded library is never unloaded: threads and exit handlers of the database behind it may outlast the engine. Any thread.
 */
#include "engine/loader.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

#define LIBRARY_NAME "libsilt_duckdb.so"
#define NOT_FOUND "SILT_ENGINE_NOT_FOUND"

static silt_status check_vtable(const struct sl_dataplane_vtable *vtable, const char *path, silt_error *err)
{
    if (vtable == NULL || vtable->abi_version != SL_DATAPLANE_ABI_VERSION) {
        return sl_fail(err, SILT_EUNSUPPORTED, NOT_FOUND, "engine %s has interface version %u, expected %u", path,
                       vtable != NULL ? (unsigned)vtable->abi_version : 0U, (unsigned)SL_DATAPLANE_ABI_VERSION);
    }
    if (vtable->size < sizeof(*vtable)) {
        return sl_fail(err, SILT_EUNSUPPORTED, NOT_FOUND, "engine %s has an interface of %u bytes, expected %zu", path,
                       (unsigned)vtable->size, sizeof(*vtable));
    }
    return SILT_OK;
}

silt_status sl_dataplane_load_file(const char *path, const struct sl_dataplane_vtable **out, silt_error *err)
{
    *out = NULL;
    /*
     * The library is linked to bind its own references at once, so that a libduckdb without one of them is an error here; those
     * inside libduckdb, 26,000 of which few are ever called, are left to their first call. Binding them all would take 10 ms.
     */
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) {
        const char *reason = dlerror();
        return sl_fail(err, SILT_EUNSUPPORTED, NOT_FOUND, "no engine can be loaded from %s: %s", path,
                       reason != NULL ? reason : "no reason given");
    }
    /* A data pointer that stands for a function: POSIX says it works, C has no cast for it. */
    void *symbol = dlsym(library, SL_DATAPLANE_ENTRY);
    sl_dataplane_entry entry = NULL;
    if (symbol == NULL) {
        return sl_fail(err, SILT_EUNSUPPORTED, NOT_FOUND, "%s is no engine of silt: it has no " SL_DATAPLANE_ENTRY,
                       path);
    }
    memcpy(&entry, &symbol, sizeof(entry));
    const struct sl_dataplane_vtable *vtable = entry();
    SL_TRY(check_vtable(vtable, path, err));
    *out = vtable;
    return SILT_OK;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static silt_status load_in(const silt_env *env, struct sl_str folder, const struct sl_dataplane_vtable **out,
                           silt_error *err)
{
    struct sl_buf path;
    sl_buf_init(&path, env);
    sl_buf_put_str(&path, folder);
    sl_buf_put_c(&path, "/" LIBRARY_NAME);
    silt_status status = sl_buf_status(&path, err);
    if (status == SILT_OK) {
        status = sl_dataplane_load_file(sl_buf_cstr(&path), out, err);
    }
    sl_buf_release(&path);
    return status;
}

/* The folder of the library or program that this code was linked into; absent if it has none. */
static struct sl_str own_folder(void)
{
    static const char mark = 0;
    Dl_info info;
    if (dladdr(&mark, &info) == 0 || info.dli_fname == NULL) {
        return (struct sl_str){NULL, 0};
    }
    const char *slash = strrchr(info.dli_fname, '/');
    return slash == NULL ? (struct sl_str){NULL, 0} : sl_str_make(info.dli_fname, (size_t)(slash - info.dli_fname));
}

/* Whether the library lies in a folder: a broken one there is an error, an absent one not. */
static bool lies_in(const silt_env *env, struct sl_str folder)
{
    struct sl_buf path;
    sl_buf_init(&path, env);
    sl_buf_put_str(&path, folder);
    sl_buf_put_c(&path, "/" LIBRARY_NAME);
    const bool there = sl_buf_status(&path, NULL) == SILT_OK && access(sl_buf_cstr(&path), F_OK) == 0;
    sl_buf_release(&path);
    return there;
}

silt_status sl_dataplane_load(const silt_env *env, const struct sl_dataplane_vtable **out, silt_error *err)
{
    *out = NULL;
    const char *set = secure_getenv("SILT_ENGINE_PATH");
    if (set != NULL && set[0] != '\0') {
        const silt_status status = is_folder(set) ? load_in(env, sl_str_from(set), out, err)
                                                  : sl_dataplane_load_file(set, out, err);
        if (status != SILT_OK) {
            sl_error_hint(err, "it was looked for where SILT_ENGINE_PATH says: %s", set);
        }
        return status;
    }
    const struct sl_str own = own_folder();
    if (own.ptr != NULL && lies_in(env, own)) {
        return load_in(env, own, out, err);
    }
    const silt_status status = sl_dataplane_load_file(LIBRARY_NAME, out, err);
    if (status != SILT_OK) {
        if (own.ptr != NULL) {
            sl_error_context(err, "%s is not in %.*s", LIBRARY_NAME, SL_FMT(own));
        }
        sl_error_hint(err, "set SILT_ENGINE_PATH to the place of %s", LIBRARY_NAME);
    }
    return status;
}
