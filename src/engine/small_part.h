/*
 * The partition columns of a small write: rows of one partition go into one file, without the columns that make the partition. Rows of
 * several partitions, and what is uncertain about a value, are for the data plane. One owner, one thread.
 */
#ifndef SL_ENGINE_SMALL_PART_H
#define SL_ENGINE_SMALL_PART_H

#include "base/arena.h"
#include "base/buf.h"
#include "engine/small_image.h"
#include "silt/engine.h"

struct sl_small_part {
    const silt_parquet_write *request;
    struct sl_arena *arena;
    size_t *index;                /* [partition column] place in the schema */
    bool *is_key;                 /* [column of the schema] a partition column */
    struct silt_type data;        /* the columns of the file */
    struct silt_type keys;        /* the partition columns, in the request's order */
    struct ArrowSchema rows;      /* view of the stream's schema: the columns of the file */
    struct ArrowSchema parts;     /* view of it: the partition columns */
    struct sl_small_image *image; /* of the partition columns; for their bounds */
    silt_value *values;           /* [partition column], once it is closed */
    struct sl_str *texts;         /* as the log spells them; NULL ptr: null */
};

/* All is made in the arena. *fits false: not to be written here. Close it in any case. */
silt_status sl_small_part_open(struct sl_small_part *part, struct sl_arena *arena, const silt_parquet_write *request,
                               const struct ArrowSchema *schema, bool *fits, silt_error *err);
void sl_small_part_close(struct sl_small_part *part); /* safe on a zeroed one */
/* Takes the partition columns of a batch, which must live on; *rows becomes a view of the others. *fits false: it is not for here. */
silt_status sl_small_part_add(struct sl_small_part *part, const struct ArrowArray *batch,
                              const struct ArrowArray **rows, bool *fits, silt_error *err);
/* After all batches. *fits false: the rows are of several partitions, or a value is for the data plane. */
silt_status sl_small_part_finish(struct sl_small_part *part, bool *fits, silt_error *err);
/* The folders of the partition, each with a slash. */
void sl_small_part_put_folders(const struct sl_small_part *part, struct sl_buf *out);

#endif
