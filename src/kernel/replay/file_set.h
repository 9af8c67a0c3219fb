/*
 * The live files of a snapshot, in memory and compact: records of variable length in chunks, folders and partition values
 * shared through a table of groups. What only some readers want (statistics, tags …) lies in a second row of chunks that
 * is given up when it grows beyond a limit; such files are then read from the log again.
 *
 * A set is immutable once finished, reference-counted and read from any thread. A builder has one owner.
 */
#ifndef SL_KERNEL_REPLAY_FILE_SET_H
#define SL_KERNEL_REPLAY_FILE_SET_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "kernel/action/action.h"

/* Details of a set take at most this much memory. */
#define SL_FILE_SET_MAX_DETAILS ((size_t)64 * 1024 * 1024)

struct sl_file_chunk {
    char *data;
    size_t len;
    size_t cap;
};

/* Files of one folder with the same partition values. */
struct sl_file_group {
    struct sl_str dir; /* with its final '/', may be empty */
    struct sl_kv_list partition_values;
};

struct sl_file_set {
    atomic_size_t refs;
    const silt_env *env;
    struct sl_arena arena; /* of the groups' text */
    struct sl_vec groups;  /* of struct sl_file_group */
    struct sl_vec records; /* of struct sl_file_chunk */
    struct sl_vec details; /* the same, one record a file in the same order; empty without details */
    bool has_details;
    size_t details_bytes;
    int64_t n_files;
    int64_t total_size; /* bytes of the data files */
};

void sl_file_set_unref(struct sl_file_set *set); /* NULL is legal */
struct sl_file_set *sl_file_set_ref(struct sl_file_set *set);
/* Memory taken from the allocator, without and with details. */
size_t sl_file_set_resident(const struct sl_file_set *set, bool with_details);

struct sl_file_set_builder {
    struct sl_file_set *set;
    struct sl_map groups; /* folder and partition values, encoded, to an index */
    struct sl_buf key;    /* scratch */
    struct sl_arena keys; /* of the map's keys */
    size_t last_group;    /* of the file added last: files come in runs of a folder */
    size_t max_details;
};

/* want_details false: the set has none. */
silt_status sl_file_set_begin(struct sl_file_set_builder *builder, const silt_env *env, bool want_details,
                              size_t max_details, silt_error *err);
silt_status sl_file_set_add(struct sl_file_set_builder *builder, const struct sl_add *add, silt_error *err);
/* Hands out the set and frees what building needed. */
struct sl_file_set *sl_file_set_finish(struct sl_file_set_builder *builder);
/* Frees everything; safe on a zeroed or finished builder. */
void sl_file_set_abandon(struct sl_file_set_builder *builder);

/* Walks the set in the order of adding. Text of an add is borrowed until the next call. */
struct sl_file_cursor {
    const struct sl_file_set *set;
    bool with_details;
    size_t chunk, at;               /* in records */
    size_t detail_chunk, detail_at; /* in details */
    struct sl_buf path;
    struct sl_arena arena;
    struct sl_dv_descriptor dv;
};
void sl_file_cursor_init(struct sl_file_cursor *cursor, const struct sl_file_set *set, bool with_details);
/* *done at the end. */
silt_status sl_file_cursor_next(struct sl_file_cursor *cursor, struct sl_add *add, bool *done, silt_error *err);
void sl_file_cursor_release(struct sl_file_cursor *cursor); /* safe on a zeroed cursor */

#endif
