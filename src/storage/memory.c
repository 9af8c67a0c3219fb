/*
 * A store in memory, for tests and simulation. Files are kept in one array sorted by path, under one lock; a folder is
 * there as long as a file below it is. Paths are taken as they are, whatever their scheme.
 *
 * How it keeps the contract of a log store (silt/storage.h): every slot takes effect at one moment under the lock.
 * Callbacks run outside of it, on copies, so they may call the store.
 *
 * Any thread.
 */
#include "silt/storage.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/env.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "silt/version.h"

/* One file; owned by the store. */
struct memory_file {
    char *path; /* sl_strdup_len */
    void *data; /* NULL when empty */
    size_t data_len;
    int64_t modified_ms;
};

struct memory {
    const silt_env *env;
    pthread_mutex_t lock;
    struct sl_vec files; /* of struct memory_file, sorted by path; under the lock */
};

/* ---- the sorted array; the lock is held ---- */

static struct memory_file *file_at(const struct memory *memory, size_t index)
{
    return sl_vec_at(&memory->files, index);
}

/* Index of the first file whose path is >= path. */
static size_t lower_bound(const struct memory *memory, struct sl_str path)
{
    size_t begin = 0;
    size_t end = memory->files.len;
    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;
        if (sl_str_compare(sl_str_from(file_at(memory, middle)->path), path) < 0) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

static struct memory_file *find_file(const struct memory *memory, const char *path)
{
    size_t index = lower_bound(memory, sl_str_from(path));
    if (index == memory->files.len || strcmp(file_at(memory, index)->path, path) != 0) {
        return NULL;
    }
    return file_at(memory, index);
}

static void release_file(const struct memory *memory, struct memory_file *file)
{
    sl_strfree(memory->env, file->path);
    sl_release(memory->env, file->data, file->data_len);
}

/* Takes n files out, from index on. */
static void erase_files(struct memory *memory, size_t index, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        release_file(memory, file_at(memory, index + i));
    }
    size_t rest = memory->files.len - index - n;
    if (n > 0 && rest > 0) {
        memmove(file_at(memory, index), file_at(memory, index + n), rest * sizeof(struct memory_file));
    }
    memory->files.len -= n;
}

/* Puts a file in its place; true when done, the file is then the store's. */
static bool insert_file(struct memory *memory, const struct memory_file *file)
{
    size_t index = lower_bound(memory, sl_str_from(file->path));
    if (sl_vec_push(&memory->files) == NULL) {
        return false;
    }
    size_t rest = memory->files.len - 1 - index;
    if (rest > 0) {
        memmove(file_at(memory, index + 1), file_at(memory, index), rest * sizeof(struct memory_file));
    }
    *file_at(memory, index) = *file;
    return true;
}

/* ---- helpers ---- */

static void lock_memory(struct memory *memory)
{
    (void)pthread_mutex_lock(&memory->lock); /* fails only for a lock that is not one */
}

static void unlock_memory(struct memory *memory)
{
    (void)pthread_mutex_unlock(&memory->lock); /* as above */
}

static silt_status check_file_path(const char *path, silt_error *err)
{
    if (path[strlen(path) - 1] == '/') {
        return sl_fail(err, SILT_EINVALID, NULL, "the path of a file is expected, not of a folder");
    }
    const char *scheme_end = strstr(path, "://");
    if (strstr(scheme_end != NULL ? scheme_end + 3 : path, "//") != NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a folder in the path has no name");
    }
    return SILT_OK;
}

/* The prefix that all paths below a folder have; a copy owned by the caller, sl_strfree. */
static silt_status make_prefix(const struct memory *memory, const char *dir, struct sl_str *prefix, silt_error *err)
{
    size_t len = strlen(dir);
    while (len > 0 && dir[len - 1] == '/') {
        len--;
    }
    const char *end = len > 0 && dir[len - 1] == ':' ? "//" : "/"; /* "memory://" lists the whole store */
    size_t size = len + strlen(end) + 1;
    char *text = sl_alloc(memory->env, size);
    if (text == NULL) {
        return sl_fail_nomem(err);
    }
    memcpy(text, dir, len);
    memcpy(text + len, end, size - len);
    *prefix = sl_str_make(text, size - 1);
    return SILT_OK;
}

static void free_prefix(const struct memory *memory, struct sl_str prefix)
{
    sl_release(memory->env, (void *)(uintptr_t)prefix.ptr, prefix.len + 1);
}

static silt_status make_file(const struct memory *memory, const char *path, const void *data, size_t data_len,
                             struct memory_file *out, silt_error *err)
{
    *out = (struct memory_file){.modified_ms = sl_now_ms(memory->env), .data_len = data_len};
    out->path = sl_strdup_len(memory->env, path, strlen(path));
    if (out->path == NULL) {
        return sl_fail_nomem(err);
    }
    if (data_len > 0) {
        out->data = sl_alloc(memory->env, data_len);
        if (out->data == NULL) {
            sl_strfree(memory->env, out->path);
            return sl_fail_nomem(err);
        }
        memcpy(out->data, data, data_len);
    }
    return SILT_OK;
}

