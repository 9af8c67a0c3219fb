/*
 * Distributions of version checksums; see crc_histogram.h.
 */
#include "kernel/log/crc_histogram.h"

#include <string.h>

#include "base/alloc.h"

#define KB INT64_C(1024)
#define MB (1024 * KB)
#define GB (1024 * MB)

/* Bins of equal width from a size on. */
struct range {
    int64_t first, step, last;
};

/* Fine around the sizes that files are written in (128 MB, 512 MB, 1 GB), coarse elsewhere. */
static const struct range ranges[] = {
    {4 * MB, 4 * MB, 40 * MB},        {48 * MB, 8 * MB, 120 * MB},    {124 * MB, 4 * MB, 144 * MB},
    {160 * MB, 16 * MB, 576 * MB},    {640 * MB, 64 * MB, 1408 * MB}, {1536 * MB, 128 * MB, 2048 * MB},
    {2304 * MB, 256 * MB, 4096 * MB},
};

#define MAX_BINS 128

static size_t fill_bounds(int64_t *bounds)
{
    size_t n = 0;
    bounds[n++] = 0;
    for (int64_t bound = 8 * KB; bound < 4 * MB; bound *= 2) {
        bounds[n++] = bound;
    }
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        for (int64_t bound = ranges[i].first; bound <= ranges[i].last; bound += ranges[i].step) {
            bounds[n++] = bound;
        }
    }
    for (int64_t bound = 8 * GB; bound <= 256 * GB; bound *= 2) {
        bounds[n++] = bound;
    }
    return n;
}

bool sl_size_histogram_room(struct sl_arena *arena, size_t n, struct sl_size_histogram *out)
{
    out->n = n;
    out->bounds = sl_arena_alloc_array(arena, n, sizeof(*out->bounds));
    out->files = sl_arena_alloc_array(arena, n, sizeof(*out->files));
    out->bytes = sl_arena_alloc_array(arena, n, sizeof(*out->bytes));
    return out->bounds != NULL && out->files != NULL && out->bytes != NULL;
}

bool sl_size_histogram_new(struct sl_arena *arena, struct sl_size_histogram *out)
{
    int64_t bounds[MAX_BINS];
    const size_t n = fill_bounds(bounds);
    if (!sl_size_histogram_room(arena, n, out)) {
        return false;
    }
    memcpy(out->bounds, bounds, n * sizeof(*bounds));
    return true;
}

bool sl_size_histogram_copy(struct sl_arena *arena, const struct sl_size_histogram *from, struct sl_size_histogram *out)
{
    if (!sl_size_histogram_room(arena, from->n, out)) {
        return false;
    }
    memcpy(out->bounds, from->bounds, from->n * sizeof(*from->bounds));
    memcpy(out->files, from->files, from->n * sizeof(*from->files));
    memcpy(out->bytes, from->bytes, from->n * sizeof(*from->bytes));
    return true;
}

bool sl_size_histogram_change(struct sl_size_histogram *histogram, int64_t size, int direction)
{
    size_t bin = histogram->n;
    while (bin > 0 && histogram->bounds[bin - 1] > size) {
        bin--;
    }
    if (bin == 0) {
        return false; /* a size below 0 */
    }
    int64_t *files = &histogram->files[bin - 1];
    int64_t *bytes = &histogram->bytes[bin - 1];
    return sl_add_i64(*files, direction, files) && sl_add_i64(*bytes, direction * size, bytes) && *files >= 0 &&
           *bytes >= 0;
}

size_t sl_deleted_bin(int64_t n)
{
    int64_t bound = 1;
    for (size_t bin = 0; bin < SL_DELETED_BINS - 1; bin++) {
        if (n < bound) {
            return bin;
        }
        bound = bin + 3 < SL_DELETED_BINS ? bound * 10 : INT32_MAX;
    }
    return SL_DELETED_BINS - 1;
}
