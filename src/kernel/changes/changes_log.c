/*
 * The changes of one commit: its change files if it has any, else what its adds and removes with dataChange say (PROTOCOL.md "Add CDC
 * File", "Reader Requirements for Change Data"). A path that is both removed and added keeps its rows but for those that only one of its
 * deletion vectors has. Everything kept is copied into the arena of the changes.
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "json/json.h"
#include "kernel/changes/changes_int.h"
#include "kernel/replay/file_key.h"

struct gather {
    silt_changes *changes;
    const struct sl_commit *commit;
    struct sl_str root;
    int64_t timestamp_ms;
    struct sl_map removes; /* key of a path to the place of its remove in the commit, + 1; 0 once it met its add */
    struct sl_arena keys;
};

/* ---- copies ---- */

static bool copy_values(struct sl_arena *arena, const struct sl_kv_list *from, struct sl_kv_list *out)
{
    struct sl_kv *items = sl_arena_alloc_array(arena, from->n + 1, sizeof(*items));
    if (items == NULL) {
        return false;
    }
    for (size_t i = 0; i < from->n; i++) {
        items[i].key = sl_arena_copy(arena, from->items[i].key);
        items[i].value = from->items[i].value.ptr != NULL ? sl_arena_copy(arena, from->items[i].value)
                                                          : (struct sl_str){NULL, 0};
        if (items[i].key.ptr == NULL || (from->items[i].value.ptr != NULL && items[i].value.ptr == NULL)) {
            return false;
        }
    }
    *out = (struct sl_kv_list){items, from->n};
    return true;
}

static bool copy_vector(struct sl_arena *arena, const struct sl_dv_descriptor *from,
                        const struct sl_dv_descriptor **out)
{
    *out = NULL;
    if (from == NULL) {
        return true;
    }
    struct sl_dv_descriptor *copy = sl_arena_alloc_zero(arena, sizeof(*copy));
    if (copy == NULL) {
        return false;
    }
    *copy = *from;
    copy->storage_type = sl_arena_copy(arena, from->storage_type);
    copy->path_or_inline_dv = sl_arena_copy(arena, from->path_or_inline_dv);
    copy->extra = (struct sl_extra){NULL, 0};
    *out = copy;
    return copy->storage_type.ptr != NULL && copy->path_or_inline_dv.ptr != NULL;
}

static silt_status keep(struct gather *g, const struct sl_change_entry *entry, silt_error *err)
{
    struct sl_arena *arena = &g->changes->arena;
    struct sl_change_entry *kept = sl_vec_push(&g->changes->entries);
    if (kept == NULL) {
        return sl_fail_nomem(err);
    }
    *kept = *entry;
    kept->version = g->commit->version;
    kept->timestamp_ms = g->timestamp_ms;
    kept->path = sl_arena_copy(arena, entry->path);
    const bool good = kept->path.ptr != NULL && copy_values(arena, &entry->partition_values, &kept->partition_values) &&
                      copy_vector(arena, entry->deleted, &kept->deleted) &&
                      copy_vector(arena, entry->selected, &kept->selected);
    return good ? SILT_OK : sl_fail_nomem(err);
}

/* ---- actions to entries ---- */

static struct sl_change_entry entry_of_add(const struct sl_add *add)
{
    return (struct sl_change_entry){.kind = SL_CHANGE_INSERT,
                                    .path = add->path,
                                    .partition_values = add->partition_values,
                                    .size = add->size,
                                    .base_row_id = add->base_row_id,
                                    .row_commit_version = add->default_row_commit_version,
                                    .modified_ms = add->modification_time,
                                    .deleted = add->deletion_vector};
}

static silt_status entry_of_remove(const struct gather *g, const struct sl_remove *remove, struct sl_change_entry *out,
                                   silt_error *err)
{
    if (!remove->has_partition_values && silt_snapshot_partition_count(g->changes->snapshot) > 0) {
        const silt_status status = sl_fail(err, SILT_ECORRUPT, "DELTA_REMOVE_FILE_CDC_MISSING_EXTENDED_METADATA",
                                           "remove of %.*s in version %" PRId64
                                           " has no partitionValues, without which its rows cannot be told",
                                           SL_FMT(remove->path), g->commit->version);
        sl_error_version(err, g->commit->version);
        return status;
    }
    *out = (struct sl_change_entry){.kind = SL_CHANGE_DELETE,
                                    .path = remove->path,
                                    .partition_values = remove->partition_values,
                                    .size = remove->size != SL_NO_I64 ? remove->size : -1,
                                    .base_row_id = remove->base_row_id,
                                    .row_commit_version = remove->default_row_commit_version,
                                    .deleted = remove->deletion_vector};
    return SILT_OK;
}

/* Rows that one side's vector has and the other's has not. */
static silt_status keep_difference(struct gather *g, const struct sl_add *add, const struct sl_remove *remove,
                                   silt_error *err)
{
    if (add->deletion_vector != NULL) {
        struct sl_change_entry gone = entry_of_add(add);
        gone.kind = SL_CHANGE_DELETE;
        gone.selected = add->deletion_vector;
        gone.deleted = remove->deletion_vector;
        SL_TRY(keep(g, &gone, err));
    }
    if (remove->deletion_vector != NULL) {
        struct sl_change_entry back = entry_of_add(add);
        back.selected = remove->deletion_vector;
        back.deleted = add->deletion_vector;
        SL_TRY(keep(g, &back, err));
    }
    return SILT_OK;
}

