/*
 * Live files in memory, in columns and compact: blocks of up to 4,096 files, folders and partition values shared through a table
 * of groups. A file has a position (block and row) for as long as its set lives. What only some readers want (statistics,
 * tags …) lies apart and is given up when it grows beyond a limit; such files are then read from the log again.
 *
 * A set is immutable once finished, reference-counted and read from any thread. Its index, from keys to positions, is made when
 * it is first asked for. A builder has one owner. Sets are the layers of a file list (file_list.h).
 */
#ifndef SL_KERNEL_REPLAY_FILE_SET_H
#define SL_KERNEL_REPLAY_FILE_SET_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "kernel/action/action.h"
#include "kernel/replay/file_key.h"

/* Details of a set take at most this much memory. */
#define SL_FILE_SET_MAX_DETAILS ((size_t)64 * 1024 * 1024)

#define SL_FILE_BLOCK_BITS 12U
#define SL_FILE_BLOCK_ROWS (1U << SL_FILE_BLOCK_BITS)

/* Of a file in its set. */
typedef uint32_t sl_file_pos;
#define SL_FILE_NOWHERE UINT32_MAX

/* Files of one folder with the same partition values. */
struct sl_file_group {
    struct sl_str dir; /* as in the log, with its final '/', may be empty */
    struct sl_kv_list partition_values;
    struct sl_key_dir key; /* the folder in keys */
};

#define SL_FILE_GROUP_MASK UINT32_C(0x7FFFFFFF)
#define SL_FILE_DATA_CHANGE UINT32_C(0x80000000) /* a flag beside the group's number */

/* Columns of up to SL_FILE_BLOCK_ROWS files. Optional ones are NULL where no file of the block has the value. */
struct sl_file_block {
    uint32_t n;
    int64_t *size;
    int64_t *time;               /* add.modificationTime */
    int64_t *base_row_id;        /* optional; SL_NO_I64: absent */
    int64_t *row_commit_version; /* optional; SL_NO_I64: absent */
    uint32_t *group;
    uint32_t *name_end;  /* of the rest of the path after the folder, in `names` */
    uint32_t *vector_at; /* optional; offset + 1 of the descriptor in `vectors`, 0: none */
    char *names;
    char *vectors; /* encoded, see file_codec.h */
    uint32_t vectors_len;
    uint32_t *detail_end; /* of the file's record in `details`; NULL: no details */
    char *details;
    void *slab; /* all of the above but details, in one piece; it lies in a region of the set when slab_size is 0 */
    size_t slab_size;
    size_t details_size;
};

/* Memory for many blocks, so that it can lie on huge pages. */
struct sl_file_region {
    char *data;
    size_t size;
    size_t used;
};

struct sl_file_index;

struct sl_file_set {
    atomic_size_t refs;
    const silt_env *env;
    struct sl_arena arena; /* of root and groups */
    struct sl_str root;    /* of the table, for keys */
    sl_key_hash *hash;
    struct sl_vec groups;  /* of struct sl_file_group */
    struct sl_vec blocks;  /* of struct sl_file_block */
    struct sl_vec regions; /* of struct sl_file_region */
    bool has_details;
    size_t details_bytes;
    int64_t n_files;
    int64_t total_size;  /* bytes of the data files */
    struct sl_vec again; /* of sl_file_pos, ascending: files that are in the set before by the same key */
    _Atomic(struct sl_file_index *) index; /* see file_index.h */
};

void sl_file_set_unref(struct sl_file_set *set); /* NULL is legal */
struct sl_file_set *sl_file_set_ref(struct sl_file_set *set);
/* Memory taken from the allocator, index included; without and with details. */
size_t sl_file_set_resident(const struct sl_file_set *set, bool with_details);

static inline const struct sl_file_block *sl_file_set_block(const struct sl_file_set *set, size_t index)
{
    return sl_vec_at(&set->blocks, index);
}
static inline sl_file_pos sl_file_pos_make(size_t block, uint32_t row)
{
    return (sl_file_pos)(block << SL_FILE_BLOCK_BITS) | row;
}
static inline const struct sl_file_block *sl_file_block_at(const struct sl_file_set *set, sl_file_pos pos)
{
    return sl_file_set_block(set, pos >> SL_FILE_BLOCK_BITS);
}
static inline uint32_t sl_file_row_of(sl_file_pos pos)
{
    return pos & (SL_FILE_BLOCK_ROWS - 1);
}
static inline const struct sl_file_group *sl_file_block_group(const struct sl_file_set *set,
                                                              const struct sl_file_block *block, uint32_t row)
{
    return sl_vec_at(&set->groups, block->group[row] & SL_FILE_GROUP_MASK);
}
static inline struct sl_str sl_file_block_name(const struct sl_file_block *block, uint32_t row)
{
    const uint32_t begin = row > 0 ? block->name_end[row - 1] : 0;
    return sl_str_make(block->names + begin, block->name_end[row] - begin);
}
/* false: the file has none. Text is borrowed from the set. */
bool sl_file_block_vector(const struct sl_file_block *block, uint32_t row, struct sl_dv_descriptor *out);

/* The key of a file of the set, borrowed from set and maker. false: out of memory. */
bool sl_file_set_key(const struct sl_file_set *set, struct sl_key_maker *maker, sl_file_pos pos,
                     struct sl_file_key *out);

/* Reads files of a set, in order or at any position. Text of an add is borrowed until the next call. */
struct sl_file_cursor {
    const struct sl_file_set *set;
    bool with_details;
    size_t block;
    uint32_t row;
    struct sl_buf path;
    const struct sl_file_group *group; /* whose folder `path` begins with */
    struct sl_arena arena;
    struct sl_dv_descriptor dv;
};
void sl_file_cursor_init(struct sl_file_cursor *cursor, const struct sl_file_set *set, bool with_details);
/* The next file, in the order of adding; *done at the end. */
silt_status sl_file_cursor_next(struct sl_file_cursor *cursor, struct sl_add *add, bool *done, silt_error *err);
/* The position of the next file only; false at the end. */
bool sl_file_cursor_step(struct sl_file_cursor *cursor, sl_file_pos *pos);
/* The file at a position that the set has; the cursor's own place stays. */
silt_status sl_file_cursor_at(struct sl_file_cursor *cursor, sl_file_pos pos, struct sl_add *add, silt_error *err);
void sl_file_cursor_release(struct sl_file_cursor *cursor); /* safe on a zeroed cursor */

#endif
