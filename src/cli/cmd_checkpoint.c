/*
 * silt checkpoint: writes a checkpoint of a version, and tells what was written.
 */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/print.h"
#include "cli/report_error.h"
#include "cli/row_stream.h"
#include "cli/table_arg.h"
#include "silt/checkpoint.h"

/* What only the snapshot can say: the version at a time, and how many files make how many parts. Else it is not opened, which the writing does. */
static silt_status ask_snapshot(struct sl_cli *cli, const struct sl_table_arg *arg, silt_checkpoint_options *out,
                                silt_error *err)
{
    const int64_t parts = cli->args.parts;
    silt_snapshot *snapshot = NULL;
    int64_t n_files = 0;
    SL_TRY(sl_table_arg_snapshot(cli, arg, &snapshot, err));
    out->version = silt_snapshot_version(snapshot);
    const silt_status status = parts > 1 ? silt_snapshot_totals(snapshot, &cli->call, &n_files, NULL, err) : SILT_OK;
    if (status == SILT_OK && parts > 1) {
        out->kind = SILT_CHECKPOINT_V1;
        out->rows_per_part = n_files / parts + (n_files % parts != 0 ? 1 : 0);
        out->rows_per_part += out->rows_per_part == 0 ? 1 : 0;
    }
    silt_snapshot_unref(snapshot);
    return status;
}

static silt_status read_options(struct sl_cli *cli, const struct sl_table_arg *arg, silt_checkpoint_options *out,
                                silt_error *err)
{
    const struct sl_args *args = &cli->args;
    *out = (silt_checkpoint_options)SILT_CHECKPOINT_OPTIONS_INIT;
    out->version = arg->version;
    if (args->format == SL_FORMAT_PARQUET) {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "-o parquet is for sql, read and changes");
    }
    if (args->v2 && args->parts >= 0) {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "a V2 checkpoint has no parts: give --v2 or --parts");
    }
    if (args->parts == 0) {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "--parts takes a number from 1 on");
    }
    out->kind = args->v2 ? SILT_CHECKPOINT_V2 : SILT_CHECKPOINT_BY_TABLE;
    return args->parts > 1 || arg->timestamp != NULL ? ask_snapshot(cli, arg, out, err) : SILT_OK;
}

static silt_status put_count(struct sl_row_stream *rows, int64_t n, silt_error *err)
{
    return n >= 0 ? sl_row_stream_int(rows, n, err) : sl_row_stream_text(rows, (struct sl_str){NULL, 0}, err);
}

static silt_status put_row(struct sl_row_stream *rows, const silt_checkpoint_result *result, silt_error *err)
{
    SL_TRY(sl_row_stream_int(rows, result->version, err));
    SL_TRY(sl_row_stream_int(rows, result->written, err));
    SL_TRY(put_count(rows, result->num_files, err));
    SL_TRY(put_count(rows, result->num_actions, err));
    SL_TRY(put_count(rows, result->written ? result->num_checkpoint_files : -1, err));
    return put_count(rows, result->written ? result->size_bytes : -1, err);
}

static silt_status show(struct sl_cli *cli, const silt_checkpoint_result *result, silt_error *err)
{
    static const struct sl_row_stream_column columns[] = {
        {"version", "l"},    {"written", "b"}, {"numFiles", "l"}, {"numActions", "l"}, {"numCheckpointFiles", "l"},
        {"sizeInBytes", "l"}};
    struct sl_row_stream rows = {0};
    struct ArrowArrayStream stream = {0};
    silt_status status = sl_row_stream_open(&rows, cli->env, columns, sizeof(columns) / sizeof(columns[0]), err);
    if (status == SILT_OK) {
        status = put_row(&rows, result, err);
    }
    if (status == SILT_OK) {
        status = sl_row_stream_take(&rows, &stream, err);
    }
    if (status == SILT_OK) {
        status = sl_print_stream(cli, sl_cli_format(cli), &stream, NULL, err);
    }
    sl_row_stream_close(&rows);
    return status;
}

static silt_status checkpoint(struct sl_cli *cli, silt_error *err)
{
    silt_checkpoint_result result = {.size = sizeof(result)};
    silt_checkpoint_options options;
    struct sl_table_arg arg = {0};
    silt_table *table = NULL;
    SL_TRY(sl_table_arg_read(cli, &arg, err));
    silt_status status = read_options(cli, &arg, &options, err);
    if (status == SILT_OK) {
        status = sl_table_arg_table(cli, &arg, &table, err);
    }
    if (status == SILT_OK) {
        sl_progress_begin(&cli->progress);
        status = silt_table_checkpoint(table, &cli->call, &options, &result, err);
        sl_progress_end(&cli->progress);
    }
    if (status != SILT_OK) {
        sl_table_arg_hint(cli, &arg, err);
    }
    silt_table_unref(table);
    return status == SILT_OK ? show(cli, &result, err) : status;
}

int sl_cmd_checkpoint(struct sl_cli *cli)
{
    silt_error err = SILT_ERROR_INIT;
    return checkpoint(cli, &err) == SILT_OK ? SL_EXIT_DONE : sl_report_error(cli, &err, (struct sl_str){0});
}
