/*
 * Compact sets of live files; see file_set.h. A file of a flat table takes its name plus 24 bytes, and 8 more once the set has an
 * index. Called by snapshots, replay and scan planning; sets are made by file_build.c.
 */
#include "kernel/replay/file_set.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/replay/file_codec.h"
#include "kernel/replay/file_details.h"
#include "kernel/replay/file_index.h"

/* Scratch of a cursor is given back when it has grown to this. */
#define CURSOR_ARENA_MAX ((size_t)256 * 1024)

/* ---- life ---- */

struct sl_file_set *sl_file_set_ref(struct sl_file_set *set)
{
    if (set != NULL) {
        (void)atomic_fetch_add_explicit(&set->refs, 1, memory_order_relaxed);
    }
    return set;
}

void sl_file_set_unref(struct sl_file_set *set)
{
    if (set == NULL || atomic_fetch_sub_explicit(&set->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    for (size_t i = 0; i < set->blocks.len; i++) {
        struct sl_file_block *block = sl_vec_at(&set->blocks, i);
        if (block->slab_size > 0) {
            sl_release(set->env, block->slab, block->slab_size);
        }
        sl_release(set->env, block->details, block->details_size);
    }
    sl_file_index_free(set->env, atomic_load(&set->index));
    for (size_t i = 0; i < set->regions.len; i++) {
        const struct sl_file_region *region = sl_vec_at(&set->regions, i);
        sl_release(set->env, region->data, region->size);
    }
    sl_vec_release(&set->again);
    sl_vec_release(&set->regions);
    sl_vec_release(&set->blocks);
    sl_vec_release(&set->groups);
    sl_arena_release(&set->arena);
    sl_release(set->env, set, sizeof(*set));
}

size_t sl_file_set_resident(const struct sl_file_set *set, bool with_details)
{
    size_t bytes = sizeof(*set) + set->arena.total_bytes + set->groups.cap * sizeof(struct sl_file_group) +
                   set->blocks.cap * sizeof(struct sl_file_block) + sl_file_index_resident(atomic_load(&set->index));
    bytes += set->regions.cap * sizeof(struct sl_file_region);
    for (size_t i = 0; i < set->regions.len; i++) {
        bytes += ((const struct sl_file_region *)sl_vec_at(&set->regions, i))->size;
    }
    for (size_t i = 0; i < set->blocks.len; i++) {
        const struct sl_file_block *block = sl_vec_at(&set->blocks, i);
        bytes += block->slab_size + (with_details ? block->details_size : 0);
    }
    return bytes;
}

/* ---- reading ---- */

bool sl_file_block_vector(const struct sl_file_block *block, uint32_t row, struct sl_dv_descriptor *out)
{
    if (block->vector_at == NULL || block->vector_at[row] == 0) {
        return false;
    }
    struct sl_decoder d = {
        .at = block->vectors + block->vector_at[row] - 1, .end = block->vectors + block->vectors_len, .ok = true};
    *out = (struct sl_dv_descriptor){.storage_type = sl_codec_get_str(&d)};
    out->path_or_inline_dv = sl_codec_get_str(&d);
    out->offset = sl_codec_get_i64(&d);
    out->size_in_bytes = sl_codec_get_i64(&d);
    out->cardinality = sl_codec_get_i64(&d);
    return true;
}

bool sl_file_set_key(const struct sl_file_set *set, struct sl_key_maker *maker, sl_file_pos pos,
                     struct sl_file_key *out)
{
    const struct sl_file_block *block = sl_file_block_at(set, pos);
    const uint32_t row = sl_file_row_of(pos);
    const struct sl_file_group *group = sl_file_block_group(set, block, row);
    struct sl_dv_descriptor dv;
    const bool has_vector = sl_file_block_vector(block, row, &dv);
    return sl_key_make_in(maker, group->dir, &group->key, sl_file_block_name(block, row), has_vector ? &dv : NULL, out);
}

void sl_file_cursor_init(struct sl_file_cursor *cursor, const struct sl_file_set *set, bool with_details)
{
    *cursor = (struct sl_file_cursor){.set = set, .with_details = with_details && set->has_details};
    sl_buf_init(&cursor->path, set->env);
    sl_arena_init(&cursor->arena, set->env);
}

void sl_file_cursor_release(struct sl_file_cursor *cursor)
{
    if (cursor->set == NULL) {
        return;
    }
    sl_buf_release(&cursor->path);
    sl_arena_release(&cursor->arena);
    cursor->set = NULL;
}

silt_status sl_file_cursor_at(struct sl_file_cursor *cursor, sl_file_pos pos, struct sl_add *add, silt_error *err)
{
    const struct sl_file_set *set = cursor->set;
    const struct sl_file_block *block = sl_file_block_at(set, pos);
    const uint32_t row = sl_file_row_of(pos);
    const struct sl_file_group *group = sl_file_block_group(set, block, row);
    const struct sl_str name = sl_file_block_name(block, row);
    if (group != cursor->group) { /* files come in runs of a folder, which stays at the buffer's begin */
        cursor->group = group;
        sl_buf_clear(&cursor->path);
        sl_buf_put_str(&cursor->path, group->dir);
    }
    cursor->path.len = group->dir.len;
    char *room = sl_buf_reserve(&cursor->path, name.len + 1);
    if (room == NULL) {
        return sl_buf_status(&cursor->path, err);
    }
    memcpy(room, name.ptr, name.len);
    room[name.len] = '\0';
    *add = (struct sl_add){.path = sl_str_make(cursor->path.data, group->dir.len + name.len),
                           .partition_values = group->partition_values,
                           .size = block->size[row],
                           .modification_time = block->time[row],
                           .data_change = (block->group[row] & SL_FILE_DATA_CHANGE) != 0};
    add->base_row_id = block->base_row_id != NULL ? block->base_row_id[row] : SL_NO_I64;
    add->default_row_commit_version = block->row_commit_version != NULL ? block->row_commit_version[row] : SL_NO_I64;
    if (sl_file_block_vector(block, row, &cursor->dv)) {
        add->deletion_vector = &cursor->dv;
    }
    if (!cursor->with_details || block->detail_end == NULL) {
        return SILT_OK;
    }
    if (cursor->arena.total_bytes > CURSOR_ARENA_MAX) {
        sl_arena_release(&cursor->arena);
    }
    const uint32_t begin = row > 0 ? block->detail_end[row - 1] : 0;
    const struct sl_str record = sl_str_make(block->details + begin, block->detail_end[row] - begin);
    return sl_file_details_decode(record, &cursor->arena, add, &cursor->dv) ? SILT_OK : sl_fail_nomem(err);
}

bool sl_file_cursor_step(struct sl_file_cursor *cursor, sl_file_pos *pos)
{
    while (cursor->block < cursor->set->blocks.len && cursor->row >= sl_file_set_block(cursor->set, cursor->block)->n) {
        cursor->block++;
        cursor->row = 0;
    }
    if (cursor->block >= cursor->set->blocks.len) {
        return false;
    }
    *pos = sl_file_pos_make(cursor->block, cursor->row++);
    return true;
}

silt_status sl_file_cursor_next(struct sl_file_cursor *cursor, struct sl_add *add, bool *done, silt_error *err)
{
    sl_file_pos pos = SL_FILE_NOWHERE;
    *done = !sl_file_cursor_step(cursor, &pos);
    if (*done) {
        *add = (struct sl_add){.size = 0};
        return SILT_OK;
    }
    return sl_file_cursor_at(cursor, pos, add, err);
}
