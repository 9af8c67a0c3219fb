/*
 * The store of Azure over a small server that can be told to fail: what is sent, what answers mean, what is not believed. The contract of
 * stores is tried elsewhere, over azurite.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "azure_rig.h"

/* ---- conditional creates ---- */

static void a_create_is_one_conditional_put(void **state)
{
    struct azure_rig rig;
    rig_open_with_key(&rig, *state);
    assert_int_equal(store_put_new(rig.store, "az://flat/t/_delta_log/0.json", "one"), SILT_PUT_DONE);
    assert_int_equal(store_put_new(rig.store, "az://flat/t/_delta_log/0.json", "two"), SILT_PUT_EXISTS);
    store_expect(rig.store, "az://flat/t/_delta_log/0.json", "one");
    assert_int_equal(azure_count(rig.stub, "PUT"), 2);
    assert_int_equal(azure_count(rig.stub, "restype=account"), 1); /* asked once which kind it is */
    rig_close(&rig);
}

static void a_lost_answer_makes_a_create_ambiguous(void **state)
{
    struct azure_rig rig;
    rig_open_with_key(&rig, *state);
    assert_int_equal(store_put_new(rig.store, "az://flat/t/other", "x"), SILT_PUT_DONE);
    azure_set(rig.stub, "code=0&method=PUT&after=1");
    assert_int_equal(store_put_new(rig.store, "az://flat/t/a", "x"), SILT_PUT_AMBIGUOUS);
    store_expect(rig.store, "az://flat/t/a", "x");
    azure_set(rig.stub, "code=500&name=OperationTimedOut&method=PUT&after=1");
    assert_int_equal(store_put_new(rig.store, "az://flat/t/b", "x"), SILT_PUT_AMBIGUOUS);
    /* Nothing was done: the second attempt is the only one. */
    azure_set(rig.stub, "code=0&method=PUT");
    assert_int_equal(store_put_new(rig.store, "az://flat/t/c", "x"), SILT_PUT_DONE);
    rig_close(&rig);
}

static void a_refused_create_is_a_failure(void **state)
{
    struct azure_rig rig;
    silt_put_outcome outcome = SILT_PUT_DONE;
    silt_error err = SILT_ERROR_INIT;
    rig_open_with_key(&rig, *state);
    assert_int_equal(store_put_new(rig.store, "az://flat/t/other", "x"), SILT_PUT_DONE);
    azure_set(rig.stub, "code=403&name=AuthorizationPermissionMismatch&method=PUT");
    assert_int_equal(silt_storage_put_if_absent(rig.store, NULL, "az://flat/t/a", "x", 1, &outcome, &err),
                     SILT_EACCESS);
    assert_non_null(strstr(err.message, "HTTP 403 AuthorizationPermissionMismatch"));
    assert_int_equal(err.sys_code, 403);
    azure_set(rig.stub, "code=403&name=UnauthorizedBlobOverwrite&method=PUT");
    assert_int_equal(store_put_new(rig.store, "az://flat/t/a", "x"), SILT_PUT_EXISTS);
    azure_set(rig.stub, "code=404&name=ContainerNotFound&method=PUT");
    assert_int_equal(silt_storage_put_if_absent(rig.store, NULL, "az://flat/t/a", "x", 1, &outcome, &err),
                     SILT_ENOTFOUND);
    assert_non_null(strstr(err.message, "container flat does not exist"));
    rig_close(&rig);
}

static void a_busy_service_is_asked_again(void **state)
{
    struct azure_rig rig;
    rig_open_with_key(&rig, *state);
    assert_int_equal(store_put_new(rig.store, "az://flat/t/a", "x"), SILT_PUT_DONE);
    azure_set(rig.stub, "code=503&name=ServerBusy&method=GET&times=2");
    store_expect(rig.store, "az://flat/t/a", "x");
    rig_close(&rig);
}

/* ---- adopt ---- */

/* A file of `size` bytes of this machine; its name is written to path. */
static void make_file(char path[64], size_t size)
{
    static const char block[65536] = {'s', 'i', 'l', 't'};
    (void)snprintf(path, 64, "/tmp/silt-azure-XXXXXX");
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (size_t done = 0; done < size;) {
        const size_t part = size - done < sizeof(block) ? size - done : sizeof(block);
        assert_int_equal(write(fd, block, part), part);
        done += part;
    }
    assert_int_equal(close(fd), 0);
}

