/*
 * Data files on their way to a store without local paths while COPY still writes them. DuckDB writes a Parquet file from its beginning to its end
 * and never goes back (its footer comes last), so what is there is as it will be: a thread follows the growing files of the staging folder and hands whole
 * parts to the store's uploads. What is left, and the end of the upload, come when the files are published.
 *
 * Where nothing is split afterwards (SL_DUCK_SENT_GIVEN), what the store has taken is given back to the disk by holes, and the rows wait (duck_pace.h)
 * when COPY is faster than the store. Elsewhere a file may turn out too large: then its upload is called off, and the whole file, which is
 * still there, is split (duck_split.c).
 *
 * The thread touches the sender, the texts of partition values and what never changes of the write; the write's owner looks at the sender before the thread begins and
 * after it has ended.
 */
#include "duck_write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "base/uri.h"
#include "duck_pace.h"
#include "silt/version.h"

#define POLL_US 20000
/* A look at very many folders may take no more than this part of the time. */
#define POLL_SHARE 20
#define UNITS_AT_ONCE 4 /* as many as stores send side by side */
/* From what size on a file is sent before it is whole. */
#define FIRST_UNIT ((size_t)8 << 20)
#define MAX_ROOM ((size_t)32 << 20)
/* Of a file that has given its bytes away this much stays, in which its footer must lie; with more columns nothing is given away. */
#define KEPT_TAIL (INT64_C(8) << 20)
#define KEPT_HEAD INT64_C(4096)
#define MAX_PUNCHED_COLUMNS 200
#define FOOTER_TAIL 8 /* length and magic */

/* A file that COPY writes. */
struct sl_duck_sending {
    char *local;          /* in the sender's arena, as are the others */
    const char *relative; /* final name below the request's dir, NULL until there is an upload */
    const char *path;     /* as the store is told it */
    int fd;
    silt_upload *upload; /* NULL: none yet, or it is over */
    size_t unit;         /* bytes of a part */
    int64_t size;        /* seen last */
    int64_t sent;
    int64_t punched; /* [KEPT_HEAD, punched) is a hole */
    bool given_up;   /* too large to stay as it is */
};

struct sl_duck_sender {
    const struct sl_duck_writing *w;
    struct sl_duck_texts *texts;
    bool punching;
    atomic_bool refused;       /* the store has no uploads */
    pthread_mutex_t lock;      /* guards the files, the names and the arena */
    int64_t most;              /* bytes of a file that is not split */
    struct sl_duck_pace *pace; /* NULL unless files are given away */
    silt_call call;            /* of the uploads */
    volatile int cancelled;
    struct sl_arena arena;
    struct sl_map by_path; /* local → place in files */
    struct sl_vec files;   /* struct sl_duck_sending * */
    size_t n_named;
    char *room;
    size_t room_size;
    pthread_t thread;
    bool running;
    atomic_bool done;
    silt_error error; /* of the thread */
};

/* ---- names ---- */

/* The texts of a partition from the folders that COPY made: "silt_p0=TEXT/silt_p1=TEXT/…". */
static silt_status read_partition(struct sl_duck_sender *sender, struct sl_str folders, struct sl_duck_staged *file,
                                  silt_error *err)
{
    const size_t n = sender->w->request->n_partition_columns;
    file->partition_values = sl_arena_alloc_array(&sender->arena, n, sizeof(*file->partition_values));
    file->partition_texts = sl_arena_alloc_array(&sender->arena, n, sizeof(*file->partition_texts));
    if (file->partition_values == NULL || file->partition_texts == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        const size_t slash = sl_str_find(folders, SL_STR("/"));
        const struct sl_str folder = sl_str_sub(folders, 0, slash == SIZE_MAX ? folders.len : slash);
        const size_t equals = sl_str_find(folder, SL_STR("="));
        const struct sl_str escaped = sl_str_sub(folder, equals == SIZE_MAX ? folder.len : equals + 1, folder.len);
        struct sl_str key = escaped;
        SL_TRY(sl_uri_decode(&sender->arena, escaped, &key, err));
        const struct sl_str text = sl_duck_texts_find(sender->texts, key);
        /* A null's folder has a name of its own, which stands for it in the log's folders as well: names are free (duck_publish.c). */
        file->partition_texts[i] = text.ptr != NULL ? text : SL_STR("");
        folders = slash == SIZE_MAX ? SL_STR("") : sl_str_sub(folders, slash + 1, folders.len);
    }
    return SILT_OK;
}

