/*
 * One entry of the range cache: a sparse copy of a remote file, and the map of what is in it.
 *
 * Opening takes a shared lock on the map, so that nobody removes the files beneath a reader. Two processes that fetch the same part write
 * the same bytes; both append their records by one write each. One owner.
 */
#include "storage/cache/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/hasher.h"
#include "base/map.h"
#include "base/uuid.h"
#include "storage/cache/cache_int.h"

#define MAX_RECORDS 1000000
#define MAX_PART (INT64_C(1) << 30)
#define COPY_BYTES (INT64_C(256) << 10)

struct sl_cache_entry {
    struct sl_cache *cache;
    char *uri;       /* sl_strdup_len */
    char *data_path; /* the same */
    char *map_path;
    int data; /* descriptors; -1: none */
    int map;
    bool temporary;
    bool known;     /* the map has a sound header for this URI */
    bool confirmed; /* it holds for the file as it is now */
    struct sl_cache_header header;
    struct sl_buf text;    /* URI, NUL, tag, NUL of the header */
    struct sl_vec records; /* of struct sl_cache_record: parts that the map names, whose bytes were not compared yet */
    struct sl_vec there;   /* set: parts that are there for certain */
};

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

static silt_status fail_file(silt_error *err, const char *doing, const char *path)
{
    return sl_fail_errno(err, errno, doing, path);
}

static silt_status make_names(struct sl_cache_entry *entry, silt_error *err)
{
    char name[SL_CACHE_NAME_LEN + SL_UUID_TEXT_SIZE + 8];
    const silt_env *env = entry->cache->env;
    const size_t len = strlen(entry->uri);
    struct sl_buf path;
    sl_strfree(env, entry->data_path);
    sl_strfree(env, entry->map_path);
    entry->data_path = entry->map_path = NULL;
    if (entry->temporary) {
        char uuid[SL_UUID_TEXT_SIZE];
        SL_TRY(sl_uuid_make(env, uuid, err));
        snprintf(name, sizeof(name), "%s%s", SL_CACHE_TEMPORARY, uuid);
    } else {
        snprintf(name, sizeof(name), "%016llx%016llx", (unsigned long long)sl_hash_bytes(entry->uri, len),
                 (unsigned long long)sl_hash_seeded(entry->uri, len, UINT64_C(0x73696c74)));
    }
    sl_buf_init(&path, env);
    sl_cache_put_path(&path, entry->cache, name, SL_CACHE_DATA);
    silt_status status = sl_buf_status(&path, err);
    if (status == SILT_OK) {
        entry->data_path = sl_strdup_len(env, path.data, path.len);
        sl_buf_clear(&path);
        sl_cache_put_path(&path, entry->cache, name, SL_CACHE_MAP);
        status = sl_buf_status(&path, err);
    }
    if (status == SILT_OK) {
        entry->map_path = sl_strdup_len(env, path.data, path.len);
        status = entry->data_path != NULL && entry->map_path != NULL ? SILT_OK : sl_fail_nomem(err);
    }
    sl_buf_release(&path);
    return status;
}

/* Whether the descriptor is still the file of that name: another may have removed it before we had the lock. */
static bool is_current(int fd, const char *path)
{
    struct stat ours;
    struct stat named;
    return fstat(fd, &ours) == 0 && lstat(path, &named) == 0 && ours.st_dev == named.st_dev &&
           ours.st_ino == named.st_ino;
}

/* Opens both files, the map under a shared lock. SILT_EEXISTS: somebody is just removing them. */
static silt_status open_files(struct sl_cache_entry *entry, silt_error *err)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        close_fd(&entry->map);
        entry->map = open(entry->map_path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (entry->map < 0) {
            return fail_file(err, "open", entry->map_path);
        }
        if (!sl_cache_lock(entry->map, LOCK_SH) || !is_current(entry->map, entry->map_path)) {
            usleep(1000);
            continue;
        }
        entry->data = open(entry->data_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        return entry->data >= 0 ? SILT_OK : fail_file(err, "open", entry->data_path);
    }
    return sl_fail(err, SILT_EEXISTS, NULL, "cache file %s is being removed by another process", entry->map_path);
}

