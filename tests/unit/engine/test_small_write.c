/*
 * Small Parquet files of silt's own: what is written is read again, all that is not small is handed on with its rows, and foreign or damaged
 * bytes are never taken for rows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/arrow.h"
#include "base/buf.h"
#include "base/error.h"
#include "engine/small_read.h"
#include "engine/small_write.h"
#include "schema/type.h"
#include "schema/value.h"
#include "silt/storage.h"
#include "test_env.h"

#define FLAT                                                                            \
    "{\"type\":\"struct\",\"fields\":["                                                 \
    "{\"name\":\"b\",\"type\":\"boolean\",\"nullable\":true,\"metadata\":{}},"          \
    "{\"name\":\"i1\",\"type\":\"byte\",\"nullable\":true,\"metadata\":{}},"            \
    "{\"name\":\"i2\",\"type\":\"short\",\"nullable\":true,\"metadata\":{}},"           \
    "{\"name\":\"i4\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}},"         \
    "{\"name\":\"i8\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"            \
    "{\"name\":\"f\",\"type\":\"float\",\"nullable\":true,\"metadata\":{}},"            \
    "{\"name\":\"d\",\"type\":\"double\",\"nullable\":true,\"metadata\":{}},"           \
    "{\"name\":\"n9\",\"type\":\"decimal(9,2)\",\"nullable\":true,\"metadata\":{}},"    \
    "{\"name\":\"n18\",\"type\":\"decimal(18,0)\",\"nullable\":true,\"metadata\":{}},"  \
    "{\"name\":\"n38\",\"type\":\"decimal(38,10)\",\"nullable\":true,\"metadata\":{}}," \
    "{\"name\":\"s\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}},"           \
    "{\"name\":\"x\",\"type\":\"binary\",\"nullable\":true,\"metadata\":{}},"           \
    "{\"name\":\"day\",\"type\":\"date\",\"nullable\":true,\"metadata\":{}},"           \
    "{\"name\":\"t\",\"type\":\"timestamp\",\"nullable\":true,\"metadata\":{}},"        \
    "{\"name\":\"tn\",\"type\":\"timestamp_ntz\",\"nullable\":true,\"metadata\":{}}]}"
#define N_FLAT 15

#define NESTED                                                                                            \
    "{\"type\":\"struct\",\"fields\":["                                                                   \
    "{\"name\":\"s\",\"type\":{\"type\":\"struct\",\"fields\":["                                          \
    "{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"                               \
    "{\"name\":\"l\",\"type\":{\"type\":\"array\",\"elementType\":\"string\",\"containsNull\":true},"     \
    "\"nullable\":true,\"metadata\":{}}]},\"nullable\":true,\"metadata\":{}},"                            \
    "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":"                    \
    "{\"type\":\"array\",\"elementType\":\"integer\",\"containsNull\":true},\"valueContainsNull\":true}," \
    "\"nullable\":true,\"metadata\":{}}]}"

struct fixture {
    struct test_env env;
    silt_storage *storage;
    struct sl_arena arena;
    silt_schema *schema;
    struct sl_arrow_builder *builder;
    silt_error err;
    sl_small_kept_slot kept;
    /* of the last file that was told */
    size_t n_files;
    const char *path;
    int64_t num_rows;
    int64_t nulls[N_FLAT];
    char bounds[N_FLAT][128];
};

static bool on_file(void *ctx, const silt_written_file *file)
{
    struct fixture *fx = ctx;
    struct sl_buf text;
    fx->n_files++;
    fx->path = sl_arena_printf(&fx->arena, "memory://t/%s", file->path);
    fx->num_rows = file->num_rows;
    for (size_t i = 0; i < file->n_stats && i < N_FLAT; i++) {
        sl_buf_init(&text, &fx->env.env);
        fx->nulls[i] = file->stats[i].null_count;
        if (file->stats[i].has_min) {
            sl_value_print(&text, &file->stats[i].min);
            sl_buf_put_c(&text, "..");
            sl_value_print(&text, &file->stats[i].max);
        }
        (void)snprintf(fx->bounds[i], sizeof(fx->bounds[i]), "%s", sl_buf_cstr(&text));
        sl_buf_release(&text);
    }
    return true;
}

static void begin_rows(struct fixture *fx, const char *json)
{
    struct ArrowSchema arrow = {0};
    silt_schema_unref(fx->schema);
    sl_arrow_builder_free(fx->builder);
    fx->schema = NULL;
    fx->builder = NULL;
    assert_int_equal(silt_schema_from_json(&fx->env.env, json, strlen(json), &fx->schema, &fx->err), SILT_OK);
    assert_int_equal(silt_schema_to_arrow(fx->schema, &arrow, &fx->err), SILT_OK);
    assert_int_equal(sl_arrow_builder_new(&fx->env.env, &arrow, &fx->builder, &fx->err), SILT_OK);
    sl_arrow_schema_release(&arrow);
}

