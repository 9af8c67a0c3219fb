/*
 * Records of details; see file_details.h. Called by file_build.c (writing) and file_set.c (reading).
 */
#include "kernel/replay/file_details.h"

#include "kernel/replay/file_codec.h"

enum {
    DETAIL_STATS = 1,
    DETAIL_TAGS = 2,
    DETAIL_CLUSTERING = 4,
    DETAIL_EXTRA = 8,
    DETAIL_DV_EXTRA = 16
};

void sl_file_details_encode(struct sl_buf *out, const struct sl_add *add)
{
    const struct sl_dv_descriptor *dv = add->deletion_vector;
    const unsigned flags = (add->stats.ptr != NULL ? DETAIL_STATS : 0U) | (add->has_tags ? DETAIL_TAGS : 0U) |
                           (add->clustering_provider.ptr != NULL ? DETAIL_CLUSTERING : 0U) |
                           (add->extra.n > 0 ? DETAIL_EXTRA : 0U) |
                           (dv != NULL && dv->extra.n > 0 ? DETAIL_DV_EXTRA : 0U);
    sl_codec_put_u64(out, flags);
    if ((flags & DETAIL_STATS) != 0) {
        sl_codec_put_str(out, add->stats);
    }
    if ((flags & DETAIL_TAGS) != 0) {
        sl_codec_put_kvs(out, add->tags.items, add->tags.n);
    }
    if ((flags & DETAIL_CLUSTERING) != 0) {
        sl_codec_put_str(out, add->clustering_provider);
    }
    if ((flags & DETAIL_EXTRA) != 0) {
        sl_codec_put_kvs(out, add->extra.items, add->extra.n);
    }
    if ((flags & DETAIL_DV_EXTRA) != 0) {
        sl_codec_put_kvs(out, dv->extra.items, dv->extra.n);
    }
}

bool sl_file_details_decode(struct sl_str record, struct sl_arena *arena, struct sl_add *add,
                            struct sl_dv_descriptor *dv)
{
    struct sl_decoder d = {.at = record.ptr, .end = record.ptr + record.len, .ok = true};
    const unsigned flags = (unsigned)sl_codec_get_u64(&d);
    bool ok = true;
    if ((flags & DETAIL_STATS) != 0) {
        add->stats = sl_codec_get_str(&d);
    }
    if ((flags & DETAIL_TAGS) != 0) {
        add->has_tags = true;
        ok = sl_codec_get_kvs(&d, arena, &add->tags.items, &add->tags.n);
    }
    if ((flags & DETAIL_CLUSTERING) != 0) {
        add->clustering_provider = sl_codec_get_str(&d);
    }
    if (ok && (flags & DETAIL_EXTRA) != 0) {
        ok = sl_codec_get_kvs(&d, arena, &add->extra.items, &add->extra.n);
    }
    if (ok && (flags & DETAIL_DV_EXTRA) != 0) {
        ok = sl_codec_get_kvs(&d, arena, &dv->extra.items, &dv->extra.n);
    }
    return ok;
}
