/* Locations, percent-encoding and origins. Pure; any thread. */
#include "storage/remote/url.h"

#include <string.h>

static bool is_unreserved(char c)
{
    const char lower = (char)(c | 0x20);
    return sl_is_digit(c) || (lower >= 'a' && lower <= 'z') || c == '-' || c == '.' || c == '_' || c == '~';
}

bool sl_location_split(struct sl_str location, struct sl_location *out)
{
    *out = (struct sl_location){0};
    const size_t colon = sl_str_find(location, SL_STR("://"));
    if (colon == SIZE_MAX || memchr(location.ptr, '\0', location.len) != NULL) {
        return false;
    }
    const struct sl_str rest = sl_str_sub(location, colon + 3, location.len);
    const size_t slash = sl_str_find(rest, SL_STR("/"));
    const size_t end = slash == SIZE_MAX ? rest.len : slash;
    out->scheme = sl_str_sub(location, 0, colon);
    out->authority = sl_str_sub(rest, 0, end);
    out->path = sl_str_sub(rest, end < rest.len ? end + 1 : end, rest.len);
    return true;
}

void sl_url_encode(struct sl_buf *out, struct sl_str text, const char *keep)
{
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.ptr[i];
        if (is_unreserved(c) || (c != '\0' && strchr(keep, c) != NULL)) {
            sl_buf_put_char(out, c);
            continue;
        }
        const unsigned char byte = (unsigned char)c;
        const char escape[3] = {'%', digits[byte >> 4], digits[byte & 15]};
        sl_buf_put(out, escape, sizeof(escape));
    }
}

struct sl_str sl_url_origin(struct sl_str url)
{
    const struct sl_str none = {0};
    if (!sl_str_starts_with(url, SL_STR("http://")) && !sl_str_starts_with(url, SL_STR("https://"))) {
        return none;
    }
    const size_t begin = sl_str_find(url, SL_STR("://")) + 3;
    size_t end = begin;
    while (end < url.len && strchr("/?#", url.ptr[end]) == NULL) {
        if (url.ptr[end] == '@' || url.ptr[end] == '\\' || url.ptr[end] <= ' ') {
            return none;
        }
        end++;
    }
    return end > begin && url.ptr[begin] != ':' ? sl_str_sub(url, 0, end) : none;
}

bool sl_url_is_private(struct sl_str url)
{
    const struct sl_str origin = sl_url_origin(url);
    if (origin.ptr == NULL || sl_str_starts_with(origin, SL_STR("https://"))) {
        return origin.ptr != NULL;
    }
    struct sl_str host = sl_str_sub(origin, sizeof("http://") - 1, origin.len);
    if (host.ptr[0] != '[') {
        const size_t colon = sl_str_find(host, SL_STR(":"));
        host = sl_str_sub(host, 0, colon == SIZE_MAX ? host.len : colon);
    }
    bool digits = sl_str_starts_with(host, SL_STR("127."));
    for (size_t i = 0; i < host.len; i++) {
        digits = digits && (sl_is_digit(host.ptr[i]) || host.ptr[i] == '.');
    }
    return digits || sl_str_eq_c(host, "localhost") || sl_str_eq_c(host, "[::1]") ||
           sl_str_starts_with(host, SL_STR("[::1]:"));
}

bool sl_url_is_usable(struct sl_str url)
{
    for (size_t i = 0; i < url.len; i++) {
        if (url.ptr[i] <= ' ' || url.ptr[i] > '~') {
            return false;
        }
    }
    return sl_url_origin(url).ptr != NULL;
}

void sl_url_put_foreign(struct sl_buf *out, struct sl_str text, size_t max)
{
    const struct sl_str trimmed = sl_str_trim(text);
    for (size_t i = 0; i < trimmed.len && i < max; i++) {
        const char c = trimmed.ptr[i];
        const bool space = sl_is_space(c);
        const bool printable = c > ' ' && c <= '~';
        sl_buf_put_char(out, space ? ' ' : printable ? c : '?');
    }
}
