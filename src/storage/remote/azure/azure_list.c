/*
 * Listings. The Blob service lists in byte order and is believed only as far as that: names must ascend, also from page to page. The Data Lake service
 * of a hierarchical account lists folder by folder, in an order of its own, so its listings are sorted here.
 *
 * Called through the store's slots. Any thread.
 */
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/error.h"
#include "storage/remote/azure/azure_int.h"

#define MAX_PAGES 1000000
#define MAX_ANSWER ((size_t)256 << 20)

struct listing {
    struct sl_azure *azure;
    struct sl_azure_access *access;
    const silt_call *call;
    struct sl_azure_place place;
    struct sl_str prefix;     /* of all names: the folder's path and a slash, or nothing */
    struct sl_str start_from; /* relative; absent: all */
    bool recursive;
    bool (*on_entry)(void *ctx, const silt_file_entry *entry);
    void *ctx;
    struct sl_buf last; /* the last name seen */
    bool any;           /* the folder is there: something was in it */
    bool stopped;
};

/* ---- one page ---- */

static void put_parameter(struct sl_azure_request *request, const char *name, const char *value)
{
    if (value != NULL && value[0] != '\0') {
        sl_azure_request_parameter(request, name, value);
    }
}

silt_status sl_azure_fetch_blobs(struct sl_azure *azure, struct sl_azure_access *access, const silt_call *call,
                                 const struct sl_azure_blob_query *query, struct sl_azure_page *page, silt_error *err)
{
    struct sl_azure_request request;
    struct sl_exchange exchange = {0};
    sl_azure_request_init(&request, azure->context, access, "GET", (struct sl_str){0});
    request.max_answer = MAX_ANSWER;
    put_parameter(&request, "comp", "list");
    put_parameter(&request, "delimiter", query->recursive ? NULL : "/");
    put_parameter(&request, "include", "metadata");
    put_parameter(&request, "marker", query->marker);
    put_parameter(&request, "maxresults", query->one ? "1" : NULL);
    put_parameter(&request, "prefix", query->prefix);
    put_parameter(&request, "restype", "container");
    put_parameter(&request, "startFrom", query->start_from);
    silt_status status = sl_azure_ask(&request, call, &exchange, err);
    if (status == SILT_OK) {
        status = sl_azure_judge(&request, err);
    }
    if (status == SILT_OK) {
        status = sl_azure_page_read_xml(page, sl_buf_view(&exchange.request.answer), err);
    }
    sl_exchange_release(&exchange);
    sl_azure_request_release(&request);
    return status;
}

/* A page of a hierarchical account; *next is where the next one begins, empty at the end. */
static silt_status fetch_paths(struct listing *listing, struct sl_buf *next, struct sl_azure_page *page,
                               silt_error *err)
{
    struct sl_azure_request request;
    struct sl_exchange exchange = {0};
    struct sl_buf folder;
    sl_buf_init(&folder, listing->azure->context->env);
    sl_buf_put_str(&folder, listing->place.path);
    silt_status status = sl_buf_status(&folder, err);
    sl_azure_request_init(&request, listing->azure->context, listing->access, "GET", (struct sl_str){0});
    request.dfs = true;
    request.max_answer = MAX_ANSWER;
    put_parameter(&request, "continuation", sl_buf_cstr(next));
    put_parameter(&request, "directory", sl_buf_cstr(&folder));
    put_parameter(&request, "recursive", listing->recursive ? "true" : "false");
    put_parameter(&request, "resource", "filesystem");
    if (status == SILT_OK) {
        status = sl_azure_ask(&request, listing->call, &exchange, err);
        status = status == SILT_OK ? sl_azure_judge(&request, err) : status;
    }
    if (status == SILT_OK) {
        status = sl_azure_page_read_json(page, sl_buf_view(&exchange.request.answer), err);
    }
    const struct sl_str continuation = sl_http_header(&exchange.request, "x-ms-continuation");
    if (status == SILT_OK && continuation.len > 0 && sl_str_eq(continuation, sl_buf_view(next))) {
        status = sl_fail(err, SILT_EIO, NULL, "the pages of a listing do not advance");
    }
    sl_buf_clear(next);
    sl_buf_put_str(next, continuation);
    sl_exchange_release(&exchange);
    sl_azure_request_release(&request);
    sl_buf_release(&folder);
    return status == SILT_OK ? sl_buf_status(next, err) : status;
}

