/*
 * Listings of folders, and the removal of trees. What the service lists is not believed: names must be below the folder, begin at the wanted
 * one and ascend, and a page must lead to another one than itself.
 *
 * Objects whose names end in '/' stand for folders, as some tools leave them; they are no files. Any thread.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "base/vec.h"
#include "storage/remote/gcs/gcs_int.h"

#define MAX_EMPTY_PAGES 1000 /* in a row; the service may give some */
#define LIST_FIELDS "items(name,size,updated),prefixes,nextPageToken"

/* A listing on its way. */
struct listing {
    struct sl_gcs *gcs;
    const silt_call *call;
    const struct sl_gcs_name *folder;
    struct sl_buf prefix; /* of all its names: the folder's key and a slash */
    struct sl_buf start;  /* the first whole name wanted; empty: all */
    bool recursive;
    const char *page_size; /* NULL: the service's own */
    struct sl_buf token;   /* of the page at hand */
    struct sl_buf last;    /* whole name of the last object */
    bool exists;           /* something is below the folder */
    bool stopped;
    /* Gets each object, folders' own objects too, with the whole name; false to stop. */
    bool (*on_object)(void *ctx, const struct sl_gcs_object *object, struct sl_str below);
    void *ctx;
};

static void listing_init(struct listing *listing, struct sl_gcs *gcs, const silt_call *call,
                         const struct sl_gcs_name *folder)
{
    *listing = (struct listing){.gcs = gcs, .call = call, .folder = folder};
    sl_buf_init(&listing->prefix, gcs->env);
    sl_buf_init(&listing->start, gcs->env);
    sl_buf_init(&listing->token, gcs->env);
    sl_buf_init(&listing->last, gcs->env);
    sl_buf_put_str(&listing->prefix, folder->key);
    sl_buf_put_c(&listing->prefix, folder->key.len > 0 ? "/" : "");
}

static void listing_release(struct listing *listing)
{
    sl_buf_release(&listing->prefix);
    sl_buf_release(&listing->start);
    sl_buf_release(&listing->token);
    sl_buf_release(&listing->last);
}

static silt_status copy_to(struct sl_buf *buf, struct sl_str text, silt_error *err)
{
    sl_buf_clear(buf);
    sl_buf_put_str(buf, text);
    return sl_buf_status(buf, err);
}

/* What is wrong with an object's place in the listing; NULL: nothing. */
static const char *judge_name(const struct listing *listing, struct sl_str name)
{
    if (!sl_str_starts_with(name, sl_buf_view(&listing->prefix)) || memchr(name.ptr, '\0', name.len) != NULL) {
        return "an object that is not in the folder";
    }
    if (listing->last.len > 0 && sl_str_compare(sl_buf_view(&listing->last), name) >= 0) {
        return "names that do not ascend";
    }
    if (sl_str_compare(name, sl_buf_view(&listing->start)) < 0) {
        return "a name before the wanted one";
    }
    const struct sl_str below = sl_str_sub(name, listing->prefix.len, name.len);
    const size_t slash = sl_str_find(below, SL_STR("/"));
    if (!listing->recursive && slash != SIZE_MAX && slash + 1 != below.len) {
        return "an object of a sub-folder";
    }
    return NULL;
}

static silt_status read_objects(struct listing *listing, struct sl_gcs_page *page, silt_error *err)
{
    struct sl_gcs_object object;
    silt_status status = SILT_OK;
    while (!listing->stopped && sl_gcs_next_object(page, &object, &status, err)) {
        const char *fault = judge_name(listing, object.name);
        if (fault != NULL) {
            return sl_fail(err, SILT_EIO, NULL, "the service listed %s", fault);
        }
        SL_TRY(copy_to(&listing->last, object.name, err));
        listing->exists = true;
        const struct sl_str below = sl_str_sub(object.name, listing->prefix.len, object.name.len);
        listing->stopped = !listing->on_object(listing->ctx, &object, below);
    }
    return status;
}

static void put_list_url(const struct listing *listing, struct sl_buf *url)
{
    sl_gcs_put_list_url(url, listing->gcs->base_url, listing->folder->bucket);
    sl_gcs_put_parameter(url, "fields", SL_STR(LIST_FIELDS));
    if (listing->prefix.len > 0) {
        sl_gcs_put_parameter(url, "prefix", sl_buf_view(&listing->prefix));
    }
    if (!listing->recursive) {
        sl_gcs_put_parameter(url, "delimiter", SL_STR("/"));
    }
    if (listing->start.len > 0) {
        sl_gcs_put_parameter(url, "startOffset", sl_buf_view(&listing->start));
    }
    if (listing->page_size != NULL) {
        sl_gcs_put_parameter(url, "maxResults", sl_str_from(listing->page_size));
    }
    if (listing->token.len > 0) {
        sl_gcs_put_parameter(url, "pageToken", sl_buf_view(&listing->token));
    }
}