static silt_status become_temporary(struct sl_cache_entry *entry, silt_error *err)
{
    close_fd(&entry->data);
    close_fd(&entry->map);
    entry->temporary = true;
    entry->known = false;
    SL_TRY(make_names(entry, err));
    return open_files(entry, err);
}

static bool is_sound(const struct sl_cache_entry *entry, const struct sl_cache_record *record)
{
    return record->hash == sl_cache_record_hash(record, entry->header.hash) && record->begin >= 0 &&
           record->end > record->begin && record->end <= entry->header.size_bytes &&
           record->end - record->begin <= MAX_PART;
}

/* Bytes that the store gave were no good: what was recorded before is forgotten. It names no part. */
static bool is_withdrawal(const struct sl_cache_entry *entry, const struct sl_cache_record *record)
{
    return record->begin == 0 && record->end == 0 && record->hash == sl_cache_record_hash(record, entry->header.hash);
}

/* Believes the records whose hashes are right. Behind one that was cut, or is broken, the next is looked for byte by byte. */
static silt_status take_records(struct sl_cache_entry *entry, const char *bytes, size_t n, silt_error *err)
{
    struct sl_cache_record record;
    for (size_t at = 0; n - at >= sizeof(record) && entry->records.len < MAX_RECORDS;) {
        memcpy(&record, bytes + at, sizeof(record));
        if (is_withdrawal(entry, &record)) {
            entry->records.len = 0;
            at += sizeof(record);
            continue;
        }
        if (!is_sound(entry, &record)) {
            at++;
            continue;
        }
        at += sizeof(record);
        struct sl_cache_record *copy = sl_vec_push(&entry->records);
        if (copy == NULL) {
            return sl_fail_nomem(err);
        }
        *copy = record;
    }
    return SILT_OK;
}

static silt_status read_records(struct sl_cache_entry *entry, silt_error *err)
{
    struct stat info;
    const size_t skip = sizeof(entry->header) + entry->header.uri_len + entry->header.tag_len;
    const int64_t most = MAX_RECORDS * (int64_t)sizeof(struct sl_cache_record);
    if (fstat(entry->map, &info) != 0 || info.st_size <= (off_t)skip) {
        return SILT_OK; /* nothing is known to be there */
    }
    const int64_t left = (int64_t)info.st_size - (int64_t)skip;
    const size_t size = (size_t)(left < most ? left : most);
    char *bytes = sl_alloc(entry->cache->env, size);
    if (bytes == NULL) {
        return sl_fail_nomem(err);
    }
    const ssize_t got = pread(entry->map, bytes, size, (off_t)skip);
    const silt_status status = got > 0 ? take_records(entry, bytes, (size_t)got, err) : SILT_OK;
    sl_release(entry->cache->env, bytes, size);
    return status;
}

static silt_status look(struct sl_cache_entry *entry, silt_error *err)
{
    struct stat info;
    if (!sl_cache_read_header(entry->map, &entry->header, &entry->text) || fstat(entry->data, &info) != 0 ||
        info.st_size != entry->header.size_bytes || strcmp(entry->text.data, entry->uri) != 0) {
        return SILT_OK;
    }
    entry->known = true;
    return read_records(entry, err);
}

silt_status sl_cache_entry_open(struct sl_cache *cache, const char *uri, bool temporary, struct sl_cache_entry **out,
                                silt_error *err)
{
    *out = NULL;
    struct sl_cache_entry *entry = sl_alloc_zero(cache->env, sizeof(*entry));
    if (entry == NULL) {
        return sl_fail_nomem(err);
    }
    entry->cache = cache;
    entry->data = entry->map = -1;
    entry->temporary = temporary || strlen(uri) > SL_CACHE_MAX_URI;
    sl_buf_init(&entry->text, cache->env);
    sl_vec_init(&entry->records, cache->env, sizeof(struct sl_cache_record));
    sl_vec_init(&entry->there, cache->env, sizeof(struct sl_range));
    entry->uri = sl_strdup_len(cache->env, uri, strlen(uri));
    silt_status status = entry->uri != NULL ? make_names(entry, err) : sl_fail_nomem(err);
    if (status == SILT_OK) {
        status = open_files(entry, err);
    }
    if (status == SILT_EEXISTS) {
        status = become_temporary(entry, err);
    }
    if (status == SILT_OK) {
        status = look(entry, err);
    }
    if (status != SILT_OK) {
        sl_cache_entry_close(entry);
        return status;
    }
    *out = entry;
    return SILT_OK;
}

