/*
 * Answers in XML. A server is not believed: keys are decoded only where it says that it encoded them, sizes are numbers, and what is missing is
 * an error. Pure; any thread.
 */
#include <string.h>

#include "base/error.h"
#include "base/time.h"
#include "storage/remote/s3/s3_int.h"
#include "storage/remote/xml.h"

struct page_reader {
    struct sl_s3_page *page;
    struct sl_s3_object next; /* of the Contents element that is open */
    bool has_key, has_size;
    bool encoded; /* EncodingType was url */
    bool is_result;
};

/* ---- the listing ---- */

static silt_status copy_text(struct sl_arena *arena, struct sl_str text, struct sl_str *out, silt_error *err)
{
    *out = sl_arena_copy(arena, text.ptr != NULL ? text : SL_STR(""));
    return out->ptr != NULL ? SILT_OK : sl_fail_nomem(err);
}

static silt_status end_object(struct page_reader *reader, silt_error *err)
{
    if (!reader->has_key || !reader->has_size) {
        return sl_fail(err, SILT_EIO, NULL, "the server's listing has an object without name or size");
    }
    struct sl_s3_object *object = sl_vec_push(&reader->page->objects);
    if (object == NULL) {
        return sl_fail_nomem(err);
    }
    *object = reader->next;
    reader->next = (struct sl_s3_object){0};
    reader->has_key = false;
    reader->has_size = false;
    return SILT_OK;
}

static silt_status end_of_contents(struct page_reader *reader, struct sl_str name, struct sl_str text, silt_error *err)
{
    int64_t us = 0;
    bool has_zone = false;
    if (sl_str_eq(name, SL_STR("/Key"))) {
        reader->has_key = true;
        return copy_text(reader->page->arena, text, &reader->next.key, err);
    }
    if (sl_str_eq(name, SL_STR("/Size"))) {
        reader->has_size = sl_str_to_i64(sl_str_trim(text), &reader->next.size_bytes) && reader->next.size_bytes >= 0;
        return reader->has_size ? SILT_OK
                                : sl_fail(err, SILT_EIO, NULL, "the server's listing has an object of no size");
    }
    if (sl_str_eq(name, SL_STR("/LastModified"))) {
        if (!sl_timestamp_parse(sl_str_trim(text), &us, &has_zone)) {
            return sl_fail(err, SILT_EIO, NULL, "the server's listing has an object of no time");
        }
        reader->next.modified_ms = sl_floor_div(us, 1000);
    }
    return SILT_OK;
}

/* Encoded or not. */
static bool is_temp_folder(struct sl_str prefix)
{
    return sl_str_ends_with(prefix, SL_STR("/" SL_S3_TEMP_FOLDER "/")) ||
           sl_str_ends_with(prefix, SL_STR("%2F" SL_S3_TEMP_FOLDER "%2F"));
}

static silt_status on_page_end(void *ctx, struct sl_str path, struct sl_str text, silt_error *err)
{
    static const char root[] = "ListBucketResult";
    struct page_reader *reader = ctx;
    if (!sl_str_starts_with(path, SL_STR(root))) {
        return SILT_OK;
    }
    const struct sl_str rest = sl_str_sub(path, sizeof(root) - 1, path.len);
    if (rest.len == 0) {
        reader->is_result = true;
    } else if (sl_str_eq(rest, SL_STR("/Contents"))) {
        return end_object(reader, err);
    } else if (sl_str_starts_with(rest, SL_STR("/Contents/"))) {
        return end_of_contents(reader, sl_str_sub(rest, sizeof("/Contents") - 1, rest.len), text, err);
    } else if (sl_str_eq(rest, SL_STR("/CommonPrefixes"))) {
        reader->page->n_prefixes++;
    } else if (sl_str_eq(rest, SL_STR("/CommonPrefixes/Prefix"))) {
        reader->page->has_temp = reader->page->has_temp || is_temp_folder(text);
    } else if (sl_str_eq(rest, SL_STR("/IsTruncated"))) {
        reader->page->truncated = sl_str_eq_nocase(sl_str_trim(text), SL_STR("true"));
    } else if (sl_str_eq(rest, SL_STR("/NextContinuationToken"))) {
        return copy_text(reader->page->arena, text, &reader->page->token, err);
    } else if (sl_str_eq(rest, SL_STR("/EncodingType"))) {
        reader->encoded = sl_str_eq_nocase(sl_str_trim(text), SL_STR("url"));
    }
    return SILT_OK;
}