/* Reads one page; *more tells whether there is another, *grown whether this one had anything. */
static silt_status read_page(struct listing *listing, bool *more, bool *grown, silt_error *err)
{
    struct sl_gcs *gcs = listing->gcs;
    struct sl_gcs_request request;
    struct sl_json_doc *doc = NULL;
    struct sl_gcs_page page = {0};
    sl_gcs_request_init(&request, gcs, "GET");
    put_list_url(listing, &request.url);
    const struct sl_gcs_name bucket = {.bucket = listing->folder->bucket};
    silt_status status = sl_gcs_run(&request, listing->call, err);
    if (status == SILT_OK && request.exchange.request.code != 200) {
        status = sl_gcs_fail(gcs, &request.exchange, &bucket, err);
    }
    if (status == SILT_OK) {
        status = sl_gcs_parse(gcs->env, sl_buf_view(&request.exchange.request.answer), &doc, err);
    }
    if (status == SILT_OK) {
        status = sl_gcs_read_page(sl_json_root(doc), &page, err);
    }
    if (status == SILT_OK) {
        *grown = page.items.left > 0 || page.n_prefixes > 0;
        listing->exists = listing->exists || page.n_prefixes > 0;
        status = read_objects(listing, &page, err);
    }
    *more = status == SILT_OK && page.next_token.ptr != NULL;
    if (*more && sl_str_eq(page.next_token, sl_buf_view(&listing->token))) {
        status = sl_fail(err, SILT_EIO, NULL, "a page of the service's listing leads to itself");
    } else if (*more) {
        status = copy_to(&listing->token, page.next_token, err);
    }
    sl_json_free(doc);
    sl_gcs_request_release(&request);
    return status;
}

static silt_status read_pages(struct listing *listing, silt_error *err)
{
    bool more = true;
    unsigned n_empty = 0;
    silt_status status = sl_buf_status(&listing->prefix, err);
    while (status == SILT_OK && more && !listing->stopped) {
        bool grown = false;
        status = read_page(listing, &more, &grown, err);
        n_empty = grown ? 0 : n_empty + 1;
        if (status == SILT_OK && more && n_empty > MAX_EMPTY_PAGES) {
            status = sl_fail(err, SILT_EIO, NULL, "the service's listing has more than %d empty pages",
                             MAX_EMPTY_PAGES);
        }
    }
    return status;
}

/* ---- files of a folder ---- */

struct files {
    bool (*on_entry)(void *ctx, const silt_file_entry *entry);
    void *ctx;
};

static bool show_file(void *ctx, const struct sl_gcs_object *object, struct sl_str below)
{
    const struct files *files = ctx;
    if (below.len == 0 || below.ptr[below.len - 1] == '/' || below.ptr[0] == '/') {
        return true; /* a folder's own object, or below a folder without a name, which no path can reach */
    }
    const silt_file_entry entry = {
        .name = below.ptr, .name_len = below.len, .size_bytes = object->size_bytes, .modified_ms = object->updated_ms};
    return files->on_entry(files->ctx, &entry);
}

static bool ignore_object(void *ctx, const struct sl_gcs_object *object, struct sl_str below)
{
    (void)ctx;
    (void)object;
    (void)below;
    return false; /* that there is one is all that was asked */
}

/* Whether a folder exists of which no file was listed: anything below it will do. The root of a bucket that answers exists. */
static silt_status look_for_folder(struct sl_gcs *gcs, const silt_call *call, const struct sl_gcs_name *folder,
                                   bool *exists, silt_error *err)
{
    struct listing listing;
    listing_init(&listing, gcs, call, folder);
    listing.recursive = true;
    listing.page_size = "1";
    listing.on_object = ignore_object;
    const silt_status status = read_pages(&listing, err);
    *exists = listing.exists || folder->key.len == 0;
    listing_release(&listing);
    return status;
}

silt_status sl_gcs_list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                        bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    struct sl_gcs *gcs = impl;
    struct sl_gcs_name folder;
    struct listing listing;
    struct files files = {.on_entry = on_entry, .ctx = ctx};
    SL_TRY(sl_gcs_begin(gcs, dir, true, &folder, err));
    listing_init(&listing, gcs, call, &folder);
    listing.recursive = options != NULL && options->recursive;
    listing.on_object = show_file;
    listing.ctx = &files;
    const char *start = options != NULL ? options->start_from : NULL;
    if (start != NULL && start[0] != '\0') {
        sl_buf_put_str(&listing.start, sl_buf_view(&listing.prefix));
        sl_buf_put_c(&listing.start, start);
    }
    silt_status status = sl_buf_status(&listing.start, err);
    if (status == SILT_OK) {
        status = read_pages(&listing, err);
    }
    bool exists = listing.exists;
    if (status == SILT_OK && !exists) {
        exists = folder.key.len == 0;
        if (listing.start.len > 0 && !exists) {
            status = look_for_folder(gcs, call, &folder, &exists, err);
        }
    }
    if (status == SILT_OK && !exists) {
        status = sl_fail(err, SILT_ENOTFOUND, NULL, "there is no folder %.*s in gs://%.*s", SL_FMT(folder.key),
                         SL_FMT(folder.bucket));
    }
    listing_release(&listing);
    return status;
}

