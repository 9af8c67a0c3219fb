/*
 * The newest snapshots that the running statement has looked at, one a table. What a statement names twice it sees at one version, and its
 * transaction begins where its query reads: else a commit in between would be read and not replaced, or replaced and not read.
 */
#ifndef SL_SQL_PINS_H
#define SL_SQL_PINS_H

#include "sql/session_int.h"

/* Of the table at a URI, as silt_table_uri gives it; borrowed until the statement ends. NULL: not looked at yet. */
silt_snapshot *sl_session_pinned(const silt_session *session, const char *uri);
/* The session takes a reference of its own. One that is there already stays. */
silt_status sl_session_pin(silt_session *session, silt_snapshot *snapshot, silt_error *err);
/* At the end of a statement. well: it was done, and the next one may begin from what it has read (resident.h). */
void sl_session_unpin(silt_session *session, bool well);

#endif
