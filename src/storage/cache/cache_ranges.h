/*
 * Sets of byte ranges: which parts of a file are there, which are wanted, which are missing. Pure; one owner.
 */
#ifndef SL_STORAGE_CACHE_CACHE_RANGES_H
#define SL_STORAGE_CACHE_CACHE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* Bytes [begin, end) of a file; empty when end <= begin. */
struct sl_range {
    int64_t begin;
    int64_t end;
};

/* A set is a vector of struct sl_range: ascending, apart by a byte or more, none empty. */

/* Adds a range; what it touches melts together. false: out of memory, the set is as it was. */
bool sl_ranges_add(struct sl_vec *set, struct sl_range range);
bool sl_ranges_cover(const struct sl_vec *set, struct sl_range range);
/* Adds to `out` (a set) what is in `range` and not in `have`. */
bool sl_ranges_missing(const struct sl_vec *have, struct sl_range range, struct sl_vec *out);
/* Joins neighbours that are at most `gap` bytes apart: two requests cost more than a few bytes too many. */
void sl_ranges_close_gaps(struct sl_vec *set, int64_t gap);
int64_t sl_ranges_bytes(const struct sl_vec *set);

#endif
