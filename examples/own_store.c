/*
 * A store of one's own: the scheme "flat" keeps whole tables in one directory without sub-folders. flat://box/t/_delta_log/0.json is
 * the file "t%2F_delta_log%2F0.json" in it, as in systems that have only names. The program registers the store, and creates, writes
 * and reads a table through it by SQL.
 *
 *     own_store [DIRECTORY]      DIRECTORY is ./flat_box unless it is given
 *
 * What a store must keep is said at each slot in silt/storage.h. silt calls the slots through checks: what breaks the contract in a
 * way that can be seen is reported as an error of the store.
 */
#define _POSIX_C_SOURCE 200809L /* link, opendir, fsync */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "silt/silt.h"

#define SCHEME "flat://"
#define NAME_SIZE 1024
#define TEMPORARY "%new-" /* no name of a file: '%' is followed by two digits there */

struct flat {
    int folder;        /* the directory */
    atomic_uint next;  /* of temporary files */
    atomic_uint calls; /* of slots, to be shown in the end */
};

/* ---- errors and names ---- */

static silt_status fail(silt_error *err, silt_status status, const char *what)
{
    err->sys_code = errno;
    (void)snprintf(err->message, sizeof(err->message), "the directory refused %s (errno %d)", what, errno);
    return status;
}

/* What a failed call of the system means to a caller of the store. */
static silt_status fail_by_errno(silt_error *err, const char *what)
{
    const silt_status status = errno == ENOENT   ? SILT_ENOTFOUND
                               : errno == EACCES ? SILT_EACCESS
                               : errno == ENOMEM ? SILT_ENOMEM
                                                 : SILT_EIO;
    return fail(err, status, what);
}

/* The file's name of a path, '%' and '/' escaped. False when it is too long or no path of ours. */
static bool encode(const char *path, char *name)
{
    const size_t scheme = strlen(SCHEME);
    size_t len = 0;
    if (strncmp(path, SCHEME, scheme) != 0) {
        return false;
    }
    for (const char *at = path + scheme; *at != '\0'; at++) {
        if (len + 4 > NAME_SIZE) {
            return false;
        }
        if (*at == '/' || *at == '%') {
            (void)memcpy(name + len, *at == '/' ? "%2F" : "%25", 3);
            len += 3;
        } else {
            name[len++] = *at;
        }
    }
    name[len] = '\0';
    return len > 0 && len <= 255; /* what directories take */
}

static silt_status need_name(const char *path, char *name, silt_error *err)
{
    errno = ENAMETOOLONG;
    return encode(path, name) ? SILT_OK : fail(err, SILT_EINVALID, "the name");
}

static void decode(const char *name, char *out)
{
    while (*name != '\0') {
        if (*name == '%' && name[1] == '2' && name[2] != '\0') {
            *out++ = name[2] == 'F' ? '/' : '%';
            name += 3;
        } else {
            *out++ = *name++;
        }
    }
    *out = '\0';
}

/* ---- reading ---- */

/* The part of the file that is asked for: a negative offset counts from the end, and nothing lies behind the end. */
static void clip(silt_read_request *request, int64_t size)
{
    int64_t begin = request->offset < 0 ? (request->offset < -size ? 0 : size + request->offset) : request->offset;
    begin = begin > size ? size : begin;
    const int64_t rest = size - begin;
    request->file_size = size;
    request->offset = begin;
    request->length = request->length < 0 || request->length > rest ? rest : request->length;
}

static silt_status read_open_file(int fd, silt_read_request *request, silt_error *err)
{
    struct stat info;
    const silt_allocator *memory = &silt_env_default()->allocator;
    if (fstat(fd, &info) != 0) {
        return fail_by_errno(err, "the size of a file");
    }
    clip(request, (int64_t)info.st_size);
    const size_t wanted = (size_t)request->length;
    if (wanted == 0) {
        return SILT_OK;
    }
    char *data = memory->alloc(memory->ctx, wanted); /* the caller releases it with its exact size */
    if (data == NULL) {
        return SILT_ENOMEM;
    }
    size_t done = 0;
    while (done < wanted) {
        const ssize_t n = pread(fd, data + done, wanted - done, (off_t)request->offset + (off_t)done);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) { /* files never shrink: they are replaced as a whole */
            memory->release(memory->ctx, data, wanted);
            return fail(err, SILT_EIO, "a read");
        }
        done += (size_t)n;
    }
    request->data = data;
    request->data_len = wanted;
    return SILT_OK;
}

