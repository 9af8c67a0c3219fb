/*
 * Tables with deletion vectors written by hand: vector files of the warehouse, and the actions that name them. Everything must succeed;
 * texts live as long as the test.
 */
#ifndef SILT_HAND_VECTOR_H
#define SILT_HAND_VECTOR_H

#include "hand_table.h"

#define HAND_VECTOR_PROTOCOL                                                                                 \
    "{\"protocol\":{\"minReaderVersion\":3,\"minWriterVersion\":7,\"readerFeatures\":[\"deletionVectors\"]," \
    "\"writerFeatures\":[\"deletionVectors\"]}}"
/* The UUID that HAND_VECTOR_ID spells, and its file. */
#define HAND_VECTOR_ID "^-aqEH.-t@S}K{vb[*k^"
#define HAND_VECTOR_FILE "deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"

/* A vector as a descriptor tells of it. */
struct hand_vector {
    int64_t offset; /* -1: left out */
    int64_t size;
    int64_t cardinality;
};

/* Rows as a new vector file, or appended to one that is there. */
struct hand_vector hand_vector_file(struct session_fixture *s, const char *path, const int64_t *rows, size_t n);
/* The descriptor's JSON; type is "u", "p" or "i". */
const char *hand_descriptor(struct session_fixture *s, const char *type, const char *text, struct hand_vector vector);
/* The descriptor's JSON of rows inline. */
const char *hand_inline(struct session_fixture *s, const int64_t *rows, size_t n);
/* As hand_add and a plain remove, with a descriptor. */
const char *hand_add_vector(struct session_fixture *s, const char *path, const char *partition_values,
                            const char *stats, const char *descriptor);
const char *hand_remove_vector(struct session_fixture *s, const char *path, const char *descriptor);
/* Changes a byte of a file of the warehouse. */
void hand_flip(struct session_fixture *s, const char *path, long at, int bits);

#endif