/* ---- removal of trees ---- */

/* Names of one page at most, so that pages can be removed while they are listed. */
struct doomed {
    struct sl_arena arena;
    struct sl_vec names; /* of struct sl_str */
    bool no_memory;
};

static bool note_object(void *ctx, const struct sl_gcs_object *object, struct sl_str below)
{
    struct doomed *doomed = ctx;
    (void)below;
    struct sl_str *slot = sl_vec_push(&doomed->names);
    const struct sl_str copy = sl_arena_copy(&doomed->arena, object->name);
    doomed->no_memory = slot == NULL || copy.ptr == NULL;
    if (!doomed->no_memory) {
        *slot = copy;
    }
    return !doomed->no_memory;
}

/* Removes what was noted, all at once. One that is gone already is no failure. */
static silt_status remove_objects(struct sl_gcs *gcs, const silt_call *call, const struct sl_gcs_name *folder,
                                  const struct doomed *doomed, silt_error *err)
{
    const size_t n = doomed->names.len;
    struct sl_gcs_request *requests = sl_alloc_array(gcs->env, n, sizeof(*requests));
    struct sl_exchange *exchanges = sl_alloc_array(gcs->env, n, sizeof(*exchanges));
    silt_status status = SILT_OK;
    if (requests == NULL || exchanges == NULL) {
        status = sl_fail_nomem(err);
        goto out;
    }
    for (size_t i = 0; i < n; i++) {
        const struct sl_gcs_name name = {folder->bucket, *(struct sl_str *)sl_vec_at(&doomed->names, i)};
        sl_gcs_request_init(&requests[i], gcs, "DELETE");
        sl_gcs_put_object_url(&requests[i].url, gcs->base_url, &name);
    }
    status = sl_gcs_run_many(requests, n, call, exchanges, NULL, NULL, err);
    for (size_t i = 0; i < n; i++) {
        const int code = exchanges[i].status == SILT_OK ? exchanges[i].request.code : 0;
        const struct sl_gcs_name name = {folder->bucket, *(struct sl_str *)sl_vec_at(&doomed->names, i)};
        if (status == SILT_OK && code != 204 && code != 200 && code != 404) {
            status = sl_gcs_fail(gcs, &exchanges[i], &name, err);
        }
        sl_exchange_release(&exchanges[i]);
        sl_gcs_request_release(&requests[i]);
    }
out:
    sl_release(gcs->env, exchanges, n * sizeof(*exchanges));
    sl_release(gcs->env, requests, n * sizeof(*requests));
    return status;
}

/* A page is listed and removed, and the next one asked for by its token: that goes by names, which those that are gone do not change. */
silt_status sl_gcs_remove_tree(void *impl, const silt_call *call, const char *dir, silt_error *err)
{
    struct sl_gcs *gcs = impl;
    struct sl_gcs_name folder;
    struct listing listing;
    struct doomed doomed = {0};
    bool more = true;
    SL_TRY(sl_gcs_begin(gcs, dir, true, &folder, err));
    listing_init(&listing, gcs, call, &folder);
    sl_arena_init(&doomed.arena, gcs->env);
    sl_vec_init(&doomed.names, gcs->env, sizeof(struct sl_str));
    listing.recursive = true;
    listing.on_object = note_object;
    listing.ctx = &doomed;
    silt_status status = sl_buf_status(&listing.prefix, err);
    for (unsigned n_empty = 0; status == SILT_OK && more && n_empty <= MAX_EMPTY_PAGES; n_empty++) {
        bool grown = false;
        status = read_page(&listing, &more, &grown, err);
        if (status == SILT_OK && doomed.no_memory) {
            status = sl_fail_nomem(err);
        }
        if (status == SILT_OK && doomed.names.len > 0) {
            status = remove_objects(gcs, call, &folder, &doomed, err);
            n_empty = 0;
        }
        doomed.names.len = 0;
        sl_arena_reset(&doomed.arena);
    }
    if (status == SILT_OK && more) {
        status = sl_fail(err, SILT_EIO, NULL, "the service's listing has more than %d empty pages", MAX_EMPTY_PAGES);
    }
    sl_vec_release(&doomed.names);
    sl_arena_release(&doomed.arena);
    listing_release(&listing);
    return status;
}
