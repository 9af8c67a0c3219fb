/*
 * Status codes and the error record.
 *
 * Every function that can fail returns a silt_status and takes a silt_error * as its last parameter. The
 * record is owned by the caller, has a fixed size and is never allocated by silt: reporting an error cannot
 * fail. A NULL record is legal everywhere. There is no global or thread-local error state.
 *
 * Expected outcomes (end of a stream, a conflict, the fate of a commit) are out-values, not errors, unless a
 * function's comment says otherwise.
 */
#ifndef SILT_STATUS_H
#define SILT_STATUS_H

#include <stdint.h>
#include <stddef.h>

#include "silt/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What went wrong, as a class. The finer cause is silt_error.code_name (an error class of Delta Spark where
 * there is one). Values are part of the ABI and never change.
 */
typedef enum silt_status {
    SILT_OK = 0,
    SILT_EINVALID = 1,     /* the caller broke the contract of a function, or gave an unusable argument */
    SILT_ENOMEM = 2,       /* out of memory */
    SILT_EIO = 3,          /* the store failed, or could not be reached */
    SILT_ENOTFOUND = 4,    /* a file, version, column or property that was named is not there */
    SILT_EEXISTS = 5,      /* something that must be new exists already */
    SILT_EACCESS = 6,      /* permission denied, read-only or refused by the store */
    SILT_ENOTTABLE = 7,    /* the location holds no Delta table */
    SILT_ECORRUPT = 8,     /* the log or a file breaks the protocol or its format */
    SILT_EUNSUPPORTED = 9, /* the protocol asks for, or the caller wants, what this silt does not do */
    SILT_ESCHEMA = 10,     /* columns or types do not fit */
    SILT_ECONSTRAINT = 11, /* data violates NOT NULL, a CHECK or an invariant */
    SILT_ECONFLICT = 12,   /* another writer's commit stands against ours; a retry may help */
    SILT_EUNKNOWN = 13,    /* the outcome of a commit could not be learned */
    SILT_ECANCELLED = 14,  /* cancelled by the caller */
    SILT_EDEADLINE = 15,   /* the deadline of the call passed */
    SILT_ESYNTAX = 16,     /* text could not be parsed */
    SILT_EENGINE = 17,     /* the data plane reported a failure */
    SILT_ENOSPACE = 18,    /* the store is full */
    SILT_ELIMIT = 19       /* input exceeds a limit of silt (depth, size, count) */
} silt_status;

#define SILT_ERROR_MESSAGE_SIZE 768
#define SILT_ERROR_HINT_SIZE 256
#define SILT_ERROR_CODE_SIZE 72
#define SILT_ERROR_PATH_SIZE 192

/*
 * One error. Initialise with SILT_ERROR_INIT (or set `size` and zero the rest). Fields are set by the function
 * that fails; text is one line of UTF-8, NUL-terminated, cut at the buffer's end.
 */
typedef struct silt_error {
    uint32_t size;                         /* sizeof(silt_error) of the caller's header */
    silt_status status;                    /* the same as what the function returned */
    int32_t sys_code;                      /* errno or HTTP status behind it, 0 if none */
    int32_t position;                      /* byte offset into the text that was parsed or run, -1 if none */
    int64_t version;                       /* table version that the error is about, -1 if none */
    char code_name[SILT_ERROR_CODE_SIZE];  /* e.g. "DELTA_TABLE_NOT_FOUND"; never empty after a failure */
    char path[SILT_ERROR_PATH_SIZE];       /* the file or table, its tail if long; empty if none */
    char message[SILT_ERROR_MESSAGE_SIZE]; /* what happened and what was expected */
    char hint[SILT_ERROR_HINT_SIZE];       /* what to do about it; empty if there is nothing to say */
} silt_error;

/* clang-format off */
#ifdef __cplusplus
#define SILT_ERROR_INIT {sizeof(silt_error), SILT_OK, 0, -1, -1, {0}, {0}, {0}, {0}}
#else
#define SILT_ERROR_INIT {.size = sizeof(silt_error), .position = -1, .version = -1}
#endif
/* clang-format on */

/* Name of a status, e.g. "ECORRUPT". Static storage; "?" for an unknown value. Any thread. */
SILT_API const char *silt_status_name(silt_status status);

/* Puts a record back to its initial state. NULL is legal. */
SILT_API void silt_error_reset(silt_error *err);

#ifdef __cplusplus
}
#endif

#endif
