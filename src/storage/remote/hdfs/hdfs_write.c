/*
 * Writing of files. A file is written under a hidden name in its folder and then renamed: without overwriting for put_if_absent and adopt,
 * with for put. The rename is the one moment at which the name is taken, and the name node takes it whole or not.
 *
 * When a rename has no answer, or one that it did not happen, the hidden file is removed. If it was still there, the rename never happened and
 * never will; if it was not, it may have, whatever the answer is.
 *
 * Any thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "silt/version.h"
#include "storage/remote/hdfs/hdfs_int.h"

#define UPLOAD_UNIT ((size_t)8 << 20)
#define CLEAN_UP_US 5000000 /* the time that is given to the removal of a hidden file */

struct writing {
    struct sl_hdfs *hdfs;
    struct sl_hdfs_cluster *cluster;
    const silt_call *call;
    struct sl_hdfs_name name;
    struct sl_str bytes;
    int64_t size;       /* of the whole file, of an adopted one or an upload */
    struct sl_buf temp; /* path of the hidden file */
};

static silt_status begin_writing(struct writing *writing, struct sl_hdfs *hdfs, const silt_call *call, const char *path,
                                 silt_error *err)
{
    *writing = (struct writing){.hdfs = hdfs, .call = call};
    sl_buf_init(&writing->temp, hdfs->env);
    return sl_hdfs_begin(hdfs, path, false, &writing->name, &writing->cluster, err);
}

/* What is not there is no failure. */
static silt_status delete_path(struct sl_hdfs *hdfs, struct sl_hdfs_cluster *cluster, const silt_call *call,
                               const struct sl_hdfs_name *name, bool recursive, silt_error *err)
{
    struct sl_hdfs_request request;
    bool gone = false;
    sl_hdfs_request_init(&request, hdfs, cluster, "DELETE");
    sl_hdfs_put_operation(&request.target, name->path, "DELETE");
    sl_hdfs_put_parameter(&request.target, "recursive", recursive ? SL_STR("true") : SL_STR("false"));
    silt_status status = sl_hdfs_run(&request, call, err);
    if (status == SILT_OK && request.exchange.request.code == 200) {
        status = sl_hdfs_read_answer(hdfs->env, sl_buf_view(&request.exchange.request.answer), &gone, err);
    } else if (status == SILT_OK) {
        status = sl_hdfs_fail(hdfs, &request.exchange, name, err);
        status = status == SILT_ENOTFOUND ? SILT_OK : status;
    }
    sl_hdfs_request_release(&request);
    return status;
}

/* What the name node says of a hidden file that is to be removed. */
enum removal {
    REMOVED,       /* it was there until now, and its name is free for good */
    WAS_NOT_THERE, /* it has moved, or was removed by an attempt whose answer was lost */
    NOT_ANSWERED
};

static enum removal remove_temp(struct writing *writing)
{
    const silt_env *env = writing->hdfs->env;
    const silt_call call = {
        .size = sizeof(call), .abi_version = SILT_ABI_VERSION, .deadline_us = sl_monotonic_us(env) + CLEAN_UP_US};
    const struct sl_hdfs_name name = {.path = sl_buf_view(&writing->temp)};
    bool was_there = false;
    struct sl_hdfs_request request;
    sl_hdfs_request_init(&request, writing->hdfs, writing->cluster, "DELETE");
    sl_hdfs_put_operation(&request.target, name.path, "DELETE");
    const silt_status status = sl_hdfs_run(&request, &call, NULL);
    const bool answered = status == SILT_OK && request.exchange.request.code == 200 &&
                          sl_hdfs_read_answer(env, sl_buf_view(&request.exchange.request.answer), &was_there, NULL) ==
                              SILT_OK;
    sl_hdfs_request_release(&request);
    return !answered ? NOT_ANSWERED : was_there ? REMOVED : WAS_NOT_THERE;
}

/* ---- the hidden file ---- */

