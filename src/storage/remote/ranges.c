/* Ranges of files by HTTP. Pure; any thread. */
#include "storage/remote/ranges.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "storage/remote/http_fields.h"

#define MIN_MAX_ANSWER ((size_t)1 << 20) /* room for errors */
#define MAX_WHOLE ((size_t)1 << 40)

static int64_t suffix_of(const silt_read_request *read)
{
    return read->offset == INT64_MIN ? INT64_MAX : -read->offset;
}

bool sl_range_put(const silt_read_request *read, char out[SL_RANGE_TEXT_SIZE])
{
    const int64_t length = read->length == 0 ? 1 : read->length;
    if (read->offset < 0) {
        (void)snprintf(out, SL_RANGE_TEXT_SIZE, "bytes=-%lld", (long long)suffix_of(read));
        return true;
    }
    if (length < 0 || length > INT64_MAX - read->offset) {
        (void)snprintf(out, SL_RANGE_TEXT_SIZE, "bytes=%lld-", (long long)read->offset);
        return read->offset > 0;
    }
    (void)snprintf(out, SL_RANGE_TEXT_SIZE, "bytes=%lld-%lld", (long long)read->offset,
                   (long long)(read->offset + length - 1));
    return true;
}

size_t sl_range_max_answer(const silt_read_request *read)
{
    const int64_t wanted = read->offset < 0 ? suffix_of(read) : read->length;
    if (wanted < 0 || (uint64_t)wanted > MAX_WHOLE) {
        return MAX_WHOLE;
    }
    return (size_t)wanted < MIN_MAX_ANSWER ? MIN_MAX_ANSWER : (size_t)wanted;
}

/* Which bytes of a file of that size are wanted. */
static void clip(const silt_read_request *read, int64_t size, int64_t *begin, int64_t *length)
{
    *begin = read->offset;
    if (read->offset < 0) {
        *begin = suffix_of(read) < size ? size - suffix_of(read) : 0;
    }
    *begin = *begin < size ? *begin : size;
    const int64_t left = size - *begin;
    *length = read->length >= 0 && read->length < left ? read->length : left;
}

static silt_status fail_other(silt_error *err)
{
    return sl_fail(err, SILT_EIO, NULL, "the server sent other bytes than those that were asked for");
}

/*
 * Where the body lies in the file, and how long that is. A part must say both, and be just the range that was asked for: what does not tell the
 * file's size could be the begin of any other.
 */
static silt_status place_body(const struct sl_http_request *answer, const silt_read_request *read, int64_t *first,
                              int64_t *size, silt_error *err)
{
    int64_t last = -1;
    int64_t begin = 0;
    int64_t length = 0;
    const int64_t len = (int64_t)answer->answer.len;
    *first = 0;
    *size = len;
    if (answer->code == 200) { /* a server may ignore a range */
        return SILT_OK;
    }
    const struct sl_str range = sl_http_header(answer, "content-range");
    if (len == 0 && sl_str_eq_c(range, "bytes 0--1/0")) {
        *size = 0; /* what some servers make of the last bytes of an empty file, instead of 416 */
        return SILT_OK;
    }
    if (!sl_http_content_range_parse(range, first, &last, size) || *size < 0 || *first < 0 ||
        last - *first + 1 != len) {
        return sl_fail(err, SILT_EIO, NULL,
                       "the server's answer of %lld bytes does not say which part of the file it is", (long long)len);
    }
    /* As sl_range_put asks. */
    const silt_read_request asked = {.offset = read->offset,
                                     .length = read->offset < 0    ? -1
                                               : read->length == 0 ? 1
                                                                   : read->length};
    clip(&asked, *size, &begin, &length);
    return *first == begin && length == len ? SILT_OK : fail_other(err);
}

silt_status sl_range_take_none(const struct sl_http_request *answer, silt_read_request *read, silt_error *err)
{
    char range[SL_RANGE_TEXT_SIZE];
    int64_t first = -1;
    int64_t last = -1;
    int64_t size = -1;
    if (!sl_range_put(read, range)) {
        return sl_fail(err, SILT_EIO, NULL,
                       "the server refused a range (HTTP 416) where all of the file was asked for");
    }
    const bool told = sl_http_content_range_parse(sl_http_header(answer, "content-range"), &first, &last, &size) &&
                      size >= 0;
    if (!told && read->offset <= 0) { /* only of an empty file there is no such range */
        return sl_fail(err, SILT_EIO, NULL,
                       "the server refused a range (HTTP 416) and does not say that the file is empty");
    }
    if (told && size > (read->offset > 0 ? read->offset : 0)) {
        return sl_fail(err, SILT_EIO, NULL, "the server has no byte %lld of a file of %lld", (long long)read->offset,
                       (long long)size);
    }
    read->file_size = told ? size : -1;
    return SILT_OK;
}

silt_status sl_range_keep(const silt_env *env, struct sl_buf *body, size_t begin, size_t n, silt_read_request *read,
                          silt_error *err)
{
    if (n == 0) {
        return SILT_OK;
    }
    size_t len = 0;
    size_t cap = 0;
    char *block = sl_buf_take(body, &len, &cap);
    if (begin > 0) {
        memmove(block, block + begin, n); /* onto itself it would copy all the same */
    }
    char *fitting = cap == n ? block : sl_resize(env, block, cap, n);
    if (fitting == NULL) {
        sl_release(env, block, cap);
        return sl_fail_nomem(err);
    }
    read->data = fitting;
    read->data_len = n;
    return SILT_OK;
}