static int set_up(void **state)
{
    static struct fixture fixture;
    struct fixture *fx = &fixture;
    *fx = (struct fixture){.err = SILT_ERROR_INIT};
    test_env_init(&fx->env);
    sl_arena_init(&fx->arena, &fx->env.env);
    assert_int_equal(silt_storage_memory_new(&fx->env.env, &fx->storage, &fx->err), SILT_OK);
    *state = fx;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fx = *state;
    sl_arrow_builder_free(fx->builder);
    silt_schema_unref(fx->schema);
    sl_small_kept_free(&fx->env.env, atomic_load(&fx->kept));
    silt_storage_unref(fx->storage);
    sl_arena_release(&fx->arena);
    test_env_check(&fx->env);
    return 0;
}

/* ---- rows ---- */

static void put(struct fixture *fx, size_t column, silt_value value)
{
    assert_int_equal(sl_value_append(sl_arrow_builder_child(fx->builder, column), &value, &fx->err), SILT_OK);
}

static void end_row(struct fixture *fx)
{
    assert_int_equal(sl_arrow_append_nested(fx->builder, &fx->err), SILT_OK);
}

static void put_flat_row(struct fixture *fx, int64_t n)
{
    const silt_type_kind kinds[] = {SILT_TYPE_BYTE, SILT_TYPE_SHORT, SILT_TYPE_INTEGER, SILT_TYPE_LONG};
    put(fx, 0, sl_value_bool(n % 3 == 0));
    for (size_t i = 0; i < 4; i++) {
        put(fx, i + 1, sl_value_i64(kinds[i], n));
    }
    put(fx, 5, sl_value_f64(SILT_TYPE_FLOAT, (double)n / 2));
    put(fx, 6, sl_value_f64(SILT_TYPE_DOUBLE, (double)n / 4));
    put(fx, 7, sl_value_decimal(n * 100, 9, 2));
    put(fx, 8, sl_value_decimal((sl_i128)n * 1000000007, 18, 0));
    put(fx, 9, sl_value_decimal((sl_i128)n * sl_i128_pow10(20), 38, 10));
    put(fx, 10, sl_value_bytes(SILT_TYPE_STRING, n < 0 ? SL_STR("minus") : SL_STR("\xC3\xA4")));
    put(fx, 11, sl_value_bytes(SILT_TYPE_BINARY, sl_str_make("\0\xFF", 2)));
    put(fx, 12, sl_value_i64(SILT_TYPE_DATE, n));
    put(fx, 13, sl_value_i64(SILT_TYPE_TIMESTAMP, n * 1000000));
    put(fx, 14, sl_value_i64(SILT_TYPE_TIMESTAMP_NTZ, n * 1000001));
    end_row(fx);
}

static void put_nulls(struct fixture *fx, size_t n_columns)
{
    for (size_t i = 0; i < n_columns; i++) {
        assert_int_equal(sl_arrow_append_null(sl_arrow_builder_child(fx->builder, i), &fx->err), SILT_OK);
    }
    end_row(fx);
}

static void take_stream(struct fixture *fx, struct ArrowArrayStream *out)
{
    struct ArrowSchema arrow = {0};
    struct ArrowArray rows = {0};
    assert_int_equal(silt_schema_to_arrow(fx->schema, &arrow, &fx->err), SILT_OK);
    assert_int_equal(sl_arrow_builder_finish(fx->builder, &rows, &fx->err), SILT_OK);
    assert_int_equal(sl_arrow_stream_from_batches(&fx->env.env, &arrow, &rows, 1, out, &fx->err), SILT_OK);
}

static silt_parquet_write data_request(struct fixture *fx)
{
    return (silt_parquet_write){.size = sizeof(silt_parquet_write),
                                .storage = fx->storage,
                                .dir = "memory://t",
                                .path_prefix = "",
                                .schema = fx->schema,
                                .codec = "zstd",
                                .target_file_size = 1 << 20,
                                .on_file = on_file,
                                .on_file_ctx = fx};
}

/* Writes the rows that were put; on false they are in *rows again. */
static bool write_data(struct fixture *fx, const silt_parquet_write *request, struct ArrowArrayStream *rows)
{
    bool done = false;
    take_stream(fx, rows);
    assert_int_equal(sl_small_write(&fx->env.env, NULL, request, rows, &done, &fx->err), SILT_OK);
    return done;
}

