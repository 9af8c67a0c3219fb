/*
 * What a table's log is to the store: the folder in which commits are made. The slots go through here. Where a bucket commits by DynamoDB, commits and
 * listings go its way (dynamo.h). Where it does not, somebody else may: nothing in a table says so but the temporary files in
 * `_delta_log/.tmp/`, so before the first commit of a session to a table they are looked for. Conditional creates beside such writers would lose commits.
 *
 * What was learned is kept for the session. A listing of a whole log tells whether there is such a folder, at no cost; else it is asked for,
 * beside the upload that comes before a commit where there is one. Any thread.
 */
#include <string.h>

#include "base/error.h"
#include "base/uuid.h"
#include "storage/remote/s3/dynamo.h"
#include "storage/remote/s3/s3_int.h"

#define VERSION_DIGITS 20
#define COMMIT_SUFFIX ".json"

int64_t sl_s3_commit_version(struct sl_str name)
{
    int64_t version = -1;
    if (name.len != VERSION_DIGITS + sizeof(COMMIT_SUFFIX) - 1 || !sl_str_ends_with(name, SL_STR(COMMIT_SUFFIX))) {
        return -1;
    }
    for (size_t i = 0; i < VERSION_DIGITS; i++) {
        if (!sl_is_digit(name.ptr[i])) {
            return -1;
        }
    }
    return sl_str_to_i64(sl_str_sub(name, 0, VERSION_DIGITS), &version) ? version : -1;
}

/* ---- what is known ---- */

/* "t/_delta_log" or "_delta_log": is it a log's folder? */
static bool is_log(struct sl_str key)
{
    return sl_str_eq(key, SL_STR(SL_S3_LOG_FOLDER)) || sl_str_ends_with(key, SL_STR("/" SL_S3_LOG_FOLDER));
}

static struct sl_str without_slash(struct sl_str key)
{
    while (sl_str_ends_with(key, SL_STR("/"))) {
        key = sl_str_sub(key, 0, key.len - 1);
    }
    return key;
}

/* The folder is a log's. Tables of a session are few, so they are a list. */
static silt_status find_log(struct sl_s3_store *store, struct sl_s3_bucket *bucket, struct sl_str key,
                            struct sl_s3_log **out, silt_error *err)
{
    silt_status status = SILT_OK;
    pthread_mutex_lock(&store->lock);
    struct sl_s3_log *log = store->logs;
    while (log != NULL && (log->bucket != bucket || !sl_str_eq(log->key, key))) {
        log = log->next;
    }
    if (log == NULL) {
        log = sl_arena_alloc_zero(&store->arena, sizeof(*log));
        const struct sl_str copy = log != NULL ? sl_arena_copy(&store->arena, key) : (struct sl_str){0};
        if (copy.ptr == NULL) {
            status = sl_fail_nomem(err);
            log = NULL;
        } else {
            *log = (struct sl_s3_log){.next = store->logs, .bucket = bucket, .key = copy};
            store->logs = log;
        }
    }
    *out = log;
    pthread_mutex_unlock(&store->lock);
    return status;
}

bool sl_s3_log_is_checked(struct sl_s3_store *store, const struct sl_s3_log *log)
{
    pthread_mutex_lock(&store->lock);
    const bool checked = log->checked;
    pthread_mutex_unlock(&store->lock);
    return checked;
}

void sl_s3_log_set_checked(struct sl_s3_store *store, struct sl_s3_log *log)
{
    pthread_mutex_lock(&store->lock);
    log->checked = true;
    pthread_mutex_unlock(&store->lock);
}

/* ---- commits of others ---- */

/* "N.json.UUID", as S3DynamoDBLogStore names temporary files. */
static bool is_temporary(struct sl_str name)
{
    const size_t n = VERSION_DIGITS + sizeof(COMMIT_SUFFIX) - 1;
    return name.len == n + SL_UUID_TEXT_SIZE && name.ptr[n] == '.' && sl_s3_commit_version(sl_str_sub(name, 0, n)) >= 0;
}

struct search {
    size_t prefix_len;
    bool found;
};

static bool look_at(void *ctx, const struct sl_s3_object *object)
{
    struct search *search = ctx;
    search->found = is_temporary(sl_str_sub(object->key, search->prefix_len, object->key.len));
    return !search->found;
}

static silt_status search(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_log *log, bool *found,
                          silt_error *err)
{
    struct sl_buf prefix;
    bool any = false;
    sl_buf_init(&prefix, store->env);
    sl_buf_put_str(&prefix, log->key);
    sl_buf_put_c(&prefix, "/" SL_S3_TEMP_FOLDER "/");
    struct search search = {.prefix_len = prefix.len};
    const struct sl_s3_listing listing = {
        .bucket = log->bucket, .prefix = sl_buf_view(&prefix), .recursive = true, .any = &any};
    silt_status status = sl_buf_status(&prefix, err);
    if (status == SILT_OK) {
        status = sl_s3_list_objects(store, call, &listing, look_at, &search, err);
    }
    sl_buf_release(&prefix);
    *found = search.found;
    return status;
}

