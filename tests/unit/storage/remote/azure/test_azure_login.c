/*
 * What requests are authorised with: keys, signatures and tokens, when tokens are fetched anew, what is said when nothing helps, and that no secret is in what
 * is said.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "azure_rig.h"

static silt_status put(struct azure_rig *rig, const char *path, silt_error *err)
{
    const silt_call call = azure_call_within(20000);
    silt_error_reset(err);
    const silt_status status = silt_storage_put(rig->store, &call, path, "x", 1, err);
    if (status != SILT_OK) {
        azure_expect_no_secret(err);
    }
    return status;
}

static void expect_put(struct azure_rig *rig, const char *path)
{
    silt_error err = SILT_ERROR_INIT;
    if (put(rig, path, &err) != SILT_OK) {
        fail_msg("%s (%s)", err.message, err.hint);
    }
}

static void expect_words(const silt_error *err, const char *words)
{
    if (strstr(err->message, words) == NULL && strstr(err->hint, words) == NULL) {
        fail_msg("\"%s\" is not in: %s (%s)", words, err->message, err->hint);
    }
}

static size_t tokens(const struct azure_rig *rig)
{
    char text[32];
    assert_true(stub_server_ask(rig->stub, "/_tokens", text, sizeof(text)));
    return (size_t)strtoul(text, NULL, 10);
}

/* The rig's own login server. */
static void open_with_client(struct azure_rig *rig, void **state)
{
    static char login[64];
    rig_init(rig, *state);
    (void)snprintf(login, sizeof(login), "http://127.0.0.1:%d/login", rig->stub->port);
    rig_option(rig, "azure_authority_host", login);
    rig_option(rig, "azure_tenant_id", "tenant");
    rig_option(rig, "azure_client_id", "client");
    rig_option(rig, "azure_client_secret", AZURE_SECRET);
    rig_open(rig);
}

/* ---- keys and signatures ---- */

static void a_wrong_key_is_told_and_not_shown(void **state)
{
    struct azure_rig rig;
    silt_error err = SILT_ERROR_INIT;
    rig_init(&rig, *state);
    rig_option(&rig, "azure_storage_account_key", "aHVzaGh1c2g=");
    rig_open(&rig);
    assert_int_equal(put(&rig, "az://flat/a", &err), SILT_EACCESS);
    expect_words(&err, "HTTP 403 AuthenticationFailed");
    expect_words(&err, "with the key of the account");
    assert_null(strstr(err.message, "aHVzaGh1c2g"));
    rig_close(&rig);
    rig_init(&rig, *state);
    rig_option(&rig, "azure_storage_account_key", "hush is not base64");
    rig_open(&rig);
    assert_int_equal(put(&rig, "az://flat/a", &err), SILT_EINVALID);
    rig_close(&rig);
}

static void a_wrong_clock_is_told(void **state)
{
    struct azure_rig rig;
    silt_error err = SILT_ERROR_INIT;
    rig_init(&rig, *state);
    rig_option(&rig, "azure_storage_account_key", "aHVzaGh1c2g=");
    rig_open(&rig);
    azure_set(rig.stub, "skew=-7200");
    assert_int_equal(put(&rig, "az://flat/a", &err), SILT_EACCESS);
    expect_words(&err, "ahead of that of the service");
    rig_close(&rig);
}

static void a_signature_goes_with_every_request(void **state)
{
    struct azure_rig rig;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    silt_error err = SILT_ERROR_INIT;
    rig_init(&rig, *state);
    rig_option(&rig, "azure_storage_sas_token", "?sv=2021-12-02&sig=" AZURE_SIGNATURE);
    rig_open(&rig);
    expect_put(&rig, "az://flat/a");
    assert_int_equal(silt_storage_put_if_absent(rig.store, NULL, "az://tree/t/0.json", "x", 1, &outcome, &err),
                     SILT_OK);
    assert_int_equal(outcome, SILT_PUT_DONE);
    assert_int_equal(azure_count(rig.stub, " sas"), azure_count(rig.stub, "/acct/"));
    rig_close(&rig);
}

