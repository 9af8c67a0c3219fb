/*
 * Setting the caller's error record. An error is set once, where the fault is found; the dispatch to engines and
 * stores adds context once (sl_error_context). Nothing here allocates; err may be NULL everywhere. Any thread.
 */
#ifndef SL_BASE_ERROR_H
#define SL_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>

#include "silt/status.h"

#if defined(__GNUC__) || defined(__clang__)
#define SL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define SL_PRINTF(fmt, args)
#endif

/*
 * Fills err and returns status, so that a fault is reported by `return sl_fail(err, SILT_ECORRUPT, NULL, "…", …)`.
 * code_name is an error class ("DELTA_…"); NULL takes the status's default class.
 */
silt_status sl_fail(silt_error *err, silt_status status, const char *code_name, const char *format, ...)
    SL_PRINTF(4, 5);
silt_status sl_failv(silt_error *err, silt_status status, const char *code_name, const char *format, va_list args);
/* SILT_ENOMEM with its fixed text. */
silt_status sl_fail_nomem(silt_error *err);
/* From an errno value: picks the status (ENOENT → ENOTFOUND, EACCES/EROFS → EACCESS, ENOSPC → ENOSPACE, else EIO). */
silt_status sl_fail_errno(silt_error *err, int errnum, const char *operation, const char *path);

/* Fills err with another record, as from a thread that has ended, and returns its status. */
silt_status sl_error_take(silt_error *err, const silt_error *from);

/* Additions to an error that is set. */
void sl_error_hint(silt_error *err, const char *format, ...) SL_PRINTF(2, 3);
void sl_error_path(silt_error *err, const char *path);
void sl_error_version(silt_error *err, int64_t version);
void sl_error_position(silt_error *err, size_t position);
/* Puts "context: " before the message. A position is forgotten: it was in the text of what the context names, not in the caller's. */
void sl_error_context(silt_error *err, const char *format, ...) SL_PRINTF(2, 3);

/* Class of SILT_ENOTFOUND when what a store keeps files in (a bucket, a container) is not there: no table can be made in it either. */
#define SL_BUCKET_NOT_FOUND "SILT_BUCKET_NOT_FOUND"
/* Class of SILT_EUNSUPPORTED when a store has no conditional creates, or was not seen to have them: nothing is committed there. */
#define SL_CONDITIONS_CODE "SILT_NO_CONDITIONAL_CREATES"
/* Class of SILT_ECORRUPT when a name that a new file needs is taken by something that is no file. */
#define SL_NAME_TAKEN "SILT_NAME_TAKEN"
/*
 * How the message of an error begins that is about the bytes of one of several data files, when the engine cannot tell which
 * (kernel/scan/scan_culprit.h finds out).
 */
#define SL_SOME_DATA_FILE "a data file "
/* Is it an error of this class? */
bool sl_error_is(const silt_error *err, const char *code_name);

/*
 * Drops a status on purpose. Only where nothing can be done about a failure and nothing is lost by it (clean-up by best effort),
 * or where a sticky status tells of it later; a comment at the call says which.
 */
static inline void sl_ignore(silt_status status)
{
    (void)status;
}

/* Returns on failure. Only while the function owns nothing. */
#define SL_TRY(expression)                         \
    do {                                           \
        silt_status sl_try_status_ = (expression); \
        if (sl_try_status_ != SILT_OK) {           \
            return sl_try_status_;                 \
        }                                          \
    } while (0)

#endif
