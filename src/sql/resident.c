/*
 * Statements one after the other: see resident.h. Opening a table means to find the way to its newest version and to replay what is behind its
 * newest checkpoint; a row at a time, that is most of the work, and on a store far away several rounds. A resident snapshot has passed this
 * once, and each statement refreshes it, which is one round. It is let go when it would hold much memory, and when a refresh fails, whose reason
 * a fresh look finds again.
 *
 * Few tables are kept, so that what a session holds is bounded; the one that was used longest ago makes room.
 */
#include "sql/resident.h"

#include <string.h>

#include "base/error.h"
#include "kernel/snapshot/state.h"
#include "sql/pins.h"

/* The place of a table; SL_RESIDENT_TABLES if it has none. */
static size_t find(const silt_session *session, struct sl_str root)
{
    size_t i = 0;
    while (i < SL_RESIDENT_TABLES &&
           (session->resident[i] == NULL || !sl_str_eq(sl_snapshot_root(session->resident[i]), root))) {
        i++;
    }
    return i;
}

bool sl_session_is_resident(const silt_session *session, struct sl_str uri)
{
    return find(session, uri) < SL_RESIDENT_TABLES;
}

void sl_session_forget(silt_session *session, struct sl_str root)
{
    const size_t at = find(session, root);
    if (at < SL_RESIDENT_TABLES) {
        silt_snapshot_unref(session->resident[at]);
        session->resident[at] = NULL;
    }
}

void sl_session_forget_resident(silt_session *session)
{
    for (size_t i = 0; i < SL_RESIDENT_TABLES; i++) {
        silt_snapshot_unref(session->resident[i]);
        session->resident[i] = NULL;
    }
}

/* The newest comes first. */
void sl_session_keep(silt_session *session, silt_snapshot *snapshot)
{
    silt_snapshot **kept = session->resident;
    sl_session_forget(session, sl_snapshot_root(snapshot));
    if (!sl_snapshot_is_light(snapshot)) {
        return;
    }
    size_t room = 0;
    while (room + 1 < SL_RESIDENT_TABLES && kept[room] != NULL) {
        room++;
    }
    silt_snapshot_unref(kept[room]);
    memmove(kept + 1, kept, room * sizeof(*kept));
    kept[0] = silt_snapshot_ref(snapshot);
}

/* *out NULL: the table is not resident. */
static silt_status refresh_resident(silt_session *session, const silt_call *call, struct sl_str root,
                                    silt_snapshot **out, silt_error *err)
{
    const size_t at = find(session, root);
    *out = NULL;
    if (at == SL_RESIDENT_TABLES) {
        return SILT_OK;
    }
    const silt_status status = silt_snapshot_refresh(session->resident[at], call, out, err);
    if (status == SILT_OK || status == SILT_ECANCELLED || status == SILT_EDEADLINE) {
        return status;
    }
    silt_error_reset(err);
    sl_session_forget(session, root);
    return SILT_OK;
}

static silt_status newest(silt_session *session, const silt_call *call, silt_table *table, bool with_files,
                          silt_snapshot **out, silt_error *err)
{
    SL_TRY(refresh_resident(session, call, sl_str_from(silt_table_uri(table)), out, err));
    silt_status status = *out == NULL ? sl_table_newest_replayed(table, call, with_files, out, err) : SILT_OK;
    if (status == SILT_OK) {
        status = sl_snapshot_settle(out, call, err); /* what was refreshed may have been opened anew */
    }
    if (status != SILT_OK) {
        silt_snapshot_unref(*out);
        *out = NULL;
    }
    return status;
}

silt_status sl_session_newest(silt_session *session, const silt_call *call, silt_table *table, silt_snapshot **out,
                              silt_error *err)
{
    return newest(session, call, table, true, out, err);
}

silt_status sl_session_begin_append(silt_session *session, const silt_call *call, struct sl_table_name *name,
                                    silt_txn **out, silt_error *err)
{
    silt_table *table = NULL;
    silt_snapshot *snapshot = NULL;
    *out = NULL;
    SL_TRY(sl_session_open_table(session, name, &table, err));
    silt_status status = newest(session, call, table, false, &snapshot, err);
    if (status == SILT_OK) {
        status = sl_session_pin(session, snapshot, err);
    }
    if (status == SILT_OK) {
        status = silt_txn_begin_at(table, snapshot, "WRITE", out, err);
    }
    silt_snapshot_unref(snapshot);
    silt_table_unref(table);
    return status;
}
