/*
 * AWS Signature Version 4: canonical request → string to sign → signature. Pure; any thread. Parameters and headers
 * are few, so they are sorted by insertion.
 */
#include "storage/remote/s3/sigv4.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/time.h"
#include "storage/remote/digest.h"

#define ALGORITHM "AWS4-HMAC-SHA256"
#define DAY_LEN 8 /* of "20130524" */

struct pair {
    struct sl_str name;
    struct sl_str value;
};

silt_status sl_sigv4_date(int64_t wall_us, char out[SL_SIGV4_DATE_SIZE], silt_error *err)
{
    const int64_t days = sl_floor_div(wall_us, SL_US_PER_DAY);
    const int64_t second = sl_floor_mod(wall_us, SL_US_PER_DAY) / 1000000;
    int64_t year = 0;
    int month = 0;
    int day = 0;
    sl_civil_from_days(days, &year, &month, &day);
    if (year < 0 || year > 9999) {
        return sl_fail(err, SILT_EINVALID, NULL, "the clock is off: year %lld", (long long)year);
    }
    char text[64];
    (void)snprintf(text, sizeof(text), "%04d%02d%02dT%02d%02d%02dZ", (int)year, month, day, (int)(second / 3600),
                   (int)(second / 60 % 60), (int)(second % 60));
    memcpy(out, text, SL_SIGV4_DATE_SIZE - 1);
    out[SL_SIGV4_DATE_SIZE - 1] = '\0';
    return SILT_OK;
}

void sl_sigv4_split(const char *url, struct sl_str *host, struct sl_str *path)
{
    struct sl_str text = sl_str_from(url);
    const size_t scheme = sl_str_find(text, SL_STR("://"));
    text = sl_str_sub(text, scheme == SIZE_MAX ? 0 : scheme + 3, text.len);
    const size_t slash = sl_str_find(text, SL_STR("/"));
    *host = sl_str_sub(text, 0, slash == SIZE_MAX ? text.len : slash);
    *path = slash == SIZE_MAX ? SL_STR("/") : sl_str_sub(text, slash, text.len);
}

static void encode(struct sl_buf *out, struct sl_str text, bool keep_slash)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.ptr[i];
        const char lower = (char)(c | 0x20);
        if ((lower >= 'a' && lower <= 'z') || sl_is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~' ||
            (c == '/' && keep_slash)) {
            sl_buf_put_char(out, c);
        } else {
            const unsigned char byte = (unsigned char)c;
            const char escaped[3] = {'%', digits[byte >> 4], digits[byte & 0xF]};
            sl_buf_put(out, escaped, sizeof(escaped));
        }
    }
}

void sl_sigv4_encode(struct sl_buf *out, struct sl_str text)
{
    encode(out, text, false);
}

void sl_sigv4_encode_path(struct sl_buf *out, struct sl_str path)
{
    encode(out, path, true);
}

static int compare_pairs(const struct pair *a, const struct pair *b)
{
    const int names = sl_str_compare(a->name, b->name);
    return names != 0 ? names : sl_str_compare(a->value, b->value);
}

/* Puts `next` in its place among n sorted pairs. */
static void insert(struct pair *pairs, size_t n, struct pair next)
{
    size_t at = n;
    while (at > 0 && compare_pairs(&pairs[at - 1], &next) > 0) {
        pairs[at] = pairs[at - 1];
        at--;
    }
    pairs[at] = next;
}

