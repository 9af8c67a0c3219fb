/*
 * What comes after an entry went in: its temporary file is copied to its name in the log, and the entry marked as complete. By the commit's writer, or
 * by anybody who finds it undone; several may do it at once, since all write the same bytes under the same condition, that the name is free.
 * Bytes of others are never overwritten. Any thread.
 */
#include <string.h>

#include "base/env.h"
#include "base/error.h"
#include "storage/remote/s3/dynamo_int.h"

#define MAX_LOOKS 4 /* at a temporary file that is gone, and at a copy without an answer */

struct sl_str sl_dynamo_table_path(struct sl_arena *arena, const char *scheme, const struct sl_s3_log *log)
{
    const struct sl_str key = log->key;
    const size_t end = key.len > sizeof(SL_S3_LOG_FOLDER) - 1 ? key.len - sizeof(SL_S3_LOG_FOLDER) : 0;
    const char *text = sl_arena_printf(arena, "%s://%s/%.*s", scheme, log->bucket->name,
                                       SL_FMT(sl_str_sub(key, 0, end)));
    return sl_str_from(text);
}

struct sl_s3_place sl_dynamo_place(struct sl_arena *arena, const struct sl_s3_log *log, struct sl_str name)
{
    const char *key = sl_arena_printf(arena, "%.*s/%.*s", SL_FMT(log->key), SL_FMT(name));
    return (struct sl_s3_place){log->bucket, sl_str_from(key)};
}

/* ---- entries ---- */

silt_status sl_dynamo_get(const struct sl_dynamo *dynamo, const silt_call *call, struct sl_arena *arena,
                          const struct sl_dynamo_entry *key, struct sl_dynamo_entry *out, bool *found, silt_error *err)
{
    struct sl_dynamo_ask ask;
    struct sl_exchange exchange;
    *found = false;
    sl_dynamo_arm(dynamo, "GetItem", &ask, &exchange);
    sl_dynamo_write_get(&ask.body, dynamo->table, key->table_path, key->file_name);
    silt_status status = sl_dynamo_run(call, &ask, &exchange, err);
    if (status == SILT_OK) {
        status = sl_dynamo_read_item(arena, sl_buf_view(&exchange.request.answer), key->table_path, key->file_name, out,
                                     found, err);
    } else if (status == SILT_ENOTFOUND) {
        silt_error_reset(err);
        status = SILT_OK;
    }
    sl_dynamo_release(&ask, &exchange);
    return status;
}

silt_status sl_dynamo_complete(struct sl_s3_store *store, const silt_call *call, const struct sl_dynamo *dynamo,
                               const struct sl_dynamo_entry *entry, silt_error *err)
{
    struct sl_dynamo_ask ask;
    struct sl_exchange exchange;
    struct sl_dynamo_entry done = *entry;
    done.complete = true;
    done.expire_time_s = sl_now_us(store->env) / 1000000 + dynamo->keep_s;
    sl_dynamo_arm(dynamo, "PutItem", &ask, &exchange);
    sl_dynamo_write_put(&ask.body, dynamo->table, &done, SL_DYNAMO_IF_SAME);
    silt_status status = sl_dynamo_run(call, &ask, &exchange, err);
    if (sl_dynamo_said(&ask, &exchange, SL_DYNAMO_CONDITION_FAILED)) { /* it was complete, and has expired since */
        silt_error_reset(err);
        status = SILT_OK;
    }
    sl_dynamo_release(&ask, &exchange);
    return status;
}

/* ---- files ---- */

static silt_status read_object(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_place *place,
                               struct sl_buf *out, silt_error *err)
{
    struct sl_exchange exchange = {0};
    struct sl_s3_ask ask = {.bucket = place->bucket,
                            .method = "GET",
                            .key = place->key,
                            .content = true,
                            .max_answer = SL_DYNAMO_MAX_COMMIT};
    const silt_status status = sl_s3_run_for(store, call, &ask, &exchange, 200, err);
    if (status == SILT_OK) {
        *out = exchange.request.answer; /* moved */
        exchange.request.answer = (struct sl_buf){0};
    }
    sl_s3_release(&ask, &exchange);
    return status;
}

static silt_status create(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_place *place,
                          struct sl_str bytes, bool conditional, silt_put_outcome *outcome, silt_error *err)
{
    struct sl_exchange exchange = {0};
    struct sl_s3_md5 md5;
    SL_TRY(sl_s3_md5_text(store->env, bytes.ptr, bytes.len, &md5, err));
    struct sl_s3_ask ask = {.bucket = place->bucket,
                            .method = "PUT",
                            .key = place->key,
                            .extra = {{"Content-MD5", md5.text}, {"If-None-Match", "*"}},
                            .n_extra = conditional ? 2 : 1,
                            .body = bytes.ptr,
                            .body_len = bytes.len,
                            .creates = true,
                            .content = true};
    silt_status status = sl_s3_run(store, call, &ask, &exchange, 1, err);
    if (status == SILT_OK || exchange.status != SILT_OK) {
        status = sl_s3_judge_create(&ask, &exchange, outcome, err);
    }
    sl_s3_release(&ask, &exchange);
    return status;
}