/* ---- entries ---- */

/* A listing is over when the caller says so; that is no fault. */
static silt_status show(struct listing *listing, const struct sl_azure_entry *entry, silt_error *err)
{
    const struct sl_str name = sl_str_sub(entry->name, listing->prefix.len, entry->name.len);
    const bool folder = entry->is_folder || name.len == 0 || name.ptr[name.len - 1] == '/';
    if (folder || sl_azure_is_hidden(name)) {
        return SILT_OK;
    }
    if (!listing->recursive && memchr(name.ptr, '/', name.len) != NULL) {
        return sl_fail(err, SILT_EIO, NULL, "a listing of a folder has names of files below it");
    }
    if (listing->start_from.ptr != NULL && sl_str_compare(name, listing->start_from) < 0) {
        return SILT_OK;
    }
    const silt_file_entry shown = {
        .name = name.ptr, .name_len = name.len, .size_bytes = entry->size_bytes, .modified_ms = entry->modified_ms};
    listing->stopped = !listing->on_entry(listing->ctx, &shown);
    return SILT_OK;
}

static silt_status show_all(struct listing *listing, const struct sl_azure_page *page, silt_error *err)
{
    for (size_t i = 0; i < page->entries.len && !listing->stopped; i++) {
        const struct sl_azure_entry *entry = sl_vec_at(&page->entries, i);
        const bool first = listing->last.len == 0;
        if (!sl_str_starts_with(entry->name, listing->prefix)) {
            return sl_fail(err, SILT_EIO, NULL, "a listing has names that are not in the folder");
        }
        if (!first && sl_str_compare(entry->name, sl_buf_view(&listing->last)) <= 0) {
            return sl_fail(err, SILT_EIO, NULL, "the names of a listing do not ascend");
        }
        sl_buf_clear(&listing->last);
        sl_buf_put_str(&listing->last, entry->name);
        SL_TRY(sl_buf_status(&listing->last, err));
        SL_TRY(sl_call_check(listing->azure->context->env, listing->call, err));
        SL_TRY(show(listing, entry, err));
    }
    return SILT_OK;
}

/* ---- the Blob service ---- */

/* One page, and the marker of the next. */
static silt_status list_page(struct listing *listing, const struct sl_azure_blob_query *query, struct sl_buf *marker,
                             silt_error *err)
{
    struct sl_azure_page page;
    sl_azure_page_init(&page, listing->azure->context->env);
    silt_status status = sl_azure_fetch_blobs(listing->azure, listing->access, listing->call, query, &page, err);
    if (status == SILT_OK) {
        listing->any = listing->any || page.entries.len > 0 || page.n_prefixes > 0 || page.next.len > 0;
        status = show_all(listing, &page, err);
    }
    if (status == SILT_OK && page.next.len > 0 && sl_str_eq(page.next, sl_buf_view(marker))) {
        status = sl_fail(err, SILT_EIO, NULL, "the pages of a listing do not advance");
    }
    sl_buf_clear(marker);
    sl_buf_put_str(marker, page.next);
    sl_azure_page_release(&page);
    return status == SILT_OK ? sl_buf_status(marker, err) : status;
}

/* Where the service is to begin: as far as its interface takes the characters; what comes too early is left out here. */
static void put_start(const struct listing *listing, struct sl_buf *out)
{
    size_t len = 0;
    while (len < listing->start_from.len && listing->start_from.ptr[len] > ' ' && listing->start_from.ptr[len] < 0x7F) {
        len++;
    }
    if (len > 0) {
        sl_buf_put_str(out, listing->prefix);
        sl_buf_put_str(out, sl_str_sub(listing->start_from, 0, len));
    }
}

/* Nothing came: is nothing there, or nothing from the start on? */
static silt_status look_for_any(struct listing *listing, struct sl_azure_blob_query query, silt_error *err)
{
    struct sl_azure_page page;
    query.start_from = NULL;
    query.marker = NULL;
    query.one = true;
    query.recursive = true;
    sl_azure_page_init(&page, listing->azure->context->env);
    const silt_status status = sl_azure_fetch_blobs(listing->azure, listing->access, listing->call, &query, &page, err);
    listing->any = page.entries.len > 0 || page.next.len > 0;
    sl_azure_page_release(&page);
    return status;
}