static void a_large_file_goes_in_blocks(void **state)
{
    struct azure_rig rig;
    char path[64];
    silt_error err = SILT_ERROR_INIT;
    int64_t size = 0;
    int64_t modified_ms = 0;
    const size_t large = ((size_t)33 << 20) + 5;
    rig_open_with_key(&rig, *state);
    make_file(path, large);
    assert_int_equal(silt_storage_adopt(rig.store, NULL, path, "az://flat/t/large.parquet", &err), SILT_OK);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(azure_count(rig.stub, "comp=block&"), 5);
    assert_int_equal(azure_count(rig.stub, "comp=blocklist"), 1);
    assert_int_equal(silt_storage_stat(rig.store, NULL, "az://flat/t/large.parquet", &size, &modified_ms, &err),
                     SILT_OK);
    assert_int_equal(size, large);
    make_file(path, large);
    assert_int_equal(silt_storage_adopt(rig.store, NULL, path, "az://flat/t/large.parquet", &err), SILT_EEXISTS);
    assert_int_equal(access(path, F_OK), 0);
    (void)unlink(path);
    rig_close(&rig);
}

static void an_adopted_file_is_known_again_after_a_lost_answer(void **state)
{
    struct azure_rig rig;
    char path[64];
    silt_error err = SILT_ERROR_INIT;
    rig_open_with_key(&rig, *state);
    make_file(path, 10);
    azure_set(rig.stub, "code=0&method=PUT&after=1");
    assert_int_equal(silt_storage_adopt(rig.store, NULL, path, "az://flat/t/a.parquet", &err), SILT_OK);
    assert_int_not_equal(access(path, F_OK), 0);
    /* The name is another's: the mark tells. */
    make_file(path, 10);
    azure_set(rig.stub, "code=0&method=PUT");
    assert_int_equal(silt_storage_adopt(rig.store, NULL, path, "az://flat/t/a.parquet", &err), SILT_EEXISTS);
    (void)unlink(path);
    rig_close(&rig);
}

/* ---- reads ---- */

static void ignore(void *ctx, silt_read_request *request)
{
    (void)ctx;
    (void)request;
}

static void what_is_not_the_wanted_range_is_not_believed(void **state)
{
    struct azure_rig rig;
    rig_open_with_key(&rig, *state);
    assert_int_equal(store_put_new(rig.store, "az://flat/t/a", "0123456789"), SILT_PUT_DONE);
    static const char *const lies[] = {"range=-1", "range=1", "range=-3"};
    for (size_t i = 0; i < 3; i++) {
        silt_read_request request = {.path = "az://flat/t/a", .offset = 2, .length = 3};
        silt_error err = SILT_ERROR_INIT;
        azure_set(rig.stub, lies[i]);
        const silt_status status = silt_storage_read_many(rig.store, NULL, &request, 1, ignore, NULL, &err);
        assert_true(status == SILT_EIO || request.status == SILT_EIO);
        silt_read_request_release(rig.store, &request);
    }
    rig_close(&rig);
}

/* A range is refused that was not asked for, or that every file but an empty one has; and 204 is no content of a file. */
static void a_refused_range_is_no_empty_file(void **state)
{
    static const char *const answers[] = {"code=416&name=InvalidRange&method=GET", "code=204&method=GET",
                                          "code=203&method=GET"};
    static const struct {
        int64_t offset;
        int64_t length;
    } reads[] = {{0, -1}, {0, 9}, {-9, -1}, {-100000, -1}};
    struct azure_rig rig;
    rig_open_with_key(&rig, *state);
    assert_int_equal(store_put_new(rig.store, "az://flat/t/a", "0123456789"), SILT_PUT_DONE);
    for (size_t i = 0; i < 12; i++) {
        silt_read_request request = {
            .path = "az://flat/t/a", .offset = reads[i / 3].offset, .length = reads[i / 3].length};
        silt_error err = SILT_ERROR_INIT;
        azure_set(rig.stub, answers[i % 3]);
        const silt_status status = silt_storage_read_many(rig.store, NULL, &request, 1, ignore, NULL, &err);
        if (status != SILT_EIO && request.status != SILT_EIO) {
            fail_msg("read %zu: %s, %s", i, silt_status_name(request.status), err.message);
        }
        assert_null(request.data);
    }
    rig_close(&rig);
}

/* The services say 200 or 201 of what they wrote; somebody on the way may say anything. */
static void an_odd_success_of_a_create_is_none(void **state)
{
    struct azure_rig rig;
    rig_open_with_key(&rig, *state);
    assert_int_equal(store_put_new(rig.store, "az://flat/t/other", "x"), SILT_PUT_DONE);
    azure_set(rig.stub, "code=204&method=PUT");
    assert_int_equal(store_put_new(rig.store, "az://flat/t/a", "x"), SILT_PUT_AMBIGUOUS);
    rig_close(&rig);
}

