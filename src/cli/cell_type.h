/*
 * The columns of a result, read once from their Arrow schema into a form that cells are printed by. Any Arrow format that
 * DuckDB or silt hands out; others are refused. Pure; lives in an arena.
 */
#ifndef SL_CLI_CELL_TYPE_H
#define SL_CLI_CELL_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "silt/arrow.h"
#include "silt/status.h"

enum sl_cell_kind {
    SL_CELL_NULL,
    SL_CELL_BOOL,
    SL_CELL_INT,  /* width bytes */
    SL_CELL_UINT, /* width bytes */
    SL_CELL_HALF,
    SL_CELL_FLOAT,
    SL_CELL_DOUBLE,
    SL_CELL_DECIMAL,     /* width bytes, scale */
    SL_CELL_BYTES,       /* offsets of width bytes; text or binary */
    SL_CELL_VIEW,        /* text or binary as string views */
    SL_CELL_FIXED_BYTES, /* list_size bytes each; a UUID if is_text */
    SL_CELL_DATE32,
    SL_CELL_DATE64,
    SL_CELL_TIME,      /* width bytes, per_second */
    SL_CELL_TIMESTAMP, /* per_second, has_zone */
    SL_CELL_DURATION,  /* per_second */
    SL_CELL_INTERVAL_MONTHS,
    SL_CELL_INTERVAL_DAY_TIME,
    SL_CELL_INTERVAL_MONTH_DAY_NANO,
    SL_CELL_LIST,      /* offsets of width bytes */
    SL_CELL_LIST_VIEW, /* offsets and sizes of width bytes */
    SL_CELL_FIXED_LIST,
    SL_CELL_STRUCT,
    SL_CELL_VARIANT, /* children: binary metadata and value */
    SL_CELL_MAP,
    SL_CELL_SPARSE_UNION,
    SL_CELL_DENSE_UNION,
    SL_CELL_RUN_END,
    SL_CELL_DICTIONARY /* index: children[0], values: children[1] */
};

struct sl_cell_type {
    enum sl_cell_kind kind;
    uint8_t width;
    bool is_text; /* of bytes */
    bool has_zone;
    int32_t scale;
    int64_t per_second; /* units in a second */
    int64_t list_size;
    struct sl_str name;
    struct sl_cell_type *children;
    size_t n_children;
    int8_t *union_codes; /* one for each child */
};

/* SILT_EUNSUPPORTED names the column and its format. */
silt_status sl_cell_type_read(struct sl_arena *arena, const struct ArrowSchema *schema, struct sl_cell_type *out,
                              silt_error *err);
/* Printed as a number: aligned to the right. */
bool sl_cell_type_is_number(const struct sl_cell_type *type);
/* A number, a truth value or a time: short, and of no use when it is cut. */
bool sl_cell_type_is_short(const struct sl_cell_type *type);

#endif
