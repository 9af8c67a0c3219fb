/*
 * A commit of version N, in four rounds:
 *
 *   1. the temporary file T(N) is written; at once: is N.json there? is N-1.json there? what does the entry of N-1 (of 0: of 0 itself) say? The first
 *      time in a session also: has the table entries under another spelling?
 *   2. PutItem of E(N), if there is none: whoever gets this one through has committed
 *   3. N.json is created with the same bytes
 *   4. PutItem of E(N) again, complete
 *
 * An entry of N-1 that is not complete is finished between 1 and 2. After 2 nothing can fail: what is not done is done by whoever comes next. So
 * the call's deadline and cancellation count up to there, and afterwards half a minute of the commit's own. Any thread.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/env.h"
#include "base/error.h"
#include "base/uuid.h"
#include "silt/version.h"
#include "storage/remote/s3/dynamo_int.h"

#define GRACE_US INT64_C(30000000)
#define N_SPELLINGS 5 /* three schemes, each with and without a slash behind, but for the one that is used */
#define MAX_PUTS 3

struct commit {
    struct sl_s3_store *store;
    const silt_call *call;
    struct sl_s3_log *log;
    const struct sl_dynamo *dynamo;
    struct sl_str bytes;
    int64_t version;
    struct sl_arena arena;
    struct sl_dynamo_entry entry;    /* E(N) */
    struct sl_dynamo_entry before;   /* key of the entry that is looked at first: of N-1, or of 0 itself */
    struct sl_s3_place target, temp; /* N.json, T(N) */
    struct sl_s3_place previous;     /* N-1.json; of version 0: N.json itself */
    struct sl_str spellings[N_SPELLINGS];
    silt_error *err;
};

/* ---- names ---- */

static silt_status name_all(struct commit *c, struct sl_str name)
{
    char uuid[SL_UUID_TEXT_SIZE];
    SL_TRY(sl_uuid_make(c->store->env, uuid, c->err));
    const struct sl_str table = sl_dynamo_table_path(&c->arena, c->dynamo->scheme, c->log);
    const char *temp = sl_arena_printf(&c->arena, SL_S3_TEMP_FOLDER "/%.*s.%s", SL_FMT(name), uuid);
    const char *before = sl_arena_printf(&c->arena, "%020" PRId64 ".json", c->version > 0 ? c->version - 1 : 0);
    if (table.ptr == NULL || temp == NULL || before == NULL) {
        return sl_fail_nomem(c->err);
    }
    c->entry = (struct sl_dynamo_entry){.table_path = table, .file_name = name, .temp_path = sl_str_from(temp)};
    c->before = (struct sl_dynamo_entry){.table_path = table, .file_name = sl_str_from(before)};
    c->target = sl_dynamo_place(&c->arena, c->log, name);
    c->temp = sl_dynamo_place(&c->arena, c->log, c->entry.temp_path);
    c->previous = sl_dynamo_place(&c->arena, c->log, c->before.file_name);
    return c->target.key.ptr != NULL && c->temp.key.ptr != NULL && c->previous.key.ptr != NULL ? SILT_OK
                                                                                               : sl_fail_nomem(c->err);
}

/* The other spellings of the table's path, if they have not been looked at in this session. */
static silt_status name_spellings(struct commit *c, size_t *n)
{
    static const char *const schemes[] = {"s3a", "s3", "s3n"};
    *n = 0;
    if (sl_s3_log_is_checked(c->store, c->log)) {
        return SILT_OK;
    }
    for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        struct sl_str plain = sl_dynamo_table_path(&c->arena, schemes[i], c->log);
        if (plain.ptr == NULL) {
            return sl_fail_nomem(c->err);
        }
        if (sl_str_ends_with(plain, SL_STR("/"))) { /* the bucket's root, which Hadoop writes with a slash */
            plain.len--;
        }
        const char *texts[2] = {sl_arena_printf(&c->arena, "%.*s", SL_FMT(plain)),
                                sl_arena_printf(&c->arena, "%.*s/", SL_FMT(plain))};
        for (size_t k = 0; k < 2; k++) {
            if (texts[k] == NULL) {
                return sl_fail_nomem(c->err);
            }
            if (!sl_str_eq_c(c->entry.table_path, texts[k])) {
                c->spellings[(*n)++] = sl_str_from(texts[k]);
            }
        }
    }
    return SILT_OK;
}

/* ---- the first round ---- */

