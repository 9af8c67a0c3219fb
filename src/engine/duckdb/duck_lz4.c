/*
 * LZ4 blocks out of Hadoop's frames, joined into one; see duck_lz4.h. Nothing is decompressed: a block is a row of sequences, each literals and
 * a copy of bytes before it, and ends with literals alone. So two blocks make one when the last literals of the first are put before the
 * first ones of the second. Foreign bytes: every length is checked.
 *
 * Hadoop's frame: blocks, each the number of bytes it decompresses to and then, until so many are reached, chunks, each its length and an
 * LZ4 block. Numbers have four bytes, highest first.
 */
#include "duck_lz4.h"

#include <string.h>

enum {
    LONG_LENGTH = 15, /* a length of so much or more goes on in bytes behind the token */
    MIN_COPY = 4
};

struct joined {
    unsigned char *out;
    size_t n, cap;
    unsigned char
        *left; /* literals at the end of the blocks before, which the next copy comes behind; has room for cap bytes */
    size_t n_left;
};

static bool put(struct joined *j, const unsigned char *bytes, size_t n)
{
    if (n > j->cap - j->n) {
        return false;
    }
    if (n > 0) {
        memcpy(j->out + j->n, bytes, n);
    }
    j->n += n;
    return true;
}

/* A length of 15 or more goes on behind the token. */
static bool put_long(struct joined *j, size_t length)
{
    size_t rest = length - LONG_LENGTH;
    bool fine = true;
    for (; rest >= 255 && fine; rest -= 255) {
        fine = put(j, (const unsigned char *)"\xFF", 1);
    }
    const unsigned char last = (unsigned char)rest;
    return fine && put(j, &last, 1);
}

/* A sequence as it was read: literals, and the bytes that stand behind them for the copy, whose length begins in the token. */
struct sequence {
    const unsigned char *literals;
    size_t n_literals;
    const unsigned char *copy;
    size_t n_copy;
    unsigned code;
};

static bool put_sequence(struct joined *j, const struct sequence *s)
{
    const size_t n = j->n_left + s->n_literals;
    const unsigned char token = (unsigned char)((n < LONG_LENGTH ? n : LONG_LENGTH) << 4 | s->code);
    const bool fine = put(j, &token, 1) && (n < LONG_LENGTH || put_long(j, n)) && put(j, j->left, j->n_left) &&
                      put(j, s->literals, s->n_literals) && put(j, s->copy, s->n_copy);
    j->n_left = 0;
    return fine;
}

static bool leave(struct joined *j, const unsigned char *literals, size_t n)
{
    if (n > j->cap - j->n_left) {
        return false;
    }
    memcpy(j->left + j->n_left, literals, n);
    j->n_left += n;
    return true;
}

/* Adds what follows a length of 15. */
static bool read_long(const unsigned char **at, const unsigned char *end, size_t *length)
{
    unsigned char byte = 255;
    while (byte == 255) {
        if (*at == end || *length > SIZE_MAX - 255) {
            return false;
        }
        byte = *(*at)++;
        *length += byte;
    }
    return true;
}

/* The block in [at, end), which decompresses to *n_plain bytes, at most max. */
static bool join_block(struct joined *j, const unsigned char *at, const unsigned char *end, size_t max, size_t *n_plain)
{
    *n_plain = 0;
    while (at < end) {
        const unsigned token = *at++;
        struct sequence s = {.n_literals = token >> 4, .code = token & LONG_LENGTH};
        size_t n_copied = s.code + MIN_COPY;
        if ((s.n_literals == LONG_LENGTH && !read_long(&at, end, &s.n_literals)) || s.n_literals > (size_t)(end - at) ||
            s.n_literals > max - *n_plain) {
            return false;
        }
        s.literals = at;
        at += s.n_literals;
        *n_plain += s.n_literals;
        if (at == end) { /* the last one has no copy */
            return s.code == 0 && leave(j, s.literals, s.n_literals);
        }
        s.copy = at;
        if (end - at < 2) {
            return false;
        }
        const size_t distance = (size_t)at[0] | (size_t)at[1] << 8;
        at += 2;
        if ((s.code == LONG_LENGTH && !read_long(&at, end, &n_copied)) || distance == 0 || distance > *n_plain ||
            n_copied > max - *n_plain) {
            return false;
        }
        *n_plain += n_copied;
        s.n_copy = (size_t)(at - s.copy);
        if (!put_sequence(j, &s)) {
            return false;
        }
    }
    return false; /* it ends with literals, if only none */
}

static bool read_number(const unsigned char **at, const unsigned char *end, size_t *out)
{
    if (end - *at < 4) {
        return false;
    }
    *out = (size_t)(*at)[0] << 24 | (size_t)(*at)[1] << 16 | (size_t)(*at)[2] << 8 | (size_t)(*at)[3];
    *at += 4;
    return true;
}

/* The chunks of a block of Hadoop's that decompresses to n_plain bytes. */
static bool join_chunks(struct joined *j, const unsigned char **at, const unsigned char *end, size_t n_plain)
{
    while (n_plain > 0) {
        size_t n = 0;
        size_t got = 0;
        if (!read_number(at, end, &n) || n > (size_t)(end - *at) || !join_block(j, *at, *at + n, n_plain, &got) ||
            got == 0) {
            return false;
        }
        *at += n;
        n_plain -= got;
    }
    return true;
}

static bool join_frames(struct joined *j, const unsigned char *at, const unsigned char *end, size_t n_plain)
{
    while (at < end) {
        size_t n = 0;
        if (!read_number(&at, end, &n) || n > n_plain || !join_chunks(j, &at, end, n)) {
            return false;
        }
        n_plain -= n;
    }
    return n_plain == 0;
}

bool sl_lz4_unframe(const unsigned char *in, size_t n, size_t n_plain, unsigned char *space, size_t *n_out)
{
    static const struct sequence end = {.n_copy = 0};
    struct joined j = {.out = space, .cap = n, .left = space + n};
    size_t got = 0;
    *n_out = 0;
    if (n == 0) {
        return n_plain == 0;
    }
    if (!join_frames(&j, in, in + n, n_plain) || !put_sequence(&j, &end)) {
        j = (struct joined){.out = space, .cap = n, .left = space + n};
        if (!join_block(&j, in, in + n, n_plain, &got) || got != n_plain || !put_sequence(&j, &end)) {
            return false;
        }
    }
    *n_out = j.n;
    return true;
}
