/* Building Arrow arrays. */
#include <string.h>

#include "base/arrow.h"
#include "base/decimal.h"
#include "test_env.h"

static void release_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static struct ArrowSchema flat(const char *format, const char *name)
{
    return (struct ArrowSchema){.format = format, .name = name, .release = release_schema};
}

static struct sl_arrow_builder *new_flat(struct test_env *t, const char *format)
{
    const struct ArrowSchema schema = flat(format, "x");
    struct sl_arrow_builder *builder = NULL;
    test_env_init(t);
    assert_int_equal(sl_arrow_builder_new(&t->env, &schema, &builder, NULL), SILT_OK);
    return builder;
}

static void integers_are_stored_in_their_width(void **state)
{
    (void)state;
    static const struct {
        const char *format;
        size_t width;
    } cases[] = {{"c", 1}, {"s", 2}, {"i", 4}, {"l", 8}, {"tdD", 4}, {"tsu:UTC", 8}, {"tsu:", 8}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct test_env t;
        struct sl_arrow_builder *builder = new_flat(&t, cases[i].format);
        struct ArrowArray array;
        assert_int_equal(sl_arrow_append_i64(builder, -2, NULL), SILT_OK);
        assert_int_equal(sl_arrow_append_null(builder, NULL), SILT_OK);
        assert_int_equal(sl_arrow_append_i64(builder, 100, NULL), SILT_OK);
        assert_int_equal(sl_arrow_builder_length(builder), 3);
        assert_int_equal(sl_arrow_builder_finish(builder, &array, NULL), SILT_OK);
        assert_int_equal(array.length, 3);
        assert_int_equal(array.null_count, 1);
        assert_int_equal(array.n_buffers, 2);
        int64_t first = -1; /* sign-extended on a little-endian machine */
        int64_t last = 0;
        memcpy(&first, array.buffers[1], cases[i].width);
        memcpy(&last, (const char *)array.buffers[1] + 2 * cases[i].width, cases[i].width);
        assert_int_equal(first, -2);
        assert_int_equal(last, 100);
        assert_false(sl_arrow_is_null(&array, 0));
        assert_true(sl_arrow_is_null(&array, 1));
        assert_false(sl_arrow_is_null(&array, 2));
        sl_arrow_array_release(&array);
        sl_arrow_builder_free(builder);
        test_env_check(&t);
    }
}

static void integers_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *format;
        int64_t max;
    } cases[] = {{"c", INT8_MAX}, {"s", INT16_MAX}, {"i", INT32_MAX}, {"tdD", INT32_MAX}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct test_env t;
        struct sl_arrow_builder *builder = new_flat(&t, cases[i].format);
        assert_int_equal(sl_arrow_append_i64(builder, cases[i].max, NULL), SILT_OK);
        assert_int_equal(sl_arrow_append_i64(builder, -cases[i].max - 1, NULL), SILT_OK);
        assert_int_equal(sl_arrow_append_i64(builder, cases[i].max + 1, NULL), SILT_ESCHEMA);
        assert_int_equal(sl_arrow_append_i64(builder, -cases[i].max - 2, NULL), SILT_ESCHEMA);
        assert_int_equal(sl_arrow_builder_length(builder), 2);
        sl_arrow_builder_free(builder);
        test_env_check(&t);
    }
}

static void booleans_are_bits(void **state)
{
    (void)state;
    struct test_env t;
    struct sl_arrow_builder *builder = new_flat(&t, "b");
    struct ArrowArray array;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(
            i % 5 == 4 ? sl_arrow_append_null(builder, NULL) : sl_arrow_append_i64(builder, i % 3 == 0, NULL), SILT_OK);
    }
    assert_int_equal(sl_arrow_builder_finish(builder, &array, NULL), SILT_OK);
    const uint8_t *bits = array.buffers[1];
    for (int i = 0; i < 20; i++) {
        assert_int_equal(sl_arrow_is_null(&array, i), i % 5 == 4);
        if (i % 5 != 4) {
            assert_int_equal(bits[i / 8] >> (i % 8) & 1, i % 3 == 0);
        }
    }
    sl_arrow_array_release(&array);
    sl_arrow_builder_free(builder);
    test_env_check(&t);
}