static bool write_file(struct fixture *fx, const char *path, silt_status expected)
{
    struct ArrowArrayStream rows = {0};
    silt_parquet_write_file request = {.size = sizeof(request),
                                       .storage = fx->storage,
                                       .dir = "memory://t",
                                       .path = path,
                                       .codec = "zstd",
                                       .size_bytes = -1};
    bool done = false;
    take_stream(fx, &rows);
    assert_int_equal(sl_small_write_file(&fx->env.env, NULL, &request, &rows, &done, &fx->err), expected);
    assert_true(!done || expected != SILT_OK || request.size_bytes > 0);
    sl_arrow_stream_release(&rows);
    return done;
}

/* ---- reading ---- */

/* A value with all that is in it. */
static void print_cell(const struct ArrowSchema *schema, const struct ArrowArray *array, int64_t row,
                       struct sl_buf *out)
{
    const bool is_list = schema->format[0] == '+' && schema->format[1] != 's';
    silt_value value;
    if (sl_arrow_is_null(array, row)) {
        sl_buf_put_c(out, "NULL");
    } else if (is_list) {
        const int32_t *ends = array->buffers[1];
        sl_buf_put_char(out, '[');
        for (int32_t i = ends[array->offset + row]; i < ends[array->offset + row + 1]; i++) {
            print_cell(schema->children[0], array->children[0], i, out);
            sl_buf_put_char(out, ' ');
        }
        sl_buf_put_char(out, ']');
    } else if (schema->format[0] == '+') {
        sl_buf_put_char(out, '{');
        for (int64_t i = 0; i < schema->n_children; i++) {
            print_cell(schema->children[i], array->children[i], array->offset + row, out);
            sl_buf_put_char(out, ' ');
        }
        sl_buf_put_char(out, '}');
    } else {
        assert_true(sl_value_from_arrow(schema, array, row, &value));
        sl_value_print(out, &value);
    }
}

/* A line for each row. Consumes the stream. */
static const char *print_rows(struct fixture *fx, struct ArrowArrayStream *rows)
{
    struct ArrowSchema schema = {0};
    struct sl_buf text;
    bool done = false;
    sl_buf_init(&text, &fx->env.env);
    assert_int_equal(sl_arrow_stream_schema(rows, &schema, &fx->err), SILT_OK);
    while (!done) {
        struct ArrowArray batch = {0};
        assert_int_equal(sl_arrow_stream_next(rows, &batch, &done, &fx->err), SILT_OK);
        for (int64_t row = 0; !done && row < batch.length; row++) {
            print_cell(&schema, &batch, row, &text);
            sl_buf_put_char(&text, '\n');
        }
        sl_arrow_array_release(&batch);
    }
    const char *copy = sl_arena_strdup(&fx->arena, sl_buf_view(&text));
    sl_buf_release(&text);
    sl_arrow_schema_release(&schema);
    sl_arrow_stream_release(rows);
    return copy;
}

/* NULL: left to the data plane. */
static const char *read_some(struct fixture *fx, const char *path, int64_t size_bytes, const char *any_of)
{
    struct ArrowArrayStream rows = {0};
    const silt_parquet_file file = {.path = path, .local_path = path, .size_bytes = size_bytes};
    const silt_parquet_read request = {.size = sizeof(request),
                                       .storage = fx->storage,
                                       .files = &file,
                                       .n_files = 1,
                                       .schema = fx->schema,
                                       .any_of = &any_of,
                                       .n_any_of = 1,
                                       .with_row_index = true};
    bool done = false;
    assert_int_equal(sl_small_read(&fx->env.env, NULL, &request, &fx->kept, &rows, &done, &fx->err), SILT_OK);
    return done ? print_rows(fx, &rows) : NULL;
}

/* The same of all rows. */
static const char *read_text(struct fixture *fx, const char *path, int64_t size_bytes, bool with_row_index)
{
    struct ArrowArrayStream rows = {0};
    const silt_parquet_file file = {.path = path, .local_path = path, .size_bytes = size_bytes};
    const silt_parquet_read request = {.size = sizeof(request),
                                       .storage = fx->storage,
                                       .files = &file,
                                       .n_files = 1,
                                       .schema = fx->schema,
                                       .with_row_index = with_row_index};
    bool done = false;
    assert_int_equal(sl_small_read(&fx->env.env, NULL, &request, &fx->kept, &rows, &done, &fx->err), SILT_OK);
    if (!done) {
        assert_null(rows.release);
        return NULL;
    }
    return print_rows(fx, &rows);
}

static int64_t size_of(struct fixture *fx, const char *path)
{
    int64_t size = 0;
    int64_t modified_ms = 0;
    assert_int_equal(silt_storage_stat(fx->storage, NULL, path, &size, &modified_ms, &fx->err), SILT_OK);
    return size;
}

