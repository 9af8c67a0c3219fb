/*
 * Growing byte buffers: doubling, bounded, with a sticky status so that a writer of text checks once at its end. One byte
 * more than needed is kept for a NUL. One owner.
 */
#include "base/buf.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"

#define FIRST_CAPACITY ((size_t)64)
#define SOON_LARGE ((size_t)512)

void sl_buf_init(struct sl_buf *buf, const silt_env *env)
{
    *buf = (struct sl_buf){.env = env, .max = SL_BUF_DEFAULT_MAX};
}

void sl_buf_release(struct sl_buf *buf)
{
    sl_release(buf->env, buf->data, buf->cap);
    *buf = (struct sl_buf){.env = buf->env, .max = buf->max};
}

void sl_buf_clear(struct sl_buf *buf)
{
    buf->len = 0;
    buf->status = SILT_OK;
    if (buf->data != NULL) {
        buf->data[0] = '\0';
    }
}

silt_status sl_buf_status(const struct sl_buf *buf, silt_error *err)
{
    switch (buf->status) {
    case SILT_OK: return SILT_OK;
    case SILT_ELIMIT:
        return sl_fail(err, SILT_ELIMIT, NULL, "text or data would be larger than the limit of %zu bytes", buf->max);
    default: return sl_fail_nomem(err);
    }
}

struct sl_str sl_buf_view(const struct sl_buf *buf)
{
    return (struct sl_str){buf->data != NULL ? buf->data : "", buf->len};
}

const char *sl_buf_cstr(const struct sl_buf *buf)
{
    return buf->data != NULL ? buf->data : "";
}

char *sl_buf_take(struct sl_buf *buf, size_t *len, size_t *cap)
{
    char *data = buf->data;
    *len = buf->len;
    *cap = buf->cap;
    *buf = (struct sl_buf){.env = buf->env, .max = buf->max};
    return data;
}

static bool grow(struct sl_buf *buf, size_t needed)
{
    size_t cap = buf->cap < FIRST_CAPACITY ? FIRST_CAPACITY : buf->cap;
    if (buf->cap > 0 && buf->cap < SOON_LARGE) {
        cap = SOON_LARGE; /* what grows once mostly grows on */
    }
    while (cap < needed) {
        cap = cap <= SIZE_MAX / 2 ? cap * 2 : needed;
    }
    char *data = sl_resize(buf->env, buf->data, buf->cap, cap);
    if (data == NULL) {
        buf->status = SILT_ENOMEM;
        return false;
    }
    buf->data = data;
    buf->cap = cap;
    return true;
}

char *sl_buf_reserve(struct sl_buf *buf, size_t n)
{
    if (sl_buf_has_room(buf, n)) {
        char *room = buf->data + buf->len;
        room[n] = '\0';
        return room;
    }
    if (buf->status != SILT_OK) {
        return NULL;
    }
    size_t len = 0;
    size_t needed = 0;
    if (!sl_add_size(buf->len, n, &len) || len > buf->max || !sl_add_size(len, 1, &needed)) {
        buf->status = SILT_ELIMIT;
        return NULL;
    }
    if (needed > buf->cap && !grow(buf, needed)) {
        return NULL;
    }
    /* Whatever the caller writes and adds to len, the byte behind it is there and zero. */
    buf->data[len] = '\0';
    return buf->data + buf->len;
}

void sl_buf_put_slowly(struct sl_buf *buf, const void *bytes, size_t n)
{
    if (n == 0) {
        return;
    }
    char *room = sl_buf_reserve(buf, n);
    if (room != NULL) {
        memcpy(room, bytes, n);
        buf->len += n;
    }
}

void sl_buf_put_str(struct sl_buf *buf, struct sl_str s)
{
    sl_buf_put(buf, s.ptr, s.len);
}

void sl_buf_put_c(struct sl_buf *buf, const char *text)
{
    sl_buf_put_str(buf, sl_str_from(text));
}

/* Two digits at a time: half of the divisions. */
char *sl_u64_print(uint64_t value, char *out)
{
    static const char pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
        "49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
        "9899";
    char digits[SL_U64_DIGITS];
    size_t begin = sizeof(digits);
    if (value < 10) {
        *out = (char)('0' + value);
        return out + 1;
    }
    while (value >= 10) {
        begin -= 2;
        memcpy(digits + begin, pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value > 0) {
        digits[--begin] = (char)('0' + value);
    }
    memcpy(out, digits + begin, sizeof(digits) - begin);
    return out + (sizeof(digits) - begin);
}

void sl_buf_put_u64(struct sl_buf *buf, uint64_t value)
{
    char digits[SL_U64_DIGITS];
    const char *end = sl_u64_print(value, digits);
    sl_buf_put(buf, digits, (size_t)(end - digits));
}

void sl_buf_put_i64(struct sl_buf *buf, int64_t value)
{
    if (value < 0) {
        sl_buf_put_char(buf, '-');
    }
    sl_buf_put_u64(buf, sl_magnitude(value));
}

void sl_buf_printf(struct sl_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, format, args);
    if (n < 0) {
        buf->status = buf->status == SILT_OK ? SILT_ELIMIT : buf->status;
    } else if (n > 0) {
        char *room = sl_buf_reserve(buf, (size_t)n);
        if (room != NULL) {
            (void)vsnprintf(room, (size_t)n + 1, format, again); /* the length is known to fit */
            buf->len += (size_t)n;
        }
    }
    va_end(again);
    va_end(args);
}
