/*
 * Stores: where the bytes of a table live.
 *
 * The contract of a log store. Every store guarantees, and documents how:
 *  - atomic visibility: a reader sees the whole of a file or none of it;
 *  - mutual exclusion: of all put_if_absent of one name, exactly one is answered DONE;
 *  - consistent listing: a write that was answered is in every listing that starts later.
 * Only put_if_absent decides who owns a version of a table; nothing else in the system may.
 *
 * Paths given to a store are absolute URIs (`file:///tmp/t/x y.parquet`, `memory://a/b`) or, for the local store,
 * absolute file-system paths. They are *not* percent-encoded: a name's bytes are used as they are.
 *
 * Plug-ins fill a silt_storage_vtable (static const) and register a silt_storage under a URI scheme. Callers reach
 * slots only through the silt_storage_* functions below, which check arguments and add context to errors.
 */
#ifndef SILT_STORAGE_H
#define SILT_STORAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "silt/env.h"
#include "silt/export.h"
#include "silt/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Answer of a conditional create. */
typedef enum silt_put_outcome {
    SILT_PUT_DONE = 0,     /* the file is there, durable, and it is ours */
    SILT_PUT_EXISTS = 1,   /* the name was taken; nothing was changed */
    SILT_PUT_AMBIGUOUS = 2 /* no answer: the write may have happened, may still happen, or not */
} silt_put_outcome;

/* One file of a listing. `name` is relative to the listed directory and may contain '/'. Borrowed in callbacks. */
typedef struct silt_file_entry {
    const char *name;
    size_t name_len;
    int64_t size_bytes;
    int64_t modified_ms; /* milliseconds since the epoch */
} silt_file_entry;

/* Options of a listing. */
typedef struct silt_list_options {
    uint32_t size;
    const char *start_from; /* first name wanted, inclusive, in byte order; NULL for all */
    bool recursive;         /* also files in sub-folders, with '/' in their names */
} silt_list_options;

#define SILT_FILE_TAG_SIZE 128

/* One read. Fill the first part; the store fills the second and calls on_done. */
typedef struct silt_read_request {
    const char *path;
    int64_t offset; /* >= 0; or negative: that many last bytes of the file */
    int64_t length; /* bytes wanted; -1 for up to the end. Less may come at the end of the file */
    void *user;     /* untouched by the store */
    /* filled: */
    silt_status status; /* SILT_OK, SILT_ENOTFOUND, … */
    void *data;         /* allocated by the store with the environment's allocator, NULL when nothing was read; the
                           caller frees it with silt_read_request_release */
    size_t data_len;
    int64_t file_size; /* whole size of the file, -1 if not learned */
    /*
     * Tells this content from any other that the name has had or will have, such as an ETag; "" when the store cannot. Parts that are
     * kept from one read to another are kept under it.
     */
    char tag[SILT_FILE_TAG_SIZE];
} silt_read_request;

/*
 * Parts of files that are brought one after the other, several at once, and whose bytes are handed on as they come, so that none has to be
 * held as a whole. All callbacks are made on the thread that streams, and must not call the store. Fill all.
 */
typedef struct silt_read_stream {
    uint32_t size;    /* sizeof(silt_read_stream) */
    uint32_t at_once; /* parts that may be under way, 1 to 64 */
    void *ctx;
    /* Fills path (borrowed until on_part), offset (not negative), length (above 0) and user of the next part; false: there is none any more. */
    bool (*next)(void *ctx, silt_read_request *part);
    /*
     * Bytes of a part: those from `at` on, counted from its offset; in order, and never more than its length in all. `at` is 0 again when an
     * attempt broke and another begins. tag is filled. A failure ends the stream with it.
     */
    silt_status (*on_bytes)(void *ctx, const silt_read_request *part, int64_t at, const void *bytes, size_t n,
                            silt_error *err);
    /* A part is there: data_len says how many bytes came of it (fewer than length only at the file's end), data is NULL. As on_bytes. */
    silt_status (*on_part)(void *ctx, const silt_read_request *part, silt_error *err);
} silt_read_stream;

typedef struct silt_storage silt_storage;

/*
 * The slots of a store. Slots marked "required" are checked at silt_storage_new. Every slot may be called from
 * several threads at once. `call` may be NULL. Errors are reported through err (never NULL here).
 */
