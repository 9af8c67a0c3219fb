/*
 * Rows of a file by their places, and members of structs by themselves: the rows that were asked for come, in their order, with the
 * values that a full read gives them.
 */
#include "duck_fixture.h"

#include <stdatomic.h>
#include <string.h>

#include "base/arrow.h"
#include "kernel/engine/engine.h"

#define N_ROWS 60000
#define MEMBER(name, type) "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{}}"
#define STRUCT(members) "{\"type\":\"struct\",\"fields\":[" members "]}"

struct picked {
    int64_t n_rows;  /* that came */
    int64_t n_asked; /* of those that were asked for */
    int64_t sum;     /* of s.a in them */
    int64_t n_text;  /* of s.b that is not null */
};

static void write_rows(struct duck_fixture *fx)
{
    silt_schema *schema = duck_schema(fx,
                                      MEMBER("s", STRUCT(MEMBER("a", "\"integer\"") "," MEMBER("b", "\"string\""))));
    const struct duck_write_options options = {.row_group_rows = 4096};
    duck_write(
        fx,
        "SELECT CASE WHEN i % 10 <> 3 THEN {'a': i::INTEGER, 'b': CASE WHEN i % 7 = 0 THEN 'x' || i END} END AS s "
        "FROM range(60000) r(i)",
        schema, &options);
    silt_schema_unref(schema);
}

/* One batch of the columns s{a long, b text, gone text} and the places. */
static void take(struct picked *picked, const struct ArrowArray *batch, const int64_t *rows, size_t n, size_t *next)
{
    const struct ArrowArray *s = batch->children[0];
    const struct ArrowArray *places = batch->children[1];
    for (int64_t i = 0; i < batch->length; i++) {
        const int64_t place = ((const int64_t *)places->buffers[1])[i + places->offset];
        picked->n_rows++;
        if (*next >= n || rows[*next] != place) {
            continue;
        }
        (*next)++;
        picked->n_asked++;
        assert_true(sl_arrow_is_null(s->children[2], i));
        if (!sl_arrow_is_null(s, i) && !sl_arrow_is_null(s->children[0], i)) {
            const int64_t a = ((const int64_t *)s->children[0]->buffers[1])[i];
            assert_int_equal(a, place);
            picked->sum += a;
        }
        picked->n_text += !sl_arrow_is_null(s, i) && !sl_arrow_is_null(s->children[1], i);
    }
}

static struct ArrowArrayStream open_pick(struct duck_fixture *fx, const int64_t *rows, size_t n, bool lax)
{
    silt_schema *schema = duck_schema(
        fx,
        MEMBER("s", STRUCT(MEMBER("a", "\"long\"") "," MEMBER("b", "\"string\"") "," MEMBER("gone", "\"string\""))));
    const struct duck_written *written = duck_file(fx, 0);
    const silt_parquet_file file = {.path = written->full, .local_path = written->full, .size_bytes = -1};
    const silt_parquet_read read = {.size = sizeof(read),
                                    .storage = fx->storage,
                                    .files = &file,
                                    .n_files = 1,
                                    .schema = schema,
                                    .with_row_index = true,
                                    .rows = rows,
                                    .n_rows = n,
                                    .lax_structs = lax};
    struct ArrowArrayStream stream = {0};
    assert_int_equal(sl_parquet_read(fx->engine, NULL, &read, &stream, &fx->err), SILT_OK);
    silt_schema_unref(schema);
    return stream;
}

/* Takes the next batch of a stream; false at its end. */
static bool pull(struct duck_fixture *fx, struct ArrowArrayStream *stream, struct picked *picked, const int64_t *rows,
                 size_t n, size_t *next)
{
    struct ArrowArray batch = {0};
    bool done = false;
    assert_int_equal(sl_arrow_stream_next(stream, &batch, &done, &fx->err), SILT_OK);
    if (!done) {
        take(picked, &batch, rows, n, next);
    }
    sl_arrow_array_release(&batch);
    return !done;
}

