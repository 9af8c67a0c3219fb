/*
 * Small tables made in memory: what DESCRIBE, SHOW and the metrics of a statement list. Columns are declared by name and Spark type,
 * cells appended from left to right, rows in order. One owner.
 */
#ifndef SL_COMMANDS_ROW_SET_H
#define SL_COMMANDS_ROW_SET_H

#include "base/arena.h"
#include "base/arrow.h"
#include "base/str.h"
#include "kernel/action/action.h"
#include "silt/schema.h"

struct sl_row_column {
    const char *name;
    const char *type; /* Spark type text */
};

struct sl_row_set {
    const silt_env *env;
    silt_schema *schema;
    struct ArrowSchema arrow;
    struct sl_arrow_builder *builder;
    size_t column;      /* the next cell's */
    silt_status status; /* sticky */
    silt_error *err;
};

/* err is kept and used by all later calls until the finish. */
silt_status sl_row_set_init(struct sl_row_set *rows, const silt_env *env, const struct sl_row_column *columns, size_t n,
                            silt_error *err);
void sl_row_set_release(struct sl_row_set *rows); /* safe on a zeroed one */

/* Cells. Failures are sticky and reported by sl_row_set_finish. */
void sl_row_null(struct sl_row_set *rows);
void sl_row_str(struct sl_row_set *rows, struct sl_str value); /* absent: null */
void sl_row_c(struct sl_row_set *rows, const char *value);     /* NULL: null */
void sl_row_i64(struct sl_row_set *rows, int64_t value);       /* integers, booleans, dates, timestamps */
void sl_row_str_list(struct sl_row_set *rows, struct sl_str_list values);
void sl_row_str_map(struct sl_row_set *rows, struct sl_kv_list values);
/* A JSON object as map<string,string> (values that are no strings as their JSON text) or as a struct of strings by the column's
 * field names; NULL, or what is no object: null. */
void sl_row_json(struct sl_row_set *rows, const char *json);
/* Ends the row; cells left over become null. */
void sl_row_end(struct sl_row_set *rows);

/* Moves everything into a stream of one batch. */
silt_status sl_row_set_finish(struct sl_row_set *rows, struct ArrowArrayStream *out);

#endif
