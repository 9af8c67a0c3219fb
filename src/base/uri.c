/*
 * Locations and the percent-encoding of log paths. Everything that turns the text of a table's log into the name of a file
 * passes through sl_uri_resolve, so that climbing out of a table is refused in one place. Pure apart from the arena and
 * the working directory. PROTOCOL: Add File and Remove File, "path".
 */
#include "base/uri.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mask.h"
#include "base/utf8.h"

#define MAX_CWD 4096

static bool is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/*
 * The scheme as it was typed. One letter is no scheme, and neither is a name that is not followed by ":/": file names may
 * hold a colon.
 */
static struct sl_str typed_scheme(struct sl_str uri)
{
    const struct sl_str none = {NULL, 0};
    size_t i = 0;
    if (uri.len == 0 || !is_alpha(uri.ptr[0])) {
        return none;
    }
    while (i < uri.len && (is_alpha(uri.ptr[i]) || sl_is_digit(uri.ptr[i]) || uri.ptr[i] == '+' || uri.ptr[i] == '-' ||
                           uri.ptr[i] == '.')) {
        i++;
    }
    if (i < 2 || i + 1 >= uri.len || uri.ptr[i] != ':' || uri.ptr[i + 1] != '/') {
        return none;
    }
    return sl_str_make(uri.ptr, i);
}

struct sl_str sl_uri_scheme(struct sl_str uri)
{
    static const char *const known[] = {"file",   "memory",  "s3",   "s3a",   "s3n",  "abfs", "abfss",
                                        "wasb",   "wasbs",   "az",   "azure", "adl",  "gs",   "hdfs",
                                        "viewfs", "webhdfs", "dbfs", "http",  "https"};
    const struct sl_str scheme = typed_scheme(uri);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (scheme.ptr != NULL && sl_str_eq_nocase(scheme, sl_str_from(known[i]))) {
            return sl_str_from(known[i]);
        }
    }
    return scheme;
}

static void put_escaped(struct sl_buf *out, char c)
{
    static const char hex[] = "0123456789ABCDEF";
    const unsigned char byte = (unsigned char)c;
    const char escape[3] = {'%', hex[byte >> 4], hex[byte & 0x0Fu]};
    sl_buf_put(out, escape, sizeof(escape));
}

void sl_uri_encode_path(struct sl_buf *out, struct sl_str path)
{
    bool first_segment = true;
    for (size_t i = 0; i < path.len; i++) {
        const char c = path.ptr[i];
        const bool keep = is_alpha(c) || sl_is_digit(c) || (c != '\0' && strchr("-_.!~*'()/;@&=+$,", c) != NULL) ||
                          (c == ':' && !first_segment);
        if (c == '/') {
            first_segment = false;
        }
        if (keep) {
            sl_buf_put_char(out, c);
        } else {
            put_escaped(out, c);
        }
    }
}

silt_status sl_uri_decode(struct sl_arena *arena, struct sl_str text, struct sl_str *out, silt_error *err)
{
    *out = (struct sl_str){NULL, 0};
    char *decoded = sl_arena_strdup(arena, text);
    if (decoded == NULL) {
        return sl_fail_nomem(err);
    }
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '%') {
            const int high = i + 2 < text.len ? sl_hex_digit(text.ptr[i + 1]) : -1;
            const int low = i + 2 < text.len ? sl_hex_digit(text.ptr[i + 2]) : -1;
            if (high < 0 || low < 0) {
                return sl_fail(err, SILT_ECORRUPT, NULL,
                               "path '%.*s' has a broken escape at byte %zu, expected %% and two hexadecimal digits",
                               SL_FMT(text), i);
            }
            c = (char)(high * 16 + low);
            i += 2;
        }
        if (c == '\0') {
            return sl_fail(err, SILT_ECORRUPT, NULL, "path '%.*s' has a NUL byte", SL_FMT(text));
        }
        decoded[len++] = c;
    }
    decoded[len] = '\0';
    *out = sl_str_make(decoded, len);
    return SILT_OK;
}

/* Drops "file:", "file://" and "file://localhost" before a path; other texts stay as they are. */
static struct sl_str strip_file_scheme(struct sl_str uri)
{
    const struct sl_str scheme = typed_scheme(uri);
    if (scheme.ptr == NULL || !sl_str_eq_nocase(scheme, SL_STR("file"))) {
        return uri;
    }
    const struct sl_str rest = sl_str_sub(uri, scheme.len + 1, uri.len);
    const struct sl_str local = SL_STR("//localhost/");
    if (sl_str_starts_with(rest, local)) {
        return sl_str_sub(rest, local.len - 1, rest.len);
    }
    if (!sl_str_starts_with(rest, SL_STR("//"))) {
        return rest;
    }
    return sl_str_starts_with(rest, SL_STR("///")) ? sl_str_sub(rest, 2, rest.len) : uri;
}

