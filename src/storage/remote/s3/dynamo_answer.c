/* Answers of DynamoDB; see dynamo_answer.h. Pure; any thread. */
#include "storage/remote/s3/dynamo_answer.h"

#include <string.h>

#include "base/error.h"
#include "json/json.h"

#define MAX_FAULT_BODY 65536 /* a longer one tells us nothing */

/* ---- names ---- */

static bool is_plain(struct sl_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 0x7F) {
            return false;
        }
    }
    return true;
}

bool sl_dynamo_is_name(struct sl_str name)
{
    return name.len > 0 && name.len <= SL_DYNAMO_MAX_NAME && sl_str_find(name, SL_STR("/")) == SIZE_MAX &&
           !sl_str_eq(name, SL_STR(".")) && !sl_str_eq(name, SL_STR("..")) && is_plain(name);
}

bool sl_dynamo_is_inner(struct sl_str path)
{
    if (path.len == 0 || path.len > SL_DYNAMO_MAX_TEMP) {
        return false;
    }
    for (struct sl_str rest = path;;) {
        const size_t slash = sl_str_find(rest, SL_STR("/"));
        if (!sl_dynamo_is_name(sl_str_sub(rest, 0, slash == SIZE_MAX ? rest.len : slash))) {
            return false;
        }
        if (slash == SIZE_MAX) {
            return true;
        }
        rest = sl_str_sub(rest, slash + 1, rest.len);
    }
}

/* ---- values ---- */

static silt_status parse(const silt_env *env, struct sl_str body, struct sl_json_doc **out, silt_error *err)
{
    silt_error found = SILT_ERROR_INIT;
    *out = NULL;
    const silt_status status = sl_json_parse(env, body, out, &found);
    if (status == SILT_ENOMEM) {
        return sl_fail_nomem(err);
    }
    if (status != SILT_OK) {
        return sl_fail(err, SILT_EIO, NULL, "DynamoDB's answer is no JSON: %s", found.message);
    }
    if (!sl_json_is_object(sl_json_root(*out))) {
        sl_json_free(*out);
        *out = NULL;
        return sl_fail(err, SILT_EIO, NULL, "DynamoDB's answer is no object of JSON");
    }
    return SILT_OK;
}

/* An attribute {"S": text}; false if it is absent or of another type. */
static bool read_text(const sl_json *item, const char *name, struct sl_str *out)
{
    return sl_json_to_str(sl_json_member(sl_json_member(item, name), "S"), out);
}

/* An attribute {"N": "123"}; absent is 0. */
static bool read_number(const sl_json *item, const char *name, int64_t *out)
{
    struct sl_str text = {0};
    const sl_json *attribute = sl_json_member(item, name);
    *out = 0;
    if (attribute == NULL) {
        return true;
    }
    return sl_json_to_str(sl_json_member(attribute, "N"), &text) && sl_json_number_to_i64(text, out);
}

static silt_status keep(struct sl_arena *arena, struct sl_str *text, silt_error *err)
{
    *text = sl_arena_copy(arena, *text);
    return text->ptr != NULL ? SILT_OK : sl_fail_nomem(err);
}

/* file_name absent: any. */
static silt_status read_entry(struct sl_arena *arena, const sl_json *item, struct sl_str table_path,
                              struct sl_str file_name, struct sl_dynamo_entry *out, silt_error *err)
{
    struct sl_str complete = {0};
    *out = (struct sl_dynamo_entry){0};
    if (!read_text(item, SL_DYNAMO_TABLE_PATH, &out->table_path) ||
        !read_text(item, SL_DYNAMO_FILE_NAME, &out->file_name)) {
        return sl_fail(err, SILT_EIO, NULL, "DynamoDB gave an item without its keys");
    }
    if (!sl_str_eq(out->table_path, table_path) || (file_name.ptr != NULL && !sl_str_eq(out->file_name, file_name))) {
        return sl_fail(err, SILT_EIO, NULL, "DynamoDB gave another item than was asked for");
    }
    if (!sl_dynamo_is_name(out->file_name)) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "an entry in DynamoDB is not about a file of the log");
    }
    if (!read_text(item, SL_DYNAMO_TEMP_PATH, &out->temp_path) || !sl_dynamo_is_inner(out->temp_path) ||
        sl_str_eq(out->temp_path, out->file_name)) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "the entry of %.*s in DynamoDB names no temporary file of the log",
                       SL_FMT(out->file_name));
    }
    if (!read_text(item, SL_DYNAMO_COMPLETE, &complete) ||
        !read_number(item, SL_DYNAMO_EXPIRE_TIME, &out->expire_time_s)) {
        return sl_fail(err, SILT_ECORRUPT, NULL, "the entry of %.*s in DynamoDB does not say whether it is complete",
                       SL_FMT(out->file_name));
    }
    out->complete = sl_str_eq(complete, SL_STR("true"));
    SL_TRY(keep(arena, &out->table_path, err));
    SL_TRY(keep(arena, &out->file_name, err));
    return keep(arena, &out->temp_path, err);
}