static struct picked pick(struct duck_fixture *fx, const int64_t *rows, size_t n, bool lax)
{
    struct ArrowArrayStream stream = open_pick(fx, rows, n, lax);
    struct picked picked = {0};
    size_t next = 0;
    while (pull(fx, &stream, &picked, rows, n, &next)) {
    }
    sl_arrow_stream_release(&stream);
    return picked;
}

static void expect_picked(struct duck_fixture *fx, const int64_t *rows, size_t n, int64_t most_rows)
{
    int64_t sum = 0;
    int64_t n_text = 0;
    for (size_t i = 0; i < n; i++) {
        sum += rows[i] % 10 != 3 ? rows[i] : 0;
        n_text += rows[i] % 10 != 3 && rows[i] % 7 == 0;
    }
    for (int lax = 0; lax < 2; lax++) {
        const struct picked picked = pick(fx, rows, n, lax != 0);
        assert_int_equal(picked.n_asked, n);
        assert_int_equal(picked.sum, sum);
        assert_int_equal(picked.n_text, n_text);
        assert_in_range(picked.n_rows, n, most_rows);
    }
}

static void scattered_rows_come_and_few_others(void **state)
{
    struct duck_fixture *fx = *state;
    static int64_t rows[N_ROWS];
    size_t n = 0;
    write_rows(fx);
    for (int64_t place = 5; place < N_ROWS - 3; place += 61 + place % 13) {
        rows[n++] = place;
    }
    expect_picked(fx, rows, n, (int64_t)n * 600);
    n = 0;
    for (int64_t place = 1000; place < N_ROWS; place += 1500) {
        rows[n++] = place;
    }
    expect_picked(fx, rows, n, (int64_t)n);
}

static void rows_in_one_place_come_alone(void **state)
{
    struct duck_fixture *fx = *state;
    const int64_t edges[] = {0, N_ROWS - 1};
    int64_t rows[500];
    write_rows(fx);
    for (size_t i = 0; i < 500; i++) {
        rows[i] = 30000 + (int64_t)i;
    }
    expect_picked(fx, rows, 500, 500);
    expect_picked(fx, edges, 2, 2);
    expect_picked(fx, edges, 1, 1);
}

/* Each has its own rows, whichever was opened or closed before. */
static void reads_at_the_same_time_do_not_mix(void **state)
{
    struct duck_fixture *fx = *state;
    static int64_t rows[2][N_ROWS];
    size_t n[2] = {0, 0};
    size_t next[2] = {0, 0};
    struct picked picked[2] = {{0}, {0}};
    bool more[2] = {true, true};
    struct ArrowArrayStream streams[2];
    write_rows(fx);
    for (int64_t place = 1; place < N_ROWS; place += 1 + (place < 30000 ? 1300 : 700)) {
        rows[0][n[0]++] = place;
        rows[1][n[1]++] = place - 1;
    }
    struct ArrowArrayStream closed = open_pick(fx, rows[1], n[1], true);
    streams[0] = open_pick(fx, rows[0], n[0], true);
    sl_arrow_stream_release(&closed);
    streams[1] = open_pick(fx, rows[1], n[1], false);
    while (more[0] || more[1]) {
        for (int i = 0; i < 2; i++) {
            more[i] = more[i] && pull(fx, &streams[i], &picked[i], rows[i], n[i], &next[i]);
        }
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(picked[i].n_asked, n[i]);
        assert_int_equal(picked[i].n_rows, n[i]);
        sl_arrow_stream_release(&streams[i]);
    }
}

/* ---- by texts ---- */

struct judged {
    atomic_size_t n, n_null;
};

/* Texts whose length is odd; of the file "x" and a number that 7 divides. */
static void want_odd(void *ctx, const silt_text *texts, size_t n, bool *wanted)
{
    struct judged *judged = ctx;
    for (size_t i = 0; i < n; i++) {
        judged->n += 1;
        judged->n_null += texts[i].ptr == NULL;
        wanted[i] = texts[i].ptr != NULL && texts[i].len % 2 == 1;
    }
}

