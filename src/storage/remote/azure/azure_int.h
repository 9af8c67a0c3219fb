/*
 * The store of Azure, shared by its files.
 *
 *   azure_store.c    the store: containers that are in use, which kind of account, the vtable
 *   azure_read.c     reads, stat
 *   azure_stream.c   parts of files, one after the other
 *   azure_write.c    puts and removals of one file, what the answer to a conditional create means
 *   azure_upload.c   large files in blocks, adopt, uploads
 *   azure_rename.c   conditional creates in hierarchical accounts
 *   azure_list.c     listings
 *   azure_tree.c     removal of folders
 *   azure_examine.c  the way to a container, step by step
 *   azure_access, azure_grant, azure_token, azure_cli   endpoints and credentials
 *   azure_request, azure_answer, azure_sign             requests, and what bad answers mean
 *   azure_place, azure_page, azure_text                 URIs, pages of listings, texts
 *
 * `err` is never NULL in slots: the dispatch sees to it.
 */
#ifndef SL_REMOTE_AZURE_INT_H
#define SL_REMOTE_AZURE_INT_H

#include <pthread.h>

#include "silt/storage.h"
#include "storage/remote/azure/azure_page.h"
#include "storage/remote/azure/azure_request.h"

/* A file that is sent in one request; larger ones go in blocks of this size. */
#define SL_AZURE_BLOCK ((size_t)8 << 20)

struct sl_azure {
    const struct sl_remote_context *context;
    pthread_mutex_t lock;
    struct sl_azure_access *accesses; /* guarded by lock; what is in the list stays */
};

/* What is written: bytes in memory, or an open file. */
struct sl_azure_content {
    const void *data; /* NULL: of the file */
    int fd;
    size_t size;
};

/* ---- azure_store.c ---- */

silt_status sl_azure_store_new(const struct sl_remote_context *context, struct sl_azure **out, silt_error *err);
/* The way to a place's container; borrowed from the store. */
silt_status sl_azure_reach(struct sl_azure *azure, const struct sl_azure_place *place, struct sl_azure_access **out,
                           silt_error *err);
/* Is the account hierarchical? Asks once a container. */
silt_status sl_azure_is_hierarchical(struct sl_azure *azure, struct sl_azure_access *access, const silt_call *call,
                                     bool *out, silt_error *err);
/* Is it a name that the store gives to its temporary files? Listings do not show them. */
bool sl_azure_is_hidden(struct sl_str path);

/* ---- azure_read.c ---- */

/* In a hierarchical account a folder answers like an empty file, but says what it is. */
bool sl_azure_is_folder(const struct sl_http_request *answer);
silt_status sl_azure_read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                               void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err);
silt_status sl_azure_read_stream(void *impl, const silt_call *call, const silt_read_stream *stream,
                                 silt_read_request *requests, size_t n, silt_error *err);
silt_status sl_azure_stat(void *impl, const silt_call *call, const char *path, int64_t *size_bytes,
                          int64_t *modified_ms, silt_error *err);

/* ---- azure_write.c ---- */

silt_status sl_azure_put_if_absent(void *impl, const silt_call *call, const char *path, const void *data,
                                   size_t data_len, silt_put_outcome *outcome, silt_error *err);
silt_status sl_azure_put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                         silt_error *err);
silt_status sl_azure_put_hint(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                              silt_put_outcome *outcome, silt_error *err);
silt_status sl_azure_remove(void *impl, const silt_call *call, const char *path, silt_error *err);
/*
 * What the completed request of a conditional create says: DONE, EXISTS or AMBIGUOUS, or a failure after which nothing was created. ask: how the run of the
 * exchange ended.
 */
silt_status sl_azure_outcome(struct sl_azure_request *request, silt_status ask, silt_put_outcome *outcome,
                             silt_error *err);

/* ---- azure_upload.c ---- */

struct sl_azure_upload {
    struct sl_azure *azure;
    struct sl_azure_access *access;
    struct sl_str path;
    struct sl_azure_content content;
    bool conditional; /* only if the name is free */
    const char *mark; /* goes into the blob's metadata; NULL for none */
};

/* Sends it, in one request or in blocks. *outcome as of a conditional create; without the condition it is DONE or a failure is returned. */
silt_status sl_azure_upload(const struct sl_azure_upload *upload, const silt_call *call, silt_put_outcome *outcome,
                            silt_error *err);
silt_status sl_azure_upload_begin(void *impl, const silt_call *call, const char *path, void **upload, size_t *unit,
                                  silt_error *err);
silt_status sl_azure_upload_append(void *impl, const silt_call *call, void *upload, const void *data, size_t data_len,
                                   size_t *unit, silt_error *err);
silt_status sl_azure_upload_finish(void *impl, const silt_call *call, void *upload, const void *data, size_t data_len,
                                   silt_error *err);
void sl_azure_upload_abort(void *impl, void *upload);
silt_status sl_azure_adopt(void *impl, const silt_call *call, const char *local, const char *path, silt_error *err);

/* ---- azure_rename.c ---- */

/* put_if_absent in a hierarchical account: a temporary file that is given its name. */
silt_status sl_azure_create_by_rename(struct sl_azure *azure, struct sl_azure_access *access, const silt_call *call,
                                      struct sl_str path, const struct sl_azure_content *content,
                                      silt_put_outcome *outcome, silt_error *err);

/* ---- azure_list.c ---- */

/* Which page of which names; text that is NULL or empty is none. */
struct sl_azure_blob_query {
    const char *prefix;
    const char *start_from; /* first name wanted, in the container */
    const char *marker;
    bool recursive; /* else up to the next slash */
    bool one;       /* one name is enough */
};

/* Fills the page, in the server's order. */
silt_status sl_azure_fetch_blobs(struct sl_azure *azure, struct sl_azure_access *access, const silt_call *call,
                                 const struct sl_azure_blob_query *query, struct sl_azure_page *page, silt_error *err);
silt_status sl_azure_list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                          bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err);
silt_status sl_azure_list_folders(void *impl, const silt_call *call, const char *dir,
                                  bool (*on_folder)(void *ctx, const char *name, size_t name_len), void *ctx,
                                  silt_error *err);

/* ---- azure_tree.c ---- */

silt_status sl_azure_remove_tree(void *impl, const silt_call *call, const char *dir, silt_error *err);

#endif