static void a_signature_is_not_shown(void **state)
{
    static const char *const faults[] = {"code=403&name=AuthorizationPermissionMismatch", "code=400&name=InvalidUri",
                                         "code=404&name=ContainerNotFound", "code=409&name=Other"};
    struct azure_rig rig;
    silt_error err = SILT_ERROR_INIT;
    rig_init(&rig, *state);
    rig_option(&rig, "azure_storage_sas_token", "sig=" AZURE_SIGNATURE);
    rig_open(&rig);
    for (size_t i = 0; i < 4; i++) {
        azure_set(rig.stub, faults[i]);
        assert_int_not_equal(put(&rig, "az://flat/a", &err), SILT_OK);
    }
    rig_close(&rig);
    rig_init(&rig, *state);
    rig.options[1].value = "http://127.0.0.1:9/acct"; /* nobody listens there */
    rig_option(&rig, "azure_storage_sas_token", "sig=" AZURE_SIGNATURE);
    rig_open(&rig);
    const silt_call call = azure_call_within(300);
    assert_int_not_equal(silt_storage_put(rig.store, &call, "az://flat/a", "x", 1, &err), SILT_OK);
    azure_expect_no_secret(&err);
    rig_close(&rig);
    rig_init(&rig, *state);
    rig_option(&rig, "azure_storage_sas_token", "hush");
    rig_open(&rig);
    assert_int_equal(put(&rig, "az://flat/a", &err), SILT_EINVALID);
    rig_close(&rig);
}

/* ---- tokens ---- */

static void a_token_is_fetched_once_and_kept(void **state)
{
    struct azure_rig rig;
    open_with_client(&rig, state);
    expect_put(&rig, "az://flat/a");
    expect_put(&rig, "az://flat/b");
    assert_int_equal(tokens(&rig), 1);
    assert_int_equal(azure_count(rig.stub, "POST /login/tenant/oauth2/v2.0/token"), 1);
    assert_int_equal(azure_count(rig.stub, " token"), 2);
    rig_close(&rig);
}

static void a_token_about_to_expire_is_fetched_anew(void **state)
{
    struct azure_rig rig;
    open_with_client(&rig, state);
    azure_set(rig.stub, "life=60"); /* less than the time before expiry at which it is renewed */
    expect_put(&rig, "az://flat/a");
    expect_put(&rig, "az://flat/b");
    assert_int_equal(tokens(&rig), 2);
    /* A renewal that fails is no fault while the old one holds. */
    azure_set(rig.stub, "login=500");
    expect_put(&rig, "az://flat/c");
    rig_close(&rig);
}

static void a_refused_token_is_fetched_anew_once(void **state)
{
    struct azure_rig rig;
    silt_error err = SILT_ERROR_INIT;
    open_with_client(&rig, state);
    expect_put(&rig, "az://flat/a");
    azure_set(rig.stub, "revoke=1");
    expect_put(&rig, "az://flat/b");
    assert_int_equal(tokens(&rig), 2);
    azure_set(rig.stub, "code=401&name=InvalidAuthenticationInfo&method=PUT&times=99");
    assert_int_equal(put(&rig, "az://flat/c", &err), SILT_EACCESS);
    expect_words(&err, "HTTP 401 InvalidAuthenticationInfo");
    expect_words(&err, "with the token");
    assert_int_equal(tokens(&rig), 3);
    assert_int_equal(azure_count(rig.stub, "fault"), 2);
    rig_close(&rig);
}

static void a_login_that_fails_is_told_without_secrets(void **state)
{
    struct azure_rig rig;
    silt_error err = SILT_ERROR_INIT;
    open_with_client(&rig, state);
    azure_set(rig.stub, "login=401");
    assert_int_equal(put(&rig, "az://flat/a", &err), SILT_EACCESS);
    expect_words(&err, "HTTP 401 invalid_client AADSTS7000215");
    azure_set(rig.stub, "login=500");
    assert_int_equal(put(&rig, "az://flat/a", &err), SILT_EIO);
    expect_words(&err, "HTTP 500");
    rig_close(&rig);
}

