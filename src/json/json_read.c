/*
 * Reading JSON on yyjson. The parser is iterative, so depth costs no stack there; it is limited here, before parsing, for
 * the sake of those who walk the values by recursion. Numbers stay text until somebody asks for a type. Used for commits,
 * statistics, schema strings, hints. A document has one owner; reading it is safe from any thread.
 */
#include "json/json.h"

#include <string.h>
#include <yyjson.h>

#include "base/alloc.h"
#include "base/decimal.h"
#include "base/error.h"

struct sl_json_doc {
    const silt_env *env;
    yyjson_doc *doc;
};

/* yyjson frees without telling a size: it is kept in front of each block. */
union block_head {
    size_t size;
    max_align_t align;
};

static void *json_alloc(void *ctx, size_t size)
{
    size_t total = 0;
    if (!sl_add_size(size, sizeof(union block_head), &total)) {
        return NULL;
    }
    union block_head *head = sl_alloc(ctx, total);
    if (head == NULL) {
        return NULL;
    }
    head->size = total;
    return head + 1;
}

static void json_release(void *ctx, void *block)
{
    if (block != NULL) {
        union block_head *head = (union block_head *)block - 1;
        sl_release(ctx, head, head->size);
    }
}

static void *json_resize(void *ctx, void *block, size_t old_size, size_t size)
{
    (void)old_size;
    size_t total = 0;
    if (block == NULL) {
        return json_alloc(ctx, size);
    }
    if (!sl_add_size(size, sizeof(union block_head), &total)) {
        return NULL;
    }
    union block_head *head = (union block_head *)block - 1;
    head = sl_resize(ctx, head, head->size, total);
    if (head == NULL) {
        return NULL;
    }
    head->size = total;
    return head + 1;
}

/*
 * Finds where brackets outside of strings nest deeper than allowed: SIZE_MAX if nowhere. What is no JSON may be judged either
 * way, the parser refuses it.
 */
static size_t find_too_deep(struct sl_str text)
{
    /* Most texts have too few brackets to be deep; this loop is the fast one. */
    size_t n_brackets = 0;
    size_t at = 0;
    for (uint64_t bytes = 0; text.len - at >= sizeof(bytes); at += sizeof(bytes)) {
        /* The two differ in one bit. A zero byte becomes a one, others zero; what lies behind it may count as well. */
        memcpy(&bytes, text.ptr + at, sizeof(bytes));
        bytes = (bytes & UINT64_C(0xDFDFDFDFDFDFDFDF)) ^ UINT64_C(0x5B5B5B5B5B5B5B5B);
        bytes = ((bytes - UINT64_C(0x0101010101010101)) & ~bytes & UINT64_C(0x8080808080808080)) >> 7;
        n_brackets += (size_t)((bytes * UINT64_C(0x0101010101010101)) >> 56);
    }
    for (; at < text.len; at++) {
        n_brackets += text.ptr[at] == '{' || text.ptr[at] == '[' ? 1 : 0;
    }
    if (n_brackets <= SL_JSON_MAX_DEPTH) {
        return SIZE_MAX;
    }
    size_t depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.ptr[i];
        if (in_string) {
            if (c == '\\') {
                i++;
            } else if (c == '"') {
                in_string = false;
            }
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            if (++depth > SL_JSON_MAX_DEPTH) {
                return i;
            }
        } else if ((c == '}' || c == ']') && depth > 0) {
            depth--;
        }
    }
    return SIZE_MAX;
}

silt_status sl_json_parse(const silt_env *env, struct sl_str text, struct sl_json_doc **out, silt_error *err)
{
    *out = NULL;
    if (text.len == 0) {
        sl_fail(err, SILT_ECORRUPT, NULL, "JSON text is empty");
        sl_error_position(err, 0);
        return SILT_ECORRUPT;
    }
    const size_t too_deep = find_too_deep(text);
    if (too_deep != SIZE_MAX) {
        sl_fail(err, SILT_ECORRUPT, NULL, "JSON nests deeper than %d levels at byte %zu", SL_JSON_MAX_DEPTH, too_deep);
        sl_error_position(err, too_deep);
        return SILT_ECORRUPT;
    }
    struct sl_json_doc *result = sl_alloc_zero(env, sizeof(*result));
    if (result == NULL) {
        return sl_fail_nomem(err);
    }
    result->env = env;
    const yyjson_alc alc = {
        .malloc = json_alloc,
        .realloc = json_resize,
        .free = json_release,
        /* The interface is not const-correct; the environment is only read. */
        .ctx = (void *)(uintptr_t)env,
    };
    yyjson_read_err fault = {0};
    /* Without the flag for parsing in place the text is not changed, whatever the parameter's type says. */
    result->doc = yyjson_read_opts((char *)(uintptr_t)text.ptr, text.len, YYJSON_READ_NUMBER_AS_RAW, &alc, &fault);
    if (result->doc == NULL) {
        sl_release(env, result, sizeof(*result));
        if (fault.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION) {
            return sl_fail_nomem(err);
        }
        sl_fail(err, SILT_ECORRUPT, NULL, "invalid JSON at byte %zu: %s", fault.pos,
                fault.msg != NULL ? fault.msg : "unknown fault");
        sl_error_position(err, fault.pos);
        return SILT_ECORRUPT;
    }
    *out = result;
    return SILT_OK;
}