/* Length of "scheme://authority" (or "scheme:"), 0 for a plain path. */
static size_t root_length(struct sl_str uri)
{
    const struct sl_str scheme = typed_scheme(uri);
    if (scheme.ptr == NULL) {
        return 0;
    }
    size_t i = scheme.len + 1;
    if (i + 1 < uri.len && uri.ptr[i] == '/' && uri.ptr[i + 1] == '/') {
        for (i += 2; i < uri.len && uri.ptr[i] != '/'; i++) {
        }
    }
    return i;
}

void sl_uri_print(struct sl_buf *out, struct sl_str location)
{
    static const char kept[] = "-_.!~*'():@&=+$,;/";
    const struct sl_str path = strip_file_scheme(location);
    const size_t begin = root_length(path);
    if (begin == 0) {
        /* Behind two slashes a host would be read. */
        sl_buf_put_c(out, sl_str_starts_with(path, SL_STR("//")) ? "file://" : "file:");
    }
    sl_buf_put_str(out, sl_str_sub(path, 0, begin));
    for (size_t i = begin; i < path.len; i++) {
        const char c = path.ptr[i];
        if (is_alpha(c) || sl_is_digit(c) || (unsigned char)c >= 0x80 || memchr(kept, c, sizeof(kept) - 1) != NULL) {
            sl_buf_put_char(out, c);
        } else {
            put_escaped(out, c);
        }
    }
}

/* a, a slash if wanted, b: in one NUL-terminated text. */
static struct sl_str concat(struct sl_arena *arena, struct sl_str a, bool with_slash, struct sl_str b)
{
    if (b.len > SIZE_MAX - 2 - a.len) {
        return (struct sl_str){NULL, 0};
    }
    const size_t begin = a.len + (with_slash ? 1 : 0);
    const size_t len = begin + b.len;
    char *text = sl_arena_alloc(arena, len + 1);
    if (text == NULL) {
        return (struct sl_str){NULL, 0};
    }
    if (a.len > 0) {
        memcpy(text, a.ptr, a.len);
    }
    if (with_slash) {
        text[a.len] = '/';
    }
    if (b.len > 0) {
        memcpy(text + begin, b.ptr, b.len);
    }
    text[len] = '\0';
    return sl_str_make(text, len);
}

struct sl_str sl_uri_join(struct sl_arena *arena, struct sl_str root, struct sl_str name)
{
    const bool root_has_slash = root.len > 0 && root.ptr[root.len - 1] == '/';
    const bool name_has_slash = name.len > 0 && name.ptr[0] == '/';
    if (root_has_slash && name_has_slash) {
        return concat(arena, root, false, sl_str_sub(name, 1, name.len));
    }
    return concat(arena, root, !root_has_slash && !name_has_slash, name);
}

static bool has_dot_segment(struct sl_str path)
{
    size_t begin = 0;
    for (size_t i = 0; i <= path.len; i++) {
        if (i == path.len || path.ptr[i] == '/') {
            const struct sl_str segment = sl_str_sub(path, begin, i);
            if (sl_str_eq(segment, SL_STR(".")) || sl_str_eq(segment, SL_STR(".."))) {
                return true;
            }
            begin = i + 1;
        }
    }
    return false;
}

silt_status sl_uri_resolve(struct sl_arena *arena, struct sl_str root, struct sl_str log_path, struct sl_str *out,
                           silt_error *err)
{
    *out = (struct sl_str){NULL, 0};
    if (log_path.len == 0) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "a file's path in the log is empty");
    }
    struct sl_str decoded = {NULL, 0};
    SL_TRY(sl_uri_decode(arena, strip_file_scheme(log_path), &decoded, err));
    if (!sl_utf8_valid(decoded)) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "path '%.*s' in the log does not decode to UTF-8", SL_FMT(log_path));
    }
    if (typed_scheme(log_path).ptr != NULL) {
        *out = decoded;
        return SILT_OK;
    }
    if (decoded.len > 0 && decoded.ptr[0] == '/') {
        /* Absolute without a scheme: in the same store as the table. */
        const struct sl_str store = sl_str_sub(root, 0, root_length(root));
        *out = store.len == 0 ? decoded : concat(arena, store, false, decoded);
        return out->ptr != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    if (has_dot_segment(decoded)) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "path '%.*s' in the log has a '.' or '..' segment", SL_FMT(decoded));
    }
    *out = sl_uri_join(arena, root, decoded);
    return out->ptr != NULL ? SILT_OK : sl_fail_nomem(err);
}

/* Collapses empty, "." and ".." segments of an absolute path in place; returns the new length. */
static size_t collapse_path(char *path, size_t len)
{
    size_t out = 0;
    size_t begin = 1;
    for (size_t i = 1; i <= len; i++) {
        if (i < len && path[i] != '/') {
            continue;
        }
        const struct sl_str segment = sl_str_make(path + begin, i - begin);
        begin = i + 1;
        if (segment.len == 0 || sl_str_eq(segment, SL_STR("."))) {
            continue;
        }
        if (sl_str_eq(segment, SL_STR(".."))) {
            while (out > 0 && path[--out] != '/') {
            }
            continue;
        }
        path[out] = '/';
        memmove(path + out + 1, segment.ptr, segment.len);
        out += segment.len + 1;
    }
    if (out == 0) {
        path[out++] = '/';
    }
    path[out] = '\0';
    return out;
}

