/*
 * Columns that the data plane must not push conditions on into its scan, since it would leave out rows. DuckDB 1.5 takes
 * x IS DISTINCT FROM 5 below an OR for false in row groups in which x is null throughout. Such a column is looked at through a call that
 * changes no value: what is asked of the call is asked row by row.
 *
 * Called by prepare.c and prepare_scans.c. Pure; the tree is JSON as json_serialize_sql makes it.
 */
#ifndef SL_SQL_HIDDEN_H
#define SL_SQL_HIDDEN_H

#include "base/buf.h"
#include "base/vec.h"
#include "json/json.h"
#include "silt/engine.h"

struct sl_hidden {
    bool all; /* every column: which ones cannot be told */
    struct sl_vec
        names; /* struct sl_str, borrowed from the tree; of columns, and of tables and fields that are named with them */
};

void sl_hidden_init(struct sl_hidden *hidden, const silt_env *env);
void sl_hidden_release(struct sl_hidden *hidden);
/* What the tree of a statement asks for. */
silt_status sl_hidden_find(const sl_json *root, struct sl_hidden *hidden, silt_error *err);
/* Appends the SQL of a scan's rows: the scan itself, or a SELECT from it. fields: its columns. */
void sl_hidden_put_scan(struct sl_buf *sql, const struct sl_hidden *hidden, struct sl_str scan,
                        const silt_scan_plan *plan);

#endif