/* ---- a commit ---- */

static silt_status note_removes(struct gather *g, silt_error *err)
{
    for (size_t i = 0; i < g->commit->n_actions; i++) {
        const struct sl_action *action = &g->commit->actions[i];
        if (action->kind != SL_ACTION_REMOVE || !action->u.remove.data_change) {
            continue;
        }
        const struct sl_str key = sl_file_key(&g->keys, g->root, action->u.remove.path, NULL);
        struct sl_map_entry *entry = key.ptr != NULL ? sl_map_put(&g->removes, key, NULL) : NULL;
        if (entry == NULL) {
            return sl_fail_nomem(err);
        }
        entry->value.u64 = i + 1;
    }
    return SILT_OK;
}

static silt_status take_add(struct gather *g, const struct sl_add *add, silt_error *err)
{
    const struct sl_str key = sl_file_key(&g->keys, g->root, add->path, NULL);
    if (key.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    struct sl_map_entry *entry = sl_map_find(&g->removes, key);
    if (entry != NULL && entry->value.u64 > 0) {
        const struct sl_remove *remove = &g->commit->actions[entry->value.u64 - 1].u.remove;
        entry->value.u64 = 0;
        return keep_difference(g, add, remove, err);
    }
    const struct sl_change_entry inserted = entry_of_add(add);
    return keep(g, &inserted, err);
}

static silt_status derive(struct gather *g, silt_error *err)
{
    SL_TRY(note_removes(g, err));
    for (size_t i = 0; i < g->commit->n_actions; i++) {
        const struct sl_action *action = &g->commit->actions[i];
        if (action->kind == SL_ACTION_ADD && action->u.add.data_change) {
            SL_TRY(take_add(g, &action->u.add, err));
        }
    }
    for (size_t i = 0; i < g->removes.len; i++) {
        const uint64_t place = g->removes.entries[i].value.u64;
        if (place > 0) {
            struct sl_change_entry deleted;
            SL_TRY(entry_of_remove(g, &g->commit->actions[place - 1].u.remove, &deleted, err));
            SL_TRY(keep(g, &deleted, err));
        }
    }
    return SILT_OK;
}

static silt_status keep_change_files(struct gather *g, size_t *n, silt_error *err)
{
    *n = 0;
    for (size_t i = 0; i < g->commit->n_actions; i++) {
        const struct sl_action *action = &g->commit->actions[i];
        if (action->kind == SL_ACTION_CDC) {
            const struct sl_cdc *cdc = &action->u.cdc;
            const struct sl_change_entry entry = {.kind = SL_CHANGE_FILE,
                                                  .path = cdc->path,
                                                  .partition_values = cdc->partition_values,
                                                  .size = cdc->size,
                                                  .base_row_id = SL_NO_I64,
                                                  .row_commit_version = SL_NO_I64};
            SL_TRY(keep(g, &entry, err));
            ++*n;
        }
    }
    return SILT_OK;
}

static bool is_zero(const sl_json *count)
{
    struct sl_str text = {NULL, 0};
    int64_t number = -1;
    return sl_json_to_str(count, &text) ? sl_str_eq_c(text, "0") : sl_json_to_i64(count, &number) && number == 0;
}

/*
 * A MERGE that says it changed no row, and yet rewrote files as if it had: Delta Spark once wrote such commits, and leaves them out when it
 * reads.
 */
static silt_status changed_nothing(const silt_env *env, const struct sl_commit_info *info, bool *out, silt_error *err)
{
    static const char *const counts[] = {"numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted"};
    *out = false;
    if (info == NULL || !sl_str_eq(info->operation, SL_STR("MERGE")) || info->operation_metrics.ptr == NULL) {
        return SILT_OK;
    }
    struct sl_json_doc *doc = NULL;
    SL_TRY(sl_json_parse(env, info->operation_metrics, &doc, err));
    *out = true;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        *out = *out && is_zero(sl_json_member(sl_json_root(doc), counts[i]));
    }
    sl_json_free(doc);
    return SILT_OK;
}

silt_status sl_changes_of_commit(silt_changes *changes, struct sl_str root, const struct sl_commit *commit,
                                 silt_error *err)
{
    const struct sl_commit_info *info = commit->commit_info;
    struct gather g = {.changes = changes, .commit = commit, .root = root, .timestamp_ms = commit->modified_ms};
    if (info != NULL && info->in_commit_timestamp != SL_NO_I64) {
        g.timestamp_ms = info->in_commit_timestamp;
    }
    sl_map_init(&g.removes, changes->env);
    sl_arena_init(&g.keys, changes->env);
    size_t n_files = 0;
    silt_status status = keep_change_files(&g, &n_files, err);
    bool nothing = false;
    if (status == SILT_OK && n_files == 0) {
        status = changed_nothing(changes->env, info, &nothing, err);
    }
    if (status == SILT_OK && n_files == 0 && !nothing) {
        status = derive(&g, err);
    }
    sl_map_release(&g.removes);
    sl_arena_release(&g.keys);
    return status;
}
