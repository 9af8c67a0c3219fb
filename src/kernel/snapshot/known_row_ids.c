/*
 * Which row ids files in memory have, without reading anything: commits that go on from a high-water mark ask whether it can be true. Any
 * thread.
 */
#include "base/error.h"
#include "kernel/replay/file_list.h"
#include "kernel/snapshot/snapshot_int.h"
#include "kernel/snapshot/state.h"

struct asker {
    sl_row_id_visit *visit;
    void *ctx;
};

/* Of the files of a set, those that are gone included; SL_NO_I64: none has one. */
static int64_t greatest_base(const struct sl_file_set *set)
{
    int64_t greatest = SL_NO_I64;
    for (size_t b = 0; b < set->blocks.len; b++) {
        const struct sl_file_block *block = sl_file_set_block(set, b);
        for (uint32_t row = 0; block->base_row_id != NULL && row < block->n; row++) {
            const int64_t id = block->base_row_id[row];
            if (id != SL_NO_I64 && (greatest == SL_NO_I64 || id > greatest)) {
                greatest = id;
            }
        }
    }
    return greatest;
}

static silt_status visit_base(const struct asker *asker, const struct sl_file_set *set, int64_t base, silt_error *err)
{
    struct sl_file_cursor cursor;
    sl_file_cursor_init(&cursor, set, set->has_details);
    silt_status status = SILT_OK;
    for (size_t b = 0; b < set->blocks.len; b++) {
        const struct sl_file_block *block = sl_file_set_block(set, b);
        for (uint32_t row = 0; block->base_row_id != NULL && row < block->n; row++) {
            struct sl_add add;
            if (status != SILT_OK || block->base_row_id[row] != base) {
                continue;
            }
            status = sl_file_cursor_at(&cursor, sl_file_pos_make(b, row), &add, err);
            if (status == SILT_OK) {
                status = asker->visit(asker->ctx, &add, set->has_details, err);
            }
        }
    }
    sl_file_cursor_release(&cursor);
    return status;
}

static silt_status ask_set(const struct asker *asker, const struct sl_file_set *set, silt_error *err)
{
    const int64_t base = set != NULL ? greatest_base(set) : SL_NO_I64;
    return base != SL_NO_I64 ? visit_base(asker, set, base, err) : SILT_OK;
}

silt_status sl_snapshot_each_last_row_id(const silt_snapshot *snapshot, sl_row_id_visit *visit, void *ctx,
                                         silt_error *err)
{
    const struct asker asker = {.visit = visit, .ctx = ctx};
    const struct sl_file_list *list = atomic_load(&snapshot->detailed);
    const struct sl_log_view *view = atomic_load(&snapshot->view);
    if (list == NULL) {
        list = atomic_load(&snapshot->files);
    }
    for (size_t i = 0; list != NULL && i < list->n_layers; i++) {
        SL_TRY(ask_set(&asker, list->layers[i].set, err));
    }
    return view != NULL ? ask_set(&asker, view->tail, err) : SILT_OK;
}
