/*
 * The engine object: creation with a check of every vtable, reference count, and what the kernel asks of it (environment,
 * executor, stores). Handlers may be plug-ins compiled against an older header: their tables are copied up to the size
 * that they state, and what is required must be there. Slots are called in parquet_dispatch.c and expression_dispatch.c.
 *
 * Immutable after creation but for the count and the attachment, which the maker sets before it hands the engine out.
 */
#include "kernel/engine/engine.h"
#include "kernel/engine/engine_int.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arrow.h"
#include "base/env.h"
#include "base/error.h"
#include "base/str.h"
#include "silt/version.h"

/* ---- judging what handlers return ---- */

static bool is_status(silt_status status)
{
    return (int)status >= (int)SILT_OK && (int)status <= (int)SILT_ELIMIT;
}

silt_status sl_handler_finish(silt_status returned, const char *kind, const char *name, const char *doing,
                              silt_error *found, silt_error *err)
{
    if (returned == SILT_OK) {
        return SILT_OK;
    }
    if (!is_status(returned)) {
        return sl_fail(err, SILT_EENGINE, NULL, "%s %s broke its contract: %d is no status (%s)", kind, name,
                       (int)returned, doing);
    }
    found->message[sizeof(found->message) - 1] = '\0';
    found->code_name[sizeof(found->code_name) - 1] = '\0';
    found->hint[sizeof(found->hint) - 1] = '\0';
    if (found->status != returned || found->message[0] == '\0') {
        return sl_fail(err, returned, NULL, "%s %s failed with %s and told nothing else (%s)", kind, name,
                       silt_status_name(returned), doing);
    }
    if (err != NULL) {
        const uint32_t size = err->size;
        *err = *found;
        err->size = size;
        sl_error_context(err, "%s (%s %s)", doing, kind, name);
    }
    return returned;
}

silt_status sl_handler_check_stream(const char *kind, const char *name, struct ArrowArrayStream *stream,
                                    silt_error *err)
{
    if (stream->release != NULL && stream->get_schema != NULL && stream->get_next != NULL &&
        stream->get_last_error != NULL) {
        return SILT_OK;
    }
    sl_arrow_stream_release(stream);
    return sl_fail(err, SILT_EENGINE, NULL, "%s %s broke its contract: the stream that it made lacks a callback", kind,
                   name);
}

silt_status sl_handler_absent(const char *kind, silt_error *err)
{
    return sl_fail(err, SILT_EUNSUPPORTED, NULL, "the engine has no %s", kind);
}

/* ---- checking vtables ---- */

/* What every vtable begins with. */
struct vtable_head {
    uint32_t size;
    uint32_t abi_version;
    const char *name;
};

static silt_status check_head(const char *kind, const void *vtable, size_t least_size, silt_error *err)
{
    struct vtable_head head;
    memcpy(&head, vtable, sizeof(head));
    if (head.abi_version != SILT_ABI_VERSION) {
        return sl_fail(err, SILT_EINVALID, NULL, "%s has ABI version %u, expected %u", kind, (unsigned)head.abi_version,
                       (unsigned)SILT_ABI_VERSION);
    }
    if (head.size < least_size) {
        return sl_fail(err, SILT_EINVALID, NULL, "%s has a vtable of %u bytes, expected at least %zu", kind,
                       (unsigned)head.size, least_size);
    }
    if (head.name == NULL || head.name[0] == '\0') {
        return sl_fail(err, SILT_EINVALID, NULL, "%s has no name", kind);
    }
    return SILT_OK;
}

static silt_status lacks_slot(const char *kind, const char *name, const char *slot, silt_error *err)
{
    return sl_fail(err, SILT_EINVALID, NULL, "%s %s lacks the required slot %s", kind, name, slot);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static silt_status take_parquet(silt_engine *engine, const silt_parquet_handler *handler, silt_error *err)
{
    if (handler->vtable == NULL) {
        return SILT_OK;
    }
    SL_TRY(check_head("parquet handler", handler->vtable, offsetof(silt_parquet_handler_vtable, scan), err));
    memcpy(&engine->parquet, handler->vtable, smaller(handler->vtable->size, sizeof(engine->parquet)));
    const char *missing = engine->parquet.close == NULL   ? "close"
                          : engine->parquet.read == NULL  ? "read"
                          : engine->parquet.write == NULL ? "write"
                                                          : NULL;
    if (missing != NULL) {
        return lacks_slot("parquet handler", engine->parquet.name, missing, err);
    }
    engine->has_parquet = true;
    engine->parquet_impl = handler->impl;
    return SILT_OK;
}

static silt_status take_expression(silt_engine *engine, const silt_expression_handler *handler, silt_error *err)
{
    if (handler->vtable == NULL) {
        return SILT_OK;
    }
    SL_TRY(check_head("expression handler", handler->vtable, sizeof(silt_expression_handler_vtable), err));
    memcpy(&engine->expression, handler->vtable, smaller(handler->vtable->size, sizeof(engine->expression)));
    const char *missing = engine->expression.close == NULL    ? "close"
                          : engine->expression.filter == NULL ? "filter"
                                                              : NULL;
    if (missing != NULL) {
        return lacks_slot("expression handler", engine->expression.name, missing, err);
    }
    engine->has_expression = true;
    engine->expression_impl = handler->impl;
    return SILT_OK;
}

static silt_status check_executor(const silt_executor *executor, silt_error *err)
{
    if (executor == NULL) {
        return SILT_OK;
    }
    if (executor->abi_version != SILT_ABI_VERSION) {
        return sl_fail(err, SILT_EINVALID, NULL, "executor has ABI version %u, expected %u",
                       (unsigned)executor->abi_version, (unsigned)SILT_ABI_VERSION);
    }
    if (executor->size < sizeof(*executor)) {
        return sl_fail(err, SILT_EINVALID, NULL, "executor has %u bytes, expected at least %zu",
                       (unsigned)executor->size, sizeof(*executor));
    }
    if (executor->run == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "executor lacks the required slot run");
    }
    return SILT_OK;
}

