/* Pages of listings. Pure; one thread a page. */
#include "storage/remote/azure/azure_page.h"

#include "base/error.h"
#include "json/json.h"
#include "storage/remote/http_fields.h"
#include "storage/remote/xml.h"

#define MAX_ENTRIES 100000 /* of one page; the services send 5,000 */
#define BLOB "EnumerationResults/Blobs/Blob"

void sl_azure_page_init(struct sl_azure_page *page, const silt_env *env)
{
    *page = (struct sl_azure_page){0};
    sl_arena_init(&page->arena, env);
    sl_vec_init(&page->entries, env, sizeof(struct sl_azure_entry));
}

void sl_azure_page_release(struct sl_azure_page *page)
{
    sl_vec_release(&page->entries);
    sl_arena_release(&page->arena);
}

static silt_status fail_page(const char *what, silt_error *err)
{
    return sl_fail(err, SILT_EIO, NULL, "%s", what);
}

/* What a page ends with. */
static silt_status conclude(silt_status status, silt_error *err)
{
    if (status == SILT_EIO) {
        sl_error_context(err, "a page of a listing cannot be used");
    }
    return status;
}

static silt_status add_entry(struct sl_azure_page *page, const struct sl_azure_entry *entry, silt_error *err)
{
    if (page->entries.len >= page->limit) {
        return sl_fail(err, SILT_EIO, NULL, "it has more than %d names", MAX_ENTRIES);
    }
    struct sl_azure_entry *slot = sl_vec_push(&page->entries);
    if (slot == NULL) {
        return sl_fail_nomem(err);
    }
    *slot = *entry;
    return SILT_OK;
}

static bool to_time(struct sl_str text, int64_t *modified_ms)
{
    int64_t seconds = 0;
    if (!sl_http_date_parse(text, &seconds)) {
        return false;
    }
    *modified_ms = seconds * 1000;
    return true;
}

/* ---- XML ---- */

struct blob_pass {
    struct sl_azure_page *page;
    struct sl_azure_entry entry; /* the one being read */
    bool has_size;
    bool has_time;
    bool is_page; /* the root is that of a page */
};

static silt_status on_start(void *ctx, struct sl_str path, silt_error *err)
{
    struct blob_pass *pass = ctx;
    (void)err;
    if (sl_str_eq_c(path, BLOB)) {
        pass->entry = (struct sl_azure_entry){0};
        pass->has_size = false;
        pass->has_time = false;
    }
    return SILT_OK;
}

static silt_status end_blob(struct blob_pass *pass, silt_error *err)
{
    if (pass->entry.name.len == 0) {
        return fail_page("a blob without a name", err);
    }
    if (!pass->has_size || !pass->has_time) {
        return fail_page("a blob without size or time", err);
    }
    return add_entry(pass->page, &pass->entry, err);
}

static silt_status copy_text(struct blob_pass *pass, struct sl_str text, struct sl_str *out, silt_error *err)
{
    *out = sl_arena_copy(&pass->page->arena, text);
    return out->ptr != NULL || text.ptr == NULL ? SILT_OK : sl_fail_nomem(err);
}

static silt_status on_end(void *ctx, struct sl_str path, struct sl_str text, silt_error *err)
{
    struct blob_pass *pass = ctx;
    struct sl_azure_entry *entry = &pass->entry;
    if (sl_str_eq_c(path, BLOB)) {
        return end_blob(pass, err);
    }
    if (sl_str_eq_c(path, BLOB "/Name")) {
        return copy_text(pass, text, &entry->name, err);
    }
    if (sl_str_eq_c(path, BLOB "/Properties/Content-Length")) {
        pass->has_size = sl_str_to_i64(sl_str_trim(text), &entry->size_bytes) && entry->size_bytes >= 0;
    } else if (sl_str_eq_c(path, BLOB "/Properties/Last-Modified")) {
        pass->has_time = to_time(sl_str_trim(text), &entry->modified_ms);
    } else if (sl_str_eq_c(path, BLOB "/Properties/ResourceType")) {
        entry->is_folder = entry->is_folder || sl_str_eq_c(sl_str_trim(text), "directory");
    } else if (sl_str_eq_nocase(path, SL_STR(BLOB "/Metadata/hdi_isfolder"))) {
        entry->is_folder = entry->is_folder || sl_str_eq_nocase(sl_str_trim(text), SL_STR("true"));
    } else if (sl_str_eq_c(path, "EnumerationResults/Blobs/BlobPrefix")) {
        pass->page->n_prefixes++;
    } else if (sl_str_eq_c(path, "EnumerationResults/NextMarker")) {
        return copy_text(pass, text, &pass->page->next, err);
    } else if (sl_str_eq_c(path, "EnumerationResults")) {
        pass->is_page = true;
    }
    return SILT_OK;
}

