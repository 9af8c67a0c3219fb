/*
 * The chain of AWS credentials. Every step either has nothing to say (SILT_OK with no credential), gives one, or fails: a step that is
 * configured and does not work is an error, not a reason to go on with somebody else's rights. Any thread.
 */
#include "storage/remote/s3/aws_credentials.h"

#include "base/buf.h"
#include "base/error.h"
#include "storage/remote/s3/aws_metadata.h"
#include "storage/remote/s3/aws_process.h"
#include "storage/remote/s3/aws_profile.h"
#include "storage/remote/s3/aws_sts.h"
#include "storage/remote/remote_trace.h"

#define MAX_ROLES 5 /* one assumed by the other, in profiles */
#define MAX_TOKEN 65536

/* Options or environment, never parts of both: a key of one does not fit the other's token. */
static silt_status take_static(const struct sl_aws_chain *chain, bool given, struct sl_credential **out,
                               silt_error *err)
{
    static const enum sl_option ids[3] = {SL_OPTION_S3_ACCESS_KEY, SL_OPTION_S3_SECRET_KEY, SL_OPTION_S3_SESSION_TOKEN};
    struct sl_str parts[3];
    for (size_t i = 0; i < 3; i++) {
        parts[i] = sl_str_from(given ? sl_option_given(chain->context->options, ids[i], chain->bucket)
                                     : sl_option_get(chain->context->options, ids[i], chain->bucket));
        if (parts[i].len == 0) {
            parts[i] = (struct sl_str){0};
        }
    }
    if (parts[0].ptr == NULL && parts[1].ptr == NULL) {
        return SILT_OK;
    }
    if (parts[0].ptr == NULL || parts[1].ptr == NULL) {
        return sl_fail(err, SILT_EACCESS, NULL, "%s is set without %s",
                       sl_option_name(parts[0].ptr != NULL ? ids[0] : ids[1]),
                       sl_option_name(parts[0].ptr != NULL ? ids[1] : ids[0]));
    }
    return sl_credential_new(chain->context->env, parts, 0, out, err);
}

static silt_status take_given(const struct sl_aws_chain *chain, const silt_call *call, struct sl_credential **out,
                              silt_error *err)
{
    (void)call;
    return take_static(chain, true, out, err);
}

static silt_status take_environment(const struct sl_aws_chain *chain, const silt_call *call, struct sl_credential **out,
                                    silt_error *err)
{
    (void)call;
    return take_static(chain, false, out, err);
}

static struct sl_str find_region(const struct sl_aws_chain *chain)
{
    return sl_str_from(sl_option_get(chain->context->options, SL_OPTION_S3_REGION, chain->bucket));
}

/* For the token in a file. */
static silt_status take_role_by_token(const struct sl_aws_chain *chain, const silt_call *call, const char *file,
                                      const struct sl_aws_role *role, struct sl_credential **out, silt_error *err)
{
    struct sl_buf token;
    sl_buf_init(&token, chain->context->env);
    silt_status status = sl_aws_file_read(file, MAX_TOKEN, &token, err);
    const struct sl_str text = sl_str_trim(sl_buf_view(&token));
    if (status == SILT_OK && text.len == 0) {
        status = sl_fail(err, SILT_EACCESS, NULL, "the web identity token file %s is empty", file);
    }
    if (status == SILT_OK) {
        status = sl_aws_assume_role(chain->context, call, role, NULL, text, out, err);
    }
    sl_buf_release(&token);
    return status;
}

static silt_status take_web_identity(const struct sl_aws_chain *chain, const silt_call *call,
                                     struct sl_credential **out, silt_error *err)
{
    const struct sl_remote_options *options = chain->context->options;
    const char *file = sl_option_get(options, SL_OPTION_S3_TOKEN_FILE, chain->bucket);
    const char *arn = sl_option_get(options, SL_OPTION_S3_ROLE, chain->bucket);
    if (file == NULL) {
        return SILT_OK;
    }
    if (arn == NULL) {
        return sl_fail(err, SILT_EACCESS, NULL, "%s is set without %s", sl_option_name(SL_OPTION_S3_TOKEN_FILE),
                       sl_option_name(SL_OPTION_S3_ROLE));
    }
    const struct sl_aws_role role = {
        .arn = sl_str_from(arn),
        .session = sl_str_from(sl_option_get(options, SL_OPTION_S3_ROLE_SESSION, chain->bucket)),
        .region = find_region(chain)};
    return take_role_by_token(chain, call, file, &role, out, err);
}

/* ---- profiles ---- */

struct walk {
    const struct sl_aws_chain *chain;
    const silt_call *call;
    const struct sl_aws_files *files;
};

static silt_status take_keys(const struct walk *walk, struct sl_str profile, struct sl_credential **out,
                             silt_error *err)
{
    struct sl_str parts[3] = {sl_aws_profile_get(walk->files, profile, "aws_access_key_id"),
                              sl_aws_profile_get(walk->files, profile, "aws_secret_access_key"),
                              sl_aws_profile_get(walk->files, profile, "aws_session_token")};
    if (parts[0].len == 0 && parts[1].len == 0) {
        return SILT_OK;
    }
    if (parts[0].len == 0 || parts[1].len == 0) {
        return sl_fail(err, SILT_EACCESS, NULL, "AWS profile %.*s has half a pair of keys", SL_FMT(profile));
    }
    if (parts[2].len == 0) {
        parts[2] = (struct sl_str){0};
    }
    return sl_credential_new(walk->chain->context->env, parts, 0, out, err);
}

