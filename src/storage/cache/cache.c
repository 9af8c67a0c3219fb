/*
 * The folder of the range cache: where it is, what is in it, what goes when it is full. Nothing in it is ever followed out of it: files
 * are opened without following links, and only names of the cache's own form are looked at.
 *
 * Any thread, any number of processes.
 */
#include "storage/cache/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "base/uuid.h"
#include "storage/cache/cache_int.h"

#define DEFAULT_MAX_BYTES (INT64_C(10) << 30)

uint64_t sl_cache_header_hash(const struct sl_cache_header *header, const char *uri, const char *tag)
{
    const struct {
        int64_t size;
        uint64_t lens;
    } numbers = {header->size_bytes, (uint64_t)header->uri_len << 32 | header->tag_len};
    uint64_t hash = sl_hash_bytes(&numbers, sizeof(numbers));
    hash = sl_hash_seeded(uri, header->uri_len, hash);
    return sl_hash_seeded(tag, header->tag_len, hash);
}

uint64_t sl_cache_record_hash(const struct sl_cache_record *record, uint64_t header_hash)
{
    const uint64_t fields[3] = {(uint64_t)record->begin, (uint64_t)record->end, record->data_hash};
    return sl_hash_seeded(fields, sizeof(fields), header_hash);
}

bool sl_cache_read_header(int fd, struct sl_cache_header *header, struct sl_buf *text)
{
    sl_buf_clear(text);
    if (pread(fd, header, sizeof(*header), 0) != (ssize_t)sizeof(*header) ||
        memcmp(header->magic, SL_CACHE_MAGIC, sizeof(header->magic)) != 0 || header->size_bytes < 0 ||
        header->uri_len > SL_CACHE_MAX_URI || header->tag_len > SL_CACHE_MAX_TAG) {
        return false;
    }
    const size_t n = (size_t)header->uri_len + header->tag_len;
    char *room = sl_buf_reserve(text, n + 2);
    if (room == NULL || pread(fd, room, n, (off_t)sizeof(*header)) != (ssize_t)n) {
        return false;
    }
    memmove(room + header->uri_len + 1, room + header->uri_len, header->tag_len);
    room[header->uri_len] = '\0';
    room[n + 1] = '\0';
    text->len += n + 2;
    return sl_cache_header_hash(header, room, room + header->uri_len + 1) == header->hash;
}

bool sl_cache_lock(int fd, int kind)
{
    int result = 0;
    do {
        result = flock(fd, kind | LOCK_NB);
    } while (result != 0 && errno == EINTR);
    return result == 0;
}

void sl_cache_put_path(struct sl_buf *out, const struct sl_cache *cache, const char *name, const char *ending)
{
    sl_buf_printf(out, "%s/%s%s", cache->dir, name, ending);
}

/* ---- opening ---- */

/* "10737418240", "10G", "512m". */
static bool parse_size(const char *text, int64_t *out)
{
    static const char units[] = "KMGT";
    struct sl_str digits = sl_str_from(text);
    unsigned shift = 0;
    if (digits.len > 0 && !sl_is_digit(digits.ptr[digits.len - 1])) {
        const char last = digits.ptr[digits.len - 1];
        const char *unit = strchr(units, last >= 'a' && last <= 'z' ? last - 'a' + 'A' : last);
        if (unit == NULL) {
            return false;
        }
        shift = 10 * (unsigned)(unit - units + 1);
        digits.len--;
    }
    int64_t number = 0;
    if (!sl_str_to_i64(digits, &number) || number < 0 || number > INT64_MAX >> shift) {
        return false;
    }
    *out = number << shift;
    return true;
}

static silt_status choose_dir(const char *dir, struct sl_buf *out, silt_error *err)
{
    const char *set = dir != NULL && dir[0] != '\0' ? dir : secure_getenv("SILT_CACHE_DIR");
    if (set != NULL && set[0] != '\0') {
        sl_buf_put_c(out, set);
    } else if ((set = secure_getenv("XDG_CACHE_HOME")) != NULL && set[0] == '/') {
        sl_buf_printf(out, "%s/silt", set);
    } else if ((set = secure_getenv("HOME")) != NULL && set[0] == '/') {
        sl_buf_printf(out, "%s/.cache/silt", set);
    } else {
        return sl_fail(err, SILT_EINVALID, NULL, "there is no place for the cache of remote files: HOME is not set");
    }
    SL_TRY(sl_buf_status(out, err));
    if (sl_buf_cstr(out)[0] != '/') {
        return sl_fail(err, SILT_EINVALID, NULL, "the folder of the cache, \"%s\", must be an absolute path",
                       sl_buf_cstr(out));
    }
    return SILT_OK;
}

