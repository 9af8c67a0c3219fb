/*
 * The store of Azure: containers in use, and which kind their account is of.
 *
 * A conditional create through the Blob service (If-None-Match: *) has one winner in both kinds of accounts, and also beside one that renames.
 * In a hierarchical account commits are renames nevertheless, as Delta Spark's are, so that a name is never there before its content.
 *
 * Any thread.
 */
#include "storage/remote/azure/azure_store.h"

#include "base/alloc.h"
#include "base/error.h"
#include "silt/version.h"
#include "storage/remote/azure/azure_int.h"

silt_status sl_azure_store_new(const struct sl_remote_context *context, struct sl_azure **out, silt_error *err)
{
    *out = NULL;
    struct sl_azure *azure = sl_alloc_zero(context->env, sizeof(*azure));
    if (azure == NULL) {
        return sl_fail_nomem(err);
    }
    azure->context = context;
    if (pthread_mutex_init(&azure->lock, NULL) != 0) {
        sl_release(context->env, azure, sizeof(*azure));
        return sl_fail_nomem(err);
    }
    *out = azure;
    return SILT_OK;
}

static void close_azure(void *impl)
{
    struct sl_azure *azure = impl;
    while (azure->accesses != NULL) {
        struct sl_azure_access *access = azure->accesses;
        azure->accesses = access->next;
        sl_azure_access_free(azure->context->env, access);
    }
    (void)pthread_mutex_destroy(&azure->lock); /* nobody can hold it any more */
    sl_release(azure->context->env, azure, sizeof(*azure));
}

static bool same_host(const struct sl_azure_access *access, const struct sl_azure_place *place)
{
    if (place->head.ptr == NULL || access->head.ptr == NULL) {
        return place->head.ptr == access->head.ptr;
    }
    return sl_str_eq(access->head, place->head) && sl_str_eq(access->suffix, place->suffix);
}

silt_status sl_azure_reach(struct sl_azure *azure, const struct sl_azure_place *place, struct sl_azure_access **out,
                           silt_error *err)
{
    silt_status status = SILT_OK;
    (void)pthread_mutex_lock(&azure->lock); /* fails only for a lock that is not one */
    struct sl_azure_access *found = azure->accesses;
    while (found != NULL && !(same_host(found, place) && sl_str_eq_c(place->container, found->container))) {
        found = found->next;
    }
    if (found == NULL) {
        status = sl_azure_access_new(azure->context, place, &found, err);
        if (status == SILT_OK) {
            found->next = azure->accesses;
            azure->accesses = found;
        }
    }
    (void)pthread_mutex_unlock(&azure->lock); /* held by us */
    *out = found;
    return status;
}

bool sl_azure_is_hidden(struct sl_str path)
{
    size_t begin = path.len;
    while (begin > 0 && path.ptr[begin - 1] != '/') {
        begin--;
    }
    const struct sl_str name = sl_str_sub(path, begin, path.len);
    return name.len == 46 && sl_str_starts_with(name, SL_STR(".silt-")) && sl_str_ends_with(name, SL_STR(".tmp"));
}

/* ---- the kind of an account ---- */

/* Get Account Information; *kind stays UNKNOWN when the answer does not say. */
static silt_status ask_account(struct sl_azure *azure, struct sl_azure_access *access, const silt_call *call,
                               enum sl_azure_hierarchy *kind, silt_error *err)
{
    struct sl_azure_request request;
    struct sl_exchange exchange = {0};
    sl_azure_request_init(&request, azure->context, access, "GET", (struct sl_str){0});
    sl_azure_request_parameter(&request, "comp", "properties");
    sl_azure_request_parameter(&request, "restype", "account");
    silt_status status = sl_azure_ask(&request, call, &exchange, err);
    if (status == SILT_OK && exchange.request.code == 200) {
        const struct sl_str value = sl_http_header(&exchange.request, "x-ms-is-hns-enabled");
        *kind = sl_str_eq_nocase(value, SL_STR("true"))    ? SL_AZURE_HIERARCHICAL
                : sl_str_eq_nocase(value, SL_STR("false")) ? SL_AZURE_FLAT
                                                           : SL_AZURE_UNKNOWN;
    }
    sl_exchange_release(&exchange);
    sl_azure_request_release(&request);
    return status;
}

/* The access control list of the root: flat accounts have none and say 400. What else is refused leaves it to the Blob service, which serves both kinds. */
static silt_status ask_root(struct sl_azure *azure, struct sl_azure_access *access, const silt_call *call,
                            enum sl_azure_hierarchy *kind, silt_error *err)
{
    struct sl_azure_request request;
    struct sl_exchange exchange = {0};
    sl_azure_request_init(&request, azure->context, access, "HEAD", SL_STR("/"));
    request.dfs = true;
    sl_azure_request_parameter(&request, "action", "getAccessControl");
    sl_azure_request_parameter(&request, "upn", "false");
    silt_status status = sl_azure_ask(&request, call, &exchange, err);
    if (status == SILT_OK && exchange.request.code / 100 == 5) {
        status = sl_azure_judge(&request, err);
    } else if (status == SILT_OK) {
        *kind = exchange.request.code == 200 ? SL_AZURE_HIERARCHICAL : SL_AZURE_FLAT;
    }
    sl_exchange_release(&exchange);
    sl_azure_request_release(&request);
    return status;
}

silt_status sl_azure_is_hierarchical(struct sl_azure *azure, struct sl_azure_access *access, const silt_call *call,
                                     bool *out, silt_error *err)
{
    enum sl_azure_hierarchy kind = (enum sl_azure_hierarchy)atomic_load(&access->hierarchy);
    *out = false;
    if (kind == SL_AZURE_UNKNOWN) {
        SL_TRY(ask_account(azure, access, call, &kind, err));
    }
    if (kind == SL_AZURE_UNKNOWN) {
        SL_TRY(ask_root(azure, access, call, &kind, err));
    }
    atomic_store(&access->hierarchy, kind);
    *out = kind == SL_AZURE_HIERARCHICAL;
    return SILT_OK;
}

/* ---- the store ---- */

static const silt_storage_vtable azure_slots = {
    .size = sizeof(silt_storage_vtable),
    .abi_version = SILT_ABI_VERSION,
    .name = "azure",
    .close = close_azure,
    .read_many = sl_azure_read_many,
    .read_stream = sl_azure_read_stream,
    .list = sl_azure_list,
    .list_folders = sl_azure_list_folders,
    .put_if_absent = sl_azure_put_if_absent,
    .put = sl_azure_put,
    .stat = sl_azure_stat,
    .remove = sl_azure_remove,
    .adopt = sl_azure_adopt,
    .remove_tree = sl_azure_remove_tree,
    .put_hint = sl_azure_put_hint,
    .upload_begin = sl_azure_upload_begin,
    .upload_append = sl_azure_upload_append,
    .upload_finish = sl_azure_upload_finish,
    .upload_abort = sl_azure_upload_abort,
};

silt_status sl_azure_open(const struct sl_remote_context *context, const silt_storage_vtable **vtable, void **impl,
                          silt_error *err)
{
    struct sl_azure *azure = NULL;
    *vtable = NULL;
    *impl = NULL;
    SL_TRY(sl_azure_store_new(context, &azure, err));
    *vtable = &azure_slots;
    *impl = azure;
    return SILT_OK;
}
