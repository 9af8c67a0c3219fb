/*
 * Widths and lines of tables; see table_layout.h.
 */
#include "cli/table_layout.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "cli/text_width.h"

#define NULL_TEXT SL_STR("NULL")
#define CUT_MARK "\xE2\x80\xA6" /* … */
#define LINE "\xE2\x94\x80"     /* ─ */
#define BAR "\xE2\x94\x82"      /* │ */
#define USUAL_WIDTH 80
#define LEAST_WIDTH 12 /* a column is not cut below this */
#define BORDER 3       /* cells around the text of a column: bar and two blanks */

bool sl_layout_init(struct sl_layout *layout, struct sl_arena *arena, size_t n_columns)
{
    *layout = (struct sl_layout){.n_columns = n_columns, .total = SIZE_MAX};
    layout->columns = sl_arena_alloc_array(arena, n_columns, sizeof(*layout->columns));
    return layout->columns != NULL;
}

size_t sl_layout_terminal_width(bool is_terminal, int fd)
{
    struct winsize size = {0};
    if (!is_terminal) {
        return SIZE_MAX;
    }
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : USUAL_WIDTH;
}

void sl_layout_note(struct sl_layout_column *column, struct sl_str cell, bool is_name)
{
    const size_t width = sl_text_width(cell.ptr != NULL ? cell : NULL_TEXT);
    column->width = width > column->width ? width : column->width;
    column->has_value = column->has_value || (!is_name && cell.ptr != NULL);
}

/* Cells that a line takes with its borders. */
static size_t line_width(const struct sl_layout *layout)
{
    size_t sum = 1;
    for (size_t i = 0; i < layout->n_columns; i++) {
        sum += layout->columns[i].is_hidden ? 0 : layout->columns[i].width + BORDER;
    }
    return sum;
}

bool sl_layout_fits(const struct sl_layout *layout)
{
    return line_width(layout) <= layout->total;
}

static struct sl_layout_column *widest_column(const struct sl_layout *layout, bool rigid)
{
    struct sl_layout_column *widest = NULL;
    for (size_t i = 0; i < layout->n_columns; i++) {
        struct sl_layout_column *column = &layout->columns[i];
        if (!column->is_hidden && column->is_rigid == rigid && (widest == NULL || column->width > widest->width)) {
            widest = column;
        }
    }
    return widest;
}

static size_t count_shown(const struct sl_layout *layout)
{
    size_t n = 0;
    for (size_t i = 0; i < layout->n_columns; i++) {
        n += !layout->columns[i].is_hidden;
    }
    return n;
}

/* The width that a line would have with all columns cut as far as they may. */
static size_t least_line_width(const struct sl_layout *layout)
{
    size_t sum = 1;
    for (size_t i = 0; i < layout->n_columns; i++) {
        const struct sl_layout_column *column = &layout->columns[i];
        const bool may_cut = !column->is_rigid && column->width > LEAST_WIDTH;
        sum += column->is_hidden ? 0 : (may_cut ? LEAST_WIDTH : column->width) + BORDER;
    }
    return sum;
}

static void hide_empty_columns(struct sl_layout *layout)
{
    bool any = false;
    for (size_t i = 0; i < layout->n_columns; i++) {
        any = any || layout->columns[i].has_value;
    }
    for (size_t i = 0; i < layout->n_columns && any; i++) {
        layout->columns[i].is_hidden = !layout->columns[i].has_value;
    }
}

void sl_layout_fit(struct sl_layout *layout)
{
    if (sl_layout_fits(layout)) {
        return;
    }
    hide_empty_columns(layout);
    for (size_t i = layout->n_columns; i-- > 0 && least_line_width(layout) > layout->total;) {
        layout->columns[i].is_hidden = layout->columns[i].is_hidden || count_shown(layout) > 1;
    }
    while (!sl_layout_fits(layout)) {
        struct sl_layout_column *widest = widest_column(layout, false);
        if (widest == NULL || widest->width <= 1) {
            widest = widest_column(layout, true);
        }
        if (widest == NULL || widest->width <= 1) {
            return; /* a terminal of a few cells */
        }
        widest->width--;
    }
}

static void put_times(struct sl_buf *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sl_buf_put_c(out, text);
    }
}

