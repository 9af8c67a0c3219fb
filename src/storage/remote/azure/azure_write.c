/*
 * Small writes, removals, and what the answer to a conditional create means.
 *
 * Called through the store's slots. Any thread.
 */
#include "storage/remote/azure/azure_int.h"

#include "base/error.h"

/* Codes that say that the name is taken. A create that may not overwrite and is refused for that says so, too. */
#define TAKEN_CODES                                                                                    \
    "BlobAlreadyExists PathAlreadyExists ResourceAlreadyExists ConditionNotMet TargetConditionNotMet " \
    "UnauthorizedBlobOverwrite LeaseIdMissing BlobImmutableDueToPolicy InvalidBlobType"

static bool says_taken(struct sl_azure_request *request)
{
    const struct sl_exchange *exchange = request->exchange;
    const int http_code = exchange->request.code;
    if (exchange->status != SILT_OK || (http_code != 409 && http_code != 412 && http_code != 403)) {
        return false;
    }
    const struct sl_str code = sl_azure_answer_code(request);
    return (http_code == 412 && code.len == 0) || sl_azure_code_in(code, TAKEN_CODES);
}

silt_status sl_azure_outcome(struct sl_azure_request *request, silt_status ask, silt_put_outcome *outcome,
                             silt_error *err)
{
    const struct sl_exchange *exchange = request->exchange;
    const bool answered = ask == SILT_OK && exchange->status == SILT_OK;
    if (answered && (exchange->request.code == 201 || exchange->request.code == 200)) {
        *outcome = SILT_PUT_DONE;
        return SILT_OK;
    }
    if (answered && exchange->request.code / 100 == 2) { /* no answer of the service: who knows what was done */
        *outcome = SILT_PUT_AMBIGUOUS;
        sl_ignore(sl_azure_judge(request, err));
        return SILT_OK;
    }
    if (answered && says_taken(request) && !exchange->unclear) {
        *outcome = SILT_PUT_EXISTS;
        return SILT_OK;
    }
    const silt_status status = answered ? sl_azure_judge(request, err) : ask;
    *outcome = SILT_PUT_AMBIGUOUS;
    return sl_exchange_is_unclear(exchange) ? SILT_OK : status;
}

/* ---- slots ---- */

static silt_status find_target(struct sl_azure *azure, const char *path, struct sl_azure_place *place,
                               struct sl_azure_access **access, silt_error *err)
{
    SL_TRY(sl_azure_place_of_file(path, place, err));
    if (sl_azure_is_hidden(place->path)) {
        return sl_fail(err, SILT_EINVALID, NULL, "the name is one of the store's own temporary names");
    }
    return sl_azure_reach(azure, place, access, err);
}

static silt_status create(struct sl_azure *azure, const silt_call *call, const char *path,
                          const struct sl_azure_content *content, bool durable, silt_put_outcome *outcome,
                          silt_error *err)
{
    struct sl_azure_place place;
    struct sl_azure_access *access = NULL;
    bool hierarchical = false;
    SL_TRY(find_target(azure, path, &place, &access, err));
    if (durable) {
        SL_TRY(sl_azure_is_hierarchical(azure, access, call, &hierarchical, err));
    }
    if (hierarchical) {
        return sl_azure_create_by_rename(azure, access, call, place.path, content, outcome, err);
    }
    const struct sl_azure_upload upload = {
        .azure = azure, .access = access, .path = place.path, .content = *content, .conditional = true};
    return sl_azure_upload(&upload, call, outcome, err);
}

silt_status sl_azure_put_if_absent(void *impl, const silt_call *call, const char *path, const void *data,
                                   size_t data_len, silt_put_outcome *outcome, silt_error *err)
{
    const struct sl_azure_content content = {.data = data, .fd = -1, .size = data_len};
    return create(impl, call, path, &content, true, outcome, err);
}

silt_status sl_azure_put_hint(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                              silt_put_outcome *outcome, silt_error *err)
{
    /* One request in both kinds of accounts: it is the same to whoever reads it. */
    const struct sl_azure_content content = {.data = data, .fd = -1, .size = data_len};
    return create(impl, call, path, &content, false, outcome, err);
}

silt_status sl_azure_put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                         silt_error *err)
{
    struct sl_azure *azure = impl;
    struct sl_azure_place place;
    struct sl_azure_access *access = NULL;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    SL_TRY(find_target(azure, path, &place, &access, err));
    const struct sl_azure_upload upload = {
        .azure = azure, .access = access, .path = place.path, .content = {.data = data, .fd = -1, .size = data_len}};
    return sl_azure_upload(&upload, call, &outcome, err);
}

silt_status sl_azure_remove(void *impl, const silt_call *call, const char *path, silt_error *err)
{
    struct sl_azure *azure = impl;
    struct sl_azure_place place;
    struct sl_azure_access *access = NULL;
    struct sl_azure_request request;
    struct sl_exchange exchange = {0};
    SL_TRY(sl_azure_place_of_file(path, &place, err));
    SL_TRY(sl_azure_reach(azure, &place, &access, err));
    sl_azure_request_init(&request, azure->context, access, "DELETE", place.path);
    sl_azure_request_header(&request, "x-ms-delete-snapshots", "include");
    silt_status status = sl_azure_ask(&request, call, &exchange, err);
    const bool gone = status == SILT_OK && exchange.request.code == 404 &&
                      !sl_azure_code_in(sl_azure_answer_code(&request), "ContainerNotFound FilesystemNotFound");
    if (status == SILT_OK && !gone) {
        status = sl_azure_judge(&request, err);
    }
    sl_exchange_release(&exchange);
    sl_azure_request_release(&request);
    return status;
}
