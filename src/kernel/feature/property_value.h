/*
 * Texts of property values: booleans, intervals, sizes. Pure, any thread.
 */
#ifndef SL_KERNEL_PROPERTY_VALUE_H
#define SL_KERNEL_PROPERTY_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* "true" or "false" in any case. */
bool sl_property_parse_bool(struct sl_str text, bool *out);
/* "interval 30 days", "2 weeks 3 hours", "1.5 seconds"; months and years have no fixed length and are refused. */
bool sl_property_parse_interval(struct sl_str text, int64_t *micros);
/* "134217728", "128MB", "1g": powers of 1024. */
bool sl_property_parse_bytes(struct sl_str text, int64_t *bytes);
/* Is the value among "a,b,c", ignoring case? *out is the listed spelling. */
bool sl_property_match_choice(struct sl_str value, const char *choices, struct sl_str *out);

#endif
