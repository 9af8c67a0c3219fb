/*
 * Growing byte buffer with a maximum and a sticky status: append freely, check sl_buf_status once at the end.
 * One owner.
 */
#ifndef SL_BASE_BUF_H
#define SL_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"
#include "silt/env.h"
#include "silt/status.h"

#define SL_U64_DIGITS 20
/* The decimal digits of a number, at most SL_U64_DIGITS and no NUL; returns the place behind them. */
char *sl_u64_print(uint64_t value, char *out);
/* Without overflow, for INT64_MIN too. */
static inline uint64_t sl_magnitude(int64_t value)
{
    return value < 0 ? (uint64_t)(-(value + 1)) + 1 : (uint64_t)value;
}

#define SL_BUF_DEFAULT_MAX ((size_t)1 << 40)

struct sl_buf {
    const silt_env *env;
    char *data; /* NUL-terminated when len > 0 */
    size_t len;
    size_t cap;
    size_t max;
    silt_status status; /* SILT_OK, SILT_ENOMEM or SILT_ELIMIT (max exceeded); appends are ignored after a failure */
};

void sl_buf_init(struct sl_buf *buf, const silt_env *env);            /* max: SL_BUF_DEFAULT_MAX; allocates nothing */
void sl_buf_release(struct sl_buf *buf);                              /* safe on a zeroed buffer */
void sl_buf_clear(struct sl_buf *buf);                                /* keeps memory, resets the status */
silt_status sl_buf_status(const struct sl_buf *buf, silt_error *err); /* sets err when failed */
struct sl_str sl_buf_view(const struct sl_buf *buf);
/* The text, NUL-terminated; "" when empty. Borrowed. */
const char *sl_buf_cstr(const struct sl_buf *buf);
/* Hands out the block (size *cap for sl_release); the buffer is empty afterwards. */
char *sl_buf_take(struct sl_buf *buf, size_t *len, size_t *cap);
/* Makes room for n more bytes; NULL on failure. Then write and add to len yourself. */
char *sl_buf_reserve(struct sl_buf *buf, size_t n);

/* The ways for what does not fit at once; not to be called but by what follows. */
void sl_buf_put_slowly(struct sl_buf *buf, const void *bytes, size_t n);

/* Whether n bytes and the NUL have room without any doubt. */
static inline bool sl_buf_has_room(const struct sl_buf *buf, size_t n)
{
    return buf->status == SILT_OK && buf->len < buf->cap && n < buf->cap - buf->len && buf->len <= buf->max &&
           n <= buf->max - buf->len;
}

static inline void sl_buf_put(struct sl_buf *buf, const void *bytes, size_t n)
{
    if (n == 0 || !sl_buf_has_room(buf, n)) {
        sl_buf_put_slowly(buf, bytes, n);
        return;
    }
    memcpy(buf->data + buf->len, bytes, n);
    buf->len += n;
    buf->data[buf->len] = '\0';
}

static inline void sl_buf_put_char(struct sl_buf *buf, char c)
{
    if (!sl_buf_has_room(buf, 1)) {
        sl_buf_put_slowly(buf, &c, 1);
        return;
    }
    buf->data[buf->len++] = c;
    buf->data[buf->len] = '\0';
}

void sl_buf_put_str(struct sl_buf *buf, struct sl_str s);
void sl_buf_put_c(struct sl_buf *buf, const char *text);
void sl_buf_put_i64(struct sl_buf *buf, int64_t value);
void sl_buf_put_u64(struct sl_buf *buf, uint64_t value);
/* Shortest text that reads back to the same double ("1.5", "1e300", "-0.0"); NaN and infinities as NaN, Infinity. */
void sl_buf_put_f64(struct sl_buf *buf, double value);
void sl_buf_put_f32(struct sl_buf *buf, float value);
void sl_buf_printf(struct sl_buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
