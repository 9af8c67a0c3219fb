/*
 * Reading the few rows of a file that have a value in one of some members: none is missed, and most others are not read.
 */
#include "duck_fixture.h"

#include <string.h>

#include "base/arrow.h"
#include "kernel/engine/engine.h"

#define FIELDS                                                                                       \
    "{\"name\":\"k\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"                          \
    "{\"name\":\"s\",\"type\":{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"long\","   \
    "\"nullable\":true,\"metadata\":{}}]},\"nullable\":true,\"metadata\":{}},"                       \
    "{\"name\":\"t\",\"type\":{\"type\":\"struct\",\"fields\":[{\"name\":\"b\",\"type\":\"string\"," \
    "\"nullable\":true,\"metadata\":{}}]},\"nullable\":true,\"metadata\":{}}"

struct found {
    int64_t n_rows;
    int64_t n_wanted; /* rows with s or t */
};

static struct found read_any_of(struct duck_fixture *fx, const char *const *members, size_t n)
{
    silt_schema *schema = duck_schema(fx, FIELDS);
    const struct duck_written *written = duck_file(fx, 0);
    const silt_parquet_file file = {.path = written->full, .local_path = written->full, .size_bytes = -1};
    const silt_parquet_read read = {.size = sizeof(read),
                                    .storage = fx->storage,
                                    .files = &file,
                                    .n_files = 1,
                                    .schema = schema,
                                    .any_of = members,
                                    .n_any_of = n};
    struct ArrowArrayStream stream = {0};
    assert_int_equal(sl_parquet_read(fx->engine, NULL, &read, &stream, &fx->err), SILT_OK);
    struct found found = {0};
    bool done = false;
    while (!done) {
        struct ArrowArray batch = {0};
        assert_int_equal(sl_arrow_stream_next(&stream, &batch, &done, &fx->err), SILT_OK);
        for (int64_t i = 0; !done && i < batch.length; i++) {
            found.n_rows++;
            found.n_wanted += !sl_arrow_is_null(batch.children[1], i) || !sl_arrow_is_null(batch.children[2], i);
        }
        sl_arrow_array_release(&batch);
    }
    sl_arrow_stream_release(&stream);
    silt_schema_unref(schema);
    return found;
}

static void write_rows(struct duck_fixture *fx, const char *s, const char *t)
{
    silt_schema *schema = duck_schema(fx, FIELDS);
    const struct duck_write_options options = {.row_group_rows = 20480};
    const char *query = sl_arena_printf(
        &fx->arena,
        "SELECT i AS k, CASE WHEN %s THEN {'a': i} END AS s, CASE WHEN %s THEN {'b': 'x'} "
        "END AS t FROM range(200000) r(i)",
        s, t);
    duck_write(fx, query, schema, &options);
    silt_schema_unref(schema);
}

static const char *const both[] = {"s.a", "t.b", "absent.c"};

static void few_rows_are_found_and_little_else_is_read(void **state)
{
    struct duck_fixture *fx = *state;
    write_rows(fx, "i IN (5, 60000, 60001, 199999)", "i = 120000");
    const struct found found = read_any_of(fx, both, 3);
    assert_int_equal(found.n_wanted, 5);
    assert_true(found.n_rows < 100);
    const struct found only = read_any_of(fx, both, 1);
    assert_int_equal(only.n_wanted, 4);
}

static void a_file_without_any_gives_no_row(void **state)
{
    struct duck_fixture *fx = *state;
    write_rows(fx, "false", "false");
    assert_int_equal(read_any_of(fx, both, 3).n_rows, 0);
    assert_int_equal(read_any_of(fx, &both[2], 1).n_rows, 0);
}

static void scattered_rows_are_all_found(void **state)
{
    struct duck_fixture *fx = *state;
    write_rows(fx, "i % 5000 = 7", "i % 3 = 0 AND i > 100000");
    assert_int_equal(read_any_of(fx, both, 3).n_wanted, 33367);
    write_rows(fx, "i % 2 = 0", "i % 2 = 1");
    assert_int_equal(read_any_of(fx, both, 3).n_wanted, 200000);
}

/* To ask for nothing in particular is to want every row. */
static void every_row_is_read_without_a_wish(void **state)
{
    struct duck_fixture *fx = *state;
    write_rows(fx, "i = 1", "false");
    assert_int_equal(read_any_of(fx, both, 0).n_rows, 200000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, duck_setup, duck_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(few_rows_are_found_and_little_else_is_read),
        TEST(a_file_without_any_gives_no_row),
        TEST(scattered_rows_are_all_found),
        TEST(every_row_is_read_without_a_wish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
