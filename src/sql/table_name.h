/*
 * The spellings of time travel, for the statement parser and for queries. Pure; any thread.
 */
#ifndef SL_SQL_TABLE_NAME_H
#define SL_SQL_TABLE_NAME_H

#include "sql/lexer.h"
#include "sql/session_int.h"

/* "v3" or "20260131120000000" (what stands behind '@') into name->travel; false if it is neither. */
bool sl_travel_suffix_parse(struct sl_str suffix, struct sl_table_name *name);

enum sl_travel_clause {
    SL_CLAUSE_NONE,
    SL_CLAUSE_VERSION,
    SL_CLAUSE_TIMESTAMP
};

/* Takes "[FOR] VERSION AS OF" or "[FOR] TIMESTAMP AS OF" if it stands at the lexer; else leaves the lexer as it is. */
enum sl_travel_clause sl_travel_clause_at(struct sl_lexer *lexer);

#endif
