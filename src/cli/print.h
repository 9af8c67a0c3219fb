/*
 * Printing a stream of Arrow batches in one of the formats. A printer is a table of functions; the struct holds what all of them
 * need. One owner, one result at a time.
 */
#ifndef SL_CLI_PRINT_H
#define SL_CLI_PRINT_H

#include "base/arena.h"
#include "cli/cell_type.h"
#include "cli/cli.h"
#include "silt/arrow.h"

struct sl_print;

struct sl_printer {
    silt_status (*begin)(struct sl_print *print, silt_error *err);
    /* One row of a batch; cells by the columns' arrays at `row`. */
    silt_status (*row)(struct sl_print *print, const struct ArrowArray *batch, int64_t row, silt_error *err);
    silt_status (*end)(struct sl_print *print, silt_error *err);
    void (*release)(struct sl_print *print); /* NULL: nothing but the arena to free. Called once, also after failures */
};

struct sl_print {
    struct sl_out *out;
    const silt_env *env;
    struct sl_arena arena;
    const struct sl_cell_type *columns;
    size_t n_columns;
    int64_t n_rows;
    void *state; /* the printer's own, in the arena */
};

extern const struct sl_printer sl_printer_csv;
extern const struct sl_printer sl_printer_json;
extern const struct sl_printer sl_printer_jsonl;
extern const struct sl_printer sl_printer_table;
extern const struct sl_printer sl_printer_plan;
/* Whether the columns are those of EXPLAIN; sl_printer_plan is for them alone. */
bool sl_print_is_plan(const struct sl_print *print);

/*
 * Prints all rows and releases the stream. Stops without an error when nobody reads any more. *n_rows: printed, NULL if not wanted.
 */
silt_status sl_print_stream(struct sl_cli *cli, enum sl_format format, struct ArrowArrayStream *stream, int64_t *n_rows,
                            silt_error *err);
/* Cell of a batch: its column and the row in it. */
static inline const struct ArrowArray *sl_print_cell(const struct ArrowArray *batch, size_t column, int64_t *row)
{
    *row += batch->offset;
    return batch->children[column];
}

#endif
