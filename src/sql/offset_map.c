/*
 * Rewriting with the way back. See offset_map.h. A piece that cannot be noted (no memory) makes the buffer fail, so that one check
 * at the end is enough.
 */
#include "sql/offset_map.h"

void sl_offset_map_init(struct sl_offset_map *map, const silt_env *env)
{
    sl_vec_init(&map->pieces, env, sizeof(struct sl_offset_piece));
}

void sl_offset_map_release(struct sl_offset_map *map)
{
    sl_vec_release(&map->pieces);
}

static void add_piece(struct sl_buf *out, struct sl_offset_map *map, size_t in, bool copied)
{
    struct sl_offset_piece *piece = sl_vec_push(&map->pieces);
    if (piece == NULL) {
        out->status = SILT_ENOMEM;
        return;
    }
    *piece = (struct sl_offset_piece){.out = out->len, .in = in, .copied = copied};
}

void sl_rewrite_copy(struct sl_buf *out, struct sl_offset_map *map, struct sl_str source, size_t begin, size_t end)
{
    if (begin >= end) {
        return;
    }
    add_piece(out, map, begin, true);
    sl_buf_put_str(out, sl_str_sub(source, begin, end));
}

void sl_rewrite_mark(struct sl_buf *out, struct sl_offset_map *map, size_t in)
{
    add_piece(out, map, in, false);
}

size_t sl_offset_map_back(const struct sl_offset_map *map, size_t out)
{
    size_t low = 0;
    size_t high = map->pieces.len;
    const struct sl_offset_piece *piece = NULL;

    while (low < high) { /* the last piece that begins at or before `out` */
        size_t middle = low + (high - low) / 2;
        piece = sl_vec_at(&map->pieces, middle);
        if (piece->out <= out) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return out;
    }
    piece = sl_vec_at(&map->pieces, low - 1);
    return piece->copied ? piece->in + (out - piece->out) : piece->in;
}
