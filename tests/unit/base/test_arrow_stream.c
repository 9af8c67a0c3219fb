/* Arrow streams. */
#include "base/arrow.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "test_env.h"

static void release_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static void release_array(struct ArrowArray *array)
{
    ++*(int *)array->private_data;
    array->release = NULL;
}

/* A source of `left` batches that then ends or fails. */
struct source {
    int left;
    int closed;
    int released;
    bool fails;
    bool fails_without_text;
    bool leaves_a_batch;
};

static silt_status source_schema(void *ctx, struct ArrowSchema *out, silt_error *err)
{
    const struct source *source = ctx;
    if (source->left < 0) {
        return sl_fail(err, SILT_ESCHEMA, NULL, "no schema");
    }
    *out = (struct ArrowSchema){.format = "i", .name = "x", .release = release_schema};
    return SILT_OK;
}

static silt_status source_next(void *ctx, struct ArrowArray *batch, silt_error *err)
{
    struct source *source = ctx;
    const struct ArrowArray array = {.length = 5, .release = release_array, .private_data = &source->released};
    if (source->left == 0 && source->fails_without_text) {
        return SILT_EIO;
    }
    if (source->left == 0 && source->fails) {
        if (source->leaves_a_batch) {
            *batch = array;
        }
        sl_fail(err, SILT_ECORRUPT, "DELTA_BROKEN", "file broke");
        sl_error_version(err, 12);
        return SILT_ECORRUPT;
    }
    if (source->left > 0) {
        source->left--;
        *batch = array;
    }
    return SILT_OK;
}

static void source_close(void *ctx)
{
    ((struct source *)ctx)->closed++;
}

static const struct sl_arrow_source functions = {.schema = source_schema, .next = source_next, .close = source_close};

static void stream_yields_batches_and_ends(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct source source = {.left = 2};
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    bool done = true;
    assert_int_equal(sl_arrow_stream_new(&t.env, &functions, &source, &stream, NULL), SILT_OK);
    assert_int_equal(sl_arrow_stream_schema(&stream, &schema, NULL), SILT_OK);
    assert_string_equal(schema.format, "i");
    sl_arrow_schema_release(&schema);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sl_arrow_stream_next(&stream, &batch, &done, NULL), SILT_OK);
        assert_false(done);
        assert_int_equal(batch.length, 5);
        sl_arrow_array_release(&batch);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sl_arrow_stream_next(&stream, &batch, &done, NULL), SILT_OK);
        assert_true(done);
        assert_null(batch.release);
    }
    assert_null(stream.get_last_error(&stream));
    assert_null(sl_arrow_stream_error(&stream));
    struct ArrowArrayStream moved;
    sl_arrow_stream_move(&moved, &stream);
    assert_int_equal(sl_arrow_stream_next(&stream, &batch, &done, NULL), SILT_EINVALID);
    sl_arrow_stream_release(&stream);
    assert_int_equal(source.closed, 0);
    sl_arrow_stream_release(&moved);
    sl_arrow_stream_release(&moved);
    assert_int_equal(source.closed, 1);
    assert_int_equal(source.released, 2);
    test_env_check(&t);
}

static void failure_comes_back_whole_and_stays(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct source source = {.left = 1, .fails = true, .leaves_a_batch = true};
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    bool done = true;
    assert_int_equal(sl_arrow_stream_new(&t.env, &functions, &source, &stream, NULL), SILT_OK);
    assert_int_equal(sl_arrow_stream_next(&stream, &batch, &done, NULL), SILT_OK);
    sl_arrow_array_release(&batch);
    for (int i = 0; i < 2; i++) {
        silt_error err = SILT_ERROR_INIT;
        assert_int_equal(sl_arrow_stream_next(&stream, &batch, &done, &err), SILT_ECORRUPT);
        assert_false(done);
        assert_null(batch.release);
        assert_string_equal(err.code_name, "DELTA_BROKEN");
        assert_string_equal(err.message, "file broke");
        assert_int_equal(err.version, 12);
        assert_string_equal(stream.get_last_error(&stream), "[DELTA_BROKEN] file broke");
        assert_int_equal(sl_arrow_stream_error(&stream)->version, 12);
    }
    assert_int_equal(stream.get_next(&stream, &batch), EBADMSG);
    assert_int_equal(source.released, 2);
    sl_arrow_stream_release(&stream);
    test_env_check(&t);
}

static void failure_without_text_still_tells_the_status(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct source source = {.fails_without_text = true};
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    bool done = true;
    silt_error err = SILT_ERROR_INIT;
    assert_int_equal(sl_arrow_stream_new(&t.env, &functions, &source, &stream, NULL), SILT_OK);
    assert_int_equal(sl_arrow_stream_next(&stream, &batch, &done, &err), SILT_EIO);
    assert_non_null(strstr(err.message, "EIO"));
    sl_arrow_stream_release(&stream);
    source.left = -1;
    struct ArrowSchema schema;
    assert_int_equal(sl_arrow_stream_new(&t.env, &functions, &source, &stream, NULL), SILT_OK);
    assert_int_equal(sl_arrow_stream_schema(&stream, &schema, &err), SILT_ESCHEMA);
    assert_string_equal(err.message, "no schema");
    sl_arrow_stream_release(&stream);
    test_env_check(&t);
}

