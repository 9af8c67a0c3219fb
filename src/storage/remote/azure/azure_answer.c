/*
 * What answers that are no good mean. The Blob service says why in a header and in XML, the Data Lake service in a header and in JSON; a HEAD has the header
 * only. Nothing of a server's own text goes into a message but its code, which is a word. Pure but for the clock.
 */
#include <string.h>

#include "base/env.h"
#include "base/error.h"
#include "json/json.h"
#include "storage/remote/azure/azure_request.h"
#include "storage/remote/azure/azure_text.h"
#include "storage/remote/http_fields.h"
#include "storage/remote/xml.h"

#define MAX_SKEW_US INT64_C(300000000) /* the service takes 15 minutes; a machine that is off by 5 is off */

/* ---- the server's code ---- */

struct code_pass {
    struct sl_arena *arena;
    struct sl_str code;
};

static silt_status on_end(void *ctx, struct sl_str path, struct sl_str text, silt_error *err)
{
    struct code_pass *pass = ctx;
    (void)err;
    if (sl_str_eq_c(path, "Error/Code")) {
        pass->code = sl_arena_copy(pass->arena, text);
    }
    return SILT_OK;
}

static struct sl_str code_of_body(struct sl_azure_request *request)
{
    const struct sl_str body = sl_buf_view(&request->exchange->request.answer);
    const silt_env *env = request->context->env;
    struct code_pass pass = {.arena = &request->arena};
    const struct sl_xml_handler handler = {.on_end = on_end, .ctx = &pass};
    struct sl_json_doc *doc = NULL;
    if (body.len == 0) {
        return pass.code;
    }
    /* A body that is neither says nothing: the HTTP code is what is left. */
    if (body.ptr[0] == '{' && sl_json_parse(env, body, &doc, NULL) == SILT_OK) {
        pass.code = sl_arena_copy(&request->arena,
                                  sl_json_member_text(sl_json_member(sl_json_root(doc), "error"), "code"));
    } else {
        sl_ignore(sl_xml_read(env, body, &handler, NULL));
    }
    sl_json_free(doc);
    return pass.code;
}

struct sl_str sl_azure_answer_code(struct sl_azure_request *request)
{
    const struct sl_str header = sl_azure_clean_code(sl_http_header(&request->exchange->request, "x-ms-error-code"));
    return header.len > 0 ? header : sl_azure_clean_code(code_of_body(request));
}

bool sl_azure_code_in(struct sl_str code, const char *words)
{
    struct sl_str list = sl_str_from(words);
    while (list.len > 0 && code.len > 0) {
        const size_t space = sl_str_find(list, SL_STR(" "));
        if (sl_str_eq(sl_str_sub(list, 0, space != SIZE_MAX ? space : list.len), code)) {
            return true;
        }
        list = sl_str_sub(list, space != SIZE_MAX ? space + 1 : list.len, list.len);
    }
    return false;
}

/* ---- errors ---- */

static silt_status fail_missing(struct sl_azure_request *request, struct sl_str code, silt_error *err)
{
    const struct sl_azure_access *access = request->access;
    /* Of a listing, whose folder is no part of what is asked for. */
    if (request->path.len == 0 && sl_azure_code_in(code, "PathNotFound")) {
        return sl_fail(err, SILT_ENOTFOUND, NULL,
                       "there is no such folder in container %s of account %s (HTTP 404 %.*s)", access->container,
                       access->account, SL_FMT(code));
    }
    if (sl_azure_code_in(code, "ContainerNotFound FilesystemNotFound ContainerBeingDeleted FilesystemBeingDeleted") ||
        request->path.len == 0) {
        return sl_fail(err, SILT_ENOTFOUND, SL_BUCKET_NOT_FOUND,
                       "container %s does not exist in account %s (HTTP %d%s%.*s)", access->container, access->account,
                       request->exchange->request.code, code.len > 0 ? " " : "", SL_FMT(code));
    }
    return sl_fail(err, SILT_ENOTFOUND, NULL, "there is no file %.*s in container %s of account %s (HTTP 404%s%.*s)",
                   SL_FMT(request->path), access->container, access->account, code.len > 0 ? " " : "", SL_FMT(code));
}

/* A signature is good for a while only: a clock that is wrong looks like a wrong key. */
static bool hint_at_clock(const struct sl_azure_request *request, silt_error *err)
{
    int64_t seconds = 0;
    const struct sl_str date = sl_http_header(&request->exchange->request, "date");
    if (date.ptr == NULL || !sl_http_date_parse(date, &seconds)) {
        return false;
    }
    const int64_t ahead_us = sl_now_us(request->context->env) - seconds * 1000000;
    if (ahead_us > -MAX_SKEW_US && ahead_us < MAX_SKEW_US) {
        return false;
    }
    sl_error_hint(err, "this machine's clock is %lld minutes %s that of the service",
                  (long long)((ahead_us > 0 ? ahead_us : -ahead_us) / 60000000), ahead_us > 0 ? "ahead of" : "behind");
    return true;
}