enum {
    PUT_TEMP,
    HEAD_TARGET,
    HEAD_PREVIOUS,
    N_FILES
};

struct round {
    struct sl_s3_ask files[N_FILES];
    struct sl_dynamo_ask items[1 + N_SPELLINGS]; /* the entry before, and those of other spellings */
    struct sl_exchange exchanges[N_FILES + 1 + N_SPELLINGS];
    struct sl_s3_md5 md5;
    size_t n_spellings;
    /* what it says */
    bool target_there, previous_there, has_before;
    struct sl_dynamo_entry before;
};

static void release_round(struct round *round)
{
    for (size_t i = 0; i < N_FILES; i++) {
        sl_s3_release(&round->files[i], &round->exchanges[i]);
    }
    for (size_t i = 0; i < 1 + round->n_spellings; i++) {
        sl_dynamo_release(&round->items[i], &round->exchanges[N_FILES + i]);
    }
}

static silt_status arm_round(struct commit *c, struct round *round)
{
    SL_TRY(sl_s3_md5_text(c->store->env, c->bytes.ptr, c->bytes.len, &round->md5, c->err));
    SL_TRY(name_spellings(c, &round->n_spellings));
    round->files[PUT_TEMP] = (struct sl_s3_ask){.bucket = c->temp.bucket,
                                                .method = "PUT",
                                                .key = c->temp.key,
                                                .extra = {{"Content-MD5", round->md5.text}},
                                                .n_extra = 1,
                                                .body = c->bytes.ptr,
                                                .body_len = c->bytes.len,
                                                .creates = true,
                                                .content = true};
    round->files[HEAD_TARGET] = (struct sl_s3_ask){
        .bucket = c->target.bucket, .method = "HEAD", .key = c->target.key, .content = true};
    round->files[HEAD_PREVIOUS] = (struct sl_s3_ask){
        .bucket = c->previous.bucket, .method = "HEAD", .key = c->previous.key, .content = true};
    for (size_t i = 0; i < N_FILES; i++) {
        sl_s3_arm(c->store, &round->files[i], &round->exchanges[i]);
    }
    struct sl_exchange *items = &round->exchanges[N_FILES];
    sl_dynamo_arm(c->dynamo, "GetItem", &round->items[0], &items[0]);
    sl_dynamo_write_get(&round->items[0].body, c->dynamo->table, c->before.table_path, c->before.file_name);
    for (size_t i = 0; i < round->n_spellings; i++) {
        sl_dynamo_arm(c->dynamo, "Query", &round->items[1 + i], &items[1 + i]);
        sl_dynamo_write_newest(&round->items[1 + i].body, c->dynamo->table, c->spellings[i]);
    }
    return SILT_OK;
}

static silt_status read_head(struct commit *c, const struct round *round, size_t i, bool *there)
{
    *there = sl_s3_answered(&round->exchanges[i], 200);
    if (!*there && !sl_s3_answered(&round->exchanges[i], 404)) {
        return sl_s3_fail(&round->files[i], &round->exchanges[i], c->err);
    }
    return SILT_OK;
}

/* An answer of DynamoDB's: its body, or an absent view if the table is not there. */
static silt_status read_body(struct commit *c, const struct round *round, size_t i, struct sl_str *body)
{
    const struct sl_exchange *exchange = &round->exchanges[N_FILES + i];
    *body = (struct sl_str){0};
    if (sl_s3_answered(exchange, 200)) {
        *body = sl_buf_view(&exchange->request.answer);
        return SILT_OK;
    }
    return sl_dynamo_said(&round->items[i], exchange, SL_DYNAMO_NO_TABLE)
               ? SILT_OK
               : sl_dynamo_fail(&round->items[i], exchange, c->err);
}

static silt_status fail_spelling(struct commit *c, struct sl_str found)
{
    const silt_status status = sl_fail(c->err, SILT_EUNSUPPORTED, "SILT_DYNAMODB_SPELLING",
                                       "DynamoDB has commits of this table under %.*s, not under %.*s: writers of both "
                                       "would not see each other",
                                       SL_FMT(found), SL_FMT(c->entry.table_path));
    sl_error_hint(c->err, "%s says which scheme others use; entries that are past have to be removed from table %s",
                  sl_option_name(SL_OPTION_DYNAMO_SCHEME), c->dynamo->table);
    return status;
}