static void names_of_spark_are_known(void **state)
{
    struct azure_rig rig;
    char login[80];
    rig_init(&rig, *state);
    (void)snprintf(login, sizeof(login), "http://127.0.0.1:%d/login/tenant/oauth2/v2.0/token", rig.stub->port);
    rig_option(&rig, "fs.azure.account.auth.type.acct.dfs.core.windows.net", "OAuth");
    rig_option(&rig, "fs.azure.account.oauth.provider.type.acct.dfs.core.windows.net",
               "org.apache.hadoop.fs.azurebfs.oauth2.ClientCredsTokenProvider");
    rig_option(&rig, "fs.azure.account.oauth2.client.endpoint.acct.dfs.core.windows.net", login);
    rig_option(&rig, "spark.hadoop.fs.azure.account.oauth2.client.id.acct.dfs.core.windows.net", "client");
    rig_option(&rig, "fs.azure.account.oauth2.client.secret.acct.dfs.core.windows.net", AZURE_SECRET);
    rig_open(&rig);
    expect_put(&rig, "abfss://flat@acct.dfs.core.windows.net/a");
    assert_int_equal(azure_count(rig.stub, " token"), 1);
    rig_close(&rig);
    azure_set(*state, "reset=1");
    rig_init(&rig, *state);
    rig_option(&rig, "fs.azure.account.key.acct.dfs.core.windows.net", AZURE_KEY);
    rig_option(&rig, "fs.azure.account.key.other.dfs.core.windows.net", "aHVzaGh1c2g=");
    rig_open(&rig);
    expect_put(&rig, "abfss://flat@acct.dfs.core.windows.net/a");
    rig_close(&rig);
    rig_init(&rig, *state);
    rig_option(&rig, "fs.azure.sas.flat.acct.blob.core.windows.net", "sig=" AZURE_SIGNATURE);
    rig_open(&rig);
    expect_put(&rig, "wasbs://flat@acct.blob.core.windows.net/a");
    assert_int_equal(azure_count(rig.stub, " sas"), 1);
    rig_close(&rig);
}

static void what_is_not_known_is_refused(void **state)
{
    static const silt_store_option refused[] = {
        {"fs.azure.account.oauth.provider.type", "org.apache.hadoop.fs.azurebfs.oauth2.UserPasswordTokenProvider"},
        {"fs.azure.account.auth.type", "Custom"},
        {"azure_container_name", "other"},
        {"azure_use_azure_cli", "perhaps"}};
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct azure_rig rig;
        silt_error err = SILT_ERROR_INIT;
        rig_init(&rig, *state);
        rig_option(&rig, refused[i].name, refused[i].value);
        rig_open(&rig);
        assert_int_equal(put(&rig, "az://flat/a", &err), SILT_EINVALID);
        expect_words(&err, refused[i].name);
        rig_close(&rig);
    }
    struct azure_rig rig;
    silt_error err = SILT_ERROR_INIT;
    rig_init(&rig, *state);
    rig_option(&rig, "fs.azure.account.auth.type", "SharedKey"); /* and no key */
    rig_open(&rig);
    assert_int_equal(put(&rig, "az://flat/a", &err), SILT_EACCESS);
    expect_words(&err, "fs.azure.account.auth.type");
    rig_close(&rig);
}

static void managed_identities_give_tokens(void **state)
{
    struct azure_rig rig;
    char endpoint[64];
    rig_init(&rig, *state);
    (void)snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%d/msi/token", rig.stub->port);
    rig_option(&rig, "azure_msi_endpoint", endpoint);
    rig_open(&rig);
    expect_put(&rig, "az://flat/a");
    assert_int_equal(azure_count(rig.stub, "GET /msi/token?api-version=2018-02-01"), 1);
    rig_close(&rig);
    rig_init(&rig, *state);
    rig_option(&rig, "azure_msi_endpoint", endpoint);
    rig_option(&rig, "azure_identity_header", AZURE_SECRET);
    rig_open(&rig);
    expect_put(&rig, "az://flat/a");
    assert_int_equal(azure_count(rig.stub, "GET /msi/token?api-version=2019-08-01"), 1);
    rig_close(&rig);
}