/* ---- slots ---- */

static void close_memory(void *impl)
{
    struct memory *memory = impl;
    erase_files(memory, 0, memory->files.len);
    sl_vec_release(&memory->files);
    (void)pthread_mutex_destroy(&memory->lock); /* nobody can hold it any more */
    sl_release(memory->env, memory, sizeof(*memory));
}

/* Copies the wanted range; the lock is held. */
static silt_status copy_range(const struct memory *memory, const struct memory_file *file, silt_read_request *request,
                              silt_error *err)
{
    int64_t size = (int64_t)file->data_len;
    int64_t begin = request->offset;
    if (begin < 0) {
        begin = begin <= -size ? 0 : size + begin;
    }
    int64_t rest = begin < size ? size - begin : 0;
    int64_t length = request->length >= 0 && request->length < rest ? request->length : rest;
    request->file_size = size;
    if (length == 0) {
        return SILT_OK;
    }
    request->data = sl_alloc(memory->env, (size_t)length);
    if (request->data == NULL) {
        return sl_fail_nomem(err);
    }
    memcpy(request->data, (const char *)file->data + begin, (size_t)length);
    request->data_len = (size_t)length;
    return SILT_OK;
}

static silt_status read_file(struct memory *memory, const silt_call *call, silt_read_request *request, silt_error *err)
{
    SL_TRY(sl_call_check(memory->env, call, err));
    SL_TRY(check_file_path(request->path, err));
    lock_memory(memory);
    const struct memory_file *file = find_file(memory, request->path);
    silt_status status = file != NULL ? copy_range(memory, file, request, err)
                                      : sl_fail(err, SILT_ENOTFOUND, NULL, "there is no file of this name");
    unlock_memory(memory);
    return status;
}

static silt_status read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                             void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    silt_status whole = SILT_OK;
    for (size_t i = 0; i < n; i++) {
        silt_status status = read_file(impl, call, &requests[i], err);
        requests[i].status = status;
        if (status == SILT_ECANCELLED || status == SILT_EDEADLINE) {
            whole = status;
        }
        on_done(ctx, &requests[i]);
    }
    return whole;
}

/* The files of a listing as they are now, names in the arena. */
static silt_status copy_entries(const struct memory *memory, struct sl_str prefix, const silt_list_options *options,
                                struct sl_arena *arena, struct sl_vec *entries, silt_error *err)
{
    size_t index = lower_bound(memory, prefix);
    bool any = false;
    for (; index < memory->files.len; index++) {
        const struct memory_file *file = file_at(memory, index);
        struct sl_str path = sl_str_from(file->path);
        if (!sl_str_starts_with(path, prefix)) {
            break;
        }
        any = true;
        struct sl_str name = sl_str_sub(path, prefix.len, path.len);
        if (options->start_from != NULL && sl_str_compare(name, sl_str_from(options->start_from)) < 0) {
            continue;
        }
        if (!options->recursive && sl_str_find(name, SL_STR("/")) != SIZE_MAX) {
            continue;
        }
        silt_file_entry *entry = sl_vec_push(entries);
        struct sl_str copy = sl_arena_copy(arena, name);
        if (entry == NULL || copy.ptr == NULL) {
            return sl_fail_nomem(err);
        }
        *entry = (silt_file_entry){.name = copy.ptr,
                                   .name_len = copy.len,
                                   .size_bytes = (int64_t)file->data_len,
                                   .modified_ms = file->modified_ms};
    }
    return any ? SILT_OK : sl_fail(err, SILT_ENOTFOUND, NULL, "there is no such folder");
}

static silt_status list_files(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                              bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    struct memory *memory = impl;
    struct sl_str prefix = {0};
    SL_TRY(make_prefix(memory, dir, &prefix, err));
    struct sl_arena arena;
    struct sl_vec entries;
    sl_arena_init(&arena, memory->env);
    sl_vec_init(&entries, memory->env, sizeof(silt_file_entry));
    lock_memory(memory);
    silt_status status = copy_entries(memory, prefix, options, &arena, &entries, err);
    unlock_memory(memory);
    for (size_t i = 0; status == SILT_OK && i < entries.len; i++) {
        status = sl_call_check(memory->env, call, err);
        if (status == SILT_OK && !on_entry(ctx, sl_vec_at(&entries, i))) {
            break;
        }
    }
    sl_vec_release(&entries);
    sl_arena_release(&arena);
    free_prefix(memory, prefix);
    return status;
}

static silt_status put_if_absent(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                                 silt_put_outcome *outcome, silt_error *err)
{
    struct memory *memory = impl;
    struct memory_file file = {0};
    (void)call; /* quick: the dispatch has looked */
    SL_TRY(check_file_path(path, err));
    SL_TRY(make_file(memory, path, data, data_len, &file, err));
    lock_memory(memory);
    bool taken = find_file(memory, path) != NULL;
    bool inserted = !taken && insert_file(memory, &file);
    unlock_memory(memory);
    if (!inserted) {
        release_file(memory, &file);
    }
    if (!taken && !inserted) {
        return sl_fail_nomem(err);
    }
    *outcome = taken ? SILT_PUT_EXISTS : SILT_PUT_DONE;
    return SILT_OK;
}

