/*
 * The way to a bucket, step by step: where it is, who asks, what it says to a listing of one name. Any thread.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "storage/remote/examine.h"
#include "storage/remote/s3/dynamo_int.h"
#include "storage/remote/s3/s3.h"
#include "storage/remote/s3/s3_int.h"

struct examination {
    struct sl_s3_store *store;
    const silt_call *call;
    struct sl_s3_place place;
    const char *url; /* of the bucket */
};

/* ---- where ---- */

static const char *source_of(const struct examination *x, enum sl_option option, struct sl_buf *room)
{
    sl_buf_clear(room);
    sl_option_put_source(x->store->context->options, option, x->place.bucket->name, room);
    return room->len > 0 ? sl_buf_cstr(room) : NULL;
}

static void tell_region(const struct examination *x, struct sl_buf *room)
{
    const struct sl_s3_bucket *bucket = x->place.bucket;
    const char *source = source_of(x, SL_OPTION_S3_REGION, room);
    if (bucket->region == NULL) {
        sl_trace_note(x->store->context, SILT_DOCTOR_OK, "endpoint", "region",
                      "not told: us-east-1, until the server says otherwise");
        return;
    }
    sl_trace_note(x->store->context, SILT_DOCTOR_OK, "endpoint", "region", "%s, from %s", bucket->region,
                  source != NULL ? source : "the endpoint or the profile");
}

static void tell_condition(const struct examination *x)
{
    static const char *const texts[] = {
        [SL_S3_CONDITION_PROVE] = "proven with a small file before the first commit to this server",
        [SL_S3_CONDITION_TRUST] = "trusted: the server is AWS's, or aws_conditional_put says so",
        [SL_S3_CONDITION_REFUSE] = "aws_conditional_put says that there are none: silt does not commit here",
    };
    const enum sl_s3_condition condition = x->place.bucket->condition;
    const struct sl_dynamo *dynamo = x->place.bucket->dynamo;
    if (dynamo != NULL) {
        sl_trace_note(x->store->context, SILT_DOCTOR_OK, "endpoint", "commits",
                      "through DynamoDB, table %s at %s, as %s://%s/...", dynamo->table, dynamo->url, dynamo->scheme,
                      x->place.bucket->name);
        return;
    }
    sl_trace_note(x->store->context, condition == SL_S3_CONDITION_REFUSE ? SILT_DOCTOR_NOTE : SILT_DOCTOR_OK,
                  "endpoint", "conditional creates", "%s", texts[condition]);
}

static void tell_place(const struct examination *x)
{
    const struct sl_s3_bucket *bucket = x->place.bucket;
    const struct sl_remote_context *context = x->store->context;
    struct sl_buf room;
    sl_buf_init(&room, context->env);
    const char *source = source_of(x, SL_OPTION_S3_ENDPOINT, &room);
    sl_trace_note(context, SILT_DOCTOR_OK, "store", "S3", "bucket %s, key %.*s", bucket->name, SL_FMT(x->place.key));
    sl_trace_note(context, SILT_DOCTOR_OK, "endpoint", "url", "%s, %s", x->url,
                  source != NULL                ? source
                  : bucket->endpoint_of_profile ? "the profile's endpoint_url"
                                                : "AWS's own, as no option says otherwise");
    sl_trace_note(context, SILT_DOCTOR_OK, "endpoint", "style", "%s",
                  bucket->path_style ? "path: the bucket is the first part of the path"
                                     : "virtual host: the bucket is part of the host's name");
    tell_region(x, &room);
    tell_condition(x);
    sl_buf_release(&room);
}

/* ---- who ---- */

static silt_status find_credentials(const struct examination *x, silt_error *err)
{
    struct sl_credential *found = NULL;
    if (x->place.bucket->anonymous) {
        sl_trace_note(x->store->context, SILT_DOCTOR_NOTE, "credentials", "",
                      "none: aws_skip_signature is set, requests are not signed");
        return SILT_OK;
    }
    const silt_status status = sl_credential_cache_get(x->place.bucket->credentials, x->call, NULL, &found, err);
    sl_credential_unref(found);
    return status;
}

/* ---- what it says ---- */

static silt_status put_query(const struct examination *x, struct sl_buf *query, silt_error *err)
{
    sl_buf_put_c(query, "list-type=2&max-keys=1&prefix=");
    sl_sigv4_encode(query, x->place.key);
    if (x->place.key.len > 0 && !sl_str_ends_with(x->place.key, SL_STR("/"))) {
        sl_sigv4_encode(query, SL_STR("/"));
    }
    sl_sigv4_encode(query, SL_STR("_delta_log/"));
    return sl_buf_status(query, err);
}

static void tell_move(const struct examination *x, const char *before)
{
    const char *now = x->place.bucket->region;
    if (now != NULL && (before == NULL || strcmp(before, now) != 0)) {
        sl_trace_note(x->store->context, SILT_DOCTOR_NOTE, "endpoint", "region",
                      "the server says %s, which is used from now on; aws_region=%s saves a round trip", now, now);
    }
}

static silt_status list_one(const struct examination *x, silt_error *err)
{
    struct sl_exchange exchange = {0};
    struct sl_buf query;
    const char *before = x->place.bucket->region;
    sl_buf_init(&query, x->store->env);
    silt_status status = put_query(x, &query, err);
    struct sl_s3_ask ask = {.bucket = x->place.bucket, .method = "GET", .query = sl_buf_cstr(&query)};
    if (status == SILT_OK) {
        status = sl_s3_run_for(x->store, x->call, &ask, &exchange, 200, err);
        tell_move(x, before);
        if (status == SILT_OK) {
            sl_trace_note(x->store->context, SILT_DOCTOR_OK, "list", x->place.bucket->name,
                          "the bucket is there and may be listed");
        } else {
            sl_trace_failure(x->store->context, "list", x->place.bucket->name, err);
        }
        sl_s3_release(&ask, &exchange);
    }
    sl_buf_release(&query);
    return status;
}

silt_status sl_s3_examine(void *impl, const silt_call *call, const char *uri, silt_error *err)
{
    struct examination x = {.store = impl, .call = call};
    struct sl_buf url;
    sl_buf_init(&url, x.store->env);
    silt_status status = sl_s3_locate(x.store, uri, &x.place, err);
    if (status == SILT_OK) {
        status = sl_s3_put_url(x.store, x.place.bucket, &url, err);
    }
    if (status != SILT_OK) {
        sl_trace_failure(x.store->context, "endpoint", "", err);
    } else {
        x.url = sl_buf_cstr(&url);
        tell_place(&x);
        status = sl_examine_reach(x.store->context, call, x.url, err);
    }
    if (status == SILT_OK) {
        status = find_credentials(&x, err);
    }
    if (status == SILT_OK) {
        status = list_one(&x, err);
    }
    sl_buf_release(&url);
    return status;
}