static silt_status refuse(const struct sl_s3_log *log, silt_error *err)
{
    const silt_status status = sl_fail(err, SILT_EUNSUPPORTED, "SILT_DYNAMODB_NEEDED",
                                       "other writers commit to this table through DynamoDB (%.*s/" SL_S3_TEMP_FOLDER
                                       "/ has their temporary files), which silt was not told to do: commits would be "
                                       "lost",
                                       SL_FMT(log->key));
    sl_error_hint(err, "set %s=dynamodb and %s; or %s=true if none of them writes any more",
                  sl_option_name(SL_OPTION_S3_LOCKING), sl_option_name(SL_OPTION_DYNAMO_TABLE),
                  sl_option_name(SL_OPTION_DYNAMO_PAST));
    return status;
}

/* Before a commit: nobody else may commit by DynamoDB. Refusals are looked at anew each time. */
static silt_status check_alone(struct sl_s3_store *store, const silt_call *call, struct sl_s3_log *log, silt_error *err)
{
    bool found = false;
    if (log->bucket->dynamo_is_past || sl_s3_log_is_checked(store, log)) {
        return SILT_OK;
    }
    SL_TRY(search(store, call, log, &found, err));
    if (found) {
        return refuse(log, err);
    }
    sl_s3_log_set_checked(store, log);
    return SILT_OK;
}

/* ---- beside an upload ---- */

/* A search on a thread of its own. What it finds counts; when it fails, the commit asks again and tells. */
struct aside {
    struct sl_s3_store *store;
    const silt_call *call;
    struct sl_s3_log *log; /* NULL: there is nothing to look for */
    pthread_t thread;
};

static void *search_aside(void *arg)
{
    const struct aside *aside = arg;
    sl_ignore(check_alone(aside->store, aside->call, aside->log, NULL));
    return NULL;
}

/* The log of the table that a file is of, if it was listed in this session and is still to be checked. */
static struct sl_s3_log *find_table(struct sl_s3_store *store, const struct sl_s3_place *place)
{
    struct sl_s3_log *found = NULL;
    pthread_mutex_lock(&store->lock);
    for (struct sl_s3_log *log = store->logs; log != NULL && found == NULL; log = log->next) {
        const struct sl_str table = sl_str_sub(log->key, 0, log->key.len - (sizeof(SL_S3_LOG_FOLDER) - 1));
        if (log->bucket == place->bucket && !log->checked && sl_str_starts_with(place->key, table)) {
            found = log;
        }
    }
    pthread_mutex_unlock(&store->lock);
    return found;
}

/* Before a data file is written: a commit will follow. */
static void begin_aside(struct aside *aside, struct sl_s3_store *store, const silt_call *call,
                        const struct sl_s3_place *place)
{
    *aside = (struct aside){.store = store, .call = call};
    if (place->bucket->dynamo != NULL || place->bucket->dynamo_is_past) {
        return;
    }
    aside->log = find_table(store, place);
    if (aside->log != NULL && pthread_create(&aside->thread, NULL, search_aside, aside) != 0) {
        aside->log = NULL;
    }
}

static void end_aside(struct aside *aside)
{
    if (aside->log != NULL) {
        (void)pthread_join(aside->thread, NULL); /* it was made, and nobody else joins it */
    }
}

/* ---- slots ---- */

/* Splits a place in a log into the log's folder and the name of a commit; false for any other. */
static bool is_commit(const struct sl_s3_place *place, struct sl_str *folder, struct sl_str *name)
{
    size_t begin = place->key.len;
    while (begin > 0 && place->key.ptr[begin - 1] != '/') {
        begin--;
    }
    *name = sl_str_sub(place->key, begin, place->key.len);
    *folder = sl_str_sub(place->key, 0, begin > 0 ? begin - 1 : 0);
    return is_log(*folder) && sl_s3_commit_version(*name) >= 0;
}

silt_status sl_s3_log_put_if_absent(void *impl, const silt_call *call, const char *path, const void *data,
                                    size_t data_len, silt_put_outcome *outcome, silt_error *err)
{
    struct sl_s3_store *store = impl;
    struct sl_s3_place place;
    struct sl_s3_log *log = NULL;
    struct sl_str folder;
    struct sl_str name;
    *outcome = SILT_PUT_AMBIGUOUS;
    SL_TRY(sl_s3_locate(store, path, &place, err));
    if (!is_commit(&place, &folder, &name)) {
        struct aside aside;
        begin_aside(&aside, store, call, &place);
        const silt_status status = sl_s3_put_if_absent(impl, call, path, data, data_len, outcome, err);
        end_aside(&aside);
        return status;
    }
    SL_TRY(find_log(store, place.bucket, folder, &log, err));
    if (place.bucket->dynamo != NULL) {
        return sl_dynamo_put(store, call, log, name, sl_str_make(data, data_len), outcome, err);
    }
    SL_TRY(check_alone(store, call, log, err));
    return sl_s3_put_if_absent(impl, call, path, data, data_len, outcome, err);
}

