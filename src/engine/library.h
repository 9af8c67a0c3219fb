/*
 * Finds and loads the libraries that libsilt opens at first use. Called by loader.c (the data plane) and by
 * remote_stores.c.
 */
#ifndef SL_ENGINE_LIBRARY_H
#define SL_ENGINE_LIBRARY_H

#include "silt/env.h"
#include "silt/status.h"

/* Which library, and how its absence is called. Static text. */
struct sl_library {
    const char *what;      /* "engine": for messages */
    const char *file;      /* "libsilt_duckdb.so" */
    const char *variable;  /* of the environment: a file or a folder that is looked at instead of all others */
    const char *entry;     /* name of the function that the library exports */
    const char *code_name; /* class of the error when it is not found or not ours */
};

/* A function of any type; cast it to its own before the call. */
typedef void (*sl_library_function)(void);

/*
 * The library's entry: where the variable says, and nowhere else then; else beside the library or program that this code is in; else
 * wherever the system's loader finds it. SILT_EUNSUPPORTED says where it was looked for and what the system answered. The library is
 * never unloaded. Any thread.
 */
silt_status sl_library_load(const silt_env *env, const struct sl_library *library, sl_library_function *out,
                            silt_error *err);
/* As above, from one file. */
silt_status sl_library_load_file(const struct sl_library *library, const char *path, sl_library_function *out,
                                 silt_error *err);

#endif
