/*
 * Conditional creates in hierarchical accounts: the bytes go to a temporary file beside the name, which is then renamed on the condition that the name is
 * free. Nobody sees the name before its whole content is there, and of all who rename to it one succeeds.
 *
 * Any thread.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/uuid.h"
#include "storage/remote/azure/azure_int.h"
#include "storage/remote/azure/azure_text.h"
#include "storage/remote/url.h"

struct creation {
    struct sl_azure *azure;
    struct sl_azure_access *access;
    const silt_call *call;
    struct sl_str path;
    struct sl_str temp; /* path of the temporary file */
    const struct sl_azure_content *content;
};

static void begin(const struct creation *creation, struct sl_azure_request *request, const char *method,
                  struct sl_str path)
{
    sl_azure_request_init(request, creation->azure->context, creation->access, method, path);
    request->dfs = true;
}

/* Runs a step; codes in `fine` are no fault. */
static silt_status step(const struct creation *creation, struct sl_azure_request *request, const char *fine,
                        silt_error *err)
{
    struct sl_exchange exchange = {0};
    silt_status status = sl_azure_ask(request, creation->call, &exchange, err);
    const bool is_fine = status == SILT_OK && exchange.request.code / 100 != 2 &&
                         sl_azure_code_in(sl_azure_answer_code(request), fine);
    if (status == SILT_OK && !is_fine) {
        status = sl_azure_judge(request, err);
    }
    sl_exchange_release(&exchange);
    sl_azure_request_release(request);
    return status;
}

/* The name is ours alone: that it is there means that an answer was lost. */
static silt_status make_temp(const struct creation *creation, silt_error *err)
{
    struct sl_azure_request request;
    begin(creation, &request, "PUT", creation->temp);
    sl_azure_request_parameter(&request, "resource", "file");
    sl_azure_request_header(&request, "If-None-Match", "*");
    return step(creation, &request, "PathAlreadyExists ConditionNotMet", err);
}

static silt_status append(const struct creation *creation, size_t offset, size_t size, silt_error *err)
{
    struct sl_azure_request request;
    char position[24];
    (void)snprintf(position, sizeof(position), "%zu", offset);
    begin(creation, &request, "PATCH", creation->temp);
    sl_azure_request_parameter(&request, "action", "append");
    sl_azure_request_parameter(&request, "position", position);
    request.body = (const char *)creation->content->data + offset;
    request.body_len = size;
    return step(creation, &request, "", err);
}

static silt_status flush(const struct creation *creation, silt_error *err)
{
    struct sl_azure_request request;
    char position[24];
    (void)snprintf(position, sizeof(position), "%zu", creation->content->size);
    begin(creation, &request, "PATCH", creation->temp);
    sl_azure_request_parameter(&request, "action", "flush");
    sl_azure_request_parameter(&request, "close", "true");
    sl_azure_request_parameter(&request, "position", position);
    return step(creation, &request, "", err);
}

static silt_status fill_temp(const struct creation *creation, silt_error *err)
{
    const size_t size = creation->content->size;
    SL_TRY(make_temp(creation, err));
    for (size_t offset = 0; offset < size; offset += SL_AZURE_BLOCK) {
        SL_TRY(append(creation, offset, size - offset < SL_AZURE_BLOCK ? size - offset : SL_AZURE_BLOCK, err));
    }
    return size > 0 ? flush(creation, err) : SILT_OK;
}

/* With a signature in the URL, the source needs it as well. */
static void put_source(const struct creation *creation, struct sl_buf *out)
{
    sl_buf_put_char(out, '/');
    sl_url_encode(out, sl_str_from(creation->access->container), "");
    sl_buf_put_char(out, '/');
    sl_url_encode(out, creation->temp, "/");
    if (creation->access->auth == SL_AZURE_AUTH_SAS) {
        sl_buf_put_char(out, '?');
        sl_buf_put_c(out, creation->access->sas);
    }
}

static silt_status rename_temp(const struct creation *creation, silt_put_outcome *outcome, silt_error *err)
{
    struct sl_azure_request request;
    struct sl_exchange exchange = {0};
    struct sl_buf source;
    sl_buf_init(&source, creation->azure->context->env);
    put_source(creation, &source);
    silt_status status = sl_buf_status(&source, err);
    if (status == SILT_OK) {
        begin(creation, &request, "PUT", creation->path);
        sl_azure_request_header(&request, "If-None-Match", "*");
        sl_azure_request_header(&request, "x-ms-rename-source", sl_buf_cstr(&source));
        status = sl_azure_ask(&request, creation->call, &exchange, err);
        status = sl_azure_outcome(&request, status, outcome, err);
        sl_exchange_release(&exchange);
        sl_azure_request_release(&request);
    }
    sl_buf_release(&source);
    return status;
}

/*
 * By best effort: what stays is hidden, and in nobody's way. It also keeps a rename whose answer is still out from happening late. True when the
 * service says that the file was not there any more.
 */
static bool remove_temp(const struct creation *creation)
{
    struct sl_azure_request request;
    struct sl_exchange exchange = {0};
    begin(creation, &request, "DELETE", creation->temp);
    const silt_status status = sl_azure_ask(&request, creation->call, &exchange, NULL);
    const bool gone = status == SILT_OK && exchange.request.code == 404 &&
                      sl_azure_code_in(sl_azure_answer_code(&request), "PathNotFound BlobNotFound");
    sl_exchange_release(&exchange);
    sl_azure_request_release(&request);
    return gone;
}

/* Where did the temporary file go, if the rename was not done, as its answer says? */
static silt_status rename_or_remove(const struct creation *creation, silt_put_outcome *outcome, silt_error *err)
{
    const silt_status status = rename_temp(creation, outcome, err);
    if (status == SILT_OK && *outcome == SILT_PUT_DONE) {
        return SILT_OK;
    }
    if (!remove_temp(creation) || (status == SILT_OK && *outcome == SILT_PUT_AMBIGUOUS)) {
        return status;
    }
    if (status == SILT_OK) {
        sl_ignore(sl_fail(err, SILT_EIO, NULL, "account %s calls %.*s taken, and what was to be renamed to it is gone",
                          creation->access->account, SL_FMT(creation->path)));
    }
    *outcome = SILT_PUT_AMBIGUOUS;
    return SILT_OK;
}

silt_status sl_azure_create_by_rename(struct sl_azure *azure, struct sl_azure_access *access, const silt_call *call,
                                      struct sl_str path, const struct sl_azure_content *content,
                                      silt_put_outcome *outcome, silt_error *err)
{
    struct creation creation = {.azure = azure, .access = access, .call = call, .path = path, .content = content};
    char uuid[SL_UUID_TEXT_SIZE];
    struct sl_buf temp;
    SL_TRY(sl_uuid_make(azure->context->env, uuid, err));
    sl_buf_init(&temp, azure->context->env);
    size_t folder = path.len;
    while (folder > 0 && path.ptr[folder - 1] != '/') {
        folder--;
    }
    sl_buf_put_str(&temp, sl_str_sub(path, 0, folder));
    sl_buf_printf(&temp, ".silt-%s.tmp", uuid);
    *outcome = SILT_PUT_AMBIGUOUS;
    silt_status status = sl_buf_status(&temp, err);
    if (status == SILT_OK) {
        creation.temp = sl_buf_view(&temp);
        status = fill_temp(&creation, err);
        if (status == SILT_OK) {
            status = rename_or_remove(&creation, outcome, err);
        } else {
            (void)remove_temp(&creation);
        }
    }
    sl_buf_release(&temp);
    return status;
}