static silt_status choose_name(struct sl_duck_sender *sender, struct sl_duck_sending *sending, size_t number,
                               silt_error *err)
{
    const struct sl_duck_writing *w = sender->w;
    struct sl_duck_staged file = {.local = sending->local};
    const size_t top = strlen(w->stage) + sizeof("/d/") - 1;
    if (w->request->n_partition_columns > 0 && strlen(sending->local) > top) {
        SL_TRY(read_partition(sender, sl_str_from(sending->local + top), &file, err));
    }
    struct sl_buf name;
    sl_buf_init(&name, w->conn.dp->env);
    silt_status status = sl_duck_put_name(w, &file, number, &name, err);
    if (status == SILT_OK) {
        sending->relative = sl_arena_strdup(&sender->arena, sl_buf_view(&name));
        sending->path = sl_uri_join(&sender->arena, sl_str_from(w->request->dir), sl_buf_view(&name)).ptr;
        status = sending->relative != NULL && sending->path != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    sl_buf_release(&name);
    return status;
}

/* ---- the files ---- */

static silt_status add_file(struct sl_duck_sender *sender, const char *local, struct sl_duck_sending **out,
                            silt_error *err)
{
    bool inserted = false;
    struct sl_duck_sending *sending = sl_arena_alloc_zero(&sender->arena, sizeof(*sending));
    char *copy = sl_arena_strdup(&sender->arena, sl_str_from(local));
    struct sl_duck_sending **place = sending != NULL && copy != NULL ? sl_vec_push(&sender->files) : NULL;
    *out = NULL;
    if (place == NULL) {
        return sl_fail_nomem(err);
    }
    /* Last: an entry stays once it is there, and must have its file. */
    struct sl_map_entry *entry = sl_map_put(&sender->by_path, sl_str_from(copy), &inserted);
    if (entry == NULL) {
        sender->files.len--;
        return sl_fail_nomem(err);
    }
    entry->value.u64 = sender->files.len - 1;
    sending->local = copy;
    sending->fd = -1;
    sending->unit = FIRST_UNIT;
    sending->punched = KEPT_HEAD;
    *place = sending;
    *out = sending;
    return SILT_OK;
}

static struct sl_duck_sending *find_file(const struct sl_duck_sender *sender, const char *local)
{
    struct sl_map_entry *entry = sl_map_find(&sender->by_path, sl_str_from(local));
    return entry != NULL ? *(struct sl_duck_sending **)sl_vec_at(&sender->files, (size_t)entry->value.u64) : NULL;
}

static void end_file(struct sl_duck_sending *sending, const struct sl_dataplane_host *host)
{
    host->upload_abort(sending->upload);
    sending->upload = NULL;
    if (sending->fd >= 0) {
        (void)close(sending->fd); /* nothing was written */
    }
    sending->fd = -1;
}

static silt_status see_file(struct sl_duck_sender *sender, int folder, const char *name, const char *local,
                            silt_error *err)
{
    struct stat found;
    struct sl_duck_sending *sending = find_file(sender, local);
    if (fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(found.st_mode)) {
        return SILT_OK;
    }
    if (sending == NULL) {
        SL_TRY(add_file(sender, local, &sending, err));
    }
    sending->size = (int64_t)found.st_size;
    if (sending->size > sender->most && !sending->given_up) {
        sending->given_up = true;
        end_file(sending, sender->w->conn.dp->host);
    }
    return SILT_OK;
}

/* Looks at all files below a folder. depth: of folders below it. */
static silt_status look(struct sl_duck_sender *sender, const char *path, size_t depth, silt_error *err)
{
    DIR *dir = opendir(path);
    silt_status status = SILT_OK;
    if (dir == NULL) {
        return SILT_OK; /* not there yet */
    }
    struct sl_buf local;
    sl_buf_init(&local, sender->w->conn.dp->env);
    for (const struct dirent *entry = readdir(dir); entry != NULL && status == SILT_OK; entry = readdir(dir)) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        sl_buf_clear(&local);
        sl_buf_printf(&local, "%s/%s", path, entry->d_name);
        status = sl_buf_status(&local, err);
        if (status == SILT_OK && sl_str_ends_with(sl_str_from(entry->d_name), SL_STR(".parquet"))) {
            status = see_file(sender, dirfd(dir), entry->d_name, sl_buf_cstr(&local), err);
        } else if (status == SILT_OK && depth > 0) {
            status = look(sender, sl_buf_cstr(&local), depth - 1, err);
        }
    }
    sl_buf_release(&local);
    (void)closedir(dir);
    return status;
}