static silt_status check_spellings(struct commit *c, const struct round *round)
{
    for (size_t i = 0; i < round->n_spellings; i++) {
        struct sl_dynamo_entry entry;
        struct sl_str body;
        bool found = false;
        SL_TRY(read_body(c, round, 1 + i, &body));
        if (body.ptr != NULL) {
            SL_TRY(sl_dynamo_read_newest(&c->arena, body, c->spellings[i], &entry, &found, c->err));
        }
        if (found) {
            return fail_spelling(c, c->spellings[i]);
        }
    }
    sl_s3_log_set_checked(c->store, c->log);
    return SILT_OK;
}

static silt_status read_round(struct commit *c, struct round *round)
{
    struct sl_str body;
    SL_TRY(check_spellings(c, round));
    SL_TRY(read_head(c, round, HEAD_TARGET, &round->target_there));
    SL_TRY(read_head(c, round, HEAD_PREVIOUS, &round->previous_there));
    if (!sl_s3_answered(&round->exchanges[PUT_TEMP], 200)) {
        return sl_s3_fail(&round->files[PUT_TEMP], &round->exchanges[PUT_TEMP], c->err);
    }
    SL_TRY(read_body(c, round, 0, &body));
    return body.ptr == NULL ? SILT_OK
                            : sl_dynamo_read_item(&c->arena, body, c->before.table_path, c->before.file_name,
                                                  &round->before, &round->has_before, c->err);
}

static silt_status run_round(struct commit *c, struct round *round)
{
    const struct sl_remote_context *context = c->store->context;
    silt_status status = arm_round(c, round);
    if (status == SILT_OK) {
        status = sl_exchange_run(context->http, c->store->env, NULL, c->call, round->exchanges,
                                 N_FILES + 1 + round->n_spellings, NULL, NULL, c->err);
    }
    if (status == SILT_OK) {
        status = read_round(c, round);
    }
    return status;
}

/* Once more, of the file that belongs to the entry before: it may have come between the two answers. */
static silt_status look_again(struct commit *c, bool *there)
{
    struct sl_exchange exchange = {0};
    struct sl_s3_ask ask = {.bucket = c->previous.bucket, .method = "HEAD", .key = c->previous.key, .content = true};
    silt_status status = sl_s3_run_for(c->store, c->call, &ask, &exchange, 200, c->err);
    sl_s3_release(&ask, &exchange);
    *there = status == SILT_OK;
    if (status == SILT_ENOTFOUND) {
        silt_error_reset(c->err);
        status = SILT_OK;
    }
    return status;
}

static silt_status fail_old(struct commit *c)
{
    const silt_status status = sl_fail(c->err, SILT_EEXISTS, "SILT_DYNAMODB_OLD_ENTRIES",
                                       "DynamoDB still has commits of a table that was at %.*s before",
                                       SL_FMT(c->entry.table_path));
    sl_error_hint(c->err, "remove the entries of that tablePath from table %s, or let them expire", c->dynamo->table);
    return status;
}

/* What the entry before says: may version N be put now? *taken: it is there already, after all. */
static silt_status judge_before(struct commit *c, const struct round *round, bool *taken)
{
    bool there = round->previous_there;
    *taken = false;
    if (round->has_before && !round->before.complete && c->version > 0) {
        return sl_dynamo_finish(c->store, c->call, c->log, &round->before, c->err);
    }
    if (c->version == 0 && (!round->has_before || !round->before.complete)) {
        return SILT_OK; /* one that is not complete is met by PutItem */
    }
    if (!there && round->has_before) {
        SL_TRY(look_again(c, &there));
    }
    if (c->version == 0) {
        *taken = there;
        return there ? SILT_OK : fail_old(c);
    }
    return there ? SILT_OK
                 : sl_fail(c->err, SILT_ECORRUPT, NULL, "the commit before, %.*s, is not there%s",
                           SL_FMT(c->before.file_name), round->has_before ? ", though DynamoDB calls it complete" : "");
}

/* ---- the entry ---- */

/*
 * For what has to be done whatever became of the call: without its cancellation, and with half a minute even if its deadline comes sooner. The
 * exchanges have limits of their own.
 */
static silt_call grace(const struct commit *c)
{
    const int64_t until_us = sl_monotonic_us(c->store->env) + GRACE_US;
    silt_call own = {.size = sizeof(own), .abi_version = SILT_ABI_VERSION};
    if (c->call != NULL && c->call->deadline_us != 0) {
        own.deadline_us = c->call->deadline_us > until_us ? c->call->deadline_us : until_us;
    } else if (c->call != NULL && c->call->cancel != NULL && *c->call->cancel != 0) {
        own.deadline_us = until_us;
    }
    return own;
}

