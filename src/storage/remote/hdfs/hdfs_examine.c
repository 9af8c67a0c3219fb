/*
 * The way to a folder on HDFS, step by step: the name nodes, who asks, whether the folder of the log can be listed. Any thread.
 */
#include "base/error.h"
#include "storage/remote/examine.h"
#include "storage/remote/hdfs/hdfs_int.h"

static void tell_identity(const struct sl_hdfs *hdfs)
{
    if (hdfs->delegation != NULL) {
        sl_trace_note(hdfs->context, SILT_DOCTOR_OK, "credentials", "", "a delegation token");
    } else if (hdfs->kerberos) {
        sl_trace_note(hdfs->context, SILT_DOCTOR_OK, "credentials", "",
                      "Kerberos, with the process's tickets (SPNEGO)");
    } else {
        sl_trace_note(hdfs->context, SILT_DOCTOR_OK, "credentials", "", "user.name=%s, which servers believe or not",
                      hdfs->user != NULL ? hdfs->user : "(none)");
    }
}

/* One name node of several suffices. */
static silt_status reach_nodes(const struct sl_hdfs *hdfs, const struct sl_hdfs_cluster *cluster, const silt_call *call,
                               silt_error *err)
{
    silt_status status = SILT_OK;
    bool reached = false;
    for (unsigned i = 0; i < cluster->n; i++) {
        const silt_status one = sl_examine_reach(hdfs->context, call, cluster->bases[i], err);
        reached = reached || one == SILT_OK;
        status = one != SILT_OK ? one : status;
    }
    return reached ? SILT_OK : status;
}

static silt_status list_one(struct sl_hdfs *hdfs, struct sl_hdfs_cluster *cluster, const silt_call *call,
                            const struct sl_hdfs_name *name, silt_error *err)
{
    struct sl_hdfs_request request;
    sl_hdfs_request_init(&request, hdfs, cluster, "GET");
    sl_hdfs_put_operation(&request.target, name->path, "LISTSTATUS_BATCH");
    silt_status status = sl_hdfs_run(&request, call, err);
    if (status == SILT_OK && request.exchange.request.code != 200) {
        status = sl_hdfs_fail(hdfs, &request.exchange, name, err);
    }
    if (status == SILT_OK) {
        sl_trace_note(hdfs->context, SILT_DOCTOR_OK, "list", "", "the folder is there and may be listed");
    } else if (status == SILT_ENOTFOUND) {
        silt_error_reset(err);
        status = SILT_OK;
        sl_trace_note(hdfs->context, SILT_DOCTOR_NOTE, "list", "", "the name node answers, and has no such folder");
    } else {
        sl_trace_failure(hdfs->context, "list", "", err);
    }
    sl_hdfs_request_release(&request);
    return status;
}

silt_status sl_hdfs_examine(void *impl, const silt_call *call, const char *uri, silt_error *err)
{
    struct sl_hdfs *hdfs = impl;
    struct sl_hdfs_name name = {0};
    struct sl_hdfs_cluster *cluster = NULL;
    silt_status status = sl_hdfs_begin(hdfs, uri, true, &name, &cluster, err);
    if (status != SILT_OK) {
        sl_trace_failure(hdfs->context, "endpoint", "", err);
        return status;
    }
    sl_trace_note(hdfs->context, SILT_DOCTOR_OK, "store", "HDFS", "%.*s, path /%.*s", SL_FMT(name.authority),
                  SL_FMT(name.path));
    for (unsigned i = 0; i < cluster->n; i++) {
        sl_trace_note(hdfs->context, SILT_DOCTOR_OK, "endpoint", "name node", "%s", cluster->bases[i]);
    }
    status = reach_nodes(hdfs, cluster, call, err);
    if (status == SILT_OK) {
        tell_identity(hdfs);
        status = list_one(hdfs, cluster, call, &name, err);
    }
    return status;
}
