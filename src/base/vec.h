/*
 * Growing array of fixed-size elements. One owner.
 */
#ifndef SL_BASE_VEC_H
#define SL_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>

#include "silt/env.h"

struct sl_vec {
    const silt_env *env;
    void *data;
    size_t len;
    size_t cap;
    size_t elem_size;
};

void sl_vec_init(struct sl_vec *vec, const silt_env *env, size_t elem_size); /* allocates nothing */
void sl_vec_release(struct sl_vec *vec);                                     /* safe on a zeroed vector */
/* A new zeroed element at the end, NULL when out of memory. Invalidates earlier element pointers. */
void *sl_vec_push(struct sl_vec *vec);
bool sl_vec_reserve(struct sl_vec *vec, size_t n);
static inline void *sl_vec_at(const struct sl_vec *vec, size_t index)
{
    return (char *)vec->data + index * vec->elem_size;
}

#endif
