/*
 * The entry of libsilt_remote.so: one instance an engine, with one pool of connections, and the store of each scheme.
 *
 * Any thread.
 */
#include "storage/remote/remote.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "silt/export.h"
#include "storage/remote/azure/azure_store.h"
#include "storage/remote/context.h"
#include "storage/remote/examine.h"
#include "storage/remote/gcs/gcs.h"
#include "storage/remote/hdfs/hdfs.h"
#include "storage/remote/s3/s3.h"

#define MAX_RESOLVE 8

struct sl_remote {
    const silt_env *env;
    struct sl_remote_options *options;
    struct sl_http *http;
    struct sl_remote_context context; /* of the three above */
};

/* The stores. Schemes of one stand together. */
static const struct {
    const char *scheme;
    sl_remote_opener open;
    sl_remote_examiner examine;
    const char *options; /* what their ids begin with */
} OPENERS[] = {
    {"s3", sl_s3_open, sl_s3_examine, "S3_"},
    {"s3a", sl_s3_open, sl_s3_examine, "S3_"},
    {"s3n", sl_s3_open, sl_s3_examine, "S3_"},
    {"gs", sl_gcs_open, sl_gcs_examine, "GCS_"},
    {"gcs", sl_gcs_open, sl_gcs_examine, "GCS_"},
    {"hdfs", sl_hdfs_open, sl_hdfs_examine, "HDFS_"},
    {"webhdfs", sl_webhdfs_open, sl_hdfs_examine, "HDFS_"},
    {"swebhdfs", sl_swebhdfs_open, sl_hdfs_examine, "HDFS_"},
    {"abfss", sl_azure_open, sl_azure_examine, "AZURE_"},
    {"abfs", sl_azure_open, sl_azure_examine, "AZURE_"},
    {"wasbs", sl_azure_open, sl_azure_examine, "AZURE_"},
    {"wasb", sl_azure_open, sl_azure_examine, "AZURE_"},
    {"az", sl_azure_open, sl_azure_examine, "AZURE_"},
    {"azure", sl_azure_open, sl_azure_examine, "AZURE_"},
};
#define N_OPENERS (sizeof(OPENERS) / sizeof(OPENERS[0]))

/* "HOST:PORT:ADDRESS HOST:PORT:ADDRESS …" as a list. The text is cut where it stands. */
static silt_status split_resolve(char *text, const char **out, silt_error *err)
{
    char *state = NULL;
    size_t n = 0;
    for (char *entry = strtok_r(text, " ", &state); entry != NULL; entry = strtok_r(NULL, " ", &state)) {
        if (n == MAX_RESOLVE) {
            return sl_option_unusable(SL_OPTION_RESOLVE, entry, "no more than eight hosts", err);
        }
        out[n++] = entry;
    }
    out[n] = NULL;
    return SILT_OK;
}

static silt_status open_http(struct sl_remote *remote, silt_error *err)
{
    const char *resolve[MAX_RESOLVE + 1] = {NULL};
    struct sl_http_options options = {.ca_file = sl_option_get(remote->options, SL_OPTION_CA_FILE, NULL)};
    const char *given = sl_option_get(remote->options, SL_OPTION_RESOLVE, NULL);
    char *text = given != NULL ? sl_strdup_len(remote->env, given, strlen(given)) : NULL;
    silt_status status = given != NULL && text == NULL ? sl_fail_nomem(err) : SILT_OK;
    const size_t size = given != NULL ? strlen(given) + 1 : 0;
    if (text != NULL) {
        status = split_resolve(text, resolve, err);
        options.resolve = resolve;
    }
    if (status == SILT_OK) {
        status = sl_option_duration(remote->options, SL_OPTION_CONNECT_TIMEOUT, NULL, &options.connect_timeout_us, err);
    }
    if (status == SILT_OK) {
        status = sl_option_duration(remote->options, SL_OPTION_IDLE_TIMEOUT, NULL, &options.idle_timeout_us, err);
    }
    if (status == SILT_OK) {
        status = sl_http_new(remote->env, &options, &remote->http, err);
    }
    sl_release(remote->env, text, size);
    return status;
}

static void remote_close(struct sl_remote *remote)
{
    if (remote != NULL) {
        sl_http_free(remote->http);
        sl_options_free(remote->options);
        sl_release(remote->env, remote, sizeof(*remote));
    }
}

static silt_status remote_open(const silt_env *env, const silt_store_option *options, size_t n, struct sl_remote **out,
                               silt_error *err)
{
    *out = NULL;
    struct sl_remote *remote = sl_alloc_zero(env, sizeof(*remote));
    if (remote == NULL) {
        return sl_fail_nomem(err);
    }
    remote->env = env;
    silt_status status = sl_options_new(env, options, n, &remote->options, err);
    if (status == SILT_OK) {
        status = open_http(remote, err);
    }
    if (status != SILT_OK) {
        remote_close(remote);
        return status;
    }
    remote->context = (struct sl_remote_context){.env = env, .options = remote->options, .http = remote->http};
    *out = remote;
    return SILT_OK;
}

static silt_status remote_store(struct sl_remote *remote, const char *scheme, const silt_storage_vtable **vtable,
                                void **impl, silt_error *err)
{
    *vtable = NULL;
    *impl = NULL;
    for (size_t i = 0; i < N_OPENERS; i++) {
        if (strcmp(OPENERS[i].scheme, scheme) == 0) {
            return OPENERS[i].open(&remote->context, vtable, impl, err);
        }
    }
    return sl_fail(err, SILT_EUNSUPPORTED, NULL, "tables on %s:// are not supported by this version", scheme);
}

static silt_status remote_examine(struct sl_remote *remote, const silt_call *call, const char *uri,
                                  void (*on_step)(void *ctx, const silt_doctor_step *step), void *ctx, silt_error *err)
{
    const struct sl_str text = sl_str_from(uri);
    const struct sl_str scheme = sl_str_sub(text, 0, sl_str_find(text, SL_STR("://")));
    for (size_t i = 0; i < N_OPENERS; i++) {
        const silt_storage_vtable *slots = NULL;
        void *impl = NULL;
        if (!sl_str_eq_c(scheme, OPENERS[i].scheme)) {
            continue;
        }
        const struct sl_trace trace = {on_step, ctx};
        SL_TRY(OPENERS[i].open(&remote->context, &slots, &impl, err));
        remote->context.trace = &trace;
        sl_examine_options(&remote->context, OPENERS[i].options);
        const silt_status status = OPENERS[i].examine(impl, call, uri, err);
        remote->context.trace = NULL;
        slots->close(impl);
        return status;
    }
    return sl_fail(err, SILT_EUNSUPPORTED, NULL, "%s is at no remote store", uri);
}

static const struct sl_remote_vtable REMOTE = {
    .size = sizeof(REMOTE),
    .abi_version = SL_REMOTE_ABI_VERSION,
    .open = remote_open,
    .close = remote_close,
    .store = remote_store,
    .examine = remote_examine,
};

/* The one symbol of the library. */
SILT_API const struct sl_remote_vtable *silt_remote_stores(void);
const struct sl_remote_vtable *silt_remote_stores(void)
{
    return &REMOTE;
}