void sl_cache_entry_close(struct sl_cache_entry *entry)
{
    if (entry == NULL) {
        return;
    }
    const silt_env *env = entry->cache->env;
    if (entry->temporary && entry->map >= 0) {
        /* Best effort: what stays is a hidden file of the cache. */
        (void)unlink(entry->data_path);
        (void)unlink(entry->map_path);
    } else if (entry->map >= 0) {
        (void)futimens(entry->map, NULL); /* used now: its time decides what goes first */
    }
    close_fd(&entry->data);
    close_fd(&entry->map);
    sl_strfree(env, entry->uri);
    sl_strfree(env, entry->data_path);
    sl_strfree(env, entry->map_path);
    sl_buf_release(&entry->text);
    sl_vec_release(&entry->records);
    sl_vec_release(&entry->there);
    sl_release(env, entry, sizeof(*entry));
}

const char *sl_cache_entry_path(const struct sl_cache_entry *entry)
{
    return entry->data_path;
}

int64_t sl_cache_entry_size(const struct sl_cache_entry *entry)
{
    return entry->confirmed ? entry->header.size_bytes : -1;
}

/* ---- which version of the file ---- */

/* Writes a new header into an empty map that is locked by us alone. */
static silt_status start_anew(struct sl_cache_entry *entry, const char *tag, int64_t size_bytes, silt_error *err)
{
    struct sl_buf bytes;
    entry->header = (struct sl_cache_header){
        .size_bytes = size_bytes, .uri_len = (uint32_t)strlen(entry->uri), .tag_len = (uint32_t)strlen(tag)};
    memcpy(entry->header.magic, SL_CACHE_MAGIC, sizeof(entry->header.magic));
    entry->header.hash = sl_cache_header_hash(&entry->header, entry->uri, tag);
    sl_buf_init(&bytes, entry->cache->env);
    sl_buf_put(&bytes, &entry->header, sizeof(entry->header));
    sl_buf_put_c(&bytes, entry->uri);
    sl_buf_put_c(&bytes, tag);
    silt_status status = sl_buf_status(&bytes, err);
    if (status == SILT_OK && (ftruncate(entry->map, 0) != 0 || ftruncate(entry->data, 0) != 0 ||
                              ftruncate(entry->data, (off_t)size_bytes) != 0)) {
        status = fail_file(err, "make room in", entry->data_path);
    }
    if (status == SILT_OK && write(entry->map, bytes.data, bytes.len) != (ssize_t)bytes.len) {
        status = fail_file(err, "write", entry->map_path);
    }
    sl_buf_release(&bytes);
    return status;
}

/* Whether the map begins with the header that we wrote. */
static bool is_ours(const struct sl_cache_entry *entry)
{
    struct sl_cache_header header;
    return pread(entry->map, &header, sizeof(header), 0) == (ssize_t)sizeof(header) &&
           memcmp(&header, &entry->header, sizeof(header)) == 0;
}

/*
 * A shared lock is turned into the exclusive one and back; neither is one step, and who loses the race has no lock any more. In between, another may have
 * begun the same entry anew, or removed it: then ours is a temporary one.
 */
static silt_status replace(struct sl_cache_entry *entry, const char *tag, int64_t size_bytes, silt_error *err)
{
    entry->known = false;
    entry->records.len = entry->there.len = 0;
    if (!entry->temporary && tag[0] != '\0' && sl_cache_lock(entry->map, LOCK_EX) &&
        is_current(entry->map, entry->map_path)) {
        SL_TRY(start_anew(entry, tag, size_bytes, err));
        if (sl_cache_lock(entry->map, LOCK_SH) && is_current(entry->map, entry->map_path) && is_ours(entry)) {
            return SILT_OK;
        }
    }
    if (!entry->temporary) {
        SL_TRY(become_temporary(entry, err));
    }
    return start_anew(entry, tag, size_bytes, err); /* under its shared lock: the name is known to nobody else */
}

