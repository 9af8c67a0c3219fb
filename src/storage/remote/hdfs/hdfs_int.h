/*
 * The parts of the HDFS store.
 *
 *   hdfs_store.c     the instance, its set-up at first use, the vtable
 *   hdfs_cluster.c   from a location's authority to name nodes
 *   hdfs_request.c   a request to a name node or data node as an exchange; failures
 *   hdfs_read.c      ranges of files, many at once; stat
 *   hdfs_stream.c    parts of files, one after the other
 *   hdfs_write.c     files from memory or a local file, under a hidden name and then renamed; removal
 *   hdfs_list.c      listings
 *   hdfs_examine.c   the way to name nodes, step by step
 *   hdfs_names.c, hdfs_answers.c   pure parts
 */
#ifndef SL_REMOTE_HDFS_INT_H
#define SL_REMOTE_HDFS_INT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "storage/remote/exchange.h"
#include "storage/remote/hdfs/hdfs.h"
#include "storage/remote/hdfs/hdfs_answers.h"
#include "storage/remote/hdfs/hdfs_names.h"

enum sl_hdfs_scheme {
    SL_HDFS = 0,    /* the authority is of the name node's own protocol: WebHDFS is at another port */
    SL_WEBHDFS = 1, /* the authority is WebHDFS's */
    SL_SWEBHDFS = 2 /* the same with TLS */
};

#define SL_HDFS_MAX_NODES 8

/* The name nodes behind an authority. Fixed but for `active`. */
struct sl_hdfs_cluster {
    struct sl_hdfs_cluster *next;
    struct sl_str authority;
    const char *bases[SL_HDFS_MAX_NODES]; /* "http://host:port" */
    unsigned n;
    atomic_uint active; /* the one that answered last */
};

struct sl_hdfs {
    const silt_env *env;
    const struct sl_remote_context *context;
    enum sl_hdfs_scheme scheme;
    pthread_mutex_t lock; /* of what follows; but for `clusters` it is fixed once ready */
    bool ready;
    struct sl_arena arena;
    const char *user;       /* NULL: not told */
    const char *delegation; /* token; NULL: none */
    bool kerberos;
    bool allow_http;
    struct sl_hdfs_cluster *clusters; /* met so far */
};

/* ---- hdfs_store.c ---- */

/* Set-up, the name of a file or folder, and the name nodes that know it. */
silt_status sl_hdfs_begin(struct sl_hdfs *hdfs, const char *location, bool folder, struct sl_hdfs_name *name,
                          struct sl_hdfs_cluster **cluster, silt_error *err);

/* ---- hdfs_cluster.c ---- */

/* The lock is held. SILT_EINVALID when no name node is known. */
silt_status sl_hdfs_find_cluster(struct sl_hdfs *hdfs, struct sl_str authority, struct sl_hdfs_cluster **out,
                                 silt_error *err);

/* ---- hdfs_request.c ---- */

/* A request with its answer. Zeroed by sl_hdfs_request_init; freed by sl_hdfs_request_release. */
struct sl_hdfs_request {
    struct sl_hdfs *hdfs;
    struct sl_hdfs_cluster *cluster;
    struct sl_exchange exchange; /* of sl_hdfs_run; unused by sl_hdfs_run_many */
    const char *method;
    struct sl_buf
        target; /* of a name node: path and query; of a data node (`direct`): the whole URL, as the name node gave it */
    bool direct;
    bool once;        /* one attempt: who asks decides what is to follow */
    const void *body; /* borrowed */
    size_t body_len;
    size_t max_answer; /* 0: the usual */
    void *user;        /* of who runs many */
    struct sl_buf url;
    unsigned node; /* the name node of the last attempt */
};

void sl_hdfs_request_init(struct sl_hdfs_request *request, struct sl_hdfs *hdfs, struct sl_hdfs_cluster *cluster,
                          const char *method);
void sl_hdfs_request_release(struct sl_hdfs_request *request);

/* What exchanges of requests do; for those that do more, `user` is the request, too. */
silt_status sl_hdfs_prepare(struct sl_exchange *exchange, const silt_call *call, bool renew, silt_error *err);
enum sl_verdict sl_hdfs_judge(struct sl_exchange *exchange);

/* Runs one; returns the exchange's status: SILT_OK when there is an answer, of whatever code. */
silt_status sl_hdfs_run(struct sl_hdfs_request *request, const silt_call *call, silt_error *err);
/* Runs n at once, as sl_exchange_run; `exchanges` is room for n, freed by the caller with sl_exchange_release. */
silt_status sl_hdfs_run_many(struct sl_hdfs_request *requests, size_t n, const silt_call *call,
                             struct sl_exchange *exchanges, silt_error *err);

/* Where a name node sends on: the Location of a 307, which must be a URL that the bytes may go to. SILT_EIO. */
silt_status sl_hdfs_take_redirect(const struct sl_hdfs_request *request, const struct sl_exchange *exchange,
                                  struct sl_buf *url, silt_error *err);

/* What an answer that is not as hoped amounts to, with the server's words. */
silt_status sl_hdfs_fail(const struct sl_hdfs *hdfs, const struct sl_exchange *exchange,
                         const struct sl_hdfs_name *name, silt_error *err);

/* ---- hdfs_read.c ---- */

/* SILT_ENOTFOUND when nothing is there. */
silt_status sl_hdfs_describe(struct sl_hdfs *hdfs, struct sl_hdfs_cluster *cluster, const silt_call *call,
                             const struct sl_hdfs_name *name, struct sl_hdfs_file *out, silt_error *err);

/* The file that an answer to GETFILESTATUS describes. */
silt_status sl_hdfs_read_description(const struct sl_hdfs *hdfs, const struct sl_exchange *exchange,
                                     const struct sl_hdfs_name *name, struct sl_hdfs_file *out, silt_error *err);

/* ---- slots ---- */

silt_status sl_hdfs_read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                              void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err);
silt_status sl_hdfs_read_stream(void *impl, const silt_call *call, const silt_read_stream *stream,
                                silt_read_request *requests, size_t n, silt_error *err);
silt_status sl_hdfs_stat(void *impl, const silt_call *call, const char *path, int64_t *size_bytes, int64_t *modified_ms,
                         silt_error *err);
silt_status sl_hdfs_list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                         bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err);
silt_status sl_hdfs_list_folders(void *impl, const silt_call *call, const char *dir,
                                 bool (*on_folder)(void *ctx, const char *name, size_t name_len), void *ctx,
                                 silt_error *err);
silt_status sl_hdfs_put_if_absent(void *impl, const silt_call *call, const char *path, const void *data,
                                  size_t data_len, silt_put_outcome *outcome, silt_error *err);
silt_status sl_hdfs_put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                        silt_error *err);
silt_status sl_hdfs_remove(void *impl, const silt_call *call, const char *path, silt_error *err);
silt_status sl_hdfs_remove_tree(void *impl, const silt_call *call, const char *dir, silt_error *err);
silt_status sl_hdfs_upload_begin(void *impl, const silt_call *call, const char *path, void **upload, size_t *unit,
                                 silt_error *err);
silt_status sl_hdfs_upload_append(void *impl, const silt_call *call, void *upload, const void *data, size_t data_len,
                                  size_t *unit, silt_error *err);
silt_status sl_hdfs_upload_finish(void *impl, const silt_call *call, void *upload, const void *data, size_t data_len,
                                  silt_error *err);
void sl_hdfs_upload_abort(void *impl, void *upload);
silt_status sl_hdfs_adopt(void *impl, const silt_call *call, const char *local, const char *path, silt_error *err);

#endif
