/*
 * From a location's authority to name nodes. The first of these that applies:
 *
 *   webhdfs://host:port        that one
 *   Hadoop's own options       dfs.ha.namenodes.NAME = nn1,nn2 with dfs.namenode.http-address.NAME.nn1 = host:port (or https-address)
 *   hdfs_namenodes             host:port,host:port
 *   hdfs://host[:port]         that host at hdfs_http_port; the port is that of another protocol
 *
 * An authority that is not there is that of fs.defaultFS. The caller holds the store's lock.
 */
#include <string.h>

#include "base/error.h"
#include "storage/remote/hdfs/hdfs_int.h"
#include "storage/remote/url.h"

#define HTTP_PORT "9870"
#define HTTPS_PORT "9871"
#define MAX_CLUSTERS 64

static bool has_port(struct sl_str host)
{
    const size_t bracket = sl_str_find(host, SL_STR("]"));
    const struct sl_str rest = bracket == SIZE_MAX ? host : sl_str_sub(host, bracket, host.len);
    return sl_str_find(rest, SL_STR(":")) != SIZE_MAX;
}

static struct sl_str without_port(struct sl_str host)
{
    const size_t bracket = sl_str_find(host, SL_STR("]"));
    const size_t begin = bracket == SIZE_MAX ? 0 : bracket;
    const size_t colon = sl_str_find(sl_str_sub(host, begin, host.len), SL_STR(":"));
    return colon == SIZE_MAX ? host : sl_str_sub(host, 0, begin + colon);
}

/* "host" or "host:port", with the usual port if there is none. */
static silt_status add_node(struct sl_hdfs *hdfs, struct sl_hdfs_cluster *cluster, struct sl_str host, silt_error *err)
{
    const bool tls = hdfs->scheme == SL_SWEBHDFS;
    const char *port = sl_option_get(hdfs->context->options, SL_OPTION_HDFS_HTTP_PORT, NULL);
    const char *usual = port != NULL ? port : tls ? HTTPS_PORT : HTTP_PORT;
    host = sl_str_trim(host);
    if (cluster->n == SL_HDFS_MAX_NODES) {
        return sl_fail(err, SILT_ELIMIT, NULL, "more than %d name nodes", SL_HDFS_MAX_NODES);
    }
    const char *base = sl_arena_printf(&hdfs->arena, "%s://%.*s%s%s", tls ? "https" : "http", SL_FMT(host),
                                       has_port(host) ? "" : ":", has_port(host) ? "" : usual);
    if (base == NULL) {
        return sl_fail_nomem(err);
    }
    const struct sl_str origin = sl_url_origin(sl_str_from(base));
    if (!sl_url_is_usable(sl_str_from(base)) || origin.len != strlen(base)) {
        return sl_fail(err, SILT_EINVALID, NULL, "'%.*s' is no host of a name node", SL_FMT(host));
    }
    cluster->bases[cluster->n++] = base;
    return SILT_OK;
}

/* The next item of a list with commas; false at its end. */
static bool next_item(struct sl_str *list, struct sl_str *item)
{
    if (list->len == 0) {
        return false;
    }
    const size_t comma = sl_str_find(*list, SL_STR(","));
    const size_t end = comma == SIZE_MAX ? list->len : comma;
    *item = sl_str_trim(sl_str_sub(*list, 0, end));
    *list = sl_str_sub(*list, end < list->len ? end + 1 : end, list->len);
    return true;
}

static silt_status add_list(struct sl_hdfs *hdfs, struct sl_hdfs_cluster *cluster, const char *text, silt_error *err)
{
    struct sl_str list = sl_str_from(text);
    struct sl_str item;
    while (next_item(&list, &item)) {
        SL_TRY(add_node(hdfs, cluster, item, err));
    }
    return SILT_OK;
}

/* Names in lower case, as options have their scopes. */
static const char *lower(struct sl_arena *arena, struct sl_str text)
{
    char *copy = sl_arena_strdup(arena, text);
    for (char *at = copy; at != NULL && *at != '\0'; at++) {
        *at = *at >= 'A' && *at <= 'Z' ? (char)(*at | 0x20) : *at;
    }
    return copy;
}

