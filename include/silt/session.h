/*
 * Sessions: SQL over Delta tables.
 *
 * A session has one owner; another thread may only set the cancel flag of a call. It opens the data plane at the first
 * statement that needs it. Statements of a text run in order; each is a transaction of its own.
 */
#ifndef SILT_SESSION_H
#define SILT_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "silt/arrow.h"
#include "silt/engine.h"
#include "silt/env.h"
#include "silt/export.h"
#include "silt/status.h"
#include "silt/table.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct silt_session silt_session;
typedef struct silt_execution silt_execution;

typedef struct silt_session_options {
    uint32_t size;
    const silt_default_engine_options *engine; /* NULL: defaults; `stores` in it is consumed on success */
    const char *warehouse;   /* folder or URI of named tables; NULL: $SILT_WAREHOUSE, else the working directory */
    const char *time_zone;   /* of literals and partition values without a zone; NULL: UTC */
    const char *engine_info; /* put into commits; NULL: "silt/<version>" */
} silt_session_options;

/* options NULL: defaults. Free with silt_session_close. SILT_EINVALID for a time zone or option that is unusable. */
SILT_API SILT_NODISCARD silt_status silt_session_open(const silt_session_options *options, silt_session **out,
                                                      silt_error *err);
SILT_API void silt_session_close(silt_session *session);          /* NULL is legal; results must be released before */
SILT_API silt_engine *silt_session_engine(silt_session *session); /* borrowed */

/*
 * Resolves what a user may write for a table (path, URI, warehouse name) to a table; no I/O beyond stat. *out is a
 * reference of the caller's.
 */
SILT_API SILT_NODISCARD silt_status silt_session_table(silt_session *session, const char *name, silt_table **out,
                                                       silt_error *err);

typedef enum silt_result_kind {
    SILT_RESULT_ROWS = 0,    /* a query's rows, or what DESCRIBE, SHOW … list */
    SILT_RESULT_METRICS = 1, /* one row of counts of a statement that changed a table */
    SILT_RESULT_NONE = 2     /* nothing to show (SET, CREATE …) */
} silt_result_kind;

typedef struct silt_result {
    uint32_t size;
    silt_result_kind kind;
    struct ArrowArrayStream stream; /* rows or metrics; release == NULL for NONE. The caller releases it */
    size_t statement_begin;         /* byte range of the statement in the text */
    size_t statement_end;
    int64_t version; /* committed by it, -1 if none */
    bool skipped;    /* a write whose application id and version the table has recorded already: nothing was done */
} silt_result;

/*
 * Begins to run a text. params, if not NULL, is a struct array of one row whose columns are bound to $1, $2 … (or $name
 * when named); both are borrowed until the execution is freed. The text is copied.
 */
SILT_API SILT_NODISCARD silt_status silt_session_execute(silt_session *session, const char *text, size_t text_len,
                                                         const struct ArrowSchema *params_schema,
                                                         const struct ArrowArray *params, silt_execution **out,
                                                         silt_error *err);
/*
 * Runs the next statement. *done is true, and result untouched, when there is none. After a failure the execution can
 * go on with the statement after it. err->position is an offset into the text given to silt_session_execute. A stream of an
 * earlier statement must be released before the next runs.
 */
SILT_API SILT_NODISCARD silt_status silt_execution_next(silt_execution *execution, const silt_call *call,
                                                        silt_result *result, bool *done, silt_error *err);
SILT_API void silt_execution_free(silt_execution *execution); /* NULL is legal */

/*
 * For shells: true when the text ends outside of quotes, comments and brackets with a semicolon or is blank.
 */
SILT_API bool silt_sql_is_complete(const char *text, size_t text_len);

#ifdef __cplusplus
}
#endif

#endif
