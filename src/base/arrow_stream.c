/*
 * Arrow streams: making them from callbacks or from batches, and pulling from any, with the error translated in both
 * directions. errno values and a text are all that the interface can carry; a stream of this library keeps the whole error
 * beside them. A stream has one owner and is used from one thread at a time.
 */
#include "base/arrow.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

struct stream {
    const silt_env *env;
    struct sl_arrow_source source;
    void *ctx;
    bool ended;
    silt_error error; /* status SILT_OK: none so far */
    char error_text[SILT_ERROR_CODE_SIZE + SILT_ERROR_MESSAGE_SIZE + 4];
};

/*
 * The errno that carries a status, both ways: streams of another copy of this code (the data plane's library has one) come
 * back with their status whole. What has no pair is EIO and comes back as SILT_EENGINE.
 */
static const struct {
    silt_status status;
    int errnum;
} PAIRS[] = {
    {SILT_EINVALID, EINVAL},  {SILT_ENOMEM, ENOMEM},        {SILT_ENOTFOUND, ENOENT},     {SILT_EEXISTS, EEXIST},
    {SILT_EACCESS, EACCES},   {SILT_ECORRUPT, EBADMSG},     {SILT_EUNSUPPORTED, ENOTSUP}, {SILT_ESCHEMA, EILSEQ},
    {SILT_ECONSTRAINT, EDOM}, {SILT_ECANCELLED, ECANCELED}, {SILT_EDEADLINE, ETIMEDOUT},  {SILT_ENOSPACE, ENOSPC},
    {SILT_ELIMIT, EOVERFLOW},
};

static int errno_of(silt_status status)
{
    for (size_t i = 0; i < sizeof(PAIRS) / sizeof(PAIRS[0]); i++) {
        if (PAIRS[i].status == status) {
            return PAIRS[i].errnum;
        }
    }
    return status == SILT_ENOTTABLE ? ENOENT : EIO;
}

/* A stream of someone else's may mean anything by an errno: only memory and cancellation are believed without a class. */
static silt_status status_of(int errnum, bool has_class)
{
    for (size_t i = 0; i < sizeof(PAIRS) / sizeof(PAIRS[0]); i++) {
        if (PAIRS[i].errnum == errnum && (has_class || errnum == ENOMEM || errnum == ECANCELED)) {
            return PAIRS[i].status;
        }
    }
    return SILT_EENGINE;
}

/* Keeps a failure for get_last_error; a callback that failed without setting the error gets the status's name. */
static int keep_error(struct stream *stream, silt_status status)
{
    if (stream->error.status == SILT_OK) {
        sl_fail(&stream->error, status, NULL, "reading a stream failed with status %s", silt_status_name(status));
    }
    (void)snprintf(stream->error_text, sizeof(stream->error_text), "[%s] %s", stream->error.code_name,
                   stream->error.message); /* cut if ever too long */
    return errno_of(status);
}

static int stream_get_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    struct stream *stream = self->private_data;
    *out = (struct ArrowSchema){0};
    silt_error_reset(&stream->error);
    const silt_status status = stream->source.schema(stream->ctx, out, &stream->error);
    return status == SILT_OK ? 0 : keep_error(stream, status);
}

static int stream_get_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    struct stream *stream = self->private_data;
    *out = (struct ArrowArray){0};
    if (stream->ended) {
        /* After a failure the same answer again, so that half a result cannot pass for a whole one. */
        return stream->error.status == SILT_OK ? 0 : keep_error(stream, stream->error.status);
    }
    silt_error_reset(&stream->error);
    const silt_status status = stream->source.next(stream->ctx, out, &stream->error);
    if (status != SILT_OK) {
        sl_arrow_array_release(out);
        stream->ended = true;
        return keep_error(stream, status);
    }
    stream->ended = out->release == NULL;
    return 0;
}

static const char *stream_get_last_error(struct ArrowArrayStream *self)
{
    const struct stream *stream = self->private_data;
    return stream->error.status != SILT_OK ? stream->error_text : NULL;
}

static void stream_release(struct ArrowArrayStream *self)
{
    struct stream *stream = self->private_data;
    stream->source.close(stream->ctx);
    sl_release(stream->env, stream, sizeof(*stream));
    *self = (struct ArrowArrayStream){0};
}

silt_status sl_arrow_stream_new(const silt_env *env, const struct sl_arrow_source *source, void *ctx,
                                struct ArrowArrayStream *out, silt_error *err)
{
    *out = (struct ArrowArrayStream){0};
    struct stream *stream = sl_alloc_zero(env, sizeof(*stream));
    if (stream == NULL) {
        source->close(ctx);
        return sl_fail_nomem(err);
    }
    stream->env = env;
    stream->source = *source;
    stream->ctx = ctx;
    stream->error = (silt_error)SILT_ERROR_INIT;
    *out = (struct ArrowArrayStream){
        .get_schema = stream_get_schema,
        .get_next = stream_get_next,
        .get_last_error = stream_get_last_error,
        .release = stream_release,
        .private_data = stream,
    };
    return SILT_OK;
}

const silt_error *sl_arrow_stream_error(const struct ArrowArrayStream *stream)
{
    if (stream == NULL || stream->release != stream_release) {
        return NULL;
    }
    const struct stream *own = stream->private_data;
    return own->error.status != SILT_OK ? &own->error : NULL;
}