static void behind_the_end_is_nothing(void **state)
{
    static const char *const ways[] = {"hollow=0", "hollow=1"};
    struct azure_rig rig;
    rig_open_with_key(&rig, *state);
    assert_int_equal(store_put_new(rig.store, "az://flat/t/a", "0123456789"), SILT_PUT_DONE);
    for (size_t i = 0; i < 2; i++) {
        silt_read_request request = {.path = "az://flat/t/a", .offset = 10, .length = 3};
        silt_error err = SILT_ERROR_INIT;
        azure_set(rig.stub, ways[i]);
        assert_int_equal(silt_storage_read_many(rig.store, NULL, &request, 1, ignore, NULL, &err), SILT_OK);
        assert_int_equal(request.status, SILT_OK);
        assert_int_equal(request.data_len, 0);
        silt_read_request_release(rig.store, &request);
    }
    rig_close(&rig);
}

static void the_last_bytes_are_of_one_version(void **state)
{
    struct azure_rig rig;
    rig_open_with_key(&rig, *state);
    assert_int_equal(store_put_new(rig.store, "az://flat/t/a", "0123456789"), SILT_PUT_DONE);
    silt_read_request request = {.path = "az://flat/t/a", .offset = -4, .length = 2};
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(silt_storage_read_many(rig.store, NULL, &request, 1, ignore, NULL, &err), SILT_OK);
    assert_int_equal(request.status, SILT_OK);
    assert_int_equal(request.data_len, 2);
    assert_memory_equal(request.data, "67", 2);
    assert_int_equal(request.tag[0], '"');
    assert_int_equal(request.file_size, 10);
    silt_read_request_release(rig.store, &request);
    rig_close(&rig);
}

/* A condition that fails says that the file was replaced. A service that says so of a read without one says nothing of the file. */
static void a_file_that_is_replaced_while_it_is_read_is_told(void **state)
{
    static const struct {
        int64_t offset;
        silt_status expected;
    } cases[] = {{-70000, SILT_ECORRUPT}, {0, SILT_EIO}};
    struct azure_rig rig;
    rig_open_with_key(&rig, *state);
    assert_int_equal(store_put_new(rig.store, "az://flat/t/a", "0123456789"), SILT_PUT_DONE);
    for (size_t i = 0; i < 2; i++) {
        silt_read_request request = {.path = "az://flat/t/a", .offset = cases[i].offset, .length = -1};
        silt_error err = SILT_ERROR_INIT;
        azure_set(rig.stub, "code=412&name=ConditionNotMet&method=GET&times=1");
        (void)!silt_storage_read_many(rig.store, NULL, &request, 1, ignore, NULL, &err);
        assert_int_equal(request.status, cases[i].expected);
        assert_int_equal(strstr(err.message, "was replaced while it was read") != NULL, i == 0);
        silt_read_request_release(rig.store, &request);
    }
    rig_close(&rig);
}

/* Of a file of ten bytes, and of an empty one. More is asked for than there is, as much, and less; with a server that gives whole files, too. */
static void the_last_bytes_of_files_of_any_size(void **state)
{
    struct azure_rig rig;
    static const struct {
        const char *path;
        int64_t offset;
        int64_t length;
        const char *expected;
    } cases[] = {
        {"az://flat/t/ten", -20, -1, "0123456789"},
        {"az://flat/t/ten", -10, -1, "0123456789"},
        {"az://flat/t/ten", -3, -1, "789"},
        {"az://flat/t/ten", -20, 4, "0123"},
        {"az://flat/t/ten", -70000, -1, "0123456789"},
        {"az://flat/t/none", -20, -1, ""},
        {"az://flat/t/none", -70000, 4, ""},
    };
    static const char *const ways[] = {"hollow=0", "hollow=1"};
    rig_open_with_key(&rig, *state);
    assert_int_equal(store_put_new(rig.store, "az://flat/t/ten", "0123456789"), SILT_PUT_DONE);
    assert_int_equal(store_put_new(rig.store, "az://flat/t/none", ""), SILT_PUT_DONE);
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        const size_t at = i / 2;
        silt_read_request request = {.path = cases[at].path, .offset = cases[at].offset, .length = cases[at].length};
        silt_error err = SILT_ERROR_INIT;
        azure_set(rig.stub, ways[i % 2]);
        assert_int_equal(silt_storage_read_many(rig.store, NULL, &request, 1, ignore, NULL, &err), SILT_OK);
        assert_int_equal(request.status, SILT_OK);
        assert_int_equal(request.data_len, strlen(cases[at].expected));
        assert_memory_equal(request.data_len > 0 ? request.data : "", cases[at].expected, request.data_len);
        assert_int_equal(request.file_size, strstr(cases[at].path, "ten") != NULL ? 10 : 0);
        silt_read_request_release(rig.store, &request);
    }
    rig_close(&rig);
}

