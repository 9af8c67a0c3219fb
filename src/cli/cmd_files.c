/*
 * silt files: the live files of a snapshot, or those that a condition cannot rule out.
 */
#include "cli/commands.h"

#include <string.h>

#include "base/error.h"
#include "cli/print.h"
#include "cli/report_error.h"
#include "cli/table_arg.h"
#include "silt/expr.h"
#include "silt/scan.h"

/* Plans a scan with the condition of --where. An error of its text has a position in it. */
static silt_status plan(struct sl_cli *cli, silt_snapshot *snapshot, silt_scan **out, silt_error *err)
{
    const char *where = cli->args.where;
    silt_scan_builder *builder = NULL;
    silt_expr *predicate = NULL;
    silt_status status = silt_scan_builder_new(snapshot, &builder, err);

    if (status == SILT_OK && where != NULL) {
        status = silt_expr_parse(cli->env, where, strlen(where), silt_snapshot_schema(snapshot), &predicate, err);
    }
    if (status == SILT_OK && predicate != NULL) {
        status = silt_scan_builder_filter(builder, predicate, err);
    }
    if (status == SILT_OK) {
        status = silt_scan_builder_build(builder, &cli->call, out, err);
    }
    silt_expr_unref(predicate);
    silt_scan_builder_free(builder);
    return status;
}

static silt_status list_files(struct sl_cli *cli, silt_error *err)
{
    struct ArrowArrayStream stream = {0};
    struct sl_table_arg table;
    silt_snapshot *snapshot = NULL;
    silt_scan *scan = NULL;
    silt_status status;

    SL_TRY(sl_table_arg_read(cli, &table, err));
    status = sl_table_arg_snapshot(cli, &table, &snapshot, err);
    if (status == SILT_OK) {
        status = plan(cli, snapshot, &scan, err);
    }
    if (status == SILT_OK) {
        status = silt_scan_files(scan, &cli->call, &stream, err);
    }
    if (status == SILT_OK) {
        status = sl_print_stream(cli, sl_cli_format(cli), &stream, NULL, err);
    }
    silt_scan_unref(scan);
    silt_snapshot_unref(snapshot);
    return status;
}

int sl_cmd_files(struct sl_cli *cli)
{
    silt_error err = SILT_ERROR_INIT;
    silt_status status;

    sl_progress_begin(&cli->progress);
    status = list_files(cli, &err);
    sl_progress_end(&cli->progress);
    return status == SILT_OK ? SL_EXIT_DONE : sl_report_error(cli, &err, sl_str_from(cli->args.where));
}