static silt_status choose_temp(struct writing *writing, silt_error *err)
{
    char name[SL_HDFS_TEMP_SIZE];
    SL_TRY(sl_hdfs_make_temp(writing->hdfs->env, name, err));
    size_t folder = writing->name.path.len;
    while (folder > 0 && writing->name.path.ptr[folder - 1] != '/') {
        folder--;
    }
    sl_buf_clear(&writing->temp);
    sl_buf_put_str(&writing->temp, sl_str_sub(writing->name.path, 0, folder));
    sl_buf_put_c(&writing->temp, name);
    return sl_buf_status(&writing->temp, err);
}

/* Asks the name node for a data node. */
static silt_status ask_for_node(struct writing *writing, struct sl_buf *location, silt_error *err)
{
    struct sl_hdfs_request request;
    sl_hdfs_request_init(&request, writing->hdfs, writing->cluster, "PUT");
    sl_hdfs_put_operation(&request.target, sl_buf_view(&writing->temp), "CREATE");
    sl_hdfs_put_parameter(&request.target, "overwrite", SL_STR("true")); /* nobody else has the name */
    silt_status status = sl_hdfs_run(&request, writing->call, err);
    if (status == SILT_OK && request.exchange.request.code != 307) {
        status = sl_hdfs_fail(writing->hdfs, &request.exchange, &writing->name, err);
    } else if (status == SILT_OK) {
        status = sl_hdfs_take_redirect(&request, &request.exchange, location, err);
    }
    sl_hdfs_request_release(&request);
    return status;
}

/* What came of bytes for a data node. */
enum sending {
    SENT = 0, /* or refused: another would do no better */
    LOST = 1,
    LOST_IN_SILENCE = 2
};

static enum sending judge_sending(struct sl_exchange *exchange)
{
    if (sl_exchange_judge(exchange) != SL_VERDICT_RETRY ||
        (exchange->status != SILT_OK && exchange->status != SILT_EIO)) {
        return SENT;
    }
    return exchange->status != SILT_OK && exchange->request.silent ? LOST_IN_SILENCE : LOST;
}

/* Writes the hidden file at a data node; unless *sending is SENT, another one may do better. */
static silt_status send_bytes(struct writing *writing, struct sl_str location, enum sending *sending, silt_error *err)
{
    struct sl_hdfs_request request;
    sl_hdfs_request_init(&request, writing->hdfs, writing->cluster, "PUT");
    request.direct = true;
    request.once = true;
    request.body = writing->bytes.ptr;
    request.body_len = writing->bytes.len;
    sl_buf_put_str(&request.target, location);
    silt_status status = sl_hdfs_run(&request, writing->call, err);
    *sending = judge_sending(&request.exchange);
    if (status == SILT_OK && request.exchange.request.code != 201) {
        status = sl_hdfs_fail(writing->hdfs, &request.exchange, &writing->name, err);
    }
    sl_hdfs_request_release(&request);
    return status;
}

/* Under a hidden name of its own. After a failure there is no hidden file, or one that nobody minds. */
static silt_status write_once(struct writing *writing, struct sl_buf *location, enum sending *sending, silt_error *err)
{
    *sending = SENT;
    SL_TRY(choose_temp(writing, err));
    SL_TRY(ask_for_node(writing, location, err));
    const silt_status status = send_bytes(writing, sl_buf_view(location), sending, err);
    if (status != SILT_OK) {
        (void)remove_temp(writing); /* by best effort: it is hidden */
    }
    return status;
}

static silt_status write_temp(struct writing *writing, silt_error *err)
{
    struct sl_buf location;
    struct sl_tries tries;
    enum sending sending = SENT;
    silt_error failure = SILT_ERROR_INIT;
    bool again = true;
    sl_buf_init(&location, writing->hdfs->env);
    sl_tries_begin(&tries, writing->hdfs->env, writing->call);
    silt_status status = write_once(writing, &location, &sending, &failure);
    while (status != SILT_OK && sending != SENT && again) {
        const silt_status waited = sl_tries_wait(&tries, sending == LOST_IN_SILENCE, &again, &failure, err);
        if (waited != SILT_OK) {
            sl_buf_release(&location);
            return waited;
        }
        if (again) {
            failure = (silt_error)SILT_ERROR_INIT;
            status = write_once(writing, &location, &sending, &failure);
        }
    }
    sl_buf_release(&location);
    return status != SILT_OK ? sl_error_take(err, &failure) : SILT_OK;
}

