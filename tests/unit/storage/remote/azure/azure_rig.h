/*
 * A store of Azure with options of its own, for the tests of this folder.
 */
#ifndef SILT_AZURE_RIG_H
#define SILT_AZURE_RIG_H

#include <stdio.h>

#include "azure_fixture.h"
#include "storage_fixture.h"
#include "storage/remote/azure/azure_store.h"
#include "test_env.h"

#define RIG_MAX_OPTIONS 16

struct azure_rig {
    const struct stub_server *stub;
    silt_store_option options[RIG_MAX_OPTIONS];
    size_t n;
    char endpoint[64];
    struct sl_remote_options *parsed;
    struct sl_http *http;
    struct sl_remote_context context;
    silt_storage *store;
};

static inline void rig_option(struct azure_rig *rig, const char *name, const char *value)
{
    assert_true(rig->n < RIG_MAX_OPTIONS);
    rig->options[rig->n++] = (silt_store_option){name, value};
}

/* The account and its services; how to log in is left to the test. */
static inline void rig_init(struct azure_rig *rig, const struct stub_server *stub)
{
    *rig = (struct azure_rig){.stub = stub};
    (void)snprintf(rig->endpoint, sizeof(rig->endpoint), "http://127.0.0.1:%d/acct", stub->port);
    rig_option(rig, "azure_storage_account_name", "acct");
    rig_option(rig, "azure_storage_endpoint", rig->endpoint);
    rig_option(rig, "azure_storage_dfs_endpoint", rig->endpoint);
}

static inline void rig_open(struct azure_rig *rig)
{
    const silt_env *env = silt_env_default();
    const silt_storage_vtable *vtable = NULL;
    void *impl = NULL;
    silt_error err = SILT_ERROR_INIT;
    if (sl_options_new(env, rig->options, rig->n, &rig->parsed, &err) != SILT_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(sl_http_new(env, NULL, &rig->http, &err), SILT_OK);
    rig->context = (struct sl_remote_context){.env = env, .options = rig->parsed, .http = rig->http};
    assert_int_equal(sl_azure_open(&rig->context, &vtable, &impl, &err), SILT_OK);
    assert_int_equal(silt_storage_new(env, vtable, impl, &rig->store, &err), SILT_OK);
}

static inline void rig_open_with_key(struct azure_rig *rig, const struct stub_server *stub)
{
    rig_init(rig, stub);
    rig_option(rig, "azure_storage_account_key", AZURE_KEY);
    rig_open(rig);
}

static inline void rig_expect_list(struct azure_rig *rig, const char *dir, const char *start, bool recursive,
                                   const char *wanted)
{
    assert_string_equal(store_list(rig->store, dir, start, recursive), wanted);
}

static inline void rig_close(struct azure_rig *rig)
{
    silt_storage_unref(rig->store);
    sl_http_free(rig->http);
    sl_options_free(rig->parsed);
    *rig = (struct azure_rig){0};
}

#endif