/* ---- sending ---- */

/* Bytes of whole parts that wait; never the last of the file, which goes with the end of the upload. */
static int64_t ready_bytes(const struct sl_duck_sending *sending)
{
    const int64_t left = sending->size - sending->sent - 1;
    if (sending->given_up || left <= 0) {
        return 0;
    }
    return left / (int64_t)sending->unit * (int64_t)sending->unit;
}

/* The file that most bytes of wait; NULL: none. */
static struct sl_duck_sending *choose_file(const struct sl_duck_sender *sender, int64_t *waiting)
{
    struct sl_duck_sending *best = NULL;
    int64_t most = 0;
    int64_t backlog = 0;
    for (size_t i = 0; i < sender->files.len; i++) {
        struct sl_duck_sending *sending = *(struct sl_duck_sending **)sl_vec_at(&sender->files, i);
        const int64_t ready = ready_bytes(sending);
        backlog += ready;
        best = ready > most ? sending : best;
        most = ready > most ? ready : most;
    }
    *waiting = backlog;
    return best;
}

/* Asked by rows that wait, too: while a part is on its way, COPY goes on. */
static silt_status look_and_choose(struct sl_duck_sender *sender, struct sl_duck_sending **best, int64_t *waiting,
                                   silt_error *err)
{
    *best = NULL;
    *waiting = 0;
    pthread_mutex_lock(&sender->lock);
    const silt_status status = look(sender, sender->w->stage, sender->w->request->n_partition_columns + 1, err);
    if (status == SILT_OK) {
        *best = choose_file(sender, waiting);
    }
    pthread_mutex_unlock(&sender->lock);
    return status;
}

static int64_t backlog_of(void *ctx)
{
    struct sl_duck_sending *best = NULL;
    int64_t waiting = 0;
    return look_and_choose(ctx, &best, &waiting, NULL) == SILT_OK &&
                   !atomic_load(&((struct sl_duck_sender *)ctx)->refused)
               ? waiting
               : 0; /* what is wrong is told by the thread */
}

static silt_status begin_upload(struct sl_duck_sender *sender, struct sl_duck_sending *sending, silt_error *err)
{
    const struct sl_duck_writing *w = sender->w;
    if (sending->relative == NULL) {
        pthread_mutex_lock(&sender->lock);
        const silt_status named = choose_name(sender, sending, sender->n_named++, err);
        pthread_mutex_unlock(&sender->lock);
        SL_TRY(named);
    }
    sending->fd = open(sending->local, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (sending->fd < 0) {
        return sl_fail_errno(err, errno, "open", sending->local);
    }
    const struct sl_dataplane_host *host = w->conn.dp->host;
    silt_upload *upload = NULL;
    SL_TRY(host->upload_begin(w->request->storage, &sender->call, sending->path, &upload, err));
    pthread_mutex_lock(&sender->lock);
    sending->upload = upload;
    sending->unit = host->upload_unit(upload);
    pthread_mutex_unlock(&sender->lock);
    return SILT_OK;
}

static silt_status read_at(const struct sl_duck_sending *sending, int64_t offset, char *out, size_t n, silt_error *err)
{
    while (n > 0) {
        const ssize_t got = pread(sending->fd, out, n, (off_t)offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return got < 0 ? sl_fail_errno(err, errno, "read", sending->local)
                           : sl_fail(err, SILT_EIO, NULL, "%s became shorter", sending->local);
        }
        out += got;
        offset += got;
        n -= (size_t)got;
    }
    return SILT_OK;
}

/* Gives back to the disk what the store has. Where the file system knows no holes, it all stays. */
static void punch(const struct sl_duck_sender *sender, struct sl_duck_sending *sending)
{
    const int64_t tail = sending->size - KEPT_TAIL;
    const int64_t end = (sending->sent < tail ? sending->sent : tail) / KEPT_HEAD * KEPT_HEAD;
    if (sender->punching && end > sending->punched &&
        fallocate(sending->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)sending->punched,
                  (off_t)(end - sending->punched)) == 0) {
        sending->punched = end;
    }
}

