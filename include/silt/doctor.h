/*
 * Why a location can or cannot be reached, step by step: what was given, what was tried, what was found and what was refused. For people, and
 * for reports of faults: no step holds a secret.
 */
#ifndef SILT_DOCTOR_H
#define SILT_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "silt/env.h"
#include "silt/export.h"
#include "silt/status.h"
#include "silt/storage.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum silt_doctor_verdict {
    SILT_DOCTOR_OK = 0,      /* as it should be */
    SILT_DOCTOR_NOTE = 1,    /* worth knowing */
    SILT_DOCTOR_SKIPPED = 2, /* not there, not needed, or not tried; the text says which */
    SILT_DOCTOR_FAILED = 3   /* the text says what went wrong */
} silt_doctor_verdict;

/* One step. Text is one line, borrowed during the callback, never NULL. */
typedef struct silt_doctor_step {
    uint32_t size;
    silt_doctor_verdict verdict;
    const char *
        step; /* "store", "options", "endpoint", "proxy", "reach", "clock", "credentials", "list", "read", "write", "table", … */
    const char *subject; /* what of it: an option, a provider of credentials, a host; "" for the step itself */
    const char *text;
    const char *hint; /* what to do about it; "" if there is nothing to say */
} silt_doctor_step;

/* Zero it and set size. */
typedef struct silt_doctor_options {
    uint32_t size;
    const silt_store_option *store_options; /* as those of silt_default_engine_options; borrowed */
    size_t n_store_options;
    bool write; /* also create, read and remove a small file `.silt-doctor-…` beside the log */
} silt_doctor_options;

/*
 * Looks at a table's location (a URI or an absolute path) with the default engine and tells of each step as it is done. After a step without which
 * the next ones make no sense it stops. env, options NULL: the defaults.
 *
 * Returns SILT_OK when there is a table that this silt can read; else what stands against it, which was told as a step as well: SILT_ENOTTABLE when the
 * place can be reached and holds no table, SILT_EACCESS, SILT_EIO and others of a store. A refusal to write is told, and no failure.
 */
SILT_API SILT_NODISCARD silt_status silt_doctor(const silt_env *env, const silt_call *call, const char *uri,
                                                const silt_doctor_options *options,
                                                void (*on_step)(void *ctx, const silt_doctor_step *step), void *ctx,
                                                silt_error *err);

#ifdef __cplusplus
}
#endif

#endif
