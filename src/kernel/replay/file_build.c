/*
 * Building of file sets; see file_build.h. The open block's columns grow in place; when it is full they are copied into one piece
 * of memory of exactly their size. Called by replay, checkpoint reading and file lists.
 */
#include "kernel/replay/file_build.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/replay/file_codec.h"
#include "kernel/replay/file_details.h"
#include "kernel/replay/repeated.h"

/* Text of one block: beyond it the block is closed with fewer rows. Offsets have 32 bits. */
#define BLOCK_TEXT_MAX ((size_t)256 * 1024 * 1024)

/* Beyond so many blocks their memory comes from regions. */
#define SMALL_BLOCKS 4U
#define REGION_SIZE ((size_t)8 * 1024 * 1024)

/* The last position stays free for SL_FILE_NOWHERE. */
#define MAX_BLOCKS (((size_t)1 << (32 - SL_FILE_BLOCK_BITS)) - 1)

silt_status sl_file_set_begin(struct sl_file_set_builder *builder, const struct sl_file_set_options *options,
                              silt_error *err)
{
    const silt_env *env = options->env;
    *builder = (struct sl_file_set_builder){.max_details = options->max_details > 0 ? options->max_details
                                                                                    : SL_FILE_SET_MAX_DETAILS};
    struct sl_file_set *set = sl_alloc_zero(env, sizeof(*set));
    if (set == NULL) {
        return sl_fail_nomem(err);
    }
    atomic_init(&set->refs, 1);
    atomic_init(&set->index, NULL);
    set->env = env;
    set->has_details = options->want_details;
    set->hash = options->hash != NULL ? options->hash : sl_key_hash_xxh3;
    sl_arena_init(&set->arena, env);
    sl_vec_init(&set->groups, env, sizeof(struct sl_file_group));
    sl_vec_init(&set->blocks, env, sizeof(struct sl_file_block));
    sl_vec_init(&set->regions, env, sizeof(struct sl_file_region));
    sl_vec_init(&set->again, env, sizeof(sl_file_pos));
    builder->set = set;
    sl_buf_init(&builder->names, env);
    sl_buf_init(&builder->vectors, env);
    sl_buf_init(&builder->details, env);
    sl_buf_init(&builder->scratch, env);
    sl_group_table_init(&builder->groups, env);
    builder->find_again = options->find_again;
    sl_vec_init(&builder->hashes, env, sizeof(uint64_t));
    set->root = options->root.ptr != NULL ? sl_arena_copy(&set->arena, options->root) : SL_STR("");
    if (set->root.ptr == NULL) {
        sl_file_set_abandon(builder);
        return sl_fail_nomem(err);
    }
    sl_key_maker_init(&builder->keys, env, set->root, set->hash);
    return SILT_OK;
}

/* ---- the open block ---- */

static struct sl_file_block *open_block(const struct sl_file_set_builder *builder)
{
    return sl_vec_at(&builder->set->blocks, builder->set->blocks.len - 1);
}

static silt_status start_block(struct sl_file_set_builder *builder, silt_error *err)
{
    struct sl_file_set *set = builder->set;
    if (set->blocks.len >= MAX_BLOCKS) {
        return sl_fail(err, SILT_ELIMIT, NULL, "the table has more files than silt can hold (%" PRId64 " so far)",
                       set->n_files);
    }
    if (builder->columns == NULL) {
        builder->columns = sl_alloc(set->env, sizeof(*builder->columns));
    }
    struct sl_file_block *block = builder->columns != NULL ? sl_vec_push(&set->blocks) : NULL;
    if (block == NULL) {
        return sl_fail_nomem(err);
    }
    *block = (struct sl_file_block){.size = builder->columns->size,
                                    .time = builder->columns->time,
                                    .group = builder->columns->group,
                                    .name_end = builder->columns->name_end,
                                    .detail_end = set->has_details ? builder->columns->detail_end : NULL};
    sl_buf_clear(&builder->names);
    sl_buf_clear(&builder->vectors);
    sl_buf_clear(&builder->details);
    builder->has_open = true;
    return SILT_OK;
}

static void *cut(char **at, const void *from, size_t bytes)
{
    if (from == NULL) {
        return NULL;
    }
    void *to = *at;
    if (bytes > 0) {
        memcpy(to, from, bytes);
    }
    *at += bytes;
    return to;
}

/* Columns of eight bytes come first in a slab. */
#define SLAB_ALIGN 8U