void sl_json_free(struct sl_json_doc *doc)
{
    if (doc != NULL) {
        yyjson_doc_free(doc->doc);
        sl_release(doc->env, doc, sizeof(*doc));
    }
}

const sl_json *sl_json_root(const struct sl_json_doc *doc)
{
    return doc != NULL ? yyjson_doc_get_root(doc->doc) : NULL;
}

/* yyjson's readers take pointers that are not const but do not write through them. */
static yyjson_val *raw(const sl_json *value)
{
    return (yyjson_val *)(uintptr_t)value;
}

enum sl_json_kind sl_json_get_kind(const sl_json *value)
{
    switch (yyjson_get_type(raw(value))) {
    case YYJSON_TYPE_BOOL: return SL_JSON_BOOL;
    case YYJSON_TYPE_RAW:
    case YYJSON_TYPE_NUM: return SL_JSON_NUMBER;
    case YYJSON_TYPE_STR: return SL_JSON_STRING;
    case YYJSON_TYPE_ARR: return SL_JSON_ARRAY;
    case YYJSON_TYPE_OBJ: return SL_JSON_OBJECT;
    default: return SL_JSON_NULL;
    }
}

bool sl_json_is_object(const sl_json *value)
{
    return sl_json_get_kind(value) == SL_JSON_OBJECT;
}

bool sl_json_is_array(const sl_json *value)
{
    return sl_json_get_kind(value) == SL_JSON_ARRAY;
}

bool sl_json_is_null(const sl_json *value)
{
    return sl_json_get_kind(value) == SL_JSON_NULL;
}

const sl_json *sl_json_member(const sl_json *object, const char *key)
{
    return sl_json_member_str(object, sl_str_from(key));
}

const sl_json *sl_json_member_str(const sl_json *object, struct sl_str key)
{
    return yyjson_obj_getn(raw(object), key.len > 0 ? key.ptr : "", key.len);
}

struct sl_str sl_json_member_text(const sl_json *object, const char *key)
{
    struct sl_str text = {0};
    const bool is_text = sl_json_to_str(sl_json_member(object, key), &text);
    return is_text ? text : (struct sl_str){0};
}

size_t sl_json_count(const sl_json *value)
{
    return yyjson_is_ctn(raw(value)) ? yyjson_get_len(raw(value)) : 0;
}

bool sl_json_to_str(const sl_json *value, struct sl_str *out)
{
    if (sl_json_get_kind(value) != SL_JSON_STRING) {
        return false;
    }
    *out = sl_str_make(yyjson_get_str(raw(value)), yyjson_get_len(raw(value)));
    return true;
}

bool sl_json_to_bool(const sl_json *value, bool *out)
{
    if (sl_json_get_kind(value) != SL_JSON_BOOL) {
        return false;
    }
    *out = yyjson_get_bool(raw(value));
    return true;
}

bool sl_json_to_number_text(const sl_json *value, struct sl_str *out)
{
    if (!yyjson_is_raw(raw(value))) {
        return false;
    }
    *out = sl_str_make(yyjson_get_raw(raw(value)), yyjson_get_len(raw(value)));
    return true;
}

bool sl_json_number_to_i64(struct sl_str text, int64_t *out)
{
    if (sl_str_to_i64(text, out)) {
        return true;
    }
    /* 5.0 and 5e3 are integers too. */
    sl_i128 unscaled = 0;
    int scale = 0;
    if (!sl_decimal_parse(text, &unscaled, &scale) || !sl_decimal_rescale(unscaled, scale, 0, &unscaled)) {
        return false;
    }
    if (unscaled < INT64_MIN || unscaled > INT64_MAX) {
        return false;
    }
    *out = (int64_t)unscaled;
    return true;
}

bool sl_json_to_i64(const sl_json *value, int64_t *out)
{
    struct sl_str text;
    return sl_json_to_number_text(value, &text) && sl_json_number_to_i64(text, out);
}

bool sl_json_to_f64(const sl_json *value, double *out)
{
    struct sl_str text;
    return sl_json_to_number_text(value, &text) && sl_str_to_f64(text, out);
}

struct sl_json_iter sl_json_iterate(const sl_json *container)
{
    struct sl_json_iter iter = {.container = container, .is_object = sl_json_is_object(container)};
    iter.left = sl_json_count(container);
    if (iter.left > 0) {
        iter.next = unsafe_yyjson_get_first(raw(container));
    }
    return iter;
}

bool sl_json_next(struct sl_json_iter *iter, struct sl_str *key, const sl_json **value)
{
    *value = NULL;
    if (key != NULL) {
        *key = (struct sl_str){NULL, 0};
    }
    if (iter->left == 0) {
        return false;
    }
    yyjson_val *current = raw(iter->next);
    if (iter->is_object) {
        if (key != NULL) {
            *key = sl_str_make(yyjson_get_str(current), yyjson_get_len(current));
        }
        current++; /* a member's value lies behind its key */
    }
    *value = current;
    iter->left--;
    iter->next = iter->left > 0 ? unsafe_yyjson_get_next(current) : NULL;
    return true;
}