/* ---- items ---- */

silt_status sl_dynamo_read_item(struct sl_arena *arena, struct sl_str body, struct sl_str table_path,
                                struct sl_str file_name, struct sl_dynamo_entry *out, bool *found, silt_error *err)
{
    struct sl_json_doc *doc = NULL;
    *found = false;
    *out = (struct sl_dynamo_entry){0};
    SL_TRY(parse(arena->env, body, &doc, err));
    const sl_json *item = sl_json_member(sl_json_root(doc), "Item");
    silt_status status = SILT_OK;
    if (item != NULL && !sl_json_is_object(item)) {
        status = sl_fail(err, SILT_EIO, NULL, "DynamoDB gave an item that is none");
    } else if (item != NULL && sl_json_count(item) > 0) {
        status = read_entry(arena, item, table_path, file_name, out, err);
        *found = status == SILT_OK;
    }
    sl_json_free(doc);
    return status;
}

/* The items of a page, of which there are at most max. */
static silt_status read_items(const sl_json *root, size_t max, struct sl_json_iter *out, silt_error *err)
{
    const sl_json *items = sl_json_member(root, "Items");
    *out = sl_json_iterate(items);
    if (!sl_json_is_array(items)) {
        return sl_fail(err, SILT_EIO, NULL, "DynamoDB's answer to a query has no items");
    }
    if (sl_json_count(items) > max) {
        return sl_fail(err, SILT_EIO, NULL, "DynamoDB gave more items than were asked for");
    }
    return SILT_OK;
}

silt_status sl_dynamo_read_newest(struct sl_arena *arena, struct sl_str body, struct sl_str table_path,
                                  struct sl_dynamo_entry *out, bool *found, silt_error *err)
{
    struct sl_json_doc *doc = NULL;
    struct sl_json_iter items;
    struct sl_str key;
    const sl_json *item = NULL;
    *found = false;
    *out = (struct sl_dynamo_entry){0};
    SL_TRY(parse(arena->env, body, &doc, err));
    silt_status status = read_items(sl_json_root(doc), 1, &items, err);
    if (status == SILT_OK && sl_json_next(&items, &key, &item)) {
        status = read_entry(arena, item, table_path, (struct sl_str){0}, out, err);
        *found = status == SILT_OK;
    }
    sl_json_free(doc);
    return status;
}

/* ---- pages of names ---- */

/* A key of this table, whose name is behind `after`. */
static silt_status read_name(const sl_json *item, struct sl_str table_path, struct sl_str after, struct sl_str *name,
                             silt_error *err)
{
    struct sl_str path = {0};
    if (!read_text(item, SL_DYNAMO_TABLE_PATH, &path) || !read_text(item, SL_DYNAMO_FILE_NAME, name)) {
        return sl_fail(err, SILT_EIO, NULL, "DynamoDB gave an item without its keys");
    }
    if (!sl_str_eq(path, table_path)) {
        return sl_fail(err, SILT_EIO, NULL, "DynamoDB gave another item than was asked for");
    }
    if (sl_str_compare(*name, after) <= 0) {
        return sl_fail(err, SILT_EIO, NULL, "DynamoDB's answers to a query do not go on");
    }
    return SILT_OK;
}

