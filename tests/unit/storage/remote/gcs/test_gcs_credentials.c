/* Credentials of Google Cloud: which are found, what they sign, what their endpoints answer. */
#include "storage/remote/gcs/gcs_credentials.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "json/json.h"
#include "json/writer.h"
#include "storage/remote/digest.h"
#include "temp_dir.h"
#include "test_env.h"

struct fixture {
    struct test_env t;
    char dir[256];
    struct sl_arena arena;
    struct sl_remote_options *options;
    struct sl_gcs_credentials found;
    silt_error err;
};

static int set_up(void **state)
{
    static struct fixture f;
    static const char *const variables[] = {"GOOGLE_SERVICE_ACCOUNT",     "GOOGLE_SERVICE_ACCOUNT_PATH",
                                            "GOOGLE_SERVICE_ACCOUNT_KEY", "GOOGLE_APPLICATION_CREDENTIALS",
                                            "STORAGE_EMULATOR_HOST",      "GCE_METADATA_HOST"};
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        (void)unsetenv(variables[i]);
    }
    memset(&f, 0, sizeof(f));
    test_env_init(&f.t);
    f.err = (silt_error)SILT_ERROR_INIT;
    sl_arena_init(&f.arena, &f.t.env);
    assert_true(temp_dir_make(f.dir, sizeof(f.dir)));
    assert_int_equal(setenv("CLOUDSDK_CONFIG", f.dir, 1), 0);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    sl_options_free(f->options);
    sl_arena_release(&f->arena);
    test_env_check(&f->t);
    (void)temp_dir_remove(f->dir);
    return 0;
}

static silt_status find(struct fixture *f, const char *name, const char *value)
{
    const silt_store_option option = {.name = name, .value = value};
    sl_options_free(f->options);
    f->options = NULL;
    assert_int_equal(sl_options_new(&f->t.env, &option, name != NULL ? 1 : 0, &f->options, &f->err), SILT_OK);
    return sl_gcs_find_credentials(&f->t.env, f->options, &f->arena, &f->found, &f->err);
}

