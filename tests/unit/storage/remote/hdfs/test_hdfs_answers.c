/* Answers of WebHDFS, good and hostile. */
#include "storage/remote/hdfs/hdfs_answers.h"

#include <string.h>

#include "test_env.h"

#define FILE_OF(name, rest) "{\"pathSuffix\":\"" name "\",\"modificationTime\":17," rest "}"
#define PAGE_OF(files, remaining)                                                         \
    "{\"DirectoryListing\":{\"partialListing\":{\"FileStatuses\":{\"FileStatus\":[" files \
    "]}},\"remainingEntries\":" remaining "}}"

static silt_status read_file(const char *text, struct sl_hdfs_file *out)
{
    struct test_env t;
    test_env_init(&t);
    struct sl_json_doc *doc = NULL;
    silt_status status = sl_hdfs_parse(&t.env, sl_str_from(text), &doc, NULL);
    if (status == SILT_OK) {
        status = sl_hdfs_read_file(sl_json_root(doc), out, NULL);
    }
    sl_json_free(doc);
    test_env_check(&t);
    return status;
}

static void a_status_tells_type_size_and_time(void **state)
{
    (void)state;
    struct sl_hdfs_file file = {0};
    assert_int_equal(read_file("{\"FileStatus\":" FILE_OF("", "\"length\":5,\"type\":\"FILE\"") "}", &file), SILT_OK);
    assert_int_equal(file.size_bytes, 5);
    assert_int_equal(file.modified_ms, 17);
    assert_false(file.is_folder);
    assert_int_equal(read_file("{\"FileStatus\":" FILE_OF("", "\"length\":0,\"type\":\"DIRECTORY\"") "}", &file),
                     SILT_OK);
    assert_true(file.is_folder);
    static const char *const bad[] = {"",
                                      "[]",
                                      "{}",
                                      "{\"FileStatus\":7}",
                                      "{\"FileStatus\":" FILE_OF("", "\"type\":\"FILE\"") "}",
                                      "{\"FileStatus\":" FILE_OF("", "\"length\":-1,\"type\":\"FILE\"") "}",
                                      "{\"FileStatus\":" FILE_OF("", "\"length\":1,\"type\":\"SYMLINK\"") "}",
                                      "{\"FileStatus\":{\"length\":1,\"type\":\"FILE\"}}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(read_file(bad[i], &file), SILT_EIO);
    }
}

/* Counts the files of a page; -1 for one that is refused. */
static int count_page(const char *text, int64_t *remaining)
{
    struct sl_json_doc *doc = NULL;
    struct sl_hdfs_page page;
    struct sl_hdfs_file file = {0};
    silt_status status = sl_hdfs_parse(silt_env_default(), sl_str_from(text), &doc, NULL);
    if (status == SILT_OK) {
        status = sl_hdfs_read_page(sl_json_root(doc), &page, NULL);
    }
    int n = 0;
    while (status == SILT_OK && sl_hdfs_next_file(&page, &file, &status, NULL)) {
        n++;
    }
    *remaining = status == SILT_OK ? page.remaining : -1;
    sl_json_free(doc);
    return status == SILT_OK ? n : -1;
}

static void a_page_has_files_and_tells_how_many_are_left(void **state)
{
    (void)state;
    int64_t remaining = 0;
    assert_int_equal(count_page(PAGE_OF(FILE_OF("a", "\"length\":5,\"type\":\"FILE\"") "," FILE_OF(
                                            "b", "\"length\":0,\"type\":\"DIRECTORY\""),
                                        "3"),
                                &remaining),
                     2);
    assert_int_equal(remaining, 3);
    static const char *const bad[] = {PAGE_OF("", "-1"),
                                      PAGE_OF("", "\"x\""),
                                      PAGE_OF("7", "0"),
                                      PAGE_OF(FILE_OF("a/b", "\"length\":5,\"type\":\"FILE\""), "0"),
                                      PAGE_OF(FILE_OF("..", "\"length\":5,\"type\":\"FILE\""), "0"),
                                      PAGE_OF(FILE_OF("a\\u0000b", "\"length\":5,\"type\":\"FILE\""), "0"),
                                      PAGE_OF("{\"length\":5,\"type\":\"FILE\",\"modificationTime\":1}", "0"),
                                      "{\"FileStatuses\":{\"FileStatus\":[]}}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(count_page(bad[i], &remaining), -1);
    }
}

static void yes_and_no_are_told_from_anything_else(void **state)
{
    (void)state;
    bool yes = false;
    const silt_env *env = silt_env_default();
    assert_int_equal(sl_hdfs_read_answer(env, SL_STR("{\"boolean\":true}"), &yes, NULL), SILT_OK);
    assert_true(yes);
    assert_int_equal(sl_hdfs_read_answer(env, SL_STR("{\"boolean\":false}"), &yes, NULL), SILT_OK);
    assert_false(yes);
    assert_int_equal(sl_hdfs_read_answer(env, SL_STR(""), &yes, NULL), SILT_OK);
    assert_true(yes);
    assert_int_equal(sl_hdfs_read_answer(env, SL_STR("{}"), &yes, NULL), SILT_EIO);
    assert_int_equal(sl_hdfs_read_answer(env, SL_STR("{\"boolean\":1}"), &yes, NULL), SILT_EIO);
    assert_int_equal(sl_hdfs_read_answer(env, SL_STR("true"), &yes, NULL), SILT_EIO);
}

static void exceptions_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum sl_hdfs_fault fault;
        const char *words;
    } cases[] = {
        {"{\"RemoteException\":{\"exception\":\"FileNotFoundException\",\"message\":\"File /x does not exist.\"}}",
         SL_HDFS_NOT_FOUND, "FileNotFoundException: File /x does not exist."},
        {"{\"RemoteException\":{\"exception\":\"StandbyException\",\"message\":\"Operation category READ\\n\\tat a\"}}",
         SL_HDFS_STANDBY, "StandbyException: Operation category READ"},
        {"{\"RemoteException\":{\"exception\":\"IOException\",\"message\":\"Offset=9 out of the range [0, 5); OPEN\"}}",
         SL_HDFS_RANGE, "IOException: Offset=9 out of the range [0, 5); OPEN"},
        {"{\"RemoteException\":{\"exception\":\"FileAlreadyExistsException\"}}", SL_HDFS_EXISTS,
         "FileAlreadyExistsException"},
        {"{\"RemoteException\":{\"exception\":\"IOException\",\"message\":\"x\"}}", SL_HDFS_OTHER, "IOException: x"},
        {"{\"RemoteException\":7}", SL_HDFS_OTHER, ""},
        {"<html>", SL_HDFS_OTHER, ""},
        {"", SL_HDFS_OTHER, ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct test_env t;
        test_env_init(&t);
        struct sl_buf words;
        sl_buf_init(&words, &t.env);
        assert_int_equal(sl_hdfs_read_fault(&t.env, sl_str_from(cases[i].text), &words), cases[i].fault);
        assert_string_equal(sl_buf_cstr(&words), cases[i].words);
        sl_buf_release(&words);
        test_env_check(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_status_tells_type_size_and_time),
        cmocka_unit_test(a_page_has_files_and_tells_how_many_are_left),
        cmocka_unit_test(yes_and_no_are_told_from_anything_else),
        cmocka_unit_test(exceptions_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
