/*
 * Random JSON text, from a seed: valid values with hard strings and numbers, and mutations of text that are mostly not valid. For
 * tests that compare two readers.
 */
#ifndef SILT_JSON_RANDOM_H
#define SILT_JSON_RANDOM_H

#include <stdint.h>

#include "base/buf.h"

uint64_t json_random_next(uint64_t *state);
uint64_t json_random_below(uint64_t *state, uint64_t n);

void json_random_space(struct sl_buf *out, uint64_t *state);  /* mostly none */
void json_random_string(struct sl_buf *out, uint64_t *state); /* with its quotes */
void json_random_number(struct sl_buf *out, uint64_t *state);
void json_random_value(struct sl_buf *out, uint64_t *state, unsigned depth);
/* Changes, removes, doubles or inserts a few bytes. */
void json_random_mutate(struct sl_buf *text, uint64_t *state);

#endif
