/*
 * Random UUIDs (version 4, variant 1) for tables, files and transactions. Any thread.
 */
#include "base/uuid.h"

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

silt_status sl_uuid_make(const silt_env *env, char out[SL_UUID_TEXT_SIZE], silt_error *err)
{
    static const char hex[] = "0123456789abcdef";
    uint8_t bytes[16] = {0};
    out[0] = '\0';
    const silt_status status = env->random_bytes(env->ctx, bytes, sizeof(bytes));
    if (status != SILT_OK) {
        return sl_fail(err, status, NULL, "cannot get %zu random bytes from the environment", sizeof(bytes));
    }
    bytes[6] = (uint8_t)((bytes[6] & 0x0Fu) | 0x40u);
    bytes[8] = (uint8_t)((bytes[8] & 0x3Fu) | 0x80u);
    size_t len = 0;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            out[len++] = '-';
        }
        out[len++] = hex[bytes[i] >> 4];
        out[len++] = hex[bytes[i] & 0x0Fu];
    }
    out[len] = '\0';
    return SILT_OK;
}
