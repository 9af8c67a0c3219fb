/*
 * Finding the group of a file while a set is built: folder and partition values to a number. Files come in runs of a group, so the
 * one before is tried first. One owner.
 */
#ifndef SL_KERNEL_REPLAY_FILE_GROUP_H
#define SL_KERNEL_REPLAY_FILE_GROUP_H

#include "kernel/replay/file_set.h"

struct sl_group_table {
    const silt_env *env;
    uint32_t *slots; /* index + 1 */
    size_t n_slots;
    struct sl_vec hashes; /* of uint64_t, one a group */
    size_t last;          /* SIZE_MAX: none */
};

void sl_group_table_init(struct sl_group_table *table, const silt_env *env); /* allocates nothing */
void sl_group_table_release(struct sl_group_table *table);                   /* safe on a zeroed table */

/* The number of the group in the set, where it is made if it is new. Everything is copied. */
silt_status sl_group_table_find(struct sl_group_table *table, struct sl_file_set *set, struct sl_str dir,
                                struct sl_kv_list values, uint32_t *group, silt_error *err);

#endif