/* In place: what is decoded is never longer. As in forms, '+' is a space. */
static bool decode_key(struct sl_str *key)
{
    char *text = (char *)(uintptr_t)key->ptr; /* the arena's own */
    size_t n = 0;
    for (size_t i = 0; i < key->len; i++) {
        char c = text[i];
        if (c == '%') {
            const int high = i + 2 < key->len ? sl_hex_digit(text[i + 1]) : -1;
            const int low = i + 2 < key->len ? sl_hex_digit(text[i + 2]) : -1;
            if (high < 0 || low < 0) {
                return false;
            }
            c = (char)(high << 4 | low);
            i += 2;
        } else if (c == '+') {
            c = ' ';
        }
        if (c == '\0') {
            return false;
        }
        text[n++] = c;
    }
    text[n] = '\0';
    key->len = n;
    return true;
}

silt_status sl_s3_parse_page(const silt_env *env, struct sl_str body, struct sl_s3_page *page, silt_error *err)
{
    struct page_reader reader = {.page = page};
    const struct sl_xml_handler handler = {.on_end = on_page_end, .ctx = &reader};
    SL_TRY(sl_xml_read(env, body, &handler, err));
    if (!reader.is_result) {
        return sl_fail(err, SILT_EIO, NULL, "the server's answer is no listing");
    }
    for (size_t i = 0; i < page->objects.len && reader.encoded; i++) {
        struct sl_s3_object *object = sl_vec_at(&page->objects, i);
        if (!decode_key(&object->key)) {
            return sl_fail(err, SILT_EIO, NULL, "the server's listing has a name that cannot be decoded");
        }
    }
    if (page->truncated && page->token.len == 0) {
        return sl_fail(err, SILT_EIO, NULL, "the server's listing is cut and does not say how to go on");
    }
    return SILT_OK;
}

/* ---- single elements ---- */

struct text_reader {
    struct sl_arena *arena;
    const char *path;
    struct sl_str *out;
};

static silt_status on_text_end(void *ctx, struct sl_str path, struct sl_str text, silt_error *err)
{
    struct text_reader *reader = ctx;
    return sl_str_eq_c(path, reader->path) ? copy_text(reader->arena, text, reader->out, err) : SILT_OK;
}

silt_status sl_s3_parse_text(struct sl_arena *arena, struct sl_str body, const char *path, struct sl_str *out,
                             silt_error *err)
{
    *out = (struct sl_str){0};
    struct text_reader reader = {arena, path, out};
    const struct sl_xml_handler handler = {.on_end = on_text_end, .ctx = &reader};
    return sl_xml_read(arena->env, body, &handler, err);
}

struct deleted_reader {
    struct sl_arena *arena;
    struct sl_str key, code; /* of the Error element that is open */
    struct sl_str *first_key, *first_code;
    bool is_result;
};

static silt_status on_deleted_end(void *ctx, struct sl_str path, struct sl_str text, silt_error *err)
{
    struct deleted_reader *reader = ctx;
    if (sl_str_eq(path, SL_STR("DeleteResult/Error/Key"))) {
        return copy_text(reader->arena, text, &reader->key, err);
    }
    if (sl_str_eq(path, SL_STR("DeleteResult/Error/Code"))) {
        return copy_text(reader->arena, text, &reader->code, err);
    }
    if (sl_str_eq(path, SL_STR("DeleteResult/Error")) && reader->first_key->ptr == NULL) {
        *reader->first_key = reader->key.ptr != NULL ? reader->key : SL_STR("?");
        *reader->first_code = reader->code.ptr != NULL ? reader->code : SL_STR("?");
    }
    reader->is_result = reader->is_result || sl_str_eq(path, SL_STR("DeleteResult"));
    return SILT_OK;
}

silt_status sl_s3_parse_deleted(struct sl_arena *arena, struct sl_str body, struct sl_str *key, struct sl_str *code,
                                silt_error *err)
{
    *key = (struct sl_str){0};
    *code = (struct sl_str){0};
    struct deleted_reader reader = {.arena = arena, .first_key = key, .first_code = code};
    const struct sl_xml_handler handler = {.on_end = on_deleted_end, .ctx = &reader};
    SL_TRY(sl_xml_read(arena->env, body, &handler, err));
    return reader.is_result ? SILT_OK : sl_fail(err, SILT_EIO, NULL, "the server's answer to a deletion is none");
}
