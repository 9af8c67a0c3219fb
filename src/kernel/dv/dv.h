/*
 * Deletion vectors inside the kernel (PROTOCOL.md "Deletion Vectors", "Deletion Vector Format"): from a descriptor of the log to where
 * the vector is, from bytes to a set of rows, and back. What engines see of it is silt/deletion_vector.h.
 *
 *   dv_descriptor.c  descriptor → silt_deletion_vector        z85.c       text of bytes
 *   dv_parse.c       payload → struct sl_dv_set, all checks   dv_set.c    asking a set
 *   dv_frame.c       frame in a vector file, inline text      dv_build.c  rows → payload, frame
 *   rows_load.c      vectors of many files read together      rows.c      silt_rows
 */
#ifndef SL_KERNEL_DV_H
#define SL_KERNEL_DV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "kernel/action/action.h"
#include "silt/deletion_vector.h"
#include "silt/env.h"
#include "silt/status.h"

/* ---- dv_descriptor.c ---- */

/*
 * Where the vector of a file of the table at `root` (decoded, as sl_uri_resolve takes it) is, with all texts in the arena.
 * SILT_ECORRUPT: sizes or offset out of range, a name that is no UUID, a prefix that climbs out of the table; SILT_EUNSUPPORTED: a
 * storage type outside of u, p, i. Reads nothing.
 */
silt_status sl_dv_resolve(struct sl_arena *arena, struct sl_str root, const struct sl_dv_descriptor *dv,
                          silt_deletion_vector *out, silt_error *err);

/* ---- dv_parse.c ---- */

enum sl_dv_block_kind {
    SL_DV_ARRAY, /* ascending 16-bit numbers */
    SL_DV_BITS,  /* 65,536 bits */
    SL_DV_RUNS   /* pairs of 16-bit numbers: first, how many more follow */
};

/* The rows of one stretch of 65,536, as they stand in the payload. */
struct sl_dv_block {
    uint64_t key; /* row >> 16 */
    const uint8_t *data;
    uint32_t n;           /* numbers of an array, pairs of runs */
    uint32_t cardinality; /* 1 … 65,536 */
    enum sl_dv_block_kind kind;
};

/* A set of rows. Immutable; any thread. */
struct sl_dv_set {
    const silt_env *env;
    uint8_t *bytes; /* the payload; blocks point into it */
    size_t size;
    struct sl_dv_block *blocks; /* by ascending key */
    size_t n_blocks;
    size_t cap;
    int64_t cardinality;
    int64_t last; /* greatest row, -1 in an empty set */
};

/*
 * Takes a payload (magic number first) apart and checks every byte of it. The bytes are copied. SILT_ECORRUPT says what is wrong.
 * sl_dv_set_release is safe on a zeroed set.
 */
silt_status sl_dv_parse(const silt_env *env, struct sl_str payload, struct sl_dv_set *out, silt_error *err);
void sl_dv_set_release(struct sl_dv_set *set);

/* ---- dv_frame.c ---- */

/* Bytes of a vector's frame before and after its payload, and the greatest payload. */
#define SL_DV_FRAME_HEAD 4
#define SL_DV_FRAME_TAIL 4
#define SL_DV_MAX_SIZE INT32_MAX

/* The first byte of a vector file; SILT_EUNSUPPORTED for another version of the format. */
silt_status sl_dv_check_version(struct sl_str head, silt_error *err);
/*
 * The set of a descriptor: of an inline one from its text, else from `frame`, the bytes of the vector file from dv->offset on (what
 * follows the frame does not matter). Checks size, CRC-32, payload, cardinality, and with num_records >= 0 that every row is below it.
 * No I/O.
 */
silt_status sl_dv_open(const silt_env *env, const silt_deletion_vector *dv, struct sl_str frame, int64_t num_records,
                       struct sl_dv_set *out, silt_error *err);

/* ---- dv_set.c ---- */

/* For each row first + i of the set, i < n: at[i] = value. Others stay as they are. first >= 0. */
void sl_dv_set_mark(const struct sl_dv_set *set, int64_t first, size_t n, uint8_t *at, uint8_t value);
int64_t sl_dv_set_next(const struct sl_dv_set *set, int64_t from); /* first row >= from in the set; INT64_MAX: none */
int64_t sl_dv_set_gap(const struct sl_dv_set *set, int64_t from);  /* first row >= from that is not in it */

/* ---- dv_build.c ---- */

struct sl_dv_builder;
silt_status sl_dv_builder_new(const silt_env *env, struct sl_dv_builder **out, silt_error *err);
void sl_dv_builder_free(struct sl_dv_builder *builder); /* NULL is legal */
/* Rows in ascending order (equal ones count once): `n` of them from `first` on. SILT_EINVALID for one below the last. */
silt_status sl_dv_builder_add(struct sl_dv_builder *builder, int64_t first, int64_t n, silt_error *err);
int64_t sl_dv_builder_cardinality(const struct sl_dv_builder *builder);
/* Appends the payload: portable form, each block in the smallest of its forms. The builder is empty afterwards. */
silt_status sl_dv_serialize(struct sl_dv_builder *builder, struct sl_buf *out, silt_error *err);
/* Appends a payload with its frame to a vector file, whose version byte comes first; *offset is what a descriptor says. */
silt_status sl_dv_put_frame(struct sl_buf *file, struct sl_str payload, int64_t *offset, silt_error *err);

#endif
