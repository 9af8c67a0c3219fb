/*
 * The distributions that a version checksum holds (PROTOCOL.md "File Size Histogram Schema", "Deleted Record Counts Histogram
 * Schema"), with the bins of Delta Spark, which compares them with its own. Pure.
 */
#ifndef SL_KERNEL_LOG_CRC_HISTOGRAM_H
#define SL_KERNEL_LOG_CRC_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct sl_size_histogram {
    size_t n;
    int64_t *bounds; /* lower ends, ascending from 0 */
    int64_t *files;
    int64_t *bytes;
};

/* Room for n bins, zeroed; false: out of memory. */
bool sl_size_histogram_room(struct sl_arena *arena, size_t n, struct sl_size_histogram *out);
/* Delta's bins, empty. */
bool sl_size_histogram_new(struct sl_arena *arena, struct sl_size_histogram *out);
bool sl_size_histogram_copy(struct sl_arena *arena, const struct sl_size_histogram *from,
                            struct sl_size_histogram *out);
/* Takes a file in (+1) or out (-1); false when that cannot be. */
bool sl_size_histogram_change(struct sl_size_histogram *histogram, int64_t size, int direction);

#define SL_DELETED_BINS 10

/* The bin of a file that has lost n records, n >= 0. */
size_t sl_deleted_bin(int64_t n);

#endif