static silt_status put_query(struct sl_buf *out, struct sl_str query, silt_error *err)
{
    struct pair pairs[SL_SIGV4_MAX_PARAMETERS];
    size_t n = 0;
    while (query.len > 0) {
        const size_t end = sl_str_find(query, SL_STR("&")) == SIZE_MAX ? query.len : sl_str_find(query, SL_STR("&"));
        const struct sl_str part = sl_str_sub(query, 0, end);
        query = sl_str_sub(query, end < query.len ? end + 1 : end, query.len);
        if (part.len == 0) {
            continue;
        }
        if (n == SL_SIGV4_MAX_PARAMETERS) {
            return sl_fail(err, SILT_ELIMIT, NULL, "more than %d parameters to sign", SL_SIGV4_MAX_PARAMETERS);
        }
        const size_t equals = sl_str_find(part, SL_STR("="));
        const struct pair next = {sl_str_sub(part, 0, equals == SIZE_MAX ? part.len : equals),
                                  equals == SIZE_MAX ? SL_STR("") : sl_str_sub(part, equals + 1, part.len)};
        insert(pairs, n++, next);
    }
    for (size_t i = 0; i < n; i++) {
        sl_buf_put_c(out, i > 0 ? "&" : "");
        sl_buf_put_str(out, pairs[i].name);
        sl_buf_put_char(out, '=');
        sl_buf_put_str(out, pairs[i].value);
    }
    return SILT_OK;
}

static void put_lower(struct sl_buf *out, struct sl_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.ptr[i];
        sl_buf_put_char(out, c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c);
    }
}

/* Trimmed, and runs of spaces as one. */
static void put_value(struct sl_buf *out, struct sl_str value)
{
    const struct sl_str trimmed = sl_str_trim(value);
    for (size_t i = 0; i < trimmed.len; i++) {
        if (trimmed.ptr[i] != ' ' || trimmed.ptr[i - 1] != ' ') {
            sl_buf_put_char(out, trimmed.ptr[i]);
        }
    }
}

/* The headers sorted, their names in lower case, which `names` holds. */
static silt_status sort_headers(const struct sl_sigv4_request *request, struct sl_buf *names, struct pair *pairs,
                                size_t *n, silt_error *err)
{
    if (request->n_headers >= SL_SIGV4_MAX_HEADERS) {
        return sl_fail(err, SILT_ELIMIT, NULL, "more than %d headers to sign", SL_SIGV4_MAX_HEADERS - 1);
    }
    size_t room = 0;
    for (size_t i = 0; i < request->n_headers; i++) {
        room += strlen(request->headers[i].name);
    }
    if (sl_buf_reserve(names, room + 1) == NULL) {
        return sl_buf_status(names, err);
    }
    pairs[0] = (struct pair){SL_STR("host"), request->host};
    *n = 1;
    for (size_t i = 0; i < request->n_headers; i++) {
        const struct sl_http_header *header = &request->headers[i];
        const size_t begin = names->len;
        put_lower(names, sl_str_from(header->name)); /* there is room: what was put before does not move */
        insert(pairs, (*n)++,
               (struct pair){sl_str_sub(sl_buf_view(names), begin, names->len), sl_str_from(header->value)});
    }
    return sl_buf_status(names, err);
}

static void put_signed_names(struct sl_buf *out, const struct pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && sl_str_eq(pairs[i].name, pairs[i - 1].name)) {
            continue;
        }
        sl_buf_put_c(out, i > 0 ? ";" : "");
        sl_buf_put_str(out, pairs[i].name);
    }
}

static void put_headers(struct sl_buf *out, const struct pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const bool same = i > 0 && sl_str_eq(pairs[i].name, pairs[i - 1].name);
        if (!same) {
            sl_buf_put_c(out, i > 0 ? "\n" : "");
            sl_buf_put_str(out, pairs[i].name);
            sl_buf_put_char(out, ':');
        } else {
            sl_buf_put_char(out, ',');
        }
        put_value(out, pairs[i].value);
    }
    sl_buf_put_char(out, '\n');
}