static silt_status put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                       silt_error *err)
{
    struct memory *memory = impl;
    struct memory_file file = {0};
    (void)call; /* quick: the dispatch has looked */
    SL_TRY(check_file_path(path, err));
    SL_TRY(make_file(memory, path, data, data_len, &file, err));
    lock_memory(memory);
    struct memory_file *there = find_file(memory, path);
    bool stored = true;
    struct memory_file old = file;
    if (there != NULL) {
        old = *there;
        *there = file;
    } else {
        stored = insert_file(memory, &file);
    }
    unlock_memory(memory);
    if (there != NULL || !stored) {
        release_file(memory, &old);
    }
    return stored ? SILT_OK : sl_fail_nomem(err);
}

static silt_status stat_file(void *impl, const silt_call *call, const char *path, int64_t *size_bytes,
                             int64_t *modified_ms, silt_error *err)
{
    struct memory *memory = impl;
    (void)call; /* quick: the dispatch has looked */
    SL_TRY(check_file_path(path, err));
    lock_memory(memory);
    const struct memory_file *file = find_file(memory, path);
    bool found = file != NULL;
    if (found) {
        *size_bytes = (int64_t)file->data_len;
        *modified_ms = file->modified_ms;
    }
    unlock_memory(memory);
    return found ? SILT_OK : sl_fail(err, SILT_ENOTFOUND, NULL, "there is no file of this name");
}

static silt_status remove_file(void *impl, const silt_call *call, const char *path, silt_error *err)
{
    struct memory *memory = impl;
    (void)call; /* quick: the dispatch has looked */
    SL_TRY(check_file_path(path, err));
    lock_memory(memory);
    if (find_file(memory, path) != NULL) {
        erase_files(memory, lower_bound(memory, sl_str_from(path)), 1);
    }
    unlock_memory(memory);
    return SILT_OK;
}

static silt_status adopt(void *impl, const silt_call *call, const char *local, const char *path, silt_error *err)
{
    struct memory *memory = impl;
    silt_storage *files = NULL;
    void *data = NULL;
    size_t data_len = 0;
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    SL_TRY(silt_storage_local_new(memory->env, NULL, &files, err));
    silt_status status = silt_storage_read(files, call, local, &data, &data_len, err);
    if (status == SILT_OK) {
        status = put_if_absent(memory, call, path, data, data_len, &outcome, err);
    }
    if (status == SILT_OK && outcome == SILT_PUT_EXISTS) {
        status = sl_fail(err, SILT_EEXISTS, NULL, "the name is taken");
    }
    if (status == SILT_OK && unlink(local) != 0) {
        sl_log(memory->env, SILT_LOG_WARN, "cannot remove %s (errno %d)", local, errno);
    }
    silt_storage_free(files, data, data_len);
    silt_storage_unref(files);
    return status;
}

static silt_status remove_tree(void *impl, const silt_call *call, const char *dir, silt_error *err)
{
    struct memory *memory = impl;
    struct sl_str prefix = {0};
    (void)call; /* quick: the dispatch has looked */
    SL_TRY(make_prefix(memory, dir, &prefix, err));
    lock_memory(memory);
    size_t begin = lower_bound(memory, prefix);
    size_t end = begin;
    while (end < memory->files.len && sl_str_starts_with(sl_str_from(file_at(memory, end)->path), prefix)) {
        end++;
    }
    erase_files(memory, begin, end - begin);
    unlock_memory(memory);
    free_prefix(memory, prefix);
    return SILT_OK;
}

static const silt_storage_vtable memory_slots = {
    .size = sizeof(silt_storage_vtable),
    .abi_version = SILT_ABI_VERSION,
    .name = "memory",
    .close = close_memory,
    .read_many = read_many,
    .list = list_files,
    .put_if_absent = put_if_absent,
    .put = put,
    .stat = stat_file,
    .remove = remove_file,
    .adopt = adopt,
    .remove_tree = remove_tree,
};

silt_status silt_storage_memory_new(const silt_env *env, silt_storage **out, silt_error *err)
{
    if (out == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "a store in memory needs an out parameter");
    }
    *out = NULL;
    SL_TRY(sl_env_check(env, err));
    struct memory *memory = sl_alloc_zero(env, sizeof(*memory));
    if (memory == NULL) {
        return sl_fail_nomem(err);
    }
    memory->env = env;
    if (pthread_mutex_init(&memory->lock, NULL) != 0) {
        sl_release(env, memory, sizeof(*memory));
        return sl_fail_nomem(err);
    }
    sl_vec_init(&memory->files, env, sizeof(struct memory_file));
    silt_status status = silt_storage_new(env, &memory_slots, memory, out, err);
    if (status != SILT_OK) {
        close_memory(memory);
    }
    return status;
}