silt_status sl_azure_page_read_xml(struct sl_azure_page *page, struct sl_str text, silt_error *err)
{
    struct blob_pass pass = {.page = page};
    const struct sl_xml_handler handler = {.on_start = on_start, .on_end = on_end, .ctx = &pass};
    page->next = (struct sl_str){0};
    page->limit = page->entries.len + MAX_ENTRIES;
    /* Some send a byte order mark. */
    if (sl_str_starts_with(text, SL_STR("\xEF\xBB\xBF"))) {
        text = sl_str_sub(text, 3, text.len);
    }
    silt_status status = sl_xml_read(page->arena.env, text, &handler, err);
    if (status == SILT_OK && !pass.is_page) {
        status = fail_page("it is no EnumerationResults", err);
    }
    return conclude(status, err);
}

/* ---- JSON ---- */

/* Numbers and truth values come as text, by some servers as what they are. */
static bool to_number(const sl_json *value, int64_t *out)
{
    struct sl_str text;
    return sl_json_to_i64(value, out) || (sl_json_to_str(value, &text) && sl_str_to_i64(text, out));
}

static bool is_true(const sl_json *value)
{
    bool yes = false;
    struct sl_str text = {0};
    if (sl_json_to_bool(value, &yes)) {
        return yes;
    }
    return sl_json_to_str(value, &text) && sl_str_eq_nocase(text, SL_STR("true"));
}

static silt_status add_path(struct sl_azure_page *page, const sl_json *path, silt_error *err)
{
    const struct sl_str name = sl_json_member_text(path, "name");
    struct sl_azure_entry entry = {.is_folder = is_true(sl_json_member(path, "isDirectory"))};
    if (name.len == 0) {
        return fail_page("a path without a name", err);
    }
    if (!entry.is_folder &&
        (!to_number(sl_json_member(path, "contentLength"), &entry.size_bytes) || entry.size_bytes < 0 ||
         !to_time(sl_json_member_text(path, "lastModified"), &entry.modified_ms))) {
        return fail_page("a path without size or time", err);
    }
    entry.name = sl_arena_copy(&page->arena, name);
    return entry.name.ptr != NULL ? add_entry(page, &entry, err) : sl_fail_nomem(err);
}

silt_status sl_azure_page_read_json(struct sl_azure_page *page, struct sl_str text, silt_error *err)
{
    struct sl_json_doc *doc = NULL;
    silt_status status = sl_json_parse(page->arena.env, text, &doc, NULL);
    if (status != SILT_OK) {
        return status == SILT_ENOMEM ? sl_fail_nomem(err) : conclude(fail_page("it is not JSON", err), err);
    }
    const sl_json *paths = sl_json_member(sl_json_root(doc), "paths");
    const sl_json *path = NULL;
    struct sl_str key;
    if (!sl_json_is_array(paths)) {
        status = fail_page("it has no paths", err);
    }
    page->limit = page->entries.len + MAX_ENTRIES;
    struct sl_json_iter iter = sl_json_iterate(paths);
    while (status == SILT_OK && sl_json_next(&iter, &key, &path)) {
        status = add_path(page, path, err);
    }
    sl_json_free(doc);
    return conclude(status, err);
}
