/*
 * What WebHDFS answers: files, pages of folders, yes and no, exceptions. Pure; the bytes are a server's and may be anything. Any thread.
 */
#ifndef SL_REMOTE_HDFS_ANSWERS_H
#define SL_REMOTE_HDFS_ANSWERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "json/json.h"
#include "silt/env.h"
#include "silt/status.h"

struct sl_hdfs_file {
    struct sl_str name; /* in a folder's listing; borrowed from the document. Empty: of the path that was asked about */
    bool is_folder;
    int64_t size_bytes;
    int64_t modified_ms;
};

/* Parses an answer that must be an object of JSON; SILT_EIO. *out is freed by sl_json_free. */
silt_status sl_hdfs_parse(const silt_env *env, struct sl_str body, struct sl_json_doc **out, silt_error *err);

/* The answer of GETFILESTATUS. SILT_EIO for anything else. */
silt_status sl_hdfs_read_file(const sl_json *root, struct sl_hdfs_file *out, silt_error *err);

/* The answer of LISTSTATUS_BATCH, file by file. */
struct sl_hdfs_page {
    struct sl_json_iter files;
    int64_t remaining; /* entries that come after this page */
};
silt_status sl_hdfs_read_page(const sl_json *root, struct sl_hdfs_page *out, silt_error *err);
/* False at the end, with SILT_OK in *status, or after a failure. */
bool sl_hdfs_next_file(struct sl_hdfs_page *page, struct sl_hdfs_file *out, silt_status *status, silt_error *err);

/* {"boolean":true}; an empty body is a yes, too, as operations answer that can only succeed or throw. SILT_EIO for anything else. */
silt_status sl_hdfs_read_answer(const silt_env *env, struct sl_str body, bool *yes, silt_error *err);

/* Kinds of exceptions that silt tells apart. */
enum sl_hdfs_fault {
    SL_HDFS_OTHER = 0, /* or none */
    SL_HDFS_NOT_FOUND = 1,
    SL_HDFS_EXISTS = 2,
    SL_HDFS_DENIED = 3,
    SL_HDFS_STANDBY = 4, /* this name node is not the one that works */
    SL_HDFS_LATER = 5,   /* safe mode, or busy */
    SL_HDFS_FULL = 6,
    SL_HDFS_RANGE = 7 /* an offset that the file does not have */
};

/* The kind of a RemoteException; to `words` (NULL: not wanted) goes "FileNotFoundException: File /x does not exist.", in short. */
enum sl_hdfs_fault sl_hdfs_read_fault(const silt_env *env, struct sl_str body, struct sl_buf *words);

#endif
