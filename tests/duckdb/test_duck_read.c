/* The Parquet handler's read of single files that odd writers left: the same values as a scan gives. */
#include <stdio.h>
#include <string.h>

#include "duck_fixture.h"
#include "parquet_fixture.h"
#include "rows_text.h"

#define FLAT(name, type) "{\"name\":\"" name "\",\"type\":\"" type "\",\"nullable\":true,\"metadata\":{}}"

static void check(struct duck_fixture *fx, const struct pq_column *column, const char *type, const char *expected)
{
    static unsigned n_files = 0;
    struct ArrowArrayStream stream = {0};
    struct sl_buf rows;
    const char *path = sl_arena_printf(&fx->arena, "%s/read%u.parquet", fx->dir, n_files++);
    silt_schema *schema = duck_schema(fx, sl_arena_printf(&fx->arena, FLAT("c", "%s"), type));
    const silt_parquet_file file = {.path = path, .local_path = path, .size_bytes = -1};
    const silt_parquet_read request = {.size = sizeof(request), .files = &file, .n_files = 1, .schema = schema};
    pq_write(path, column, 1, (int64_t)column->n_values, NULL);
    sl_buf_init(&rows, fx->env);
    silt_status status = fx->plane.vtable->parquet->read(fx->plane.dp, NULL, &request, &stream, &fx->err);
    if (status == SILT_OK) {
        status = rows_drain(&stream, &rows, &fx->err);
    }
    if (expected == NULL) {
        assert_int_not_equal(status, SILT_OK);
    } else {
        if (status != SILT_OK) {
            fail_msg("%s", fx->err.message);
        }
        assert_string_equal(sl_buf_cstr(&rows), expected);
    }
    sl_buf_release(&rows);
    silt_schema_unref(schema);
}

static void bytes_without_annotation_are_the_text_that_they_are(void **state)
{
    const struct sl_str texts[] = {SL_STR("a\\x41"), SL_STR("\xC3\xA9")};
    const struct sl_str broken[] = {SL_STR("\xFF")};
    const struct pq_column column = {.name = "c", .type = PQ_BYTES, .texts = texts, .n_values = 2};
    const struct pq_column bad = {.name = "c", .type = PQ_BYTES, .texts = broken, .n_values = 1};
    check(*state, &column, "string", "a\\x41\n\xC3\xA9\n");
    check(*state, &bad, "string", NULL);
}

static void numbers_keep_their_meaning(void **state)
{
    const int64_t us[] = {-1};
    const int32_t days[] = {-719162};
    const int64_t ns[] = {1001};
    const struct pq_column wall = {
        .name = "c", .type = PQ_INT64, .logical = PQ_MICROS_LOCAL, .values = us, .n_values = 1};
    const struct pq_column plain = {.name = "c", .type = PQ_INT32, .values = days, .n_values = 1};
    const struct pq_column lossy = {
        .name = "c", .type = PQ_INT64, .logical = PQ_NANOS_LOCAL, .values = ns, .n_values = 1};
    check(*state, &wall, "timestamp", "1969-12-31 23:59:59.999999\n");
    check(*state, &plain, "date", "0001-01-01\n");
    check(*state, &lossy, "timestamp", NULL);
}

/* Its values come out of a copy that only scans make. */
static void what_is_read_aside_is_refused(void **state)
{
    const int64_t ns[] = {1000};
    const struct pq_column column = {
        .name = "c", .type = PQ_INT64, .logical = PQ_NANOS_UTC, .values = ns, .n_values = 1};
    check(*state, &column, "timestamp", NULL);
}

static void a_file_that_cannot_be_matched_is_named(void **state)
{
    struct duck_fixture *fx = *state;
    static const int32_t number[] = {1};
    const struct pq_column members[] = {{.name = "x", .type = PQ_INT32, .values = number, .n_values = 1},
                                        {.name = "X", .type = PQ_INT32, .values = number, .n_values = 1}};
    const struct pq_column column = {.name = "c", .type = PQ_GROUP, .children = members, .n_children = 2};
    struct ArrowArrayStream stream = {0};
    const char *path = sl_arena_printf(&fx->arena, "%s/twice.parquet", fx->dir);
    silt_schema *schema = duck_schema(fx, "{\"name\":\"c\",\"type\":{\"type\":\"struct\",\"fields\":[" FLAT(
                                              "x", "integer") "]},\"nullable\":true,\"metadata\":{}}");
    const silt_parquet_file file = {.path = path, .local_path = path, .size_bytes = -1};
    const silt_parquet_read request = {.size = sizeof(request), .files = &file, .n_files = 1, .schema = schema};
    pq_write(path, &column, 1, 1, NULL);
    silt_status status = fx->plane.vtable->parquet->read(fx->plane.dp, NULL, &request, &stream, &fx->err);
    if (status == SILT_OK) {
        struct sl_buf rows;
        sl_buf_init(&rows, fx->env);
        status = rows_drain(&stream, &rows, &fx->err);
        sl_buf_release(&rows);
    }
    assert_int_equal(status, SILT_ESCHEMA);
    assert_non_null(strstr(fx->err.message, "twice.parquet has several fields"));
    silt_schema_unref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bytes_without_annotation_are_the_text_that_they_are, duck_setup, duck_teardown),
        cmocka_unit_test_setup_teardown(numbers_keep_their_meaning, duck_setup, duck_teardown),
        cmocka_unit_test_setup_teardown(what_is_read_aside_is_refused, duck_setup, duck_teardown),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_matched_is_named, duck_setup, duck_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