static void floats_doubles_and_decimals_are_stored(void **state)
{
    (void)state;
    struct test_env t;
    struct ArrowArray array;
    struct sl_arrow_builder *builder = new_flat(&t, "f");
    assert_int_equal(sl_arrow_append_f64(builder, 1.5, NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_null(builder, NULL), SILT_OK);
    assert_int_equal(sl_arrow_builder_finish(builder, &array, NULL), SILT_OK);
    assert_true(((const float *)array.buffers[1])[0] == 1.5F);
    sl_arrow_array_release(&array);
    sl_arrow_builder_free(builder);
    test_env_check(&t);

    builder = new_flat(&t, "g");
    assert_int_equal(sl_arrow_append_f64(builder, 0.1, NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_null(builder, NULL), SILT_OK);
    assert_int_equal(sl_arrow_builder_finish(builder, &array, NULL), SILT_OK);
    assert_true(((const double *)array.buffers[1])[0] == 0.1);
    sl_arrow_array_release(&array);
    sl_arrow_builder_free(builder);
    test_env_check(&t);

    builder = new_flat(&t, "d:3,1");
    assert_int_equal(sl_arrow_append_decimal(builder, -1, (uint64_t)-999, NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_decimal(builder, 0, 1000, NULL), SILT_ESCHEMA);
    assert_int_equal(sl_arrow_append_decimal(builder, -1, (uint64_t)-1000, NULL), SILT_ESCHEMA);
    assert_int_equal(sl_arrow_append_null(builder, NULL), SILT_OK);
    assert_int_equal(sl_arrow_builder_finish(builder, &array, NULL), SILT_OK);
    assert_int_equal(array.length, 2);
    sl_i128 value = 0;
    memcpy(&value, array.buffers[1], sizeof(value));
    assert_true(value == -999);
    sl_arrow_array_release(&array);
    sl_arrow_builder_free(builder);
    test_env_check(&t);
}

static void strings_have_offsets(void **state)
{
    (void)state;
    struct test_env t;
    struct sl_arrow_builder *builder = new_flat(&t, "u");
    struct ArrowArray array;
    assert_int_equal(sl_arrow_append_bytes(builder, SL_STR("ab"), NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_bytes(builder, SL_STR(""), NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_null(builder, NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_bytes(builder, SL_STR("cde"), NULL), SILT_OK);
    assert_int_equal(sl_arrow_builder_finish(builder, &array, NULL), SILT_OK);
    static const int32_t offsets[] = {0, 2, 2, 2, 5};
    assert_int_equal(array.n_buffers, 3);
    assert_memory_equal(array.buffers[1], offsets, sizeof(offsets));
    assert_memory_equal(array.buffers[2], "abcde", 5);
    sl_arrow_array_release(&array);
    assert_int_equal(sl_arrow_append_bytes(builder, (struct sl_str){"", (size_t)INT32_MAX + 1}, NULL), SILT_ELIMIT);
    sl_arrow_builder_free(builder);
    test_env_check(&t);
}

static void empty_arrays_have_their_buffers(void **state)
{
    (void)state;
    static const char *const formats[] = {"b", "l", "u", "z", "d:10,2", "n"};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct test_env t;
        struct sl_arrow_builder *builder = new_flat(&t, formats[i]);
        struct ArrowArray array;
        assert_int_equal(sl_arrow_builder_finish(builder, &array, NULL), SILT_OK);
        assert_int_equal(array.length, 0);
        for (int64_t b = 1; b < array.n_buffers; b++) {
            assert_non_null(array.buffers[b]);
        }
        if (array.n_buffers == 3) {
            assert_int_equal(*(const int32_t *)array.buffers[1], 0);
        }
        sl_arrow_array_release(&array);
        sl_arrow_builder_free(builder);
        test_env_check(&t);
    }
}

static void null_column_has_no_buffers(void **state)
{
    (void)state;
    struct test_env t;
    struct sl_arrow_builder *builder = new_flat(&t, "n");
    struct ArrowArray array;
    assert_int_equal(sl_arrow_append_null(builder, NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_i64(builder, 1, NULL), SILT_EINVALID);
    assert_int_equal(sl_arrow_builder_finish(builder, &array, NULL), SILT_OK);
    assert_int_equal(array.n_buffers, 0);
    assert_int_equal(array.null_count, 1);
    sl_arrow_array_release(&array);
    sl_arrow_builder_free(builder);
    test_env_check(&t);
}

static void values_of_another_kind_are_refused(void **state)
{
    (void)state;
    struct test_env t;
    struct sl_arrow_builder *builder = new_flat(&t, "u");
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_arrow_append_i64(builder, 1, &err), SILT_EINVALID);
    assert_non_null(strstr(err.message, "'x'"));
    assert_int_equal(sl_arrow_append_f64(builder, 1, NULL), SILT_EINVALID);
    assert_int_equal(sl_arrow_append_decimal(builder, 0, 1, NULL), SILT_EINVALID);
    assert_int_equal(sl_arrow_append_nested(builder, NULL), SILT_EINVALID);
    assert_null(sl_arrow_builder_child(builder, 0));
    sl_arrow_builder_free(builder);
    builder = new_flat(&t, "l");
    assert_int_equal(sl_arrow_append_bytes(builder, SL_STR("1"), NULL), SILT_EINVALID);
    sl_arrow_builder_free(builder);
    sl_arrow_builder_free(NULL);
}

/* struct<id: long, tags: list<string>, props: map<string, int>> */
struct nested {
    struct ArrowSchema root;
    struct ArrowSchema fields[3];
    struct ArrowSchema item;
    struct ArrowSchema entries;
    struct ArrowSchema key_value[2];
    struct ArrowSchema *root_children[3];
    struct ArrowSchema *item_child[1];
    struct ArrowSchema *entries_child[1];
    struct ArrowSchema *key_value_children[2];
};

static void make_nested(struct nested *n)
{
    *n = (struct nested){.root = flat("+s", ""), .item = flat("u", "item"), .entries = flat("+s", "entries")};
    n->fields[0] = flat("l", "id");
    n->fields[1] = flat("+l", "tags");
    n->fields[2] = flat("+m", "props");
    n->key_value[0] = flat("u", "key");
    n->key_value[1] = flat("i", "value");
    n->item_child[0] = &n->item;
    n->entries_child[0] = &n->entries;
    for (int i = 0; i < 3; i++) {
        n->root_children[i] = &n->fields[i];
    }
    n->key_value_children[0] = &n->key_value[0];
    n->key_value_children[1] = &n->key_value[1];
    n->root.children = n->root_children;
    n->root.n_children = 3;
    n->fields[1].children = n->item_child;
    n->fields[1].n_children = 1;
    n->fields[2].children = n->entries_child;
    n->fields[2].n_children = 1;
    n->entries.children = n->key_value_children;
    n->entries.n_children = 2;
}

/* Two rows, (7, [a, b], {k: 1}) and (null, null, {}), and a null row. Stops at the first failure. */
static silt_status append_rows(struct sl_arrow_builder *root)
{
    struct sl_arrow_builder *id = sl_arrow_builder_child(root, 0);
    struct sl_arrow_builder *tags = sl_arrow_builder_child(root, 1);
    struct sl_arrow_builder *props = sl_arrow_builder_child(root, 2);
    struct sl_arrow_builder *item = sl_arrow_builder_child(tags, 0);
    struct sl_arrow_builder *entries = sl_arrow_builder_child(props, 0);
    silt_status status = sl_arrow_append_i64(id, 7, NULL);
    status = status != SILT_OK ? status : sl_arrow_append_bytes(item, SL_STR("a"), NULL);
    status = status != SILT_OK ? status : sl_arrow_append_bytes(item, SL_STR("b"), NULL);
    status = status != SILT_OK ? status : sl_arrow_append_nested(tags, NULL);
    status = status != SILT_OK ? status : sl_arrow_append_bytes(sl_arrow_builder_child(entries, 0), SL_STR("k"), NULL);
    status = status != SILT_OK ? status : sl_arrow_append_i64(sl_arrow_builder_child(entries, 1), 1, NULL);
    status = status != SILT_OK ? status : sl_arrow_append_nested(entries, NULL);
    status = status != SILT_OK ? status : sl_arrow_append_nested(props, NULL);
    status = status != SILT_OK ? status : sl_arrow_append_nested(root, NULL);
    status = status != SILT_OK ? status : sl_arrow_append_null(id, NULL);
    status = status != SILT_OK ? status : sl_arrow_append_null(tags, NULL);
    status = status != SILT_OK ? status : sl_arrow_append_nested(props, NULL);
    status = status != SILT_OK ? status : sl_arrow_append_nested(root, NULL);
    return status != SILT_OK ? status : sl_arrow_append_null(root, NULL);
}

static void check_rows(const struct ArrowArray *array)
{
    static const int32_t tag_offsets[] = {0, 2, 2, 2};
    static const int32_t prop_offsets[] = {0, 1, 1, 1};
    assert_int_equal(array->length, 3);
    assert_int_equal(array->null_count, 1);
    assert_int_equal(array->n_buffers, 1);
    assert_int_equal(array->n_children, 3);
    assert_true(sl_arrow_is_null(array, 2));
    assert_int_equal(array->children[0]->null_count, 2);
    assert_memory_equal(array->children[1]->buffers[1], tag_offsets, sizeof(tag_offsets));
    assert_true(sl_arrow_is_null(array->children[1], 1));
    assert_int_equal(array->children[1]->children[0]->length, 2);
    assert_memory_equal(array->children[2]->buffers[1], prop_offsets, sizeof(prop_offsets));
    assert_false(sl_arrow_is_null(array->children[2], 1));
    assert_true(sl_arrow_is_null(array->children[2], 2));
    assert_int_equal(array->children[2]->children[0]->children[1]->length, 1);
}

static void nested_rows_are_built_and_the_builder_can_be_used_again(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct nested n;
    make_nested(&n);
    struct sl_arrow_builder *builder = NULL;
    assert_int_equal(sl_arrow_builder_new(&t.env, &n.root, &builder, NULL), SILT_OK);
    for (int round = 0; round < 2; round++) {
        struct ArrowArray array;
        assert_int_equal(append_rows(builder), SILT_OK);
        assert_int_equal(sl_arrow_builder_finish(builder, &array, NULL), SILT_OK);
        assert_int_equal(sl_arrow_builder_length(builder), 0);
        check_rows(&array);
        struct ArrowArray child;
        sl_arrow_array_move(&child, array.children[1]);
        sl_arrow_array_release(&array);
        assert_memory_equal(child.children[0]->buffers[2], "ab", 2);
        sl_arrow_array_release(&child);
    }
    sl_arrow_builder_free(builder);
    test_env_check(&t);
}

static void rows_that_do_not_add_up_are_refused(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct nested n;
    make_nested(&n);
    struct sl_arrow_builder *root = NULL;
    struct ArrowArray array;
    assert_int_equal(sl_arrow_builder_new(&t.env, &n.root, &root, NULL), SILT_OK);
    struct sl_arrow_builder *tags = sl_arrow_builder_child(root, 1);
    assert_int_equal(sl_arrow_append_i64(sl_arrow_builder_child(root, 0), 1, NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_nested(root, NULL), SILT_EINVALID);
    assert_int_equal(sl_arrow_append_null(root, NULL), SILT_EINVALID);
    assert_int_equal(sl_arrow_append_bytes(sl_arrow_builder_child(tags, 0), SL_STR("a"), NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_null(tags, NULL), SILT_EINVALID);
    assert_int_equal(sl_arrow_builder_finish(root, &array, NULL), SILT_EINVALID);
    assert_null(array.release);
    sl_arrow_builder_free(root);
    test_env_check(&t);
}

static void running_out_of_memory_leaks_nothing(void **state)
{
    (void)state;
    struct nested n;
    make_nested(&n);
    struct test_env t;
    test_env_init(&t);
    silt_status status = SILT_ENOMEM;
    size_t requests = 0;
    while (status == SILT_ENOMEM) {
        struct sl_arrow_builder *builder = NULL;
        struct ArrowArray array = {0};
        test_env_fail_at(&t, ++requests);
        status = sl_arrow_builder_new(&t.env, &n.root, &builder, NULL);
        status = status != SILT_OK ? status : append_rows(builder);
        status = status != SILT_OK ? status : sl_arrow_builder_finish(builder, &array, NULL);
        assert_int_equal(array.release != NULL, status == SILT_OK);
        if (status == SILT_OK) {
            check_rows(&array);
        }
        sl_arrow_array_release(&array);
        sl_arrow_builder_free(builder);
        test_env_check(&t);
    }
    assert_int_equal(status, SILT_OK);
    assert_true(requests > 20);
}

static void append_runs(struct sl_arrow_builder *at_once, struct sl_arrow_builder *singly, int64_t n, bool is_null)
{
    int64_t values[40];
    for (int64_t i = 0; i < n; i++) {
        values[i] = i * 1000003 - 7;
        assert_int_equal(is_null ? sl_arrow_append_null(singly, NULL) : sl_arrow_append_i64(singly, values[i], NULL),
                         SILT_OK);
    }
    assert_int_equal(
        is_null ? sl_arrow_append_nulls(at_once, n, NULL) : sl_arrow_append_longs(at_once, values, n, NULL), SILT_OK);
}

static void rows_at_once_are_those_of_single_ones(void **state)
{
    (void)state;
    struct test_env t;
    struct sl_arrow_builder *at_once = new_flat(&t, "l");
    struct sl_arrow_builder *singly = NULL;
    const struct ArrowSchema schema = flat("l", "x");
    struct ArrowArray a;
    struct ArrowArray b;
    assert_int_equal(sl_arrow_builder_new(&t.env, &schema, &singly, NULL), SILT_OK);
    for (int64_t begin = 0; begin < 9; begin++) {
        append_runs(at_once, singly, begin, false);
        for (int64_t n = 0; n < 40; n += 1 + n / 3) {
            append_runs(at_once, singly, n, (n & 1) != 0);
            append_runs(at_once, singly, 40 - n, n % 3 == 0);
        }
        assert_int_equal(sl_arrow_builder_finish(at_once, &a, NULL), SILT_OK);
        assert_int_equal(sl_arrow_builder_finish(singly, &b, NULL), SILT_OK);
        assert_int_equal(a.length, b.length);
        assert_int_equal(a.null_count, b.null_count);
        assert_memory_equal(a.buffers[1], b.buffers[1], (size_t)a.length * sizeof(int64_t));
        for (int64_t row = 0; row < a.length; row++) {
            assert_int_equal(sl_arrow_is_null(&a, row), sl_arrow_is_null(&b, row));
        }
        sl_arrow_array_release(&a);
        sl_arrow_array_release(&b);
    }
    sl_arrow_builder_free(at_once);
    sl_arrow_builder_free(singly);
    test_env_check(&t);
}

static void nulls_at_once_are_nulls_of_every_kind(void **state)
{
    (void)state;
    static const char *const formats[] = {"n", "b", "c", "i", "f", "g", "u", "z", "d:18,2"};
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct test_env t;
        struct sl_arrow_builder *builder = new_flat(&t, formats[i]);
        struct ArrowArray array;
        assert_int_equal(sl_arrow_append_nulls(builder, 3, NULL), SILT_OK);
        assert_int_equal(sl_arrow_append_nulls(builder, 11, NULL), SILT_OK);
        assert_int_equal(sl_arrow_append_nulls(builder, 0, NULL), SILT_OK);
        assert_int_equal(sl_arrow_append_structs(builder, 1, true, NULL), SILT_EINVALID);
        assert_int_equal(sl_arrow_builder_finish(builder, &array, NULL), SILT_OK);
        assert_int_equal(array.length, 14);
        for (int64_t row = 0; i > 0 && row < 14; row++) {
            assert_true(sl_arrow_is_null(&array, row));
        }
        sl_arrow_array_release(&array);
        sl_arrow_builder_free(builder);
        test_env_check(&t);
    }
}

static void structs_at_once_need_as_many_fields(void **state)
{
    (void)state;
    struct test_env t;
    struct nested n;
    struct sl_arrow_builder *builder = NULL;
    struct ArrowArray array;
    test_env_init(&t);
    make_nested(&n);
    assert_int_equal(sl_arrow_builder_new(&t.env, &n.root, &builder, NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_structs(builder, 3, true, NULL), SILT_OK);
    assert_int_equal(sl_arrow_append_structs(builder, 2, false, NULL), SILT_OK);
    assert_int_equal(sl_arrow_builder_finish(builder, &array, NULL), SILT_EINVALID);
    for (size_t i = 0; sl_arrow_builder_child(builder, i) != NULL; i++) {
        assert_int_equal(sl_arrow_append_nulls(sl_arrow_builder_child(builder, i), 5, NULL), SILT_OK);
    }
    assert_int_equal(sl_arrow_builder_finish(builder, &array, NULL), SILT_OK);
    assert_int_equal(array.null_count, 2);
    assert_false(sl_arrow_is_null(&array, 2));
    assert_true(sl_arrow_is_null(&array, 3));
    sl_arrow_array_release(&array);
    sl_arrow_builder_free(builder);
    test_env_check(&t);
}

static void unusable_schemas_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",    "U",      "tss:UTC",    "d:39,0", "d:0,0", "d:5,6",
                                      "d:5", "d:5,-1", "d:76,0,256", "+w:2",   "e"};
    struct test_env t;
    test_env_init(&t);
    struct sl_arrow_builder *builder = NULL;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const struct ArrowSchema schema = flat(bad[i], "x");
        assert_int_equal(sl_arrow_builder_new(&t.env, &schema, &builder, NULL), SILT_EUNSUPPORTED);
        assert_null(builder);
    }
    struct nested n;
    make_nested(&n);
    n.fields[1].n_children = 0;
    assert_int_equal(sl_arrow_builder_new(&t.env, &n.root, &builder, NULL), SILT_EINVALID);
    make_nested(&n);
    n.item_child[0] = &n.fields[1];
    assert_int_equal(sl_arrow_builder_new(&t.env, &n.root, &builder, NULL), SILT_ELIMIT);
    const struct ArrowSchema with_width = flat("d:38,10,128", "x");
    assert_int_equal(sl_arrow_builder_new(&t.env, &with_width, &builder, NULL), SILT_OK);
    sl_arrow_builder_free(builder);
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_stored_in_their_width),
        cmocka_unit_test(integers_that_do_not_fit_are_refused),
        cmocka_unit_test(booleans_are_bits),
        cmocka_unit_test(floats_doubles_and_decimals_are_stored),
        cmocka_unit_test(strings_have_offsets),
        cmocka_unit_test(empty_arrays_have_their_buffers),
        cmocka_unit_test(null_column_has_no_buffers),
        cmocka_unit_test(values_of_another_kind_are_refused),
        cmocka_unit_test(nested_rows_are_built_and_the_builder_can_be_used_again),
        cmocka_unit_test(rows_that_do_not_add_up_are_refused),
        cmocka_unit_test(running_out_of_memory_leaks_nothing),
        cmocka_unit_test(rows_at_once_are_those_of_single_ones),
        cmocka_unit_test(nulls_at_once_are_nulls_of_every_kind),
        cmocka_unit_test(structs_at_once_need_as_many_fields),
        cmocka_unit_test(unusable_schemas_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
