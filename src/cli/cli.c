/*
 * The session of a run, and defaults of the command line; see cli.h.
 */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "cli/sql_text.h"

/* SET name = 'text'; as Spark reads texts, with backslashes doubled. */
static silt_status set_text(struct sl_cli *cli, const char *name, const char *text, silt_error *err)
{
    silt_result result = {.size = sizeof(result)};
    silt_execution *execution = NULL;
    struct sl_buf escaped;
    struct sl_buf sql;
    bool done = false;
    sl_buf_init(&escaped, cli->env);
    sl_buf_init(&sql, cli->env);
    for (const char *c = text; *c != '\0'; c++) {
        sl_buf_put_c(&escaped, *c == '\\' ? "\\" : "");
        sl_buf_put_char(&escaped, *c);
    }
    sl_buf_printf(&sql, "SET %s = ", name);
    sl_sql_put_string(&sql, sl_buf_view(&escaped));
    silt_status status = sl_buf_status(&escaped, err);
    if (status == SILT_OK) {
        status = sl_buf_status(&sql, err);
    }
    if (status == SILT_OK) {
        status = silt_session_execute(cli->session, sql.data, sql.len, NULL, NULL, &execution, err);
    }
    if (status == SILT_OK) {
        status = silt_execution_next(execution, &cli->call, &result, &done, err);
    }
    silt_execution_free(execution);
    sl_buf_release(&sql);
    sl_buf_release(&escaped);
    return status;
}

static silt_status set_txn(struct sl_cli *cli, silt_error *err)
{
    const struct sl_args *args = &cli->args;
    int64_t version = -1;
    if (args->txn_app_id == NULL && args->txn_version == NULL) {
        return SILT_OK;
    }
    if (args->txn_app_id == NULL || args->txn_version == NULL || args->txn_app_id[0] == '\0') {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "--txn-app-id and --txn-version belong together");
    }
    if (!sl_str_to_i64(sl_str_from(args->txn_version), &version) || version < 0) {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "--txn-version takes a number from 0 on, not %s",
                       args->txn_version);
    }
    SL_TRY(set_text(cli, "silt.write.txnAppId", args->txn_app_id, err));
    return set_text(cli, "silt.write.txnVersion", args->txn_version, err);
}

silt_status sl_cli_store_options(struct sl_cli *cli, silt_store_option **out, silt_error *err)
{
    const struct sl_args *args = &cli->args;
    *out = NULL;
    if (args->n_store_options == 0) {
        return SILT_OK;
    }
    silt_store_option *pairs = sl_arena_alloc_array(&cli->arena, args->n_store_options, sizeof(*pairs));
    if (pairs == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < args->n_store_options; i++) {
        const char *word = args->store_options[i];
        const char *equals = strchr(word, '='); /* checked by the parser */
        pairs[i].name = sl_arena_strdup(&cli->arena, sl_str_make(word, (size_t)(equals - word)));
        pairs[i].value = equals + 1;
        if (pairs[i].name == NULL) {
            return sl_fail_nomem(err);
        }
    }
    *out = pairs;
    return SILT_OK;
}

silt_status sl_cli_session(struct sl_cli *cli, silt_session **out, silt_error *err)
{
    const struct sl_args *args = &cli->args;
    *out = cli->session;
    if (cli->session != NULL) {
        return SILT_OK;
    }
    if (args->threads > SILT_MAX_THREADS) {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "--threads takes a number from 0 to %d, not %lld",
                       SILT_MAX_THREADS, (long long)args->threads);
    }
    silt_store_option *store_options = NULL;
    SL_TRY(sl_cli_store_options(cli, &store_options, err));
    const silt_default_engine_options engine = {.size = sizeof(engine),
                                                .env = cli->env,
                                                .threads = args->threads > 0 ? (uint32_t)args->threads : 0,
                                                .memory_limit = args->memory_limit,
                                                .store_options = store_options,
                                                .n_store_options = args->n_store_options};
    const silt_session_options options = {
        .size = sizeof(options), .engine = &engine, .warehouse = args->warehouse, .time_zone = args->time_zone};
    SL_TRY(silt_session_open(&options, &cli->session, err));
    SL_TRY(set_txn(cli, err));
    *out = cli->session;
    return SILT_OK;
}

enum sl_format sl_cli_format(const struct sl_cli *cli)
{
    if (cli->args.format != SL_FORMAT_DEFAULT) {
        return cli->args.format;
    }
    return cli->out.is_terminal ? SL_FORMAT_TABLE : SL_FORMAT_CSV;
}

const char *sl_cli_warehouse(const struct sl_cli *cli)
{
    const char *typed = cli->args.warehouse;
    if (typed == NULL || typed[0] == '\0') {
        typed = getenv("SILT_WAREHOUSE");
    }
    return typed != NULL && typed[0] != '\0' ? typed : ".";
}
