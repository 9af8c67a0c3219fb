/*
 * Compact sets of live files; see file_set.h. A record holds: group, rest of the path, size, time, flags and what the flags
 * announce. A file of a flat table takes its name plus about 15 bytes. Called by replay (building) and snapshots.
 */
#include "kernel/replay/file_set.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/replay/file_codec.h"

#define CHUNK_SIZE ((size_t)64 * 1024)

/* Scratch of a cursor is given back when it has grown to this. */
#define CURSOR_ARENA_MAX ((size_t)256 * 1024)

enum {
    RECORD_DATA_CHANGE = 1,
    RECORD_BASE_ROW_ID = 2,
    RECORD_ROW_COMMIT_VERSION = 4,
    RECORD_DV = 8
};

enum {
    DETAIL_STATS = 1,
    DETAIL_TAGS = 2,
    DETAIL_CLUSTERING = 4,
    DETAIL_EXTRA = 8,
    DETAIL_DV_EXTRA = 16
};

/* ---- life ---- */

static void release_chunks(const silt_env *env, struct sl_vec *chunks)
{
    for (size_t i = 0; i < chunks->len; i++) {
        struct sl_file_chunk *chunk = sl_vec_at(chunks, i);
        sl_release(env, chunk->data, chunk->cap);
    }
    sl_vec_release(chunks);
}

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
    release_chunks(set->env, &set->records);
    release_chunks(set->env, &set->details);
    sl_vec_release(&set->groups);
    sl_arena_release(&set->arena);
    sl_release(set->env, set, sizeof(*set));
}

static size_t chunk_bytes(const struct sl_vec *chunks)
{
    size_t bytes = chunks->cap * sizeof(struct sl_file_chunk);
    for (size_t i = 0; i < chunks->len; i++) {
        bytes += ((const struct sl_file_chunk *)sl_vec_at(chunks, i))->cap;
    }
    return bytes;
}

size_t sl_file_set_resident(const struct sl_file_set *set, bool with_details)
{
    const size_t bytes = sizeof(*set) + set->arena.total_bytes + set->groups.cap * sizeof(struct sl_file_group) +
                         chunk_bytes(&set->records);
    return with_details ? bytes + chunk_bytes(&set->details) : bytes;
}

/* ---- building ---- */

silt_status sl_file_set_begin(struct sl_file_set_builder *builder, const silt_env *env, bool want_details,
                              size_t max_details, silt_error *err)
{
    *builder = (struct sl_file_set_builder){.max_details = max_details, .last_group = SIZE_MAX};
    struct sl_file_set *set = sl_alloc_zero(env, sizeof(*set));
    if (set == NULL) {
        return sl_fail_nomem(err);
    }
    atomic_init(&set->refs, 1);
    set->env = env;
    set->has_details = want_details;
    sl_arena_init(&set->arena, env);
    sl_vec_init(&set->groups, env, sizeof(struct sl_file_group));
    sl_vec_init(&set->records, env, sizeof(struct sl_file_chunk));
    sl_vec_init(&set->details, env, sizeof(struct sl_file_chunk));
    builder->set = set;
    sl_map_init(&builder->groups, env);
    sl_buf_init(&builder->key, env);
    return SILT_OK;
}

void sl_file_set_abandon(struct sl_file_set_builder *builder)
{
    sl_file_set_unref(sl_file_set_finish(builder));
}

struct sl_file_set *sl_file_set_finish(struct sl_file_set_builder *builder)
{
    struct sl_file_set *set = builder->set;
    if (set == NULL) {
        return NULL;
    }
    sl_map_release(&builder->groups);
    sl_buf_release(&builder->key);
    builder->set = NULL;
    return set;
}