/* What is left when this fails is small, and a rule of the bucket may remove it. */
static void remove_temp(struct commit *c)
{
    struct sl_exchange exchange = {0};
    struct sl_s3_ask ask = {.bucket = c->temp.bucket, .method = "DELETE", .key = c->temp.key};
    const silt_call own = grace(c);
    sl_ignore(sl_s3_run(c->store, &own, &ask, &exchange, 1, NULL));
    sl_s3_release(&ask, &exchange);
}

enum verdict {
    VERDICT_OURS,
    VERDICT_ANOTHERS, /* and its file can be read */
    VERDICT_LOST,     /* it is not known whether the entry went in, and it may still arrive */
    VERDICT_NOBODYS,  /* refused for an entry that is gone again: it certainly did not go in */
    VERDICT_NO_TABLE  /* likewise, for want of a table */
};

/* Whose the entry is that is there. Another's is finished, so that its file can be read when we say that it exists. */
static silt_status find_owner(struct commit *c, enum verdict *verdict)
{
    struct sl_dynamo_entry found;
    bool any = false;
    const silt_call own = grace(c);
    *verdict = VERDICT_NOBODYS;
    SL_TRY(sl_dynamo_get(c->dynamo, &own, &c->arena, &c->entry, &found, &any, c->err));
    if (!any) {
        return SILT_OK;
    }
    *verdict = sl_str_eq(found.temp_path, c->entry.temp_path) ? VERDICT_OURS : VERDICT_ANOTHERS;
    return *verdict == VERDICT_ANOTHERS && !found.complete ? sl_dynamo_finish(c->store, &own, c->log, &found, c->err)
                                                           : SILT_OK;
}

/* An answer that is not DynamoDB's own says nothing, whatever its code is. */
static bool is_taken_in(const struct sl_exchange *exchange)
{
    const struct sl_str body = sl_buf_view(&exchange->request.answer);
    return sl_s3_answered(exchange, 200) && body.len > 0 && body.ptr[0] == '{';
}

/* One PutItem. A failure means that the entry is not there and never will be, if the answer is true. */
static silt_status put_entry(struct commit *c, enum verdict *verdict)
{
    struct sl_dynamo_ask ask;
    struct sl_exchange exchange;
    *verdict = VERDICT_OURS;
    sl_dynamo_arm(c->dynamo, "PutItem", &ask, &exchange);
    sl_dynamo_write_put(&ask.body, c->dynamo->table, &c->entry, SL_DYNAMO_IF_ABSENT);
    silt_status status = sl_dynamo_run(c->call, &ask, &exchange, c->err);
    if (status == SILT_OK && !is_taken_in(&exchange)) {
        status = sl_fail(c->err, SILT_EIO, NULL, "DynamoDB table %s: PutItem was answered with what is no answer of it",
                         c->dynamo->table);
    }
    const bool unclear = status != SILT_OK && sl_exchange_is_unclear(&exchange);
    const bool taken = sl_dynamo_said(&ask, &exchange, SL_DYNAMO_CONDITION_FAILED);
    const bool no_table = sl_dynamo_said(&ask, &exchange, SL_DYNAMO_NO_TABLE);
    sl_dynamo_release(&ask, &exchange);
    if (status == SILT_OK) {
        return SILT_OK;
    }
    if (no_table && !unclear) {
        *verdict = VERDICT_NO_TABLE;
        return SILT_OK;
    }
    if (!taken && !unclear) {
        return status;
    }
    const silt_error why = c->err != NULL ? *c->err : (silt_error)SILT_ERROR_INIT;
    status = find_owner(c, verdict);
    if (unclear && *verdict == VERDICT_NOBODYS) { /* not there, or nobody says: it may still arrive */
        *verdict = VERDICT_LOST;
        status = SILT_OK;
        if (c->err != NULL) {
            *c->err = why;
        }
    }
    return status;
}

