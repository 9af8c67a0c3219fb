/*
 * Removal of folders: at once where the account knows folders, else of each name below.
 *
 * Called through the store's slots. Any thread.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "storage/remote/azure/azure_int.h"

#define SIDE_BY_SIDE 64
#define MAX_PAGES 1000000

/* ---- hierarchical accounts ---- */

/* One request; *next is where the service wants to go on, empty when all is gone. */
static silt_status remove_some(struct sl_azure *azure, struct sl_azure_access *access, const silt_call *call,
                               struct sl_str path, struct sl_buf *next, silt_error *err)
{
    struct sl_azure_request request;
    struct sl_exchange exchange = {0};
    sl_azure_request_init(&request, azure->context, access, "DELETE", path);
    request.dfs = true;
    if (next->len > 0) {
        sl_azure_request_parameter(&request, "continuation", sl_buf_cstr(next));
    }
    sl_azure_request_parameter(&request, "recursive", "true");
    silt_status status = sl_azure_ask(&request, call, &exchange, err);
    const bool gone = status == SILT_OK && exchange.request.code == 404 &&
                      !sl_azure_code_in(sl_azure_answer_code(&request), "FilesystemNotFound ContainerNotFound");
    if (status == SILT_OK && !gone) {
        status = sl_azure_judge(&request, err);
    }
    const struct sl_str continuation = sl_http_header(&exchange.request, "x-ms-continuation");
    if (status == SILT_OK && continuation.len > 0 && sl_str_eq(continuation, sl_buf_view(next))) {
        status = sl_fail(err, SILT_EIO, NULL, "the removal of a folder does not advance");
    }
    sl_buf_clear(next);
    if (!gone) {
        sl_buf_put_str(next, continuation);
    }
    sl_exchange_release(&exchange);
    sl_azure_request_release(&request);
    return status == SILT_OK ? sl_buf_status(next, err) : status;
}

static silt_status remove_folder(struct sl_azure *azure, struct sl_azure_access *access, const silt_call *call,
                                 struct sl_str path, silt_error *err)
{
    struct sl_buf next;
    sl_buf_init(&next, azure->context->env);
    silt_status status = SILT_OK;
    unsigned pages = 0;
    do {
        status = remove_some(azure, access, call, path, &next, err);
        pages++;
    } while (status == SILT_OK && next.len > 0 && pages < MAX_PAGES);
    sl_buf_release(&next);
    return status == SILT_OK && pages == MAX_PAGES
               ? sl_fail(err, SILT_EIO, NULL, "the removal of a folder takes more than %d steps", MAX_PAGES)
               : status;
}

/* ---- flat accounts ---- */

struct row {
    struct sl_azure_request requests[SIDE_BY_SIDE];
    struct sl_exchange exchanges[SIDE_BY_SIDE];
};

static silt_status remove_row(struct sl_azure *azure, struct sl_azure_access *access, const silt_call *call,
                              const struct sl_azure_entry *entries, size_t n, silt_error *err)
{
    struct row *row = sl_alloc_zero(azure->context->env, sizeof(*row));
    if (row == NULL) {
        return sl_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        sl_azure_request_init(&row->requests[i], azure->context, access, "DELETE", entries[i].name);
        sl_azure_request_header(&row->requests[i], "x-ms-delete-snapshots", "include");
    }
    silt_status status = sl_azure_ask_all(row->requests, row->exchanges, n, call, NULL, NULL, err);
    for (size_t i = 0; i < n; i++) {
        /* Somebody else may have removed it. */
        if (status == SILT_OK && !(row->exchanges[i].status == SILT_OK && row->exchanges[i].request.code == 404)) {
            status = sl_azure_judge(&row->requests[i], err);
        }
        sl_exchange_release(&row->exchanges[i]);
        sl_azure_request_release(&row->requests[i]);
    }
    sl_release(azure->context->env, row, sizeof(*row));
    return status;
}

static silt_status remove_page(struct sl_azure *azure, struct sl_azure_access *access, const silt_call *call,
                               const struct sl_azure_blob_query *query, struct sl_buf *marker, silt_error *err)
{
    struct sl_azure_page page;
    sl_azure_page_init(&page, azure->context->env);
    silt_status status = sl_azure_fetch_blobs(azure, access, call, query, &page, err);
    for (size_t i = 0; status == SILT_OK && i < page.entries.len; i++) {
        const struct sl_azure_entry *entry = sl_vec_at(&page.entries, i);
        if (!sl_str_starts_with(entry->name, sl_str_from(query->prefix))) {
            status = sl_fail(err, SILT_EIO, NULL, "a listing has names that are not in the folder");
        }
    }
    for (size_t i = 0; status == SILT_OK && i < page.entries.len; i += SIDE_BY_SIDE) {
        const size_t left = page.entries.len - i;
        status = remove_row(azure, access, call, sl_vec_at(&page.entries, i), left < SIDE_BY_SIDE ? left : SIDE_BY_SIDE,
                            err);
    }
    if (status == SILT_OK && page.next.len > 0 && sl_str_eq(page.next, sl_buf_view(marker))) {
        status = sl_fail(err, SILT_EIO, NULL, "the pages of a listing do not advance");
    }
    sl_buf_clear(marker);
    sl_buf_put_str(marker, page.next);
    sl_azure_page_release(&page);
    return status == SILT_OK ? sl_buf_status(marker, err) : status;
}

static silt_status remove_names(struct sl_azure *azure, struct sl_azure_access *access, const silt_call *call,
                                struct sl_str path, silt_error *err)
{
    struct sl_buf prefix;
    struct sl_buf marker;
    sl_buf_init(&prefix, azure->context->env);
    sl_buf_init(&marker, azure->context->env);
    sl_buf_put_str(&prefix, path);
    sl_buf_put_char(&prefix, '/');
    silt_status status = sl_buf_status(&prefix, err);
    struct sl_azure_blob_query query = {.prefix = sl_buf_cstr(&prefix), .recursive = true};
    unsigned pages = 0;
    do {
        query.marker = sl_buf_cstr(&marker);
        status = status == SILT_OK ? remove_page(azure, access, call, &query, &marker, err) : status;
        pages++;
    } while (status == SILT_OK && marker.len > 0 && pages < MAX_PAGES);
    sl_buf_release(&prefix);
    sl_buf_release(&marker);
    return status == SILT_OK && pages == MAX_PAGES
               ? sl_fail(err, SILT_EIO, NULL, "a listing has more than %d pages", MAX_PAGES)
               : status;
}

silt_status sl_azure_remove_tree(void *impl, const silt_call *call, const char *dir, silt_error *err)
{
    struct sl_azure *azure = impl;
    struct sl_azure_place place;
    struct sl_azure_access *access = NULL;
    bool hierarchical = false;
    SL_TRY(sl_azure_place_of_folder(dir, &place, err));
    if (place.path.len == 0) {
        return sl_fail(err, SILT_EINVALID, NULL, "a folder is expected: this is the whole container");
    }
    SL_TRY(sl_azure_reach(azure, &place, &access, err));
    SL_TRY(sl_azure_is_hierarchical(azure, access, call, &hierarchical, err));
    return hierarchical ? remove_folder(azure, access, call, place.path, err)
                        : remove_names(azure, access, call, place.path, err);
}