/* Room for `wanted` bytes, or for as many as are sent at once, but for at least a part. */
static silt_status make_room(struct sl_duck_sender *sender, size_t unit, silt_error *err)
{
    const silt_env *env = sender->w->conn.dp->env;
    const size_t wanted = unit > MAX_ROOM / UNITS_AT_ONCE ? unit : MAX_ROOM;
    if (sender->room_size < wanted) {
        sl_release(env, sender->room, sender->room_size);
        sender->room = sl_alloc(env, wanted);
        sender->room_size = sender->room != NULL ? wanted : 0;
    }
    return sender->room != NULL ? SILT_OK : sl_fail_nomem(err);
}

static silt_status send_parts(struct sl_duck_sender *sender, struct sl_duck_sending *sending, silt_error *err)
{
    const struct sl_dataplane_host *host = sender->w->conn.dp->host;
    if (sending->upload == NULL) {
        SL_TRY(begin_upload(sender, sending, err));
    }
    const size_t unit = sending->unit;
    SL_TRY(make_room(sender, unit, err));
    pthread_mutex_lock(&sender->lock);
    const int64_t ready = ready_bytes(sending);
    pthread_mutex_unlock(&sender->lock);
    const int64_t most = (int64_t)(sender->room_size / unit * unit);
    const size_t n = (size_t)(ready < most ? ready : most);
    if (n == 0) {
        return SILT_OK; /* parts of this store are larger */
    }
    SL_TRY(read_at(sending, sending->sent, sender->room, n, err));
    SL_TRY(host->upload_append(sending->upload, &sender->call, sender->room, n, err));
    pthread_mutex_lock(&sender->lock);
    sending->sent += (int64_t)n;
    sending->unit = host->upload_unit(sending->upload);
    punch(sender, sending);
    pthread_mutex_unlock(&sender->lock);
    return SILT_OK;
}

static silt_status send_while_copied(struct sl_duck_sender *sender, silt_error *err)
{
    const silt_env *env = sender->w->conn.dp->env;
    while (!atomic_load(&sender->done)) {
        const int64_t before_us = sl_monotonic_us(env);
        struct sl_duck_sending *sending = NULL;
        int64_t waiting = 0;
        SL_TRY(look_and_choose(sender, &sending, &waiting, err));
        const int64_t took_us = sl_monotonic_us(env) - before_us;
        if (sending != NULL) {
            const silt_status status = send_parts(sender, sending, err);
            if (status == SILT_EUNSUPPORTED && sending->upload == NULL) {
                silt_error_reset(err);
                atomic_store(&sender->refused, true); /* the store takes whole files only */
                return SILT_OK;
            }
            SL_TRY(status);
        }
        if (sending == NULL || took_us > POLL_US) {
            SL_TRY(sl_call_sleep(env, &sender->call, took_us * POLL_SHARE > POLL_US ? took_us * POLL_SHARE : POLL_US,
                                 err));
        }
    }
    return SILT_OK;
}

