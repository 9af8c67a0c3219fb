/*
 * What is done about a table's entries beside commits: before a listing the newest one is looked at, before a table is removed all of them are. Any
 * thread.
 */
#include "base/error.h"
#include "base/vec.h"
#include "storage/remote/s3/dynamo_int.h"

#define AT_ONCE 16 /* deletions */

silt_status sl_dynamo_prepare_list(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_log *log,
                                   silt_error *err)
{
    const struct sl_dynamo *dynamo = log->bucket->dynamo;
    struct sl_dynamo_ask ask;
    struct sl_exchange exchange;
    struct sl_dynamo_entry entry = {0};
    struct sl_arena arena;
    bool found = false;
    sl_arena_init(&arena, store->env);
    const struct sl_str path = sl_dynamo_table_path(&arena, dynamo->scheme, log);
    silt_status status = path.ptr != NULL ? SILT_OK : sl_fail_nomem(err);
    sl_dynamo_arm(dynamo, "Query", &ask, &exchange);
    if (status == SILT_OK) {
        sl_dynamo_write_newest(&ask.body, dynamo->table, path);
        status = sl_dynamo_run(call, &ask, &exchange, err);
        if (status == SILT_OK) {
            status = sl_dynamo_read_newest(&arena, sl_buf_view(&exchange.request.answer), path, &entry, &found, err);
        } else if (status == SILT_ENOTFOUND) { /* no table, no commits: the first of them makes it */
            silt_error_reset(err);
            status = SILT_OK;
        }
    }
    sl_dynamo_release(&ask, &exchange);
    if (status == SILT_OK && found && !entry.complete) {
        status = sl_dynamo_finish(store, call, log, &entry, err);
    }
    sl_arena_release(&arena);
    return status;
}

/* ---- removal ---- */

struct forgetting {
    const struct sl_dynamo *dynamo;
    const silt_call *call;
    struct sl_str path;
    struct sl_arena arena;
    struct sl_vec names; /* of struct sl_str, of one page */
    bool denied;
    silt_error *err;
};

static silt_status take_name(void *ctx, struct sl_str name)
{
    struct forgetting *f = ctx;
    struct sl_str *slot = sl_vec_push(&f->names);
    if (slot == NULL) {
        return sl_fail_nomem(f->err);
    }
    *slot = sl_arena_copy(&f->arena, name);
    return slot->ptr != NULL ? SILT_OK : sl_fail_nomem(f->err);
}

/* A page of names behind `after`; *last is absent when it was the last one. */
static silt_status read_page(struct forgetting *f, struct sl_str after, struct sl_str *last)
{
    struct sl_dynamo_ask ask;
    struct sl_exchange exchange;
    *last = (struct sl_str){0};
    sl_dynamo_arm(f->dynamo, "Query", &ask, &exchange);
    sl_dynamo_write_names(&ask.body, f->dynamo->table, f->path, after);
    silt_status status = sl_dynamo_run(f->call, &ask, &exchange, f->err);
    if (status == SILT_OK) {
        status = sl_dynamo_read_names(&f->arena, sl_buf_view(&exchange.request.answer), f->path, after, take_name, f,
                                      last, f->err);
    } else if (status == SILT_ENOTFOUND) {
        silt_error_reset(f->err);
        status = SILT_OK;
    }
    sl_dynamo_release(&ask, &exchange);
    return status;
}

/* Names [begin, begin + n). Spark needs no right to delete entries: without it, they stay until they expire. */
static silt_status delete_some(struct forgetting *f, size_t begin, size_t n)
{
    const struct sl_remote_context *context = f->dynamo->context;
    struct sl_dynamo_ask asks[AT_ONCE];
    struct sl_exchange exchanges[AT_ONCE];
    for (size_t i = 0; i < n; i++) {
        const struct sl_str *name = sl_vec_at(&f->names, begin + i);
        sl_dynamo_arm(f->dynamo, "DeleteItem", &asks[i], &exchanges[i]);
        sl_dynamo_write_delete(&asks[i].body, f->dynamo->table, f->path, *name);
    }
    silt_status status = sl_exchange_run(context->http, context->env, NULL, f->call, exchanges, n, NULL, NULL, f->err);
    for (size_t i = 0; i < n; i++) {
        if (status == SILT_OK && !sl_s3_answered(&exchanges[i], 200)) {
            status = sl_dynamo_fail(&asks[i], &exchanges[i], f->err);
        }
        sl_dynamo_release(&asks[i], &exchanges[i]);
    }
    if (status == SILT_EACCESS) {
        silt_error_reset(f->err);
        f->denied = true;
        status = SILT_OK;
    }
    return status;
}

static silt_status forget_page(struct forgetting *f, struct sl_str after, struct sl_str *last)
{
    f->names.len = 0;
    SL_TRY(read_page(f, after, last));
    for (size_t i = 0; i < f->names.len && !f->denied; i += AT_ONCE) {
        const size_t left = f->names.len - i;
        SL_TRY(delete_some(f, i, left < AT_ONCE ? left : AT_ONCE));
    }
    return SILT_OK;
}

/* *f goes to end_forgetting, whatever is returned. */
static silt_status begin_forgetting(struct forgetting *f, const struct sl_s3_store *store, const struct sl_s3_log *log)
{
    f->dynamo = log->bucket->dynamo;
    sl_arena_init(&f->arena, store->env);
    sl_vec_init(&f->names, store->env, sizeof(struct sl_str));
    f->path = sl_dynamo_table_path(&f->arena, f->dynamo->scheme, log);
    return f->path.ptr != NULL ? SILT_OK : sl_fail_nomem(f->err);
}

static void end_forgetting(struct forgetting *f)
{
    sl_vec_release(&f->names);
    sl_arena_release(&f->arena);
}

silt_status sl_dynamo_forget_one(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_log *log,
                                 struct sl_str name, silt_error *err)
{
    struct forgetting f = {.call = call, .err = err};
    silt_status status = begin_forgetting(&f, store, log);
    if (status == SILT_OK) {
        status = take_name(&f, name);
    }
    if (status == SILT_OK) {
        status = delete_some(&f, 0, 1);
    }
    end_forgetting(&f);
    return status;
}

silt_status sl_dynamo_forget(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_log *log,
                             silt_error *err)
{
    struct forgetting f = {.call = call, .err = err};
    struct sl_str after = {0};
    struct sl_str last = {0};
    silt_status status = begin_forgetting(&f, store, log);
    do { /* each page begins behind the one before, which is checked */
        after = last;
        status = status == SILT_OK ? forget_page(&f, after, &last) : status;
    } while (status == SILT_OK && last.ptr != NULL && !f.denied);
    end_forgetting(&f);
    return status;
}