static silt_status fail_refused(struct sl_azure_request *request, struct sl_str code, silt_error *err)
{
    static const char *const what[] = {"without credentials", "with the key of the account",
                                       "with the shared access signature", "with the token"};
    const struct sl_azure_access *access = request->access;
    const char *slash = request->path.len > 0 ? "/" : "";
    const silt_status status = sl_fail(err, SILT_EACCESS, NULL,
                                       "account %s refused access to %s%s%.*s %s (HTTP %d%s%.*s)", access->account,
                                       access->container, slash, SL_FMT(request->path), what[access->auth],
                                       request->exchange->request.code, code.len > 0 ? " " : "", SL_FMT(code));
    if (hint_at_clock(request, err)) {
        return status;
    }
    if (sl_azure_code_in(code, "AccountIsDisabled")) {
        sl_error_hint(err, "the account is disabled");
    } else if (sl_azure_code_in(code, "AuthorizationFailure")) {
        sl_error_hint(err, "the credentials are wrong, or the account's firewall does not let this machine in");
    } else if (sl_azure_code_in(code, "AuthorizationPermissionMismatch InsufficientAccountPermissions")) {
        sl_error_hint(err, "the credentials are known, but do not have this right");
    } else if (sl_azure_code_in(code, "KeyBasedAuthenticationNotPermitted")) {
        sl_error_hint(err, "the account takes no keys: use a token");
    } else if (sl_azure_code_in(code, "AuthenticationFailed InvalidAuthenticationInfo NoAuthenticationInformation")) {
        sl_error_hint(err, "check the account's name and what is given to log in, and whether it has expired");
    }
    return status;
}

static silt_status fail_other(struct sl_azure_request *request, struct sl_str code, silt_error *err)
{
    const struct sl_azure_access *access = request->access;
    const int http_code = request->exchange->request.code;
    const bool name = sl_azure_code_in(code,
                                       "InvalidResourceName InvalidUri OutOfRangeInput InvalidSourceUri InvalidInput");
    const bool taken = http_code == 409 &&
                       sl_azure_code_in(code, "BlobAlreadyExists PathAlreadyExists ResourceAlreadyExists");
    const silt_status status = sl_fail(err,
                                       name               ? SILT_EINVALID
                                       : taken            ? SILT_EEXISTS
                                       : http_code == 413 ? SILT_ELIMIT
                                                          : SILT_EIO,
                                       NULL, "account %s answered HTTP %d%s%.*s about %s%s%.*s", access->account,
                                       http_code, code.len > 0 ? " " : "", SL_FMT(code), access->container,
                                       request->path.len > 0 ? "/" : "", SL_FMT(request->path));
    if (http_code == 429 || http_code == 503) {
        sl_error_hint(err, "the service is busy: tried %u times", (unsigned)request->exchange->attempts);
    } else if (sl_azure_code_in(code, "InvalidHeaderValue")) {
        sl_error_hint(err, "a service that does not know version %s of the interface takes another one by option %s",
                      access->version, sl_option_name(SL_OPTION_AZURE_SERVICE_VERSION));
    }
    return status;
}

static silt_status fail_unanswered(struct sl_azure_request *request, silt_error *err)
{
    const struct sl_exchange *exchange = request->exchange;
    if (err != NULL) {
        *err = exchange->error;
    }
    if (strncmp(exchange->error.message, "cannot resolve host", 19) == 0) {
        sl_error_hint(err, "is \"%s\" the name of the account? a host is known for each account that exists",
                      request->access->account);
    }
    return exchange->status;
}

/*
 * The code with which both services say that they did what was asked. Any other of 200 to 299 comes from somebody between here and there,
 * and is no content, no folder without a file, nothing that was written.
 */
static bool is_done(const struct sl_http_request *request)
{
    static const struct {
        const char *method;
        int codes[3];
    } known[] = {
        {"GET", {200, 206, 206}},   {"HEAD", {200, 200, 200}},   {"PUT", {200, 201, 202}},
        {"PATCH", {200, 201, 202}}, {"DELETE", {200, 202, 204}},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(known[i].method, request->method) == 0) {
            const int *codes = known[i].codes;
            return request->code == codes[0] || request->code == codes[1] || request->code == codes[2];
        }
    }
    return false;
}

silt_status sl_azure_judge(struct sl_azure_request *request, silt_error *err)
{
    const struct sl_exchange *exchange = request->exchange;
    const int http_code = exchange->request.code;
    if (exchange->status != SILT_OK) {
        return fail_unanswered(request, err);
    }
    if (is_done(&exchange->request)) {
        return SILT_OK;
    }
    const struct sl_str code = sl_azure_answer_code(request);
    silt_status status = SILT_OK;
    if (http_code == 404 || sl_azure_code_in(code, "ContainerBeingDeleted FilesystemBeingDeleted")) {
        status = fail_missing(request, code, err);
    } else if (http_code == 401 || http_code == 403) {
        status = fail_refused(request, code, err);
    } else {
        status = fail_other(request, code, err);
    }
    if (err != NULL) {
        err->sys_code = http_code;
    }
    return status;
}