/* ---- the rename ---- */

/* How a rename ended. */
enum fate {
    FATE_FAILED = 0,
    FATE_DONE = 1,
    FATE_TAKEN = 2,
    FATE_UNKNOWN = 3
};

static void put_rename(struct sl_hdfs_request *request, const struct writing *writing, bool overwrite)
{
    struct sl_buf target;
    sl_buf_init(&target, writing->hdfs->env);
    sl_buf_put_char(&target, '/');
    sl_buf_put_str(&target, writing->name.path);
    sl_hdfs_put_operation(&request->target, sl_buf_view(&writing->temp), "RENAME");
    sl_hdfs_put_parameter(&request->target, "destination", sl_buf_view(&target));
    sl_hdfs_put_parameter(&request->target, "renameoptions", overwrite ? SL_STR("OVERWRITE") : SL_STR("NONE"));
    if (sl_buf_status(&target, NULL) != SILT_OK) {
        request->target.status = target.status; /* told when it is run */
    }
    sl_buf_release(&target);
}

/* A server that does not know the options says no without a reason: is it that the name is taken? */
static enum fate look_at_target(struct writing *writing, silt_error *err)
{
    struct sl_hdfs_file file;
    const silt_status status = sl_hdfs_describe(writing->hdfs, writing->cluster, writing->call, &writing->name, &file,
                                                err);
    if (status == SILT_ENOTFOUND) {
        sl_ignore(sl_fail(err, SILT_EIO, NULL, "HDFS did not rename to /%.*s", SL_FMT(writing->name.path)));
    }
    return status == SILT_OK ? FATE_TAKEN : FATE_FAILED;
}

/* What the last answer says. err is set for FATE_FAILED and FATE_UNKNOWN. */
static enum fate judge_rename(struct writing *writing, const struct sl_exchange *exchange, silt_error *err)
{
    bool yes = false;
    if (exchange->status != SILT_OK || exchange->request.code != 200) {
        const silt_status status = sl_hdfs_fail(writing->hdfs, exchange, &writing->name, err);
        return status == SILT_EEXISTS ? FATE_TAKEN : FATE_FAILED;
    }
    if (sl_hdfs_read_answer(writing->hdfs->env, sl_buf_view(&exchange->request.answer), &yes, err) != SILT_OK) {
        return FATE_UNKNOWN;
    }
    return yes ? FATE_DONE : look_at_target(writing, err);
}

/* Renames, and leaves no hidden file behind unless nobody answers. err is set for FATE_FAILED and FATE_UNKNOWN, *status is its status. */
static enum fate rename_temp(struct writing *writing, bool overwrite, silt_status *status, silt_error *err)
{
    struct sl_hdfs_request request;
    sl_hdfs_request_init(&request, writing->hdfs, writing->cluster, "PUT");
    put_rename(&request, writing, overwrite);
    sl_ignore(sl_hdfs_run(&request, writing->call, err)); /* judged below */
    const struct sl_exchange *exchange = &request.exchange;
    const bool answered = exchange->status == SILT_OK && exchange->request.code == 200;
    enum fate fate = judge_rename(writing, exchange, err);
    if (fate != FATE_DONE) {
        const enum removal removal = remove_temp(writing);
        const bool lost = fate == FATE_UNKNOWN || exchange->unclear || (!answered && sl_exchange_is_unclear(exchange));
        if (removal == WAS_NOT_THERE || (lost && removal == NOT_ANSWERED)) {
            if (fate == FATE_TAKEN) {
                sl_ignore(sl_fail(err, SILT_EIO, NULL,
                                  "HDFS calls /%.*s taken, and what was to be renamed to it is gone",
                                  SL_FMT(writing->name.path)));
            }
            fate = FATE_UNKNOWN; /* where did it go, if nothing was done as the answer says? */
        } else if (fate == FATE_UNKNOWN) {
            fate = FATE_FAILED;
        }
    }
    *status = SILT_OK;
    if (fate == FATE_FAILED || fate == FATE_UNKNOWN) {
        *status = err->status != SILT_OK && err->status != SILT_ENOTFOUND ? err->status : SILT_EIO;
        err->status = *status;
    }
    sl_hdfs_request_release(&request);
    return fate;
}

