/*
 * A request beside those of the stores: token services, instance metadata. The request is the same in each attempt.
 */
#ifndef SL_REMOTE_ERRAND_H
#define SL_REMOTE_ERRAND_H

#include "storage/remote/context.h"
#include "storage/remote/exchange.h"

struct sl_errand_options {
    int64_t timeout_us;    /* of all attempts; 0: the call's deadline alone */
    uint32_t max_attempts; /* 0: the usual */
};

/*
 * Performs `request` (the part that the caller fills) and leaves the answer in *exchange, whose request is read and then released with
 * sl_exchange_release, also after a failure. A failure when there was no answer at all; what its code says is for the caller to judge.
 */
silt_status sl_errand(const struct sl_remote_context *context, const silt_call *call,
                      const struct sl_http_request *request, const struct sl_errand_options *options,
                      struct sl_exchange *exchange, silt_error *err);

#endif
