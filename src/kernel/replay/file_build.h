/*
 * Building file sets: files are appended one by one, or taken over from another set. The set under construction can be read
 * at every moment, so that replay can compare keys with what it has already. One owner.
 */
#ifndef SL_KERNEL_REPLAY_FILE_BUILD_H
#define SL_KERNEL_REPLAY_FILE_BUILD_H

#include "kernel/replay/file_group.h"
#include "kernel/replay/file_set.h"
#include "kernel/replay/key_set.h"

struct sl_file_set_options {
    const silt_env *env;
    struct sl_str root; /* of the table, copied */
    sl_key_hash *hash;  /* NULL: XXH3 */
    bool want_details;
    size_t max_details; /* 0: SL_FILE_SET_MAX_DETAILS */
    bool find_again;    /* files that come twice are looked for when the set is finished (`again`) */
};

/* Room for the columns of a full block. */
struct sl_open_columns {
    int64_t size[SL_FILE_BLOCK_ROWS];
    int64_t time[SL_FILE_BLOCK_ROWS];
    int64_t base_row_id[SL_FILE_BLOCK_ROWS];
    int64_t row_commit_version[SL_FILE_BLOCK_ROWS];
    uint32_t group[SL_FILE_BLOCK_ROWS];
    uint32_t name_end[SL_FILE_BLOCK_ROWS];
    uint32_t vector_at[SL_FILE_BLOCK_ROWS];
    uint32_t detail_end[SL_FILE_BLOCK_ROWS];
};

struct sl_file_set_builder {
    struct sl_file_set *set;
    size_t max_details;
    struct sl_open_columns *columns; /* of the set's last block while it grows */
    bool has_open;                   /* that block is in the set */
    struct sl_buf names, vectors, details, scratch;
    struct sl_group_table groups;
    bool find_again;
    struct sl_vec hashes; /* of the files' keys, uint64_t, with find_again */
    struct sl_key_maker keys;
};

/* What a file is stored from. Everything is borrowed. */
struct sl_file_row {
    struct sl_str path;
    const struct sl_kv *values; /* of the partition columns */
    size_t n_values;
    int64_t size;
    int64_t time;
    int64_t base_row_id;
    int64_t row_commit_version;
    const struct sl_dv_descriptor *deletion_vector;
    bool data_change;
};

silt_status sl_file_set_begin(struct sl_file_set_builder *builder, const struct sl_file_set_options *options,
                              silt_error *err);
/* Appends a file; *pos (NULL: not wanted) is where it lies. */
silt_status sl_file_set_add(struct sl_file_set_builder *builder, const struct sl_add *add, sl_file_pos *pos,
                            silt_error *err);
/*
 * The same without details: a set that has any gives them up. decided (NULL: nothing is): files that newer commits decided about
 * are passed over; keys makes their keys, its scratch is not that of the probe.
 */
silt_status sl_file_set_add_row(struct sl_file_set_builder *builder, const struct sl_file_row *row,
                                struct sl_key_maker *keys, const struct sl_key_probe *decided, silt_error *err);
/* The number of a group, made if it is new. */
silt_status sl_file_set_group(struct sl_file_set_builder *builder, struct sl_str dir, const struct sl_kv *values,
                              size_t n_values, uint32_t *group, silt_error *err);
/*
 * Appends a file of another set. *group: its group in this set, UINT32_MAX if that is not known yet; then it is found and told.
 * Details are taken along when both have them.
 */
silt_status sl_file_set_copy(struct sl_file_set_builder *builder, const struct sl_file_set *from, sl_file_pos pos,
                             uint32_t *group, silt_error *err);
/* Fills set->again; hashes: of the keys of its n files, in the order in which they were put (file_again.c). */
silt_status sl_file_set_find_again(struct sl_file_set *set, const uint64_t *hashes, size_t n, silt_error *err);
/* From now on the set has no details. */
void sl_file_set_drop_details(struct sl_file_set_builder *builder);
/* Hands out the set and frees what building needed. */
silt_status sl_file_set_finish(struct sl_file_set_builder *builder, struct sl_file_set **out, silt_error *err);
/* Frees everything; safe on a zeroed or finished builder. */
void sl_file_set_abandon(struct sl_file_set_builder *builder);

#endif
