/*
 * Times of versions; see commit_times.h. Clocks of writers differ and files are copied, so file times need not grow with the
 * versions, while the versions' order is certain. Pure.
 */
#include "kernel/table/commit_times.h"

void sl_commit_times_adjust(struct sl_log_file *commits, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const int64_t before = commits[i - 1].modified_ms;
        if (commits[i].modified_ms <= before && before < INT64_MAX) {
            commits[i].modified_ms = before + 1;
        }
    }
}

size_t sl_commit_times_find(const struct sl_log_file *commits, size_t n, int64_t at_ms)
{
    size_t low = 0;
    size_t high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (commits[middle].modified_ms <= at_ms) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 ? low - 1 : n;
}

size_t sl_commit_times_filter(struct sl_log_file *files, size_t n, int64_t from_version)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (files[i].kind == SL_LOG_COMMIT && files[i].version >= from_version) {
            files[kept++] = files[i];
        }
    }
    return kept;
}