/*
 * Memory for a closed block: of its own while the set is small, then from regions. *size 0: it lies in a region. What a region
 * has left in the end is given back by trim_region.
 */
static char *take_slab(struct sl_file_set *set, size_t *size)
{
    if (set->blocks.len <= SMALL_BLOCKS || *size > REGION_SIZE) {
        return sl_alloc(set->env, *size);
    }
    const size_t aligned = (*size + SLAB_ALIGN - 1) / SLAB_ALIGN * SLAB_ALIGN;
    struct sl_file_region *region = set->regions.len > 0 ? sl_vec_at(&set->regions, set->regions.len - 1) : NULL;
    if (region == NULL || region->size - region->used < aligned) {
        char *data = sl_alloc(set->env, REGION_SIZE);
        region = data != NULL ? sl_vec_push(&set->regions) : NULL;
        if (region == NULL) {
            sl_release(set->env, data, REGION_SIZE);
            return NULL;
        }
        *region = (struct sl_file_region){.data = data, .size = REGION_SIZE};
    }
    char *slab = region->data + region->used;
    region->used += aligned;
    *size = 0;
    return slab;
}

static size_t slab_bytes(const struct sl_file_set_builder *builder, const struct sl_file_block *block)
{
    const size_t wide = 2U + (block->base_row_id != NULL ? 1U : 0U) + (block->row_commit_version != NULL ? 1U : 0U);
    const size_t narrow = 2U + (block->vector_at != NULL ? 1U : 0U) + (block->detail_end != NULL ? 1U : 0U);
    return block->n * (wide * sizeof(int64_t) + narrow * sizeof(uint32_t)) + builder->names.len + builder->vectors.len;
}

/* The open block gets memory of its own, of exactly its size. */
static bool close_block(struct sl_file_set_builder *builder)
{
    if (!builder->has_open) {
        return true;
    }
    const silt_env *env = builder->set->env;
    struct sl_file_block *block = open_block(builder);
    struct sl_file_block closed = {.n = block->n, .slab_size = slab_bytes(builder, block)};
    if (block->detail_end != NULL) {
        closed.details_size = builder->details.len > 0 ? builder->details.len : 1;
        closed.details = sl_alloc(env, closed.details_size);
        if (closed.details == NULL) {
            return false;
        }
    }
    closed.slab = take_slab(builder->set, &closed.slab_size);
    if (closed.slab == NULL) {
        sl_release(env, closed.details, closed.details_size);
        return false;
    }
    char *at = closed.slab;
    const size_t wide = block->n * sizeof(int64_t);
    const size_t narrow = block->n * sizeof(uint32_t);
    closed.size = cut(&at, block->size, wide);
    closed.time = cut(&at, block->time, wide);
    closed.base_row_id = cut(&at, block->base_row_id, wide);
    closed.row_commit_version = cut(&at, block->row_commit_version, wide);
    closed.group = cut(&at, block->group, narrow);
    closed.name_end = cut(&at, block->name_end, narrow);
    closed.vector_at = cut(&at, block->vector_at, narrow);
    closed.detail_end = cut(&at, block->detail_end, narrow);
    closed.names = cut(&at, sl_buf_cstr(&builder->names), builder->names.len);
    closed.vectors = cut(&at, sl_buf_cstr(&builder->vectors), builder->vectors.len);
    closed.vectors_len = (uint32_t)builder->vectors.len;
    if (closed.details != NULL && builder->details.len > 0) {
        memcpy(closed.details, builder->details.data, builder->details.len);
    }
    *block = closed;
    builder->has_open = false;
    return true;
}

/* Makes sure that the open block has room for one more file with this text. */
static silt_status make_room(struct sl_file_set_builder *builder, size_t text, silt_error *err)
{
    if (text > BLOCK_TEXT_MAX) {
        return sl_fail(err, SILT_ELIMIT, NULL, "an add holds %zu bytes of text, more than a file list keeps", text);
    }
    if (builder->has_open) {
        const size_t used = builder->names.len + builder->vectors.len + builder->details.len;
        if (open_block(builder)->n < SL_FILE_BLOCK_ROWS && used + text <= BLOCK_TEXT_MAX) {
            return SILT_OK;
        }
        if (!close_block(builder)) {
            return sl_fail_nomem(err);
        }
    }
    return start_block(builder, err);
}

static void put_optional(int64_t **column, int64_t *room, uint32_t n, int64_t value)
{
    if (*column == NULL) {
        if (value == SL_NO_I64) {
            return;
        }
        for (uint32_t i = 0; i < n; i++) {
            room[i] = SL_NO_I64;
        }
        *column = room;
    }
    room[n] = value;
}