static silt_status normalize_local(struct sl_arena *arena, struct sl_str path, struct sl_str *out, silt_error *err)
{
    struct sl_str absolute = {NULL, 0};
    if (path.ptr[0] == '/') {
        absolute = sl_arena_copy(arena, path);
    } else {
        char cwd[MAX_CWD];
        if (getcwd(cwd, sizeof(cwd)) == NULL) {
            return sl_fail_errno(err, errno, "find the working directory for", path.ptr);
        }
        absolute = sl_uri_join(arena, sl_str_from(cwd), path);
    }
    if (absolute.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    /* The copy is our own and NUL-terminated. */
    char *text = (char *)(uintptr_t)absolute.ptr;
    *out = sl_str_make(text, collapse_path(text, absolute.len));
    return SILT_OK;
}

/*
 * "s3://", "s3:///": a name put behind it would become the bucket. The stores on this machine have roots without a name.
 */
static silt_status check_place(struct sl_str uri, struct sl_str scheme, silt_error *err)
{
    for (size_t i = scheme.len + 1; i < uri.len; i++) {
        if (uri.ptr[i] != '/') {
            return SILT_OK;
        }
    }
    if (sl_str_eq_c(scheme, "file") || sl_str_eq_c(scheme, "memory")) {
        return SILT_OK;
    }
    return sl_fail(err, SILT_EINVALID, NULL,
                   "location %.*s names no bucket, container or host: expected %.*s://NAME/PATH", SL_FMT(uri),
                   SL_FMT(scheme));
}

silt_status sl_uri_normalize(struct sl_arena *arena, struct sl_str typed, struct sl_str *out, silt_error *err)
{
    *out = (struct sl_str){NULL, 0};
    if (typed.len == 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "location is empty, expected a path or a URI");
    }
    if (memchr(typed.ptr, '\0', typed.len) != NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "location has a NUL byte");
    }
    const struct sl_str stripped = strip_file_scheme(typed);
    const struct sl_str scheme = sl_uri_scheme(stripped);
    char *copy = sl_arena_strdup(arena, stripped);
    if (copy == NULL) {
        return sl_fail_nomem(err);
    }
    if (scheme.ptr != NULL && sl_mask_needed(typed)) {
        (void)sl_fail(err, SILT_EINVALID, NULL, "a location holds no signature and no password");
        sl_error_hint(err, "secrets are given as options of the store: a location stands in logs and in the history");
        return SILT_EINVALID;
    }
    if (scheme.ptr == NULL) {
        return normalize_local(arena, sl_str_make(copy, stripped.len), out, err);
    }
    for (size_t i = 0; i < scheme.len; i++) {
        copy[i] = scheme.ptr[i] >= 'A' && scheme.ptr[i] <= 'Z' ? (char)(scheme.ptr[i] + 32) : scheme.ptr[i];
    }
    size_t len = stripped.len;
    const size_t root = root_length(stripped);
    const size_t with_slash = scheme.len + 2; /* without it, "s3:/" would have no scheme any more */
    const size_t least = root > with_slash ? root : with_slash;
    while (len > least && copy[len - 1] == '/') {
        len--;
    }
    SL_TRY(check_place(sl_str_make(copy, stripped.len), sl_str_make(copy, scheme.len), err));
    copy[len] = '\0';
    *out = sl_str_make(copy, len);
    return SILT_OK;
}

/* Place of the last '/' of the path part, SIZE_MAX if there is none. */
static size_t last_slash(struct sl_str uri)
{
    const size_t least = root_length(uri);
    for (size_t i = uri.len; i > least; i--) {
        if (uri.ptr[i - 1] == '/') {
            return i - 1;
        }
    }
    return SIZE_MAX;
}

struct sl_str sl_uri_basename(struct sl_str uri)
{
    const size_t slash = last_slash(uri);
    return slash == SIZE_MAX ? sl_str_sub(uri, root_length(uri), uri.len) : sl_str_sub(uri, slash + 1, uri.len);
}

struct sl_str sl_uri_dirname(struct sl_str uri)
{
    const size_t slash = last_slash(uri);
    if (slash == SIZE_MAX) {
        return sl_str_sub(uri, 0, root_length(uri));
    }
    /* "/x" lies in "/". */
    return sl_str_sub(uri, 0, slash == 0 ? 1 : slash);
}

void sl_uri_hive_escape(struct sl_buf *out, struct sl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.ptr[i];
        const unsigned char byte = (unsigned char)c;
        if (byte < 0x20 || byte == 0x7F || strchr("\"#%'*/:=?\\{[]^", c) != NULL) {
            put_escaped(out, c);
        } else {
            sl_buf_put_char(out, c);
        }
    }
}
