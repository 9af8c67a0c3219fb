/*
 * Secrets in texts that were not meant to hold any: signed URLs, passwords in URLs. Errors and log lines go through here, whoever made them: what users
 * type, and what the data plane says of it, may be quoted in them.
 */
#ifndef SL_BASE_MASK_H
#define SL_BASE_MASK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/*
 * Puts '*' in the place of signatures and tokens in queries and fragments ("?sig=…", "&X-Amz-Signature=…", "#sig=…", also percent-encoded) and
 * of users with passwords ("://user:password@", with S3 also "s3://secret@/"), in place; returns the new length, which is no longer. Pure.
 */
size_t sl_mask_secrets(char *text, size_t len);

/* Is there anything to mask? */
bool sl_mask_needed(struct sl_str text);

#endif
