/*
 * Bytes compressed with LZ4 and framed as Hadoop does it, for files that no writer at hand makes. Called by parquet_fixture.c; no state.
 */
#include "lz4_fixture.h"

#include <string.h>

#include "test_env.h"

#define MAX_DISTANCE 300
/* A block ends with so many literals, and no copy begins nearer to its end than that. */
#define LAST_LITERALS 5
#define LAST_COPY 12
#define MIN_COPY 4

static void put_length(struct sl_buf *out, size_t length)
{
    if (length < 15) {
        return;
    }
    for (length -= 15; length >= 255; length -= 255) {
        sl_buf_put_char(out, '\xFF');
    }
    sl_buf_put_char(out, (char)length);
}

/* distance 0: the last one, without a copy. */
static void put_sequence(struct sl_buf *out, struct sl_str literals, size_t distance, size_t length)
{
    const size_t code = distance > 0 ? length - MIN_COPY : 0;
    sl_buf_put_char(out, (char)((literals.len < 15 ? literals.len : 15) << 4 | (code < 15 ? code : 15)));
    put_length(out, literals.len);
    sl_buf_put_str(out, literals);
    if (distance > 0) {
        sl_buf_put_char(out, (char)(distance & 0xFF));
        sl_buf_put_char(out, (char)(distance >> 8));
        put_length(out, code);
    }
}

static size_t find_copy(struct sl_str plain, size_t at)
{
    for (size_t distance = 1; distance <= at && distance <= MAX_DISTANCE; distance++) {
        if (memcmp(plain.ptr + at, plain.ptr + at - distance, MIN_COPY) == 0) {
            return distance;
        }
    }
    return 0;
}

void lz4_put_block(struct sl_buf *out, struct sl_str plain)
{
    size_t literals = 0;
    for (size_t at = 0; at + LAST_COPY < plain.len;) {
        const size_t distance = find_copy(plain, at);
        size_t length = MIN_COPY;
        if (distance == 0) {
            at++;
            continue;
        }
        while (at + length + LAST_LITERALS < plain.len && plain.ptr[at + length] == plain.ptr[at + length - distance]) {
            length++;
        }
        put_sequence(out, sl_str_make(plain.ptr + literals, at - literals), distance, length);
        at += length;
        literals = at;
    }
    put_sequence(out, sl_str_make(plain.ptr + literals, plain.len - literals), 0, 0);
    assert_int_equal(out->status, SILT_OK);
}

static void put_number(struct sl_buf *out, size_t n)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        sl_buf_put_char(out, (char)(n >> shift & 0xFF));
    }
}

void lz4_put_frames(struct sl_buf *out, struct sl_str plain, size_t block, size_t chunk)
{
    struct sl_buf compressed;
    sl_buf_init(&compressed, out->env);
    for (size_t at = 0; at < plain.len; at += block) {
        const size_t n = plain.len - at < block ? plain.len - at : block;
        put_number(out, n);
        for (size_t in = 0; in < n; in += chunk) {
            sl_buf_clear(&compressed);
            lz4_put_block(&compressed, sl_str_make(plain.ptr + at + in, n - in < chunk ? n - in : chunk));
            put_number(out, compressed.len);
            sl_buf_put_str(out, sl_buf_view(&compressed));
        }
    }
    assert_int_equal(out->status, SILT_OK);
    sl_buf_release(&compressed);
}
