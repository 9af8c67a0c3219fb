/*
 * Memory from the environment's allocator. Every other file of silt takes memory through these functions (or through an
 * arena, buffer, vector or map on top of them), so that a host's allocator sees all of it and tests can make the n-th
 * request fail. Any thread.
 */
#include "base/alloc.h"

#include <string.h>

bool sl_add_size(size_t a, size_t b, size_t *out)
{
    if (a > SIZE_MAX - b) {
        return false;
    }
    *out = a + b;
    return true;
}

bool sl_mul_size(size_t a, size_t b, size_t *out)
{
    if (a != 0 && b > SIZE_MAX / a) {
        return false;
    }
    *out = a * b;
    return true;
}

bool sl_add_i64(int64_t a, int64_t b, int64_t *out)
{
    int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) {
        return false;
    }
    *out = sum;
    return true;
}

bool sl_mul_i64(int64_t a, int64_t b, int64_t *out)
{
    int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product)) {
        return false;
    }
    *out = product;
    return true;
}

/* Blocks are never empty: an allocator may then not have to tell "no memory" from "no bytes". */
static size_t block_size(size_t size)
{
    return size == 0 ? 1 : size;
}

void *sl_alloc(const silt_env *env, size_t size)
{
    /* Larger blocks could not be addressed with ptrdiff_t. */
    if (size > PTRDIFF_MAX) {
        return NULL;
    }
    return env->allocator.alloc(env->allocator.ctx, block_size(size));
}

void *sl_alloc_zero(const silt_env *env, size_t size)
{
    void *block = sl_alloc(env, size);
    if (block != NULL) {
        memset(block, 0, block_size(size));
    }
    return block;
}

void *sl_alloc_array(const silt_env *env, size_t n, size_t size)
{
    size_t bytes = 0;
    if (!sl_mul_size(n, size, &bytes)) {
        return NULL;
    }
    return sl_alloc(env, bytes);
}

void *sl_resize(const silt_env *env, void *block, size_t old_size, size_t new_size)
{
    if (block == NULL) {
        return sl_alloc(env, new_size);
    }
    if (new_size > PTRDIFF_MAX) {
        return NULL;
    }
    return env->allocator.resize(env->allocator.ctx, block, block_size(old_size), block_size(new_size));
}

void sl_release(const silt_env *env, void *block, size_t size)
{
    if (block != NULL) {
        env->allocator.release(env->allocator.ctx, block, block_size(size));
    }
}

char *sl_strdup_len(const silt_env *env, const char *text, size_t len)
{
    size_t size = 0;
    if (!sl_add_size(len, 1, &size)) {
        return NULL;
    }
    char *copy = sl_alloc(env, size);
    if (copy == NULL) {
        return NULL;
    }
    if (len > 0) {
        memcpy(copy, text, len);
    }
    copy[len] = '\0';
    return copy;
}

void sl_strfree(const silt_env *env, char *text)
{
    if (text != NULL) {
        sl_release(env, text, strlen(text) + 1);
    }
}
