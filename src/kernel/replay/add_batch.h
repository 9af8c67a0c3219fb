/*
 * The adds in an Arrow batch of a checkpoint, without a struct for each: columns are found and checked once a batch, a row is
 * then read from its buffers straight into what file sets store. Only the members that a file list holds; whoever wants all of an add
 * takes sl_actions_from_arrow. Called by checkpoint_files.c and scan planning. One owner.
 */
#ifndef SL_KERNEL_REPLAY_ADD_BATCH_H
#define SL_KERNEL_REPLAY_ADD_BATCH_H

#include "base/arena.h"
#include "kernel/replay/file_build.h"
#include "silt/arrow.h"
#include "silt/schema.h"

/* A column of a batch; valid NULL: no nulls. Its own offset is added already. */
struct sl_batch_column {
    bool present;
    const uint8_t *valid;
    int64_t valid_offset;
    const int64_t *numbers;
    const int32_t *offsets; /* of text, or of a map's entries */
    const char *bytes;
};

struct sl_add_batch {
    const silt_env *env;
    int64_t n; /* rows */
    struct sl_batch_column add;
    struct sl_batch_column path, size, time, base_row_id, row_commit_version;
    struct sl_batch_column partition_values, keys, values;
    int64_t n_entries;            /* of all maps */
    struct sl_batch_column stats; /* of who asks for it himself; no part of a row */
    struct sl_batch_column dv, dv_type, dv_path, dv_offset, dv_size, dv_cardinality;
    /* Of the row that was read last. */
    struct sl_kv *items;
    size_t cap_items;
    struct sl_dv_descriptor vector;
    bool lacks_vector; /* some row has a vector, of which nothing but that was read */
};

/* Members that few tables have, and that cost as much to read where they are null. */
enum {
    SL_ADD_VECTORS = 1, /* deletionVector; without it only whether there is one */
    SL_ADD_ROW_IDS = 2, /* baseRowId, defaultRowCommitVersion */
    SL_ADD_EVERYTHING = SL_ADD_VECTORS | SL_ADD_ROW_IDS
};

/* The schema of what an add batch needs: column "add" with the members of a file list. */
silt_status sl_add_batch_schema(const silt_env *env, unsigned members, silt_schema **out, silt_error *err);

void sl_add_batch_init(struct sl_add_batch *batch, const silt_env *env);
void sl_add_batch_release(struct sl_add_batch *batch); /* safe on a zeroed one */
/*
 * Binds to a struct array, which must outlive the use. Columns and members are found by name, other ones may be there; without
 * a column "add" there is none in any row. SILT_EENGINE: the arrays are not well-formed.
 */
silt_status sl_add_batch_bind(struct sl_add_batch *batch, const struct ArrowSchema *schema,
                              const struct ArrowArray *array, silt_error *err);
/*
 * Reads a row; *found false: it holds no add. Text is borrowed from the arrays, lists from the batch until the next row.
 * SILT_ECORRUPT names what is missing or unusable.
 */
silt_status sl_add_batch_row(struct sl_add_batch *batch, int64_t row, struct sl_file_row *out, bool *found,
                             silt_error *err);

/* Single members, for who has not read the others: rows count to the array's length. Borrowed as above. */
bool sl_add_batch_has_add(const struct sl_add_batch *batch, int64_t row);
silt_status sl_add_batch_values(struct sl_add_batch *batch, int64_t row, struct sl_kv_list *out, silt_error *err);
/* An absent view when it is null. false: its offsets are not in order. */
bool sl_add_batch_stats(const struct sl_add_batch *batch, int64_t row, struct sl_str *out);

#endif
