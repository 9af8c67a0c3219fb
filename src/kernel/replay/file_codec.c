/*
 * The encoding of file_codec.h. Called by file_set.c for each file once when a snapshot is loaded and once a visit.
 */
#include "kernel/replay/file_codec.h"

void sl_codec_put_u64(struct sl_buf *out, uint64_t value)
{
    char bytes[10];
    size_t n = 0;
    while (value >= 0x80U) {
        bytes[n++] = (char)(unsigned char)(value | 0x80U);
        value >>= 7;
    }
    bytes[n++] = (char)(unsigned char)value;
    sl_buf_put(out, bytes, n);
}

void sl_codec_put_i64(struct sl_buf *out, int64_t value)
{
    const uint64_t bits = (uint64_t)value;
    sl_codec_put_u64(out, value < 0 ? ~(bits << 1) : bits << 1);
}

void sl_codec_put_str(struct sl_buf *out, struct sl_str text)
{
    if (text.ptr == NULL) {
        sl_codec_put_u64(out, 0);
        return;
    }
    sl_codec_put_u64(out, (uint64_t)text.len + 1);
    sl_buf_put_str(out, text);
}

void sl_codec_put_kvs(struct sl_buf *out, const struct sl_kv *items, size_t n)
{
    sl_codec_put_u64(out, n);
    for (size_t i = 0; i < n; i++) {
        sl_codec_put_str(out, items[i].key);
        sl_codec_put_str(out, items[i].value);
    }
}

uint64_t sl_codec_get_u64(struct sl_decoder *d)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && d->at < d->end; shift += 7) {
        const unsigned char byte = (unsigned char)*d->at++;
        value |= (uint64_t)(byte & 0x7FU) << shift;
        if ((byte & 0x80U) == 0) {
            return value;
        }
    }
    d->ok = false;
    d->at = d->end;
    return 0;
}

int64_t sl_codec_get_i64(struct sl_decoder *d)
{
    const uint64_t bits = sl_codec_get_u64(d);
    const uint64_t value = (bits & 1U) != 0 ? ~(bits >> 1) : bits >> 1;
    return value <= INT64_MAX ? (int64_t)value : -(int64_t)(UINT64_MAX - value) - 1;
}

struct sl_str sl_codec_get_str(struct sl_decoder *d)
{
    const uint64_t coded = sl_codec_get_u64(d);
    if (coded == 0) {
        return (struct sl_str){NULL, 0};
    }
    if (coded - 1 > (uint64_t)(d->end - d->at)) {
        d->ok = false;
        d->at = d->end;
        return (struct sl_str){NULL, 0};
    }
    const struct sl_str text = sl_str_make(d->at, (size_t)(coded - 1));
    d->at += text.len;
    return text;
}

bool sl_codec_get_kvs(struct sl_decoder *d, struct sl_arena *arena, const struct sl_kv **items, size_t *n)
{
    *items = NULL;
    *n = 0;
    const uint64_t count = sl_codec_get_u64(d);
    if (count == 0 || count > (uint64_t)(d->end - d->at)) {
        d->ok = d->ok && count == 0;
        return true;
    }
    struct sl_kv *list = sl_arena_alloc_array(arena, (size_t)count, sizeof(*list));
    if (list == NULL) {
        return false;
    }
    for (size_t i = 0; i < (size_t)count; i++) {
        list[i].key = sl_codec_get_str(d);
        list[i].value = sl_codec_get_str(d);
    }
    *items = list;
    *n = (size_t)count;
    return true;
}
