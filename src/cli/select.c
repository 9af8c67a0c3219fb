/*
 * The SELECT behind silt read and silt changes; see select.h.
 */
#include "cli/select.h"

#include <string.h>

#include "base/error.h"
#include "cli/parquet.h"
#include "cli/report_error.h"
#include "cli/run_sql.h"
#include "cli/sql_text.h"

void sl_select_init(struct sl_select *select, const silt_env *env)
{
    sl_buf_init(&select->sql, env);
    select->where_begin = 0;
}

silt_status sl_select_begin(struct sl_cli *cli, struct sl_select *select, silt_error *err)
{
    sl_buf_put_c(&select->sql, "SELECT ");
    if (cli->args.columns != NULL) {
        SL_TRY(sl_sql_put_names(&select->sql, "columns", cli->args.columns, err));
    } else {
        sl_buf_put_char(&select->sql, '*');
    }
    sl_buf_put_c(&select->sql, " FROM ");
    return sl_buf_status(&select->sql, err);
}

silt_status sl_select_end(struct sl_cli *cli, struct sl_select *select, const char *order, silt_error *err)
{
    struct sl_buf *sql = &select->sql;
    if (cli->args.where != NULL) {
        sl_buf_put_c(sql, " WHERE (");
        select->where_begin = sql->len;
        sl_buf_put_c(sql, cli->args.where);
        sl_buf_put_c(sql, "\n)"); /* the line break ends a comment */
    }
    if (order != NULL) {
        sl_buf_put_c(sql, order);
    }
    if (cli->args.limit >= 0) {
        sl_buf_printf(sql, " LIMIT %lld", (long long)cli->args.limit);
    }
    SL_TRY(sl_buf_status(sql, err));
    struct sl_str statement;
    if (sl_sql_single(sl_str_make(sl_buf_cstr(sql), sql->len), &statement, NULL) != SILT_OK) {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "--where takes one condition, without a semicolon");
    }
    return SILT_OK;
}

int sl_select_run(struct sl_cli *cli, struct sl_select *select, const struct sl_table_arg *table, silt_status status,
                  const silt_error *err)
{
    int code = 0;
    if (status != SILT_OK) {
        code = sl_report_error(cli, err, (struct sl_str){0});
    } else {
        struct sl_run_sql options = {.format = sl_cli_format(cli), .table = table};
        const struct sl_str text = sl_str_make(sl_buf_cstr(&select->sql), select->sql.len);
        if (cli->args.where != NULL) {
            options.shown = sl_str_make(text.ptr + select->where_begin, strlen(cli->args.where));
        }
        code = options.format == SL_FORMAT_PARQUET ? sl_parquet_run(cli, text, options.shown)
                                                   : sl_run_sql(cli, text, &options);
    }
    sl_buf_release(&select->sql);
    return code;
}
