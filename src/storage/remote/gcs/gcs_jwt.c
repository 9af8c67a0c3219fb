/*
 * Tokens of service accounts and users: the signed claims, the request, the answer (RFC 7519, RFC 7523, RFC 6749). Pure but for the
 * signature's randomness; any thread.
 */
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "json/json.h"
#include "json/writer.h"
#include "storage/remote/digest.h"
#include "storage/remote/gcs/gcs_answers.h"
#include "storage/remote/gcs/gcs_credentials.h"
#include "storage/remote/url.h"

#define SCOPE "https://www.googleapis.com/auth/devstorage.full_control"
#define LIFETIME_S 3600
#define MAX_TOKEN 16384
#define MAX_LIFETIME_S 86400

/* Base64 for URLs, without padding. */
static void put_base64url(struct sl_buf *out, struct sl_str bytes)
{
    const size_t begin = out->len;
    sl_base64_put(out, bytes);
    if (sl_buf_status(out, NULL) != SILT_OK) {
        return;
    }
    while (out->len > begin && out->data[out->len - 1] == '=') {
        out->data[--out->len] = '\0';
    }
    for (size_t i = begin; i < out->len; i++) {
        char *c = &out->data[i];
        *c = *c == '+' ? '-' : *c == '/' ? '_' : *c;
    }
}

static void put_header(struct sl_buf *out, const struct sl_gcs_credentials *credentials)
{
    struct sl_json_writer w;
    sl_json_writer_init(&w, out);
    sl_json_begin_object(&w);
    sl_json_key_c(&w, "alg");
    sl_json_put_c(&w, "RS256");
    sl_json_key_c(&w, "typ");
    sl_json_put_c(&w, "JWT");
    if (credentials->private_key_id != NULL) {
        sl_json_key_c(&w, "kid");
        sl_json_put_c(&w, credentials->private_key_id);
    }
    sl_json_end_object(&w);
}

static void put_claims(struct sl_buf *out, const struct sl_gcs_credentials *credentials, int64_t wall_us)
{
    struct sl_json_writer w;
    sl_json_writer_init(&w, out);
    sl_json_begin_object(&w);
    sl_json_key_c(&w, "iss");
    sl_json_put_c(&w, credentials->email);
    sl_json_key_c(&w, "scope");
    sl_json_put_c(&w, SCOPE);
    sl_json_key_c(&w, "aud");
    sl_json_put_c(&w, credentials->token_url);
    sl_json_key_c(&w, "iat");
    sl_json_put_i64(&w, wall_us / 1000000);
    sl_json_key_c(&w, "exp");
    sl_json_put_i64(&w, wall_us / 1000000 + LIFETIME_S);
    sl_json_end_object(&w);
}

/* Instead of asking on the terminal. */
static int no_password(char *buffer, int size, int writing, void *ctx)
{
    (void)buffer;
    (void)size;
    (void)writing;
    (void)ctx;
    return -1;
}

/* Signs with RSA and SHA-256; *signature is from env, of *size bytes. */
static silt_status sign(const silt_env *env, const char *pem, struct sl_str text, struct sl_buf *signature,
                        silt_error *err)
{
    silt_status status = SILT_OK;
    size_t size = 0;
    BIO *bio = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *key = bio != NULL ? PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL) : NULL;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    sl_buf_init(signature, env);
    if (bio == NULL || ctx == NULL) {
        status = sl_fail_nomem(err);
        goto out;
    }
    if (key == NULL || EVP_PKEY_get_base_id(key) != EVP_PKEY_RSA) {
        status = sl_fail(err, SILT_EACCESS, NULL, "the private_key of the service account is no RSA key in PEM");
        goto out;
    }
    size = (size_t)EVP_PKEY_get_size(key);
    char *room = sl_buf_reserve(signature, size);
    if (room == NULL) {
        status = sl_buf_status(signature, err);
        goto out;
    }
    if (EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key) != 1 ||
        EVP_DigestSign(ctx, (unsigned char *)room, &size, (const unsigned char *)text.ptr, text.len) != 1) {
        status = sl_fail(err, SILT_EACCESS, NULL, "the private_key of the service account cannot sign");
        goto out;
    }
    signature->len += size;
