/*
 * silt clean-log and silt compact-log: the maintenance of a log at a moment of the user's choice. A line on a terminal or with
 * -o table; rows otherwise.
 */
#include "cli/commands.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/vec.h"
#include "cli/print.h"
#include "cli/report_error.h"
#include "cli/row_stream.h"
#include "cli/table_arg.h"
#include "cli/text_width.h"
#include "silt/log_maintenance.h"

static silt_status open_table(struct sl_cli *cli, struct sl_table_arg *arg, silt_table **out, silt_error *err)
{
    *out = NULL;
    if (cli->args.format == SL_FORMAT_PARQUET) {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "-o parquet is for sql, read and changes");
    }
    SL_TRY(sl_table_arg_read(cli, arg, err));
    SL_TRY(sl_table_arg_no_travel(arg, err));
    return sl_table_arg_table(cli, arg, out, err);
}

static int report(struct sl_cli *cli, const struct sl_table_arg *arg, silt_status status, silt_error *err)
{
    if (status == SILT_OK) {
        return SL_EXIT_DONE;
    }
    if (status == SILT_ENOTTABLE) {
        sl_table_arg_hint(cli, arg, err);
    }
    return sl_report_error(cli, err, (struct sl_str){0});
}

static void put_name(struct sl_cli *cli, const struct sl_table_arg *arg)
{
    sl_buf_put_str(&cli->out.buf, sl_text_displayable(&cli->arena, sl_str_from(arg->name)));
    sl_buf_put_c(&cli->out.buf, ": ");
}

static silt_status print_rows(struct sl_cli *cli, struct sl_row_stream *rows, silt_error *err)
{
    struct ArrowArrayStream stream = {0};
    SL_TRY(sl_row_stream_take(rows, &stream, err));
    return sl_print_stream(cli, sl_cli_format(cli), &stream, NULL, err);
}

/* ---- clean-log ---- */

struct cleaning {
    struct sl_row_stream rows;
    silt_status status; /* of taking a row */
    silt_error *err;
};

static bool take_name(void *ctx, const char *name)
{
    struct cleaning *cleaning = ctx;
    cleaning->status = sl_row_stream_text(&cleaning->rows, sl_str_from(name), cleaning->err);
    return cleaning->status == SILT_OK;
}

static void tell_cleaned(struct sl_cli *cli, const struct sl_table_arg *arg, const silt_clean_log_result *result)
{
    struct sl_buf *out = &cli->out.buf;
    put_name(cli, arg);
    if (result->reason != NULL) {
        sl_buf_printf(out, "nothing was deleted: %s\n", result->reason);
    } else if (result->deleted == 0 && result->failed == 0 && result->oldest_version < 0) {
        sl_buf_put_c(out, "nothing of the log has expired\n");
    } else if (result->deleted == 0 && result->failed == 0) {
        sl_buf_printf(out,
                      "nothing was deleted: no file is from before the checkpoint of version %" PRId64
                      ", the newest that is old enough to stand for what has expired\n",
                      result->oldest_version);
    } else {
        sl_buf_printf(out, "%" PRId64 " %s of the log %s; the oldest version that stays is %" PRId64 "\n",
                      result->deleted, result->deleted == 1 ? "file" : "files",
                      cli->args.dry_run ? "would be deleted" : "deleted", result->oldest_version);
    }
    if (result->failed > 0) {
        put_name(cli, arg);
        sl_buf_printf(out, "%" PRId64 " could not be deleted and wait for the next clean-up\n", result->failed);
    }
    sl_out_step(&cli->out);
}

static silt_status clean(struct sl_cli *cli, struct sl_table_arg *arg, struct cleaning *cleaning, silt_error *err)
{
    static const struct sl_row_stream_column columns[] = {{"file", "u"}};
    silt_table *table = NULL;
    silt_clean_log_result result = {.size = sizeof(result)};
    const silt_clean_log_options options = {
        .size = sizeof(options), .dry_run = cli->args.dry_run, .on_file = take_name, .ctx = cleaning};
    SL_TRY(sl_row_stream_open(&cleaning->rows, cli->env, columns, 1, err));
    silt_status status = open_table(cli, arg, &table, err);
    if (status == SILT_OK) {
        status = silt_table_clean_log(table, &cli->call, &options, &result, err);
    }
    silt_table_unref(table);
    if (status != SILT_OK) {
        return cleaning->status != SILT_OK ? cleaning->status : status;
    }
    if (sl_cli_format(cli) != SL_FORMAT_TABLE) {
        return print_rows(cli, &cleaning->rows, err);
    }
    tell_cleaned(cli, arg, &result);
    return SILT_OK;
}

int sl_cmd_clean_log(struct sl_cli *cli)
{
    silt_error err = SILT_ERROR_INIT;
    struct sl_table_arg arg = {0};
    struct cleaning cleaning = {.err = &err};
    const silt_status status = clean(cli, &arg, &cleaning, &err);
    sl_row_stream_close(&cleaning.rows);
    return report(cli, &arg, status, &err);
}

/* ---- compact-log ---- */

static silt_status print_compacted(struct sl_cli *cli, const silt_compact_log_result *result, silt_error *err)
{
    static const struct sl_row_stream_column columns[] = {
        {"fromVersion", "l"}, {"toVersion", "l"}, {"actions", "l"}, {"sizeBytes", "l"}};
    struct sl_row_stream rows = {0};
    silt_status status = sl_row_stream_open(&rows, cli->env, columns, sizeof(columns) / sizeof(columns[0]), err);
    const int64_t cells[] = {result->from_version, result->to_version, result->actions, result->size_bytes};
    for (size_t i = 0; i < 4 && result->written && status == SILT_OK; i++) {
        status = sl_row_stream_int(&rows, cells[i], err);
    }
    if (status == SILT_OK) {
        status = print_rows(cli, &rows, err);
    }
    sl_row_stream_close(&rows);
    return status;
}

static silt_status compact(struct sl_cli *cli, struct sl_table_arg *arg, silt_error *err)
{
    silt_table *table = NULL;
    silt_compact_log_result result = {.size = sizeof(result)};
    SL_TRY(open_table(cli, arg, &table, err));
    const silt_status status = silt_table_compact_log(table, &cli->call, cli->args.from_version, cli->args.to_version,
                                                      &result, err);
    silt_table_unref(table);
    SL_TRY(status);
    if (sl_cli_format(cli) != SL_FORMAT_TABLE) {
        return print_compacted(cli, &result, err);
    }
    put_name(cli, arg);
    if (result.to_version < 0) {
        sl_buf_put_c(&cli->out.buf, "nothing to compact: fewer than two commits follow the newest checkpoint\n");
    } else {
        sl_buf_printf(&cli->out.buf, "versions %" PRId64 " to %" PRId64 " %s", result.from_version, result.to_version,
                      result.written ? "compacted: " : "are compacted already\n");
    }
    if (result.written) {
        sl_buf_printf(&cli->out.buf, "%" PRId64 " actions, %" PRId64 " bytes\n", result.actions, result.size_bytes);
    }
    sl_out_step(&cli->out);
    return SILT_OK;
}

int sl_cmd_compact_log(struct sl_cli *cli)
{
    silt_error err = SILT_ERROR_INIT;
    struct sl_table_arg arg = {0};
    const silt_status status = compact(cli, &arg, &err);
    return report(cli, &arg, status, &err);
}
