/*
 * The entry of libsilt_remote.so: one instance an engine, and the store of each scheme.
 *
 * Any thread.
 */
#include "storage/remote/remote.h"

#include "base/alloc.h"
#include "base/error.h"
#include "silt/export.h"
#include "storage/remote/remote_options.h"

struct sl_remote {
    const silt_env *env;
    struct sl_remote_options *options;
};

static silt_status remote_open(const silt_env *env, const silt_store_option *options, size_t n, struct sl_remote **out,
                               silt_error *err)
{
    *out = NULL;
    struct sl_remote *remote = sl_alloc_zero(env, sizeof(*remote));
    if (remote == NULL) {
        return sl_fail_nomem(err);
    }
    remote->env = env;
    const silt_status status = sl_options_new(env, options, n, &remote->options, err);
    if (status != SILT_OK) {
        sl_release(env, remote, sizeof(*remote));
        return status;
    }
    *out = remote;
    return SILT_OK;
}

static void remote_close(struct sl_remote *remote)
{
    if (remote != NULL) {
        sl_options_free(remote->options);
        sl_release(remote->env, remote, sizeof(*remote));
    }
}

static silt_status remote_store(struct sl_remote *remote, const char *scheme, const silt_storage_vtable **vtable,
                                void **impl, silt_error *err)
{
    (void)remote;
    *vtable = NULL;
    *impl = NULL;
    return sl_fail(err, SILT_EUNSUPPORTED, NULL, "tables on %s:// are not supported by this version", scheme);
}

static const struct sl_remote_vtable REMOTE = {
    .size = sizeof(REMOTE),
    .abi_version = SL_REMOTE_ABI_VERSION,
    .open = remote_open,
    .close = remote_close,
    .store = remote_store,
};

/* The one symbol of the library. */
SILT_API const struct sl_remote_vtable *silt_remote_stores(void);
const struct sl_remote_vtable *silt_remote_stores(void)
{
    return &REMOTE;
}
