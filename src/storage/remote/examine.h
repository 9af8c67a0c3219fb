/*
 * What examinations of all remote stores have in common (silt/doctor.h): the options, the way to a host, its clock. Each is told by remote_trace.h.
 */
#ifndef SL_REMOTE_EXAMINE_H
#define SL_REMOTE_EXAMINE_H

#include "storage/remote/context.h"
#include "storage/remote/remote_trace.h"

/* Which options and variables are set that concern the stores whose ids begin with `prefix` ("S3_"), and all. No value of a secret is told. */
void sl_examine_options(const struct sl_remote_context *context, const char *prefix);

/*
 * Asks the host of a URL once, without credentials, and tells of the proxy, the host's addresses, the connection and TLS, and the clock. SILT_OK for any
 * answer.
 */
silt_status sl_examine_reach(const struct sl_remote_context *context, const silt_call *call, const char *url,
                             silt_error *err);

#endif
