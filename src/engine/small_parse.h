/*
 * What a small Parquet file of silt's own says of itself. Only such files are understood: everything in them is laid out as small_image.c does
 * it, so that nothing has to be guessed. Borrows the bytes.
 */
#ifndef SL_ENGINE_SMALL_PARSE_H
#define SL_ENGINE_SMALL_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

/* Of the schema, in the order of a walk; the first one is the root. */
struct sl_small_element {
    struct sl_str name;
    int32_t physical;   /* -1: a group */
    int32_t length;     /* of values of fixed length, else 0 */
    int32_t repetition; /* enum sl_repetition */
    int32_t converted;  /* -1: none */
    int32_t scale;
    int32_t precision;
    size_t n_children;
    size_t n_elements; /* in its subtree, with itself */
    size_t first_leaf; /* number of the first leaf in its subtree */
};

struct sl_small_chunk {
    size_t offset;
    size_t size;
    int64_t n_entries;
};

struct sl_small_file {
    struct sl_str bytes;
    struct sl_small_element *elements;
    size_t n_elements;
    struct sl_small_chunk *chunks; /* of the leaves */
    size_t n_chunks;
    int64_t n_rows;
};

/* False for any other file, a damaged one included, and when there is no memory. What it holds lives in the arena. */
bool sl_small_file_parse(struct sl_arena *arena, struct sl_str bytes, struct sl_small_file *out);

/* Levels and values of a leaf, from the first entry on. */
struct sl_small_level_cursor {
    const unsigned char *at;
    const unsigned char *end;
    uint64_t left; /* in the run */
    uint8_t value; /* of the entry that is looked at; 0 behind the last */
};

struct sl_small_cursor {
    struct sl_small_level_cursor repetitions;
    struct sl_small_level_cursor definitions;
    const unsigned char *at; /* the next value */
    const unsigned char *end;
    int64_t left;  /* entries, the one that is looked at included */
    size_t n_bits; /* truth values that were taken */
    bool bad;
};

/* False for a page that is not laid out as expected. */
bool sl_small_cursor_open(const struct sl_small_file *file, size_t leaf, uint8_t max_repetition, uint8_t max_definition,
                          struct sl_small_cursor *out);
void sl_small_cursor_step(struct sl_small_cursor *cursor);
/*
 * How many entries from the one at hand on have a lower level than this and are rows of their own, as far as the run goes. Below a list, the level
 * must be so low that there is none.
 */
int64_t sl_small_cursor_below(const struct sl_small_cursor *cursor, uint8_t definition);
/* So many steps, no more than there are entries. */
void sl_small_cursor_skip(struct sl_small_cursor *cursor, int64_t n);
/* The next n bytes of values; NULL, and the cursor is bad, if there are fewer. */
const unsigned char *sl_small_cursor_take(struct sl_small_cursor *cursor, size_t n);

#endif
