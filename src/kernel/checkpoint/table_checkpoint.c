/*
 * The public way to a checkpoint; see silt/checkpoint.h.
 */
#include "silt/checkpoint.h"

#include "base/error.h"
#include "kernel/checkpoint/checkpoint_write.h"

static silt_status check(const silt_table *table, const silt_checkpoint_options *options,
                         const silt_checkpoint_result *result, silt_error *err)
{
    if (table == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "silt_table_checkpoint needs a table");
    }
    if (options->size < sizeof(*options) || (result != NULL && result->size < sizeof(*result))) {
        return sl_fail(err, SILT_EINVALID, NULL,
                       "options and result of silt_table_checkpoint must have their sizes set");
    }
    return options->kind <= SILT_CHECKPOINT_V2
               ? SILT_OK
               : sl_fail(err, SILT_EINVALID, NULL, "kind %d of a checkpoint is not known", (int)options->kind);
}

silt_status silt_table_checkpoint(silt_table *table, const silt_call *call, const silt_checkpoint_options *options,
                                  silt_checkpoint_result *result, silt_error *err)
{
    static const silt_checkpoint_options by_table = SILT_CHECKPOINT_OPTIONS_INIT;
    const silt_checkpoint_options *given = options != NULL ? options : &by_table;
    struct sl_checkpoint_result done = {0};
    silt_snapshot *snapshot = NULL;
    SL_TRY(check(table, given, result, err));
    SL_TRY(given->version < 0 ? silt_table_latest_snapshot(table, call, &snapshot, err)
                              : silt_table_snapshot_at_version(table, call, given->version, &snapshot, err));
    const struct sl_checkpoint_options how = {.kind = given->kind == SILT_CHECKPOINT_V1   ? SL_CHECKPOINT_V1
                                                      : given->kind == SILT_CHECKPOINT_V2 ? SL_CHECKPOINT_V2
                                                                                          : SL_CHECKPOINT_BY_TABLE,
                                              .rows_per_part = given->rows_per_part,
                                              .files_per_sidecar = given->files_per_sidecar,
                                              .json_top = given->json_top};
    const silt_status status = sl_checkpoint_write_told(snapshot, call, &how, &done, err);
    silt_snapshot_unref(snapshot);
    if (status == SILT_OK && result != NULL) {
        const uint32_t size = result->size;
        *result = (silt_checkpoint_result){.size = size,
                                           .version = done.version,
                                           .written = done.written,
                                           .num_files = done.written ? done.n_adds : -1,
                                           .num_actions = done.n_actions,
                                           .size_bytes = done.size_bytes,
                                           .num_checkpoint_files = done.n_files};
    }
    return status;
}
