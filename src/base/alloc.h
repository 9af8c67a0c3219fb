/*
 * Memory from the environment's allocator, with checked sizes. The only place that knows how blocks are obtained.
 * Blocks carry no header: the caller remembers the size. Any thread.
 */
#ifndef SL_BASE_ALLOC_H
#define SL_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "silt/env.h"

/* NULL when out of memory. size 0 is taken as 1. */
void *sl_alloc(const silt_env *env, size_t size);
void *sl_alloc_zero(const silt_env *env, size_t size);
/* n * size with an overflow check. Not zeroed. */
void *sl_alloc_array(const silt_env *env, size_t n, size_t size);
void *sl_resize(const silt_env *env, void *block, size_t old_size, size_t new_size);
/* NULL is legal. */
void sl_release(const silt_env *env, void *block, size_t size);
/* A NUL-terminated copy; its block size is len + 1. */
char *sl_strdup_len(const silt_env *env, const char *text, size_t len);
/* Frees a string made by sl_strdup_len whose content has no NUL inside. NULL is legal. */
void sl_strfree(const silt_env *env, char *text);

/* Checked arithmetic: false on overflow, *out then untouched. */
bool sl_add_size(size_t a, size_t b, size_t *out);
bool sl_mul_size(size_t a, size_t b, size_t *out);
bool sl_add_i64(int64_t a, int64_t b, int64_t *out);
bool sl_mul_i64(int64_t a, int64_t b, int64_t *out);

#endif
