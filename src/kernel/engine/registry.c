/*
 * The registry of stores by URI scheme. A few schemes at most, so a list is searched.
 *
 * Filled when an engine is set up, by one thread; then owned by the engine and only read, from any thread.
 */
#include "silt/storage.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/env.h"
#include "base/error.h"
#include "base/str.h"
#include "base/uri.h"
#include "base/vec.h"

/* Where paths without a scheme belong. */
#define DEFAULT_SCHEME "file"

struct registration {
    char *scheme;          /* owned, sl_strdup_len */
    silt_storage *storage; /* a reference */
};

struct silt_storage_registry {
    const silt_env *env;
    struct sl_vec registrations; /* of struct registration, in the order of adding */
};

silt_status silt_storage_registry_new(const silt_env *env, silt_storage_registry **out, silt_error *err)
{
    if (out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_storage_registry_new needs an out parameter");
    }
    *out = NULL;
    SL_TRY(sl_env_check(env, err));
    silt_storage_registry *registry = sl_alloc_zero(env, sizeof(*registry));
    if (registry == NULL) {
        return sl_fail_nomem(err);
    }
    registry->env = env;
    sl_vec_init(&registry->registrations, env, sizeof(struct registration));
    *out = registry;
    return SILT_OK;
}

void silt_storage_registry_free(silt_storage_registry *registry)
{
    if (registry == NULL) {
        return;
    }
    for (size_t i = 0; i < registry->registrations.len; i++) {
        struct registration *entry = sl_vec_at(&registry->registrations, i);
        sl_strfree(registry->env, entry->scheme);
        silt_storage_unref(entry->storage);
    }
    sl_vec_release(&registry->registrations);
    sl_release(registry->env, registry, sizeof(*registry));
}

static const struct registration *find_scheme(const silt_storage_registry *registry, struct sl_str scheme)
{
    for (size_t i = 0; i < registry->registrations.len; i++) {
        const struct registration *entry = sl_vec_at(&registry->registrations, i);
        if (sl_str_eq_nocase(scheme, sl_str_from(entry->scheme))) {
            return entry;
        }
    }
    return NULL;
}

/* RFC 3986, scheme: a letter, then letters, digits, '+', '-' and '.'; here in lower case only. */
static bool is_scheme(const char *scheme)
{
    if (scheme[0] < 'a' || scheme[0] > 'z') {
        return false;
    }
    return scheme[strspn(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+-.")] == '\0';
}

silt_status silt_storage_registry_add(silt_storage_registry *registry, const char *scheme, silt_storage *storage,
                                      silt_error *err)
{
    if (registry == NULL || scheme == NULL || storage == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a registry, a scheme and a store are required");
    }
    if (!is_scheme(scheme)) {
        return sl_fail(err, SILT_EINVALID, NULL, "\"%s\" is no scheme: expected lower-case letters, without \"://\"",
                       scheme);
    }
    if (find_scheme(registry, sl_str_from(scheme)) != NULL) {
        return sl_fail(err, SILT_EEXISTS, NULL, "a store is registered for scheme \"%s\" already", scheme);
    }
    char *copy = sl_strdup_len(registry->env, scheme, strlen(scheme));
    struct registration *entry = copy != NULL ? sl_vec_push(&registry->registrations) : NULL;
    if (entry == NULL) {
        sl_strfree(registry->env, copy);
        return sl_fail_nomem(err);
    }
    entry->scheme = copy;
    entry->storage = silt_storage_ref(storage);
    return SILT_OK;
}

/* Services whose servers also speak S3's protocol, by the schemes that other tools have for them. */
static bool is_like_s3(struct sl_str scheme)
{
    static const char *const schemes[] = {"oss", "cos", "cosn", "obs", "tos", "r2", "minio"};
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        if (sl_str_eq_nocase(scheme, sl_str_from(schemes[i]))) {
            return true;
        }
    }
    return false;
}

static silt_status refuse_scheme(const silt_storage_registry *registry, struct sl_str scheme, silt_error *err)
{
    struct sl_buf known;
    sl_buf_init(&known, registry->env);
    for (size_t i = 0; i < registry->registrations.len; i++) {
        const struct registration *entry = sl_vec_at(&registry->registrations, i);
        sl_buf_put_c(&known, i > 0 ? ", " : "");
        sl_buf_put_c(&known, entry->scheme);
    }
    silt_status status = sl_fail(err, SILT_EUNSUPPORTED, NULL,
                                 "no store is registered for scheme \"%.*s\", expected one of: %s", SL_FMT(scheme),
                                 registry->registrations.len > 0 ? sl_buf_cstr(&known) : "(none)");
    if (is_like_s3(scheme) && find_scheme(registry, SL_STR("s3")) != NULL) {
        sl_error_hint(err, "where its servers speak S3 it is s3://bucket/key, with their address in aws_endpoint_url");
    }
    sl_buf_release(&known);
    return status;
}

silt_status silt_storage_registry_find(const silt_storage_registry *registry, const char *uri, silt_storage **out,
                                       silt_error *err)
{
    if (registry == NULL || out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a registry and an out parameter are required");
    }
    *out = NULL;
    if (uri == NULL || uri[0] == '\0') {
        return sl_fail(err, SILT_EINVALID, NULL, "a path is required");
    }
    struct sl_str scheme = sl_uri_scheme(sl_str_from(uri));
    if (scheme.ptr == NULL) {
        scheme = SL_STR(DEFAULT_SCHEME);
    }
    const struct registration *entry = find_scheme(registry, scheme);
    if (entry == NULL) {
        return refuse_scheme(registry, scheme, err);
    }
    *out = entry->storage;
    return SILT_OK;
}
