/*
 * Tables for people. The first rows are kept to learn how wide the columns are; the rest follows with the same widths. On a terminal columns are
 * fitted to its width: those without any value are left out first, then wide ones are cut, then the last ones are left out; one row
 * that does not fit is shown as a list of names and values. Elsewhere nothing is left out or cut.
 */
#include "cli/print.h"

#include "base/error.h"
#include "base/vec.h"
#include "cli/arrow_cell.h"
#include "cli/table_layout.h"
#include "cli/text_width.h"

#define KEPT_ROWS 2000
#define KEPT_BYTES ((size_t)32 << 20)

struct table {
    struct sl_layout layout;
    bool has_begun;        /* the head is printed, the layout stands */
    struct sl_vec kept;    /* struct sl_str, n_columns a row; ptr NULL: null */
    struct sl_arena cells; /* of the kept rows, or of the row that is being printed */
    struct sl_buf scratch;
};

static silt_status table_begin(struct sl_print *print, silt_error *err)
{
    struct table *table = sl_arena_alloc_zero(&print->arena, sizeof(*table));
    if (table == NULL || !sl_layout_init(&table->layout, &print->arena, print->n_columns)) {
        return sl_fail_nomem(err);
    }
    print->state = table;
    sl_vec_init(&table->kept, print->env, sizeof(struct sl_str));
    sl_arena_init(&table->cells, print->env);
    sl_buf_init(&table->scratch, print->env);
    sl_text_use_utf8();
    table->layout.total = sl_layout_terminal_width(print->out->is_terminal, print->out->fd);
    for (size_t i = 0; i < print->n_columns; i++) {
        struct sl_layout_column *column = &table->layout.columns[i];
        column->name = sl_text_displayable(&print->arena, print->columns[i].name);
        column->to_right = sl_cell_type_is_number(&print->columns[i]);
        column->is_rigid = sl_cell_type_is_short(&print->columns[i]);
        sl_layout_note(column, column->name, true);
    }
    return SILT_OK;
}

static void table_release(struct sl_print *print)
{
    struct table *table = print->state;
    if (table == NULL) {
        return;
    }
    sl_vec_release(&table->kept);
    sl_arena_release(&table->cells);
    sl_buf_release(&table->scratch);
}

/* The text of a cell, in the arena of cells; ptr NULL for a null. */
static silt_status cell_text(struct sl_print *print, const struct ArrowArray *batch, size_t column, int64_t row,
                             struct sl_str *out, silt_error *err)
{
    struct table *table = print->state;
    const struct ArrowArray *array = sl_print_cell(batch, column, &row);

    *out = (struct sl_str){0};
    sl_buf_clear(&table->scratch);
    if (!sl_cell_put_text(&table->scratch, &print->columns[column], array, row)) {
        return SILT_OK;
    }
    SL_TRY(sl_buf_status(&table->scratch, err));
    const struct sl_str copy = sl_arena_copy(&table->cells,
                                             sl_str_make(sl_buf_cstr(&table->scratch), table->scratch.len));
    *out = copy.ptr != NULL ? sl_text_displayable(&table->cells, copy) : copy;
    return out->ptr != NULL ? SILT_OK : sl_fail_nomem(err);
}

/* Fixes the widths and prints the head and the kept rows. */
static void print_kept(struct sl_print *print, struct table *table)
{
    struct sl_buf *buf = &print->out->buf;
    table->has_begun = true;
    sl_layout_fit(&table->layout);
    sl_layout_put_head(buf, &table->layout);
    for (size_t i = 0; i < table->kept.len && !sl_out_is_broken(print->out); i += print->n_columns) {
        sl_layout_put_row(buf, &table->layout, sl_vec_at(&table->kept, i));
        sl_out_step(print->out);
    }
}

static silt_status add_row(struct sl_print *print, const struct ArrowArray *batch, int64_t row, silt_error *err)
{
    struct table *table = print->state;
    for (size_t i = 0; i < print->n_columns; i++) {
        struct sl_str *cell = sl_vec_push(&table->kept);
        if (cell == NULL) {
            return sl_fail_nomem(err);
        }
        SL_TRY(cell_text(print, batch, i, row, cell, err));
        if (!table->has_begun) {
            sl_layout_note(&table->layout.columns[i], *cell, false);
        }
    }
    return SILT_OK;
}

static silt_status table_row(struct sl_print *print, const struct ArrowArray *batch, int64_t row, silt_error *err)
{
    struct table *table = print->state;

    if (table->has_begun) {
        table->kept.len = 0;
        sl_arena_release(&table->cells);
    }
    SL_TRY(add_row(print, batch, row, err));
    if (table->has_begun) {
        sl_layout_put_row(&print->out->buf, &table->layout, sl_vec_at(&table->kept, 0));
    } else if (print->n_rows + 1 >= KEPT_ROWS || table->cells.total_bytes >= KEPT_BYTES) {
        print_kept(print, table);
    }
    return SILT_OK;
}

static silt_status table_end(struct sl_print *print, silt_error *err)
{
    struct table *table = print->state;
    struct sl_buf *buf = &print->out->buf;
    (void)err;

    if (!table->has_begun && print->n_rows == 1 && !sl_layout_fits(&table->layout)) {
        sl_layout_put_record(buf, &table->layout, sl_vec_at(&table->kept, 0));
    } else {
        if (!table->has_begun) {
            print_kept(print, table);
        }
        sl_layout_put_foot(buf, &table->layout);
        if (print->out->is_terminal) {
            sl_layout_put_count(buf, &table->layout, print->n_rows);
        }
    }
    return SILT_OK;
}

const struct sl_printer sl_printer_table = {
    .begin = table_begin, .row = table_row, .end = table_end, .release = table_release};