static void put_rule(struct sl_buf *out, const struct sl_layout *layout, const char *left, const char *cross,
                     const char *right)
{
    bool first = true;
    for (size_t i = 0; i < layout->n_columns; i++) {
        if (!layout->columns[i].is_hidden) {
            sl_buf_put_c(out, first ? left : cross);
            put_times(out, LINE, layout->columns[i].width + 2);
            first = false;
        }
    }
    sl_buf_put_c(out, right);
    sl_buf_put_char(out, '\n');
}

/* Text in `width` cells, cut if it must and may be. */
static void put_padded(struct sl_buf *out, struct sl_str text, size_t width, bool to_right, bool may_cut)
{
    size_t used = sl_text_width(text);
    bool is_cut = false;
    if (used > width && may_cut) {
        const size_t len = sl_text_fit(text, width > 0 ? width - 1 : 0, &used);
        text = sl_str_sub(text, 0, len);
        used++;
        is_cut = true;
    }
    const size_t blanks = used < width ? width - used : 0;
    put_times(out, " ", to_right ? blanks : 0);
    sl_buf_put_str(out, text);
    sl_buf_put_c(out, is_cut ? CUT_MARK : "");
    put_times(out, " ", to_right ? 0 : blanks);
}

static void put_cell(struct sl_buf *out, const struct sl_layout *layout, const struct sl_layout_column *column,
                     struct sl_str cell)
{
    sl_buf_put_c(out, BAR " ");
    put_padded(out, cell.ptr != NULL ? cell : NULL_TEXT, column->width, column->to_right, layout->total != SIZE_MAX);
    sl_buf_put_char(out, ' ');
}

void sl_layout_put_row(struct sl_buf *out, const struct sl_layout *layout, const struct sl_str *cells)
{
    for (size_t i = 0; i < layout->n_columns; i++) {
        if (!layout->columns[i].is_hidden) {
            put_cell(out, layout, &layout->columns[i], cells[i]);
        }
    }
    sl_buf_put_c(out, BAR "\n");
}

void sl_layout_put_head(struct sl_buf *out, const struct sl_layout *layout)
{
    put_rule(out, layout, "\xE2\x94\x8C", "\xE2\x94\xAC", "\xE2\x94\x90"); /* ┌ ┬ ┐ */
    for (size_t i = 0; i < layout->n_columns; i++) {
        if (!layout->columns[i].is_hidden) {
            put_cell(out, layout, &layout->columns[i], layout->columns[i].name);
        }
    }
    sl_buf_put_c(out, BAR "\n");
    put_rule(out, layout, "\xE2\x94\x9C", "\xE2\x94\xBC", "\xE2\x94\xA4"); /* ├ ┼ ┤ */
}

void sl_layout_put_foot(struct sl_buf *out, const struct sl_layout *layout)
{
    put_rule(out, layout, "\xE2\x94\x94", "\xE2\x94\xB4", "\xE2\x94\x98"); /* └ ┴ ┘ */
}

void sl_layout_put_count(struct sl_buf *out, const struct sl_layout *layout, int64_t n_rows)
{
    const size_t n_hidden = layout->n_columns - count_shown(layout);
    sl_buf_printf(out, "(%lld row%s", (long long)n_rows, n_rows == 1 ? "" : "s");
    if (n_hidden > 0) {
        sl_buf_printf(out, "; %zu of %zu columns are not shown", n_hidden, layout->n_columns);
    }
    sl_buf_put_c(out, ")\n");
}

void sl_layout_put_record(struct sl_buf *out, const struct sl_layout *layout, const struct sl_str *cells)
{
    size_t widest = 0;
    for (size_t i = 0; i < layout->n_columns; i++) {
        const size_t width = sl_text_width(layout->columns[i].name);
        widest = width > widest ? width : widest;
    }
    for (size_t i = 0; i < layout->n_columns; i++) {
        put_padded(out, layout->columns[i].name, widest, true, false);
        sl_buf_put_c(out, " " BAR " ");
        sl_buf_put_str(out, cells[i].ptr != NULL ? cells[i] : NULL_TEXT);
        sl_buf_put_char(out, '\n');
    }
}
