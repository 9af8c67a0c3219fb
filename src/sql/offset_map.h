/*
 * Text that is rewritten piece by piece, with the way back: which byte of the source each byte of the result stands for. One owner.
 */
#ifndef SL_SQL_OFFSET_MAP_H
#define SL_SQL_OFFSET_MAP_H

#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"

struct sl_offset_map {
    struct sl_vec pieces; /* struct sl_offset_piece, ascending by out */
};

struct sl_offset_piece {
    size_t out;  /* where it begins in the result */
    size_t in;   /* where it begins in the source */
    bool copied; /* byte for byte; else all of it stands for `in` */
};

void sl_offset_map_init(struct sl_offset_map *map, const silt_env *env);
void sl_offset_map_release(struct sl_offset_map *map); /* safe on a zeroed map */

/* Appends source[begin, end) to the result. */
void sl_rewrite_copy(struct sl_buf *out, struct sl_offset_map *map, struct sl_str source, size_t begin, size_t end);
/* Notes that what is appended to out from now on, until the next copy, stands for source offset `in`. */
void sl_rewrite_mark(struct sl_buf *out, struct sl_offset_map *map, size_t in);

/* Offset in the source for one in the result. */
size_t sl_offset_map_back(const struct sl_offset_map *map, size_t out);

#endif
