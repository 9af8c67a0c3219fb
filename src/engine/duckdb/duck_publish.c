/*
 * Giving staged files their final names. Making a file durable is waiting for the disk, and a file system commits many such waits
 * at once: several files are moved side by side by threads that end with the call. Names are made before and on_file is called
 * after, on the caller's thread, so that the request's callback sees durable files only and no other thread.
 */
#include "duck_write.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/env.h"
#include "base/error.h"
#include "base/uri.h"
#include "base/uuid.h"
#include "schema/partition_folder.h"

#define MAX_MOVERS 8
/* Fewer files than this for each thread are not worth it. */
#define FILES_A_MOVER 2

/* ---- final names ---- */

static void put_partition_dirs(const struct sl_duck_writing *w, const struct sl_duck_staged *file, struct sl_buf *out)
{
    for (size_t i = 0; i < w->request->n_partition_columns; i++) {
        const bool is_null = file->partition_values[i].is_null;
        sl_partition_folder_put(out, w->request->schema->root.fields[w->partition_index[i]].name,
                                is_null ? (struct sl_str){NULL, 0} : file->partition_texts[i]);
    }
}

/* As Delta Spark names such folders. */
static silt_status put_random_dir(const struct sl_duck_writing *w, struct sl_buf *out, silt_error *err)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    const silt_env *env = w->conn.dp->env;
    size_t left = w->request->random_prefix_length;
    while (left > 0) {
        uint8_t bytes[16];
        const size_t n = left < sizeof(bytes) ? left : sizeof(bytes);
        const silt_status status = env->random_bytes(env->ctx, bytes, n);
        if (status != SILT_OK) {
            return sl_fail(err, status, NULL, "cannot get %zu random bytes from the environment", n);
        }
        for (size_t i = 0; i < n; i++) {
            sl_buf_put_char(out, letters[bytes[i] % (sizeof(letters) - 1)]);
        }
        left -= n;
    }
    sl_buf_put_char(out, '/');
    return SILT_OK;
}

/* A prefix that ends in '/' is a folder above those of the partition; another one begins the file's own name. */
silt_status sl_duck_put_name(const struct sl_duck_writing *w, const struct sl_duck_staged *file, size_t number,
                             struct sl_buf *out, silt_error *err)
{
    const struct sl_duck_codec *codec = NULL;
    char uuid[SL_UUID_TEXT_SIZE];
    SL_TRY(sl_duck_find_codec(w->request->codec, &codec, err));
    SL_TRY(sl_uuid_make(w->conn.dp->env, uuid, err));
    const struct sl_str prefix = sl_str_from(w->request->path_prefix != NULL ? w->request->path_prefix : "");
    const bool folder = sl_str_ends_with(prefix, SL_STR("/"));
    sl_buf_put_str(out, folder ? prefix : SL_STR(""));
    if (w->request->random_prefix_length > 0) {
        SL_TRY(put_random_dir(w, out, err));
    } else {
        put_partition_dirs(w, file, out);
    }
    sl_buf_put_str(out, folder ? SL_STR("") : prefix);
    sl_buf_printf(out, "part-%05zu-%s-c000%s.parquet", number, uuid, codec->suffix);
    return sl_buf_status(out, err);
}

static silt_status make_names(struct sl_duck_writing *w, silt_error *err)
{
    struct sl_buf name;
    sl_buf_init(&name, w->conn.dp->env);
    silt_status status = SILT_OK;
    for (size_t i = 0; i < w->files.len && status == SILT_OK; i++) {
        struct sl_duck_staged *file = sl_vec_at(&w->files, i);
        if (file->sending != NULL) {
            continue; /* it has its name */
        }
        sl_buf_clear(&name);
        status = sl_duck_put_name(w, file, i, &name, err);
        if (status == SILT_OK) {
            file->relative = sl_arena_strdup(&w->arena, sl_buf_view(&name));
            file->path = sl_uri_join(&w->arena, sl_str_from(w->request->dir), sl_buf_view(&name)).ptr;
            status = file->relative != NULL && file->path != NULL ? SILT_OK : sl_fail_nomem(err);
        }
    }
    sl_buf_release(&name);
    return status;
}

/* ---- moving ---- */

struct moving {
    struct sl_duck_writing *w;
    atomic_size_t next;
    atomic_bool failed;
    pthread_mutex_t lock;
    silt_error error; /* guarded by lock; the first one */
};

/*
 * When a file was modified: of a store with local paths its own word, for which it costs nothing to ask; elsewhere the time at which the file was
 * written here, since asking would be a round more for each file, and what the log says of it has no use for another clock.
 */
