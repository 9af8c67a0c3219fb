/*
 * What EXPLAIN yields, for people: a plan is a drawing of many lines, which a table's cell could not hold.
 */
#include "cli/print.h"

#include "base/error.h"
#include "cli/arrow_cell.h"

bool sl_print_is_plan(const struct sl_print *print)
{
    return print->n_columns == 2 && sl_str_eq_c(print->columns[0].name, "explain_key") &&
           sl_str_eq_c(print->columns[1].name, "explain_value");
}

static silt_status plan_begin(struct sl_print *print, silt_error *err)
{
    (void)print;
    (void)err;
    return SILT_OK;
}

static silt_status plan_row(struct sl_print *print, const struct ArrowArray *batch, int64_t row, silt_error *err)
{
    struct sl_buf *buf = &print->out->buf;
    const struct ArrowArray *array = sl_print_cell(batch, 1, &row);
    size_t at = buf->len;

    (void)sl_cell_put_text(buf, &print->columns[1], array, row);
    SL_TRY(sl_buf_status(buf, err));
    for (; at < buf->len; at++) {
        const unsigned char byte = (unsigned char)buf->data[at];
        if ((byte < 0x20 && byte != '\n') || byte == 0x7F) {
            buf->data[at] = ' '; /* values of the query's text stand in it; a terminal must not obey them */
        }
    }
    if (buf->len > 0 && buf->data[buf->len - 1] != '\n') {
        sl_buf_put_char(buf, '\n');
    }
    return sl_buf_status(buf, err);
}

static silt_status plan_end(struct sl_print *print, silt_error *err)
{
    (void)print;
    (void)err;
    return SILT_OK;
}

const struct sl_printer sl_printer_plan = {.begin = plan_begin, .row = plan_row, .end = plan_end};