silt_status sl_cache_entry_confirm(struct sl_cache_entry *entry, const char *tag, int64_t size_bytes, silt_error *err)
{
    if (size_bytes < 0 || strlen(tag) > SL_CACHE_MAX_TAG) {
        return sl_fail(err, SILT_EINVALID, NULL, "a store gave no size, or a tag that is too long, for %s", entry->uri);
    }
    const bool same = entry->known && tag[0] != '\0' && entry->header.size_bytes == size_bytes &&
                      strcmp(entry->text.data + entry->header.uri_len + 1, tag) == 0;
    if (!same) {
        SL_TRY(replace(entry, tag, size_bytes, err));
    }
    entry->confirmed = true;
    return SILT_OK;
}

/* ---- parts ---- */

/* Compares the bytes of a record with its hash. */
static silt_status check_record(struct sl_cache_entry *entry, const struct sl_cache_record *record, bool *sound,
                                silt_error *err)
{
    struct sl_hasher hasher;
    char *block = sl_alloc(entry->cache->env, COPY_BYTES);
    int64_t at = record->begin;
    *sound = false;
    if (block == NULL) {
        return sl_fail_nomem(err);
    }
    sl_hasher_begin(&hasher);
    while (at < record->end) {
        const size_t n = record->end - at < COPY_BYTES ? (size_t)(record->end - at) : (size_t)COPY_BYTES;
        const ssize_t got = pread(entry->data, block, n, (off_t)at);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        sl_hasher_add(&hasher, block, (size_t)got);
        at += got;
    }
    *sound = at == record->end && sl_hasher_end(&hasher) == record->data_hash;
    sl_release(entry->cache->env, block, COPY_BYTES);
    return SILT_OK;
}

/* Compares all records that touch the range; they are done with then. */
static silt_status check_range(struct sl_cache_entry *entry, struct sl_range range, silt_error *err)
{
    size_t kept = 0;
    silt_status status = SILT_OK;
    for (size_t i = 0; i < entry->records.len; i++) {
        const struct sl_cache_record record = *(struct sl_cache_record *)sl_vec_at(&entry->records, i);
        bool sound = false;
        if (status != SILT_OK || record.begin >= range.end || record.end <= range.begin) {
            *(struct sl_cache_record *)sl_vec_at(&entry->records, kept++) = record;
            continue;
        }
        status = check_record(entry, &record, &sound, err);
        if (status == SILT_OK && sound && !sl_ranges_add(&entry->there, (struct sl_range){record.begin, record.end})) {
            status = sl_fail_nomem(err);
        }
    }
    entry->records.len = kept;
    return status;
}

silt_status sl_cache_entry_missing(struct sl_cache_entry *entry, struct sl_range range, struct sl_vec *out,
                                   silt_error *err)
{
    if (!entry->confirmed) {
        return sl_fail(err, SILT_EINVALID, NULL, "parts of %s were asked for before it was looked at", entry->uri);
    }
    range.begin = range.begin < 0 ? 0 : range.begin;
    range.end = range.end > entry->header.size_bytes ? entry->header.size_bytes : range.end;
    if (!sl_ranges_cover(&entry->there, range)) {
        SL_TRY(check_range(entry, range, err));
    }
    return sl_ranges_missing(&entry->there, range, out) ? SILT_OK : sl_fail_nomem(err);
}

static silt_status check_part(const struct sl_cache_entry *entry, int64_t begin, size_t n, silt_error *err)
{
    if (!entry->confirmed || begin < 0 || n == 0 || (uint64_t)n > MAX_PART ||
        begin > entry->header.size_bytes - (int64_t)n) {
        return sl_fail(err, SILT_EINVALID, NULL, "a part of %s lies outside of it", entry->uri);
    }
    return SILT_OK;
}