static silt_status read_one(const struct flat *flat, silt_read_request *request, silt_error *err)
{
    char name[NAME_SIZE];
    silt_status status = need_name(request->path, name, err);
    if (status != SILT_OK) {
        return status;
    }
    const int fd = openat(flat->folder, name, O_RDONLY);
    if (fd < 0) {
        return fail_by_errno(err, "to open a file");
    }
    status = read_open_file(fd, request, err);
    (void)close(fd);
    return status;
}

/* One after the other; a store on a network would start all of them and wait for any. */
static silt_status flat_read_many(void *impl, const silt_call *call, silt_read_request *requests, size_t n,
                                  void (*on_done)(void *ctx, silt_read_request *request), void *ctx, silt_error *err)
{
    struct flat *flat = impl;
    (void)call;
    atomic_fetch_add(&flat->calls, 1);
    for (size_t i = 0; i < n; i++) {
        requests[i].status = read_one(flat, &requests[i], err);
        on_done(ctx, &requests[i]);
    }
    return SILT_OK;
}

static silt_status flat_stat(void *impl, const silt_call *call, const char *path, int64_t *size_bytes,
                             int64_t *modified_ms, silt_error *err)
{
    struct flat *flat = impl;
    char name[NAME_SIZE];
    struct stat info;
    (void)call;
    atomic_fetch_add(&flat->calls, 1);
    const silt_status status = need_name(path, name, err);
    if (status != SILT_OK) {
        return status;
    }
    if (fstatat(flat->folder, name, &info, 0) != 0) {
        return fail_by_errno(err, "to look at a file");
    }
    *size_bytes = (int64_t)info.st_size;
    *modified_ms = (int64_t)info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1000000;
    return SILT_OK;
}

/* ---- listing ---- */

struct listing {
    char **names; /* of the wanted folder, decoded */
    size_t n;
    size_t room;
    size_t n_below; /* files below the folder, wanted or not: there are folders only where there are files */
};

static bool keep_name(struct listing *listing, const char *name)
{
    if (listing->n == listing->room) {
        const size_t room = listing->room * 2 + 16;
        char **names = realloc(listing->names, room * sizeof(*names));
        if (names == NULL) {
            return false;
        }
        listing->names = names;
        listing->room = room;
    }
    listing->names[listing->n] = strdup(name);
    return listing->names[listing->n] != NULL && ++listing->n > 0;
}

/* Looks at one entry of the directory; false: out of memory. */
static bool take_entry(struct listing *listing, const char *entry, const char *folder, const silt_list_options *options)
{
    char path[NAME_SIZE];
    const size_t len = strlen(folder);
    if (strncmp(entry, TEMPORARY, strlen(TEMPORARY)) == 0) {
        return true;
    }
    decode(entry, path);
    if (strncmp(path, folder, len) != 0 || path[len] != '/') {
        return true;
    }
    const char *name = path + len + 1;
    listing->n_below++;
    if ((options->start_from != NULL && strcmp(name, options->start_from) < 0) ||
        (!options->recursive && strchr(name, '/') != NULL)) {
        return true;
    }
    return keep_name(listing, name);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b); /* bytes, as unsigned */
}

static silt_status tell_names(struct flat *flat, const char *dir, const struct listing *listing,
                              bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    for (size_t i = 0; i < listing->n; i++) {
        char path[2 * NAME_SIZE];
        silt_file_entry entry = {.name = listing->names[i], .name_len = strlen(listing->names[i])};
        (void)snprintf(path, sizeof(path), "%s/%s", dir, entry.name);
        const silt_status status = flat_stat(flat, NULL, path, &entry.size_bytes, &entry.modified_ms, err);
        if (status == SILT_ENOTFOUND) {
            continue; /* gone since the directory was read */
        }
        if (status != SILT_OK || !on_entry(ctx, &entry)) {
            return status;
        }
    }
    return SILT_OK;
}

