/*
 * Quoting as SQL does it: a quote inside the text is doubled. Pure; any thread.
 */
#ifndef SL_BASE_QUOTE_H
#define SL_BASE_QUOTE_H

#include "base/buf.h"
#include "base/str.h"

/* Appends text between two of `quote` ('"', '`' or '\''), each of which is doubled inside. */
void sl_quote_put(struct sl_buf *out, struct sl_str text, char quote);

#endif