/* What other tools do and silt does not. */
static silt_status refuse_others(const struct walk *walk, struct sl_str profile, silt_error *err)
{
    static const char *const keys[] = {"sso_session", "sso_start_url", "credential_source", "login_session"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (sl_aws_profile_get(walk->files, profile, keys[i]).len > 0) {
            const silt_status status = sl_fail(err, SILT_EUNSUPPORTED, NULL,
                                               "AWS profile %.*s uses %s, which silt does not know", SL_FMT(profile),
                                               keys[i]);
            sl_error_hint(err, "`aws configure export-credentials --profile NAME --format env` gives variables that "
                               "silt takes; as credential_process of a profile, with --format process, it renews them");
            return status;
        }
    }
    return SILT_OK;
}

/* The profile's own program, if it names one; else what silt does not know is refused. */
static silt_status take_process(const struct walk *walk, struct sl_str profile, struct sl_credential **out,
                                silt_error *err)
{
    const struct sl_str command = sl_aws_profile_get(walk->files, profile, "credential_process");
    if (command.len == 0) {
        return refuse_others(walk, profile, err);
    }
    return sl_aws_process_fetch(walk->chain->context->env, walk->call, profile, command, out, err);
}

static silt_status take_profile_role(const struct walk *walk, struct sl_str profile, const struct sl_credential *base,
                                     struct sl_credential **out, silt_error *err)
{
    struct sl_str region = find_region(walk->chain);
    const struct sl_aws_role role = {.arn = sl_aws_profile_get(walk->files, profile, "role_arn"),
                                     .session = sl_aws_profile_get(walk->files, profile, "role_session_name"),
                                     .external_id = sl_aws_profile_get(walk->files, profile, "external_id"),
                                     .region = region.len > 0 ? region
                                                              : sl_aws_profile_get(walk->files, profile, "region")};
    const struct sl_str file = sl_aws_profile_get(walk->files, profile, "web_identity_token_file");
    if (base != NULL) {
        return sl_aws_assume_role(walk->chain->context, walk->call, &role, base, (struct sl_str){0}, out, err);
    }
    struct sl_buf path;
    sl_buf_init(&path, walk->chain->context->env);
    sl_buf_put_str(&path, file);
    silt_status status = sl_buf_status(&path, err);
    if (status == SILT_OK) {
        status = take_role_by_token(walk->chain, walk->call, sl_buf_cstr(&path), &role, out, err);
    }
    sl_buf_release(&path);
    return status;
}

/*
 * A profile without a role gives its keys. One with a role names the profile that may take it on, which may have a role itself: the names are
 * followed to the end, and the roles taken on the way back.
 */
static silt_status take_profile(const struct walk *walk, struct sl_str profile, struct sl_credential **out,
                                silt_error *err)
{
    struct sl_str roles[MAX_ROLES];
    size_t n = 0;
    for (;;) {
        const struct sl_str source = sl_aws_profile_get(walk->files, profile, "source_profile");
        if (sl_aws_profile_get(walk->files, profile, "role_arn").len == 0) {
            break;
        }
        if (n == MAX_ROLES) {
            return sl_fail(err, SILT_EACCESS, NULL, "AWS profile %.*s: more than %d roles, one by the other",
                           SL_FMT(roles[0]), MAX_ROLES);
        }
        if (source.len == 0 && sl_aws_profile_get(walk->files, profile, "web_identity_token_file").len == 0) {
            SL_TRY(refuse_others(walk, profile, err));
            return sl_fail(err, SILT_EACCESS, NULL, "AWS profile %.*s has a role and no source_profile",
                           SL_FMT(profile));
        }
        roles[n++] = profile;
        if (source.len == 0 || sl_str_eq(source, profile)) { /* its own keys take it on */
            break;
        }
        profile = source;
    }
    if (n > 0 && !sl_aws_profile_exists(walk->files, profile)) {
        return sl_fail(err, SILT_EACCESS, NULL, "there is no AWS profile %.*s", SL_FMT(profile));
    }
    struct sl_credential *current = NULL;
    silt_status status = take_keys(walk, profile, &current, err);
    if (status == SILT_OK && current == NULL) {
        status = take_process(walk, profile, &current, err);
    }
    while (status == SILT_OK && n > 0) {
        struct sl_credential *next = NULL;
        status = take_profile_role(walk, roles[--n], current, &next, err);
        sl_credential_unref(current);
        current = next;
    }
    *out = current;
    return status;
}