static silt_status read_names(const struct flat *flat, const char *folder, const silt_list_options *options,
                              struct listing *listing, silt_error *err)
{
    const int fd = openat(flat->folder, ".",
                          O_RDONLY | O_DIRECTORY); /* a position of its own: threads list at the same time */
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (stream == NULL) {
        const silt_status status = fail_by_errno(err, "to be listed");
        if (fd >= 0) {
            (void)close(fd);
        }
        return status;
    }
    bool good = true;
    for (const struct dirent *entry = readdir(stream); good && entry != NULL; entry = readdir(stream)) {
        good = take_entry(listing, entry->d_name, folder, options);
    }
    (void)closedir(stream);
    return good ? SILT_OK : SILT_ENOMEM;
}

static silt_status flat_list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                             bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    struct flat *flat = impl;
    struct listing listing = {0};
    char folder[NAME_SIZE];
    (void)call;
    atomic_fetch_add(&flat->calls, 1);
    (void)snprintf(folder, sizeof(folder), "%s", dir + strlen(SCHEME));
    for (size_t len = strlen(folder); len > 0 && folder[len - 1] == '/'; len--) {
        folder[len - 1] = '\0';
    }
    silt_status status = read_names(flat, folder, options, &listing, err);
    if (status == SILT_OK && listing.n_below == 0) {
        errno = ENOENT;
        status = fail_by_errno(err, "a folder without files");
    }
    if (status == SILT_OK) {
        if (listing.n > 0) {
            qsort(listing.names, listing.n, sizeof(*listing.names), compare_names);
        }
        status = tell_names(flat, dir, &listing, on_entry, ctx, err);
    }
    for (size_t i = 0; i < listing.n; i++) {
        free(listing.names[i]);
    }
    free(listing.names);
    return status;
}

/* ---- writing ---- */

static bool write_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        const ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        data += n;
        len -= (size_t)n;
    }
    return fsync(fd) == 0;
}

/* A file that nobody sees yet, complete and on the disk. */
static silt_status write_temporary(struct flat *flat, const void *data, size_t len, char *name, silt_error *err)
{
    (void)snprintf(name, NAME_SIZE, "%s%ld-%u", TEMPORARY, (long)getpid(), atomic_fetch_add(&flat->next, 1));
    const int fd = openat(flat->folder, name, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (fd < 0) {
        return fail_by_errno(err, "a new file");
    }
    const bool good = write_all(fd, data, len);
    silt_status status = good ? SILT_OK : fail(err, SILT_EIO, "to be written to");
    if (close(fd) != 0 && status == SILT_OK) {
        status = fail(err, SILT_EIO, "to close a file");
    }
    if (status != SILT_OK) {
        (void)unlinkat(flat->folder, name, 0);
    }
    return status;
}

/*
 * The one operation on which tables rest: link(2) gives a name to a finished file, and fails when the name is taken, whoever was
 * first. Nothing else would do: looking first and renaming then lets two writers believe that a version is theirs.
 */
static silt_status flat_put_if_absent(void *impl, const silt_call *call, const char *path, const void *data,
                                      size_t data_len, silt_put_outcome *outcome, silt_error *err)
{
    struct flat *flat = impl;
    char name[NAME_SIZE];
    char temporary[NAME_SIZE];
    (void)call;
    atomic_fetch_add(&flat->calls, 1);
    silt_status status = need_name(path, name, err);
    if (status == SILT_OK) {
        status = write_temporary(flat, data, data_len, temporary, err);
    }
    if (status != SILT_OK) {
        return status; /* certainly not created */
    }
    if (linkat(flat->folder, temporary, flat->folder, name, 0) == 0) {
        *outcome = fsync(flat->folder) == 0 ? SILT_PUT_DONE : SILT_PUT_AMBIGUOUS; /* there, but for how long? */
    } else if (errno == EEXIST) {
        *outcome = SILT_PUT_EXISTS;
    } else {
        status = fail_by_errno(err, "a name");
    }
    (void)unlinkat(flat->folder, temporary, 0);
    return status;
}

static silt_status flat_put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                            silt_error *err)
{
    struct flat *flat = impl;
    char name[NAME_SIZE];
    char temporary[NAME_SIZE];
    (void)call;
    atomic_fetch_add(&flat->calls, 1);
    silt_status status = need_name(path, name, err);
    if (status == SILT_OK) {
        status = write_temporary(flat, data, data_len, temporary, err);
    }
    if (status == SILT_OK && (renameat(flat->folder, temporary, flat->folder, name) != 0 || fsync(flat->folder) != 0)) {
        status = fail_by_errno(err, "a name");
        (void)unlinkat(flat->folder, temporary, 0);
    }
    return status;
}