/* ---- tests ---- */

static void flat_rows_are_read_as_they_were_written(void **state)
{
    struct fixture *fx = *state;
    struct ArrowArrayStream rows = {0};
    begin_rows(fx, FLAT);
    for (int64_t n = -5; n < 12; n++) {
        put_flat_row(fx, n);
    }
    put_nulls(fx, N_FLAT);
    const silt_parquet_write request = data_request(fx);
    assert_true(write_data(fx, &request, &rows));
    assert_int_equal(fx->n_files, 1);
    assert_int_equal(fx->num_rows, 18);
    const char *text = read_text(fx, fx->path, size_of(fx, fx->path), false);
    assert_non_null(text);
    assert_non_null(strstr(text, "{false -5 -5 -5 -5 -2.5 -1.25 -5.00 -5000000035 -50000000000.0000000000 minus "));
    assert_non_null(strstr(text, "{true 0 0 0 0 0.0 0.0 0.00 0 0.0000000000 \xC3\xA4 "));
    assert_non_null(strstr(text, "{NULL NULL NULL NULL NULL NULL NULL NULL NULL NULL NULL NULL NULL NULL NULL }\n"));
}

static void statistics_are_those_of_the_rows(void **state)
{
    struct fixture *fx = *state;
    struct ArrowArrayStream rows = {0};
    begin_rows(fx, FLAT);
    put_flat_row(fx, 3);
    put_flat_row(fx, -4);
    put_nulls(fx, N_FLAT);
    put_flat_row(fx, 0);
    const silt_parquet_write request = data_request(fx);
    assert_true(write_data(fx, &request, &rows));
    for (size_t i = 0; i < N_FLAT; i++) {
        assert_int_equal(fx->nulls[i], 1);
    }
    assert_string_equal(fx->bounds[4], "-4..3");
    assert_string_equal(fx->bounds[6], "-1.0..0.75");
    assert_string_equal(fx->bounds[7], "-4.00..3.00");
    assert_string_equal(fx->bounds[10], "minus..\xC3\xA4");
    assert_string_equal(fx->bounds[11], "");
    assert_string_equal(fx->bounds[12], "1969-12-28..1970-01-04");
}

static void a_column_with_nan_has_no_bounds(void **state)
{
    struct fixture *fx = *state;
    struct ArrowArrayStream rows = {0};
    const double values[] = {1.0, (double)NAN, 2.0};
    begin_rows(
        fx,
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"d\",\"type\":\"double\",\"nullable\":true,\"metadata\":{}}]}");
    for (size_t i = 0; i < 3; i++) {
        put(fx, 0, sl_value_f64(SILT_TYPE_DOUBLE, values[i]));
        end_row(fx);
    }
    const silt_parquet_write request = data_request(fx);
    assert_true(write_data(fx, &request, &rows));
    assert_string_equal(fx->bounds[0], "");
    assert_int_equal(fx->nulls[0], 0);
}

static void no_rows_make_no_file(void **state)
{
    struct fixture *fx = *state;
    struct ArrowArrayStream rows = {0};
    begin_rows(fx, FLAT);
    const silt_parquet_write request = data_request(fx);
    assert_true(write_data(fx, &request, &rows));
    assert_int_equal(fx->n_files, 0);
}

static size_t count_lines(struct fixture *fx, struct ArrowArrayStream *rows)
{
    size_t n = 0;
    for (const char *at = print_rows(fx, rows); *at != '\0'; at++) {
        n += *at == '\n' ? 1 : 0;
    }
    return n;
}

static void what_is_not_small_is_handed_on_with_all_rows(void **state)
{
    struct fixture *fx = *state;
    const char *const partition[] = {"i4"};
    struct ArrowArrayStream rows = {0};
    for (int way = 0; way < 6; way++) {
        const int64_t n = way == 0 ? 1500 : 3;
        begin_rows(fx, FLAT);
        for (int64_t i = 0; i < n; i++) {
            put_flat_row(fx, i % 100);
        }
        if (way == 5) {
            put(fx, 0, sl_value_bool(true));
            for (size_t i = 1; i < N_FLAT; i++) {
                const silt_value infinite = sl_value_i64(SILT_TYPE_DATE, INT32_MAX);
                const silt_value null = sl_value_null(SILT_TYPE_LONG);
                put(fx, i, i == 12 ? infinite : null);
            }
            end_row(fx);
        }
        silt_parquet_write request = data_request(fx);
        request.partition_columns = partition;
        request.n_partition_columns = way == 1 ? 1 : 0;
        request.target_file_size = way == 2 ? 100 : 1 << 20;
        request.codec = way == 3 ? "gzip" : "zstd";
        request.random_prefix_length = way == 4 ? 2 : 0;
        assert_false(write_data(fx, &request, &rows));
        assert_int_equal(fx->n_files, 0);
        assert_int_equal(count_lines(fx, &rows), way == 5 ? n + 1 : n);
    }
}

