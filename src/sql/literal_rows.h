/*
 * The rows of INSERT … VALUES with nothing but plain constants, read without the data plane: asking it for the types of a row costs more
 * than writing the row.
 */
#ifndef SL_SQL_LITERAL_ROWS_H
#define SL_SQL_LITERAL_ROWS_H

#include "silt/arrow.h"
#include "silt/schema.h"
#include "sql/statement.h"

struct sl_literal_rows {
    const silt_env *env;
    struct sl_arena *arena;
    struct sl_str query;              /* the statement's part behind the columns */
    const struct sl_str_list *listed; /* the columns that are named; n 0: all of them */
    const silt_schema *schema;        /* of the table */
};

/*
 * A stream of the rows, of the listed columns in their types. Its release stays NULL for anything that is not certain to mean the same to
 * the data plane: then that has to read the query, and tell what is wrong with it.
 */
silt_status sl_literal_rows_read(const struct sl_literal_rows *request, struct ArrowArrayStream *out, silt_error *err);

#endif
