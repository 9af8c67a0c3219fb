/*
 * The table object: a location and its store, and the ways to snapshots (silt/table.h). Opening one does no I/O. Immutable and
 * reference-counted; any thread.
 */
#include "silt/table.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/uri.h"
#include "kernel/engine/engine.h"
#include "kernel/snapshot/load.h"
#include "kernel/snapshot/state.h"

struct silt_table {
    atomic_size_t refs;
    const silt_env *env;
    silt_engine *engine;   /* a reference */
    silt_storage *storage; /* borrowed from the engine */
    struct sl_arena arena;
    struct sl_str root; /* in the arena, NUL-terminated */
};

static void free_table(silt_table *table)
{
    silt_engine *engine = table->engine;
    sl_arena_release(&table->arena);
    sl_release(table->env, table, sizeof(*table));
    silt_engine_unref(engine); /* last: the environment may go with it */
}

silt_status silt_table_for_path(silt_engine *engine, const char *uri, silt_table **out, silt_error *err)
{
    if (engine == NULL || uri == NULL || out == NULL || uri[0] == '\0') {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_table_for_path needs an engine, a path and an out parameter");
    }
    *out = NULL;
    const silt_env *env = silt_engine_env(engine);
    silt_table *table = sl_alloc_zero(env, sizeof(*table));
    if (table == NULL) {
        return sl_fail_nomem(err);
    }
    atomic_init(&table->refs, 1);
    table->env = env;
    table->engine = silt_engine_ref(engine);
    sl_arena_init(&table->arena, env);
    struct sl_str root = {NULL, 0};
    silt_status status = sl_uri_normalize(&table->arena, sl_str_from(uri), &root, err);
    if (status == SILT_OK) {
        table->root = sl_arena_copy(&table->arena, root); /* for the NUL behind it */
        status = table->root.ptr == NULL ? sl_fail_nomem(err) : SILT_OK;
    }
    if (status == SILT_OK) {
        status = sl_engine_storage(engine, table->root.ptr, &table->storage, err);
    }
    if (status != SILT_OK) {
        free_table(table);
        return status;
    }
    *out = table;
    return SILT_OK;
}

silt_table *silt_table_ref(silt_table *table)
{
    if (table != NULL) {
        (void)atomic_fetch_add_explicit(&table->refs, 1, memory_order_relaxed);
    }
    return table;
}

void silt_table_unref(silt_table *table)
{
    if (table != NULL && atomic_fetch_sub_explicit(&table->refs, 1, memory_order_acq_rel) == 1) {
        free_table(table);
    }
}

const char *silt_table_uri(const silt_table *table)
{
    return table->root.ptr;
}

silt_engine *silt_table_engine(const silt_table *table)
{
    return table->engine;
}

silt_storage *sl_table_storage(const silt_table *table)
{
    return table->storage;
}

struct sl_str sl_table_root(const silt_table *table)
{
    return table->root;
}

silt_status silt_table_latest_snapshot(silt_table *table, const silt_call *call, silt_snapshot **out, silt_error *err)
{
    if (table == NULL || out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_table_latest_snapshot needs a table and an out parameter");
    }
    return sl_snapshot_load(table, call, SL_VERSION_LATEST, out, err);
}

silt_status silt_table_snapshot_at_version(silt_table *table, const silt_call *call, int64_t version,
                                           silt_snapshot **out, silt_error *err)
{
    if (table == NULL || out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_table_snapshot_at_version needs a table and an out parameter");
    }
    *out = NULL;
    if (version < 0 || version == SL_VERSION_LATEST) {
        return sl_fail(err, SILT_EINVALID, "DELTA_VERSION_INVALID", "%lld is not a version: expected 0 to %lld",
                       (long long)version, (long long)(SL_VERSION_LATEST - 1));
    }
    return sl_snapshot_load(table, call, version, out, err);
}