static silt_status put_canonical(struct sl_buf *out, const struct sl_sigv4_request *request, const struct pair *pairs,
                                 size_t n, silt_error *err)
{
    sl_buf_printf(out, "%s\n", request->method);
    sl_buf_put_str(out, request->path.len > 0 ? request->path : SL_STR("/"));
    sl_buf_put_char(out, '\n');
    SL_TRY(put_query(out, request->query, err));
    sl_buf_put_char(out, '\n');
    put_headers(out, pairs, n);
    sl_buf_put_char(out, '\n');
    put_signed_names(out, pairs, n);
    sl_buf_printf(out, "\n%s", request->payload_hash);
    return sl_buf_status(out, err);
}

/* HMAC over HMAC: the day, the region, the service, "aws4_request". */
static silt_status derive_key(const silt_env *env, const struct sl_sigv4_key *key, struct sl_str day,
                              uint8_t out[SL_SHA256_SIZE], silt_error *err)
{
    const struct sl_str steps[] = {day, sl_str_from(key->region), sl_str_from(key->service), SL_STR("aws4_request")};
    struct sl_buf first;
    sl_buf_init(&first, env);
    sl_buf_printf(&first, "AWS4%s", key->secret_key);
    silt_status status = sl_buf_status(&first, err);
    struct sl_str current = sl_buf_view(&first);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && status == SILT_OK; i++) {
        uint8_t next[SL_SHA256_SIZE];
        status = sl_hmac_sha256(current, steps[i], next, err);
        memcpy(out, next, status == SILT_OK ? sizeof(next) : 0);
        current = sl_str_make((const char *)out, SL_SHA256_SIZE);
    }
    sl_buf_release(&first);
    return status;
}

static silt_status put_signature(struct sl_buf *out, const silt_env *env, const struct sl_sigv4_key *key,
                                 struct sl_str text, struct sl_str day, silt_error *err)
{
    uint8_t signing[SL_SHA256_SIZE];
    uint8_t signature[SL_SHA256_SIZE];
    char hex[2 * SL_SHA256_SIZE + 1];
    SL_TRY(derive_key(env, key, day, signing, err));
    SL_TRY(sl_hmac_sha256(sl_str_make((const char *)signing, sizeof(signing)), text, signature, err));
    sl_hex_put(signature, sizeof(signature), hex);
    sl_buf_put_c(out, hex);
    return sl_buf_status(out, err);
}

silt_status sl_sigv4_sign(const silt_env *env, const struct sl_sigv4_key *key, const struct sl_sigv4_request *request,
                          struct sl_buf *out, silt_error *err)
{
    struct pair pairs[SL_SIGV4_MAX_HEADERS];
    size_t n = 0;
    uint8_t hash[SL_SHA256_SIZE];
    char hex[2 * SL_SHA256_SIZE + 1];
    struct sl_buf names;
    struct sl_buf text;
    sl_buf_init(&names, env);
    sl_buf_init(&text, env);
    const struct sl_str day = sl_str_sub(sl_str_from(request->date), 0, DAY_LEN);
    silt_status status = sort_headers(request, &names, pairs, &n, err);
    if (status == SILT_OK) {
        status = put_canonical(&text, request, pairs, n, err);
    }
    if (status == SILT_OK) {
        status = sl_sha256(sl_buf_view(&text), hash, err);
    }
    if (status != SILT_OK) {
        goto out;
    }
    sl_hex_put(hash, sizeof(hash), hex);
    sl_buf_clear(&text);
    sl_buf_printf(&text, ALGORITHM "\n%s\n%.*s/%s/%s/aws4_request\n%s", request->date, SL_FMT(day), key->region,
                  key->service, hex);
    sl_buf_printf(out, ALGORITHM " Credential=%s/%.*s/%s/%s/aws4_request, SignedHeaders=", key->access_key, SL_FMT(day),
                  key->region, key->service);
    put_signed_names(out, pairs, n);
    sl_buf_put_c(out, ", Signature=");
    status = sl_buf_status(&text, err);
    if (status == SILT_OK) {
        status = put_signature(out, env, key, sl_buf_view(&text), day, err);
    }
out:
    sl_buf_release(&names);
    sl_buf_release(&text);
    return status;
}
