/* The error record. */
#include "base/error.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "test_env.h"

static void failure_sets_every_field(void **state)
{
    (void)state;
    silt_error err = SILT_ERROR_INIT;
    sl_fail(&err, SILT_EIO, NULL, "first");
    sl_error_hint(&err, "try %d", 1);
    sl_error_path(&err, "/a/b");
    sl_error_version(&err, 7);
    sl_error_position(&err, 9);
    assert_string_equal(err.hint, "try 1");
    assert_string_equal(err.path, "/a/b");
    assert_int_equal(err.version, 7);
    assert_int_equal(err.position, 9);
    assert_int_equal(sl_fail(&err, SILT_ECORRUPT, "DELTA_X", "file %s", "f"), SILT_ECORRUPT);
    assert_int_equal(err.status, SILT_ECORRUPT);
    assert_string_equal(err.code_name, "DELTA_X");
    assert_string_equal(err.message, "file f");
    assert_string_equal(err.hint, "");
    assert_string_equal(err.path, "");
    assert_int_equal(err.version, -1);
    assert_int_equal(err.position, -1);
    silt_error_reset(&err);
    assert_int_equal(err.status, SILT_OK);
    assert_int_equal(err.size, sizeof(err));
}

static void absent_record_is_legal_everywhere(void **state)
{
    (void)state;
    assert_int_equal(sl_fail(NULL, SILT_EIO, NULL, "x"), SILT_EIO);
    assert_int_equal(sl_fail_nomem(NULL), SILT_ENOMEM);
    assert_int_equal(sl_fail_errno(NULL, ENOENT, "open", "f"), SILT_ENOTFOUND);
    sl_error_hint(NULL, "x");
    sl_error_path(NULL, "x");
    sl_error_version(NULL, 1);
    sl_error_position(NULL, 1);
    sl_error_context(NULL, "x");
    silt_error_reset(NULL);
}

static void record_of_smaller_layout_is_left_alone(void **state)
{
    (void)state;
    silt_error err = SILT_ERROR_INIT;
    err.size = 8;
    assert_int_equal(sl_fail(&err, SILT_EIO, NULL, "x"), SILT_EIO);
    assert_int_equal(err.status, SILT_OK);
    silt_error zeroed = {0};
    sl_fail(&zeroed, SILT_EIO, NULL, "x");
    assert_int_equal(zeroed.status, SILT_EIO);
    assert_int_equal(zeroed.size, sizeof(zeroed));
}

static void every_status_has_a_name_and_a_default_class(void **state)
{
    (void)state;
    for (int i = SILT_OK; i <= SILT_ELIMIT; i++) {
        silt_error err = SILT_ERROR_INIT;
        assert_string_not_equal(silt_status_name((silt_status)i), "?");
        if (i != SILT_OK) {
            sl_fail(&err, (silt_status)i, NULL, "x");
            assert_true(strlen(err.code_name) > 3);
        }
    }
    assert_string_equal(silt_status_name((silt_status)999), "?");
    assert_string_equal(silt_status_name(SILT_ECORRUPT), "ECORRUPT");
}

static void message_is_one_line_of_valid_text(void **state)
{
    (void)state;
    silt_error err = SILT_ERROR_INIT;
    sl_fail(&err, SILT_EIO, NULL, "%s",
            "a\nb\tc\x7f\xFF"
            "d\xC3\xA4\xE2\x80\xA8z");
    assert_string_equal(err.message, "a b c ?d\xC3\xA4 z");
}

static void long_message_is_cut_between_characters(void **state)
{
    (void)state;
    char text[3000];
    for (size_t i = 0; i + 3 < sizeof(text); i += 3) {
        memcpy(text + i, "\xE2\x82\xAC", 4);
    }
    silt_error err = SILT_ERROR_INIT;
    sl_fail(&err, SILT_EIO, NULL, "x%s", text);
    assert_true(strlen(err.message) > SILT_ERROR_MESSAGE_SIZE - 5);
    assert_true(sl_utf8_valid(sl_str_from(err.message)));
    assert_null(strchr(err.message, '?'));
}

static void long_path_keeps_its_tail(void **state)
{
    (void)state;
    char path[1000];
    memset(path, 'd', sizeof(path));
    memcpy(path + sizeof(path) - 9, "/tail.js", 9);
    silt_error err = SILT_ERROR_INIT;
    sl_fail(&err, SILT_EIO, NULL, "x");
    sl_error_path(&err, path);
    assert_int_equal(strlen(err.path), SILT_ERROR_PATH_SIZE - 1);
    assert_true(sl_str_ends_with(sl_str_from(err.path), SL_STR("/tail.js")));
}

static void arguments_may_point_into_the_record(void **state)
{
    (void)state;
    silt_error err = SILT_ERROR_INIT;
    sl_fail(&err, SILT_EIO, "CODE", "inner");
    sl_fail(&err, SILT_ECORRUPT, err.code_name, "outer of %s", err.message);
    assert_string_equal(err.message, "outer of inner");
    assert_string_equal(err.code_name, "CODE");
}

static void context_comes_before_the_message_and_keeps_the_rest(void **state)
{
    (void)state;
    silt_error err = SILT_ERROR_INIT;
    sl_fail(&err, SILT_EIO, NULL, "disk failed");
    sl_error_version(&err, 3);
    sl_error_position(&err, 7);
    sl_error_context(&err, "reading %s", "0.json");
    assert_int_equal(err.position, -1); /* it was in 0.json */
    assert_string_equal(err.message, "reading 0.json: disk failed");
    assert_int_equal(err.version, 3);
    char text[2000];
    memset(text, 'c', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    sl_error_context(&err, "%s", text);
    assert_int_equal(strlen(err.message), SILT_ERROR_MESSAGE_SIZE - 1);
}

static void errno_picks_the_status(void **state)
{
    (void)state;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_fail_errno(&err, ENOENT, "open", "/x/y"), SILT_ENOTFOUND);
    assert_string_equal(err.message, "cannot open /x/y: no such file or directory (errno 2)");
    assert_string_equal(err.path, "/x/y");
    assert_int_equal(err.sys_code, ENOENT);
    assert_int_equal(sl_fail_errno(&err, EACCES, "open", NULL), SILT_EACCESS);
    assert_int_equal(sl_fail_errno(&err, EROFS, "open", NULL), SILT_EACCESS);
    assert_int_equal(sl_fail_errno(&err, ENOSPC, "write", NULL), SILT_ENOSPACE);
    assert_int_equal(sl_fail_errno(&err, ENOMEM, "write", NULL), SILT_ENOMEM);
    assert_int_equal(sl_fail_errno(&err, EEXIST, "link", NULL), SILT_EEXISTS);
    assert_int_equal(sl_fail_errno(&err, EIO, "write", NULL), SILT_EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failure_sets_every_field),
        cmocka_unit_test(absent_record_is_legal_everywhere),
        cmocka_unit_test(record_of_smaller_layout_is_left_alone),
        cmocka_unit_test(every_status_has_a_name_and_a_default_class),
        cmocka_unit_test(message_is_one_line_of_valid_text),
        cmocka_unit_test(long_message_is_cut_between_characters),
        cmocka_unit_test(long_path_keeps_its_tail),
        cmocka_unit_test(arguments_may_point_into_the_record),
        cmocka_unit_test(context_comes_before_the_message_and_keeps_the_rest),
        cmocka_unit_test(errno_picks_the_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
