/* Digests by libcrypto, hex and base64. Pure; any thread. */
#include "storage/remote/digest.h"

#include <limits.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/error.h"

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static silt_status digest(const EVP_MD *kind, const char *name, struct sl_str data, uint8_t *out, silt_error *err)
{
    unsigned int size = 0;
    const void *bytes = data.len > 0 ? data.ptr : "";
    if (EVP_Digest(bytes, data.len, out, &size, kind, NULL) != 1 || size != (unsigned)EVP_MD_get_size(kind)) {
        return sl_fail(err, SILT_EUNSUPPORTED, NULL, "%s is not available in this OpenSSL", name);
    }
    return SILT_OK;
}

silt_status sl_sha256(struct sl_str data, uint8_t out[SL_SHA256_SIZE], silt_error *err)
{
    return digest(EVP_sha256(), "SHA-256", data, out, err);
}

silt_status sl_md5(struct sl_str data, uint8_t out[SL_MD5_SIZE], silt_error *err)
{
    return digest(EVP_md5(), "MD5", data, out, err);
}

silt_status sl_hmac_sha256(struct sl_str key, struct sl_str data, uint8_t out[SL_SHA256_SIZE], silt_error *err)
{
    unsigned int size = 0;
    const void *key_bytes = key.len > 0 ? key.ptr : "";
    const unsigned char *bytes = (const unsigned char *)(data.len > 0 ? data.ptr : "");
    if (key.len > INT_MAX) {
        return sl_fail(err, SILT_ELIMIT, NULL, "a key of %zu bytes is too long", key.len);
    }
    if (HMAC(EVP_sha256(), key_bytes, (int)key.len, bytes, data.len, out, &size) == NULL || size != SL_SHA256_SIZE) {
        return sl_fail(err, SILT_EUNSUPPORTED, NULL, "HMAC-SHA-256 is not available in this OpenSSL");
    }
    return SILT_OK;
}

void sl_hex_put(const uint8_t *bytes, size_t n, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 0xF];
    }
    out[2 * n] = '\0';
}

void sl_base64_put(struct sl_buf *out, struct sl_str bytes)
{
    const uint8_t *at = (const uint8_t *)bytes.ptr;
    size_t left = bytes.len;
    while (left > 0) {
        const size_t n = left < 3 ? left : 3;
        const uint32_t word = (uint32_t)at[0] << 16 | (uint32_t)(n > 1 ? at[1] : 0) << 8 |
                              (uint32_t)(n > 2 ? at[2] : 0);
        const char text[4] = {base64_digits[word >> 18], base64_digits[word >> 12 & 63],
                              n > 1 ? base64_digits[word >> 6 & 63] : '=', n > 2 ? base64_digits[word & 63] : '='};
        sl_buf_put(out, text, sizeof(text));
        at += n;
        left -= n;
    }
}

/* The value of a base64 digit, -1 for any other character. */
static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (sl_is_digit(c)) {
        return c - '0' + 52;
    }
    if (c == '+' || c == '/') {
        return c == '+' ? 62 : 63;
    }
    return -1;
}

silt_status sl_base64_decode(struct sl_buf *out, struct sl_str text, silt_error *err)
{
    if (text.len % 4 != 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "not base64: its length is no multiple of 4");
    }
    for (size_t i = 0; i < text.len; i += 4) {
        const bool last = i + 4 == text.len;
        const size_t pads = !last ? 0 : (size_t)(text.ptr[i + 3] == '=') + (size_t)(text.ptr[i + 2] == '=');
        uint32_t word = 0;
        for (size_t k = 0; k < 4; k++) {
            const int digit = k >= 4 - pads && text.ptr[i + k] == '=' ? 0 : base64_digit(text.ptr[i + k]);
            if (digit < 0) {
                return sl_fail(err, SILT_EINVALID, NULL, "not base64: a character that does not belong there");
            }
            word = word << 6 | (uint32_t)digit;
        }
        const char bytes[3] = {(char)(word >> 16), (char)(word >> 8 & 0xFF), (char)(word & 0xFF)};
        sl_buf_put(out, bytes, 3 - pads);
    }
    return sl_buf_status(out, err);
}
