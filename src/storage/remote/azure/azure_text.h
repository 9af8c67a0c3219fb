/*
 * Texts that Azure's requests and answers are made of. Pure; any thread.
 */
#ifndef SL_REMOTE_AZURE_TEXT_H
#define SL_REMOTE_AZURE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* Appends what %XX stand for; '+' stays '+'. What is no escape is taken as it is. */
void sl_azure_decode(struct sl_buf *out, struct sl_str text);
/* Appends a time as HTTP writes it: "Fri, 26 Jun 2015 23:39:12 GMT". */
void sl_azure_put_date(struct sl_buf *out, int64_t wall_us);
/* A server's error code for a message: letters, digits and what joins them, 64 at most; an absent view for anything else. */
struct sl_str sl_azure_clean_code(struct sl_str code);
/*
 * Appends a shared access signature as the query of a URL, each part encoded once, whichever way it was given (with a '?' before it, encoded or not).
 * False if it is none: no "sig" in it.
 */
bool sl_azure_put_sas(struct sl_buf *out, struct sl_str sas);

#endif
