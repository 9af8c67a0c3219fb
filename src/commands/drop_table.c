/*
 * Removing a table with its folder. What is not certainly one table's is refused before anything is touched: a folder without a log, one
 * with another table within, one that a catalog manages. Called by DROP TABLE; one thread.
 *
 * Writers and DROP need no lock: a writer looks after its commit for the version that it rests on (log_fate.h), and DROP, after deleting, for
 * commits that came meanwhile. At least one of the two sees what the other did.
 */
#include "base/env.h"
#include "base/error.h"
#include "kernel/feature/feature.h"
#include "kernel/log/list.h"
#include "kernel/snapshot/load.h"
#include "kernel/snapshot/state.h"
#include "silt/commands.h"

#include <string.h>

/* Writers may go on while a table is dropped, but each looks after its commit whether the table stands. */
#define MAX_PASSES 8

struct content {
    bool has_log;
    bool has_other; /* a log below */
    char other[256];
};

static bool is_log_file(struct sl_str name)
{
    const struct sl_log_file file = sl_log_name_parse(name);
    return file.kind == SL_LOG_COMMIT || file.kind == SL_LOG_CHECKPOINT || file.kind == SL_LOG_CHECKPOINT_PART ||
           file.kind == SL_LOG_CHECKPOINT_V2;
}

static bool note_file(void *ctx, const silt_file_entry *entry)
{
    static const struct sl_str log = {SL_LOG_DIR "/", sizeof(SL_LOG_DIR)};
    struct content *content = ctx;
    const struct sl_str name = sl_str_make(entry->name, entry->name_len);
    const size_t at = sl_str_find(name, log);
    if (at == SIZE_MAX) {
        return true;
    }
    const struct sl_str file = sl_str_sub(name, at + log.len, name.len);
    if (at == 0) {
        content->has_log = content->has_log || is_log_file(file);
        return true;
    }
    if (name.ptr[at - 1] == '/' && is_log_file(file)) {
        const size_t len = at - 1 < sizeof(content->other) - 1 ? at - 1 : sizeof(content->other) - 1;
        memcpy(content->other, name.ptr, len);
        content->other[len] = '\0';
        content->has_other = true;
        return false;
    }
    return true;
}

/* Features that silt knows and cannot write have no owner; one that it has never heard of may be the sign of one. */
static silt_status check_features(const struct sl_protocol *protocol, const char *uri, silt_error *err)
{
    for (size_t i = 0; i < protocol->writer_features.n; i++) {
        const struct sl_str name = protocol->writer_features.items[i];
        if (sl_feature_find(name) == NULL) {
            return sl_fail(err, SILT_EUNSUPPORTED, "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE",
                           "%s is not dropped: it has the table feature %.*s, of which this version knows nothing", uri,
                           SL_FMT(name));
        }
    }
    return SILT_OK;
}

/* What asks for more than silt knows may have an owner that silt does not know of. A broken table has none who could be asked. */
static silt_status check_owner(silt_table *table, const silt_call *call, silt_error *err)
{
    silt_snapshot *snapshot = NULL;
    silt_error found = SILT_ERROR_INIT;
    if (sl_table_is_catalog(table)) {
        return sl_fail(err, SILT_EUNSUPPORTED, NULL, "%s was opened through a catalog: only its catalog can drop it",
                       silt_table_uri(table));
    }
    silt_status status = silt_table_latest_snapshot(table, call, &snapshot, &found);
    if (status == SILT_OK) {
        status = check_features(sl_snapshot_protocol(snapshot), silt_table_uri(table), &found);
    }
    silt_snapshot_unref(snapshot);
    if (status == SILT_EUNSUPPORTED || status == SILT_ENOMEM || status == SILT_ECANCELLED || status == SILT_EDEADLINE) {
        if (err != NULL) {
            *err = found;
        }
        return status;
    }
    return SILT_OK;
}

/* Who committed while the table went has left a log that begins in the middle: that goes, too, but not a table that was made anew meanwhile. */
static silt_status remove_stragglers(silt_table *table, const silt_call *call, bool *any, silt_error *err)
{
    silt_storage *storage = sl_table_storage(table);
    const silt_env *env = silt_engine_env(silt_table_engine(table));
    struct sl_arena arena;
    struct sl_vec files;
    bool exists = false;
    bool anew = false;
    *any = false;
    sl_arena_init(&arena, env);
    sl_vec_init(&files, env, sizeof(struct sl_log_file));
    silt_status status = sl_log_list(storage, call, sl_table_root(table), 0, &arena, &files, &exists, err);
    for (size_t i = 0; i < files.len; i++) {
        const struct sl_log_file *file = sl_vec_at(&files, i);
        anew = anew || (file->kind == SL_LOG_COMMIT && file->version == 0);
    }
    for (size_t i = 0; status == SILT_OK && !anew && i < files.len; i++) {
        const struct sl_log_file *file = sl_vec_at(&files, i);
        const struct sl_str path = sl_log_path(&arena, sl_table_root(table), file->name);
        status = path.ptr != NULL ? silt_storage_remove(storage, call, path.ptr, err) : sl_fail_nomem(err);
        *any = true;
    }
    sl_vec_release(&files);
    sl_arena_release(&arena);
    return status;
}

/* The table is gone by now: what goes wrong here is told, and does not make a drop that happened one that failed. */
static void sweep_after(silt_table *table, const silt_call *call)
{
    silt_error found = SILT_ERROR_INIT;
    silt_status status = SILT_OK;
    bool any = true;
    for (int pass = 0; any && status == SILT_OK && pass < MAX_PASSES; pass++) {
        status = remove_stragglers(table, call, &any, &found);
    }
    if (status != SILT_OK) {
        sl_log(silt_engine_env(silt_table_engine(table)), SILT_LOG_WARN,
               "%s is dropped, but commits that others made meanwhile may have stayed: %s", silt_table_uri(table),
               found.message);
    }
}

silt_status silt_table_drop(silt_table *table, const silt_call *call, silt_error *err)
{
    const silt_list_options options = {.size = sizeof(options), .recursive = true};
    struct content content = {.has_log = false};
    if (table == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_table_drop: a table is required");
    }
    silt_storage *storage = sl_table_storage(table);
    const char *root = sl_table_root(table).ptr;
    silt_status status = silt_storage_list(storage, call, root, &options, note_file, &content, err);
    if (status == SILT_ENOTFOUND) {
        silt_error_reset(err);
        status = SILT_OK;
    }
    SL_TRY(status);
    if (!content.has_log) {
        return sl_fail(err, SILT_ENOTTABLE, "DELTA_TABLE_NOT_FOUND", "%s is no delta table", silt_table_uri(table));
    }
    if (content.has_other) {
        return sl_fail(err, SILT_EINVALID, "SILT_TABLE_WITHIN_TABLE",
                       "%s cannot be dropped: another table lies within it, at %s", silt_table_uri(table),
                       content.other);
    }
    SL_TRY(check_owner(table, call, err));
    SL_TRY(silt_storage_remove_tree(storage, call, root, err));
    sweep_after(table, call);
    return SILT_OK;
}
