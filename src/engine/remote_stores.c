/*
 * The remote stores of the default engine. They share one library instance, with one pool of connections, which lives until the
 * last of them is closed.
 *
 * Any thread.
 */
#include "engine/remote_stores.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/uri.h"
#include "engine/library.h"
#include "storage/lazy.h"
#include "storage/remote/remote.h"

static const struct sl_library STORES = {
    .what = "library of remote stores",
    .file = "libsilt_remote.so",
    .variable = "SILT_REMOTE_PATH",
    .entry = SL_REMOTE_ENTRY,
    .code_name = "SILT_STORES_NOT_FOUND",
};

struct remote {
    const silt_env *env;
    atomic_size_t refs; /* one a store */
    struct sl_arena arena;
    silt_store_option *options;
    size_t n_options;
    pthread_mutex_t lock;
    const struct sl_remote_vtable *vtable; /* guarded by lock; these two are filled once */
    struct sl_remote *instance;
};

static void remote_unref(void *ctx)
{
    struct remote *remote = ctx;
    if (atomic_fetch_sub(&remote->refs, 1) != 1) {
        return;
    }
    if (remote->instance != NULL) {
        remote->vtable->close(remote->instance);
    }
    pthread_mutex_destroy(&remote->lock);
    sl_arena_release(&remote->arena);
    sl_release(remote->env, remote, sizeof(*remote));
}

static silt_status load(const silt_env *env, const struct sl_remote_vtable **out, silt_error *err)
{
    sl_library_function function = NULL;
    SL_TRY(sl_library_load(env, &STORES, &function, err));
    const struct sl_remote_vtable *vtable = ((sl_remote_entry)function)();
    if (vtable == NULL || vtable->abi_version != SL_REMOTE_ABI_VERSION || vtable->size < sizeof(*vtable)) {
        return sl_fail(err, SILT_EUNSUPPORTED, STORES.code_name,
                       "%s has interface version %u of %u bytes, expected %u of %zu", STORES.file,
                       vtable != NULL ? (unsigned)vtable->abi_version : 0U,
                       vtable != NULL ? (unsigned)vtable->size : 0U, (unsigned)SL_REMOTE_ABI_VERSION, sizeof(*vtable));
    }
    *out = vtable;
    return SILT_OK;
}

static silt_status open_instance(struct remote *remote, silt_error *err)
{
    SL_TRY(load(remote->env, &remote->vtable, err));
    return remote->vtable->open(remote->env, remote->options, remote->n_options, &remote->instance, err);
}

/*
 * Options that somebody gives are looked at now: a misspelt one would else be found by the first remote table only, and never without one. Whoever
 * lacks the library learns that from the first remote table.
 */
static silt_status check_given(struct remote *remote, silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    if (remote->n_options == 0) {
        return SILT_OK;
    }
    const silt_status status = open_instance(remote, &found);
    if (status == SILT_OK || remote->vtable == NULL) {
        return SILT_OK;
    }
    return sl_error_take(err, &found);
}

static silt_status make_store(void *ctx, const char *scheme, silt_storage **out, silt_error *err)
{
    struct remote *remote = ctx;
    silt_status status = SILT_OK;
    pthread_mutex_lock(&remote->lock);
    if (remote->instance == NULL) {
        status = open_instance(remote, err);
    }
    pthread_mutex_unlock(&remote->lock);
    SL_TRY(status);
    const silt_storage_vtable *slots = NULL;
    void *impl = NULL;
    SL_TRY(remote->vtable->store(remote->instance, scheme, &slots, &impl, err));
    status = silt_storage_new(remote->env, slots, impl, out, err);
    if (status != SILT_OK) {
        slots->close(impl);
    }
    return status;
}

static silt_status copy_options(struct remote *remote, const silt_store_option *options, size_t n, silt_error *err)
{
    if (n == 0) {
        return SILT_OK;
    }
    remote->options = sl_arena_alloc_array(&remote->arena, n, sizeof(*remote->options));
    if (remote->options == NULL) {
        return sl_fail_nomem(err);
    }
    remote->n_options = n;
    for (size_t i = 0; i < n; i++) {
        if (options[i].name == NULL || options[i].value == NULL) {
            return sl_fail(err, SILT_EINVALID, NULL, "option %zu of the stores has no name or no value", i);
        }
        remote->options[i].name = sl_arena_strdup(&remote->arena, sl_str_from(options[i].name));
        remote->options[i].value = sl_arena_strdup(&remote->arena, sl_str_from(options[i].value));
        if (remote->options[i].name == NULL || remote->options[i].value == NULL) {
            return sl_fail_nomem(err);
        }
    }
    return SILT_OK;
}

static silt_status add_lazy(struct remote *remote, silt_storage_registry *registry, const char *scheme, silt_error *err)
{
    const struct sl_lazy_maker maker = {.ctx = remote, .make = make_store, .release = remote_unref};
    silt_storage *store = NULL;
    atomic_fetch_add(&remote->refs, 1);
    silt_status status = sl_storage_lazy_new(remote->env, scheme, &maker, &store, err);
    if (status != SILT_OK) {
        remote_unref(remote);
        return status;
    }
    status = silt_storage_registry_add(registry, scheme, store, err);
    silt_storage_unref(store); /* the registry holds its own reference */
    return status;
}

silt_status sl_remote_stores_add(const silt_env *env, silt_storage_registry *registry, const silt_store_option *options,
                                 size_t n, silt_error *err)
{
    static const char *const schemes[] = SL_REMOTE_SCHEMES;
    struct remote *remote = sl_alloc_zero(env, sizeof(*remote));
    if (remote == NULL) {
        return sl_fail_nomem(err);
    }
    remote->env = env;
    atomic_init(&remote->refs, 1);
    sl_arena_init(&remote->arena, env);
    pthread_mutex_init(&remote->lock, NULL);
    silt_status status = copy_options(remote, options, n, err);
    if (status == SILT_OK) {
        status = check_given(remote, err);
    }
    for (size_t i = 0; status == SILT_OK && i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        status = add_lazy(remote, registry, schemes[i], err);
    }
    remote_unref(remote);
    return status;
}

bool sl_remote_has_scheme(const char *uri)
{
    static const char *const schemes[] = SL_REMOTE_SCHEMES;
    const struct sl_str scheme = sl_uri_scheme(sl_str_from(uri));
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        if (sl_str_eq_nocase(scheme, sl_str_from(schemes[i]))) {
            return true;
        }
    }
    return false;
}

silt_status sl_remote_examine(const silt_env *env, const silt_call *call, const char *uri,
                              const silt_doctor_options *options,
                              void (*on_step)(void *ctx, const silt_doctor_step *step), void *ctx, bool *told,
                              silt_error *err)
{
    const struct sl_remote_vtable *vtable = NULL;
    struct sl_remote *instance = NULL;
    *told = false;
    SL_TRY(load(env, &vtable, err));
    SL_TRY(vtable->open(env, options->store_options, options->n_store_options, &instance, err));
    *told = true;
    const silt_status status = vtable->examine(instance, call, uri, on_step, ctx, err);
    vtable->close(instance);
    return status;
}
