/*
 * What credentials are read from: answers of token services and of machines' metadata, what programs print, files of keys and profiles. What is taken is
 * whole and can be sent; an error never repeats what stood in the text: seeds and dictionary have the word HUSHHUSH for a secret.
 */
#include <string.h>

#include "base/error.h"
#include "storage/remote/azure/azure_grant.h"
#include "storage/remote/gcs/gcs_credentials.h"
#include "storage/remote/s3/aws_metadata.h"
#include "storage/remote/s3/aws_process.h"
#include "storage/remote/s3/aws_profile.h"
#include "storage/remote/s3/aws_sts.h"
#include "support/fuzz.h"

#define SECRET "HUSHHUSH"

static void check_error(silt_status status, const silt_error *err)
{
    FUZZ_CHECK(status == SILT_OK || err->status == status);
    FUZZ_CHECK(strstr(err->message, SECRET) == NULL && strstr(err->hint, SECRET) == NULL);
}

typedef silt_status (*reader)(const silt_env *env, struct sl_str text, struct sl_credential **out, silt_error *err);

static void check_aws(reader read, struct sl_str text)
{
    silt_error err = SILT_ERROR_INIT;
    struct sl_credential *got = NULL;
    const silt_status status = read(fuzz_env(), text, &got, &err);
    check_error(status, &err);
    FUZZ_CHECK((status == SILT_OK) == (got != NULL));
    if (got != NULL) {
        FUZZ_CHECK(got->id != NULL && got->id[0] != '\0' && got->secret != NULL && got->secret[0] != '\0');
        sl_credential_unref(got);
    }
}

static void check_token(silt_status status, const struct sl_buf *token, const silt_error *err)
{
    check_error(status, err);
    FUZZ_CHECK(status != SILT_OK || token->len > 0);
    for (size_t i = 0; status == SILT_OK && i < token->len; i++) {
        FUZZ_CHECK(token->data[i] > ' ' && token->data[i] <= '~');
    }
}

static void check_azure(struct fuzz_input *in, size_t kind)
{
    silt_error err = SILT_ERROR_INIT;
    struct sl_buf token;
    int64_t expires_us = 0;
    bool found = false;
    sl_buf_init(&token, fuzz_env());
    if (kind == 0) {
        const struct sl_azure_grant grant = {.kind = SL_AZURE_GRANT_SECRET};
        struct sl_http_request answer = {.code = fuzz_byte(in) < 128 ? 200 : 401};
        sl_buf_init(&answer.answer, fuzz_env());
        sl_buf_put_str(&answer.answer, fuzz_rest(in));
        check_token(sl_azure_grant_answer(&grant, &answer, fuzz_env(), &token, &expires_us, &err), &token, &err);
        sl_buf_release(&answer.answer);
    } else if (kind == 1) {
        check_token(sl_azure_cli_answer(fuzz_rest(in), fuzz_env(), &token, &expires_us, &err), &token, &err);
    } else {
        const silt_status status = sl_azure_cli_cache(fuzz_rest(in), NULL, fuzz_env(), &token, &expires_us, &found,
                                                      &err);
        check_error(status, &err);
        FUZZ_CHECK(found == (token.len > 0 && status == SILT_OK));
    }
    sl_buf_release(&token);
}

static void check_google(struct sl_str text, bool key)
{
    silt_error err = SILT_ERROR_INIT;
    if (key) {
        struct sl_gcs_credentials credentials;
        struct sl_arena arena;
        sl_arena_init(&arena, fuzz_env());
        const silt_status status = sl_gcs_read_key(fuzz_env(), text, "the key", &arena, &credentials, &err);
        if (status != SILT_EUNSUPPORTED) { /* which names the kind of key that it is not, and nothing else */
            check_error(status, &err);
        }
        sl_arena_release(&arena);
        return;
    }
    struct sl_buf token;
    int64_t lifetime_us = 0;
    sl_buf_init(&token, fuzz_env());
    const silt_status status = sl_gcs_read_token(fuzz_env(), text, &token, &lifetime_us, &err);
    check_token(status, &token, &err);
    FUZZ_CHECK(status != SILT_OK || lifetime_us > 0);
    sl_buf_release(&token);
}

static void check_profile(struct sl_str text)
{
    struct sl_aws_files files = {0};
    sl_buf_init(&files.credentials, fuzz_env());
    sl_buf_init(&files.config, fuzz_env());
    sl_buf_put_str(&files.credentials, text);
    sl_buf_put_str(&files.config, text);
    const struct sl_str value = sl_aws_profile_get(&files, SL_STR("p"), "role_arn");
    FUZZ_CHECK(value.len == 0 || sl_aws_profile_exists(&files, SL_STR("p")));
    FUZZ_CHECK(memchr(value.ptr != NULL ? value.ptr : "", '\n', value.len) == NULL);
    sl_aws_files_release(&files);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const reader readers[] = {sl_aws_credential_parse, sl_aws_process_parse, sl_aws_sts_parse};
    struct fuzz_input in = fuzz_input_of(data, size);
    const size_t kind = fuzz_pick(&in, 9);
    if (kind < 3) {
        check_aws(readers[kind], fuzz_rest(&in));
    } else if (kind < 6) {
        check_azure(&in, kind - 3);
    } else if (kind < 8) {
        check_google(fuzz_rest(&in), kind == 6);
    } else {
        check_profile(fuzz_rest(&in));
    }
    return 0;
}
