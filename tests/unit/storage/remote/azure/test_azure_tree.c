/*
 * Hierarchical accounts: how they are known, commits by rename, listings and removals that know folders.
 */
#include <string.h>

#include "azure_rig.h"

/* ---- which kind it is ---- */

static void the_kind_is_asked_for_once(void **state)
{
    struct azure_rig rig;
    rig_open_with_key(&rig, *state);
    assert_int_equal(store_put_new(rig.store, "az://tree/t/a", "x"), SILT_PUT_DONE);
    assert_int_equal(store_put_new(rig.store, "az://tree/t/b", "x"), SILT_PUT_DONE);
    assert_int_equal(azure_count(rig.stub, "restype=account"), 1);
    assert_int_equal(azure_count(rig.stub, "action=getAccessControl"), 0);
    assert_int_equal(azure_count(rig.stub, "action=flush"), 2);
    rig_close(&rig);
}

static void the_root_is_asked_where_the_account_may_not_be(void **state)
{
    struct azure_rig rig;
    rig_open_with_key(&rig, *state);
    assert_int_equal(store_put_new(rig.store, "az://shy/t/a", "x"), SILT_PUT_DONE);
    assert_int_equal(azure_count(rig.stub, "HEAD /acct/shy//?action=getAccessControl"), 1);
    assert_int_equal(azure_count(rig.stub, "action=flush"), 1);
    assert_int_equal(store_put_new(rig.store, "az://mute/t/a", "x"), SILT_PUT_DONE);
    assert_int_equal(azure_count(rig.stub, "action=getAccessControl"), 2);
    assert_int_equal(azure_count(rig.stub, "action=flush"), 1);
    rig_close(&rig);
}

static void nobody_is_asked_what_an_option_says(void **state)
{
    struct azure_rig rig;
    rig_init(&rig, *state);
    rig_option(&rig, "azure_storage_account_key", AZURE_KEY);
    rig_option(&rig, "fs.azure.account.hns.enabled", "true");
    rig_open(&rig);
    assert_int_equal(store_put_new(rig.store, "az://shy/t/a", "x"), SILT_PUT_DONE);
    assert_int_equal(azure_count(rig.stub, "getAccessControl"), 0);
    assert_int_equal(azure_count(rig.stub, "restype=account"), 0);
    assert_int_equal(azure_count(rig.stub, "action=flush"), 1);
    rig_close(&rig);
}

/* ---- commits ---- */

static void a_create_is_a_rename(void **state)
{
    struct azure_rig rig;
    rig_open_with_key(&rig, *state);
    assert_int_equal(store_put_new(rig.store, "az://tree/t/_delta_log/0.json", "one"), SILT_PUT_DONE);
    assert_int_equal(store_put_new(rig.store, "az://tree/t/_delta_log/0.json", "two"), SILT_PUT_EXISTS);
    assert_int_equal(store_put_new(rig.store, "az://tree/t/_delta_log/1.json", ""), SILT_PUT_DONE);
    store_expect(rig.store, "az://tree/t/_delta_log/0.json", "one");
    store_expect(rig.store, "az://tree/t/_delta_log/1.json", "");
    assert_int_equal(azure_count(rig.stub, "resource=file"), 3);
    /* The temporary file of the one that came late is gone. */
    assert_int_equal(azure_count_names(rig.stub, ".silt-"), 0);
    assert_int_equal(azure_count_names(rig.stub, "tree/t/_delta_log/"), 2);
    rig_close(&rig);
}

