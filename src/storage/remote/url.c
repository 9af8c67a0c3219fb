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

/* ---- what may be shown ---- */

/* The length of what a URL begins with, or somebody took for it: "http://", "http:/", "//". */
static size_t head_length(struct sl_str text)
{
    size_t end = 0;
    while (end < text.len && (is_unreserved(text.ptr[end]) || text.ptr[end] == '+')) {
        end++;
    }
    const bool named = end > 0 && end < text.len && text.ptr[end] == ':';
    const size_t slashes = named ? end + 1 : 0;
    end = slashes;
    while (end < text.len && text.ptr[end] == '/') {
        end++;
    }
    return end - slashes >= (named ? 1 : 2) ? end : 0;
}

static size_t last_of(struct sl_str text, char wanted)
{
    size_t at = text.len;
    while (at > 0 && text.ptr[at - 1] != wanted) {
        at--;
    }
    return at > 0 ? at - 1 : SIZE_MAX;
}

/* "host", "host:80", "[::1]:80" */
static bool is_authority(struct sl_str text)
{
    size_t end = 0;
    if (text.len > 0 && text.ptr[0] == '[') {
        const size_t bracket = sl_str_find(text, SL_STR("]"));
        end = bracket == SIZE_MAX ? 0 : bracket + 1;
    }
    while (end < text.len && is_unreserved(text.ptr[end])) {
        end++;
    }
    const size_t host = end;
    end += end < text.len && text.ptr[end] == ':' ? 1 : 0;
    while (end < text.len && sl_is_digit(text.ptr[end])) {
        end++;
    }
    return host > 0 && end == text.len;
}

/* Is it a URL without a user? rest: what stands behind its head, without what is cut. */
static bool is_sound(struct sl_str head, struct sl_str rest)
{
    const size_t slash = sl_str_find(rest, SL_STR("/"));
    const size_t end = slash == SIZE_MAX ? rest.len : slash;
    const struct sl_str path = sl_str_sub(rest, end, rest.len);
    const size_t at = last_of(path, '@');
    const bool user = at != SIZE_MAX && memchr(path.ptr, ':', at) != NULL; /* "/u:password@host" */
    return sl_str_ends_with(head, SL_STR("://")) && is_authority(sl_str_sub(rest, 0, end)) && !user;
}

struct sl_url_shown sl_url_show(struct sl_str value)
{
    size_t end = 0;
    while (end < value.len && value.ptr[end] != '?' && value.ptr[end] != '#') {
        end++;
    }
    const size_t begin = head_length(sl_str_sub(value, 0, end));
    const struct sl_str rest = sl_str_sub(value, begin, end);
    const size_t at = last_of(rest, '@');
    const size_t slash = sl_str_find(rest, SL_STR("/"));
    const struct sl_str first = sl_str_sub(rest, 0, slash == SIZE_MAX ? rest.len : slash);
    struct sl_url_shown shown = {sl_str_sub(value, 0, begin), "", rest, end < value.len ? "?…" : ""};
    if (is_sound(shown.head, rest)) {
        return shown;
    }
    if (at != SIZE_MAX) {
        shown.hidden = "…@";
        shown.tail = sl_str_sub(rest, at + 1, rest.len);
    } else if (last_of(value, '@') != SIZE_MAX || (begin > 0 && first.len > 0 && !is_authority(first))) {
        shown.hidden = "…"; /* a password with a '?' in it, or one whose host is missing */
        shown.tail = SL_STR("");
    }
    return shown;
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
