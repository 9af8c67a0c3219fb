/*
 * The look after the first version of a table; see creation_check.h. Later versions prove nothing by themselves: others may write to a table as
 * soon as it is there. Whose they are is told by the metadata that readers see. PROTOCOL.md "Metadata Cleanup".
 */
#include "kernel/txn/creation_check.h"

#include "base/error.h"
#include "base/vec.h"
#include "kernel/log/list.h"
#include "kernel/snapshot/load.h"
#include "kernel/snapshot/state.h"

struct above {
    bool any;  /* later versions */
    bool next; /* version 1 among them */
};

static silt_status list_above(silt_table *table, const silt_call *call, struct above *above, silt_error *err)
{
    struct sl_arena names;
    struct sl_vec files;
    bool exists = false;
    *above = (struct above){.any = false};
    const silt_env *env = silt_engine_env(silt_table_engine(table));
    sl_arena_init(&names, env);
    sl_vec_init(&files, env, sizeof(struct sl_log_file));
    const silt_status status = sl_log_list(sl_table_storage(table), call, sl_table_root(table), 0, &names, &files,
                                           &exists, err);
    for (size_t i = 0; i < files.len; i++) {
        const struct sl_log_file *file = sl_vec_at(&files, i);
        above->any = above->any || file->version > 0;
        above->next = above->next || (file->kind == SL_LOG_COMMIT && file->version == 1);
    }
    sl_vec_release(&files);
    sl_arena_release(&names);
    return status;
}

static bool has_first(silt_table *table, const silt_call *call)
{
    struct sl_arena scratch;
    int64_t size_bytes = 0;
    int64_t modified_ms = 0;
    sl_arena_init(&scratch, silt_engine_env(silt_table_engine(table)));
    const char *path = sl_log_commit_path(&scratch, sl_table_root(table), 0).ptr;
    const bool there = path != NULL && silt_storage_stat(sl_table_storage(table), call, path, &size_bytes, &modified_ms,
                                                         NULL) == SILT_OK;
    sl_arena_release(&scratch);
    return there;
}

enum sl_log_fate sl_creation_fate(silt_table *table, const silt_call *call, struct sl_str id)
{
    struct above above;
    silt_snapshot *snapshot = NULL;
    silt_error unused = SILT_ERROR_INIT;
    if (list_above(table, call, &above, &unused) != SILT_OK || !above.any ||
        silt_table_latest_snapshot(table, call, &snapshot, &unused) != SILT_OK) {
        return SL_LOG_STANDS;
    }
    const bool is_ours = sl_str_eq(sl_snapshot_get_metadata(snapshot)->id, id);
    silt_snapshot_unref(snapshot);
    if (is_ours) {
        return SL_LOG_STANDS;
    }
    /* Versions are deleted oldest first: what is there without the one after it was written below what had expired. */
    return !above.next && has_first(table, call) ? SL_LOG_EXPIRED : SL_LOG_REPLACED;
}