static silt_status flat_remove(void *impl, const silt_call *call, const char *path, silt_error *err)
{
    struct flat *flat = impl;
    char name[NAME_SIZE];
    (void)call;
    atomic_fetch_add(&flat->calls, 1);
    const silt_status status = need_name(path, name, err);
    if (status != SILT_OK) {
        return status;
    }
    return unlinkat(flat->folder, name, 0) == 0 || errno == ENOENT ? SILT_OK : fail_by_errno(err, "to remove a file");
}

static char *read_local(const char *local, size_t *len)
{
    FILE *file = fopen(local, "rb");
    char *data = NULL;
    if (file == NULL) {
        return NULL;
    }
    if (fseek(file, 0, SEEK_END) == 0 && ftell(file) >= 0) {
        *len = (size_t)ftell(file);
        rewind(file);
        data = malloc(*len + 1);
        if (data != NULL && fread(data, 1, *len, file) != *len) {
            free(data);
            data = NULL;
        }
    }
    (void)fclose(file);
    return data;
}

/* How data files come: the engine writes them in its folder for temporary files first. */
static silt_status flat_adopt(void *impl, const silt_call *call, const char *local, const char *path, silt_error *err)
{
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    size_t len = 0;
    char *data = read_local(local, &len);
    if (data == NULL) {
        return fail_by_errno(err, "a local file");
    }
    silt_status status = flat_put_if_absent(impl, call, path, data, len, &outcome, err);
    free(data);
    if (status == SILT_OK && outcome != SILT_PUT_DONE) {
        status = outcome == SILT_PUT_EXISTS ? SILT_EEXISTS : SILT_EIO;
    }
    if (status == SILT_OK && unlink(local) != 0) {
        return fail_by_errno(err, "to remove a local file");
    }
    return status;
}

static void flat_close(void *impl)
{
    struct flat *flat = impl;
    (void)close(flat->folder);
    free(flat);
}

/* local_path, remove_tree, put_hint, put_fresh, put_beside and list_folders are left out: silt does without them. */
static const silt_storage_vtable flat_slots = {
    .size = sizeof(silt_storage_vtable),
    .abi_version = SILT_ABI_VERSION,
    .name = "flat",
    .close = flat_close,
    .read_many = flat_read_many,
    .list = flat_list,
    .put_if_absent = flat_put_if_absent,
    .put = flat_put,
    .stat = flat_stat,
    .remove = flat_remove,
    .adopt = flat_adopt,
};

/* The store of a directory; *flat is valid as long as it. */
static silt_status flat_new(const char *directory, struct flat **flat, silt_storage **out, silt_error *err)
{
    if (mkdir(directory, 0777) != 0 && errno != EEXIST) {
        return fail_by_errno(err, "to be made");
    }
    *flat = calloc(1, sizeof(**flat));
    if (*flat == NULL) {
        return SILT_ENOMEM;
    }
    (*flat)->folder = open(directory, O_RDONLY | O_DIRECTORY);
    if ((*flat)->folder < 0) {
        free(*flat);
        return fail_by_errno(err, "to be opened");
    }
    const silt_status status = silt_storage_new(silt_env_default(), &flat_slots, *flat, out, err);
    if (status != SILT_OK) {
        flat_close(*flat);
    }
    return status;
}

