/*
 * Appends one after the other: see resident.h. Opening a table means to replay what is behind its newest checkpoint and to compare
 * the version checksum with the log; a row at a time, that is most of the work. The resident snapshot has passed this once, and each
 * append refreshes it. It is let go when it would hold much memory, and when a refresh fails, whose reason a fresh look finds again.
 */
#include "sql/resident.h"

#include <string.h>

#include "base/error.h"
#include "kernel/snapshot/state.h"
#include "sql/pins.h"

void sl_session_forget_resident(silt_session *session)
{
    silt_snapshot_unref(session->appended);
    session->appended = NULL;
}

/* *out NULL: there is none, or not of this table. */
static silt_status refresh_resident(silt_session *session, const silt_call *call, const silt_table *table,
                                    silt_snapshot **out, silt_error *err)
{
    *out = NULL;
    if (session->appended == NULL || !sl_str_eq_c(sl_snapshot_root(session->appended), silt_table_uri(table))) {
        return SILT_OK;
    }
    const silt_status status = silt_snapshot_refresh(session->appended, call, out, err);
    if (status == SILT_OK || status == SILT_ECANCELLED || status == SILT_EDEADLINE) {
        return status;
    }
    silt_error_reset(err);
    sl_session_forget_resident(session);
    return SILT_OK;
}

static void keep(silt_session *session, silt_snapshot *snapshot)
{
    sl_session_forget_resident(session);
    if (sl_snapshot_is_light(snapshot)) {
        session->appended = silt_snapshot_ref(snapshot);
    }
}

silt_status sl_session_begin_append(silt_session *session, const silt_call *call, struct sl_table_name *name,
                                    silt_txn **out, silt_error *err)
{
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    *out = NULL;
    SL_TRY(sl_session_open_table(session, name, &table, err));
    silt_status status = refresh_resident(session, call, table, &snapshot, err);
    if (status == SILT_OK && snapshot == NULL) {
        status = silt_table_latest_snapshot(table, call, &snapshot, err);
    }
    if (status == SILT_OK) {
        status = sl_snapshot_settle(&snapshot, call, err);
    }
    if (status == SILT_OK) {
        status = sl_session_pin(session, snapshot, err);
    }
    if (status == SILT_OK) {
        status = silt_txn_begin_at(table, snapshot, "WRITE", out, err);
    }
    if (status == SILT_OK) {
        keep(session, snapshot);
    }
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    return status;
}
