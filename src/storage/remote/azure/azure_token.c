/* Fetching tokens. Any thread; the cache of credentials sees to it that one at a time does. */
#include "storage/remote/azure/azure_token.h"

#include "base/error.h"
#include "storage/remote/errand.h"

#define MAX_ASSERTION 65536
#define MAX_ANSWER ((size_t)1 << 20)
#define TIME_US INT64_C(30000000)
#define IMPLIED_TIME_US INT64_C(5000000) /* for a managed identity that nobody asked for: elsewhere nobody answers */

static silt_status explain_implied(const silt_error *reason, silt_error *err)
{
    const silt_status status = sl_fail(
        err, SILT_EACCESS, NULL,
        "no credentials for Azure storage were given, and there is no managed identity: %.300s", reason->message);
    sl_error_hint(err, "give azure_storage_account_key, azure_storage_sas_token, azure_client_id with its secret, "
                       "azure_use_azure_cli or another of the options that docs/stores.md lists");
    return status;
}

/* Asks; what was read and made for that lives in the arena and in `assertion`. */
static silt_status ask(const struct sl_azure_token_source *source, const silt_call *call, struct sl_arena *arena,
                       struct sl_buf *token, int64_t *expires_us, silt_error *err)
{
    const struct sl_azure_grant *grant = &source->grant;
    const struct sl_errand_options options = {.timeout_us = grant->implied ? IMPLIED_TIME_US : TIME_US,
                                              .max_attempts = grant->implied ? 2 : 5};
    struct sl_http_request request = {.max_answer = MAX_ANSWER};
    struct sl_exchange exchange = {0};
    struct sl_buf assertion;
    sl_buf_init(&assertion, source->context->env);
    silt_status status = SILT_OK;
    if (grant->kind == SL_AZURE_GRANT_FEDERATED) {
        /* Each time anew: whoever issues it replaces it before it expires. */
        status = sl_azure_read_file(grant->token_file, MAX_ASSERTION, &assertion, err);
    }
    if (status == SILT_OK) {
        status = sl_azure_grant_request(grant, sl_str_trim(sl_buf_view(&assertion)), arena, &request, err);
    }
    if (status == SILT_OK) {
        status = sl_errand(source->context, call, &request, &options, &exchange, err);
        if (status == SILT_OK) {
            status = sl_azure_grant_answer(grant, &exchange.request, source->context->env, token, expires_us, err);
        }
        sl_exchange_release(&exchange);
    }
    sl_buf_release(&assertion);
    return status;
}

static silt_status get_text(const struct sl_azure_token_source *source, const silt_call *call, struct sl_buf *token,
                            int64_t *expires_us, silt_error *err)
{
    const struct sl_azure_grant *grant = &source->grant;
    if (grant->kind == SL_AZURE_GRANT_FIXED) {
        sl_buf_put_c(token, grant->token);
        return sl_buf_status(token, err);
    }
    if (grant->kind == SL_AZURE_GRANT_CLI) {
        return sl_azure_cli_token(grant, source->context->env, call, token, expires_us, err);
    }
    struct sl_arena arena;
    silt_error reason = SILT_ERROR_INIT;
    sl_arena_init(&arena, source->context->env);
    silt_status status = ask(source, call, &arena, token, expires_us, &reason);
    if (grant->implied && (status == SILT_EIO || status == SILT_EACCESS)) {
        status = explain_implied(&reason, err);
    } else if (status != SILT_OK && err != NULL) {
        *err = reason;
    }
    sl_arena_release(&arena);
    return status;
}

silt_status sl_azure_token_fetch(void *ctx, const silt_call *call, struct sl_credential **out, silt_error *err)
{
    const struct sl_azure_token_source *source = ctx;
    int64_t expires_us = 0;
    struct sl_buf token;
    *out = NULL;
    sl_buf_init(&token, source->context->env);
    silt_status status = get_text(source, call, &token, &expires_us, err);
    if (status == SILT_OK) {
        const struct sl_str parts[3] = {{0}, {0}, sl_buf_view(&token)};
        status = sl_credential_new(source->context->env, parts, expires_us, out, err);
    }
    sl_buf_release(&token);
    return status;
}