static void a_null_that_must_not_be_is_handed_on(void **state)
{
    struct fixture *fx = *state;
    struct ArrowArrayStream rows = {0};
    begin_rows(
        fx, "{\"type\":\"struct\",\"fields\":[{\"name\":\"d\",\"type\":\"long\",\"nullable\":false,\"metadata\":{}}]}");
    put_nulls(fx, 1);
    const silt_parquet_write request = data_request(fx);
    assert_false(write_data(fx, &request, &rows));
    assert_int_equal(count_lines(fx, &rows), 1);
}

/* s {a, l}; m. */
static void put_nested_rows(struct fixture *fx)
{
    begin_rows(fx, NESTED);
    struct sl_arrow_builder *s = sl_arrow_builder_child(fx->builder, 0);
    struct sl_arrow_builder *l = sl_arrow_builder_child(s, 1);
    struct sl_arrow_builder *m = sl_arrow_builder_child(fx->builder, 1);
    struct sl_arrow_builder *entry = sl_arrow_builder_child(m, 0);
    struct sl_arrow_builder *items = sl_arrow_builder_child(entry, 1);
    silt_error *err = &fx->err;
    put_nulls(fx, 2);
    /* {7, [x, null, y]}, {k: [1, null], q: null, r: []} */
    assert_int_equal(sl_arrow_append_i64(sl_arrow_builder_child(s, 0), 7, err), SILT_OK);
    assert_int_equal(sl_arrow_append_bytes(sl_arrow_builder_child(l, 0), SL_STR("x"), err), SILT_OK);
    assert_int_equal(sl_arrow_append_null(sl_arrow_builder_child(l, 0), err), SILT_OK);
    assert_int_equal(sl_arrow_append_bytes(sl_arrow_builder_child(l, 0), SL_STR("y"), err), SILT_OK);
    assert_int_equal(sl_arrow_append_nested(l, err), SILT_OK);
    assert_int_equal(sl_arrow_append_nested(s, err), SILT_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(sl_arrow_append_bytes(sl_arrow_builder_child(entry, 0), sl_str_make(&"kqr"[i], 1), err),
                         SILT_OK);
        if (i == 0) {
            assert_int_equal(sl_arrow_append_i64(sl_arrow_builder_child(items, 0), 1, err), SILT_OK);
            assert_int_equal(sl_arrow_append_null(sl_arrow_builder_child(items, 0), err), SILT_OK);
        }
        assert_int_equal(i == 1 ? sl_arrow_append_null(items, err) : sl_arrow_append_nested(items, err), SILT_OK);
        assert_int_equal(sl_arrow_append_nested(entry, err), SILT_OK);
    }
    assert_int_equal(sl_arrow_append_nested(m, err), SILT_OK);
    end_row(fx);
    /* {null, []}, {} */
    assert_int_equal(sl_arrow_append_null(sl_arrow_builder_child(s, 0), err), SILT_OK);
    assert_int_equal(sl_arrow_append_nested(l, err), SILT_OK);
    assert_int_equal(sl_arrow_append_nested(s, err), SILT_OK);
    assert_int_equal(sl_arrow_append_nested(m, err), SILT_OK);
    end_row(fx);
}

static void nested_rows_are_read_as_they_were_written(void **state)
{
    struct fixture *fx = *state;
    put_nested_rows(fx);
    assert_true(write_file(fx, "memory://t/1.checkpoint.parquet", SILT_OK));
    const char *got = read_text(fx, "memory://t/1.checkpoint.parquet", size_of(fx, "memory://t/1.checkpoint.parquet"),
                                false);
    assert_non_null(got);
    assert_string_equal(got, "{NULL NULL }\n"
                             "{{7 [x NULL y ] } [{k [1 NULL ] } {q NULL } {r [] } ] }\n"
                             "{{NULL [] } [] }\n");
}

