/*
 * Listings. HDFS lists a folder in an order of its own (names as signed bytes), so all of it is read before it is sorted; folders below are
 * walked one by one. A page must lead on, and no name may come twice. A listing of folders has no order, and is shown page by page.
 *
 * The server's parameter is `startafter`, in lower case: as its manual writes it, it is ignored, and every page is the first one.
 *
 * Any thread.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/vec.h"
#include "storage/remote/hdfs/hdfs_int.h"

#define MAX_ENTRIES ((size_t)50000000) /* of one listing: it must end some time */

struct found {
    struct sl_str name; /* relative to the folder that was asked for */
    int64_t size_bytes;
    int64_t modified_ms;
};

struct listing {
    struct sl_hdfs *hdfs;
    struct sl_hdfs_cluster *cluster;
    const silt_call *call;
    const struct sl_hdfs_name *folder;
    struct sl_str start; /* empty: all */
    bool recursive;
    struct sl_arena arena;
    struct sl_vec files;   /* of struct found */
    struct sl_vec folders; /* of struct sl_str, relative; those that are still to be read */
    size_t n_entries;
    bool (*on_folder)(void *ctx, const char *name, size_t name_len); /* NULL: files are wanted */
    void *ctx;
    bool stopped; /* on_folder wants no more */
};

/* "name" or "sub/name" in the arena; absent when out of memory. */
static struct sl_str join(struct listing *listing, struct sl_str sub, struct sl_str name)
{
    return sl_str_from(
        sl_arena_printf(&listing->arena, "%.*s%s%.*s", SL_FMT(sub), sub.len > 0 ? "/" : "", SL_FMT(name)));
}

/* The folder itself may have gone meanwhile, and be a file now: one entry without a name. */
static silt_status take_file(struct listing *listing, struct sl_str sub, const struct sl_hdfs_file *file,
                             silt_error *err)
{
    if (file->name.len == 0) {
        return sl_fail(err, SILT_ENOTFOUND, NULL, "/%.*s is a file, not a folder", SL_FMT(listing->folder->path));
    }
    if (++listing->n_entries > MAX_ENTRIES) {
        return sl_fail(err, SILT_ELIMIT, NULL, "a listing of HDFS has more than %zu entries", MAX_ENTRIES);
    }
    if (listing->on_folder != NULL) {
        listing->stopped = listing->stopped ||
                           (file->is_folder && !listing->on_folder(listing->ctx, file->name.ptr, file->name.len));
        return SILT_OK;
    }
    if (sl_hdfs_is_temp(file->name) || (file->is_folder && !listing->recursive)) {
        return SILT_OK;
    }
    const struct sl_str name = join(listing, sub, file->name);
    if (name.ptr == NULL) {
        return sl_fail_nomem(err);
    }
    if (file->is_folder) {
        struct sl_str *slot = sl_vec_push(&listing->folders);
        if (slot == NULL) {
            return sl_fail_nomem(err);
        }
        *slot = name;
        return SILT_OK;
    }
    if (sl_str_compare(name, listing->start) < 0) {
        return SILT_OK;
    }
    struct found *slot = sl_vec_push(&listing->files);
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    *slot = (struct found){.name = name, .size_bytes = file->size_bytes, .modified_ms = file->modified_ms};
    return SILT_OK;
}

/* The entries of a page; `last` becomes the name of the last one. */
static silt_status take_page(struct listing *listing, struct sl_str sub, const sl_json *root, struct sl_buf *last,
                             bool *more, silt_error *err)
{
    struct sl_hdfs_page page;
    struct sl_hdfs_file file = {0};
    size_t n = 0;
    SL_TRY(sl_hdfs_read_page(root, &page, err));
    silt_status status = SILT_OK;
    while (sl_hdfs_next_file(&page, &file, &status, err)) {
        SL_TRY(take_file(listing, sub, &file, err));
        n++;
    }
    SL_TRY(status);
    *more = page.remaining > 0;
    if (*more && (n == 0 || sl_str_eq(file.name, sl_buf_view(last)))) {
        return sl_fail(err, SILT_EIO, NULL, "a page of a listing of HDFS does not lead on");
    }
    sl_buf_clear(last);
    sl_buf_put_str(last, n > 0 ? file.name : (struct sl_str){0});
    return sl_buf_status(last, err);
}