static silt_status check_options(const silt_engine_options *options, silt_error *err)
{
    if (options->abi_version != SILT_ABI_VERSION) {
        return sl_fail(err, SILT_EINVALID, NULL, "engine options have ABI version %u, expected %u",
                       (unsigned)options->abi_version, (unsigned)SILT_ABI_VERSION);
    }
    if (options->size < sizeof(*options)) {
        return sl_fail(err, SILT_EINVALID, NULL, "engine options have %u bytes, expected at least %zu",
                       (unsigned)options->size, sizeof(*options));
    }
    if (options->stores == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "an engine needs a registry of stores");
    }
    return check_executor(options->executor, err);
}

/* ---- the object ---- */

silt_status silt_engine_new(const silt_engine_options *options, silt_engine **out, silt_error *err)
{
    if (out == NULL || options == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_engine_new needs options and an out parameter");
    }
    *out = NULL;
    SL_TRY(check_options(options, err));
    const silt_env *env = options->env != NULL ? options->env : silt_env_default();
    SL_TRY(sl_env_check(env, err));
    silt_engine *engine = sl_alloc_zero(env, sizeof(*engine));
    if (engine == NULL) {
        return sl_fail_nomem(err);
    }
    silt_status status = take_parquet(engine, &options->parquet, err);
    if (status == SILT_OK) {
        status = take_expression(engine, &options->expression, err);
    }
    if (status != SILT_OK) {
        sl_release(env, engine, sizeof(*engine));
        return status;
    }
    engine->env = env;
    engine->executor = options->executor;
    engine->stores = options->stores;
    atomic_init(&engine->refs, 1);
    *out = engine;
    return SILT_OK;
}

silt_engine *silt_engine_ref(silt_engine *engine)
{
    if (engine != NULL) {
        (void)atomic_fetch_add_explicit(&engine->refs, 1, memory_order_relaxed);
    }
    return engine;
}

void silt_engine_unref(silt_engine *engine)
{
    if (engine == NULL || atomic_fetch_sub_explicit(&engine->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    if (engine->has_expression) {
        engine->expression.close(engine->expression_impl);
    }
    if (engine->has_parquet) {
        engine->parquet.close(engine->parquet_impl);
    }
    if (engine->close_attachment != NULL) {
        engine->close_attachment(engine->attachment);
    }
    silt_storage_registry_free(engine->stores);
    sl_release(engine->env, engine, sizeof(*engine));
}

const silt_env *silt_engine_env(const silt_engine *engine)
{
    return engine->env;
}

const silt_executor *sl_engine_executor(const silt_engine *engine)
{
    return engine->executor;
}

bool sl_storage_is_far(silt_storage *storage, const char *path)
{
    char local[4096];
    return silt_storage_local_path(storage, path, local, sizeof(local), NULL) == SILT_EUNSUPPORTED;
}

bool sl_engine_asks_at_once(const silt_engine *engine, silt_storage *storage, const char *path)
{
    return engine->executor != NULL && sl_storage_is_far(storage, path);
}

silt_status sl_engine_storage(silt_engine *engine, const char *uri, silt_storage **out, silt_error *err)
{
    return silt_storage_registry_find(engine->stores, uri, out, err);
}

silt_status silt_engine_storage(silt_engine *engine, const char *uri, silt_storage **out, silt_error *err)
{
    if (out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_engine_storage: out is NULL");
    }
    *out = NULL;
    if (engine == NULL || uri == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_engine_storage: engine and uri are required");
    }
    return sl_engine_storage(engine, uri, out, err);
}

bool sl_engine_has_parquet(const silt_engine *engine)
{
    return engine->has_parquet;
}

bool sl_engine_has_scan(const silt_engine *engine)
{
    return engine->has_parquet && engine->parquet.scan != NULL;
}

bool sl_engine_has_write_file(const silt_engine *engine)
{
    return engine->has_parquet && engine->parquet.write_file != NULL;
}

bool sl_engine_has_expression(const silt_engine *engine)
{
    return engine->has_expression;
}

void sl_engine_set_attachment(silt_engine *engine, void *attachment, void (*close)(void *attachment))
{
    engine->attachment = attachment;
    engine->close_attachment = close;
}

void *sl_engine_attachment(const silt_engine *engine)
{
    return engine->attachment;
}