silt_status sl_s3_log_put(void *impl, const silt_call *call, const char *path, const void *data, size_t data_len,
                          silt_error *err)
{
    struct sl_s3_store *store = impl;
    struct sl_s3_place place;
    struct aside aside;
    SL_TRY(sl_s3_locate(store, path, &place, err));
    begin_aside(&aside, store, call, &place);
    const silt_status status = sl_s3_put(impl, call, path, data, data_len, err);
    end_aside(&aside);
    return status;
}

silt_status sl_s3_log_adopt(void *impl, const silt_call *call, const char *local, const char *path, silt_error *err)
{
    struct sl_s3_store *store = impl;
    struct sl_s3_place place;
    struct aside aside;
    SL_TRY(sl_s3_locate(store, path, &place, err));
    begin_aside(&aside, store, call, &place);
    const silt_status status = sl_s3_adopt(impl, call, local, path, err);
    end_aside(&aside);
    return status;
}

silt_status sl_s3_log_upload_finish(void *impl, const silt_call *call, void *upload, const void *data, size_t data_len,
                                    silt_error *err)
{
    struct aside aside;
    const struct sl_s3_place place = sl_s3_upload_place(upload);
    begin_aside(&aside, impl, call, &place);
    const silt_status status = sl_s3_upload_finish(impl, call, upload, data, data_len, err);
    end_aside(&aside);
    return status;
}

silt_status sl_s3_log_list(void *impl, const silt_call *call, const char *dir, const silt_list_options *options,
                           bool (*on_entry)(void *ctx, const silt_file_entry *entry), void *ctx, silt_error *err)
{
    struct sl_s3_store *store = impl;
    struct sl_s3_place place;
    struct sl_s3_log *log = NULL;
    SL_TRY(sl_s3_locate(store, dir, &place, err));
    const struct sl_str key = without_slash(place.key);
    if (!is_log(key)) {
        return sl_s3_list(impl, call, dir, options, NULL, on_entry, ctx, err);
    }
    SL_TRY(find_log(store, place.bucket, key, &log, err));
    if (place.bucket->dynamo != NULL) {
        SL_TRY(sl_dynamo_prepare_list(store, call, log, err));
        return sl_s3_list(impl, call, dir, options, NULL, on_entry, ctx, err);
    }
    enum sl_s3_temp temp = SL_S3_TEMP_UNKNOWN;
    const silt_status status = sl_s3_list(impl, call, dir, options, &temp, on_entry, ctx, err);
    if (temp == SL_S3_TEMP_NONE) {
        sl_s3_log_set_checked(store, log);
    }
    return status;
}

silt_status sl_s3_log_remove(void *impl, const silt_call *call, const char *path, silt_error *err)
{
    struct sl_s3_store *store = impl;
    struct sl_s3_place place;
    struct sl_s3_log *log = NULL;
    struct sl_str folder;
    struct sl_str name;
    SL_TRY(sl_s3_locate(store, path, &place, err));
    if (place.bucket->dynamo != NULL && is_commit(&place, &folder, &name)) {
        SL_TRY(find_log(store, place.bucket, folder, &log, err));
        SL_TRY(sl_dynamo_forget_one(store, call, log, name, err));
    }
    return sl_s3_remove(impl, call, path, err);
}

silt_status sl_s3_log_remove_tree(void *impl, const silt_call *call, const char *dir, silt_error *err)
{
    struct sl_s3_store *store = impl;
    struct sl_s3_place place;
    SL_TRY(sl_s3_locate(store, dir, &place, err));
    const struct sl_str key = without_slash(place.key);
    if (place.bucket->dynamo != NULL && key.len > 0) {
        struct sl_s3_log *log = NULL;
        struct sl_buf folder;
        sl_buf_init(&folder, store->env);
        sl_buf_put_str(&folder, key);
        sl_buf_put_c(&folder, is_log(key) ? "" : "/" SL_S3_LOG_FOLDER);
        silt_status status = sl_buf_status(&folder, err);
        if (status == SILT_OK) {
            status = find_log(store, place.bucket, sl_buf_view(&folder), &log, err);
        }
        sl_buf_release(&folder);
        SL_TRY(status);
        SL_TRY(sl_dynamo_forget(store, call, log, err));
    }
    return sl_s3_remove_tree(impl, call, dir, err);
}
