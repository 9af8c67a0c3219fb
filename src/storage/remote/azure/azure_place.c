/* URIs of Azure. Pure; any thread. */
#include "storage/remote/azure/azure_place.h"

#include <stdbool.h>

#include "base/error.h"

/* Bytes of a container's name; Azure takes 63, OneLake's workspaces may have more. */
#define MAX_CONTAINER 256

static bool is_host_char(char c)
{
    const char lower = (char)(c | 0x20);
    return (lower >= 'a' && lower <= 'z') || sl_is_digit(c) || c == '-' || c == '.';
}

static bool is_host(struct sl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!is_host_char(text.ptr[i]) || (text.ptr[i] == '.' && (i == 0 || text.ptr[i - 1] == '.'))) {
            return false;
        }
    }
    return text.len > 0 && text.len < 254 && text.ptr[text.len - 1] != '.';
}

static silt_status cut_host(struct sl_str host, struct sl_azure_place *out, silt_error *err)
{
    const size_t dfs = sl_str_find(host, SL_STR(".dfs."));
    const size_t blob = sl_str_find(host, SL_STR(".blob."));
    const size_t at = dfs < blob ? dfs : blob;
    const size_t skip = dfs < blob ? sizeof(".dfs.") - 1 : sizeof(".blob.") - 1;
    if (!is_host(host) || at == SIZE_MAX || at == 0 || at + skip >= host.len) {
        return sl_fail(err, SILT_EINVALID, NULL, "\"%.*s\" is no host of Azure, expected ACCOUNT.dfs.%s", SL_FMT(host),
                       SL_AZURE_DEFAULT_SUFFIX);
    }
    out->head = sl_str_sub(host, 0, at);
    out->suffix = sl_str_sub(host, at + skip, host.len);
    const size_t dot = sl_str_find(out->head, SL_STR("."));
    out->account = sl_str_sub(out->head, 0, dot != SIZE_MAX ? dot : out->head.len);
    return SILT_OK;
}

silt_status sl_azure_place_parse(struct sl_str uri, struct sl_azure_place *out, silt_error *err)
{
    *out = (struct sl_azure_place){0};
    const size_t scheme = sl_str_find(uri, SL_STR("://"));
    if (scheme == SIZE_MAX) {
        return sl_fail(err, SILT_EINVALID, NULL, "a URI is expected, such as abfss://CONTAINER@ACCOUNT.dfs.%s/PATH",
                       SL_AZURE_DEFAULT_SUFFIX);
    }
    const struct sl_str rest = sl_str_sub(uri, scheme + 3, uri.len);
    size_t slash = sl_str_find(rest, SL_STR("/"));
    slash = slash != SIZE_MAX ? slash : rest.len;
    const struct sl_str authority = sl_str_sub(rest, 0, slash);
    out->path = sl_str_sub(rest, slash < rest.len ? slash + 1 : slash, rest.len);
    const size_t sign = sl_str_find(authority, SL_STR("@"));
    out->container = sl_str_sub(authority, 0, sign != SIZE_MAX ? sign : authority.len);
    if (out->container.len == 0 || out->container.len > MAX_CONTAINER) {
        return sl_fail(err, SILT_EINVALID, NULL,
                       "the URI names no container, expected %.*s://CONTAINER@ACCOUNT.dfs.%s/PATH",
                       SL_FMT(sl_str_sub(uri, 0, scheme)), SL_AZURE_DEFAULT_SUFFIX);
    }
    if (sign != SIZE_MAX && sign + 1 == authority.len) {
        return sl_fail(err, SILT_EINVALID, NULL,
                       "the URI names no account behind the @, expected %.*s://CONTAINER@ACCOUNT.dfs.%s/PATH",
                       SL_FMT(sl_str_sub(uri, 0, scheme)), SL_AZURE_DEFAULT_SUFFIX);
    }
    return sign != SIZE_MAX ? cut_host(sl_str_sub(authority, sign + 1, authority.len), out, err) : SILT_OK;
}

/* The service takes '\\' for '/' and folds "." and "..": a file of such a name would be another one. */
static silt_status check_names(struct sl_str path, silt_error *err)
{
    struct sl_str rest = path;
    if (sl_str_find(path, SL_STR("\\")) != SIZE_MAX) {
        return sl_fail(err, SILT_EINVALID, NULL, "Azure has no names with a backslash");
    }
    while (rest.len > 0) {
        const size_t slash = sl_str_find(rest, SL_STR("/"));
        const struct sl_str name = sl_str_sub(rest, 0, slash != SIZE_MAX ? slash : rest.len);
        if (sl_str_eq_c(name, ".") || sl_str_eq_c(name, "..")) {
            return sl_fail(err, SILT_EINVALID, NULL, "Azure has no names \".\" and \"..\"");
        }
        rest = sl_str_sub(rest, slash != SIZE_MAX ? slash + 1 : rest.len, rest.len);
    }
    return SILT_OK;
}

silt_status sl_azure_place_of_file(const char *uri, struct sl_azure_place *out, silt_error *err)
{
    SL_TRY(sl_azure_place_parse(sl_str_from(uri), out, err));
    if (out->path.len == 0 || out->path.ptr[out->path.len - 1] == '/') {
        return sl_fail(err, SILT_EINVALID, NULL, "the path of a file is expected, not of a folder");
    }
    if (out->path.ptr[0] == '/' || sl_str_find(out->path, SL_STR("//")) != SIZE_MAX) {
        return sl_fail(err, SILT_EINVALID, NULL, "a folder in the path has no name");
    }
    return check_names(out->path, err);
}

silt_status sl_azure_place_of_folder(const char *uri, struct sl_azure_place *out, silt_error *err)
{
    SL_TRY(sl_azure_place_parse(sl_str_from(uri), out, err));
    while (out->path.len > 0 && out->path.ptr[out->path.len - 1] == '/') {
        out->path.len--;
    }
    return check_names(out->path, err);
}

bool sl_azure_suffix_known(struct sl_str suffix, const char *extra)
{
    static const char *const clouds[] = {SL_AZURE_DEFAULT_SUFFIX, "core.chinacloudapi.cn", "core.usgovcloudapi.net",
                                         "core.cloudapi.de",      "storage.azure.net",     "fabric.microsoft.com"};
    for (size_t i = 0; i < sizeof(clouds) / sizeof(clouds[0]); i++) {
        if (sl_str_eq_nocase(suffix, sl_str_from(clouds[i]))) {
            return true;
        }
    }
    return extra != NULL && sl_str_eq_nocase(suffix, sl_str_from(extra));
}