/* Writes a file into the fixture's folder; its path. */
static const char *put_file(struct fixture *f, const char *name, const char *text)
{
    static char path[400];
    (void)snprintf(path, sizeof(path), "%s/%s", f->dir, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return path;
}

#define ACCOUNT                                                                                                 \
    "{\"type\":\"service_account\",\"client_email\":\"a@b\",\"private_key\":\"PEM\",\"private_key_id\":\"k1\"," \
    "\"token_uri\":\"https://t.example/token\"}"
#define USER                                                                                                \
    "{\"type\":\"authorized_user\",\"client_id\":\"i\",\"client_secret\":\"s&\",\"refresh_token\":\"r/1\"," \
    "\"quota_project_id\":\"p\"}"

static void options_come_before_files(void **state)
{
    struct fixture *f = *state;
    (void)put_file(f, "application_default_credentials.json", USER);
    assert_int_equal(find(f, "google_skip_signature", "true"), SILT_OK);
    assert_int_equal(f->found.kind, SL_GCS_ANONYMOUS);
    assert_int_equal(find(f, "fs.gs.auth.type", "UNAUTHENTICATED"), SILT_OK);
    assert_int_equal(f->found.kind, SL_GCS_ANONYMOUS);
    assert_int_equal(find(f, "google_bearer_token", "abc"), SILT_OK);
    assert_int_equal(f->found.kind, SL_GCS_TOKEN);
    assert_string_equal(f->found.token, "abc");
    assert_int_equal(find(f, "google_service_account_key", ACCOUNT), SILT_OK);
    assert_int_equal(f->found.kind, SL_GCS_SERVICE_ACCOUNT);
    assert_string_equal(f->found.email, "a@b");
    assert_string_equal(f->found.token_url, "https://t.example/token");
    assert_int_equal(find(f, "fs.gs.auth.type", "COMPUTE_ENGINE"), SILT_OK);
    assert_int_equal(f->found.kind, SL_GCS_METADATA);
    assert_int_equal(find(f, "fs.gs.auth.type", "KEY"), SILT_EINVALID);
    assert_int_equal(find(f, "google_bearer_token", "a b\r\nX: y"), SILT_EINVALID);
    assert_null(strstr(f->err.message, "a b"));
}

static void an_emulator_of_the_environment_gets_no_token_that_nobody_gave(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(setenv("STORAGE_EMULATOR_HOST", "localhost:4443", 1), 0);
    assert_int_equal(find(f, NULL, NULL), SILT_OK);
    assert_int_equal(f->found.kind, SL_GCS_ANONYMOUS);
    assert_int_equal(find(f, "google_bearer_token", "abc"), SILT_OK);
    assert_int_equal(f->found.kind, SL_GCS_TOKEN);
    assert_int_equal(find(f, "google_base_url", "https://private.example"), SILT_OK); /* Google by another way */
    assert_int_equal(f->found.kind, SL_GCS_METADATA);
}

static void files_come_in_their_order(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(find(f, NULL, NULL), SILT_OK);
    assert_int_equal(f->found.kind, SL_GCS_METADATA);
    assert_string_equal(f->found.token_url,
                        "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/"
                        "default/token");
    (void)put_file(f, "application_default_credentials.json", USER);
    assert_int_equal(find(f, NULL, NULL), SILT_OK);
    assert_int_equal(f->found.kind, SL_GCS_USER);
    assert_string_equal(f->found.token_url, "https://oauth2.googleapis.com/token");
    assert_string_equal(f->found.project, "p");
    const char *path = put_file(f, "key.json", ACCOUNT);
    assert_int_equal(setenv("GOOGLE_APPLICATION_CREDENTIALS", path, 1), 0);
    assert_int_equal(find(f, NULL, NULL), SILT_OK);
    assert_int_equal(f->found.kind, SL_GCS_SERVICE_ACCOUNT);
    assert_int_equal(find(f, "google_service_account", "/nowhere/key.json"), SILT_EACCESS);
    assert_non_null(strstr(f->err.message, "/nowhere/key.json"));
}

static void a_file_for_an_emulator_needs_no_key(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(find(f, "google_service_account_key",
                          "{\"gcs_base_url\":\"http://localhost:4443\",\"disable_oauth\":true,\"client_email\":\"\","
                          "\"private_key\":\"\"}"),
                     SILT_OK);
    assert_int_equal(f->found.kind, SL_GCS_ANONYMOUS);
    assert_string_equal(f->found.base_url, "http://localhost:4443");
}

static void keys_that_are_none_are_refused_without_their_secrets(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *text;
        silt_status status;
    } bad[] = {{"SECRET", SILT_EACCESS},
               {"[\"SECRET\"]", SILT_EACCESS},
               {"{\"type\":\"service_account\",\"private_key\":\"SECRET\"}", SILT_EACCESS},
               {"{\"type\":\"service_account\",\"private_key\":\"SECRET\",\"client_email\":\"a\","
                "\"token_uri\":\"http://evil.example/\"}",
                SILT_EACCESS},
               {"{\"type\":\"authorized_user\",\"client_secret\":\"SECRET\"}", SILT_EACCESS},
               {"{\"type\":\"external_account\",\"token\":\"SECRET\"}", SILT_EUNSUPPORTED},
               {"{\"type\":\"impersonated_service_account\"}", SILT_EUNSUPPORTED},
               {"{}", SILT_EUNSUPPORTED}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(find(f, "google_service_account_key", bad[i].text), bad[i].status);
        assert_null(strstr(f->err.message, "SECRET"));
    }
    assert_int_equal(find(f, "google_service_account_key", "{\"type\":\"external_account\"}"), SILT_EUNSUPPORTED);
    assert_non_null(strstr(f->err.message, "external_account"));
}

/* ---- claims ---- */

/* PEM of a new key, which lasts until the next one; *key is the caller's to free. */
static const char *make_key(EVP_PKEY **key)
{
    static char pem[4096];
    *key = EVP_RSA_gen(2048);
    BIO *bio = BIO_new(BIO_s_mem());
    assert_non_null(*key);
    assert_int_equal(PEM_write_bio_PrivateKey(bio, *key, NULL, NULL, 0, NULL, NULL), 1);
    const int n = BIO_read(bio, pem, sizeof(pem) - 1);
    assert_true(n > 0);
    pem[n] = '\0';
    BIO_free(bio);
    return pem;
}

static void decode_part(struct sl_buf *out, struct sl_str part)
{
    struct sl_buf text;
    sl_buf_init(&text, out->env);
    for (size_t i = 0; i < part.len; i++) {
        assert_true(part.ptr[i] != '+' && part.ptr[i] != '/' && part.ptr[i] != '=');
        sl_buf_put_char(&text, part.ptr[i] == '-' ? '+' : part.ptr[i] == '_' ? '/' : part.ptr[i]);
    }
    while (text.len % 4 != 0) {
        sl_buf_put_char(&text, '=');
    }
    sl_buf_clear(out);
    assert_int_equal(sl_base64_decode(out, sl_buf_view(&text), NULL), SILT_OK);
    sl_buf_release(&text);
}

static void check_json(struct fixture *f, struct sl_buf *part, const char *expected)
{
    struct sl_json_doc *doc = NULL;
    struct sl_buf out;
    sl_buf_init(&out, &f->t.env);
    assert_int_equal(sl_json_parse(&f->t.env, sl_buf_view(part), &doc, NULL), SILT_OK);
    sl_json_write(&out, sl_json_root(doc));
    assert_string_equal(sl_buf_cstr(&out), expected);
    sl_json_free(doc);
    sl_buf_release(&out);
}

