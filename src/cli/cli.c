/*
 * The session of a run, and defaults of the command line; see cli.h.
 */
#include "cli/cli.h"

#include <stdlib.h>

#include "base/error.h"

silt_status sl_cli_session(struct sl_cli *cli, silt_session **out, silt_error *err)
{
    const struct sl_args *args = &cli->args;
    *out = cli->session;
    if (cli->session != NULL) {
        return SILT_OK;
    }
    if (args->threads > UINT16_MAX) {
        return sl_fail(err, SILT_EINVALID, "SILT_USAGE", "--threads %lld is too many", (long long)args->threads);
    }
    const silt_default_engine_options engine = {.size = sizeof(engine),
                                                .env = cli->env,
                                                .threads = args->threads > 0 ? (uint32_t)args->threads : 0,
                                                .memory_limit = args->memory_limit};
    const silt_session_options options = {
        .size = sizeof(options), .engine = &engine, .warehouse = args->warehouse, .time_zone = args->time_zone};
    SL_TRY(silt_session_open(&options, &cli->session, err));
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
