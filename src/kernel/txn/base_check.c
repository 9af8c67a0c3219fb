/*
 * The check of a transaction's base against the deletion of expired versions; see base_check.h. Called once a commit.
 * PROTOCOL.md "Metadata Cleanup".
 */
#include "kernel/txn/base_check.h"

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/snapshot/load.h"
#include "kernel/txn/txn_write.h"

/* Of so short a transaction it is not worth a request to list what came meanwhile: no version expires so soon, and after the commit is soon
   enough to see that the table was dropped. */
#define TRUSTED_US INT64_C(1000000)

/* What is seen of the log from the base on. */
struct tail {
    bool base_changed; /* its commit is another one */
    bool next_is_there;
    int64_t newest; /* -1: nothing */
};

static struct tail look_at(const silt_txn *txn, const struct sl_vec *files, int64_t next)
{
    const struct sl_log_file *base = sl_snapshot_commit_file(txn->snapshot);
    struct tail tail = {.newest = -1};
    for (size_t i = 0; i < files->len; i++) {
        const struct sl_log_file *file = sl_vec_at(files, i);
        const bool is_commit = file->kind == SL_LOG_COMMIT;
        if (is_commit && base != NULL && file->version == base->version) {
            tail.base_changed = file->size != base->size || file->modified_ms != base->modified_ms;
        }
        tail.next_is_there = tail.next_is_there || (is_commit && file->version == next);
        if (file->kind != SL_LOG_CRC && file->kind != SL_LOG_COMPACTED && file->version > tail.newest) {
            tail.newest = file->version;
        }
    }
    return tail;
}

static silt_status judge(const silt_txn *txn, const struct tail *tail, int64_t next, silt_error *err)
{
    if (tail->base_changed || tail->newest < txn->read_version) {
        return sl_conflict_dropped(txn->read_version, err);
    }
    if (tail->newest >= next && !tail->next_is_there) {
        return sl_conflict_expired(txn->read_version, err);
    }
    return SILT_OK;
}

static bool stands(const silt_txn *txn, const silt_call *call)
{
    return sl_snapshot_fate(txn->snapshot, call, -1) == SL_LOG_STANDS;
}

/* Of a base that was the newest version a moment ago its commit is looked for where that is no request: what is refused now leaves no trace. */
static silt_status check_young_base(const silt_txn *txn, const silt_call *call, silt_error *err)
{
    char path[4096];
    if (silt_storage_local_path(txn->storage, txn->root.ptr, path, sizeof(path), NULL) != SILT_OK ||
        stands(txn, call)) {
        return SILT_OK;
    }
    return sl_conflict_dropped(txn->read_version, err);
}

silt_status sl_txn_write_failed(const silt_txn *txn, const silt_call *call, silt_status status, silt_error *err)
{
    if (status != SILT_ENOTFOUND || txn->snapshot == NULL || sl_table_is_catalog(txn->table) || stands(txn, call)) {
        return status;
    }
    silt_error_reset(err);
    return sl_conflict_dropped(txn->read_version, err);
}

silt_status sl_txn_check_base(const silt_txn *txn, const silt_call *call, struct sl_base_look *out, silt_error *err)
{
    *out = (struct sl_base_look){.newest = -1};
    if (txn->snapshot == NULL || sl_table_is_catalog(txn->table)) {
        return SILT_OK; /* what a catalog manages, it alone gives away */
    }
    if (sl_snapshot_was_newest(txn->snapshot, TRUSTED_US)) {
        return check_young_base(txn, call, err);
    }
    int64_t next = 0;
    if (!sl_add_i64(txn->read_version, 1, &next)) {
        return sl_fail(err, SILT_ELIMIT, NULL, "the table has used up all versions");
    }
    struct sl_arena names;
    struct sl_vec files;
    sl_arena_init(&names, txn->env);
    sl_vec_init(&files, txn->env, sizeof(struct sl_log_file));
    bool exists = false;
    silt_status status = sl_table_list_log(txn->table, call, txn->read_version, &names, &files, &exists, err);
    if (status == SILT_OK) {
        const struct tail tail = look_at(txn, &files, next);
        *out = (struct sl_base_look){.newest = tail.newest, .next_is_there = tail.next_is_there};
        status = judge(txn, &tail, next, err);
    }
    sl_vec_release(&files);
    sl_arena_release(&names);
    return status;
}