static bool append_record(const silt_env *env, struct sl_vec *chunks, struct sl_str record)
{
    struct sl_file_chunk *chunk = chunks->len > 0 ? sl_vec_at(chunks, chunks->len - 1) : NULL;
    if (chunk == NULL || chunk->cap - chunk->len < record.len) {
        /* Small sets stay small: the first chunk is a small one. */
        const size_t usual = chunks->len == 0 ? CHUNK_SIZE / 16 : CHUNK_SIZE;
        const size_t cap = record.len > usual ? record.len : usual;
        char *data = sl_alloc(env, cap);
        chunk = data != NULL ? sl_vec_push(chunks) : NULL;
        if (chunk == NULL) {
            sl_release(env, data, cap);
            return false;
        }
        *chunk = (struct sl_file_chunk){.data = data, .cap = cap};
    }
    memcpy(chunk->data + chunk->len, record.ptr, record.len);
    chunk->len += record.len;
    return true;
}

static bool same_group(const struct sl_file_group *group, struct sl_str dir, const struct sl_kv_list *values)
{
    if (!sl_str_eq(group->dir, dir) || group->partition_values.n != values->n) {
        return false;
    }
    for (size_t i = 0; i < values->n; i++) {
        const struct sl_kv *a = &group->partition_values.items[i];
        const struct sl_kv *b = &values->items[i];
        if (!sl_str_eq(a->key, b->key) || (a->value.ptr == NULL) != (b->value.ptr == NULL) ||
            !sl_str_eq(a->value, b->value)) {
            return false;
        }
    }
    return true;
}

/* A new group; its text goes to the set's arena in one piece, which the key in the map shares. */
static bool make_group(struct sl_file_set_builder *builder, struct sl_str dir, size_t n_values)
{
    struct sl_file_set *set = builder->set;
    const struct sl_str copy = sl_arena_copy(&set->arena, sl_buf_view(&builder->key));
    struct sl_file_group *group = copy.ptr != NULL ? sl_vec_push(&set->groups) : NULL;
    if (group == NULL) {
        return false;
    }
    struct sl_decoder d = {.at = copy.ptr, .end = copy.ptr + copy.len, .ok = true};
    group->dir = sl_codec_get_str(&d);
    bool inserted = false;
    struct sl_map_entry *entry = sl_map_put(&builder->groups, copy, &inserted);
    if (entry == NULL || group->dir.len != dir.len) {
        return false;
    }
    entry->value.u64 = set->groups.len - 1;
    return sl_codec_get_kvs(&d, &set->arena, &group->partition_values.items, &group->partition_values.n) &&
           group->partition_values.n == n_values;
}

static bool find_group(struct sl_file_set_builder *builder, struct sl_str dir, const struct sl_kv_list *values,
                       size_t *index)
{
    struct sl_file_set *set = builder->set;
    if (builder->last_group != SIZE_MAX && same_group(sl_vec_at(&set->groups, builder->last_group), dir, values)) {
        *index = builder->last_group;
        return true;
    }
    sl_buf_clear(&builder->key);
    sl_codec_put_str(&builder->key, dir);
    sl_codec_put_kvs(&builder->key, values->items, values->n);
    if (sl_buf_status(&builder->key, NULL) != SILT_OK) {
        return false;
    }
    const struct sl_map_entry *entry = sl_map_find(&builder->groups, sl_buf_view(&builder->key));
    if (entry == NULL) {
        if (!make_group(builder, dir, values->n)) {
            return false;
        }
        *index = set->groups.len - 1;
    } else {
        *index = (size_t)entry->value.u64;
    }
    builder->last_group = *index;
    return true;
}

static void encode_record(struct sl_buf *out, const struct sl_add *add, size_t group, struct sl_str name)
{
    const struct sl_dv_descriptor *dv = add->deletion_vector;
    const unsigned flags = (add->data_change ? RECORD_DATA_CHANGE : 0U) |
                           (add->base_row_id != SL_NO_I64 ? RECORD_BASE_ROW_ID : 0U) |
                           (add->default_row_commit_version != SL_NO_I64 ? RECORD_ROW_COMMIT_VERSION : 0U) |
                           (dv != NULL ? RECORD_DV : 0U);
    sl_codec_put_u64(out, group);
    sl_codec_put_str(out, name);
    sl_codec_put_i64(out, add->size);
    sl_codec_put_i64(out, add->modification_time);
    sl_codec_put_u64(out, flags);
    if ((flags & RECORD_BASE_ROW_ID) != 0) {
        sl_codec_put_i64(out, add->base_row_id);
    }
    if ((flags & RECORD_ROW_COMMIT_VERSION) != 0) {
        sl_codec_put_i64(out, add->default_row_commit_version);
    }
    if (dv != NULL) {
        sl_codec_put_str(out, dv->storage_type);
        sl_codec_put_str(out, dv->path_or_inline_dv);
        sl_codec_put_i64(out, dv->offset);
        sl_codec_put_i64(out, dv->size_in_bytes);
        sl_codec_put_i64(out, dv->cardinality);
    }
}

