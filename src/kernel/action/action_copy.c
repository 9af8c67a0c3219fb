/*
 * Copies of actions into an arena, and small questions to them. Called all over the kernel. Pure but for the arena.
 */
#include "kernel/action/action.h"

/* An absent view stays absent. */
static bool copy_str(struct sl_arena *arena, struct sl_str from, struct sl_str *to)
{
    *to = (struct sl_str){NULL, 0};
    if (from.ptr == NULL) {
        return true;
    }
    *to = sl_arena_copy(arena, from);
    return to->ptr != NULL;
}

static bool copy_kvs(struct sl_arena *arena, const struct sl_kv *from, size_t n, const struct sl_kv **out)
{
    *out = NULL;
    if (n == 0) {
        return true;
    }
    struct sl_kv *items = sl_arena_alloc_array(arena, n, sizeof(*items));
    if (items == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (!copy_str(arena, from[i].key, &items[i].key) || !copy_str(arena, from[i].value, &items[i].value)) {
            return false;
        }
    }
    *out = items;
    return true;
}

static bool copy_map(struct sl_arena *arena, struct sl_kv_list from, struct sl_kv_list *to)
{
    to->n = from.n;
    return copy_kvs(arena, from.items, from.n, &to->items);
}

static bool copy_extra(struct sl_arena *arena, struct sl_extra from, struct sl_extra *to)
{
    to->n = from.n;
    return copy_kvs(arena, from.items, from.n, &to->items);
}

static bool copy_list(struct sl_arena *arena, struct sl_str_list from, struct sl_str_list *to)
{
    *to = (struct sl_str_list){NULL, 0};
    if (from.n == 0) {
        return true;
    }
    struct sl_str *items = sl_arena_alloc_array(arena, from.n, sizeof(*items));
    if (items == NULL) {
        return false;
    }
    for (size_t i = 0; i < from.n; i++) {
        if (!copy_str(arena, from.items[i], &items[i])) {
            return false;
        }
    }
    *to = (struct sl_str_list){items, from.n};
    return true;
}

static bool copy_dv(struct sl_arena *arena, const struct sl_dv_descriptor *from, const struct sl_dv_descriptor **to)
{
    *to = NULL;
    if (from == NULL) {
        return true;
    }
    struct sl_dv_descriptor *dv = sl_arena_alloc_zero(arena, sizeof(*dv));
    if (dv == NULL) {
        return false;
    }
    *dv = *from;
    *to = dv;
    return copy_str(arena, from->storage_type, &dv->storage_type) &&
           copy_str(arena, from->path_or_inline_dv, &dv->path_or_inline_dv) &&
           copy_extra(arena, from->extra, &dv->extra);
}

bool sl_add_copy(struct sl_arena *arena, const struct sl_add *src, struct sl_add *out)
{
    struct sl_add copy = *src;
    const bool ok = copy_str(arena, src->path, &copy.path) &&
                    copy_map(arena, src->partition_values, &copy.partition_values) &&
                    copy_str(arena, src->stats, &copy.stats) && copy_map(arena, src->tags, &copy.tags) &&
                    copy_dv(arena, src->deletion_vector, &copy.deletion_vector) &&
                    copy_str(arena, src->clustering_provider, &copy.clustering_provider) &&
                    copy_extra(arena, src->extra, &copy.extra);
    if (ok) {
        *out = copy;
    }
    return ok;
}

bool sl_metadata_copy(struct sl_arena *arena, const struct sl_metadata *src, struct sl_metadata *out)
{
    struct sl_metadata copy = *src;
    const bool ok = copy_str(arena, src->id, &copy.id) && copy_str(arena, src->name, &copy.name) &&
                    copy_str(arena, src->description, &copy.description) &&
                    copy_str(arena, src->format_provider, &copy.format_provider) &&
                    copy_map(arena, src->format_options, &copy.format_options) &&
                    copy_extra(arena, src->format_extra, &copy.format_extra) &&
                    copy_str(arena, src->schema_string, &copy.schema_string) &&
                    copy_list(arena, src->partition_columns, &copy.partition_columns) &&
                    copy_map(arena, src->configuration, &copy.configuration) &&
                    copy_extra(arena, src->extra, &copy.extra);
    if (ok) {
        *out = copy;
    }
    return ok;
}

bool sl_protocol_copy(struct sl_arena *arena, const struct sl_protocol *src, struct sl_protocol *out)
{
    struct sl_protocol copy = *src;
    const bool ok = copy_list(arena, src->reader_features, &copy.reader_features) &&
                    copy_list(arena, src->writer_features, &copy.writer_features) &&
                    copy_extra(arena, src->extra, &copy.extra);
    if (ok) {
        *out = copy;
    }
    return ok;
}

void sl_remove_from_add(const struct sl_add *add, int64_t deletion_timestamp_ms, bool data_change,
                        struct sl_remove *out)
{
    *out = (struct sl_remove){
        .path = add->path,
        .deletion_timestamp = deletion_timestamp_ms,
        .data_change = data_change,
        .extended_file_metadata = SL_FLAG_TRUE,
        .partition_values = add->partition_values,
        .has_partition_values = true,
        .size = add->size,
        .stats = add->stats,
        .tags = add->tags,
        .has_tags = add->has_tags,
        .deletion_vector = add->deletion_vector,
        .base_row_id = add->base_row_id,
        .default_row_commit_version = add->default_row_commit_version,
    };
}

const struct sl_action *sl_actions_find(const struct sl_action *actions, size_t n, enum sl_action_kind kind)
{
    for (size_t i = 0; i < n; i++) {
        if (actions[i].kind == kind) {
            return &actions[i];
        }
    }
    return NULL;
}

struct sl_str sl_kv_get(const struct sl_kv_list *list, struct sl_str key, bool *found)
{
    for (size_t i = 0; i < list->n; i++) {
        if (sl_str_eq(list->items[i].key, key)) {
            if (found != NULL) {
                *found = true;
            }
            return list->items[i].value;
        }
    }
    if (found != NULL) {
        *found = false;
    }
    return (struct sl_str){NULL, 0};
}
