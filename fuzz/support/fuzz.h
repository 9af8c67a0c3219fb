/*
 * What the fuzzers share: a check that ends the process, and a reader that makes values of the bytes at hand. A reader at its end gives
 * zeroes, so that every input is a whole one. Inputs stay meaningful when bytes are cut off or changed: one byte says what comes,
 * the next ones what it is.
 */
#ifndef SILT_FUZZ_H
#define SILT_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "silt/env.h"
#include "silt/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold, whatever the input is. */
#define FUZZ_CHECK(condition) fuzz_check((condition), #condition, __FILE__, __LINE__)
void fuzz_check(bool holds, const char *condition, const char *file, int line);

/* Silent: inputs are mostly faulty, and notes about them are many. */
const silt_env *fuzz_env(void);

struct fuzz_input {
    const char *at;
    size_t left;
};

static inline struct fuzz_input fuzz_input_of(const uint8_t *data, size_t size)
{
    return (struct fuzz_input){(const char *)data, size};
}

uint8_t fuzz_byte(struct fuzz_input *in);
/* 0 … n − 1. */
size_t fuzz_pick(struct fuzz_input *in, size_t n);
/* Small numbers, those where types end, or any. */
int64_t fuzz_number(struct fuzz_input *in);
/* Up to 255 bytes, borrowed. */
struct sl_str fuzz_text(struct fuzz_input *in);
/* All that is left. */
struct sl_str fuzz_rest(struct fuzz_input *in);

/* The same value, bit by bit but for NaN. */
bool fuzz_same_value(const silt_value *a, const silt_value *b);

#endif