typedef struct silt_storage_vtable {
    uint32_t size;        /* sizeof(silt_storage_vtable) of the header compiled against */
    uint32_t abi_version; /* SILT_ABI_VERSION */
    const char *name;     /* e.g. "local"; for messages */

    /* Required. Frees impl. */
    void (*close)(void *impl);

    /*
     * Required. Starts all requests and pumps them until each has had its on_done(request, ctx), in any order, on
     * the caller's thread. A failed request is reported in its own status; the return value is for failures of
     * the whole (cancelled, out of memory); then each request has been completed as well. When SILT_OK is returned,
     * err may tell of a request that failed.
     */
    silt_status (*read_many)(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                             void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err);

    /*
     * Required. Calls on_entry for each *file* directly in `dir` (or below, if recursive) whose name is >=
     * start_from, in ascending byte order of names. A folder that does not exist: SILT_ENOTFOUND. on_entry returns
     * false to stop early. Temporary files of the store's own are not shown.
     */
    silt_status (*list)(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                        bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err);

    /*
     * Required. Creates the file with these bytes if and only if the name is free; durable when DONE. Returns SILT_OK
     * with one of the three outcomes (with AMBIGUOUS, err may tell why), or a failure after which the file was
     * certainly not created by this call and never will be. A store that cannot tell, be it for a lost answer, a
     * deadline or a cancellation, returns SILT_OK with AMBIGUOUS: after a failure, callers remove the files that the
     * commit would have named. A name that is taken by what is no file (a folder) is better told as SILT_ECORRUPT than as EXISTS, since
     * nobody will ever read there who the winner was. *outcome is AMBIGUOUS at entry.
     */
    silt_status (*put_if_absent)(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                                 silt_put_outcome *outcome, silt_error *err);

    /* Required. Creates or replaces, atomically visible and durable. */
    silt_status (*put)(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                       silt_error *err);

    /* Required. Size and modification time of a file; SILT_ENOTFOUND when it is not there. */
    silt_status (*stat)(void *impl, const silt_call *call, const char *path, int64_t *size_bytes, int64_t *modified_ms,
                        silt_error *err);

    /*
     * Required. Removes a file. One that is not there is no error. A store that makes folders may remove those above it that it made itself
     * and that are empty now.
     */
    silt_status (*remove)(void *impl, const silt_call *call, const char *path, silt_error *err);

    /*
     * Optional. A path that the local file system can open for reading the file at `path` (the local store: the
     * path itself). Written to buf, NUL-terminated. NULL slot: the store has no local paths, and the default engine
     * reads data files through read_many.
     */
    silt_status (*local_path)(void *impl, const char *path, char *buf, size_t buf_size, silt_error *err);

    /*
     * Optional. Moves a finished local file `local` (on the same machine) to `path`, which must be free; durable
     * and atomically visible. `local` is gone afterwards, and still there after a failure. SILT_EEXISTS when the name
     * is taken. NULL slot: SILT_EUNSUPPORTED, and the default engine cannot write data files there.
     */
    silt_status (*adopt)(void *impl, const silt_call *call, const char *local, const char *path, silt_error *err);

    /*
     * Optional. Removes an empty or non-empty folder and all below it; used by DROP and for scratch folders. One that
     * is not there is no error. Nothing outside of it is touched: a link in it is removed, not what it leads to, and a folder
     * that is a link itself is refused (SILT_EINVALID). A store that can, takes the folder away as a whole before it empties it. NULL slot: SILT_EUNSUPPORTED.
     */
    silt_status (*remove_tree)(void *impl, const silt_call *call, const char *dir, silt_error *err);

    /*
     * Optional. As put_if_absent, for a file that nobody needs and whose readers can tell whether it is sound (version checksums): it need
     * not be durable, and after a failure of the machine may be gone, empty or cut. A store that makes folders makes none for it, and fails
     * with SILT_ENOTFOUND: the table was dropped. NULL slot: put_if_absent.
     */
    silt_status (*put_hint)(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                            silt_put_outcome *outcome, silt_error *err);

    /*
     * Optional, all four or none: a file whose bytes come one after the other. Nothing is visible before the end. One owner an upload.
     * NULL slots: SILT_EUNSUPPORTED, and the default engine writes the whole file locally and calls adopt.
     *
     * upload_begin makes *upload and *unit, the number of bytes that appends are cut into; it need not ask the store anything.
     *
     * upload_append sends the next bytes, a multiple of *unit, and returns when the store has taken them; it may raise *unit. What it
     * sends at once is its own choice, but no more than it was given is held.
     *
     * upload_finish sends the last bytes, as many as there are, and makes the file if its name is free, durable and atomically visible;
     * SILT_EEXISTS when it is taken. Small files, which were never appended to, are one request. *upload is freed, and after a
     * failure what was sent is removed as by upload_abort.
     *
     * upload_abort frees *upload and removes what was sent, as far as the store lets it, within a time of its own.
     */
    silt_status (*upload_begin)(void *impl, const silt_call *call, const char *path, void **upload, size_t *unit,
                                silt_error *err);
    silt_status (*upload_append)(void *impl, const silt_call *call, void *upload, const void *data, size_t data_len,
                                 size_t *unit, silt_error *err);
    silt_status (*upload_finish)(void *impl, const silt_call *call, void *upload, const void *data, size_t data_len,
                                 silt_error *err);
    void (*upload_abort)(void *impl, void *upload);

    /*
     * Optional. Brings parts until the stream's `next` has no more, and returns when all came. requests[0..n) are those that may be under way
     * (n is at_once): one that is free is filled by `next`, and free again after on_part. The first failure, of the store or of a
     * callback, ends it all, with nothing under way any more. NULL slot: read_many in batches of n.
     */
    silt_status (*read_stream)(void *impl, const silt_call *call, const silt_read_stream *stream,
                               silt_read_request *requests, size_t n, silt_error *err);

    /*
     * Optional. As put, for a file of a new name that nobody knows of before the answer (a data file): it may be there before it is whole or
     * durable, and after a failure of the machine be cut. When it is answered it is as put makes it. NULL slot: put.
     */
    silt_status (*put_fresh)(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                             silt_error *err);

    /*
     * Optional. As put_if_absent, for a file that goes beside others that are there (every commit but a table's first). A store that makes
     * folders makes none for it, and fails with SILT_ENOTFOUND where the folder is missing: the table was dropped. NULL slot: put_if_absent.
     */
    silt_status (*put_beside)(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                              silt_put_outcome *outcome, silt_error *err);

    /*
     * Optional. Calls on_folder with the name (borrowed) of each *folder* directly in `dir`, in no order, until it returns false. For stores whose
     * folders are things of their own, and which would have to read each of them for a recursive listing. A folder that does not exist:
     * SILT_ENOTFOUND. NULL slot, or a store where folders are only how names begin: SILT_EUNSUPPORTED, with nothing told; who wants to know
     * which there are takes them from a recursive listing, which is in order and costs such a store no more.
     */
    silt_status (*list_folders)(void *impl, const silt_call *call, const char *dir,
                                bool (*on_folder)(void *ctx, const char *name, size_t name_len), void *ctx,
                                silt_error *err);
} silt_storage_vtable;