static void a_lost_answer_makes_a_rename_ambiguous(void **state)
{
    struct azure_rig rig;
    rig_open_with_key(&rig, *state);
    azure_set(rig.stub, "code=0&method=PUT&has=a.json&after=1");
    assert_int_equal(store_put_new(rig.store, "az://tree/t/a.json", "x"), SILT_PUT_AMBIGUOUS);
    store_expect(rig.store, "az://tree/t/a.json", "x");
    /* Steps before the rename are repeated and decide nothing. */
    azure_set(rig.stub, "code=0&has=resource=file&after=1");
    assert_int_equal(store_put_new(rig.store, "az://tree/t/b.json", "x"), SILT_PUT_DONE);
    azure_set(rig.stub, "code=0&method=PATCH&has=append&after=1");
    assert_int_equal(store_put_new(rig.store, "az://tree/t/c.json", "x"), SILT_PUT_DONE);
    azure_set(rig.stub, "code=0&method=PATCH&has=flush&after=1");
    assert_int_equal(store_put_new(rig.store, "az://tree/t/d.json", "x"), SILT_PUT_DONE);
    store_expect(rig.store, "az://tree/t/d.json", "x");
    assert_int_equal(azure_count_names(rig.stub, ".silt-"), 0);
    rig_close(&rig);
}

static void a_step_that_is_refused_is_a_failure(void **state)
{
    static const char *const faults[] = {"code=403&name=AuthorizationPermissionMismatch&has=resource=file",
                                         "code=403&name=AuthorizationPermissionMismatch&has=append",
                                         "code=403&name=AuthorizationPermissionMismatch&has=flush",
                                         "code=403&name=AuthorizationPermissionMismatch&method=PUT&has=a.json"};
    struct azure_rig rig;
    rig_open_with_key(&rig, *state);
    for (size_t i = 0; i < 4; i++) {
        silt_put_outcome outcome = SILT_PUT_DONE;
        silt_error err = SILT_ERROR_INIT;
        azure_set(rig.stub, faults[i]);
        assert_int_equal(silt_storage_put_if_absent(rig.store, NULL, "az://tree/t/a.json", "x", 1, &outcome, &err),
                         SILT_EACCESS);
        assert_int_equal(azure_count_names(rig.stub, "tree/t/"), 0);
    }
    rig_close(&rig);
}

static void a_hint_is_one_request(void **state)
{
    struct azure_rig rig;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    silt_error err = SILT_ERROR_INIT;
    rig_open_with_key(&rig, *state);
    assert_int_equal(silt_storage_put_hint(rig.store, NULL, "az://tree/t/0.crc", "x", 1, &outcome, &err), SILT_OK);
    assert_int_equal(outcome, SILT_PUT_DONE);
    assert_int_equal(azure_count(rig.stub, " /acct/"), 1);
    rig_close(&rig);
}

/* ---- folders ---- */

static void fill(struct azure_rig *rig)
{
    static const char *const paths[] = {"az://tree/t/a", "az://tree/t/b/x", "az://tree/t/b-", "az://tree/t/b/c/y",
                                        "az://tree/u/z"};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(store_put_new(rig->store, paths[i], "x"), SILT_PUT_DONE);
    }
}

static void listings_are_in_byte_order_and_have_no_folders(void **state)
{
    struct azure_rig rig;
    rig_open_with_key(&rig, *state);
    fill(&rig);
    azure_set(rig.stub, "page=2");
    rig_expect_list(&rig, "az://tree/t", NULL, true, "a\nb-\nb/c/y\nb/x\n");
    rig_expect_list(&rig, "az://tree/t", "b/", true, "b/c/y\nb/x\n");
    rig_expect_list(&rig, "az://tree/t", NULL, false, "a\nb-\n");
    rig_expect_list(&rig, "az://tree/", NULL, false, "");
    assert_string_equal(store_list(rig.store, "az://tree/none", NULL, true), "ENOTFOUND");
    assert_string_equal(store_list(rig.store, "az://tree/t/a", NULL, true), "ENOTFOUND");
    rig_close(&rig);
}

static bool take_none(void *ctx, const silt_file_entry *entry)
{
    (void)ctx;
    (void)entry;
    return false;
}

