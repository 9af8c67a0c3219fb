/*
 * Dispatch of listings. The kernel takes versions from the order of names, so a store that shows names out of order,
 * twice, before the wanted start or with a NUL inside is reported (SILT_EIO) and its listing thrown away.
 *
 * Called by the kernel and by stores that wrap stores. Any thread.
 */
#include "kernel/engine/storage_int.h"

#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/* One listing on its way through the dispatch. */
struct listing {
    const silt_storage *storage;
    struct sl_str start_from; /* absent: all */
    bool recursive;
    bool (*on_entry)(void *ctx, const silt_file_entry *entry);
    void *ctx;
    struct sl_buf last; /* the name before this one; its status tells of no memory */
    bool has_last;
    bool stopped;       /* the caller wants no more */
    const char *breach; /* what the store did wrong, NULL so far */
};

static const char *judge_entry(const struct listing *listing, const silt_file_entry *entry)
{
    if (listing->stopped) {
        return "the listing went on after it was stopped";
    }
    if (entry == NULL || entry->name == NULL || entry->name_len == 0) {
        return "a listed file has no name";
    }
    struct sl_str name = sl_str_make(entry->name, entry->name_len);
    if (memchr(name.ptr, '\0', name.len) != NULL) {
        return "a listed name has a NUL inside";
    }
    if (name.ptr[0] == '/' || name.ptr[name.len - 1] == '/') {
        return "a listed name begins or ends with a slash";
    }
    if (!listing->recursive && memchr(name.ptr, '/', name.len) != NULL) {
        return "a file of a sub-folder was listed";
    }
    if (entry->size_bytes < 0) {
        return "a listed file has a negative size";
    }
    if (listing->has_last && sl_str_compare(sl_buf_view(&listing->last), name) >= 0) {
        return "listed names do not ascend";
    }
    if (listing->start_from.ptr != NULL && sl_str_compare(name, listing->start_from) < 0) {
        return "a name before the wanted start was listed";
    }
    return NULL;
}

static bool check_entry(void *ctx, const silt_file_entry *entry)
{
    struct listing *listing = ctx;
    if (listing->breach != NULL) {
        return false;
    }
    listing->breach = judge_entry(listing, entry);
    if (listing->breach != NULL) {
        return false;
    }
    sl_buf_clear(&listing->last);
    sl_buf_put(&listing->last, entry->name, entry->name_len);
    if (sl_buf_status(&listing->last, NULL) != SILT_OK) {
        return false;
    }
    listing->has_last = true;
    listing->stopped = !listing->on_entry(listing->ctx, entry);
    return !listing->stopped;
}

silt_status silt_storage_list(silt_storage *storage, const silt_call *call, const char *dir,
                              const silt_list_options *options,
                              bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    SL_TRY(sl_storage_begin(storage, call, dir, err));
    if (on_entry == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "list needs a callback");
    }
    silt_list_options wanted = {.size = sizeof(wanted)};
    if (options != NULL) {
        if (options->size < offsetof(silt_list_options, recursive) + sizeof(options->recursive)) {
            return sl_fail(err, SILT_EINVALID, NULL, "options of a listing have size %u", (unsigned)options->size);
        }
        wanted.start_from = options->start_from;
        wanted.recursive = options->recursive;
    }
    struct listing listing = {.storage = storage,
                              .start_from = sl_str_from(wanted.start_from),
                              .recursive = wanted.recursive,
                              .on_entry = on_entry,
                              .ctx = ctx};
    sl_buf_init(&listing.last, storage->env);
    silt_error found = SILT_ERROR_INIT;
    silt_status status = storage->slots.list(storage->impl, call, dir, &wanted, check_entry, &listing, &found);
    if (listing.breach != NULL) {
        status = sl_storage_breach(storage, listing.breach, &found);
    } else if (status == SILT_OK) {
        status = sl_buf_status(&listing.last, &found);
    }
    sl_buf_release(&listing.last);
    return sl_storage_finish(status, "listing", dir, &found, err);
}

/* ---- folders ---- */

/* One listing of folders on its way through the dispatch. */
struct folders {
    bool (*on_folder)(void *ctx, const char *name, size_t name_len);
    void *ctx;
    bool stopped;
    const char *breach;
};

static const char *judge_folder(const struct folders *folders, struct sl_str name)
{
    if (folders->stopped) {
        return "the listing went on after it was stopped";
    }
    if (name.ptr == NULL || name.len == 0) {
        return "a listed folder has no name";
    }
    if (memchr(name.ptr, '\0', name.len) != NULL || memchr(name.ptr, '/', name.len) != NULL) {
        return "a listed folder's name has a NUL or a slash inside";
    }
    return NULL;
}

static bool check_folder(void *ctx, const char *name, size_t name_len)
{
    struct folders *folders = ctx;
    if (folders->breach == NULL) {
        folders->breach = judge_folder(folders, sl_str_make(name, name_len));
    }
    if (folders->breach != NULL) {
        return false;
    }
    folders->stopped = !folders->on_folder(folders->ctx, name, name_len);
    return !folders->stopped;
}

silt_status silt_storage_list_folders(silt_storage *storage, const silt_call *call, const char *dir,
                                      bool (*on_folder)(void *ctx, const char *name, size_t name_len), void *ctx,
                                      silt_error *err)
{
    SL_TRY(sl_storage_begin(storage, call, dir, err));
    if (on_folder == NULL) {
        return sl_fail(err, SILT_EINVALID, NULL, "list_folders needs a callback");
    }
    if (storage->slots.list_folders == NULL) {
        return sl_fail(err, SILT_EUNSUPPORTED, NULL, "store %s does not list folders", storage->slots.name);
    }
    struct folders folders = {.on_folder = on_folder, .ctx = ctx};
    silt_error found = SILT_ERROR_INIT;
    silt_status status = storage->slots.list_folders(storage->impl, call, dir, check_folder, &folders, &found);
    if (folders.breach != NULL) {
        status = sl_storage_breach(storage, folders.breach, &found);
    }
    return sl_storage_finish(status, "listing", dir, &found, err);
}
