/*
 * Arenas: a list of blocks, the newest of which is filled from its start. Blocks double from 4 KiB to 1 MiB; a request that
 * is large against the next block gets a block of its own, behind the current one, so that the room left there is not lost.
 * Used for everything parsed or planned. Not thread-safe.
 */
#include "base/arena.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/alloc.h"

#define FIRST_BLOCK_SIZE ((size_t)4 * 1024)
#define LAST_BLOCK_SIZE ((size_t)1024 * 1024)

struct sl_arena_block {
    struct sl_arena_block *next;
    size_t size; /* of the whole block, this head included */
};

#define ALIGNMENT _Alignof(max_align_t)
#define HEAD_SIZE ((sizeof(struct sl_arena_block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)

void sl_arena_init(struct sl_arena *arena, const silt_env *env)
{
    *arena = (struct sl_arena){.env = env};
}

void sl_arena_release(struct sl_arena *arena)
{
    struct sl_arena_block *block = arena->blocks;
    while (block != NULL) {
        struct sl_arena_block *next = block->next;
        sl_release(arena->env, block, block->size);
        block = next;
    }
    *arena = (struct sl_arena){.env = arena->env};
}

void sl_arena_reset(struct sl_arena *arena)
{
    struct sl_arena_block *block = arena->blocks;
    if (block == NULL) {
        return;
    }
    if (block->next == NULL && arena->next == (char *)block + HEAD_SIZE) {
        return; /* the common case in a loop: nothing was taken */
    }
    while (block->next != NULL) {
        struct sl_arena_block *rest = block->next->next;
        sl_release(arena->env, block->next, block->next->size);
        block->next = rest;
    }
    arena->next = (char *)block + HEAD_SIZE;
    arena->left = block->size - HEAD_SIZE;
    arena->total_bytes = block->size;
}

void sl_arena_merge(struct sl_arena *dst, struct sl_arena *src)
{
    if (src->blocks != NULL) {
        struct sl_arena_block **end = &dst->blocks;
        if (dst->blocks == NULL) {
            /* Nothing is being filled in dst: go on filling src's block. */
            dst->next = src->next;
            dst->left = src->left;
        }
        while (*end != NULL) {
            end = &(*end)->next;
        }
        *end = src->blocks;
        dst->total_bytes += src->total_bytes;
    }
    *src = (struct sl_arena){.env = src->env};
}

/* The size of the next block to fill: as much again as there is, within bounds. */
static size_t next_block_size(const struct sl_arena *arena)
{
    size_t size = FIRST_BLOCK_SIZE;
    while (size < LAST_BLOCK_SIZE && size <= arena->total_bytes) {
        size *= 2;
    }
    return size;
}

static struct sl_arena_block *new_block(struct sl_arena *arena, size_t size)
{
    struct sl_arena_block *block = sl_alloc(arena->env, size);
    if (block != NULL) {
        block->size = size;
        block->next = NULL;
        arena->total_bytes += size;
    }
    return block;
}

static void *alloc_own_block(struct sl_arena *arena, size_t size)
{
    struct sl_arena_block *block = new_block(arena, HEAD_SIZE + size);
    if (block == NULL) {
        return NULL;
    }
    if (arena->blocks == NULL) {
        arena->blocks = block;
    } else {
        block->next = arena->blocks->next;
        arena->blocks->next = block;
    }
    return (char *)block + HEAD_SIZE;
}

void *sl_arena_alloc(struct sl_arena *arena, size_t size)
{
    size_t rounded = 0;
    if (!sl_add_size(size == 0 ? 1 : size, ALIGNMENT - 1, &rounded) || rounded > PTRDIFF_MAX - HEAD_SIZE) {
        return NULL;
    }
    rounded = rounded / ALIGNMENT * ALIGNMENT;
    if (rounded > arena->left) {
        const size_t block_size = next_block_size(arena);
        if (rounded > block_size / 4) {
            return alloc_own_block(arena, rounded);
        }
        struct sl_arena_block *block = new_block(arena, block_size);
        if (block == NULL) {
            return NULL;
        }
        block->next = arena->blocks;
        arena->blocks = block;
        arena->next = (char *)block + HEAD_SIZE;
        arena->left = block_size - HEAD_SIZE;
    }
    void *memory = arena->next;
    arena->next += rounded;
    arena->left -= rounded;
    return memory;
}

void *sl_arena_alloc_zero(struct sl_arena *arena, size_t size)
{
    void *memory = sl_arena_alloc(arena, size);
    if (memory != NULL && size > 0) {
        memset(memory, 0, size);
    }
    return memory;
}

void *sl_arena_alloc_array(struct sl_arena *arena, size_t n, size_t size)
{
    size_t bytes = 0;
    if (!sl_mul_size(n, size, &bytes)) {
        return NULL;
    }
    return sl_arena_alloc_zero(arena, bytes);
}

char *sl_arena_strdup(struct sl_arena *arena, struct sl_str s)
{
    if (s.len == SIZE_MAX) {
        return NULL;
    }
    char *copy = sl_arena_alloc(arena, s.len + 1);
    if (copy == NULL) {
        return NULL;
    }
    if (s.len > 0) {
        memcpy(copy, s.ptr, s.len);
    }
    copy[s.len] = '\0';
    return copy;
}

struct sl_str sl_arena_copy(struct sl_arena *arena, struct sl_str s)
{
    if (s.ptr == NULL) {
        return s;
    }
    char *copy = sl_arena_strdup(arena, s);
    return (struct sl_str){copy, copy != NULL ? s.len : 0};
}

char *sl_arena_printf(struct sl_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    char *text = NULL;
    const int len = vsnprintf(NULL, 0, format, args);
    if (len >= 0) {
        text = sl_arena_alloc(arena, (size_t)len + 1);
    }
    if (text != NULL) {
        (void)vsnprintf(text, (size_t)len + 1, format, again); /* the length is known to fit */
    }
    va_end(again);
    va_end(args);
    return text;
}
