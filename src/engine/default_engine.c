/*
 * The default engine: local and memory stores, a small thread pool, and the data plane of libsilt_duckdb, which is loaded when a
 * Parquet file or an expression is first needed. What only reads the log never loads it.
 *
 * The handlers given to the engine are proxies: their slots load the data plane and pass the call on. Everything that is
 * made on the way hangs on the engine as its attachment and goes with it. Files of a few rows need no data plane
 * (small_write.h, small_read.h). Any thread.
 */
#include "engine/dataplane.h"
#include "engine/loader.h"
#include "engine/remote_stores.h"
#include "engine/small_read.h"
#include "engine/small_write.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arrow.h"
#include "base/env.h"
#include "base/error.h"
#include "kernel/engine/engine.h"
#include "silt/version.h"
#include "storage/stores.h"
#include "storage/threadpool.h"

#define POOL_MAX_THREADS 8

struct default_engine {
    const silt_env *env;
    silt_executor pool; /* zeroed when the caller gave an executor */
    uint32_t threads;
    char *memory_limit; /* or NULL */
    char *temp_dir;     /* or NULL */
    pthread_mutex_t lock;
    struct sl_dataplane_ref plane; /* guarded by lock; filled once */
    sl_small_kept_slot checkpoint; /* the small one that was read last */
};

static const struct sl_dataplane_host HOST = {
    .size = sizeof(HOST),
    .read = silt_storage_read,
    .free_data = silt_storage_free,
    .stat = silt_storage_stat,
    .local_path = silt_storage_local_path,
    .adopt = silt_storage_adopt,
    .upload_begin = silt_storage_upload_begin,
    .upload_unit = silt_upload_unit,
    .upload_append = silt_upload_append,
    .upload_finish = silt_upload_finish,
    .upload_abort = silt_upload_abort,
    .remove = silt_storage_remove,
    .rows_load = silt_rows_load,
    .rows_free = silt_rows_free,
    .rows_mask = silt_rows_mask,
    .rows_next_live = silt_rows_next_live,
    .rows_next_dead = silt_rows_next_dead,
    .fetch_open = sl_fetch_open,
    .fetch_close = sl_fetch_close,
    .fetch_path = sl_fetch_path,
    .fetch_size = sl_fetch_size,
    .fetch_now = sl_fetch_now,
    .fetch_want = sl_fetch_want,
    .fetch_start = sl_fetch_start,
    .fetch_wait = sl_fetch_wait,
    .fetch_withdraw = sl_fetch_withdraw,
};

/* ---- the data plane, at first use ---- */

static silt_status open_plane(struct default_engine *self, silt_error *err)
{
    const struct sl_dataplane_vtable *vtable = NULL;
    SL_TRY(sl_dataplane_load(self->env, &vtable, err));
    const struct sl_dataplane_options options = {
        .size = sizeof(options),
        .host = &HOST,
        .threads = self->threads,
        .memory_limit = self->memory_limit,
        .temp_dir = self->temp_dir,
    };
    struct sl_dataplane *plane = NULL;
    SL_TRY(vtable->open(self->env, &options, &plane, err));
    self->plane = (struct sl_dataplane_ref){.vtable = vtable, .dp = plane};
    return SILT_OK;
}

/* A failure is not kept: the next call tries again. */
static silt_status need_plane(struct default_engine *self, struct sl_dataplane_ref *out, silt_error *err)
{
    silt_status status = SILT_OK;
    pthread_mutex_lock(&self->lock);
    if (self->plane.dp == NULL) {
        status = open_plane(self, err);
    }
    *out = self->plane;
    pthread_mutex_unlock(&self->lock);
    return status;
}

/* ---- proxies ---- */

static void close_nothing(void *impl)
{
    (void)impl; /* the attachment is closed by itself */
}

static silt_status lazy_read(void *impl, const silt_call *call, const silt_parquet_read *request,
                             struct ArrowArrayStream *out, silt_error *err)
{
    struct default_engine *self = impl;
    struct sl_dataplane_ref plane;
    bool done = false;
    SL_TRY(sl_small_read(self->env, call, request, &self->checkpoint, out, &done, err));
    if (done) {
        return SILT_OK;
    }
    SL_TRY(need_plane(self, &plane, err));
    return plane.vtable->parquet->read(plane.dp, call, request, out, err);
}