/*
 * Makes a store of a vtable and an instance. Checks size, abi_version and the required slots (SILT_EINVALID). The
 * store is reference-counted; `close` runs when the last reference goes. On failure impl is not closed.
 */
SILT_API SILT_NODISCARD silt_status silt_storage_new(const silt_env *env, const silt_storage_vtable *vtable, void *impl,
                                                     silt_storage **out, silt_error *err);
SILT_API silt_storage *silt_storage_ref(silt_storage *storage);      /* the same object; pair it with an unref */
SILT_API void silt_storage_unref(silt_storage *storage);             /* NULL is legal */
SILT_API const char *silt_storage_name(const silt_storage *storage); /* the vtable's; borrowed */

/* Dispatch: as the slots of the same name, from any thread. Errors name the operation and the file once. */
SILT_API SILT_NODISCARD silt_status silt_storage_read_many(silt_storage *storage, const silt_call *call,
                                                           silt_read_request *requests, size_t n,
                                                           void (*on_done)(void *ctx, silt_read_request *request),
                                                           void *ctx, silt_error *err);
SILT_API SILT_NODISCARD silt_status silt_storage_read_stream(silt_storage *storage, const silt_call *call,
                                                             const silt_read_stream *stream, silt_error *err);
SILT_API SILT_NODISCARD silt_status silt_storage_list(silt_storage *storage, const silt_call *call, const char *dir,
                                                      const silt_list_options *options,
                                                      bool (*on_entry)(void *ctx, const silt_file_entry *entry),
                                                      void *ctx, silt_error *err);
