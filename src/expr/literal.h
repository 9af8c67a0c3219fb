/*
 * Private to src/expr: literals as text.
 */
#ifndef SL_EXPR_LITERAL_H
#define SL_EXPR_LITERAL_H

#include "base/arena.h"
#include "base/str.h"
#include "silt/schema.h"

/* A number with its suffix, "12", "1.5", "3L", "1e3"; negative puts a minus before it. False when it does not fit its type. */
bool sl_literal_number(struct sl_str text, bool negative, silt_value *out);
/* X'…'; false on a character that is no hexadecimal digit, or when out of memory. */
bool sl_literal_hex(struct sl_arena *arena, struct sl_str digits, silt_value *out);
/* DATE, TIMESTAMP, TIMESTAMP_NTZ and TIMESTAMP_LTZ '…'. *known is false if the word is none of these. */
bool sl_literal_typed(struct sl_arena *arena, struct sl_str word, struct sl_str text, bool *known, silt_value *out);

#endif