/* Until somebody owns the version, or nobody knows who does. */
static silt_status try_to_take(struct commit *c, silt_put_outcome *outcome)
{
    *outcome = SILT_PUT_AMBIGUOUS;
    for (int i = 0; i < MAX_PUTS; i++) {
        enum verdict verdict = VERDICT_LOST;
        SL_TRY(put_entry(c, &verdict));
        if (verdict == VERDICT_LOST) {
            return SILT_OK; /* err tells why */
        }
        silt_error_reset(c->err);
        if (verdict == VERDICT_OURS || verdict == VERDICT_ANOTHERS) {
            *outcome = verdict == VERDICT_OURS ? SILT_PUT_DONE : SILT_PUT_EXISTS;
            return SILT_OK;
        }
        if (verdict == VERDICT_NO_TABLE) {
            SL_TRY(sl_dynamo_make_table(c->dynamo, c->call, c->err));
        }
    }
    return sl_fail(c->err, SILT_EIO, NULL, "DynamoDB table %s neither takes the entry of %.*s nor has one",
                   c->dynamo->table, SL_FMT(c->entry.file_name));
}

/*
 * A commit that fails loses its temporary file, without which an entry could not be finished by anybody, and the table be read no more. So a refusal is
 * believed only if the entry is not there. *keep: nobody says, and the file has to stay.
 */
static silt_status take_version(struct commit *c, silt_put_outcome *outcome, bool *keep)
{
    const silt_status status = try_to_take(c, outcome);
    enum verdict verdict = VERDICT_NOBODYS;
    if (status != SILT_EIO && status != SILT_EACCESS && status != SILT_ENOTFOUND) { /* no answer is behind it */
        return status;
    }
    const silt_error why = c->err != NULL ? *c->err : (silt_error)SILT_ERROR_INIT;
    const silt_status found = find_owner(c, &verdict);
    if (verdict == VERDICT_OURS || (verdict == VERDICT_ANOTHERS && found == SILT_OK)) {
        *outcome = verdict == VERDICT_OURS ? SILT_PUT_DONE : SILT_PUT_EXISTS;
        silt_error_reset(c->err);
        return SILT_OK;
    }
    *keep = found != SILT_OK && verdict != VERDICT_ANOTHERS;
    if (c->err != NULL) {
        *c->err = why;
    }
    return status;
}

/* ---- behind the point of no return ---- */

/* The version is ours. *outcome becomes EXISTS when somebody who does not keep to the protocol has put another file there. */
static void fulfil(struct commit *c, silt_put_outcome *outcome)
{
    const silt_call own = grace(c);
    silt_put_outcome copied = SILT_PUT_AMBIGUOUS;
    silt_error err = SILT_ERROR_INIT;
    silt_status status = sl_dynamo_copy(c->store, &own, &c->target, c->bytes, &copied, &err);
    if (status == SILT_OK) {
        *outcome = copied == SILT_PUT_EXISTS ? SILT_PUT_EXISTS : SILT_PUT_DONE;
        status = sl_dynamo_complete(c->store, &own, c->dynamo, &c->entry, &err);
    }
    if (status != SILT_OK) {
        sl_log(c->store->env, SILT_LOG_WARN, "%.*s is committed and not finished, which the next reader does: %s",
               SL_FMT(c->entry.file_name), err.message);
    }
}

static silt_status commit(struct commit *c, struct sl_str name, silt_put_outcome *outcome)
{
    struct round round = {0};
    bool keep = false;
    SL_TRY(name_all(c, name));
    silt_status status = run_round(c, &round);
    bool taken = status == SILT_OK && round.target_there;
    if (status == SILT_OK && !taken) {
        status = judge_before(c, &round, &taken);
    }
    release_round(&round);
    if (status == SILT_OK && taken) {
        *outcome = SILT_PUT_EXISTS;
    } else if (status == SILT_OK) {
        status = take_version(c, outcome, &keep);
    }
    if ((status != SILT_OK && !keep) || *outcome == SILT_PUT_EXISTS) {
        remove_temp(c);
    } else if (status == SILT_OK && *outcome == SILT_PUT_DONE) {
        fulfil(c, outcome);
    }
    return status;
}

silt_status sl_dynamo_put(struct sl_s3_store *store, const silt_call *call, struct sl_s3_log *log, struct sl_str name,
                          struct sl_str bytes, silt_put_outcome *outcome, silt_error *err)
{
    struct commit c = {.store = store,
                       .call = call,
                       .log = log,
                       .dynamo = log->bucket->dynamo,
                       .bytes = bytes,
                       .version = sl_s3_commit_version(name),
                       .err = err};
    *outcome = SILT_PUT_AMBIGUOUS;
    SL_TRY(sl_call_check(store->env, call, err));
    sl_arena_init(&c.arena, store->env);
    const silt_status status = commit(&c, name, outcome);
    sl_arena_release(&c.arena);
    return status;
}
