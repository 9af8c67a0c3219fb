/*
 * Growing arrays of fixed-size elements. Grow by half, so that pushing is linear in total. One owner.
 */
#include "base/vec.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

#define FIRST_CAPACITY 8

void sl_vec_init(struct sl_vec *vec, const silt_env *env, size_t elem_size)
{
    *vec = (struct sl_vec){.env = env, .elem_size = elem_size};
}

void sl_vec_release(struct sl_vec *vec)
{
    sl_release(vec->env, vec->data, vec->cap * vec->elem_size);
    *vec = (struct sl_vec){.env = vec->env, .elem_size = vec->elem_size};
}

static bool grow_to(struct sl_vec *vec, size_t cap)
{
    size_t bytes = 0;
    if (!sl_mul_size(cap, vec->elem_size, &bytes)) {
        return false;
    }
    void *data = sl_resize(vec->env, vec->data, vec->cap * vec->elem_size, bytes);
    if (data == NULL) {
        return false;
    }
    vec->data = data;
    vec->cap = cap;
    return true;
}

bool sl_vec_reserve(struct sl_vec *vec, size_t n)
{
    size_t needed = 0;
    if (!sl_add_size(vec->len, n, &needed)) {
        return false;
    }
    if (needed <= vec->cap) {
        return true;
    }
    size_t cap = FIRST_CAPACITY;
    if (vec->cap > 0 && !sl_add_size(vec->cap, vec->cap / 2 + 1, &cap)) {
        return false;
    }
    return grow_to(vec, cap > needed ? cap : needed);
}

void *sl_vec_push(struct sl_vec *vec)
{
    if (!sl_vec_reserve(vec, 1)) {
        return NULL;
    }
    void *element = (char *)vec->data + vec->len * vec->elem_size;
    memset(element, 0, vec->elem_size);
    vec->len++;
    return element;
}
