/*
 * The strings of JSON, byte by byte: what the scanner and the reader of commits share. Bytes are borrowed; nothing is read at or
 * beyond `end`. Pure.
 */
#ifndef SL_JSON_TEXT_H
#define SL_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Decoding writes whole blocks: beyond the text's own length it needs this much room. */
#define SL_JSON_TEXT_SLACK 32

/* `at` is behind the opening quote: the closing quote, or NULL if the string is not valid. */
const char *sl_json_text_pass(const char *at, const char *end, bool *has_escapes);
/*
 * The same, and writes what the string stands for to out, which needs room for the string as it is written and
 * SL_JSON_TEXT_SLACK more. An invalid string leaves *len 0.
 */
const char *sl_json_text_take(const char *at, const char *end, char *out, size_t *len);

#endif