/* ---- slots ---- */

silt_status sl_hdfs_put_if_absent(void *impl, const silt_call *call, const char *path, const void *data,
                                  size_t data_len, silt_put_outcome *outcome, silt_error *err)
{
    struct writing writing;
    silt_status status = begin_writing(&writing, impl, call, path, err);
    writing.bytes = sl_str_make(data, data_len);
    if (status == SILT_OK) {
        status = write_temp(&writing, err);
    }
    if (status == SILT_OK) {
        const enum fate fate = rename_temp(&writing, false, &status, err);
        *outcome = fate == FATE_DONE ? SILT_PUT_DONE : fate == FATE_TAKEN ? SILT_PUT_EXISTS : SILT_PUT_AMBIGUOUS;
        status = fate == FATE_FAILED ? status : SILT_OK;
    }
    sl_buf_release(&writing.temp);
    return status;
}

silt_status sl_hdfs_put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                        silt_error *err)
{
    struct writing writing;
    silt_status status = begin_writing(&writing, impl, call, path, err);
    writing.bytes = sl_str_make(data, data_len);
    if (status == SILT_OK) {
        status = write_temp(&writing, err);
    }
    if (status == SILT_OK) {
        const enum fate fate = rename_temp(&writing, true, &status, err);
        status = fate == FATE_DONE ? SILT_OK : status;
        if (fate == FATE_TAKEN) {
            status = sl_fail(err, SILT_EIO, NULL, "HDFS did not replace /%.*s", SL_FMT(writing.name.path));
        }
    }
    sl_buf_release(&writing.temp);
    return status;
}

