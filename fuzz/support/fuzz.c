/* See fuzz.h. */
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fuzz_check(bool holds, const char *condition, const char *file, int line)
{
    if (!holds) {
        (void)fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
        abort();
    }
}

const silt_env *fuzz_env(void)
{
    static silt_env env;
    if (env.size == 0) {
        env = *silt_env_default();
        env.log = NULL;
    }
    return &env;
}

uint8_t fuzz_byte(struct fuzz_input *in)
{
    if (in->left == 0) {
        return 0;
    }
    in->left--;
    return (uint8_t)*in->at++;
}

size_t fuzz_pick(struct fuzz_input *in, size_t n)
{
    return fuzz_byte(in) % n;
}

int64_t fuzz_number(struct fuzz_input *in)
{
    static const int64_t ends[] = {INT64_MIN,       INT64_MIN + 1,       INT64_MAX, INT64_MAX - 1, INT32_MIN, INT32_MAX,
                                   1606700000000,   (int64_t)UINT32_MAX, 1 << 20,   4096,          -1,        0,
                                   INT64_C(1) << 53};
    const size_t kind = fuzz_pick(in, 4);
    if (kind == 0) {
        return ends[fuzz_pick(in, sizeof(ends) / sizeof(ends[0]))];
    }
    if (kind < 3) {
        return (int8_t)fuzz_byte(in);
    }
    uint64_t bits = 0;
    for (size_t i = 0; i < sizeof(bits); i++) {
        bits = bits << 8 | fuzz_byte(in);
    }
    return (int64_t)bits;
}

struct sl_str fuzz_text(struct fuzz_input *in)
{
    const size_t wanted = fuzz_byte(in);
    const size_t len = wanted < in->left ? wanted : in->left;
    const struct sl_str text = sl_str_make(in->at, len);
    in->at += len;
    in->left -= len;
    return text;
}

struct sl_str fuzz_rest(struct fuzz_input *in)
{
    const struct sl_str rest = sl_str_make(in->at, in->left);
    in->at += in->left;
    in->left = 0;
    return rest;
}

bool fuzz_same_value(const silt_value *a, const silt_value *b)
{
    if (a->kind != b->kind || a->is_null != b->is_null) {
        return false;
    }
    if (a->is_null) {
        return true;
    }
    switch (a->kind) {
    case SILT_TYPE_VOID: return true;
    case SILT_TYPE_BOOLEAN: return a->as.boolean == b->as.boolean;
    case SILT_TYPE_FLOAT:
    case SILT_TYPE_DOUBLE:
        return (isnan(a->as.f64) && isnan(b->as.f64)) || memcmp(&a->as.f64, &b->as.f64, sizeof(double)) == 0;
    case SILT_TYPE_DECIMAL:
        return a->precision == b->precision && a->scale == b->scale && a->as.decimal.hi == b->as.decimal.hi &&
               a->as.decimal.lo == b->as.decimal.lo;
    case SILT_TYPE_STRING:
    case SILT_TYPE_BINARY:
        return sl_str_eq(sl_str_make(a->as.bytes.ptr, a->as.bytes.len), sl_str_make(b->as.bytes.ptr, b->as.bytes.len));
    default: return a->as.i64 == b->as.i64;
    }
}