silt_status sl_cache_entry_write(const struct sl_cache_entry *entry, int64_t begin, const void *bytes, size_t n,
                                 silt_error *err)
{
    size_t done = 0;
    SL_TRY(check_part(entry, begin, n, err));
    while (done < n) {
        const ssize_t put = pwrite(entry->data, (const char *)bytes + done, n - done, (off_t)(begin + (int64_t)done));
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put <= 0) {
            return fail_file(err, "write", entry->data_path);
        }
        done += (size_t)put;
    }
    return SILT_OK;
}

silt_status sl_cache_entry_record(struct sl_cache_entry *entry, struct sl_range range, uint64_t hash, silt_error *err)
{
    SL_TRY(check_part(entry, range.begin, range.end > range.begin ? (size_t)(range.end - range.begin) : 0, err));
    if (!sl_ranges_add(&entry->there, range)) {
        return sl_fail_nomem(err);
    }
    if (entry->temporary) {
        return SILT_OK;
    }
    struct sl_cache_record record = {.begin = range.begin, .end = range.end, .data_hash = hash};
    record.hash = sl_cache_record_hash(&record, entry->header.hash);
    /* One append: records of two processes do not mix. A failure costs no more than another fetch. */
    const ssize_t put = write(entry->map, &record, sizeof(record));
    (void)put;
    return SILT_OK;
}

silt_status sl_cache_entry_put(struct sl_cache_entry *entry, int64_t begin, const void *bytes, size_t n,
                               silt_error *err)
{
    SL_TRY(sl_cache_entry_write(entry, begin, bytes, n, err));
    return sl_cache_entry_record(entry, (struct sl_range){begin, begin + (int64_t)n},
                                 entry->temporary ? 0 : sl_hash_bytes(bytes, n), err);
}

void sl_cache_entry_withdraw(struct sl_cache_entry *entry)
{
    entry->records.len = entry->there.len = 0;
    if (entry->temporary || !entry->confirmed) {
        return;
    }
    struct sl_cache_record record = {.begin = 0, .end = 0};
    record.hash = sl_cache_record_hash(&record, entry->header.hash);
    const ssize_t put = write(entry->map, &record, sizeof(record));
    if (put != (ssize_t)sizeof(record)) { /* no room: then let nobody believe the map at all */
        (void)unlink(entry->map_path);
    }
}

silt_status sl_cache_entry_reserve(struct sl_cache_entry *entry, struct sl_range range, silt_error *err)
{
    int result = 0;
    do {
        result = fallocate(entry->data, FALLOC_FL_KEEP_SIZE, (off_t)range.begin, (off_t)(range.end - range.begin));
    } while (result != 0 && errno == EINTR);
    if (result == 0 || errno == EOPNOTSUPP || errno == ENOSYS) {
        return SILT_OK;
    }
    return fail_file(err, "make room in", entry->data_path);
}

silt_status sl_cache_entry_copy(const struct sl_cache_entry *from, struct sl_cache_entry *to, silt_error *err)
{
    const silt_env *env = from->cache->env;
    char *block = sl_alloc(env, COPY_BYTES);
    silt_status status = block != NULL ? SILT_OK : sl_fail_nomem(err);
    for (size_t i = 0; i < from->there.len && status == SILT_OK; i++) {
        const struct sl_range range = *(const struct sl_range *)sl_vec_at(&from->there, i);
        for (int64_t at = range.begin; at < range.end && status == SILT_OK;) {
            const size_t n = range.end - at < COPY_BYTES ? (size_t)(range.end - at) : (size_t)COPY_BYTES;
            const ssize_t got = pread(from->data, block, n, (off_t)at);
            status = got > 0 ? sl_cache_entry_put(to, at, block, (size_t)got, err)
                             : fail_file(err, "read", from->data_path);
            at += got > 0 ? got : 0;
        }
    }
    sl_release(env, block, COPY_BYTES);
    return status;
}

bool sl_cache_entry_is_temporary(const struct sl_cache_entry *entry)
{
    return entry->temporary;
}
