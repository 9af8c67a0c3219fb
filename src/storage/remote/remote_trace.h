/*
 * What the parts of a store tell when it is examined (silt/doctor.h): nothing is told, and nothing worked out, when nobody listens. Texts are made free of
 * secrets here: credentials are told by their kind, their id's ends and their expiry.
 *
 * Any thread; the listener is called on the teller's.
 */
#ifndef SL_REMOTE_REMOTE_TRACE_H
#define SL_REMOTE_REMOTE_TRACE_H

#include "silt/doctor.h"
#include "storage/remote/context.h"
#include "storage/remote/credentials.h"

struct sl_trace {
    void (*on_step)(void *ctx, const silt_doctor_step *step);
    void *ctx;
};

static inline bool sl_trace_on(const struct sl_remote_context *context)
{
    return context->trace != NULL;
}

/* One step. subject: "" for none. The text is printed like printf's, into one line, cut at 1,000 bytes. */
void sl_trace_note(const struct sl_remote_context *context, silt_doctor_verdict verdict, const char *step,
                   const char *subject, const char *format, ...) __attribute__((format(printf, 5, 6)));
/* A step that failed, with the error's words and hint. */
void sl_trace_failure(const struct sl_remote_context *context, const char *step, const char *subject,
                      const silt_error *err);
/*
 * What came of one provider of credentials: a failure, some credentials, or (found NULL) nothing, for which `absent` is the reason.
 */
void sl_trace_credential(const struct sl_remote_context *context, const char *provider, silt_status status,
                         const struct sl_credential *found, const char *absent, const silt_error *err);

/* Appends what may be shown of a value that is no secret itself: sl_url_show. */
void sl_trace_put_value(struct sl_buf *out, const char *value);

#endif
