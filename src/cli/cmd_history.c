/*
 * silt history and silt detail: DESCRIBE HISTORY and DESCRIBE DETAIL of one table. They read only the log.
 */
#include "cli/commands.h"

#include "base/error.h"
#include "cli/report_error.h"
#include "cli/run_sql.h"
#include "cli/table_arg.h"

static silt_status compose(struct sl_cli *cli, const char *statement, const struct sl_table_arg *table,
                           struct sl_buf *sql, silt_error *err)
{
    SL_TRY(sl_table_arg_no_travel(table, err));
    if (cli->args.limit == 0) {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "--limit takes a number from 1 on here");
    }
    sl_buf_put_c(sql, statement);
    SL_TRY(sl_table_arg_put_sql(cli, table, sql, err));
    if (cli->args.limit > 0) {
        sl_buf_printf(sql, " LIMIT %lld", (long long)cli->args.limit);
    }
    return sl_buf_status(sql, err);
}

static int describe(struct sl_cli *cli, const char *statement)
{
    struct sl_table_arg table = {0};
    const struct sl_run_sql options = {.format = sl_cli_format(cli), .table = &table};
    silt_error err = SILT_ERROR_INIT;
    struct sl_buf sql;
    int code;

    sl_buf_init(&sql, cli->env);
    if (sl_table_arg_read(cli, &table, &err) == SILT_OK && compose(cli, statement, &table, &sql, &err) == SILT_OK) {
        code = sl_run_sql_buf(cli, &sql, &options);
    } else {
        code = sl_report_error(cli, &err, (struct sl_str){0});
    }
    sl_buf_release(&sql);
    return code;
}

int sl_cmd_history(struct sl_cli *cli)
{
    return describe(cli, "DESCRIBE HISTORY ");
}

int sl_cmd_detail(struct sl_cli *cli)
{
    return describe(cli, "DESCRIBE DETAIL ");
}
