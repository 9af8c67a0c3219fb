/*
 * Records of variable length for the chunks of a file set: numbers in 7-bit groups, text with its length before it.
 * Writers append to a buffer; readers stay within the bytes that they are given. Pure.
 */
#ifndef SL_KERNEL_REPLAY_FILE_CODEC_H
#define SL_KERNEL_REPLAY_FILE_CODEC_H

#include "base/arena.h"
#include "base/buf.h"
#include "kernel/action/action.h"

void sl_codec_put_u64(struct sl_buf *out, uint64_t value);
void sl_codec_put_i64(struct sl_buf *out, int64_t value);      /* small magnitudes are short */
void sl_codec_put_str(struct sl_buf *out, struct sl_str text); /* absent stays absent */
void sl_codec_put_kvs(struct sl_buf *out, const struct sl_kv *items, size_t n);

struct sl_decoder {
    const char *at;
    const char *end;
    bool ok; /* false once bytes were missing; all results are then zero */
};
uint64_t sl_codec_get_u64(struct sl_decoder *d);
int64_t sl_codec_get_i64(struct sl_decoder *d);
struct sl_str sl_codec_get_str(struct sl_decoder *d); /* borrowed */
/* Items in the arena, text borrowed. false: out of memory. */
bool sl_codec_get_kvs(struct sl_decoder *d, struct sl_arena *arena, const struct sl_kv **items, size_t *n);

#endif
