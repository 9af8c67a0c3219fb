/*
 * Finds and loads a library of silt's own: where its variable says, and nowhere else then; else beside the library or program that
 * this code is in; else wherever the system's loader finds it.
 *
 * What fails here is SILT_EUNSUPPORTED with a class of its own: whoever reads a checkpoint must be able to tell an engine that
 * is missing from a file that is broken.
 *
 * A loaded library is never unloaded: threads and exit handlers of what is behind it may outlast the engine. Any thread.
 */
#include "engine/library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

silt_status sl_library_load_file(const struct sl_library *library, const char *path, sl_library_function *out,
                                 silt_error *err)
{
    *out = NULL;
    /*
     * silt's libraries are linked to bind their own references at once, so that one that is missing is an error here; those inside
     * the libraries behind them (libduckdb has 26,000, few of which are ever called) are left to their first call. Binding them all
     * would take 10 ms.
     */
    void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (handle == NULL) {
        const char *reason = dlerror();
        return sl_fail(err, SILT_EUNSUPPORTED, library->code_name, "no %s can be loaded from %s: %s", library->what,
                       path, reason != NULL ? reason : "no reason given");
    }
    /* A data pointer that stands for a function: POSIX says it works, C has no cast for it. */
    void *symbol = dlsym(handle, library->entry);
    if (symbol == NULL) {
        return sl_fail(err, SILT_EUNSUPPORTED, library->code_name, "%s is no %s of silt: it has no %s", path,
                       library->what, library->entry);
    }
    memcpy(out, &symbol, sizeof(*out));
    return SILT_OK;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static void put_place(struct sl_buf *path, const struct sl_library *library, struct sl_str folder)
{
    sl_buf_put_str(path, folder);
    sl_buf_put_char(path, '/');
    sl_buf_put_c(path, library->file);
}

static silt_status load_in(const silt_env *env, const struct sl_library *library, struct sl_str folder,
                           sl_library_function *out, silt_error *err)
{
    struct sl_buf path;
    sl_buf_init(&path, env);
    put_place(&path, library, folder);
    silt_status status = sl_buf_status(&path, err);
    if (status == SILT_OK) {
        status = sl_library_load_file(library, sl_buf_cstr(&path), out, err);
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
static bool lies_in(const silt_env *env, const struct sl_library *library, struct sl_str folder)
{
    struct sl_buf path;
    sl_buf_init(&path, env);
    put_place(&path, library, folder);
    const bool there = sl_buf_status(&path, NULL) == SILT_OK && access(sl_buf_cstr(&path), F_OK) == 0;
    sl_buf_release(&path);
    return there;
}

silt_status sl_library_load(const silt_env *env, const struct sl_library *library, sl_library_function *out,
                            silt_error *err)
{
    *out = NULL;
    const char *set = secure_getenv(library->variable);
    if (set != NULL && set[0] != '\0') {
        const silt_status status = is_folder(set) ? load_in(env, library, sl_str_from(set), out, err)
                                                  : sl_library_load_file(library, set, out, err);
        if (status != SILT_OK) {
            sl_error_hint(err, "it was looked for where %s says: %s", library->variable, set);
        }
        return status;
    }
    const struct sl_str own = own_folder();
    if (own.ptr != NULL && lies_in(env, library, own)) {
        return load_in(env, library, own, out, err);
    }
    const silt_status status = sl_library_load_file(library, library->file, out, err);
    if (status != SILT_OK) {
        if (own.ptr != NULL) {
            sl_error_context(err, "%s is not in %.*s", library->file, SL_FMT(own));
        }
        sl_error_hint(err, "set %s to the place of %s", library->variable, library->file);
    }
    return status;
}
