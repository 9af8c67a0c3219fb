/*
 * The kernel's view of an engine: checked dispatch to the Parquet and expression handlers. Storage has its own functions in
 * silt/storage.h. Any thread.
 */
#ifndef SL_KERNEL_ENGINE_H
#define SL_KERNEL_ENGINE_H

#include "silt/engine.h"

const silt_executor *sl_engine_executor(const silt_engine *engine); /* NULL: inline */
/* Is the file at the path not on this machine, so that each answer takes its time? A store without local paths says nothing else. */
bool sl_storage_is_far(silt_storage *storage, const char *path);
/* Is it worth asking a store for several things at once? It is when it is far, and when there are threads to ask from. */
bool sl_engine_asks_at_once(const silt_engine *engine, silt_storage *storage, const char *path);
/* Store of a URI; borrowed from the engine. */
silt_status sl_engine_storage(silt_engine *engine, const char *uri, silt_storage **out, silt_error *err);

bool sl_engine_has_parquet(const silt_engine *engine);
bool sl_engine_has_scan(const silt_engine *engine);
bool sl_engine_has_write_file(const silt_engine *engine);
bool sl_engine_has_expression(const silt_engine *engine);

/* The environment that a store was made with; outlives it. */
const silt_env *sl_storage_env(const silt_storage *storage);

/* Dispatch; each checks what comes back and names the handler on failure. SILT_EUNSUPPORTED if the handler is absent. */
silt_status sl_parquet_read(silt_engine *engine, const silt_call *call, const silt_parquet_read *request,
                            struct ArrowArrayStream *out, silt_error *err);
/* Visits nothing where the handler cannot tell. A failure of request->visit comes back as it is. */
silt_status sl_parquet_groups(silt_engine *engine, const silt_call *call, const silt_parquet_groups *request,
                              silt_error *err);
/* Without the slot nothing is done. */
silt_status sl_parquet_bring(silt_engine *engine, const silt_call *call, const silt_parquet_bring *request,
                             silt_error *err);
silt_status sl_parquet_write(silt_engine *engine, const silt_call *call, const silt_parquet_write *request,
                             struct ArrowArrayStream *rows, silt_error *err);
/* Fills size_bytes and modified_ms of the request. */
silt_status sl_parquet_write_file(silt_engine *engine, const silt_call *call, silt_parquet_write_file *request,
                                  struct ArrowArrayStream *rows, silt_error *err);
silt_status sl_parquet_scan(silt_engine *engine, const silt_call *call, const silt_scan_plan *plan,
                            struct ArrowArrayStream *out, silt_error *err);
silt_status sl_expression_filter(silt_engine *engine, const silt_call *call, struct ArrowArrayStream *in,
                                 const silt_expr *predicate, struct ArrowArrayStream *out, silt_error *err);

/* An opaque value that the maker of an engine attached to it (the default engine keeps its data plane there). */
void sl_engine_set_attachment(silt_engine *engine, void *attachment, void (*close)(void *attachment));
void *sl_engine_attachment(const silt_engine *engine);

#endif
