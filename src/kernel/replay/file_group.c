/*
 * Groups of files under construction; see file_group.h. Called by file_build.c for every file.
 */
#include "kernel/replay/file_group.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

void sl_group_table_init(struct sl_group_table *table, const silt_env *env)
{
    *table = (struct sl_group_table){.env = env, .last = SIZE_MAX};
    sl_vec_init(&table->hashes, env, sizeof(uint64_t));
}

void sl_group_table_release(struct sl_group_table *table)
{
    if (table->env != NULL) {
        sl_release(table->env, table->slots, table->n_slots * sizeof(*table->slots));
        sl_vec_release(&table->hashes);
        sl_group_table_init(table, table->env);
    }
}

static bool same_values(const struct sl_kv_list *list, const struct sl_kv_list *values)
{
    if (list->n != values->n) {
        return false;
    }
    for (size_t i = 0; i < values->n; i++) {
        const struct sl_kv *a = &list->items[i];
        const struct sl_kv *b = &values->items[i];
        if ((a->value.ptr == NULL) != (b->value.ptr == NULL) || !sl_str_eq(a->value, b->value) ||
            !sl_str_eq(a->key, b->key)) {
            return false;
        }
    }
    return true;
}

static bool same_group(const struct sl_file_group *group, struct sl_str dir, const struct sl_kv_list *values)
{
    return sl_str_eq(group->dir, dir) && same_values(&group->partition_values, values);
}

static uint64_t hash_group(struct sl_str dir, const struct sl_kv_list *values)
{
    uint64_t hash = sl_key_hash_xxh3(dir.ptr, dir.len, values->n);
    for (size_t i = 0; i < values->n; i++) {
        const struct sl_kv *item = &values->items[i];
        hash = sl_key_hash_xxh3(item->key.ptr, item->key.len, hash);
        hash = sl_key_hash_xxh3(item->value.ptr, item->value.len, hash + (item->value.ptr == NULL ? 1 : 0));
    }
    return hash;
}

/* The slot of the group, or the empty one where it belongs. */
static uint32_t *find_slot(const struct sl_group_table *table, const struct sl_file_set *set, uint64_t hash,
                           struct sl_str dir, const struct sl_kv_list *values)
{
    const size_t mask = table->n_slots - 1;
    const uint64_t *hashes = table->hashes.data;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        uint32_t *slot = &table->slots[i];
        if (*slot == 0 || (hashes[*slot - 1] == hash && same_group(sl_vec_at(&set->groups, *slot - 1), dir, values))) {
            return slot;
        }
    }
}

static bool grow_slots(struct sl_group_table *table)
{
    const silt_env *env = table->env;
    const size_t n = table->n_slots == 0 ? 16 : table->n_slots * 2;
    uint32_t *slots = sl_alloc_array(env, n, sizeof(*slots));
    if (slots == NULL) {
        return false;
    }
    memset(slots, 0, n * sizeof(*slots));
    const uint64_t *hashes = table->hashes.data;
    for (size_t g = 0; g < table->hashes.len; g++) {
        size_t i = hashes[g] & (n - 1);
        while (slots[i] != 0) {
            i = (i + 1) & (n - 1);
        }
        slots[i] = (uint32_t)g + 1;
    }
    sl_release(env, table->slots, table->n_slots * sizeof(*slots));
    table->slots = slots;
    table->n_slots = n;
    return true;
}

/* The names of partition columns are the same in nearly all groups. */
static bool copy_values(struct sl_arena *arena, const struct sl_file_group *like, const struct sl_kv_list *values,
                        struct sl_kv_list *out)
{
    const size_t n = values->n;
    struct sl_kv *items = n > 0 ? sl_arena_alloc_array(arena, n, sizeof(*items)) : NULL;
    if (n > 0 && items == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const bool shared = like != NULL && i < like->partition_values.n &&
                            sl_str_eq(like->partition_values.items[i].key, values->items[i].key);
        items[i].key = shared ? like->partition_values.items[i].key : sl_arena_copy(arena, values->items[i].key);
        items[i].value = values->items[i].value.ptr != NULL ? sl_arena_copy(arena, values->items[i].value)
                                                            : values->items[i].value;
        if (items[i].key.ptr == NULL || (values->items[i].value.ptr != NULL && items[i].value.ptr == NULL)) {
            return false;
        }
    }
    *out = (struct sl_kv_list){items, n};
    return true;
}

static bool make_group(struct sl_file_set *set, struct sl_str dir, const struct sl_kv_list *values)
{
    struct sl_file_group group = {.dir = sl_arena_copy(&set->arena, dir)};
    const struct sl_file_group *like = set->groups.len > 0 ? sl_vec_at(&set->groups, set->groups.len - 1) : NULL;
    if (group.dir.ptr == NULL || !copy_values(&set->arena, like, values, &group.partition_values) ||
        !sl_key_dir_make(&set->arena, set->root, set->hash, group.dir, &group.key)) {
        return false;
    }
    struct sl_file_group *slot = sl_vec_push(&set->groups);
    if (slot != NULL) {
        *slot = group;
    }
    return slot != NULL;
}

silt_status sl_group_table_find(struct sl_group_table *table, struct sl_file_set *set, struct sl_str dir,
                                struct sl_kv_list values, uint32_t *group, silt_error *err)
{
    if (dir.ptr == NULL) {
        dir = SL_STR("");
    }
    if (table->last != SIZE_MAX && same_group(sl_vec_at(&set->groups, table->last), dir, &values)) {
        *group = (uint32_t)table->last;
        return SILT_OK;
    }
    if (table->hashes.len * 2 >= table->n_slots && !grow_slots(table)) {
        return sl_fail_nomem(err);
    }
    const uint64_t hash = hash_group(dir, &values);
    uint32_t *slot = find_slot(table, set, hash, dir, &values);
    if (*slot == 0) {
        if (set->groups.len >= SL_FILE_GROUP_MASK) {
            return sl_fail(err, SILT_ELIMIT, NULL, "the table's files lie in more folders than silt can hold");
        }
        uint64_t *kept = sl_vec_push(&table->hashes);
        if (kept == NULL || !make_group(set, dir, &values)) {
            return sl_fail_nomem(err);
        }
        *kept = hash;
        *slot = (uint32_t)set->groups.len;
    }
    table->last = *slot - 1;
    *group = *slot - 1;
    return SILT_OK;
}