/* A table is made where there is no folder yet, but not where there is no container. */
static void a_folder_that_is_missing_is_no_missing_container(void **state)
{
    struct azure_rig rig;
    silt_error err = SILT_ERROR_INIT;
    const silt_list_options all = {.size = sizeof(all), .recursive = true};
    rig_open_with_key(&rig, *state);
    fill(&rig);
    assert_int_equal(silt_storage_list(rig.store, NULL, "az://tree/none", &all, take_none, NULL, &err), SILT_ENOTFOUND);
    assert_string_not_equal(err.code_name, "SILT_BUCKET_NOT_FOUND");
    rig_close(&rig);
}

/* Nobody knows yet which kind it is: a listing of one folder does not need to. */
static void a_listing_by_the_blob_service_has_no_folders_either(void **state)
{
    struct azure_rig rig;
    rig_open_with_key(&rig, *state);
    fill(&rig);
    rig_close(&rig);
    rig_open_with_key(&rig, *state);
    const size_t asked = azure_count(rig.stub, "restype=account");
    rig_expect_list(&rig, "az://tree/t", NULL, false, "a\nb-\n");
    assert_int_equal(azure_count(rig.stub, "restype=account"), asked);
    rig_close(&rig);
}

static void a_folder_is_no_file(void **state)
{
    struct azure_rig rig;
    void *data = NULL;
    size_t len = 0;
    int64_t size = 0;
    silt_error err = SILT_ERROR_INIT;
    rig_open_with_key(&rig, *state);
    fill(&rig);
    assert_int_equal(silt_storage_read(rig.store, NULL, "az://tree/t/b", &data, &len, &err), SILT_ENOTFOUND);
    assert_int_equal(silt_storage_stat(rig.store, NULL, "az://tree/t/b", &size, &size, &err), SILT_ENOTFOUND);
    rig_close(&rig);
}

static void a_folder_goes_as_a_whole(void **state)
{
    struct azure_rig rig;
    silt_error err = SILT_ERROR_INIT;
    rig_open_with_key(&rig, *state);
    fill(&rig);
    assert_int_equal(silt_storage_remove_tree(rig.store, NULL, "az://tree/t", &err), SILT_OK);
    assert_int_equal(azure_count_names(rig.stub, "tree/t"), 0);
    assert_int_equal(azure_count_names(rig.stub, "tree/u"), 2);
    assert_int_equal(azure_count(rig.stub, "recursive=true"), 1);
    assert_int_equal(silt_storage_remove(rig.store, NULL, "az://tree/u/z", &err), SILT_OK);
    fill(&rig);
    azure_set(rig.stub, "page=2");
    assert_int_equal(silt_storage_remove_tree(rig.store, NULL, "az://tree/t", &err), SILT_OK);
    assert_int_equal(azure_count_names(rig.stub, "tree/t"), 0);
    assert_int_equal(silt_storage_remove_tree(rig.store, NULL, "az://tree/t", &err), SILT_OK);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_kind_is_asked_for_once, azure_set_up),
        cmocka_unit_test_setup(the_root_is_asked_where_the_account_may_not_be, azure_set_up),
        cmocka_unit_test_setup(nobody_is_asked_what_an_option_says, azure_set_up),
        cmocka_unit_test_setup(a_create_is_a_rename, azure_set_up),
        cmocka_unit_test_setup(a_lost_answer_makes_a_rename_ambiguous, azure_set_up),
        cmocka_unit_test_setup(a_step_that_is_refused_is_a_failure, azure_set_up),
        cmocka_unit_test_setup(a_hint_is_one_request, azure_set_up),
        cmocka_unit_test_setup(listings_are_in_byte_order_and_have_no_folders, azure_set_up),
        cmocka_unit_test_setup(a_folder_that_is_missing_is_no_missing_container, azure_set_up),
        cmocka_unit_test_setup(a_listing_by_the_blob_service_has_no_folders_either, azure_set_up),
        cmocka_unit_test_setup(a_folder_is_no_file, azure_set_up),
        cmocka_unit_test_setup(a_folder_goes_as_a_whole, azure_set_up),
    };
    return cmocka_run_group_tests(tests, azure_group_set_up, azure_group_tear_down);
}