void sl_range_take_tag(const struct sl_http_request *answer, silt_read_request *read)
{
    struct sl_str tag = sl_http_header(answer, "x-goog-generation");
    if (tag.len == 0) {
        tag = sl_http_header(answer, "etag");
    }
    bool sound = tag.len > 0 && tag.len < sizeof(read->tag) && !sl_str_starts_with(tag, SL_STR("W/"));
    for (size_t i = 0; i < tag.len && sound; i++) {
        sound = tag.ptr[i] > ' ' && tag.ptr[i] <= '~';
    }
    const size_t n = sound ? tag.len : 0;
    memcpy(read->tag, n > 0 ? tag.ptr : "", n);
    read->tag[n] = '\0';
}

silt_status sl_range_take(const silt_env *env, struct sl_http_request *answer, silt_read_request *read, silt_error *err)
{
    int64_t first = 0;
    int64_t size = 0;
    int64_t begin = 0;
    int64_t length = 0;
    read->data = NULL;
    read->data_len = 0;
    if (answer->code == 416) {
        return sl_range_take_none(answer, read, err);
    }
    SL_TRY(place_body(answer, read, &first, &size, err));
    clip(read, size, &begin, &length);
    read->file_size = size;
    sl_range_take_tag(answer, read);
    return sl_range_keep(env, &answer->answer, length > 0 ? (size_t)(begin - first) : 0, (size_t)length, read, err);
}

bool sl_range_is_behind(const struct sl_http_request *answer, int64_t offset, int64_t *file_size)
{
    const struct sl_str range = sl_http_header(answer, "content-range");
    const size_t slash = sl_str_find(range, SL_STR("/"));
    int64_t size = 0;
    if (answer->code != 206 || answer->answer.len > 0 || slash == SIZE_MAX ||
        !sl_str_to_i64(sl_str_sub(range, slash + 1, range.len), &size) || size < 0 || size > offset) {
        return false;
    }
    *file_size = size;
    return true;
}

/* ---- as it comes ---- */

void sl_range_flow_begin(struct sl_range_flow *flow, silt_read_request *read)
{
    *flow = (struct sl_range_flow){.read = read};
    read->data_len = 0;
    read->file_size = -1;
    read->tag[0] = '\0';
}

/* What the headers say of the body. */
static silt_status open_flow(struct sl_range_flow *flow, const struct sl_http_request *answer, silt_error *err)
{
    silt_read_request *read = flow->read;
    int64_t first = 0;
    int64_t last = 0;
    int64_t size = 0;
    int64_t begin = 0;
    flow->opened = true;
    flow->want = read->length;
    sl_range_take_tag(answer, read);
    if (flow->bare) {
        return answer->code == 200 ? SILT_OK : fail_other(err);
    }
    if (answer->code == 200) { /* a server may ignore a range */
        flow->skip = read->offset;
        return SILT_OK;
    }
    if (answer->code != 206 ||
        !sl_http_content_range_parse(sl_http_header(answer, "content-range"), &first, &last, &size) || size < 0) {
        return fail_other(err);
    }
    clip(read, size, &begin, &flow->want);
    if (first != begin || last - first + 1 != flow->want) {
        return fail_other(err);
    }
    read->file_size = size;
    return SILT_OK;
}

silt_status sl_range_flow_take(struct sl_range_flow *flow, const struct sl_http_request *answer, const char **bytes,
                               size_t *n, int64_t *at, silt_error *err)
{
    const int64_t len = (int64_t)*n;
    if (!flow->opened) {
        SL_TRY(open_flow(flow, answer, err));
    }
    const int64_t before = flow->seen < flow->skip ? flow->skip - flow->seen
                                                   : 0; /* bytes that are not of the range yet */
    const int64_t skipped = before < len ? before : len;
    const int64_t left = flow->want - flow->taken;
    const int64_t taken = len - skipped < left ? len - skipped : left;
    flow->seen += len;
    if ((answer->code == 206 || flow->bare) && taken < len) {
        return fail_other(err);
    }
    *bytes += skipped;
    *n = (size_t)taken;
    *at = flow->taken;
    flow->taken += taken;
    return SILT_OK;
}

silt_status sl_range_flow_end(struct sl_range_flow *flow, const struct sl_http_request *answer, silt_error *err)
{
    silt_read_request *read = flow->read;
    int64_t begin = 0;
    if (!flow->opened && sl_range_is_behind(answer, read->offset, &read->file_size)) {
        return SILT_OK;
    }
    if (!flow->opened) { /* a body without a byte */
        SL_TRY(open_flow(flow, answer, err));
    }
    if (answer->code == 200) {
        read->file_size = flow->seen;
        clip(read, flow->seen, &begin, &flow->want);
    }
    if (flow->taken != flow->want) {
        return sl_fail(err, SILT_EIO, NULL, "the server sent fewer bytes than were asked for");
    }
    read->data_len = (size_t)flow->taken;
    return SILT_OK;
}
