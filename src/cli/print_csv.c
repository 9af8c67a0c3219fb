/*
 * CSV as RFC 4180 has it, with a header and plain line feeds. A null is an empty field, an empty text is "".
 */
#include "cli/print.h"

#include <string.h>

#include "cli/arrow_cell.h"

static bool needs_quotes(const char *text, size_t len)
{
    if (len == 0 || text[0] == ' ' || text[len - 1] == ' ') {
        return true;
    }
    for (size_t i = 0; i < len; i++) {
        if (text[i] == ',' || text[i] == '"' || text[i] == '\n' || text[i] == '\r') {
            return true;
        }
    }
    return false;
}

/* Puts what was appended since `begin` into quotes if it needs them. */
static void quote_field(struct sl_buf *out, size_t begin)
{
    size_t n_quotes = 2;
    if (out->status != SILT_OK || !needs_quotes(out->data + begin, out->len - begin)) {
        return;
    }
    const size_t len = out->len - begin;
    for (size_t i = 0; i < len; i++) {
        n_quotes += out->data[begin + i] == '"';
    }
    if (sl_buf_reserve(out, n_quotes) == NULL) {
        return;
    }
    /* from the end, so that nothing is overwritten before it has moved */
    char *from = out->data + out->len;
    char *to = from + n_quotes;
    out->len += n_quotes;
    *to = '\0';
    *--to = '"';
    while (from > out->data + begin) {
        *--to = *--from;
        if (*from == '"') {
            *--to = '"';
        }
    }
    *--to = '"';
}

static silt_status csv_begin(struct sl_print *print, silt_error *err)
{
    struct sl_buf *buf = &print->out->buf;
    (void)err;
    for (size_t i = 0; i < print->n_columns; i++) {
        sl_buf_put_c(buf, i > 0 ? "," : "");
        const size_t begin = buf->len;
        sl_buf_put_str(buf, print->columns[i].name);
        quote_field(buf, begin);
    }
    sl_buf_put_char(buf, '\n');
    return SILT_OK;
}

static silt_status csv_row(struct sl_print *print, const struct ArrowArray *batch, int64_t row, silt_error *err)
{
    struct sl_buf *buf = &print->out->buf;
    (void)err;
    for (size_t i = 0; i < print->n_columns; i++) {
        sl_buf_put_c(buf, i > 0 ? "," : "");
        const size_t begin = buf->len;
        int64_t at = row;
        const struct ArrowArray *column = sl_print_cell(batch, i, &at);
        if (sl_cell_put_text(buf, &print->columns[i], column, at)) {
            quote_field(buf, begin);
        }
    }
    sl_buf_put_char(buf, '\n');
    return SILT_OK;
}

static silt_status csv_end(struct sl_print *print, silt_error *err)
{
    (void)print;
    (void)err;
    return SILT_OK;
}

const struct sl_printer sl_printer_csv = {.begin = csv_begin, .row = csv_row, .end = csv_end};
