/* Credentials that a program prints. Any thread; nothing is kept. */
#include "storage/remote/s3/aws_process.h"

#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "json/json.h"
#include "storage/remote/command.h"

silt_status sl_aws_process_parse(const silt_env *env, struct sl_str json, struct sl_credential **out, silt_error *err)
{
    *out = NULL;
    struct sl_json_doc *doc = NULL;
    int64_t version = 0;
    int64_t expires_us = 0;
    bool has_zone = false;
    const silt_status parsed = sl_json_parse(env, json, &doc, NULL); /* what it says of the text may be a secret */
    if (parsed != SILT_OK) {
        return parsed == SILT_ENOMEM ? sl_fail_nomem(err)
                                     : sl_fail(err, SILT_EACCESS, NULL, "what it printed is no JSON");
    }
    const sl_json *root = sl_json_root(doc);
    struct sl_str parts[3] = {sl_json_member_text(root, "AccessKeyId"), sl_json_member_text(root, "SecretAccessKey"),
                              sl_json_member_text(root, "SessionToken")};
    const struct sl_str expires = sl_json_member_text(root, "Expiration");
    parts[2] = parts[2].len > 0 ? parts[2] : (struct sl_str){0};
    silt_status status = SILT_OK;
    if (!sl_json_to_i64(sl_json_member(root, "Version"), &version) || version != 1) {
        status = sl_fail(err, SILT_EACCESS, NULL, "it printed no credentials of version 1");
    } else if (parts[0].len == 0 || parts[1].len == 0) {
        status = sl_fail(err, SILT_EACCESS, NULL, "it printed no AccessKeyId, or no SecretAccessKey");
    } else if (expires.ptr != NULL && !sl_timestamp_parse(expires, &expires_us, &has_zone)) {
        status = sl_fail(err, SILT_EACCESS, NULL, "it printed an Expiration that is no time");
    } else {
        status = sl_credential_new(env, parts, expires_us, out, err);
    }
    sl_json_free(doc);
    return status;
}

static silt_status run(const silt_env *env, const silt_call *call, const char *text, struct sl_buf *printed,
                       silt_error *err)
{
    const char *const argv[] = {"sh", "-c", text, NULL};
    const struct sl_command command = {argv, "credential_process"};
    int code = 0;
    SL_TRY(sl_command_run(env, call, &command, printed, &code, err));
    return code == 0 ? SILT_OK : sl_fail(err, SILT_EACCESS, NULL, "it ended with %d", code);
}

silt_status sl_aws_process_fetch(const silt_env *env, const silt_call *call, struct sl_str profile,
                                 struct sl_str command, struct sl_credential **out, silt_error *err)
{
    *out = NULL;
    struct sl_buf printed;
    sl_buf_init(&printed, env);
    char *text = sl_strdup_len(env, command.ptr, command.len);
    silt_status status = text != NULL ? run(env, call, text, &printed, err) : sl_fail_nomem(err);
    if (status == SILT_OK) {
        status = sl_aws_process_parse(env, sl_buf_view(&printed), out, err);
    }
    if (status == SILT_EACCESS || status == SILT_EIO) {
        sl_error_context(err, "credential_process of AWS profile %.*s", SL_FMT(profile));
    }
    if (printed.data != NULL) {
        explicit_bzero(printed.data, printed.cap);
    }
    sl_buf_release(&printed);
    sl_release(env, text, command.len + 1);
    return status;
}
