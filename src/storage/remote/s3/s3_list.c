/*
 * Listing by ListObjectsV2, page by page. Names come in byte order, which is checked, as is that every page goes on. Any thread.
 *
 * A listing begins behind a name, never at it. The name before "first" in byte order cannot be written down, but any smaller one will do: it only
 * lets some come that are not wanted, and those are passed over.
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "storage/remote/s3/s3_int.h"

void sl_s3_put_before(struct sl_buf *out, struct sl_str first)
{
    size_t n = first.len;
    if (n == 0) {
        return;
    }
    const char last = first.ptr[n - 1];
    if (last > '!' && last <= '~') { /* "0019." → "0019-~": behind all that begins with "0019-" */
        sl_buf_put(out, first.ptr, n - 1);
        sl_buf_put_char(out, (char)(last - 1));
        sl_buf_put_char(out, '~');
        return;
    }
    do { /* a character of several bytes goes as a whole */
        n--;
    } while (n > 0 && ((unsigned char)first.ptr[n] & 0xC0) == 0x80);
    sl_buf_put(out, first.ptr, n);
}

struct pages {
    struct sl_s3_store *store;
    const silt_call *call;
    const struct sl_s3_listing *listing;
    struct sl_buf query;
    struct sl_buf token; /* of the page that comes next */
    struct sl_buf last;  /* the greatest key that was told */
    bool stopped;
    bool (*on_object)(void *ctx, const struct sl_s3_object *object);
    void *ctx;
};

static silt_status put_query(struct pages *pages, silt_error *err)
{
    const struct sl_s3_listing *listing = pages->listing;
    struct sl_buf *query = &pages->query;
    sl_buf_clear(query);
    if (pages->token.len > 0) {
        sl_buf_put_c(query, "continuation-token=");
        sl_sigv4_encode(query, sl_buf_view(&pages->token));
        sl_buf_put_char(query, '&');
    }
    sl_buf_put_c(query, listing->recursive ? "" : "delimiter=%2F&");
    sl_buf_put_c(query, "encoding-type=url&list-type=2");
    if (listing->max_keys > 0) {
        sl_buf_printf(query, "&max-keys=%" PRIu32, listing->max_keys);
    }
    sl_buf_put_c(query, "&prefix=");
    sl_sigv4_encode(query, listing->prefix);
    if (listing->start_after.len > 0) {
        sl_buf_put_c(query, "&start-after=");
        sl_sigv4_encode(query, listing->start_after);
    }
    return sl_buf_status(query, err);
}

/* Tells what a page has; its order and its prefix are checked. */
static silt_status tell_page(struct pages *pages, const struct sl_s3_page *page, silt_error *err)
{
    const struct sl_s3_listing *listing = pages->listing;
    for (size_t i = 0; i < page->objects.len; i++) {
        const struct sl_s3_object *object = sl_vec_at(&page->objects, i);
        if (!sl_str_starts_with(object->key, listing->prefix) ||
            (pages->last.len > 0 && sl_str_compare(sl_buf_view(&pages->last), object->key) >= 0)) {
            return sl_fail(err, SILT_EIO, NULL, "the server's listing is out of order, or of another folder");
        }
        sl_buf_clear(&pages->last);
        sl_buf_put_str(&pages->last, object->key);
        SL_TRY(sl_buf_status(&pages->last, err));
        if (!pages->on_object(pages->ctx, object)) {
            pages->stopped = true;
            return SILT_OK;
        }
    }
    return SILT_OK;
}

/* After a page: where the next begins. A server that gives the same token again would be asked for ever. */
static silt_status turn(struct pages *pages, const struct sl_s3_page *page, silt_error *err)
{
    if (!page->truncated) {
        pages->stopped = true;
        return SILT_OK;
    }
    if (sl_str_eq(sl_buf_view(&pages->token), page->token)) {
        return sl_fail(err, SILT_EIO, NULL, "the server's listing does not go on");
    }
    sl_buf_clear(&pages->token);
    sl_buf_put_str(&pages->token, page->token);
    return sl_buf_status(&pages->token, err);
}

static silt_status read_page(struct pages *pages, silt_error *err)
{
    struct sl_exchange exchange = {0};
    struct sl_arena arena;
    sl_arena_init(&arena, pages->store->env);
    struct sl_s3_page page = {.arena = &arena};
    sl_vec_init(&page.objects, pages->store->env, sizeof(struct sl_s3_object));
    struct sl_s3_ask ask = {.bucket = pages->listing->bucket, .method = "GET"};
    silt_status status = put_query(pages, err);
    ask.query = sl_buf_cstr(&pages->query);
    if (status == SILT_OK) {
        status = sl_s3_run_for(pages->store, pages->call, &ask, &exchange, 200, err);
    }
    if (status == SILT_OK) {
        status = sl_s3_parse_page(pages->store->env, sl_buf_view(&exchange.request.answer), &page, err);
    }
    sl_s3_release(&ask, &exchange);
    if (status == SILT_OK && page.objects.len + page.n_prefixes > 0) {
        *pages->listing->any = true;
    }
    if (status == SILT_OK && page.has_temp && pages->listing->has_temp != NULL) {
        *pages->listing->has_temp = true;
    }
    if (status == SILT_OK) {
        status = tell_page(pages, &page, err);
    }
    if (status == SILT_OK && !pages->stopped) {
        status = turn(pages, &page, err);
    }
    sl_vec_release(&page.objects);
    sl_arena_release(&arena);
    return status;
}