static silt_status take_files(const struct sl_aws_chain *chain, const silt_call *call, struct sl_credential **out,
                              silt_error *err)
{
    struct sl_aws_files files = {0};
    const struct walk walk = {chain, call, &files};
    const struct sl_str profile = sl_str_from(sl_aws_profile_name(chain->context));
    silt_status status = sl_aws_files_read(chain->context, &files, err);
    if (status == SILT_OK && sl_aws_profile_exists(&files, profile)) {
        status = take_profile(&walk, profile, out, err);
    } else if (status == SILT_OK && sl_option_get(chain->context->options, SL_OPTION_S3_PROFILE, NULL) != NULL) {
        status = sl_fail(err, SILT_EACCESS, NULL, "there is no AWS profile %.*s", SL_FMT(profile));
    }
    sl_aws_files_release(&files);
    return status;
}

/* ---- the chain ---- */

static silt_status take_container(const struct sl_aws_chain *chain, const silt_call *call, struct sl_credential **out,
                                  silt_error *err)
{
    return sl_aws_container_is_set(chain->context) ? sl_aws_container_fetch(chain->context, call, out, err) : SILT_OK;
}

static silt_status take_instance(const struct sl_aws_chain *chain, const silt_call *call, struct sl_credential **out,
                                 silt_error *err)
{
    bool disabled = false;
    SL_TRY(sl_option_bool(chain->context->options, SL_OPTION_S3_METADATA_DISABLED, NULL, &disabled, err));
    if (disabled) {
        return SILT_OK;
    }
    const silt_status status = sl_aws_instance_fetch(chain->context, call, out, err);
    if (status == SILT_ENOTFOUND) {
        silt_error_reset(err);
        return SILT_OK;
    }
    return status;
}

struct provider {
    const char *name;
    silt_status (*take)(const struct sl_aws_chain *chain, const silt_call *call, struct sl_credential **out,
                        silt_error *err);
    const char *absent; /* why it has nothing to say */
    bool ambient;       /* of the process, not of an option: not asked when an option names a profile */
};

static const struct provider providers[] = {
    {"options", take_given, "no keys among the options", false},
    {"environment", take_environment, "AWS_ACCESS_KEY_ID is not set", true},
    {"web identity", take_web_identity, "AWS_WEB_IDENTITY_TOKEN_FILE is not set", true},
    {"profile", take_files, "no such profile in ~/.aws/credentials and ~/.aws/config, or it has no credentials", false},
    {"container", take_container, "no AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or …_FULL_URI", false},
    {"instance metadata", take_instance, "switched off, or nobody answers: this is no EC2 instance with a role", false},
};

static silt_status fail_absent(const struct sl_aws_chain *chain, silt_error *err)
{
    const silt_status status = sl_fail(err, SILT_EACCESS, NULL,
                                       "no AWS credentials were found for bucket %s: looked at options, "
                                       "AWS_ACCESS_KEY_ID, AWS_WEB_IDENTITY_TOKEN_FILE, profile %s, the container's "
                                       "endpoint and the instance's metadata",
                                       chain->bucket, sl_aws_profile_name(chain->context));
    sl_error_hint(err, "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or aws_skip_signature=true "
                       "for a public bucket");
    sl_trace_failure(chain->context, "credentials", "", err);
    return status;
}

static silt_status take_base(const struct sl_aws_chain *chain, const silt_call *call, struct sl_credential **out,
                             silt_error *err)
{
    const bool named = sl_option_given(chain->context->options, SL_OPTION_S3_PROFILE, NULL) != NULL;
    for (size_t i = 0; i < sizeof(providers) / sizeof(providers[0]); i++) {
        const struct provider *provider = &providers[i];
        if (provider->ambient && named) {
            sl_trace_note(chain->context, SILT_DOCTOR_SKIPPED, "credentials", provider->name,
                          "not asked, as an option names a profile");
            continue;
        }
        const silt_status status = provider->take(chain, call, out, err);
        sl_trace_credential(chain->context, provider->name, status, *out, provider->absent, err);
        if (status != SILT_OK || *out != NULL) {
            return status;
        }
    }
    return fail_absent(chain, err);
}

silt_status sl_aws_credentials_fetch(void *ctx, const silt_call *call, struct sl_credential **out, silt_error *err)
{
    const struct sl_aws_chain *chain = ctx;
    const struct sl_remote_options *options = chain->context->options;
    *out = NULL;
    SL_TRY(take_base(chain, call, out, err));
    /* A role that was asked for by option is taken on by what was found; in the environment it belongs to the web identity. */
    const char *arn = sl_option_given(options, SL_OPTION_S3_ROLE, chain->bucket);
    if (arn == NULL || sl_option_get(options, SL_OPTION_S3_TOKEN_FILE, chain->bucket) != NULL) {
        return SILT_OK;
    }
    const struct sl_aws_role role = {
        .arn = sl_str_from(arn),
        .session = sl_str_from(sl_option_get(options, SL_OPTION_S3_ROLE_SESSION, chain->bucket)),
        .region = find_region(chain)};
    struct sl_credential *base = *out;
    const silt_status status = sl_aws_assume_role(chain->context, call, &role, base, (struct sl_str){0}, out, err);
    sl_trace_credential(chain->context, "role", status, *out, "", err);
    sl_credential_unref(base);
    return status;
}
