/*
 * The proof of conditional creates. A server that does not know If-None-Match may answer every PUT with 200: two writers would then own
 * one version, and one commit be lost. So a file of a fresh name is created twice, and the second time must be refused. Done once a
 * bucket, before the first create; never on AWS.
 *
 * Any thread; one proof at a time.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/uuid.h"
#include "storage/remote/s3/s3_int.h"

#define LOG_FOLDER "_delta_log/"
#define MAX_CREATES 4 /* two, and some for answers that are lost */

static enum sl_s3_condition read_condition(struct sl_s3_store *store, const struct sl_s3_bucket *bucket)
{
    pthread_mutex_lock(&store->lock);
    const enum sl_s3_condition condition = bucket->condition;
    pthread_mutex_unlock(&store->lock);
    return condition;
}

/* Beside the file that is to be created: in the log's folder, if that is where it goes. */
static silt_status put_probe_key(struct sl_s3_store *store, struct sl_str key, struct sl_buf *out, silt_error *err)
{
    char uuid[SL_UUID_TEXT_SIZE];
    const size_t log = sl_str_find(key, SL_STR(LOG_FOLDER));
    size_t end = key.len;
    while (end > 0 && key.ptr[end - 1] != '/') {
        end--;
    }
    if (log != SIZE_MAX && (log == 0 || key.ptr[log - 1] == '/')) {
        end = log + sizeof(LOG_FOLDER) - 1;
    }
    SL_TRY(sl_uuid_make(store->env, uuid, err));
    sl_buf_put_str(out, sl_str_sub(key, 0, end));
    sl_buf_printf(out, SL_S3_PROBE_NAME "%s", uuid);
    return sl_buf_status(out, err);
}

enum answer {
    ANSWER_MADE,    /* the file was created, or so it says */
    ANSWER_REFUSED, /* the name was taken */
    ANSWER_ODD,     /* … though nobody can have taken it */
    ANSWER_LOST
};

static silt_status create(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_place *probe,
                          bool is_first, enum answer *answer, silt_error *err)
{
    static const char text[] = "silt asks whether this server knows conditional creates\n";
    struct sl_exchange exchange = {0};
    silt_put_outcome outcome = SILT_PUT_AMBIGUOUS;
    struct sl_s3_ask ask = {.bucket = probe->bucket,
                            .method = "PUT",
                            .key = probe->key,
                            .extra = {{"If-None-Match", "*"}},
                            .n_extra = 1,
                            .body = text,
                            .body_len = sizeof(text) - 1,
                            .creates = true,
                            .content = true};
    silt_status status = sl_s3_run(store, call, &ask, &exchange, 1, err);
    if (status == SILT_OK) {
        status = sl_s3_judge_create(&ask, &exchange, &outcome, err);
    }
    *answer = outcome == SILT_PUT_DONE ? ANSWER_MADE : ANSWER_LOST;
    if (sl_s3_answered(&exchange, 412)) { /* an attempt before that had no answer may have made it */
        *answer = is_first && !exchange.unclear ? ANSWER_ODD : ANSWER_REFUSED;
    }
    sl_s3_release(&ask, &exchange);
    return status;
}

static void remove_probe(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_place *probe)
{
    struct sl_exchange exchange = {0};
    struct sl_s3_ask ask = {.bucket = probe->bucket, .method = "DELETE", .key = probe->key};
    sl_ignore(sl_s3_run(store, call, &ask, &exchange, 1, NULL)); /* what is left is small, and never listed */
    sl_s3_release(&ask, &exchange);
}

static void hint_option(silt_error *err)
{
    sl_error_hint(err, "%s=trust vouches for the server and skips this proof",
                  sl_option_name(SL_OPTION_S3_CONDITIONAL_PUT));
}

/* Creates the file until it is refused, which is the proof, or was made twice, which is the opposite. */
static silt_status ask_twice(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_place *probe,
                             enum answer *verdict, silt_error *err)
{
    int n_made = 0;
    *verdict = ANSWER_LOST;
    for (int i = 0; i < MAX_CREATES; i++) {
        enum answer answer = ANSWER_LOST;
        SL_TRY(create(store, call, probe, i == 0, &answer, err));
        n_made += answer == ANSWER_MADE ? 1 : 0;
        if (answer == ANSWER_REFUSED || answer == ANSWER_ODD || n_made == 2) {
            *verdict = answer;
            return SILT_OK;
        }
    }
    return SILT_OK;
}

static silt_status fail_proof(const struct sl_s3_place *place, enum answer verdict, silt_error *err)
{
    if (verdict == ANSWER_MADE) {
        const silt_status status = sl_fail(
            err, SILT_EUNSUPPORTED, SL_CONDITIONS_CODE,
            "the server of bucket %s ignores If-None-Match: two writers could own one version", place->bucket->name);
        sl_error_hint(err, "silt does not commit there; %s=trust would, at the risk of losing commits",
                      sl_option_name(SL_OPTION_S3_CONDITIONAL_PUT));
        return status;
    }
    return sl_fail(err, SILT_EIO, NULL, "bucket %s was not proven to know conditional creates: %s", place->bucket->name,
                   verdict == ANSWER_ODD ? "a fresh name was called taken" : "no answer came");
}

/* The probe lock is held. */
static silt_status prove(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_place *place,
                         silt_error *err)
{
    struct sl_buf key;
    enum answer verdict = ANSWER_LOST;
    sl_buf_init(&key, store->env);
    silt_status status = put_probe_key(store, place->key, &key, err);
    const struct sl_s3_place probe = {place->bucket, sl_buf_view(&key)};
    if (status == SILT_OK) {
        status = ask_twice(store, call, &probe, &verdict, err);
        remove_probe(store, call, &probe);
    }
    sl_buf_release(&key);
    if (status != SILT_OK) {
        sl_error_context(err, "bucket %s was not proven to know conditional creates", place->bucket->name);
        if (status == SILT_EACCESS || status == SILT_EUNSUPPORTED) {
            hint_option(err);
        }
        return status;
    }
    if (verdict != ANSWER_REFUSED) {
        return fail_proof(place, verdict, err);
    }
    silt_error_reset(err); /* of answers that were lost on the way */
    pthread_mutex_lock(&store->lock);
    place->bucket->condition = SL_S3_CONDITION_TRUST;
    pthread_mutex_unlock(&store->lock);
    return SILT_OK;
}

silt_status sl_s3_prove(struct sl_s3_store *store, const silt_call *call, const struct sl_s3_place *place,
                        silt_error *err)
{
    enum sl_s3_condition condition = read_condition(store, place->bucket);
    if (condition == SL_S3_CONDITION_PROVE) {
        pthread_mutex_lock(&store->probe_lock);
        silt_status status = SILT_OK;
        condition = read_condition(store, place->bucket);
        if (condition == SL_S3_CONDITION_PROVE) {
            status = prove(store, call, place, err);
        }
        pthread_mutex_unlock(&store->probe_lock);
        return status;
    }
    if (condition == SL_S3_CONDITION_REFUSE) {
        return sl_fail(err, SILT_EUNSUPPORTED, SL_CONDITIONS_CODE,
                       "bucket %s is said to have no conditional creates, without which silt does not commit (%s)",
                       place->bucket->name, sl_option_name(SL_OPTION_S3_CONDITIONAL_PUT));
    }
    return SILT_OK;
}