static silt_status choose_limit(int64_t given, int64_t *out, silt_error *err)
{
    const char *set = secure_getenv("SILT_CACHE_SIZE");
    *out = given > 0 ? given : DEFAULT_MAX_BYTES;
    if (given <= 0 && set != NULL && set[0] != '\0' && !parse_size(set, out)) {
        return sl_fail(err, SILT_EINVALID, NULL,
                       "SILT_CACHE_SIZE is \"%s\", expected bytes, or a number with K, M, G or T", set);
    }
    return SILT_OK;
}

/* Makes the folder and those above it; what is there is only used if it is a folder of ours. */
static silt_status make_dir(char *path, silt_error *err)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const bool failed = mkdir(path, 0777) != 0 && errno != EEXIST;
        const int errnum = errno;
        *slash = '/';
        if (failed) {
            return sl_fail_errno(err, errnum, "make folder", path);
        }
    }
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        return sl_fail_errno(err, errno, "make folder", path);
    }
    struct stat info;
    if (stat(path, &info) != 0) {
        return sl_fail_errno(err, errno, "look at folder", path);
    }
    if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid()) {
        return sl_fail(err, SILT_EACCESS, NULL, "the cache of remote files needs a folder of its user's own: %s", path);
    }
    return SILT_OK;
}

silt_status sl_cache_open(const silt_env *env, const char *dir, int64_t max_bytes, struct sl_cache **out,
                          silt_error *err)
{
    *out = NULL;
    int64_t limit = 0;
    SL_TRY(choose_limit(max_bytes, &limit, err));
    struct sl_buf path;
    sl_buf_init(&path, env);
    struct sl_cache *cache = NULL;
    silt_status status = choose_dir(dir, &path, err);
    if (status == SILT_OK) {
        status = make_dir(path.data, err);
    }
    if (status == SILT_OK) {
        cache = sl_alloc_zero(env, sizeof(*cache));
        char *copy = cache != NULL ? sl_strdup_len(env, path.data, path.len) : NULL;
        if (copy == NULL) {
            sl_release(env, cache, sizeof(*cache));
            status = sl_fail_nomem(err);
        } else {
            *cache = (struct sl_cache){.env = env, .dir = copy, .max_bytes = limit};
            *out = cache;
        }
    }
    sl_buf_release(&path);
    return status;
}

void sl_cache_close(struct sl_cache *cache)
{
    if (cache != NULL) {
        sl_strfree(cache->env, cache->dir);
        sl_release(cache->env, cache, sizeof(*cache));
    }
}

/* ---- what is in it ---- */

/* An entry that a walk is at. */
struct found {
    char name[64]; /* without the ending */
    bool temporary;
    int64_t cached_bytes;
    int64_t used_ms;
};

/* Whether a file is a map of the cache's, and of which entry. */
static bool is_map(const char *file, struct found *out)
{
    struct sl_str name = sl_str_from(file);
    const size_t ending = sizeof(SL_CACHE_MAP) - 1;
    if (name.len <= ending || strcmp(file + name.len - ending, SL_CACHE_MAP) != 0 ||
        name.len - ending >= sizeof(out->name)) {
        return false;
    }
    name.len -= ending;
    *out = (struct found){.temporary = sl_str_starts_with(name, SL_STR(SL_CACHE_TEMPORARY))};
    memcpy(out->name, name.ptr, name.len);
    const char *id = out->name + (out->temporary ? sizeof(SL_CACHE_TEMPORARY) - 1 : 0);
    const size_t len = out->temporary ? SL_UUID_TEXT_SIZE - 1 : SL_CACHE_NAME_LEN;
    return strlen(id) == len && strspn(id, out->temporary ? "0123456789abcdef-" : "0123456789abcdef") == len;
}

static void measure(int folder, struct found *found)
{
    char name[sizeof(found->name) + sizeof(SL_CACHE_DATA)];
    struct stat info;
    (void)snprintf(name, sizeof(name), "%s%s", found->name, SL_CACHE_MAP);
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0) {
        found->used_ms = (int64_t)info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1000000;
        found->cached_bytes = (int64_t)info.st_blocks * 512;
    }
    (void)snprintf(name, sizeof(name), "%s%s", found->name, SL_CACHE_DATA);
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0) {
        found->cached_bytes += (int64_t)info.st_blocks * 512;
    }
}

static silt_status walk(struct sl_cache *cache, struct sl_vec *out, silt_error *err)
{
    DIR *folder = opendir(cache->dir);
    if (folder == NULL) {
        return sl_fail_errno(err, errno, "list folder", cache->dir);
    }
    silt_status status = SILT_OK;
    for (const struct dirent *file = readdir(folder); file != NULL && status == SILT_OK; file = readdir(folder)) {
        struct found entry;
        if (!is_map(file->d_name, &entry)) {
            continue;
        }
        struct found *found = sl_vec_push(out);
        if (found == NULL) {
            status = sl_fail_nomem(err);
            break;
        }
        *found = entry;
        measure(dirfd(folder), found);
    }
    closedir(folder);
    return status;
}