static void encode_details(struct sl_buf *out, const struct sl_add *add)
{
    const struct sl_dv_descriptor *dv = add->deletion_vector;
    const unsigned flags = (add->stats.ptr != NULL ? DETAIL_STATS : 0U) | (add->has_tags ? DETAIL_TAGS : 0U) |
                           (add->clustering_provider.ptr != NULL ? DETAIL_CLUSTERING : 0U) |
                           (add->extra.n > 0 ? DETAIL_EXTRA : 0U) |
                           (dv != NULL && dv->extra.n > 0 ? DETAIL_DV_EXTRA : 0U);
    sl_codec_put_u64(out, flags);
    if ((flags & DETAIL_STATS) != 0) {
        sl_codec_put_str(out, add->stats);
    }
    if ((flags & DETAIL_TAGS) != 0) {
        sl_codec_put_kvs(out, add->tags.items, add->tags.n);
    }
    if ((flags & DETAIL_CLUSTERING) != 0) {
        sl_codec_put_str(out, add->clustering_provider);
    }
    if ((flags & DETAIL_EXTRA) != 0) {
        sl_codec_put_kvs(out, add->extra.items, add->extra.n);
    }
    if ((flags & DETAIL_DV_EXTRA) != 0) {
        sl_codec_put_kvs(out, dv->extra.items, dv->extra.n);
    }
}

static bool add_details(struct sl_file_set_builder *builder, const struct sl_add *add)
{
    struct sl_file_set *set = builder->set;
    sl_buf_clear(&builder->key);
    encode_details(&builder->key, add);
    if (sl_buf_status(&builder->key, NULL) != SILT_OK) {
        return false;
    }
    set->details_bytes += builder->key.len;
    if (set->details_bytes > builder->max_details) {
        set->has_details = false;
        release_chunks(set->env, &set->details);
        return true;
    }
    return append_record(set->env, &set->details, sl_buf_view(&builder->key));
}

silt_status sl_file_set_add(struct sl_file_set_builder *builder, const struct sl_add *add, silt_error *err)
{
    struct sl_file_set *set = builder->set;
    size_t dir_len = add->path.len;
    while (dir_len > 0 && add->path.ptr[dir_len - 1] != '/') {
        dir_len--;
    }
    int64_t total = 0;
    if (!sl_add_i64(set->total_size, add->size, &total)) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "the sizes of the table's files add up to more than 64 bits hold");
    }
    size_t group = 0;
    if (!find_group(builder, sl_str_sub(add->path, 0, dir_len), &add->partition_values, &group)) {
        return sl_fail_nomem(err);
    }
    sl_buf_clear(&builder->key);
    encode_record(&builder->key, add, group, sl_str_sub(add->path, dir_len, add->path.len));
    SL_TRY(sl_buf_status(&builder->key, err));
    if (!append_record(set->env, &set->records, sl_buf_view(&builder->key))) {
        return sl_fail_nomem(err);
    }
    if (set->has_details && !add_details(builder, add)) {
        return sl_fail_nomem(err);
    }
    set->total_size = total;
    set->n_files++;
    return SILT_OK;
}

/* ---- walking ---- */

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

static bool open_record(const struct sl_vec *chunks, size_t *chunk_index, size_t *at, struct sl_decoder *d)
{
    while (*chunk_index < chunks->len) {
        const struct sl_file_chunk *chunk = sl_vec_at(chunks, *chunk_index);
        if (*at < chunk->len) {
            *d = (struct sl_decoder){.at = chunk->data + *at, .end = chunk->data + chunk->len, .ok = true};
            return true;
        }
        (*chunk_index)++;
        *at = 0;
    }
    return false;
}

