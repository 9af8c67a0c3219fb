/*
 * Sets of byte ranges as sorted vectors. A file has few: they are searched by halves and moved by memmove. Pure.
 */
#include "storage/cache/cache_ranges.h"

#include <string.h>

static struct sl_range *at(const struct sl_vec *set, size_t index)
{
    return sl_vec_at(set, index);
}

/* The first range that ends at or after `position`; set->len if there is none. */
static size_t first_ending_from(const struct sl_vec *set, int64_t position)
{
    size_t low = 0;
    size_t high = set->len;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (at(set, middle)->end < position) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool sl_ranges_add(struct sl_vec *set, struct sl_range range)
{
    if (range.end <= range.begin) {
        return true;
    }
    const size_t first = first_ending_from(set, range.begin);
    size_t last = first; /* behind those that the new one touches */
    while (last < set->len && at(set, last)->begin <= range.end) {
        range.begin = at(set, last)->begin < range.begin ? at(set, last)->begin : range.begin;
        range.end = at(set, last)->end > range.end ? at(set, last)->end : range.end;
        last++;
    }
    const size_t old_len = set->len;
    if (last == first) {
        if (sl_vec_push(set) == NULL) {
            return false;
        }
        memmove((char *)set->data + (first + 1) * set->elem_size, (char *)set->data + first * set->elem_size,
                (old_len - first) * set->elem_size);
    } else if (last > first + 1) {
        memmove((char *)set->data + (first + 1) * set->elem_size, (char *)set->data + last * set->elem_size,
                (old_len - last) * set->elem_size);
        set->len = old_len - (last - first - 1);
    }
    *at(set, first) = range;
    return true;
}

bool sl_ranges_cover(const struct sl_vec *set, struct sl_range range)
{
    if (range.end <= range.begin) {
        return true;
    }
    const size_t index = first_ending_from(set, range.begin + 1);
    return index < set->len && at(set, index)->begin <= range.begin && at(set, index)->end >= range.end;
}

bool sl_ranges_missing(const struct sl_vec *have, struct sl_range range, struct sl_vec *out)
{
    int64_t from = range.begin;
    for (size_t i = first_ending_from(have, range.begin + 1); i < have->len && at(have, i)->begin < range.end; i++) {
        const int64_t until = at(have, i)->begin;
        if (!sl_ranges_add(out, (struct sl_range){from, until})) {
            return false;
        }
        from = at(have, i)->end;
    }
    return sl_ranges_add(out, (struct sl_range){from, range.end});
}

void sl_ranges_close_gaps(struct sl_vec *set, int64_t gap)
{
    size_t kept = 0;
    for (size_t i = 1; i < set->len; i++) {
        if (at(set, i)->begin - at(set, kept)->end <= gap) {
            at(set, kept)->end = at(set, i)->end;
        } else {
            *at(set, ++kept) = *at(set, i);
        }
    }
    set->len = set->len > 0 ? kept + 1 : 0;
}

int64_t sl_ranges_bytes(const struct sl_vec *set)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < set->len; i++) {
        bytes += at(set, i)->end - at(set, i)->begin;
    }
    return bytes;
}
