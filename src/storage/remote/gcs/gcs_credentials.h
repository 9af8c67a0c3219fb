/*
 * Credentials of Google Cloud: which there are, and how each comes by a token.
 *
 * In this order: none at all (google_skip_signature), a bearer token, a key in the options, a file (of an option, of
 * GOOGLE_APPLICATION_CREDENTIALS, of `gcloud auth application-default login`), the metadata server of a machine in Google's cloud. A file or key is
 * that of a service account, whose signed claims (RFC 7523) its token endpoint takes for a token, or of a user, with a refresh token. Other
 * kinds (external accounts, impersonation) are refused by name.
 */
#ifndef SL_REMOTE_GCS_CREDENTIALS_H
#define SL_REMOTE_GCS_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "silt/env.h"
#include "silt/status.h"
#include "storage/remote/remote_options.h"

enum sl_gcs_credential_kind {
    SL_GCS_ANONYMOUS = 0,
    SL_GCS_TOKEN = 1,
    SL_GCS_SERVICE_ACCOUNT = 2,
    SL_GCS_USER = 3,
    SL_GCS_METADATA = 4
};

/* Text is in the arena given. What is absent is NULL. */
struct sl_gcs_credentials {
    enum sl_gcs_credential_kind kind;
    const char *token;
    const char *token_url; /* of a service account or user; of the metadata server: where tokens are asked for */
    const char *email;
    const char *private_key; /* PEM */
    const char *private_key_id;
    const char *client_id;
    const char *client_secret;
    const char *refresh_token;
    const char *project;  /* that requests are charged to */
    const char *base_url; /* of the API, if the credentials say so, as files for emulators do */
};

/* Finds them by options and environment; reads at most one file. SILT_EACCESS, SILT_EUNSUPPORTED, SILT_EINVALID tell what is wrong with which. */
silt_status sl_gcs_find_credentials(const silt_env *env, const struct sl_remote_options *options,
                                    struct sl_arena *arena, struct sl_gcs_credentials *out, silt_error *err);

/* Reads a key in JSON. `origin` is what messages call it. */
silt_status sl_gcs_read_key(const silt_env *env, struct sl_str json, const char *origin, struct sl_arena *arena,
                            struct sl_gcs_credentials *out, silt_error *err);

/* Appends the signed claims of a service account (RFC 7523, RS256), for an hour from wall_us on. SILT_EACCESS for a key that cannot sign. */
silt_status sl_gcs_put_assertion(const silt_env *env, const struct sl_gcs_credentials *credentials, int64_t wall_us,
                                 struct sl_buf *out, silt_error *err);

/* Appends the body of the request for a token of a service account or user. */
silt_status sl_gcs_put_token_request(const silt_env *env, const struct sl_gcs_credentials *credentials, int64_t wall_us,
                                     struct sl_buf *out, silt_error *err);

/* Appends the token that an answer of an endpoint holds. SILT_EIO for one that holds none or one that no header could. */
silt_status sl_gcs_read_token(const silt_env *env, struct sl_str body, struct sl_buf *token, int64_t *lifetime_us,
                              silt_error *err);

#endif