/* Rows in which nothing has a value are left out; a list that is there, if empty, is something. */
static void rows_without_values_need_not_be_given(void **state)
{
    static const char path[] = "memory://t/1.checkpoint.parquet";
    struct fixture *fx = *state;
    put_nested_rows(fx);
    assert_true(write_file(fx, path, SILT_OK));
    const char *some = "{{7 [x NULL y ] } [{k [1 NULL ] } {q NULL } {r [] } ] 1 }\n{{NULL [] } [] 2 }\n";
    assert_string_equal(read_some(fx, path, size_of(fx, path), "s.a"), some);
    assert_string_equal(read_some(fx, path, size_of(fx, path), "m"), some);
    /* What is not read may have a value. */
    const char *all = read_some(fx, path, size_of(fx, path), "s.other");
    assert_non_null(strstr(all, "{NULL NULL 0 }\n"));
    begin_rows(fx, FLAT);
    for (int64_t n = 0; n < 90; n++) {
        if (n % 40 == 7) {
            put_flat_row(fx, n);
        } else {
            put_nulls(fx, N_FLAT);
        }
    }
    static const char flat[] = "memory://t/2.checkpoint.parquet";
    assert_true(write_file(fx, flat, SILT_OK));
    const char *few = read_some(fx, flat, size_of(fx, flat), "s");
    assert_non_null(strstr(few, " 7 }\n"));
    assert_non_null(strstr(few, " 47 }\n"));
    assert_non_null(strstr(few, " 87 }\n"));
    size_t n_rows = 0;
    for (const char *at = few; (at = strchr(at, '\n')) != NULL; at++) {
        n_rows++;
    }
    assert_int_equal(n_rows, 3);
}

static void a_name_that_is_taken_is_told(void **state)
{
    struct fixture *fx = *state;
    put_nested_rows(fx);
    assert_true(write_file(fx, "memory://t/1.checkpoint.parquet", SILT_OK));
    put_nested_rows(fx);
    assert_true(write_file(fx, "memory://t/1.checkpoint.parquet", SILT_EEXISTS));
}

/* Members that the file lacks, members that are not wanted, numbers that are wanted wider. */
static void other_columns_than_those_of_the_file_are_read(void **state)
{
    struct fixture *fx = *state;
    begin_rows(
        fx,
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"i\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}},"
        "{\"name\":\"s\",\"type\":{\"type\":\"struct\",\"fields\":["
        "{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]},\"nullable\":true,\"metadata\":{}}]}");
    put_nulls(fx, 2);
    put(fx, 0, sl_value_i64(SILT_TYPE_INTEGER, -9));
    assert_int_equal(
        sl_arrow_append_i64(sl_arrow_builder_child(sl_arrow_builder_child(fx->builder, 1), 0), 1, &fx->err), SILT_OK);
    assert_int_equal(sl_arrow_append_nested(sl_arrow_builder_child(fx->builder, 1), &fx->err), SILT_OK);
    end_row(fx);
    assert_true(write_file(fx, "memory://t/1.checkpoint.parquet", SILT_OK));
    begin_rows(
        fx,
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"s\",\"type\":{\"type\":\"struct\",\"fields\":["
        "{\"name\":\"other\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]},\"nullable\":true,\"metadata\":{}},"
        "{\"name\":\"i\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"
        "{\"name\":\"none\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}]}");
    const char *got = read_text(fx, "memory://t/1.checkpoint.parquet", size_of(fx, "memory://t/1.checkpoint.parquet"),
                                true);
    assert_non_null(got);
    assert_string_equal(got, "{NULL NULL NULL 0 }\n{{NULL } -9 NULL 1 }\n");
    begin_rows(
        fx,
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"i\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}]}");
    assert_null(read_text(fx, "memory://t/1.checkpoint.parquet", size_of(fx, "memory://t/1.checkpoint.parquet"), true));
}

#define FIELD(name, type) "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{}}"
#define MIXED                                                                                                                                                                                                                                                                  \
    "{\"type\":\"struct\",\"fields\":[" FIELD("id", "\"long\"") "," FIELD(                                                                                                                                                                                                     \
        "s",                                                                                                                                                                                                                                                                   \
        "{\"type\":\"struct\",\"fields\":[" FIELD("a", "\"long\"") "," FIELD("t", "\"string\"") "," FIELD(                                                                                                                                                                     \
            "q",                                                                                                                                                                                                                                                               \
            "{\"type\":\"struct\",\"fields\":[" FIELD("b", "\"boolean\"") "," FIELD("d", "\"date\"") "," FIELD("f", "\"double\"") "," FIELD(                                                                                                                                   \
                "n",                                                                                                                                                                                                                                                           \
                "\"decimal(18,2)\"") "]}") "," FIELD("l",                                                                                                                                                                                                                      \
                                                     "{\"type\":\"array\",\"elementType\":\"string\",\"containsNull\":true}") "]}") "," FIELD("r",                                                                                                                             \
                                                                                                                                              "{\"type\":\"struct\",\"fields\":[" FIELD("l", "{\"type\":\"array\",\"elementType\":\"long\",\"containsNull\":true}") "," FIELD( \
                                                                                                                                                  "x",                                                                                                                         \
                                                                                                                                                  "\"byte\"") "]}") "]}"

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1;
    return *state >> 33;
}