/* ---- a table in it ---- */

/* A session whose engine knows the scheme "flat" and no other. */
static silt_status open_session(silt_storage *store, silt_session **out, silt_error *err)
{
    silt_storage_registry *stores = NULL;
    silt_status status = silt_storage_registry_new(silt_env_default(), &stores, err);
    if (status == SILT_OK) {
        status = silt_storage_registry_add(stores, "flat", store, err);
    }
    if (status == SILT_OK) {
        const silt_default_engine_options engine = {.size = sizeof(engine), .stores = stores};
        const silt_session_options options = {.size = sizeof(options), .engine = &engine, .warehouse = "flat://box"};
        status = silt_session_open(&options, out, err);
    }
    if (status != SILT_OK) {
        silt_storage_registry_free(stores); /* a session that was opened has consumed it */
    }
    return status;
}

/* The first number of the first row, or of the last statement that has one. */
static void take_number(struct ArrowArrayStream *stream, int64_t *number)
{
    struct ArrowArray batch;
    while (stream->get_next(stream, &batch) == 0 && batch.release != NULL) {
        if (batch.length > 0 && batch.n_children > 0) {
            const struct ArrowArray *column = batch.children[0];
            *number = ((const int64_t *)column->buffers[1])[column->offset];
        }
        batch.release(&batch);
    }
}

static silt_status run_sql(silt_session *session, const char *text, int64_t *number, silt_error *err)
{
    silt_execution *execution = NULL;
    bool done = false;
    silt_status status = silt_session_execute(session, text, strlen(text), NULL, NULL, &execution, err);
    while (status == SILT_OK && !done) {
        silt_result result = {.size = sizeof(result)};
        status = silt_execution_next(execution, NULL, &result, &done, err);
        if (status == SILT_OK && !done && result.stream.release != NULL) {
            take_number(&result.stream, number);
            result.stream.release(&result.stream);
        }
    }
    silt_execution_free(execution);
    return status;
}

static silt_status use_table(silt_session *session, int64_t *rows, int64_t *rows_before, silt_error *err)
{
    int64_t unused = 0;
    silt_status status = run_sql(session,
                                 "CREATE TABLE IF NOT EXISTS words (id BIGINT, word STRING) PARTITIONED BY (word);"
                                 "INSERT INTO words VALUES (1, 'a/b'), (2, '100%');"
                                 "INSERT INTO words VALUES (3, 'c')",
                                 &unused, err);
    if (status == SILT_OK) {
        status = run_sql(session, "SELECT count(*) FROM words", rows, err);
    }
    if (status == SILT_OK) {
        status = run_sql(session, "SELECT count(*) FROM words VERSION AS OF 1", rows_before, err);
    }
    return status;
}

int main(int argc, char **argv)
{
    silt_error err = SILT_ERROR_INIT;
    struct flat *flat = NULL;
    silt_storage *store = NULL;
    silt_session *session = NULL;
    int64_t rows = 0;
    int64_t rows_before = 0;

    silt_status status = flat_new(argc > 1 ? argv[1] : "flat_box", &flat, &store, &err);
    if (status == SILT_OK) {
        status = open_session(store, &session, &err);
    }
    if (status == SILT_OK) {
        status = use_table(session, &rows, &rows_before, &err);
    }
    if (status == SILT_OK) {
        printf("flat://box/words: %" PRId64 " rows, %" PRId64 " at version 1, %u calls of the store\n", rows,
               rows_before, atomic_load(&flat->calls));
    } else {
        fprintf(stderr, "%s: %s\n", err.code_name, err.message);
    }
    silt_session_close(session);
    silt_storage_unref(store);
    return status == SILT_OK && rows_before == 2 && rows % 3 == 0 && rows > 0 ? 0 : 1;
}
