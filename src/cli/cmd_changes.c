/*
 * silt changes: the change data of a range of versions, as SQL's table_changes_by_path, in the order of versions.
 */
#include "cli/commands.h"

#include "base/error.h"
#include "base/str.h"
#include "cli/select.h"
#include "cli/sql_text.h"

/* A whole number is a version, all else a time. */
static void put_bound(struct sl_buf *sql, const char *text)
{
    int64_t version = 0;
    sl_buf_put_c(sql, ", ");
    if (sl_str_to_i64(sl_str_from(text), &version) && version >= 0) {
        sl_buf_put_i64(sql, version);
    } else {
        sl_sql_put_string(sql, sl_str_from(text));
    }
}

static silt_status compose(struct sl_cli *cli, struct sl_select *select, struct sl_table_arg *arg, silt_error *err)
{
    const struct sl_args *args = &cli->args;
    silt_table *table = NULL;
    SL_TRY(sl_table_arg_read(cli, arg, err));
    SL_TRY(sl_table_arg_no_travel(arg, err));
    if (args->from == NULL) {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "--from is missing: the first version or time of the changes");
    }
    SL_TRY(sl_table_arg_table(cli, arg, &table, err));
    silt_status status = sl_select_begin(cli, select, err);
    if (status == SILT_OK) {
        sl_buf_put_c(&select->sql, "table_changes_by_path(");
        sl_sql_put_string(&select->sql, sl_str_from(silt_table_uri(table)));
        put_bound(&select->sql, args->from);
        if (args->to != NULL) {
            put_bound(&select->sql, args->to);
        }
        sl_buf_put_char(&select->sql, ')');
        status = sl_select_end(cli, select, " ORDER BY _commit_version", err);
    }
    silt_table_unref(table);
    return status;
}

int sl_cmd_changes(struct sl_cli *cli)
{
    silt_error err = SILT_ERROR_INIT;
    struct sl_select select;
    struct sl_table_arg arg;
    sl_select_init(&select, cli->env);
    const silt_status status = compose(cli, &select, &arg, &err);
    return sl_select_run(cli, &select, &arg, status, &err);
}
