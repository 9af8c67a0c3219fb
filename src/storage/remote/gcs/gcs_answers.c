/* Answers of the JSON API. Pure; any thread. */
#include "storage/remote/gcs/gcs_answers.h"

#include <string.h>

#include "base/error.h"
#include "base/time.h"
#include "storage/remote/url.h"

#define MAX_ERROR_BODY 65536 /* a longer one tells us nothing */
#define MAX_REASON 240

/* RFC 3339 with any number of digits of the second's fraction, of which six count. */
static bool read_time(struct sl_str text, int64_t *ms)
{
    char shorter[64];
    const size_t dot = sl_str_find(text, SL_STR("."));
    int64_t us = 0;
    bool has_zone = false;
    if (text.len >= sizeof(shorter)) {
        return false;
    }
    size_t end = dot == SIZE_MAX ? text.len : dot + 1;
    while (end < text.len && sl_is_digit(text.ptr[end])) {
        end++;
    }
    const size_t kept = dot != SIZE_MAX && end - dot > 7 ? dot + 7 : end;
    memcpy(shorter, text.ptr, kept);
    memcpy(shorter + kept, text.ptr + end, text.len - end);
    if (!sl_timestamp_parse(sl_str_make(shorter, kept + text.len - end), &us, &has_zone) || !has_zone) {
        return false;
    }
    *ms = sl_floor_div(us, 1000);
    return true;
}

/* A 64-bit number from 0 on, which the API writes as a string; absent: `missing`. */
static bool read_number(const sl_json *value, const char *key, int64_t missing, int64_t *out)
{
    const sl_json *member = sl_json_member(value, key);
    struct sl_str text = {0};
    if (member == NULL) {
        *out = missing;
        return true;
    }
    return (sl_json_to_str(member, &text) ? sl_str_to_i64(text, out) : sl_json_to_i64(member, out)) && *out >= 0;
}

silt_status sl_gcs_read_object(const sl_json *value, struct sl_gcs_object *out, silt_error *err)
{
    *out = (struct sl_gcs_object){.name = sl_json_member_text(value, "name"),
                                  .crc32c = sl_json_member_text(value, "crc32c")};
    if (!sl_json_is_object(value) || !read_number(value, "size", -1, &out->size_bytes) ||
        !read_number(value, "generation", 0, &out->generation)) {
        return sl_fail(err, SILT_EIO, NULL, "the service described an object without its size");
    }
    const struct sl_str updated = sl_json_member_text(value, "updated");
    if (updated.ptr != NULL && !read_time(updated, &out->updated_ms)) {
        return sl_fail(err, SILT_EIO, NULL, "the service described an object without its time");
    }
    return SILT_OK;
}

silt_status sl_gcs_parse(const silt_env *env, struct sl_str body, struct sl_json_doc **out, silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    const silt_status status = sl_json_parse(env, body, out, &found);
    if (status == SILT_ENOMEM) {
        return sl_fail_nomem(err);
    }
    if (status != SILT_OK) {
        return sl_fail(err, SILT_EIO, NULL, "the service's answer is no JSON: %s", found.message);
    }
    if (!sl_json_is_object(sl_json_root(*out))) {
        sl_json_free(*out);
        *out = NULL;
        return sl_fail(err, SILT_EIO, NULL, "the service's answer is no object of JSON");
    }
    return SILT_OK;
}

silt_status sl_gcs_read_page(const sl_json *root, struct sl_gcs_page *out, silt_error *err)
{
    const sl_json *items = sl_json_member(root, "items");
    const sl_json *prefixes = sl_json_member(root, "prefixes");
    const sl_json *token = sl_json_member(root, "nextPageToken");
    *out = (struct sl_gcs_page){.items = sl_json_iterate(items), .n_prefixes = sl_json_count(prefixes)};
    if (!sl_json_is_null(token) && !sl_json_to_str(token, &out->next_token)) {
        return sl_fail(err, SILT_EIO, NULL, "the service's listing has a page token that is none");
    }
    if ((!sl_json_is_null(items) && !sl_json_is_array(items)) ||
        (!sl_json_is_null(prefixes) && !sl_json_is_array(prefixes))) {
        return sl_fail(err, SILT_EIO, NULL, "the service's listing is not one of objects");
    }
    if (out->next_token.len == 0) {
        out->next_token = (struct sl_str){0};
    }
    return SILT_OK;
}

bool sl_gcs_next_object(struct sl_gcs_page *page, struct sl_gcs_object *out, silt_status *status, silt_error *err)
{
    struct sl_str key;
    const sl_json *value = NULL;
    *status = SILT_OK;
    if (!sl_json_next(&page->items, &key, &value)) {
        return false;
    }
    *status = sl_gcs_read_object(value, out, err);
    if (*status == SILT_OK && (out->name.len == 0 || out->size_bytes < 0)) {
        *status = sl_fail(err, SILT_EIO, NULL, "the service listed an object without a name or a size");
    }
    return *status == SILT_OK;
}

void sl_gcs_put_reason(const silt_env *env, struct sl_buf *out, struct sl_str body)
{
    struct sl_json_doc *doc = NULL;
    if (body.len == 0 || body.len > MAX_ERROR_BODY) {
        return;
    }
    if (sl_json_parse(env, body, &doc, NULL) != SILT_OK) {
        if (body.ptr[0] != '<') { /* text, not a page for a browser */
            sl_url_put_foreign(out, body, MAX_REASON);
        }
        return;
    }
    const sl_json *error = sl_json_member(sl_json_root(doc), "error");
    const struct sl_str plain = sl_json_member_text(sl_json_root(doc),
                                                    "error"); /* of a token endpoint: RFC 6749, 5.2 */
    struct sl_str message = sl_json_member_text(error, "message");
    struct sl_json_iter errors = sl_json_iterate(sl_json_member(error, "errors"));
    struct sl_str key;
    const sl_json *first = NULL;
    struct sl_str reason = plain;
    if (sl_json_next(&errors, &key, &first)) {
        reason = sl_json_member_text(first, "reason");
    }
    if (plain.ptr != NULL) {
        message = sl_json_member_text(sl_json_root(doc), "error_description");
    }
    sl_url_put_foreign(out, reason, MAX_REASON / 4);
    sl_buf_put_c(out, reason.len > 0 && message.len > 0 ? ": " : "");
    sl_url_put_foreign(out, message, MAX_REASON);
    sl_json_free(doc);
}

bool sl_gcs_read_progress(struct sl_str range, int64_t sent, int64_t *stored)
{
    *stored = 0;
    if (range.ptr == NULL) {
        return true;
    }
    struct sl_str text = range;
    if (sl_str_starts_with(text, SL_STR("bytes="))) {
        text = sl_str_sub(text, sizeof("bytes=") - 1, text.len);
    }
    int64_t last = 0;
    if (!sl_str_starts_with(text, SL_STR("0-")) || !sl_str_to_i64(sl_str_sub(text, 2, text.len), &last) || last < 0 ||
        last >= sent) {
        return false;
    }
    *stored = last + 1;
    return true;
}
