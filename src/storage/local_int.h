/*
 * The local store, shared by its files: local.c (the store and its small slots), local_path.c (names and folders),
 * local_write.c (temp files, put), local_unnamed.c (files that need no temp name), local_publish.c (giving a file its final name, once), local_adopt.c, local_read.c,
 * local_list.c, local_tree.c, local_folders.c (folders that go with their last file). `err` is never NULL in here: the dispatch sees to it.
 */
#ifndef SL_STORAGE_LOCAL_INT_H
#define SL_STORAGE_LOCAL_INT_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "silt/storage.h"

/* Room for any path that the system takes, NUL included. */
#define SL_LOCAL_PATH_SIZE PATH_MAX

/* Nesting of folders that listings and removals follow. */
#define SL_LOCAL_MAX_DEPTH 200

/* Bytes moved between two looks at the call's deadline and cancellation. */
#define SL_LOCAL_CHUNK ((size_t)8 << 20)

/*
 * The system calls that decide whether a commit is safe; as link(2), renameat2(2) with RENAME_NOREPLACE, write(2) and
 * fsync(2). A table of its own, so that file systems that lack them or lose answers can be played in tests.
 */
struct sl_local_calls {
    int (*link)(const char *from, const char *to);
    int (*rename_noreplace)(const char *from, const char *to);
    ssize_t (*write)(int fd, const void *data, size_t size);
    int (*sync)(int fd);
    /* Names a file that was opened with O_TMPFILE, as link(2). NULL: there are no files without a name. */
    int (*link_unnamed)(int fd, const char *to);
    int (*rename_folder)(const char *from, const char *to); /* as rename(2): takes a table away as a whole */
};

/* A finished file without a name that lost a race for one, for the next try with the same bytes. */
struct sl_local_spare;
typedef _Atomic(struct sl_local_spare *) sl_local_spare_slot;

struct sl_local {
    const silt_env *env;
    const struct sl_local_calls *calls;
    struct sl_local_folders *folders; /* NULL: none are remembered */
    sl_local_spare_slot *spare;       /* NULL: none is kept */
    bool allow_lock_file;
    bool no_sync;
    bool no_folders; /* a file whose folder is missing is not written */
};

/* The system's own. Static storage. */
const struct sl_local_calls *sl_local_system_calls(void);

/* As silt_storage_local_new, with other system calls. They must outlive the store. */
silt_status sl_local_new_with(const silt_env *env, const silt_local_options *options,
                              const struct sl_local_calls *calls, silt_storage **out, silt_error *err);

/* ---- local_path.c ---- */

/* The path of a file, or of a folder without trailing slashes, for the system: no scheme, absolute, short enough. */
silt_status sl_local_file_path(const char *path, char out[SL_LOCAL_PATH_SIZE], silt_error *err);
silt_status sl_local_dir_path(const char *path, char out[SL_LOCAL_PATH_SIZE], silt_error *err);
/* As sl_local_file_path; refuses names that listings hide, since such a file would be lost. */
silt_status sl_local_target_path(const char *path, char out[SL_LOCAL_PATH_SIZE], silt_error *err);
/* The folder of a system path. */
void sl_local_parent(const char *path, char out[SL_LOCAL_PATH_SIZE]);
/* Whether listings leave this name out: a temp or lock file of ours. */
bool sl_local_is_hidden(const char *name);
/* A new hidden name in the folder of `final`. */
silt_status sl_local_temp_path(const struct sl_local *local, const char *final, char out[SL_LOCAL_PATH_SIZE],
                               silt_error *err);
/* The lock file of the folder of `final`. */
silt_status sl_local_lock_path(const char *final, char out[SL_LOCAL_PATH_SIZE], silt_error *err);
/* Creates the folders above a file that are missing, durably. */
silt_status sl_local_make_parents(const struct sl_local *local, const char *path, silt_error *err);
/* fsync unless switched off; 0 or -1 with errno. */
int sl_local_sync(const struct sl_local *local, int fd);
/* Makes the names in the folder of `path` durable; 0 or an errno. */
int sl_local_sync_parent(const struct sl_local *local, const char *path);
/* An errno of an operation that changes something, as a status. */
silt_status sl_local_fail_write(silt_error *err, int errnum, const char *operation);

