/*
 * The checksum of `_last_checkpoint` (PROTOCOL.md "JSON checksum"): MD5 over the document in a canonical form. Pure.
 */
#ifndef SL_KERNEL_LOG_JSON_CHECKSUM_H
#define SL_KERNEL_LOG_JSON_CHECKSUM_H

#include "base/buf.h"
#include "json/json.h"

#define SL_JSON_CHECKSUM_SIZE 33 /* 32 hex digits and a NUL */

/*
 * In which order the leaves stand. The protocol sorts by the paths alone; Delta Spark sorts "path=value", which puts element
 * 10 of an array of scalars before element 1.
 */
enum sl_checksum_order {
    SL_CHECKSUM_BY_PATH,
    SL_CHECKSUM_BY_TEXT
};

/*
 * Appends the canonical form without the top-level member `checksum`. SILT_ECORRUPT when an object has a key twice, which the
 * protocol forbids; SILT_ELIMIT for too many leaves.
 */
silt_status sl_json_canonical(const silt_env *env, const sl_json *root, enum sl_checksum_order order,
                              struct sl_buf *out, silt_error *err);
/* MD5 of the canonical form in lower-case hex. */
silt_status sl_json_checksum(const silt_env *env, const sl_json *root, enum sl_checksum_order order,
                             char out[SL_JSON_CHECKSUM_SIZE], silt_error *err);

#endif
