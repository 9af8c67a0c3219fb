/* LIKE patterns. */
#include "model_fixture.h"

#include <string.h>

#include "expr/like.h"

static bool match(const char *text, const char *pattern)
{
    assert_true(sl_like_valid(sl_str_from(pattern)));
    return sl_like_match(sl_str_from(text), sl_str_from(pattern));
}

static void wildcards_match_as_in_sql(void **state)
{
    (void)state;
    assert_true(match("", ""));
    assert_true(match("", "%"));
    assert_false(match("", "_"));
    assert_false(match("a", ""));
    assert_true(match("abc", "abc"));
    assert_true(match("abc", "a%"));
    assert_true(match("abc", "%c"));
    assert_true(match("abc", "%b%"));
    assert_true(match("abc", "a_c"));
    assert_true(match("abc", "%%_%"));
    assert_false(match("abc", "ab"));
    assert_false(match("abc", "%b"));
    assert_true(match("abcbcd", "a%bcd"));
    assert_false(match("ABC", "abc"));
    assert_true(match("a%", "a\\%"));
    assert_false(match("ab", "a\\%"));
    assert_true(match("a\\b", "a\\\\b"));
    assert_true(match("\xc3\xa9x", "_x"));
    assert_true(match("\xf0\x9f\x98\x80", "_"));
    assert_false(match("\xc3\xa9", "__"));
    assert_true(match("x\ny", "x%y"));
}

static void long_texts_take_no_exponential_time(void **state)
{
    (void)state;
    char text[2001];
    memset(text, 'a', 2000);
    text[2000] = '\0';
    assert_false(match(text, "%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%b"));
}

static void broken_escapes_are_seen(void **state)
{
    (void)state;
    assert_false(sl_like_valid(SL_STR("a\\")));
    assert_false(sl_like_valid(SL_STR("\\a")));
    assert_false(sl_like_valid(SL_STR("\\\0")));
    assert_true(sl_like_valid(SL_STR("\\\\\\_")));
}

static void prefixes_are_split_off(void **state)
{
    struct model *m = *state;
    struct sl_like_prefix p;
    assert_true(sl_like_split(&m->arena, SL_STR("a\\%b%"), &p));
    assert_true(sl_str_eq_c(p.text, "a%b"));
    assert_true(p.is_prefix && !p.is_exact);
    assert_true(sl_like_split(&m->arena, SL_STR("ab"), &p));
    assert_true(p.is_exact && !p.is_prefix);
    assert_true(sl_like_split(&m->arena, SL_STR("ab_%"), &p));
    assert_true(!p.is_exact && !p.is_prefix);
    assert_true(sl_like_split(&m->arena, SL_STR("%"), &p));
    assert_int_equal(p.text.len, 0);
    assert_true(p.is_prefix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MODEL_TEST(wildcards_match_as_in_sql),
        MODEL_TEST(long_texts_take_no_exponential_time),
        MODEL_TEST(broken_escapes_are_seen),
        MODEL_TEST(prefixes_are_split_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