/* ---- listings ---- */

static bool take_any(void *ctx, const silt_file_entry *entry)
{
    (void)ctx;
    (void)entry;
    return true;
}

static void listings_go_from_page_to_page(void **state)
{
    struct azure_rig rig;
    const silt_list_options all = {.size = sizeof(all), .recursive = true};
    silt_error err = SILT_ERROR_INIT;
    rig_open_with_key(&rig, *state);
    static const char *const paths[] = {"az://flat/t/a", "az://flat/t/b", "az://flat/t/c/x", "az://flat/t/c-",
                                        "az://flat/t/d"};
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(store_put_new(rig.store, paths[i], "x"), SILT_PUT_DONE);
    }
    azure_set(rig.stub, "page=2");
    rig_expect_list(&rig, "az://flat/t", NULL, false, "a\nb\nc-\nd\n");
    rig_expect_list(&rig, "az://flat/t", NULL, true, "a\nb\nc-\nc/x\nd\n");
    rig_expect_list(&rig, "az://flat/t", "b", false, "b\nc-\nd\n");
    rig_expect_list(&rig, "az://flat/t", "e", false, "");
    assert_string_equal(store_list(rig.store, "az://flat/none", NULL, false), "ENOTFOUND");
    assert_string_equal(store_list(rig.store, "az://flat/none", "a", false), "ENOTFOUND");
    azure_set(rig.stub, "stuck=1");
    assert_string_equal(store_list(rig.store, "az://flat/t", NULL, true), "EIO");
    azure_set(rig.stub, "stuck=0&order=-1");
    assert_int_equal(silt_storage_list(rig.store, NULL, "az://flat/t", &all, take_any, NULL, &err), SILT_EIO);
    assert_non_null(strstr(err.message, "do not ascend"));
    rig_close(&rig);
}

static void a_tree_is_removed_page_by_page(void **state)
{
    struct azure_rig rig;
    silt_error err = SILT_ERROR_INIT;
    rig_open_with_key(&rig, *state);
    static const char *const paths[] = {"az://flat/t/a", "az://flat/t/b/c", "az://flat/t-", "az://flat/t/d"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(store_put_new(rig.store, paths[i], "x"), SILT_PUT_DONE);
    }
    assert_int_equal(silt_storage_remove_tree(rig.store, NULL, "az://flat/t/", &err), SILT_OK);
    assert_int_equal(azure_count_names(rig.stub, "flat/"), 1);
    assert_int_equal(silt_storage_remove_tree(rig.store, NULL, "az://flat/t", &err), SILT_OK);
    assert_int_equal(silt_storage_remove_tree(rig.store, NULL, "az://flat/", &err), SILT_EINVALID);
    assert_int_equal(silt_storage_remove(rig.store, NULL, "az://flat/t/a", &err), SILT_OK);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_create_is_one_conditional_put, azure_set_up),
        cmocka_unit_test_setup(a_lost_answer_makes_a_create_ambiguous, azure_set_up),
        cmocka_unit_test_setup(a_refused_create_is_a_failure, azure_set_up),
        cmocka_unit_test_setup(a_busy_service_is_asked_again, azure_set_up),
        cmocka_unit_test_setup(a_large_file_goes_in_blocks, azure_set_up),
        cmocka_unit_test_setup(an_adopted_file_is_known_again_after_a_lost_answer, azure_set_up),
        cmocka_unit_test_setup(what_is_not_the_wanted_range_is_not_believed, azure_set_up),
        cmocka_unit_test_setup(behind_the_end_is_nothing, azure_set_up),
        cmocka_unit_test_setup(a_refused_range_is_no_empty_file, azure_set_up),
        cmocka_unit_test_setup(an_odd_success_of_a_create_is_none, azure_set_up),
        cmocka_unit_test_setup(the_last_bytes_are_of_one_version, azure_set_up),
        cmocka_unit_test_setup(a_file_that_is_replaced_while_it_is_read_is_told, azure_set_up),
        cmocka_unit_test_setup(the_last_bytes_of_files_of_any_size, azure_set_up),
        cmocka_unit_test_setup(listings_go_from_page_to_page, azure_set_up),
        cmocka_unit_test_setup(a_tree_is_removed_page_by_page, azure_set_up),
    };
    return cmocka_run_group_tests(tests, azure_group_set_up, azure_group_tear_down);
}
