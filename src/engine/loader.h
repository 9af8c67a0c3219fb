/*
 * Finds and loads the library of a data plane. Called by the default engine only.
 */
#ifndef SL_ENGINE_LOADER_H
#define SL_ENGINE_LOADER_H

#include "engine/dataplane.h"

/*
 * The vtable of libsilt_duckdb.so, checked. The library stays loaded until the process ends. SILT_EUNSUPPORTED with the class
 * SILT_ENGINE_NOT_FOUND says where it was looked for and what the system answered. Any thread.
 */
silt_status sl_dataplane_load(const silt_env *env, const struct sl_dataplane_vtable **out, silt_error *err);

/* As above, from one file. */
silt_status sl_dataplane_load_file(const char *path, const struct sl_dataplane_vtable **out, silt_error *err);

#endif
