/*
 * Arena: memory for things that live and die together. Not thread-safe. All blocks are freed by sl_arena_release.
 */
#ifndef SL_BASE_ARENA_H
#define SL_BASE_ARENA_H

#include <stddef.h>

#include "base/str.h"
#include "silt/env.h"

struct sl_arena_block;

struct sl_arena {
    const silt_env *env;
    struct sl_arena_block *blocks;
    char *next;
    size_t left;
    size_t total_bytes; /* taken from the allocator so far */
};

/* Allocates nothing. */
void sl_arena_init(struct sl_arena *arena, const silt_env *env);
/* Safe on a zeroed arena; leaves it initialised and empty. */
void sl_arena_release(struct sl_arena *arena);
/* Forgets what was taken but keeps one block to be filled again: for loops whose steps need scratch memory. */
void sl_arena_reset(struct sl_arena *arena);
/* Moves all blocks of src into dst; src is then empty. Pointers stay valid. */
void sl_arena_merge(struct sl_arena *dst, struct sl_arena *src);

/* Aligned for max_align_t. NULL when out of memory. */
void *sl_arena_alloc(struct sl_arena *arena, size_t size);
void *sl_arena_alloc_zero(struct sl_arena *arena, size_t size);
void *sl_arena_alloc_array(struct sl_arena *arena, size_t n, size_t size); /* zeroed, overflow-checked */
/* A NUL-terminated copy. */
char *sl_arena_strdup(struct sl_arena *arena, struct sl_str s);
/* As a view of a NUL-terminated copy; ptr NULL when out of memory (an absent view stays absent: check s.ptr first). */
struct sl_str sl_arena_copy(struct sl_arena *arena, struct sl_str s);
char *sl_arena_printf(struct sl_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
