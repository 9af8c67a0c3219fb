/* Rows picked out of Arrow arrays, and arrays of nulls. */
#include <stdio.h>
#include <string.h>

#include "base/arrow.h"
#include "test_env.h"

static void release_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

/* "s: struct<t: text, l: map<text, text>, n: long, b: bool>" */
struct shape {
    struct ArrowSchema root, text, map, entries, key, value, number, flag;
    struct ArrowSchema *members[4], *of_map[1], *of_entries[2];
};

static struct ArrowSchema field(const char *format, const char *name)
{
    return (struct ArrowSchema){.format = format, .name = name, .flags = 2, .release = release_schema};
}

static void make_shape(struct shape *s)
{
    s->root = field("+s", "s");
    s->text = field("u", "t");
    s->map = field("+m", "l");
    s->entries = field("+s", "entries");
    s->key = field("u", "key");
    s->value = field("u", "value");
    s->number = field("l", "n");
    s->flag = field("b", "b");
    s->of_entries[0] = &s->key;
    s->of_entries[1] = &s->value;
    s->entries.children = s->of_entries;
    s->entries.n_children = 2;
    s->of_map[0] = &s->entries;
    s->map.children = s->of_map;
    s->map.n_children = 1;
    s->members[0] = &s->text;
    s->members[1] = &s->map;
    s->members[2] = &s->number;
    s->members[3] = &s->flag;
    s->root.children = s->members;
    s->root.n_children = 4;
}

/* Rows first … first + n - 1: every third is null, every second text and map is. */
static void build(struct test_env *t, const struct shape *s, int64_t first, int64_t n, struct ArrowArray *out)
{
    struct sl_arrow_builder *root = NULL;
    assert_int_equal(sl_arrow_builder_new(&t->env, &s->root, &root, NULL), SILT_OK);
    for (int64_t i = first; i < first + n; i++) {
        char text[16];
        const int len = snprintf(text, sizeof(text), "row %lld", (long long)i);
        const struct sl_str view = sl_str_make(text, (size_t)len);
        if (i % 3 == 2) {
            assert_int_equal(sl_arrow_append_null(root, NULL), SILT_OK);
            continue;
        }
        struct sl_arrow_builder *map = sl_arrow_builder_child(root, 1);
        struct sl_arrow_builder *entries = sl_arrow_builder_child(map, 0);
        if (i % 2 == 0) {
            assert_int_equal(sl_arrow_append_null(sl_arrow_builder_child(root, 0), NULL), SILT_OK);
            assert_int_equal(sl_arrow_append_null(map, NULL), SILT_OK);
        } else {
            assert_int_equal(sl_arrow_append_bytes(sl_arrow_builder_child(root, 0), view, NULL), SILT_OK);
            for (int64_t k = 0; k < i % 4; k++) {
                assert_int_equal(sl_arrow_append_bytes(sl_arrow_builder_child(entries, 0), view, NULL), SILT_OK);
                assert_int_equal(sl_arrow_append_null(sl_arrow_builder_child(entries, 1), NULL), SILT_OK);
                assert_int_equal(sl_arrow_append_nested(entries, NULL), SILT_OK);
            }
            assert_int_equal(sl_arrow_append_nested(map, NULL), SILT_OK);
        }
        assert_int_equal(sl_arrow_append_i64(sl_arrow_builder_child(root, 2), i, NULL), SILT_OK);
        assert_int_equal(sl_arrow_append_i64(sl_arrow_builder_child(root, 3), i % 5 == 0, NULL), SILT_OK);
        assert_int_equal(sl_arrow_append_nested(root, NULL), SILT_OK);
    }
    assert_int_equal(sl_arrow_builder_finish(root, out, NULL), SILT_OK);
    sl_arrow_builder_free(root);
}

/* What build made of row `i` is in row `row`. */
static void expect_row(const struct ArrowArray *array, int64_t row, int64_t i)
{
    assert_int_equal(sl_arrow_is_null(array, row), i % 3 == 2);
    if (i % 3 == 2) {
        return;
    }
    const struct ArrowArray *text = array->children[0];
    const struct ArrowArray *map = array->children[1];
    const int32_t *offsets = text->buffers[1];
    const int32_t *entries = map->buffers[1];
    assert_int_equal(((const int64_t *)array->children[2]->buffers[1])[row], i);
    assert_int_equal(((const uint8_t *)array->children[3]->buffers[1])[row / 8] >> (row % 8) & 1, i % 5 == 0);
    assert_int_equal(sl_arrow_is_null(text, row), i % 2 == 0);
    assert_int_equal(sl_arrow_is_null(map, row), i % 2 == 0);
    assert_int_equal(entries[row + 1] - entries[row], i % 2 == 0 ? 0 : i % 4);
    if (i % 2 != 0) {
        char wanted[16];
        const int len = snprintf(wanted, sizeof(wanted), "row %lld", (long long)i);
        assert_int_equal(offsets[row + 1] - offsets[row], len);
        assert_memory_equal((const char *)text->buffers[2] + offsets[row], wanted, (size_t)len);
        const struct ArrowArray *keys = map->children[0]->children[0];
        const int32_t *key_offsets = keys->buffers[1];
        for (int32_t k = entries[row]; k < entries[row + 1]; k++) {
            assert_memory_equal((const char *)keys->buffers[2] + key_offsets[k], wanted, (size_t)len);
            assert_true(sl_arrow_is_null(map->children[0]->children[1], k));
        }
    }
}

