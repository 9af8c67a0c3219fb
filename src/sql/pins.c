/*
 * Snapshots of one statement; see pins.h. Few tables are named in a statement, so a list does.
 */
#include "sql/pins.h"

#include "base/error.h"
#include "kernel/snapshot/state.h"
#include "sql/resident.h"

static silt_snapshot *find(const silt_session *session, struct sl_str root)
{
    for (size_t i = 0; i < session->pins.len; i++) {
        silt_snapshot *snapshot = *(silt_snapshot **)sl_vec_at(&session->pins, i);
        if (sl_str_eq(sl_snapshot_root(snapshot), root)) {
            return snapshot;
        }
    }
    return NULL;
}

silt_snapshot *sl_session_pinned(const silt_session *session, const char *uri)
{
    return find(session, sl_str_from(uri));
}

silt_status sl_session_pin(silt_session *session, silt_snapshot *snapshot, silt_error *err)
{
    if (find(session, sl_snapshot_root(snapshot)) != NULL) {
        return SILT_OK;
    }
    silt_snapshot **pin = sl_vec_push(&session->pins);
    if (pin == NULL) {
        return sl_fail_nomem(err);
    }
    *pin = silt_snapshot_ref(snapshot);
    return SILT_OK;
}

void sl_session_unpin(silt_session *session, bool well)
{
    for (size_t i = 0; i < session->pins.len; i++) {
        silt_snapshot *snapshot = *(silt_snapshot **)sl_vec_at(&session->pins, i);
        if (well) {
            sl_session_keep(session, snapshot);
        } else {
            sl_session_forget(session, sl_snapshot_root(snapshot));
        }
        silt_snapshot_unref(snapshot);
    }
    session->pins.len = 0;
}