SILT_API SILT_NODISCARD silt_status
silt_storage_list_folders(silt_storage *storage, const silt_call *call, const char *dir,
                          bool (*on_folder)(void *ctx, const char *name, size_t name_len), void *ctx, silt_error *err);
SILT_API SILT_NODISCARD silt_status silt_storage_put_if_absent(silt_storage *storage, const silt_call *call,
                                                               const char *path, const void *data, size_t data_len,
                                                               silt_put_outcome *outcome, silt_error *err);
SILT_API SILT_NODISCARD silt_status silt_storage_put_hint(silt_storage *storage, const silt_call *call,
                                                          const char *path, const void *data, size_t data_len,
                                                          silt_put_outcome *outcome, silt_error *err);
SILT_API SILT_NODISCARD silt_status silt_storage_put_beside(silt_storage *storage, const silt_call *call,
                                                            const char *path, const void *data, size_t data_len,
                                                            silt_put_outcome *outcome, silt_error *err);
SILT_API SILT_NODISCARD silt_status silt_storage_put(silt_storage *storage, const silt_call *call, const char *path,
                                                     const void *data, size_t data_len, silt_error *err);
SILT_API SILT_NODISCARD silt_status silt_storage_put_fresh(silt_storage *storage, const silt_call *call,
                                                           const char *path, const void *data, size_t data_len,
                                                           silt_error *err);
SILT_API SILT_NODISCARD silt_status silt_storage_stat(silt_storage *storage, const silt_call *call, const char *path,
                                                      int64_t *size_bytes, int64_t *modified_ms, silt_error *err);
SILT_API SILT_NODISCARD silt_status silt_storage_remove(silt_storage *storage, const silt_call *call, const char *path,
                                                        silt_error *err);
/* SILT_EUNSUPPORTED when the store has no local paths. */
SILT_API SILT_NODISCARD silt_status silt_storage_local_path(silt_storage *storage, const char *path, char *buf,
                                                            size_t buf_size, silt_error *err);
SILT_API SILT_NODISCARD silt_status silt_storage_adopt(silt_storage *storage, const silt_call *call, const char *local,
                                                       const char *path, silt_error *err);
SILT_API SILT_NODISCARD silt_status silt_storage_remove_tree(silt_storage *storage, const silt_call *call,
                                                             const char *dir, silt_error *err);

/*
 * A file that is written while its bytes come into being: the slots upload_…. SILT_EUNSUPPORTED when the store has none. An upload keeps
 * its store alive. One owner, on any thread.
 */
typedef struct silt_upload silt_upload;
SILT_API SILT_NODISCARD silt_status silt_storage_upload_begin(silt_storage *storage, const silt_call *call,
                                                              const char *path, silt_upload **out, silt_error *err);
/* How many bytes the next append must be a multiple of. */
SILT_API size_t silt_upload_unit(const silt_upload *upload);
SILT_API const char *silt_upload_path(const silt_upload *upload); /* borrowed */
/* After a failure the upload can only be aborted. */
SILT_API SILT_NODISCARD silt_status silt_upload_append(silt_upload *upload, const silt_call *call, const void *data,
                                                       size_t data_len, silt_error *err);
/* Frees the upload, whatever comes of it. */
SILT_API SILT_NODISCARD silt_status silt_upload_finish(silt_upload *upload, const silt_call *call, const void *data,
                                                       size_t data_len, silt_error *err);
SILT_API void silt_upload_abort(silt_upload *upload); /* NULL is legal */

/* Reads a whole file. *data is freed with silt_storage_free(storage, data, len); it is NULL for an empty file. */
SILT_API SILT_NODISCARD silt_status silt_storage_read(silt_storage *storage, const silt_call *call, const char *path,
                                                      void **data, size_t *data_len, silt_error *err);
SILT_API void silt_storage_free(silt_storage *storage, void *data, size_t data_len); /* NULL is legal */
/* Frees request->data and sets it to NULL. */
SILT_API void silt_read_request_release(silt_storage *storage, silt_read_request *request);

/* Built-in stores. */

typedef struct silt_local_options {
    uint32_t size;
    bool allow_lock_file; /* where neither link(2) nor renameat2(NOREPLACE) works: commit under an exclusive lock
                             file that only silt honours, instead of refusing */
    bool no_sync;         /* skip fsync: for scratch data only */
} silt_local_options;

/* Files of this machine; `file://` URIs and absolute paths. options NULL: defaults. */
SILT_API SILT_NODISCARD silt_status silt_storage_local_new(const silt_env *env, const silt_local_options *options,
                                                           silt_storage **out, silt_error *err);