static void options_go_before_the_environment(void **state)
{
    struct azure_rig rig;
    assert_int_equal(setenv("AZURE_STORAGE_ACCOUNT_KEY", "aHVzaGh1c2g=", 1), 0);
    open_with_client(&rig, state);
    expect_put(&rig, "az://flat/a");
    assert_int_equal(azure_count(rig.stub, " token"), 1);
    rig_close(&rig);
    rig_init(&rig, *state);
    rig_option(&rig, "azure_storage_sas_token", "sig=" AZURE_SIGNATURE);
    rig_open(&rig);
    expect_put(&rig, "az://flat/a");
    assert_int_equal(azure_count(rig.stub, " sas"), 1);
    rig_close(&rig);
    assert_int_equal(setenv("AZURE_STORAGE_ACCOUNT_KEY", AZURE_KEY, 1), 0);
    rig_init(&rig, *state);
    rig_open(&rig);
    expect_put(&rig, "az://flat/a");
    assert_int_equal(azure_count(rig.stub, " key"), 1);
    rig_close(&rig);
    assert_int_equal(unsetenv("AZURE_STORAGE_ACCOUNT_KEY"), 0);
}

/* ---- files and programs ---- */

static void write_file(const char *path, const char *text, mode_t mode)
{
    const int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, mode);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(close(fd), 0);
}

static void a_federated_token_is_read_from_its_file(void **state)
{
    struct azure_rig rig;
    silt_error err = SILT_ERROR_INIT;
    char folder[] = "/tmp/silt-azure-XXXXXX";
    char path[64];
    char login[64];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/token", folder);
    rig_init(&rig, *state);
    (void)snprintf(login, sizeof(login), "http://127.0.0.1:%d/login", rig.stub->port);
    rig_option(&rig, "azure_authority_host", login);
    rig_option(&rig, "azure_tenant_id", "tenant");
    rig_option(&rig, "azure_client_id", "client");
    rig_option(&rig, "azure_federated_token_file", path);
    rig_open(&rig);
    assert_int_equal(put(&rig, "az://flat/a", &err), SILT_EACCESS);
    write_file(path, "assertion\n", 0600);
    expect_put(&rig, "az://flat/a");
    rig_close(&rig);
    (void)unlink(path);
    (void)rmdir(folder);
}

/* A program az that hands out one of the server's tokens, in a folder of its own that leads the path. */
static void the_cli_is_asked_for_a_token(void **state)
{
    struct azure_rig rig;
    silt_error err = SILT_ERROR_INIT;
    char folder[] = "/tmp/silt-azure-XXXXXX";
    char program[64];
    char text[512];
    char path[4096];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(program, sizeof(program), "%s/az", folder);
    (void)snprintf(path, sizeof(path), "%s:%s", folder, getenv("PATH"));
    const char *before = strdup(getenv("PATH"));
    assert_int_equal(setenv("PATH", path, 1), 0);
    assert_int_equal(setenv("AZURE_CONFIG_DIR", folder, 1), 0);
    rig_init(&rig, *state);
    (void)snprintf(text, sizeof(text),
                   "#!/bin/sh\n[ \"$1 $2 $3 $4 $5\" = 'account get-access-token --output=json --resource "
                   "https://storage.azure.com/' ] || exit 9\n"
                   "echo '{\"accessToken\":\"token-1\",\"expires_on\":4102444800}'\n");
    write_file(program, "#!/bin/sh\necho hush >&2\nexit 1\n", 0700);
    rig_option(&rig, "azure_use_azure_cli", "true");
    rig_open(&rig);
    assert_int_equal(put(&rig, "az://flat/a", &err), SILT_EACCESS);
    expect_words(&err, "az login");
    write_file(program, text, 0700);
    azure_set(rig.stub, "grant=token-1");
    expect_put(&rig, "az://flat/a");
    rig_close(&rig);
    assert_int_equal(setenv("PATH", before, 1), 0);
    assert_int_equal(unsetenv("AZURE_CONFIG_DIR"), 0);
    free((void *)(uintptr_t)before);
    (void)unlink(program);
    (void)rmdir(folder);
}

