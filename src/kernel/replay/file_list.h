/*
 * The live files of a version as layers of file sets, newest first: a refresh puts the files of new commits on top and marks
 * in the older layers what they replaced or removed, so it costs what the commits hold, not what the table holds. Marks are bitmaps by
 * block, shared between lists until one changes. Layers are merged when they are many or mostly gone; what is merged was
 * written by many commits, so a file is copied a few times in its life.
 *
 * A list is immutable, reference-counted and read from any thread.
 */
#ifndef SL_KERNEL_REPLAY_FILE_LIST_H
#define SL_KERNEL_REPLAY_FILE_LIST_H

#include <stdatomic.h>

#include "kernel/replay/file_set.h"
#include "kernel/replay/key_set.h"

/* Each layer holds at least twice the files of the one above it, so this many are never reached. */
#define SL_FILE_LIST_MAX_LAYERS 40

struct sl_gone_page {
    atomic_size_t refs;
    uint64_t bits[SL_FILE_BLOCK_ROWS / 64];
};

/* Which files of a set are gone, by block. */
struct sl_gone {
    atomic_size_t refs;
    size_t n_blocks;
    int64_t n;                    /* files that are gone */
    struct sl_gone_page *pages[]; /* NULL: none of the block */
};

struct sl_file_layer {
    struct sl_file_set *set;
    struct sl_gone *gone; /* NULL: none */
};

struct sl_file_list {
    atomic_size_t refs;
    const silt_env *env;
    int64_t n_files;
    int64_t total_size;
    int64_t
        n_again; /* files that a checkpoint named more than once: whoever reads its rows themselves meets them again */
    size_t n_layers;
    struct sl_file_layer layers[SL_FILE_LIST_MAX_LAYERS];
};

struct sl_file_list *sl_file_list_ref(struct sl_file_list *list);
void sl_file_list_unref(struct sl_file_list *list); /* NULL is legal */
/* Takes the set, also when it fails. Files that are in it for the second time are not in the list. */
silt_status sl_file_list_of(struct sl_file_set *set, struct sl_file_list **out, silt_error *err);
/*
 * The list after commits: `adds` (taken, also when it fails) are the files that they left live, `decided` all files that they
 * decided about.
 */
silt_status sl_file_list_grow(const struct sl_file_list *old, struct sl_file_set *adds,
                              const struct sl_key_set *decided, struct sl_file_list **out, silt_error *err);
bool sl_file_list_has_details(const struct sl_file_list *list);
/* Memory of all layers, shared ones too. */
size_t sl_file_list_resident(const struct sl_file_list *list, bool with_details);

static inline bool sl_gone_at(const struct sl_gone *gone, sl_file_pos pos)
{
    const struct sl_gone_page *page = gone != NULL ? gone->pages[pos >> SL_FILE_BLOCK_BITS] : NULL;
    const uint32_t row = sl_file_row_of(pos);
    return page != NULL && (page->bits[row / 64] >> (row % 64) & 1U) != 0;
}

/* Visits the live files, layer by layer, in the order of adding. Text of an add is borrowed until the next call. */
struct sl_list_cursor {
    const struct sl_file_list *list;
    size_t layer;
    bool with_details;
    struct sl_file_cursor file;
};
void sl_list_cursor_init(struct sl_list_cursor *cursor, const struct sl_file_list *list, bool with_details);
silt_status sl_list_cursor_next(struct sl_list_cursor *cursor, struct sl_add *add, bool *done, silt_error *err);
void sl_list_cursor_release(struct sl_list_cursor *cursor);

#endif