/* ---- pulling ---- */

/* Splits "[CODE] text"; without a code the whole text stays. */
static struct sl_str split_code(struct sl_str text, char *code, size_t code_size)
{
    code[0] = '\0';
    size_t end = 1;
    if (text.len == 0 || text.ptr[0] != '[') {
        return text;
    }
    while (end < text.len && end < code_size &&
           ((text.ptr[end] >= 'A' && text.ptr[end] <= 'Z') || (text.ptr[end] >= '0' && text.ptr[end] <= '9') ||
            text.ptr[end] == '_' || text.ptr[end] == '.')) {
        end++;
    }
    if (end == 1 || end >= text.len || text.ptr[end] != ']') {
        return text;
    }
    memcpy(code, text.ptr + 1, end - 1);
    code[end - 1] = '\0';
    return sl_str_trim(sl_str_sub(text, end + 1, text.len));
}

static silt_status fail_from_stream(struct ArrowArrayStream *stream, int errnum, silt_error *err)
{
    const silt_error *own = sl_arrow_stream_error(stream);
    if (own != NULL) {
        const uint32_t size = err != NULL ? err->size : 0;
        if (err != NULL && (size == 0 || size >= sizeof(*err))) {
            *err = *own;
            err->size = size == 0 ? (uint32_t)sizeof(*err) : size;
        }
        return own->status;
    }
    char code[SILT_ERROR_CODE_SIZE];
    const char *text = stream->get_last_error != NULL ? stream->get_last_error(stream) : NULL;
    const struct sl_str message = split_code(sl_str_from(text), code, sizeof(code));
    const silt_status status = status_of(errnum, code[0] != '\0');
    if (message.len == 0) {
        sl_fail(err, status, code, "reading an Arrow stream failed with errno %d", errnum);
    } else {
        sl_fail(err, status, code, "%.*s", SL_FMT(message));
    }
    if (err != NULL && err->status == status) {
        err->sys_code = errnum;
    }
    return status;
}

silt_status sl_arrow_stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out, bool *done, silt_error *err)
{
    *out = (struct ArrowArray){0};
    *done = false;
    if (stream->release == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "an Arrow stream was read after its release");
    }
    const int errnum = stream->get_next(stream, out);
    if (errnum != 0) {
        *out = (struct ArrowArray){0};
        return fail_from_stream(stream, errnum, err);
    }
    *done = out->release == NULL;
    return SILT_OK;
}

silt_status sl_arrow_stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out, silt_error *err)
{
    *out = (struct ArrowSchema){0};
    if (stream->release == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "an Arrow stream was read after its release");
    }
    const int errnum = stream->get_schema(stream, out);
    if (errnum != 0) {
        *out = (struct ArrowSchema){0};
        return fail_from_stream(stream, errnum, err);
    }
    return SILT_OK;
}

/* ---- streams of given batches ---- */

struct batches {
    const silt_env *env;
    struct ArrowSchema schema;
    struct ArrowArray *arrays;
    size_t n;
    size_t next;
};

static silt_status batches_schema(void *ctx, struct ArrowSchema *out, silt_error *err)
{
    const struct batches *batches = ctx;
    return sl_arrow_schema_copy(batches->env, &batches->schema, out, err);
}

static silt_status batches_next(void *ctx, struct ArrowArray *batch, silt_error *err)
{
    struct batches *batches = ctx;
    (void)err;
    if (batches->next < batches->n) {
        sl_arrow_array_move(batch, &batches->arrays[batches->next++]);
    }
    return SILT_OK;
}

static void batches_close(void *ctx)
{
    struct batches *batches = ctx;
    for (size_t i = batches->next; i < batches->n; i++) {
        sl_arrow_array_release(&batches->arrays[i]);
    }
    sl_release(batches->env, batches->arrays, batches->n * sizeof(*batches->arrays));
    sl_arrow_schema_release(&batches->schema);
    sl_release(batches->env, batches, sizeof(*batches));
}

silt_status sl_arrow_stream_from_batches(const silt_env *env, struct ArrowSchema *schema, struct ArrowArray *batches,
                                         size_t n, struct ArrowArrayStream *out, silt_error *err)
{
    static const struct sl_arrow_source source = {
        .schema = batches_schema, .next = batches_next, .close = batches_close};
    *out = (struct ArrowArrayStream){0};
    struct batches *owned = sl_alloc_zero(env, sizeof(*owned));
    struct ArrowArray *arrays = n > 0 ? sl_alloc_array(env, n, sizeof(*arrays)) : NULL;
    if (owned == NULL || (n > 0 && arrays == NULL)) {
        sl_release(env, owned, sizeof(*owned));
        sl_release(env, arrays, n * sizeof(*arrays));
        sl_arrow_schema_release(schema);
        for (size_t i = 0; i < n; i++) {
            sl_arrow_array_release(&batches[i]);
        }
        return sl_fail_nomem(err);
    }
    owned->env = env;
    owned->arrays = arrays;
    owned->n = n;
    sl_arrow_schema_move(&owned->schema, schema);
    for (size_t i = 0; i < n; i++) {
        sl_arrow_array_move(&arrays[i], &batches[i]);
    }
    return sl_arrow_stream_new(env, &source, owned, out, err);
}
