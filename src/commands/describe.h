/*
 * What describes a table, as rows with Spark's column names. None of these needs the data plane for a table without checkpoint.
 */
#ifndef SL_COMMANDS_DESCRIBE_H
#define SL_COMMANDS_DESCRIBE_H

#include <stdbool.h>

#include "silt/arrow.h"
#include "silt/snapshot.h"
#include "silt/table.h"

/* DESCRIBE HISTORY: newest version first; limit 0: all. */
silt_status sl_describe_history(silt_table *table, const silt_call *call, int64_t limit, struct ArrowArrayStream *out,
                                silt_error *err);
/* DESCRIBE DETAIL: one row. */
silt_status sl_describe_detail(silt_table *table, const silt_call *call, struct ArrowArrayStream *out, silt_error *err);
/* DESCRIBE TABLE [EXTENDED]. */
silt_status sl_describe_table(silt_table *table, silt_snapshot *snapshot, const char *name, bool extended,
                              struct ArrowArrayStream *out, silt_error *err);
/* SHOW COLUMNS. */
silt_status sl_show_columns(silt_snapshot *snapshot, const silt_env *env, struct ArrowArrayStream *out,
                            silt_error *err);
/* SHOW TBLPROPERTIES; key NULL: all. */
silt_status sl_show_properties(silt_snapshot *snapshot, const silt_env *env, const char *name, const char *key,
                               struct ArrowArrayStream *out, silt_error *err);

#endif