static void put_random(struct fixture *fx, struct sl_arrow_builder *builder, silt_value value, uint64_t *random)
{
    const bool is_null = next_random(random) % 3 == 0;
    const silt_value put = is_null ? sl_value_null(value.kind) : value;
    assert_int_equal(sl_value_append(builder, &put, &fx->err), SILT_OK);
}

static void put_random_list(struct fixture *fx, struct sl_arrow_builder *builder, silt_value value, uint64_t *random)
{
    const uint64_t n = next_random(random) % 4;
    for (uint64_t i = 0; i < n; i++) {
        put_random(fx, sl_arrow_builder_child(builder, 0), value, random);
    }
    assert_int_equal(n > 0 || next_random(random) % 2 == 0 ? sl_arrow_append_nested(builder, &fx->err)
                                                           : sl_arrow_append_null(builder, &fx->err),
                     SILT_OK);
}

static void put_mixed_row(struct fixture *fx, int64_t n, uint64_t *random)
{
    const silt_value text = sl_value_bytes(SILT_TYPE_STRING, SL_STR("some text"));
    put(fx, 0, sl_value_i64(SILT_TYPE_LONG, n));
    struct sl_arrow_builder *s = sl_arrow_builder_child(fx->builder, 1);
    struct sl_arrow_builder *q = sl_arrow_builder_child(s, 2);
    if (n % 50 < 7) {
        assert_int_equal(sl_arrow_append_null(s, &fx->err), SILT_OK);
    } else {
        put_random(fx, sl_arrow_builder_child(s, 0), sl_value_i64(SILT_TYPE_LONG, n * 1000003), random);
        put_random(fx, sl_arrow_builder_child(s, 1), text, random);
        put_random(fx, sl_arrow_builder_child(q, 0), sl_value_bool(n % 2 == 0), random);
        put_random(fx, sl_arrow_builder_child(q, 1), sl_value_i64(SILT_TYPE_DATE, n), random);
        put_random(fx, sl_arrow_builder_child(q, 2), sl_value_f64(SILT_TYPE_DOUBLE, (double)n / 8), random);
        put_random(fx, sl_arrow_builder_child(q, 3), sl_value_decimal(n * 7, 18, 2), random);
        assert_int_equal(sl_arrow_append_nested(q, &fx->err), SILT_OK);
        put_random_list(fx, sl_arrow_builder_child(s, 3), text, random);
        assert_int_equal(sl_arrow_append_nested(s, &fx->err), SILT_OK);
    }
    struct sl_arrow_builder *r = sl_arrow_builder_child(fx->builder, 2);
    put_random_list(fx, sl_arrow_builder_child(r, 0), sl_value_i64(SILT_TYPE_LONG, n), random);
    put_random(fx, sl_arrow_builder_child(r, 1), sl_value_i64(SILT_TYPE_BYTE, n % 100), random);
    assert_int_equal(sl_arrow_append_nested(r, &fx->err), SILT_OK);
    end_row(fx);
}

/* Without rows that may be left out a file is read column by column, else row by row. */
static void both_ways_of_reading_give_the_same(void **state)
{
    struct fixture *fx = *state;
    static const char path[] = "memory://t/3.checkpoint.parquet";
    for (uint64_t seed = 1; seed < 20; seed++) {
        uint64_t random = seed;
        begin_rows(fx, MIXED);
        for (int64_t n = 0; n < (int64_t)seed * 23 % 300; n++) {
            put_mixed_row(fx, n, &random);
        }
        sl_ignore(silt_storage_remove(fx->storage, NULL, path, &fx->err));
        assert_true(write_file(fx, path, SILT_OK));
        const char *columns = read_text(fx, path, size_of(fx, path), true);
        const char *rows = read_some(fx, path, size_of(fx, path), "id");
        assert_non_null(columns);
        assert_non_null(rows);
        assert_string_equal(columns, rows);
    }
}