static void source_is_closed_when_the_stream_cannot_be_made(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    struct source source = {.left = 1};
    struct ArrowArrayStream stream;
    test_env_fail_at(&t, 1);
    assert_int_equal(sl_arrow_stream_new(&t.env, &functions, &source, &stream, NULL), SILT_ENOMEM);
    assert_int_equal(source.closed, 1);
    assert_null(stream.release);
    test_env_check(&t);
}

/* ---- streams of others ---- */

struct foreign {
    int errnum;
    const char *text;
};

static int foreign_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    out->length = 99;
    return ((struct foreign *)self->private_data)->errnum;
}

static const char *foreign_error(struct ArrowArrayStream *self)
{
    return ((struct foreign *)self->private_data)->text;
}

static void foreign_release(struct ArrowArrayStream *self)
{
    self->release = NULL;
}

static void foreign_failures_are_translated(void **state)
{
    (void)state;
    static const struct {
        struct foreign foreign;
        silt_status status;
        const char *code_name;
        const char *message;
    } cases[] = {
        {{EINVAL, "[DELTA_X] it broke"}, SILT_EINVALID, "DELTA_X", "it broke"},
        {{EINVAL, "[A.B_1]\n two\nlines"}, SILT_EINVALID, "A.B_1", "two lines"},
        {{EIO, "[not a code] x"}, SILT_EENGINE, "SILT_ENGINE_FAILURE", "[not a code] x"},
        {{EIO, "[]"}, SILT_EENGINE, "SILT_ENGINE_FAILURE", "[]"},
        {{EIO, "[UNENDED"}, SILT_EENGINE, "SILT_ENGINE_FAILURE", "[UNENDED"},
        {{EIO, "100%s"}, SILT_EENGINE, "SILT_ENGINE_FAILURE", "100%s"},
        {{5, NULL}, SILT_EENGINE, "SILT_ENGINE_FAILURE", "reading an Arrow stream failed with errno 5"},
        {{ENOMEM, "no room"}, SILT_ENOMEM, "SILT_OUT_OF_MEMORY", "no room"},
        {{ECANCELED, "stopped"}, SILT_ECANCELLED, "SILT_CANCELLED", "stopped"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct foreign foreign = cases[i].foreign;
        struct ArrowArrayStream stream = {.get_next = foreign_next,
                                          .get_last_error = foreign_error,
                                          .release = foreign_release,
                                          .private_data = &foreign};
        struct ArrowArray batch;
        bool done = true;
        silt_error err = SILT_ERROR_INIT;
        assert_int_equal(sl_arrow_stream_next(&stream, &batch, &done, &err), cases[i].status);
        assert_string_equal(err.code_name, cases[i].code_name);
        assert_string_equal(err.message, cases[i].message);
        assert_int_equal(err.sys_code, foreign.errnum);
        assert_int_equal(batch.length, 0);
        assert_null(sl_arrow_stream_error(&stream));
        assert_int_equal(sl_arrow_stream_next(&stream, &batch, &done, NULL), cases[i].status);
    }
}

static void batches_are_handed_out_and_the_rest_released(void **state)
{
    (void)state;
    struct test_env t;
    test_env_init(&t);
    for (size_t fail_at = 0; fail_at <= 3; fail_at++) {
        int released = 0;
        struct ArrowArray arrays[3];
        for (int i = 0; i < 3; i++) {
            arrays[i] = (struct ArrowArray){.length = i, .release = release_array, .private_data = &released};
        }
        struct ArrowSchema schema = {.format = "i", .name = "x", .release = release_schema};
        struct ArrowArrayStream stream;
        test_env_fail_at(&t, fail_at);
        const silt_status status = sl_arrow_stream_from_batches(&t.env, &schema, arrays, 3, &stream, NULL);
        assert_null(schema.release);
        assert_null(arrays[0].release);
        if (fail_at != 0) {
            assert_int_equal(status, SILT_ENOMEM);
            assert_int_equal(released, 3);
            test_env_check(&t);
            continue;
        }
        assert_int_equal(status, SILT_OK);
        struct ArrowSchema out;
        struct ArrowArray batch;
        bool done = true;
        assert_int_equal(sl_arrow_stream_schema(&stream, &out, NULL), SILT_OK);
        sl_arrow_schema_release(&out);
        assert_int_equal(sl_arrow_stream_next(&stream, &batch, &done, NULL), SILT_OK);
        sl_arrow_array_release(&batch);
        assert_int_equal(released, 1);
        sl_arrow_stream_release(&stream);
        assert_int_equal(released, 3);
        test_env_check(&t);
    }
    struct ArrowSchema schema = {.format = "i", .name = "x", .release = release_schema};
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    bool done = false;
    assert_int_equal(sl_arrow_stream_from_batches(&t.env, &schema, NULL, 0, &stream, NULL), SILT_OK);
    assert_int_equal(sl_arrow_stream_next(&stream, &batch, &done, NULL), SILT_OK);
    assert_true(done);
    sl_arrow_stream_release(&stream);
    test_env_check(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stream_yields_batches_and_ends),
        cmocka_unit_test(failure_comes_back_whole_and_stays),
        cmocka_unit_test(failure_without_text_still_tells_the_status),
        cmocka_unit_test(source_is_closed_when_the_stream_cannot_be_made),
        cmocka_unit_test(foreign_failures_are_translated),
        cmocka_unit_test(batches_are_handed_out_and_the_rest_released),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