silt_status sl_s3_list_objects(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_listing *listing,
                               bool (*on_object)(void *ctx, const struct sl_s3_object *object), void *ctx,
                               silt_error *err)
{
    struct pages pages = {.store = store, .call = call, .listing = listing, .on_object = on_object, .ctx = ctx};
    sl_buf_init(&pages.query, store->env);
    sl_buf_init(&pages.token, store->env);
    sl_buf_init(&pages.last, store->env);
    silt_status status = SILT_OK;
    while (status == SILT_OK && !pages.stopped) {
        status = read_page(&pages, err);
    }
    sl_buf_release(&pages.query);
    sl_buf_release(&pages.token);
    sl_buf_release(&pages.last);
    return status;
}

/* ---- the slot ---- */

struct entries {
    size_t prefix_len;
    struct sl_str first; /* name wanted */
    bool hides_temp;     /* files of commits by DynamoDB, which are the store's own */
    bool (*on_entry)(void *ctx, const silt_file_entry *entry);
    void *ctx;
};

/* Marks of folders, whose names end in '/', and the store's own files are not told. */
static bool is_hidden(struct sl_str name, bool hides_temp)
{
    size_t begin = name.len;
    while (begin > 0 && name.ptr[begin - 1] != '/') {
        begin--;
    }
    const struct sl_str base = sl_str_sub(name, begin, name.len);
    const struct sl_str folder = sl_str_sub(name, 0, begin);
    if (hides_temp && (sl_str_eq(folder, SL_STR(SL_S3_TEMP_FOLDER "/")) ||
                       sl_str_ends_with(folder, SL_STR(SL_S3_LOG_FOLDER "/" SL_S3_TEMP_FOLDER "/")))) {
        return true;
    }
    return base.len == 0 || sl_str_starts_with(base, SL_STR(SL_S3_PROBE_NAME));
}

static bool tell_entry(void *ctx, const struct sl_s3_object *object)
{
    const struct entries *entries = ctx;
    const struct sl_str name = sl_str_sub(object->key, entries->prefix_len, object->key.len);
    if (is_hidden(name, entries->hides_temp) || sl_str_compare(name, entries->first) < 0) {
        return true;
    }
    const silt_file_entry entry = {
        .name = name.ptr, .name_len = name.len, .size_bytes = object->size_bytes, .modified_ms = object->modified_ms};
    return entries->on_entry(entries->ctx, &entry);
}

static bool tell_nothing(void *ctx, const struct sl_s3_object *object)
{
    (void)ctx;
    (void)object;
    return false;
}

/* Does a listing from there miss nothing of a log but what is no commit? Then it may as well begin at the folder's beginning. */
static bool is_version_zero(struct sl_str first)
{
    return sl_str_eq(first, SL_STR("00000000000000000000"));
}

silt_status sl_s3_list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                       enum sl_s3_temp *temp, bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx,
                       silt_error *err)
{
    struct sl_s3_store *store = impl;
    struct sl_s3_place place;
    bool any = false;
    SL_TRY(sl_s3_locate(store, dir, &place, err));
    struct sl_buf prefix;
    struct sl_buf before;
    sl_buf_init(&prefix, store->env);
    sl_buf_init(&before, store->env);
    sl_buf_put_str(&prefix, place.key);
    if (place.key.len > 0 && !sl_str_ends_with(place.key, SL_STR("/"))) {
        sl_buf_put_char(&prefix, '/');
    }
    const char *start_from = options != NULL ? options->start_from : NULL;
    const struct sl_str first = start_from != NULL ? sl_str_from(start_from) : SL_STR("");
    const bool whole = temp != NULL && (first.len == 0 || is_version_zero(first));
    bool has_temp = false;
    if (first.len > 0 && !whole) {
        sl_buf_put_str(&before, sl_buf_view(&prefix));
        sl_s3_put_before(&before, first);
    }
    struct sl_s3_listing listing = {.bucket = place.bucket,
                                    .prefix = sl_buf_view(&prefix),
                                    .start_after = sl_buf_view(&before),
                                    .recursive = options != NULL && options->recursive,
                                    .any = &any,
                                    .has_temp = &has_temp};
    struct entries entries = {prefix.len, first, place.bucket->dynamo != NULL, on_entry, ctx};
    silt_status status = sl_buf_status(&prefix, err);
    if (status == SILT_OK) {
        status = sl_buf_status(&before, err);
    }
    if (status == SILT_OK) {
        status = sl_s3_list_objects(store, call, &listing, tell_entry, &entries, err);
    }
    if (status == SILT_OK && !any && first.len > 0) { /* nothing so late: is there anything at all? */
        listing.start_after = SL_STR("");
        listing.max_keys = 1;
        listing.recursive = true;
        status = sl_s3_list_objects(store, call, &listing, tell_nothing, NULL, err);
    }
    if (temp != NULL && status == SILT_OK && (whole || !any)) {
        *temp = has_temp ? SL_S3_TEMP_THERE : SL_S3_TEMP_NONE;
    }
    if (status == SILT_OK && !any) {
        status = sl_fail(err, SILT_ENOTFOUND, NULL, "there is no such folder in bucket %s", place.bucket->name);
    }
    sl_buf_release(&prefix);
    sl_buf_release(&before);
    return status;
}