/* A store in memory, for tests and simulation. Its content lives as long as the store. */
SILT_API SILT_NODISCARD silt_status silt_storage_memory_new(const silt_env *env, silt_storage **out, silt_error *err);

/*
 * Decorators: a store around another, of which they take a reference. env needs the same allocator as the inner
 * store's, since what was read is handed through.
 */

typedef struct silt_retry_options {
    uint32_t size;
    uint32_t max_attempts; /* 0: 10 */
    int64_t base_delay_us; /* 0: 50 ms; doubles each time, full jitter */
    int64_t max_delay_us;  /* 0: 10 s */
    int64_t max_total_us;  /* 0: 3 min; the call's deadline counts as well */
} silt_retry_options;

/* Repeats reads, lists, stats, puts and removes that failed with SILT_EIO. A put_if_absent is repeated only by the
 * commit protocol, never here, and a put_hint by nobody. */
SILT_API SILT_NODISCARD silt_status silt_storage_retry_new(const silt_env *env, silt_storage *inner,
                                                           const silt_retry_options *options, silt_storage **out,
                                                           silt_error *err);

/* One finished operation, for a trace. Text is borrowed during the callback. */
typedef struct silt_trace_event {
    uint32_t size;
    const char *operation; /* "read", "list", "put_if_absent" (put_beside, too), … */
    const char *path;
    silt_status status;
    silt_put_outcome outcome; /* of put_if_absent */
    int64_t bytes;
    int64_t duration_us;
} silt_trace_event;

/* Calls on_event after each operation, on the caller's thread. */
SILT_API SILT_NODISCARD silt_status silt_storage_trace_new(const silt_env *env, silt_storage *inner,
                                                           void (*on_event)(void *ctx, const silt_trace_event *event),
                                                           void *ctx, silt_storage **out, silt_error *err);

/* What a fault injector does to one operation. */
typedef enum silt_fault_action {
    SILT_FAULT_NONE = 0,
    SILT_FAULT_BEFORE = 1, /* fail with SILT_EIO, the inner store is not called */
    SILT_FAULT_AFTER = 2,  /* call the inner store, then fail (put_if_absent: AMBIGUOUS): a lost answer */
    SILT_FAULT_SHORT =
        3, /* a read gives all but the last line of what was asked for, as if the file ended there; others as NONE */
    SILT_FAULT_EMPTY = 4 /* a read gives no byte, likewise */
} silt_fault_action;

/* decide is called before every operation (named as in a trace) with a running number from 0; from several threads if callers are. */
SILT_API SILT_NODISCARD silt_status silt_storage_fault_new(const silt_env *env, silt_storage *inner,
                                                           silt_fault_action (*decide)(void *ctx, uint64_t number,
                                                                                       const char *operation,
                                                                                       const char *path),
                                                           void *ctx, silt_storage **out, silt_error *err);

/*
 * One option of a store, by the names that users of other Delta implementations know ("AWS_REGION", "azure_storage_account_key",
 * "fs.s3a.endpoint", …; docs/stores.md lists them). Names in any case. A value may be a secret: it is never printed. Borrowed.
 */
typedef struct silt_store_option {
    const char *name;
    const char *value;
} silt_store_option;

/*
 * A registry maps URI schemes to stores. A path without scheme belongs to "file". Register before use; look-ups
 * may then run from several threads.
 */
typedef struct silt_storage_registry silt_storage_registry;
SILT_API SILT_NODISCARD silt_status silt_storage_registry_new(const silt_env *env, silt_storage_registry **out,
                                                              silt_error *err);
SILT_API void silt_storage_registry_free(silt_storage_registry *registry); /* drops its references; NULL is legal */
/* Takes a reference of storage. scheme is lower case, without "://". SILT_EEXISTS if taken. */
SILT_API SILT_NODISCARD silt_status silt_storage_registry_add(silt_storage_registry *registry, const char *scheme,
                                                              silt_storage *storage, silt_error *err);
/* *out is borrowed from the registry. SILT_EUNSUPPORTED names the scheme when nothing is registered. */
SILT_API SILT_NODISCARD silt_status silt_storage_registry_find(const silt_storage_registry *registry, const char *uri,
                                                               silt_storage **out, silt_error *err);

#ifdef __cplusplus
}
#endif

#endif
