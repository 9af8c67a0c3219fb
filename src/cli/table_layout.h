/*
 * The lines of a table: widths of its columns and their fitting to a terminal, box drawing, cutting. Text comes in as
 * sl_text_displayable made it; ptr NULL is a null.
 */
#ifndef SL_CLI_TABLE_LAYOUT_H
#define SL_CLI_TABLE_LAYOUT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

struct sl_layout_column {
    struct sl_str name;
    size_t width;   /* cells */
    bool to_right;  /* numbers */
    bool has_value; /* something else than nulls was seen */
    bool is_rigid;  /* of no use when cut: numbers and times */
    bool is_hidden;
};

struct sl_layout {
    struct sl_layout_column *columns;
    size_t n_columns;
    size_t total; /* cells of a line; SIZE_MAX: no limit */
};

/* False when out of memory. */
bool sl_layout_init(struct sl_layout *layout, struct sl_arena *arena, size_t n_columns);
/* SIZE_MAX if it is no terminal. */
size_t sl_layout_terminal_width(bool is_terminal, int fd);
/* Learns from a cell, or from the column's name. */
void sl_layout_note(struct sl_layout_column *column, struct sl_str cell, bool is_name);
/* Whether all columns have room as they are. */
bool sl_layout_fits(const struct sl_layout *layout);
/* Hides and narrows columns until a line has room. */
void sl_layout_fit(struct sl_layout *layout);

void sl_layout_put_head(struct sl_buf *out, const struct sl_layout *layout);
void sl_layout_put_row(struct sl_buf *out, const struct sl_layout *layout, const struct sl_str *cells);
void sl_layout_put_foot(struct sl_buf *out, const struct sl_layout *layout);
/* "(3 rows)", and how many columns are not shown. */
void sl_layout_put_count(struct sl_buf *out, const struct sl_layout *layout, int64_t n_rows);
/* One row as lines of name and value. */
void sl_layout_put_record(struct sl_buf *out, const struct sl_layout *layout, const struct sl_str *cells);

#endif
