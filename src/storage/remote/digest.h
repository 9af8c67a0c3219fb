/*
 * Digests that stores sign and check with, by OpenSSL's libcrypto, and their texts. Pure; any thread.
 */
#ifndef SL_REMOTE_DIGEST_H
#define SL_REMOTE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "silt/status.h"

#define SL_SHA256_SIZE 32
#define SL_MD5_SIZE 16

/* SILT_EUNSUPPORTED when libcrypto refuses the algorithm, which a restricted build of it may do. */
silt_status sl_sha256(struct sl_str data, uint8_t out[SL_SHA256_SIZE], silt_error *err);
silt_status sl_md5(struct sl_str data, uint8_t out[SL_MD5_SIZE], silt_error *err);
silt_status sl_hmac_sha256(struct sl_str key, struct sl_str data, uint8_t out[SL_SHA256_SIZE], silt_error *err);

/* Lower-case hex of n bytes and a NUL: out has 2n + 1 bytes. */
void sl_hex_put(const uint8_t *bytes, size_t n, char *out);
/* Base64 with padding (RFC 4648). */
void sl_base64_put(struct sl_buf *out, struct sl_str bytes);
/* Appends what base64 text stands for; SILT_EINVALID if it is none. */
silt_status sl_base64_decode(struct sl_buf *out, struct sl_str text, silt_error *err);

#endif
