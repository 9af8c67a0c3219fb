/*
 * The rows of a file that a scan wants; see silt/deletion_vector.h. Loading is in rows_load.c. Nothing here fails or allocates; any
 * thread.
 */
#include <string.h>

#include "base/alloc.h"
#include "kernel/dv/rows_int.h"

void silt_rows_free(silt_rows *rows)
{
    if (rows != NULL) {
        sl_dv_set_release(&rows->deleted);
        sl_dv_set_release(&rows->selected);
        sl_release(rows->env, rows, sizeof(*rows));
    }
}

void silt_rows_mask(const silt_rows *rows, int64_t first, size_t n, uint8_t *live)
{
    memset(live, rows->has_selected ? 0 : 1, n);
    if (rows->has_selected) {
        sl_dv_set_mark(&rows->selected, first, n, live, 1);
    }
    sl_dv_set_mark(&rows->deleted, first, n, live, 0);
}

int64_t silt_rows_next_live(const silt_rows *rows, int64_t from)
{
    for (;;) {
        const int64_t row = rows->has_selected ? sl_dv_set_next(&rows->selected, from) : from;
        from = row != INT64_MAX ? sl_dv_set_gap(&rows->deleted, row) : row;
        if (from == row) {
            return row;
        }
    }
}

int64_t silt_rows_next_dead(const silt_rows *rows, int64_t from)
{
    const int64_t deleted = sl_dv_set_next(&rows->deleted, from);
    const int64_t unselected = rows->has_selected ? sl_dv_set_gap(&rows->selected, from) : INT64_MAX;
    return deleted < unselected ? deleted : unselected;
}