static silt_status list_blobs(struct listing *listing, silt_error *err)
{
    const silt_env *env = listing->azure->context->env;
    struct sl_buf start;
    struct sl_buf marker;
    sl_buf_init(&start, env);
    sl_buf_init(&marker, env);
    put_start(listing, &start);
    silt_status status = sl_buf_status(&start, err);
    struct sl_azure_blob_query query = {
        .prefix = listing->prefix.ptr, .start_from = sl_buf_cstr(&start), .recursive = listing->recursive};
    unsigned pages = 0;
    do {
        query.marker = sl_buf_cstr(&marker);
        status = status == SILT_OK ? list_page(listing, &query, &marker, err) : status;
        pages++;
    } while (status == SILT_OK && !listing->stopped && marker.len > 0 && pages < MAX_PAGES);
    if (status == SILT_OK && pages == MAX_PAGES) {
        status = sl_fail(err, SILT_EIO, NULL, "a listing has more than %d pages", MAX_PAGES);
    }
    if (status == SILT_OK && !listing->any && start.len > 0) {
        status = look_for_any(listing, query, err);
    }
    sl_buf_release(&start);
    sl_buf_release(&marker);
    return status;
}

/* ---- the Data Lake service ---- */

static int compare_entries(const void *a, const void *b)
{
    const struct sl_azure_entry *left = a;
    const struct sl_azure_entry *right = b;
    return sl_str_compare(left->name, right->name);
}

/* Nothing is below the path: is it an empty folder, or a file? */
static silt_status look_at_path(struct listing *listing, silt_error *err)
{
    struct sl_azure_request request;
    struct sl_exchange exchange = {0};
    sl_azure_request_init(&request, listing->azure->context, listing->access, "HEAD", listing->place.path);
    silt_status status = sl_azure_ask(&request, listing->call, &exchange, err);
    if (status == SILT_OK) {
        status = sl_azure_judge(&request, err);
    }
    listing->any = status == SILT_OK && sl_azure_is_folder(&exchange.request);
    sl_exchange_release(&exchange);
    sl_azure_request_release(&request);
    return status;
}

/* Some servers list a file that was asked for as a folder as itself. */
static bool is_itself(const struct listing *listing, const struct sl_azure_page *page)
{
    const struct sl_azure_entry *only = page->entries.len == 1 ? sl_vec_at(&page->entries, 0) : NULL;
    return only != NULL && sl_str_eq(only->name, listing->place.path);
}

static silt_status list_paths(struct listing *listing, silt_error *err)
{
    struct sl_azure_page page;
    struct sl_buf next;
    sl_azure_page_init(&page, listing->azure->context->env);
    sl_buf_init(&next, listing->azure->context->env);
    silt_status status = SILT_OK;
    unsigned pages = 0;
    do {
        status = fetch_paths(listing, &next, &page, err);
        pages++;
    } while (status == SILT_OK && next.len > 0 && pages < MAX_PAGES);
    if (status == SILT_OK && pages == MAX_PAGES) {
        status = sl_fail(err, SILT_EIO, NULL, "a listing has more than %d pages", MAX_PAGES);
    }
    if (status == SILT_OK && page.entries.len == 0 && listing->prefix.len > 0) {
        status = look_at_path(listing, err);
    } else if (status == SILT_OK && !is_itself(listing, &page)) {
        listing->any = true;
        if (page.entries.len > 1) {
            qsort(page.entries.data, page.entries.len, sizeof(struct sl_azure_entry), compare_entries);
        }
        status = show_all(listing, &page, err);
    }
    sl_buf_release(&next);
    sl_azure_page_release(&page);
    return status;
}

/* ---- the slot ---- */

static silt_status run(struct listing *listing, silt_error *err)
{
    bool hierarchical = atomic_load(&listing->access->hierarchy) == SL_AZURE_HIERARCHICAL;
    if (listing->recursive) {
        /* Only there the two kinds differ in their order; for one folder's files it is not worth a question. */
        SL_TRY(sl_azure_is_hierarchical(listing->azure, listing->access, listing->call, &hierarchical, err));
    }
    SL_TRY(hierarchical ? list_paths(listing, err) : list_blobs(listing, err));
    if (!listing->any && listing->prefix.len > 0) {
        return sl_fail(err, SILT_ENOTFOUND, NULL, "there is no folder %.*s in container %s of account %s",
                       SL_FMT(listing->place.path), listing->access->container, listing->access->account);
    }
    return SILT_OK;
}

