/*
 * The tables of a warehouse, wherever it is; see warehouse.h.
 */
#include "cli/warehouse.h"

#include <string.h>

#include "base/error.h"
#include "base/uri.h"
#include "cli/report_error.h"
#include "cli/warehouse_walk.h"

#define MAX_NOTES 10

struct listing {
    struct sl_cli *cli;
    void (*on_table)(void *ctx, const char *name);
    void *ctx;
    size_t n_denied;
};

static void tell_table(void *ctx, const char *name)
{
    const struct listing *listing = ctx;
    listing->on_table(listing->ctx, name);
}

static void tell_denied(void *ctx, const char *name, const silt_error *why)
{
    struct listing *listing = ctx;
    if (++listing->n_denied <= MAX_NOTES) {
        sl_report_note(listing->cli, "%s is left out: %s", name, why->message);
    }
}

static silt_status walk_store(struct sl_cli *cli, struct sl_warehouse_walk *walk, silt_error *err)
{
    silt_session *session = NULL;
    SL_TRY(sl_cli_session(cli, &session, err));
    SL_TRY(silt_engine_storage(silt_session_engine(session), walk->folder, &walk->storage, err));
    const silt_status status = sl_warehouse_walk_folders(walk, err);
    if (status != SILT_EUNSUPPORTED) {
        return status;
    }
    silt_error_reset(err);
    return sl_warehouse_walk_names(walk, err);
}

silt_status sl_warehouse_list(struct sl_cli *cli, void (*on_table)(void *ctx, const char *name), void *ctx, bool *cut,
                              silt_error *err)
{
    struct sl_str folder;
    struct listing listing = {.cli = cli, .on_table = on_table, .ctx = ctx};
    silt_error found = SILT_ERROR_INIT;
    *cut = false;
    SL_TRY(sl_uri_normalize(&cli->arena, sl_str_from(sl_cli_warehouse(cli)), &folder, err));
    if (folder.ptr[0] == '/') {
        sl_warehouse_each(cli, on_table, ctx);
        return SILT_OK;
    }
    struct sl_warehouse_walk walk = {.env = cli->env,
                                     .call = &cli->call,
                                     .folder = folder.ptr,
                                     .on_table = tell_table,
                                     .on_denied = tell_denied,
                                     .ctx = &listing};
    const silt_status status = walk_store(cli, &walk, &found);
    *cut = walk.cut;
    if (listing.n_denied > MAX_NOTES) {
        sl_report_note(cli, "%zu more folders may not be read, and are left out", listing.n_denied - MAX_NOTES);
    }
    if (status == SILT_ENOTFOUND && strcmp(found.code_name, SL_BUCKET_NOT_FOUND) != 0) {
        return SILT_OK; /* no such folder, which has no tables */
    }
    return status == SILT_OK ? SILT_OK : sl_error_take(err, &found);
}