static void rows_are_left_out_by_their_texts(void **state)
{
    struct duck_fixture *fx = *state;
    static const char *const path[] = {"s", "b"};
    static const char *const gone[] = {"s", "gone"};
    static const char *const number[] = {"s", "a"};
    static const char *const *const others[] = {gone, number};
    write_rows(fx);
    silt_schema *schema = duck_schema(
        fx,
        MEMBER("s", STRUCT(MEMBER("a", "\"long\"") "," MEMBER("b", "\"string\"") "," MEMBER("gone", "\"string\""))));
    const struct duck_written *written = duck_file(fx, 0);
    const silt_parquet_file file = {.path = written->full, .local_path = written->full, .size_bytes = -1};
    int64_t rows[60000];
    size_t n = 0;
    for (int64_t i = 0; i < 60000; i++) {
        const size_t len = 1 + (i < 10 ? 1U : i < 100 ? 2U : i < 1000 ? 3U : i < 10000 ? 4U : 5U);
        if (i % 10 != 3 && i % 7 == 0 && len % 2 == 1) {
            rows[n++] = i;
        }
    }
    struct judged judged = {0};
    silt_text_filter filter = {.size = sizeof(filter), .leaf = {path, 2}, .judge = want_odd, .ctx = &judged};
    silt_parquet_read read = {.size = sizeof(read),
                              .storage = fx->storage,
                              .files = &file,
                              .n_files = 1,
                              .schema = schema,
                              .with_row_index = true,
                              .lax_structs = true,
                              .texts = &filter};
    for (size_t i = 0; i <= 2; i++) {
        struct ArrowArrayStream stream = {0};
        struct picked picked = {0};
        size_t next = 0;
        filter.leaf.path = i == 0 ? path : others[i - 1];
        assert_int_equal(sl_parquet_read(fx->engine, NULL, &read, &stream, &fx->err), SILT_OK);
        while (pull(fx, &stream, &picked, rows, n, &next)) {
        }
        sl_arrow_stream_release(&stream);
        assert_int_equal(picked.n_asked, n);
        /* a leaf that is not there, or no text, leaves out nothing */
        assert_int_equal(picked.n_rows, i == 0 ? n : 60000);
        assert_int_equal(judged.n, 60000);
        assert_true(judged.n_null > 0);
    }
    silt_schema_unref(schema);
}

static void places_in_several_files_are_refused(void **state)
{
    struct duck_fixture *fx = *state;
    const int64_t rows[] = {1};
    write_rows(fx);
    silt_schema *schema = duck_schema(fx, MEMBER("s", STRUCT(MEMBER("a", "\"long\""))));
    const struct duck_written *written = duck_file(fx, 0);
    const silt_parquet_file file = {.path = written->full, .local_path = written->full, .size_bytes = -1};
    const silt_parquet_file files[] = {file, file};
    const silt_parquet_read read = {.size = sizeof(read),
                                    .storage = fx->storage,
                                    .files = files,
                                    .n_files = 2,
                                    .schema = schema,
                                    .rows = rows,
                                    .n_rows = 1};
    struct ArrowArrayStream stream = {0};
    assert_int_equal(sl_parquet_read(fx->engine, NULL, &read, &stream, &fx->err), SILT_EINVALID);
    silt_schema_unref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(scattered_rows_come_and_few_others, duck_setup, duck_teardown),
        cmocka_unit_test_setup_teardown(rows_in_one_place_come_alone, duck_setup, duck_teardown),
        cmocka_unit_test_setup_teardown(reads_at_the_same_time_do_not_mix, duck_setup, duck_teardown),
        cmocka_unit_test_setup_teardown(rows_are_left_out_by_their_texts, duck_setup, duck_teardown),
        cmocka_unit_test_setup_teardown(places_in_several_files_are_refused, duck_setup, duck_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