static void put_vector(struct sl_file_set_builder *builder, struct sl_file_block *block,
                       const struct sl_dv_descriptor *dv)
{
    struct sl_open_columns *columns = builder->columns;
    if (dv == NULL) {
        columns->vector_at[block->n] = 0;
        return;
    }
    if (block->vector_at == NULL) {
        memset(columns->vector_at, 0, block->n * sizeof(*columns->vector_at));
        block->vector_at = columns->vector_at;
    }
    columns->vector_at[block->n] = (uint32_t)builder->vectors.len + 1;
    sl_codec_put_str(&builder->vectors, dv->storage_type);
    sl_codec_put_str(&builder->vectors, dv->path_or_inline_dv);
    sl_codec_put_i64(&builder->vectors, dv->offset);
    sl_codec_put_i64(&builder->vectors, dv->size_in_bytes);
    sl_codec_put_i64(&builder->vectors, dv->cardinality);
    block->vectors = builder->vectors.data;
    block->vectors_len = (uint32_t)builder->vectors.len;
}

/* A file in its columns; `dir_len` bytes of the path are the group's. Its details are put before. */
static silt_status put_row(struct sl_file_set_builder *builder, const struct sl_file_row *row, uint32_t group,
                           size_t dir_len, silt_error *err)
{
    struct sl_file_set *set = builder->set;
    struct sl_file_block *block = open_block(builder);
    struct sl_open_columns *columns = builder->columns;
    int64_t total = 0;
    if (!sl_add_i64(set->total_size, row->size, &total)) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "the sizes of the table's files add up to more than 64 bits hold");
    }
    const uint32_t n = block->n;
    sl_buf_put(&builder->names, row->path.ptr + dir_len, row->path.len - dir_len);
    columns->size[n] = row->size;
    columns->time[n] = row->time;
    columns->group[n] = group | (row->data_change ? SL_FILE_DATA_CHANGE : 0U);
    columns->name_end[n] = (uint32_t)builder->names.len;
    put_optional(&block->base_row_id, columns->base_row_id, n, row->base_row_id);
    put_optional(&block->row_commit_version, columns->row_commit_version, n, row->row_commit_version);
    put_vector(builder, block, row->deletion_vector);
    columns->detail_end[n] = (uint32_t)builder->details.len;
    SL_TRY(sl_buf_status(&builder->names, err));
    SL_TRY(sl_buf_status(&builder->vectors, err));
    block->names = builder->names.data;
    block->details = builder->details.data;
    block->n++;
    set->n_files++;
    set->total_size = total;
    return SILT_OK;
}

/* ---- appending ---- */

silt_status sl_file_set_group(struct sl_file_set_builder *builder, struct sl_str dir, const struct sl_kv *values,
                              size_t n_values, uint32_t *group, silt_error *err)
{
    return sl_group_table_find(&builder->groups, builder->set, dir, (struct sl_kv_list){values, n_values}, group, err);
}

void sl_file_set_drop_details(struct sl_file_set_builder *builder)
{
    struct sl_file_set *set = builder->set;
    set->has_details = false;
    for (size_t i = 0; i < set->blocks.len; i++) {
        struct sl_file_block *block = sl_vec_at(&set->blocks, i);
        sl_release(set->env, block->slab != NULL ? block->details : NULL, block->details_size);
        block->details = NULL;
        block->detail_end = NULL;
        block->details_size = 0;
    }
    sl_buf_release(&builder->details);
    sl_buf_init(&builder->details, set->env);
}

/* The record of details in `scratch` goes to the open block, while the limit allows. */
static silt_status put_details(struct sl_file_set_builder *builder, silt_error *err)
{
    struct sl_file_set *set = builder->set;
    SL_TRY(sl_buf_status(&builder->scratch, err));
    set->details_bytes += builder->scratch.len;
    if (set->details_bytes > builder->max_details) {
        sl_file_set_drop_details(builder);
        return SILT_OK;
    }
    sl_buf_put(&builder->details, builder->scratch.data, builder->scratch.len);
    return sl_buf_status(&builder->details, err);
}

/* A folder with its files, as they stand in paths. */
struct named {
    struct sl_str dir;
    struct sl_str name;
    const struct sl_dv_descriptor *vector;
};