static silt_status map_file(const char *local, struct sl_str *bytes, silt_error *err)
{
    struct stat found = {0};
    *bytes = (struct sl_str){0};
    const int fd = open(local, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    silt_status status = SILT_OK;
    if (fd < 0 || fstat(fd, &found) != 0) {
        status = sl_fail_errno(err, errno, "open", local);
    } else if (!S_ISREG(found.st_mode)) {
        status = sl_fail(err, SILT_EINVALID, NULL, "%s is not a regular file", local);
    } else if (found.st_size > 0) {
        void *block = mmap(NULL, (size_t)found.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        status = block == MAP_FAILED ? sl_fail_errno(err, errno, "map", local) : SILT_OK;
        *bytes = status == SILT_OK ? sl_str_make(block, (size_t)found.st_size) : *bytes;
    }
    if (fd >= 0) {
        (void)close(fd); /* the mapping stays */
    }
    return status;
}

/* Of an adopted file whose rename had no answer: names of data files are used once, so one of its size is it. */
static silt_status look_for_adopted(struct writing *writing, silt_error *err)
{
    struct sl_hdfs_file file;
    silt_error found = SILT_ERROR_INIT;
    const silt_status status = sl_hdfs_describe(writing->hdfs, writing->cluster, writing->call, &writing->name, &file,
                                                &found);
    if (status == SILT_OK && !file.is_folder && file.size_bytes == writing->size) {
        return SILT_OK;
    }
    return sl_fail(err, SILT_EIO, NULL, "it is not known whether the file is there");
}

/* Gives the hidden file its name, if that is free. */
static silt_status give_name(struct writing *writing, silt_error *err)
{
    silt_status status = SILT_OK;
    switch (rename_temp(writing, false, &status, err)) {
    case FATE_DONE: return SILT_OK;
    case FATE_TAKEN: return sl_fail(err, SILT_EEXISTS, NULL, "the name is taken");
    case FATE_UNKNOWN: return look_for_adopted(writing, err);
    case FATE_FAILED:
    default: return status;
    }
}

silt_status sl_hdfs_adopt(void *impl, const silt_call *call, const char *local, const char *path, silt_error *err)
{
    struct writing writing;
    SL_TRY(begin_writing(&writing, impl, call, path, err));
    silt_status status = map_file(local, &writing.bytes, err);
    if (status == SILT_OK) {
        status = write_temp(&writing, err);
    }
    writing.size = (int64_t)writing.bytes.len;
    if (status == SILT_OK) {
        status = give_name(&writing, err);
    }
    if (writing.bytes.len > 0) {
        (void)munmap((void *)(uintptr_t)writing.bytes.ptr, writing.bytes.len); /* fails only for what is no mapping */
    }
    if (status == SILT_OK && unlink(local) != 0) {
        sl_log(writing.hdfs->env, SILT_LOG_WARN, "cannot remove %s (errno %d)", local, errno);
    }
    sl_buf_release(&writing.temp);
    return status;
}

/* ---- uploads whose bytes come one after the other: the hidden file grows ---- */

struct stream {
    struct writing writing;
    struct sl_arena arena; /* the path */
};

static void free_stream(struct stream *stream)
{
    const silt_env *env = stream->writing.hdfs->env;
    sl_buf_release(&stream->writing.temp);
    sl_arena_release(&stream->arena);
    sl_release(env, stream, sizeof(*stream));
}

silt_status sl_hdfs_upload_begin(void *impl, const silt_call *call, const char *path, void **upload, size_t *unit,
                                 silt_error *err)
{
    struct sl_hdfs *hdfs = impl;
    struct stream *stream = sl_alloc_zero(hdfs->env, sizeof(*stream));
    if (stream == NULL) {
        return sl_fail_nomem(err);
    }
    stream->writing.hdfs = hdfs;
    sl_buf_init(&stream->writing.temp, hdfs->env);
    sl_arena_init(&stream->arena, hdfs->env);
    const char *copy = sl_arena_strdup(&stream->arena, sl_str_from(path));
    const silt_status status = copy != NULL ? begin_writing(&stream->writing, hdfs, call, copy, err)
                                            : sl_fail_nomem(err);
    if (status != SILT_OK) {
        free_stream(stream);
        return status;
    }
    *upload = stream;
    *unit = UPLOAD_UNIT;
    return SILT_OK;
}

/* Asks the name node for the data node that the hidden file goes on at. */
static silt_status ask_to_append(struct writing *writing, struct sl_buf *location, silt_error *err)
{
    struct sl_hdfs_request request;
    sl_hdfs_request_init(&request, writing->hdfs, writing->cluster, "POST");
    sl_hdfs_put_operation(&request.target, sl_buf_view(&writing->temp), "APPEND");
    silt_status status = sl_hdfs_run(&request, writing->call, err);
    if (status == SILT_OK && request.exchange.request.code != 307) {
        status = sl_hdfs_fail(writing->hdfs, &request.exchange, &writing->name, err);
    } else if (status == SILT_OK) {
        status = sl_hdfs_take_redirect(&request, &request.exchange, location, err);
    }
    sl_hdfs_request_release(&request);
    return status;
}

/* Sends bytes to the end of the hidden file; unless *sending is SENT, no answer tells whether they got there. */
static silt_status append_once(struct writing *writing, enum sending *sending, silt_error *err)
{
    struct sl_buf location;
    struct sl_hdfs_request request;
    *sending = SENT;
    sl_buf_init(&location, writing->hdfs->env);
    silt_status status = ask_to_append(writing, &location, err);
    if (status == SILT_OK) {
        sl_hdfs_request_init(&request, writing->hdfs, writing->cluster, "POST");
        request.direct = true;
        request.once = true;
        request.body = writing->bytes.ptr;
        request.body_len = writing->bytes.len;
        sl_buf_put_str(&request.target, sl_buf_view(&location));
        status = sl_hdfs_run(&request, writing->call, err);
        *sending = judge_sending(&request.exchange);
        if (status == SILT_OK && request.exchange.request.code != 200) {
            status = sl_hdfs_fail(writing->hdfs, &request.exchange, &writing->name, err);
        }
        sl_hdfs_request_release(&request);
    }
    sl_buf_release(&location);
    return status;
}

/* After an append without an answer: whether the file has the bytes, which its size tells. SILT_EIO where it has some of them. */
static silt_status look_at_growth(struct writing *writing, bool *grown, silt_error *err)
{
    const struct sl_hdfs_name temp = {.path = sl_buf_view(&writing->temp)};
    struct sl_hdfs_file file;
    SL_TRY(sl_hdfs_describe(writing->hdfs, writing->cluster, writing->call, &temp, &file, err));
    *grown = file.size_bytes == writing->size + (int64_t)writing->bytes.len;
    return *grown || file.size_bytes == writing->size
               ? SILT_OK
               : sl_fail(err, SILT_EIO, NULL, "an append to a hidden file ended within it");
}

static silt_status append_bytes(struct writing *writing, silt_error *err)
{
    struct sl_tries tries;
    sl_tries_begin(&tries, writing->hdfs->env, writing->call);
    for (;;) {
        enum sending sending = SENT;
        silt_error failure = SILT_ERROR_INIT;
        bool again = false;
        bool grown = false;
        const silt_status status = append_once(writing, &sending, &failure);
        if (status == SILT_OK) {
            return SILT_OK;
        }
        if (sending == SENT) {
            return sl_error_take(err, &failure);
        }
        SL_TRY(sl_tries_wait(&tries, sending == LOST_IN_SILENCE, &again, &failure, err));
        SL_TRY(again ? look_at_growth(writing, &grown, err) : sl_error_take(err, &failure));
        if (grown) {
            return SILT_OK;
        }
    }
}

static silt_status grow(struct stream *stream, const silt_call *call, const void *data, size_t data_len,
                        silt_error *err)
{
    struct writing *writing = &stream->writing;
    writing->call = call;
    writing->bytes = sl_str_make(data, data_len);
    SL_TRY(writing->size == 0 ? write_temp(writing, err) : append_bytes(writing, err));
    writing->size += (int64_t)data_len;
    return SILT_OK;
}

silt_status sl_hdfs_upload_append(void *impl, const silt_call *call, void *upload, const void *data, size_t data_len,
                                  size_t *unit, silt_error *err)
{
    (void)impl;
    (void)unit;
    return grow(upload, call, data, data_len, err);
}

silt_status sl_hdfs_upload_finish(void *impl, const silt_call *call, void *upload, const void *data, size_t data_len,
                                  silt_error *err)
{
    struct stream *stream = upload;
    struct writing *writing = &stream->writing;
    (void)impl;
    silt_status status = SILT_OK;
    if (writing->size == 0 || data_len > 0) {
        status = grow(stream, call, data, data_len, err);
    }
    if (status == SILT_OK) {
        writing->call = call;
        status = give_name(writing, err);
    } else if (writing->size > 0) {
        (void)remove_temp(writing); /* by best effort: it is hidden */
    }
    free_stream(stream);
    return status;
}

void sl_hdfs_upload_abort(void *impl, void *upload)
{
    struct stream *stream = upload;
    (void)impl;
    if (stream->writing.size > 0) {
        (void)remove_temp(&stream->writing); /* by best effort: it is hidden */
    }
    free_stream(stream);
}

silt_status sl_hdfs_remove(void *impl, const silt_call *call, const char *path, silt_error *err)
{
    struct sl_hdfs *hdfs = impl;
    struct sl_hdfs_name name;
    struct sl_hdfs_cluster *cluster = NULL;
    SL_TRY(sl_hdfs_begin(hdfs, path, false, &name, &cluster, err));
    return delete_path(hdfs, cluster, call, &name, false, err);
}

silt_status sl_hdfs_remove_tree(void *impl, const silt_call *call, const char *dir, silt_error *err)
{
    struct sl_hdfs *hdfs = impl;
    struct sl_hdfs_name name;
    struct sl_hdfs_cluster *cluster = NULL;
    SL_TRY(sl_hdfs_begin(hdfs, dir, true, &name, &cluster, err));
    if (name.path.len == 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "the root of HDFS is not removed");
    }
    return delete_path(hdfs, cluster, call, &name, true, err);
}