/* Where the server knows no conditions: looks, then writes, as Spark does. Whoever comes between writes the same. */
static silt_status create_plainly(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_place *place,
                                  struct sl_str bytes, silt_put_outcome *outcome, silt_error *err)
{
    struct sl_exchange exchange = {0};
    struct sl_s3_ask ask = {.bucket = place->bucket, .method = "HEAD", .key = place->key, .content = true};
    silt_status status = sl_s3_run_for(store, call, &ask, &exchange, 200, err);
    sl_s3_release(&ask, &exchange);
    *outcome = SILT_PUT_EXISTS;
    if (status == SILT_ENOTFOUND) {
        silt_error_reset(err);
        status = create(store, call, place, bytes, false, outcome, err);
    }
    return status;
}

silt_status sl_dynamo_copy(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_place *place,
                           struct sl_str bytes, silt_put_outcome *outcome, silt_error *err)
{
    silt_status status = SILT_EUNSUPPORTED;
    *outcome = SILT_PUT_AMBIGUOUS;
    if (!place->bucket->dynamo->plain_copy) {
        status = create(store, call, place, bytes, true, outcome, err);
    }
    if (status == SILT_EUNSUPPORTED) {
        silt_error_reset(err);
        status = create_plainly(store, call, place, bytes, outcome, err);
    }
    if (status != SILT_OK || *outcome == SILT_PUT_DONE) {
        return status;
    }
    struct sl_buf there = {0};
    SL_TRY(read_object(store, call, place, &there, err));
    silt_error_reset(err);
    *outcome = sl_str_eq(sl_buf_view(&there), bytes) ? SILT_PUT_DONE : SILT_PUT_EXISTS;
    sl_buf_release(&there);
    return SILT_OK;
}

/* ---- an entry of anybody's ---- */

/* The temporary file and whether the target is there, at once. bytes is filled when it is not. */
static silt_status look(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_place places[2],
                        bool *copied, bool *has_temp, struct sl_buf *bytes, silt_error *err)
{
    struct sl_s3_ask asks[2] = {{.bucket = places[0].bucket, .method = "HEAD", .key = places[0].key, .content = true},
                                {.bucket = places[1].bucket,
                                 .method = "GET",
                                 .key = places[1].key,
                                 .content = true,
                                 .max_answer = SL_DYNAMO_MAX_COMMIT}};
    struct sl_exchange exchanges[2] = {{0}, {0}};
    silt_status status = sl_s3_run(store, call, asks, exchanges, 2, err);
    *copied = status == SILT_OK && sl_s3_answered(&exchanges[0], 200);
    *has_temp = status == SILT_OK && sl_s3_answered(&exchanges[1], 200);
    if (status == SILT_OK && !*copied && !sl_s3_answered(&exchanges[0], 404)) {
        status = sl_s3_fail(&asks[0], &exchanges[0], err);
    } else if (status == SILT_OK && !*copied && !*has_temp && !sl_s3_answered(&exchanges[1], 404)) {
        status = sl_s3_fail(&asks[1], &exchanges[1], err);
    }
    if (status == SILT_OK && !*copied && *has_temp) {
        *bytes = exchanges[1].request.answer; /* moved */
        exchanges[1].request.answer = (struct sl_buf){0};
    }
    for (size_t i = 0; i < 2; i++) {
        sl_s3_release(&asks[i], &exchanges[i]);
    }
    return status;
}

/* Until the target is there; who put it there does not matter. */
static silt_status bring(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_place places[2],
                         const struct sl_dynamo_entry *entry, silt_error *err)
{
    for (int i = 0; i < MAX_LOOKS; i++) {
        struct sl_buf bytes = {0};
        bool copied = false;
        bool has_temp = false;
        silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
        SL_TRY(look(store, call, places, &copied, &has_temp, &bytes, err));
        silt_status status = SILT_OK;
        if (!copied && has_temp) {
            status = sl_dynamo_copy(store, call, &places[0], sl_buf_view(&bytes), &outcome, err);
            sl_buf_release(&bytes);
            copied = status == SILT_OK && outcome != SILT_PUT_AMBIGUOUS;
        }
        if (copied) {
            return SILT_OK;
        }
        if (status != SILT_OK && status != SILT_ENOTFOUND) {
            return status;
        }
    }
    const silt_status status = sl_fail(
        err, SILT_ECORRUPT, "SILT_DYNAMODB_COMMIT_LOST",
        "%.*s was committed through DynamoDB, and neither it nor its temporary file %.*s "
        "is there",
        SL_FMT(entry->file_name), SL_FMT(entry->temp_path));
    sl_error_hint(err, "its bytes are gone; its entry in table %s (tablePath %.*s) has to be removed by hand",
                  places[0].bucket->dynamo->table, SL_FMT(entry->table_path));
    return status;
}

silt_status sl_dynamo_finish(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_log *log,
                             const struct sl_dynamo_entry *entry, silt_error *err)
{
    struct sl_arena arena;
    sl_arena_init(&arena, store->env);
    const struct sl_s3_place places[2] = {sl_dynamo_place(&arena, log, entry->file_name),
                                          sl_dynamo_place(&arena, log, entry->temp_path)};
    silt_status status = places[0].key.ptr != NULL && places[1].key.ptr != NULL ? SILT_OK : sl_fail_nomem(err);
    if (status == SILT_OK) {
        status = bring(store, call, places, entry, err);
    }
    if (status == SILT_OK) {
        status = sl_dynamo_complete(store, call, log->bucket->dynamo, entry, err);
        if (status == SILT_EACCESS) { /* who may only read sees the commit all the same; the next writer does it */
            silt_error_reset(err);
            status = SILT_OK;
        }
    }
    if (status != SILT_OK) {
        sl_error_context(err, "finishing %.*s, which another writer left undone", SL_FMT(entry->file_name));
    }
    sl_arena_release(&arena);
    return status;
}
