/*
 * Pulls a result and hands its rows to a printer; see print.h.
 */
#include "cli/print.h"

#include "base/arrow.h"
#include "base/env.h"
#include "base/error.h"

static const struct sl_printer *find_printer(enum sl_format format)
{
    switch (format) {
    case SL_FORMAT_CSV: return &sl_printer_csv;
    case SL_FORMAT_JSON: return &sl_printer_json;
    case SL_FORMAT_JSONL: return &sl_printer_jsonl;
    default: return &sl_printer_table;
    }
}

static silt_status read_columns(struct sl_print *print, struct ArrowArrayStream *stream, silt_error *err)
{
    struct ArrowSchema schema = {0};
    struct sl_cell_type row;
    silt_status status = sl_arrow_stream_schema(stream, &schema, err);
    if (status == SILT_OK) {
        status = sl_cell_type_read(&print->arena, &schema, &row, err);
        print->columns = row.children;
        print->n_columns = row.n_children;
    }
    sl_arrow_schema_release(&schema);
    return status;
}

static silt_status print_batch(struct sl_cli *cli, const struct sl_printer *printer, struct sl_print *print,
                               const struct ArrowArray *batch, silt_error *err)
{
    for (int64_t i = 0; i < batch->length && !sl_out_is_broken(print->out); i++) {
        SL_TRY(sl_call_check(cli->env, &cli->call, err));
        SL_TRY(printer->row(print, batch, i, err));
        print->n_rows++;
        sl_out_step(print->out);
    }
    return SILT_OK;
}

silt_status sl_print_stream(struct sl_cli *cli, enum sl_format format, struct ArrowArrayStream *stream, int64_t *n_rows,
                            silt_error *err)
{
    const struct sl_printer *printer = find_printer(format);
    struct sl_print print = {.out = &cli->out, .env = cli->env};
    struct ArrowArray batch = {0};
    bool done = false;
    silt_status status;

    sl_arena_init(&print.arena, cli->env);
    status = read_columns(&print, stream, err);
    if (printer == &sl_printer_table && sl_print_is_plan(&print)) {
        printer = &sl_printer_plan;
    }
    if (status == SILT_OK && print.n_columns > 0) {
        status = printer->begin(&print, err);
    }
    while (status == SILT_OK && print.n_columns > 0 && !done && !sl_out_is_broken(print.out)) {
        status = sl_arrow_stream_next(stream, &batch, &done, err);
        if (status == SILT_OK && !done) {
            status = print_batch(cli, printer, &print, &batch, err);
        }
        sl_arrow_array_release(&batch);
        if (print.out->is_terminal) {
            sl_out_flush(print.out);
        }
    }
    if (status == SILT_OK && print.n_columns > 0) {
        status = printer->end(&print, err);
    }
    if (n_rows != NULL) {
        *n_rows = print.n_rows;
    }
    if (printer->release != NULL) {
        printer->release(&print);
    }
    sl_arrow_stream_release(stream);
    sl_arena_release(&print.arena);
    return status;
}