/* How often a way to a file is made anew when others take away folders of it that are empty. */
#define SL_LOCAL_MAX_ANEW 64

/* ---- local_folders.c ---- */

struct sl_local_folders *sl_local_folders_new(const silt_env *env); /* NULL when out of memory */
void sl_local_folders_free(struct sl_local_folders *folders);       /* NULL is legal */
/* The store has just made it. */
void sl_local_folder_made(struct sl_local_folders *folders, const char *dir);
/* After the removal of a file: removes the folders above it that the store made, as far as they are empty. */
void sl_local_folders_drop(struct sl_local_folders *folders, const char *file);

/* The modification time of a file. */
int64_t sl_local_modified_ms(const struct stat *info);

/* ---- local_publish.c ---- */

/*
 * Gives the finished file `from` the name `to`, both system paths, if that is free; `from` is gone when DONE. Other
 * outcomes and failures leave `from` to the caller (AMBIGUOUS: it may be gone). *outcome is set when SILT_OK is
 * returned; a failure means that `to` was not created. err->sys_code is EXDEV when the two are on different file
 * systems.
 */
silt_status sl_local_publish(const struct sl_local *local, const silt_call *call, const char *from, const char *to,
                             silt_put_outcome *outcome, silt_error *err);

/*
 * Of a name that is there: EXISTS, or SILT_ECORRUPT (SL_NAME_TAKEN) when it is no file and leads to none, so that there will never be
 * anything to read. *outcome is set in either case.
 */
silt_status sl_local_judge_taken(const char *name, silt_put_outcome *outcome, silt_error *err);

/*
 * As sl_local_publish, for a file without a name; the descriptor stays the caller's. *supported false: it cannot be named so here, and nothing
 * happened.
 */
silt_status sl_local_publish_unnamed(const struct sl_local *local, int fd, const char *to, bool *supported,
                                     silt_put_outcome *outcome, silt_error *err);

/* ---- local_unnamed.c ---- */

/* What is to be written where. */
struct sl_local_job {
    const char *final; /* system path */
    const void *data;
    size_t data_len;
    bool keeps_spare; /* when the name is taken, the same bytes may be tried under another one */
    bool sync_last;   /* nobody knows of the name yet: it may be there before its bytes are durable */
};

/* Writes a file that has no name before it is whole. *done false: that cannot be had here, and nothing happened. */
silt_status sl_local_put_unnamed(const struct sl_local *local, const silt_call *call, const struct sl_local_job *job,
                                 silt_put_outcome *outcome, bool *done, silt_error *err);
void sl_local_spare_free(const struct sl_local *local, struct sl_local_spare *spare); /* NULL is legal */

/* ---- local_write.c ---- */

/*
 * Opens a new temp file beside `final`, making folders as needed; its path goes to temp, its descriptor to *fd. Write
 * it with sl_local_write_all, then hand what came of it to sl_local_finish_temp: that makes the file durable and closes
 * it, removes it if anything failed, and returns the first failure.
 */
silt_status sl_local_open_temp(const struct sl_local *local, const char *final, char temp[SL_LOCAL_PATH_SIZE], int *fd,
                               silt_error *err);
silt_status sl_local_write_all(const struct sl_local *local, const silt_call *call, int fd, const void *data,
                               size_t data_len, silt_error *err);
silt_status sl_local_finish_temp(const struct sl_local *local, int fd, const char *temp, silt_status status,
                                 silt_error *err);

/* ---- slots ---- */

silt_status sl_local_read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                               void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err);
silt_status sl_local_list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                          bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err);
silt_status sl_local_put_if_absent(void *impl, const silt_call *call, const char *path, const void *data,
                                   size_t data_len, silt_put_outcome *outcome, silt_error *err);
silt_status sl_local_put_hint(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                              silt_put_outcome *outcome, silt_error *err);
silt_status sl_local_put_beside(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                                silt_put_outcome *outcome, silt_error *err);
silt_status sl_local_put_fresh(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                               silt_error *err);
silt_status sl_local_put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                         silt_error *err);
silt_status sl_local_adopt(void *impl, const silt_call *call, const char *from, const char *path, silt_error *err);
silt_status sl_local_remove_tree(void *impl, const silt_call *call, const char *dir, silt_error *err);

#endif
