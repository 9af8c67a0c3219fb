/*
 * The tables that a session looked at last, with the snapshots that the next statement begins from. One owner: the session.
 */
#ifndef SL_SQL_RESIDENT_H
#define SL_SQL_RESIDENT_H

#include "silt/transaction.h"
#include "sql/session_int.h"

/*
 * The newest snapshot of a table, settled. A table that a statement looked at shortly before is not opened again: only what its log has gained
 * since is read.
 */
silt_status sl_session_newest(silt_session *session, const silt_call *call, silt_table *table, silt_snapshot **out,
                              silt_error *err);
/* Was a table seen at this URI shortly before? */
bool sl_session_is_resident(const silt_session *session, struct sl_str uri);
/* Begins a transaction on the newest version of a table, for rows that are appended. */
silt_status sl_session_begin_append(silt_session *session, const silt_call *call, struct sl_table_name *name,
                                    silt_txn **out, silt_error *err);
/* For the statements that follow; at the end of one, when what it has loaded of the table is known. */
void sl_session_keep(silt_session *session, silt_snapshot *snapshot);
void sl_session_forget(silt_session *session, struct sl_str root);
void sl_session_forget_resident(silt_session *session); /* before tables are dropped or made, and at the end */

#endif