static silt_status take_time(const struct sl_duck_writing *w, struct sl_duck_staged *file, silt_error *err)
{
    int64_t size_bytes = 0;
    if (w->far) {
        return SILT_OK; /* known since before the move */
    }
    SL_TRY(w->conn.dp->host->stat(w->request->storage, w->call, file->path, &size_bytes, &file->modified_ms, err));
    return size_bytes == file->size_bytes
               ? SILT_OK
               : sl_fail(err, SILT_EIO, NULL, "file %s has %lld bytes, but %lld were written", file->relative,
                         (long long)size_bytes, (long long)file->size_bytes);
}

/* Before the local file is gone. */
static silt_status note_time(struct sl_duck_staged *file, silt_error *err)
{
    struct stat found = {0};
    if (stat(file->local, &found) != 0) {
        return sl_fail_errno(err, errno, "look at", file->local);
    }
    file->modified_ms = (int64_t)found.st_mtim.tv_sec * 1000 + found.st_mtim.tv_nsec / 1000000;
    return (int64_t)found.st_size == file->size_bytes
               ? SILT_OK
               : sl_fail(err, SILT_EIO, NULL, "file %s has %lld bytes, but %lld were written", file->relative,
                         (long long)found.st_size, (long long)file->size_bytes);
}

static silt_status move_file(const struct sl_duck_writing *w, struct sl_duck_staged *file, silt_error *err)
{
    const struct sl_dataplane_host *host = w->conn.dp->host;
    silt_storage *storage = w->request->storage;
    SL_TRY(sl_call_check(w->conn.dp->env, w->call, err));
    if (w->far) {
        SL_TRY(note_time(file, err));
    }
    SL_TRY(file->sending != NULL ? sl_duck_send_rest(w, file, err)
                                 : host->adopt(storage, w->call, file->local, file->path, err));
    return take_time(w, file, err);
}

static void *move_files(void *arg)
{
    struct moving *moving = arg;
    for (;;) {
        const size_t i = atomic_fetch_add(&moving->next, 1);
        if (i >= moving->w->files.len || atomic_load(&moving->failed)) {
            return NULL;
        }
        silt_error err = SILT_ERROR_INIT;
        if (move_file(moving->w, sl_vec_at(&moving->w->files, i), &err) != SILT_OK) {
            pthread_mutex_lock(&moving->lock);
            if (!atomic_exchange(&moving->failed, true)) {
                moving->error = err;
            }
            pthread_mutex_unlock(&moving->lock);
        }
    }
}

static silt_status move_all(struct sl_duck_writing *w, silt_error *err)
{
    struct moving moving = {.w = w, .error = SILT_ERROR_INIT};
    atomic_init(&moving.next, 0);
    atomic_init(&moving.failed, false);
    pthread_mutex_init(&moving.lock, NULL);
    pthread_t threads[MAX_MOVERS];
    size_t n = 0;
    while (n + 1 < MAX_MOVERS && (n + 2) * FILES_A_MOVER <= w->files.len &&
           pthread_create(&threads[n], NULL, move_files, &moving) == 0) {
        n++;
    }
    (void)move_files(&moving); /* always NULL */
    for (size_t i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_mutex_destroy(&moving.lock);
    return moving.error.status == SILT_OK ? SILT_OK : sl_error_take(err, &moving.error);
}

silt_status sl_duck_publish(struct sl_duck_writing *w, silt_error *err)
{
    SL_TRY(make_names(w, err));
    SL_TRY(move_all(w, err));
    for (size_t i = 0; i < w->files.len; i++) {
        const struct sl_duck_staged *file = sl_vec_at(&w->files, i);
        const silt_written_file written = {.size = sizeof(written),
                                           .path = file->relative,
                                           .size_bytes = file->size_bytes,
                                           .modified_ms = file->modified_ms,
                                           .num_rows = file->num_rows,
                                           .partition_values = file->partition_values,
                                           .n_partition_values = w->request->n_partition_columns,
                                           .stats = file->stats,
                                           .n_stats = file->n_stats};
        if (!w->request->on_file(w->request->on_file_ctx, &written)) {
            return sl_fail_nomem(err);
        }
    }
    return SILT_OK;
}

/*
 * Every name that was made is removed, whether or not the file got there: removing what is not there does no harm, and the outcome
 * of a failed move may not be known. Without the call: a cancelled write is cleaned up, too.
 */
void sl_duck_unpublish(struct sl_duck_writing *w)
{
    for (size_t i = 0; i < w->files.len; i++) {
        const struct sl_duck_staged *file = sl_vec_at(&w->files, i);
        silt_error err = SILT_ERROR_INIT;
        if (file->path != NULL && w->conn.dp->host->remove(w->request->storage, NULL, file->path, &err) != SILT_OK) {
            sl_log(w->conn.dp->env, SILT_LOG_WARN, "a file of a failed write stays behind: %s", err.message);
        }
    }
}