/* As Hadoop's configuration says it. */
static silt_status add_service(struct sl_hdfs *hdfs, struct sl_hdfs_cluster *cluster, const char *service,
                               const char *names, silt_error *err)
{
    const bool tls = hdfs->scheme == SL_SWEBHDFS;
    const enum sl_option option = tls ? SL_OPTION_HDFS_HTTPS_ADDRESS : SL_OPTION_HDFS_HTTP_ADDRESS;
    struct sl_str list = sl_str_from(names);
    struct sl_str item;
    while (next_item(&list, &item)) {
        const char *id = lower(&hdfs->arena, item);
        const char *scope = id != NULL ? sl_arena_printf(&hdfs->arena, "%s.%s", service, id) : NULL;
        if (scope == NULL) {
            return sl_fail_nomem(err);
        }
        const char *address = sl_option_given(hdfs->context->options, option, scope);
        if (address == NULL) {
            return sl_fail(err, SILT_EINVALID, NULL, "option dfs.namenode.%s-address.%s, of a name node, is missing",
                           tls ? "https" : "http", scope);
        }
        SL_TRY(add_node(hdfs, cluster, sl_str_from(address), err));
    }
    return SILT_OK;
}

static silt_status add_nodes(struct sl_hdfs *hdfs, struct sl_hdfs_cluster *cluster, silt_error *err)
{
    const struct sl_remote_options *options = hdfs->context->options;
    struct sl_str authority = cluster->authority;
    const char *fallback = sl_option_given(options, SL_OPTION_HDFS_DEFAULT, NULL);
    struct sl_location location;
    if (authority.len == 0 && fallback != NULL && sl_location_split(sl_str_from(fallback), &location)) {
        authority = location.authority;
    }
    if (hdfs->scheme != SL_HDFS && has_port(authority)) {
        return add_node(hdfs, cluster, authority, err);
    }
    const char *service = lower(&hdfs->arena, authority);
    if (service == NULL) {
        return sl_fail_nomem(err);
    }
    const char *names = authority.len > 0 ? sl_option_given(options, SL_OPTION_HDFS_SERVICE, service) : NULL;
    if (names != NULL) {
        return add_service(hdfs, cluster, service, names, err);
    }
    const char *listed = sl_option_given(options, SL_OPTION_HDFS_NAMENODES, NULL);
    if (listed != NULL) {
        return add_list(hdfs, cluster, listed, err);
    }
    if (authority.len == 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "the location names no host; a name node is given by %s or %s",
                       sl_option_name(SL_OPTION_HDFS_NAMENODES), sl_option_name(SL_OPTION_HDFS_DEFAULT));
    }
    return add_node(hdfs, cluster, without_port(authority), err);
}

silt_status sl_hdfs_find_cluster(struct sl_hdfs *hdfs, struct sl_str authority, struct sl_hdfs_cluster **out,
                                 silt_error *err)
{
    size_t n = 0;
    *out = NULL;
    for (struct sl_hdfs_cluster *cluster = hdfs->clusters; cluster != NULL; cluster = cluster->next) {
        if (sl_str_eq(cluster->authority, authority)) {
            *out = cluster;
            return SILT_OK;
        }
        n++;
    }
    if (n == MAX_CLUSTERS) {
        return sl_fail(err, SILT_ELIMIT, NULL, "more than %d clusters of HDFS", MAX_CLUSTERS);
    }
    struct sl_hdfs_cluster *cluster = sl_arena_alloc_zero(&hdfs->arena, sizeof(*cluster));
    if (cluster == NULL) {
        return sl_fail_nomem(err);
    }
    cluster->authority = sl_arena_copy(&hdfs->arena, authority);
    if (cluster->authority.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    SL_TRY(add_nodes(hdfs, cluster, err));
    if (cluster->n == 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "no name node of '%.*s' is known", SL_FMT(authority));
    }
    atomic_init(&cluster->active, 0);
    cluster->next = hdfs->clusters;
    hdfs->clusters = cluster;
    *out = cluster;
    return SILT_OK;
}
