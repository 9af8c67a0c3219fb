/* Steps of an examination as texts. */
#include "storage/remote/remote_trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/env.h"
#include "base/time.h"
#include "storage/remote/url.h"

#define MAX_TEXT 1000
#define LONG_ID 12 /* of shorter ones the end is not shown */

static void tell(const struct sl_remote_context *context, silt_doctor_verdict verdict, const char *step,
                 const char *subject, const char *text, const char *hint)
{
    const silt_doctor_step told = {
        .size = sizeof(told), .verdict = verdict, .step = step, .subject = subject, .text = text, .hint = hint};
    context->trace->on_step(context->trace->ctx, &told);
}

void sl_trace_note(const struct sl_remote_context *context, silt_doctor_verdict verdict, const char *step,
                   const char *subject, const char *format, ...)
{
    char text[MAX_TEXT];
    va_list args;
    if (!sl_trace_on(context)) {
        return;
    }
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    tell(context, verdict, step, subject, text, "");
}

void sl_trace_failure(const struct sl_remote_context *context, const char *step, const char *subject,
                      const silt_error *err)
{
    if (sl_trace_on(context)) {
        tell(context, SILT_DOCTOR_FAILED, step, subject, err->message, err->hint);
    }
}

/* "AKIA…3F": enough to tell it from others of one's own. */
static void put_id(struct sl_buf *out, const char *id)
{
    const size_t len = strlen(id);
    if (len < LONG_ID) {
        sl_buf_printf(out, "%.2s…", id);
    } else {
        sl_buf_printf(out, "%.4s…%s", id, id + len - 2);
    }
}

static void put_expiry(struct sl_buf *out, const silt_env *env, int64_t expires_us)
{
    const int64_t left_us = expires_us - sl_now_us(env);
    sl_buf_put_c(out, left_us < 0 ? ", expired at " : ", good until ");
    sl_timestamp_format(out, expires_us, 'T', 0);
    sl_buf_put_char(out, 'Z');
    if (left_us >= 0) {
        sl_buf_printf(out, " (%lld min)", (long long)(left_us / 60000000));
    }
}

static void put_credential(struct sl_buf *out, const silt_env *env, const struct sl_credential *found)
{
    if (found->id != NULL) {
        sl_buf_put_c(out, "key ");
        put_id(out, found->id);
        sl_buf_put_c(out, found->token != NULL ? " with a session token" : "");
    } else {
        sl_buf_put_c(out, "a token");
    }
    if (found->expires_us != 0) {
        put_expiry(out, env, found->expires_us);
    } else {
        sl_buf_put_c(out, ", no end known");
    }
}

void sl_trace_credential(const struct sl_remote_context *context, const char *provider, silt_status status,
                         const struct sl_credential *found, const char *absent, const silt_error *err)
{
    struct sl_buf text;
    if (!sl_trace_on(context)) {
        return;
    }
    if (status != SILT_OK) {
        sl_trace_failure(context, "credentials", provider, err);
        return;
    }
    if (found == NULL) {
        tell(context, SILT_DOCTOR_SKIPPED, "credentials", provider, absent, "");
        return;
    }
    sl_buf_init(&text, context->env);
    put_credential(&text, context->env, found);
    tell(context, SILT_DOCTOR_OK, "credentials", provider, sl_buf_cstr(&text), "");
    sl_buf_release(&text);
}

void sl_trace_put_value(struct sl_buf *out, const char *value)
{
    const struct sl_url_shown shown = sl_url_show(sl_str_from(value));
    sl_buf_put_str(out, shown.head);
    sl_buf_put_c(out, shown.hidden);
    sl_buf_put_str(out, shown.tail);
    sl_buf_put_c(out, shown.cut);
}
