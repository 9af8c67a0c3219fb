/*
 * Complete checkpoints of a listing; see segment_checkpoint.h. A checkpoint in parts counts only when every part of one count is
 * there; parts of different counts are different checkpoints. Pure, any thread.
 */
#include "kernel/log/segment_checkpoint.h"

/*
 * A top file in JSON up to this size is read first: it needs no data plane. A larger one holds file actions, which come faster
 * from Parquet.
 */
#define SMALL_JSON_BYTES (INT64_C(1024) * 1024)

enum {
    RANK_NONE = 100
};

static bool is_part_of(const struct sl_log_file *file, int64_t version, int32_t n_parts)
{
    return file->kind == SL_LOG_CHECKPOINT_PART && file->version == version && file->n_parts == n_parts;
}

/* Parts of one version and count, from its first part on: are all of them there, each once? */
static bool parts_complete(const struct sl_log_file *files, size_t n, size_t first)
{
    const int64_t version = files[first].version;
    const int32_t n_parts = files[first].n_parts;
    int32_t expected = 1;
    for (size_t i = first; i < n && files[i].version == version; i++) {
        /* Listings are in the order of names, which begin with the part's number. */
        if (is_part_of(&files[i], version, n_parts) && files[i].part == expected) {
            expected++;
        }
    }
    return expected == n_parts + 1;
}

/* How well the complete checkpoint that begins here reads, 0 best; RANK_NONE: none begins here. */
static int rank_of(const struct sl_log_file *files, size_t n, size_t index)
{
    const struct sl_log_file *file = &files[index];
    const bool is_json = sl_str_ends_with(file->name, SL_STR(".json"));
    switch (file->kind) {
    case SL_LOG_CHECKPOINT: return 1;
    case SL_LOG_CHECKPOINT_V2: return is_json ? (file->size <= SMALL_JSON_BYTES ? 0 : 3) : 2;
    case SL_LOG_CHECKPOINT_PART: return file->part == 1 && parts_complete(files, n, index) ? 4 : RANK_NONE;
    case SL_LOG_COMMIT:
    case SL_LOG_COMPACTED:
    case SL_LOG_CRC:
    case SL_LOG_LAST_CHECKPOINT:
    case SL_LOG_OTHER: break;
    }
    return RANK_NONE;
}

static bool is_bad(const struct sl_bad_checkpoints *bad, struct sl_str name)
{
    for (size_t i = 0; i < bad->n; i++) {
        if (sl_str_eq(bad->names[i], name)) {
            return true;
        }
    }
    return false;
}

struct sl_found_checkpoint sl_checkpoint_find(const struct sl_log_file *files, size_t n, int64_t at_most,
                                              const struct sl_bad_checkpoints *bad)
{
    struct sl_found_checkpoint best = {.version = -1};
    int best_rank = RANK_NONE;
    for (size_t i = 0; i < n; i++) {
        const struct sl_log_file *file = &files[i];
        if (file->version > at_most || file->version < best.version) {
            continue;
        }
        const int rank = rank_of(files, n, i);
        const bool better = file->version > best.version || rank < best_rank;
        if (rank == RANK_NONE || !better || (bad != NULL && is_bad(bad, file->name))) {
            continue;
        }
        best = (struct sl_found_checkpoint){
            .version = file->version,
            .first = i,
            .n_parts = file->kind == SL_LOG_CHECKPOINT_PART ? file->n_parts : 0,
        };
        best_rank = rank;
    }
    return best;
}

int64_t sl_checkpoint_oldest(const struct sl_log_file *files, size_t n)
{
    int64_t oldest = -1;
    for (size_t i = 0; i < n; i++) {
        if ((oldest < 0 || files[i].version < oldest) && rank_of(files, n, i) != RANK_NONE) {
            oldest = files[i].version;
        }
    }
    return oldest;
}

size_t sl_checkpoint_files(const struct sl_log_file *files, size_t n, const struct sl_found_checkpoint *found,
                           struct sl_arena *arena, struct sl_log_file **out)
{
    const size_t wanted = found->n_parts > 0 ? (size_t)found->n_parts : 1;
    *out = sl_arena_alloc_array(arena, wanted, sizeof(**out));
    if (*out == NULL) {
        return 0;
    }
    size_t n_found = 0;
    for (size_t i = found->first; i < n && n_found < wanted; i++) {
        if (found->n_parts == 0 ||
            (is_part_of(&files[i], found->version, found->n_parts) && files[i].part == (int32_t)n_found + 1)) {
            (*out)[n_found++] = files[i];
        }
    }
    return n_found;
}
