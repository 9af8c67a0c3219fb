/*
 * The check of a transaction's base against the deletion of expired versions; see base_check.h. Called once a commit.
 * PROTOCOL.md "Metadata Cleanup".
 */
#include "kernel/txn/base_check.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/snapshot/load.h"

/* No version expires so soon after it came: what is deleted is from before the last midnight, and older than a later checkpoint. */
#define TRUSTED_US (INT64_C(300) * 1000000)

silt_status sl_txn_check_base(const silt_txn *txn, const silt_call *call, int64_t *newest, silt_error *err)
{
    *newest = -1;
    if (txn->snapshot == NULL || sl_table_is_catalog(txn->table) || sl_snapshot_was_newest(txn->snapshot, TRUSTED_US)) {
        return SILT_OK; /* what a catalog manages, it alone gives away */
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
    bool next_is_there = false;
    silt_status status = sl_table_list_log(txn->table, call, next, &names, &files, &exists, err);
    for (size_t i = 0; status == SILT_OK && i < files.len; i++) {
        const struct sl_log_file *file = sl_vec_at(&files, i);
        next_is_there = next_is_there || (file->kind == SL_LOG_COMMIT && file->version == next);
        if (file->kind != SL_LOG_CRC && file->kind != SL_LOG_COMPACTED && file->version > *newest) {
            *newest = file->version;
        }
    }
    if (status == SILT_OK && *newest >= next && !next_is_there) {
        status = sl_fail(err, SILT_ECONFLICT, "DELTA_CONCURRENT_WRITE",
                         "the transaction rests on version %" PRId64 ", and version %" PRId64
                         " came and has expired since: what it changed cannot be known any more",
                         txn->read_version, next);
        sl_error_version(err, next);
        sl_error_hint(err, "run the operation again; it will start from the table's new state");
    }
    sl_vec_release(&files);
    sl_arena_release(&names);
    return status;
}