silt_status sl_dynamo_read_names(struct sl_arena *arena, struct sl_str body, struct sl_str table_path,
                                 struct sl_str after, silt_status (*on_name)(void *ctx, struct sl_str name), void *ctx,
                                 struct sl_str *last, silt_error *err)
{
    struct sl_json_doc *doc = NULL;
    struct sl_json_iter items;
    struct sl_str key;
    const sl_json *item = NULL;
    struct sl_str at = after;
    *last = (struct sl_str){0};
    SL_TRY(parse(arena->env, body, &doc, err));
    silt_status status = read_items(sl_json_root(doc), SIZE_MAX, &items, err);
    while (status == SILT_OK && sl_json_next(&items, &key, &item)) {
        struct sl_str name = {0};
        status = read_name(item, table_path, at, &name, err);
        at = name;
        if (status == SILT_OK) {
            status = on_name(ctx, name);
        }
    }
    const sl_json *next = sl_json_member(sl_json_root(doc), "LastEvaluatedKey");
    if (status == SILT_OK && !sl_json_is_null(next)) {
        status = read_name(next, table_path, after, last, err);
        status = status == SILT_OK ? keep(arena, last, err) : status;
    }
    sl_json_free(doc);
    return status;
}

/* ---- tables ---- */

static silt_status check_keys(const sl_json *table, silt_error *err)
{
    static const char *const wanted[2][2] = {{SL_DYNAMO_TABLE_PATH, "HASH"}, {SL_DYNAMO_FILE_NAME, "RANGE"}};
    struct sl_json_iter keys = sl_json_iterate(sl_json_member(table, "KeySchema"));
    struct sl_str unused;
    const sl_json *key = NULL;
    size_t n = 0;
    for (; sl_json_next(&keys, &unused, &key); n++) {
        if (n >= 2 || !sl_str_eq_c(sl_json_member_text(key, "AttributeName"), wanted[n][0]) ||
            !sl_str_eq_c(sl_json_member_text(key, "KeyType"), wanted[n][1])) {
            n = 0;
            break;
        }
    }
    return n == 2
               ? SILT_OK
               : sl_fail(err, SILT_EUNSUPPORTED, NULL,
                         "DynamoDB's table has other keys than commits of Delta tables: expected " SL_DYNAMO_TABLE_PATH
                         " and " SL_DYNAMO_FILE_NAME);
}

silt_status sl_dynamo_read_table(const silt_env *env, struct sl_str body, enum sl_dynamo_table_state *out,
                                 silt_error *err)
{
    struct sl_json_doc *doc = NULL;
    *out = SL_DYNAMO_TABLE_OTHER;
    SL_TRY(parse(env, body, &doc, err));
    const sl_json *table = sl_json_member(sl_json_root(doc), "Table");
    const struct sl_str state = sl_json_member_text(table, "TableStatus");
    silt_status status = SILT_OK;
    if (state.ptr == NULL) {
        status = sl_fail(err, SILT_EIO, NULL, "DynamoDB does not say what state its table is in");
    } else {
        status = check_keys(table, err);
    }
    if (status == SILT_OK && sl_str_eq(state, SL_STR("CREATING"))) {
        *out = SL_DYNAMO_TABLE_CREATING;
    } else if (status == SILT_OK && (sl_str_eq(state, SL_STR("ACTIVE")) || sl_str_eq(state, SL_STR("UPDATING")))) {
        *out = SL_DYNAMO_TABLE_READY;
    }
    sl_json_free(doc);
    return status;
}

/* ---- faults ---- */

void sl_dynamo_read_fault(const silt_env *env, struct sl_str body, char out[SL_DYNAMO_FAULT_SIZE])
{
    struct sl_json_doc *doc = NULL;
    size_t n = 0;
    out[0] = '\0';
    if (body.len == 0 || body.len > MAX_FAULT_BODY || sl_json_parse(env, body, &doc, NULL) != SILT_OK) {
        return;
    }
    struct sl_str type = sl_json_member_text(sl_json_root(doc), "__type");
    const size_t hash = sl_str_find(type, SL_STR("#"));
    type = hash == SIZE_MAX ? type : sl_str_sub(type, hash + 1, type.len);
    for (size_t i = 0; i < type.len && n + 1 < SL_DYNAMO_FAULT_SIZE; i++) {
        const char c = type.ptr[i];
        const char lower = (char)(c | 0x20);
        if ((lower >= 'a' && lower <= 'z') || sl_is_digit(c)) {
            out[n++] = c;
        }
    }
    out[n] = '\0';
    sl_json_free(doc);
}