static size_t offset_in(const struct sl_vec *chunks, size_t chunk_index, const struct sl_decoder *d)
{
    return (size_t)(d->at - ((const struct sl_file_chunk *)sl_vec_at(chunks, chunk_index))->data);
}

static void decode_record(struct sl_file_cursor *cursor, struct sl_decoder *d, struct sl_add *add)
{
    const struct sl_file_set *set = cursor->set;
    const size_t index = (size_t)sl_codec_get_u64(d);
    const struct sl_str name = sl_codec_get_str(d);
    add->size = sl_codec_get_i64(d);
    add->modification_time = sl_codec_get_i64(d);
    const unsigned flags = (unsigned)sl_codec_get_u64(d);
    add->data_change = (flags & RECORD_DATA_CHANGE) != 0;
    add->base_row_id = (flags & RECORD_BASE_ROW_ID) != 0 ? sl_codec_get_i64(d) : SL_NO_I64;
    add->default_row_commit_version = (flags & RECORD_ROW_COMMIT_VERSION) != 0 ? sl_codec_get_i64(d) : SL_NO_I64;
    if ((flags & RECORD_DV) != 0) {
        cursor->dv = (struct sl_dv_descriptor){.storage_type = sl_codec_get_str(d)};
        cursor->dv.path_or_inline_dv = sl_codec_get_str(d);
        cursor->dv.offset = sl_codec_get_i64(d);
        cursor->dv.size_in_bytes = sl_codec_get_i64(d);
        cursor->dv.cardinality = sl_codec_get_i64(d);
        add->deletion_vector = &cursor->dv;
    }
    const struct sl_file_group *group = sl_vec_at(&set->groups, index);
    add->partition_values = group->partition_values;
    sl_buf_clear(&cursor->path);
    sl_buf_put_str(&cursor->path, group->dir);
    sl_buf_put_str(&cursor->path, name);
    add->path = sl_str_make(sl_buf_cstr(&cursor->path), cursor->path.len);
}

static bool decode_details(struct sl_file_cursor *cursor, struct sl_decoder *d, struct sl_add *add)
{
    const unsigned flags = (unsigned)sl_codec_get_u64(d);
    bool ok = true;
    if ((flags & DETAIL_STATS) != 0) {
        add->stats = sl_codec_get_str(d);
    }
    if ((flags & DETAIL_TAGS) != 0) {
        add->has_tags = true;
        ok = sl_codec_get_kvs(d, &cursor->arena, &add->tags.items, &add->tags.n) && ok;
    }
    if ((flags & DETAIL_CLUSTERING) != 0) {
        add->clustering_provider = sl_codec_get_str(d);
    }
    if ((flags & DETAIL_EXTRA) != 0) {
        ok = sl_codec_get_kvs(d, &cursor->arena, &add->extra.items, &add->extra.n) && ok;
    }
    if ((flags & DETAIL_DV_EXTRA) != 0) {
        ok = sl_codec_get_kvs(d, &cursor->arena, &cursor->dv.extra.items, &cursor->dv.extra.n) && ok;
    }
    return ok;
}

silt_status sl_file_cursor_next(struct sl_file_cursor *cursor, struct sl_add *add, bool *done, silt_error *err)
{
    const struct sl_file_set *set = cursor->set;
    *add = (struct sl_add){.size = 0};
    struct sl_decoder d = {0};
    *done = !open_record(&set->records, &cursor->chunk, &cursor->at, &d);
    if (*done) {
        return SILT_OK;
    }
    decode_record(cursor, &d, add);
    cursor->at = offset_in(&set->records, cursor->chunk, &d);
    SL_TRY(sl_buf_status(&cursor->path, err));
    if (!cursor->with_details) {
        return SILT_OK;
    }
    if (cursor->arena.total_bytes > CURSOR_ARENA_MAX) {
        sl_arena_release(&cursor->arena);
    }
    if (open_record(&set->details, &cursor->detail_chunk, &cursor->detail_at, &d)) {
        if (!decode_details(cursor, &d, add)) {
            return sl_fail_nomem(err);
        }
        cursor->detail_at = offset_in(&set->details, cursor->detail_chunk, &d);
    }
    return SILT_OK;
}