static bool make_key(const struct sl_file_set_builder *builder, struct sl_key_maker *keys, uint32_t group,
                     const struct named *file, struct sl_file_key *out)
{
    const struct sl_file_group *of = sl_vec_at(&builder->set->groups, group);
    return sl_key_make_in(keys, file->dir, &of->key, file->name, file->vector, out);
}

static bool note_hash(struct sl_file_set_builder *builder, uint64_t hash)
{
    struct sl_vec *hashes = &builder->hashes;
    if (hashes->len == hashes->cap && !sl_vec_reserve(hashes, hashes->len + SL_FILE_BLOCK_ROWS)) {
        return false;
    }
    ((uint64_t *)hashes->data)[hashes->len++] = hash;
    return true;
}

/* Of a file that is about to be put. */
static silt_status note_key(struct sl_file_set_builder *builder, uint32_t group, const struct named *file,
                            silt_error *err)
{
    struct sl_file_key key;
    if (builder->find_again &&
        (!make_key(builder, &builder->keys, group, file, &key) || !note_hash(builder, key.hash))) {
        return sl_fail_nomem(err);
    }
    return SILT_OK;
}

static size_t row_text(const struct sl_file_row *row)
{
    const struct sl_dv_descriptor *dv = row->deletion_vector;
    return row->path.len + (dv != NULL ? dv->storage_type.len + dv->path_or_inline_dv.len + 64 : 0);
}

silt_status sl_file_set_add_row(struct sl_file_set_builder *builder, const struct sl_file_row *row,
                                struct sl_key_maker *keys, const struct sl_key_probe *decided, silt_error *err)
{
    uint32_t group = 0;
    const size_t dir_len = sl_key_dir_len(row->path);
    const struct sl_str dir = sl_str_sub(row->path, 0, dir_len);
    const struct named file = {dir, sl_str_sub(row->path, dir_len, row->path.len), row->deletion_vector};
    struct sl_file_key key = {.hash = 0};
    bool found = false;
    SL_TRY(sl_file_set_group(builder, dir, row->values, row->n_values, &group, err));
    if ((decided != NULL || builder->find_again) && !make_key(builder, keys, group, &file, &key)) {
        return sl_fail_nomem(err);
    }
    if (decided != NULL && !sl_key_set_find(decided, &key, &found)) {
        return sl_fail_nomem(err);
    }
    if (found) {
        return SILT_OK;
    }
    if (builder->find_again && !note_hash(builder, key.hash)) {
        return sl_fail_nomem(err);
    }
    if (builder->set->has_details) {
        sl_file_set_drop_details(builder);
    }
    SL_TRY(make_room(builder, row_text(row), err));
    return put_row(builder, row, group, dir_len, err);
}

silt_status sl_file_set_add(struct sl_file_set_builder *builder, const struct sl_add *add, sl_file_pos *pos,
                            silt_error *err)
{
    const struct sl_file_row row = {.path = add->path,
                                    .values = add->partition_values.items,
                                    .n_values = add->partition_values.n,
                                    .size = add->size,
                                    .time = add->modification_time,
                                    .base_row_id = add->base_row_id,
                                    .row_commit_version = add->default_row_commit_version,
                                    .deletion_vector = add->deletion_vector,
                                    .data_change = add->data_change};
    uint32_t group = 0;
    const size_t dir_len = sl_key_dir_len(row.path);
    const struct named file = {sl_str_sub(row.path, 0, dir_len), sl_str_sub(row.path, dir_len, row.path.len),
                               row.deletion_vector};
    SL_TRY(sl_file_set_group(builder, file.dir, row.values, row.n_values, &group, err));
    SL_TRY(note_key(builder, group, &file, err));
    sl_buf_clear(&builder->scratch);
    if (builder->set->has_details) {
        sl_file_details_encode(&builder->scratch, add);
    }
    SL_TRY(make_room(builder, row_text(&row) + builder->scratch.len, err));
    if (builder->set->has_details) {
        SL_TRY(put_details(builder, err));
    }
    SL_TRY(put_row(builder, &row, group, dir_len, err));
    if (pos != NULL) {
        *pos = sl_file_pos_make(builder->set->blocks.len - 1, open_block(builder)->n - 1);
    }
    return SILT_OK;
}