/* Whatever a byte is changed to: the rows are given out whole, or not at all. */
static void damaged_files_are_left_to_the_data_plane(void **state)
{
    struct fixture *fx = *state;
    static const unsigned char changes[] = {0x01, 0x80, 0xFF, 0x10};
    void *data = NULL;
    size_t len = 0;
    put_nested_rows(fx);
    assert_true(write_file(fx, "memory://t/1.checkpoint.parquet", SILT_OK));
    assert_int_equal(silt_storage_read(fx->storage, NULL, "memory://t/1.checkpoint.parquet", &data, &len, &fx->err),
                     SILT_OK);
    unsigned char *bytes = data;
    for (size_t i = 0; i < len * 4; i++) {
        bytes[i / 4] ^= changes[i % 4];
        assert_int_equal(silt_storage_put(fx->storage, NULL, "memory://t/1.checkpoint.parquet", data, len, &fx->err),
                         SILT_OK);
        const char *got = read_text(fx, "memory://t/1.checkpoint.parquet", (int64_t)len, false);
        size_t n_lines = 0;
        for (const char *at = got; at != NULL && *at != '\0'; at++) {
            n_lines += *at == '\n' ? 1 : 0;
        }
        assert_true(got == NULL || n_lines <= 3);
        bytes[i / 4] ^= changes[i % 4];
    }
    for (size_t cut = 0; cut < len; cut++) {
        assert_int_equal(silt_storage_put(fx->storage, NULL, "memory://t/1.checkpoint.parquet", data, cut, &fx->err),
                         SILT_OK);
        assert_null(read_text(fx, "memory://t/1.checkpoint.parquet", (int64_t)cut, false));
    }
    silt_storage_free(fx->storage, data, len);
}

/* No leaf that is read says how many rows there are. */
static void rows_of_columns_that_are_not_there_are_counted(void **state)
{
    struct fixture *fx = *state;
    const char *path = "memory://t/1.checkpoint.parquet";
    void *data = NULL;
    size_t len = 0;
    put_nested_rows(fx);
    assert_true(write_file(fx, path, SILT_OK));
    assert_int_equal(silt_storage_read(fx->storage, NULL, path, &data, &len, &fx->err), SILT_OK);
    begin_rows(fx, "{\"type\":\"struct\",\"fields\":["
                   "{\"name\":\"none\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}]}");
    const char *whole = read_text(fx, path, (int64_t)len, true);
    assert_non_null(whole);
    unsigned char *bytes = data;
    for (size_t i = 0; i < len; i++) {
        bytes[i] ^= 0x10;
        assert_int_equal(silt_storage_put(fx->storage, NULL, path, data, len, &fx->err), SILT_OK);
        const char *got = read_text(fx, path, (int64_t)len, true);
        if (got != NULL) {
            assert_string_equal(got, whole);
        }
        bytes[i] ^= 0x10;
    }
    silt_storage_free(fx->storage, data, len);
}

/* Each request for memory fails once. Nothing leaks, and no file is told of. */
static void without_memory_nothing_is_written(void **state)
{
    struct fixture *fx = *state;
    bool done = false;
    for (size_t n = 1; !done && n < 2000; n++) {
        struct ArrowArrayStream rows = {0};
        put_nested_rows(fx);
        take_stream(fx, &rows);
        silt_parquet_write_file request = {.size = sizeof(request),
                                           .storage = fx->storage,
                                           .dir = "memory://t",
                                           .path = "memory://t/2.checkpoint.parquet",
                                           .codec = "zstd",
                                           .size_bytes = -1};
        test_env_fail_at(&fx->env, n);
        const silt_status status = sl_small_write_file(&fx->env.env, NULL, &request, &rows, &done, &fx->err);
        test_env_fail_at(&fx->env, 0);
        assert_true(status == SILT_OK || status == SILT_ENOMEM);
        done = done && status == SILT_OK;
        sl_arrow_stream_release(&rows);
    }
    assert_true(done);
    const silt_parquet_file file = {.path = "memory://t/2.checkpoint.parquet",
                                    .local_path = "",
                                    .size_bytes = size_of(fx, "memory://t/2.checkpoint.parquet")};
    const silt_parquet_read request = {
        .size = sizeof(request), .storage = fx->storage, .files = &file, .n_files = 1, .schema = fx->schema};
    done = false;
    for (size_t n = 1; !done && n < 2000; n++) {
        struct ArrowArrayStream rows = {0};
        test_env_fail_at(&fx->env, n);
        const silt_status status = sl_small_read(&fx->env.env, NULL, &request, &fx->kept, &rows, &done, &fx->err);
        test_env_fail_at(&fx->env, 0);
        assert_true(status == SILT_OK || status == SILT_ENOMEM);
        sl_arrow_stream_release(&rows);
    }
    assert_true(done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(flat_rows_are_read_as_they_were_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(statistics_are_those_of_the_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_column_with_nan_has_no_bounds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_rows_make_no_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_small_is_handed_on_with_all_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_null_that_must_not_be_is_handed_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nested_rows_are_read_as_they_were_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_without_values_need_not_be_given, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_name_that_is_taken_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_columns_than_those_of_the_file_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(both_ways_of_reading_give_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_files_are_left_to_the_data_plane, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rows_of_columns_that_are_not_there_are_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_memory_nothing_is_written, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