static silt_status lazy_write(void *impl, const silt_call *call, const silt_parquet_write *request,
                              struct ArrowArrayStream *rows, silt_error *err)
{
    struct default_engine *self = impl;
    struct sl_dataplane_ref plane;
    bool done = false;
    silt_status status = sl_small_write(self->env, call, request, rows, &done, err);
    if (status == SILT_OK && !done) {
        status = need_plane(self, &plane, err);
    }
    if (status != SILT_OK || done) {
        sl_arrow_stream_release(rows);
        return status;
    }
    return plane.vtable->parquet->write(plane.dp, call, request, rows, err);
}

static silt_status lazy_write_file(void *impl, const silt_call *call, silt_parquet_write_file *request,
                                   struct ArrowArrayStream *rows, silt_error *err)
{
    struct default_engine *self = impl;
    struct sl_dataplane_ref plane;
    bool done = false;
    silt_status status = sl_small_write_file(self->env, call, request, rows, &done, err);
    if (status == SILT_OK && !done) {
        status = need_plane(self, &plane, err);
    }
    if (status != SILT_OK || done) {
        sl_arrow_stream_release(rows);
        return status;
    }
    return plane.vtable->parquet->write_file(plane.dp, call, request, rows, err);
}

static silt_status lazy_scan(void *impl, const silt_call *call, const silt_scan_plan *plan,
                             struct ArrowArrayStream *out, silt_error *err)
{
    struct sl_dataplane_ref plane;
    SL_TRY(need_plane(impl, &plane, err));
    return plane.vtable->parquet->scan(plane.dp, call, plan, out, err);
}

static silt_status lazy_groups(void *impl, const silt_call *call, const silt_parquet_groups *request, silt_error *err)
{
    struct sl_dataplane_ref plane;
    SL_TRY(need_plane(impl, &plane, err));
    return plane.vtable->parquet->groups(plane.dp, call, request, err);
}

static silt_status lazy_bring(void *impl, const silt_call *call, const silt_parquet_bring *request, silt_error *err)
{
    struct sl_dataplane_ref plane;
    SL_TRY(need_plane(impl, &plane, err));
    return plane.vtable->parquet->bring(plane.dp, call, request, err);
}

static silt_status lazy_filter(void *impl, const silt_call *call, struct ArrowArrayStream *in,
                               const silt_expr *predicate, struct ArrowArrayStream *out, silt_error *err)
{
    struct sl_dataplane_ref plane;
    const silt_status status = need_plane(impl, &plane, err);
    if (status != SILT_OK) {
        sl_arrow_stream_release(in);
        return status;
    }
    return plane.vtable->expression->filter(plane.dp, call, in, predicate, out, err);
}

static const silt_parquet_handler_vtable LAZY_PARQUET = {
    .size = sizeof(LAZY_PARQUET),
    .abi_version = SILT_ABI_VERSION,
    .name = "duckdb",
    .close = close_nothing,
    .read = lazy_read,
    .write = lazy_write,
    .scan = lazy_scan,
    .groups = lazy_groups,
    .write_file = lazy_write_file,
    .bring = lazy_bring,
};

static const silt_expression_handler_vtable LAZY_EXPRESSION = {
    .size = sizeof(LAZY_EXPRESSION),
    .abi_version = SILT_ABI_VERSION,
    .name = "duckdb",
    .close = close_nothing,
    .filter = lazy_filter,
};

/* ---- the engine ---- */

static void close_default(void *attachment)
{
    struct default_engine *self = attachment;
    if (self->plane.dp != NULL) {
        self->plane.vtable->close(self->plane.dp);
    }
    sl_thread_pool_free(&self->pool);
    sl_strfree(self->env, self->memory_limit);
    sl_strfree(self->env, self->temp_dir);
    sl_small_kept_free(self->env, atomic_load(&self->checkpoint));
    pthread_mutex_destroy(&self->lock);
    sl_release(self->env, self, sizeof(*self));
}

static silt_status copy_text(const silt_env *env, const char *text, char **out, silt_error *err)
{
    if (text == NULL) {
        return SILT_OK;
    }
    *out = sl_strdup_len(env, text, strlen(text));
    return *out != NULL ? SILT_OK : sl_fail_nomem(err);
}