/* ---- where nothing is sent ---- */

static void strange_hosts_get_nothing(void **state)
{
    struct azure_rig rig;
    silt_error err = SILT_ERROR_INIT;
    rig_init(&rig, *state);
    rig.n = 0;
    rig_option(&rig, "azure_storage_account_key", AZURE_KEY);
    rig_open(&rig);
    assert_int_equal(put(&rig, "abfss://c@acct.dfs.example.com/a", &err), SILT_EACCESS);
    expect_words(&err, "none of Azure's domains");
    assert_int_equal(put(&rig, "az://c/a", &err), SILT_EINVALID);
    expect_words(&err, "azure_storage_account_name");
    rig_close(&rig);
    rig_init(&rig, *state);
    rig.options[1].value = "http://example.com/acct";
    rig_option(&rig, "azure_storage_account_key", AZURE_KEY);
    rig_open(&rig);
    assert_int_equal(put(&rig, "az://c/a", &err), SILT_EINVALID);
    expect_words(&err, "allow_http");
    rig_close(&rig);
}

static void an_account_that_no_host_is_known_for_is_told(void **state)
{
    struct azure_rig rig;
    silt_error err = SILT_ERROR_INIT;
    rig_init(&rig, *state);
    rig.n = 0;
    rig_option(&rig, "azure_storage_account_key", AZURE_KEY);
    rig_option(&rig, "azure_storage_endpoint_suffix", "invalid"); /* a domain that is never known (RFC 2606) */
    rig_open(&rig);
    const silt_call call = azure_call_within(400);
    const silt_status status = silt_storage_put(rig.store, &call, "abfss://c@acct.dfs.invalid/a", "x", 1, &err);
    if (status != SILT_EIO && status != SILT_EDEADLINE) {
        fail_msg("%s: %s", silt_status_name(status), err.message);
    }
    if (strstr(err.message, "cannot resolve host") != NULL) {
        expect_words(&err, "is \"acct\" the name of the account?");
    }
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_wrong_key_is_told_and_not_shown, azure_set_up),
        cmocka_unit_test_setup(a_wrong_clock_is_told, azure_set_up),
        cmocka_unit_test_setup(a_signature_goes_with_every_request, azure_set_up),
        cmocka_unit_test_setup(a_signature_is_not_shown, azure_set_up),
        cmocka_unit_test_setup(a_token_is_fetched_once_and_kept, azure_set_up),
        cmocka_unit_test_setup(a_token_about_to_expire_is_fetched_anew, azure_set_up),
        cmocka_unit_test_setup(a_refused_token_is_fetched_anew_once, azure_set_up),
        cmocka_unit_test_setup(a_login_that_fails_is_told_without_secrets, azure_set_up),
        cmocka_unit_test_setup(names_of_spark_are_known, azure_set_up),
        cmocka_unit_test_setup(what_is_not_known_is_refused, azure_set_up),
        cmocka_unit_test_setup(managed_identities_give_tokens, azure_set_up),
        cmocka_unit_test_setup(options_go_before_the_environment, azure_set_up),
        cmocka_unit_test_setup(a_federated_token_is_read_from_its_file, azure_set_up),
        cmocka_unit_test_setup(the_cli_is_asked_for_a_token, azure_set_up),
        cmocka_unit_test_setup(strange_hosts_get_nothing, azure_set_up),
        cmocka_unit_test_setup(an_account_that_no_host_is_known_for_is_told, azure_set_up),
    };
    return cmocka_run_group_tests(tests, azure_group_set_up, azure_group_tear_down);
}