static silt_status read_page(struct listing *listing, struct sl_str sub, struct sl_buf *last, bool *more,
                             silt_error *err)
{
    struct sl_hdfs_request request;
    struct sl_json_doc *doc = NULL;
    struct sl_buf path;
    sl_buf_init(&path, listing->hdfs->env);
    sl_buf_put_str(&path, listing->folder->path);
    sl_buf_put_c(&path, path.len > 0 && sub.len > 0 ? "/" : "");
    sl_buf_put_str(&path, sub);
    const struct sl_hdfs_name name = {.path = sl_buf_view(&path)};
    sl_hdfs_request_init(&request, listing->hdfs, listing->cluster, "GET");
    sl_hdfs_put_operation(&request.target, name.path, "LISTSTATUS_BATCH");
    if (last->len > 0) {
        sl_hdfs_put_parameter(&request.target, "startafter", sl_buf_view(last));
    }
    silt_status status = sl_buf_status(&path, err);
    if (status == SILT_OK) {
        status = sl_hdfs_run(&request, listing->call, err);
    }
    if (status == SILT_OK && request.exchange.request.code != 200) {
        status = sl_hdfs_fail(listing->hdfs, &request.exchange, &name, err);
    }
    if (status == SILT_OK) {
        status = sl_hdfs_parse(listing->hdfs->env, sl_buf_view(&request.exchange.request.answer), &doc, err);
    }
    if (status == SILT_OK) {
        status = take_page(listing, sub, sl_json_root(doc), last, more, err);
    }
    sl_json_free(doc);
    sl_hdfs_request_release(&request);
    sl_buf_release(&path);
    return status;
}

/* One below that has gone since it was listed has no files. */
static silt_status read_folder(struct listing *listing, struct sl_str sub, silt_error *err)
{
    struct sl_buf last;
    bool more = true;
    silt_status status = SILT_OK;
    sl_buf_init(&last, listing->hdfs->env);
    while (status == SILT_OK && more && !listing->stopped) {
        status = read_page(listing, sub, &last, &more, err);
    }
    sl_buf_release(&last);
    if (status == SILT_ENOTFOUND && sub.len > 0) {
        silt_error_reset(err);
        return SILT_OK;
    }
    return status;
}

static silt_status read_all(struct listing *listing, silt_error *err)
{
    SL_TRY(read_folder(listing, SL_STR(""), err));
    while (listing->folders.len > 0) { /* each is taken off, and what is in it is longer: this ends */
        const struct sl_str sub = *(struct sl_str *)sl_vec_at(&listing->folders, --listing->folders.len);
        SL_TRY(read_folder(listing, sub, err));
    }
    return SILT_OK;
}

static int compare_found(const void *a, const void *b)
{
    return sl_str_compare(((const struct found *)a)->name, ((const struct found *)b)->name);
}

static silt_status show_all(struct listing *listing, bool (*on_entry)(void *ctx, const silt_file_entry *entry),
                            void *ctx, silt_error *err)
{
    const size_t n = listing->files.len;
    if (n == 0) {
        return SILT_OK;
    }
    qsort(listing->files.data, n, sizeof(struct found), compare_found);
    for (size_t i = 1; i < n; i++) {
        if (compare_found(sl_vec_at(&listing->files, i - 1), sl_vec_at(&listing->files, i)) == 0) {
            return sl_fail(err, SILT_EIO, NULL, "HDFS listed a name twice");
        }
    }
    for (size_t i = 0; i < n; i++) {
        const struct found *file = sl_vec_at(&listing->files, i);
        const silt_file_entry entry = {.name = file->name.ptr,
                                       .name_len = file->name.len,
                                       .size_bytes = file->size_bytes,
                                       .modified_ms = file->modified_ms};
        if (!on_entry(ctx, &entry)) {
            break;
        }
    }
    return SILT_OK;
}

silt_status sl_hdfs_list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                         bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    struct sl_hdfs *hdfs = impl;
    struct sl_hdfs_name folder;
    struct listing listing = {.hdfs = hdfs, .call = call, .folder = &folder, .start = SL_STR("")};
    SL_TRY(sl_hdfs_begin(hdfs, dir, true, &folder, &listing.cluster, err));
    sl_arena_init(&listing.arena, hdfs->env);
    sl_vec_init(&listing.files, hdfs->env, sizeof(struct found));
    sl_vec_init(&listing.folders, hdfs->env, sizeof(struct sl_str));
    if (options != NULL) {
        listing.recursive = options->recursive;
        listing.start = options->start_from != NULL ? sl_str_from(options->start_from) : listing.start;
    }
    silt_status status = read_all(&listing, err);
    if (status == SILT_OK) {
        status = show_all(&listing, on_entry, ctx, err);
    }
    sl_vec_release(&listing.folders);
    sl_vec_release(&listing.files);
    sl_arena_release(&listing.arena);
    return status;
}

silt_status sl_hdfs_list_folders(void *impl, const silt_call *call, const char *dir,
                                 bool (*on_folder)(void *ctx, const char *name, size_t name_len), void *ctx,
                                 silt_error *err)
{
    struct sl_hdfs_name folder;
    struct listing listing = {.hdfs = impl, .call = call, .folder = &folder, .on_folder = on_folder, .ctx = ctx};
    SL_TRY(sl_hdfs_begin(listing.hdfs, dir, true, &folder, &listing.cluster, err));
    return read_folder(&listing, SL_STR(""), err);
}