out:
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(key);
    BIO_free(bio);
    return status;
}

silt_status sl_gcs_put_assertion(const silt_env *env, const struct sl_gcs_credentials *credentials, int64_t wall_us,
                                 struct sl_buf *out, silt_error *err)
{
    struct sl_buf part;
    struct sl_buf text;
    struct sl_buf signature;
    sl_buf_init(&part, env);
    sl_buf_init(&text, env);
    sl_buf_init(&signature, env);
    put_header(&part, credentials);
    put_base64url(&text, sl_buf_view(&part));
    silt_status status = sl_buf_status(&part, err);
    sl_buf_clear(&part);
    put_claims(&part, credentials, wall_us);
    sl_buf_put_char(&text, '.');
    put_base64url(&text, sl_buf_view(&part));
    if (status == SILT_OK) {
        status = sl_buf_status(&part, err);
    }
    if (status == SILT_OK) {
        status = sl_buf_status(&text, err);
    }
    if (status == SILT_OK) {
        status = sign(env, credentials->private_key, sl_buf_view(&text), &signature, err);
    }
    if (status == SILT_OK) {
        sl_buf_put_str(out, sl_buf_view(&text));
        sl_buf_put_char(out, '.');
        put_base64url(out, sl_buf_view(&signature));
        status = sl_buf_status(out, err);
    }
    sl_buf_release(&signature);
    sl_buf_release(&text);
    sl_buf_release(&part);
    return status;
}

static void put_field(struct sl_buf *out, const char *name, const char *value)
{
    sl_buf_put_c(out, out->len > 0 ? "&" : "");
    sl_buf_put_c(out, name);
    sl_buf_put_char(out, '=');
    sl_url_encode(out, sl_str_from(value), "");
}

silt_status sl_gcs_put_token_request(const silt_env *env, const struct sl_gcs_credentials *credentials, int64_t wall_us,
                                     struct sl_buf *out, silt_error *err)
{
    if (credentials->kind == SL_GCS_USER) {
        put_field(out, "grant_type", "refresh_token");
        put_field(out, "client_id", credentials->client_id);
        put_field(out, "client_secret", credentials->client_secret);
        put_field(out, "refresh_token", credentials->refresh_token);
        return sl_buf_status(out, err);
    }
    put_field(out, "grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer");
    sl_buf_put_c(out, "&assertion="); /* of base64url and dots: nothing to encode */
    return sl_gcs_put_assertion(env, credentials, wall_us, out, err);
}

silt_status sl_gcs_read_token(const silt_env *env, struct sl_str body, struct sl_buf *token, int64_t *lifetime_us,
                              silt_error *err)
{
    struct sl_json_doc *doc = NULL;
    if (sl_gcs_parse(env, body, &doc, NULL) != SILT_OK) { /* without the text's words: it may hold the token */
        return sl_fail(err, SILT_EIO, NULL, "the token endpoint's answer is no JSON");
    }
    const sl_json *root = sl_json_root(doc);
    const struct sl_str text = sl_json_member_text(root, "access_token");
    int64_t seconds = LIFETIME_S;
    bool good = text.len > 0 && text.len <= MAX_TOKEN;
    for (size_t i = 0; i < text.len && good; i++) {
        good = text.ptr[i] > ' ' && text.ptr[i] <= '~';
    }
    const sl_json *expires = sl_json_member(root, "expires_in");
    if (expires != NULL) {
        good = good && sl_json_to_i64(expires, &seconds) && seconds > 0;
    }
    silt_status status = SILT_OK;
    if (good) {
        *lifetime_us = (seconds < MAX_LIFETIME_S ? seconds : MAX_LIFETIME_S) * 1000000;
        sl_buf_put_str(token, text);
        status = sl_buf_status(token, err);
    } else {
        status = sl_fail(err, SILT_EIO, NULL, "the token endpoint's answer holds no token");
    }
    sl_json_free(doc);
    return status;
}
