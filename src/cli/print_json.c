/*
 * JSON: one list of objects a result. JSON lines: one object a row.
 */
#include "cli/arrow_cell.h"
#include "cli/print.h"
#include "json/writer.h"

static void put_object(struct sl_print *print, const struct ArrowArray *batch, int64_t row)
{
    struct sl_buf *buf = &print->out->buf;
    sl_buf_put_char(buf, '{');
    for (size_t i = 0; i < print->n_columns; i++) {
        int64_t at = row;
        const struct ArrowArray *column = sl_print_cell(batch, i, &at);
        sl_buf_put_c(buf, i > 0 ? ",\"" : "\"");
        sl_json_escape(buf, print->columns[i].name);
        sl_buf_put_c(buf, "\":");
        sl_cell_put_json(buf, &print->columns[i], column, at);
    }
    sl_buf_put_char(buf, '}');
}

static silt_status json_begin(struct sl_print *print, silt_error *err)
{
    (void)err;
    sl_buf_put_char(&print->out->buf, '[');
    return SILT_OK;
}

static silt_status json_row(struct sl_print *print, const struct ArrowArray *batch, int64_t row, silt_error *err)
{
    (void)err;
    sl_buf_put_c(&print->out->buf, print->n_rows > 0 ? ",\n" : "\n");
    put_object(print, batch, row);
    return SILT_OK;
}

static silt_status json_end(struct sl_print *print, silt_error *err)
{
    (void)err;
    sl_buf_put_c(&print->out->buf, print->n_rows > 0 ? "\n]\n" : "]\n");
    return SILT_OK;
}

static silt_status jsonl_begin(struct sl_print *print, silt_error *err)
{
    (void)print;
    (void)err;
    return SILT_OK;
}

static silt_status jsonl_row(struct sl_print *print, const struct ArrowArray *batch, int64_t row, silt_error *err)
{
    (void)err;
    put_object(print, batch, row);
    sl_buf_put_char(&print->out->buf, '\n');
    return SILT_OK;
}

const struct sl_printer sl_printer_json = {.begin = json_begin, .row = json_row, .end = json_end};
const struct sl_printer sl_printer_jsonl = {.begin = jsonl_begin, .row = jsonl_row, .end = jsonl_begin};