silt_status sl_file_set_copy(struct sl_file_set_builder *builder, const struct sl_file_set *from, sl_file_pos pos,
                             uint32_t *group, silt_error *err)
{
    const struct sl_file_block *block = sl_file_block_at(from, pos);
    const uint32_t at = sl_file_row_of(pos);
    struct sl_dv_descriptor dv;
    const struct sl_file_row row = {
        .path = sl_file_block_name(block, at),
        .size = block->size[at],
        .time = block->time[at],
        .base_row_id = block->base_row_id != NULL ? block->base_row_id[at] : SL_NO_I64,
        .row_commit_version = block->row_commit_version != NULL ? block->row_commit_version[at] : SL_NO_I64,
        .deletion_vector = sl_file_block_vector(block, at, &dv) ? &dv : NULL,
        .data_change = (block->group[at] & SL_FILE_DATA_CHANGE) != 0};
    if (*group == UINT32_MAX) {
        const struct sl_file_group *of = sl_file_block_group(from, block, at);
        SL_TRY(sl_file_set_group(builder, of->dir, of->partition_values.items, of->partition_values.n, group, err));
    }
    sl_buf_clear(&builder->scratch);
    if (builder->set->has_details && block->detail_end == NULL) {
        sl_file_set_drop_details(builder);
    } else if (builder->set->has_details) {
        const uint32_t begin = at > 0 ? block->detail_end[at - 1] : 0;
        sl_buf_put(&builder->scratch, block->details + begin, block->detail_end[at] - begin);
    }
    SL_TRY(make_room(builder, row_text(&row) + builder->scratch.len, err));
    if (builder->set->has_details) {
        SL_TRY(put_details(builder, err));
    }
    return put_row(builder, &row, *group, 0, err);
}

/* ---- the end ---- */

static void release_scratch(struct sl_file_set_builder *builder)
{
    const silt_env *env = builder->set->env;
    sl_buf_release(&builder->names);
    sl_buf_release(&builder->vectors);
    sl_buf_release(&builder->details);
    sl_buf_release(&builder->scratch);
    sl_group_table_release(&builder->groups);
    sl_vec_release(&builder->hashes);
    sl_key_maker_release(&builder->keys);
    sl_release(env, builder->columns, sizeof(*builder->columns));
}

static void *moved(void *at, const char *from, char *to)
{
    return at == NULL ? NULL : to + ((char *)at - from);
}

/* The last region is given back what no block took: its blocks move into memory of just their size. */
static bool trim_region(struct sl_file_set *set)
{
    struct sl_file_region *region = set->regions.len > 0 ? sl_vec_at(&set->regions, set->regions.len - 1) : NULL;
    if (region == NULL || region->used == region->size) {
        return true;
    }
    char *data = sl_alloc(set->env, region->used);
    if (data == NULL) {
        return false;
    }
    memcpy(data, region->data, region->used);
    for (size_t i = set->blocks.len; i > 0; i--) {
        struct sl_file_block *block = sl_vec_at(&set->blocks, i - 1);
        const char *from = region->data;
        if (block->slab_size > 0 || (char *)block->slab < from || (char *)block->slab >= from + region->used) {
            break; /* the region's blocks are the last ones */
        }
        block->slab = moved(block->slab, from, data);
        block->size = moved(block->size, from, data);
        block->time = moved(block->time, from, data);
        block->base_row_id = moved(block->base_row_id, from, data);
        block->row_commit_version = moved(block->row_commit_version, from, data);
        block->group = moved(block->group, from, data);
        block->name_end = moved(block->name_end, from, data);
        block->vector_at = moved(block->vector_at, from, data);
        block->detail_end = moved(block->detail_end, from, data);
        block->names = moved(block->names, from, data);
        block->vectors = moved(block->vectors, from, data);
    }
    sl_release(set->env, region->data, region->size);
    *region = (struct sl_file_region){.data = data, .size = region->used, .used = region->used};
    return true;
}

silt_status sl_file_set_finish(struct sl_file_set_builder *builder, struct sl_file_set **out, silt_error *err)
{
    *out = NULL;
    if (!close_block(builder) || !trim_region(builder->set)) {
        return sl_fail_nomem(err);
    }
    if (builder->find_again) {
        SL_TRY(sl_file_set_find_again(builder->set, builder->hashes.data, builder->hashes.len, err));
    }
    release_scratch(builder);
    *out = builder->set;
    *builder = (struct sl_file_set_builder){.set = NULL};
    return SILT_OK;
}

void sl_file_set_abandon(struct sl_file_set_builder *builder)
{
    struct sl_file_set *set = builder->set;
    if (set == NULL) {
        return;
    }
    if (builder->has_open) {
        set->blocks.len--; /* its columns are the builder's */
    }
    release_scratch(builder);
    *builder = (struct sl_file_set_builder){.set = NULL};
    sl_file_set_unref(set);
}