/* Removes an entry that nobody uses. The data go first: a map without data is refused by whoever opens it. */
static bool remove_entry(struct sl_cache *cache, const char *name)
{
    struct sl_buf path;
    bool done = false;
    sl_buf_init(&path, cache->env);
    sl_cache_put_path(&path, cache, name, SL_CACHE_MAP);
    const int fd = sl_buf_status(&path, NULL) == SILT_OK ? open(path.data, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd >= 0 && sl_cache_lock(fd, LOCK_EX)) {
        struct sl_buf data;
        sl_buf_init(&data, cache->env);
        sl_cache_put_path(&data, cache, name, SL_CACHE_DATA);
        done = sl_buf_status(&data, NULL) == SILT_OK && (unlink(data.data) == 0 || errno == ENOENT) &&
               unlink(path.data) == 0;
        sl_buf_release(&data);
    }
    if (fd >= 0) {
        close(fd);
    }
    sl_buf_release(&path);
    return done;
}

static int by_age(const void *a, const void *b)
{
    const struct found *x = a;
    const struct found *y = b;
    return (x->used_ms > y->used_ms) - (x->used_ms < y->used_ms);
}

void sl_cache_shrink(struct sl_cache *cache)
{
    struct sl_vec found;
    int64_t bytes = 0;
    sl_vec_init(&found, cache->env, sizeof(struct found));
    if (walk(cache, &found, NULL) == SILT_OK) {
        for (size_t i = 0; i < found.len; i++) {
            struct found *entry = sl_vec_at(&found, i);
            /* A temporary one that nobody holds is what a killed process left: it serves nobody any more. */
            if (entry->temporary && remove_entry(cache, entry->name)) {
                entry->cached_bytes = 0;
            }
            bytes += entry->cached_bytes;
        }
        if (bytes > cache->max_bytes) {
            qsort(found.data, found.len, found.elem_size, by_age);
        }
        for (size_t i = 0; i < found.len && bytes > cache->max_bytes; i++) {
            const struct found *entry = sl_vec_at(&found, i);
            bytes -= remove_entry(cache, entry->name) ? entry->cached_bytes : 0;
        }
    }
    sl_vec_release(&found);
}

silt_status sl_cache_clear(struct sl_cache *cache, int64_t *removed, int64_t *busy, silt_error *err)
{
    struct sl_vec found;
    *removed = 0;
    *busy = 0;
    sl_vec_init(&found, cache->env, sizeof(struct found));
    const silt_status status = walk(cache, &found, err);
    for (size_t i = 0; i < found.len && status == SILT_OK; i++) {
        *(remove_entry(cache, ((const struct found *)sl_vec_at(&found, i))->name) ? removed : busy) += 1;
    }
    sl_vec_release(&found);
    return status;
}

/* false: the listener wants no more. */
static bool tell_of(struct sl_cache *cache, const struct found *found, struct sl_buf *text,
                    bool (*on_item)(void *ctx, const struct sl_cache_item *item), void *ctx)
{
    struct sl_buf path;
    struct sl_cache_header header;
    bool go_on = true;
    sl_buf_init(&path, cache->env);
    sl_cache_put_path(&path, cache, found->name, SL_CACHE_MAP);
    const int fd = sl_buf_status(&path, NULL) == SILT_OK ? open(path.data, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (fd >= 0 && sl_cache_read_header(fd, &header, text)) {
        const struct sl_cache_item item = {.uri = text->data,
                                           .size_bytes = header.size_bytes,
                                           .cached_bytes = found->cached_bytes,
                                           .used_ms = found->used_ms};
        go_on = on_item(ctx, &item);
    }
    if (fd >= 0) {
        close(fd);
    }
    sl_buf_release(&path);
    return go_on;
}

silt_status sl_cache_list(struct sl_cache *cache, bool (*on_item)(void *ctx, const struct sl_cache_item *item),
                          void *ctx, silt_error *err)
{
    struct sl_vec found;
    struct sl_buf text;
    sl_vec_init(&found, cache->env, sizeof(struct found));
    sl_buf_init(&text, cache->env);
    const silt_status status = walk(cache, &found, err);
    for (size_t i = 0; i < found.len && status == SILT_OK; i++) {
        if (!tell_of(cache, sl_vec_at(&found, i), &text, on_item, ctx)) {
            break;
        }
    }
    sl_buf_release(&text);
    sl_vec_release(&found);
    return status;
}
