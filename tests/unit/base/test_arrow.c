/* Small operations on Arrow structs. */
#include "base/arrow.h"

#include <string.h>

#include "test_env.h"

static void release_nothing(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static const char metadata[] = "\x01\0\0\0"
                               "\x03\0\0\0"
                               "key"
                               "\x05\0\0\0"
                               "value";

/* A struct of a list with metadata and of a dictionary-encoded column, on static storage. */
static void make_schema(struct ArrowSchema fields[5], struct ArrowSchema *pointers[3])
{
    memset(fields, 0, 5 * sizeof(*fields));
    fields[0] = (struct ArrowSchema){.format = "+s", .name = "", .n_children = 2, .children = pointers};
    fields[1] = (struct ArrowSchema){
        .format = "+l", .name = "list", .metadata = metadata, .flags = ARROW_FLAG_NULLABLE};
    fields[1].n_children = 1;
    fields[1].children = &pointers[2];
    fields[2] = (struct ArrowSchema){.format = "i", .dictionary = &fields[4]};
    fields[3] = (struct ArrowSchema){.format = "tsu:UTC", .name = "element"};
    fields[4] = (struct ArrowSchema){.format = "u"};
    pointers[0] = &fields[1];
    pointers[1] = &fields[2];
    pointers[2] = &fields[3];
    for (int i = 0; i < 5; i++) {
        fields[i].release = release_nothing;
    }
}

static void schema_copy_is_deep_and_complete(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct ArrowSchema fields[5];
    struct ArrowSchema *pointers[3];
    make_schema(fields, pointers);
    struct ArrowSchema copy;
    assert_int_equal(sl_arrow_schema_copy(&t.env, &fields[0], &copy, NULL), SILT_OK);
    assert_string_equal(copy.format, "+s");
    assert_string_equal(copy.name, "");
    assert_int_equal(copy.n_children, 2);
    assert_string_equal(copy.children[0]->name, "list");
    assert_int_equal(copy.children[0]->flags, ARROW_FLAG_NULLABLE);
    assert_ptr_not_equal(copy.children[0]->metadata, metadata);
    assert_memory_equal(copy.children[0]->metadata, metadata, sizeof(metadata) - 1);
    assert_string_equal(copy.children[0]->children[0]->format, "tsu:UTC");
    assert_null(copy.children[1]->name);
    assert_string_equal(copy.children[1]->dictionary->format, "u");
    struct ArrowSchema child;
    sl_arrow_schema_move(&child, copy.children[0]);
    sl_arrow_schema_release(&copy);
    assert_null(copy.release);
    assert_string_equal(child.name, "list");
    sl_arrow_schema_release(&child);
    sl_arrow_schema_release(&child);
    sl_arrow_schema_release(NULL);
    test_env_check(&t);
}

static void schema_copy_without_memory_leaves_nothing(void **state)
{
    (void)state;
    struct ArrowSchema fields[5];
    struct ArrowSchema *pointers[3];
    make_schema(fields, pointers);
    struct test_env t;
    test_env_init(&t);
    silt_status status = SILT_ENOMEM;
    for (size_t n = 1; status == SILT_ENOMEM; n++) {
        struct ArrowSchema copy;
        test_env_fail_at(&t, n);
        status = sl_arrow_schema_copy(&t.env, &fields[0], &copy, NULL);
        assert_int_equal(copy.release != NULL, status == SILT_OK);
        sl_arrow_schema_release(&copy);
        test_env_check(&t);
    }
    assert_int_equal(status, SILT_OK);
}

static void malformed_schemas_are_refused(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct ArrowSchema fields[5];
    struct ArrowSchema *pointers[3];
    struct ArrowSchema copy;
    make_schema(fields, pointers);
    fields[3].release = NULL;
    assert_int_equal(sl_arrow_schema_copy(&t.env, &fields[0], &copy, NULL), SILT_EINVALID);
    make_schema(fields, pointers);
    fields[3].format = NULL;
    assert_int_equal(sl_arrow_schema_copy(&t.env, &fields[0], &copy, NULL), SILT_EINVALID);
    make_schema(fields, pointers);
    pointers[1] = NULL;
    assert_int_equal(sl_arrow_schema_copy(&t.env, &fields[0], &copy, NULL), SILT_EINVALID);
    make_schema(fields, pointers);
    fields[0].children = NULL;
    assert_int_equal(sl_arrow_schema_copy(&t.env, &fields[0], &copy, NULL), SILT_EINVALID);
    make_schema(fields, pointers);
    fields[1].metadata = "\xFF\xFF\xFF\xFF";
    assert_int_equal(sl_arrow_schema_copy(&t.env, &fields[0], &copy, NULL), SILT_EINVALID);
    make_schema(fields, pointers);
    pointers[2] = &fields[1]; /* its own child: endless */
    assert_int_equal(sl_arrow_schema_copy(&t.env, &fields[0], &copy, NULL), SILT_ELIMIT);
    assert_null(copy.release);
    test_env_check(&t);
}

static void validity_counts_from_the_offset(void **state)
{
    (void)state;
    const uint8_t bits[2] = {0xFD, 0x01};
    const void *buffers[2] = {bits, NULL};
    struct ArrowArray array = {.length = 9, .null_count = -1, .n_buffers = 2, .buffers = buffers};
    assert_false(sl_arrow_is_null(&array, 0));
    assert_true(sl_arrow_is_null(&array, 1));
    assert_false(sl_arrow_is_null(&array, 8));
    assert_true(sl_arrow_is_null(&array, 9));
    array.offset = 1;
    assert_true(sl_arrow_is_null(&array, 0));
    assert_false(sl_arrow_is_null(&array, 7));
    array.null_count = 0;
    assert_false(sl_arrow_is_null(&array, 0));
    array.null_count = -1;
    buffers[0] = NULL;
    assert_false(sl_arrow_is_null(&array, 0));
    array.n_buffers = 0;
    assert_true(sl_arrow_is_null(&array, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schema_copy_is_deep_and_complete),
        cmocka_unit_test(schema_copy_without_memory_leaves_nothing),
        cmocka_unit_test(malformed_schemas_are_refused),
        cmocka_unit_test(validity_counts_from_the_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