static void *send_files(void *arg)
{
    struct sl_duck_sender *sender = arg;
    if (send_while_copied(sender, &sender->error) != SILT_OK) {
        sl_duck_pace_end(sender->pace);
        if (sender->error.status != SILT_ECANCELLED) {
            duckdb_interrupt(sender->w->conn.handle); /* rows that nobody takes are not worth making */
        }
    }
    return NULL;
}

/* ---- the course of it ---- */

static void free_sender(struct sl_duck_sender *sender)
{
    const silt_env *env = sender->w->conn.dp->env;
    for (size_t i = 0; i < sender->files.len; i++) {
        end_file(*(struct sl_duck_sending **)sl_vec_at(&sender->files, i), sender->w->conn.dp->host);
    }
    sl_duck_pace_drop(sender->pace);
    pthread_mutex_destroy(&sender->lock);
    sl_release(env, sender->room, sender->room_size);
    sl_map_release(&sender->by_path);
    sl_vec_release(&sender->files);
    sl_arena_release(&sender->arena);
    sl_release(env, sender, sizeof(*sender));
}

/* Recursion is bounded by the schema's depth. */
static size_t count_columns(const struct silt_type *type)
{
    size_t n = 0;
    switch (type->kind) {
    case SILT_TYPE_STRUCT:
        for (size_t i = 0; i < type->n_fields; i++) {
            n += count_columns(type->fields[i].type);
        }
        return n;
    case SILT_TYPE_ARRAY: return count_columns(type->element);
    case SILT_TYPE_MAP: return count_columns(type->key) + count_columns(type->element);
    default: return 1;
    }
}

/* Uploads end when the write does; progress is told on the caller's thread only. */
static silt_call call_of(const silt_call *call, volatile int *cancelled)
{
    silt_call own = {.size = sizeof(own), .abi_version = SILT_ABI_VERSION, .cancel = cancelled};
    own.deadline_us = call != NULL ? call->deadline_us : 0;
    return own;
}

silt_status sl_duck_send_begin(struct sl_duck_writing *w, silt_error *err)
{
    if (w->mode == SL_DUCK_SENT_WHOLE) {
        return SILT_OK;
    }
    const silt_env *env = w->conn.dp->env;
    struct sl_duck_sender *sender = sl_alloc_zero(env, sizeof(*sender));
    if (sender == NULL) {
        return sl_fail_nomem(err);
    }
    sender->w = w;
    sender->texts = &w->texts;
    const bool given = w->mode == SL_DUCK_SENT_GIVEN;
    sender->punching = given && count_columns(&w->request->schema->root) <= MAX_PUNCHED_COLUMNS;
    sender->most = given ? INT64_MAX : sl_duck_split_limit(w->request);
    sender->call = call_of(w->call, &sender->cancelled);
    sender->error = (silt_error)SILT_ERROR_INIT;
    sl_arena_init(&sender->arena, env);
    sl_map_init(&sender->by_path, env);
    sl_vec_init(&sender->files, env, sizeof(struct sl_duck_sending *));
    atomic_init(&sender->done, false);
    atomic_init(&sender->refused, false);
    pthread_mutex_init(&sender->lock, NULL);
    const struct sl_duck_pace_source source = {.backlog = backlog_of, .ctx = sender, .call = w->call};
    silt_status status = given ? sl_duck_pace_new(w->conn.dp, &source, &sender->pace, err) : SILT_OK;
    if (status == SILT_OK && pthread_create(&sender->thread, NULL, send_files, sender) != 0) {
        status = sl_fail(err, SILT_EENGINE, NULL, "no thread can be made to send data files");
    }
    if (status != SILT_OK) {
        free_sender(sender);
        return status;
    }
    w->sender = sender;
    return SILT_OK;
}

const struct sl_duck_pace *sl_duck_send_pace(const struct sl_duck_writing *w)
{
    return w->sender != NULL ? w->sender->pace : NULL;
}

