/*
 * What small_read.c and small_values.c share: the wanted columns as a tree beside that of the file. Only they include this.
 */
#ifndef SL_ENGINE_SMALL_READ_INT_H
#define SL_ENGINE_SMALL_READ_INT_H

#include "base/arrow.h"
#include "engine/small_parse.h"
#include "schema/type.h"
#include "silt/engine.h"

struct sl_small_want {
    const struct silt_type *type;
    bool absent;   /* not in the file: always null */
    bool is_short; /* a number that is stored in 32 bits and wanted in 64 */
    uint8_t definition;
    uint8_t repetition;
    struct sl_small_want *children;
    size_t n_children;
    struct sl_small_cursor *cursor; /* of the leaf, or of the first one below */
    struct sl_small_cursor *spare;  /* of a member that is not wanted, by which the struct is seen; mostly NULL */
};

struct sl_small_reading {
    const silt_env *env;
    const silt_parquet_read *request;
    struct sl_arena arena;
    struct sl_small_file file;
    struct sl_small_want root;
    silt_schema *schema; /* what is given out, where that is more than is asked for */
    silt_error *err;
    bool good; /* false: the data plane has to look at the file */
    unsigned depth;
};

/* The next row of all columns, into a builder of the root. */
silt_status sl_small_put_row(struct sl_small_reading *r, int64_t row, struct sl_arrow_builder *builder);
/* All rows, column by column; from the first one on. */
silt_status sl_small_put_columns(struct sl_small_reading *r, struct sl_arrow_builder *builder);

#endif