static void claims_are_signed_so_that_the_public_key_agrees(void **state)
{
    struct fixture *f = *state;
    EVP_PKEY *key = NULL;
    const struct sl_gcs_credentials account = {.kind = SL_GCS_SERVICE_ACCOUNT,
                                               .email = "me@project",
                                               .private_key = make_key(&key),
                                               .private_key_id = "k1",
                                               .token_url = "https://t.example/token"};
    struct sl_buf out;
    struct sl_buf part;
    sl_buf_init(&out, &f->t.env);
    sl_buf_init(&part, &f->t.env);
    assert_int_equal(sl_gcs_put_assertion(&f->t.env, &account, INT64_C(1700000000999999), &out, &f->err), SILT_OK);
    const struct sl_str all = sl_buf_view(&out);
    const size_t first = sl_str_find(all, SL_STR("."));
    const size_t second = first + 1 + sl_str_find(sl_str_sub(all, first + 1, all.len), SL_STR("."));
    decode_part(&part, sl_str_sub(all, 0, first));
    check_json(f, &part, "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"k1\"}");
    decode_part(&part, sl_str_sub(all, first + 1, second));
    check_json(f, &part,
               "{\"iss\":\"me@project\",\"scope\":\"https://www.googleapis.com/auth/devstorage.full_control\","
               "\"aud\":\"https://t.example/token\",\"iat\":1700000000,\"exp\":1700003600}");
    decode_part(&part, sl_str_sub(all, second + 1, all.len));
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    assert_int_equal(EVP_DigestVerifyInit(ctx, NULL, EVP_sha256(), NULL, key), 1);
    assert_int_equal(
        EVP_DigestVerify(ctx, (const unsigned char *)part.data, part.len, (const unsigned char *)all.ptr, second), 1);
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(key);
    sl_buf_release(&part);
    sl_buf_release(&out);
}

static void a_key_that_cannot_sign_is_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = {"PEM", "", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const struct sl_gcs_credentials account = {
            .email = "a", .private_key = bad[i], .token_url = "https://t.example/token"};
        struct sl_buf out;
        sl_buf_init(&out, &f->t.env);
        assert_int_equal(sl_gcs_put_assertion(&f->t.env, &account, 0, &out, &f->err), SILT_EACCESS);
        sl_buf_release(&out);
    }
}

static void a_user_asks_with_what_the_file_has(void **state)
{
    struct fixture *f = *state;
    struct sl_buf out;
    sl_buf_init(&out, &f->t.env);
    assert_int_equal(sl_gcs_read_key(&f->t.env, SL_STR(USER), "it", &f->arena, &f->found, &f->err), SILT_OK);
    assert_int_equal(sl_gcs_put_token_request(&f->t.env, &f->found, 0, &out, &f->err), SILT_OK);
    assert_string_equal(sl_buf_cstr(&out),
                        "grant_type=refresh_token&client_id=i&client_secret=s%26&refresh_token=r%2F1");
    sl_buf_release(&out);
}

static void a_token_is_taken_only_from_a_sound_answer(void **state)
{
    struct fixture *f = *state;
    struct sl_buf token;
    int64_t lifetime_us = 0;
    sl_buf_init(&token, &f->t.env);
    assert_int_equal(sl_gcs_read_token(&f->t.env, SL_STR("{\"access_token\":\"ya29.x\",\"expires_in\":3599}"), &token,
                                       &lifetime_us, &f->err),
                     SILT_OK);
    assert_string_equal(sl_buf_cstr(&token), "ya29.x");
    assert_int_equal(lifetime_us, INT64_C(3599000000));
    static const char *const bad[] = {"",
                                      "<html>",
                                      "{}",
                                      "{\"access_token\":\"\"}",
                                      "{\"access_token\":7}",
                                      "{\"access_token\":\"a b\"}",
                                      "{\"access_token\":\"a\\r\\nX: y\"}",
                                      "{\"access_token\":\"a\",\"expires_in\":0}",
                                      "{\"access_token\":\"a\",\"expires_in\":-5}",
                                      "{\"access_token\":\"a\",\"expires_in\":\"soon\"}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        sl_buf_clear(&token);
        assert_int_equal(sl_gcs_read_token(&f->t.env, sl_str_from(bad[i]), &token, &lifetime_us, &f->err), SILT_EIO);
        assert_int_equal(token.len, 0);
    }
    sl_buf_release(&token);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(options_come_before_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_emulator_of_the_environment_gets_no_token_that_nobody_gave, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(files_come_in_their_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_for_an_emulator_needs_no_key, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keys_that_are_none_are_refused_without_their_secrets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(claims_are_signed_so_that_the_public_key_agrees, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_key_that_cannot_sign_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_user_asks_with_what_the_file_has, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_token_is_taken_only_from_a_sound_answer, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