/* The footer is read after this; it must not lie in a hole. */
static silt_status check_footer(const struct sl_duck_sending *sending, int64_t size, silt_error *err)
{
    unsigned char tail[FOOTER_TAIL] = {0};
    if (sending->punched == KEPT_HEAD) {
        return SILT_OK;
    }
    SL_TRY(read_at(sending, size - FOOTER_TAIL, (char *)tail, sizeof(tail), err));
    const int64_t length = (int64_t)tail[0] | (int64_t)tail[1] << 8 | (int64_t)tail[2] << 16 | (int64_t)tail[3] << 24;
    return size - FOOTER_TAIL - length >= sending->punched
               ? SILT_OK
               : sl_fail(err, SILT_ELIMIT, NULL, "a data file's footer has %lld bytes, and only %lld were kept of it",
                         (long long)length, (long long)KEPT_TAIL);
}

/* Gives the files that COPY told of their uploads. */
static silt_status hand_over(struct sl_duck_writing *w, silt_error *err)
{
    for (size_t i = 0; i < w->files.len; i++) {
        struct sl_duck_staged *file = sl_vec_at(&w->files, i);
        struct sl_duck_sending *sending = find_file(w->sender, file->local);
        if (sending != NULL && sending->upload != NULL) {
            SL_TRY(check_footer(sending, file->size_bytes, err));
            file->sending = sending;
            file->relative = sending->relative;
            file->path = sending->path;
        }
    }
    return SILT_OK;
}

silt_status sl_duck_send_end(struct sl_duck_writing *w, silt_status copied, silt_error *err)
{
    struct sl_duck_sender *sender = w->sender;
    if (sender == NULL) {
        return copied;
    }
    if (copied != SILT_OK) {
        __atomic_store_n(&sender->cancelled, 1, __ATOMIC_RELAXED);
    }
    atomic_store(&sender->done, true);
    (void)pthread_join(sender->thread, NULL);
    w->mode = atomic_load(&sender->refused) ? SL_DUCK_SENT_WHOLE : w->mode;
    if (sender->error.status == SILT_OK || (copied != SILT_OK && sender->error.status == SILT_ECANCELLED)) {
        return copied == SILT_OK ? hand_over(w, err) : copied;
    }
    return sl_error_take(err, &sender->error);
}

void sl_duck_send_call_off(struct sl_duck_writing *w, struct sl_duck_staged *file)
{
    if (file->sending != NULL) {
        end_file(file->sending, w->conn.dp->host);
        file->sending = NULL;
        file->relative = file->path = NULL;
    }
}

/* What is left of a file, and the end of its upload. On any thread, one a file. */
silt_status sl_duck_send_rest(const struct sl_duck_writing *w, struct sl_duck_staged *file, silt_error *err)
{
    const struct sl_dataplane_host *host = w->conn.dp->host;
    const silt_env *env = w->conn.dp->env;
    struct sl_duck_sending *sending = file->sending;
    silt_status status = SILT_OK;
    while (status == SILT_OK) {
        const int64_t unit = (int64_t)host->upload_unit(sending->upload);
        const int64_t left = file->size_bytes - sending->sent;
        const int64_t several = unit > (int64_t)MAX_ROOM / UNITS_AT_ONCE ? unit : UNITS_AT_ONCE * unit;
        const bool last = left <= unit;
        const int64_t whole = last ? left : (left - 1) / unit * unit;
        const size_t n = (size_t)(whole < several ? whole : several);
        char *room = sl_alloc(env, n > 0 ? n : 1);
        status = room != NULL ? read_at(sending, sending->sent, room, n, err) : sl_fail_nomem(err);
        if (status == SILT_OK && last) {
            silt_upload *upload = sending->upload;
            sending->upload = NULL; /* over, whatever comes of it */
            status = host->upload_finish(upload, w->call, room, n, err);
        } else if (status == SILT_OK) {
            status = host->upload_append(sending->upload, w->call, room, n, err);
            sending->sent += (int64_t)n;
        }
        sl_release(env, room, n > 0 ? n : 1);
        if (last) {
            break;
        }
    }
    end_file(sending, host);
    return status;
}

void sl_duck_send_close(struct sl_duck_writing *w)
{
    if (w->sender != NULL) {
        free_sender(w->sender);
        w->sender = NULL;
    }
}