static void rows_of_two_arrays_come_in_the_order_of_the_picks(void **state)
{
    (void)state;
    struct test_env t;
    struct shape s;
    struct ArrowArray a, b, out;
    struct ArrowArray *const sources[] = {&a, &b};
    struct sl_arrow_pick picks[40];
    test_env_init(&t);
    make_shape(&s);
    build(&t, &s, 0, 20, &a);
    build(&t, &s, 100, 20, &b);
    for (uint32_t i = 0; i < 40; i++) {
        picks[i] = (struct sl_arrow_pick){.source = i % 2, .row = (i * 7) % 20};
    }
    assert_int_equal(sl_arrow_take(&t.env, &s.root, sources, picks, 40, &out, NULL), SILT_OK);
    assert_int_equal(out.length, 40);
    for (int64_t i = 0; i < 40; i++) {
        expect_row(&out, i, (i % 2) * 100 + (i * 7) % 20);
    }
    sl_arrow_array_release(&out);
    sl_arrow_array_release(&a);
    sl_arrow_array_release(&b);
    test_env_check(&t);
}

static void offsets_of_arrays_count(void **state)
{
    (void)state;
    struct test_env t;
    struct shape s;
    struct ArrowArray a, out;
    struct ArrowArray *const sources[] = {&a};
    const struct sl_arrow_pick picks[] = {{0, 2}, {0, 0}};
    test_env_init(&t);
    make_shape(&s);
    build(&t, &s, 0, 20, &a);
    a.offset = 5;
    a.length = 15;
    assert_int_equal(sl_arrow_take(&t.env, &s.root, sources, picks, 2, &out, NULL), SILT_OK);
    expect_row(&out, 0, 7);
    expect_row(&out, 1, 5);
    sl_arrow_array_release(&out);
    sl_arrow_array_release(&a);
    test_env_check(&t);
}

static void no_picks_give_no_rows(void **state)
{
    (void)state;
    struct test_env t;
    struct shape s;
    struct ArrowArray out;
    test_env_init(&t);
    make_shape(&s);
    assert_int_equal(sl_arrow_take(&t.env, &s.root, NULL, NULL, 0, &out, NULL), SILT_OK);
    assert_int_equal(out.length, 0);
    sl_arrow_array_release(&out);
    test_env_check(&t);
}

static void nulls_are_null_at_every_level(void **state)
{
    (void)state;
    struct test_env t;
    struct shape s;
    struct ArrowArray out;
    test_env_init(&t);
    make_shape(&s);
    assert_int_equal(sl_arrow_nulls(&t.env, &s.root, 17, &out, NULL), SILT_OK);
    assert_int_equal(out.length, 17);
    assert_int_equal(out.null_count, 17);
    for (int64_t row = 0; row < 17; row++) {
        assert_true(sl_arrow_is_null(&out, row));
        assert_true(sl_arrow_is_null(out.children[0], row));
        assert_true(sl_arrow_is_null(out.children[1], row));
        assert_true(sl_arrow_is_null(out.children[2], row));
    }
    assert_int_equal(((const int32_t *)out.children[1]->buffers[1])[17], 0);
    sl_arrow_array_release(&out);
    test_env_check(&t);
}

static void bytes_of_what_was_taken_are_those_of_the_allocator(void **state)
{
    (void)state;
    struct test_env t;
    struct shape s;
    struct ArrowArray a, out;
    struct ArrowArray *const sources[] = {&a};
    const struct sl_arrow_pick picks[] = {{0, 1}, {0, 3}, {0, 2}};
    test_env_init(&t);
    make_shape(&s);
    build(&t, &s, 0, 8, &a);
    const size_t before = t.live_bytes;
    assert_int_equal(sl_arrow_take(&t.env, &s.root, sources, picks, 3, &out, NULL), SILT_OK);
    assert_int_equal(sl_arrow_taken_bytes(&out), t.live_bytes - before);
    sl_arrow_array_release(&out);
    sl_arrow_array_release(&a);
    test_env_check(&t);
}

static void lack_of_memory_leaks_nothing(void **state)
{
    (void)state;
    struct test_env t;
    struct shape s;
    struct ArrowArray a, out;
    struct ArrowArray *const sources[] = {&a};
    const struct sl_arrow_pick picks[] = {{0, 1}, {0, 3}, {0, 2}};
    test_env_init(&t);
    make_shape(&s);
    build(&t, &s, 0, 8, &a);
    silt_status status = SILT_ENOMEM;
    for (size_t n = 1; status == SILT_ENOMEM && n < 200; n++) {
        test_env_fail_at(&t, n);
        status = sl_arrow_take(&t.env, &s.root, sources, picks, 3, &out, NULL);
    }
    test_env_fail_at(&t, 0);
    assert_int_equal(status, SILT_OK);
    sl_arrow_array_release(&out);
    sl_arrow_array_release(&a);
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_two_arrays_come_in_the_order_of_the_picks),
        cmocka_unit_test(offsets_of_arrays_count),
        cmocka_unit_test(no_picks_give_no_rows),
        cmocka_unit_test(nulls_are_null_at_every_level),
        cmocka_unit_test(bytes_of_what_was_taken_are_those_of_the_allocator),
        cmocka_unit_test(lack_of_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
