/*
 * A leaf column of a small Parquet file: its levels, values and statistics while rows are added, then its one data page. Values are plain,
 * levels are runs. One owner. Parquet's format: "Data Pages", "Encodings".
 */
#ifndef SL_ENGINE_SMALL_COLUMN_H
#define SL_ENGINE_SMALL_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "schema/arrow_format.h"
#include "schema/type.h"
#include "silt/arrow.h"

/* Parquet's physical types. */
enum sl_physical {
    SL_PHYSICAL_BOOLEAN = 0,
    SL_PHYSICAL_INT32 = 1,
    SL_PHYSICAL_INT64 = 2,
    SL_PHYSICAL_FLOAT = 4,
    SL_PHYSICAL_DOUBLE = 5,
    SL_PHYSICAL_BYTE_ARRAY = 6,
    SL_PHYSICAL_FIXED = 7
};

/* Parquet's FieldRepetitionType. */
enum sl_repetition {
    SL_REPETITION_REQUIRED = 0,
    SL_REPETITION_OPTIONAL = 1,
    SL_REPETITION_REPEATED = 2
};

#define SL_CONVERTED_NONE (-1)

/* Bytes of a decimal of more than 18 digits. */
#define SL_PHYSICAL_FIXED_BYTES 16

/* Levels of one kind, as runs of equal ones. */
struct sl_small_levels {
    struct sl_buf runs;
    uint8_t value; /* of the run that is not in `runs` yet */
    uint64_t n;
};

struct sl_small_column {
    const struct silt_type *type;
    uint8_t max_definition;
    uint8_t max_repetition;
    struct sl_small_levels definitions;
    struct sl_small_levels repetitions;
    struct sl_buf values;
    int64_t n_entries;
    int64_t n_values;
    /* Borrowed from the rows, which must live as long as bounds are looked at. */
    bool has_bounds;
    bool is_unordered; /* a NaN was there: it has no bounds */
    silt_value min;
    silt_value max;
};

/* False for types that small files do not hold: nested ones, variants, void. */
bool sl_small_type_is_known(const struct silt_type *type);
enum sl_physical sl_small_physical(const struct silt_type *type);
/* Its older "converted" type, also of a nested one. */
int32_t sl_small_converted(const struct silt_type *type);

void sl_small_column_init(struct sl_small_column *column, const silt_env *env, const struct silt_type *type);
void sl_small_column_release(struct sl_small_column *column); /* safe on a zeroed one */
/*
 * An entry; value NULL: there is none at this definition level. False for a value that DuckDB would refuse to store, which is then left to it.
 */
bool sl_small_column_add(struct sl_small_column *column, uint8_t repetition, uint8_t definition,
                         const silt_value *value);
/* n entries without a value. */
void sl_small_column_add_nothing(struct sl_small_column *column, uint64_t n, uint8_t repetition, uint8_t definition);
/*
 * n entries of a column that is not repeated, all with a value, the first at an index of the array's buffers: of a format of which rows need not
 * be looked at one by one. False: this is none, and nothing was added.
 */
bool sl_small_column_add_all(struct sl_small_column *column, const struct sl_arrow_format *format,
                             const struct ArrowArray *array, int64_t begin, int64_t n);

/* Are these, the first at an index of the array's buffers, values that sl_small_column_add_items takes: texts, none of them null? */
bool sl_small_column_takes_items(const struct sl_small_column *column, const struct sl_arrow_format *format,
                                 const struct ArrowArray *array, int64_t begin, int64_t n);
/*
 * The items of rows of a list or map that is in no other: row i has those from ends[i] to before ends[i + 1], at least one; `shift` more is their
 * index in the array's buffers.
 */
void sl_small_column_add_items(struct sl_small_column *column, const struct ArrowArray *array, int64_t shift,
                               const int32_t *ends, int64_t n_rows);

/* How pages are compressed. */
struct sl_small_codec {
    int32_t id; /* Parquet's number of it */
    /* Puts the bytes compressed; false when it failed. */
    bool (*compress)(void *ctx, struct sl_str bytes, struct sl_buf *out);
    void *ctx;
};

/*
 * The page with its header, compressed unless the codec is NULL; *raw_size: of both before that. What there is no memory or room for shows
 * in the buffer's status.
 */
void sl_small_column_put_page(struct sl_small_column *column, const struct sl_small_codec *codec, size_t *raw_size,
                              struct sl_buf *out);
/* Ready for another page: without entries and bounds. */
void sl_small_column_restart(struct sl_small_column *column);
/* Bounds as a footer has them, plain; absent where there are none, or none that all readers understand alike. */
bool sl_small_column_put_bound(const struct sl_small_column *column, bool is_min, struct sl_buf *out);
/* Bytes that the page will have, roughly. */
size_t sl_small_column_size(const struct sl_small_column *column);

#endif
