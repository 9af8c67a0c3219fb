/*
 * The table that a session appended to last, with the snapshot that the next append begins from. One owner: the session.
 */
#ifndef SL_SQL_RESIDENT_H
#define SL_SQL_RESIDENT_H

#include "silt/transaction.h"
#include "sql/session_int.h"

/*
 * Begins a transaction on the newest version of a table, for rows that are appended. A table that was appended to just before is not opened
 * again: only what its log has gained since is read.
 */
silt_status sl_session_begin_append(silt_session *session, const silt_call *call, struct sl_table_name *name,
                                    silt_txn **out, silt_error *err);
void sl_session_forget_resident(silt_session *session); /* before tables are dropped or made, and at the end */

#endif
