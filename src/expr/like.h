/*
 * Private to src/expr: LIKE patterns ('%', '_', '\' escapes). Pure; any thread.
 */
#ifndef SL_EXPR_LIKE_H
#define SL_EXPR_LIKE_H

#include "base/arena.h"
#include "base/str.h"

/* False when the pattern is malformed (a '\' before anything but '%', '_' and '\'), which Spark makes an error. */
bool sl_like_valid(struct sl_str pattern);
/* Whole-text match of valid UTF-8; the pattern must be valid. '_' is one code point. */
bool sl_like_match(struct sl_str text, struct sl_str pattern);

struct sl_like_prefix {
    struct sl_str text; /* what every match begins with, unescaped */
    bool is_exact;      /* the pattern has no wildcard: matches are equal to text */
    bool is_prefix;     /* the pattern is text and one '%': whatever begins with text matches */
};
/* False when out of memory. */
bool sl_like_split(struct sl_arena *arena, struct sl_str pattern, struct sl_like_prefix *out);

#endif
