/* Fitting tables to a width: what is hidden, what is cut. */
#include "cli/table_layout.h"

#include "cli/text_width.h"
#include "test_env.h"

struct fixture {
    struct test_env test;
    struct sl_arena arena;
    struct sl_buf buf;
    struct sl_layout layout;
};

/* Columns of one row each. */
static void set_columns(struct fixture *fixture, const char *const *names, const struct sl_str *cells, size_t n,
                        size_t total)
{
    test_env_init(&fixture->test);
    sl_arena_init(&fixture->arena, &fixture->test.env);
    sl_buf_init(&fixture->buf, &fixture->test.env);
    assert_true(sl_layout_init(&fixture->layout, &fixture->arena, n));
    fixture->layout.total = total;
    for (size_t i = 0; i < n; i++) {
        fixture->layout.columns[i].name = sl_str_from(names[i]);
        sl_layout_note(&fixture->layout.columns[i], sl_str_from(names[i]), true);
        sl_layout_note(&fixture->layout.columns[i], cells[i], false);
    }
}

static void drop(struct fixture *fixture)
{
    sl_buf_release(&fixture->buf);
    sl_arena_release(&fixture->arena);
    test_env_check(&fixture->test);
}

static void what_fits_stays_as_it_is(void **state)
{
    static const char *const names[] = {"a", "empty"};
    const struct sl_str cells[] = {SL_STR("value"), {NULL, 0}};
    struct fixture fixture;
    (void)state;
    set_columns(&fixture, names, cells, 2, 17);
    assert_true(sl_layout_fits(&fixture.layout));
    sl_layout_fit(&fixture.layout);
    sl_layout_put_row(&fixture.buf, &fixture.layout, cells);
    assert_string_equal(sl_buf_cstr(&fixture.buf), "│ value │ NULL  │\n");
    drop(&fixture);
}

static void columns_without_values_go_first(void **state)
{
    static const char *const names[] = {"a", "empty", "b"};
    const struct sl_str cells[] = {SL_STR("value"), {NULL, 0}, SL_STR("other")};
    struct fixture fixture;
    (void)state;
    set_columns(&fixture, names, cells, 3, 20);
    sl_layout_fit(&fixture.layout);
    sl_layout_put_row(&fixture.buf, &fixture.layout, cells);
    sl_layout_put_count(&fixture.buf, &fixture.layout, 1);
    assert_string_equal(sl_buf_cstr(&fixture.buf), "│ value │ other │\n(1 row; 1 of 3 columns are not shown)\n");
    drop(&fixture);
}

static void the_widest_text_is_cut_and_rigid_columns_are_not(void **state)
{
    static const char *const names[] = {"text", "time"};
    const struct sl_str cells[] = {SL_STR("twenty characters...."), SL_STR("2026-01-31T12:00:00Z")};
    struct fixture fixture;
    (void)state;
    set_columns(&fixture, names, cells, 2, 41);
    fixture.layout.columns[1].is_rigid = true;
    sl_layout_fit(&fixture.layout);
    assert_int_equal(fixture.layout.columns[0].width, 14);
    sl_layout_put_row(&fixture.buf, &fixture.layout, cells);
    assert_string_equal(sl_buf_cstr(&fixture.buf), "│ twenty charac… │ 2026-01-31T12:00:00Z │\n");
    drop(&fixture);
}

static void last_columns_go_when_cutting_is_not_enough(void **state)
{
    static const char *const names[] = {"one", "two", "three"};
    const struct sl_str cells[] = {SL_STR("aaaaaaaaaaaaaaaaaaaa"), SL_STR("bbbbbbbbbbbbbbbbbbbb"),
                                   SL_STR("cccccccccccccccccccc")};
    struct fixture fixture;
    (void)state;
    set_columns(&fixture, names, cells, 3, 40);
    sl_layout_fit(&fixture.layout);
    assert_false(fixture.layout.columns[0].is_hidden);
    assert_false(fixture.layout.columns[1].is_hidden);
    assert_true(fixture.layout.columns[2].is_hidden);
    assert_true(sl_layout_fits(&fixture.layout));
    drop(&fixture);
}

static void one_column_is_always_left(void **state)
{
    static const char *const names[] = {"a", "b"};
    const struct sl_str cells[] = {SL_STR("12345678901234567890"), SL_STR("x")};
    struct fixture fixture;
    (void)state;
    set_columns(&fixture, names, cells, 2, 8);
    fixture.layout.columns[0].is_rigid = true;
    sl_layout_fit(&fixture.layout);
    sl_layout_put_row(&fixture.buf, &fixture.layout, cells);
    assert_string_equal(sl_buf_cstr(&fixture.buf), "│ 123… │\n");
    drop(&fixture);
}

static void a_terminal_of_no_width_ends(void **state)
{
    static const char *const names[] = {"a"};
    const struct sl_str cells[] = {SL_STR("text")};
    struct fixture fixture;
    (void)state;
    set_columns(&fixture, names, cells, 1, 2);
    sl_layout_fit(&fixture.layout);
    assert_int_equal(fixture.layout.columns[0].width, 1);
    drop(&fixture);
}

static void text_is_measured_and_cut_between_characters(void **state)
{
    size_t used = 0;
    (void)state;
    sl_text_use_utf8();
    assert_int_equal(sl_text_width(SL_STR("abc")), 3);
    assert_int_equal(sl_text_width(SL_STR("日本")), 4);
    assert_int_equal(sl_text_width(SL_STR("e\xCC\x81")), 1); /* e with a combining accent */
    assert_int_equal(sl_text_fit(SL_STR("日本"), 3, &used), 3);
    assert_int_equal(used, 2);
    assert_int_equal(sl_text_fit(SL_STR("日本"), 1, &used), 0);
}

static void control_characters_and_broken_bytes_become_visible(void **state)
{
    struct test_env test;
    struct sl_arena arena;
    (void)state;
    test_env_init(&test);
    sl_arena_init(&arena, &test.env);
    const struct sl_str plain = SL_STR("plain é");
    assert_ptr_equal(sl_text_displayable(&arena, plain).ptr, plain.ptr);
    assert_true(sl_str_eq_c(sl_text_displayable(&arena, SL_STR("a\nb\tc\rd")), "a\\nb\\tc\\rd"));
    assert_true(sl_str_eq_c(sl_text_displayable(&arena, SL_STR("\x1b[31m\x7f")), "\\x1b[31m\\x7f"));
    assert_true(sl_str_eq_c(sl_text_displayable(&arena, SL_STR("\xFFz\xC3")), "\\xffz\\xc3"));
    assert_true(sl_str_eq_c(sl_text_displayable(&arena, SL_STR("\xC2\x9B")), "\\xc2\\x9b")); /* CSI as one character */
    sl_arena_release(&arena);
    test_env_check(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_stays_as_it_is),
        cmocka_unit_test(columns_without_values_go_first),
        cmocka_unit_test(the_widest_text_is_cut_and_rigid_columns_are_not),
        cmocka_unit_test(last_columns_go_when_cutting_is_not_enough),
        cmocka_unit_test(one_column_is_always_left),
        cmocka_unit_test(a_terminal_of_no_width_ends),
        cmocka_unit_test(text_is_measured_and_cut_between_characters),
        cmocka_unit_test(control_characters_and_broken_bytes_become_visible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