static silt_status make_default(const silt_env *env, const silt_default_engine_options *options,
                                struct default_engine **out, silt_error *err)
{
    struct default_engine *self = sl_alloc_zero(env, sizeof(*self));
    if (self == NULL) {
        return sl_fail_nomem(err);
    }
    self->env = env;
    pthread_mutex_init(&self->lock, NULL);
    self->threads = options->threads;
    silt_status status = copy_text(env, options->memory_limit, &self->memory_limit, err);
    if (status == SILT_OK) {
        status = copy_text(env, options->temp_dir, &self->temp_dir, err);
    }
    if (status == SILT_OK && options->executor == NULL) {
        const unsigned n = options->threads > POOL_MAX_THREADS ? POOL_MAX_THREADS : options->threads;
        status = sl_thread_pool_new(env, n, &self->pool, err);
    }
    if (status != SILT_OK) {
        close_default(self);
        return status;
    }
    *out = self;
    return SILT_OK;
}

static silt_status make_stores(const silt_env *env, const silt_default_engine_options *options,
                               silt_storage_registry **out, silt_error *err)
{
    SL_TRY(sl_stores_default(env, out, err));
    const silt_status status = sl_remote_stores_add(env, *out, options->store_options, options->n_store_options, err);
    if (status != SILT_OK) {
        silt_storage_registry_free(*out);
        *out = NULL;
    }
    return status;
}

static silt_status check_options(const silt_default_engine_options *options, silt_error *err)
{
    if (options->size < sizeof(*options)) {
        return sl_fail(err, SILT_EINVALID, NULL, "options of the default engine have %u bytes, expected %zu",
                       (unsigned)options->size, sizeof(*options));
    }
    if (options->n_store_options > 0 && (options->stores != NULL || options->store_options == NULL)) {
        return sl_fail(err, SILT_EINVALID, NULL, "options of the stores are for the default stores, and are an array");
    }
    if (options->threads > SILT_MAX_THREADS) {
        return sl_fail(err, SILT_EINVALID, NULL, "%u threads are too many: at most %d", (unsigned)options->threads,
                       SILT_MAX_THREADS);
    }
    if (options->temp_dir != NULL && options->temp_dir[0] != '/') {
        return sl_fail(err, SILT_EINVALID, NULL, "temporary folder \"%s\" must be an absolute path", options->temp_dir);
    }
    return SILT_OK;
}

silt_status silt_engine_default_new(const silt_default_engine_options *options, silt_engine **out, silt_error *err)
{
    static const silt_default_engine_options defaults = {.size = sizeof(defaults)};
    if (out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_engine_default_new needs an out parameter");
    }
    *out = NULL;
    const silt_default_engine_options *given = options != NULL ? options : &defaults;
    SL_TRY(check_options(given, err));
    const silt_env *env = given->env != NULL ? given->env : silt_env_default();
    SL_TRY(sl_env_check(env, err));

    struct default_engine *self = NULL;
    silt_storage_registry *own_stores = NULL;
    silt_status status = make_default(env, given, &self, err);
    if (status == SILT_OK && given->stores == NULL) {
        status = make_stores(env, given, &own_stores, err);
    }
    if (status == SILT_OK) {
        const silt_engine_options engine_options = {
            .size = sizeof(engine_options),
            .abi_version = SILT_ABI_VERSION,
            .env = env,
            .executor = given->executor != NULL ? given->executor : &self->pool,
            .stores = given->stores != NULL ? given->stores : own_stores,
            .parquet = {&LAZY_PARQUET, self},
            .expression = {&LAZY_EXPRESSION, self},
        };
        status = silt_engine_new(&engine_options, out, err);
    }
    if (status != SILT_OK) {
        silt_storage_registry_free(own_stores);
        if (self != NULL) {
            close_default(self);
        }
        return status;
    }
    sl_engine_set_attachment(*out, self, close_default);
    return SILT_OK;
}

silt_status sl_engine_dataplane(silt_engine *engine, struct sl_dataplane_ref *out, silt_error *err)
{
    *out = (struct sl_dataplane_ref){0};
    struct default_engine *self = sl_engine_attachment(engine);
    if (self == NULL) {
        return sl_fail(err, SILT_EENGINE, NULL, "this engine has no data plane: make it with silt_engine_default_new");
    }
    return need_plane(self, out, err);
}