/* Takes the listed folder apart and reaches its account; *prefix, to be released in any case, holds the folder's path with a slash. */
static silt_status prepare(struct listing *listing, const char *dir, struct sl_buf *prefix, silt_error *err)
{
    sl_buf_init(prefix, listing->azure->context->env);
    sl_buf_init(&listing->last, listing->azure->context->env);
    SL_TRY(sl_azure_place_of_folder(dir, &listing->place, err));
    SL_TRY(sl_azure_reach(listing->azure, &listing->place, &listing->access, err));
    if (listing->place.path.len > 0) {
        sl_buf_put_str(prefix, listing->place.path);
        sl_buf_put_char(prefix, '/');
    }
    SL_TRY(sl_buf_status(prefix, err));
    listing->prefix = sl_str_from(sl_buf_cstr(prefix));
    return SILT_OK;
}

silt_status sl_azure_list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                          bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    struct listing listing = {.azure = impl,
                              .call = call,
                              .start_from = sl_str_from(options->start_from),
                              .recursive = options->recursive,
                              .on_entry = on_entry,
                              .ctx = ctx};
    struct sl_buf prefix;
    silt_status status = prepare(&listing, dir, &prefix, err);
    if (status == SILT_OK) {
        status = run(&listing, err);
    }
    sl_buf_release(&listing.last);
    sl_buf_release(&prefix);
    return status;
}

/* ---- folders, of hierarchical accounts ---- */

struct folders {
    bool (*on_folder)(void *ctx, const char *name, size_t name_len);
    void *ctx;
};

static silt_status show_folders(struct listing *listing, const struct folders *folders,
                                const struct sl_azure_page *page, silt_error *err)
{
    for (size_t i = 0; i < page->entries.len && !listing->stopped; i++) {
        const struct sl_azure_entry *entry = sl_vec_at(&page->entries, i);
        if (!entry->is_folder) {
            continue;
        }
        if (!sl_str_starts_with(entry->name, listing->prefix) || entry->name.len == listing->prefix.len) {
            return sl_fail(err, SILT_EIO, NULL, "a listing has names that are not in the folder");
        }
        const struct sl_str name = sl_str_sub(entry->name, listing->prefix.len, entry->name.len);
        listing->stopped = !folders->on_folder(folders->ctx, name.ptr, name.len);
    }
    return SILT_OK;
}

/* Page by page: who has found what was looked for asks for no more. */
static silt_status list_folders(struct listing *listing, const struct folders *folders, silt_error *err)
{
    struct sl_buf next;
    silt_status status = SILT_OK;
    unsigned pages = 0;
    sl_buf_init(&next, listing->azure->context->env);
    do {
        struct sl_azure_page page;
        sl_azure_page_init(&page, listing->azure->context->env);
        status = fetch_paths(listing, &next, &page, err);
        if (status == SILT_OK && !is_itself(listing, &page)) {
            status = show_folders(listing, folders, &page, err);
        }
        sl_azure_page_release(&page);
        pages++;
    } while (status == SILT_OK && !listing->stopped && next.len > 0 && pages < MAX_PAGES);
    sl_buf_release(&next);
    return status == SILT_OK && pages == MAX_PAGES
               ? sl_fail(err, SILT_EIO, NULL, "a listing has more than %d pages", MAX_PAGES)
               : status;
}

silt_status sl_azure_list_folders(void *impl, const silt_call *call, const char *dir,
                                  bool (*on_folder)(void *ctx, const char *name, size_t name_len), void *ctx,
                                  silt_error *err)
{
    struct listing listing = {.azure = impl, .call = call};
    const struct folders folders = {.on_folder = on_folder, .ctx = ctx};
    struct sl_buf prefix;
    bool hierarchical = false;
    silt_status status = prepare(&listing, dir, &prefix, err);
    if (status == SILT_OK) {
        status = sl_azure_is_hierarchical(listing.azure, listing.access, call, &hierarchical, err);
    }
    if (status == SILT_OK) {
        status = hierarchical ? list_folders(&listing, &folders, err)
                              : sl_fail(err, SILT_EUNSUPPORTED, NULL, "the account has no folders, only names");
    }
    sl_buf_release(&listing.last);
    sl_buf_release(&prefix);
    return status;
}
