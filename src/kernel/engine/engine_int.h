/*
 * The engine object, shared by the files of its dispatch (engine.c, parquet_dispatch.c, expression_dispatch.c).
 */
#ifndef SL_KERNEL_ENGINE_ENGINE_INT_H
#define SL_KERNEL_ENGINE_ENGINE_INT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "silt/engine.h"

/* Handlers are copied slot by slot: what lies beyond the size that a plug-in was compiled with is NULL. */
struct silt_engine {
    const silt_env *env;
    const silt_executor *executor; /* NULL: inline */
    silt_storage_registry *stores;
    bool has_parquet, has_expression;
    silt_parquet_handler_vtable parquet;
    silt_expression_handler_vtable expression;
    void *parquet_impl;
    void *expression_impl;
    void *attachment;
    void (*close_attachment)(void *attachment);
    atomic_size_t refs;
};

/*
 * Judges what a slot of a handler returned: a value that is no status, or a failure without a text, is a breach. `kind`
 * and `name` say whose, e.g. "parquet handler" "duckdb"; `doing` what for.
 */
silt_status sl_handler_finish(silt_status returned, const char *kind, const char *name, const char *doing,
                              silt_error *found, silt_error *err);

/* A stream that a handler says it made must have its callbacks; SILT_EENGINE if not. Releases it then. */
silt_status sl_handler_check_stream(const char *kind, const char *name, struct ArrowArrayStream *stream,
                                    silt_error *err);

/* SILT_EUNSUPPORTED: the engine has no such handler. */
silt_status sl_handler_absent(const char *kind, silt_error *err);

#endif
